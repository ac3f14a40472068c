//! Filters of one size, filled, checked and set against each other.

use core::error::Error;
use core::iter;
use core::ops::Range;

use crate::contest::{Block, Contender, Effort, contest};
use crate::floor::Floor;
use crate::keys::{Keys, key};
use crate::membership::{BLOCK, Design, Filter, Operation, Peer, Suite};
use crate::report::{FloorRow, Row};
use crate::stats::Median;

/// Absent keys by which a rate is measured before anything is timed, to about 1 % of itself.
const RATE_KEYS: u64 = 1 << 20;

/// How far a measured rate may be from the design, relative, before times are not comparable: more
/// than four standard errors, which the sample and the spread of one filter make up together.
const RATE_TOLERANCE: f64 = 0.05;

/// All contenders of one size, filled and checked, side by side in memory.
#[derive(Debug)]
pub struct Arena<'a> {
    suite: &'a Suite,
    design: Design,
    ours: Entrant,
    peers: Vec<Entrant>,
    peers_preset: bool,
}

impl<'a> Arena<'a> {
    /// Builds and fills all contenders of `suite`, of `bytes` bytes each.
    ///
    /// # Errors
    /// Whatever keeps a contender from being built.
    ///
    /// # Panics
    /// When a contender gives a wrong answer, or its measured rate is not that of the design.
    pub fn build(suite: &'a Suite, bytes: u64) -> Result<Self, Box<dyn Error>> {
        let design = suite.design(bytes)?;
        let mut ours = (suite.ours)(&design, None)?;
        let held = design.held_by_all();
        insert_range(ours.as_mut(), held..design.items);
        let preset = if design.is_preset() { ours.words().map(<[u64]>::to_vec) } else { None };
        insert_range(ours.as_mut(), 0..held);
        let ours = Entrant::check(suite.name, ours, &design);

        let enter = |peer: &Peer| {
            let mut filter = (peer.build)(&design, preset.as_deref())?;
            let missing = if preset.is_some() { held } else { design.items };
            insert_range(filter.as_mut(), 0..missing);
            Ok(Entrant::check(peer.name, filter, &design))
        };
        let peers = suite.peers.iter().map(enter).collect::<Result<_, Box<dyn Error>>>()?;
        Ok(Self { suite, design, ours, peers, peers_preset: preset.is_some() })
    }

    /// What the contenders were built for.
    #[must_use]
    pub const fn design(&self) -> &Design {
        &self.design
    }

    /// All contenders by name, ours first.
    pub fn filters_mut(&mut self) -> impl Iterator<Item = (&str, &mut dyn Filter)> {
        let names =
            iter::once(self.suite.name).chain(self.suite.peers.iter().map(|peer| peer.name));
        let entrants = iter::once(&mut self.ours).chain(&mut self.peers);
        names.zip(entrants).map(|(name, entrant)| {
            let filter: &mut dyn Filter = entrant.filter.as_mut();
            (name, filter)
        })
    }

    /// Times one operation of ours, of one peer and of the floor.
    pub(crate) fn measure(
        &mut self,
        operation: Operation,
        peer: usize,
        pairs: usize,
        floor: &mut Floor,
    ) -> Row {
        let Self { suite, design, ours, peers, peers_preset } = self;
        let entrant = &mut peers[peer];
        let mut our_task = Task::new(ours.filter.as_mut(), operation, design);
        let mut peer_task = Task::new(entrant.filter.as_mut(), operation, design);
        let effort = Effort { rounds: pairs, block: operation.block(design) };
        let contenders: [&mut dyn Contender; 3] = [&mut our_task, &mut peer_task, floor];
        let [our_times, peer_times, line_times] =
            contest(effort, operation.keys(design), contenders);

        let lines_per_key = (suite.lines)(operation);
        Row {
            structure: suite.name,
            peer: suite.peers[peer].name,
            bytes: design.bytes,
            backend: suite.backend,
            huge_pages: design.huge_pages(),
            peer_preset: *peers_preset,
            operation,
            pairs,
            ratio: Median::of(ratios(&peer_times, &our_times, 1.0)),
            floor: FloorRow {
                lines_per_key,
                share: Median::of(ratios(&line_times, &our_times, lines_per_key)),
                ns_per_line: Median::of(line_times).value,
            },
            ns: Median::of(our_times).value,
            peer_ns: Median::of(peer_times).value,
            rate: ours.rate,
            peer_rate: entrant.rate,
            note: suite.peers[peer].note,
        }
    }
}

/// A filter, filled and checked.
#[derive(Debug)]
struct Entrant {
    filter: Box<dyn Filter>,
    rate: f64,
}

impl Entrant {
    /// Makes sure that answers are right before anything is timed, and measures the rate.
    fn check(name: &str, filter: Box<dyn Filter>, design: &Design) -> Self {
        let mut block = vec![0; Operation::Hit.block(design)];
        let mut answers = vec![false; block.len()];
        let mut contained_of_next = |keys: &mut Keys| {
            keys.fill(&mut block);
            let contained = filter.contains_each(&block);
            let by_batch = filter.contains_batch(&block, &mut answers);
            assert_eq!(by_batch, contained, "{name}: a batch answers otherwise");
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
        Self { filter, rate }
    }
}

/// One filter's part in a contest.
#[derive(Debug)]
pub struct Task<'a> {
    filter: &'a mut dyn Filter,
    operation: Operation,
    clears: bool,
    answers: Vec<bool>,
}

impl<'a> Task<'a> {
    /// Sets `filter` to do `operation` with each key of the blocks to come.
    pub fn new(filter: &'a mut dyn Filter, operation: Operation, design: &Design) -> Self {
        let clears = operation.inserts() && !design.is_preset();
        Self { filter, operation, clears, answers: vec![false; operation.block(design)] }
    }

    /// What is done with each key.
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

fn insert_range(filter: &mut dyn Filter, numbers: Range<u64>) {
    let mut block = Vec::with_capacity(BLOCK);
    let mut numbers = numbers.peekable();
    while numbers.peek().is_some() {
        block.clear();
        block.extend(numbers.by_ref().take(BLOCK).map(key));
        filter.insert_batch(&block);
    }
}

/// How many times as fast as `theirs` ours is, round by round, where each of ours is worth `work` of
/// theirs.
fn ratios(theirs: &[f64], ours: &[f64], work: f64) -> Vec<f64> {
    theirs.iter().zip(ours).map(|(theirs, ours)| work * theirs / ours).collect()
}
