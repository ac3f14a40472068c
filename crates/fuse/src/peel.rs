//! Peeling: the order in which the keys of a shard take slots.

use core::hint::select_unpredictable;

use pds_core::error::AllocError;
use pds_core::internal::Words;

use crate::graph::Edge;
use crate::index;

/// Keys that were peeled, each with a slot that no key peeled later has.
///
/// It depends on the set of keys, and not on their order.
pub(crate) struct Peeling<F> {
    edge: F,
    /// For each slot the number of its keys that are left. Two if it does not matter.
    left: Words,
    /// For each slot the sum of the hashes of its keys that are left. For a taken slot the hash of the key that took it.
    sums: Words,
    /// The taken slots, in order.
    order: Words,
    taken: usize,
}

impl<F: Fn(u64) -> Edge> Peeling<F> {
    /// Peels keys, given by their hashes.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory: 13 bytes per slot.
    // Two keys with one hash leave the sums as if neither was there, and are never alone in a slot: they are never peeled.
    pub(crate) fn new(hashes: &[u64], slots: usize, edge: F) -> Result<Self, AllocError> {
        let lanes = |bytes: usize| Words::zeroed((slots as u64 * bytes as u64).div_ceil(8) + 1);
        let (left, sums, order) = (lanes(1)?, lanes(8)?, lanes(4)?);
        let mut peeling = Self { edge, left, sums, order, taken: 0 };
        peeling.add(hashes, slots);
        if peeling.is_counted(hashes, slots) {
            peeling.peel(slots);
        } else {
            peeling.left.lanes_mut::<u8>().fill(2);
        }
        Ok(peeling)
    }

    fn add(&mut self, hashes: &[u64], slots: usize) {
        let left = &mut self.left.lanes_mut::<u8>()[..slots];
        let sums = &mut self.sums[..slots];
        for &hash in hashes {
            for slot in (self.edge)(hash).slots.map(index) {
                left[slot] = left[slot].wrapping_add(1);
                sums[slot] ^= hash;
            }
        }
    }

    /// Returns whether no slot has more keys than a byte counts.
    fn is_counted(&self, hashes: &[u64], slots: usize) -> bool {
        let left = &self.left.lanes::<u8>()[..slots];
        left.iter().map(|&count| usize::from(count)).sum::<usize>() == 3 * hashes.len()
    }

    /// Takes slots until none has exactly one key.
    // The slots that wait for their turn lie behind the taken ones, in reverse order. There is room for both: each slot
    // waits at most once. Stores are unconditional and the counters are not, since whether a slot is to wait cannot be
    // predicted. One more entry is needed for a store that does not count.
    fn peel(&mut self, slots: usize) {
        let left = &mut self.left.lanes_mut::<u8>()[..slots];
        let sums = &mut self.sums[..slots];
        let order = &mut self.order.lanes_mut::<u32>()[..=slots];
        // The slots that wait are those after `free`.
        let (mut taken, mut free) = (0, slots);
        for (slot, &count) in left.iter().enumerate() {
            order[free] = short(slot);
            free -= usize::from(count == 1);
        }
        while free < slots {
            free += 1;
            let slot = order[free] as usize;
            // Its last key may have taken another slot meanwhile.
            if left[slot] != 1 {
                continue;
            }
            left[slot] = 0;
            order[taken] = short(slot);
            taken += 1;
            let hash = sums[slot];
            for other in others((self.edge)(hash).slots, slot) {
                order[free] = short(other);
                free -= usize::from(left[other] == 2);
                left[other] = left[other].wrapping_sub(1);
                sums[other] ^= hash;
            }
        }
        self.taken = taken;
    }

    /// Returns the number of keys that were peeled.
    pub(crate) const fn len(&self) -> usize {
        self.taken
    }

    /// Returns the keys that were not peeled, among all.
    pub(crate) fn core(&self, hashes: &[u64]) -> impl Iterator<Item = u64> {
        let left = self.left.lanes::<u8>();
        let is_left = |slot: u64| left[index(slot)] > 1;
        hashes.iter().copied().filter(move |&hash| (self.edge)(hash).slots.into_iter().all(is_left))
    }

    /// Lists the peeled keys by their edges and the slot that each took, the last one first.
    pub(crate) fn reversed(&self) -> impl Iterator<Item = (Edge, u64)> {
        let order = self.order.lanes::<u32>()[..self.taken].iter().rev();
        order.map(|&slot| ((self.edge)(self.sums[slot as usize]), slot.into()))
    }
}

/// Returns the slots other than `slot`.
#[inline(always)]
fn others([first, second, third]: [u64; 3], slot: usize) -> [usize; 2] {
    let (own, [first, second, third]) = (slot, [first, second, third].map(index));
    [
        select_unpredictable(first == own, second, first),
        select_unpredictable(third == own, second, third),
    ]
}

/// Slots of a shard are numbered in 32 bits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a shard has fewer slots than 2^25")]
const fn short(slot: usize) -> u32 {
    slot as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use alloc::vec::Vec;
    use pds_params::fuse::FuseShape;
    use pds_testkit::keys;

    fn peel(hashes: &[u64], keys: u64) -> Peeling<impl Fn(u64) -> Edge> {
        let shape = FuseShape::new(keys, 0).unwrap();
        let (graph, slots) = (Graph::new(&shape), index(shape.slots_per_shard()));
        Peeling::new(hashes, slots, move |hash| graph.edge(hash, hash, 1)).unwrap()
    }

    /// The taken slots in order.
    fn taken<F: Fn(u64) -> Edge>(peeling: &Peeling<F>) -> Vec<u64> {
        peeling.reversed().map(|(_, slot)| slot).collect()
    }

    #[test]
    fn each_key_takes_a_slot_that_no_later_key_has() {
        for (seed, keys) in [(1, 5), (2, 100), (3, 5_000), (4, 30_000)] {
            let hashes: Vec<u64> = keys::random(seed).take(keys).collect();
            // Twice the room, so that all are peeled.
            let peeling = peel(&hashes, 2 * keys as u64);
            assert_eq!(peeling.len(), keys);
            assert_eq!(peeling.core(&hashes).count(), 0);
            let mut seen = alloc::collections::BTreeSet::new();
            for (edge, slot) in peeling.reversed() {
                assert!(edge.slots.contains(&slot) && !seen.contains(&slot));
                seen.extend(edge.slots);
            }
        }
    }

    #[test]
    fn the_order_of_the_keys_does_not_matter() {
        let mut hashes: Vec<u64> = keys::random(5).take(20_000).collect();
        let first = taken(&peel(&hashes, 20_000));
        hashes.reverse();
        assert_eq!(taken(&peel(&hashes, 20_000)), first);
        hashes.sort_unstable();
        assert_eq!(taken(&peel(&hashes, 20_000)), first);
    }

    #[test]
    fn what_is_not_peeled_is_the_core() {
        // Twice as many keys as there is room for.
        let hashes: Vec<u64> = keys::random(6).take(4_000).collect();
        let peeling = peel(&hashes, 2_000);
        let core: Vec<u64> = peeling.core(&hashes).collect();
        assert!(core.len() > 1_000 && core.len() + peeling.len() == 4_000);
        // In a core every slot has two keys or more.
        let mut counts = alloc::collections::BTreeMap::new();
        for slot in core.iter().flat_map(|&hash| (peeling.edge)(hash).slots) {
            *counts.entry(slot).or_insert(0) += 1;
        }
        assert!(counts.values().all(|&count| count >= 2));
    }

    #[test]
    fn equal_keys_are_never_peeled() {
        for copies in [2, 3, 255, 256, 257, 258, 511, 513, 1_000] {
            let mut hashes: Vec<u64> = keys::random(7).take(1_000).collect();
            hashes.extend(core::iter::repeat_n(hashes[5], copies - 1));
            let peeling = peel(&hashes, hashes.len() as u64 * 2);
            assert!(peeling.len() < 1_000, "{copies}");
            let core = peeling.core(&hashes).filter(|&hash| hash == hashes[5]).count();
            assert_eq!(core, copies);
        }
    }
}
