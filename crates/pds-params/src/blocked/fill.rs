//! The distribution of the number of set bits, and the estimate of the number of items from it.

use super::half::miss;
use super::{BLOCK_BITS, assert_hashes};
use crate::Estimate;
use crate::bloom::{NOTHING, SetBits, fewest_items};

/// The estimate from a filter that carries no information about its items.
const UNKNOWN: Estimate = Estimate { value: f64::INFINITY, standard_error: f64::INFINITY };

/// Returns the expected number of set bits after `items` keys.
///
/// # Panics
/// If `hashes` is odd, 0, or above [`MAX_HASHES`](super::MAX_HASHES).
#[must_use]
pub fn expected_set_bits(blocks: u64, items: u64, hashes: u32) -> f64 {
    num_bits(blocks) * expected_fill(blocks, items, hashes)
}

/// Returns the expected fraction of set bits after `items` keys, in \[0, 1\].
///
/// # Panics
/// If `hashes` is odd, 0, or above [`MAX_HASHES`](super::MAX_HASHES).
#[must_use]
pub fn expected_fill(blocks: u64, items: u64, hashes: u32) -> f64 {
    if blocks == 0 || items == 0 {
        return 0.0;
    }
    let law = Law::new(blocks, hashes);
    -libm::expm1(items as f64 * law.log_clear)
}

/// Returns the standard deviation, over filters, of the number of set bits after `items` keys.
///
/// # Panics
/// If `hashes` is odd, 0, or above [`MAX_HASHES`](super::MAX_HASHES).
#[must_use]
pub fn set_bits_standard_deviation(blocks: u64, items: u64, hashes: u32) -> f64 {
    if blocks == 0 {
        return 0.0;
    }
    libm::sqrt(Law::new(blocks, hashes).covariance(0.0, items as f64).max(0.0))
}

/// Estimates the number of distinct items in a filter with `ones` set bits.
///
/// The value is the number of items for which so many set bits are expected. It is never below the fewest items that
/// can set so many bits. The standard error is the standard deviation of the set bits, divided by the number of bits
/// that one more item would set. Some hundreds of bits should still be clear.
///
/// Both fields are infinite if the filter is saturated. They are never NaN.
///
/// # Panics
/// If `hashes` is odd, 0, or above [`MAX_HASHES`](super::MAX_HASHES).
///
/// # References
/// Kyu-Young Whang, Brad T. Vander-Zanden and Howard M. Taylor, "A linear-time probabilistic counting
/// algorithm for database applications", ACM TODS 15(2), 1990, for the method.
///
/// # Examples
/// ```
/// use pds_params::blocked::{cardinality, expected_set_bits};
/// let ones = expected_set_bits(1_000, 40_000, 8) as u64;
/// assert_eq!(cardinality(1_000, 8, ones).to_string(), "39999.9 ± 46.0");
/// ```
#[must_use]
pub fn cardinality(blocks: u64, hashes: u32, ones: u64) -> Estimate {
    let law = Law::new(blocks, hashes);
    match law.items(ones) {
        None => UNKNOWN,
        Some(value) => {
            let variance = law.covariance(0.0, value).max(0.0);
            let standard_error = libm::sqrt(variance) / law.slope(value);
            Estimate { value: value.max(fewest_items(hashes, ones)), standard_error }
        }
    }
}

/// Estimates the number of distinct items that two filters have in common.
///
/// The value is n(A) + n(B) - n(A or B), each estimated from its set bits. It is never below zero nor above either set,
/// and is exactly zero if no bit is set in both filters. The three errors partly cancel. The standard error is that of
/// the difference, to the first order in the counts.
///
/// Both fields are infinite if the OR is saturated, unless the filters have no bit in common.
///
/// # Panics
/// If `hashes` is odd, 0, or above [`MAX_HASHES`](super::MAX_HASHES).
#[must_use]
pub fn intersection_cardinality(blocks: u64, hashes: u32, ones: SetBits) -> Estimate {
    let law = Law::new(blocks, hashes);
    if ones.are_apart() {
        return NOTHING;
    }
    let [Some(left), Some(right), Some(union)] =
        [ones.left, ones.right, ones.union].map(|ones| law.items(ones))
    else {
        return UNKNOWN;
    };
    let common = (left + right - union).clamp(0.0, left.min(right));
    let union = left + right - common;
    let error = |items| 1.0 / law.slope(items);
    // For two of the sets: the number of keys in exactly one of them, and the number in both.
    let pair = |first, second, both| law.covariance(first + second - 2.0 * both, both);
    let (l, r, u) = (error(left), error(right), error(union));
    let variance = l * l * pair(left, left, left)
        + r * r * pair(right, right, right)
        + u * u * pair(union, union, union)
        + 2.0 * l * r * pair(left, right, common)
        - 2.0 * l * u * pair(left, union, left)
        - 2.0 * r * u * pair(right, union, right);
    Estimate { value: common, standard_error: libm::sqrt(variance.max(0.0)) }
}

fn num_bits(blocks: u64) -> f64 {
    blocks as f64 * BLOCK_BITS as f64
}

/// The effect of one key on one bit and on pairs of bits of a filter.
struct Law {
    blocks: f64,
    /// The logarithm of the probability that a key does not set a given bit.
    log_clear: f64,
    /// The same for two bits of different blocks.
    log_clear_apart: f64,
    /// The same for two bits of one block, with the number of bits in this relation to a given one.
    log_clear_together: [(f64, f64); 5],
}

impl Law {
    fn new(blocks: u64, hashes: u32) -> Self {
        assert_hashes(hashes);
        let (blocks, probes) = (blocks as f64, hashes / 2);
        let one = miss(probes, [1, 0, 0, 0]);
        let log_of = |miss: f64| libm::log1p((miss - 1.0) / blocks);
        Self {
            blocks,
            log_clear: log_of(one),
            log_clear_apart: libm::log1p((2.0 * (one - 1.0) / blocks).max(-1.0)),
            log_clear_together: [
                (log_of(miss(probes, [2, 0, 0, 0])), 63.0),
                (log_of(miss(probes, [1, 1, 0, 0])), 64.0),
                (log_of(miss(probes, [1, 0, 1, 0])), 64.0),
                (log_of(miss(probes, [1, 0, 0, 1])), 64.0),
                (log_of(one * one), 256.0),
            ],
        }
    }

    /// Returns the number of items for which `ones` set bits are expected, or `None` if all bits are set.
    fn items(&self, ones: u64) -> Option<f64> {
        let fill = ones as f64 / (self.blocks * BLOCK_BITS as f64);
        (fill < 1.0).then(|| libm::log1p(-fill) / self.log_clear)
    }

    /// Returns the number of bits that one more item sets.
    fn slope(&self, items: f64) -> f64 {
        let bits = self.blocks * BLOCK_BITS as f64;
        -bits * self.log_clear * libm::exp(items * self.log_clear)
    }

    /// Returns the covariance of the set bits of two filters: `apart` keys are in one of them, `both` in both.
    ///
    /// This is a sum over pairs of one bit of each filter. Each term is the probability that both are clear, less the
    /// product of the two probabilities. A key of one filter does not touch the other's bit, so only common keys
    /// contribute.
    fn covariance(&self, apart: f64, both: f64) -> f64 {
        let clear = libm::exp((apart + 2.0 * both) * self.log_clear);
        let excess = |log: f64| clear * libm::expm1(both * (log - 2.0 * self.log_clear));
        let of_block = excess(self.log_clear)
            + self.log_clear_together.iter().map(|&(log, bits)| bits * excess(log)).sum::<f64>();
        let bits_elsewhere = (self.blocks - 1.0) * BLOCK_BITS as f64;
        let elsewhere =
            if bits_elsewhere > 0.0 { bits_elsewhere * excess(self.log_clear_apart) } else { 0.0 };
        self.blocks * BLOCK_BITS as f64 * (of_block + elsewhere)
    }
}
