//! Closed forms of the false-positive rate.

use super::fill::{expected_fill, expected_set_bits, occupied, set_bits_standard_deviation};

/// Returns the false-positive rate (1 - e^(-kn/m))^k, a fraction in \[0, 1\].
///
/// This is the textbook formula: the limit for large m. It is a little below [`rate_finite`] for every m.
///
/// # References
/// Burton H. Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 13(7), 1970;
/// Andrei Broder and Michael Mitzenmacher, "Network applications of Bloom filters: a survey",
/// Internet Mathematics 1(4), 2004, section 2.1.
#[must_use]
pub fn rate_asymptotic(bits: u64, items: u64, hashes: u32) -> f64 {
    if items == 0 && hashes > 0 {
        return 0.0;
    }
    let throws = f64::from(hashes) * items as f64;
    rate_from_fill(-libm::expm1(-throws / bits as f64), hashes)
}

/// Returns the false-positive rate (1 - (1 - 1/m)^(kn))^k, a fraction in \[0, 1\].
///
/// This is the expected fill raised to the power k. As x^k is convex, it is a lower bound of the mean rate
/// [`rate_exact`](super::rate_exact). The difference decreases like 1/m.
///
/// # References
/// Prosenjit Bose et al., "On the false-positive rate of Bloom filters", Information Processing Letters 108(4), 2008.
/// They show that it is only a bound.
#[must_use]
pub fn rate_finite(bits: u64, items: u64, hashes: u32) -> f64 {
    rate_from_fill(expected_fill(bits, items, hashes), hashes)
}

/// Returns the false-positive rate of one filter from the fraction `fill` of its bits that are set: fill^k.
///
/// The result is exact for independent positions, regardless of how the bits were set. It is always in \[0, 1\]: a fill
/// out of range counts as the nearest bound, and NaN as 1.
///
/// # Examples
/// ```
/// use pds_params::bloom::rate_from_fill;
/// assert_eq!(rate_from_fill(0.5, 7), 1.0 / 128.0);
/// ```
#[must_use]
pub fn rate_from_fill(fill: f64, hashes: u32) -> f64 {
    if fill.is_nan() {
        return 1.0;
    }
    libm::pow(fill.clamp(0.0, 1.0), f64::from(hashes))
}

/// Returns the rate of a filter at `load` times the items that it was designed for, a fraction in \[0, 1\].
///
/// This is the asymptotic formula for a given number of bits per designed item. For a filter of known size,
/// [`rate_exact`](super::rate_exact) at the current number of items is more precise.
///
/// # Examples
/// ```
/// use pds_params::bloom::overfill_rate;
/// // Designed for 1 %, a filter with twice the items errs for 16 % of the absent keys.
/// assert_eq!(format!("{:.3}", overfill_rate(9.593, 7, 2.0)), "0.157");
/// ```
#[must_use]
pub fn overfill_rate(bits_per_item: f64, hashes: u32, load: f64) -> f64 {
    rate_from_fill(-libm::expm1(-f64::from(hashes) * load / bits_per_item), hashes)
}

/// Returns the relative spread of the rates of single filters: standard deviation over mean.
///
/// A filter with more set bits than expected errs more often on every query. Counts of false positives therefore spread
/// more than binomially.
///
/// The result is k sd(X) / E\[X\], the first order in the spread of the fill, or 0.554 k/√m at half fill. Below a
/// spread of 0.1 it is within 1.4 % of the exact value.
///
/// # References
/// Ken Christensen, Allen Roginsky and Miguel Jimeno, "A new analysis of the false positive rate of
/// a Bloom filter", Information Processing Letters 110(21), 2010, for the distribution of the fill.
#[must_use]
pub fn instance_rate_relative_spread(bits: u64, items: u64, hashes: u32) -> f64 {
    let mean = expected_set_bits(bits, items, hashes);
    if mean == 0.0 {
        return 0.0;
    }
    f64::from(hashes) * set_bits_standard_deviation(bits, items, hashes) / mean
}

/// The sizes of two sets and of their intersection, in items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Overlap {
    /// Items of the left set, including the common ones.
    pub left: u64,
    /// Items of the right set, including the common ones.
    pub right: u64,
    /// Items in both sets. A number above the size of either set counts as that size.
    pub common: u64,
}

impl Overlap {
    fn common(self) -> u64 {
        self.common.min(self.left).min(self.right)
    }

    fn union(self) -> u64 {
        self.left.saturating_add(self.right - self.common())
    }
}

/// Returns the false-positive rate of the bitwise OR of two filters, by the finite formula.
///
/// The OR is exactly the filter of the union, so [`rate_exact`](super::rate_exact) holds for it as well.
///
/// # References
/// Broder and Mitzenmacher 2004, section 2.2.
#[must_use]
pub fn union_rate(bits: u64, hashes: u32, sets: Overlap) -> f64 {
    rate_finite(bits, sets.union(), hashes)
}

/// Returns the rate at which the bitwise AND of two filters accepts a key of neither set, by the finite formula.
///
/// The AND has more set bits than the filter of the intersection. Two keys set each additional bit: one of the left set
/// alone in the left filter, one of the right set alone in the right. A key of one set alone is accepted at the
/// *other* filter's rate.
///
/// # References
/// Broder and Mitzenmacher 2004, section 2.2; Odysseas Papapetrou, Wolf Siberski and Wolfgang
/// Nejdl, "Cardinality estimation and dynamic length adaptation for Bloom filters", Distributed and
/// Parallel Databases 28, 2010.
#[must_use]
pub fn intersection_rate(bits: u64, hashes: u32, sets: Overlap) -> f64 {
    let occupied_by = |items: u64| occupied(bits as f64, f64::from(hashes) * items as f64);
    let common = sets.common();
    let by_common = occupied_by(common);
    // A bit is set in both filters by a common key, or otherwise by one key of each set alone. Every term of this form
    // is positive.
    let by_both = occupied_by(sets.left - common) * occupied_by(sets.right - common);
    rate_from_fill(by_common + (1.0 - by_common) * by_both, hashes)
}

/// Returns the least number of bits that any filter needs for `items` keys at the false-positive rate `rate`.
///
/// This is n log2(1/p). A Bloom filter with the best k needs 1/ln 2 = 1.44 times as many. The result is zero for a rate
/// of 1 or above, and infinite for a rate of 0 or below.
///
/// # References
/// Larry Carter et al., "Exact and approximate membership testers", STOC 1978; Broder and
/// Mitzenmacher 2004, section 2.2.
#[must_use]
pub fn information_bound(items: u64, rate: f64) -> f64 {
    if items == 0 || rate >= 1.0 {
        return 0.0;
    }
    -libm::log2(rate.max(0.0)) * items as f64
}
