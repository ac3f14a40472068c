//! Properties that hold for every set and every rate.
#![cfg(feature = "parallel")]

use fuse::{
    ExactFilter, ExactFilterView, Preset, RetrievalMap, RetrievalMapView, RibbonFilter,
    RibbonFilterBuilder, RibbonFilterView,
};
use std::collections::{HashMap, HashSet};

use pds_testkit::keys;
use pds_testkit::portable;
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
        let distinct: HashSet<_> = set.iter().collect();
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

    fn a_map_is_a_map(entries: HashMap<u16, u32>, check_bits: u8, asked: Vec<u16>) -> bool {
        let check_bits = u32::from(check_bits % 33);
        let listed = |key: &u16| (*key, u64::from(entries[key]));
        let map = RetrievalMap::new(entries.keys().map(listed), check_bits).unwrap();
        let mut reversed: Vec<_> = entries.keys().chain(entries.keys()).map(listed).collect();
        reversed.reverse();
        let bytes = map.to_bytes();
        let view = RetrievalMapView::open(&bytes).unwrap();
        let mut answers = vec![None; asked.len()];
        view.get_batch(&asked, &mut answers);
        RetrievalMap::new(reversed, check_bits).unwrap() == map
            && view.verify().is_ok()
            && view.to_map().unwrap() == map
            && map.len() == entries.len() as u64
            && entries.iter().all(|(key, &value)| map.get(key) == Some(value.into()))
            && asked.iter().map(|key| map.get(key)).eq(answers.iter().copied())
            && asked.iter().map(|key| view.get(key)).eq(answers.iter().copied())
    }

    fn an_exact_filter_is_exact(include: HashSet<u16>, exclude: HashSet<u16>, asked: Vec<u16>) -> bool {
        let exclude: Vec<u16> = exclude.difference(&include).copied().collect();
        let filter = ExactFilter::new(include.iter().copied(), exclude.iter().copied()).unwrap();
        let again = exclude.iter().chain(&exclude).rev().copied();
        let bytes = filter.to_bytes();
        let view = ExactFilterView::open(&bytes).unwrap();
        let mut answers = vec![true; asked.len()];
        view.contains_batch(&asked, &mut answers);
        ExactFilter::new(include.iter().copied(), again).unwrap() == filter
            && view.verify().is_ok()
            && view.to_filter().unwrap() == filter
            && include.iter().all(|key| filter.contains(key))
            && !exclude.iter().any(|key| filter.contains(key))
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

/// Filters of two segments and more are too large for golden files.
#[test]
fn large_sets_give_the_same_bytes_forever() {
    let digest = |preset, columns| {
        let filter =
            builder(columns).preset(preset).build_hashes(keys::random(1).take(300_000).collect());
        portable::digest(&filter.unwrap().to_bytes())
    };
    assert_eq!(digest(Preset::Compact, 7.5), 0xd35b_bd13_fb8c_fd29);
    assert_eq!(digest(Preset::Quick, 8.0), 0x550c_debb_6fd3_4fd7);
}

#[test]
fn large_maps_and_exact_filters_do_not_depend_on_threads() {
    let mut entries: Vec<(u64, u64)> =
        keys::random(8).zip(keys::random(9).map(|value| value >> 53)).take(400_000).collect();
    let build = |parallel, entries: &[(u64, u64)]| {
        let builder = RetrievalMap::builder().check_bits(5).parallel(parallel);
        builder.build_hashes(entries.to_vec()).unwrap()
    };
    let map = build(false, &entries);
    assert!(entries.iter().all(|&(hash, value)| map.get_hash(hash) == Some(value)));
    let hashes: Vec<u64> = entries.iter().map(|&(hash, _)| hash).collect();
    let mut answers = vec![None; hashes.len()];
    map.get_hash_batch(&hashes, &mut answers);
    assert!(entries.iter().zip(answers).all(|(&(_, value), answer)| answer == Some(value)));
    let (include, exclude) = hashes.split_at(30_000);
    let exact = |parallel| {
        let builder = ExactFilter::builder().parallel(parallel);
        builder.build_hashes(include.to_vec(), exclude.to_vec()).unwrap()
    };
    assert_eq!(exact(true), exact(false));
    let filter = exact(true);
    let mut answers = vec![false; hashes.len()];
    filter.contains_hash_batch(&hashes, &mut answers);
    assert!(answers.iter().enumerate().all(|(index, &answer)| answer == (index < 30_000)));
    entries.reverse();
    assert_eq!(build(true, &entries).to_bytes(), map.to_bytes());
}

/// Every number of keys up to 2,000, and some above: construction depends on no luck.
#[test]
fn case_50_every_number_of_keys_builds() {
    for keys in (0..2_000).chain((2_000..20_000).step_by(499)).chain([11_190, 11_480, 11_521]) {
        builds(keys, 1..=1);
    }
}

/// 12 minutes on a busy machine: `cargo test -p fuse --all-features --test it laws -- --ignored`.
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
