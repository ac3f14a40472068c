//! Filters with removal beyond the caches, with a billion slots.
//!
//! Filling a peer takes minutes. Only ours is filled, and only once. At each measured load, a peer starts with the
//! fingerprints of ours, or with as many random ones. From there on both get the same keys. These are few compared with
//! the fingerprints, and many compared with the caches. Insertions, hits and removals use them.

use core::error::Error;

use crate::arena::insert_range;
use crate::contest::Contender;
use crate::floor::Floor;
use crate::keys::Keys;
use crate::membership::Design;
use crate::removal::Removing;
use crate::report::{Row, size};
use crate::suite::{Bench, Outcome};

/// Slots, of about one byte each.
pub(crate) const SLOTS: u64 = 1 << 30;

/// Slots that a peer whose capacity is 95 % of them is asked for.
pub(crate) const CAPACITY: u64 = SLOTS / 100 * 95;

/// Loads, lowest first, with the name of an insertion just below each.
const LOADS: [(f64, &str); 3] =
    [(0.5, "insert at 50 %"), (0.9, "insert at 90 %"), (FULL, "insert at 95 %")];

/// The load for lookups and removals.
pub(crate) const FULL: f64 = 0.95;

/// Keys per block. The keys of a whole run are less than half a percent of the slots.
const BLOCK: usize = 1 << 17;

/// The allowed relative difference between a measured rate and the rate of the load.
const RATE_TOLERANCE: f64 = 0.05;

/// A filter of ours, and its peers.
pub(crate) struct Large<F: 'static> {
    /// The rate of all at the greatest load.
    pub(crate) rate: f64,
    /// Cache lines that a key needs.
    pub(crate) lines: f64,
    pub(crate) ours: fn(&Design) -> Result<F, Box<dyn Error>>,
    pub(crate) peers: &'static [Peer<F>],
}

/// A peer, its note, and its state at the load of ours.
pub(crate) struct Peer<F: 'static> {
    pub(crate) name: &'static str,
    pub(crate) note: &'static str,
    /// Builds a filter with as many fingerprints as ours.
    pub(crate) preset: Preset<F>,
}

type Preset<F> = fn(&F, u64) -> Result<Box<dyn Removing>, Box<dyn Error>>;

/// An operation on the keys of a block, with space for answers. Returns the number of successes.
type Work = fn(&mut dyn Removing, &[u64], &mut [bool]) -> u64;

const INSERT: Work = |filter, keys, _| filter.insert_each(keys);
const REMOVE: Work = |filter, keys, _| filter.remove_each(keys);
const LOOK_UP: Work = |filter, keys, _| filter.contains_each(keys);
const LOOK_UP_BATCH: Work = |filter, keys, answers| filter.contains_batch(keys, answers);

impl<F: Removing> Large<F> {
    /// Fills ours from load to load, with each peer in turn at each load. Ours always contains the keys from the first on.
    pub(crate) fn run(&self, bench: &mut Bench<'_>) -> Outcome {
        if bench.effort().sizes(&[SLOTS]).is_empty() {
            return Ok(());
        }
        let design = Design { bytes: SLOTS, items: SLOTS, rate: 0.0, backend: None };
        let (mut ours, mut floor) =
            ((self.ours)(&design)?, Floor::new(SLOTS, design.huge_pages())?);
        let mut held = 0;
        for (load, insertion) in LOADS {
            let before = self.before(load, bench);
            insert_range(&mut ours, held..before);
            held = before;
            let mut guests = Vec::new();
            for peer in self.peers {
                let mut guest = Guest::enter(self, peer, &ours, held)?;
                let row = guest.change(&mut ours, bench, insertion, INSERT);
                bench.add(row);
                held += keys_of_a_row(bench);
                guests.push(guest);
            }
            if load == FULL {
                guests.iter_mut().for_each(|guest| guest.look_up(&mut ours, bench, &mut floor));
                for guest in &mut guests {
                    let row = guest.change(&mut ours, bench, "remove", REMOVE);
                    bench.add(row);
                }
            }
        }
        Ok(())
    }

    /// Returns the number of keys before the peers add their own. All of them together are the load.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a number"
    )]
    fn before(&self, load: f64, bench: &Bench<'_>) -> u64 {
        (SLOTS as f64 * load) as u64 - self.peers.len() as u64 * keys_of_a_row(bench)
    }
}

/// Returns the number of keys per row. A contest has one round that does not count.
const fn keys_of_a_row(bench: &Bench<'_>) -> u64 {
    (bench.effort().pairs() + 1) as u64 * BLOCK as u64
}

/// A peer at one load.
struct Guest<F: 'static> {
    peer: &'static Peer<F>,
    rate: f64,
    lines: f64,
    filter: Box<dyn Removing>,
    /// The keys that it and ours get one by one.
    keys: Keys,
}

impl<F: Removing> Guest<F> {
    fn enter(
        large: &Large<F>,
        peer: &'static Peer<F>,
        ours: &F,
        held: u64,
    ) -> Result<Self, Box<dyn Error>> {
        let Large { rate, lines, .. } = *large;
        let (filter, keys) = ((peer.preset)(ours, held)?, Keys::starting_at(held));
        Ok(Self { peer, rate, lines, filter, keys })
    }

    /// Returns the row of an operation that must succeed for every key.
    fn change(&mut self, ours: &mut F, bench: &Bench<'_>, operation: &str, work: Work) -> Row {
        let (row, done) = self.time(ours, bench, None, (operation, self.keys.clone()), work);
        assert_eq!(done, [keys_of_a_row(bench); 2], "{operation} against {}", self.peer.name);
        row
    }

    /// Adds rows of lookups, with the measured rates of absent keys.
    fn look_up(&mut self, ours: &mut F, bench: &mut Bench<'_>, floor: &mut Floor) {
        let stored = self.keys.clone();
        let mut time = |label, work| self.time(ours, bench, Some(&mut *floor), label, work);
        let hits =
            [time(("hit", stored.clone()), LOOK_UP), time(("hit batch", stored), LOOK_UP_BATCH)];
        let misses = [
            time(("miss", Keys::absent()), LOOK_UP),
            time(("miss batch", Keys::absent()), LOOK_UP_BATCH),
        ];
        let all = keys_of_a_row(bench);
        assert!(hits.iter().all(|&(_, found)| found == [all; 2]), "false negatives");
        let rates = misses[0].1.map(|found| found as f64 / all as f64);
        for rate in rates {
            let is_as_designed = (rate / self.rate - 1.0).abs() < RATE_TOLERANCE;
            assert!(is_as_designed, "{}: rates of {rates:?}", self.peer.name);
        }
        let rows = hits.into_iter().chain(misses);
        rows.for_each(|(row, _)| bench.add(row.quality("rate", rates)));
    }

    /// Returns the row of an operation, and for how many keys each side succeeded.
    fn time(
        &mut self,
        ours: &mut F,
        bench: &Bench<'_>,
        floor: Option<&mut Floor>,
        (operation, keys): (&str, Keys),
        work: Work,
    ) -> (Row, [u64; 2]) {
        let (mut ours, mut theirs) = (Task::new(ours, work), Task::new(&mut *self.filter, work));
        let (labels, peer) = ([&*size(SLOTS), operation], self.peer.name);
        let contenders: [&mut dyn Contender; 2] = [&mut ours, &mut theirs];
        let row = match floor {
            None => bench.duel(labels, peer, (BLOCK, keys), contenders),
            Some(floor) => {
                bench.duel_above((floor, self.lines), labels, peer, (BLOCK, keys), contenders)
            }
        };
        let row = row.bytes(SLOTS).note("Ours and the floor are on huge pages.");
        (row.note(format!("{peer} {}.", self.peer.note)), [ours.done, theirs.done])
    }
}

/// The part of one filter.
struct Task<'a> {
    filter: &'a mut dyn Removing,
    work: Work,
    answers: Vec<bool>,
    done: u64,
}

impl<'a> Task<'a> {
    fn new(filter: &'a mut dyn Removing, work: Work) -> Self {
        Self { filter, work, answers: vec![false; BLOCK], done: 0 }
    }
}

impl Contender for Task<'_> {
    fn run(&mut self, keys: &[u64]) -> u64 {
        self.done += (self.work)(self.filter, keys, &mut self.answers);
        self.done
    }
}
