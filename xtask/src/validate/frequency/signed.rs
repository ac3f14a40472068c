//! Count sketches: their estimates are unbiased, and spread no more than a row does.

use super::{ITEMS, NAME, SKETCH_EVENTS};
use crate::validate::cardinality::{ESTIMATE_SPREAD, MEAN_ESTIMATE};
use crate::validate::prelude::*;
use pds::CountSketch;
use pds::hash::DefaultHashBuilder;
use pds::params::CountSketchParams;
use pds_testkit::zipf::{Zipf, counts};

/// A count sketch's estimates of one key a sketch, as multiples of the truth.
pub(super) fn count_sketch(exponent: f64, sketches: u64, seed: u64) -> Vec<Measurement> {
    const FREQUENT: u64 = 5_000;
    let params = CountSketchParams::from_width_and_depth(500, 5).expect("a sound shape");
    let ranks: Vec<_> = Zipf::new(ITEMS, exponent).stream(seed).take(SKETCH_EVENTS).collect();
    let ratio = |sketch| {
        let hasher = DefaultHashBuilder::with_seed(seed ^ sketch);
        let mut sketch = CountSketch::from_params(params, hasher).expect("memory");
        ranks.iter().for_each(|&rank| _ = sketch.insert(&(rank as u64)));
        // A key that the stream does not hold.
        sketch.insert_many(&u64::MAX, FREQUENT);
        #[expect(clippy::cast_precision_loss, reason = "counts of a run stay below 2^53")]
        let estimate = sketch.estimate(&u64::MAX).value() as f64;
        estimate / real(FREQUENT)
    };
    let ratios: Vec<f64> = (0..sketches).map(ratio).collect();
    let (count, (mean, variance)) = (real(sketches), mean_and_variance(&ratios));
    let law = Law::around(1.0, (variance / count).sqrt());
    let squares: u64 = counts(ITEMS, &ranks).iter().map(|count| count * count).sum();
    let row = params.standard_error_of_a_row(real(squares)) / real(FREQUENT);
    let spread = ratios.iter().map(|ratio| (ratio - 1.0).powi(2)).sum::<f64>() / count;
    // A median of rows errs less than one row does.
    let spread_law = Law::at_most(1.0, 1.0 / (2.0 * count).sqrt());
    let shape = format!("count sketch 500 x 5, Zipf {exponent}");
    let case = Case::random(NAME, SKETCH_EVENTS as u64, params.delta(), shape).of(sketches);
    let case = Case { keys: "random order", ..case };
    vec![
        case.row(MEAN_ESTIMATE, law, mean, count),
        case.row(ESTIMATE_SPREAD, spread_law, spread.sqrt() / row, count),
    ]
}
