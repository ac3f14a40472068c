//! How many bits are set, and what their number tells of the items.

use crate::Estimate;

/// The expected fraction of set bits, 1 - (1 - 1/m)^(kn).
#[must_use]
pub fn expected_fill(bits: u64, items: u64, hashes: u32) -> f64 {
    occupied(bits as f64, f64::from(hashes) * items as f64)
}

/// The probability that one of `cells` cells is hit by at least one of `throws` uniform throws.
pub(super) fn occupied(cells: f64, throws: f64) -> f64 {
    if throws == 0.0 {
        return 0.0;
    }
    if cells < 1.0 {
        return 1.0;
    }
    -libm::expm1(throws * libm::log1p(-1.0 / cells))
}

/// The expected number of set bits, m (1 - (1 - 1/m)^(kn)).
#[must_use]
pub fn expected_set_bits(bits: u64, items: u64, hashes: u32) -> f64 {
    bits as f64 * expected_fill(bits, items, hashes)
}

/// The load kn/m below which the variance of the fill is taken from the first term of its series.
///
/// The closed form subtracts two numbers near kn, whose difference is kn/2m of them; at this load
/// rounding starts to cost as much as the second term of the series would add, some 10^-8.
const SPARSE: f64 = 1e-8;

/// The standard deviation of the number of set bits, over filters with independent positions.
///
/// For large m it is √(m e^-a (1 - (1 + a) e^-a)) with a = kn/m; this is the exact one of finite m.
///
/// # References
/// Norman L. Johnson and Samuel Kotz, "Urn models and their application", 1977, on the classical
/// occupancy problem.
#[must_use]
pub fn set_bits_standard_deviation(bits: u64, items: u64, hashes: u32) -> f64 {
    let (cells, throws) = (bits as f64, f64::from(hashes) * items as f64);
    if bits < 2 || throws == 0.0 {
        return 0.0;
    }
    if throws < SPARSE * cells {
        // One throw less on the X bits for each pair that meets.
        return libm::sqrt(0.5 * throws * ((throws - 1.0) / cells));
    }
    // Var X = m c (1 - c) + m (m - 1) (d - c^2), with c the probability that a given bit is clear
    // and d that two are. As d / c^2 = (1 - 1/(m - 1)^2)^t, d - c^2 needs no subtraction.
    let clear = libm::exp(throws * libm::log1p(-1.0 / cells));
    let others = cells - 1.0;
    let repulsion = libm::expm1(throws * libm::log1p(-1.0 / (others * others)));
    let variance = cells * clear * (occupied(cells, throws) + others * clear * repulsion);
    // Below zero by rounding alone, where a single throw is certain to set one bit.
    libm::sqrt(variance.max(0.0))
}

/// The number of distinct items in a filter of which `ones` bits are set, with its standard error.
///
/// The value is ln(1 - X/m) / (k ln(1 - 1/m)), at which X is the expected number of set bits, and
/// its standard error is √(m (e^a - a - 1)) / k, where a = -ln(1 - X/m). It is never below X / k rounded up, the
/// fewest items that can have set so many bits. Its bias, about (e^a - a - 1) / (2k) items, is below one item in
/// sound use. Some hundreds of bits should still be clear.
///
/// A saturated filter, or one without hashes, tells nothing of their number: both fields are
/// infinite then. They are never NaN.
///
/// # References
/// Kyu-Young Whang, Brad T. Vander-Zanden and Howard M. Taylor, "A linear-time probabilistic
/// counting algorithm for database applications", ACM TODS 15(2), 1990, for the error; S. Joshua
/// Swamidass and Pierre Baldi, "Mathematical correction for fingerprint similarity measures",
/// J. Chem. Inf. Model. 47(3), 2007, for Bloom filters.
///
/// # Examples
/// ```
/// use pds_params::bloom::cardinality;
/// let items = cardinality(95_929, 7, 48_000);
/// assert!((items.value - 9_509.0).abs() < 1.0 && items.standard_error < 25.0);
/// assert_eq!(cardinality(64, 7, 64).value, f64::INFINITY);
/// ```
#[must_use]
pub fn cardinality(bits: u64, hashes: u32, ones: u64) -> Estimate {
    let Some(load) = load_from_ones(bits, ones).filter(|_| hashes > 0) else {
        return UNKNOWN;
    };
    let variance = bits as f64 * (libm::expm1(load) - load);
    Estimate {
        value: items_at(bits, hashes, load).max(fewest_items(hashes, ones)),
        standard_error: libm::sqrt(variance.max(0.0)) / f64::from(hashes),
    }
}

/// The fewest items that can have set `ones` bits: each sets at most `hashes` of them.
pub(crate) fn fewest_items(hashes: u32, ones: u64) -> f64 {
    ones.div_ceil(hashes.into()) as f64
}

/// What a filter that tells nothing is estimated to hold.
const UNKNOWN: Estimate = Estimate { value: f64::INFINITY, standard_error: f64::INFINITY };

/// What two filters without a common bit have in common.
pub(crate) const NOTHING: Estimate = Estimate { value: 0.0, standard_error: 0.0 };

/// The load a = -ln(1 - X/m) at which `ones` bits are expected to be set; none at saturation.
fn load_from_ones(bits: u64, ones: u64) -> Option<f64> {
    let clear = bits.checked_sub(ones).filter(|&clear| clear > 0)?;
    // Of few set bits or of few clear ones: whichever an f64 holds to the last.
    Some(if clear < ones {
        -libm::log(clear as f64 / bits as f64)
    } else {
        -libm::log1p(-(ones as f64 / bits as f64))
    })
}

/// The number of items that explains a load; the load of a filter of one bit is 0.
fn items_at(bits: u64, hashes: u32, load: f64) -> f64 {
    -load / (f64::from(hashes) * libm::log1p(-1.0 / bits as f64))
}

/// The numbers of set bits in two filters of one shape and in their bitwise OR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SetBits {
    /// Set bits of the left filter.
    pub left: u64,
    /// Set bits of the right filter.
    pub right: u64,
    /// Set bits of the OR of both.
    pub union: u64,
}

impl SetBits {
    /// Whether no bit is set in both, as a common item would have done; certain of an empty filter, even beside a saturated one.
    pub(crate) fn are_apart(self) -> bool {
        self.left.checked_add(self.right) == Some(self.union)
    }
}

/// The number of distinct items that two filters have in common, with its standard error.
///
/// n(A) + n(B) - n(A or B), each by its load, but never below zero nor above either set; exactly zero where no
/// bit is set in both filters. The three errors cancel
/// in part: the error here is that of the difference, to the first order in the counts. With
/// z the fractions of clear bits and o the estimate, its square is
/// (m/k²) (1/z(AB) - 1/z(A) - 1/z(B) + 2 z(AB) / (z(A) z(B)) - 1 - ko/m).
///
/// Both fields are infinite when the OR is saturated, unless the filters have no bit in common, or when there are no hashes.
///
/// # References
/// Papapetrou, Siberski and Nejdl 2010, whose estimator from the AND is algebraically the same;
/// the error follows by Whang, Vander-Zanden and Taylor's argument applied to the three counts.
#[must_use]
pub fn intersection_cardinality(bits: u64, hashes: u32, ones: SetBits) -> Estimate {
    if hashes == 0 {
        return UNKNOWN;
    }
    if ones.are_apart() {
        return NOTHING;
    }
    let loads = [ones.left, ones.right, ones.union].map(|ones| load_from_ones(bits, ones));
    let [Some(left), Some(right), Some(union)] = loads else {
        return UNKNOWN;
    };
    let common = (left + right - union).clamp(0.0, left.min(right));
    let spread = libm::expm1(union) - libm::expm1(left) - libm::expm1(right)
        + 2.0 * libm::expm1(left + right - union)
        - common;
    Estimate {
        value: items_at(bits, hashes, common),
        standard_error: libm::sqrt((bits as f64 * spread).max(0.0)) / f64::from(hashes),
    }
}
