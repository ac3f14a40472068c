//! Methods of the structures, at ordinary and at extreme parameters.
#![cfg(feature = "parallel")]

use core::cell::Cell;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicU64, Ordering};
use pds_params::internal::ParamFault;

use fuse::error::ParamError;
use fuse::hash::SipHashBuilder;
use fuse::{
    ConstructionError, ExactFilter, FuseFilter, Preset, RetrievalMap, RibbonFilter, UpdatableMap,
};
use pds_core::hash::{KeyHasher, finalize};
use pds_core::traits::Membership;
use pds_params::FuseParams;
use pds_testkit::keys;

fn numbers(keys: u32) -> RibbonFilter {
    RibbonFilter::new(0..keys, 0.001).unwrap()
}

#[test]
fn a_filter_of_nothing_contains_nothing() {
    for rate in [0.9, 0.5, 0.01, 1e-9] {
        let filter = RibbonFilter::new([""; 0], rate).unwrap();
        assert!(filter.is_empty() && filter.size_in_bytes() == 0);
        assert_eq!(filter.false_positive_rate(), 0.0);
        assert!(!keys::random(1).take(1_000).any(|hash| filter.contains_hash(hash)));
    }
}

#[test]
fn few_keys_are_no_special_case() {
    for keys in 1..=130u32 {
        for rate in [0.9, 0.4, 0.01, 1e-6, 2f64.powi(-32)] {
            let filter = RibbonFilter::new(0..keys, rate).unwrap();
            assert!((0..keys).all(|key| filter.contains(&key)), "{keys} keys at {rate}");
            assert_eq!((filter.len(), filter.num_exact()), (keys.into(), 0));
        }
    }
}

#[test]
fn keys_are_their_type_too() {
    let filter = RibbonFilter::new([1u32], 1e-6).unwrap();
    assert!(filter.contains(&1u32) && !filter.contains(&1u64));
}

#[test]
fn a_filter_tells_its_numbers() {
    let filter = numbers(500);
    assert_eq!((filter.len(), filter.is_empty(), filter.preset()), (500, false, Preset::Compact));
    assert_eq!(filter.columns(), 9.976_562_5);
    assert!(filter.promised_rate() <= 0.001 && filter.promised_rate() > 0.000_99);
    assert!(filter.false_positive_rate() <= filter.promised_rate());
    assert_eq!(filter.bits_per_key(), filter.size_in_bytes() as f64 / 62.5);
    let text = format!("{filter:?} {:?}", RibbonFilter::builder().columns(8.0));
    assert!(text.starts_with("RibbonFilter { len: 500, columns: 9.9"), "{text}");
    assert!(text.contains("RibbonFilterBuilder { false_positive_rate: None, columns: Some(8.0)"));
}

#[test]
fn wrong_values_are_named_and_no_key_is_asked_for() {
    let untouched = core::iter::from_fn(|| -> Option<u64> { panic!("a key was asked for") });
    for rate in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        let error = RibbonFilter::new(untouched.clone(), rate).unwrap_err();
        let expected = matches!(
            error,
            ConstructionError::Param(ParamError(ParamFault::NotAProbability {
                parameter: "false_positive_rate", value
            })) if value.to_bits() == rate.to_bits()
        );
        assert!(expected, "{error}");
    }
    let error = RibbonFilter::new(untouched.clone(), 1e-10).unwrap_err();
    assert_eq!(error.to_string(), "columns would have to be 34, but must be at most 32");
    for columns in [0.0, -1.0, f64::NAN, 32.1, f64::INFINITY] {
        let builder = RibbonFilter::builder().columns(columns);
        let error = builder.build(untouched.clone()).unwrap_err();
        assert!(matches!(error, ConstructionError::Param(_)), "{columns}: {error}");
        assert!(error.to_string().starts_with("columns "), "{error}");
    }
    let builder = RibbonFilter::builder().columns(8.0).false_positive_rate(0.1);
    let error = builder.build(untouched).unwrap_err();
    assert_eq!(error, ParamError(ParamFault::Conflict { parameter: "false_positive_rate" }).into());
}

#[test]
fn columns_between_steps_are_rounded_up() {
    for (given, columns) in [(1e-9, 1.0 / 256.0), (8.001, 8.0 + 1.0 / 256.0), (32.0, 32.0)] {
        let filter = RibbonFilter::builder().columns(given).build([1]).unwrap();
        assert_eq!(filter.columns(), columns);
    }
}

#[test]
fn a_seed_and_a_hasher_are_those_of_the_filter() {
    let seeded = RibbonFilter::builder().seed(7).build(0..100u8).unwrap();
    assert!((0..100u8).all(|key| seeded.contains(&key)));
    assert_ne!(seeded.hash_key(&1u8), numbers(1).hash_key(&1u8));
    let secret = SipHashBuilder::from_key([7; 16]);
    let keyed = RibbonFilter::builder().hasher(secret).build(0..100u8).unwrap();
    assert!((0..100u8).all(|key| keyed.contains(&key)));
    assert_eq!(keyed.hasher().hash_key(&1u8), secret.hash_key(&1u8));
}

#[test]
fn the_trait_answers_as_the_methods_do() {
    let filter = numbers(100);
    let dynamic: &dyn Membership = &filter;
    for key in 0..1_000u32 {
        assert_eq!(dynamic.contains_key(&key), filter.contains(&key));
    }
}

#[test]
#[should_panic(expected = "one answer per key: 2 keys, but 1 answers")]
fn a_batch_has_one_answer_per_key() {
    numbers(5).contains_batch(&[1, 2], &mut [false]);
}

#[test]
fn progress_ends_with_all_keys_and_is_told_on_the_way() {
    for parallel in [false, true] {
        let (calls, greatest) = (AtomicU64::new(0), AtomicU64::new(0));
        let callback = |progress: fuse::Progress| {
            assert!(progress.total == 1_000_000 && progress.done <= progress.total);
            calls.fetch_add(1, Ordering::Relaxed);
            greatest.fetch_max(progress.done, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let builder = RibbonFilter::builder().progress(&callback).parallel(parallel);
        builder.build_hashes(keys::random(4).take(1_000_000).collect()).unwrap();
        assert_eq!(greatest.into_inner(), 1_000_000);
        assert!(calls.into_inner() >= 7);
    }
}

/// Both stages count, with and without columns, and the keys to exclude.
#[test]
fn progress_of_an_exact_filter_ends_with_its_total() {
    for (include, exclude) in
        [(3_000, 6_000), (2_000, 30_000), (4_000, 0), (300, 100), (10, 300_000)]
    {
        let (calls, greatest) = (AtomicU64::new(0), AtomicU64::new(0));
        let total = include as u64
            + if exclude > 2 * include { include as u64 } else { 0 }
            + exclude as u64;
        let callback = |progress: fuse::Progress| {
            assert!(progress.total == total && progress.done <= total, "{progress:?} of {total}");
            calls.fetch_add(1, Ordering::Relaxed);
            greatest.fetch_max(progress.done, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let mut hashes = keys::random(5);
        let inside = hashes.by_ref().take(include).collect();
        let outside = hashes.take(exclude).collect();
        ExactFilter::builder().progress(&callback).build_hashes(inside, outside).unwrap();
        assert_eq!(greatest.into_inner(), total, "{include}, {exclude}");
        assert!(exclude < 300_000 || calls.into_inner() >= 5, "the excluded keys are many");
    }
}

#[test]
fn a_build_is_cancelled_by_its_callback() {
    for parallel in [false, true] {
        for allowed in [0, 3] {
            let calls = AtomicU64::new(0);
            let callback = |_| match calls.fetch_add(1, Ordering::Relaxed) < allowed {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            let builder = RibbonFilter::builder().progress(&callback).parallel(parallel);
            let built = builder.build_hashes(keys::random(4).take(1_000_000).collect());
            assert_eq!(built.unwrap_err(), ConstructionError::Cancelled);
        }
    }
}

#[test]
fn shrinking_names_a_rate_that_is_too_low() {
    let filter = numbers(1_000);
    assert_eq!(filter.shrink_to_rate(0.001).unwrap(), filter);
    let error = filter.shrink_to_rate(1e-4).unwrap_err();
    let ConstructionError::Param(ParamError(ParamFault::TooLow { parameter, value, min })) = error
    else {
        panic!("{error}")
    };
    assert_eq!((parameter, value, min), ("false_positive_rate", 1e-4, filter.promised_rate()));
    assert!(filter.shrink_to_rate(1.0).is_err());
}

#[test]
fn equality_is_of_sets_rates_and_hashers() {
    let filter = numbers(300);
    assert_eq!(filter, filter.try_clone().unwrap());
    assert_ne!(filter, numbers(301));
    assert_ne!(filter, RibbonFilter::new(0..300u32, 0.01).unwrap());
    assert_ne!(
        filter,
        RibbonFilter::builder().false_positive_rate(0.001).seed(1).build(0..300u32).unwrap()
    );
}

#[test]
fn hashes_are_taken_as_they_are() {
    let hashes: Vec<u64> = (0..5_000).map(finalize).collect();
    let filter = RibbonFilter::builder().build_hashes(hashes.clone()).unwrap();
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
    // An iterator that says nothing of its length.
    let left = Cell::new(5_000);
    let next = || (left.get() > 0).then(|| left.replace(left.get() - 1));
    let filter = RibbonFilter::new(core::iter::from_fn(next), 0.01).unwrap();
    assert!((1..=5_000).all(|key: i32| filter.contains(&key)));
}

/// At rates near 2^-32 a key that collides with a whole hash counts.
#[test]
fn collisions_of_whole_hashes_count() {
    let rate = 2f64.powi(-31);
    for (keys, bits) in [(4_000, 31), (9_000, 32)] {
        let filter = FuseFilter::new(0..keys, rate).unwrap();
        let params = FuseParams::new(keys, rate).unwrap();
        assert_eq!((filter.fingerprint_bits(), params.fingerprint_bits()), (bits, bits));
        assert_eq!(filter.promised_rate(), params.rate());
        // Duplicates are no further keys.
        assert_eq!(FuseFilter::new((0..9_000).map(|key| key % keys), rate).unwrap(), filter);
    }
    let error = FuseFilter::new(0..5_000, rate / 2.0).unwrap_err();
    assert_eq!(error, FuseParams::new(5_000, rate / 2.0).unwrap_err().into());
    let entries = || (0..10_000u32).map(|key| (key, 1));
    let collisions = 10_000.0 * 2f64.powi(-64);
    let map = RetrievalMap::new(entries(), 32).unwrap();
    assert_eq!(map.false_positive_rate(), 2f64.powi(-32) + collisions);
    let map = UpdatableMap::new(entries(), 32).unwrap();
    assert_eq!(map.false_positive_rate(), 0.75 * 2f64.powi(-32) + collisions);
}

/// Maps that hold each number below `keys` to its remainder by 100.
fn remainders(keys: u32, check_bits: u32) -> RetrievalMap {
    RetrievalMap::new((0..keys).map(|key| (key, u64::from(key % 100))), check_bits).unwrap()
}

#[test]
fn a_map_of_nothing_has_no_value() {
    for check_bits in [0, 8, 32] {
        let map = RetrievalMap::new([("", 0); 0], check_bits).unwrap();
        assert!(map.is_empty() && map.size_in_bytes() == 0 && map.false_positive_rate() == 0.0);
        assert!(keys::random(1).take(1_000).all(|hash| map.get_hash(hash).is_none()));
    }
}

#[test]
fn every_width_of_value_and_check_works() {
    for keys in [1, 2, 60, 64, 70, 700, 3_000] {
        for (value_bits, check_bits) in
            [(1, 0), (1, 32), (7, 1), (8, 0), (9, 9), (32, 32), (33, 31), (64, 0), (63, 1)]
        {
            let mask = u64::MAX >> (64 - value_bits);
            let entries: Vec<(u64, u64)> =
                keys::random(3).zip(keys::random(4).map(|value| value & mask)).take(keys).collect();
            let builder = RetrievalMap::builder().value_bits(value_bits).check_bits(check_bits);
            let map = builder.build_hashes(entries.clone()).unwrap();
            assert_eq!((map.value_bits(), map.check_bits()), (value_bits, check_bits));
            for (hash, value) in entries {
                assert_eq!(map.get_hash(hash), Some(value), "{value_bits} + {check_bits} bits");
            }
        }
    }
}

#[test]
fn a_map_tells_its_numbers() {
    let map = remainders(1_000, 5);
    assert_eq!((map.len(), map.value_bits(), map.check_bits(), map.num_exact()), (1_000, 7, 5, 0));
    assert!((map.false_positive_rate() * 32.0 - 1.0).abs() < 1e-12);
    assert_eq!(map.bits_per_key(), map.size_in_bytes() as f64 / 125.0);
    assert!(map.bits_per_key() < 12.3);
    let text = format!("{map:?} {:?}", RetrievalMap::builder());
    assert!(text.starts_with("RetrievalMap { len: 1000, value_bits: 7, check_bits: 5"), "{text}");
    assert_eq!(RetrievalMap::new([(1, 0)], 0).unwrap().value_bits(), 1);
}

#[test]
fn case_52_equal_entries_count_once_and_contradictions_are_named() {
    let map = RetrievalMap::new([("a", 1), ("b", 2), ("a", 1)], 8).unwrap();
    assert_eq!((map.len(), map.get("a"), map.get("b")), (2, Some(1), Some(2)));
    // Whatever the order, the two least values are named.
    for [first, second, third] in [[5, 3, 1], [5, 1, 3], [3, 5, 1], [3, 1, 5], [1, 5, 3], [1, 3, 5]]
    {
        let entries = [("a", first), ("b", 2), ("a", second), ("a", third)];
        let error = RetrievalMap::new(entries, 8).unwrap_err();
        let hash = map.hash_key("a");
        assert_eq!(error, ConstructionError::Contradiction { hash, values: [1, 3] });
        assert!(error.to_string().contains("two values, 1 and 3"), "{error}");
    }
}

#[test]
fn a_value_that_does_not_fit_is_named() {
    let builder = RetrievalMap::builder().value_bits(4);
    let map = builder.build([("a", 15)]).unwrap();
    assert_eq!(map.get("a"), Some(15));
    let error = builder.build([("b", 2), ("a", 16)]).unwrap_err();
    let hash = map.hash_key("a");
    assert_eq!(error, ConstructionError::ValueTooLarge { hash, value: 16, max: 15 });
    assert!(error.to_string().ends_with("is 16, but must be at most 15"), "{error}");
}

#[test]
fn wrong_widths_are_named_and_no_key_is_asked_for() {
    let untouched = core::iter::from_fn(|| -> Option<(u64, u64)> { panic!("a key was asked for") });
    for (value_bits, check_bits, told) in [
        (0, 8, "value_bits is 0, but must be from 1 to 56"),
        (65, 0, "value_bits is 65, but must be from 1 to 64"),
        (33, 32, "value_bits is 33, but must be from 1 to 32"),
        (1, 33, "check_bits is 33, but must be from 0 to 32"),
    ] {
        let builder = RetrievalMap::builder().value_bits(value_bits).check_bits(check_bits);
        assert_eq!(builder.build(untouched.clone()).unwrap_err().to_string(), told);
    }
    let wide = RetrievalMap::new([(1, u64::MAX)], 1).unwrap_err();
    assert_eq!(wide.to_string(), "value_bits is 64, but must be from 1 to 63");
}

#[test]
#[should_panic(expected = "one answer per key: 2 keys, but 1 answers")]
fn a_batch_of_a_map_has_one_answer_per_key() {
    remainders(5, 8).get_batch(&[1, 2], &mut [None]);
}

#[test]
fn maps_are_equal_if_entries_widths_and_hashers_are() {
    let map = remainders(300, 8);
    assert_eq!(map, map.try_clone().unwrap());
    assert_ne!(map, remainders(301, 8));
    assert_ne!(map, remainders(300, 9));
    // As many columns, but others.
    let wider = RetrievalMap::builder().value_bits(8).check_bits(7);
    let entries = (0..300u32).map(|key| (key, u64::from(key % 100)));
    assert_ne!(map, wider.build(entries.clone()).unwrap());
    assert_ne!(map, RetrievalMap::builder().seed(1).build(entries).unwrap());
}

#[test]
fn an_exact_filter_knows_both_sets_at_every_ratio() {
    for (include, exclude) in
        [(0, 0), (0, 1), (0, 5_000), (1, 0), (5_000, 0), (1, 1), (1, 5_000), (100, 100)]
            .into_iter()
            .chain([
                (100, 199),
                (100, 200),
                (100, 201),
                (5_000, 100),
                (300, 40_000),
                (3_000, 70_000),
            ])
    {
        let mut keys = keys::random(include ^ exclude);
        let inside: Vec<u64> = keys.by_ref().take(usize::try_from(include).unwrap()).collect();
        let outside: Vec<u64> = keys.take(usize::try_from(exclude).unwrap()).collect();
        let filter = ExactFilter::new(inside.iter(), outside.iter()).unwrap();
        assert!(inside.iter().all(|key| filter.contains(key)), "{include}, {exclude}");
        assert!(!outside.iter().any(|key| filter.contains(key)), "{include}, {exclude}");
        assert_eq!((filter.len(), filter.is_empty()), (include, include == 0));
        assert!(filter.num_passed() <= exclude);
    }
}

#[test]
fn an_exact_filter_tells_its_numbers() {
    let filter = ExactFilter::new(0..1_000u32, 1_000..101_000).unwrap();
    assert_eq!((filter.len(), filter.columns()), (1_000, 6));
    assert!((1_300..1_850).contains(&filter.num_passed()), "{} of 100,000/64", filter.num_passed());
    assert_eq!(filter.bits_per_key(), filter.size_in_bytes() as f64 / 125.0);
    assert!(format!("{filter:?}").starts_with("ExactFilter { len: 1000, columns: 6"));
    assert_eq!(filter, filter.try_clone().unwrap());
    assert_ne!(filter, ExactFilter::new(1..1_000u32, 1_000..101_000).unwrap());
    let seeded = ExactFilter::builder().seed(1).build(0..1_000u32, 1_000..101_000).unwrap();
    assert_ne!(filter, seeded);
    assert!(seeded.contains(&999u32) && !seeded.contains(&1_000u32));
}

#[test]
fn case_52_a_key_in_both_sets_is_named() {
    let error = ExactFilter::new([1, 2, 3], [9, 8, 3, 7]).unwrap_err();
    let hash = ExactFilter::new([0; 0], []).unwrap().hash_key(&3);
    assert_eq!(error, ConstructionError::InBoth { hash });
    assert!(error.to_string().ends_with("is in both sets, but must be in one"), "{error}");
}

#[test]
fn maps_and_exact_filters_are_cancelled_too() {
    let callback = |_| ControlFlow::Break(());
    let hashes: Vec<u64> = keys::random(4).take(10_000).collect();
    let entries = hashes.iter().map(|&hash| (hash, 1)).collect();
    let map = RetrievalMap::builder().progress(&callback).build_hashes(entries);
    assert_eq!(map.unwrap_err(), ConstructionError::Cancelled);
    let exact = ExactFilter::builder().progress(&callback).build_hashes(hashes, vec![1, 2]);
    assert_eq!(exact.unwrap_err(), ConstructionError::Cancelled);
}

/// Advice is all that is given: the bytes are the same. The first filter has more than two huge pages.
#[cfg(feature = "huge-pages")]
#[test]
fn huge_pages_change_no_byte() {
    let advised = || {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        maps.lines().any(|line| line.starts_with("VmFlags") && line.contains(" hg"))
    };
    macro_rules! both {
        ($builder:expr, $entries:expr) => {
            [false, true].map(|huge| $builder.huge_pages(huge).build($entries).unwrap())
        };
    }
    let [plain, huge] = both!(FuseFilter::builder().fingerprint_bits(32), 0..1_100_000);
    assert!(plain == huge && (advised() || !cfg!(target_os = "linux")));
    let [plain, huge] = both!(RibbonFilter::builder().columns(32.0), 0..300_000);
    assert!(plain == huge);
    let entries = || (0..300_000_u64).map(|key| (key, key));
    let [plain, huge] = both!(RetrievalMap::builder().value_bits(32).check_bits(0), entries());
    assert!(plain == huge);
    let [plain, huge] = both!(UpdatableMap::builder().value_bits(32).check_bits(0), entries());
    assert!(plain == huge);
}
