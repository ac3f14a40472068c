//! Errors of sketches and signatures, intervals, and shapes of indexes: compared with independent tables, and laws.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of values and bits")]
#![expect(clippy::cast_sign_loss, reason = "whole numbers of values and bits")]

use crate::tables::table;
use pds_params::minhash::{binomial_interval, error_in_units, recall};
use pds_params::{LshParams, MinHashParams, ParamError, SignatureParams};

#[test]
fn errors_of_sketches_and_signatures_are_the_tables() {
    for [values, jaccard, error, by_bits @ ..] in
        table::<7>(include_str!("../data/minhash.json"), 37)
    {
        let close = |ours: f64, theirs: f64, bits: u32| {
            let relative = (ours / theirs - 1.0).abs();
            assert!(relative < 1e-12, "{values} values, {bits} bits, {jaccard}: {ours}");
        };
        close(MinHashParams::new(values as u32).unwrap().standard_error(jaccard), error, 64);
        for (bits, theirs) in [1, 2, 4, 8].into_iter().zip(by_bits) {
            let params = SignatureParams::new(values as u32, bits).unwrap();
            close(params.standard_error(jaccard), theirs, bits);
        }
    }
}

/// The variance in squared units, by a sum over the two rounds in which two bins are filled.
fn variance_by_rounds(values: u32, union: u32) -> f64 {
    let (k, n) = (f64::from(values), f64::from(union));
    let (neither, not_one) = ((1.0 - 2.0 / k).powf(n), (1.0 - 1.0 / k).powf(n));
    let mut same = 0.0;
    for first in 0..values {
        let filled_first = neither.powf(f64::from(first)) * (not_one - neither) / n;
        for second in first + 1..values {
            let gap = f64::from(second - first - 1);
            same += 2.0 * n * filled_first * not_one.powf(gap) * (1.0 - not_one) / n;
        }
        let never = not_one.powf(f64::from(values - first - 1));
        same += 2.0 * n * filled_first * never / n;
    }
    same += neither.powf(k) / n;
    n / (n - 1.0) * (1.0 + (k - 1.0) * same - k / n)
}

#[test]
fn the_closed_form_of_the_error_is_the_sum_over_rounds() {
    for values in [16, 64, 256] {
        for union in [2, 3, 5, 10, 16, 40, 128, 300, 3_000] {
            let (ours, sum) =
                (error_in_units(values, union.into()), variance_by_rounds(values, union));
            assert!((ours * ours / sum - 1.0).abs() < 1e-9, "{values}, {union}: {ours}, {sum}");
        }
    }
    assert_eq!([error_in_units(16, 0.0), error_in_units(16, 1.0)], [0.0; 2]);
    assert!((error_in_units(4_096, 1e15) - 1.0).abs() < 1e-9);
}

#[test]
fn the_error_is_at_most_what_is_promised() {
    for values in (4..=12).map(|power| 1_u32 << power) {
        let unit = |union: u32| error_in_units(values, union.into());
        assert!((2..=values / 2).all(|union| unit(union) <= 0.72), "{values}");
        assert!((2..=values).all(|union| unit(union) <= 0.80), "{values}");
        assert!((2..=32).all(|power| unit(1 << (power - 1)) <= 1.0), "{values}");
    }
}

/// P(at least `least` successes), summed in logarithms.
fn at_least(least: u32, trials: u32, probability: f64) -> f64 {
    let term = |successes: u32| {
        let choose: f64 =
            (0..successes).map(|i| (f64::from(trials - i) / f64::from(i + 1)).ln()).sum();
        let misses = f64::from(trials - successes);
        (choose + f64::from(successes) * probability.ln() + misses * (-probability).ln_1p()).exp()
    };
    (least..=trials).map(term).sum()
}

#[test]
fn the_ends_of_intervals_have_the_tails_that_define_them() {
    for (trials, confidence) in [(16, 0.5), (16, 0.95), (128, 0.999), (1_024, 0.9), (4_096, 0.99)] {
        let tail = (1.0 - confidence) / 2.0;
        for successes in [1, 2, trials / 3, trials / 2, trials - 2, trials - 1] {
            let interval = binomial_interval(successes, trials, confidence).unwrap();
            let below = at_least(successes, trials, *interval.start());
            let above = 1.0 - at_least(successes + 1, trials, *interval.end());
            for found in [below, above] {
                assert!((found / tail - 1.0).abs() < 1e-6, "{successes} of {trials}: {found}");
            }
        }
        let none = binomial_interval(0, trials, confidence).unwrap();
        let all = binomial_interval(trials, trials, confidence).unwrap();
        let end = 1.0 - tail.powf(1.0 / f64::from(trials));
        assert!((none.end() / end - 1.0).abs() < 1e-9 && *none.start() == 0.0, "{none:?}");
        assert!((all.start() / (1.0 - end) - 1.0).abs() < 1e-9 && *all.end() == 1.0, "{all:?}");
    }
    assert_eq!(binomial_interval(9, 3, 0.9), binomial_interval(3, 3, 0.9));
    assert_eq!(binomial_interval(0, 0, 0.9), Ok(0.0..=1.0));
    for confidence in [0.0, 1.0, f64::NAN, -1.0] {
        assert_eq!(binomial_interval(1, 2, confidence).unwrap_err().parameter(), "confidence");
    }
}

/// The curve by repeated multiplication.
fn curve(jaccard: f64, bands: u32, rows: u32) -> f64 {
    1.0 - (1.0 - jaccard.powi(rows as i32)).powi(bands as i32)
}

#[test]
fn the_most_rows_and_the_fewest_bands_that_find_enough() {
    for values in [16, 128, 512] {
        for threshold in [0.2, 0.5, 0.8, 0.95] {
            for target in [0.5, 0.9, 0.99] {
                let finds = |bands, rows| curve(threshold, bands, rows) >= target - 1e-12;
                let shapes = (1..=values).flat_map(|rows| {
                    (1..=values / rows).find(|&bands| finds(bands, rows)).map(|bands| (bands, rows))
                });
                let expected = shapes.last();
                let found = LshParams::new(values, threshold, target);
                assert_eq!(found.ok().map(|found| (found.bands(), found.rows())), expected);
            }
        }
    }
    assert_eq!(recall(0.0, 3.0, 2), 0.0);
    assert_eq!(recall(1.0, 3.0, 2), 1.0);
}

fn parameter<T: core::fmt::Debug>(result: Result<T, ParamError>) -> (&'static str, String) {
    let error = result.unwrap_err();
    (error.parameter(), error.to_string())
}

#[test]
fn errors_name_what_is_wrong() {
    for values in [0, 1, 8, 15, 17, 100, 4_095, 4_097, 8_192, u32::MAX] {
        let text = format!("num_values is {values}, but must be a power of two from 16 to 4096");
        assert_eq!(parameter(MinHashParams::new(values)), ("num_values", text));
    }
    for bits in [0, 3, 5, 33, 64] {
        assert_eq!(parameter(SignatureParams::new(16, bits)).0, "bits", "{bits}");
    }
    for error in [0.0, 1.0, f64::NAN] {
        assert_eq!(parameter(MinHashParams::for_standard_error(error)).0, "standard_error");
    }
    let (name, text) = parameter(MinHashParams::for_standard_error(0.007));
    assert_eq!(name, "num_values");
    assert!(text.contains("5103") && text.contains("4096"), "{text}");
    assert_eq!(MinHashParams::for_standard_error(0.5 / 64.0).unwrap().num_values(), 4_096);
    assert_eq!(MinHashParams::for_standard_error(0.9).unwrap().num_values(), 16);
    assert_eq!(parameter(LshParams::new(16, 0.0, 0.5)).0, "threshold");
    assert_eq!(parameter(LshParams::new(16, 0.5, 1.0)).0, "recall");
    let too_low = LshParams::new(16, 1e-9, 0.9).unwrap_err();
    assert!(
        too_low.to_string().starts_with("threshold is 1e-9, but must be at least 0.134035676639")
    );
    assert!(LshParams::new(16, 0.1341, 0.9).is_ok() && LshParams::new(16, 0.134, 0.9).is_err());
    // The threshold that the error states is not refused.
    for values in [16, 64, 128, 1_024] {
        let recalls = (1..200).map(|share| f64::from(share) / 200.0);
        for recall in recalls.chain([1e-9, 1.0 - 1e-9, 1.0 - 1e-15]) {
            let refused = LshParams::new(values, 1e-15, recall).unwrap_err().to_string();
            let least: f64 = refused.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(LshParams::new(values, least, recall).is_ok(), "{values}, {recall}: {refused}");
        }
    }
    assert_eq!(error_in_units(16, f64::INFINITY), 1.0);
    assert_eq!(parameter(LshParams::from_shape(16, 0, 1)).0, "bands");
    assert_eq!(parameter(LshParams::from_shape(16, 4, 5)).0, "bands");
    assert_eq!(parameter(LshParams::from_shape(16, 1, 17)).0, "rows");
    assert_eq!(LshParams::from_shape(16, 3, 5).unwrap().size_in_bytes(3), 3 * 40);
}
