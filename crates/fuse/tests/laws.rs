//! What holds for every set and every rate.
#![cfg(feature = "parallel")]

use fuse::{Preset, RibbonFilter, RibbonFilterBuilder, RibbonFilterView};
use pds_testkit::keys;
use quickcheck::{Arbitrary, Gen, quickcheck};

/// Columns of a filter, fractional ones too.
#[derive(Clone, Copy, Debug)]
struct Columns(f64);

impl Arbitrary for Columns {
    fn arbitrary(g: &mut Gen) -> Self {
        let steps = match u8::arbitrary(g) % 3 {
            0 => 256 * (1 + u16::arbitrary(g) % 32),
            _ => 1 + u16::arbitrary(g) % (32 * 256),
        };
        Self(f64::from(steps) / 256.0)
    }
}

fn builder<'a>(columns: f64) -> RibbonFilterBuilder<'a> {
    RibbonFilter::builder().columns(columns)
}

quickcheck! {
    fn every_key_is_contained(columns: Columns, set: Vec<u16>) -> bool {
        let filter = builder(columns.0).build(&set).unwrap();
        let distinct: std::collections::HashSet<_> = set.iter().collect();
        filter.len() == distinct.len() as u64 && set.iter().all(|key| filter.contains(&key))
    }

    fn order_and_duplicates_do_not_matter(columns: Columns, set: Vec<u16>) -> bool {
        let once = builder(columns.0).build(&set).unwrap();
        let twice = builder(columns.0).build(set.iter().rev().chain(&set)).unwrap();
        once == twice && once.to_bytes() == twice.to_bytes()
    }

    fn case_24_a_batch_is_one_by_one(columns: Columns, set: Vec<u16>, asked: Vec<u64>) -> bool {
        let asked: Vec<u64> = (0..5).flat_map(|i| asked.iter().map(move |key| key ^ i)).collect();
        let filter = builder(columns.0).build(&set).unwrap();
        let (mut of_keys, mut of_hashes) = (vec![true; asked.len()], vec![true; asked.len()]);
        filter.contains_batch(&asked, &mut of_keys);
        filter.contains_hash_batch(&asked, &mut of_hashes);
        asked.iter().map(|key| filter.contains(key)).eq(of_keys)
            && asked.iter().map(|&hash| filter.contains_hash(hash)).eq(of_hashes)
    }

    fn case_21_a_view_answers_as_its_filter(columns: Columns, set: Vec<u16>, asked: Vec<u16>) -> bool {
        let filter = builder(columns.0).build(&set).unwrap();
        // At an odd address.
        let mut bytes = vec![0];
        bytes.extend(filter.to_bytes());
        let view = RibbonFilterView::open(&bytes[1..]).unwrap();
        let mut answers = vec![true; asked.len()];
        view.contains_batch(&asked, &mut answers);
        view.verify().is_ok()
            && view.to_filter().unwrap() == filter
            && (view.len(), view.size_in_bytes()) == (filter.len(), filter.size_in_bytes())
            && view.false_positive_rate() == filter.false_positive_rate()
            && asked.iter().map(|key| filter.contains(key)).eq(answers.iter().copied())
            && asked.iter().map(|key| view.contains(key)).eq(answers.iter().copied())
    }

    fn shrinking_is_building_with_fewer_columns(fewer: Columns, more: Columns, set: Vec<u16>) -> bool {
        let (fewer, more) = (fewer.0.min(more.0), fewer.0.max(more.0));
        let small = builder(fewer).build(&set).unwrap();
        let large = builder(more).build(&set).unwrap();
        let bytes = large.to_bytes();
        let view = RibbonFilterView::open(&bytes).unwrap();
        // The rate of the fewer columns is met by exactly these.
        let rate = small.promised_rate();
        large.shrink_to_rate(rate).unwrap() == small && view.shrink_to_rate(rate).unwrap() == small
    }
}

/// Large sets have layers that bump keys, segments, and wider groups within them.
#[test]
fn what_holds_for_small_sets_holds_for_large_ones() {
    for (seed, keys) in (1..).zip([2_048, 2_049, 3_000, 50_000, 300_000, 700_000]) {
        let set: Vec<u64> = keys::random(seed).take(keys).collect();
        let mut mixed = [&set[keys / 3..], &set[..keys / 2]].concat();
        mixed.reverse();
        for preset in [Preset::Compact, Preset::Quick] {
            let large = builder(13.37).preset(preset).build_hashes(set.clone()).unwrap();
            assert!(set.iter().all(|&hash| large.contains_hash(hash)));
            let threads = builder(13.37).preset(preset).parallel(true);
            assert_eq!(threads.build_hashes(mixed.clone()).unwrap().to_bytes(), large.to_bytes());
            for columns in [13.37, 13.0, 12.5, 8.0, 4.004, 1.0, 0.3] {
                let small = builder(columns).preset(preset).build_hashes(set.clone()).unwrap();
                let shrunk = large.shrink_to_rate(small.promised_rate()).unwrap();
                assert_eq!(shrunk, small, "{keys} keys, {columns} columns");
                assert!(set.iter().all(|&hash| small.contains_hash(hash)));
            }
            let mut answers = vec![false; keys];
            large.contains_hash_batch(&set, &mut answers);
            assert!(answers.iter().all(|&answer| answer));
        }
    }
}

/// Every number of keys up to 2,000, and some above: construction depends on no luck.
#[test]
fn every_number_of_keys_builds() {
    for keys in (0..2_000).chain((2_000..20_000).step_by(499)).chain([11_190, 11_480, 11_521]) {
        builds(keys, 1..=1);
    }
}

/// 11 minutes of one processor: `cargo test -p fuse --release --test laws -- --ignored`.
#[test]
#[ignore = "minutes"]
fn every_number_of_keys_up_to_20_000_builds_with_three_seeds() {
    (0..=20_000).for_each(|keys| builds(keys, 1..=3));
}

fn builds(keys: usize, seeds: core::ops::RangeInclusive<u64>) {
    for seed in seeds {
        let set: Vec<u64> = keys::random(seed << 32 | keys as u64).take(keys).collect();
        let filter = builder(4.0).build_hashes(set.clone()).unwrap();
        assert_eq!((filter.len(), filter.num_exact()), (keys as u64, 0), "seed {seed}");
        assert!(set.iter().all(|&hash| filter.contains_hash(hash)), "{keys} keys, seed {seed}");
    }
}
