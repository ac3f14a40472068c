//! Batches of keys.
#![expect(clippy::cast_possible_truncation, reason = "a register's number is below 2^18")]

use pds_core::internal::Work;

use crate::coupon::register_and_rank;

/// Number of keys or hashes per chunk: few enough for the first-level cache, and enough to fill vectors.
pub(crate) const CHUNK: usize = 64;

/// Raises the registers of many hashes, one after the other. The output is how many of them changed a register.
///
/// The registers and ranks of a chunk are computed before any register is read, so that compilers emit vector code.
pub(crate) struct RaiseAll<'a, R> {
    pub(crate) hashes: &'a [u64],
    pub(crate) precision: u32,
    /// Raises a register to a rank. Returns whether the register changed.
    pub(crate) raise: R,
}

impl<R: FnMut(usize, u8) -> bool> Work for RaiseAll<'_, R> {
    type Output = usize;

    #[inline(always)]
    fn run(mut self) -> usize {
        let mut changes = 0;
        for chunk in self.hashes.chunks(CHUNK) {
            let mut registers = [0u32; CHUNK];
            let mut ranks = [0u8; CHUNK];
            for ((register, rank), &hash) in registers.iter_mut().zip(&mut ranks).zip(chunk) {
                let place = register_and_rank(hash, self.precision);
                (*register, *rank) = (place.0 as u32, place.1);
            }
            for (&register, &rank) in registers.iter().zip(&ranks).take(chunk.len()) {
                changes += usize::from((self.raise)(register as usize, rank));
            }
        }
        changes
    }
}
