//! Filters of one size, filled, checked and compared.

use core::error::Error;
use core::iter;
use core::ops::Range;

use crate::allocation;
use crate::contest::{Block, Contender, contest};
use crate::floor::Floor;
use crate::keys::{Keys, key};
use crate::membership::{Build, Design, Filter, Lineup, Operation, Peer};
use crate::report::{FloorRow, Row, Unit, size};

/// The number of absent keys for the measurement of a rate, before anything is timed. It measures the rate to about 1 %
/// of itself.
const RATE_KEYS: u64 = 1 << 20;

/// Keys per insertion batch while a filter is filled.
const FILLED_AT_A_TIME: usize = 1 << 17;

/// The allowed relative difference between a measured rate and the design. Beyond it, times are not comparable.
///
/// It is more than four standard errors of the sample and the spread of one filter together.
const RATE_TOLERANCE: f64 = 0.05;

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
    pub fn build(lineup: &'a Lineup, bytes: u64) -> Result<Self, Box<dyn Error>> {
        let design = lineup.design(bytes)?;
        let (mut ours, our_bytes) = measured(lineup.ours, &design, None)?;
        let held = design.held_by_all();
        insert_range(ours.as_mut(), held..design.items);
        let enter = |peer: &Peer| {
            let preset = if design.is_preset() { ours.words() } else { None };
            let (mut filter, bytes) = measured(peer.build, &design, preset)?;
            insert_range(filter.as_mut(), 0..if preset.is_some() { held } else { design.items });
            Ok(Entrant::check(peer.name, filter, bytes, &design))
        };
        let peers = lineup.peers.iter().map(enter).collect::<Result<_, Box<dyn Error>>>()?;
        insert_range(ours.as_mut(), 0..held);
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
        names.zip(entrants).map(|(name, entrant)| {
            let filter: &mut dyn Filter = entrant.filter.as_mut();
            (name, filter)
        })
    }

    /// Returns rows with the memory of ours and of each peer, per key.
    pub(crate) fn memory_rows(&self) -> impl Iterator<Item = Row> {
        let bits = |entrant: &Entrant| 8.0 * entrant.bytes as f64 / self.design.items as f64;
        (0..self.peers.len()).map(move |peer| {
            let figures = [bits(&self.ours), bits(&self.peers[peer])];
            let labels = [&*self.lineup.case(self.design.bytes), "memory"];
            self.describe(
                Row::exact(labels, self.lineup.peers[peer].name, Unit::BitsPerItem, figures),
                peer,
            )
        })
    }

    /// Times one operation of ours, one peer and the floor.
    pub(crate) fn measure(
        &mut self,
        operation: Operation,
        peer: usize,
        pairs: usize,
        floor: &mut Floor,
    ) -> Row {
        let Self { lineup, design, ours, peers } = self;
        let mut our_task = Task::new(ours.filter.as_mut(), operation, design);
        let mut peer_task = Task::new(peers[peer].filter.as_mut(), operation, design);
        floor.set_writes(operation.inserts());
        let contenders: [&mut dyn Contender; 3] = [&mut our_task, &mut peer_task, floor];
        let [ours, theirs, line] =
            contest(pairs, operation.block(design), operation.keys(design), contenders);

        let lines_per_key = (lineup.lines)(operation);
        let labels = [&*lineup.case(design.bytes), operation.name()];
        let floor = FloorRow::of(line, &ours, lines_per_key);
        let row = Row::timed(labels, lineup.peers[peer].name, &ours, &theirs);
        self.describe(Row { floor: Some(floor), ..row }, peer)
    }

    /// Adds the rates and the note of the peer.
    fn describe(&self, row: Row, peer: usize) -> Row {
        let entrant = &self.peers[peer];
        let mut row = row.quality("rate", [self.ours.rate, entrant.rate]).bytes(self.ours.bytes);
        row.backend = self.design.backend;
        let Peer { name, note, .. } = self.lineup.peers[peer];
        if !note.is_empty() {
            row = row.note(format!("{name} {note}."));
        }
        let large = size(self.design.bytes);
        if self.design.huge_pages() {
            row = row.note(format!("{large}: ours and the floor on huge pages."));
        }
        if self.design.is_preset() {
            row = row.note(format!("{large}: insertions use keys beyond the design."));
        }
        if self.design.is_preset() && self.ours.filter.words().is_some() {
            row = row.note(format!("{large}: peers start with random bits at the design's fill."));
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
        let mut block = vec![0; Operation::Hit.block(design)];
        let mut answers = vec![false; block.len()];
        let mut contained_of_next = |keys: &mut Keys| {
            keys.fill(&mut block);
            let contained = filter.contains_each(&block);
            let by_batch = filter.contains_batch(&block, &mut answers);
            assert_eq!(by_batch, contained, "{name}: a batch gives other answers");
            contained
        };
        let len = Operation::Hit.block(design) as u64;
        let stored = contained_of_next(&mut Keys::stored(design.held_by_all()));
        assert_eq!(stored, len, "{name}: false negatives");

        let (mut absent, blocks) = (Keys::absent(), RATE_KEYS.div_ceil(len));
        let positives: u64 = (0..blocks).map(|_| contained_of_next(&mut absent)).sum();
        let rate = positives as f64 / (blocks * len) as f64;
        let is_as_designed = (rate / design.rate - 1.0).abs() < RATE_TOLERANCE;
        assert!(is_as_designed, "{name}: a rate of {rate}, not {}", design.rate);
        Self { filter, bytes, rate }
    }
}

/// The part of one filter in a contest.
#[derive(Debug)]
pub struct Task<'a> {
    filter: &'a mut dyn Filter,
    operation: Operation,
    clears: bool,
    answers: Vec<bool>,
}

impl<'a> Task<'a> {
    /// Creates a task that does `operation` with each key of the coming blocks.
    pub fn new(filter: &'a mut dyn Filter, operation: Operation, design: &Design) -> Self {
        let clears = operation.inserts() && !design.is_preset();
        Self { filter, operation, clears, answers: vec![false; operation.block(design)] }
    }

    /// Returns the operation.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        self.operation
    }
}

impl Contender for Task<'_> {
    fn prepare(&mut self, block: &Block) {
        if self.clears && block.starts {
            self.filter.clear();
        }
    }

    fn run(&mut self, keys: &[u64]) -> u64 {
        match self.operation {
            Operation::Hit | Operation::Miss => self.filter.contains_each(keys),
            Operation::HitBatch | Operation::MissBatch => {
                self.filter.contains_batch(keys, &mut self.answers)
            }
            Operation::Insert => self.filter.insert_each(keys),
            Operation::InsertBatch => self.filter.insert_batch(keys),
        }
    }
}

/// Builds a filter. Returns it with its size in bytes.
fn measured(
    build: Build,
    design: &Design,
    preset: Option<&[u64]>,
) -> Result<(Box<dyn Filter>, u64), Box<dyn Error>> {
    allocation::measured(|| build(design, preset))
}

/// Inserts the keys with these numbers, by the filter's own batch.
pub(crate) fn insert_range(filter: &mut dyn Filter, numbers: Range<u64>) {
    let mut block = Vec::with_capacity(FILLED_AT_A_TIME);
    let mut numbers = numbers.peekable();
    while numbers.peek().is_some() {
        block.clear();
        block.extend(numbers.by_ref().take(FILLED_AT_A_TIME).map(key));
        filter.insert_batch(&block);
    }
}
