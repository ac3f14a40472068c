//! Faults that users of such libraries have met, each held as the right value.

use pds_params::bloom::{
    Overlap, SetBits, cardinality, expected_fill, instance_rate_relative_spread,
    intersection_cardinality, intersection_rate, overfill_rate, rate_asymptotic, rate_exact,
    rate_finite, rate_from_fill, scheme_excess, set_bits_standard_deviation, union_rate,
};
use pds_params::{BloomParams, ParamError};

/// A size computed from a 32-bit intermediate bottoms out at a rate of n / 2^32.
#[test]
fn case_01_very_small_rates_get_the_bits_they_need() {
    for (items, rate) in [(1_000_000, 1e-9), (1_000_000, 1e-12), (1_000, 1e-15)] {
        let params = BloomParams::for_double_hashing(items, rate).unwrap();
        let excess = scheme_excess(params.num_bits(), items, params.num_hashes());
        let total = params.rate_at(items) + excess + items as f64 / 2f64.powi(64);
        assert!(total <= rate, "{total} of {params:?}");
        assert!(total > 0.99 * rate, "far from the least size: {total} of {params:?}");
    }
    // 1.44 log2(1/p) bits an item, within the rounding of k.
    let ratio = BloomParams::new(1_000_000, 1e-9).unwrap().bits_per_item().unwrap() / 43.1328;
    assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
}

/// Down to the least rates that an f64 holds, sizes keep the promise, or an error says why not.
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
        assert_eq!(error, ParamError::BelowCollisions { parameter, value: rate, collisions });
    }
}

/// The least number of all is a rate as well, though the filter's own rate is a rounded one there.
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

/// Every size, not the round ones only: brute force over all bits and hashes.
#[test]
fn case_03_the_size_is_the_least_at_every_number_of_items() {
    for rate in [0.99, 0.7, 0.3, 0.05, 0.01, 1e-3, 1e-4] {
        // More items never need fewer bits, so that the search goes on from the last size.
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

/// Awkward sizes: around words and powers of two, prime, odd.
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
                assert_eq!(error, ParamError::OutOfRange { parameter, value: bits, min: 11, max });
            }
        }
    }
}

/// Every prediction is a number in its range for every input, the empty and the full included.
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
}

/// With `count` for a number of items as well as of set bits.
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

/// Lenient rates for few items, where the usual formula gives no bits or no hashes.
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
            let ParamError::NotAProbability { parameter: "false_positive_rate", value } = error
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
        assert_eq!(error, ParamError::OutOfRange { parameter, value, min, max });
        let message = format!("{parameter} is {value}, but must be from {min} to {max}");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn case_06_too_many_items_are_a_typed_error() {
    for build in [BloomParams::new, BloomParams::for_double_hashing] {
        let error = build(1_000_000_000_000_000_000, 0.1).map(|params| params.num_bits());
        assert!(error.is_ok_and(|bits| bits > 1 << 62));
    }
    let error = BloomParams::new(1_000_000_000_000_000_000, 0.01).unwrap_err();
    let ParamError::TooLarge { parameter: "bits", value, max } = error else {
        panic!("{error:?}");
    };
    assert!((value / 9.592_954_717e18 - 1.0).abs() < 1e-9, "{value}");
    assert_eq!(max, BloomParams::MAX_BITS as f64);
    // The greatest arguments of all neither overflow nor hang.
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
