//! Common part of both adaptors, which end at different answers.

use alloc::vec::Vec;
use core::hash::Hash;

use crate::hash::probe;
use crate::internal::check_lengths;
use crate::traits::Membership;

/// Number of keys whose hashes are on the stack at once.
const CHUNK: usize = 256;

/// Filters, and by what their hashers are compared.
#[derive(Clone, Debug)]
pub(super) struct Filters<F> {
    filters: Vec<F>,
    /// The probe hash of each filter. Filters with equal ones hash alike.
    probes: Vec<u64>,
}

impl<F: Membership> Filters<F> {
    pub(super) fn new(filters: impl IntoIterator<Item = F>) -> Self {
        let filters: Vec<F> = filters.into_iter().collect();
        let probes = filters.iter().map(probe).collect();
        Self { filters, probes }
    }

    pub(super) fn as_slice(&self) -> &[F] {
        &self.filters
    }

    pub(super) fn into_vec(self) -> Vec<F> {
        self.filters
    }

    /// Returns `last` if a filter answers so, and the opposite otherwise.
    pub(super) fn contains<K: Hash + ?Sized>(&self, key: &K, last: bool) -> bool {
        let mut known = None;
        let ends = self.filters.iter().zip(&self.probes).any(|(filter, &probe)| {
            let hash = match known {
                Some((of, hash)) if of == probe => hash,
                _ => filter.hash_key(key),
            };
            known = Some((probe, hash));
            filter.contains_hash(hash) == last
        });
        ends == last
    }

    #[track_caller]
    pub(super) fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool], last: bool) {
        check_lengths(keys, out);
        for (keys, out) in keys.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
            self.answer_chunk(keys, out, last);
        }
    }

    #[cfg(feature = "parallel")]
    #[track_caller]
    pub(super) fn par_contains_batch<K: Hash + Sync>(
        &self,
        keys: &[K],
        out: &mut [bool],
        last: bool,
    ) where
        F: Sync,
    {
        use rayon::iter::{IndexedParallelIterator, ParallelIterator};
        use rayon::slice::{ParallelSlice, ParallelSliceMut};

        check_lengths(keys, out);
        let chunks = keys.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK));
        chunks.for_each(|(keys, out)| self.answer_chunk(keys, out, last));
    }

    /// Answers at most [`CHUNK`] keys. Each filter is asked for those whose answer is still open.
    fn answer_chunk<K: Hash>(&self, keys: &[K], out: &mut [bool], last: bool) {
        out.fill(!last);
        let (mut open, mut hashes, mut answers) = ([0; CHUNK], [0; CHUNK], [false; CHUNK]);
        let mut left = keys.len();
        (0..).zip(&mut open[..left]).for_each(|(i, open)| *open = i);
        let mut known = None;
        for (filter, &probe) in self.filters.iter().zip(&self.probes) {
            if known != Some(probe) {
                for (hash, &i) in hashes.iter_mut().zip(&open[..left]) {
                    *hash = filter.hash_key(&keys[i]);
                }
                known = Some(probe);
            }
            filter.contains_hash_batch(&hashes[..left], &mut answers[..left]);
            let mut kept = 0;
            for asked in 0..left {
                if answers[asked] == last {
                    out[open[asked]] = last;
                } else {
                    (open[kept], hashes[kept]) = (open[asked], hashes[asked]);
                    kept += 1;
                }
            }
            left = kept;
            if left == 0 {
                break;
            }
        }
    }
}
