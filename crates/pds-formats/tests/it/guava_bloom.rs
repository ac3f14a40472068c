//! Filters of Guava, read, asked and rebuilt.

use pds_formats::error::DecodeErrorKind;
use pds_formats::guava::{GuavaBloomFilter, GuavaKey, GuavaStrategy};
use serde_json::Value;

use crate::support::{answers, base64, integers, json, keys, list, number, text};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "Guava Bloom filter",
    type_name: "guava::GuavaBloomFilter",
    can: [true, true, true],
    exact: "all",
    tested_against: "Guava 33.6.0-jre; MURMUR128_MITZ_32 by the false positives in Guava's own tests",
    vectors: || list(&vectors(), "cases").iter().map(|case| base64(&case["bytes"])).collect(),
};

fn vectors() -> Value {
    json(include_str!("../data/guava_bloom.json"))
}

/// Hands every key of a specification to `visit` through a funnel. Returns the answers.
fn ask(funnel: &str, spec: &Value, mut visit: impl FnMut(GuavaKey<'_>) -> bool) -> Vec<bool> {
    let narrow = |key: i64| i32::try_from(key).unwrap();
    let text = |key: &[u8]| String::from_utf8(key.to_vec()).unwrap();
    match funnel {
        "long" => integers(spec).into_iter().map(|key| visit(key.into())).collect(),
        "integer" => integers(spec).into_iter().map(|key| visit(narrow(key).into())).collect(),
        "unencoded" => keys(spec).iter().map(|key| visit(GuavaKey::Utf16(&text(key)))).collect(),
        "string" => keys(spec).iter().map(|key| visit(text(key)[..].into())).collect(),
        "binary" => keys(spec).iter().map(|key| visit(key[..].into())).collect(),
        other => panic!("a funnel {other}"),
    }
}

#[test]
fn filters_are_built_and_answer_as_in_guava() {
    let mut funnels = Vec::new();
    for case in list(&vectors(), "cases") {
        let (name, funnel) = (text(case, "name"), text(case, "funnel"));
        let (items, rate) = (number(case, "expected_insertions"), case["fpp"].as_f64().unwrap());
        let mut built = GuavaBloomFilter::new(items, rate).unwrap();
        let new = ask(funnel, &case["keys"], |key| built.insert(key));
        assert_eq!(new, answers(case, "put_changed"), "{name}");
        assert_eq!(built.to_bytes(), base64(&case["bytes"]), "{name}");

        let read = GuavaBloomFilter::from_bytes(&base64(&case["bytes"])).unwrap();
        assert_eq!(read, built, "{name}");
        assert!(
            ask(funnel, &case["keys"], |key| read.contains(key)).into_iter().all(|found| found)
        );
        let absent = ask(funnel, &case["absent_keys"], |key| read.contains(key));
        assert_eq!(absent, answers(case, "might_contain_absent"), "{name}");
        let count = case["approximate_element_count"].as_u64();
        assert_eq!(read.approximate_element_count(), count, "{name}");
        let rate = case["expected_fpp"].as_f64().unwrap();
        assert!((read.false_positive_rate() - rate).abs() <= 1e-14 * rate, "{name}");
        funnels.push(funnel.to_owned());
    }
    funnels.sort_unstable();
    funnels.dedup();
    assert_eq!(funnels.len(), 5, "{funnels:?}");
}

/// Guava's own tests list the false positives below 900 among the odd numbers.
#[test]
fn the_old_strategy_has_the_false_positives_of_guava() {
    const BELOW_900: [u32; 16] =
        [49, 51, 59, 163, 199, 321, 325, 363, 367, 469, 545, 561, 727, 769, 773, 781];
    let strategy = GuavaStrategy::Murmur128Mitz32;
    let mut filter = GuavaBloomFilter::with_strategy(strategy, 1_000_000, 0.03).unwrap();
    for number in (0..2_000_000).step_by(2) {
        filter.insert(GuavaKey::Utf16(&number.to_string()));
    }
    let contains = |number: &u32| filter.contains(GuavaKey::Utf16(&number.to_string()));
    let odd: Vec<u32> = (1..900).step_by(2).filter(contains).collect();
    assert_eq!(odd, BELOW_900);
    let read = GuavaBloomFilter::from_bytes(&filter.to_bytes()).unwrap();
    assert!(read == filter && read.strategy() == strategy);
}

#[test]
fn filters_are_continued_and_united() {
    for case in list(&vectors(), "cases") {
        let funnel = text(case, "funnel");
        let read = GuavaBloomFilter::from_bytes(&base64(&case["bytes"])).unwrap();
        let mut continued = read.clone();
        ask(funnel, &case["absent_keys"], |key| continued.insert(key));
        let mut others = read.clone();
        others.clear();
        ask(funnel, &case["absent_keys"], |key| others.insert(key));
        let mut united = read.clone();
        united.union_with(&others).unwrap();
        assert_eq!(united.to_bytes(), continued.to_bytes());
    }
}

#[test]
fn case_13_filters_that_differ_are_not_united() {
    let mut ours = GuavaBloomFilter::new(100, 0.03).unwrap();
    let old = GuavaBloomFilter::with_strategy(GuavaStrategy::Murmur128Mitz32, 100, 0.03).unwrap();
    let others = [old, GuavaBloomFilter::new(1_000, 0.03).unwrap()];
    let names = others.map(|other| ours.union_with(&other).unwrap_err().parameter());
    assert_eq!(names, ["strategy", "number of bits"]);
}

/// Guava throws for these, too.
#[test]
fn case_5_sizes_that_cannot_be_are_refused() {
    for (items, rate) in [(1, 0.9), (0, 0.1), (1, 0.0), (1, 1.0), (1, f64::NAN), (1, 1e-90)] {
        assert!(GuavaBloomFilter::new(items, rate).is_err(), "{items}, {rate}");
    }
    let full = [&[1, 1, 0, 0, 0, 1][..], &[255; 8]].concat();
    let full = GuavaBloomFilter::from_bytes(&full).unwrap();
    assert_eq!((full.approximate_element_count(), full.false_positive_rate()), (None, 1.0));
    assert_eq!(full.approx_len().value, f64::INFINITY);
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let refuses = |bytes: &[u8], kind: DecodeErrorKind, text: &str| {
        let error = GuavaBloomFilter::from_bytes(bytes).unwrap_err();
        let text = format!("Guava Bloom filter: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    use DecodeErrorKind::{Hasher, Invalid, Trailing, Truncated};
    let with = |head: [u8; 6], words: usize| [&head[..], &vec![0; 8 * words]].concat();
    refuses(
        &with([2, 5, 0, 0, 0, 1], 1),
        Hasher,
        "strategy at offset 0 is 2, but must be 0 (MURMUR128_MITZ_32) or 1 (MURMUR128_MITZ_64)",
    );
    let allowed = "but must be from 1 to 64, the number of bits";
    refuses(
        &with([1, 0, 0, 0, 0, 1], 1),
        Invalid,
        &format!("number of hashes at offset 1 is 0, {allowed}"),
    );
    refuses(
        &with([1, 65, 0, 0, 0, 1], 1),
        Invalid,
        &format!("number of hashes at offset 1 is 65, {allowed}"),
    );
    let words = "number of words at offset 2 is";
    refuses(
        &with([1, 5, 0, 0, 0, 0], 0),
        Invalid,
        &format!("{words} 0, but must be from 1 to 2147483647"),
    );
    refuses(
        &with([1, 5, 127, 255, 255, 255], 1),
        Truncated,
        "words at offset 6 needs 17179869176 bytes, but 8 are left",
    );
    refuses(
        &with([1, 5, 0, 0, 0, 1], 2),
        Trailing,
        "the data ends at offset 14, but 8 more bytes follow",
    );
}
