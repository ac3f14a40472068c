//! Kinds of faults that sketches of this kind have had elsewhere; the right value for each.
#![cfg(feature = "std")]

mod crafted;

use core::time::Duration;
use std::time::Instant;

use crafted::unfinalized;
use hll::{
    AtomicHyperLogLog, HllParams, HyperLogLog, HyperLogLogView, Incompatible, ParamError,
    SipHashBuilder, UltraLogLog,
};
use pds_testkit::{hashers, keys};

fn params(precision: u32) -> HllParams {
    HllParams::new(precision).unwrap()
}

fn numbers(precision: u32, keys: core::ops::Range<u64>) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(precision).unwrap();
    sketch.extend(keys);
    sketch
}

fn ultra(precision: u32, keys: core::ops::Range<u64>) -> UltraLogLog {
    let mut sketch = UltraLogLog::new(precision).unwrap();
    sketch.extend(keys);
    sketch
}

/// An estimate is within five standard errors.
#[track_caller]
fn assert_near(estimate: f64, truth: f64, relative_error: f64, what: &str) {
    let error = (estimate / truth - 1.0) / relative_error;
    assert!(error.abs() < 5.0, "{what}: {estimate} of {truth}, {error} standard errors");
}

#[test]
fn case_05_impossible_parameters_are_named() {
    for error in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
        let refused = HyperLogLog::builder().standard_error(error).build().unwrap_err();
        let named =
            matches!(refused, ParamError::NotAProbability { parameter: "standard_error", .. });
        assert!(named, "{error}: {refused:?}");
    }
    // More registers than a sketch has.
    let refused = HyperLogLog::builder().standard_error(1e-9).build().unwrap_err();
    assert!(refused.to_string().contains("number of registers"), "{refused}");
    let refused = HyperLogLog::builder().memory_bytes(0).build().unwrap_err();
    let range = ParamError::OutOfRange { parameter: "bytes", value: 0, min: 16, max: 1 << 18 };
    assert_eq!(refused, range);
}

/// Integers far apart, by hashers that leave most of their bits as they are.
#[test]
fn case_08_weak_hashes_give_the_promised_error() {
    for hasher in hashers::all() {
        let name = format!("{hasher:?}");
        let mut plain = HyperLogLog::from_params(params(12), hasher);
        let mut two_bits = UltraLogLog::from_params(params(12), hasher);
        let mut shared = HyperLogLog::from_params(params(12), hasher);
        for key in keys::strided(1 << 40, 1 << 12).take(100_000) {
            plain.insert(&key);
            two_bits.insert(&key);
        }
        assert_near(plain.estimate(), 1e5, 1.04 / 64.0, &name);
        assert_near(plain.martingale_estimate().unwrap(), 1e5, 0.84 / 64.0, &name);
        assert_near(two_bits.estimate(), 1e5, 0.79 / 64.0, &name);
        keys::strided((1 << 40) + (50_000 << 12), 1 << 12).take(100_000).for_each(|key| {
            shared.insert(&key);
        });
        let both = plain.intersection_estimate(&shared).unwrap();
        assert_near(both.value, 5e4, both.standard_error / both.value, &name);
    }
}

/// Sixteen registers, and two keys in the sparse form, are enough to answer.
#[test]
fn case_12_the_smallest_sketch_works() {
    for keys in [0, 1, 2, 3] {
        let sketch = numbers(4, 0..keys);
        assert_eq!(sketch.is_dense(), keys > 2);
        let tolerance = if keys > 2 { 2.0 } else { 1e-6 };
        assert!((sketch.estimate() - keys as f64).abs() <= tolerance, "{sketch:?} of {keys}");
    }
    assert_near(numbers(4, 0..1_000_000).estimate(), 1e6, 0.26, "plain");
    assert_near(ultra(4, 0..1_000_000).estimate(), 1e6, 0.2, "ultra");
}

#[test]
fn case_13_what_differs_is_named_and_nothing_changes() {
    fn refused<T>(result: Result<T, Incompatible>) -> bool {
        matches!(result, Err(Incompatible::Hasher { left, right }) if left != right)
    }
    let seeded = |seed| {
        let builder = HyperLogLog::builder().precision(8).seed(seed);
        let mut sketch = builder.build().unwrap();
        sketch.extend(0..seed);
        sketch
    };
    // Sparse and dense, in every pair.
    for (left, right) in [(3, 4), (3, 1_000), (1_000, 3), (1_000, 2_000)] {
        let (left, right) = (seeded(left), seeded(right));
        let mut merged = left.clone();
        assert!(refused(merged.merge(&right)));
        assert_eq!(merged.to_bytes(), left.to_bytes());
        assert!(refused(left.overlap(&right)) && refused(left.jaccard_estimate(&right)));
        assert!(refused(left.difference_estimate(&right)));
        assert!(refused(HyperLogLog::union_estimate(&[&left, &left, &right])));
        let shared = AtomicHyperLogLog::from(left.clone());
        assert!(refused(shared.merge(&AtomicHyperLogLog::from(right.clone()))));
        assert_ne!(left, right);
    }
    // A hasher that is no portable one, of the same type but another key.
    let keyed = |key| HyperLogLog::from_params(params(8), std::hash::RandomState::clone(key));
    let (one, two) = (std::hash::RandomState::new(), std::hash::RandomState::new());
    assert!(refused(keyed(&one).merge(&keyed(&two))));
    assert!(keyed(&one).merge(&keyed(&one)).is_ok());
}

/// The switch to the dense form depends on the set alone: not on whether an insert, a merge, bytes or a lower precision
/// brought its last key.
#[test]
fn case_14_every_way_to_a_set_gives_the_same_bytes() {
    for count in [31, 32, 33, 34, 200] {
        let whole = numbers(8, 0..count).to_bytes();
        for first in [0, 1, count / 2, count - 1, count] {
            let (mut left, right) = (numbers(8, 0..first), numbers(8, first..count));
            left.merge(&right).unwrap();
            left.merge(&right).unwrap();
            assert_eq!(left.to_bytes(), whole, "{first} and the rest of {count}, merged");
            let mut read = HyperLogLog::from_bytes(&numbers(8, 0..first).to_bytes()).unwrap();
            read.insert_batch(&(first..count).rev().collect::<Vec<_>>());
            assert_eq!(read.to_bytes(), whole, "{first} read, the rest of {count} inserted");
            let mut finer = numbers(12, 0..first);
            finer.merge(&numbers(10, first..count)).unwrap();
            finer.reduce_precision(8).unwrap();
            assert_eq!(finer.to_bytes(), whole, "{first} and the rest of {count}, finer");
        }
    }
}

/// Estimates are asked for before each change of the state, and are those of sketches that were never asked before.
#[test]
fn case_14_no_estimate_is_a_stale_one() {
    let (mut plain, mut two_bits) = (numbers(8, 0..0), ultra(8, 0..0));
    for count in (0..60u64).map(|step| 10 * step) {
        let _ = (plain.estimate(), plain.estimate_by_likelihood(), two_bits.estimate());
        plain.merge(&numbers(8, count..count + 5)).unwrap();
        two_bits.merge(&ultra(8, count..count + 5)).unwrap();
        let fresh = numbers(8, 0..count + 5);
        assert_eq!(plain.estimate(), fresh.estimate(), "{count}");
        assert_eq!(plain.estimate_by_likelihood(), fresh.estimate_by_likelihood(), "{count}");
        assert_eq!(two_bits.estimate(), ultra(8, 0..count + 5).estimate(), "{count}");
        plain.extend(count + 5..count + 10);
        two_bits.extend(count + 5..count + 10);
        assert_eq!(plain.estimate(), numbers(8, 0..count + 10).estimate(), "{count}");
        assert_eq!(two_bits.estimate(), ultra(8, 0..count + 10).estimate(), "{count}");
    }
    plain.reduce_precision(6).unwrap();
    assert_eq!(plain.estimate(), numbers(6, 0..600).estimate());
    plain.clear();
    assert_eq!(plain.estimate(), 0.0);
}

#[test]
fn case_15_a_merge_after_bytes_is_the_same_merge() {
    for (left, right) in [(0..10, 5..20), (0..10, 0..5_000), (0..5_000, 3..9), (0..900, 0..5_000)] {
        let (a, b) = (numbers(10, left.clone()), numbers(8, right.clone()));
        let (mut direct, mut sent) = (a.clone(), HyperLogLog::from_bytes(&a.to_bytes()).unwrap());
        direct.merge(&b).unwrap();
        let viewed = HyperLogLogView::from_bytes(&b.to_bytes()).unwrap().to_sketch().unwrap();
        sent.merge(&viewed).unwrap();
        assert_eq!(sent.to_bytes(), direct.to_bytes());
        let (a, b) = (AtomicHyperLogLog::from(a), AtomicHyperLogLog::from(b));
        let sent = AtomicHyperLogLog::from_bytes(&b.to_bytes()).unwrap();
        sent.merge(&a).unwrap();
        b.merge(&a).unwrap();
        assert_eq!(sent.to_bytes(), b.to_bytes());
        let (mut a, b) = (ultra(10, left), ultra(8, right));
        let mut sent = UltraLogLog::from_bytes(&a.to_bytes()).unwrap();
        sent.merge(&b).unwrap();
        a.merge(&b).unwrap();
        assert_eq!(sent.to_bytes(), a.to_bytes());
    }
}

/// Every number of registers that is no multiple of a vector, a word or a chunk does not exist; numbers of keys do.
#[test]
fn case_20_any_number_of_keys_goes_there_and_back() {
    for count in 0..140 {
        let sketch = numbers(10, 0..count);
        assert_eq!(HyperLogLog::from_bytes(&sketch.to_bytes()).unwrap(), sketch, "{count}");
        let keys: Vec<_> = (0..count).collect();
        let (mut batch, mut two_bits) = (numbers(4, 0..0), ultra(4, 0..0));
        batch.insert_batch(&keys);
        two_bits.insert_batch(&keys);
        assert_eq!((batch, two_bits), (numbers(4, 0..count), ultra(4, 0..count)), "{count}");
    }
}

#[test]
fn case_22_keys_may_hold_any_bytes() {
    let mut sketch = numbers(14, 0..0);
    let strange: [&[u8]; 7] = [b"", b"\0", b"\0\0", b"\n", b"a\nb", b"\xff\xfe", b"a\0b"];
    assert_eq!(sketch.insert_batch(&strange), strange.len());
    assert_eq!(sketch.insert_batch(&strange), 0);
    assert_eq!(sketch.estimate().round(), strange.len() as f64);
}

/// Keys that leave a sketch of a known hash unchanged are as good as any under a secret key.
#[test]
fn case_23_crafted_keys_do_no_better_under_a_secret_key() {
    let mut known = numbers(8, 0..1_000);
    let hidden: Vec<u64> = (1_000..).filter(|key| !known.clone().insert(key)).take(5_000).collect();
    let before = known.estimate();
    known.extend(&hidden);
    assert_eq!(known.estimate(), before, "the attack works");
    let mut keyed = HyperLogLog::from_params(params(8), SipHashBuilder::from_key([9; 16]));
    keyed.extend(0..1_000u64);
    keyed.extend(&hidden);
    assert_near(keyed.estimate(), 6_000.0, 1.04 / 16.0, "keyed");
}

/// Keys whose entries of the sparse form share a bucket: each insert passes all before it. The time of `docs/security.md`.
#[test]
fn case_23_crafted_inserts_are_slow_but_end() {
    let time = |step: u64| {
        let hash = |i| unfinalized((i * step) << 38 | 1u64 << 37);
        let hashes: Vec<u64> = (0..1 << 15).map(hash).collect();
        let mut sketch = numbers(18, 0..0);
        let start = Instant::now();
        sketch.insert_hash_batch(&hashes);
        let time = start.elapsed();
        assert!(!sketch.is_dense() && sketch.estimate().round() >= 32_768.0);
        time
    };
    // In a row, or all over the registers in no order.
    let [crafted, ordinary] = [1, 41_475_577].map(time);
    println!("32,768 crafted inserts: {crafted:?}; ordinary ones: {ordinary:?}");
    assert!(crafted < Duration::from_secs(20), "{crafted:?}");
}
