use crate::ParamError;
use crate::check::{check_collisions, check_items, check_range, check_rate};
use crate::internal::ParamFault;

/// Bytes per slot: a 64-bit hash and its control byte.
const HASH_BYTES: u64 = 9;

/// The greatest number of slots, 2^59. No address space is larger.
const MAX_SLOTS: u64 = 1 << 59;

/// The standard library's hash table of 64-bit hashes: the exact structure that the others are compared with.
///
/// The table stores hashes instead of keys. Its error rate is the share of 64-bit hashes that collide.
///
/// # Examples
/// ```
/// use pds_params::HashTableParams;
///
/// // The number of slots is a power of two, and at most seven in eight are filled.
/// let set = HashTableParams::new(1_000_000, 0.01)?;
/// assert_eq!((set.num_slots(), set.size_in_bytes(0)), (1 << 21, 9 << 21));
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashTableParams {
    /// A power of two, from 4 to [`MAX_SLOTS`].
    num_slots: u64,
}

impl HashTableParams {
    /// Computes the table for `items` distinct keys that errs for a share of at most `rate` of absent keys.
    ///
    /// # Errors
    /// If there are no items. If the rate is not between 0 and 1. If the rate is at or below the share of 64-bit hashes
    /// that collide. If more than 2^59 slots are needed.
    pub fn new(items: u64, rate: f64) -> Result<Self, ParamError> {
        check_rate(rate)?;
        check_collisions(items, rate)?;
        Self::for_items(items)
    }

    /// Computes the table for `items` distinct keys.
    ///
    /// # Errors
    /// If there are no items. If more than 2^59 slots are needed.
    pub fn for_items(items: u64) -> Result<Self, ParamError> {
        check_items(items)?;
        if items > MAX_SLOTS / 8 * 7 {
            let (parameter, value, max) = ("slots", items as f64, MAX_SLOTS as f64);
            return Err(ParamError(ParamFault::TooLarge { parameter, value, max }));
        }
        Ok(Self { num_slots: (items * 8).div_ceil(7).next_power_of_two().max(4) })
    }

    /// Computes the table for `items` distinct keys in at most `bytes` bytes.
    ///
    /// # Errors
    /// Those of [`for_items`](Self::for_items), and if `bytes` is too small.
    pub fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        let table = Self::for_items(items)?;
        check_range("bytes", bytes, table.size_in_bytes(0), u64::MAX)?;
        Ok(table)
    }

    /// Returns the number of slots.
    #[must_use]
    pub const fn num_slots(&self) -> u64 {
        self.num_slots
    }

    /// Returns the size in bytes, with a value of `value_bytes` bytes beside each hash.
    #[must_use]
    pub const fn size_in_bytes(&self, value_bytes: u64) -> u64 {
        self.num_slots.saturating_mul(HASH_BYTES.saturating_add(value_bytes))
    }
}
