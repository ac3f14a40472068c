//! The cuckoo filter: buckets of four fingerprints, each fingerprint in one of two buckets.

mod params;
mod rate;

pub use params::CuckooParams;
pub use rate::rate;
pub(crate) const SLOTS: u64 = 4;
