//! How many absent keys are found.

use super::{BUCKET_SLOTS, fingerprints};

/// The mean false-positive rate of `items` distinct keys in this many buckets, a fraction.
///
/// A key is found when another has its fingerprint and its pair of buckets. A given key has them with
/// probability 2/(n(2^f - 1)) for n buckets (half of that where both buckets are one, which is so for
/// one key in n), and independently of all others, wherever they were moved since. So the rate is
/// 1 - (1 - 2/(n(2^f - 1)))^items, or close to 1 - e^(-8a/(2^f - 1)) at load a.
///
/// # Examples
/// ```
/// let rate = pds_params::cuckoo::rate_exact(1_000, 3_800, 8);
/// assert_eq!(format!("{rate:.5}"), "0.02935");
/// ```
#[must_use]
pub fn rate_exact(buckets: u64, items: u64, fingerprint_bits: u32) -> f64 {
    if items == 0 {
        return 0.0;
    }
    if buckets == 0 || fingerprint_bits == 0 {
        return 1.0;
    }
    let places = buckets as f64 * fingerprints(fingerprint_bits);
    let found = |share: f64| -libm::expm1(items as f64 * libm::log1p(-share.min(1.0)));
    let single = 1.0 / buckets as f64;
    (1.0 - single) * found(2.0 / places) + single * found(1.0 / places)
}

/// The false-positive rate by the load alone, were all slots looked at independent: a fraction.
///
/// 1 - (1 - 1/(2^f - 1))^(8a), the usual formula, with a value for the empty slot. It is above
/// [`rate_exact`], as equal fingerprints crowd in the same pair of buckets: by 2.7 % for 4 bits at a
/// load of 0.95, by 0.2 % for 8.
///
/// # References
/// Bin Fan, David G. Andersen, Michael Kaminsky and Michael Mitzenmacher, "Cuckoo Filter: Practically
/// Better Than Bloom", CoNEXT 2014, section 5.1.
#[must_use]
pub fn rate_by_load(load: f64, fingerprint_bits: u32) -> f64 {
    let values = fingerprints(fingerprint_bits);
    let slots = (2 * BUCKET_SLOTS) as f64 * load.clamp(0.0, 1.0);
    if load.is_nan() || values == 0.0 {
        return 1.0;
    }
    if slots == 0.0 {
        return 0.0;
    }
    -libm::expm1(slots * libm::log1p(-1.0 / values))
}
