//! The entries of a set that is built: collected, partitioned, sorted, without duplicates.

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use pds_core::error::AllocError;
use pds_core::hash::reduce;

use crate::system::ones;
use crate::{ConstructionError, threads};

/// Greatest number of parts that are sorted apart.
const MAX_PARTS: usize = 1 << 12;
/// Number of entries from which on a sort is divided into parts of at least that many.
const PART: usize = 1 << 13;

/// A key by its hash, alone or with what belongs to it.
pub(crate) trait Entry: Copy + Send + Sync {
    /// Returns the hash of the key.
    fn hash(&self) -> u64;

    /// Checks that the entries of one key do not contradict each other.
    fn check_same(entries: &[Self]) -> Result<(), ConstructionError>;
}

impl Entry for u64 {
    #[inline(always)]
    fn hash(&self) -> u64 {
        *self
    }

    fn check_same(_: &[Self]) -> Result<(), ConstructionError> {
        Ok(())
    }
}

/// A key with its value.
impl Entry for (u64, u64) {
    #[inline(always)]
    fn hash(&self) -> u64 {
        self.0
    }

    fn check_same(entries: &[Self]) -> Result<(), ConstructionError> {
        // The two least values: they do not depend on the order of the entries.
        let least = entries.iter().min_by_key(|entry| entry.1);
        let Some(&(hash, first)) = least else { return Ok(()) };
        let others = entries.iter().map(|entry| entry.1).filter(|&value| value != first);
        others.min().map_or(Ok(()), |second| {
            Err(ConstructionError::Contradiction { hash, values: [first, second] })
        })
    }
}

/// Returns the number of bits of a value: the given one, or that of the greatest value.
pub(crate) fn value_bits(entries: &[(u64, u64)], given: Option<u32>) -> u32 {
    let greatest = entries.iter().map(|&(_, value)| value).max().unwrap_or(0);
    given.unwrap_or((64 - greatest.leading_zeros()).max(1))
}

/// Checks that the value of a key has at most `bits` bits.
///
/// # Errors
/// [`ConstructionError::ValueTooLarge`].
pub(crate) fn check_value((hash, value): (u64, u64), bits: u32) -> Result<(), ConstructionError> {
    let max = ones(bits.into());
    if value > max {
        return Err(ConstructionError::ValueTooLarge { hash, value, max });
    }
    Ok(())
}

/// Collects entries into memory that is refused politely.
///
/// # Errors
/// [`AllocError`] if the allocator refuses the memory.
pub(crate) fn collect<E>(entries: impl IntoIterator<Item = E>) -> Result<Vec<E>, AllocError> {
    let entries = entries.into_iter();
    let mut collected = Vec::new();
    reserve(&mut collected, entries.size_hint().0)?;
    for entry in entries {
        if collected.len() == collected.capacity() {
            let more = collected.len().max(4);
            reserve(&mut collected, more)?;
        }
        collected.push(entry);
    }
    Ok(collected)
}

/// Makes room for `more` entries.
///
/// # Errors
/// [`AllocError`] if the allocator refuses the memory.
pub(crate) fn reserve<E>(entries: &mut Vec<E>, more: usize) -> Result<(), AllocError> {
    let bytes = (entries.len() as u64).saturating_add(more as u64);
    let refused = AllocError { bytes: bytes.saturating_mul(size_of::<E>() as u64) };
    entries.try_reserve_exact(more).map_err(|_| refused)
}

/// Orders entries by `reduce(hash, parts)`, in place. Returns where each part ends.
///
/// # Complexity
/// O(entries); allocates two numbers per part.
pub(crate) fn partition<E: Entry>(entries: &mut [E], parts: usize) -> Vec<usize> {
    partition_by(entries, parts, Entry::hash)
}

/// Orders entries by `reduce(position, parts)`, as [`partition`].
#[expect(clippy::cast_possible_truncation, reason = "a part is below a `usize`")]
pub(crate) fn partition_by<E: Copy>(
    entries: &mut [E],
    parts: usize,
    position: impl Fn(&E) -> u64,
) -> Vec<usize> {
    if parts == 1 {
        return vec![entries.len()];
    }
    let part = |entry: &E| reduce(position(entry), parts as u64) as usize;
    let mut ends = vec![0; parts];
    entries.iter().for_each(|entry| ends[part(entry)] += 1);
    let mut next = vec![0; parts];
    let mut sum = 0;
    for (next, end) in next.iter_mut().zip(&mut ends) {
        *next = sum;
        sum += *end;
        *end = sum;
    }
    for this in 0..parts {
        while next[this] < ends[this] {
            // One entry moves into its part, the entry there moves on, until one belongs where the first one was.
            let mut entry = entries[next[this]];
            loop {
                let home = part(&entry);
                mem::swap(&mut entry, &mut entries[next[home]]);
                next[home] += 1;
                if home == this {
                    break;
                }
            }
        }
    }
    ends
}

/// Divides entries at the given ends.
pub(crate) fn split_at_ends<'a, E>(mut entries: &'a mut [E], ends: &[usize]) -> Vec<&'a mut [E]> {
    let mut start = 0;
    let mut split = |&end: &usize| {
        let (part, rest) = mem::take(&mut entries).split_at_mut(end - start);
        (entries, start) = (rest, end);
        part
    };
    ends.iter().map(&mut split).collect()
}

/// Sorts entries by `position`, in place.
///
/// # Complexity
/// O(n log n), O(n) for uniform positions of which few are equal; allocates at most 64 KiB.
pub(crate) fn sort<E: Copy + Send>(
    entries: &mut [E],
    parallel: bool,
    position: impl Fn(&E) -> u64 + Sync,
) {
    let parts = (entries.len() / PART).clamp(1, MAX_PARTS);
    let ends = partition_by(entries, parts, &position);
    let sorted = threads::map(parallel, split_at_ends(entries, &ends), |part| {
        part.sort_unstable_by_key(&position);
        Ok::<_, core::convert::Infallible>(())
    });
    let Ok(_) = sorted;
}

/// Sorts entries by hash and removes duplicates, in place.
///
/// # Errors
/// [`ConstructionError::Contradiction`] if two entries of one key differ. It names the least such hash and its two least values.
pub(crate) fn sort_distinct<E: Entry>(
    entries: &mut Vec<E>,
    parallel: bool,
) -> Result<(), ConstructionError> {
    sort(entries, parallel, Entry::hash);
    entries.chunk_by(|left, right| left.hash() == right.hash()).try_for_each(E::check_same)?;
    entries.dedup_by_key(|entry| entry.hash());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds_testkit::keys;

    #[test]
    fn a_partition_is_ordered_and_keeps_every_entry() {
        for (len, parts) in [(0, 1), (1, 3), (1_000, 1), (1_000, 7), (20_000, 4_096)] {
            let mut entries: Vec<u64> = keys::random(1).take(len).collect();
            let mut sorted = entries.clone();
            sorted.sort_unstable();
            let ends = partition(&mut entries, parts);
            assert_eq!(ends.len(), parts);
            let pieces = split_at_ends(&mut entries, &ends);
            assert_eq!(pieces.len(), parts);
            for (number, piece) in (0..).zip(pieces) {
                assert!(piece.iter().all(|&hash| reduce(hash, parts as u64) == number));
            }
            entries.sort_unstable();
            assert_eq!(entries, sorted);
        }
    }

    #[test]
    fn sorting_removes_duplicates_on_any_number_of_threads() {
        for parallel in [false, true] {
            for len in [0, 1, 2, 100, 50_000] {
                let distinct: Vec<u64> = keys::random(2).take(len).collect();
                let mut entries = [&distinct[..], &distinct[len / 2..]].concat();
                sort_distinct(&mut entries, parallel).unwrap();
                let mut expected = distinct;
                expected.sort_unstable();
                assert_eq!(entries, expected);
            }
        }
    }

    #[test]
    fn equal_hashes_are_sorted_in_few_steps() {
        let mut entries = vec![7; 1_000_000];
        sort_distinct(&mut entries, false).unwrap();
        assert_eq!(entries, [7]);
    }

    #[test]
    fn contradictions_name_both_values() {
        let mut entries = vec![(5, 3), (4, 1), (5, 3), (4, 1)];
        sort_distinct(&mut entries, false).unwrap();
        assert_eq!(entries, [(4, 1), (5, 3)]);
        entries.push((5, 2));
        let expected = ConstructionError::Contradiction { hash: 5, values: [2, 3] };
        assert_eq!(sort_distinct(&mut entries, false), Err(expected));
    }

    #[test]
    fn more_entries_than_memory_are_refused() {
        assert!(collect((0..usize::MAX).map(|i| i as u64)).is_err());
        assert_eq!(collect(0..10).unwrap(), (0..10).collect::<Vec<u64>>());
    }
}
