//! Cuckoo filters beyond the caches, with a billion slots.
//!
//! Filling a peer takes minutes. Only ours is filled, and only once. At each measured load, a peer starts with the
//! fingerprints of ours, or with as many random ones. From there on both get the same keys. These are few compared with
//! the fingerprints, and many compared with the caches. Insertions, hits and removals use them.

use core::error::Error;

use pds::CuckooFilter;
use pds::params::cuckoo::rate_by_load;

use super::{BITS, Eight, Quotient, ours};
use crate::arena::insert_range;
use crate::contest::Contender;
use crate::floor::Floor;
use crate::keys::Keys;
use crate::membership::Design;
use crate::removal::Removing;
use crate::report::{Row, size};
use crate::suite::{Bench, Outcome};

/// Slots, of one byte each.
const SLOTS: u64 = 1 << 30;

/// Loads, lowest first, with the name of an insertion just below each.
const LOADS: [(f64, &str); 3] =
    [(0.5, "insert at 50 %"), (0.9, "insert at 90 %"), (FULL, "insert at 95 %")];

/// The load for lookups and removals.
const FULL: f64 = 0.95;

/// Keys per block. The keys of a whole run are less than half a percent of the slots.
const BLOCK: usize = 1 << 17;

/// The allowed relative difference between a measured rate and the rate of the load.
const RATE_TOLERANCE: f64 = 0.05;

/// Builds a filter with as many fingerprints as ours.
type Preset = fn(&CuckooFilter) -> Result<Box<dyn Removing>, Box<dyn Error>>;

/// A peer, its note, and its state at the load of ours.
struct Peer {
    name: &'static str,
    note: &'static str,
    preset: Preset,
}

/// The third peer of smaller filters is omitted. It takes a microsecond or more per key, and can only be filled key by
/// key.
const PEERS: [Peer; 2] = [
    Peer {
        name: "cuckoofilter",
        note: "starts each load with the slots of ours",
        preset: |ours| Ok(Box::new(Eight::preset(ours)?)),
    },
    Peer {
        name: "qfilter",
        note: "starts each load with as many random fingerprints as ours has",
        preset: |ours| Ok(Box::new(Quotient::preset(SLOTS / 100 * 95, ours.len())?)),
    },
];

/// An operation on the keys of a block, with space for answers. Returns the number of successes.
type Work = fn(&mut dyn Removing, &[u64], &mut [bool]) -> u64;

const INSERT: Work = |filter, keys, _| filter.insert_each(keys);
const REMOVE: Work = |filter, keys, _| filter.remove_each(keys);
const LOOK_UP: Work = |filter, keys, _| filter.contains_each(keys);
const LOOK_UP_BATCH: Work = |filter, keys, answers| filter.contains_batch(keys, answers);

/// Fills ours from load to load, with each peer in turn at each load. Ours always contains the keys from the first on.
pub(super) fn run(bench: &mut Bench<'_>) -> Outcome {
    if bench.effort().sizes(&[SLOTS]).is_empty() {
        return Ok(());
    }
    let design = Design { bytes: SLOTS, items: SLOTS, rate: 0.0, backend: None };
    let (mut ours, mut floor) = (ours(&design)?, Floor::new(SLOTS, design.huge_pages())?);
    for (load, insertion) in LOADS {
        let held = ours.len();
        insert_range(&mut ours, held..before(load, bench));
        let mut guests = Vec::new();
        for peer in &PEERS {
            let mut guest = Guest::enter(peer, &ours)?;
            let row = guest.change(&mut ours, bench, insertion, INSERT);
            bench.add(row);
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
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number")]
fn before(load: f64, bench: &Bench<'_>) -> u64 {
    (SLOTS as f64 * load) as u64 - PEERS.len() as u64 * keys_of_a_row(bench)
}

/// Returns the number of keys per row. A contest has one round that does not count.
const fn keys_of_a_row(bench: &Bench<'_>) -> u64 {
    (bench.effort().pairs() + 1) as u64 * BLOCK as u64
}

/// A peer at one load.
struct Guest {
    peer: &'static Peer,
    filter: Box<dyn Removing>,
    /// The keys that it and ours get one by one.
    keys: Keys,
}

impl Guest {
    fn enter(peer: &'static Peer, ours: &CuckooFilter) -> Result<Self, Box<dyn Error>> {
        Ok(Self { peer, filter: (peer.preset)(ours)?, keys: Keys::starting_at(ours.len()) })
    }

    /// Returns the row of an operation that must succeed for every key.
    fn change(
        &mut self,
        ours: &mut CuckooFilter,
        bench: &Bench<'_>,
        operation: &str,
        work: Work,
    ) -> Row {
        let (row, done) = self.time(ours, bench, None, (operation, self.keys.clone()), work);
        assert_eq!(done, [keys_of_a_row(bench); 2], "{operation} against {}", self.peer.name);
        row
    }

    /// Adds rows of lookups, with the measured rates of absent keys.
    fn look_up(&mut self, ours: &mut CuckooFilter, bench: &mut Bench<'_>, floor: &mut Floor) {
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
            let is_as_designed = (rate / rate_by_load(FULL, BITS) - 1.0).abs() < RATE_TOLERANCE;
            assert!(is_as_designed, "{}: rates of {rates:?}", self.peer.name);
        }
        let rows = hits.into_iter().chain(misses);
        rows.for_each(|(row, _)| bench.add(row.quality("rate", rates)));
    }

    /// Returns the row of an operation, and for how many keys each side succeeded.
    fn time(
        &mut self,
        ours: &mut CuckooFilter,
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
            Some(floor) => bench.duel_above((floor, 2.0), labels, peer, (BLOCK, keys), contenders),
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
