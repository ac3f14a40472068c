//! Lookups and inserts, single and in batches, over bits in any storage.
//!
//! Filters in all storages run this code, so that they agree bit for bit.

#[cfg(target_has_atomic = "64")]
use pds_core::internal::AtomicU64;
use pds_core::internal::{Bits, BitsMut, StoredWord};

use crate::DoubleHash;

/// Number of keys of a batch that are processed together.
// Few keys remain in the last rounds of a batch of absent keys, so each of those rounds waits for a read. 128 keys
// share that wait better than 64 do: by a tenth to a fifth beyond the cache. Their states still leave most of the
// first-level cache to the bits.
pub(crate) const BATCH: usize = 128;

/// Number of positions that an insert prefetches together. No key has more, and their lines fill a third of the
/// first-level cache.
const POSITIONS: usize = 256;

/// The largest number of hashes for which single lookups are faster than a batch.
// A batch first fills its memory of states (5 KiB, 70 to 90 ns). In a filter of 8 MiB at 1 %, absent keys take 15 ns
// each one by one, 15 ns in batches of 32, and 21 ns in batches of 16.
const FEW: usize = 31;

/// The largest number of bits (512 KiB) of a filter that always takes single calls, because it stays in the cache.
// Prefetching gains nothing there and costs instructions: contained keys take 15 ns in batches and 7 to 8 ns one by
// one, absent keys 6 to 7 ns in both.
const IN_CACHE: u64 = 1 << 22;

/// Returns whether a batch of this number of hashes is faster than single calls.
#[inline]
fn pays<W>(bits: Bits<'_, W>, hashes: usize) -> bool {
    hashes > FEW && bits.num_bits() > IN_CACHE
}

/// Bits that can be set.
pub(crate) trait BitTarget {
    /// The words of the bits.
    type Word;

    /// Returns the same bits to read them.
    fn as_bits(&self) -> Bits<'_, Self::Word>;

    /// Sets the bit at a fraction of 2^64 of the bits. Returns whether this call set it.
    fn set(&mut self, x: u64) -> bool;

    /// Sets the bit at a position. Returns whether this call set it.
    fn set_at(&mut self, position: u64) -> bool;
}

impl BitTarget for BitsMut<'_> {
    type Word = u64;

    #[inline(always)]
    fn as_bits(&self) -> Bits<'_, u64> {
        self.as_bits()
    }

    #[inline(always)]
    fn set(&mut self, x: u64) -> bool {
        self.set(x)
    }

    #[inline(always)]
    fn set_at(&mut self, position: u64) -> bool {
        self.set_at(position)
    }
}

impl<B: BitTarget> BitTarget for &mut B {
    type Word = B::Word;

    #[inline(always)]
    fn as_bits(&self) -> Bits<'_, B::Word> {
        (**self).as_bits()
    }

    #[inline(always)]
    fn set(&mut self, x: u64) -> bool {
        (**self).set(x)
    }

    #[inline(always)]
    fn set_at(&mut self, position: u64) -> bool {
        (**self).set_at(position)
    }
}

#[cfg(target_has_atomic = "64")]
impl BitTarget for Bits<'_, AtomicU64> {
    type Word = AtomicU64;

    #[inline(always)]
    fn as_bits(&self) -> Bits<'_, AtomicU64> {
        *self
    }

    #[inline(always)]
    fn set(&mut self, x: u64) -> bool {
        (*self).set(x)
    }

    #[inline(always)]
    fn set_at(&mut self, position: u64) -> bool {
        (*self).set_at(position)
    }
}

/// Number of probes that a lookup makes before it branches on their bits.
// With 1, 2, 3 and 4, an absent key reads 2.0, 2.7, 3.4 and 4.2 words on average, and the first branch mispredicts a
// half, a quarter, an eighth and a sixteenth of the lookups. In the cache mispredictions cost most, beyond it reads do.
// A lookup took
// 16.0, 8.0, 6.2 and 5.8 ns in 64 KiB, and 74, 52, 56 and 63 ns in one of a thousand filters of 120 KB (2026-11-28, hash
// given, absent keys at 1 %).
const PROBES_PER_BRANCH: u32 = 3;

// The numbers of hashes for the rates 1 % and 0.1 % are constants here, and their loops are unrolled and inlined into
// the caller. This saves a fifth of the time of a lookup in the cache, and a tenth of that of an insert.

/// Tests whether all positions of a hash are set.
#[inline]
pub(crate) fn contains(bits: Bits<'_, impl StoredWord>, num_hashes: u32, hash: u64) -> bool {
    match num_hashes {
        7 => contains_of(bits, 7, hash),
        10 => contains_of(bits, 10, hash),
        _ => contains_uncommon(bits, num_hashes, hash),
    }
}

#[inline(never)]
fn contains_uncommon(bits: Bits<'_, impl StoredWord>, num_hashes: u32, hash: u64) -> bool {
    contains_of(bits, num_hashes, hash)
}

#[inline(always)]
fn contains_of(bits: Bits<'_, impl StoredWord>, num_hashes: u32, hash: u64) -> bool {
    let mut probes = DoubleHash::new(hash);
    let mut all_set = |count| (0..count).fold(1, |all, _| all & bits.get(probes.next_unreduced()));
    let mut left = num_hashes;
    while left >= PROBES_PER_BRANCH {
        if all_set(PROBES_PER_BRANCH) == 0 {
            return false;
        }
        left -= PROBES_PER_BRANCH;
    }
    all_set(left) != 0
}

/// Sets all positions of a hash. Returns whether this call set any.
#[inline]
pub(crate) fn insert(bits: impl BitTarget, num_hashes: u32, hash: u64) -> bool {
    match num_hashes {
        7 => insert_of(bits, 7, hash),
        10 => insert_of(bits, 10, hash),
        _ => insert_uncommon(bits, num_hashes, hash),
    }
}

#[inline(never)]
fn insert_uncommon(bits: impl BitTarget, num_hashes: u32, hash: u64) -> bool {
    insert_of(bits, num_hashes, hash)
}

#[inline(always)]
fn insert_of(mut bits: impl BitTarget, num_hashes: u32, hash: u64) -> bool {
    let mut probes = DoubleHash::new(hash);
    (0..num_hashes).fold(false, |new, _| new | bits.set(probes.next_unreduced()))
}

/// Number of filters that are asked for one hash at once.
// Twice as many as keys of a batch: their states are smaller, and the last rounds have more to wait for together.
pub(crate) const FILTERS: usize = 256;

/// A filter that is asked for a hash, and the place of its answer.
pub(crate) struct Asked<'a, W> {
    pub(crate) bits: Bits<'a, W>,
    pub(crate) num_hashes: u32,
    pub(crate) index: usize,
}

impl<W> Copy for Asked<'_, W> {}

impl<W> Clone for Asked<'_, W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

/// Asks up to [`FILTERS`] filters for one hash: one probe of all of them per round, then on with those that may contain it.
// The sequence of probes does not depend on the filter, so that all of them share it.
pub(crate) fn contained_in<W: StoredWord>(
    mut left: &mut [Asked<'_, W>],
    hash: u64,
    answers: &mut [bool],
) {
    let (mut probes, mut round) = (DoubleHash::new(hash), 0);
    while !left.is_empty() {
        let x = probes.next_unreduced();
        round += 1;
        left.iter().for_each(|asked| asked.bits.prefetch(asked.bits.position(x)));
        let mut kept = 0;
        for i in 0..left.len() {
            let asked = left[i];
            let (is_set, is_last) = (asked.bits.get(x) != 0, asked.num_hashes == round);
            answers[asked.index] = is_set & is_last;
            left[kept] = asked;
            kept += usize::from(is_set & !is_last);
        }
        left = &mut left[..kept];
    }
}

/// Number of probes of a key that a batch makes at once, after rounds of one each.
// In the last rounds of a batch of absent keys, few keys remain to share the wait for memory.
const LAST_AT_ONCE: u32 = 4;

/// Least number of rounds before that. At the design load each round decides half of the remaining absent keys.
const LEAST_ROUNDS: u32 = 3;

/// [`contains`] for up to [`BATCH`] hashes.
pub(crate) fn contains_chunk(
    bits: Bits<'_, impl StoredWord>,
    num_hashes: u32,
    hashes: &[u64],
    answers: &mut [bool],
) {
    debug_assert!(hashes.len() <= BATCH && hashes.len() == answers.len());
    if pays(bits, hashes.len()) {
        contains_in_rounds(bits, num_hashes, hashes, answers);
    } else {
        let hashes = hashes.iter().zip(answers);
        hashes.for_each(|(&hash, answer)| *answer = contains(bits, num_hashes, hash));
    }
}

/// Tests one probe of each remaining key per round. A round drops the keys that are absent. The end tests all remaining
/// probes of the remaining keys.
// Not inlined: otherwise single lookups would reserve the memory of its states, too.
#[inline(never)]
fn contains_in_rounds(
    bits: Bits<'_, impl StoredWord>,
    num_hashes: u32,
    hashes: &[u64],
    answers: &mut [bool],
) {
    let mut lookups = [Lookup::ZERO; BATCH];
    for (index, (lookup, &hash)) in lookups.iter_mut().zip(hashes).enumerate() {
        *lookup = Lookup { index, probes: DoubleHash::new(hash), position: 0 };
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
    /// The index of its answer.
    index: usize,
    probes: DoubleHash,
    /// The next position to test. Its word has been prefetched.
    position: u64,
}

impl Lookup {
    const ZERO: Self = Self { index: 0, probes: DoubleHash::ZERO, position: 0 };

    #[inline]
    fn advance(&mut self, bits: Bits<'_, impl StoredWord>) {
        self.position = bits.position(self.probes.next_unreduced());
        bits.prefetch(self.position);
    }

    /// Prefetches the words of the next `rest` positions.
    #[inline]
    fn prefetch(&self, bits: Bits<'_, impl StoredWord>, rest: u32) {
        let mut probes = self.probes;
        (0..rest).for_each(|_| bits.prefetch(bits.position(probes.next_unreduced())));
    }

    /// Tests whether the next `rest` positions are set.
    #[inline]
    fn finish(&self, bits: Bits<'_, impl StoredWord>, rest: u32) -> bool {
        let mut probes = self.probes;
        (0..rest).fold(1, |all, _| all & bits.get(probes.next_unreduced())) != 0
    }
}

/// Moves the lookups whose bit is set to the front and returns them.
// Without a branch on the bits, which are unpredictable.
#[inline]
fn keep_set<'a>(bits: Bits<'_, impl StoredWord>, lookups: &'a mut [Lookup]) -> &'a mut [Lookup] {
    let mut kept = 0;
    for i in 0..lookups.len() {
        let lookup = lookups[i];
        lookups[kept] = lookup;
        kept += usize::from(bits.at(lookup.position) != 0);
    }
    &mut lookups[..kept]
}

/// [`insert`] for many hashes. Returns how many set a bit that was clear.
// The keys are inserted in order, each with all its bits, so the number is that of single inserts.
pub(crate) fn insert_chunk(bits: &mut impl BitTarget, num_hashes: u32, hashes: &[u64]) -> usize {
    if !pays(bits.as_bits(), hashes.len()) {
        return hashes.iter().filter(|&&hash| insert(&mut *bits, num_hashes, hash)).count();
    }
    let mut positions = [0; POSITIONS];
    let each = num_hashes as usize;
    let insert_some = |hashes: &[u64]| {
        let positions = &mut positions[..each * hashes.len()];
        for (of_key, &hash) in positions.chunks_exact_mut(each).zip(hashes) {
            let (bits, mut probes) = (bits.as_bits(), DoubleHash::new(hash));
            for position in of_key {
                *position = bits.position(probes.next_unreduced());
                bits.prefetch(*position);
            }
        }
        let mut set_all =
            |of_key: &&[u64]| of_key.iter().fold(false, |new, &p| new | bits.set_at(p));
        positions.chunks_exact(each).filter(|of_key| set_all(of_key)).count()
    };
    hashes.chunks(POSITIONS / each).map(insert_some).sum()
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::BloomFilter;
    use alloc::vec;
    use alloc::vec::Vec;
    use pds_testkit::words::{Counted, reads_of};

    /// Hashes, uniform in all bits.
    fn hashes(range: core::ops::Range<u64>) -> Vec<u64> {
        range.map(pds_core::hash::finalize).collect()
    }

    /// Words that count their reads, of a filter that holds the hashes below `items`, and its parameters.
    fn filled(items: u64, rate: f64) -> (Vec<Counted>, u64, u32) {
        let mut filter = BloomFilter::new(items, rate).unwrap();
        filter.insert_hash_batch(&hashes(0..items));
        let words = filter.bits().words().iter().map(|&word| Counted(word)).collect();
        (words, filter.num_bits(), filter.num_hashes())
    }

    /// The README states how many words a lookup reads. With three probes per branch and a fill of a half, an absent key
    /// reads 3 words for each group that it reaches: 3 (1 + 1/8 + 1/64), the last of one probe for seven hashes.
    #[test]
    fn case_40_an_absent_key_reads_three_or_four_words() {
        const ASKED: u64 = 20_000;
        for (rate, most) in [(0.1, 3.5), (0.01, 3.5), (0.001, 3.5), (0.0001, 3.5)] {
            let (words, num_bits, num_hashes) = filled(10_000, rate);
            let bits = Bits::new(&words, num_bits);
            let reads = |hashes: &[u64]| {
                let ask = || hashes.iter().for_each(|&h| _ = contains(bits, num_hashes, h));
                reads_of(ask) as f64 / hashes.len() as f64
            };
            // The standard error of a mean of 20,000 counts is below 0.02.
            let absent = reads(&hashes(10_000..10_000 + ASKED));
            assert!((3.0..most).contains(&absent), "{absent} words at a rate of {rate}");
            let present = reads(&hashes(0..10_000));
            assert_eq!(present, f64::from(num_hashes), "at a rate of {rate}");
        }
    }

    /// A batch of few keys, or in a small filter, makes the same reads as single calls.
    #[test]
    fn case_46_few_keys_are_asked_one_by_one() {
        let (small, large) = (filled(1_000, 0.01), filled(IN_CACHE / 8, 0.01));
        for (len, (words, num_bits, num_hashes)) in
            [(1, &large), (2, &large), (FEW, &large), (FEW + 1, &small), (BATCH, &small)]
        {
            let bits = Bits::new(words, *num_bits);
            let hashes = hashes(1 << 40..(1 << 40) + len as u64);
            let single = reads_of(|| {
                hashes.iter().for_each(|&hash| _ = contains(bits, *num_hashes, hash));
            });
            let mut answers = vec![true; len];
            let batch = reads_of(|| contains_chunk(bits, *num_hashes, &hashes, &mut answers));
            assert_eq!(batch, single, "{len} keys in {num_bits} bits");
        }
        // Rounds of one probe each read fewer words. This shows that the counts distinguish the two.
        let (words, num_bits, num_hashes) = large;
        let bits = Bits::new(&words, num_bits);
        let hashes = hashes(1 << 40..(1 << 40) + BATCH as u64);
        let single = reads_of(|| hashes.iter().for_each(|&h| _ = contains(bits, num_hashes, h)));
        let batch = reads_of(|| contains_chunk(bits, num_hashes, &hashes, &mut [true; BATCH]));
        assert!(batch < single, "{batch} reads, {single} one by one");
    }
}
