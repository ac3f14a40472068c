//! *Have I seen this key?*: all filters in a table, past their load, and a choice.

use super::show::{keys, share, table};
use super::{Answer, others, plot};
use crate::output::exact_size;
use core::fmt::Write;
use pds::compare::{
    Ability, Candidate, Comparison, HumanBytes, HumanCount, LinesRead, Needs, compare,
    compare_in_memory, compare_most_items, recommend,
};
use pds::params::ParamError;
use pds::params::bloom::information_bound;
use pds::registry::{HASH_SET, Structure, filters};

/// Loads of the table of rates, in hundredths of the design.
const LOADS: [u64; 5] = [50, 100, 150, 200, 300];

/// Loads that bars are drawn for.
const BARS: [u64; 7] = [25, 50, 100, 125, 150, 200, 300];

/// The memory that each structure takes for a promise, its behaviour past it, and a recommendation.
pub(super) fn for_promise(needs: &Needs) -> Answer {
    let (items, rate) = (needs.items, needs.rate);
    let comparison = compare(items, rate)?;
    let mut text = format!("{} at {}\n\n", keys(items), share(rate));
    text += &rows(comparison.candidates(), &[MEMORY, PER_KEY, RATE]);
    let bound = information_bound(items, rate) / 8.0;
    write!(text, "\n\nNo filter can take less than {}.", human(bound))?;
    text += &impossible(&comparison);
    write!(
        text,
        "\n\nFalse-positive rates at other loads than {}\n\n{}\n",
        keys(items),
        loads(&comparison)
    )?;
    write!(
        text,
        "\nFilters that grow, or that forget keys by their age\n\n{}",
        others::filters(items, rate)?
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
pub(super) fn for_items_in_memory(memory: u64, items: u64) -> Answer {
    // Asked first: far below it the predictions of rates have nothing to say.
    let least = least_memory(items);
    if let Some((size, structure)) = least
        && size > memory
    {
        return Err(format!(
                "memory is {}, but must be at least {} for {}: a {structure} takes so much at a rate of {}",
                exact_size(memory),
                exact_size(size),
                keys(items),
                share(MOST_RATE)
            )
            .into());
    }
    let comparison = compare_in_memory(memory, items)?;
    let (mut found, mut others) = (Vec::new(), String::new());
    for structure in filters() {
        let candidate = match Candidate::new(structure, items, MOST_RATE) {
            Ok(least) if least.size_in_bytes() > memory => {
                writeln!(others, "{}", too_small(structure, least.size_in_bytes()))?;
                continue;
            }
            Ok(_) => comparison.get(structure),
            Err(error) => Err(error),
        };
        match candidate {
            Ok(candidate) => found.push(candidate),
            Err(error) => writeln!(others, "No {structure}: {error}.")?,
        }
    }
    let place = |one: &Candidate| {
        let same = |other: &Candidate| other.structure() == one.structure();
        comparison.candidates().position(same)
    };
    found.sort_by_key(|one| place(one));
    let title = format!("{} in {}, the lowest rates\n\n", keys(items), HumanBytes(memory));
    Ok(title
        + &rows(found.iter().copied(), &[MEMORY, PER_KEY, RATE])
        + "\n"
        + &others
        + &first(&found))
}

/// The highest rate that is of use: a filter above it says *yes* to nearly every key.
const MOST_RATE: f64 = 0.99;

/// The least memory in which a structure tells anything of so many keys, in bytes, and that structure.
fn least_memory(items: u64) -> Option<(u64, &'static Structure)> {
    let least = |structure| {
        let candidate = Candidate::new(structure, items, MOST_RATE).ok()?;
        // A comparison takes no less than a word.
        Some((candidate.size_in_bytes().max(8), structure))
    };
    filters().filter_map(least).min_by_key(|&(size, _)| size)
}

/// The most keys of each structure, at a rate in so little memory.
pub(super) fn for_rate_in_memory(memory: u64, rate: f64) -> Answer {
    let comparison =
        compare_most_items(memory, rate).map_err(|error| match least_bytes(&error) {
            Some(least) => {
                let (value, least) = (exact_size(memory), exact_size(least));
                format!(
                    "memory is {value}, but must be at least {least} for a single key at this rate"
                )
            }
            None => error.to_string(),
        })?;
    let title = format!("{} at {}, the most keys\n\n", HumanBytes(memory), share(rate));
    let rows = rows(comparison.candidates(), &[KEYS, MEMORY, PER_KEY]);
    let others = impossible(&comparison);
    Ok(title + &rows + &others + "\n" + &first(&comparison.candidates().collect::<Vec<_>>()))
}

/// The lines of Rust that build the first of a table, and the first that takes keys one at a time.
fn first(candidates: &[&Candidate]) -> String {
    let is_static = |one: &&&Candidate| one.abilities().insert == Ability::No;
    let built = candidates.first().filter(is_static).map(|one| {
        format!(
            "\nThe first of them, from all keys at once:\n    let filter = {};\n",
            one.expression()
        )
    });
    let growing = candidates.iter().find(|one| !is_static(one)).map(|one| {
        format!(
            "\nThe first that takes keys one at a time:\n    let mut filter = {};\n",
            one.expression()
        )
    });
    [built, growing].into_iter().flatten().collect()
}

/// A column: its header, and its cell of a candidate.
type Column = (&'static str, fn(&Candidate) -> String);

const KEYS: Column = ("keys", |one| HumanCount(one.items()).to_string());
const MEMORY: Column = ("memory", |one| HumanBytes(one.size_in_bytes()).to_string());
const PER_KEY: Column = ("bits/key", |one| format!("{:.2}", one.bits_per_item()));
const RATE: Column = ("rate", |one| share(one.rate()));
/// The last columns of every table of filters.
const ABILITIES: [Column; 2] = [("can", can), ("lines", lines)];

/// A row for each candidate, with the type first.
fn rows<'a>(candidates: impl Iterator<Item = &'a Candidate>, columns: &[Column]) -> String {
    let columns = [columns, &ABILITIES].concat();
    let header: Vec<_> =
        ["structure"].into_iter().chain(columns.iter().map(|(name, _)| *name)).collect();
    let row = |one: &Candidate| {
        let cells: Vec<_> = columns.iter().map(|(_, cell)| cell(one)).collect();
        [one.structure().type_name.to_owned()].into_iter().chain(cells)
    };
    table(&header, candidates.map(row)) + LEGEND
}

const LEGEND: &str = "\ncan: I take keys one at a time, R remove keys, M be merged, C count keys, G grow; small letters up to a limit: a counter \
    counts to 15, a merge takes what fits, beyond its keys a filter errs more often.\n\
    lines: cache lines of 64 bytes per lookup, for a key that is there / that is not.";

/// A letter for each ability, small where it has a limit.
fn can(candidate: &Candidate) -> String {
    let abilities = candidate.abilities().named();
    let letters = ['I', 'R', 'M', 'C', 'G'].into_iter().zip(abilities);
    letters
        .map(|(letter, (_, can))| match can {
            Ability::Yes => letter,
            Ability::Limited => letter.to_ascii_lowercase(),
            Ability::No => '-',
        })
        .collect()
}

fn lines(candidate: &Candidate) -> String {
    let LinesRead { present, absent } = candidate.lines_read();
    format!("{present:.1}/{absent:.1}")
}

/// The least memory, if there was too little.
fn least_bytes(error: &ParamError) -> Option<u64> {
    let allowed = error.allowed().filter(|_| error.parameter() == "bytes")?;
    Some(*allowed.start())
}

fn too_small(structure: &Structure, least: u64) -> String {
    format!("No {structure}: it takes at least {}.", HumanBytes(least))
}

/// A line for each structure that cannot, with the reason.
fn impossible(comparison: &Comparison) -> String {
    comparison
        .impossible()
        .map(|(structure, error)| match least_bytes(&error) {
            Some(least) => format!("\n{}", too_small(structure, least)),
            None => format!("\nNo {structure}: {error}."),
        })
        .collect()
}

/// The rates of all filters below and above the load they are made for.
fn loads(comparison: &Comparison) -> String {
    let labels = LOADS.map(label);
    let header: Vec<_> = ["load"].into_iter().chain(labels.iter().map(String::as_str)).collect();
    // A hash set grows.
    let filters = comparison.candidates().filter(|one| *one.structure() != HASH_SET);
    table(
        &header,
        filters.map(|filter| {
            let rate = |load| filter.rate_at(at_load(filter.items(), load));
            let rates = LOADS.map(|load| rate(load).map_or_else(|| "full".to_owned(), share));
            [filter.structure().type_name.to_owned()].into_iter().chain(rates)
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
    let rates: Vec<_> = BARS.into_iter().filter_map(rate).collect();
    format!("Its rate as it fills, on a logarithmic scale:\n{}", plot::logarithmic(&rates))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as it may")]
fn human(bytes: f64) -> HumanBytes {
    HumanBytes(bytes.ceil() as u64)
}
