//! Lookups and inserts, one by one and many at once, over any array of bits.
//!
//! The plain and the atomic filter run this code and no other, so that they agree bit for bit.

use crate::DoubleHash;

/// How many keys a batch has under way at once.
///
/// Enough to keep every outstanding read that a core can have (10 to 16 lines in the first cache, about
/// 50 in the second) busy, few enough that their states stay in the first cache.
pub(crate) const BATCH: usize = 64;

/// Bits that can be asked.
pub(crate) trait BitSource {
    fn num_bits(&self) -> u64;

    /// Whether a bit is set; `position` is below the number of bits.
    fn bit(&self, position: u64) -> bool;

    /// Asks for the word of a bit to be brought near.
    fn prefetch(&self, position: u64);
}

/// Bits that can be set.
pub(crate) trait BitTarget: BitSource {
    /// Sets a bit and returns whether it was clear before; `position` is below the number of bits.
    fn set_bit(&mut self, position: u64) -> bool;
}

/// Tests whether all positions of a hash are set.
#[inline]
pub(crate) fn contains(bits: &impl BitSource, num_hashes: u32, hash: u64) -> bool {
    let mut probes = DoubleHash::new(hash);
    (0..num_hashes).all(|_| bits.bit(probes.next_position(bits.num_bits())))
}

/// Sets all positions of a hash. Returns whether any was clear before.
#[inline]
pub(crate) fn insert(bits: &mut impl BitTarget, num_hashes: u32, hash: u64) -> bool {
    let mut probes = DoubleHash::new(hash);
    let num_bits = bits.num_bits();
    (0..num_hashes).fold(false, |new, _| new | bits.set_bit(probes.next_position(num_bits)))
}

/// [`contains`] for up to [`BATCH`] hashes: one probe of all keys a round, the next already on its way.
pub(crate) fn contains_chunk(
    bits: &impl BitSource,
    num_hashes: u32,
    hashes: &[u64],
    answers: &mut [bool],
) {
    debug_assert!(hashes.len() <= BATCH && hashes.len() == answers.len());
    let mut alive = [(DoubleHash::new(0), 0, 0); BATCH];
    let mut count = hashes.len();
    for (slot, (index, &hash)) in alive.iter_mut().zip(hashes.iter().enumerate()) {
        *slot = (DoubleHash::new(hash), 0, index);
    }
    for _ in 0..num_hashes {
        for (probes, position, _) in &mut alive[..count] {
            *position = probes.next_position(bits.num_bits());
            bits.prefetch(*position);
        }
        let mut kept = 0;
        for i in 0..count {
            let entry = alive[i];
            alive[kept] = entry;
            kept += usize::from(bits.bit(entry.1));
        }
        count = kept;
    }
    answers.fill(false);
    for &(_, _, index) in &alive[..count] {
        answers[index] = true;
    }
}

/// [`insert`] for up to [`BATCH`] hashes. Returns how many set a bit that was clear.
pub(crate) fn insert_chunk(bits: &mut impl BitTarget, num_hashes: u32, hashes: &[u64]) -> usize {
    for &hash in hashes {
        let mut probes = DoubleHash::new(hash);
        (0..num_hashes).for_each(|_| bits.prefetch(probes.next_position(bits.num_bits())));
    }
    hashes.iter().filter(|&&hash| insert(bits, num_hashes, hash)).count()
}
