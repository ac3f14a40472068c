//! Validated shapes of Bloom filters.

use super::exact::rate_exact;
use super::fill::{
    SetBits, cardinality, expected_fill, expected_set_bits, intersection_cardinality,
    set_bits_standard_deviation,
};
use super::sizing::{Positions, Promise};
use super::{MAX_BITS, MAX_HASHES};
use crate::check::{check_collisions, check_items, check_range, check_rate};
use crate::design::{Design, design_methods};
use crate::internal::ParamFault;
use crate::{Estimate, ParamError};

/// Validated parameters of a Bloom filter.
///
/// Any two of items, rate and bits determine the third, and the number of hashes: [`new`](Self::new),
/// [`from_bits_and_items`](Self::from_bits_and_items) and [`from_bits_and_rate`](Self::from_bits_and_rate).
///
/// # Guarantees
/// - The mean false-positive rate at the designed number of items is at most the promised one.
/// - The size is the least that keeps the promise: to the bit up to 2^40 bits, within 10^-12 above.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::BloomParams;
///
/// let params = BloomParams::new(1_000_000, 0.01)?;
/// assert_eq!((params.num_bits(), params.num_hashes()), (9_592_957, 7));
/// assert!(params.rate_at(1_000_000) <= 0.01);
/// // The usual formula gives 9,585,059 bits. They do not keep 1 %.
/// assert!(BloomParams::from_bits_and_hashes(9_585_059, 7)?.rate_at(1_000_000) > 0.01);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BloomParams {
    /// Number of bits m, from 1 to [`MAX_BITS`].
    num_bits: u64,
    /// Number of positions per key k, from 1 to [`MAX_HASHES`].
    num_hashes: u32,
    /// The design of the shape, if any.
    design: Design,
}

impl BloomParams {
    /// The greatest number of bits of a filter, 2^63.
    pub const MAX_BITS: u64 = MAX_BITS;

    /// The greatest number of hashes of a filter, 255.
    pub const MAX_HASHES: u32 = MAX_HASHES;

    /// Computes the least filter whose mean rate for `expected_items` is at most `rate`.
    ///
    /// The size is for independent positions. For the size of real filters, see
    /// [`for_double_hashing`](Self::for_double_hashing). Numbers of hashes up to [`MAX_HASHES`] are considered. They
    /// include the best one for every rate down to 10^-76.
    ///
    /// # Errors
    /// If there are no items. If the rate is not between 0 and 1. If more than [`MAX_BITS`] are needed.
    ///
    /// # Complexity
    /// About ten evaluations of [`rate_exact`], for all `expected_items`.
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_rate(rate)?;
        Self::least(expected_items, rate, Promise { rate, positions: Positions::Independent })
    }

    /// Computes the least filter with double-hashed positions that keeps the promise on 64-bit hashes.
    ///
    /// Two terms are added to the rate of [`new`](Self::new): [`scheme_excess`](super::scheme_excess), and the share
    /// n·2^-64 of absent keys whose whole hash equals a stored one.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and if the rate is at or below n·2^-64.
    ///
    /// # Examples
    /// ```
    /// use pds_params::{BloomParams, ParamError};
    ///
    /// let params = BloomParams::for_double_hashing(1_000, 0.01)?;
    /// assert!(params.num_bits() >= BloomParams::new(1_000, 0.01)?.num_bits());
    /// // 64 bits cannot tell 10^9 keys from others with an error of 10^-12.
    /// let error = BloomParams::for_double_hashing(1_000_000_000, 1e-12).unwrap_err();
    /// assert!(error.to_string().contains("the collision rate of 64-bit hashes"));
    /// # Ok::<(), ParamError>(())
    /// ```
    pub fn for_double_hashing(expected_items: u64, rate: f64) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_rate(rate)?;
        check_collisions(expected_items, rate)?;
        Self::least(expected_items, rate, Promise { rate, positions: Positions::DoubleHashed })
    }

    /// Returns a shape that was computed elsewhere.
    pub(super) const fn designed(num_bits: u64, num_hashes: u32, design: Design) -> Self {
        Self { num_bits, num_hashes, design }
    }

    /// Computes each of `members` filters of the same items that must all agree, so that together they keep `rate`.
    ///
    /// Each keeps the rate to the power of 1 / `members`. The filters need different seeds, and then their answers are independent.
    ///
    /// Take at most log2(1 / `rate`) members. Together they have at most 6 % more bits than one filter of that rate (for rates of 0.5 to
    /// 10^-6), because the number of hashes is rounded for each. Further members cost much more: each has one hash and a rate above
    /// 1/2. At 1 %, 20 members have 1.32 times the bits of one filter, and 100 members have 3.36 times.
    ///
    /// The promised rate is that of a single member.
    ///
    /// # Errors
    /// Those of [`for_double_hashing`](Self::for_double_hashing), and if there are no members.
    ///
    /// # Examples
    /// ```
    /// use pds_params::BloomParams;
    /// let one = BloomParams::for_double_hashing(10_000, 1e-4)?;
    /// let member = BloomParams::for_ensemble(10_000, 1e-4, 2)?;
    /// assert_eq!(member.promised_rate(), Some(0.01));
    /// assert!(2 * member.num_bits() < one.num_bits() * 101 / 100);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_ensemble(expected_items: u64, rate: f64, members: u32) -> Result<Self, ParamError> {
        check_rate(rate)?;
        check_range("members", members.into(), 1, u32::MAX.into())?;
        Self::for_double_hashing(expected_items, libm::pow(rate, 1.0 / f64::from(members)))
    }

    /// Computes the filter of the fewest hashes with at most 1/15 more bits than
    /// [`for_double_hashing`](Self::for_double_hashing).
    pub(crate) fn for_few_hashes(expected_items: u64, rate: f64) -> Result<Self, ParamError> {
        let least = Self::for_double_hashing(expected_items, rate)?;
        let promise = Promise { rate, positions: Positions::DoubleHashed };
        let few = promise.fewest_hashes(expected_items, least.num_bits);
        let (num_bits, num_hashes) = few.unwrap_or((least.num_bits, least.num_hashes));
        Ok(Self { num_bits, num_hashes, ..least })
    }

    /// Computes the least filter that keeps `promise`.
    fn least(items: u64, rate: f64, promise: Promise) -> Result<Self, ParamError> {
        let (num_bits, num_hashes) = promise.least_bits(items).ok_or_else(|| {
            ParamError(ParamFault::TooLarge {
                parameter: "bits",
                value: promise.bits_by_finite(items, promise.hashes_at_half_fill()),
                max: MAX_BITS as f64,
            })
        })?;
        Ok(Self { num_bits, num_hashes, design: Design::new(items, rate) })
    }

    /// Computes the number of hashes with the lowest mean rate for `expected_items` in `bits` bits.
    ///
    /// The promised rate is that mean rate. There is none if the filter is so small that it will be full, or if the
    /// rate is below the least `f64`.
    ///
    /// # Errors
    /// If there are no items, no bits, or more than [`MAX_BITS`].
    ///
    /// # Examples
    /// ```
    /// use pds_params::BloomParams;
    /// let params = BloomParams::from_bits_and_items(10_000, 1_000)?;
    /// assert_eq!(params.num_hashes(), 7);
    /// assert!((params.rate_at(1_000) - 0.0082).abs() < 1e-4);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn from_bits_and_items(bits: u64, expected_items: u64) -> Result<Self, ParamError> {
        Self::best(bits, expected_items, Positions::Independent)
    }

    /// Computes the number of hashes with the lowest mean rate for double-hashed positions on 64-bit hashes.
    ///
    /// The promised rate is that mean rate, including the terms of [`for_double_hashing`](Self::for_double_hashing).
    /// There is none if the filter is so small that it will be full.
    ///
    /// # Errors
    /// Those of [`from_bits_and_items`](Self::from_bits_and_items).
    ///
    /// # Examples
    /// ```
    /// use pds_params::BloomParams;
    /// // With independent positions, 64 bits for one item would have a rate of 10^-16.
    /// let params = BloomParams::for_double_hashing_of(64, 1)?;
    /// assert!(params.promised_rate() > Some(1e-11));
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_double_hashing_of(bits: u64, expected_items: u64) -> Result<Self, ParamError> {
        Self::best(bits, expected_items, Positions::DoubleHashed)
    }

    /// Computes the number of hashes with the lowest mean rate, and promises that rate.
    fn best(bits: u64, items: u64, positions: Positions) -> Result<Self, ParamError> {
        check_bits(bits)?;
        check_items(items)?;
        let num_hashes = positions.best_hashes(bits, items);
        let rate = positions.rate(bits, items, num_hashes);
        Ok(Self { num_bits: bits, num_hashes, design: Design::new(items, rate) })
    }

    /// Computes the most items for which `bits` bits keep a mean rate of at most `rate`.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1. If there are no bits, more than [`MAX_BITS`], or too few for a single item.
    /// The least number allowed is then the size for one item.
    ///
    /// # Examples
    /// ```
    /// use pds_params::BloomParams;
    /// let params = BloomParams::from_bits_and_rate(9_592_957, 0.01)?;
    /// assert_eq!(params.expected_items(), Some(1_000_000));
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn from_bits_and_rate(bits: u64, rate: f64) -> Result<Self, ParamError> {
        Self::fullest(bits, rate, Promise { rate, positions: Positions::Independent }, || {
            Self::new(1, rate)
        })
    }

    /// Computes the most items for which `bits` bits with double-hashed positions keep the promise on 64-bit hashes.
    ///
    /// [`for_double_hashing`](Self::for_double_hashing) describes the rate.
    ///
    /// # Errors
    /// Those of [`from_bits_and_rate`](Self::from_bits_and_rate), and if the rate is at
    /// or below 2^-64.
    ///
    /// # Examples
    /// ```
    /// use pds_params::BloomParams;
    /// let params = BloomParams::for_double_hashing(1_000, 1e-9)?;
    /// let back = BloomParams::for_double_hashing_in(params.num_bits(), 1e-9)?;
    /// assert_eq!(back, params);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_double_hashing_in(bits: u64, rate: f64) -> Result<Self, ParamError> {
        let single = || Self::for_double_hashing(1, rate);
        Self::fullest(bits, rate, Promise { rate, positions: Positions::DoubleHashed }, single)
    }

    /// Computes the most items in `bits` bits under `promise`. `single` is the least filter for one item.
    fn fullest(
        bits: u64,
        rate: f64,
        promise: Promise,
        single: impl FnOnce() -> Result<Self, ParamError>,
    ) -> Result<Self, ParamError> {
        check_bits(bits)?;
        check_rate(rate)?;
        if let Some((items, num_hashes)) = promise.most_items(bits) {
            return Ok(Self { num_bits: bits, num_hashes, design: Design::new(items, rate) });
        }
        let single = single()?;
        check_range("bits", bits, single.num_bits, MAX_BITS)?;
        // Subnormal rates are so coarse that the bounds of the search exclude rates that would be allowed.
        Ok(Self { num_bits: bits, ..single })
    }

    /// Accepts the shape as given, without a design.
    ///
    /// # Errors
    /// If there are no bits, no hashes, more than [`MAX_BITS`] or more than [`MAX_HASHES`].
    pub fn from_bits_and_hashes(bits: u64, hashes: u32) -> Result<Self, ParamError> {
        check_bits(bits)?;
        check_range("hashes", hashes.into(), 1, MAX_HASHES.into())?;
        Ok(Self { num_bits: bits, num_hashes: hashes, design: Design::NONE })
    }

    /// Returns the number of bits, m.
    #[must_use]
    pub fn num_bits(&self) -> u64 {
        self.num_bits
    }

    /// Returns the number of positions per key, k.
    #[must_use]
    pub fn num_hashes(&self) -> u32 {
        self.num_hashes
    }

    design_methods!();

    /// Returns the size of the bits in bytes, in whole 64-bit words.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.num_bits.div_ceil(64) * 8
    }

    /// Returns the number of bits per expected item, m/n, if the filter is designed for a number of items.
    #[must_use]
    pub fn bits_per_item(&self) -> Option<f64> {
        self.expected_items().map(|items| self.num_bits as f64 / items as f64)
    }

    /// Predicts the mean false-positive rate at `items` items, by [`rate_exact`].
    ///
    /// # Examples
    /// ```
    /// let params = pds_params::BloomParams::new(1_000_000, 0.01)?;
    /// // Twice the items of the design raise the rate by a factor of 16.
    /// assert_eq!(format!("{:.3}", params.rate_at(2_000_000)), "0.157");
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    #[must_use]
    pub fn rate_at(&self, items: u64) -> f64 {
        rate_exact(self.num_bits, items, self.num_hashes)
    }

    /// Predicts the fraction of set bits at `items` items.
    #[must_use]
    pub fn fill_at(&self, items: u64) -> f64 {
        expected_fill(self.num_bits, items, self.num_hashes)
    }

    /// Predicts the number of set bits at `items` items, with the standard deviation over filters.
    #[must_use]
    pub fn set_bits_at(&self, items: u64) -> Estimate {
        let (bits, hashes) = (self.num_bits, self.num_hashes);
        Estimate {
            value: expected_set_bits(bits, items, hashes),
            standard_error: set_bits_standard_deviation(bits, items, hashes),
        }
    }

    /// Estimates the number of distinct items in a filter with `ones` set bits, by [`cardinality`].
    #[must_use]
    pub fn cardinality(&self, ones: u64) -> Estimate {
        cardinality(self.num_bits, self.num_hashes, ones)
    }

    /// Estimates the number of distinct items that two filters have in common, by
    /// [`intersection_cardinality`].
    #[must_use]
    pub fn intersection_cardinality(&self, ones: SetBits) -> Estimate {
        intersection_cardinality(self.num_bits, self.num_hashes, ones)
    }
}

pub(super) fn check_bits(bits: u64) -> Result<(), ParamError> {
    check_range("bits", bits, 1, MAX_BITS)
}
