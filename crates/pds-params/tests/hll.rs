//! Errors of HyperLogLog and UltraLogLog against published limits and independent simulations.

use pds_params::hll::CardinalityEstimator::{
    Improved, Martingale, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood,
};
use pds_params::hll::{Sketch, normal_quantile, relative_standard_error};
use pds_params::{Estimate, HllParams, ParamError};

/// Precision, distinct items, and the standard deviation of the maximum-likelihood estimate times
/// the root of the number of registers, from 2,000 simulated sketches each (1.6 % is one standard
/// error of these figures).
const SIMULATED: [(u32, f64, f64); 12] = [
    (12, 100.0, 0.6924),
    (12, 1000.0, 0.7304),
    (12, 4096.0, 0.7504),
    (12, 8192.0, 0.8553),
    (12, 20000.0, 0.9321),
    (12, 100000.0, 1.0203),
    (14, 1000.0, 0.724),
    (14, 16384.0, 0.7629),
    (14, 50000.0, 0.8827),
    (14, 200000.0, 0.9863),
    (14, 1000000.0, 1.0227),
    (12, 10000000000.0, 1.0319),
];

#[track_caller]
fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual / expected - 1.0).abs() < tolerance, "{actual}, expected {expected}");
}

#[test]
fn the_error_agrees_with_simulated_sketches() {
    for (precision, items, spread) in SIMULATED {
        let registers = 1u64 << precision;
        let error = relative_standard_error(Sketch::HyperLogLog, registers, items);
        let scaled = error * f64::from(1u32 << precision).sqrt();
        // Five standard errors of the simulation.
        assert_close(scaled, spread, 0.08);
    }
}

#[test]
fn the_simulations_agree_with_the_error_on_average() {
    let ratio = |&(precision, items, spread): &(u32, f64, f64)| {
        let error = relative_standard_error(Sketch::HyperLogLog, 1 << precision, items);
        error * f64::from(1u32 << precision).sqrt() / spread
    };
    let mean = SIMULATED.iter().map(ratio).sum::<f64>() / SIMULATED.len() as f64;
    assert_close(mean, 1.0, 0.02);
}

#[test]
fn the_error_reaches_its_published_limits() {
    let scaled = |sketch| relative_standard_error(sketch, 1 << 14, 1e12) * 128.0;
    // The error wobbles a little with the logarithm of the number of items.
    assert_close(scaled(Sketch::HyperLogLog), MaximumLikelihood.error_constant(), 1e-4);
    assert_close(scaled(Sketch::UltraLogLog), UltraMaximumLikelihood.error_constant(), 1e-4);
    let ln2 = core::f64::consts::LN_2;
    assert_close(Improved.error_constant(), (3.0 * ln2 - 1.0).sqrt(), 1e-12);
    assert_close(Martingale.error_constant(), ln2.sqrt(), 1e-12);
    let trigamma_2 = core::f64::consts::PI.powi(2) / 6.0 - 1.0;
    assert_close(MaximumLikelihood.error_constant(), (ln2 / trigamma_2).sqrt(), 1e-12);
    // Zeta(2, 5/4) = π² + 8 G - 16, with Catalan's constant G.
    let zeta = core::f64::consts::PI.powi(2) + 8.0 * 0.915_965_594_177_219 - 16.0;
    assert_close(UltraMaximumLikelihood.error_constant(), (ln2 / zeta).sqrt(), 1e-12);
    assert_close(UltraFgra.error_constant(), 0.611_893_149_697_842_6_f64.sqrt(), 1e-12);
}

#[test]
fn few_items_collide_in_pairs_only() {
    for items in [2.0, 1e-6 * 16_384.0, 100.0] {
        let error = relative_standard_error(Sketch::HyperLogLog, 1 << 14, items);
        assert_close(error * 128.0, 0.5f64.sqrt(), 0.01);
        let error = relative_standard_error(Sketch::UltraLogLog, 1 << 14, items);
        assert_close(error * 128.0, 0.5, 0.01);
    }
    assert_eq!(relative_standard_error(Sketch::HyperLogLog, 1 << 14, 0.0), 0.0);
}

#[test]
fn ultra_log_log_needs_28_percent_less_memory() {
    let bits = |estimator: pds_params::hll::CardinalityEstimator, bits: f64| {
        bits * estimator.error_constant().powi(2)
    };
    let saving = 1.0 - bits(UltraMaximumLikelihood, 8.0) / bits(MaximumLikelihood, 6.0);
    assert_close(saving, 0.2818, 1e-3);
}

#[test]
fn parameters_follow_from_error_or_memory() {
    let by_error = |error| HllParams::for_standard_error(Improved, error).map(HllParams::precision);
    assert_eq!(by_error(0.01), Ok(14));
    assert_eq!(by_error(0.0082), Ok(14));
    assert_eq!(by_error(0.0081), Ok(15));
    assert_eq!(by_error(0.9), Ok(4));
    assert!(matches!(by_error(0.001), Err(ParamError::TooLarge { .. })));
    for wrong in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(by_error(wrong), Err(ParamError::NotAProbability { .. })), "{wrong}");
    }
    let by_memory = |bytes| HllParams::for_memory(bytes).map(HllParams::precision);
    assert_eq!([by_memory(16), by_memory(4_096), by_memory(5_000)], [Ok(4), Ok(12), Ok(12)]);
    assert_eq!(by_memory(u64::MAX), Ok(18));
    assert!(by_memory(15).is_err() && by_memory(0).is_err());
}

#[test]
fn a_precision_out_of_range_is_named() {
    for precision in [0, 3, 19, u32::MAX] {
        let error = HllParams::new(precision).unwrap_err();
        assert!(error.to_string().starts_with("precision is"), "{error}");
    }
}

#[test]
fn sparse_limits_fall_with_the_precision() {
    let limits: Vec<u64> =
        (4..=18).map(|p| HllParams::new(p).unwrap().max_sparse_entries()).collect();
    assert!(limits.is_sorted() && limits[0] == 2, "{limits:?}");
}

#[test]
fn the_sparse_form_takes_less_than_the_dense_one() {
    for precision in 4..=18 {
        let params = HllParams::new(precision).unwrap();
        let sizes: Vec<[u64; 2]> = (0..=params.max_sparse_entries() + 1)
            .map(|items| [params.memory_bytes_at(items), params.packed_bytes_at(items)])
            .collect();
        let (last, sparse) = sizes.split_last().unwrap();
        assert_eq!(last, &[params.dense_bytes(), params.packed_bytes()]);
        assert!(sizes.is_sorted_by_key(|size| size[0]) && sparse[0] == [0, 0]);
        assert!(sparse.iter().all(|size| size[0] < last[0] && size[1] < last[1]));
    }
    let params = HllParams::new(12).unwrap();
    assert_eq!([1, 6, 41, 512].map(|items| params.memory_bytes_at(items)), [20, 40, 224, 3_488]);
    assert_eq!([1, 512, 513].map(|items| params.packed_bytes_at(items)), [4, 2_048, 3_072]);
    assert_eq!(params.memory_bytes_at(u64::MAX), 4_096);
}

#[test]
fn intervals_are_never_nan() {
    let params = HllParams::new(12).unwrap();
    let interval = |value, standard_error, confidence| {
        params.interval(Estimate { value, standard_error }, confidence).unwrap()
    };
    assert_eq!(interval(0.0, 0.0, 0.9), 0.0..=0.0);
    // One standard error of a tenth: n (1 - 0.1) = 1000 and n (1 + 0.1) = 1000.
    let one = interval(1_000.0, 100.0, 0.682_689_492_137_086);
    assert_close(*one.start(), 1_000.0 / 1.1, 1e-9);
    assert_close(*one.end(), 1_000.0 / 0.9, 1e-9);
    assert_eq!(interval(1.0, 2.0, 0.9).end(), &f64::INFINITY);
    // Full registers: (1 - e^(-n / 2^64))^4096 = 0.025.
    let full = interval(f64::INFINITY, f64::INFINITY, 0.95);
    let share = (-full.start() * 0.5f64.powi(64)).exp();
    assert_close((1.0 - share).powi(4_096), 0.025, 1e-9);
    assert_eq!(full.end(), &f64::INFINITY);
    assert_eq!(interval(f64::NAN, 1.0, 0.5), 0.0..=f64::INFINITY);
    assert_eq!(interval(1.0, f64::NAN, 0.5), 0.0..=f64::INFINITY);
    for wrong in [0.0, 1.0, f64::NAN] {
        let error = params.interval(params.estimate(Improved, 5.0), wrong).unwrap_err();
        assert!(matches!(error, ParamError::NotAProbability { parameter: "confidence", .. }));
    }
}

#[test]
fn quantiles_agree_with_tables() {
    for (confidence, z) in [
        (0.5, 0.674_489_750_196_082),
        (0.682_689_492_137_086, 1.0),
        (0.99, 2.575_829_303_548_901),
        (1.0 - 1e-6, 4.891_638_475_698_591),
    ] {
        assert_close(normal_quantile(confidence), z, 1e-9);
    }
    assert_eq!([normal_quantile(0.0), normal_quantile(1.0)], [0.0, f64::INFINITY]);
}
