//! Count sketches: their estimates are unbiased, and spread no more than a row does.

use super::{ITEMS, NAME, SKETCH_EVENTS};
use crate::validate::cardinality::{ESTIMATE_SPREAD, MEAN_ESTIMATE};
use crate::validate::judge::{Case, Law, Measurement, real};
use crate::validate::schedule::Progress;
use pds::CountSketch;
use pds::hash::DefaultHashBuilder;
use pds::params::CountSketchParams;
use pds_testkit::zipf::{Zipf, counts};

/// A count sketch's estimates of one key a sketch, as multiples of the truth.
pub(super) fn count_sketch(
    exponent: f64,
    sketches: u64,
    seed: u64,
    progress: &Progress,
) -> Vec<Measurement> {
    const EVENTS: usize = SKETCH_EVENTS;
    const FREQUENT: u64 = 5_000;
    let params = CountSketchParams::from_width_and_depth(500, 5).expect("a sound shape");
    let zipf = Zipf::new(ITEMS, exponent);
    let mut ratios = Vec::new();
    let ranks: Vec<_> = zipf.stream(seed).take(EVENTS).collect();
    for sketch in 0..sketches {
        let hasher = DefaultHashBuilder::with_seed(seed ^ sketch);
        let mut sketch = CountSketch::from_params(params, hasher).expect("memory");
        ranks.iter().for_each(|&rank| {
            sketch.insert(&(rank as u64));
        });
        // A key that the stream does not hold.
        sketch.insert_many(&u64::MAX, FREQUENT);
        #[expect(clippy::cast_precision_loss, reason = "counts of a run stay below 2^53")]
        ratios.push(sketch.estimate(&u64::MAX).value() as f64 / real(FREQUENT));
        progress.advance(EVENTS as u64);
    }
    let count = real(sketches);
    let mean = ratios.iter().sum::<f64>() / count;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let law = Law::around(1.0, (variance / count).sqrt());
    let squares: u64 = counts(ITEMS, &ranks).iter().map(|count| count * count).sum();
    let row = params.standard_error_of_a_row(real(squares)) / real(FREQUENT);
    let spread = ratios.iter().map(|ratio| (ratio - 1.0).powi(2)).sum::<f64>() / count;
    // A median of rows errs less than one row does.
    let spread_law = Law::at_most(1.0, 1.0 / (2.0 * count).sqrt());
    let shape = format!("count sketch 500 x 5, Zipf {exponent}");
    let case = Case::random(NAME, EVENTS as u64, params.delta(), shape);
    let case = Case { keys: "random order", instances: sketches, ..case };
    vec![
        case.row(MEAN_ESTIMATE, law, mean, count),
        case.row(ESTIMATE_SPREAD, spread_law, spread.sqrt() / row, count),
    ]
}
