//! *Have I seen this key?*: all filters in a table, past their load, and a choice.

use super::show::{share, table};
use super::{Answer, plot};
use crate::text::grouped;
use core::fmt::Write;
use pds::params::ParamError;
use pds::params::bloom::information_bound;
use pds::params::compare::{
    Candidate, Comparison, HumanBytes, LinesRead, Needs, Structure, compare, compare_in_memory,
    compare_most_items, recommend,
};

/// Loads that rates are shown at, in hundredths of the design.
const LOADS: [u64; 7] = [25, 50, 100, 125, 150, 200, 300];

/// What each structure takes for a promise, what happens past it, and which one to take.
pub(super) fn for_promise(needs: &Needs) -> Answer {
    let (items, rate) = (needs.items, needs.rate);
    let comparison = compare(items, rate)?;
    let mut text = format!("{} keys at {}\n\n", grouped(items), share(rate));
    text += &rows(comparison.candidates());
    let bound = information_bound(items, rate) / 8.0;
    write!(text, "\n\nNo filter can take less than {}.", human(bound))?;
    text += &impossible(&comparison);
    write!(
        text,
        "\n\nFalse-positive rates at other loads than these {} keys\n\n{}\n",
        grouped(items),
        loads(&comparison)
    )?;
    match recommend(needs)? {
        Some(recommendation) => {
            write!(text, "\nRecommended: {recommendation}\n{}", filling(recommendation.choice()))?;
        }
        None => text += "\nNo single structure does all that: take two, side by side.\n",
    }
    Ok(text)
}

/// The lowest rate of each structure, for so many keys in so little memory.
pub(super) fn for_items_in_memory(bytes: u64, items: u64) -> Answer {
    let least = Structure::ALL.map(|structure| (structure, least_memory(structure, items)));
    let needs =
        |structure| least.iter().find(|(one, _)| *one == structure).map(|(_, least)| *least);
    let sizes = || least.iter().filter_map(|&(structure, size)| Some((size.ok()?, structure)));
    // Asked first: far below it the predictions of rates have nothing to say.
    match sizes().min_by_key(|&(size, _)| size) {
        Some((size, structure)) if size > bytes => {
            let (size, rate) = (HumanBytes(size), share(MOST_RATE));
            return Err(format!(
                "memory is {}, but must be at least {size} for {} keys: a {structure} takes so much at a rate of {rate}",
                HumanBytes(bytes),
                grouped(items)
            )
            .into());
        }
        _ => {}
    }
    let comparison = compare_in_memory(bytes, items)?;
    let has_room = |one: &&Candidate| {
        needs(one.structure()).is_some_and(|least| least.is_ok_and(|size| size <= bytes))
    };
    let others: String = Structure::ALL
        .into_iter()
        .filter_map(|structure| match needs(structure)? {
            Ok(size) if size > bytes => {
                Some(format!("\nNo {structure}: it takes {} at the least.", HumanBytes(size)))
            }
            Ok(_) => {
                comparison.get(structure).err().map(|error| format!("\nNo {structure}: {error}."))
            }
            Err(error) => Some(format!("\nNo {structure}: {error}.")),
        })
        .collect();
    let title = format!("{} keys in {}, the lowest rates\n\n", grouped(items), HumanBytes(bytes));
    Ok(title + &rows(comparison.candidates().filter(has_room)) + &others + "\n")
}

/// The highest rate that is of use: a filter above it says *yes* to nearly every key.
const MOST_RATE: f64 = 0.99;

/// The least memory in which a structure tells anything of so many keys, in bytes.
fn least_memory(structure: Structure, items: u64) -> Result<u64, ParamError> {
    Candidate::new(structure, items, MOST_RATE).map(|candidate| candidate.size_in_bytes())
}

/// The most keys of each structure, at a rate in so little memory.
pub(super) fn for_rate_in_memory(bytes: u64, rate: f64) -> Answer {
    let comparison = compare_most_items(bytes, rate)?;
    let title = format!("{} at {}, the most keys\n\n", HumanBytes(bytes), share(rate));
    Ok(title + &rows(comparison.candidates()) + &impossible(&comparison) + "\n")
}

fn rows<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> String {
    let header = [
        "structure",
        "keys",
        "memory",
        "bits a key",
        "rate",
        "remove",
        "merge",
        "count",
        "grow",
        "lines read, hit",
        "miss",
    ];
    table(&header, candidates.map(cells)) + LEGEND
}

const LEGEND: &str = "\n(limited: a counter counts to 15, a merge takes what fits, beyond its keys a filter errs more often. \
    Lines read: cache lines\nof 64 bytes a question, for a key that is there and for one that is not.)";

fn cells(candidate: &Candidate) -> Vec<String> {
    let LinesRead { present, absent } = candidate.lines_read();
    let can = candidate.abilities().named().map(|(_, can)| can.to_string());
    let sizes = [
        candidate.structure().to_string(),
        grouped(candidate.items()),
        HumanBytes(candidate.size_in_bytes()).to_string(),
        format!("{:.2}", candidate.bits_per_item()),
        share(candidate.rate()),
    ];
    let lines = [present, absent].map(|lines| format!("{lines:.1}"));
    sizes.into_iter().chain(can).chain(lines).collect()
}

/// A line for each structure that cannot, with the reason.
fn impossible(comparison: &Comparison) -> String {
    comparison
        .impossible()
        .map(|(structure, error)| match error {
            ParamError::OutOfRange { parameter: "bytes", min, .. } => {
                format!("\nNo {structure}: it takes {} at the least.", HumanBytes(min))
            }
            _ => format!("\nNo {structure}: {error}."),
        })
        .collect()
}

/// The rates of all filters below and above the load they are made for.
fn loads(comparison: &Comparison) -> String {
    let labels = LOADS.map(label);
    let header: Vec<_> = ["load"].into_iter().chain(labels.iter().map(String::as_str)).collect();
    // A hash set grows.
    let filters = comparison.candidates().filter(|one| one.structure() != Structure::HashSet);
    table(
        &header,
        filters.map(|filter| {
            let rate = |load| filter.rate_at(at_load(filter.items(), load));
            let rates = LOADS.map(|load| rate(load).map_or_else(|| "full".to_owned(), share));
            [filter.structure().to_string()].into_iter().chain(rates)
        }),
    )
}

fn label(load: u64) -> String {
    format!("{load} %")
}

/// So many hundredths of the keys.
fn at_load(items: u64, load: u64) -> u64 {
    items / 100 * load + items % 100 * load / 100
}

/// The rate of one filter as it fills, as bars.
fn filling(filter: &Candidate) -> String {
    let rate = |load| Some((label(load), filter.rate_at(at_load(filter.items(), load))?));
    let rates: Vec<_> = LOADS.into_iter().filter_map(rate).collect();
    format!("Its rate as it fills, on a logarithmic scale:\n{}", plot::logarithmic(&rates))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as it may")]
fn human(bytes: f64) -> HumanBytes {
    HumanBytes(bytes.ceil() as u64)
}
