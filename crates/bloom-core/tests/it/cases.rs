//! Faults that users of Bloom filters have met, by the number of the case.
#![cfg(feature = "std")]

use core::hash::{BuildHasher, Hash};
use pds_params::internal::ParamFault;

use bloom_core::{AtomicBloomFilter, BloomFilter, BloomParams, DoubleHash, HealthStatus};
use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_core::hash::{Avalanching, DefaultHashBuilder, KeyHasher, SipHashBuilder, finalize};
use pds_core::internal::{Difference, GOLDEN_RATIO};
use pds_testkit::hashers::on_awkward_keys;
use pds_testkit::stats::{Binomial, Positives};
use pds_testkit::{ThreadTime, keys};

/// The false-alarm level of each of the about forty judgements below.
const ALPHA: f64 = 5e-8;

fn shaped(bits: u64, hashes: u32) -> BloomFilter {
    BloomFilter::builder().bits(bits).hashes(hashes).build().unwrap()
}

/// Queries absent keys, and compares the number of false positives with the fill of the filter.
fn judge<S: KeyHasher, K: Hash>(
    name: &str,
    filter: &BloomFilter<S>,
    absent: impl Iterator<Item = K>,
) {
    Positives::of(filter, absent).judge(name, filter.false_positive_rate(), ALPHA);
}

#[test]
fn case_01_a_very_small_rate_is_reached() {
    let mut filter = BloomFilter::new(1_000_000, 1e-9).unwrap();
    filter.extend(keys::consecutive(0).take(1_000_000));
    let mut answers = vec![false; 100_000];
    for chunk in 10..110u64 {
        let absent: Vec<u64> = keys::consecutive(chunk * 100_000).take(answers.len()).collect();
        filter.contains_batch(&absent, &mut answers);
        assert!(!answers.contains(&true), "0.01 false positives are expected in all");
    }
}

/// Tests the positions of a large filter. The filter itself is in `large.rs`.
#[test]
fn case_02_positions_spread_beyond_32_bits() {
    let num_bits = (1 << 40) + 7;
    let mut parts = [0u64; 1_024];
    for hash in 0..100_000 {
        let mut probes = DoubleHash::new(finalize(hash));
        for _ in 0..7 {
            let part = probes.next_position(num_bits) / (num_bits / 1_024 + 1);
            parts[usize::try_from(part).unwrap()] += 1;
        }
    }
    let law = Binomial::new(700_000, 1.0 / 1_024.0).acceptance(1e-9);
    assert!(parts.iter().all(|count| law.contains(count)), "{parts:?}");
}

#[test]
fn case_03_the_rate_holds_at_every_size() {
    let consecutive = 2_000..2_016;
    let awkward = [1_021, 1_023, 1_024, 1_025, 4_093, 4_096, 65_535, 65_536, 65_537, 99_991];
    let mut hashes = keys::random(3);
    for bits in consecutive.chain(awkward) {
        let (mut expected, mut hits) = (0.0, 0u64);
        let filters = 400_000 / bits + 1;
        for _ in 0..filters {
            let mut filter = shaped(bits, 7);
            (0..bits / 10).zip(hashes.by_ref()).for_each(|(_, hash)| {
                filter.insert_hash(hash);
            });
            expected += filter.false_positive_rate();
            let queries = usize::try_from(600_000 / filters).unwrap();
            hits +=
                hashes.by_ref().take(queries).filter(|&h| filter.contains_hash(h)).count() as u64;
        }
        let (queries, filters) =
            (600_000 / filters * filters, f64::from(u32::try_from(filters).unwrap()));
        let accepted = Binomial::new(queries, expected / filters).acceptance(ALPHA);
        assert!(accepted.contains(&hits), "m = {bits}: {hits} not in {accepted:?}");
    }
}

/// The promise is for the mean over all filters. With 2,000 filters, the spread between filters is a tenth of that of
/// the queries.
#[test]
fn case_03_the_promise_holds_at_every_number_of_items() {
    for items in [100, 317, 1_000] {
        let (mut hashes, mut hits) = (keys::random(items), 0);
        for _ in 0..2_000 {
            let mut filter = BloomFilter::new(items, 0.01).unwrap();
            (0..items).zip(hashes.by_ref()).for_each(|(_, hash)| {
                filter.insert_hash(hash);
            });
            hits += hashes.by_ref().take(500).filter(|&hash| filter.contains_hash(hash)).count();
        }
        let accepted = Binomial::new(1_000_000, 0.01).acceptance(ALPHA);
        assert!(hits as u64 <= *accepted.end(), "n = {items}: {hits}, above {accepted:?}");
    }
}

#[test]
fn case_04_the_present_rate_is_a_number_at_every_fill() {
    for (bits, hashes) in [(1, 1), (1, 7), (64, 3), (100, 20)] {
        let mut filter = shaped(bits, hashes);
        assert_eq!((filter.fill_ratio(), filter.false_positive_rate()), (0.0, 0.0));
        assert_eq!(filter.approx_len().value, 0.0);
        let mut last = 0.0;
        for key in 0..10_000u32 {
            filter.insert(&key);
            let rate = filter.false_positive_rate();
            assert!((last..=1.0).contains(&rate), "{rate} after {last}");
            assert!(!filter.approx_len().value.is_nan());
            last = rate;
        }
        assert_eq!((filter.count_ones(), filter.false_positive_rate()), (bits, 1.0));
        assert!(filter.is_saturated() && filter.health().status == HealthStatus::Critical);
        assert_eq!(filter.approx_len().value, f64::INFINITY);
        let itself = filter.approx_intersection_len(&filter).unwrap();
        assert_eq!(itself.value, f64::INFINITY);
    }
}

#[test]
fn case_05_extreme_rates_work_and_impossible_ones_are_named() {
    for items in [1, 2, 3] {
        let mut filter = BloomFilter::new(items, 0.99).unwrap();
        assert!(filter.insert(&items) && filter.contains(&items));
    }
    for rate in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = BloomFilter::new(10, rate).unwrap_err();
        let BuildError::Param(ParamError(ParamFault::NotAProbability { parameter, value })) = error
        else {
            panic!("{error}")
        };
        assert_eq!((parameter, value.to_bits()), ("false_positive_rate", rate.to_bits()));
    }
    let error = BloomFilter::new(0, 0.01).unwrap_err();
    assert!(matches!(
        error,
        BuildError::Param(ParamError(ParamFault::OutOfRange {
            parameter: "expected_items",
            value: 0,
            min: 1,
            ..
        }))
    ));
    for (bits, hashes, named) in [(0, 1, "bits"), (100, 0, "hashes"), (100, 256, "hashes")] {
        let error = BloomFilter::builder().bits(bits).hashes(hashes).build().unwrap_err();
        let BuildError::Param(ParamError(ParamFault::OutOfRange { parameter, .. })) = error else {
            panic!("{error}")
        };
        assert_eq!(parameter, named);
    }
}

#[test]
fn case_06_an_impossible_size_is_an_error() {
    // So many 64-bit hashes collide more often than once in a hundred, whatever the size.
    let error = BloomFilter::new(1_000_000_000_000_000_000, 0.01).unwrap_err();
    assert!(
        matches!(error, BuildError::Param(ParamError(ParamFault::BelowCollisions { .. }))),
        "{error}"
    );
    let error = BloomFilter::builder().bits(u64::MAX).hashes(1).build().unwrap_err();
    assert!(
        matches!(error, BuildError::Param(ParamError(ParamFault::OutOfRange { .. }))),
        "{error}"
    );
    let error = BloomFilter::new(1_000_000_000_000_000_000, 0.1).unwrap_err();
    assert!(matches!(error, BuildError::Alloc(_)), "600 PB: {error}");
    let error = BloomFilter::new(100_000_000_000_000_000, 0.01).unwrap_err();
    assert!(matches!(error, BuildError::Alloc(_)), "120 PB: {error}");
    assert!(BloomFilter::builder().expected_items(100_000_000_000_000_000).build_atomic().is_err());
    let params = BloomParams::for_double_hashing(5_000_000_000, 0.01).unwrap();
    assert!((47_964_000_000..47_966_000_000).contains(&params.num_bits()), "{params:?}");
}

/// Values at which a step, or a sum of few of them, comes near a multiple of 2^64.
fn special_values() -> Vec<u64> {
    let rational =
        |i: u64, j: u64| u64::try_from(u128::from(i) * (1 << 64) / u128::from(j)).unwrap();
    let rationals = (1..=32).flat_map(|j| (0..j).map(move |i| rational(i, j)));
    let powers = (0..64).map(|bit| 1 << bit);
    let values: Vec<u64> = rationals.chain(powers).chain([GOLDEN_RATIO, u64::MAX]).collect();
    let near = |value: u64| (0..5).map(move |by: u64| value.wrapping_add(by).wrapping_sub(2));
    let signed = |value: u64| [value, value.wrapping_neg()];
    values.into_iter().flat_map(near).flat_map(signed).collect()
}

#[test]
fn case_07_a_degenerate_step_costs_one_position_at_most() {
    for value in special_values() {
        // As the start itself, as the first step, and as the second step.
        let second = value.wrapping_sub(GOLDEN_RATIO).rotate_right(16);
        for x in [value, value.rotate_right(32), second] {
            for num_bits in [1 << 36, (1 << 40) + 7] {
                let mut probes = DoubleHash::new(x);
                let mut positions: Vec<u64> =
                    (0..32).map(|_| probes.next_position(num_bits)).collect();
                positions.sort_unstable();
                positions.dedup();
                assert!(positions.len() >= 31, "x = {x:#x}, m = {num_bits}: {}", positions.len());
            }
        }
    }
}

#[test]
fn case_08_weak_hashes_give_the_promised_error() {
    for (name, hasher, keys) in on_awkward_keys() {
        let builder = BloomFilter::builder().expected_items(50_000).hasher(hasher);
        let mut filter = builder.build().unwrap();
        filter.extend(keys.clone().take(50_000));
        let of_design = filter.params().set_bits_at(50_000);
        let ones = f64::from(u32::try_from(filter.count_ones()).unwrap());
        let z = (ones - of_design.value) / of_design.standard_error;
        assert!(z.abs() < 5.5, "{name}: the fill is off by {z} standard deviations");
        judge(&name, &filter, keys.skip(50_000).take(500_000));
    }
}

#[test]
fn case_12_one_word_and_less_is_enough() {
    for bits in 1..=65 {
        let (mut filter, atomic) = (shaped(bits, 3), AtomicBloomFilter::from(shaped(bits, 3)));
        for key in 0..20u32 {
            filter.insert(&key);
            atomic.insert(&key);
            assert!((0..=key).all(|key| filter.contains(&key) && atomic.contains(&key)));
        }
        assert_eq!(atomic.into_plain(), filter);
        assert_eq!(filter.size_in_bytes(), if bits > 64 { 16 } else { 8 });
    }
}

#[test]
fn case_13_filters_that_differ_are_not_combined() {
    let keyed = |key| {
        let hasher = SipHashBuilder::from_key([key; 16]);
        BloomFilter::builder().bits(100).hashes(3).hasher(hasher).build().unwrap()
    };
    let seeded = |seed| BloomFilter::builder().bits(100).hashes(3).seed(seed).build().unwrap();
    let shape = |parameter, left, right| Incompatible(Difference::Shape { parameter, left, right });
    refuses(shaped(100, 3), shaped(101, 3), |e| *e == shape("number of bits", 100, 101));
    refuses(shaped(100, 3), shaped(100, 4), |e| *e == shape("number of hashes", 3, 4));
    refuses(seeded(0), seeded(1), |e| matches!(e, Incompatible(Difference::Hasher { .. })));
    refuses(keyed(0), keyed(1), |e| matches!(e, Incompatible(Difference::Hasher { .. })));
    let random = || {
        let hasher = Avalanching(std::hash::RandomState::new());
        BloomFilter::builder().bits(100).hashes(3).hasher(hasher).build().unwrap()
    };
    refuses(random(), random(), |e| matches!(e, Incompatible(Difference::Hasher { .. })));
    assert!(keyed(5).union_with(&keyed(5)).is_ok());
}

/// Every operation on two filters gives the same error, and changes nothing.
fn refuses<S: KeyHasher + Clone>(
    mut left: BloomFilter<S>,
    mut right: BloomFilter<S>,
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
    let (mut shared, other) = (AtomicBloomFilter::from(left), AtomicBloomFilter::from(right));
    assert!(shared.union_with(&other).is_err_and(|e| named(&e)));
    assert!(shared.intersect_with(&other).is_err_and(|e| named(&e)));
    assert!(shared.approx_union_len(&other).is_err_and(|e| named(&e)));
    assert!(shared.approx_intersection_len(&other).is_err_and(|e| named(&e)));
    assert!(shared.into_plain() == before);
}

/// A probe whose upper half repeats in its lower half reaches only a part of a large array, although each half by
/// itself is uniform. Therefore both are tested together, probe by probe.
#[test]
#[expect(clippy::cast_precision_loss, reason = "counts of a test are far below 2^53")]
fn case_02_every_probe_reaches_all_of_a_large_array() {
    const KEYS: u64 = 1 << 16;
    const BINS: usize = 1 << 10;
    for log_bits in [33, 36, 40, 50] {
        for window in 0..log_bits - 9 {
            let mut counts = [[0u32; BINS]; 12];
            for key in 0..KEYS {
                let mut probes = DoubleHash::new(finalize(key));
                for counts in &mut counts {
                    let position = probes.next_position(1 << log_bits);
                    let (upper, lower) = (position >> (log_bits - 5), (position >> window) % 32);
                    counts[usize::try_from(upper * 32 + lower).unwrap()] += 1;
                }
            }
            let mean = KEYS as f64 / BINS as f64;
            for (probe, counts) in counts.iter().enumerate() {
                let square = |&count: &u32| (f64::from(count) - mean).powi(2) / mean;
                let chi_square: f64 = counts.iter().map(square).sum();
                let freedom = (BINS - 1) as f64;
                let deviations = (chi_square - freedom) / (2.0 * freedom).sqrt();
                assert!(
                    deviations < 6.5,
                    "probe {probe} in 2^{log_bits} bits, bits from {window}: {deviations} standard deviations"
                );
            }
        }
    }
}

/// Computed without this crate, by integer arithmetic of unlimited size.
#[test]
fn case_19_positions_are_the_same_on_every_machine() {
    let positions = |hash, num_bits| {
        let mut probes = DoubleHash::new(hash);
        [(); 7].map(|()| probes.next_position(num_bits))
    };
    let hasher = DefaultHashBuilder::default();
    let (one, abc) = (hasher.hash_one(1u64), hasher.hash_one("abc"));
    assert_eq!(positions(finalize(1), 1_000), [566, 561, 933, 301, 283, 496, 559]);
    assert_eq!(positions(one, 1_000), [186, 974, 168, 385, 245, 364, 361]);
    assert_eq!(positions(abc, 1_000), [471, 543, 219, 119, 860, 59, 336]);
    assert_eq!(positions(finalize(0), 1_000), [715, 384, 259, 957, 97, 297, 174]);
    assert_eq!(
        positions(finalize(0), 9_592_957),
        [6_859_763, 3_688_362, 2_488_095, 9_187_736, 937_186, 2_851_134, 1_672_438]
    );
    assert_eq!(
        positions(finalize(0), 10_000_000_019),
        [
            7_150_832_903,
            3_844_865_148,
            2_593_669_292,
            9_577_585_236,
            976_952_822,
            2_972_111_986,
            1_743_402_591
        ]
    );
    assert_eq!(
        positions(one, (1 << 40) + 7),
        [
            205_023_425_894,
            1_071_381_189_067,
            184_899_502_957,
            424_137_180_127,
            269_606_522_006,
            400_843_085_589,
            397_870_800_089
        ]
    );
    let mut probes = DoubleHash::new(one);
    assert_eq!((0..255).map(|_| probes.next_position(1_000)).sum::<u64>(), 127_876);
    let mut filter = shaped(100, 4);
    filter.insert(&1u64);
    filter.insert("abc");
    assert_eq!(filter.bits().words(), [0x0040_8040_0025_0800, 0x2_0000_0000]);
}

#[test]
fn case_20_a_size_need_not_be_a_multiple_of_the_word() {
    for bits in [1, 63, 65, 100, 127, 129, 1_000, 4_099] {
        let mut filter = shaped(bits, 4);
        filter.extend(0..2_000u32);
        let beyond = filter
            .bits()
            .words()
            .last()
            .unwrap()
            .checked_shr(bits.rem_euclid(64).try_into().unwrap());
        assert!(bits.is_multiple_of(64) || beyond == Some(0), "bits beyond {bits} are set");
        assert_eq!(filter.num_bits(), bits);
        assert_eq!(AtomicBloomFilter::from(filter.clone()).into_plain(), filter);
        assert_eq!(filter.try_clone().unwrap(), filter);
        assert_eq!(filter.fold(1).unwrap(), filter);
    }
}

/// Keys that were crafted against one hasher behave like any others with a secret key.
#[test]
fn case_23_crafted_keys_do_no_better_under_a_secret_key() {
    fn filled<S: KeyHasher>(hasher: S) -> BloomFilter<S> {
        let mut filter =
            BloomFilter::builder().expected_items(10_000).hasher(hasher).build().unwrap();
        filter.extend(keys::consecutive(0).take(10_000));
        filter
    }
    let public = filled(DefaultHashBuilder::default());
    let absent = keys::consecutive(10_000).take(2_000_000);
    let crafted: Vec<u64> = absent.filter(|key| public.contains(key)).collect();
    assert!(crafted.len() > 15_000);
    judge("crafted keys", &filled(SipHashBuilder::from_key([0x5a; 16])), crafted.iter());
    assert!(!format!("{:?}", SipHashBuilder::from_key([0x5a; 16])).contains("5a"));
}

#[test]
fn case_24_many_keys_are_asked_in_one_call() {
    let mut filter = BloomFilter::new(10_000, 0.01).unwrap();
    let stored: Vec<String> = keys::urls(1).take(10_000).collect();
    assert!(filter.insert_batch(&stored) > 9_900);
    for length in [0, 1, 127, 128, 129, 20_000] {
        let asked: Vec<String> = keys::urls(1).skip(9_900).take(length).collect();
        let mut answers = vec![false; length];
        filter.contains_batch(&asked, &mut answers);
        assert!(answers.iter().take(100).all(|&answer| answer));
        assert!(asked.iter().map(|key| filter.contains(key)).eq(answers));
    }
}

pds_testkit::counts_of_bits! {
    shapes: [(64, 7), (65, 3), (1_000, 7), (100_003, 1), (5_000, 30)],
    filled: [
        (1_000, 7, 1),
        (1_000, 7, 2),
        (1_000, 7, 10),
        (1_000, 7, 100),
        (1_000, 7, 250),
        (10_000, 4, 30),
        (10_000, 4, 2_500),
        (10_000, 1, 10_000),
        (5_000, 30, 20),
    ]
}

/// Threads that insert the same new key at the same time may all be told that it is new. No thread is told so after an
/// insert that happened before.
#[test]
fn case_37_a_new_key_is_told_to_one_thread_at_least() {
    const KEYS: u64 = 10_000;
    for round in 0..20 {
        let filter = AtomicBloomFilter::from(BloomFilter::new(KEYS, 1e-6).unwrap());
        let range = || (round * KEYS..(round + 1) * KEYS).collect::<Vec<u64>>();
        let insert = || range().iter().map(|key| filter.insert(key)).collect::<Vec<bool>>();
        let (here, there) = std::thread::scope(|s| {
            let other = s.spawn(insert);
            (insert(), other.join().unwrap())
        });
        let mut alone = BloomFilter::new(KEYS, 1e-6).unwrap();
        for (key, told) in range().iter().zip(here.iter().zip(&there)) {
            assert!(!alone.insert(key) || *told.0 || *told.1, "nobody is told of {key}");
        }
        // Both threads are done: their inserts happened before, and no key is new any more.
        assert!(range().iter().all(|key| filter.contains(key) && !filter.insert(key)));
    }
}

/// As the documentation states, an absent key gets a *yes* at the chosen rate, whatever the number of queries for
/// contained keys. The share of wrong answers among the *yes* answers is another number.
#[test]
fn case_42_the_rate_is_that_of_absent_keys() {
    const ITEMS: u64 = 10_000;
    let mut filter = BloomFilter::new(ITEMS, 0.01).unwrap();
    filter.extend(0..ITEMS);
    for present in [0, 100, ITEMS] {
        let asked = (0..present).chain(ITEMS..1_000_000);
        let yes = asked.filter(|key| filter.contains(key)).count() as u64;
        let wrong = yes - present;
        // 1 % of 990,000. The standard deviation is 100 by the queries and 126 by the filter.
        assert!((9_100..=10_700).contains(&wrong), "{wrong}");
        let share = wrong as f64 / yes as f64;
        assert!(share > 0.4, "a yes is wrong far more often than 1 %: {share}");
    }
}

/// A promise for these bits and items includes hash collisions: 64 bits for one item once promised 10^-16.
#[test]
fn case_25_bits_and_items_promise_what_is_kept() {
    let filter = BloomFilter::builder().bits(64).expected_items(1).build().unwrap();
    let (hashes, promised) = (filter.num_hashes(), filter.promised_rate().unwrap());
    let excess = pds_params::bloom::scheme_excess(64, 1, hashes);
    assert!(promised >= excess && excess > 1e-11, "{promised} at {hashes} hashes");
}

#[test]
fn case_48_a_filter_of_few_items_at_a_tiny_rate_is_built_at_once() {
    let start = ThreadTime::now();
    for items in 1..=10 {
        assert!(BloomFilter::new(items, 1e-15).unwrap().num_bits() < 3_000);
    }
    // A tenth of a second each. The limit allows for a busy machine; a single one once took two seconds.
    assert!(start.elapsed().as_secs_f64() < 2.0, "{:?}", start.elapsed());
}
