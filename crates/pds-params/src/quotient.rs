//! Quotient filters: one slot per key, which holds the remainder of its fingerprint.
//!
//! The product of a hash and the number of slots n is a number of 128 bits. Its high word is the *quotient*, which chooses
//! the slot. The first r bits of its low word are the *remainder*, which is stored. So n can be any number, and the order
//! of the stored pairs is the order of the hashes. Doubling n moves one bit from the remainder to the quotient. Both
//! filters then store the same part of each hash, so doubling does not change the false-positive rate.
//!
//! Every function is pure and takes its numbers in the order `(slots, items, remainder_bits)`. Items are distinct. A copy
//! takes a slot, too.
//!
//! Prashant Pandey, Michael A. Bender, Rob Johnson and Rob Patro, "A General-Purpose Counting Filter: Making Every Bit
//! Count", SIGMOD 2017, section 4.

pub(crate) mod params;

use crate::ParamError;
use crate::bloom::HASH_COLLISION;
use crate::check::check_real;

/// The widest remainder, in bits.
// A remainder that starts at any bit of a byte then lies in eight bytes.
#[doc(hidden)]
pub const MAX_REMAINDER_BITS: u32 = 56;

/// The greatest number of slots.
#[doc(hidden)]
pub const MAX_SLOTS: u64 = 1 << 48;

/// Slots per block.
#[doc(hidden)]
pub const BLOCK_SLOTS: u64 = 64;

/// Slots are added by this number. Their contents, and the two bits that each has besides, take whole bytes.
#[doc(hidden)]
pub const SLOT_GROUP: u64 = 8;

/// How the slots of a filter are used.
///
/// [`PLAIN`](Self::PLAIN) has one slot per item, with its remainder and nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotUse {
    /// Mean number of slots per distinct item, from 1 to 64.
    pub slots_per_item: f64,
    /// Number of bits of a slot that are not those of a remainder.
    pub bits_beside: u32,
}

impl SlotUse {
    /// Every slot holds a remainder, and every item has one.
    pub const PLAIN: Self = Self { slots_per_item: 1.0, bits_beside: 0 };

    /// Returns the number of slots that so many items take, rounded up.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    fn slots_of(self, items: u64) -> Result<u64, ParamError> {
        check_real("slots_per_item", self.slots_per_item, 1.0, 64.0)?;
        // A product would round numbers of items above 2^53.
        let more = libm::ceil(items as f64 * (self.slots_per_item - 1.0));
        Ok(items.saturating_add(more as u64))
    }
}

/// Returns the greatest number of items in this many slots: 95 % of them.
///
/// # Examples
/// ```
/// assert_eq!(pds_params::quotient::capacity(1_000), 950);
/// ```
// Runs of more keys than slots make lookups slow above this load. The mean length of a cluster grows as 1/(1 - load)².
#[must_use]
pub const fn capacity(slots: u64) -> u64 {
    slots / 20 * 19 + slots % 20 * 19 / 20
}

/// Returns the least number of slots for `items`.
///
/// # Examples
/// ```
/// assert_eq!(pds_params::quotient::least_slots(950), 1_000);
/// ```
#[must_use]
pub const fn least_slots(items: u64) -> u64 {
    items.saturating_add(items.div_ceil(19))
}

/// Returns the mean false-positive rate of `items` distinct keys in this many slots, a fraction.
///
/// An absent key is found if its quotient and remainder are those of a stored key. For a given stored key this has the
/// probability 1/(n 2^r), and a little more if there are almost as many fingerprints as hashes. The rate is
/// therefore 1 - (1 - 1/(n 2^r))^items. Collisions of whole 64-bit hashes are included.
///
/// # Examples
/// ```
/// let rate = pds_params::quotient::rate_exact(1_000, 950, 7);
/// assert_eq!(format!("{rate:.5}"), "0.00739");
/// ```
#[must_use]
pub fn rate_exact(slots: u64, items: u64, remainder_bits: u32) -> f64 {
    if items == 0 {
        return 0.0;
    }
    if slots == 0 {
        return 1.0;
    }
    let fingerprints = slots as f64 * libm::exp2(f64::from(remainder_bits));
    let share = 1.0 / fingerprints + HASH_COLLISION;
    -libm::expm1(items as f64 * libm::log1p(-share.min(1.0)))
}

/// Returns the false-positive rate from the load, in keys per slot, for many slots: 1 - exp(-load 2^-r).
///
/// # References
/// Michael A. Bender et al., "Don't Thrash: How to Cache Your Hash on Flash", PVLDB 5(11), 2012, section 3.
#[must_use]
pub fn rate_by_load(load: f64, remainder_bits: u32) -> f64 {
    if load.is_nan() {
        return 1.0;
    }
    -libm::expm1(-load.max(0.0) * libm::exp2(-f64::from(remainder_bits)))
}

/// Returns the mean number of slots behind the last quotient, rounded up.
///
/// The keys that wait for a slot at the end of the array are a queue with Poisson arrivals and service in unit time. Its
/// mean length is load² / (2 (1 - load)).
///
/// # References
/// Leonard Kleinrock, "Queueing Systems, Volume 1: Theory", 1975, section 5.6 (Pollaczek and Khinchin).
#[doc(hidden)]
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub fn mean_overflow(slots: u64, items: u64) -> u64 {
    let load = items as f64 / slots as f64;
    libm::ceil(load * load / (2.0 * (1.0 - load))) as u64
}

/// Returns the size in bytes of this many slots of `width` bits.
///
/// A block has one byte, and a slot has `width` bits and two more. The last block has the slots that are needed, in groups
/// of eight.
#[doc(hidden)]
#[must_use]
pub const fn size_in_bytes(slots: u64, width: u32) -> u64 {
    slots.div_ceil(BLOCK_SLOTS) + slots.div_ceil(SLOT_GROUP) * (width as u64 + 2)
}

/// Returns the most slots of `width` bits in `bytes` bytes.
const fn most_slots(bytes: u64, width: u32) -> u64 {
    let group = width as u64 + 2;
    let block = 1 + BLOCK_SLOTS / SLOT_GROUP * group;
    let groups = (bytes % block).saturating_sub(1) / group;
    bytes / block * BLOCK_SLOTS + groups * SLOT_GROUP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_slots_are_those_that_fit() {
        for width in [1, 3, 7, 8, 31, 56] {
            for bytes in (0..3_000).chain([1 << 20, (1 << 33) + 5]) {
                let slots = most_slots(bytes, width);
                assert!(slots == 0 || size_in_bytes(slots, width) <= bytes, "{bytes} {width}");
                assert!(size_in_bytes(slots + 1, width) > bytes, "{bytes} {width}: {slots}");
            }
        }
    }
}
