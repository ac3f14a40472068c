//! `cargo xtask params`: how large, how wrong, and which one, before anything is built.

mod filters;
mod parse;
mod plot;
mod published;
mod show;
mod sketches;

use crate::process::Outcome;
use clap::Args;
use core::error::Error;
use pds::params::compare::{Abilities, Ability, CountNeeds, Needs, Priority};

/// Sizes, error rates and a choice of structure, from any two of items, rate and memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cargo xtask params --items 10e6 --rate 1%
  cargo xtask params --items 10e6 --rate 0.1% --remove
  cargo xtask params --items 10e6 --memory 64MiB
  cargo xtask params --memory 64MiB --rate 1%
  cargo xtask params --epsilon 0.001 --delta 1%     how often?
  cargo xtask params --epsilon 0.001 --items 10e6 --total 1e9 [--list] [--unbiased] [--remove]
  cargo xtask params --error 1%                     how many different ones?
  cargo xtask params --error 1% --items 1e9 [--overlap]
  cargo xtask params --share 1%                     which ones most often?
  cargo xtask params --published                    well-known figures, recomputed")]
pub(crate) struct Options {
    /// Distinct keys: 10e6, 10M or 10_000_000
    #[arg(long, value_name = "N", value_parser = parse::count)]
    items: Option<u64>,
    /// False-positive rate: 1% or 0.01
    #[arg(long, value_name = "RATE", value_parser = parse::fraction)]
    rate: Option<f64>,
    /// Memory: 64MiB, 1.5GB or a number of bytes
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
    memory: Option<u64>,
    /// Keys have to be removed
    #[arg(long)]
    remove: bool,
    /// Filters have to be merged
    #[arg(long)]
    merge: bool,
    /// It has to tell how often a key was inserted
    #[arg(long)]
    count: bool,
    /// It has to keep its rate beyond the number of items
    #[arg(long)]
    grow: bool,
    /// Time counts more than memory
    #[arg(long)]
    fast: bool,
    /// Count-min: error of a count, as a share of the total
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction)]
    epsilon: Option<f64>,
    /// Count-min: share of keys whose count may err by more
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction, default_value = "1%")]
    delta: f64,
    /// HyperLogLog: relative standard error of the number of distinct keys
    #[arg(long, value_name = "ERROR", value_parser = parse::fraction)]
    error: Option<f64>,
    /// Counts: their sum, at most; 2^64 - 1 unless given
    #[arg(long, value_name = "N", value_parser = parse::count)]
    total: Option<u64>,
    /// Counts have to be right in the mean, and not from above
    #[arg(long)]
    unbiased: bool,
    /// The most frequent keys have to be listed
    #[arg(long)]
    list: bool,
    /// Sets are asked what they have in common
    #[arg(long)]
    overlap: bool,
    /// Heavy hitters: every key above this share of the stream
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction)]
    share: Option<f64>,
    /// Well-known figures of the field, right and wrong, recomputed
    #[arg(long)]
    published: bool,
}

/// What a request answers with.
type Answer = Result<String, Box<dyn Error>>;

/// Prints what the options ask for.
///
/// # Errors
/// When too little is asked, or what no structure can give.
pub(crate) fn run(options: &Options) -> Outcome {
    println!("{}", answer(options)?);
    Ok(())
}

fn answer(options: &Options) -> Answer {
    let answers = [
        membership(options).transpose()?,
        options.epsilon.map(|epsilon| counts(options, epsilon)).transpose()?,
        options.error.map(|error| distinct(options, error)).transpose()?,
        options.share.map(sketches::heavy_hitters).transpose()?,
        options.published.then(published::table).transpose()?,
    ];
    let answers: Vec<_> = answers.into_iter().flatten().collect();
    if answers.is_empty() {
        return Err("two of --items, --rate and --memory are needed; see --help for more".into());
    }
    Ok(answers.join("\n"))
}

/// The answer about counts; a recommendation where the number of keys is given.
fn counts(options: &Options, epsilon: f64) -> Answer {
    let needs = options.items.map(|keys| CountNeeds {
        remove: options.remove,
        unbiased: options.unbiased,
        list: options.list,
        ..CountNeeds::new(keys, options.total.unwrap_or(u64::MAX), epsilon, options.delta)
    });
    sketches::counts(epsilon, options.delta, needs.as_ref())
}

/// The answer about numbers of distinct keys, likewise.
fn distinct(options: &Options, error: f64) -> Answer {
    sketches::cardinalities(error, options.items, options.overlap)
}

/// The answer about filters, or about sketches where only the memory is given; none where nothing is.
fn membership(options: &Options) -> Option<Answer> {
    match (options.items, options.rate, options.memory) {
        (Some(items), Some(rate), None) => Some(filters::for_promise(&options.needs(items, rate))),
        (Some(items), None, Some(bytes)) => Some(filters::for_items_in_memory(bytes, items)),
        (None, Some(rate), Some(bytes)) => Some(filters::for_rate_in_memory(bytes, rate)),
        (None, None, Some(bytes)) => Some(sketches::in_memory(bytes, options.delta)),
        (Some(_), Some(_), Some(_)) => {
            Some(Err("two of items, rate and memory fix the third".into()))
        }
        _ => None,
    }
}

impl Options {
    fn needs(&self, items: u64, rate: f64) -> Needs {
        let needed = |flag, least| if flag { least } else { Ability::No };
        let abilities = Abilities {
            remove: needed(self.remove, Ability::Limited),
            merge: needed(self.merge, Ability::Limited),
            count: needed(self.count, Ability::Limited),
            grow: needed(self.grow, Ability::Yes),
        };
        let priority = if self.fast { Priority::Speed } else { Priority::Memory };
        Needs { items, rate, abilities, priority }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn ask(line: &str) -> String {
        let words = core::iter::once("params").chain(line.split_whitespace());
        let answer = answer(&Line::parse_from(words).options);
        answer.unwrap_or_else(|error| format!("error: {error}"))
    }

    /// Each needle is a figure that a reader of the documents looks for.
    #[test]
    fn answers_hold_their_figures() {
        let cases = [
            ("--items 1e6 --rate 1%", "1.14 MiB"),
            ("--items 1e6 --rate 1%", "Recommended: standard Bloom filter"),
            ("--items 1e6 --rate 1% --fast", "Recommended: blocked Bloom filter"),
            ("--items 1e6 --rate 1% --remove", "Recommended: cuckoo filter"),
            ("--items 1e6 --rate 1% --remove --grow", "Recommended: hash set"),
            ("--items 1e6 --rate 1% --count --grow", "No single structure"),
            ("--items 1e6 --rate 1%", "43.5 %"),
            ("--items 10e6 --memory 64MiB", "6.28e-12"),
            ("--memory 64MiB --rate 1%", "55,965,125"),
            ("--memory 16KiB", "0.812 %"),
            ("--epsilon 0.001 --delta 1%", "2,719"),
            ("--error 1%", "UltraLogLog"),
            ("--epsilon 0.001 --items 10e6 --total 1e9", "Recommended: count-min sketch, 53.1 KiB"),
            ("--epsilon 0.001 --items 10e6", "- count-min sketch: 106 KiB"),
            ("--epsilon 0.001 --items 10e6 --list", "Recommended: summary of heavy hitters"),
            ("--epsilon 0.02 --items 10e6 --unbiased", "Recommended: count sketch"),
            ("--error 1% --items 1e9", "Recommended: UltraLogLog, 8.00 KiB"),
            ("--error 1% --items 1e9 --overlap", "Recommended: HyperLogLog, 16.0 KiB"),
            ("--share 1%", "100 counters"),
            ("--published", "17.97 GB"),
            ("--items 1e6", "error: two of"),
            ("--items 1e6 --rate 1% --memory 1MB", "error: two of"),
            ("--items 1e6 --rate 100%", "error: false_positive_rate is 1.0"),
        ];
        for (line, needle) in cases {
            let answer = ask(line);
            assert!(answer.contains(needle), "{line}: {needle} is not in\n{answer}");
        }
    }
}
