//! Filters with removal beyond the caches, with a billion slots.
//!
//! Filling a peer takes minutes. Only ours is filled, and only once. At each measured load, a peer starts with the
//! fingerprints of ours, or with as many random ones. From there on both get the same keys. These are few compared with
//! the fingerprints, and many compared with the caches. Insertions, hits and removals use them.

use crate::arena::{Design, Lineup, Peer};
use crate::filter::{Filter, LOOKUPS, Operation, Task};
use crate::floor::Floor;
use crate::keys::Keys;
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

/// Fills ours from load to load, with each peer in turn at each load. Ours always contains the keys from the first on.
///
/// The rate of the line-up is that of all at the greatest load.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number")]
pub(crate) fn run(bench: &mut Bench<'_>, lineup: &Lineup) -> Outcome {
    if bench.effort().sizes(&[SLOTS]).is_empty() {
        return Ok(());
    }
    let Lineup { rate, peers, .. } = *lineup;
    let mut design = Design { bytes: SLOTS, items: 0, rate, backend: None, hash_in: false };
    let (mut ours, mut floor) =
        ((lineup.ours)(&design, None)?, Floor::new(SLOTS, design.is_huge())?);
    for (load, insertion) in LOADS {
        // The peers add their own keys. All of them together are the load.
        let before = (SLOTS as f64 * load) as u64 - peers.len() as u64 * keys_of_a_row(bench);
        ours.fill(design.items..before);
        design.items = before;
        let mut guests = Vec::new();
        for peer in peers {
            let filter = (peer.build)(&design, Some(&*ours))?;
            let mut guest = Guest { lineup, peer, design, filter };
            guest.change(&mut *ours, bench, insertion, Operation::Insert);
            design.items += keys_of_a_row(bench);
            guests.push(guest);
        }
        if load == FULL {
            guests.iter_mut().for_each(|guest| guest.look_up(&mut *ours, bench, &mut floor));
            guests
                .iter_mut()
                .for_each(|guest| guest.change(&mut *ours, bench, "remove", Operation::Remove));
        }
    }
    Ok(())
}

/// Returns the number of keys per row. A contest has one round that does not count.
const fn keys_of_a_row(bench: &Bench<'_>) -> u64 {
    (bench.effort().pairs() + 1) as u64 * BLOCK as u64
}

/// A peer at one load.
struct Guest<'a> {
    lineup: &'a Lineup,
    peer: &'a Peer,
    /// The design, with the number of keys before it and ours got the same ones.
    design: Design,
    filter: Box<dyn Filter>,
}

impl Guest<'_> {
    /// Adds the row of an operation that must succeed for every key.
    fn change(
        &mut self,
        ours: &mut dyn Filter,
        bench: &mut Bench<'_>,
        label: &str,
        operation: Operation,
    ) {
        let (row, done) = self.time(ours, bench, None, (label, operation));
        assert_eq!(done, [keys_of_a_row(bench); 2], "{label} against {}", self.peer.name);
        bench.add(row);
    }

    /// Adds rows of lookups, with the measured rates of absent keys.
    fn look_up(&mut self, ours: &mut dyn Filter, bench: &mut Bench<'_>, floor: &mut Floor) {
        let [hit, miss, hit_batch, miss_batch] = LOOKUPS.map(|operation| {
            self.time(ours, bench, Some(&mut *floor), (operation.name(), operation))
        });
        let all = keys_of_a_row(bench);
        assert_eq!([hit.1, hit_batch.1], [[all; 2]; 2], "false negatives");
        let rates = miss.1.map(|found| found as f64 / all as f64);
        rates.iter().for_each(|&rate| self.design.expect_rate(self.peer.name, rate));
        for (row, _) in [hit, hit_batch, miss, miss_batch] {
            bench.add(row.quality("rate", rates));
        }
    }

    /// Returns the row of an operation, and for how many keys each side succeeded.
    fn time(
        &mut self,
        ours: &mut dyn Filter,
        bench: &Bench<'_>,
        floor: Option<&mut Floor>,
        (label, operation): (&str, Operation),
    ) -> (Row, [u64; 2]) {
        let keys = operation.looked_up(&Keys::starting_at(self.design.items));
        let [mut ours, mut theirs] = Task::pair([ours, &mut *self.filter], operation);
        let row = bench.duel_above(
            floor.map(|floor| (floor, (self.lineup.lines)(operation))),
            [&size(SLOTS), label],
            self.peer.name,
            (BLOCK, keys),
            [&mut ours, &mut theirs],
        );
        let row = row.bytes(SLOTS).note("Ours and the floor are on huge pages.");
        (row.difference(self.peer.name, self.peer.note), [ours.done, theirs.done])
    }
}
