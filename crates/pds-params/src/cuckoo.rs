//! The cuckoo filter: buckets of four slots, each fingerprint in one of two buckets.
//!
//! Functions take `(buckets, items, fingerprint_bits)`, are pure, and answer for every input: an empty
//! filter has rate 0, one without buckets or bits has rate 1, and no result is NaN. A fingerprint of f
//! bits has 2^f - 1 values, as zero marks an empty slot. Items are distinct; a copy takes a slot too.

pub(crate) mod params;
mod rate;
mod room;

pub use rate::{rate_by_load, rate_exact};
pub use room::{least_buckets, most_items};

/// Slots a bucket.
///
/// Two fill to 84 % only, eight double the false positives for 3 % more load (Bin Fan et al., "Cuckoo
/// Filter: Practically Better Than Bloom", CoNEXT 2014, section 5.1).
pub const BUCKET_SLOTS: u64 = 4;

/// The narrowest fingerprint, in bits: narrower ones have too few partners for a bucket.
pub const MIN_FINGERPRINT_BITS: u32 = 4;

/// The widest fingerprint, in bits: half of a hash, whose other half chooses the bucket.
pub const MAX_FINGERPRINT_BITS: u32 = 32;

/// The most buckets: as many as the half of a hash that chooses one can tell apart.
pub const MAX_BUCKETS: u64 = 1 << 32;

/// The number of fingerprints of this width, 2^f - 1.
fn fingerprints(fingerprint_bits: u32) -> f64 {
    libm::exp2(f64::from(fingerprint_bits)) - 1.0
}
