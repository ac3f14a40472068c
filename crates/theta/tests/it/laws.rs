//! Laws of the sketch and of its operations.

#![expect(clippy::cast_possible_truncation, reason = "few hashes")]

use std::collections::HashSet;

use pds_testkit::keys;
use theta::{CompactThetaSketch, ThetaHasher, ThetaParams, ThetaSet, ThetaSketch, ThetaUnion};

/// The greatest theta.
const MAX: u64 = u64::MAX >> 1;

fn sketch(size: u32, keys: impl IntoIterator<Item = u64>) -> ThetaSketch {
    let mut sketch = ThetaSketch::new(size).unwrap();
    sketch.extend(keys);
    sketch
}

/// The reference algorithm with a plain set: theta is the hash after the K least ones whenever more than 15/8 K are in.
fn model(size: usize, keys: impl IntoIterator<Item = u64>) -> (u64, Vec<u64>) {
    let hasher = ThetaHasher::default();
    let (mut theta, mut hashes) = (MAX, HashSet::new());
    let mut sorted = Vec::new();
    for key in keys {
        let hash = hasher.hash(&key).unwrap();
        if hash < theta {
            hashes.insert(hash);
        }
        if hashes.len() > 15 * size / 8 {
            sorted = hashes.iter().copied().collect();
            sorted.sort_unstable();
            theta = sorted[size];
            hashes.retain(|&hash| hash < theta);
        }
    }
    sorted.clear();
    sorted.extend(hashes);
    sorted.sort_unstable();
    (theta, sorted)
}

#[test]
fn the_sketch_is_that_of_a_plain_set_at_every_size() {
    for size in [16, 32, 64, 512] {
        for count in (0..70).chain([100, 119, 120, 121, 122, 500, 960, 961, 962, 5_000, 30_000]) {
            let keys: Vec<u64> = keys::random(u64::from(size)).take(count).collect();
            let (theta, hashes) = model(size as usize, keys.iter().copied());
            let sketch = sketch(size, keys.iter().copied());
            // Each key twice: a repetition changes nothing.
            let mut one_by_one = ThetaSketch::new(size).unwrap();
            keys.iter().flat_map(|key| [key, key]).for_each(|key| _ = one_by_one.insert(key));
            assert!(one_by_one == sketch, "{size}, {count}: key by key");
            assert_eq!(sketch.theta64(), theta, "{size}, {count}");
            assert_eq!(sketch.to_compact().hashes(), hashes, "{size}, {count}");
            assert_eq!(sketch.num_retained(), hashes.len());
            assert_eq!(sketch.is_empty(), count == 0);
        }
    }
}

#[test]
fn insert_tells_whether_a_hash_is_new_and_below_theta() {
    let mut sketch = ThetaSketch::new(16).unwrap();
    for key in keys::random(1).take(1_000) {
        let theta = sketch.theta64();
        let hash = sketch.hasher().hash(&key).unwrap();
        assert_eq!(sketch.insert(&key), hash < theta);
        assert!(!sketch.insert(&key));
    }
}

#[test]
fn a_union_is_the_least_hashes_of_all_in_any_order_and_any_grouping() {
    let parts = [(16, 0..0), (16, 0..10), (32, 0..500), (256, 200..3_000), (64, 100..102)];
    let parts: Vec<ThetaSketch> = parts
        .into_iter()
        .map(|(size, range)| sketch(size, keys::random(2).take(range.end).skip(range.start)))
        .collect();
    for size in [16, 64, 1_024] {
        let params = ThetaParams::new(size).unwrap();
        let unite = |parts: &[&ThetaSketch]| {
            let mut union = ThetaUnion::new(params, ThetaHasher::default());
            parts.iter().for_each(|part| union.add(*part).unwrap());
            union.to_compact()
        };
        // By its definition.
        let theta = parts.iter().map(ThetaSet::theta64).min().unwrap();
        let mut all: Vec<u64> = parts.iter().flat_map(ThetaSet::ascending).collect();
        all.retain(|&hash| hash < theta);
        all.sort_unstable();
        all.dedup();
        let theta = all.get(size as usize).copied().unwrap_or(theta);
        all.truncate(size as usize);
        let forth: Vec<&ThetaSketch> = parts.iter().collect();
        let expected = unite(&forth);
        assert_eq!((expected.theta64(), expected.hashes()), (theta, all.as_slice()));

        let back: Vec<&ThetaSketch> = parts.iter().rev().collect();
        assert!(unite(&back) == expected);
        let mut grouped = ThetaUnion::new(params, ThetaHasher::default());
        grouped.add(&unite(&forth[..3])).unwrap();
        grouped.add(&unite(&forth[2..])).unwrap();
        assert!(grouped.to_compact() == expected);
    }
}

#[test]
fn the_parts_of_a_union_are_the_intersection_and_both_differences() {
    for (left, right) in [(0..20, 10..50), (0..5_000, 3_000..4_000), (0..900, 900..2_000)] {
        let left = sketch(64, left);
        let right = sketch(256, right);
        let both = left.intersection(&right).unwrap();
        let (only_left, only_right) =
            (left.difference(&right).unwrap(), right.difference(&left).unwrap());
        let theta = left.theta64().min(right.theta64());
        let mut parts = [both.hashes(), only_left.hashes(), only_right.hashes()].concat();
        parts.sort_unstable();
        let mut all: Vec<u64> = left.ascending().chain(right.ascending()).collect();
        all.retain(|&hash| hash < theta);
        all.sort_unstable();
        all.dedup();
        assert_eq!(parts, all);
        for part in [&both, &only_left, &only_right] {
            assert_eq!(part.theta64(), theta);
        }
        let comparison = left.compare(&right).unwrap();
        let numbers = (comparison.common() as usize, comparison.union() as usize);
        assert_eq!(numbers, (both.num_retained(), all.len()));
    }
}

#[test]
fn equal_and_empty_operands() {
    let empty = ThetaSketch::new(16).unwrap();
    for count in [1, 20, 5_000] {
        let set = sketch(64, 0..count);
        let copy = set.to_compact();
        assert!(set.intersection(&set).unwrap() == copy);
        assert_eq!(set.difference(&copy).unwrap().estimate(), 0.0);
        assert_eq!(set.compare(&copy).unwrap().jaccard().value, 1.0);
        assert!(set.intersection(&empty).unwrap().is_empty());
        assert!(empty.intersection(&set).unwrap().is_empty());
        assert!(set.difference(&empty).unwrap() == copy);
        assert!(empty.difference(&set).unwrap().is_empty());
        assert_eq!(set.compare(&empty).unwrap().jaccard().value, 0.0);
        // Exact sets with nothing in common are known to have none. With an estimate that is not known.
        assert_eq!(set.difference(&copy).unwrap().is_empty(), !set.is_estimate());
    }
    assert_eq!(empty.compare(&empty).unwrap().jaccard().value, 0.0);
    assert_eq!(empty.estimate_interval(0.9).unwrap(), 0.0..=0.0);
}

#[test]
fn a_sketch_continues_where_another_stopped() {
    for count in [0, 1, 40, 100, 3_000] {
        let first = sketch(64, 0..count);
        let stored = first.to_compact().to_bytes();
        let compact = CompactThetaSketch::from_bytes(&stored).unwrap();
        let mut continued = ThetaSketch::resume(&compact, first.params());
        assert!(continued == first, "{count}");
        let mut whole = first.clone();
        for key in count / 2..2 * count + 5 {
            assert_eq!(continued.insert(&key), whole.insert(&key));
        }
        assert!(continued == whole, "{count}");
        // A lower nominal size lowers theta.
        let coarse = ThetaSketch::resume(&compact, ThetaParams::new(16).unwrap());
        assert!(coarse.num_retained() <= 30 && coarse.theta64() <= compact.theta64());
        let mut union = ThetaUnion::new(coarse.params(), coarse.hasher());
        union.add(&compact).unwrap();
        let mut trimmed = coarse.clone();
        trimmed.trim();
        assert!(trimmed.to_compact() == union.to_compact(), "{count}");
    }
}

#[test]
fn a_merge_keeps_what_both_have_below_the_lower_theta() {
    for (left, right) in [(0..10, 5..30), (0..40, 0..5_000), (0..5_000, 4_000..9_000)] {
        let mut merged = sketch(256, left.clone());
        let other = sketch(32, right.clone());
        let theta = merged.theta64().min(other.theta64());
        let mut all: Vec<u64> = merged.ascending().chain(other.ascending()).collect();
        merged.merge(&other).unwrap();
        all.retain(|&hash| hash < theta);
        all.sort_unstable();
        all.dedup();
        assert_eq!((merged.theta64(), merged.to_compact().hashes()), (theta, all.as_slice()));
        // It takes more keys, and still finds the old ones.
        assert!(left.chain(right).all(|key| !merged.insert(&key) || merged.num_retained() <= 480));
    }
}

#[test]
fn chosen_hashes_are_read_merged_and_continued_in_linear_time() {
    // All in one place of the table: an insert of each would take 2 * 10^10 steps.
    const COUNT: u64 = 200_000;
    for start in [1, MAX / 2, MAX - COUNT] {
        let mut bytes = vec![2, 3, 3, 0, 0, 26];
        bytes.extend(ThetaHasher::default().seed_hash().to_le_bytes());
        bytes.extend(COUNT.to_le_bytes());
        bytes.extend((start..start + COUNT).flat_map(|hash| hash.to_le_bytes()));
        let compact = CompactThetaSketch::from_bytes(&bytes).unwrap();
        let params = ThetaParams::new(1 << 17).unwrap();
        let mut sketch = ThetaSketch::resume(&compact, params);
        assert_eq!(sketch.num_retained(), COUNT as usize);
        sketch.merge(&compact).unwrap();
        sketch.extend(0..10_u64);
        assert_eq!(sketch.num_retained(), COUNT as usize + 10);
        assert_eq!(sketch.difference(&compact).unwrap().estimate(), 10.0);
        let mut union = ThetaUnion::new(params, compact.hasher());
        union.add(&sketch).unwrap();
        assert_eq!(union.num_retained(), 1 << 17);
        assert!(union.ascending().eq(sketch.ascending().take(1 << 17)));
    }
}

#[test]
fn long_streams_take_linear_time() {
    // The hashes below a low theta lie in all slots. In a few of them, each insert would pass thousands.
    let mut sketch = ThetaSketch::new(1 << 18).unwrap();
    sketch.extend(0..1_u64 << 23);
    assert!(sketch.theta() < 0.07);
    assert!(sketch.estimate_interval(1.0 - 1e-9).unwrap().contains(&f64::from(1 << 23)));
}

/// An iterator is the caller's, and may panic. A sketch without hashes whose theta is 1 has to be an empty one.
#[test]
fn a_batch_that_panics_leaves_a_valid_sketch() {
    for last in [0, 100, 300] {
        let mut found = ThetaSketch::new(4_096).unwrap();
        let keys = (0_u64..).map(|key| if key == last { panic!("expected") } else { key });
        let batch = core::panic::AssertUnwindSafe(|| found.extend(keys));
        assert!(std::panic::catch_unwind(batch).is_err());
        assert_eq!(found, sketch(4_096, 0..last / 256 * 256), "whole chunks");
        let bytes = found.to_compact().to_bytes();
        assert_eq!(CompactThetaSketch::from_bytes(&bytes), Ok(found.to_compact()), "{last}");
    }
}
