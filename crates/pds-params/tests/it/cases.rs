//! Faults that users of such libraries have met, each with a test of the correct value.

use core::time::Duration;

use pds_params::bloom::{
    Overlap, SetBits, cardinality, expected_fill, information_bound, instance_rate_relative_spread,
    intersection_cardinality, intersection_rate, overfill_rate, rate_asymptotic, rate_exact,
    rate_finite, rate_from_fill, scheme_excess, set_bits_standard_deviation, union_rate,
};
use pds_params::internal::ParamFault;
use pds_params::{
    BlockedBloomParams, BlockedCountingParams, BloomParams, CuckooParams, Estimate,
    HashTableParams, ParamError, Preference, blocked, counting, cuckoo,
};
use pds_testkit::ThreadTime;

/// A size computed from a 32-bit intermediate cannot have a rate below n / 2^32.
#[test]
fn case_01_very_small_rates_get_the_bits_they_need() {
    for (items, rate) in [(1_000_000, 1e-9), (1_000_000, 1e-12), (1_000, 1e-15)] {
        let params = BloomParams::for_double_hashing(items, rate).unwrap();
        let excess = scheme_excess(params.num_bits(), items, params.num_hashes());
        let total = params.rate_at(items) + excess + items as f64 / 2f64.powi(64);
        assert!(total <= rate, "{total} of {params:?}");
        assert!(total > 0.99 * rate, "far from the least size: {total} of {params:?}");
    }
    // 1.44 log2(1/p) bits per item, within the rounding of k.
    let ratio = BloomParams::new(1_000_000, 1e-9).unwrap().bits_per_item().unwrap() / 43.1328;
    assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
}

/// Down to the least rates that an f64 represents, sizes keep the promise, or an error names the limit.
#[test]
fn case_01_rates_down_to_the_end_of_the_scale() {
    for rate in [1e-20, 1e-50, 1e-76, 1e-77, 1e-100, 1e-200, 1e-300] {
        for items in [1, 2, 3, 1_000, 1_000_000_000] {
            let params = BloomParams::new(items, rate).unwrap();
            let reached = params.rate_at(items);
            assert!(0.0 < reached && reached <= rate, "{items} at {rate}: {params:?}");
            let below = rate_exact(params.num_bits() - 1, items, params.num_hashes());
            assert!(below > rate || params.num_bits() > 1 << 40, "{items} at {rate}: {params:?}");
            assert!(BloomParams::from_bits_and_rate(params.num_bits(), rate).is_ok());
        }
        let error = BloomParams::for_double_hashing(1_000, rate).unwrap_err();
        let collisions = 1_000.0 / 2f64.powi(64);
        let parameter = "false_positive_rate";
        assert_eq!(
            error,
            ParamError(ParamFault::BelowCollisions { parameter, value: rate, collisions })
        );
    }
}

/// The least positive number is a rate, too, although the filter's own rate is rounded there.
#[test]
fn case_01_subnormal_rates_are_kept_and_their_bits_accepted() {
    for rate in [f64::MIN_POSITIVE / 2.0, 1e-320, 5e-324] {
        let params = BloomParams::new(1, rate).unwrap();
        assert!(params.rate_at(1) <= rate && params.num_hashes() == BloomParams::MAX_HASHES);
        let back = BloomParams::from_bits_and_rate(params.num_bits(), rate).unwrap();
        assert_eq!(back.expected_items(), Some(1));
        assert!(BloomParams::from_bits_and_rate(params.num_bits() - 1, rate).is_err());
    }
}

/// Compares every size, not only round ones, with a brute-force search over all bits and hashes.
#[test]
fn case_03_the_size_is_the_least_at_every_number_of_items() {
    for rate in [0.99, 0.7, 0.3, 0.05, 0.01, 1e-3, 1e-4] {
        // More items never need fewer bits, so the search continues from the last size.
        let mut least = 1;
        for items in 1..=40 {
            while !(1..=40).any(|hashes| rate_exact(least, items, hashes) <= rate) {
                least += 1;
            }
            let params = BloomParams::new(items, rate).unwrap();
            assert_eq!(params.num_bits(), least, "{items} items at {rate}");
            let lowest =
                (1..=40).map(|hashes| rate_exact(least, items, hashes)).fold(1.0, f64::min);
            assert_eq!(params.rate_at(items), lowest, "{items} items at {rate}");
        }
    }
}

/// Awkward sizes: near words and powers of two, prime, odd.
#[test]
fn case_03_capacity_is_the_greatest_at_every_number_of_bits() {
    let sizes = (1..=200).chain([255, 256, 257, 1_009, 4_095, 4_096, 4_097, 65_521]);
    for bits in sizes {
        let held = |items| (1..=30).any(|hashes| rate_exact(bits, items, hashes) <= 0.01);
        match BloomParams::from_bits_and_rate(bits, 0.01) {
            Ok(params) => {
                let items = params.expected_items().unwrap();
                assert!(params.rate_at(items) <= 0.01 && held(items) && !held(items + 1));
            }
            Err(error) => {
                assert!(!held(1), "{bits} bits hold an item, but {error}");
                let (parameter, max) = ("bits", BloomParams::MAX_BITS);
                assert_eq!(
                    error,
                    ParamError(ParamFault::OutOfRange { parameter, value: bits, min: 11, max })
                );
            }
        }
    }
}

/// Every prediction is a number in its range for every input, including empty and full filters.
#[test]
fn case_04_predictions_are_never_nan() {
    let counts = [0, 1, 2, 63, 64, 65, 1_000, 1 << 32, 1 << 63, u64::MAX];
    for bits in counts {
        for items in counts {
            for hashes in [0, 1, 2, 7, 64, 255] {
                check_rates(bits, items, hashes);
                check_sets(bits, items, hashes);
            }
        }
    }
    for fill in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 0.5, 1.0, 2.0] {
        assert!((0.0..=1.0).contains(&rate_from_fill(fill, 7)), "fill {fill}");
    }
}

#[track_caller]
fn assert_probability(name: &str, value: f64) {
    assert!((0.0..=1.0).contains(&value), "{name} is {value}");
}

fn check_rates(bits: u64, items: u64, hashes: u32) {
    assert_probability("asymptotic", rate_asymptotic(bits, items, hashes));
    assert_probability("finite", rate_finite(bits, items, hashes));
    assert_probability("exact", rate_exact(bits, items, hashes));
    assert_probability("fill", expected_fill(bits, items, hashes));
    assert_probability("overfill", overfill_rate(bits as f64, hashes, items as f64));
    assert!(set_bits_standard_deviation(bits, items, hashes) >= 0.0);
    assert!(instance_rate_relative_spread(bits, items, hashes) >= 0.0);
    assert!(scheme_excess(bits, items, hashes) >= 0.0);
}

/// Takes `count` as a number of items and as a number of set bits.
fn check_sets(bits: u64, count: u64, hashes: u32) {
    let estimate = cardinality(bits, hashes, count);
    assert!(estimate.value >= 0.0 && estimate.standard_error >= 0.0, "{estimate}");
    let counts = SetBits { left: count, right: count / 2, union: count };
    let estimate = intersection_cardinality(bits, hashes, counts);
    assert!(estimate.value >= 0.0 && estimate.standard_error >= 0.0, "{estimate}");
    for common in [0, count / 2, count, u64::MAX] {
        let sets = Overlap { left: count, right: count / 2, common };
        assert_probability("union", union_rate(bits, hashes, sets));
        assert_probability("intersection", intersection_rate(bits, hashes, sets));
    }
}

/// Lenient rates for few items. The usual formula gives no bits or no hashes for them.
#[test]
fn case_05_lenient_rates_for_few_items_work() {
    for items in 1..=3 {
        for build in [BloomParams::new, BloomParams::for_double_hashing] {
            let params = build(items, 0.99).unwrap();
            assert!(params.num_bits() >= 1 && params.num_hashes() >= 1);
            assert!(params.rate_at(items) <= 0.99, "{params:?}");
        }
    }
}

#[test]
fn case_05_impossible_rates_are_named_with_their_range() {
    for rate in [0.0, -0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let errors = [
            BloomParams::new(1_000, rate),
            BloomParams::for_double_hashing(1_000, rate),
            BloomParams::from_bits_and_rate(1_000, rate),
        ];
        for error in errors.map(Result::unwrap_err) {
            let ParamError(ParamFault::NotAProbability { parameter: "false_positive_rate", value }) =
                error
            else {
                panic!("{error:?} for {rate}");
            };
            assert_eq!(value.to_bits(), rate.to_bits());
            let message = error.to_string();
            assert!(message.ends_with("must be above 0 and below 1"), "{message}");
        }
    }
}

#[test]
fn case_05_impossible_counts_are_named_with_their_range() {
    let max_bits = BloomParams::MAX_BITS;
    let cases = [
        (BloomParams::new(0, 0.01), "expected_items", 0, 1, u64::MAX),
        (BloomParams::for_double_hashing(0, 0.01), "expected_items", 0, 1, u64::MAX),
        (BloomParams::from_bits_and_items(64, 0), "expected_items", 0, 1, u64::MAX),
        (BloomParams::from_bits_and_items(0, 1), "bits", 0, 1, max_bits),
        (BloomParams::from_bits_and_rate(0, 0.5), "bits", 0, 1, max_bits),
        (BloomParams::from_bits_and_hashes(0, 1), "bits", 0, 1, max_bits),
        (BloomParams::from_bits_and_hashes(max_bits + 1, 1), "bits", max_bits + 1, 1, max_bits),
        (BloomParams::from_bits_and_hashes(64, 0), "hashes", 0, 1, 255),
        (BloomParams::from_bits_and_hashes(64, 256), "hashes", 256, 1, 255),
    ];
    for (result, parameter, value, min, max) in cases {
        let error = result.unwrap_err();
        assert_eq!(error, ParamError(ParamFault::OutOfRange { parameter, value, min, max }));
        let allowed = match max {
            u64::MAX => format!("at least {min}"),
            _ => format!("from {min} to {max}"),
        };
        assert_eq!(error.to_string(), format!("{parameter} is {value}, but must be {allowed}"));
    }
}

#[test]
fn case_06_too_many_items_are_a_typed_error() {
    for build in [BloomParams::new, BloomParams::for_double_hashing] {
        let error = build(1_000_000_000_000_000_000, 0.1).map(|params| params.num_bits());
        assert!(error.is_ok_and(|bits| bits > 1 << 62));
    }
    let error = BloomParams::new(1_000_000_000_000_000_000, 0.01).unwrap_err();
    let ParamError(ParamFault::TooLarge { parameter: "bits", value, max }) = error else {
        panic!("{error:?}");
    };
    assert!((value / 9.592_954_717e18 - 1.0).abs() < 1e-9, "{value}");
    assert_eq!(max, BloomParams::MAX_BITS as f64);
    // The greatest arguments neither overflow nor hang.
    assert!(BloomParams::new(u64::MAX, f64::MIN_POSITIVE).is_err());
    assert!(BloomParams::from_bits_and_items(BloomParams::MAX_BITS, u64::MAX).is_ok());
    assert!(BloomParams::from_bits_and_rate(BloomParams::MAX_BITS, 0.5).is_ok());
}

#[test]
fn case_06_billions_of_items_are_computed_in_64_bits() {
    let params = BloomParams::new(5_000_000_000, 0.001).unwrap();
    assert_eq!((params.num_bits(), params.num_hashes()), (71_888_196_696, 10));
    assert_eq!(params.size_in_bytes(), 8_986_024_592);
    assert!(params.rate_at(5_000_000_000) <= 0.001);
    assert!(rate_exact(params.num_bits() - 1, 5_000_000_000, 10) > 0.001);
}

/// Predictions end for loads of 2^53, to which a loop cannot add 1, and for infinite means.
///
/// Covers every public function of the filter modules at extreme arguments. The fastest of some runs counts.
#[test]
fn case_47_every_prediction_ends_at_once() {
    for a in COUNTS {
        for b in COUNTS {
            check_split_blocks(a, b);
            check_removal(a, b);
            check_shapes(a, b);
            for hashes in [2, 8, 16] {
                check_blocks(a, b, hashes);
            }
            for hashes in [0, 1, 7, 255] {
                at_once("bloom", (a, b, hashes), || {
                    check_rates(a, b, hashes);
                    check_sets(a, b, hashes);
                });
            }
        }
        for rate in RATES {
            check_designs(a, rate);
        }
    }
    for x in RATES {
        for y in RATES {
            check_reals(x, y);
        }
    }
}

const COUNTS: [u64; 12] =
    [0, 1, 2, 17, 1_000, 1 << 20, 1 << 32, 1 << 50, 1 << 53, (1 << 53) + 1, 1 << 63, u64::MAX];

const RATES: [f64; 18] = [
    f64::NAN,
    f64::NEG_INFINITY,
    -1.0,
    0.0,
    5e-324,
    1e-310,
    1e-300,
    1e-19,
    1e-15,
    0.01,
    0.5,
    1.0 - f64::EPSILON / 2.0,
    1.0,
    2.0,
    9_007_199_254_740_992.0,
    9.2e18,
    f64::MAX,
    f64::INFINITY,
];

/// Runs `work` and asserts that it takes at most 50 ms.
#[track_caller]
fn at_once(name: &str, input: impl core::fmt::Debug, work: impl Fn()) {
    within(Duration::from_millis(50), name, input, work);
}

#[track_caller]
fn within(limit: Duration, name: &str, input: impl core::fmt::Debug, work: impl Fn()) {
    let time = || {
        let start = ThreadTime::now();
        work();
        start.elapsed()
    };
    // Others on the machine empty the caches, too.
    assert!((0..20).any(|_| time() < limit), "{name} of {input:?} takes more than {limit:?}");
}

/// The allowed time of the search for a design.
const DESIGN: Duration = Duration::from_millis(100);

/// Consumes a result without inspecting it.
fn done<T>(_: T) {}

fn assert_estimate(name: &str, estimate: Estimate) {
    assert!(estimate.value >= 0.0 && estimate.standard_error >= 0.0, "{name}: {estimate:?}");
}

fn check_split_blocks(blocks: u64, items: u64) {
    at_once("split", (blocks, items), || {
        assert_probability("split", blocked::split_block_rate(blocks, items));
        let rate = blocked::split_block_rate_with_collisions(blocks, items);
        assert_probability("split with collisions", rate);
    });
}

fn check_blocks(blocks: u64, items: u64, hashes: u32) {
    at_once("blocked", (blocks, items, hashes), || {
        assert_probability("blocked", blocked::rate(blocks, items, hashes));
        assert_probability("fill", blocked::expected_fill(blocks, items, hashes));
        assert!(blocked::expected_set_bits(blocks, items, hashes) >= 0.0);
        assert!(blocked::set_bits_standard_deviation(blocks, items, hashes) >= 0.0);
        assert!(blocked::instance_rate_relative_spread(blocks, items, hashes) >= 0.0);
        assert_estimate("items", blocked::cardinality(blocks, hashes, items));
        let ones = SetBits { left: items, right: items / 2, union: items };
        assert_estimate("common", blocked::intersection_cardinality(blocks, hashes, ones));
    });
}

fn check_removal(size: u64, items: u64) {
    for bits in [0, 1, 4, 12, 32, 64, 2_000, u32::MAX] {
        at_once("cuckoo", (size, items, bits), || {
            assert_probability("cuckoo", cuckoo::rate_exact(size, items, bits));
            assert!(cuckoo::least_buckets(items, bits) >= 1);
            assert!(cuckoo::most_items(size, bits) <= size.saturating_mul(4));
        });
    }
    at_once("counting", (size, items), || {
        assert_probability("blocked counting", counting::blocked_rate(size, items));
        let mean = counting::mean_count(size, items, 7);
        assert!(mean >= 0.0);
        for limit in [0, 1, 15, 1 << 32, u64::MAX] {
            check_overflow(size, mean, limit);
        }
    });
}

fn check_overflow(counters: u64, mean: f64, limit: u64) {
    assert_probability("overflow", counting::overflow_probability(mean, limit));
    assert_probability("any", counting::any_overflow_probability(counters, mean, limit));
    assert_probability("bound", counting::overflow_bound(counters, mean, limit));
}

/// Shapes that are accepted as given, and their predictions.
fn check_shapes(size: u64, items: u64) {
    at_once("shapes", (size, items), || {
        if let Ok(params) = BloomParams::from_bits_and_hashes(size, 7) {
            assert_probability("bloom", params.rate_at(items));
            assert_probability("fill", params.fill_at(items));
            assert_estimate("set bits", params.set_bits_at(items));
            assert_estimate("items", params.cardinality(items));
        }
        if let Ok(params) = BlockedBloomParams::from_blocks_and_hashes(size, 8) {
            assert_probability("blocked", params.rate_at(items));
            assert_estimate("set bits", params.set_bits_at(items));
            assert!(params.relative_spread_at(items) >= 0.0);
        }
        if let Ok(params) = CuckooParams::from_buckets_and_fingerprint_bits(size, 12) {
            assert_probability("cuckoo", params.rate_at(items));
            assert!(params.capacity() <= params.num_slots());
        }
        let lines = BlockedCountingParams::from_lines(size);
        assert!(lines.is_ok_and(|params| params.rate_at(items) <= 1.0) || size != 1);
    });
    for build in [BloomParams::from_bits_and_items, BloomParams::for_double_hashing_of] {
        within(DESIGN, "bits and items", (size, items), || done(build(size, items)));
    }
    at_once("blocks and items", (size, items), || {
        done(BlockedBloomParams::from_blocks_and_items(size, items));
    });
    at_once("widths", items, || done(CuckooParams::from_items_and_fingerprint_bits(items, 12)));
    at_once("in memory", (size, items), || {
        let table = HashTableParams::for_memory(size, items);
        assert!(table.is_err() || table.is_ok_and(|it| it.size_in_bytes(0) <= size));
        let cuckoo = CuckooParams::for_memory(size, items);
        assert!(cuckoo.is_err() || cuckoo.is_ok_and(|it| it.size_in_bytes() <= size));
    });
}

/// Returns `true` if there is a design for this number and rate.
type Design = fn(u64, f64) -> bool;

/// Computes everything that follows from a rate and a number of items, bits, blocks or bytes.
fn check_designs(number: u64, rate: f64) {
    at_once("bits", (number, rate), || {
        assert!(information_bound(number, rate) >= 0.0);
        assert!(blocked::split_block_bits(number, rate) >= 0.0);
    });
    let designs: [(&str, Design); 8] = [
        ("independent", |n, p| BloomParams::new(n, p).is_ok()),
        ("independent in", |n, p| BloomParams::from_bits_and_rate(n, p).is_ok()),
        ("fastest", |n, p| BlockedBloomParams::new(n, p, Preference::Fastest).is_ok()),
        ("smallest", |n, p| BlockedBloomParams::new(n, p, Preference::Smallest).is_ok()),
        ("blocks", |n, p| {
            BlockedBloomParams::from_blocks_and_rate(n, p, Preference::Fastest).is_ok()
        }),
        ("split", |n, p| blocked::split_blocks(n, p).is_ok()),
        ("lines", |n, p| BlockedCountingParams::new(n, p).is_ok()),
        ("cuckoo", |n, p| CuckooParams::new(n, p).is_ok()),
    ];
    for (name, design) in designs {
        within(DESIGN, name, (number, rate), || {
            let sound = number > 0 && 0.0 < rate && rate < 1.0;
            assert!(!design(number, rate) || sound, "{name} of {number}, {rate}");
        });
    }
    let sum = BloomParams::from_bits_and_hashes(64, 7).unwrap();
    let stated = sum.with_design(Some(number), Some(rate));
    assert_eq!(stated.is_ok(), number > 0 && 0.0 < rate && rate < 1.0);
}

fn check_reals(x: f64, y: f64) {
    at_once("reals", (x, y), || {
        assert_probability("blocked", blocked::rate_asymptotic(x, 8));
        for hashes in [0, 1, 7, 255] {
            assert_probability("fill", rate_from_fill(x, hashes));
            assert_probability("overfill", overfill_rate(x, hashes, y));
            assert_probability("load", cuckoo::rate_by_load(x, hashes));
        }
        for limit in COUNTS {
            check_overflow(limit, x, 15);
            check_overflow(15, x, limit);
        }
    });
}

/// Few items at tiny rates took seconds, because the excess of double hashing made every bound far too low.
#[test]
fn case_48_every_design_is_found_within_a_tenth_of_a_second() {
    for items in [1, 2, 3, 5, 7, 10, 12, 17, 64, 1_000] {
        for rate in [1e-9, 1e-12, 1e-14, 1e-15, 3e-16, 1e-18] {
            let designs: [&dyn Fn(); 7] = [
                &|| done(BloomParams::for_double_hashing(items, rate)),
                &|| done(BloomParams::for_double_hashing_in(100 * items, rate)),
                &|| done(BloomParams::for_double_hashing_of(100 * items, items)),
                &|| done(BlockedBloomParams::new(items, rate, Preference::Fastest)),
                &|| done(BlockedCountingParams::new(items, rate)),
                &|| done(CuckooParams::new(items, rate)),
                &|| done(blocked::split_blocks(items, rate)),
            ];
            for (index, design) in designs.into_iter().enumerate() {
                within(DESIGN, "a design", (index, items, rate), design);
            }
        }
    }
}

/// The sizes for which the exhaustive search took seconds, at rates where the bounds do not help.
#[test]
fn case_48_the_sizes_are_the_least_ones() {
    let searched = [
        (1, 1e-12, 120, 173),
        (5, 1e-14, 653, 249),
        (5, 1e-15, 1_342, 255),
        (6, 1e-14, 746, 232),
        (7, 1e-14, 836, 218),
        (10, 3e-15, 1_266, 242),
        (64, 1e-15, 6_084, 137),
    ];
    for (items, rate, bits, hashes) in searched {
        let params = BloomParams::for_double_hashing(items, rate).unwrap();
        assert_eq!((params.num_bits(), params.num_hashes()), (bits, hashes), "{items}, {rate}");
    }
}

/// All filters of few items miss a promise that omits double hashing and collisions.
#[test]
fn case_25_every_stated_rate_counts_all_that_adds_to_it() {
    for items in [1, 2, 3, 10, 1_000, 1_000_000, 1 << 40] {
        let collisions = items as f64 / 2f64.powi(64);
        for bits in [64, 100, 1_000, 1 << 20, 1 << 40] {
            let params = BloomParams::for_double_hashing_of(bits, items).unwrap();
            let excess = scheme_excess(bits, items, params.num_hashes());
            let rate = (params.rate_at(items) + excess + collisions).min(1.0);
            assert_eq!(params.promised_rate().unwrap_or(1.0), rate, "{bits} bits, {items} items");
        }
    }
}

/// An empty filter has nothing in common with any other filter, even a full one. The estimate is not infinite.
#[test]
fn case_31_an_empty_filter_has_nothing_in_common_with_a_full_one() {
    let nothing = Estimate { value: 0.0, standard_error: 0.0 };
    for size in [1, 64, 1_000] {
        for full in [size, 512 * size] {
            for (left, right) in [(0, full), (full, 0)] {
                let ones = SetBits { left, right, union: full };
                assert_eq!(intersection_cardinality(full, 7, ones), nothing, "{ones:?}");
                assert_eq!(blocked::intersection_cardinality(size, 8, ones), nothing, "{ones:?}");
            }
        }
    }
    let full = SetBits { left: 1, right: 64, union: 64 };
    assert_eq!(intersection_cardinality(64, 7, full).value, f64::INFINITY);
}
