//! Capacity of cuckoo filters: the measurements behind their sizes.
//!
//! Up to 256 items the probability of failure itself is measured. `--fills` sets how often each size is filled. For
//! more items the probability is too small to observe, and the distance of the design from failure is measured.

use crate::numbers::{mean_and_variance, real};
use crate::process::Outcome;
use clap::{Args, Subcommand, value_parser};
use comfy_table::{Table, presets};
use pds::CuckooFilter;
use pds::params::cuckoo::{least_buckets, most_items};
use pds_testkit::keys::random;
use pds_testkit::pipe;
use rayon::iter::{ParallelBridge, ParallelIterator};

/// Items of the small filters: all small numbers, then fewer.
const FEW: [u64; 26] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192,
    256,
];

/// Widths of fingerprints in bits.
const WIDTHS: [u32; 6] = [4, 5, 6, 8, 12, 16];

/// Buckets of the large filters. The last number is for ten million items.
const MANY: [u64; 6] = [128, 1_024, 4_096, 26_316, 263_158, 2_631_580];

/// The confidence of the printed upper bound of a failure rate.
const CONFIDENCE: f64 = 0.95;

/// Fills cuckoo filters, and shows how often those of the least size are full too early, and at which load any is full.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Fills filters of the least size for up to 256 items, and counts those that are full too early.
    Few {
        /// Fills of each size.
        #[arg(long, default_value_t = 1_000_000, value_parser = value_parser!(u64).range(1..))]
        fills: u64,
        /// The greatest number of items.
        #[arg(long, default_value_t = 256, value_parser = value_parser!(u64).range(1..))]
        items: u64,
        /// The seed of the random hashes.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Fills filters until an insert fails.
    Many {
        /// Fills of each size.
        #[arg(long, default_value_t = 200, value_parser = value_parser!(u32).range(1..))]
        fills: u32,
        /// The greatest number of buckets.
        #[arg(long, default_value_t = 263_158, value_parser = value_parser!(u64).range(128..))]
        buckets: u64,
    },
}

/// Fills, counts and prints.
///
/// # Errors
/// If standard output fails. A reader that has left is not an error.
pub(crate) fn run(options: &Options) -> Outcome {
    let (header, rows) = match options.part {
        Part::Few { fills, items: most, seed } => {
            let sizes = FEW.iter().rev().filter(|&&items| items <= most);
            let jobs = sizes.flat_map(|&items| WIDTHS.map(|bits| (items, bits)));
            let row = |&(items, bits): &(u64, u32)| few(items, bits, (fills, seed));
            (["items", "bits", "buckets", "fills", "failures", "probability below"], all(jobs, row))
        }
        Part::Many { fills, buckets } => {
            let sizes = MANY.iter().rev().filter(|&&size| size <= buckets);
            let jobs = sizes.flat_map(|&size| WIDTHS.map(|bits| (size, bits)));
            let row = |&(size, bits): &(u64, u32)| many(size, bits, fills);
            (["buckets", "bits", "mean", "deviation", "least", "design, margin"], all(jobs, row))
        }
    };
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header).add_rows(rows);
    Ok(pipe::print(format_args!("{table}\n"))?)
}

/// Returns the rows of all jobs in reverse order: the longest jobs are started first and shown last.
fn all<J: Send>(
    jobs: impl Iterator<Item = J> + Send,
    row: impl Fn(&J) -> [String; 6] + Sync,
) -> Vec<[String; 6]> {
    let jobs = jobs.enumerate().par_bridge();
    let mut rows: Vec<_> = jobs
        .map(|(index, job)| {
            let row = row(&job);
            eprintln!("{}", row.join("  "));
            (index, row)
        })
        .collect();
    rows.sort_unstable_by(|a, b| b.cmp(a));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn few(items: u64, bits: u32, (fills, seed): (u64, u64)) -> [String; 6] {
    let buckets = least_buckets(items, bits);
    let failures = failures(&mut filter(buckets, bits), items, fills, seed);
    let bound = format!("{:.1e}", most_events(failures) / real(fills));
    let [items, buckets, fills, failures] =
        [items, buckets, fills, failures].map(|number| number.to_string());
    [items, bits.to_string(), buckets, fills, failures, bound]
}

/// Counts the fills with this number of items that fail.
// All hashes are drawn, so that no fill depends on the end of the previous one.
fn failures(filter: &mut CuckooFilter, items: u64, fills: u64, seed: u64) -> u64 {
    let mut hashes = hashes(items, filter.fingerprint_bits(), seed);
    let mut fits = || {
        filter.clear();
        let mut insert = |hash| filter.insert_hash(hash).is_ok();
        (0..items).fold(true, |fits, _| insert(hashes.next().expect("endless")) && fits)
    };
    (0..fills).map(|_| u64::from(!fits())).sum()
}

/// Measures the loads at which the first insert failed, and shows them beside the promised load.
fn many(buckets: u64, bits: u32, fills: u32) -> [String; 6] {
    let mut filter = filter(buckets, bits);
    let mut hashes = hashes(buckets, bits, 0);
    let mut first_failure = || {
        filter.clear();
        while hashes.next().is_some_and(|hash| filter.insert_hash(hash).is_ok()) {}
        filter.load_factor()
    };
    let loads: Vec<f64> = (0..fills).map(|_| first_failure()).collect();
    let (mean, variance) = mean_and_variance(&loads);
    let deviation = variance.sqrt();
    let least = loads.iter().copied().fold(1.0, f64::min);
    let design = real(most_items(buckets, bits)) / real(4 * buckets);
    let margin = format!("{design:.4}, {:.1} deviations", (mean - design) / deviation);
    let [mean, deviation, least] =
        [(mean, 4), (deviation, 5), (least, 4)].map(|(value, digits)| format!("{value:.digits$}"));
    [buckets.to_string(), bits.to_string(), mean, deviation, least, margin]
}

fn filter(buckets: u64, bits: u32) -> CuckooFilter {
    let builder = CuckooFilter::builder().buckets(buckets).fingerprint_bits(bits);
    builder.build().expect("a shape of the list, and memory for it")
}

/// Returns random hashes, different ones for each size, width and seed.
fn hashes(size: u64, bits: u32, seed: u64) -> impl Iterator<Item = u64> {
    random(seed << 40 | size << 8 | u64::from(bits))
}

/// Returns the mean of a Poisson number that is above `count` with probability [`CONFIDENCE`].
fn most_events(count: u64) -> f64 {
    let at_most = |mean: f64| {
        let next = |term: &f64, index: u64| term * mean / real(index);
        let terms = (1..=count).scan((-mean).exp(), |term, index| {
            *term = next(term, index);
            Some(*term)
        });
        (-mean).exp() + terms.sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 10.0 + 3.0 * real(count));
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if at_most(middle) > 1.0 - CONFIDENCE { &mut low } else { &mut high }) = middle;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_the_tables() {
        // Half the 95 % quantiles of chi square with 2, 4 and 22 degrees of freedom.
        for (count, bound) in [(0, 2.996), (1, 4.744), (10, 16.962)] {
            assert!((most_events(count) - bound).abs() < 1e-3, "{count}");
        }
    }

    #[test]
    fn failures_are_seen() {
        assert_eq!(
            failures(&mut filter(1, 8), 5, 100, 0),
            100,
            "five keys in one bucket of four slots"
        );
        assert_eq!(failures(&mut filter(1, 8), 4, 100, 0), 0);
    }
}
