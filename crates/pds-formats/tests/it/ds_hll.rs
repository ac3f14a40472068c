//! HLL sketches of DataSketches and Spark, read, asked, merged and rebuilt.

use pds_formats::datasketches::{DataSketchesHll, HllRegisters};
use pds_formats::error::DecodeErrorKind;
use pds_testkit::ThreadTime;
use serde_json::Value;

use super::ds_bloom::ask;
use crate::support::{base64, json, list, number, text};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "DataSketches HLL sketch",
    type_name: "datasketches::DataSketchesHll",
    can: [true, true, true],
    exact: "all",
    tested_against: "datasketches 5.2.0 for Python, Spark 4.3.0 (datasketches-java 6.2.0)",
    // All are compared below. Damage is done to some.
    vectors: || {
        let (file, spark) = (vectors(), spark());
        let forms = |case: &Value| {
            ["compact", "updatable"]
                .into_iter()
                .filter_map(|form| case.get(form))
                .map(base64)
                .collect()
        };
        let cases =
            list(&file, "cases").iter().step_by(5).flat_map(|case| -> Vec<_> { forms(case) });
        let unions = list(&file, "unions").iter().flat_map(|union| -> Vec<_> {
            union["results"]
                .as_object()
                .unwrap()
                .values()
                .flat_map(|case| -> Vec<_> { forms(case) })
                .collect()
        });
        let spark = list(&spark, "cases").iter().map(|case| base64(&case["sketch"]));
        cases.chain(unions).chain(spark).collect()
    },
};

fn vectors() -> Value {
    json(include_str!("../data/datasketches_hll.json"))
}

fn spark() -> Value {
    json(include_str!("../data/spark_hll.json"))
}

fn width(name: &str) -> HllRegisters {
    match name {
        "HLL_4" => HllRegisters::Hll4,
        "HLL_6" => HllRegisters::Hll6,
        _ => HllRegisters::Hll8,
    }
}

fn built(case: &Value, width: HllRegisters) -> DataSketchesHll {
    let mut sketch =
        DataSketchesHll::new(u8::try_from(number(case, "lg_k")).unwrap(), width).unwrap();
    ask(&case["keys"], |key| sketch.insert(key));
    sketch
}

/// Bytes of sketches that were built from keys differ in the last digits of the estimate at offset 8 only.
fn without_hip(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes[0] == 10 {
        bytes[8..16].fill(0);
    }
    bytes
}

fn close(ours: f64, theirs: f64, tolerance: f64) -> bool {
    (ours - theirs).abs() <= tolerance * theirs
}

#[test]
fn sketches_are_built_and_answer_as_in_datasketches() {
    let mut modes = [0; 3];
    for case in list(&vectors(), "cases") {
        let (compact, theirs) = (base64(&case["compact"]), case["estimate"].as_f64().unwrap());
        let built = built(case, width(text(case, "type")));
        let read = DataSketchesHll::from_bytes(&compact).unwrap();
        let name = format!("{}, {}, {}", case["lg_k"], case["type"], case["keys"]);
        let mode = usize::from(compact[7] & 3);
        modes[mode] += 1;
        // Of registers the estimate by history is in the bytes.
        let tolerance = if mode == 2 { 0.0 } else { 1e-9 };
        assert!(close(read.estimate().value, theirs, tolerance), "{name}");
        assert!(close(built.estimate().value, theirs, 1e-9), "{name}");
        assert_eq!(read.registers(), built.registers(), "{name}");
        assert_eq!(without_hip(&built.to_compact_bytes()), without_hip(&compact), "{name}");
        assert_eq!(read.to_compact_bytes(), compact, "{name}");
        if let Some(updatable) = case.get("updatable").map(base64) {
            assert_eq!(without_hip(&built.to_updatable_bytes()), without_hip(&updatable), "{name}");
            let read = DataSketchesHll::from_bytes(&updatable).unwrap();
            assert_eq!(read.to_updatable_bytes(), updatable, "{name}");
            assert_eq!(read.to_compact_bytes(), compact, "{name}");
        }
    }
    assert!(modes.iter().all(|&cases| cases > 5), "{modes:?}");
}

#[test]
fn sketches_of_spark_are_read() {
    for case in list(&spark(), "cases") {
        let sketch = DataSketchesHll::from_bytes(&base64(&case["sketch"])).unwrap();
        let count = sketch.estimate().value.round();
        assert_eq!(count, case["hll_sketch_estimate"].as_f64().unwrap());
        let built = built(case, HllRegisters::Hll8);
        assert_eq!(sketch.registers(), built.registers());
        assert_eq!(without_hip(&built.to_updatable_bytes()), without_hip(&sketch.to_bytes()));
    }
}

#[test]
fn merges_agree_with_datasketches() {
    for union in list(&vectors(), "unions") {
        for (name, result) in union["results"].as_object().unwrap() {
            let lg_k = u8::try_from(number(union, "lg_max_k")).unwrap();
            let mut merged = DataSketchesHll::new(lg_k, width(name)).unwrap();
            for source in list(union, "sources") {
                merged.merge(&built(source, width(text(source, "type"))));
            }
            let theirs = DataSketchesHll::from_bytes(&base64(&result["compact"])).unwrap();
            assert_eq!((merged.lg_k(), merged.registers()), (theirs.lg_k(), theirs.registers()));
            assert_eq!(merged.is_out_of_order(), theirs.is_out_of_order());
            let (value, error) = (theirs.estimate().value, theirs.estimate().standard_error);
            let owner = result["estimate"].as_f64().unwrap();
            assert!(close(merged.estimate().value, value, 1e-9), "{name}");
            // Only of merged registers the owner has another estimator.
            let tolerance = if theirs.is_out_of_order() { error / 2.0 } else { 1e-9 * owner };
            assert!((value - owner).abs() <= tolerance, "{value}, {owner}");
        }
    }
}

/// Continuing what was read gives what was built at once, in every mode and across modes.
#[test]
fn sketches_are_continued() {
    let mut whole = DataSketchesHll::new(9, HllRegisters::Hll4).unwrap();
    for key in 0..3_000 {
        let mut read = DataSketchesHll::from_bytes(&whole.to_compact_bytes()).unwrap();
        assert_eq!(read.insert(key), whole.insert(key), "{key}");
        assert_eq!(read.registers(), whole.registers());
        assert_eq!(read.estimate(), whole.estimate());
        assert!(!whole.insert(key) && !read.insert(key));
    }
    assert!((whole.estimate().value - 3_000.0).abs() < 4.0 * whole.estimate().standard_error);
    assert!(!whole.insert(""), "ignored");
    let mut widths = [HllRegisters::Hll8, HllRegisters::Hll6, HllRegisters::Hll4].map(|width| {
        let mut other = whole.clone();
        other.set_width(width);
        DataSketchesHll::from_bytes(&other.to_bytes()).unwrap()
    });
    widths.iter_mut().for_each(|sketch| {
        assert_eq!(sketch.registers(), whole.registers());
        sketch.insert(3_000);
    });
    assert_eq!(widths[0].estimate(), widths[2].estimate());
}

fn more() -> Value {
    json(include_str!("../data/datasketches_hll_more.json"))
}

/// Makes a sketch of whole numbers from a start on.
fn numbers(spec: &Value) -> DataSketchesHll {
    let lg_k = u8::try_from(number(spec, "lg_k")).unwrap();
    let mut sketch = DataSketchesHll::new(lg_k, width(text(spec, "type"))).unwrap();
    add(&mut sketch, number(spec, "start"), number(spec, "count"));
    sketch
}

fn add(sketch: &mut DataSketchesHll, start: u64, count: u64) {
    (start..start + count).for_each(|key| _ = sketch.insert(key));
}

/// Compares both forms of the bytes, and the estimate.
fn check(sketch: &DataSketchesHll, written: &Value, tolerance: f64, name: &str) {
    let [compact, updatable] = ["compact", "updatable"].map(|form| base64(&written[form]));
    assert!(without_hip(&sketch.to_compact_bytes()) == without_hip(&compact), "{name}");
    assert!(without_hip(&sketch.to_updatable_bytes()) == without_hip(&updatable), "{name}");
    let estimate = written["estimate"].as_f64().unwrap();
    let ours = sketch.estimate().value;
    assert!(close(ours, estimate, tolerance), "{name}: {ours}, {estimate}");
}

/// Sketches with registers from the start on, which C++ marks. An empty one is empty.
#[test]
fn sketches_of_full_size_are_read() {
    for case in list(&more(), "full_size") {
        let name = format!("{} {} {}", case["lg_k"], case["type"], case["count"]);
        let estimate = case["estimate"].as_f64().unwrap();
        for form in ["compact", "updatable"] {
            let bytes = base64(&case[form]);
            let read = DataSketchesHll::from_bytes(&bytes).unwrap();
            assert!(read.to_bytes() == bytes, "{name}");
            assert!(close(read.estimate().value, estimate, 1e-15), "{name}");
            assert_eq!(read.is_empty(), case["count"] == 0);
            assert_eq!(read.registers(), numbers(case).registers());
        }
    }
}

/// The order of coupons depends on the form that a sketch was read from.
#[test]
fn sketches_are_continued_in_the_order_of_the_library() {
    let mut orders = 0;
    for case in list(&more(), "continued") {
        let name = format!("{} {} {}", case["lg_k"], case["count"], case["more"]);
        let first = numbers(case);
        let (start, count) = (number(case, "count"), number(case, "more"));
        for (bytes, form) in
            [(first.to_compact_bytes(), "of_compact"), (first.to_updatable_bytes(), "of_updatable")]
        {
            let mut read = DataSketchesHll::from_bytes(&bytes).unwrap();
            add(&mut read, start, count);
            if count > 0 {
                check(&read, &case[form], 1e-9, &name);
            }
        }
        orders += u32::from(case["of_compact"]["compact"] != case["of_updatable"]["compact"]);
    }
    assert!(orders >= 6, "{orders}");
}

/// Unions of sketches of several sizes, some of coupons.
#[test]
fn merges_of_several_sizes_agree_with_datasketches() {
    for union in list(&more(), "unions") {
        let name = format!("{} {}", union["lg_max_k"], union["sources"]);
        for (of, result) in union["results"].as_object().unwrap() {
            let lg_k = u8::try_from(number(union, "lg_max_k")).unwrap();
            let mut merged = DataSketchesHll::new(lg_k, HllRegisters::Hll8).unwrap();
            list(union, "sources").iter().for_each(|source| merged.merge(&numbers(source)));
            merged.set_width(width(of));
            let theirs = DataSketchesHll::from_bytes(&base64(&result["compact"])).unwrap();
            assert_eq!(merged.lg_k(), theirs.lg_k(), "{name}");
            let with_registers =
                list(union, "sources").iter().filter(|source| number(source, "count") > 1_000);
            let sizes: Vec<u64> = with_registers.map(|source| number(source, "lg_k")).collect();
            if sizes.len() > 1 && sizes.iter().all(|&size| size > u64::from(lg_k)) {
                // This version loses keys after a sketch of more registers than the union: it answers 5,052 of 7,500.
                let ours = merged.estimate();
                assert!((ours.value - 7_500.0).abs() < 4.0 * ours.standard_error, "{ours}");
                assert!((theirs.estimate().value - 7_500.0).abs() > 5.0 * ours.standard_error);
                continue;
            }
            assert!(merged.registers() == theirs.registers(), "{name}");
            assert_eq!(merged.is_out_of_order(), theirs.is_out_of_order(), "{name}");
            if !theirs.is_out_of_order() {
                // Coupons that follow a sketch of more registers raise the history by old sums in this version.
                let folded = sizes.iter().any(|&size| size > u64::from(lg_k));
                check(&merged, result, if folded { 0.005 } else { 1e-9 }, &name);
            }
        }
    }
}

/// The sums that unions in Java and C++ write for a value above 31: kxq0 is too high by 1, and kxq1 too low.
#[test]
fn sums_of_unions_with_great_values_are_read() {
    let sketch = numbers(&serde_json::json!({"lg_k": 4, "type": "HLL_8", "start": 0, "count": 90}));
    let mut bytes = sketch.to_bytes();
    let old = i32::from(bytes[40 + 3]);
    let kxq0 = f64::from_le_bytes(bytes[16..24].try_into().unwrap()) - 2f64.powi(-old);
    bytes[40 + 3] = 40;
    let count = sketch.registers().iter().filter(|&&value| value == 0).count();
    assert!(count > 0 || old > 0);
    let mut with_sums = |sums: [f64; 2]| {
        bytes[16..32].copy_from_slice(&sums.map(f64::to_le_bytes).concat());
        DataSketchesHll::from_bytes(&bytes)
    };
    let exact = with_sums([kxq0, 2f64.powi(-40)]).unwrap();
    let union = with_sums([kxq0 + 1.0, 2f64.powi(-40) - 1.0]).unwrap();
    assert_eq!((&union, union.to_bytes()), (&exact, exact.to_bytes()));
    assert!(with_sums([kxq0 + 1.0, 0.0]).is_err() && with_sums([f64::NAN, 0.0]).is_err());
    // A union of Java that has not computed them yet.
    bytes[5] |= 32;
    bytes[16..36].fill(7);
    let pending = DataSketchesHll::from_bytes(&bytes).unwrap();
    assert_eq!(pending.registers(), exact.registers());
    assert_eq!(pending.to_bytes()[16..36], exact.to_bytes()[16..36]);
}

/// A merge of sketches of any size is the sketch of all keys at the lower size of those with registers.
#[test]
fn case_13_merges_fold_to_the_lower_size() {
    let sketch = |lg_k, keys: core::ops::Range<i64>| {
        let mut sketch = DataSketchesHll::new(lg_k, HllRegisters::Hll8).unwrap();
        keys.for_each(|key| {
            sketch.insert(key);
        });
        sketch
    };
    for (left, right) in [(5, 5), (60, 5), (5, 5_000), (5_000, 60), (5_000, 5_000)] {
        for (a, b) in [(12, 10), (10, 12), (11, 11)] {
            let mut merged = sketch(a, 0..left);
            merged.merge(&sketch(b, left..left + right));
            // Coupons have no size of their own.
            let lg_k = if right > 1_000 { a.min(b) } else { a };
            let whole = sketch(lg_k, 0..left + right);
            assert_eq!((merged.lg_k(), merged.registers()), (whole.lg_k(), whole.registers()));
            let estimate = merged.estimate();
            let truth = (left + right) as f64;
            assert!((estimate.value - truth).abs() < 4.0 * estimate.standard_error + 1.0);
            let read = DataSketchesHll::from_bytes(&merged.to_bytes()).unwrap();
            assert_eq!(read.estimate(), estimate);
        }
    }
    assert!(DataSketchesHll::new(3, HllRegisters::Hll8).is_err());
    assert!(DataSketchesHll::new(22, HllRegisters::Hll8).is_err());
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let of = |lg_k, width, count: i64| {
        let mut sketch = DataSketchesHll::new(lg_k, width).unwrap();
        (0..count).for_each(|key| {
            sketch.insert(key);
        });
        sketch.to_compact_bytes()
    };
    let refuses = |sound: &[u8], at: usize, new: &[u8], kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.to_vec();
        changed[at..at + new.len()].copy_from_slice(new);
        let error = DataSketchesHll::from_bytes(&changed).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    use DecodeErrorKind::{Invalid, Kind, Trailing, Truncated, Version};
    let list = of(10, HllRegisters::Hll4, 5);
    refuses(&list, 0, &[3], Invalid, "preamble size at offset 0 is 3, but must be 2");
    refuses(&list, 1, &[2], Version, "serial version at offset 1 is 2, but must be 1");
    refuses(&list, 2, &[3], Kind, "family at offset 2 is 3, but must be 7");
    refuses(&list, 3, &[22], Invalid, "lg_k at offset 3 is 22, but must be from 4 to 21");
    refuses(
        &list,
        5,
        &[12],
        Invalid,
        "flags at offset 5 is 12, but must be with bit 2 set if and only if",
    );
    refuses(&list, 6, &[8], Invalid, "is 8, but must be from 0 to 7");
    refuses(&list, 6, &[6], Truncated, "coupon at offset 28 needs 4 bytes, but 0 are left");
    refuses(&list, 6, &[4], Trailing, "the data ends at offset 24, but 4 more bytes follow");
    refuses(&list, 7, &[3], Invalid, "a mode (bits 0 and 1) of 0, 1 or 2");
    refuses(&list, 7, &[12], Invalid, "a register width");
    refuses(&list, 12, &list[8..12], Invalid, "different from those before");
    refuses(&list, 11, &[0], Invalid, "a number with a value in its upper 6 bits");
    let set = of(10, HllRegisters::Hll6, 30);
    refuses(&set, 8, &[255, 255, 255, 255], Invalid, "number of coupons at offset 8 is 4294967295");
    refuses(
        &set,
        4,
        &[7],
        Invalid,
        "number of coupons at offset 8 is 30, but must be from 49 to 96",
    );
    refuses(&set, 16, &set[12..16], Invalid, "different from those before, as hashes are");
    let dense = of(4, HllRegisters::Hll8, 100);
    refuses(&dense, 41, &[64], Invalid, "register at offset 41 is 64, but must be at most 63");
    refuses(&dense, 8, &f64::NAN.to_le_bytes(), Invalid, "HIP estimate at offset 8 is NaN");
    refuses(&dense, 16, &9.0f64.to_le_bytes(), Invalid, "kxq0 at offset 16 is 9");
    refuses(&dense, 6, &[60], Invalid, "is 60, but must be at most");
    refuses(&dense, 32, &[9], Invalid, "registers of the least value at offset 32 is 9");
    refuses(&dense, 36, &[1], Invalid, "number of exceptions at offset 36 is 1, but must be 0");
    let four = of(4, HllRegisters::Hll4, 100);
    refuses(&four, 36, &[3], Invalid, "number of exceptions at offset 36 is 3");
}

/// Coupons that share a slot and a step would take time that is quadratic in their number.
#[test]
fn case_17_crafted_coupons_take_linear_time() {
    let mut bytes = vec![3, 1, 7, 21, 18, 8, 0, 1];
    let count = 150_000u32;
    bytes.extend(count.to_le_bytes());
    // 63 values at each of the lowest addresses, all of which step by one slot.
    let coupons = (0..count).map(|i| (1 + i % 63) << 26 | (i / 63));
    bytes.extend(coupons.flat_map(u32::to_le_bytes));
    let error = DataSketchesHll::from_bytes(&bytes).unwrap_err();
    assert!(error.to_string().contains("different from those before, as hashes are"), "{error}");
}

/// Exceptions at slots that meet in the library's table of them take a larger table.
#[test]
fn case_17_crafted_exceptions_are_written_in_linear_time() {
    let (lg_k, k) = (18u8, 1usize << 18);
    let mut sketch = DataSketchesHll::new(lg_k, HllRegisters::Hll8).unwrap();
    (0..3 * k as i64).for_each(|key| _ = sketch.insert(key));
    let mut bytes = sketch.to_compact_bytes();
    let registers = bytes.len() - k;
    bytes[registers..].fill(1);
    for slot in (0..3 * k / 16).flat_map(|i| [i, i + k / 2]) {
        bytes[registers + slot] = 50;
    }
    let high = (3 * k / 8) as f64;
    let sums = [(k as f64 - high) / 2.0, high / (1u64 << 50) as f64];
    bytes[16..32].copy_from_slice(&sums.map(f64::to_le_bytes).concat());
    bytes[32..36].copy_from_slice(&0u32.to_le_bytes());
    let mut crafted = DataSketchesHll::from_bytes(&bytes).unwrap();
    crafted.set_width(HllRegisters::Hll4);
    let start = ThreadTime::now();
    let written = crafted.to_updatable_bytes();
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    assert_eq!(DataSketchesHll::from_bytes(&written).unwrap().estimate(), crafted.estimate());
}
