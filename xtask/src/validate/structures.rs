//! The registry of the structures that are validated: one line for each.

use super::Run;
use super::effort::Effort;
use super::judge::Check;
use super::schedule::Job;
use super::{
    alike, blocked, bloom, cardinality, counting, cuckoo, durable, formats, frequency, fuse, many,
    quotient, scalable, similarity, theta, transfer, window,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Every structure, in the order of the reports.
pub(crate) const ALL: [&Structure; 17] = [
    &bloom::STRUCTURE,
    &blocked::STRUCTURE,
    &counting::STRUCTURE,
    &cuckoo::STRUCTURE,
    &quotient::STRUCTURE,
    &fuse::STRUCTURE,
    &scalable::STRUCTURE,
    &window::STRUCTURE,
    &transfer::STRUCTURE,
    &durable::STRUCTURE,
    &many::STRUCTURE,
    &frequency::STRUCTURE,
    &cardinality::STRUCTURE,
    &similarity::STRUCTURE,
    &theta::STRUCTURE,
    &alike::STRUCTURE,
    &formats::STRUCTURE,
];

/// A structure: everything that a run, its options and its reports know of it.
#[derive(Debug)]
pub(crate) struct Structure {
    /// The name on the command line and in the rows.
    pub(crate) name: &'static str,
    /// The heading of its section in a report.
    pub(crate) title: &'static str,
    /// Names in rows other than its own, with the headings of their sections.
    pub(crate) variants: &'static [(&'static str, &'static str)],
    /// The work that validates it.
    pub(crate) jobs: for<'a> fn(&'a Run) -> Vec<Job<'a>>,
    /// The faults that can be injected into it.
    pub(crate) faults: &'static [Fault],
}

/// A fault that can be injected, to see the validator fail.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// The fault, in a sentence without a full stop.
    pub(crate) effect: &'static str,
    /// The checks that it must break.
    pub(crate) breaks: &'static [Check],
    /// The least effort that sees it.
    pub(crate) effort: Effort,
    /// The work that validates a structure with the fault.
    pub(crate) jobs: for<'a> fn(&'a Run) -> Vec<Job<'a>>,
}

/// A fault that a quick run sees.
pub(crate) const fn fault(
    name: &'static str,
    effect: &'static str,
    breaks: &'static [Check],
    jobs: for<'a> fn(&'a Run) -> Vec<Job<'a>>,
) -> Fault {
    Fault { name, effect, breaks, effort: Effort::Quick, jobs }
}

impl Fault {
    /// The same fault, if only a full run sees it.
    pub(crate) const fn subtle(self) -> Self {
        Self { effort: Effort::Full, ..self }
    }

    /// The structure that it is a fault of.
    pub(crate) fn structure(&self) -> &'static Structure {
        let has =
            |structure: &&&Structure| structure.faults.iter().any(|one| one.name == self.name);
        ALL.iter().find(has).expect("a fault stands in the list of its structure")
    }
}

/// Every fault of every structure.
pub(crate) fn faults() -> impl Iterator<Item = &'static Fault> {
    ALL.into_iter().flat_map(|structure| structure.faults)
}

/// Returns the jobs of a structure, or of all.
pub(crate) fn jobs<'a>(run: &'a Run, only: Option<&Structure>) -> Vec<Job<'a>> {
    let chosen = ALL.into_iter().filter(|one| only.is_none_or(|only| only.name == one.name));
    chosen.flat_map(|structure| (structure.jobs)(run)).collect()
}

/// Returns the heading of the section of rows with this name.
pub(crate) fn title(name: &str) -> &str {
    let named = |structure: &&'static Structure| {
        let own = (structure.name, structure.title);
        structure.variants.iter().copied().chain([own])
    };
    let found = ALL.iter().flat_map(named).find(|(one, _)| *one == name);
    found.map_or(name, |(_, title)| title)
}

/// Returns a parser of the names of structures.
pub(crate) fn structure_parser() -> impl TypedValueParser<Value = &'static Structure> {
    named(ALL.into_iter().map(|one| (one, PossibleValue::new(one.name).help(one.title))))
}

/// Returns a parser of the names of faults.
pub(crate) fn fault_parser() -> impl TypedValueParser<Value = &'static Fault> {
    let value = |fault: &'static Fault| {
        let seen = match fault.effort {
            Effort::Quick => String::new(),
            effort => format!(" (seen with {})", effort.option()),
        };
        let (structure, effect) = (fault.structure().name, fault.effect);
        (fault, PossibleValue::new(fault.name).help(format!("{structure}: {effect}{seen}")))
    };
    named(faults().map(value))
}

/// Returns a parser of the names of some values.
fn named<T: Sync + 'static>(
    values: impl Iterator<Item = (&'static T, PossibleValue)>,
) -> impl TypedValueParser<Value = &'static T> {
    let (values, names): (Vec<_>, Vec<_>) = values.unzip();
    let of_names = names.clone();
    PossibleValuesParser::new(names).map(move |name| {
        let index = of_names.iter().position(|value| value.matches(&name, false));
        values[index.expect("one of the possible values")]
    })
}
