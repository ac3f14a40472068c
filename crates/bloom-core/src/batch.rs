//! Batches of any length, cut into chunks whose hashes and states fit the stack.

use core::hash::Hash;

use pds_core::hash::KeyHasher;
use pds_core::internal::{self, Bits, StoredWord, check_lengths};

use crate::probing::{
    Asked, BATCH, BitTarget, FILTERS, contained_in, contains_chunk, insert_chunk,
};

#[track_caller]
pub(crate) fn contains_hashes(
    bits: Bits<'_, impl StoredWord>,
    num_hashes: u32,
    hashes: &[u64],
    out: &mut [bool],
) {
    check_lengths(hashes, out);
    for (hashes, answers) in hashes.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        contains_chunk(bits, num_hashes, hashes, answers);
    }
}

#[track_caller]
pub(crate) fn contains_keys<K: Hash>(
    bits: Bits<'_, impl StoredWord>,
    num_hashes: u32,
    hasher: &impl KeyHasher,
    keys: &[K],
    out: &mut [bool],
) {
    internal::answer_keys::<BATCH, K, _>(hasher, keys, out, |hashes, answers| {
        contains_chunk(bits, num_hashes, hashes, answers);
    });
}

pub(crate) fn insert_hashes(mut bits: impl BitTarget, num_hashes: u32, hashes: &[u64]) -> usize {
    hashes.chunks(BATCH).map(|hashes| insert_chunk(&mut bits, num_hashes, hashes)).sum()
}

pub(crate) fn insert_keys<K: Hash>(
    mut bits: impl BitTarget,
    num_hashes: u32,
    hasher: &impl KeyHasher,
    keys: &[K],
) -> usize {
    internal::insert_keys::<BATCH, K>(hasher, keys, |hashes| {
        insert_chunk(&mut bits, num_hashes, hashes)
    })
}

/// Asks filters, as pairs of their bits and numbers of hashes, for one hash. Returns how many there are.
pub(crate) fn contains_in<'a, W: StoredWord + 'a>(
    filters: impl Iterator<Item = (Bits<'a, W>, u32)>,
    hash: u64,
    answers: &mut [bool],
) -> usize {
    let asked = |index, (bits, num_hashes)| Asked { bits, num_hashes, index };
    let (mut filters, mut count) = (filters, 0);
    while let Some(first) = filters.next() {
        let (mut chunk, mut len) = ([asked(0, first); FILTERS], 1);
        for (slot, filter) in chunk[1..].iter_mut().zip(&mut filters) {
            *slot = asked(len, filter);
            len += 1;
        }
        let answers = answers.get_mut(count..count + len).unwrap_or_default();
        count += len;
        if answers.len() == len {
            contained_in(&mut chunk[..len], hash, answers);
        }
    }
    count
}
