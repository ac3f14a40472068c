//! `pds params`: how large, how wrong, and which one, before anything is built.

mod filters;
mod others;
mod plot;
mod published;
mod show;
mod sketches;

use crate::error::{self, Error as Failure};
use crate::output::Output;
use crate::parse;
use clap::Args;
use core::error::Error;
use pds::compare::{Abilities, Ability, CountAbilities, CountNeeds, Needs, Priority};
use pds::params::ParamError;

/// Sizes, error rates and a choice of structure, from any two of items, rate and memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds params --items 10e6 --rate 1%
  pds params --items 10e6 --rate 0.1% --remove
  pds params --items 10e6 --memory 64MiB
  pds params --memory 64MiB --rate 1%
  pds params --epsilon 0.001 --delta 1%     how often?
  pds params --epsilon 0.001 --memory 64KiB
  pds params --width 2000 --depth 5
  pds params --epsilon 0.001 --items 10e6 --total 1e9 [--list] [--unbiased] [--remove]
  pds params --error 1%                     how many different ones?
  pds params --error 1% --items 1e9 [--overlap]
  pds params --precision 12 --items 1000
  pds params --share 1% [--memory 64KiB]    which ones most often?
  pds params --similarity 5% --items 1M     how similar are two sets?
  pds params --memory 64KiB                 what sketches can do in it
  pds params --published                    well-known figures, recomputed")]
pub(crate) struct Options {
    /// Distinct keys: 10e6, 10M or 10_000_000
    #[arg(long, value_name = "N", value_parser = parse::count, allow_negative_numbers = true)]
    items: Option<u64>,
    /// Memory: 64MiB, 1.5GB or a number of bytes
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes, allow_negative_numbers = true)]
    memory: Option<u64>,
    /// Keys have to be removed, or counts taken back
    #[arg(long, requires = "items")]
    remove: bool,
    /// False-positive rate: 1% or 0.01
    #[arg(long, value_name = "RATE", help_heading = FILTERS, value_parser = parse::fraction, allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Filters have to be merged
    #[arg(long, help_heading = FILTERS, requires_all = ["items", "rate"])]
    merge: bool,
    /// It has to tell how often a key was inserted
    #[arg(long, help_heading = FILTERS, requires_all = ["items", "rate"])]
    count: bool,
    /// It has to keep its rate beyond the number of items
    #[arg(long, help_heading = FILTERS, requires_all = ["items", "rate"])]
    grow: bool,
    /// All keys are known beforehand: filters that are built once, too
    #[arg(long = "static", help_heading = FILTERS, requires_all = ["items", "rate"])]
    is_static: bool,
    /// Time counts more than memory
    #[arg(long, help_heading = FILTERS, requires_all = ["items", "rate"])]
    fast: bool,
    /// Error of a count, as a share of the total
    #[arg(long, value_name = "SHARE", help_heading = COUNTS, value_parser = parse::fraction, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Share of keys whose count may err by more
    #[arg(long, value_name = "SHARE", help_heading = COUNTS, value_parser = parse::fraction, default_value = "1%", allow_negative_numbers = true)]
    delta: f64,
    /// Counters per row of a sketch that there is already
    #[arg(long, value_name = "N", help_heading = COUNTS, value_parser = parse::count, requires = "depth", allow_negative_numbers = true)]
    width: Option<u64>,
    /// Its rows
    #[arg(long, value_name = "N", help_heading = COUNTS, requires = "width", allow_negative_numbers = true)]
    depth: Option<u32>,
    /// The sum of all counts, at most; 2^64 - 1 unless given
    #[arg(long, value_name = "N", help_heading = COUNTS, value_parser = parse::count, requires_all = ["items", "epsilon"], allow_negative_numbers = true)]
    total: Option<u64>,
    /// Counts have to be right in the mean, and not from above
    #[arg(long, help_heading = COUNTS, requires_all = ["items", "epsilon"])]
    unbiased: bool,
    /// The most frequent keys have to be listed
    #[arg(long, help_heading = COUNTS, requires_all = ["items", "epsilon"])]
    list: bool,
    /// The share of the stream above which no key may be missed
    #[arg(long, value_name = "SHARE", help_heading = MOST, value_parser = parse::fraction, allow_negative_numbers = true)]
    share: Option<f64>,
    /// Relative standard error of the number
    #[arg(long, value_name = "ERROR", help_heading = DISTINCT, value_parser = parse::fraction, allow_negative_numbers = true)]
    error: Option<f64>,
    /// Precision of a sketch, from 4 to 18: its registers are a power of two
    #[arg(long, value_name = "P", help_heading = DISTINCT, conflicts_with_all = ["error", "memory"], allow_negative_numbers = true)]
    precision: Option<u32>,
    /// Sets are asked what they have in common
    #[arg(long, help_heading = DISTINCT, requires_all = ["items", "error"])]
    overlap: bool,
    /// Standard error of the similarity of two sets (their Jaccard index)
    #[arg(long, value_name = "ERROR", help_heading = SIMILAR, value_parser = parse::fraction, allow_negative_numbers = true)]
    similarity: Option<f64>,
    /// The least similarity of pairs that an index has to find
    #[arg(long, value_name = "JACCARD", help_heading = SIMILAR, value_parser = parse::fraction, default_value = "80%", allow_negative_numbers = true)]
    threshold: f64,
    /// The probability with which it finds a pair at the threshold
    #[arg(long, value_name = "P", help_heading = SIMILAR, value_parser = parse::fraction, default_value = "95%", allow_negative_numbers = true)]
    recall: f64,
    /// Well-known figures of the field, right and wrong, recomputed
    #[arg(long)]
    published: bool,
}

const FILTERS: &str = "Have I seen this key (two of --items, --rate and --memory)";
const COUNTS: &str = "How often has this key come";
const MOST: &str = "Which keys come most often";
const DISTINCT: &str = "How many different keys";
const SIMILAR: &str = "How similar are two sets (--items of them in an index)";

/// The text that answers a request, or an error.
type Answer = Result<String, Box<dyn Error>>;

/// Prints what the options ask for.
///
/// # Errors
/// When too little is asked, or what no structure can give.
pub(crate) fn run(options: &Options) -> error::Result<()> {
    let answer = answer(options).map_err(|error| Failure::Message(as_asked(&*error)))?;
    let mut output = Output::new(None)?;
    output.put(format!("{}\n", show::wrapped(&answer)).as_bytes())?;
    output.finish()
}

/// An error that names what was asked by its option.
fn as_asked(error: &(dyn Error + 'static)) -> String {
    error.downcast_ref::<ParamError>().map_or_else(|| error.to_string(), error::of_param)
}

fn answer(options: &Options) -> Answer {
    let shape = options.width.zip(options.depth);
    let precision = |precision| sketches::of_precision(precision, options.items);
    let answers = [
        membership(options),
        options.epsilon.map(|epsilon| counts(options, epsilon)),
        shape.map(|(width, depth)| sketches::of_shape(width, depth)),
        options.error.map(|error| distinct(options, error)),
        options.precision.map(precision),
        options.share.map(|share| sketches::heavy_hitters(share, options.memory)),
        options.similarity.map(|error| others::similar(error, options)),
        options.published.then(published::table),
    ];
    let answers = answers.into_iter().flatten().collect::<Result<Vec<_>, _>>()?;
    if answers.is_empty() {
        return Err("two of --items, --rate and --memory are needed, or one of --memory, --epsilon, --share, --error, \
                    --precision, --similarity and --published alone, or --width and --depth; --help has examples"
            .into());
    }
    Ok(answers.join("\n"))
}

/// The answer about counts; a recommendation where the number of keys is given.
fn counts(options: &Options, epsilon: f64) -> Answer {
    if let (Some(bytes), None) = (options.memory, options.items) {
        return sketches::counts_in_memory(bytes, epsilon);
    }
    let needs = options.items.map(|keys| CountNeeds {
        abilities: CountAbilities {
            remove: options.remove,
            unbiased: options.unbiased,
            list: options.list,
        },
        ..CountNeeds::new(keys, options.total.unwrap_or(u64::MAX), epsilon, options.delta)
    });
    sketches::counts(epsilon, options.delta, needs.as_ref())
}

/// The answer about numbers of distinct keys, likewise.
fn distinct(options: &Options, error: f64) -> Answer {
    if options.memory.is_some() {
        return Err(
            "--error fixes the memory of a sketch, and --memory its error: leave one out".into()
        );
    }
    sketches::cardinalities(error, options.items, options.overlap)
}

/// The answer about filters, or about sketches where only the memory is given; none where nothing is.
fn membership(options: &Options) -> Option<Answer> {
    match (options.items, options.rate, options.memory) {
        (Some(items), Some(rate), None) => Some(filters::for_promise(&options.needs(items, rate))),
        (Some(items), None, Some(bytes)) => Some(filters::for_items_in_memory(bytes, items)),
        (None, Some(rate), Some(bytes)) => Some(filters::for_rate_in_memory(bytes, rate)),
        (None, None, Some(bytes)) if !options.asks_about_sketches() => {
            Some(sketches::in_memory(bytes, options.delta))
        }
        (Some(_), Some(_), Some(_)) => {
            Some(Err("two of --items, --rate and --memory fix the third: leave one out".into()))
        }
        _ => None,
    }
}

impl Options {
    /// Whether the memory is that of one kind of sketch.
    const fn asks_about_sketches(&self) -> bool {
        self.epsilon.is_some() || self.error.is_some() || self.share.is_some()
    }

    fn needs(&self, items: u64, rate: f64) -> Needs {
        let needed = |flag, least| if flag { least } else { Ability::No };
        let abilities = Abilities {
            insert: needed(!self.is_static, Ability::Yes),
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
        match Line::try_parse_from(words) {
            Ok(line) => match answer(&line.options).map_err(|error| as_asked(&*error)) {
                Ok(answer) => show::wrapped(&answer),
                Err(error) => format!("error: {error}"),
            },
            Err(error) => error.to_string(),
        }
    }

    /// Each needle is a figure that a reader of the documents looks for.
    #[test]
    fn answers_hold_their_figures() {
        let cases = [
            ("--items 1e6 --rate 1%", "1.14 MiB"),
            ("--items 1e6 --rate 1%", "Recommended: standard Bloom filter"),
            ("--items 1e6 --rate 1% --fast", "Recommended: blocked Bloom filter"),
            ("--items 1e6 --rate 1% --static", "Recommended: ribbon filter"),
            ("--items 1e6 --rate 1% --static", "let filter = pds::RibbonFilter::new(keys, 0.01)?;"),
            ("--items 1e6 --rate 1% --remove", "Recommended: quotient filter"),
            ("--items 1e6 --rate 1% --remove --grow", "Recommended: hash set"),
            ("--items 1e6 --rate 1% --count --grow", "No single structure"),
            ("--items 1e6 --rate 1%", "43.5 %"),
            ("--items 10e6 --memory 64MiB", "6.82e-12"),
            ("--memory 64MiB --rate 1%", "55,965,125"),
            ("--memory 16KiB", "0.812 %"),
            ("--epsilon 0.001 --delta 1%", "2,719"),
            ("--error 1%", "UltraLogLog"),
            (
                "--epsilon 0.001 --items 10e6 --total 1e9",
                "Recommended: count-min sketch (CountMinSketch), 53.1 KiB",
            ),
            ("--epsilon 0.001 --items 10e6", "- count-min sketch (CountMinSketch): 106 KiB"),
            ("--epsilon 0.001 --items 10e6 --list", "Recommended: summary of heavy hitters"),
            ("--epsilon 0.02 --items 10e6 --unbiased", "Recommended: count sketch"),
            ("--error 1% --items 1e9", "Recommended: UltraLogLog, 8.00 KiB"),
            ("--error 1% --items 1e9 --overlap", "Recommended: HyperLogLog, 16.0 KiB"),
            ("--epsilon 0.001 --memory 64KiB", "0.242 %"),
            (
                "--epsilon 0.001 --memory 512B",
                "error: memory is 512 bytes, but must be at least 1,008 bytes",
            ),
            ("--width 2719 --depth 5", "0.674 %"),
            ("--width 2719", "--depth <N>"),
            ("--precision 14", "0.812 %"),
            ("--precision 12 --items 1000", "1.13 %"),
            ("--precision 14 --items 100", "400 B"),
            ("--precision 14 --items 100", "0.00863 %"),
            ("--precision 19", "error: precision is 19, but must be from 4 to 18"),
            ("--error 0.16%", "No HyperLogLog, likelihood: it errs by at least 0.202 %."),
            ("--error 0.16%", "UltraLogLog, estimate"),
            ("--error 1% --memory 1MiB", "error: --error fixes the memory"),
            ("--memory 64KiB", "910 keys of 8 bytes"),
            ("--share 1%", "100 keys"),
            ("--share 1% --memory 64KiB", "910 keys of 8 bytes"),
            ("--share 1% --memory 1KiB", "error: 100 keys of 8 bytes take 7.03 KiB"),
            ("--items 1e6 --rate 1%", "WindowBloomFilter"),
            ("--items 1e6 --rate 1%", "TimedBloomFilter"),
            ("--items 1e6 --rate 1%", "at 7,000,000 keys"),
            ("--error 1%", "theta sketch"),
            ("--error 1% --overlap --items 1e9", "ThetaSketch::new(16_384)"),
            ("--similarity 5%", "128 values, 1.00 KiB"),
            ("--similarity 5% --items 1M", "pds::LshIndex::new(128, 0.8, 0.95)?"),
            ("--similarity 5% --items 1M --threshold 1%", "error: threshold is 0.01, but must be"),
            (
                "--similarity 0.1%",
                "error: values would have to be 250000, but must be at most 4096",
            ),
            ("--published", "17.97 GB"),
            ("--items 1e6", "error: two of"),
            ("--items 1e6 --rate 1% --memory 1MB", "error: two of"),
            ("--items 1e6 --rate 100%", "'--rate <RATE>': `100%` is not above 0 and below 1"),
            ("--items -1 --rate 1%", "'--items <N>': `-1` is not from 1 to 2^64 - 1"),
            ("--items 1e6 --rate 1e-18", "error: rate is 1e-18, but must be above 5.42"),
            ("--items 1e6 --rate 1% --list", "--epsilon <SHARE>"),
            (
                "--memory 1MiB --items 1e6",
                "No hash set of 64-bit hashes: it takes at least 18.0 MiB.",
            ),
            (
                "--memory 4936 --items 1e6",
                "error: memory is 4,936 bytes, but must be at least 4,944 bytes for",
            ),
            (
                "--memory 1 --items 1",
                "error: memory is 1 byte, but must be at least 8 bytes for 1 key:",
            ),
            ("--memory 1 --rate 1%", "error: memory is 1 byte, but must be at least 8 bytes for a"),
            ("--memory 1", "error: memory is 1 byte, but must be at least 16 bytes"),
            (
                "--items 1e6 --rate 1%",
                "    let mut filter = pds::BloomFilter::new(1_000_000, 0.01)?;",
            ),
            (
                "--memory 64MiB --rate 1%",
                "let mut filter = pds::BloomFilter::new(55_965_125, 0.01)?;",
            ),
            ("--error 1% --items 1e9", "    let mut sketch = pds::UltraLogLog::new(13)?;"),
            (
                "--error 0.1%",
                "error: no sketch here errs by 0.100 % or less: the least is 0.149 %, by UltraLogLog",
            ),
        ];
        for (line, needle) in cases {
            let answer = ask(line);
            assert!(answer.contains(needle), "{line}: {needle} is not in\n{answer}");
        }
    }

    /// Every kind of answer, with numbers as long as people ask for.
    #[test]
    fn answers_fit_80_columns_but_for_code() {
        let lines = [
            "--items 10e6 --rate 1%",
            "--items 123456789012 --rate 0.0000123%",
            "--items 10e9 --memory 64GiB",
            "--memory 64GiB --rate 1%",
            "--epsilon 0.0000001 --delta 1%",
            "--epsilon 0.000001 --items 10e6 --total 1e15 --list",
            "--epsilon 0.001 --memory 64KiB",
            "--width 2719000 --depth 15",
            "--error 1% --items 1e9 --overlap",
            "--error 0.16%",
            "--precision 18",
            "--share 0.001%",
            "--similarity 1% --items 1e9",
            "--memory 64GiB",
            "--published",
        ];
        for line in lines {
            let answer = ask(line);
            assert!(!answer.starts_with("error"), "{line}: {answer}");
            let code = |line: &str| line.starts_with("    let mut ");
            let long: Vec<_> = answer
                .lines()
                .filter(|line| line.trim_end().chars().count() > 80 && !code(line))
                .collect();
            assert!(long.is_empty(), "{line}\n{}", long.join("\n"));
        }
    }
}
