//! Validated parameters of binary fuse filters, with the size that they lead to.

use super::{FuseShape, MAX_FINGERPRINT_BITS, MAX_KEYS, bits_for_rate, check_bits, rate};
use crate::ParamError;
use crate::bloom::{HASH_COLLISION, MAX_BITS};
use crate::check::{check_collisions, check_items, check_range, check_rate};

/// Share of the rate below which collisions of whole hashes are left out.
const NEGLIGIBLE: f64 = 1e-6;

/// Validated parameters of a binary fuse filter.
///
/// # Guarantees
/// - The mean false-positive rate is at most the promised one. Collisions of whole 64-bit hashes are included if they are
///   more than a millionth of it.
/// - A filter has the stated size unless all first seeds fail, which was counted once in some hundred filters. It is then
///   larger by 1/64.
///
/// # Examples
/// ```
/// use pds_params::FuseParams;
///
/// let params = FuseParams::new(1_000_000, 0.01)?;
/// assert_eq!((params.fingerprint_bits(), params.size_in_bytes()), (7, 988_976));
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuseParams {
    items: u64,
    fingerprint_bits: u32,
    shape: FuseShape,
}

impl FuseParams {
    /// Computes the narrowest fingerprints for `items` distinct keys and a mean rate of at most `rate`.
    ///
    /// # Errors
    /// If there are no items, or too many. If the rate is not between 0 and 1. If whole hashes collide more often. If more
    /// than 32 bits are needed.
    pub fn new(items: u64, rate: f64) -> Result<Self, ParamError> {
        check_items(items)?;
        check_rate(rate)?;
        check_collisions(items, rate)?;
        let collisions = items as f64 * HASH_COLLISION;
        // A rate of 2^-8 takes 8 bits, although a few absent keys in 2^64 have the hash of a key.
        let negligible = collisions <= rate * NEGLIGIBLE;
        let rate = if negligible { rate } else { rate - collisions };
        Self::from_items_and_fingerprint_bits(items, bits_for_rate(rate)?)
    }

    /// Accepts the number of keys and the width of a fingerprint as given.
    ///
    /// # Errors
    /// If there are no items, or too many. If the width is not from 1 to 32.
    pub fn from_items_and_fingerprint_bits(
        items: u64,
        fingerprint_bits: u32,
    ) -> Result<Self, ParamError> {
        check_range("items", items, 1, MAX_KEYS)?;
        check_bits(fingerprint_bits)?;
        Ok(Self { items, fingerprint_bits, shape: FuseShape::new(items, 0)? })
    }

    /// Computes the widest fingerprints for `items` distinct keys in at most `bytes` bytes.
    ///
    /// # Errors
    /// If there are no items, or if `bytes` is too small for them.
    pub fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        let with = |bits| Self::from_items_and_fingerprint_bits(items, bits);
        check_range("bytes", bytes, with(1)?.size_in_bytes(), MAX_BITS / 8)?;
        let fits = |bits: &u32| with(*bits).is_ok_and(|params| params.size_in_bytes() <= bytes);
        with((1..=MAX_FINGERPRINT_BITS).rev().find(fits).unwrap_or(1))
    }

    /// Returns the number of distinct keys.
    #[must_use]
    pub const fn items(&self) -> u64 {
        self.items
    }

    /// Returns the width of a fingerprint in bits.
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Returns the mean rate, with collisions of whole hashes.
    #[must_use]
    pub fn rate(&self) -> f64 {
        (rate(self.fingerprint_bits) + self.items as f64 * HASH_COLLISION).min(1.0)
    }

    /// Returns the size of the contents in bytes.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        let bits = self.shape.slots_per_shard() * self.fingerprint_bits as u64;
        // Each shard has whole words, and one for its salt.
        8 * self.shape.shards() * (bits.div_ceil(64) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::internal::ParamFault;

    #[test]
    fn promises_are_kept_with_collisions() {
        for items in [1, 1_000, 1_000_000, 10_000_000_000] {
            for rate in [0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-8] {
                let params = FuseParams::new(items, rate).unwrap();
                assert!(params.rate() <= rate * (1.0 + NEGLIGIBLE));
                let bits = params.fingerprint_bits();
                let narrower = FuseParams::from_items_and_fingerprint_bits(items, bits - 1);
                assert!(bits == 1 || narrower.unwrap().rate() > rate, "{items} {rate}");
            }
        }
        assert_eq!(FuseParams::new(1_000, 1.0 / 256.0).unwrap().fingerprint_bits(), 8);
        assert!(matches!(
            FuseParams::new(10_000_000_000, 5e-10),
            Err(ParamError(ParamFault::BelowCollisions { .. }))
        ));
        assert!(FuseParams::new(0, 0.01).is_err() && FuseParams::new(u64::MAX, 0.01).is_err());
    }

    #[test]
    fn memory_is_used_up_and_not_exceeded() {
        for (bytes, items) in [(16, 1), (200, 100), (13_000, 9_000), (3 << 30, 1_000_000_000)] {
            let params = FuseParams::for_memory(bytes, items).unwrap();
            assert!(params.size_in_bytes() <= bytes);
            let wider = params.fingerprint_bits() + 1;
            let wider = FuseParams::from_items_and_fingerprint_bits(items, wider);
            assert!(wider.is_err() || wider.is_ok_and(|params| params.size_in_bytes() > bytes));
        }
        assert!(FuseParams::for_memory(8, 1_000_000).is_err());
        assert!(FuseParams::for_memory(1 << 30, 0).is_err());
    }
}
