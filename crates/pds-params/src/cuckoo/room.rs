//! The number of items that certainly fit.
//!
//! An insert fails if more keys must lie in some buckets than these have slots. In large filters it also fails if the
//! search for a free slot gives up.
//!
//! - Up to [`FEW_ITEMS`], the probability of the first failure is bounded by a sum over all sets of buckets. Counted
//!   fills confirm the bound.
//! - Above, the size follows from the load at which real filters first failed, less six of its standard deviations.
//!   This is an extrapolation.
//! - At any size, keys with the same fingerprint and pair of buckets must fit that pair. This limits narrow
//!   fingerprints.

use super::{BUCKET_SLOTS, MAX_BUCKETS, fingerprints};
use crate::search::first;

/// The greatest number of items for which all sets of buckets are summed over.
const FEW_ITEMS: u64 = 256;

/// The result of the sum for [`FEW_ITEMS`]. A greater number of items never has fewer buckets.
const BUCKETS_OF_FEW: u64 = 77;

/// The allowed probability that some set of buckets is overfull.
///
/// It is a tenth of the promised probability, because the two buckets of a key are independent only in the bound.
const OVERFULL: f64 = 1e-7;

/// The allowed probability that a bucket gets five keys that have no other bucket.
///
/// It is a twentieth of the promised probability. The fingerprints for which both buckets coincide are fixed. With
/// narrow fingerprints and some numbers of buckets, the probability is up to ten times its mean.
const ALONE: f64 = 5e-8;

/// The allowed probability that a pair of buckets gets nine keys of one fingerprint.
const PAIRED: f64 = 1e-7;

/// The design load of large filters.
const DESIGN_LOAD: f64 = 0.95;

/// The load limit of smaller filters is `LIMIT - SPREAD / √buckets`, which is the lower limit below 900 buckets.
///
/// It is six standard deviations below the mean load at which filters of 128 and more buckets first fail. The mean is
/// 0.98 and the deviation 0.1 / √buckets, in 200 fills each. Above 900 buckets, the design load is ten deviations
/// (1,024 buckets) and more below the mean. The search visits at most 2,138 buckets, so the mean decreases: to 0.973
/// (263,158 buckets) and 0.971 (2.6 million), each with a deviation of 0.0008.
const LIMIT: f64 = 0.97;
const SPREAD: f64 = 0.6;

/// Returns the least number of buckets in which `items` distinct keys fit, except at most once in a million fills.
///
/// # Examples
/// ```
/// use pds_params::cuckoo::least_buckets;
/// assert_eq!(least_buckets(1_000_000, 12), 263_158, "a load of 0.95");
/// assert_eq!(least_buckets(4, 12), 1);
/// assert_eq!(least_buckets(5, 12), 7, "five keys may have both buckets in one");
/// ```
#[must_use]
pub fn least_buckets(items: u64, fingerprint_bits: u32) -> u64 {
    least_for_any_width(items).max(least_for_width(items, fingerprint_bits))
}

/// Returns the most distinct keys that fit in these buckets, except at most once in a million fills.
#[must_use]
pub fn most_items(buckets: u64, fingerprint_bits: u32) -> u64 {
    let fits = |items| least_buckets(items, fingerprint_bits) <= buckets;
    let (mut most, mut over) = (0, buckets.saturating_mul(BUCKET_SLOTS).saturating_add(1));
    while over - most > 1 {
        let middle = most + (over - most) / 2;
        if fits(middle) { most = middle } else { over = middle }
    }
    most
}

pub(super) fn least_for_any_width(items: u64) -> u64 {
    if items <= FEW_ITEMS {
        let full = items.div_ceil(BUCKET_SLOTS).max(1);
        return first(full, |buckets| overfull(items, buckets) <= OVERFULL);
    }
    let full = to_u64(libm::ceil(items as f64 / (BUCKET_SLOTS as f64 * DESIGN_LOAD)));
    let load = |buckets: u64| items as f64 / (BUCKET_SLOTS as f64 * buckets as f64);
    let within = |buckets| load(buckets) <= LIMIT - SPREAD / libm::sqrt(buckets as f64);
    first(full.max(BUCKETS_OF_FEW), within)
}

/// Returns an upper bound of the probability that some s buckets have more than 4s keys with both buckets among them.
///
/// The bound is the number of sets of s buckets times the probability for one set, summed over s. It assumes two
/// independent buckets per key.
fn overfull(items: u64, buckets: u64) -> f64 {
    let sets = (1..=buckets).take_while(|set| BUCKET_SLOTS * set < items);
    let bound = |set: u64| {
        let inside = set as f64 / buckets as f64;
        let log_sets = log_choose(buckets, set);
        libm::exp(log_sets + log_tail(items, inside * inside, BUCKET_SLOTS * set + 1))
    };
    sets.map(bound).sum()
}

/// Returns the least number of buckets in which narrow fingerprints do not crowd, or too many if the items can never
/// fit.
pub(super) fn least_for_width(items: u64, fingerprint_bits: u32) -> u64 {
    if items > BUCKET_SLOTS * MAX_BUCKETS || fingerprint_bits == 0 {
        return MAX_BUCKETS + 1;
    }
    let values = fingerprints(fingerprint_bits);
    // buckets * values / 2 pairs: choose(9) * 2^8 / (buckets * values)^8.
    let paired = 2.0 * libm::pow(choose(items, 9) / PAIRED, 1.0 / 8.0) / values;
    first(to_u64(libm::ceil(paired)).max(1), |buckets| alone(items, buckets, values) <= ALONE)
}

/// Returns the expected number of quintuples of keys whose two buckets all coincide.
///
/// The number of fingerprints for which a bucket is its own partner is close to Poisson with mean values/buckets. The
/// polynomial is the fifth moment, divided by the fifth power of values/buckets.
fn alone(items: u64, buckets: u64, values: f64) -> f64 {
    let buckets = buckets as f64;
    let rarity = buckets / values;
    let moment = 1.0 + rarity * (10.0 + rarity * (25.0 + rarity * (15.0 + rarity)));
    choose(items, 5) * moment / libm::pow(buckets, 9.0)
}

fn choose(items: u64, count: u64) -> f64 {
    (0..count).fold(1.0, |product, i| product * items.saturating_sub(i) as f64 / (i + 1) as f64)
}

/// Returns the logarithm of an upper bound of P(Binomial(trials, p) ≥ count), at most 0. The bound is close for thin
/// tails.
///
/// Above the mean, the terms decrease at least geometrically, by the ratio of the first two.
fn log_tail(trials: u64, p: f64, count: u64) -> f64 {
    let rest = (trials - count) as f64;
    let ratio = rest / (count + 1) as f64 * p / (1.0 - p);
    if ratio >= 1.0 {
        return 0.0;
    }
    let first = log_choose(trials, count) + count as f64 * libm::log(p) + rest * libm::log1p(-p);
    (first - libm::log1p(-ratio)).min(0.0)
}

fn log_choose(n: u64, k: u64) -> f64 {
    let log_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

/// Returns a positive number as a whole one, at most `u64::MAX`.
#[expect(clippy::cast_possible_truncation, reason = "a saturating cast is what is wanted")]
#[expect(clippy::cast_sign_loss, reason = "the argument is not negative")]
pub(super) fn to_u64(real: f64) -> u64 {
    real as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_is_what_the_sum_gives() {
        assert_eq!(least_for_any_width(FEW_ITEMS), BUCKETS_OF_FEW);
    }

    #[test]
    fn the_tail_is_bounded_closely_from_above() {
        // P(Binomial(10, 0.1) >= 5) = 0.0016349374.
        let tail = libm::exp(log_tail(10, 0.1, 5));
        assert!((0.001_634_937_4..0.001_65).contains(&tail), "{tail}");
        assert_eq!(log_tail(10, 0.9, 5), 0.0);
        assert!((log_tail(10, 0.5, 10) - 10.0 * libm::log(0.5)).abs() < 1e-12);
    }

    #[test]
    fn no_set_of_buckets_can_be_overfull_without_enough_keys() {
        assert_eq!(overfull(4, 1), 0.0);
        assert!((overfull(5, 1) - 1.0).abs() < 1e-9);
    }
}
