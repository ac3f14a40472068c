//! *How often?*, *which ones?* and *how many different ones?*: shapes, memory and errors of sketches.

use super::Answer;
use super::show::{share, table};
use crate::text::grouped;
use pds::params::compare::{
    CountNeeds, DistinctNeeds, HumanBytes, SketchRecommendation, recommend_counts,
    recommend_distinct,
};
use pds::params::hll::CardinalityEstimator::{
    self, Improved, Martingale, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood,
};
use pds::params::{CountMinParams, CountSketchParams, HeavyHittersParams, HllParams, ParamError};

const ESTIMATORS: [(CardinalityEstimator, &str); 5] = [
    (Improved, "HyperLogLog, estimate"),
    (MaximumLikelihood, "HyperLogLog, likelihood"),
    (Martingale, "HyperLogLog, martingale (unmerged)"),
    (UltraFgra, "UltraLogLog, estimate"),
    (UltraMaximumLikelihood, "UltraLogLog, likelihood"),
];

/// Count-min and count sketches that keep an error.
pub(super) fn counts(epsilon: f64, delta: f64, chosen: Option<&CountNeeds>) -> Answer {
    let rows = [
        count_min("count-min, as published", &CountMinParams::new(epsilon, delta)?),
        count_min("count-min, least memory", &CountMinParams::least_memory(epsilon, delta)?),
        count_sketch(&CountSketchParams::new(epsilon, delta)?),
    ];
    let table = format!(
        "Counts that err by more than {} of the total for {} of the keys at most\n\n{}\n\
         (The count sketch: of the root of the sum of squared counts, in either direction.)\n",
        share(epsilon),
        share(delta),
        table(&COUNTS, rows)
    );
    let choice = chosen.map(recommend_counts).transpose()?.map(recommended);
    Ok(table + &choice.unwrap_or_default())
}

/// The recommendation in words.
fn recommended(choice: Option<SketchRecommendation>) -> String {
    choice.map_or_else(
        || "\nNo single structure does all that: take two, side by side.\n".to_owned(),
        |choice| format!("\nRecommended: {choice}"),
    )
}

const COUNTS: [&str; 6] = ["sketch", "width", "depth", "u8 counters", "u32", "u64"];

fn count_min(name: &str, params: &CountMinParams) -> [String; 6] {
    let [u8, u32, u64] = [1, 4, 8].map(|bytes| HumanBytes(params.size_in_bytes(bytes)).to_string());
    [name.to_owned(), grouped(params.width()), params.depth().to_string(), u8, u32, u64]
}

fn count_sketch(params: &CountSketchParams) -> [String; 6] {
    let size = HumanBytes(8 * params.counters()).to_string();
    let (width, depth) = (grouped(params.width()), params.depth().to_string());
    ["count sketch".to_owned(), width, depth, String::new(), String::new(), size]
}

/// Sketches that count distinct keys with an error of at most `error`.
pub(super) fn cardinalities(error: f64, keys: Option<u64>, overlap: bool) -> Answer {
    let sized = |&(estimator, name): &(_, &str)| {
        let params = HllParams::for_standard_error(estimator, error)?;
        Ok(cardinality(name, estimator, params))
    };
    let rows = ESTIMATORS.iter().map(sized).collect::<Result<Vec<_>, ParamError>>()?;
    let title = format!("Distinct keys with a standard error of {} at most\n\n", share(error));
    let needs = keys.map(|keys| DistinctNeeds { keys, standard_error: error, overlap });
    let choice = needs.as_ref().map(recommend_distinct).transpose()?.map(recommended);
    Ok(title + &table(&CARDINALITIES, rows) + "\n" + &choice.unwrap_or_default())
}

const CARDINALITIES: [&str; 6] =
    ["sketch, estimator", "precision", "memory", "in bytes", "standard error", "95 % within"];

fn cardinality(name: &str, estimator: CardinalityEstimator, params: HllParams) -> [String; 6] {
    let error = params.standard_error(estimator);
    // An UltraLogLog is written as it is, a HyperLogLog with six bits a register.
    let written = match estimator {
        UltraFgra | UltraMaximumLikelihood => params.dense_bytes(),
        _ => params.packed_bytes(),
    };
    [
        name.to_owned(),
        params.precision().to_string(),
        HumanBytes(params.dense_bytes()).to_string(),
        HumanBytes(written).to_string(),
        share(error),
        share(1.96 * error),
    ]
}

/// How many keys to track to miss none above `share_of_total`.
pub(super) fn heavy_hitters(share_of_total: f64) -> Answer {
    let params = HeavyHittersParams::new(share_of_total)?;
    Ok(format!(
        "Every key above {} of the stream: {} counters, each count too high by {} of the total at most.\n",
        share(share_of_total),
        grouped(params.capacity()),
        share(params.epsilon())
    ))
}

/// What sketches of so many bytes can do.
pub(super) fn in_memory(bytes: u64, delta: f64) -> Answer {
    let params = HllParams::for_memory(bytes)?;
    let rows = ESTIMATORS.iter().map(|&(estimator, name)| cardinality(name, estimator, params));
    let counters = [(1, "u8"), (4, "u32"), (8, "u64")];
    let counts = counters.iter().map(|&(size, name)| {
        let params = CountMinParams::for_memory(bytes, size, delta)?;
        let (width, depth) = (grouped(params.width()), params.depth().to_string());
        Ok([name.to_owned(), width, depth, share(params.epsilon())])
    });
    let counts = counts.collect::<Result<Vec<_>, ParamError>>()?;
    Ok(format!(
        "Distinct keys in {size}\n\n{}\n\nCount-min sketches in {size}, by more for {} of the keys\n\n{}\n",
        table(&CARDINALITIES, rows),
        share(delta),
        table(&["counters", "width", "depth", "error, of the total"], counts),
        size = HumanBytes(bytes),
    ))
}
