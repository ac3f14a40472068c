//! *How often?*, *which ones?* and *how many different ones?*: shapes, memory and errors of sketches.

use super::Answer;
use super::show::{share, table};
use core::fmt::Write;
use pds::compare::{
    CountNeeds, DistinctNeeds, HumanBytes, HumanCount, SketchRecommendation, recommend_counts,
    recommend_distinct,
};
use pds::params::hll::CardinalityEstimator::{
    self, Improved, Martingale, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood,
};
use pds::params::hll::{MAX_PRECISION, SPARSE_PRECISION, Sketch, relative_standard_error};
use pds::params::{CountMinParams, CountSketchParams, HeavyHittersParams, HllParams, ParamError};

const ESTIMATORS: [(CardinalityEstimator, &str); 5] = [
    (Improved, "HyperLogLog, estimate"),
    (MaximumLikelihood, "HyperLogLog, likelihood"),
    (Martingale, "HyperLogLog, martingale"),
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
        "Counts that err by more than {} of the total for {} of the keys at most\n\n{}\n{OF_THE_NORM}",
        share(epsilon),
        share(delta),
        table(&COUNTS, rows)
    );
    let choice = chosen.map(recommend_counts).transpose()?.map(recommended);
    Ok(table + &choice.unwrap_or_default())
}

const OF_THE_NORM: &str = "(The count sketch: of the norm, the root of the sum of squared counts, in either direction.)\n";

/// The recommendation in words.
fn recommended(choice: Option<SketchRecommendation>) -> String {
    choice.map_or_else(
        || "\nNo single structure does all that: take two, side by side.\n".to_owned(),
        |choice| format!("\nRecommended: {choice}"),
    )
}

const COUNTS: [&str; 6] = ["sketch", "width", "depth", "as u8", "u32", "u64"];

fn count_min(name: &str, params: &CountMinParams) -> [String; 6] {
    let [u8, u32, u64] = [1, 4, 8].map(|bytes| HumanBytes(params.size_in_bytes(bytes)).to_string());
    [
        name.to_owned(),
        HumanCount(params.width()).to_string(),
        params.depth().to_string(),
        u8,
        u32,
        u64,
    ]
}

fn count_sketch(params: &CountSketchParams) -> [String; 6] {
    let size = HumanBytes(8 * params.counters()).to_string();
    let (width, depth) = (HumanCount(params.width()).to_string(), params.depth().to_string());
    ["count sketch".to_owned(), width, depth, String::new(), String::new(), size]
}

/// Sketches that count distinct keys with an error of at most `error`, and those that cannot.
pub(super) fn cardinalities(error: f64, keys: Option<u64>, overlap: bool) -> Answer {
    let (mut rows, mut others) = (Vec::new(), String::new());
    for (estimator, name) in ESTIMATORS {
        let least = most_precise()?.standard_error(estimator);
        if least > error {
            writeln!(others, "No {name}: it errs by at least {}.", share(least))?;
        } else {
            let params = HllParams::for_standard_error(estimator, error)?;
            rows.push(cardinality(name, estimator, params, None));
        }
    }
    if rows.is_empty() {
        return Err(too_exact(error)?.into());
    }
    let title = format!("Distinct keys with a standard error of {} at most\n\n", share(error));
    let needs = keys.map(|keys| DistinctNeeds { keys, standard_error: error, overlap });
    let choice = needs.as_ref().map(recommend_distinct).transpose()?.map(recommended);
    Ok(title
        + &table(&CARDINALITIES, rows)
        + OF_ESTIMATORS
        + "\n"
        + &others
        + &super::others::theta(error)
        + &choice.unwrap_or_default())
}

fn most_precise() -> Result<HllParams, ParamError> {
    HllParams::new(MAX_PRECISION)
}

/// The answer to an error that is below the reach of all sketches.
fn too_exact(error: f64) -> Result<String, ParamError> {
    let params = most_precise()?;
    let of = |&(estimator, name): &(_, &'static str)| (params.standard_error(estimator), name);
    let all = ESTIMATORS.iter().map(of);
    let (least, name) =
        all.fold((f64::INFINITY, ""), |best, next| if next.0 < best.0 { next } else { best });
    Ok(format!(
        "no sketch here errs by {} or less: the least is {}, by {name} in {}; a hash set is exact",
        share(error),
        share(least),
        HumanBytes(params.dense_bytes())
    ))
}

/// The memory and the error of a sketch of this precision, at so many keys or at many.
pub(super) fn of_precision(precision: u32, items: Option<u64>) -> Answer {
    let params = HllParams::new(precision)?;
    let rows =
        ESTIMATORS.iter().map(|&(estimator, name)| cardinality(name, estimator, params, items));
    let keys = items
        .map_or_else(|| "Distinct keys".to_owned(), |n| format!("{} distinct keys", HumanCount(n)));
    let registers = HumanCount(params.num_registers());
    Ok(format!(
        "{keys} in {registers} registers\n\n{}{OF_ESTIMATORS}\n",
        table(&CARDINALITIES, rows)
    ))
}

const CARDINALITIES: [&str; 6] =
    ["sketch, estimator", "p", "memory", "stored", "error", "95 % within"];

const OF_ESTIMATORS: &str = "\np: the precision. error: the relative standard error. martingale: of a sketch that was never merged.";

fn cardinality(
    name: &str,
    estimator: CardinalityEstimator,
    params: HllParams,
    items: Option<u64>,
) -> [String; 6] {
    let error = error_at(estimator, params, items);
    let items = items.unwrap_or(u64::MAX);
    let [memory, written] = match estimator {
        UltraFgra | UltraMaximumLikelihood => [params.dense_bytes(), params.ultra_bytes_at(items)],
        _ => [params.memory_bytes_at(items), params.packed_bytes_at(items)],
    };
    [
        name.to_owned(),
        params.precision().to_string(),
        HumanBytes(memory).to_string(),
        HumanBytes(written).to_string(),
        share(error),
        share(1.96 * error),
    ]
}

/// The standard error at so many keys, or at many; a sparse HyperLogLog has the registers of a far higher precision.
fn error_at(estimator: CardinalityEstimator, params: HllParams, items: Option<u64>) -> f64 {
    let is_ultra = matches!(estimator, UltraFgra | UltraMaximumLikelihood);
    match items {
        Some(items) if !is_ultra && items <= params.max_sparse_entries() => {
            relative_standard_error(Sketch::HyperLogLog, 1 << SPARSE_PRECISION, items as f64)
        }
        Some(items) => params.standard_error_at(estimator, items as f64),
        None => params.standard_error(estimator),
    }
}

/// How many keys to track to miss none above `share_of_total`, and how many there is room for.
pub(super) fn heavy_hitters(share_of_total: f64, bytes: Option<u64>) -> Answer {
    let least = HeavyHittersParams::new(share_of_total)?;
    let needs = least.capacity();
    let params = match bytes.map(HeavyHittersParams::for_memory).transpose()? {
        Some(room) if room.capacity() < needs => {
            let size = HumanBytes(least.memory_bytes());
            return Err(format!("{} keys of 8 bytes take {size}", HumanCount(needs)).into());
        }
        Some(room) => HeavyHittersParams::with_capacity(share_of_total, room.capacity())?,
        None => least,
    };
    Ok(format!("Every key above {} of the stream: {}", share(share_of_total), tracked(&params)))
}

fn tracked(params: &HeavyHittersParams) -> String {
    format!(
        "{} keys of 8 bytes in about {}, each count too high by {} of the total at most.\n",
        HumanCount(params.capacity()),
        HumanBytes(params.memory_bytes()),
        share(params.epsilon())
    )
}

/// The promises of a shape, as a count-min sketch and as a count sketch.
pub(super) fn of_shape(width: u64, depth: u32) -> Answer {
    let count_min_params = CountMinParams::from_width_and_depth(width, depth)?;
    let count_params = CountSketchParams::from_width_and_depth(width, depth)?;
    let errors = [
        (count_min_params.epsilon(), count_min_params.delta()),
        (count_params.epsilon(), count_params.delta()),
    ];
    let cells = [count_min("count-min", &count_min_params), count_sketch(&count_params)];
    let rows = cells.into_iter().zip(errors).map(|([name, _, _, sizes @ ..], (epsilon, delta))| {
        [name].into_iter().chain(sizes).chain([share(epsilon), share(delta)])
    });
    let header = [&COUNTS[..1], &COUNTS[3..], &["error", "more for"]].concat();
    Ok(format!(
        "Counts in {depth} rows of {}\n\n{}\n{OF_THE_NORM}",
        HumanCount(width),
        table(&header, rows)
    ))
}

/// The bytes of a counter, and what it is called.
const COUNTERS: [(u64, &str); 3] = [(1, "u8"), (4, "u32"), (8, "u64")];

/// For how many keys a count-min sketch of so many bytes errs by more than `epsilon`.
pub(super) fn counts_in_memory(bytes: u64, epsilon: f64) -> Answer {
    let rows = count_min_rows(
        |counter| CountMinParams::least_delta(bytes, counter, epsilon),
        CountMinParams::delta,
    )?;
    Ok(format!(
        "Count-min sketches in {}, for counts that err by more than {} of the total\n\n{}\n",
        HumanBytes(bytes),
        share(epsilon),
        table(&["counters", "width", "depth", "for this share of the keys"], rows)
    ))
}

/// A row for each width of counters that has room.
fn count_min_rows(
    params: impl Fn(u64) -> Result<CountMinParams, ParamError>,
    tells: impl Fn(&CountMinParams) -> f64,
) -> Result<Vec<[String; 4]>, ParamError> {
    let row = |(size, name): (u64, &str)| {
        let params = params(size)?;
        let (width, depth) = (HumanCount(params.width()).to_string(), params.depth().to_string());
        Ok([name.to_owned(), width, depth, share(tells(&params))])
    };
    // The narrowest counters have room where any have.
    let first = row(COUNTERS[0])?;
    Ok(core::iter::once(first)
        .chain(COUNTERS.into_iter().skip(1).map(row).filter_map(Result::ok))
        .collect())
}

/// The promises of sketches of so many bytes.
pub(super) fn in_memory(bytes: u64, delta: f64) -> Answer {
    let distinct = HllParams::for_memory(bytes)?;
    let cells = |&(estimator, name): &(_, &str)| cardinality(name, estimator, distinct, None);
    let counts = count_min_rows(
        |counter| CountMinParams::for_memory(bytes, counter, delta),
        CountMinParams::epsilon,
    )?;
    let count = CountSketchParams::for_memory(bytes, delta)?;
    let heavy = HeavyHittersParams::for_memory(bytes).map_or_else(
        |error| format!("No summary of heavy hitters: {error}.\n"),
        |params| {
            format!("Every key above {} of a stream: {}", share(params.phi()), tracked(&params))
        },
    );
    Ok(format!(
        "Distinct keys in {size}\n\n{}{OF_ESTIMATORS}\n\nCount-min sketches in {size}, by more for {delta} of the keys\n\n{}\n\n\
         A count sketch of {} rows of {}: off by {} of the norm, by more for {delta} of the keys.\n{OF_THE_NORM}\n{heavy}",
        table(&CARDINALITIES, ESTIMATORS.iter().map(cells)),
        table(&["counters", "width", "depth", "error, of the total"], counts),
        count.depth(),
        HumanCount(count.width()),
        share(count.epsilon()),
        size = HumanBytes(bytes),
        delta = share(delta),
    ))
}
