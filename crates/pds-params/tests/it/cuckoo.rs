//! Rates, sizes and capacity of cuckoo filters: compared with independent tables, and laws.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of bits")]
#![expect(clippy::cast_sign_loss, reason = "whole numbers of bits")]
#![expect(clippy::cast_precision_loss, reason = "numbers of items and bits are far below 2^53")]

use crate::tables::table;
use pds_params::cuckoo::{MAX_BUCKETS, least_buckets, most_items, rate_by_load, rate_exact};
use pds_params::internal::ParamFault;
use pds_params::{CuckooParams, ParamError};
use quickcheck::quickcheck;

#[test]
fn rates_by_load_are_the_usual_ones() {
    for [bits, load, rate] in table(include_str!("../data/cuckoo_rates.json"), 124) {
        let ours = rate_by_load(load, bits as u32);
        assert!((ours / rate - 1.0).abs() < 1e-11, "{bits} bits, load {load}: {ours} for {rate}");
    }
}

/// The exact rate is lower, by the share of equal fingerprints: a relative difference below 1/2^f.
#[test]
fn exact_rates_are_a_little_below_the_usual_ones() {
    for [bits, load, usual] in table(include_str!("../data/cuckoo_rates.json"), 124) {
        let buckets = 1 << 28;
        let ours = rate_exact(buckets, (4.0 * buckets as f64 * load) as u64, bits as u32);
        let gap = 1.0 - ours / usual;
        assert!(
            gap > -1e-8 && gap < 0.51 * bits.exp2().recip() + 1e-8,
            "{bits} bits, {load}: gap {gap}"
        );
    }
}

/// One stored key: another key has its fingerprint with probability 1/15, and its pair of buckets with 2/3, or with 1/3
/// if both buckets coincide.
#[test]
fn the_rate_of_a_single_item_is_counted_out() {
    let expected = (2.0 / 3.0 * 2.0 / 3.0 + 1.0 / 3.0 / 3.0) / 15.0;
    assert!((rate_exact(3, 1, 4) / expected - 1.0).abs() < 1e-14);
    assert!((rate_exact(1, 1, 4) * 15.0 - 1.0).abs() < 1e-14);
}

#[test]
fn every_input_has_a_rate() {
    assert_eq!([rate_exact(5, 0, 8), rate_by_load(0.0, 8), rate_by_load(-1.0, 8)], [0.0; 3]);
    assert_eq!([rate_exact(0, 1, 8), rate_exact(5, 1, 0), rate_by_load(0.5, 0)], [1.0; 3]);
    assert_eq!([rate_by_load(f64::NAN, 8), rate_exact(1, u64::MAX, 4)], [1.0; 2]);
    assert_eq!(rate_by_load(2.0, 8), rate_by_load(1.0, 8));
}

/// A filter of 10,000 items takes at most f/0.95 bits per item, for the least f that keeps the rate. From a rate of 5 %
/// down, so does one of 3,500 items.
#[test]
fn large_filters_have_the_least_width_at_full_load() {
    for [rate, bits] in table(include_str!("../data/cuckoo_widths.json"), 9) {
        for items in [3_500, 10_000, 1_000_000, 123_456_789] {
            let params = CuckooParams::new(items, rate).unwrap();
            let goal = bits / 0.95;
            let reached = params.bits_per_item().unwrap();
            let small = items == 3_500 && rate > 0.05;
            assert!(small || reached < 1.002 * goal, "{items} at {rate}: {reached} for {goal}");
            assert!(rate > 0.02 || reached > 0.999 * goal, "{items} at {rate}: {reached}");
        }
    }
}

#[test]
fn known_sizes() {
    let shape = |items, rate| {
        let params = CuckooParams::new(items, rate).unwrap();
        (params.num_buckets(), params.fingerprint_bits())
    };
    assert_eq!(shape(1, 0.9), (1, 4));
    assert_eq!(shape(4, 0.001), (1, 12));
    assert_eq!(shape(1_000_000, 0.01), (263_158, 10));
    assert_eq!(shape(1_000_000, 0.001), (263_158, 13));
    assert_eq!(shape(1_000_000_000, 1e-9), (465_661_287, 32));
}

/// Narrower fingerprints at a lower load need fewer bits just above the rate that a width reaches at full load.
#[test]
fn load_and_width_are_traded() {
    let least = CuckooParams::from_items_and_fingerprint_bits(100_000, 12).unwrap();
    let rate = least.promised_rate().unwrap();
    let tight = CuckooParams::new(100_000, 0.99 * rate).unwrap();
    assert_eq!(tight.fingerprint_bits(), 12);
    assert!(tight.num_buckets() > least.num_buckets());
    assert!(tight.bits_per_item().unwrap() < 13.0 / 0.95);
}

#[test]
fn impossible_parameters_are_named() {
    let zero = CuckooParams::new(0, 0.01).unwrap_err();
    assert_eq!(
        zero,
        ParamError(ParamFault::OutOfRange {
            parameter: "expected_items",
            value: 0,
            min: 1,
            max: u64::MAX
        })
    );
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        let error = CuckooParams::new(1, rate).unwrap_err();
        assert!(matches!(error, ParamError(ParamFault::NotAProbability { .. })), "{error}");
    }
    for (items, rate) in [(u64::MAX, 0.5), (20_000_000_000, 0.01), (1_000_000_000, 1e-12)] {
        let error = CuckooParams::new(items, rate).unwrap_err();
        assert!(
            matches!(error, ParamError(ParamFault::TooLarge { parameter: "buckets", .. })),
            "{error}"
        );
    }
    assert!(CuckooParams::from_items_and_fingerprint_bits(u64::MAX, 8).is_err());
    assert!(CuckooParams::from_items_and_fingerprint_bits(10, 33).is_err());
    assert!(CuckooParams::from_buckets_and_fingerprint_bits(MAX_BUCKETS + 1, 8).is_err());
}

#[test]
fn more_items_never_have_fewer_buckets() {
    for bits in [4, 6, 8, 20] {
        let buckets: Vec<u64> = (1..3_000).map(|items| least_buckets(items, bits)).collect();
        assert!(buckets.is_sorted(), "{bits} bits");
        assert!((1..).zip(&buckets).all(|(items, buckets)| items <= 4 * buckets));
    }
}

#[test]
fn the_most_items_are_those_that_fit() {
    for bits in [4, 7, 12] {
        for buckets in (1..200).chain([1_000, 2_632, 1 << 20, MAX_BUCKETS]) {
            let items = most_items(buckets, bits);
            assert!(least_buckets(items, bits) <= buckets, "{buckets} x {bits}");
            assert!(least_buckets(items + 1, bits) > buckets, "{buckets} x {bits}");
        }
    }
}

quickcheck! {
    fn the_promise_is_kept_and_the_items_fit(items: u32, exponent: u8) -> bool {
        let (items, rate) = (u64::from(items % 5_000_000) + 1, 10f64.powf(-f64::from(exponent) / 32.0 - 0.01));
        let params = CuckooParams::new(items, rate).unwrap();
        params.rate_at(items) <= rate
            && params.capacity() >= items
            && (params.expected_items(), params.promised_rate()) == (Some(items), Some(rate))
    }

    fn nothing_smaller_keeps_the_promise(items: u32, exponent: u8) -> bool {
        let (items, rate) = (u64::from(items % 100_000) + 1, 10f64.powf(-f64::from(exponent) / 32.0 - 0.01));
        let best = CuckooParams::new(items, rate).unwrap().num_bits();
        (4..=32).all(|bits: u32| {
            // The most buckets of this width that need fewer bits.
            let buckets = (best - 1) / (4 * u64::from(bits));
            buckets < least_buckets(items, bits) || rate_exact(buckets, items, bits) > rate
        })
    }
}
