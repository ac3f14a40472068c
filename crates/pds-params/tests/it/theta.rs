//! Sizes, errors and intervals of theta sketches.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of keys")]
#![expect(clippy::cast_sign_loss, reason = "whole numbers of keys")]

use pds_params::ThetaParams;
use pds_params::theta::{cardinality, cardinality_interval};

/// Two tails of one quarter, of 2.5 %, and of one in a million.
const CONFIDENCES: [f64; 3] = [0.5, 0.95, 0.999_998];

/// A binomial distribution, by the ratios of neighbouring terms.
struct Binomial {
    terms: Vec<(u64, f64)>,
}

impl Binomial {
    fn new(keys: u64, theta: f64) -> Self {
        let mode = (((keys + 1) as f64 * theta) as u64).min(keys);
        let ratio = theta / (1.0 - theta);
        let mut terms = vec![(mode, 1.0)];
        let (mut kept, mut term) = (mode, 1.0);
        while kept > 0 && term > 1e-40 {
            term *= kept as f64 / (keys - kept + 1) as f64 / ratio;
            kept -= 1;
            terms.push((kept, term));
        }
        (kept, term) = (mode, 1.0);
        while kept < keys && term > 1e-40 {
            term *= (keys - kept) as f64 / (kept + 1) as f64 * ratio;
            kept += 1;
            terms.push((kept, term));
        }
        // Small ones first.
        terms.sort_by(|left, right| left.1.total_cmp(&right.1));
        Self { terms }
    }

    fn share(&self, is_in: impl Fn(u64) -> bool) -> f64 {
        let all: f64 = self.terms.iter().map(|term| term.1).sum();
        self.terms.iter().filter(|term| is_in(term.0)).map(|term| term.1).sum::<f64>() / all
    }

    fn at_most(&self, count: u64) -> f64 {
        self.share(|kept| kept <= count)
    }

    fn at_least(&self, count: u64) -> f64 {
        self.share(|kept| kept >= count)
    }
}

#[test]
fn the_ends_of_exact_intervals_have_the_tail_on_the_other_side() {
    for retained in [0, 1, 2, 7, 37, 120] {
        for theta in [0.9, 0.5, 0.1, 1e-3, 1e-6] {
            for confidence in CONFIDENCES {
                let tail = (1.0 - confidence) / 2.0;
                let interval = cardinality_interval(retained, theta, confidence).unwrap();
                let name = format!("{retained}, {theta}, {confidence}: {interval:?}");
                // The whole numbers on both sides of each end, by another computation of the binomial distribution.
                let high = *interval.end() as u64;
                let at_most = |keys| Binomial::new(keys, theta).at_most(retained);
                assert!(at_most(high) >= tail * (1.0 - 1e-9), "{name}");
                assert!(at_most(high + 1) <= tail * (1.0 + 1e-9), "{name}");
                let low = *interval.start();
                if retained == 0 {
                    assert_eq!(low, 0.0);
                    continue;
                }
                let at_least = |keys| Binomial::new(keys, theta).at_least(retained);
                assert!(at_least(low.ceil() as u64) >= tail * (1.0 - 1e-9), "{name}");
                if low > retained as f64 + 1e-6 {
                    assert!(at_least(low.ceil() as u64 - 1) <= tail * (1.0 + 1e-9), "{name}");
                }
            }
        }
    }
}

/// Returns the least number from `low` to `high` for which `holds`. It holds for all greater ones.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    assert!(holds(high));
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[test]
fn the_approximation_is_near_the_exact_interval() {
    // One hash more than the exact computation takes, and many more.
    for retained in [121, 500, 7_680] {
        for theta in [0.9, 0.5, 1e-2] {
            for (confidence, share) in CONFIDENCES.into_iter().zip([0.04, 0.04, 0.1]) {
                let interval = cardinality_interval(retained, theta, confidence).unwrap();
                let tail = (1.0 - confidence) / 2.0;
                // The first whole number with the tail below, and the first one with the tail above.
                let center = (retained as f64 / theta) as u64;
                let high = first(center, 3 * center, |keys| {
                    Binomial::new(keys, theta).at_most(retained) < tail
                });
                let low = first(retained, center, |keys| {
                    Binomial::new(keys, theta).at_least(retained) >= tail
                });
                // One key between whole numbers, and a share of the width.
                let width = interval.end() - interval.start();
                let name = format!("{retained} {theta} {confidence}: {interval:?}, {low} {high}");
                assert!((interval.end() - high as f64).abs() < 1.0 + share * width, "{name}");
                assert!((interval.start() - low as f64).abs() < 1.0 + share * width, "{name}");
            }
        }
    }
}

#[test]
fn intervals_hold_the_estimate_and_grow_with_the_confidence() {
    for retained in [1, 50, 120, 121, 1_000_000] {
        for theta in [1e-18, 1e-9, 0.3, 1.0 - 1e-12] {
            let estimate = cardinality(retained, theta);
            let mut last = estimate.value..=estimate.value;
            for confidence in [0.3, 0.9, 0.999, 1.0 - 1e-12] {
                let interval = cardinality_interval(retained, theta, confidence).unwrap();
                let slack = 1e-9 * estimate.value;
                assert!(
                    *interval.start() <= last.start() + slack,
                    "{retained} {theta} {interval:?}"
                );
                assert!(*interval.end() >= last.end() - slack, "{retained} {theta} {interval:?}");
                assert!(*interval.start() >= retained as f64 && interval.end().is_finite());
                last = interval;
            }
        }
    }
    for confidence in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(cardinality_interval(5, 0.5, confidence).is_err());
    }
}

/// The number of keys before the first kept one is geometric.
#[test]
fn no_kept_hash_has_the_error_of_the_keys_before_the_first_one() {
    for theta in [0.9, 0.5, 0.1, 0.01] {
        let share = |keys: i32| theta * f64::powi(1.0 - theta, keys);
        let mean: f64 = (0..10_000).map(|keys| f64::from(keys) * share(keys)).sum();
        let variance: f64 =
            (0..10_000).map(|keys| (f64::from(keys) - mean).powi(2) * share(keys)).sum();
        let none = cardinality(0, theta);
        assert_eq!(none.value, 0.0);
        assert!((none.standard_error / variance.sqrt() - 1.0).abs() < 1e-9, "{theta}: {none}");
        assert!(none.standard_error <= cardinality(1, theta).standard_error);
    }
    assert_eq!(cardinality(0, 1.0).standard_error, 0.0);
}

#[test]
fn sizes_for_an_error_are_the_least() {
    for error in [0.2, 0.1, 0.05, 0.01, 0.001] {
        let params = ThetaParams::for_relative_error(error).unwrap();
        assert!(params.relative_error() <= error);
        let half = params.nominal_size() / 2;
        assert!(half < 16 || ThetaParams::new(half).unwrap().relative_error() > error);
    }
    let refused = ThetaParams::for_relative_error(1e-5).unwrap_err();
    assert_eq!(refused.parameter(), "nominal_size");
    assert!(refused.to_string().contains("1.000e10"), "{refused}");
}
