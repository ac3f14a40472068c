//! Distinct keys: the errors of HyperLogLog in its two best-known sizes.

use super::{Figure, Row, Rows};
use core::error::Error;
use pds::HyperLogLog;
use pds::compare::HumanCount;
use pds::params::HllParams;
use pds_testkit::keys::random;

/// Measures the errors at a number of distinct keys, over a number of sketches.
pub(super) fn rows(items: u64, sketches: u64) -> Rows {
    let redis = "Redis, documentation of the command PFCOUNT (12 KB)";
    let flajolet = "Flajolet, Fusy, Gandouet, Meunier, \"HyperLogLog\", 2007, abstract (1.5 KB)";
    [(14, "0.81 %", redis), (11, "2 %", flajolet)]
        .into_iter()
        .map(|(precision, published, source)| {
            let bytes = HumanCount(HllParams::new(precision)?.packed_bytes());
            let case =
                format!("{} distinct keys, HyperLogLog of {bytes} bytes: error", HumanCount(items));
            Ok(Row {
                case,
                published,
                source: Some(source),
                measured: error(precision, items, sketches)?,
            })
        })
        .collect()
}

fn error(precision: u32, items: u64, sketches: u64) -> Result<Figure, Box<dyn Error>> {
    let mut squares = 0.0;
    for seed in 0..sketches {
        let error = estimate(precision, items, seed)? / items as f64 - 1.0;
        squares += error * error;
    }
    let value = (squares / sketches as f64).sqrt();
    // The root mean square of n normal errors has a relative standard deviation of 1 / sqrt(2 n).
    Ok(Figure::Error { value, standard_error: value / (2.0 * sketches as f64).sqrt() })
}

fn estimate(precision: u32, items: u64, seed: u64) -> Result<f64, Box<dyn Error>> {
    let mut sketch = HyperLogLog::new(precision)?;
    let mut keys = random(seed).take(usize::try_from(items)?).peekable();
    let mut block = Vec::with_capacity(1 << 12);
    while keys.peek().is_some() {
        block.clear();
        block.extend(keys.by_ref().take(block.capacity()));
        sketch.insert_batch(&block);
    }
    Ok(sketch.estimate())
}
