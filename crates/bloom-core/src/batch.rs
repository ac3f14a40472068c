//! Batches of any length, cut into chunks whose hashes and states fit the stack.

use core::hash::Hash;

use pds_core::KeyHasher;
use pds_core::internal::{self, Bits, StoredWord, check_lengths};

use crate::probing::{BATCH, BitTarget, contains_chunk, insert_chunk};

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
