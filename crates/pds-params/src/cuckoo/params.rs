//! Validated shapes of cuckoo filters.

use super::room::{least_for_any_width, least_for_width, to_u64};
use super::{
    BUCKET_SLOTS, MAX_BUCKETS, MAX_FINGERPRINT_BITS, MIN_FINGERPRINT_BITS, fingerprints,
    most_items, rate_exact,
};
use crate::ParamError;
use crate::bloom::MAX_BITS;
use crate::check::{check_items, check_range, check_rate};
use crate::design::{Design, design_methods};
use crate::internal::ParamFault;
use crate::search::first;

/// Validated parameters of a cuckoo filter.
///
/// # Guarantees
/// - The mean false-positive rate at the designed number of items is at most the promised one.
/// - That many distinct keys fit, except at most once in a million fills. Up to 256 keys this follows from a bound and
///   counted fills. Above, it is extrapolated from counted fills. The README of `cuckoo` has the counts.
/// - No other fingerprint width and number of buckets keep both promises in fewer bits.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::CuckooParams;
///
/// let params = CuckooParams::new(1_000_000, 0.001)?;
/// assert_eq!((params.num_buckets(), params.fingerprint_bits()), (263_158, 13));
/// assert!(params.rate_at(1_000_000) <= 0.001);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CuckooParams {
    /// Number of buckets of four slots, from 1 to [`MAX_BUCKETS`].
    num_buckets: u64,
    /// Width of a fingerprint in bits, from [`MIN_FINGERPRINT_BITS`] to [`MAX_FINGERPRINT_BITS`].
    fingerprint_bits: u32,
    /// The design of the shape, if any.
    design: Design,
}

impl CuckooParams {
    /// Computes the filter of the fewest bits for `expected_items` distinct keys and a mean rate of at most `rate`.
    ///
    /// All fingerprint widths are considered, because a wide fingerprint at a high load competes with a narrower one at
    /// a lower load.
    ///
    /// # Errors
    /// If there are no items. If the rate is not between 0 and 1. If more than [`MAX_BUCKETS`] are needed.
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_rate(rate)?;
        let any_width = least_for_any_width(expected_items);
        let buckets = |bits: u32| {
            any_width.max(least_for_width(expected_items, bits)).max(least_for_rate(
                expected_items,
                rate,
                bits,
            ))
        };
        let (_, num_buckets, fingerprint_bits) = (MIN_FINGERPRINT_BITS..=MAX_FINGERPRINT_BITS)
            .map(|bits| (bits, buckets(bits)))
            .filter(|&(_, buckets)| buckets <= MAX_BUCKETS)
            .map(|(bits, buckets)| (u64::from(bits) * buckets, buckets, bits))
            .min()
            .ok_or_else(|| too_many_buckets(buckets(MAX_FINGERPRINT_BITS)))?;
        Self::from_buckets_and_fingerprint_bits(num_buckets, fingerprint_bits)?
            .with_design(Some(expected_items), Some(rate))
    }

    /// Computes the fewest buckets with fingerprints of this width for `expected_items` distinct keys.
    ///
    /// The promised rate is the resulting mean rate.
    ///
    /// # Errors
    /// If there are no items or the width is not allowed. If more than [`MAX_BUCKETS`] are needed.
    pub fn from_items_and_fingerprint_bits(
        expected_items: u64,
        fingerprint_bits: u32,
    ) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_width(fingerprint_bits)?;
        let num_buckets = super::least_buckets(expected_items, fingerprint_bits);
        if num_buckets > MAX_BUCKETS {
            return Err(too_many_buckets(num_buckets));
        }
        let rate = rate_exact(num_buckets, expected_items, fingerprint_bits);
        Self::from_buckets_and_fingerprint_bits(num_buckets, fingerprint_bits)?
            .with_design(Some(expected_items), Some(rate))
    }

    /// Accepts the shape as given, without a design.
    ///
    /// # Errors
    /// If there are no buckets, more than [`MAX_BUCKETS`], or the width is not allowed.
    pub fn from_buckets_and_fingerprint_bits(
        num_buckets: u64,
        fingerprint_bits: u32,
    ) -> Result<Self, ParamError> {
        check_range("buckets", num_buckets, 1, MAX_BUCKETS)?;
        check_width(fingerprint_bits)?;
        Ok(Self { num_buckets, fingerprint_bits, design: Design::NONE })
    }

    /// Computes the filter with the lowest mean rate for `items` distinct keys in at most `bytes` bytes, over all
    /// widths.
    ///
    /// The filter has no design.
    ///
    /// # Errors
    /// If there are no items, or if `bytes` is too small for them. The least number allowed is then about the size that
    /// they need. If more than [`MAX_BUCKETS`] are needed.
    ///
    /// # Examples
    /// ```
    /// use pds_params::CuckooParams;
    ///
    /// let params = CuckooParams::for_memory(1 << 20, 500_000)?;
    /// assert!(params.size_in_bytes() <= 1 << 20);
    /// assert_eq!(params.fingerprint_bits(), 15);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        check_items(items)?;
        check_range("bytes", bytes, 8, MAX_BITS / 8)?;
        let bits = bytes / 8 * 64;
        let widest = |width: u32| {
            let buckets = (bits / BUCKET_SLOTS / u64::from(width)).min(MAX_BUCKETS);
            let fits = buckets > 0 && super::least_buckets(items, width) <= buckets;
            let params = Self::from_buckets_and_fingerprint_bits(buckets, width).ok()?;
            fits.then_some(params)
        };
        let lower = |best: Self, next: Self| {
            if next.rate_at(items) < best.rate_at(items) { next } else { best }
        };
        let best = (MIN_FINGERPRINT_BITS..=MAX_FINGERPRINT_BITS).filter_map(widest).reduce(lower);
        best.map_or_else(
            || {
                let (min, max) = (Self::new(items, 0.5)?.size_in_bytes(), MAX_BITS / 8);
                Err(ParamError(ParamFault::OutOfRange {
                    parameter: "bytes",
                    value: bytes,
                    min,
                    max,
                }))
            },
            Ok,
        )
    }

    /// Returns the number of buckets. Any number works, not only powers of two.
    #[must_use]
    pub fn num_buckets(&self) -> u64 {
        self.num_buckets
    }

    /// Returns the width of a fingerprint in bits.
    #[must_use]
    pub fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Returns the number of slots, four per bucket.
    #[must_use]
    pub fn num_slots(&self) -> u64 {
        self.num_buckets * BUCKET_SLOTS
    }

    /// Returns the number of distinct items for which this size is designed. They fit, except at most once in a million
    /// fills.
    ///
    /// # Complexity
    /// O(log n) steps. If there are few buckets, each step sums over them.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        most_items(self.num_buckets, self.fingerprint_bits)
    }

    design_methods!();

    /// Returns the number of bits of all slots.
    #[must_use]
    pub fn num_bits(&self) -> u64 {
        self.num_slots() * u64::from(self.fingerprint_bits)
    }

    /// Returns the size of the slots in bytes, in whole 64-bit words.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.num_bits().div_ceil(64) * 8
    }

    /// Returns the number of bits per expected item, if the filter is designed for a number of items.
    #[must_use]
    pub fn bits_per_item(&self) -> Option<f64> {
        self.expected_items().map(|items| self.num_bits() as f64 / items as f64)
    }

    /// Predicts the mean false-positive rate at `items` items, by [`rate_exact`].
    #[must_use]
    pub fn rate_at(&self, items: u64) -> f64 {
        rate_exact(self.num_buckets, items, self.fingerprint_bits)
    }
}

/// Returns the least number of buckets that keeps `rate` at this width.
// The closed form for many buckets gives the start, the exact rate corrects it.
fn least_for_rate(items: u64, rate: f64, fingerprint_bits: u32) -> u64 {
    let keeps = |buckets| rate_exact(buckets, items, fingerprint_bits) <= rate;
    let places = 2.0 * items as f64 / -libm::log1p(-rate);
    let mut buckets = to_u64(libm::ceil(places / fingerprints(fingerprint_bits))).max(1);
    if buckets > MAX_BUCKETS {
        return buckets;
    }
    // Near a rate of 1, rounding makes many sizes equal, and single steps would be too many.
    let mut step = 1;
    while buckets > 1 && keeps(buckets - 1) {
        buckets = buckets.saturating_sub(step).max(1);
        step *= 2;
    }
    first(buckets, keeps)
}

fn check_width(bits: u32) -> Result<(), ParamError> {
    let (min, max) = (MIN_FINGERPRINT_BITS.into(), MAX_FINGERPRINT_BITS.into());
    check_range("fingerprint_bits", bits.into(), min, max)
}

fn too_many_buckets(buckets: u64) -> ParamError {
    ParamError(ParamFault::TooLarge {
        parameter: "buckets",
        value: buckets as f64,
        max: MAX_BUCKETS as f64,
    })
}
