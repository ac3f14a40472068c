//! From a hash to a fingerprint and its two buckets.

use pds_core::hash::reduce;
use pds_core::internal::GOLDEN_RATIO;

use crate::lanes::mask;

/// A fingerprint and the first of its two buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) bucket: u64,
    pub(crate) fingerprint: u32,
}

impl Address {
    /// Takes the bucket and the fingerprint from different halves of the hash, so that they are independent.
    // The fingerprint is uniform from 1 to 2^width - 1. Zero marks an empty slot; mapping zero to another value would double
    // the false-positive rate of that value.
    #[inline(always)]
    pub(crate) fn new(hash: u64, num_buckets: u64, width: u32) -> Self {
        let low = hash & u64::from(u32::MAX);
        let fingerprint = ((low * mask(width)) >> 32) as u32 + 1;
        Self { bucket: reduce(hash, num_buckets), fingerprint }
    }
}

/// Second multiplier of [`sum_of`]; it breaks the regularity that multiples of the golden ratio keep.
const SPREAD: u64 = 0xC2B2_AE3D_27D4_EB4F;

/// Returns the other bucket of a fingerprint in `bucket`. The partner of the partner is `bucket`.
///
/// The sum of both, modulo the number of buckets, depends on the fingerprint only. On average, one bucket in
/// `num_buckets` is its own partner.
// With a sum, any number of buckets works. Exclusive-or would need a power of two.
#[inline(always)]
pub(crate) fn partner(bucket: u64, fingerprint: u32, num_buckets: u64) -> u64 {
    let sum = sum_of(fingerprint, num_buckets);
    let difference = sum.wrapping_sub(bucket);
    if sum < bucket { difference.wrapping_add(num_buckets) } else { difference }
}

/// Returns the sum of the two buckets of a fingerprint.
// With one multiplication, the sums of all fingerprints are multiples of one number, and evictions move back and forth
// along a line. Filters of a million keys with 4, 5, 6 and 8 bits then first fail at mean loads of 0.89, 0.94, 0.957 and
// 0.970; with two, at 0.97.
#[inline(always)]
fn sum_of(fingerprint: u32, num_buckets: u64) -> u64 {
    let x = u64::from(fingerprint).wrapping_mul(GOLDEN_RATIO);
    reduce((x ^ (x >> 32)).wrapping_mul(SPREAD), num_buckets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use pds_params::cuckoo::{BUCKET_SLOTS, least_buckets};

    /// P(Binomial(trials, p) >= count) for small p.
    fn tail(trials: u64, p: f64, count: u64) -> f64 {
        let ratio = |index: u64| (trials.saturating_sub(index) as f64) / (index + 1) as f64 * p;
        let rest = i32::try_from(trials.saturating_sub(count)).unwrap();
        let first = (0..count).map(ratio).product::<f64>() * (1.0 - p).powi(rest);
        let terms = (count..trials).scan(first, |term, index| {
            *term *= ratio(index) / (1.0 - p);
            Some(*term)
        });
        first + terms.sum::<f64>()
    }

    /// A bound of the probability that so many keys are too many for some bucket, or for some two, by themselves.
    fn overfull(items: u64, buckets: u64, width: u32) -> f64 {
        let mut of_sum = vec![0u64; usize::try_from(buckets).unwrap()];
        let values = u32::try_from(mask(width)).unwrap();
        (1..=values).for_each(|f| of_sum[usize::try_from(sum_of(f, buckets)).unwrap()] += 1);
        let with_sum = |sum: u64| of_sum[usize::try_from(sum % buckets).unwrap()];
        let tails = |slots: u64| -> Vec<f64> {
            let places = f64::from(values) * buckets as f64;
            let most = 4 * u64::from(values);
            (0..=most).map(|ways| tail(items, ways as f64 / places, slots + 1)).collect()
        };
        let (alone, paired) = (tails(BUCKET_SLOTS), tails(2 * BUCKET_SLOTS));
        let own = |bucket| with_sum(2 * bucket);
        let at = |tails: &[f64], ways: u64| tails[usize::try_from(ways).unwrap()];
        (0..buckets)
            .map(|a| {
                let pairs = (0..a).map(|b| at(&paired, own(a) + own(b) + 2 * with_sum(a + b)));
                at(&alone, own(a)) + pairs.sum::<f64>()
            })
            .sum()
    }

    /// Narrow fingerprints have few sums, so that some buckets and pairs get more keys than the mean: the margins of
    /// `least_buckets`, which knows the mean only, are wide enough for those there are, at every number of items.
    #[test]
    fn no_sums_crowd_a_bucket_or_a_pair() {
        for width in 4..=9 {
            for items in 1..=256 {
                let bound = overfull(items, least_buckets(items, width), width);
                assert!(bound < 4e-7, "{items} x {width}: {bound}");
            }
        }
    }

    #[test]
    fn the_bound_sees_a_crowd() {
        assert!((overfull(5, 1, 8) - 1.0).abs() < 1e-9, "five keys in one bucket");
        assert!(overfull(96, 40, 4) > 1e-6);
    }
}
