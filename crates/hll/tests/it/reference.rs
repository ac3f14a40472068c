//! Measured errors, compared with tables from simulations that share no code with this crate.
//!
//! `data/reference.json` holds, for many precisions and numbers of keys, the errors of the improved, the likelihood and the
//! martingale estimator, those of overlaps, products of memory and variance, and limits of acceptance.
#![cfg(feature = "std")]

use crate::errors::{Errors, limit};
use hll::{HllParams, HyperLogLog, UltraLogLog};
use pds_params::hll::CardinalityEstimator::{
    self, Improved, Martingale, MaximumLikelihood, UltraMaximumLikelihood,
};
use pds_testkit::keys;
use serde_json::Value;

fn table(name: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../data/reference.json")).unwrap();
    all[name].as_array().unwrap().clone()
}

fn number(point: &Value, name: &str) -> f64 {
    point[name].as_f64().unwrap_or_else(|| panic!("{name} in {point}"))
}

fn whole(point: &Value, name: &str) -> usize {
    usize::try_from(point[name].as_u64().unwrap()).unwrap()
}

fn precision(point: &Value) -> u32 {
    u32::try_from(whole(point, "p")).unwrap()
}

fn registers(point: &Value) -> f64 {
    f64::from(1u32 << precision(point))
}

/// The errors of three estimators, at the numbers of keys of these points, all of one precision; dense from the first key on.
fn measure(points: &[&Value], runs: u64) -> Vec<[Errors; 3]> {
    let mut errors: Vec<[Errors; 3]> = points.iter().map(|_| Default::default()).collect();
    for run in 0..runs {
        let mut sketch = HyperLogLog::new(precision(points[0])).unwrap();
        sketch.make_dense();
        let mut stream = keys::random(run);
        let mut inserted = 0;
        for (point, errors) in points.iter().zip(&mut errors) {
            let size = whole(point, "n");
            sketch.extend(stream.by_ref().take(size - inserted));
            inserted = size;
            errors[0].add(sketch.estimate(), size as f64);
            errors[1].add(sketch.estimate_by_likelihood(), size as f64);
            errors[2].add(sketch.martingale_estimate().unwrap(), size as f64);
        }
    }
    errors
}

/// The points of a table at a precision, up to so many keys, ascending.
fn points_at(table: &[Value], p: u32, most: usize) -> Vec<&Value> {
    let mut points: Vec<_> =
        table.iter().filter(|&point| precision(point) == p && whole(point, "n") <= most).collect();
    points.sort_by_key(|&point| whole(point, "n"));
    assert!(points.len() >= 3, "{} points at precision {p}", points.len());
    points
}

/// Checks that two errors agree up to `slack`, given their relative standard errors.
#[track_caller]
fn assert_agree(measured: f64, expected: f64, spreads: [f64; 2], slack: f64, what: &str) {
    let deviation = (measured / expected).ln().abs();
    let allowed = limit() * spreads[0].hypot(spreads[1]) + slack;
    println!("{what}: {measured:.5}, elsewhere {expected:.5}, allowed {allowed:.3}");
    assert!(deviation < allowed, "{what}: {measured}, elsewhere {expected}");
}

#[test]
fn errors_of_state_are_those_of_the_table() {
    const RUNS: u64 = 2_000;
    let table = table("accuracy");
    // Below 256 registers errors are far from normal, and their standard deviation varies more.
    for (p, slack) in [(4, 0.15), (6, 0.06), (8, 0.01), (10, 0.01)] {
        let points = points_at(&table, p, 20_000);
        for (point, errors) in points.iter().zip(measure(&points, RUNS)) {
            let what = |name: &str| format!("{name} of {} at precision {p}", whole(point, "n"));
            let spreads = [1.0 / (2.0 * RUNS as f64).sqrt(), number(point, "mc_error")];
            // The table's improved estimator has the constant of infinitely many registers, which is 1 + 1.079 / m times ours.
            let finite = 1.0 + 1.079 / registers(point);
            let expected = number(point, "improved_rse") / finite;
            let measured = errors[0].standard_deviation();
            assert_agree(measured, expected, spreads, slack, &what("improved"));
            let mean = (1.0 + number(point, "improved_bias")) / finite - 1.0;
            let spread = (expected / (RUNS as f64).sqrt()).hypot(expected / 3_000f64.sqrt());
            let bias = errors[0].bias();
            assert!((bias - mean).abs() < limit() * spread, "{}: {bias}, {mean}", what("bias"));
            // Ours divides by its own bias, about 1 + 1.01 / m.
            let expected = number(point, "ml_rse") / (1.0 + 1.01 / registers(point));
            let measured = errors[1].standard_deviation();
            assert_agree(measured, expected, spreads, slack, &what("likelihood"));
        }
    }
}

#[test]
fn predicted_errors_are_those_of_the_table() {
    let predicted = |point: &Value, estimator: CardinalityEstimator| {
        let params = HllParams::new(precision(point)).unwrap();
        params.standard_error_at(estimator, number(point, "n"))
    };
    let points = table("accuracy");
    let enough: Vec<_> = points.iter().filter(|&point| precision(point) >= 8).collect();
    assert!(enough.len() > 60, "only {} points", enough.len());
    for point in enough {
        let spreads = [number(point, "mc_error"), 0.0];
        // Theory is for many registers.
        let slack = 0.01 + 5.0 / registers(point);
        for (estimator, name) in [(Improved, "improved_rse"), (MaximumLikelihood, "ml_rse")] {
            let what = format!("{name} at {point}");
            assert_agree(predicted(point, estimator), number(point, name), spreads, slack, &what);
        }
    }
}

#[test]
fn errors_of_the_martingale_are_those_of_the_table() {
    const RUNS: u64 = 1_000;
    let table = table("martingale");
    for p in [8, 10, 12] {
        let points = points_at(&table, p, 30_000);
        for (point, errors) in points.iter().zip(measure(&points, RUNS)) {
            let what = format!("martingale of {} at precision {p}", whole(point, "n"));
            let spreads =
                [RUNS as f64, number(point, "trials")].map(|runs| 1.0 / (2.0 * runs).sqrt());
            let measured = errors[2].root_mean_square();
            assert_agree(measured, number(point, "rmse"), spreads, 0.01, &what);
            assert!(errors[2].bias().abs() < limit() * measured / (RUNS as f64).sqrt(), "{what}");
        }
    }
}

/// Errors of the overlap of sets that have `only` keys each alone, and `both` in common.
fn overlap_errors(precision: u32, [left, right, both]: [usize; 3], runs: u64) -> (Errors, f64) {
    let mut errors = Errors::default();
    let mut scores = 0.0;
    for run in 0..runs {
        let mut stream = keys::random(run);
        let mut sketch = |common: &[u64], only: usize| {
            let mut sketch = HyperLogLog::new(precision).unwrap();
            sketch.insert_batch(common);
            sketch.extend(stream.by_ref().take(only));
            sketch
        };
        let common: Vec<u64> = keys::random(!run).take(both).collect();
        let (a, b) = (sketch(&common, left), sketch(&common, right));
        let estimate = a.intersection_estimate(&b).unwrap();
        errors.add(estimate.value, both as f64);
        scores += ((estimate.value - both as f64) / estimate.standard_error).powi(2);
    }
    (errors, (scores / runs as f64).sqrt())
}

#[test]
fn errors_of_overlaps_are_those_of_the_table() {
    for point in table("overlaps") {
        let parts = ["left", "right", "both"].map(|part| whole(&point, part));
        let (errors, score) = overlap_errors(precision(&point), parts, 120);
        let spread = 1.0 / (2.0 * number(&point, "trials")).sqrt();
        let (joint, exclusion) = (number(&point, "joint"), number(&point, "exclusion"));
        let error = errors.root_mean_square();
        let what = format!("{parts:?}, in own standard errors {score:.2}");
        // Small overlaps are limited to 0, so their errors are not normal.
        assert_agree(error, joint, [1.0 / 240f64.sqrt(), spread], 0.05, &what);
        assert!(exclusion < 1.5 * joint || error < 0.85 * exclusion, "{what}: {error}");
        assert!(joint > 0.3 || (0.75..1.3).contains(&score), "{what}");
    }
}

#[test]
fn overlaps_of_small_sets_are_near_exact() {
    let (errors, _) = overlap_errors(14, [500, 400, 30], 50);
    assert!(errors.root_mean_square() < 0.01, "{}", errors.root_mean_square());
}

/// The memory in bits per register, as written, times the variance by theory: 28 % less at equal error, by maximum likelihood.
#[test]
fn products_of_memory_and_variance_are_those_of_the_table() {
    let mut plain = HyperLogLog::new(12).unwrap();
    plain.make_dense();
    let mut ultra = UltraLogLog::new(12).unwrap();
    ultra.extend(0..4_096u32);
    let payload_bits = |bytes: Vec<u8>| (bytes.len() - 136) as f64 * 8.0 / 4_096.0;
    let of = |name: &str| table("memory_variance").into_iter().find(|p| p["name"] == name).unwrap();
    let products = [
        ("HLL 6 bit", payload_bits(plain.to_bytes()), MaximumLikelihood),
        ("HLL 8 bit", plain.size_in_bytes() as f64 * 8.0 / 4_096.0, MaximumLikelihood),
        ("ULL", payload_bits(ultra.to_bytes()), UltraMaximumLikelihood),
    ];
    for (name, bits, estimator) in products {
        let point = of(name);
        assert_eq!(bits, number(&point, "register_bits"), "{name}");
        let product = bits * estimator.error_constant().powi(2);
        assert!((product / number(&point, "mvp_ml") - 1.0).abs() < 1e-5, "{name}: {product}");
    }
    let product = 6.0 * Martingale.error_constant().powi(2);
    assert!((product / number(&of("HLL 6 bit"), "mvp_martingale") - 1.0).abs() < 1e-5);
    let saving = 1.0 - number(&of("ULL"), "mvp_ml") / number(&of("HLL 6 bit"), "mvp_ml");
    assert!((saving - 0.28).abs() < 0.005, "{saving}");
}

/// The limits that these tests apply, against exact quantiles of the chi-square law.
#[test]
fn limits_of_acceptance_are_those_of_the_table() {
    for point in table("acceptance") {
        let trials = number(&point, "trials");
        let bias = limit() / trials.sqrt();
        assert!((bias / number(&point, "bias_limit_in_rse") - 1.0).abs() < 1e-4, "{point}");
        let spread = limit() / (2.0 * trials).sqrt();
        let exact = [number(&point, "rms_ratio_min"), number(&point, "rms_ratio_max")];
        // The exact limits are not quite symmetrical: the logarithm is not quite normal.
        let slack = 1.4 / trials.sqrt();
        for (limit, exact) in [-spread, spread].into_iter().zip(exact.map(f64::ln)) {
            assert!((limit / exact - 1.0).abs() < slack, "{point}: {limit}, {exact}");
        }
    }
}
