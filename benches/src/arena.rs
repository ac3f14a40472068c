//! Filters of one size that answer *have I seen this?*: filled, checked and timed on the same keys at the same rate.

use core::iter;

use crate::allocation;
use crate::filter::{Filter, Operation, Task};
use crate::floor::Floor;
use crate::keys::Keys;
use crate::report::{Row, Unit, size};
use crate::suite::{Bench, Fallible, LEAST_PAIRS, Outcome};

/// Keys per block, for filters in the caches: about a millisecond of work.
const BLOCK: usize = 1 << 17;

/// Keys per block for larger filters.
///
/// Before each turn of a filter, the other contenders have evicted its lines and pages from the caches. A block must be
/// so long that reloading them is a small part of it, even if a key needs only one line.
const LARGE_BLOCK: usize = 1 << 20;

/// The size from which blocks are large.
const LARGE_FROM: u64 = 1 << 20;

/// The size from which filters are preset. Inserting keys one by one would take peers minutes.
const PRESET_FROM: u64 = 1 << 30;

/// The number of keys that every contender contains if it is preset. Hits use these keys.
///
/// They suffice for seven positions per key to touch four out of five lines of a filter of 1 GiB.
const PRESET_KEYS: u64 = 1 << 22;

/// The number of absent keys for the measurement of a rate, before anything is timed. It measures the rate to about 1 %
/// of itself.
const RATE_KEYS: u64 = 1 << 20;

/// The allowed relative difference between a measured rate and the design. Beyond it, times are not comparable.
///
/// It is more than four standard errors of the sample and the spread of one filter together.
const RATE_TOLERANCE: f64 = 0.05;

/// The parameters of every contender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Bytes of the filter.
    pub bytes: u64,
    /// Keys that it is designed for.
    pub items: u64,
    /// The false-positive rate with so many keys.
    pub rate: f64,
    /// The backend of ours, if it has a choice.
    pub backend: Option<&'static str>,
    /// Whether keys are taken as hashes.
    pub hash_in: bool,
}

impl Design {
    /// Returns `true` if ours requests huge pages, and peers are filled with random bits.
    #[must_use]
    pub const fn is_huge(&self) -> bool {
        self.bytes >= PRESET_FROM
    }

    /// Returns the number of keys that every contender contains.
    const fn held_by_all(&self) -> u64 {
        if self.is_huge() { PRESET_KEYS } else { self.items }
    }

    /// Returns the keys of each sample of an operation: their number, and their stream.
    ///
    /// Insertions fill an empty filter in at most eight samples, so that all stages of filling have the same weight.
    #[must_use]
    pub fn block(&self, operation: Operation) -> (usize, Keys) {
        let stored = self.held_by_all();
        let held = usize::try_from(stored).unwrap_or(usize::MAX);
        let block = if self.bytes < LARGE_FROM { BLOCK } else { LARGE_BLOCK };
        match operation {
            Operation::Miss | Operation::MissBatch => (block, Keys::absent()),
            _ if !operation.inserts() => (block.min(held), Keys::stored(stored)),
            _ if self.is_huge() => (block.min(held), Keys::surplus()),
            _ => ((held / 8).max(block.min(held)), Keys::stored(stored)),
        }
    }

    /// Panics unless a measured rate is that of the design.
    pub(crate) fn expect_rate(&self, name: &str, rate: f64) {
        let is_as_designed = (rate / self.rate - 1.0).abs() < RATE_TOLERANCE;
        assert!(is_as_designed, "{name}: a rate of {rate}, not {}", self.rate);
    }
}

/// Returns the error for a missing backend. No row may have its name.
pub(crate) fn no_backend(name: &str, there: impl Iterator<Item = &'static str>) -> String {
    let there = there.collect::<Vec<_>>().join(", ");
    format!("no backend {name} in this build on this processor; available: {there}")
}

/// Builds a contender: empty, or from the state of ours.
pub type Build = fn(&Design, Option<&dyn Filter>) -> Fallible<Box<dyn Filter>>;

/// A filter that is compared with ours.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// The crate's name.
    pub name: &'static str,
    /// Differences from ours, for the reader. Empty if there are none.
    pub note: &'static str,
    /// Builds the filter.
    pub build: Build,
}

/// Filters of ours and of others on equal terms.
#[derive(Clone, Copy, Debug)]
pub struct Lineup {
    /// The difference from other line-ups of the same structure. Empty if there is only one.
    pub mode: &'static str,
    /// Whether keys are taken as hashes.
    pub hash_in: bool,
    /// The sizes of our filter, in bytes.
    pub sizes: &'static [u64],
    /// The false-positive rate of all contenders.
    pub rate: f64,
    /// Returns the number of keys for a filter of so many bytes at a rate.
    pub items: fn(bytes: u64, rate: f64) -> Fallible<u64>,
    /// Returns the lines of memory that a key needs.
    pub lines: fn(Operation) -> f64,
    /// The timed operations.
    pub operations: &'static [Operation],
    /// The backend of ours, if it has a choice and rows are named after it.
    pub backend: Option<&'static str>,
    /// Builds our filter.
    pub ours: Build,
    /// The peers.
    pub peers: &'static [Peer],
}

impl Lineup {
    /// Returns the design of a filter of `bytes` bytes.
    ///
    /// # Errors
    /// The error of the structure for impossible parameters.
    pub fn design(&self, bytes: u64) -> Fallible<Design> {
        let Self { rate, backend, hash_in, .. } = *self;
        Ok(Design { bytes, items: (self.items)(bytes, rate)?, rate, backend, hash_in })
    }

    /// Returns the name of a case in tables: the size, and the mode if there are several.
    #[must_use]
    pub fn case(&self, bytes: u64) -> String {
        let separator = if self.mode.is_empty() { "" } else { ", " };
        format!("{}{separator}{}", size(bytes), self.mode)
    }

    /// Measures every operation against every peer, for all sizes that `bench` includes.
    ///
    /// # Errors
    /// The error of a contender that cannot be built.
    ///
    /// # Panics
    /// If a contender gives a wrong answer, or its measured rate is not that of the design.
    pub fn run(&self, bench: &mut Bench<'_>) -> Outcome {
        for bytes in bench.effort().sizes(self.sizes) {
            let mut arena = Arena::build(self, bytes)?;
            arena.weigh(bench);
            let huge = arena.design.is_huge();
            let mut floor = Floor::new(bytes, huge)?;
            let pairs = if huge { LEAST_PAIRS } else { bench.effort().pairs() };
            let bench = &mut bench.with_pairs(pairs);
            for &operation in self.operations {
                (0..self.peers.len())
                    .for_each(|peer| arena.measure(bench, operation, peer, &mut floor));
            }
        }
        Ok(())
    }
}

/// All contenders of one size, filled and checked, side by side in memory.
#[derive(Debug)]
pub struct Arena<'a> {
    lineup: &'a Lineup,
    design: Design,
    ours: Entrant,
    peers: Vec<Entrant>,
}

impl<'a> Arena<'a> {
    /// Builds and fills all contenders of `lineup`, with `bytes` bytes each.
    ///
    /// # Errors
    /// The error of a contender that cannot be built.
    ///
    /// # Panics
    /// If a contender gives a wrong answer, or its measured rate is not that of the design.
    pub fn build(lineup: &'a Lineup, bytes: u64) -> Fallible<Self> {
        let design = lineup.design(bytes)?;
        let (mut ours, our_bytes) = allocation::measured(|| (lineup.ours)(&design, None))?;
        let held = design.held_by_all();
        ours.fill(held..design.items);
        let enter = |peer: &Peer| {
            let preset = (design.is_huge() && ours.words().is_some()).then_some(&*ours);
            let (mut filter, bytes) = allocation::measured(|| (peer.build)(&design, preset))?;
            filter.fill(0..if preset.is_some() { held } else { design.items });
            Ok(Entrant::check(peer.name, filter, bytes, &design))
        };
        let peers = lineup.peers.iter().map(enter).collect::<Fallible<_>>()?;
        ours.fill(0..held);
        let ours = Entrant::check("ours", ours, our_bytes, &design);
        Ok(Self { lineup, design, ours, peers })
    }

    /// Returns the design of the contenders.
    #[must_use]
    pub const fn design(&self) -> &Design {
        &self.design
    }

    /// Returns all contenders with their names, ours first.
    pub fn filters_mut(&mut self) -> impl Iterator<Item = (&str, &mut dyn Filter)> {
        let names = iter::once("ours").chain(self.lineup.peers.iter().map(|peer| peer.name));
        let entrants = iter::once(&mut self.ours).chain(&mut self.peers);
        names.zip(entrants.map(|entrant| &mut *entrant.filter))
    }

    /// Adds rows with the memory of ours and of each peer, per key.
    fn weigh(&self, bench: &mut Bench<'_>) {
        let bits = |entrant: &Entrant| 8.0 * entrant.bytes as f64 / self.design.items as f64;
        for (number, (peer, entrant)) in self.lineup.peers.iter().zip(&self.peers).enumerate() {
            let (figures, case) =
                ([bits(&self.ours), bits(entrant)], self.lineup.case(self.design.bytes));
            let row = Row::exact([&case, "memory"], peer.name, Unit::BitsPerItem, figures);
            bench.add(self.describe(row, number));
        }
    }

    /// Times one operation of ours, one peer and the floor.
    fn measure(
        &mut self,
        bench: &mut Bench<'_>,
        operation: Operation,
        peer: usize,
        floor: &mut Floor,
    ) {
        floor.set_writes(operation.inserts());
        let row = bench.duel_above(
            Some((floor, (self.lineup.lines)(operation))),
            [&self.lineup.case(self.design.bytes), operation.name()],
            self.lineup.peers[peer].name,
            self.design.block(operation),
            [
                &mut Task::new(&mut *self.ours.filter, operation),
                &mut Task::new(&mut *self.peers[peer].filter, operation),
            ],
        );
        bench.add(self.describe(row, peer));
    }

    /// Adds the rates and the notes to a row against one peer.
    fn describe(&self, row: Row, peer: usize) -> Row {
        let Self { design, ours, .. } = self;
        let row = row.quality("rate", [ours.rate, self.peers[peer].rate]).bytes(ours.bytes);
        let Peer { name, note, .. } = self.lineup.peers[peer];
        let mut row = Row { backend: design.backend, ..row }.difference(name, note);
        if design.is_huge() {
            let notes = [
                "ours and the floor on huge pages",
                "insertions use keys beyond the design",
                "peers start with random bits at the design's fill",
            ];
            let apply = if ours.filter.words().is_some() { &notes[..] } else { &notes[..2] };
            for note in apply {
                row = row.note(format!("{}: {note}.", size(design.bytes)));
            }
        }
        row
    }
}

/// A filter, filled and checked.
#[derive(Debug)]
struct Entrant {
    filter: Box<dyn Filter>,
    bytes: u64,
    rate: f64,
}

impl Entrant {
    /// Checks the answers before anything is timed, and measures the rate.
    fn check(name: &str, filter: Box<dyn Filter>, bytes: u64, design: &Design) -> Self {
        let (len, mut stored) = design.block(Operation::Hit);
        let (mut block, mut answers) = (vec![0; len], vec![false; len]);
        let mut contained_of_next = |keys: &mut Keys| {
            keys.fill(&mut block);
            let contained = filter.contains_each(&block);
            let by_batch = filter.contains_batch(&block, &mut answers);
            assert_eq!(by_batch, contained, "{name}: a batch gives other answers");
            contained
        };
        let len = len as u64;
        assert_eq!(contained_of_next(&mut stored), len, "{name}: false negatives");

        let (mut absent, blocks) = (Keys::absent(), RATE_KEYS.div_ceil(len));
        let positives: u64 = (0..blocks).map(|_| contained_of_next(&mut absent)).sum();
        let rate = positives as f64 / (blocks * len) as f64;
        design.expect_rate(name, rate);
        Self { filter, bytes, rate }
    }
}
