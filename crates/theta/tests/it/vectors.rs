//! Against DataSketches 5.2.0: hashes, sketches, bytes, estimates and operations.

#![expect(clippy::cast_possible_truncation, reason = "lengths, bytes and sampling probabilities")]

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use theta::{
    CompactThetaSketch, ThetaHasher, ThetaParams, ThetaSet, ThetaSketch, ThetaSketchView,
    ThetaUnion,
};

fn data(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("{name}"))
}

fn bytes(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()
}

fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn size(log: &Value) -> u32 {
    1 << integer(log)
}

/// A number that is written as a text, since the parser of the data rounds numbers differently by a unit in the last place.
fn number(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

fn hexadecimal(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

#[test]
fn the_hash_is_murmur3() {
    let all = data(include_str!("../data/murmur.json"));
    let input: Vec<u8> = (0..1_000_u32).map(|i| ((i * 7 + 3) % 256) as u8).collect();
    let mut compared = 0;
    for entry in list(&all, "entries") {
        let hasher = ThetaHasher::with_seed(hexadecimal(&entry["seed"])).unwrap();
        for (length, h1) in list(&all, "lengths").iter().zip(list(entry, "h1")) {
            let hash = hasher.hash_bytes(&input[..integer(length) as usize]);
            assert_eq!(hash, hexadecimal(h1) >> 1, "{length} bytes, {hasher:?}");
            compared += 1;
        }
    }
    assert!(compared >= 200, "{compared} hashes");
}

#[test]
fn keys_are_hashed_as_there() {
    let all = data(include_str!("../data/operations.json"));
    for entry in list(&all, "keys") {
        let key = entry["key"].as_str().unwrap();
        let mut sketch = ThetaSketch::new(32).unwrap();
        let is_kept = match entry["kind"].as_str().unwrap() {
            "i64" => sketch.insert(&key.parse::<i64>().unwrap()),
            "f64" => sketch.insert(&key.parse::<f64>().unwrap()),
            _ => sketch.insert(key),
        };
        assert_eq!(sketch.to_compact().to_bytes(), bytes(&entry["bytes"]), "{entry}");
        assert_eq!(is_kept, !key.is_empty(), "{entry}");
    }
    assert_eq!(list(&all, "keys").len(), 26);
}

fn built(case: &Value) -> ThetaSketch {
    let builder = ThetaSketch::builder().nominal_size(size(&case["lg_k"]));
    let builder = builder.sampling(case["p"].as_f64().unwrap() as f32);
    let mut sketch = builder.seed(integer(&case["seed"])).build().unwrap();
    let keys = &case["keys"];
    let prefix = keys["prefix"].as_str().unwrap();
    let start = integer(&keys["start"]);
    sketch.extend((start..start + integer(&keys["count"])).map(|i| format!("{prefix}{i}")));
    sketch
}

#[test]
fn sketches_have_the_same_hashes_theta_and_bytes() {
    for case in list(&data(include_str!("../data/sketches.json")), "cases") {
        let sketch = built(case);
        let name = format!("{} {} {}", case["lg_k"], case["p"], case["keys"]);
        assert_eq!(sketch.num_retained() as u64, integer(&case["num_retained"]), "{name}");
        assert_eq!(sketch.theta64(), hexadecimal(&case["theta64"]), "{name}");
        assert_eq!(u64::from(sketch.hasher().seed_hash()), integer(&case["seed_hash"]), "{name}");
        assert_eq!(sketch.estimate(), number(&case["estimate"]), "{name}");
        let compact = sketch.to_compact();
        if !case["compact_ordered"].is_null() {
            assert!(compact.to_bytes() == bytes(&case["compact_ordered"]), "{name}");
        }
        assert!(compact.to_compressed_bytes() == bytes(&case["compressed"]), "{name}");
    }
}

#[test]
fn their_bytes_are_read_by_copy_and_by_view_and_written_as_they_were() {
    for case in list(&data(include_str!("../data/sketches.json")), "cases") {
        let hasher = ThetaHasher::with_seed(integer(&case["seed"])).unwrap();
        let estimate = number(&case["estimate"]);
        for (name, is_plain) in [("compact_ordered", true), ("compressed", false)] {
            if case[name].is_null() {
                continue;
            }
            let stored = bytes(&case[name]);
            let read = CompactThetaSketch::from_bytes_with_hasher(&stored, hasher).unwrap();
            assert_eq!(read.estimate(), estimate);
            let written = if is_plain { read.to_bytes() } else { read.to_compressed_bytes() };
            assert!(written == stored, "{name}");
            let view = ThetaSketchView::open_with_hasher(stored.as_slice(), hasher).unwrap();
            view.verify().unwrap();
            assert_eq!(view.estimate(), estimate);
            assert!(view.to_compact() == read);
        }
    }
}

#[test]
fn bounds_are_near_those_of_the_reference() {
    // Two-sided probabilities of one, two and three standard deviations.
    let confidences = [0.682_689_492, 0.954_499_736, 0.997_300_204];
    for case in list(&data(include_str!("../data/sketches.json")), "cases") {
        let sketch = built(case);
        for (i, confidence) in confidences.into_iter().enumerate() {
            let interval = sketch.estimate_interval(confidence).unwrap();
            let bound = |name| list(case, name)[i].as_f64().unwrap();
            let (low, high) = (bound("lower_bounds_1_2_3"), bound("upper_bounds_1_2_3"));
            // Its tables are approximations too, with a floor and a ceiling at whole numbers where p is given.
            let tolerance = 0.01 * (high - low) + if case["p"] == 1.0 { 0.0 } else { 1.0 };
            assert!((interval.start() - low).abs() <= tolerance, "{interval:?}, {low} to {high}");
            assert!((interval.end() - high).abs() <= tolerance, "{interval:?}, {low} to {high}");
        }
    }
}

fn ranged(spec: &Value) -> ThetaSketch {
    let builder = ThetaSketch::builder().nominal_size(size(&spec[0]));
    let mut sketch = builder.sampling(spec[1].as_f64().unwrap() as f32).build().unwrap();
    sketch.extend(integer(&spec[2])..integer(&spec[3]));
    sketch
}

#[test]
fn operations_have_the_bytes_of_the_reference() {
    let all = data(include_str!("../data/operations.json"));
    for case in list(&all, "operations") {
        let name = format!("{} {}", case["left"], case["right"]);
        let (left, right) = (ranged(&case["left"]), ranged(&case["right"]));
        let stored = bytes(&case["left_bytes"]);
        assert!(left.to_compact().to_bytes() == stored, "{name}");
        // The same operations on a view, too.
        let view = ThetaSketchView::open(stored.as_slice()).unwrap();
        let mut union =
            ThetaUnion::new(ThetaParams::new(size(&case["union_lg_k"])).unwrap(), left.hasher());
        union.add(&view).unwrap();
        union.add(&right).unwrap();
        let check = |name_of: &str, result: &CompactThetaSketch| {
            assert!(result.to_bytes() == bytes(&case[name_of]), "{name_of}: {name}, {result:?}");
        };
        check("union", &union.to_compact());
        check("intersection", &left.intersection(&right).unwrap());
        check("intersection", &view.intersection(&right).unwrap());
        check("intersection", &right.intersection(&view).unwrap());
        check("left_not_right", &view.difference(&right).unwrap());
        check("right_not_left", &right.difference(&left).unwrap());

        let jaccard = left.compare(&right).unwrap().jaccard();
        let expected = case["jaccard"][1].as_f64().unwrap();
        // The reference has 1 for two empty sets, and one half where it knows nothing.
        let is_known = !(left.is_empty() && right.is_empty()) && jaccard.standard_error.is_finite();
        assert_eq!(jaccard.value, if is_known { expected } else { 0.0 }, "{name}");

        // Bytes that are not ordered are the same sketch. A view refuses them.
        let unordered = bytes(&case["left_unordered"]);
        assert!(CompactThetaSketch::from_bytes(&unordered).unwrap() == left.to_compact());
        let is_ordered = unordered == stored || left.num_retained() < 2;
        assert_eq!(ThetaSketchView::open(unordered).is_ok(), is_ordered, "{name}");
    }
    assert_eq!(list(&all, "operations").len(), 16);
}

#[test]
fn trimming_and_large_sketches() {
    let all = data(include_str!("../data/operations.json"));
    for case in list(&all, "trimmed") {
        let mut sketch = ThetaSketch::new(size(&case["lg_k"])).unwrap();
        sketch.extend(0..integer(&case["count"]));
        sketch.trim();
        assert!(sketch.to_compact().to_bytes() == bytes(&case["bytes"]), "{case}");
    }
    for case in list(&all, "large") {
        let mut sketch = ThetaSketch::new(size(&case["lg_k"])).unwrap();
        sketch.extend(0..integer(&case["count"]));
        assert_eq!(sketch.theta64(), integer(&case["theta64"]));
        assert_eq!(sketch.num_retained() as u64, integer(&case["num_retained"]));
        assert_eq!(sketch.estimate(), number(&case["estimate"]));
    }
}
