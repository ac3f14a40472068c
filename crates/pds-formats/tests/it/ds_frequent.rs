//! Frequent-items sketches of DataSketches, read and asked.

use pds_formats::datasketches::{DataSketchesFrequentItems, FrequentItem};
use pds_formats::error::DecodeErrorKind;
use serde_json::Value;

use crate::support::{base64, json, list, number};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "DataSketches frequent items sketch",
    type_name: "datasketches::DataSketchesFrequentItems",
    can: [true, false, false],
    exact: "all",
    tested_against: "datasketches 5.2.0 for Python",
    vectors: || list(&vectors(), "cases").iter().map(|case| base64(&case["bytes"])).collect(),
};

fn vectors() -> Value {
    json(include_str!("../data/datasketches_frequent.json"))
}

fn check<T: FrequentItem + Clone + core::fmt::Debug>(
    case: &Value,
    item: fn(i64) -> T,
    parse: fn(&Value) -> T,
) {
    let bytes = base64(&case["bytes"]);
    let sketch = DataSketchesFrequentItems::<T>::from_bytes(&bytes).unwrap();
    assert_eq!(sketch.to_bytes(), bytes);
    assert_eq!(sketch.total_weight(), number(case, "total"));
    assert_eq!(sketch.is_empty(), number(case, "count") == 0);
    for (i, bounds) in (0..).zip(list(case, "bounds")) {
        let item = item(i);
        let ours = [sketch.estimate(&item), sketch.lower_bound(&item), sketch.upper_bound(&item)];
        let theirs: Vec<u64> =
            bounds.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert_eq!(ours[..], theirs, "{item:?}");
    }
    // The lists of the library: by the lower bounds or the upper ones. Equal weights have no order.
    let threshold = sketch.maximum_error();
    for (name, is_low) in [("NO_FALSE_POSITIVES", true), ("NO_FALSE_NEGATIVES", false)] {
        let heavy = sketch.items().into_iter();
        let heavy = heavy.filter(|&(_, low, high)| if is_low { low } else { high } > threshold);
        let mut ours: Vec<_> = heavy.map(|(item, low, high)| (high, low, item.clone())).collect();
        assert!(ours.is_sorted_by(|a, b| a.0 >= b.0));
        let mut theirs: Vec<_> = list(&case["lists"], name)
            .iter()
            .map(|row| (row[3].as_u64().unwrap(), row[2].as_u64().unwrap(), parse(&row[0])))
            .collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{name}");
    }
}

#[test]
fn sketches_answer_as_in_datasketches() {
    let mut purged = 0;
    for case in list(&vectors(), "cases") {
        if case["kind"] == "string" {
            check(case, |i| format!("item:{i}"), |value| value.as_str().unwrap().to_string());
        } else {
            check(case, |i| i * 1_000_003 - 7, |value| value.as_i64().unwrap());
        }
        purged += u32::from(case["bounds"].as_array().unwrap().iter().any(|b| b[1] != b[2]));
    }
    assert_eq!(purged, 6);
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    use DecodeErrorKind::{Invalid, Kind, Trailing, Truncated};
    let file = vectors();
    let sound = base64(&list(&file, "cases")[1]["bytes"]);
    let refuses = |at: usize, new: &[u8], kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.clone();
        changed[at..at + new.len()].copy_from_slice(new);
        let error = DataSketchesFrequentItems::<String>::from_bytes(&changed).unwrap_err();
        let text = format!("DataSketches frequent items sketch: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    refuses(2, &[7], Kind, "family at offset 2 is 7, but must be 10");
    refuses(0, &[1], Invalid, "preamble size at offset 0 is 1, but must be 4");
    refuses(4, &[4], Invalid, "logarithm of the slots at offset 4 is 4, but must be 3");
    refuses(8, &[7], Invalid, "number of items at offset 8 is 7, but must be from 0 to 6");
    refuses(8, &[4], Truncated, "item at offset 75 needs 1536 bytes, but 47 are left");
    refuses(
        32,
        &[0],
        Invalid,
        "weight at offset 32 is 0, but must be from 1 to 9223372036854775807",
    );
    refuses(
        16,
        &[13],
        Invalid,
        "total weight at offset 16 is 13, but must be above 0 and at least 14, the sum of all weights",
    );
    let item = 32 + 5 * 8;
    refuses(item, &[255], Truncated, "item at offset 76 needs 255 bytes, but 46 are left");
    refuses(item + 4, &[255], Invalid, "item at offset 76 is \"\\xfftem:1\", but must be UTF-8");
    let first = sound[item..item + 10].to_vec();
    refuses(
        item + 10,
        &first,
        Invalid,
        "items at offset 32 is 5, but must be different from each other",
    );
    let longer = [&sound[..], &[0]].concat();
    let error = DataSketchesFrequentItems::<String>::from_bytes(&longer).unwrap_err();
    assert_eq!(error.kind(), Trailing);
    let error = DataSketchesFrequentItems::<i64>::from_bytes(&sound).unwrap_err();
    assert_eq!(error.kind(), Trailing);
}
