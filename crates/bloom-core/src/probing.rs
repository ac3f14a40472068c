//! Lookups and inserts, one by one and many at once, over bits in any storage.
//!
//! Filters in all storages run this code, so that they agree bit for bit.

#[cfg(target_has_atomic = "64")]
use pds_core::internal::AtomicU64;
use pds_core::internal::{Bits, BitsMut, StoredWord};

use crate::DoubleHash;

/// Number of keys of a batch that are under way at once.
// Few keys are left in the last rounds of a batch of absent ones, so each of those rounds waits for a read. 128 keys share
// that wait better than 64 do (by a tenth to a fifth beyond the cache), and their states still leave most of the first
// cache to the bits.
pub(crate) const BATCH: usize = 128;

/// Number of positions that an insert has under way at once. No key has more, and their lines fill a third of the first
/// cache.
const POSITIONS: usize = 256;

/// Bits that can be set.
pub(crate) trait BitTarget {
    /// Prefetches the word of a bit.
    fn prefetch(&self, x: u64);

    /// Sets the bit that a fraction of 2^64 falls on. Returns whether this call set it.
    fn set(&mut self, x: u64) -> bool;
}

impl BitTarget for BitsMut<'_> {
    #[inline(always)]
    fn prefetch(&self, x: u64) {
        self.prefetch(x);
    }

    #[inline(always)]
    fn set(&mut self, x: u64) -> bool {
        self.set(x)
    }
}

#[cfg(target_has_atomic = "64")]
impl BitTarget for Bits<'_, AtomicU64> {
    #[inline(always)]
    fn prefetch(&self, x: u64) {
        (*self).prefetch(x);
    }

    #[inline(always)]
    fn set(&mut self, x: u64) -> bool {
        (*self).set(x)
    }
}

/// Number of probes that are made before a lookup looks at what they found.
const PROBES_PER_BRANCH: u32 = 4;

/// Tests whether all positions of a hash are set.
///
/// Four probes a branch: one probe a branch mispredicts nearly every lookup of an absent key (6 to 9 ns
/// each), two probes every second one, and all probes without a branch read every line where two
/// suffice on average.
#[inline]
pub(crate) fn contains(bits: Bits<'_, impl StoredWord>, num_hashes: u32, hash: u64) -> bool {
    let mut probes = DoubleHash::new(hash);
    let mut next = || bits.get(probes.next_unreduced());
    let groups = num_hashes / PROBES_PER_BRANCH;
    (0..groups).all(|_| next() & next() & next() & next() != 0)
        && (groups * PROBES_PER_BRANCH..num_hashes).fold(1, |all, _| all & next()) != 0
}

/// Sets all positions of a hash. Returns whether this call set any.
#[inline]
pub(crate) fn insert(mut bits: impl BitTarget, num_hashes: u32, hash: u64) -> bool {
    let mut probes = DoubleHash::new(hash);
    (0..num_hashes).fold(false, |new, _| new | bits.set(probes.next_unreduced()))
}

/// Number of probes of a key that a batch makes at once, after rounds of one each.
// In the last rounds of a batch of absent keys, few are left to share the wait for memory.
const LAST_AT_ONCE: u32 = 4;

/// Least number of rounds before that. At the design load each round spares half of the absent keys all further reads.
const LEAST_ROUNDS: u32 = 3;

/// [`contains`] for up to [`BATCH`] hashes: one probe of all keys per round, then on with those that may be contained, and
/// all remaining probes of these at the end.
pub(crate) fn contains_chunk(
    bits: Bits<'_, impl StoredWord>,
    num_hashes: u32,
    hashes: &[u64],
    answers: &mut [bool],
) {
    debug_assert!(hashes.len() <= BATCH && hashes.len() == answers.len());
    let mut lookups = [const { Lookup::new(0, 0) }; BATCH];
    for (index, (lookup, &hash)) in lookups.iter_mut().zip(hashes).enumerate() {
        *lookup = Lookup::new(index, hash);
    }
    let mut left = &mut lookups[..hashes.len()];
    let rounds = num_hashes.saturating_sub(LAST_AT_ONCE).max(LEAST_ROUNDS).min(num_hashes);
    for _ in 0..rounds {
        left.iter_mut().for_each(|lookup| lookup.advance(bits));
        left = keep_set(bits, left);
    }
    answers.fill(false);
    let rest = num_hashes - rounds;
    left.iter().for_each(|lookup| lookup.prefetch(bits, rest));
    left.iter().for_each(|lookup| answers[lookup.index] = lookup.finish(bits, rest));
}

/// A key of a batch.
#[derive(Clone, Copy)]
struct Lookup {
    /// The place of its answer.
    index: usize,
    probes: DoubleHash,
    /// The position to test next, whose word is on its way.
    position: u64,
}

impl Lookup {
    const fn new(index: usize, hash: u64) -> Self {
        Self { index, probes: DoubleHash::new(hash), position: 0 }
    }

    #[inline]
    fn advance(&mut self, bits: Bits<'_, impl StoredWord>) {
        self.position = self.probes.next_unreduced();
        bits.prefetch(self.position);
    }

    /// Prefetches the words of the next `rest` positions.
    #[inline]
    fn prefetch(&self, bits: Bits<'_, impl StoredWord>, rest: u32) {
        let mut probes = self.probes;
        (0..rest).for_each(|_| bits.prefetch(probes.next_unreduced()));
    }

    /// Tests whether the next `rest` positions are set.
    #[inline]
    fn finish(&self, bits: Bits<'_, impl StoredWord>, rest: u32) -> bool {
        let mut probes = self.probes;
        (0..rest).fold(1, |all, _| all & bits.get(probes.next_unreduced())) != 0
    }
}

/// Moves the lookups whose bit is set to the front and returns them.
// Without a branch on the bits, which cannot be predicted.
#[inline]
fn keep_set<'a>(bits: Bits<'_, impl StoredWord>, lookups: &'a mut [Lookup]) -> &'a mut [Lookup] {
    let mut kept = 0;
    for i in 0..lookups.len() {
        let lookup = lookups[i];
        lookups[kept] = lookup;
        kept += usize::from(bits.get(lookup.position) != 0);
    }
    &mut lookups[..kept]
}

/// [`insert`] for many hashes. Returns how many set a bit that was clear.
// The keys are taken in order, each with all its bits, so that the number is that of single inserts.
pub(crate) fn insert_chunk(bits: &mut impl BitTarget, num_hashes: u32, hashes: &[u64]) -> usize {
    let mut positions = [0; POSITIONS];
    let each = num_hashes as usize;
    let insert_some = |hashes: &[u64]| {
        let positions = &mut positions[..each * hashes.len()];
        for (of_key, &hash) in positions.chunks_exact_mut(each).zip(hashes) {
            let mut probes = DoubleHash::new(hash);
            for position in of_key {
                *position = probes.next_unreduced();
                bits.prefetch(*position);
            }
        }
        let mut set_all = |of_key: &&[u64]| of_key.iter().fold(false, |new, &p| new | bits.set(p));
        positions.chunks_exact(each).filter(|of_key| set_all(of_key)).count()
    };
    hashes.chunks(POSITIONS / each).map(insert_some).sum()
}
