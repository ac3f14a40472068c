//! Lookups and inserts, one by one and many at once, over any array of bits.
//!
//! The plain and the atomic filter run this code and no other, so that they agree bit for bit.

use pds_core::hash::reduce;

use crate::DoubleHash;
use crate::bit_array::ones;

/// How many keys a batch has under way at once.
///
/// Few keys are left in the last rounds of a batch of absent ones, so that each of those rounds waits
/// for a read: 128 keys share that wait better than 64 do (by a tenth to a fifth beyond the cache), and
/// their states, 5 KiB, still leave most of the first cache to the bits.
pub(crate) const BATCH: usize = 128;

/// How many positions an insert has under way at once; no key has more, and their lines fill a third of
/// the first cache.
const POSITIONS: usize = 256;

/// Bits that can be asked.
pub(crate) trait BitSource {
    fn num_bits(&self) -> u64;

    /// Returns a bit, 0 or 1; `position` is below the number of bits.
    ///
    /// An integer, since the compiler makes branches of `bool`s that are joined by `&`.
    fn bit(&self, position: u64) -> u64;

    /// Returns the bit that a fraction of 2^64 falls on.
    #[inline]
    fn reduced_bit(&self, x: u64) -> u64 {
        self.bit(reduce(x, self.num_bits()))
    }

    /// Asks for the word of a bit to be brought near.
    fn prefetch(&self, position: u64);

    /// All bits in words, the unused ones of the last word clear.
    fn words(&self) -> impl Iterator<Item = u64>;
}

/// Counts the set bits.
pub(crate) fn count_ones(bits: &impl BitSource) -> u64 {
    bits.words().map(ones).sum()
}

/// Counts the bits that are set in one or both of two sources of one length.
pub(crate) fn count_union_ones<B: BitSource>(left: &B, right: &B) -> u64 {
    left.words().zip(right.words()).map(|(left, right)| ones(left | right)).sum()
}

/// Bits that can be set.
pub(crate) trait BitTarget: BitSource {
    /// Sets a bit and returns whether it was clear before; `position` is below the number of bits.
    fn set_bit(&mut self, position: u64) -> bool;

    /// Sets the bit that a fraction of 2^64 falls on and returns whether it was clear before.
    #[inline]
    fn set_reduced_bit(&mut self, x: u64) -> bool {
        let position = reduce(x, self.num_bits());
        self.set_bit(position)
    }
}

/// How many probes are made before a lookup looks at what they found.
const PROBES_A_BRANCH: u32 = 4;

/// Tests whether all positions of a hash are set.
///
/// Four probes a branch: one probe a branch mispredicts nearly every lookup of an absent key (6 to 9 ns
/// each), two probes every second one, and all probes without a branch read every line where two
/// suffice on average.
#[inline]
pub(crate) fn contains(bits: &impl BitSource, num_hashes: u32, hash: u64) -> bool {
    let mut probes = DoubleHash::new(hash);
    let mut next = || bits.reduced_bit(probes.next_unreduced());
    let groups = num_hashes / PROBES_A_BRANCH;
    (0..groups).all(|_| next() & next() & next() & next() != 0)
        && (groups * PROBES_A_BRANCH..num_hashes).fold(1, |all, _| all & next()) != 0
}

/// Sets all positions of a hash. Returns whether any was clear before.
#[inline]
pub(crate) fn insert(bits: &mut impl BitTarget, num_hashes: u32, hash: u64) -> bool {
    let mut probes = DoubleHash::new(hash);
    (0..num_hashes).fold(false, |new, _| new | bits.set_reduced_bit(probes.next_unreduced()))
}

/// The probes of a key that a batch makes at once, after rounds of one each.
///
/// In the last rounds of a batch of absent keys, few are left to share the wait for memory.
const LAST_AT_ONCE: u32 = 4;

/// The rounds before that, at least: at the design load each spares half of the absent keys all further reads.
const LEAST_ROUNDS: u32 = 3;

/// [`contains`] for up to [`BATCH`] hashes: one probe of all keys a round, then on with those that may
/// be contained, and all that is left of their probes in the end.
pub(crate) fn contains_chunk(
    bits: &impl BitSource,
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
    fn advance(&mut self, bits: &impl BitSource) {
        self.position = self.probes.next_position(bits.num_bits());
        bits.prefetch(self.position);
    }

    /// Asks for the words of the next `rest` positions.
    #[inline]
    fn prefetch(&self, bits: &impl BitSource, rest: u32) {
        let mut probes = self.probes;
        (0..rest).for_each(|_| bits.prefetch(probes.next_position(bits.num_bits())));
    }

    /// Tests whether the next `rest` positions are set.
    #[inline]
    fn finish(&self, bits: &impl BitSource, rest: u32) -> bool {
        let mut probes = self.probes;
        (0..rest).fold(1, |all, _| all & bits.reduced_bit(probes.next_unreduced())) != 0
    }
}

/// Moves the lookups whose bit is set to the front and returns them, without a branch on the bits.
#[inline]
fn keep_set<'a>(bits: &impl BitSource, lookups: &'a mut [Lookup]) -> &'a mut [Lookup] {
    let mut kept = 0;
    for i in 0..lookups.len() {
        let lookup = lookups[i];
        lookups[kept] = lookup;
        kept += usize::from(bits.bit(lookup.position) != 0);
    }
    &mut lookups[..kept]
}

/// [`insert`] for many hashes. Returns how many set a bit that was clear.
///
/// The keys are taken in order, each with all its bits, so that the number is that of one by one.
pub(crate) fn insert_chunk(bits: &mut impl BitTarget, num_hashes: u32, hashes: &[u64]) -> usize {
    let mut positions = [0; POSITIONS];
    let each = num_hashes as usize;
    let insert_some = |hashes: &[u64]| {
        let positions = &mut positions[..each * hashes.len()];
        for (of_key, &hash) in positions.chunks_exact_mut(each).zip(hashes) {
            let mut probes = DoubleHash::new(hash);
            for position in of_key {
                *position = probes.next_position(bits.num_bits());
                bits.prefetch(*position);
            }
        }
        let mut set_all =
            |of_key: &&[u64]| of_key.iter().fold(false, |new, &p| new | bits.set_bit(p));
        positions.chunks_exact(each).filter(|of_key| set_all(of_key)).count()
    };
    hashes.chunks(POSITIONS / each).map(insert_some).sum()
}
