//! Batches of keys: hashing in chunks, and prefetching.
//!
//! Use [`visit_ahead`] if the visit of a key is a few vector instructions, and [`visit_chunks`] if it is longer or writes:
//! each was measured to be the faster one there. Use [`answer_keys`] and [`insert_keys`] if a structure has a loop of its
//! own over the hashes of a chunk.

use core::hash::Hash;

use crate::hash::KeyHasher;

/// Number of keys that are prefetched before the first of them is visited.
// Enough to keep busy every read that a core can have outstanding, few enough that no line leaves the first cache before
// its turn.
pub const AHEAD: usize = 32;

/// The work of a batch on each key.
// Trait methods instead of closures, because the compiler leaves long closures as functions of their own, which are then
// not compiled for the processor of the backend.
pub trait Visitor {
    /// The position of a key in memory, and what else a visit needs of its hash.
    type Place: Copy + Default;

    /// Whether [`visit_ahead`] hashes a chunk in a loop of its own, which compilers vectorize where key and hasher allow it.
    ///
    /// `false` if vectors have no 64-bit multiplication: one that is made of others is slower than none.
    const HASHES_APART: bool = true;

    /// Finds the place of a hash, and prefetches it.
    fn prefetch(&self, hash: u64) -> Self::Place;

    /// Visits a key, given its index in its chunk.
    fn visit(&mut self, index: usize, place: Self::Place);

    /// Ends a chunk of `len` keys: [`AHEAD`] in all chunks but the last.
    #[inline(always)]
    fn end(&mut self, _len: usize) {}
}

/// Visits every key in order, each prefetched [`AHEAD`] keys earlier. Returns the visitor.
///
/// One prefetch between every two visits keeps the memory evenly busy.
#[inline(always)]
pub fn visit_ahead<K, V: Visitor>(keys: &[K], hash: impl Fn(&K) -> u64, mut visitor: V) -> V {
    let (mut hashes, mut places) = ([0; AHEAD], [V::Place::default(); AHEAD]);
    let mut chunks = keys.chunks(AHEAD);
    let mut now = chunks.next().unwrap_or_default();
    for (place, &hash) in places.iter_mut().zip(hash_each(&mut hashes, now, &hash)) {
        *place = visitor.prefetch(hash);
    }
    for next in chunks {
        let slots = places.iter_mut().enumerate();
        if V::HASHES_APART {
            for ((index, place), &hash) in slots.zip(hash_each(&mut hashes, next, &hash)) {
                *place = visit_one(&mut visitor, index, *place, hash);
            }
        } else {
            for ((index, place), key) in slots.zip(next) {
                *place = visit_one(&mut visitor, index, *place, hash(key));
            }
        }
        for (index, &place) in places.iter().enumerate().skip(next.len()) {
            visitor.visit(index, place);
        }
        visitor.end(AHEAD);
        now = next;
    }
    visit_all(&places[..now.len()], visitor)
}

/// Prefetches the key with this hash, and visits an earlier one. Returns the place of the prefetched key.
#[inline(always)]
fn visit_one<V: Visitor>(visitor: &mut V, index: usize, earlier: V::Place, hash: u64) -> V::Place {
    let place = visitor.prefetch(hash);
    visitor.visit(index, earlier);
    place
}

/// Visits every key in order, the keys of a chunk after all of them were prefetched. Returns the visitor.
#[inline(always)]
pub fn visit_chunks<K, V: Visitor>(keys: &[K], hash: impl Fn(&K) -> u64, mut visitor: V) -> V {
    let (mut hashes, mut places) = ([0; AHEAD], [V::Place::default(); AHEAD]);
    for keys in keys.chunks(AHEAD) {
        for (place, &hash) in places.iter_mut().zip(hash_each(&mut hashes, keys, &hash)) {
            *place = visitor.prefetch(hash);
        }
        visitor = visit_all(&places[..keys.len()], visitor);
    }
    visitor
}

#[inline(always)]
fn visit_all<V: Visitor>(places: &[V::Place], mut visitor: V) -> V {
    for (index, &place) in places.iter().enumerate() {
        visitor.visit(index, place);
    }
    visitor.end(places.len());
    visitor
}

/// Hashes up to `N` keys into `hashes`. Returns their hashes.
// A loop of its own, which compilers vectorize where key and hasher allow it.
#[inline(always)]
fn hash_each<'a, const N: usize, K>(
    hashes: &'a mut [u64; N],
    keys: &[K],
    hash: impl Fn(&K) -> u64,
) -> &'a [u64] {
    for (place, key) in hashes.iter_mut().zip(keys) {
        *place = hash(key);
    }
    &hashes[..keys.len()]
}

/// Answers many keys, `N` at a time: `answer` writes the answers for their hashes.
///
/// # Panics
/// If the slices differ in length.
#[inline]
#[track_caller]
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

/// Checks that a batch has one answer per key.
///
/// # Panics
/// If the slices differ in length.
#[inline]
#[track_caller]
pub fn check_lengths<K, T>(keys: &[K], out: &[T]) {
    let (keys, answers) = (keys.len(), out.len());
    assert!(keys == answers, "one answer per key: {keys} keys, but {answers} answers");
}

/// Hashes up to `N` keys. The hashes beyond the last key are 0.
#[inline]
pub fn hash_chunk<const N: usize, K: Hash>(hasher: &impl KeyHasher, keys: &[K]) -> [u64; N] {
    let mut hashes = [0; N];
    hash_each(&mut hashes, keys, |key| hasher.hash_key(key));
    hashes
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use core::cell::Cell;

    /// Checks that every key is prefetched before its turn, and visited once and in order.
    #[derive(Default)]
    struct Witness {
        prefetched: Cell<u64>,
        visited: u64,
        chunk: usize,
        chunks: Vec<usize>,
    }

    impl Visitor for Witness {
        type Place = u64;

        fn prefetch(&self, hash: u64) -> u64 {
            self.prefetched.set(self.prefetched.get() + 1);
            assert_eq!(hash, 2 * self.prefetched.get(), "in order, each once");
            hash + 1
        }

        fn visit(&mut self, index: usize, place: u64) {
            self.visited += 1;
            assert!(self.visited <= self.prefetched.get(), "prefetched before");
            assert!(self.prefetched.get() - self.visited <= AHEAD as u64, "not too early");
            assert_eq!(place, 2 * self.visited + 1, "in order, each once");
            assert_eq!(index, self.chunk);
            self.chunk += 1;
        }

        fn end(&mut self, len: usize) {
            assert_eq!(len, core::mem::take(&mut self.chunk));
            self.chunks.push(len);
        }
    }

    #[test]
    fn every_key_is_visited_once_in_order_after_it_was_prefetched() {
        for len in [0, 1, 31, 32, 33, 63, 64, 65, 100] {
            let keys: Vec<u64> = (1..=len).collect();
            let ahead = visit_ahead(&keys, |&key| 2 * key, Witness::default());
            let chunks = visit_chunks(&keys, |&key| 2 * key, Witness::default());
            for witness in [ahead, chunks] {
                assert_eq!(witness.visited, len);
                assert_eq!(witness.chunks.iter().sum::<usize>() as u64, len);
                let full = witness.chunks.iter().rev().skip(1);
                assert!(full.clone().all(|&len| len == AHEAD), "{:?}", witness.chunks);
            }
        }
    }
}
