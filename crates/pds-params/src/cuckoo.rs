//! The cuckoo filter: buckets of four slots, each fingerprint in one of two buckets.
//!
//! Every function is pure and takes its numbers in the order `(buckets, items, fingerprint_bits)`. It answers for every
//! input: an empty filter has rate 0, a filter without buckets or bits has rate 1, and no result is NaN. A fingerprint
//! of f bits has 2^f - 1 values, because zero marks an empty slot. Items are distinct. A copy takes a slot, too.

pub(crate) mod params;
mod rate;
mod room;

pub use rate::rate_by_load;
// The methods of the parameters answer the same. The family's crates and the proofs call these.
#[doc(hidden)]
pub use rate::rate_exact;
pub use room::{least_buckets, most_items};

/// Slots per bucket.
///
/// Buckets of two slots reach a load of 84 % only. Eight slots double the false positives for 3 % more load (Bin Fan et
/// al., "Cuckoo Filter: Practically Better Than Bloom", CoNEXT 2014, section 5.1).
#[doc(hidden)]
pub const BUCKET_SLOTS: u64 = 4;

/// The narrowest fingerprint, in bits. Narrower fingerprints give a bucket too few partner buckets.
#[doc(hidden)]
pub const MIN_FINGERPRINT_BITS: u32 = 4;

/// The widest fingerprint, in bits: half of a hash. The other half chooses the bucket.
#[doc(hidden)]
pub const MAX_FINGERPRINT_BITS: u32 = 32;

/// The greatest number of buckets: all values of the half of a hash that chooses the bucket.
#[doc(hidden)]
pub const MAX_BUCKETS: u64 = 1 << 32;

/// Returns the number of fingerprints of this width, 2^f - 1.
fn fingerprints(fingerprint_bits: u32) -> f64 {
    libm::exp2(f64::from(fingerprint_bits)) - 1.0
}
