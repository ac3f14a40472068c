//! Batches of keys, hashed some at a time into an array on the stack.

use core::hash::Hash;

use crate::KeyHasher;

/// Asks for many keys, `N` at a time: `answer` writes the answers for their hashes.
///
/// # Panics
/// When the slices differ in length.
#[inline]
pub fn answer_keys<const N: usize, K: Hash, T>(
    hasher: &impl KeyHasher,
    keys: &[K],
    out: &mut [T],
    answer: impl Fn(&[u64], &mut [T]),
) {
    check_lengths(keys, out);
    for (keys, answers) in keys.chunks(N).zip(out.chunks_mut(N)) {
        answer(&hash_chunk::<N, K>(hasher, keys)[..keys.len()], answers);
    }
}

/// Inserts many keys, `N` at a time: `insert` returns how many of their hashes changed something.
#[inline]
pub fn insert_keys<const N: usize, K: Hash>(
    hasher: &impl KeyHasher,
    keys: &[K],
    mut insert: impl FnMut(&[u64]) -> usize,
) -> usize {
    keys.chunks(N).map(|keys| insert(&hash_chunk::<N, K>(hasher, keys)[..keys.len()])).sum()
}

/// Refuses a batch that has not one answer a key.
///
/// # Panics
/// When the slices differ in length.
#[inline]
pub fn check_lengths<K, T>(keys: &[K], out: &[T]) {
    assert_eq!(keys.len(), out.len(), "one answer a key");
}

/// The hashes of up to `N` keys; those beyond are 0.
///
/// A plain loop over the keys that are there, which compilers turn into vector code where key and hasher allow.
#[inline]
pub fn hash_chunk<const N: usize, K: Hash>(hasher: &impl KeyHasher, keys: &[K]) -> [u64; N] {
    let mut hashes = [0; N];
    hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = hasher.hash_key(key));
    hashes
}
