//! Filters with removal: their size for a promise, insertions from one load to the next, and removals.

use core::error::Error;
use core::hint::black_box;
use core::ops::Range;
use std::time::Instant;

use crate::allocation;
use crate::keys::{Keys, key};
use crate::membership::{Design, Filter};
use crate::report::{Row, Unit, size};
use crate::suite::{Bench, Outcome};

/// The loads between which insertions into slots are timed. Insertions slow down as the slots fill.
pub(crate) const SLOTS: &[(f64, &str)] =
    &[(0.5, "insert to 50 %"), (0.9, "insert to 90 %"), (0.95, "insert to 95 %")];
/// The design load of a structure whose speed does not depend on its load.
pub(crate) const WHOLE: &[(f64, &str)] = &[(1.0, "insert to the design")];

/// The number of absent keys for the measurement of a rate. It measures a rate of 0.1 % to 1 % of itself.
const ABSENT: usize = 10_000_000;

/// Builds a filter for a number of items and a rate.
pub(crate) type BuildFor = dyn Fn(u64, f64) -> Result<Box<dyn Filter>, Box<dyn Error>>;

/// Another filter that keeps the same promise.
pub(crate) struct Rival<'a> {
    pub(crate) name: &'static str,
    /// Differences from ours, for the reader. Empty if there are none.
    pub(crate) note: &'static str,
    pub(crate) build: &'a BuildFor,
}

/// The promise for which filters are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    pub(crate) items: u64,
    pub(crate) rate: f64,
}

impl Promise {
    /// Fills each filter with as many items as it is built for. Adds rows with the bits per item of ours and of each
    /// rival, and their measured rates.
    ///
    /// # Errors
    /// The error of a filter that cannot be built.
    ///
    /// # Panics
    /// If a filter breaks the promise by more than five standard errors.
    pub(crate) fn memory(
        self,
        bench: &mut Bench<'_>,
        (name, build): (&str, &BuildFor),
        rivals: &[Rival<'_>],
    ) -> Outcome {
        let ours = self.measure(name, build)?;
        let case = format!("{} % of {} keys", 100.0 * self.rate, self.items);
        for &Rival { name, note, build } in rivals {
            let row = self.row(&case, ours, (name, self.measure(name, build)?));
            bench.add(if note.is_empty() { row } else { row.note(format!("{name} {note}.")) });
        }
        Ok(())
    }

    /// Returns the row that compares the bits per item of two filters.
    pub(crate) fn row(
        self,
        case: &str,
        ours: Measured,
        (peer, theirs): (&'static str, Measured),
    ) -> Row {
        let bits = [ours, theirs].map(|filter| 8.0 * filter.bytes as f64 / self.items as f64);
        let row = Row::exact([case, "memory"], peer, Unit::BitsPerItem, bits);
        row.rates([ours.rate, theirs.rate], ABSENT as u64).bytes(ours.bytes)
    }

    /// Fills a filter with as many items as it is built for, and measures it.
    pub(crate) fn measure(self, name: &str, build: &BuildFor) -> Result<Measured, Box<dyn Error>> {
        let (mut filter, bytes) = allocation::measured(|| build(self.items, self.rate))?;
        let items: Vec<u64> = (0..self.items).map(key).collect();
        filter.insert_batch(&items);
        assert_eq!(filter.contains_each(&items), self.items, "{name}: false negatives");
        let mut absent = vec![0; ABSENT];
        Keys::absent().fill(&mut absent);
        let rate = filter.contains_each(&absent) as f64 / ABSENT as f64;
        let error = (self.rate / ABSENT as f64).sqrt();
        assert!(rate < self.rate + 5.0 * error, "{name}: a rate of {rate}, not {}", self.rate);
        Ok(Measured { bytes, rate })
    }
}

/// The memory of a filter, and its measured rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    bytes: u64,
    rate: f64,
}

/// A filter of `u64` keys with removal.
pub(crate) trait Removing: Filter {
    /// Removes a key that was inserted. Returns whether the filter found it.
    fn remove(&mut self, key: u64) -> bool;

    /// Removes keys one by one. Returns how many the filter found.
    fn remove_each(&mut self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.remove(key))).sum()
    }
}

/// Fills two filters in turn from empty, stage by stage, and empties them again.
///
/// `whole` keys are a load of 1. Each round times whole stages, so a block is as long as its stage.
pub(crate) fn changes(
    bench: &mut Bench<'_>,
    design: &Design,
    peer: &'static str,
    (whole, stages): (u64, &[(f64, &str)]),
    [ours, theirs]: [&mut dyn Removing; 2],
) {
    let stages = Stages::new(whole, stages);
    let mut times: [Vec<Vec<f64>>; 2] = [Vec::new(), Vec::new()];
    for round in 0..=bench.effort().pairs() {
        for turn in 0..2 {
            let index = (round + turn) % 2;
            let taken = stages.time(if index == 0 { &mut *ours } else { &mut *theirs });
            if round > 0 {
                times[index].push(taken);
            }
        }
    }
    for (stage, name) in stages.names().enumerate() {
        let [ours, theirs] = times
            .each_ref()
            .map(|rounds| rounds.iter().map(|times| times[stage]).collect::<Vec<_>>());
        let row = Row::timed([&size(design.bytes), name], peer, &ours, &theirs);
        bench.add(Row { backend: design.backend, ..row.bytes(design.bytes) });
    }
}

/// The keys of each stage.
struct Stages<'a> {
    keys: Vec<u64>,
    insertions: Vec<(Range<usize>, &'a str)>,
}

impl<'a> Stages<'a> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a length"
    )]
    fn new(whole: u64, loads: &[(f64, &'a str)]) -> Self {
        let mut start = 0;
        let stage = |&(load, name): &(f64, &'a str)| {
            let end = (whole as f64 * load) as usize;
            (core::mem::replace(&mut start, end)..end, name)
        };
        let insertions: Vec<_> = loads.iter().map(stage).collect();
        Self { keys: (0..start as u64).map(key).collect(), insertions }
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.insertions.iter().map(|&(_, name)| name).chain(["remove"])
    }

    /// Returns the nanoseconds per key of each stage, with removals last.
    fn time(&self, filter: &mut dyn Removing) -> Vec<f64> {
        filter.clear();
        let insertions = self.insertions.iter().map(|(range, _)| &self.keys[range.clone()]);
        let mut times: Vec<f64> =
            insertions.map(|keys| time(keys, |keys| filter.insert_each(keys))).collect();
        times.push(time(&self.keys, |keys| filter.remove_each(keys)));
        times
    }
}

fn time(keys: &[u64], work: impl FnOnce(&[u64]) -> u64) -> f64 {
    let start = Instant::now();
    black_box(work(black_box(keys)));
    start.elapsed().as_secs_f64() * 1e9 / keys.len() as f64
}
