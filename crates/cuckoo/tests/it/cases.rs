//! Kinds of faults that filters of this kind have had elsewhere; the right value for each.
#![cfg(feature = "std")]

use core::hash::Hash;
use pds_core::internal::Difference;
use pds_params::internal::ParamFault;

use cuckoo::error::{Incompatible, InsertError, MergeError, ParamError};
use cuckoo::hash::SipHashBuilder;
use cuckoo::{CuckooFilter, CuckooParams};
use pds_core::hash::{Avalanching, DefaultHashBuilder, KeyHasher, finalize, reduce};
use pds_testkit::hashers::on_awkward_keys;
use pds_testkit::keys;
use pds_testkit::stats::Positives;

#[path = "../../examples/rebuild.rs"]
mod rebuild;

fn shaped(buckets: u64, bits: u32) -> CuckooFilter {
    CuckooFilter::builder().buckets(buckets).fingerprint_bits(bits).build().unwrap()
}

/// Absent keys are answered `true` as often as the filter says, at a false-alarm level of 10^-7.
fn judge<S: KeyHasher, K: Hash>(
    name: &str,
    filter: &CuckooFilter<S>,
    absent: impl Iterator<Item = K>,
) {
    // One filter's own rate is spread around the mean by less than 1 % at these sizes.
    let mean = filter.false_positive_rate();
    Positives::of(filter, absent).judge_between(name, 0.99 * mean..=1.01 * mean, 1e-7);
}

#[test]
fn case_01_a_very_small_rate_is_reached() {
    let mut filter = CuckooFilter::new(200_000, 1e-8).unwrap();
    keys::random(1).take(200_000).for_each(|key| filter.insert(&key).unwrap());
    assert!(filter.false_positive_rate() <= 1e-8);
    assert!(!keys::random(2).take(1_000_000).any(|key| filter.contains(&key)));
}

#[test]
fn case_02_buckets_are_chosen_from_all() {
    // Beyond 2^32 bits; memory that is not touched costs nothing.
    let mut filter = shaped(1 << 26, 32);
    keys::random(3).take(2_000).for_each(|key| filter.insert(&key).unwrap());
    let buckets: Vec<u64> = filter.fingerprints().map(|(bucket, _)| bucket).collect();
    let sixteenths = buckets.iter().map(|bucket| bucket >> 22);
    let mut counts = [0; 16];
    sixteenths.for_each(|i| counts[usize::try_from(i).unwrap()] += 1);
    assert!(counts.iter().all(|count| (60..200).contains(count)), "{counts:?}");
}

#[test]
fn case_03_the_rate_holds_at_every_size() {
    for (seed, buckets) in (0..).zip([1_000, 1_001, 1_009, 1_023, 1_024, 1_025, 3_001]) {
        let mut filter = shaped(buckets, 9);
        let mut hashes = keys::random(seed);
        (0..buckets * 38 / 10).for_each(|_| filter.insert_hash(hashes.next().unwrap()).unwrap());
        let hits = hashes.take(1_000_000).filter(|&hash| filter.contains_hash(hash)).count();
        let ratio = f64::from(u32::try_from(hits).unwrap()) / 1e6 / filter.false_positive_rate();
        assert!((ratio - 1.0).abs() < 0.06, "{buckets} buckets: {ratio}");
    }
}

#[test]
fn case_04_a_rate_is_a_number_from_0_to_1() {
    for (buckets, bits) in [(1, 4), (1, 32), (2, 5), (50, 4), (50, 8)] {
        let mut filter = shaped(buckets, bits);
        loop {
            let rate = filter.false_positive_rate();
            assert!((0.0..=1.0).contains(&rate), "{rate}");
            assert_eq!(rate == 0.0, filter.is_empty());
            if filter.insert_hash(finalize(filter.len())).is_err() {
                break;
            }
        }
    }
}

#[test]
fn case_05_impossible_parameters_are_named() {
    for items in 1..=3 {
        assert!(CuckooFilter::new(items, 0.99).is_ok());
    }
    for rate in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        let error = CuckooParams::new(10, rate).unwrap_err();
        let expected = matches!(
            error,
            ParamError(ParamFault::NotAProbability { parameter: "false_positive_rate", value })
                if value.to_bits() == rate.to_bits()
        );
        assert!(expected, "{error}");
    }
    let error = CuckooParams::new(0, 0.01).unwrap_err();
    assert!(
        matches!(error, ParamError(ParamFault::OutOfRange { parameter: "expected_items", .. })),
        "{error}"
    );
}

#[test]
fn case_06_huge_sizes_are_computed_or_refused() {
    let error = CuckooFilter::new(1_000_000_000_000_000_000, 0.01).unwrap_err();
    assert!(error.to_string().starts_with("buckets would have to be 2.63"), "{error}");
    let params = CuckooParams::new(5_000_000_000, 0.01).unwrap();
    assert_eq!((params.num_buckets(), params.fingerprint_bits()), (1_315_789_474, 10));
}

#[test]
fn case_08_weak_hashes_give_the_promised_error() {
    for (name, hasher, mut keys) in on_awkward_keys() {
        let builder = CuckooFilter::builder().expected_items(50_000).hasher(hasher);
        let mut filter = builder.build().unwrap();
        (0..50_000).for_each(|_| filter.insert(&keys.next().unwrap()).unwrap());
        judge(&name, &filter, keys.take(500_000));
    }
}

/// Insert to failure, remove half, insert to failure again: nothing that is in is ever denied.
#[test]
fn case_09_a_failed_insert_loses_no_key() {
    for (buckets, bits) in [(1, 8), (3, 4), (50, 5), (256, 8), (501, 12), (500, 17), (100, 32)] {
        let mut filter = shaped(buckets, bits);
        let mut keys = keys::random(buckets);
        let mut stored: Vec<u64> = Vec::new();
        for _ in 0..40 {
            let mut failures = 0;
            while failures < 5 {
                let key = keys.next().unwrap();
                let before = filter.clone();
                match filter.insert(&key) {
                    Ok(()) => stored.push(key),
                    Err(full) => {
                        let len = stored.len() as u64;
                        assert!(
                            filter == before
                                && full == InsertError::Full { len, capacity: 4 * buckets }
                        );
                        failures += 1;
                    }
                }
            }
            assert!(stored.iter().all(|key| filter.contains(key)), "{buckets} x {bits}");
            for key in stored.split_off(stored.len() / 2) {
                assert!(filter.remove(&key));
            }
            assert!(stored.iter().all(|key| filter.contains(key)), "{buckets} x {bits}");
            assert_eq!(filter.len(), stored.len() as u64);
        }
    }
}

#[test]
fn case_09_copies_beyond_the_buckets_fail_cleanly() {
    let mut filter = shaped(300, 16);
    (0..900u32).for_each(|key| filter.insert(&key).unwrap());
    let own_partner = |filter: &CuckooFilter, key: &str| {
        let mut probe = shaped(300, 16);
        let copies = (0..20).take_while(|_| probe.insert(key).is_ok()).count();
        assert!(copies == 8 || copies == 4, "{copies} copies");
        filter.len() == 900 && copies == 4
    };
    let keys: Vec<String> = (0..2_000).map(|i| format!("copy {i}")).collect();
    let alone: Vec<&String> = keys.iter().filter(|key| own_partner(&filter, key)).collect();
    // One key in 300 buckets is expected to have one bucket only: 6.7 of 2,000.
    assert!((1..20).contains(&alone.len()), "{}", alone.len());
    for key in [alone[0], &keys[0]] {
        while filter.insert(key).is_ok() {}
        let most = if key == alone[0] { 4 } else { 8 };
        assert!(filter.count(key) <= most);
        assert!((0..900u32).all(|key| filter.contains(&key)));
        (0..filter.count(key)).for_each(|_| assert!(filter.remove(key)));
        assert_eq!((filter.len(), filter.contains(key)), (900, false));
    }
}

#[test]
fn case_09_removing_one_of_equal_keys_leaves_the_others() {
    let mut filter = shaped(64, 12);
    (0..5).for_each(|_| filter.insert("key").unwrap());
    for left in (0..5).rev() {
        assert!(filter.remove("key"));
        assert_eq!((filter.count("key"), filter.contains("key")), (left, left > 0));
    }
}

#[test]
fn case_12_one_bucket_is_enough() {
    for bits in 4..=32 {
        let mut filter = shaped(1, bits);
        let hashes = [0, 1, 2, 3].map(finalize);
        hashes.into_iter().for_each(|hash| filter.insert_hash(hash).unwrap());
        assert!(filter.insert_hash(finalize(5)).is_err());
        assert!(hashes.into_iter().all(|hash| filter.contains_hash(hash)));
        assert!(hashes.into_iter().all(|hash| filter.remove_hash(hash)) && filter.is_empty());
    }
}

#[test]
fn case_13_filters_that_differ_are_not_merged() {
    fn refuses<S: KeyHasher + Clone>(
        mut left: CuckooFilter<S>,
        mut right: CuckooFilter<S>,
        named: impl Fn(&Incompatible) -> bool,
    ) {
        left.insert("left").unwrap();
        right.insert("right").unwrap();
        let before = left.clone();
        match left.merge(&right).unwrap_err() {
            MergeError::Incompatible(e) => assert!(named(&e), "{e}"),
            other => panic!("{other}"),
        }
        assert!(left == before && left != right);
    }
    let shape = |parameter, left, right| Incompatible(Difference::Shape { parameter, left, right });
    fn of<S: KeyHasher>(hasher: S) -> CuckooFilter<S> {
        let builder = CuckooFilter::builder().buckets(100).fingerprint_bits(8);
        builder.hasher(hasher).build().unwrap()
    }
    let keyed = |key| of(SipHashBuilder::from_key([key; 16]));
    refuses(shaped(100, 8), shaped(101, 8), |e| *e == shape("number of buckets", 100, 101));
    refuses(shaped(100, 8), shaped(100, 9), |e| *e == shape("number of fingerprint bits", 8, 9));
    refuses(keyed(0), keyed(1), |e| matches!(e, Incompatible(Difference::Hasher { .. })));
    let random = || of(Avalanching(std::hash::RandomState::new()));
    refuses(random(), random(), |e| matches!(e, Incompatible(Difference::Hasher { .. })));
    assert!(keyed(5).merge(&keyed(5)).is_ok());
}

/// Computed apart from this crate, by integer arithmetic without a word size.
#[test]
fn case_19_places_are_the_same_on_every_machine() {
    let place = |hash, buckets, bits| {
        let mut filter = shaped(buckets, bits);
        // Its bucket is full after four copies, so a fifth lies in the partner, if that is another.
        while filter.len() < 5 && filter.insert_hash(hash).is_ok() {}
        let mut places: Vec<_> = filter.fingerprints().collect();
        places.dedup();
        places
    };
    PLACES.iter().for_each(|&(hash, buckets, bits, first, second, print)| {
        let mut expected = vec![(first, print), (second, print)];
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(place(hash, buckets, bits), expected, "{hash} {buckets} {bits}");
    });
}

/// Two hashes that [`finalize`] makes.
const F0: u64 = finalize(0);
const F1: u64 = finalize(1);

/// Hash, buckets and width; then both buckets and the fingerprint.
const PLACES: [(u64, u64, u32, u64, u64, u32); 21] = [
    (F0, 1, 4, 0, 0, 6),
    (F0, 3, 8, 2, 0, 86),
    (F0, 1_000, 8, 715, 204, 86),
    (F0, 1_001, 12, 715, 323, 1_371),
    (F0, 263_158, 13, 188_179, 31_532, 2_742),
    (F0, 4_096, 16, 2_928, 3_561, 21_935),
    (F0, 1_048_575, 32, 749_818, 887_452, 1_437_532_479),
    (F1, 1, 4, 0, 0, 15),
    (F1, 3, 8, 1, 0, 255),
    (F1, 1_000, 8, 566, 770, 255),
    (F1, 1_001, 12, 566, 93, 4_085),
    (F1, 263_158, 13, 149_032, 75_846, 8_171),
    (F1, 4_096, 16, 2_319, 1_799, 65_369),
    (F1, 1_048_575, 32, 593_830, 713_955, 4_284_079_901),
    (0x78af_5f94_892f_3950, 1, 4, 0, 0, 9),
    (0x78af_5f94_892f_3950, 3, 8, 1, 1, 137),
    (0x78af_5f94_892f_3950, 1_000, 8, 471, 525, 137),
    (0x78af_5f94_892f_3950, 1_001, 12, 471, 336, 2_195),
    (0x78af_5f94_892f_3950, 263_158, 13, 124_059, 259_349, 4_390),
    (0x78af_5f94_892f_3950, 4_096, 16, 1_930, 1_650, 35_119),
    (0x78af_5f94_892f_3950, 1_048_575, 32, 494_325, 524_244, 2_301_573_456),
];

#[test]
fn case_20_a_size_need_not_be_a_multiple_of_the_word() {
    for (buckets, bits) in [(1, 5), (3, 7), (5, 13), (7, 17), (11, 31), (13, 9)] {
        let mut filter = shaped(buckets, bits);
        while filter.insert_hash(finalize(filter.len())).is_ok() {}
        assert_eq!(filter.size_in_bytes(), (buckets * 4 * u64::from(bits)).div_ceil(64) * 8);
        assert_eq!(CuckooFilter::from_bytes(&filter.to_bytes()), Ok(filter));
    }
}

/// Keys that were crafted against one hasher are like any others under a secret key.
#[test]
fn case_23_crafted_keys_do_no_better_under_a_secret_key() {
    fn filled<S: KeyHasher>(hasher: S) -> CuckooFilter<S> {
        let builder = CuckooFilter::builder().expected_items(10_000).hasher(hasher);
        let mut filter = builder.build().unwrap();
        keys::consecutive(0).take(10_000).for_each(|key| filter.insert(&key).unwrap());
        filter
    }
    let public = filled(DefaultHashBuilder::default());
    let absent = keys::consecutive(10_000).take(2_000_000);
    let crafted: Vec<u64> = absent.filter(|key| public.contains(key)).collect();
    assert!(crafted.len() > 10_000);
    judge("crafted keys", &filled(SipHashBuilder::from_key([0x5a; 16])), crafted.iter());
}

#[test]
fn case_24_many_keys_are_asked_in_one_call() {
    let mut filter = CuckooFilter::new(10_000, 0.01).unwrap();
    let words: Vec<String> = keys::urls(1).take(5_000).collect();
    filter.insert_batch(&words).unwrap();
    for length in [0, 1, 31, 32, 33, 64, 65, 1_000] {
        let asked: Vec<String> = keys::urls(1).skip(4_900).take(length).collect();
        let mut answers = vec![false; length];
        filter.contains_batch(&asked, &mut answers);
        assert!(answers.iter().take(100).all(|&answer| answer));
        assert!(asked.iter().map(|key| filter.contains(key)).eq(answers));
    }
}

/// The advice for a set without a bound, as its example follows it: no live key is lost in 400,000 inserts.
#[test]
fn case_39_a_filter_that_is_rebuilt_when_full_loses_no_key() {
    rebuild::main().unwrap();
}

/// Inserts and removes random keys in a list of filters; a full one is followed by one for `next` of its keys. A removal
/// takes the first filter that has the key. Returns how many of the live keys are lost.
fn lost_in_a_list(next: impl Fn(u64) -> u64) -> usize {
    let filter_for = |items| CuckooFilter::new(items, 0.1).unwrap();
    let (mut list, mut live, mut random) = (vec![filter_for(500)], Vec::new(), keys::random(44));
    for key in keys::random(42).take(20_000) {
        let last = list.last_mut().unwrap();
        if last.insert(&key).is_err() {
            let mut larger = filter_for(next(last.expected_items().unwrap()));
            larger.insert(&key).unwrap();
            list.push(larger);
        }
        live.push(key);
        if live.len() > 5_000 {
            let index = reduce(random.next().unwrap(), live.len() as u64);
            let gone = live.swap_remove(usize::try_from(index).unwrap());
            let _ = list.iter_mut().any(|filter| filter.remove(&gone));
        }
    }
    live.iter().filter(|key| !list.iter().any(|filter| filter.contains(*key))).count()
}

/// Why the documents advise against a list that grows: a filter that answers *yes* by mistake gives up a fingerprint of
/// another key. Filters of one shape and one hasher are safe, since each holds what the other would.
#[test]
fn case_39_a_list_of_unequal_filters_loses_keys_that_are_removed() {
    // Hundreds of mistakes are expected at 10 %. The seed fixes which.
    assert!(lost_in_a_list(|items| 2 * items) > 10, "a growing list would be sound advice");
    assert_eq!(lost_in_a_list(|items| items), 0);
}

/// Where nothing is removed, a list is sound: no key is lost, and the rates add up at most.
#[test]
fn case_39_a_list_of_filters_that_only_grow_keeps_every_key() {
    let mut list = vec![CuckooFilter::new(1_000, 0.01).unwrap()];
    let stored = keys::random(43).take(8_000);
    for key in stored.clone() {
        if list.last_mut().unwrap().insert(&key).is_err() {
            list.push(CuckooFilter::new(1_000, 0.01).unwrap());
            list.last_mut().unwrap().insert(&key).unwrap();
        }
    }
    let contains = |key: &u64| list.iter().any(|filter| filter.contains(key));
    assert!(stored.clone().all(|key| contains(&key)));
    let wrong = keys::random(43).skip(8_000).take(20_000).filter(contains).count();
    // At most k p; four standard deviations of the count are a tenth of it, at a false-alarm level of 3e-5.
    assert!(wrong <= list.len() * 220, "{wrong} of 20,000 pass {} filters", list.len());
}
