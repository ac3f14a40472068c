//! Binary fuse filters: what holds for every set of keys and every width.
#![cfg(feature = "std")]

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashSet;

use fuse::{ConstructionError, FuseFilter, FuseFilterView};
use pds_core::hash::finalize;
use pds_testkit::keys;
use pds_testkit::portable::digest;
use quickcheck::quickcheck;

/// Builds a filter, and checks that it has its keys and how it came about. Returns it with the number of failed seeds.
fn built(hashes: &[u64], bits: u32) -> (FuseFilter, u64) {
    let builder = FuseFilter::builder().fingerprint_bits(bits);
    let (filter, retries) = builder.build_counted(hashes.to_vec()).unwrap();
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "{} keys", hashes.len());
    (filter, retries)
}

fn random(seed: u64, keys: usize) -> Vec<u64> {
    keys::random(seed).take(keys).collect()
}

/// Builds filters of these numbers of keys with three seeds. Returns how many there are, and how many seeds failed.
fn build_each(numbers: impl Iterator<Item = usize>) -> (u64, u64) {
    let (mut filters, mut failed) = (0, 0);
    for keys in numbers {
        for seed in 0..3 {
            let (filter, retries) = built(&random(keys as u64 * 3 + seed, keys), 5);
            assert_eq!((filter.len(), filter.num_exact()), (keys as u64, 0));
            assert!(retries <= 12, "{keys} keys, seed {seed}: {retries} seeds failed");
            filters += 1;
            failed += retries;
        }
    }
    (filters, failed)
}

#[test]
fn small_numbers_of_keys_are_built() {
    let (filters, failed) = build_each((0..300).chain((300..20_000).step_by(487)));
    assert!(failed < filters / 2, "{failed} seeds failed for {filters} filters");
}

/// The numbers of keys at which the published sizes of binary fuse filters fail.
#[test]
fn case_50_numbers_of_keys_at_which_others_fail_are_built() {
    let (filters, failed) = build_each((11_180..=11_200).chain(11_480..=11_521));
    assert!(failed < filters / 2, "{failed} seeds failed for {filters} filters");
}

/// `cargo test --release -p fuse --test it fuse_laws -- --ignored --nocapture every_number`
#[test]
#[ignore = "takes minutes"]
fn every_number_of_keys_up_to_20_000_is_built() {
    let (filters, failed) = build_each(0..=20_000);
    println!("{filters} filters, {failed} seeds failed");
    assert!(failed < filters / 2);
}

#[test]
fn a_filter_without_keys_contains_nothing() {
    for bits in [1, 8, 32] {
        let (filter, _) = built(&[], bits);
        assert!(filter.is_empty() && filter.size_in_bytes() == 0);
        let mut answers = [true; 100];
        filter.contains_hash_batch(&random(1, 100), &mut answers);
        assert!(!answers.contains(&true) && !filter.contains_hash(0));
        assert!(filter.false_positive_rate() == 0.0 && filter.bits_per_key().is_nan());
    }
}

#[test]
fn every_width_has_its_keys_and_excludes_others() {
    for bits in 1..=32 {
        let hashes = random(bits.into(), 2_000);
        let (filter, _) = built(&hashes, bits);
        assert_eq!(
            filter.size_in_bytes(),
            (filter.num_slots() * u64::from(bits)).div_ceil(64) * 8 + 8
        );
        let absent = keys::random(1_000).take(2_000).filter(|&hash| filter.contains_hash(hash));
        let expected = 2_000.0 * filter.false_positive_rate();
        assert!((absent.count() as f64) < expected + 6.0 * expected.sqrt() + 2.0, "{bits} bits");
    }
}

#[test]
fn case_54_bytes_depend_on_the_set_alone() {
    for keys in [2, 121, 1_000, 11_190, 150_000] {
        let mut hashes = random(7, keys);
        let bytes = built(&hashes, 9).0.to_bytes();
        hashes.reverse();
        assert_eq!(built(&hashes, 9).0.to_bytes(), bytes, "{keys} keys in another order");
        hashes.sort_unstable();
        assert_eq!(built(&hashes, 9).0.to_bytes(), bytes, "{keys} keys in order");
        hashes.extend_from_within(..keys / 2);
        assert_eq!(built(&hashes, 9).0.to_bytes(), bytes, "{keys} keys with duplicates");
        hashes.extend(core::iter::repeat_n(hashes[0], 1_000));
        assert_eq!(built(&hashes, 9).0.to_bytes(), bytes, "{keys} keys with many duplicates");
    }
}

#[test]
fn case_51_equal_keys_are_one_key() {
    for copies in [1, 2, 3, 255, 256, 257, 1_000, 300_000] {
        let (filter, _) = built(&vec![77; copies], 8);
        assert_eq!(filter.len(), 1, "{copies}");
        assert_eq!(filter, built(&[77], 8).0);
    }
}

/// From 2^23 keys on there are several shards.
#[test]
fn shards_have_all_keys_with_and_without_threads() {
    let hashes = random(8, 8_500_000);
    let (filter, retries) = built(&hashes, 3);
    assert!(retries <= 8 && filter.num_exact() == 0);
    assert!(filter.bits_per_key() < 3.0 * 1.125);
    let mut answers = vec![false; hashes.len()];
    filter.contains_hash_batch(&hashes, &mut answers);
    assert!(!answers.contains(&false));
    let parallel = FuseFilter::builder().fingerprint_bits(3);
    #[cfg(feature = "parallel")]
    let parallel = parallel.parallel(true);
    let mut twice = hashes;
    twice.extend_from_within(..10);
    let other = parallel.build_hashes(twice).unwrap();
    assert_eq!(other.to_bytes(), filter.to_bytes());
    // Too large for a golden file.
    assert_eq!(digest(&filter.to_bytes()), 0x1754_46f8_09df_dfed);
    let absent = keys::random(9).take(100_000).filter(|&hash| filter.contains_hash(hash)).count();
    assert!(absent.abs_diff(12_500) < 600, "{absent}");
}

/// Batches prefetch in tables of more than 1 MiB.
#[test]
fn case_24_batches_beyond_the_cache_are_one_by_one() {
    for (bits, keys) in [(8, 950_000), (16, 500_000), (32, 250_000), (23, 350_000)] {
        let (filter, _) = built(&random(17, keys), bits);
        assert!(filter.size_in_bytes() > 1 << 20);
        let view = FuseFilterView::open(filter.to_bytes()).unwrap();
        // The last 1,001 are absent.
        let asked = random(17, keys + 1_001).split_off(keys - 1_000);
        let mut answers = [vec![false; asked.len()], vec![false; asked.len()]];
        filter.contains_hash_batch(&asked, &mut answers[0]);
        view.contains_hash_batch(&asked, &mut answers[1]);
        let expected: Vec<bool> = asked.iter().map(|&hash| filter.contains_hash(hash)).collect();
        assert_eq!(answers, [&expected[..]; 2], "{bits} bits");
        assert!(expected[..1_000].iter().all(|&answer| answer));
        assert!(expected[1_000..].iter().filter(|&&answer| answer).count() < 30);
    }
}

/// With one seed and no growth about one set in five has keys that cannot be placed.
#[test]
fn case_53_keys_that_cannot_be_placed_are_listed() {
    let mut listed = 0;
    for seed in 0..60 {
        for keys in [50, 1_000, 12_000] {
            let hashes = random(seed, keys);
            let builder = FuseFilter::builder().fingerprint_bits(20).limits(0, 1);
            let (filter, retries) = builder.build_counted(hashes.clone()).unwrap();
            assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
            assert_eq!(filter.num_exact() > 0, retries == 1);
            assert!(filter.num_exact() < keys as u64);
            let mut answers = vec![false; keys];
            filter.contains_hash_batch(&hashes, &mut answers);
            assert!(!answers.contains(&false));
            let absent = keys::random(1_000).take(5_000).filter(|&hash| filter.contains_hash(hash));
            assert!(absent.count() < 3);
            let view = FuseFilterView::open(filter.to_bytes()).unwrap();
            view.verify().unwrap();
            assert!(hashes.iter().all(|&hash| view.contains_hash(hash)));
            assert_eq!(view.to_filter().unwrap(), filter);
            // The same, whatever the order.
            let backwards = hashes.iter().rev().copied().collect();
            assert_eq!(builder.build_hashes(backwards).unwrap(), filter);
            listed += usize::from(filter.num_exact() > 0);
        }
    }
    assert!((10..100).contains(&listed), "{listed}");
}

/// Growth succeeds where seeds do not.
#[test]
fn filters_grow_until_all_keys_are_placed() {
    let mut grown = 0;
    for seed in 0..100 {
        let hashes = random(seed, 1_000);
        let builder = FuseFilter::builder().limits(32, 1);
        let (filter, retries) = builder.build_counted(hashes.clone()).unwrap();
        assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
        let usual = FuseFilter::builder().build_hashes(hashes).unwrap();
        assert_eq!(filter.num_exact(), 0);
        assert_eq!(filter.num_slots() > usual.num_slots(), retries > 0);
        grown += usize::from(retries > 0);
    }
    assert!((5..60).contains(&grown), "{grown}");
}

/// Hashes that are not uniform make a slow and large filter, but a right one.
#[test]
fn hashes_that_are_no_hashes_are_kept() {
    let numbers: Vec<u64> = (0..3_000).collect();
    let (filter, _) = built(&numbers, 8);
    assert_eq!(filter.num_exact(), 3_000);
    assert!(filter.size_in_bytes() < 3_000 * 8 + 12_000);
}

#[test]
fn a_build_can_be_watched_and_cancelled() {
    let calls = AtomicUsize::new(0);
    let watch = |progress: fuse::Progress| {
        calls.fetch_add(1, Ordering::Relaxed);
        assert!(progress.done <= progress.total && progress.total == 1_000);
        ControlFlow::Continue(())
    };
    let filter = FuseFilter::builder().progress(&watch).build(0..1_000u32).unwrap();
    assert!(calls.into_inner() >= 2);
    assert_eq!(filter, FuseFilter::builder().build(0..1_000u32).unwrap());
    let stop = |_| ControlFlow::Break(());
    let cancelled = FuseFilter::builder().progress(&stop).build(0..1_000u32);
    assert_eq!(cancelled.unwrap_err(), ConstructionError::Cancelled);
}

#[test]
fn wrong_parameters_are_refused_before_any_key_is_asked_for() {
    let keys = || core::iter::from_fn(|| -> Option<u32> { panic!("asked for a key") });
    let error = |result: Result<FuseFilter, _>| ConstructionError::to_string(&result.unwrap_err());
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(error(FuseFilter::new(keys(), rate)).contains("false_positive_rate"), "{rate}");
    }
    assert!(error(FuseFilter::new(keys(), 1e-10)).contains("fingerprint_bits"));
    for bits in [0, 33, u32::MAX] {
        let message = error(FuseFilter::builder().fingerprint_bits(bits).build(keys()));
        assert!(message.contains("fingerprint_bits") && message.contains(&bits.to_string()));
    }
    let both = FuseFilter::builder().fingerprint_bits(8).false_positive_rate(0.1).build(keys());
    assert!(error(both).contains("false_positive_rate"));
}

#[test]
fn filters_with_other_keys_hashers_or_widths_are_not_equal() {
    let filter = FuseFilter::new(0..100u32, 0.01).unwrap();
    assert_eq!(filter.try_clone().unwrap(), filter);
    assert_eq!(filter.clone(), filter);
    assert_ne!(FuseFilter::new(1..101u32, 0.01).unwrap(), filter);
    assert_ne!(FuseFilter::new(0..100u32, 0.005).unwrap(), filter);
    let seeded = FuseFilter::builder().seed(1);
    assert_ne!(seeded.build(0..100u32).unwrap(), filter);
    assert_ne!(seeded.build([0u32; 0]).unwrap(), FuseFilter::new([0u32; 0], 0.01).unwrap());
    assert!(format!("{filter:?}").starts_with("FuseFilter { len: 100, fingerprint_bits: 7"));
}

quickcheck! {
    fn any_set_has_its_keys_in_any_storage(keys: Vec<u16>, bits: u32) -> bool {
        let bits = bits % 32 + 1;
        let filter = FuseFilter::builder().fingerprint_bits(bits).build(&keys).unwrap();
        let view = FuseFilterView::open(filter.to_bytes()).unwrap();
        let read = FuseFilter::from_bytes(view.get_ref()).unwrap();
        let queries: Vec<u16> = (0..200).chain(keys.iter().copied()).collect();
        let mut batches = [vec![false; queries.len()], vec![true; queries.len()]];
        filter.contains_batch(&queries, &mut batches[0]);
        view.contains_batch(&queries, &mut batches[1]);
        let distinct: HashSet<u16> = keys.iter().copied().collect();
        filter.len() == distinct.len() as u64
            && read == filter
            && batches[0] == batches[1]
            && queries.iter().zip(&batches[0]).all(|(key, &answer)| {
                filter.contains(key) == answer && view.contains(key) == answer
            })
            && keys.iter().all(|key| filter.contains(key))
    }

    fn any_hashes_are_kept(hashes: Vec<u64>) -> bool {
        let uniform: Vec<u64> = hashes.iter().map(|&hash| finalize(hash)).collect();
        [hashes, uniform].iter().all(|hashes| {
            let filter = FuseFilter::builder().build_hashes(hashes.clone()).unwrap();
            hashes.iter().all(|&hash| filter.contains_hash(hash))
        })
    }
}
