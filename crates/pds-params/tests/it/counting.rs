//! The overflow of counters, compared with a table computed in 40 digits, and the blocked filter's rate.

use crate::tables::table;
use pds_params::bloom::HASH_COLLISION;
use pds_params::counting::{
    MAX_LINES, any_overflow_probability, blocked_rate, mean_count, overflow_bound,
    overflow_probability,
};
use pds_params::internal::ParamFault;
use pds_params::{BlockedCountingParams, BloomParams, CuckooParams, ParamError};
use quickcheck::quickcheck;

#[track_caller]
fn assert_close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-11 * expected, "{actual}, expected {expected}");
}

#[test]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
fn overflows_are_those_of_the_table() {
    for [bits, counters, mean, single, any, bound] in
        table(include_str!("../data/counter_overflow.json"), 108)
    {
        let (counters, limit) = (counters as u64, 1 << bits as u32);
        assert_close(overflow_probability(mean, limit), single);
        assert_close(any_overflow_probability(counters, mean, limit), any);
        assert_close(overflow_bound(counters, mean, limit), bound);
    }
}

/// 1 - e^-2 (1 + 2 + 2) = 1 - 5 e^-2, and values far below and above the mean.
#[test]
fn tails_on_both_sides_of_the_mean() {
    let above = |mean, limit| overflow_probability(mean, limit);
    assert_close(above(2.0, 3), 1.0 - 5.0 * (-2.0_f64).exp());
    assert_close(above(2.0, 1), 1.0 - (-2.0_f64).exp());
    assert_close(above(300.0, 16), 1.0);
    assert_eq!([above(0.0, 1), above(0.0, 0), above(f64::INFINITY, 5)], [0.0, 1.0, 1.0]);
    assert_eq!([mean_count(0, 0, 3), mean_count(10, 5, 4)], [0.0, 2.0]);
    assert_eq!(overflow_bound(10, mean_count(0, 1, 1), 16), 1.0);
    assert_eq!(any_overflow_probability(0, 1.0, 16), 0.0);
}

/// One key: another key is in its line with probability 1/L, and in its lanes with 16^-8.
#[test]
fn blocked_rates_are_counted_out() {
    let pattern = 16_f64.powi(-8);
    assert_close(blocked_rate(1, 1), pattern);
    assert_close(blocked_rate(1_000, 1), pattern / 1_000.0);
    // Two keys in one line set a lane with probability 1 - (15/16)^2 = 31/256.
    assert_close(blocked_rate(1, 2), (31.0 / 256.0_f64).powi(8));
    assert_close(blocked_rate(2, 2), 0.5 * pattern + 0.25 * (31.0 / 256.0_f64).powi(8));
    assert_eq!([blocked_rate(7, 0), blocked_rate(1, 1_000_000)], [0.0, 1.0]);
    assert_eq!(blocked_rate(0, 1), 1.0);
}

/// Compares with inclusion and exclusion over the lanes, which is exact while it does not cancel.
#[test]
fn blocked_rates_by_inclusion_and_exclusion() {
    const CHOOSE: [f64; 9] = [1.0, -8.0, 28.0, -56.0, 70.0, -56.0, 28.0, -8.0, 1.0];
    for (lines, items) in [(10u32, 150u32), (1_000, 13_000), (1_000, 20_000), (89_286, 1_000_000)] {
        let (l, n) = (f64::from(lines), f64::from(items));
        let term = |lanes: i32| n * (-(1.0 - 0.9375_f64.powi(lanes)) / l).ln_1p();
        let expected: f64 = (0..).zip(CHOOSE).map(|(j, sign)| sign * term(j).exp()).sum();
        let rate = blocked_rate(lines.into(), items.into());
        assert!((rate / expected - 1.0).abs() < 1e-9, "{lines} lines, {items} items: {rate}");
    }
}

#[test]
fn blocked_sizes_are_the_least() {
    for items in [1, 2, 10, 1_000, 1_000_000, 3_000_000_000] {
        for rate in [0.5, 0.01, 0.001, 1e-6] {
            let params = BlockedCountingParams::new(items, rate).unwrap();
            // The error rate of a structure, including collisions of whole hashes.
            let errs = |lines| blocked_rate(lines, items) + items as f64 * HASH_COLLISION;
            let lines = params.num_lines();
            assert!(errs(lines) <= rate, "{items} at {rate}");
            assert!(lines == 1 || errs(lines - 1) > rate, "{items} at {rate}");
        }
    }
}

/// The cost of one line per key, compared with counters anywhere: 19 % more memory at 1 %, 35 % at 0.1 %.
#[test]
fn the_price_of_one_line() {
    for (rate, price) in [(0.01, 1.19), (0.001, 1.35)] {
        #[expect(clippy::cast_precision_loss, reason = "bytes far below 2^53")]
        let [_, counting, blocked] = removing(1_000_000, rate).map(|bytes| bytes as f64);
        let ratio = blocked / counting;
        assert!((ratio - price).abs() < 0.01, "{ratio} at {rate}");
    }
}

/// The bytes of the filters with removal: cuckoo, counting, blocked counting.
fn removing(items: u64, rate: f64) -> [u64; 3] {
    let bloom = BloomParams::for_double_hashing(items, rate).unwrap();
    [
        CuckooParams::new(items, rate).unwrap().size_in_bytes(),
        (4 * bloom.num_bits()).div_ceil(8),
        BlockedCountingParams::new(items, rate).unwrap().size_in_bytes(),
    ]
}

/// The recommendation in the documentation.
#[test]
fn the_cuckoo_filter_is_the_smallest_from_a_hundred_items() {
    for items in (100..2_000).chain([100_000, 10_000_000]) {
        for rate in [0.1, 0.01, 0.001, 1e-5] {
            let [cuckoo, counting, blocked] = removing(items, rate);
            assert!(cuckoo <= counting.min(blocked), "{items} {rate}");
        }
    }
}

/// The rate increases with the keys, even if the probability of an empty line underflows.
#[test]
fn blocked_rates_rise_without_a_gap() {
    for lines in [1, 2, 3, 10, 1_000] {
        let rates: Vec<f64> = (0..3_000).map(|step| blocked_rate(lines, step * lines)).collect();
        assert!(rates.is_sorted_by(|a, b| *a <= b + 1e-12), "{lines} lines");
        assert_eq!(rates.last(), Some(&1.0));
    }
}

#[test]
fn impossible_parameters_are_named() {
    let range = |parameter, value, max| {
        ParamError(ParamFault::OutOfRange { parameter, value, min: 1, max })
    };
    let new = |items, rate| BlockedCountingParams::new(items, rate).unwrap_err();
    assert_eq!(new(0, 0.1), range("expected_items", 0, u64::MAX));
    assert!(matches!(new(1, 1.0), ParamError(ParamFault::NotAProbability { .. })));
    assert!(matches!(
        new(1 << 60, 0.1),
        ParamError(ParamFault::TooLarge { parameter: "lines", .. })
    ));
    assert!(matches!(new(u64::MAX, 1e-300), ParamError(ParamFault::BelowCollisions { .. })));
    let lines = |lines| BlockedCountingParams::from_lines(lines).unwrap_err();
    assert_eq!(lines(0), range("lines", 0, MAX_LINES));
    assert_eq!(lines(MAX_LINES + 1), range("lines", MAX_LINES + 1, MAX_LINES));
}

quickcheck! {
    fn rates_and_tails_are_probabilities(a: u32, b: u32, limit: u8) -> bool {
        let (a, b) = (u64::from(a), u64::from(b));
        let values = [
            blocked_rate(a, b),
            overflow_probability(mean_count(a, b % 1_000_000, 8), limit.into()),
            any_overflow_probability(a, 3.0, limit.into()),
            overflow_bound(a, 3.0, limit.into()),
        ];
        values.iter().all(|value| (0.0..=1.0).contains(value))
    }
}
