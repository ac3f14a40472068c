//! Filters that many threads change.

use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicU64, Ordering};
use std::panic::catch_unwind;
use std::thread;

use pds_core::hash::{KeyHasher, finalize};
use pds_core::traits::{Insert, Membership, Merge, Remove};
use pds_params::internal::ParamFault;
use pds_testkit::keys;
use quotient::error::{BuildError, InsertError, MergeError};
use quotient::{QuotientFilter, ShardedQuotientFilter};

use crate::{full, shaped};

fn built(slots: u64, bits: u32, shards: u32) -> ShardedQuotientFilter {
    QuotientFilter::builder().slots(slots).remainder_bits(bits).build_sharded(shards).unwrap()
}

/// Any number of shards: fingerprints are those of one filter.
#[test]
fn all_shards_together_are_one_plain_filter() {
    for shards in [1u32, 2, 3, 7, 16, 100] {
        for bits in [1, 8, 40] {
            let slots = 40 * u64::from(shards);
            let (sharded, mut plain) = (built(slots, bits, shards), shaped(slots, bits));
            for hash in keys::random(9).take(20 * shards as usize).chain([0, u64::MAX]) {
                sharded.insert_hash(hash).unwrap();
                plain.insert_hash(hash).unwrap();
            }
            assert!(keys::random(9).take(5).all(|hash| sharded.remove_hash(hash)));
            assert!(keys::random(9).take(5).all(|hash| plain.remove_hash(hash)));
            assert_eq!((sharded.len(), sharded.num_slots()), (plain.len(), slots));
            for hash in keys::random(9).take(2_000) {
                assert_eq!(sharded.contains_hash(hash), plain.contains_hash(hash));
                assert_eq!(sharded.count_hash(hash), plain.count_hash(hash));
            }
            assert_eq!(sharded.to_filter().unwrap().to_bytes(), plain.to_bytes());
            let again = ShardedQuotientFilter::from_filter(plain.clone(), shards).unwrap();
            assert_eq!(again.to_filter().unwrap(), plain);
            assert!(
                keys::random(9)
                    .take(500)
                    .all(|hash| { again.contains_hash(hash) == plain.contains_hash(hash) })
            );
        }
    }
}

/// Batches of all lengths, with more keys than are sorted together.
#[test]
fn batches_of_shards_do_what_single_calls_do() {
    for shards in [1u32, 3, 16, 700] {
        for len in [0_u32, 1, 100, 1_024, 3_000] {
            let slots = 6 * u64::from(shards) * 1_000;
            let (sharded, mut plain) = (built(slots, 5, shards), shaped(slots, 5));
            let hashes: Vec<u64> = keys::random(len.into()).take(len as usize).collect();
            sharded.insert_hash_batch(&hashes).unwrap();
            plain.insert_hash_batch(&hashes).unwrap();
            assert_eq!(sharded.to_filter().unwrap().to_bytes(), plain.to_bytes());
            let asked: Vec<u64> = keys::random(len.into()).take(2 * len as usize).collect();
            let mut answers = vec![false; asked.len()];
            sharded.contains_hash_batch(&asked, &mut answers);
            assert!(asked.iter().map(|&hash| sharded.contains_hash(hash)).eq(answers.clone()));
            let mut of_trait = vec![true; asked.len()];
            Membership::contains_hash_batch(&sharded, &asked, &mut of_trait);
            assert_eq!(of_trait, answers);
            let removed = &asked[..len as usize / 2 * 3];
            assert_eq!(sharded.remove_hash_batch(removed), plain.remove_hash_batch(removed));
            assert_eq!(sharded.to_filter().unwrap().to_bytes(), plain.to_bytes());

            sharded.insert_batch(&hashes).unwrap();
            let mut answers = vec![false; hashes.len()];
            sharded.contains_batch(&hashes, &mut answers);
            assert!(answers.iter().all(|&answer| answer));
            assert!(hashes.iter().all(|key| sharded.contains(key)));
            assert_eq!(sharded.remove_batch(&hashes), hashes.len());
            assert_eq!(sharded.to_filter().unwrap().to_bytes(), plain.to_bytes());
        }
    }
}

#[test]
fn a_batch_that_does_not_fit_is_an_error_of_the_shard_that_is_full() {
    let sharded = built(40, 8, 2);
    let hashes: Vec<u64> = keys::random(1).take(100).collect();
    let error = sharded.insert_hash_batch(&hashes).unwrap_err();
    assert!(matches!(error, InsertError::Full { len: 19, capacity: 19 }), "{error}");
    let stored = hashes.iter().filter(|&&hash| sharded.contains_hash(hash)).count();
    assert!(sharded.len() >= 19 && stored as u64 >= sharded.len());
    let unequal = AssertUnwindSafe(|| sharded.contains_hash_batch(&hashes, &mut [false]));
    assert!(catch_unwind(unequal).is_err());
}

/// Many shards of few items have more slots than a plain filter. All fingerprints must still be hashes of 64 bits.
#[test]
fn what_is_built_can_be_stored() {
    for (items, rate, shards) in
        [(1_000, 1e-15, 1_024), (1, 1e-16, 65_536), (65_536, 1e-14, 65_536)]
    {
        let of_rate = |rate| {
            let builder = QuotientFilter::builder().expected_items(items).false_positive_rate(rate);
            builder.build_sharded(shards)
        };
        let error = of_rate(rate).unwrap_err();
        let BuildError::Param(error) = error else { panic!("{error}") };
        let ParamFault::TooLow { parameter: "false_positive_rate", value, min } = error.0 else {
            panic!("{error}")
        };
        assert!(value == rate && min > rate, "{error}");
        let filter = of_rate(min).unwrap();
        filter.insert("key").unwrap();
        assert!(filter.to_filter().unwrap().contains("key"));
        assert!(filter.false_positive_rate() >= 2f64.powi(-64));
    }
    let builder = QuotientFilter::builder().expected_items(1).grows_to(1_000);
    let growing = builder.false_positive_rate(1e-15);
    assert!(growing.build_sharded(1_024).is_err() && growing.build_sharded(2).is_ok());
}

/// Threads insert, remove and ask at once, while shards grow.
#[test]
fn threads_insert_and_remove_and_the_answers_are_those_of_a_plain_filter() {
    const KEYS: u64 = 6_000;
    let builder = QuotientFilter::builder().expected_items(500).grows_to(40_000);
    let sharded = builder.build_sharded(8).unwrap();
    let before = sharded.num_slots();
    thread::scope(|scope| {
        for thread in 0..4u64 {
            let sharded = &sharded;
            scope.spawn(move || {
                let own = |key: u64| (thread, key);
                for key in 0..KEYS {
                    sharded.insert(&own(key)).unwrap();
                    assert!(sharded.contains(&own(key)));
                    // All threads store a copy of the same keys, and every other one removes it.
                    sharded.insert(&(key % 100)).unwrap();
                    if key >= 50 && key % 2 == 0 {
                        assert!(sharded.remove(&own(key - 50)));
                        assert!(sharded.remove(&(key % 100)));
                    }
                }
            });
        }
    });
    assert!(sharded.num_slots() > 4 * before);
    // The sizes of the shards depend on the most keys that they had at once, so the plain filter is brought to the same one.
    let whole = sharded.to_filter().unwrap();
    let mut plain = shaped(whole.num_slots(), whole.remainder_bits());
    for thread in 0..4u64 {
        for key in 0..KEYS {
            plain.insert(&(thread, key)).unwrap();
            plain.insert(&(key % 100)).unwrap();
            if key >= 50 && key % 2 == 0 {
                assert!(plain.remove(&(thread, key - 50)) && plain.remove(&(key % 100)));
            }
        }
    }
    assert_eq!(whole, plain);
    assert_eq!(sharded.len(), plain.len());
    for thread in 0..5u64 {
        assert!((0..KEYS).all(|key| {
            let key = (thread, key);
            !plain.contains(&key) || sharded.contains(&key)
        }));
    }
    assert!(sharded.false_positive_rate() <= 0.01);
}

#[test]
fn one_of_several_threads_inserts_an_absent_key() {
    let sharded = QuotientFilter::builder().expected_items(1_000).build_sharded(4).unwrap();
    let inserted = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for key in 0..1_000u32 {
                    let is_new = sharded.insert_if_absent(&key).unwrap();
                    inserted.fetch_add(u64::from(is_new), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(inserted.into_inner(), sharded.len());
    assert!((0..1_000u32).all(|key| sharded.count(&key) == 1));
}

/// A key whose hashing panics.
struct Bad;

impl core::hash::Hash for Bad {
    fn hash<H: core::hash::Hasher>(&self, _: &mut H) {
        panic!("this key has no hash");
    }
}

#[test]
fn a_panic_of_a_thread_leaves_the_filter_usable() {
    let sharded = built(64, 9, 1);
    sharded.insert("key").unwrap();
    let asks: [fn(&ShardedQuotientFilter) -> bool; 3] =
        [|f| f.insert(&Bad).is_ok(), |f| f.contains(&Bad), |f| f.remove(&Bad)];
    for ask in asks {
        assert!(catch_unwind(AssertUnwindSafe(|| ask(&sharded))).is_err());
    }
    assert!(sharded.contains("key") && sharded.remove("key") && sharded.is_empty());
    assert_eq!(sharded.insert("other"), Ok(()));
}

#[test]
fn a_full_shard_says_so() {
    let sharded = built(200, 20, 2);
    let mut hashes = (0..).map(finalize).filter(|hash| hash >> 63 == 1);
    (0..95).for_each(|_| sharded.insert_hash(hashes.next().unwrap()).unwrap());
    let full = Err(InsertError::Full { len: 95, capacity: 95 });
    assert_eq!(sharded.insert_hash(hashes.next().unwrap()), full);
    sharded.insert_hash(7).unwrap();
    assert_eq!(sharded.len(), 96);
}

/// A filter whose keys are all in one half.
fn lopsided(mut filter: QuotientFilter, keys: usize) -> QuotientFilter {
    let hashes = (0..).map(finalize).filter(|hash| hash >> 63 == 1);
    hashes.take(keys).for_each(|hash| filter.insert_hash(hash).unwrap());
    filter
}

#[test]
fn a_shard_with_too_many_keys_grows_or_is_refused() {
    let full = lopsided(shaped(200, 20), 95);
    assert!(ShardedQuotientFilter::from_filter(full, 2).is_ok());
    let too_full = lopsided(shaped(200, 20), 96);
    let error = ShardedQuotientFilter::from_filter(too_full, 2).unwrap_err().to_string();
    assert!(error.starts_with("slots of a shard is 100, but must be from 102 to"), "{error}");

    let growing = QuotientFilter::builder().expected_items(190).grows_to(100_000).build().unwrap();
    let sharded = ShardedQuotientFilter::from_filter(lopsided(growing, 190), 2).unwrap();
    (0..100).for_each(|key| sharded.insert_hash(finalize(key) >> 1).unwrap());
    let whole = sharded.to_filter().unwrap();
    assert!((0..100).all(|key| whole.contains_hash(finalize(key) >> 1)));
    assert_eq!(QuotientFilter::from_bytes(&whole.to_bytes()).unwrap(), whole);
}

/// A shard would lose bits, and one whose other half is empty would not: no plain filter has both.
#[test]
fn fingerprints_of_other_lengths_are_refused() {
    let build = |rate, keys| {
        let builder = QuotientFilter::builder().expected_items(10_000).false_positive_rate(rate);
        let filter = builder.build_sharded(4).unwrap();
        (0..keys).for_each(|key| filter.insert(&key).unwrap());
        filter
    };
    // One key is in one shard, and the others are empty.
    let (mut precise, mut rough) = (build(0.0918, 100), build(0.288, 1));
    assert_eq!(precise.num_slots(), rough.num_slots());
    let (before, other) = (precise.to_filter().unwrap(), rough.to_filter().unwrap());
    for merged in [precise.merge(&rough), rough.merge(&precise)] {
        let error = merged.unwrap_err();
        assert!(matches!(error, MergeError::Incompatible(_)));
        assert!(error.to_string().contains("remainder_bits"), "{error}");
    }
    assert_eq!((precise.to_filter().unwrap(), rough.to_filter().unwrap()), (before, other));
    assert_eq!(precise.promised_rate(), Some(0.0918));
    // Doublings do not count: these are equally long.
    let builder = QuotientFilter::builder().expected_items(500).grows_to(40_000);
    let (mut grown, small) = (builder.build_sharded(4).unwrap(), builder.build_sharded(4).unwrap());
    (0..9_000u32).for_each(|key| grown.insert(&key).unwrap());
    small.insert("key").unwrap();
    grown.merge(&small).unwrap();
    assert!(grown.contains("key") && grown.to_filter().unwrap().contains("key"));
}

#[test]
fn the_expected_items_fit_with_the_promised_rate() {
    for (items, shards) in [(1u64, 16u32), (1_000, 64), (50_000, 8)] {
        let sharded =
            QuotientFilter::builder().expected_items(items).build_sharded(shards).unwrap();
        keys::random(items)
            .take(usize::try_from(items).unwrap())
            .for_each(|hash| sharded.insert_hash(hash).unwrap());
        assert_eq!((sharded.expected_items(), sharded.promised_rate()), (Some(items), Some(0.01)));
        assert_eq!((sharded.len(), sharded.num_shards()), (items, shards as usize));
        assert!(sharded.false_positive_rate() <= 0.01);
        let whole = sharded.to_filter().unwrap();
        assert_eq!((whole.expected_items(), whole.promised_rate()), (Some(items), Some(0.01)));
    }
}

#[test]
fn merging_is_that_of_the_shards() {
    let builder = QuotientFilter::builder().expected_items(500).grows_to(40_000);
    let (mut left, right) = (builder.build_sharded(8).unwrap(), builder.build_sharded(8).unwrap());
    (0..300u32).for_each(|key| left.insert(&key).unwrap());
    (200..9_000u32).for_each(|key| right.insert(&key).unwrap());
    let mut plain = left.to_filter().unwrap();
    plain.merge(&right.to_filter().unwrap()).unwrap();
    left.merge(&right).unwrap();
    assert_eq!(left.to_filter().unwrap(), plain);
    // The first shard fits twice, the second does not: nothing is changed.
    let mut uneven = built(200, 20, 2);
    uneven.insert_hash(1).unwrap();
    (0..60).for_each(|key| uneven.insert_hash(finalize(key) | 1 << 63).unwrap());
    let before = uneven.to_filter().unwrap();
    let other = ShardedQuotientFilter::from_filter(before.clone(), 2).unwrap();
    let error = uneven.merge(&other).unwrap_err();
    assert_eq!(error, MergeError::Insert(InsertError::Full { len: 120, capacity: 95 }));
    assert_eq!(uneven.to_filter().unwrap(), before);
    let error = uneven.merge(&built(200, 20, 4)).unwrap_err().to_string();
    assert!(error.contains("number of shards"), "{error}");
}

#[test]
fn what_cannot_be_sharded_is_named() {
    let parameter = |built: Result<ShardedQuotientFilter, BuildError>| match built {
        Err(BuildError::Param(error)) => error.parameter(),
        other => panic!("{other:?}"),
    };
    let builder = QuotientFilter::builder();
    for shards in [0, 65_537, u32::MAX] {
        assert_eq!(parameter(builder.expected_items(9).build_sharded(shards)), "shards");
        assert_eq!(parameter(ShardedQuotientFilter::from_filter(shaped(8, 3), shards)), "shards");
    }
    assert_eq!(parameter(builder.slots(100).remainder_bits(7).build_sharded(3)), "shards");
    assert_eq!(parameter(ShardedQuotientFilter::from_filter(full(100, 7), 7)), "shards");
    // Each shard needs a slot for a key, and one more.
    assert_eq!(parameter(builder.slots(100).remainder_bits(7).build_sharded(100)), "shards");
    assert_eq!(parameter(ShardedQuotientFilter::from_filter(shaped(100, 7), 100)), "shards");
    assert_eq!(parameter(builder.expected_items(0).build_sharded(3)), "expected_items");
    assert_eq!(parameter(builder.build_sharded(3)), "expected_items");
    let error = builder.expected_items(10_000).grows_to(9).build_sharded(3).unwrap_err();
    assert!(error.to_string().contains("is 9, but must be from 10000"), "{error}");
}

#[test]
fn the_traits_and_clearing() {
    fn through_traits(filter: &mut (impl Insert + Remove + Membership + Merge)) {
        let mut insert = || filter.insert("key").unwrap_or_else(|_| panic!("it fits"));
        assert!(insert() && !insert());
        assert!(filter.remove("key") && filter.contains("key"));
    }
    let mut sharded = built(80, 7, 4);
    through_traits(&mut sharded);
    // Generic code of several threads has a shared reference each.
    fn insert_and_remove(mut filter: impl Insert + Remove) {
        let mut insert = |key| filter.insert(&key).unwrap_or_else(|_| panic!("it fits"));
        assert!(insert(1) && insert(2));
        assert!(filter.remove(&1));
    }
    let shared = built(80, 30, 4);
    insert_and_remove(&shared);
    assert!(shared.contains(&2) && shared.len() == 1);
    assert_eq!(sharded.hash_key("key"), sharded.hasher().hash_key("key"));
    assert!(format!("{sharded:?}").contains("num_shards: 4"));
    sharded.clear();
    assert!(sharded.is_empty());
    assert_eq!(sharded.to_filter().unwrap().to_bytes(), shaped(80, 7).to_bytes());
}
