//! Cuckoo filters beyond the caches, of a billion slots.
//!
//! To fill one takes a peer minutes. Ours is filled, once; at each load that is measured a peer starts with what ours holds
//! then, or with as many random fingerprints. The keys that both get from there on are few beside those and many beside
//! the caches: insertions, hits and removals are of them.

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

/// Slots, of a byte each.
const SLOTS: u64 = 1 << 30;

/// Loads, lowest first, and what an insertion just below them is called.
const LOADS: [(f64, &str); 3] =
    [(0.5, "insert at 50 %"), (0.9, "insert at 90 %"), (FULL, "insert at 95 %")];

/// The load at which keys are looked up and removed.
const FULL: f64 = 0.95;

/// Keys of a block; those of a whole run are less than half a percent of the slots.
const BLOCK: usize = 1 << 17;

/// How far a measured rate may be from that of the load, relative.
const RATE_TOLERANCE: f64 = 0.05;

/// Builds a filter with as many fingerprints as ours.
type Preset = fn(&CuckooFilter) -> Result<Box<dyn Removing>, Box<dyn Error>>;

/// A peer, what is to be said of it, and how it gets to the load of ours.
struct Peer {
    name: &'static str,
    note: &'static str,
    preset: Preset,
}

/// The third peer of smaller filters takes a microsecond a key and more, and can only be filled.
const PEERS: [Peer; 2] = [
    Peer {
        name: "cuckoofilter",
        note: "starts each load with the slots of ours",
        preset: |ours| Ok(Box::new(Eight::preset(ours)?)),
    },
    Peer {
        name: "qfilter",
        note: "starts each load with as many random fingerprints as ours holds",
        preset: |ours| Ok(Box::new(Quotient::preset(SLOTS / 100 * 95, ours.len())?)),
    },
];

/// What is done with the keys of a block, and room for answers. Returns for how many it was a success.
type Work = fn(&mut dyn Removing, &[u64], &mut [bool]) -> u64;

const INSERT: Work = |filter, keys, _| filter.insert_each(keys);
const REMOVE: Work = |filter, keys, _| filter.remove_each(keys);
const LOOK_UP: Work = |filter, keys, _| filter.contains_each(keys);
const LOOK_UP_BATCH: Work = |filter, keys, answers| filter.contains_batch(keys, answers);

/// Fills ours from load to load, with each peer in turn at each of them. It holds the keys from the first on, always.
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

/// The keys that are in before each peer brings some of its own, which are a load together.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number")]
fn before(load: f64, bench: &Bench<'_>) -> u64 {
    (SLOTS as f64 * load) as u64 - PEERS.len() as u64 * keys_of_a_row(bench)
}

/// A contest has one round that does not count.
const fn keys_of_a_row(bench: &Bench<'_>) -> u64 {
    (bench.effort().pairs() + 1) as u64 * BLOCK as u64
}

/// A peer at one load.
struct Guest {
    peer: &'static Peer,
    filter: Box<dyn Removing>,
    /// Those that it and ours get one by one.
    keys: Keys,
}

impl Guest {
    fn enter(peer: &'static Peer, ours: &CuckooFilter) -> Result<Self, Box<dyn Error>> {
        Ok(Self { peer, filter: (peer.preset)(ours)?, keys: Keys::starting_at(ours.len()) })
    }

    /// A row of what succeeds for each of its keys.
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

    /// Rows of lookups, with the rates that those of absent keys have.
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

    /// A row, and how many keys were a success.
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

/// One filter's part.
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
