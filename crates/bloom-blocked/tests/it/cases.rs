//! Faults that users of such filters have met, by the number of the case.
//!
//! Kind 8 is in `statistics.rs`, 15, 21 and 24 in `laws.rs`, 17 in `format.rs`, `mutations` and `allocation.rs`, 18 in
//! `serde.rs`.
#![cfg(feature = "std")]

use core::hash::Hash;
use pds_core::hash::{KeyHasher, finalize};
use pds_core::internal::Difference;
use pds_params::internal::ParamFault;

use bloom_blocked::error::{BuildError, Incompatible, ParamError};
use bloom_blocked::hash::{DefaultHashBuilder, SipHashBuilder};
use bloom_blocked::{
    AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedBloomFilterBuilder, BlockedBloomParams,
    HealthStatus, Preference, SplitBlockBloomFilter,
};
use pds_params::blocked::split_block_rate_with_collisions;
use pds_testkit::keys;
use pds_testkit::stats::{Binomial, Positives};

/// The false-alarm level of each of the about sixty judgements below.
const ALPHA: f64 = 1e-8;

fn shaped(blocks: u64, hashes: u32) -> BlockedBloomFilter {
    BlockedBloomFilter::builder().blocks(blocks).hashes(hashes).build().unwrap()
}

/// Queries absent keys, and compares the number of false positives with the rate that the bits of the filter give.
fn judge<S: KeyHasher, K: Hash>(
    name: &str,
    filter: &BlockedBloomFilter<S>,
    absent: impl Iterator<Item = K>,
) {
    Positives::of(filter, absent).judge(name, filter.false_positive_rate(), ALPHA);
}

#[test]
fn case_01_a_very_small_rate_is_reached() {
    let mut filter = BlockedBloomFilter::new(1_000_000, 1e-9).unwrap();
    filter.extend(keys::consecutive(0).take(1_000_000));
    let mut answers = vec![false; 100_000];
    for chunk in 10..110u64 {
        let absent: Vec<u64> = keys::consecutive(chunk * 100_000).take(answers.len()).collect();
        filter.contains_batch(&absent, &mut answers);
        assert!(!answers.contains(&true), "0.01 false positives are expected in all");
    }
}

/// A gigabyte of address space, and a page for each of few keys.
#[test]
fn case_02_blocks_are_chosen_from_all_beyond_32_bits() {
    const BLOCKS: u64 = (1 << 24) + 4_093;
    const ITEMS: u64 = 2_000;
    const PARTS: u64 = 16;
    if usize::BITS == 32 {
        return;
    }
    let mut filter = shaped(BLOCKS, 8);
    assert!(filter.num_bits() > 1 << 33);
    filter.extend(keys::consecutive(0).take(2_000));
    assert!(keys::consecutive(0).take(2_000).all(|key| filter.contains(&key)));
    assert!(!keys::consecutive(ITEMS).take(100_000).any(|key| filter.contains(&key)));
    let part = filter.words().len().div_ceil(usize::try_from(PARTS).unwrap());
    let law = Binomial::new(ITEMS, 1.0 / 16.0).acceptance(ALPHA);
    for words in filter.words().chunks(part) {
        let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
        assert!(law.contains(&(ones / 8)), "{ones} bits, eight a key, not in {law:?}");
    }
}

#[test]
fn case_03_the_rate_holds_at_every_size() {
    let mut hashes = keys::random(3);
    for blocks in (1..18).chain([31, 32, 33, 63, 64, 65, 127, 509, 512, 1_021, 1_024, 1_025]) {
        let (mut expected, mut hits) = (0.0, 0);
        let filters = 2_000 / blocks + 1;
        let queries = 600_000 / filters;
        for _ in 0..filters {
            let mut filter = shaped(blocks, 6);
            (0..50 * blocks).zip(hashes.by_ref()).for_each(|(_, hash)| {
                filter.insert_hash(hash);
            });
            expected += filter.false_positive_rate();
            let asked = (0..queries).zip(hashes.by_ref());
            hits += asked.filter(|&(_, hash)| filter.contains_hash(hash)).count() as u64;
        }
        let mean = expected / f64::from(u32::try_from(filters).unwrap());
        let accepted = Binomial::new(queries * filters, mean).acceptance(ALPHA);
        assert!(accepted.contains(&hits), "{blocks} blocks: {hits} not in {accepted:?}");
    }
}

/// The mean over all filters. Few filters are queried often, so their spread is taken into account.
#[test]
fn case_03_the_promise_holds_at_every_number_of_items() {
    const FILTERS: u32 = 2_000;
    for items in [1, 2, 10, 100, 317, 1_000] {
        let (mut hashes, mut hits, mut spread) = (keys::random(items), 0, 0.0);
        for _ in 0..FILTERS {
            let mut filter = BlockedBloomFilter::new(items, 0.01).unwrap();
            (0..items).zip(hashes.by_ref()).for_each(|(_, hash)| {
                filter.insert_hash(hash);
            });
            hits += hashes.by_ref().take(500).filter(|&hash| filter.contains_hash(hash)).count();
            spread = filter.params().relative_spread_at(items);
        }
        let rate = f64::from(u32::try_from(hits).unwrap()) / (500.0 * f64::from(FILTERS));
        let error =
            0.01 * (spread.powi(2) + 0.99 / (0.01 * 500.0)).sqrt() / f64::from(FILTERS).sqrt();
        assert!(
            rate <= 0.01 + 6.0 * error,
            "n = {items}: {rate}, more than six times {error} above"
        );
    }
}

#[test]
fn case_04_the_present_rate_is_a_number_at_every_fill() {
    for (blocks, hashes) in [(1, 2), (1, 16), (2, 8), (3, 12)] {
        let mut filter = shaped(blocks, hashes);
        assert_eq!((filter.fill_ratio(), filter.false_positive_rate()), (0.0, 0.0));
        assert_eq!(filter.approx_len().value, 0.0);
        let mut last = 0.0;
        for key in 0..20_000u32 {
            filter.insert(&key);
            let rate = filter.false_positive_rate();
            assert!((last..=1.0).contains(&rate), "{rate} after {last}");
            assert!(!filter.approx_len().value.is_nan());
            last = rate;
        }
        assert_eq!((filter.fill_ratio(), filter.false_positive_rate()), (1.0, 1.0));
        assert!(filter.is_saturated() && filter.health().status == HealthStatus::Critical);
        assert_eq!(filter.approx_len().value, f64::INFINITY);
    }
}

fn error(builder: BlockedBloomFilterBuilder) -> ParamError {
    match builder.build().unwrap_err() {
        BuildError::Param(e) => e,
        other => panic!("{other}"),
    }
}

#[test]
fn case_05_extreme_rates_work_and_impossible_ones_are_named() {
    for items in [1, 2, 3] {
        let mut filter = BlockedBloomFilter::new(items, 0.99).unwrap();
        assert!(filter.insert(&items) && filter.contains(&items));
    }
    let builder = BlockedBloomFilter::builder;
    for rate in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = error(builder().expected_items(10).false_positive_rate(rate));
        let ParamError(ParamFault::NotAProbability { parameter, value }) = refused else {
            panic!("{refused}")
        };
        assert_eq!((parameter, value.to_bits()), ("false_positive_rate", rate.to_bits()));
    }
    for (builder, named) in [
        (builder().expected_items(0), "expected_items"),
        (builder().blocks(0).hashes(8), "blocks"),
        (builder().blocks(1).hashes(0), "hashes"),
        (builder().blocks(1).hashes(18), "hashes"),
    ] {
        let refused = error(builder);
        let ParamError(ParamFault::OutOfRange { parameter, .. }) = refused else {
            panic!("{refused}")
        };
        assert_eq!(parameter, named);
    }
    for builder in [builder().blocks(1).hashes(8), builder().blocks(9).expected_items(9)] {
        let refused = error(builder.prefer(Preference::Smallest));
        assert_eq!(refused, ParamError(ParamFault::Conflict { parameter: "prefer" }));
    }
    let odd = error(builder().blocks(1).hashes(7));
    assert_eq!(odd.to_string(), "hashes is 7, but must be even");
}

#[test]
fn case_06_an_impossible_size_is_an_error() {
    const MANY: u64 = 1_000_000_000_000_000_000;
    let refused = error(BlockedBloomFilter::builder().expected_items(MANY));
    assert!(matches!(refused, ParamError(ParamFault::BelowCollisions { .. })), "{refused}");
    for refused in [
        BlockedBloomFilter::new(MANY, 0.1).unwrap_err(),
        BlockedBloomFilter::new(MANY / 10, 0.01).unwrap_err(),
    ] {
        assert!(matches!(refused, BuildError::Alloc(_)), "{refused}");
    }
    let params = BlockedBloomParams::new(5_000_000_000, 0.01, Preference::Fastest).unwrap();
    assert!((50_400_000_000..50_600_000_000).contains(&params.num_bits()), "{params:?}");
}

#[test]
fn case_12_one_block_is_enough() {
    for hashes in (2..=16).step_by(2) {
        let mut filter = shaped(1, hashes);
        filter.extend(0..10u32);
        assert!((0..10u32).all(|key| filter.contains(&key)));
        assert!(filter.count_ones() <= u64::from(10 * hashes));
    }
}

#[test]
fn case_13_filters_that_differ_are_not_combined() {
    let seeded =
        |seed| BlockedBloomFilter::builder().blocks(3).hashes(8).seed(seed).build().unwrap();
    let keyed = |key| {
        let builder = BlockedBloomFilter::builder().blocks(3).hashes(8);
        builder.hasher(SipHashBuilder::from_key([key; 16])).build().unwrap()
    };
    let shape = |parameter, left, right| Incompatible(Difference::Shape { parameter, left, right });
    refuses(shaped(3, 8), shaped(4, 8), |e| *e == shape("number of blocks", 3, 4));
    refuses(shaped(3, 8), shaped(3, 6), |e| *e == shape("number of hashes", 8, 6));
    refuses(seeded(0), seeded(1), |e| matches!(e, Incompatible(Difference::Hasher { .. })));
    refuses(keyed(0), keyed(1), |e| matches!(e, Incompatible(Difference::Hasher { .. })));
    assert!(keyed(5).union_with(&keyed(5)).is_ok());
}

/// Every operation on two filters gives the same error, and changes nothing.
fn refuses<S: KeyHasher + Clone>(
    mut left: BlockedBloomFilter<S>,
    mut right: BlockedBloomFilter<S>,
    named: impl Fn(&Incompatible) -> bool,
) {
    left.extend(0..10u32);
    right.extend(5..15u32);
    let before = left.clone();
    assert!(left.union_with(&right).is_err_and(|e| named(&e)));
    assert!(left.intersect_with(&right).is_err_and(|e| named(&e)));
    assert!(left.approx_union_len(&right).is_err_and(|e| named(&e)));
    assert!(left.approx_intersection_len(&right).is_err_and(|e| named(&e)));
    assert!(left == before && left != right);
    let (shared, other) =
        (AtomicBlockedBloomFilter::from(left), AtomicBlockedBloomFilter::from(right));
    assert!(shared.union_with(&other).is_err_and(|e| named(&e)));
    assert!(shared.into_plain() == before);
}

/// Computed without this crate, by integer arithmetic of unlimited size.
#[test]
fn case_19_positions_are_the_same_on_every_machine() {
    let bits = |hash, hashes| {
        let mut filter = shaped(1_000, hashes);
        filter.insert_hash(hash);
        let words = filter.words().iter().enumerate();
        let set = |(index, &word): (usize, &u64)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| (index / 8, index % 8, bit))
        };
        words.flat_map(set).collect::<Vec<(usize, usize, u32)>>()
    };
    let of_one = [(0, 33), (1, 42), (2, 51), (3, 60), (4, 45), (5, 5), (6, 47), (7, 19)];
    assert_eq!(bits(finalize(1), 8), of_one.map(|(lane, bit)| (566, lane, bit)));
    let of_abc = [(1, 49), (2, 16), (3, 25), (4, 33), (5, 54), (7, 2)];
    assert_eq!(bits(0x78af_5f94_892f_3950, 6), of_abc.map(|(lane, bit)| (471, lane, bit)));
    let of_abc = [
        (0, 19),
        (1, 42),
        (1, 49),
        (2, 16),
        (2, 24),
        (3, 25),
        (4, 29),
        (4, 33),
        (5, 54),
        (6, 7),
        (7, 2),
        (7, 22),
    ];
    assert_eq!(bits(0x78af_5f94_892f_3950, 12), of_abc.map(|(lane, bit)| (471, lane, bit)));
}

#[test]
fn case_22_keys_may_hold_any_bytes() {
    let keys: [&[u8]; 5] = [b"", b"\0", b"\n", b"\xff\xfe", b"a\0b"];
    let mut filter = BlockedBloomFilter::new(1_000, 0.01).unwrap();
    assert_eq!(filter.insert_batch(&keys), keys.len());
    assert!(keys.iter().all(|key| filter.contains(key)));
}

/// Keys that were crafted against one hasher behave like any others with a secret key.
#[test]
fn case_23_crafted_keys_do_no_better_under_a_secret_key() {
    fn filled<S: KeyHasher>(hasher: S) -> BlockedBloomFilter<S> {
        let builder = BlockedBloomFilter::builder().expected_items(10_000).hasher(hasher);
        let mut filter = builder.build().unwrap();
        filter.extend(keys::consecutive(0).take(10_000));
        filter
    }
    let public = filled(DefaultHashBuilder::default());
    let absent = keys::consecutive(10_000).take(2_000_000);
    let crafted: Vec<u64> = absent.filter(|key| public.contains(key)).collect();
    assert!(crafted.len() > 15_000);
    judge("crafted keys", &filled(SipHashBuilder::from_key([0x5a; 16])), crafted.iter());
}

/// The usual formula assumes that blocks are equally full: 27,000 values at 1 % got 1.446 %.
#[test]
fn case_25_a_split_block_filter_keeps_its_rate() {
    for items in [1, 2, 3, 10, 100, 1_000, 27_000, 1_000_000] {
        for rate in [0.999, 0.5, 0.1, 0.01, 1e-3, 1e-6] {
            let filter = SplitBlockBloomFilter::new(items, rate).unwrap();
            let blocks = filter.num_blocks();
            let reached = filter.rate_at(items);
            assert!(0.0 < reached && reached <= rate, "{items} at {rate}: {reached}");
            assert!(blocks.is_power_of_two());
            let half = split_block_rate_with_collisions(blocks / 2, items);
            assert!(blocks == 1 || half > rate, "{items} at {rate} fit {} blocks", blocks / 2);
        }
    }
    let mut random = keys::random(25);
    let mut hits = 0;
    for _ in 0..64 {
        let mut filter = SplitBlockBloomFilter::new(27_000, 0.01).unwrap();
        random.by_ref().take(27_000).for_each(|hash| {
            filter.insert_hash(hash);
        });
        hits += random.by_ref().take(50_000).filter(|&hash| filter.contains_hash(hash)).count();
    }
    // 1 % of 3.2 million are 32,000. The rates of filters of this size differ by far less than 1 %.
    assert!(hits <= 32_000 + 900, "{hits} false positives of 3.2 million");
}

#[test]
fn case_25_rates_that_no_parquet_filter_keeps_are_refused() {
    for (items, rate) in [(100_000_000, 1e-3), (1_000_000_000, 0.01), (1, 1e-17)] {
        let refused = SplitBlockBloomFilter::new(items, rate).unwrap_err();
        assert!(
            matches!(
                refused,
                BuildError::Param(ParamError(ParamFault::TooLarge { parameter: "blocks", .. }))
            ),
            "{refused}"
        );
    }
}

/// 27,000 values in 4,096 blocks became 1,024 blocks of 1.44 %.
#[test]
fn case_26_a_filter_shrinks_only_while_it_keeps_the_rate() {
    let mut filter = SplitBlockBloomFilter::with_blocks(4_096).unwrap();
    keys::random(26).take(27_000).for_each(|hash| {
        filter.insert_hash(hash);
    });
    for rate in [0.99, 0.5, 0.1, 0.02, 0.01, 1e-3, 1e-4] {
        let Ok(small) = filter.shrink_to_rate(rate) else {
            let Err(BuildError::Param(ParamError(ParamFault::TooLow { value, min, .. }))) =
                filter.shrink_to_rate(rate)
            else {
                panic!("{rate}");
            };
            assert!(value == rate && min == filter.false_positive_rate() && min > rate);
            continue;
        };
        assert!(small.false_positive_rate() <= rate);
        assert!(keys::random(26).take(27_000).all(|hash| small.contains_hash(hash)));
        let mut half = SplitBlockBloomFilter::with_blocks(small.num_blocks() / 2).unwrap();
        keys::random(26).take(27_000).for_each(|hash| {
            half.insert_hash(hash);
        });
        assert!(half.false_positive_rate() > rate, "{rate}: {} blocks", half.num_blocks());
    }
    assert_eq!(filter.shrink_to_rate(0.01).unwrap().num_blocks(), 2_048);
}

#[test]
fn case_26_rates_that_are_none_are_refused() {
    let filter = SplitBlockBloomFilter::with_blocks(4).unwrap();
    for rate in [f64::NAN, -1.0, 0.0, -0.0, 1.0, 1.5, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = [filter.shrink_to_rate(rate), SplitBlockBloomFilter::new(4, rate)];
        for error in refused.map(Result::unwrap_err) {
            let BuildError::Param(ParamError(ParamFault::NotAProbability { value, .. })) = error
            else {
                panic!("{error} of {rate}");
            };
            assert_eq!(value.to_bits(), rate.to_bits());
        }
    }
}

/// The answer "new" of an insert is certain only in a filter of one thread.
#[test]
fn case_37_a_new_key_is_told_to_one_thread_at_least() {
    const KEYS: u64 = 10_000;
    for round in 0..20 {
        let filter = AtomicBlockedBloomFilter::from(BlockedBloomFilter::new(KEYS, 1e-6).unwrap());
        let range = || (round * KEYS..(round + 1) * KEYS).collect::<Vec<u64>>();
        let insert = || range().iter().map(|key| filter.insert(key)).collect::<Vec<bool>>();
        let (here, there) = std::thread::scope(|s| {
            let other = s.spawn(insert);
            (insert(), other.join().unwrap())
        });
        let mut alone = BlockedBloomFilter::new(KEYS, 1e-6).unwrap();
        for (key, told) in range().iter().zip(here.iter().zip(&there)) {
            assert!(!alone.insert(key) || *told.0 || *told.1, "nobody is told of {key}");
        }
        // Both threads are done: their inserts happened before, and no key is new any more.
        assert!(range().iter().all(|key| filter.contains(key) && !filter.insert(key)));
    }
}

pds_testkit::counts_of_bits! {
    shapes: [(1, 2), (1, 16), (2, 8), (100, 6), (1_000, 12)],
    filled: [
        (1, 8, 10),
        (2, 8, 1),
        (2, 8, 2),
        (2, 8, 20),
        (20, 8, 10),
        (20, 8, 200),
        (20, 8, 1_000),
        (20, 16, 500),
        (20, 2, 1_000),
    ]
}
