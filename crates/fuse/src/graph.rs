//! From the hash of a key to its three slots.

use pds_core::hash::reduce;
use pds_params::fuse::FuseShape;

use crate::equation::folded;

// Odd, with about as many ones as zeros: the fractional part of the square root of 5.
const MIX: u64 = 0x3C6E_F372_FE94_F82B;

/// The slots of a key in its shard, and its fingerprint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Edge {
    /// Three different slots.
    pub(crate) slots: [u64; 3],
    /// The fingerprint is the lower part, up to 32 bits.
    pub(crate) fingerprint: u64,
}

/// A random graph: which slots the keys of a shard have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Graph {
    starts: u64,
    window: u64,
    /// All ones if the windows follow the first slot, and 0 if they stay.
    follow: u64,
    second: u64,
    third: u64,
}

impl Graph {
    pub(crate) const fn new(shape: &FuseShape) -> Self {
        let (starts, window) = (shape.starts(), shape.window());
        let (follow, second) = if shape.is_coupled() { (u64::MAX, 1) } else { (0, window) };
        Self { starts, window, follow, second, third: second + window }
    }

    /// Returns the edge of a key. `place` is its position in the shard, as a fraction of 2^64.
    // The salt has no part in the first slot, so that the order of the hashes is that of the slots, whatever the salt.
    #[inline(always)]
    pub(crate) fn edge(&self, place: u64, hash: u64, salt: u64) -> Edge {
        self.edge_from(reduce(place, self.starts), hash, salt)
    }

    /// Returns the edge of a key whose first slot is known.
    #[inline(always)]
    pub(crate) fn edge_from(&self, first: u64, hash: u64, salt: u64) -> Edge {
        let mixed = folded(hash ^ salt, MIX);
        let from = first & self.follow;
        let second = from + self.second + reduce(mixed, self.window);
        let third = from + self.third + reduce(mixed.rotate_left(32), self.window);
        // The lower half of the mixed bits chooses the third slot. The lower half of the hash makes it independent of that.
        Edge { slots: [first, second, third], fingerprint: mixed ^ hash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds_testkit::keys;

    #[test]
    fn slots_are_different_and_in_the_array_for_every_hash() {
        let extremes = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63];
        for keys in [1, 2, 3, 10, 10_999, 11_000, 100_000, 9_000_000] {
            let shape = FuseShape::new(keys, 0).unwrap();
            let graph = Graph::new(&shape);
            let hashes = keys::random(1).take(10_000).chain(extremes);
            for (hash, salt) in hashes.flat_map(|hash| [(hash, 0), (hash, u64::MAX)]) {
                let [a, b, c] = graph.edge(hash, hash, salt).slots;
                assert!(a < b && b < c && c < shape.slots_per_shard(), "{keys}: {a} {b} {c}");
            }
        }
    }
}
