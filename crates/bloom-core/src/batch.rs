//! Batches of any length, cut into chunks whose hashes and states fit the stack.

use core::array;
use core::hash::{BuildHasher, Hash};

use crate::probing::{BATCH, BitSource, BitTarget, contains_chunk, insert_chunk};

pub(crate) fn contains_hashes(
    bits: &impl BitSource,
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
    bits: &impl BitSource,
    num_hashes: u32,
    hasher: &impl BuildHasher,
    keys: &[K],
    out: &mut [bool],
) {
    check_lengths(keys, out);
    for (keys, answers) in keys.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        contains_chunk(bits, num_hashes, &hash_chunk(hasher, keys)[..keys.len()], answers);
    }
}

pub(crate) fn insert_hashes(bits: &mut impl BitTarget, num_hashes: u32, hashes: &[u64]) -> usize {
    hashes.chunks(BATCH).map(|hashes| insert_chunk(bits, num_hashes, hashes)).sum()
}

pub(crate) fn insert_keys<K: Hash>(
    bits: &mut impl BitTarget,
    num_hashes: u32,
    hasher: &impl BuildHasher,
    keys: &[K],
) -> usize {
    let insert =
        |keys: &[K]| insert_chunk(bits, num_hashes, &hash_chunk(hasher, keys)[..keys.len()]);
    keys.chunks(BATCH).map(insert).sum()
}

/// The hashes of up to [`BATCH`] keys; those beyond are 0.
fn hash_chunk<K: Hash>(hasher: &impl BuildHasher, keys: &[K]) -> [u64; BATCH] {
    array::from_fn(|i| keys.get(i).map_or(0, |key| hasher.hash_one(key)))
}

fn check_lengths<K>(keys: &[K], out: &[bool]) {
    assert_eq!(keys.len(), out.len(), "one answer a key");
}
