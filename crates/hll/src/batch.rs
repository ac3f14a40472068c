//! Batches of keys.
#![expect(clippy::cast_possible_truncation, reason = "the number of a register is below 2^18")]

use pds_core::internal::Work;

use crate::coupon::{register_and_rank, register_and_rank_of};

/// Number of keys that are hashed together: few enough for the first-level cache, and enough to fill vectors.
const CHUNK: usize = 64;

/// Raises the registers of many keys, one after the other. Returns how many of them changed a register.
pub(crate) struct RaiseAll<'a, K, H, R> {
    pub(crate) keys: &'a [K],
    /// Returns the hash of a key.
    pub(crate) hash: H,
    pub(crate) precision: u32,
    /// Raises a register to a rank. Returns whether the register changed.
    pub(crate) raise: R,
}

impl<K, H: Fn(&K) -> u64, R: FnMut(usize, u8) -> bool> RaiseAll<'_, K, H, R> {
    /// With `VECTORS`, the registers and ranks of a chunk are computed before any register is read, in loops that compilers
    /// vectorise. That pays only where a vector counts leading zeros.
    #[inline(always)]
    fn run_by<const VECTORS: bool>(mut self) -> usize {
        let mut changes = 0;
        let mut hashes = [0; CHUNK];
        for chunk in self.keys.chunks(CHUNK) {
            for (hash, key) in hashes.iter_mut().zip(chunk) {
                *hash = (self.hash)(key);
            }
            let hashes = &hashes[..chunk.len()];
            if VECTORS {
                let mut registers = [0u32; CHUNK];
                let mut ranks = [0u8; CHUNK];
                let places = registers.iter_mut().zip(&mut ranks);
                for ((register, rank), &hash) in places.zip(hashes) {
                    let place = register_and_rank(hash, self.precision);
                    (*register, *rank) = (place.0 as u32, place.1);
                }
                for (&register, &rank) in registers.iter().zip(&ranks).take(hashes.len()) {
                    changes += usize::from((self.raise)(register as usize, rank));
                }
            } else {
                for &hash in hashes {
                    let (register, rank) = register_and_rank_of(hash, 1 << self.precision);
                    changes += usize::from((self.raise)(register, rank));
                }
            }
        }
        changes
    }
}

impl<K, H: Fn(&K) -> u64, R: FnMut(usize, u8) -> bool> Work for RaiseAll<'_, K, H, R> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        self.run_by::<false>()
    }

    #[inline(always)]
    fn run_widest(self) -> usize {
        self.run_by::<true>()
    }
}
