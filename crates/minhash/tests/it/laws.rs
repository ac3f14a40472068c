//! Laws that hold for every set: the state is a function of the set, and comparisons obey their definitions.

use minhash::hash::{DefaultHashBuilder, SipHashBuilder, finalize};
use minhash::{Comparison, Estimate, MinHash, MinHashParams};
use pds_core::traits::{Insert, Merge, Similarity};
use quickcheck::quickcheck;

/// The definition: the least of what all keys draw in all rounds for a bin.
fn by_definition(values: u32, hashes: &[u64]) -> Vec<u64> {
    let mut minima = vec![u64::MAX; values as usize];
    for &hash in hashes {
        let mut drawn = hash;
        for round in 0..2 * u64::from(values) {
            let bin = if round < u64::from(values) {
                drawn / (u64::MAX / u64::from(values) + 1)
            } else {
                round - u64::from(values)
            };
            let offered = round * (1 << 50) + drawn % (1 << 50);
            let minimum = &mut minima[usize::try_from(bin).unwrap()];
            *minimum = offered.min(*minimum);
            drawn = drawn.wrapping_mul(0xd134_2543_de82_ef95);
        }
    }
    minima
}

/// The minima, as they stand in the bytes.
fn minima(sketch: &MinHash) -> Vec<u64> {
    let bytes = sketch.to_bytes();
    let payload = bytes.len() - 8 - 8 * sketch.num_values() as usize;
    let words = bytes[payload..bytes.len() - 8].as_chunks().0;
    words.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

fn one_by_one(values: u32, hashes: &[u64]) -> MinHash {
    let mut sketch = MinHash::new(values).unwrap();
    hashes.iter().for_each(|&hash| _ = sketch.insert_hash(hash));
    sketch
}

fn in_batches(values: u32, hashes: &[u64], size: usize) -> MinHash {
    let mut sketch = MinHash::new(values).unwrap();
    hashes.chunks(size).for_each(|hashes| _ = sketch.insert_hash_batch(hashes));
    sketch
}

fn hashes(count: u64, seed: u64) -> Vec<u64> {
    (0..count).map(|i| finalize(i ^ seed << 32)).collect()
}

#[test]
fn the_state_is_that_of_the_definition_however_keys_come() {
    for values in [16, 64, 4_096] {
        for count in [0, 1, 2, 15, 100, 1_000] {
            if values == 4_096 && count > 100 {
                continue;
            }
            let mut hashes = hashes(count, values.into());
            let expected = by_definition(values, &hashes);
            assert_eq!(minima(&one_by_one(values, &hashes)), expected, "{values}, {count}");
            for size in [1, 7, 64, 5_000] {
                assert_eq!(minima(&in_batches(values, &hashes, size)), expected, "in {size}s");
            }
            hashes.reverse();
            hashes.extend_from_within(..);
            assert_eq!(minima(&one_by_one(values, &hashes)), expected, "reversed, twice");
            assert_eq!(minima(&in_batches(values, &hashes, 33)), expected, "reversed, in 33s");
        }
    }
}

#[test]
fn hashes_at_the_ends_of_their_range() {
    let hashes = [0, u64::MAX, 1, 1 << 63, (1 << 50) - 1];
    for values in [16, 4_096] {
        for count in 1..=hashes.len() {
            let expected = by_definition(values, &hashes[..count]);
            assert_eq!(minima(&one_by_one(values, &hashes[..count])), expected);
            assert_eq!(minima(&in_batches(values, &hashes[..count], 2)), expected);
        }
    }
}

#[test]
fn keys_and_hashes_and_batches_of_keys_are_the_same() {
    let words: Vec<String> = (0..700).map(|i| format!("word {i}")).collect();
    let mut batch = MinHash::new(64).unwrap();
    assert!(batch.insert_batch(&words));
    assert!(!batch.insert_batch(&words), "nothing new");
    assert!(!batch.insert_batch::<String>(&[]));
    let mut single = MinHash::new(64).unwrap();
    assert!(single.insert(&words[0]) && !single.insert(&words[0]));
    single.extend(&words);
    assert_eq!(single, batch);
    let hasher = DefaultHashBuilder::default();
    let hashed: Vec<u64> =
        words.iter().map(|word| minhash::hash::KeyHasher::hash_key(&hasher, word)).collect();
    assert_eq!(one_by_one(64, &hashed), batch);
}

quickcheck! {
    fn merging_is_inserting(left: Vec<u64>, right: Vec<u64>) -> bool {
        let mut merged = one_by_one(16, &left);
        Merge::merge(&mut merged, &in_batches(16, &right, 9)).unwrap();
        let all: Vec<u64> = left.iter().chain(&right).copied().collect();
        merged == one_by_one(16, &all)
    }

    fn inserts_after_a_merge_go_on(left: Vec<u64>, right: Vec<u64>, more: Vec<u64>) -> bool {
        let mut merged = one_by_one(16, &left);
        merged.merge(&one_by_one(16, &right)).unwrap();
        more.iter().for_each(|&hash| _ = Insert::insert_hash(&mut merged, hash));
        let all: Vec<u64> = left.iter().chain(&right).chain(&more).copied().collect();
        minima(&merged) == by_definition(16, &all)
    }

    fn whether_an_insert_changed_the_state_is_told(hashes: Vec<u64>, more: Vec<u64>) -> bool {
        let mut sketch = one_by_one(16, &hashes);
        more.chunks(3).all(|more| {
            let before = sketch.clone();
            let told = if more.len() == 1 {
                sketch.insert_hash(more[0])
            } else {
                sketch.insert_hash_batch(more)
            };
            told == (sketch != before)
        })
    }

    fn comparisons_are_symmetric(left: Vec<u64>, right: Vec<u64>) -> bool {
        let (left, right) = (one_by_one(16, &left), one_by_one(16, &right));
        left.compare(&right) == right.compare(&left)
    }
}

const NOTHING: Estimate = Estimate { value: 0.0, standard_error: 0.0 };

fn answers(comparison: Comparison) -> (Estimate, f64, f64) {
    let interval = comparison.jaccard_interval(0.9).unwrap();
    (comparison.jaccard(), *interval.start(), *interval.end())
}

#[test]
fn an_empty_set_is_similar_to_none_and_for_certain() {
    let empty = MinHash::new(16).unwrap();
    let full = one_by_one(16, &hashes(5, 1));
    assert!(empty.is_empty() && !full.is_empty());
    for (left, right) in [(&empty, &full), (&full, &empty), (&empty, &empty)] {
        let comparison = left.compare(right).unwrap();
        assert_eq!(answers(comparison), (NOTHING, 0.0, 0.0));
        assert_eq!(comparison.containment(0, 5), NOTHING);
        assert_eq!(comparison.containment(5, 5).value, 0.0);
        assert_eq!(comparison.containment_interval(5, 5, 0.9), Ok(0.0..=0.0));
        for bits in [1, 32] {
            let signatures = [left, right].map(|sketch| sketch.signature(bits).unwrap());
            let comparison = signatures[0].compare(&signatures[1]).unwrap();
            assert_eq!(answers(comparison), (NOTHING, 0.0, 0.0));
        }
    }
    assert!(empty.compare(&empty).unwrap().jaccard_interval(1.0).is_err());
}

#[test]
fn equal_sets_have_the_index_1_and_disjoint_ones_0_with_an_error_above_0() {
    for count in [1, 10, 1_000] {
        let left = one_by_one(64, &hashes(count, 2));
        let other = one_by_one(64, &hashes(count, 3));
        let equal = left.compare(&left.clone()).unwrap();
        assert_eq!((equal.matches(), equal.jaccard().value), (64, 1.0));
        let (_, start, end) = answers(equal);
        assert!(start > 0.9 && end == 1.0, "{start} {end}");
        assert_eq!(equal.containment(count, count).value, 1.0);
        let disjoint = left.compare(&other).unwrap();
        assert_eq!((disjoint.matches(), disjoint.jaccard().value), (0, 0.0));
        let (_, start, end) = answers(disjoint);
        assert!(start == 0.0 && end > 0.04, "{start} {end}");
        for comparison in [equal, disjoint] {
            let error = comparison.jaccard().standard_error;
            assert!(error > 0.003 && error < 0.02, "{error}");
        }
        assert_eq!(Similarity::jaccard(&left, &left), Ok(1.0));
        for bits in [1, 2, 4, 8, 16, 32] {
            let [left, other] = [&left, &other].map(|sketch| sketch.signature(bits).unwrap());
            assert_eq!(left.jaccard(&left).unwrap().value, 1.0);
            let by_chance = other.jaccard(&left).unwrap();
            assert!(by_chance.value.abs() < 5.0 * by_chance.standard_error, "{by_chance:?}");
        }
    }
}

#[test]
fn the_standard_error_is_above_0_for_the_smallest_sets() {
    for (values, union) in [16, 64, 1_024].into_iter().flat_map(|k| [1, 2, 3, 5].map(|n| (k, n))) {
        for seed in 0..200 {
            let all = hashes(union, 100 + seed);
            let left = one_by_one(values, &all[..all.len().div_ceil(2)]);
            let jaccard = left.jaccard(&one_by_one(values, &all)).unwrap();
            let error = jaccard.standard_error;
            assert!(error > 0.0 && error < 0.2, "{union} keys, {values} values: {jaccard:?}");
        }
    }
}

#[test]
fn values_of_signatures_are_the_low_bits_of_mixed_minima() {
    let sketches = [4, 5].map(|seed| one_by_one(64, &hashes(90, seed)));
    for bits in [1, 2, 4, 8, 16, 32] {
        let cut = |sketch: &MinHash| -> Vec<u64> {
            minima(sketch).iter().map(|&minimum| finalize(minimum) % (1 << bits)).collect()
        };
        let [left, right] = [cut(&sketches[0]), cut(&sketches[1])];
        let expected = left.iter().zip(&right).filter(|(left, right)| left == right).count();
        let [left, right] = [0, 1].map(|i| sketches[i].signature(bits).unwrap());
        assert_eq!(left.compare(&right).unwrap().matches() as usize, expected, "{bits} bits");
    }
}

#[test]
fn containment_is_limited_by_the_sizes() {
    let (left, right) = (one_by_one(64, &hashes(10, 6)), one_by_one(64, &hashes(40, 6)));
    let comparison = left.compare(&right).unwrap();
    assert!((comparison.containment(10, 40).value - 1.0).abs() < 0.5);
    assert!(comparison.containment(40, 10).value <= 0.25);
    assert!(*comparison.containment_interval(40, 10, 0.999).unwrap().end() <= 0.25);
    assert_eq!(comparison.containment(0, 40), NOTHING);
    assert_eq!(left.containment(&right, 10, 40), Ok(comparison.containment(10, 40)));
}

#[test]
fn containment_is_a_share_also_if_the_estimate_of_the_index_is_below_0() {
    // Two sketches of one key each, whose signatures of one bit agree nowhere.
    let signatures = [141, 2_289].map(|i| one_by_one(16, &[finalize(i)]).signature(1).unwrap());
    let comparison = signatures[0].compare(&signatures[1]).unwrap();
    assert_eq!((comparison.matches(), comparison.jaccard().value), (0, -1.0));
    for (left, right) in [(0, 5), (5, 0), (0, 0)] {
        assert_eq!(comparison.containment(left, right), NOTHING, "{left}, {right}");
    }
    let some = comparison.containment(5, 3);
    assert_eq!(some.value, 0.0);
    assert!(some.standard_error > 0.0 && some.standard_error <= 1.0, "{some:?}");
}

#[test]
fn what_differs_is_named() {
    let of = |values, seed| MinHash::builder().num_values(values).seed(seed).build().unwrap();
    let mut sketch = of(64, 0);
    sketch.insert("key");
    let before = sketch.clone();
    let unequal = [(of(128, 0), "number of values"), (of(64, 1), "hasher")];
    for (other, name) in unequal {
        assert_eq!(sketch.merge(&other).unwrap_err().parameter(), name);
        assert_eq!(sketch.jaccard(&other).unwrap_err().parameter(), name);
        assert_eq!(sketch.containment(&other, 1, 1).unwrap_err().parameter(), name);
        assert_ne!(sketch, other);
        let signatures = [&sketch, &other].map(|sketch| sketch.signature(8).unwrap());
        assert_eq!(signatures[0].jaccard(&signatures[1]).unwrap_err().parameter(), name);
        assert_ne!(signatures[0], signatures[1]);
    }
    let [one, two] = [1, 2].map(|bits| sketch.signature(bits).unwrap());
    let error = one.compare(&two).unwrap_err();
    assert_eq!(error.to_string(), "the bits per value differs: 1 here, 2 in the other");
    assert_eq!(sketch, before);
    let hashers = [1, 2].map(|key| SipHashBuilder::from_key([key; 16]));
    let params = MinHashParams::new(16).unwrap();
    let [left, right] = hashers.map(|hasher| MinHash::from_params(params, hasher).unwrap());
    assert_eq!(left.compare(&right).unwrap_err().parameter(), "hasher");
    let refused = sketch.signature(3).unwrap_err();
    assert!(refused.to_string().contains("bits is 3"), "{refused}");
    assert!(MinHash::builder().num_values(16).standard_error(0.1).build().is_err());
}

#[test]
fn clear_makes_it_as_new() {
    let mut sketch = one_by_one(16, &hashes(100, 7));
    sketch.clear();
    assert_eq!(sketch, MinHash::new(16).unwrap());
    sketch.insert_hash_batch(&hashes(3, 8));
    assert_eq!(sketch.try_clone().unwrap(), one_by_one(16, &hashes(3, 8)));
}

/// The table of `docs/hashing.md`, section 10, which another program computed.
#[test]
fn minima_are_those_of_the_specification() {
    let table = [
        (16, 1, [0x0040_f513_a0b9_a47f, 0x0016_f1e1_54e8_7f3b, 0x002f_ae64_1283_ccb3]),
        (16, 10, [0x0007_bd4b_b5e7_183c, 0x0001_3b30_428e_ff95, 0x0016_37ed_7ee4_50e9]),
        (128, 100, [0x0002_5337_e927_ce9e, 0x0000_c7c5_f1e6_f7e5, 0x0007_151d_7e00_ebda]),
    ];
    for (values, count, expected) in table {
        let hashes: Vec<u64> = (0..count).map(finalize).collect();
        let found = minima(&one_by_one(values, &hashes));
        assert_eq!([found[0], found[1], found[values as usize - 1]], expected);
    }
}
