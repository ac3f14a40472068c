//! The builder of growing filters.

use bloom_blocked::BlockedBloomFilter;
use bloom_core::BloomFilter;
use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::internal::ParamFault;
use pds_params::{ScalableParams, Schedule};

use crate::{ScalableBlockedBloomFilter, ScalableBloomFilter};

/// Builder for [`ScalableBloomFilter`] and [`ScalableBlockedBloomFilter`]; start with [`ScalableBloomFilter::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// # Examples
/// ```
/// use bloom_scalable::{ScalableBloomFilter, Schedule};
///
/// let pages = ScalableBloomFilter::builder()
///     .expected_items(10_000)
///     .likely_items(1_000_000)
///     .build_blocked()?;
/// assert_eq!(pages.promised_rate(), 0.01);
///
/// let like_redis = ScalableBloomFilter::builder()
///     .expected_items(100)
///     .schedule(Schedule::Halving)
///     .seed(7)
///     .build()?;
/// assert_eq!(like_redis.layers()[0].promised_rate(), Some(0.005));
/// assert!(ScalableBloomFilter::builder().build().is_err(), "no expected items");
/// # Ok::<(), bloom_scalable::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ScalableBloomFilterBuilder<S = DefaultHashBuilder> {
    given: Given,
    hasher: S,
}

/// Values that the caller has set.
#[derive(Clone, Copy, Debug)]
struct Given {
    expected_items: Option<u64>,
    rate: f64,
    growth: u32,
    schedule: Schedule,
}

impl ScalableBloomFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            given: Given {
                expected_items: None,
                rate: DEFAULT_RATE,
                growth: ScalableParams::DEFAULT_GROWTH,
                schedule: Schedule::DEFAULT,
            },
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only filters with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> ScalableBloomFilterBuilder<S> {
    /// Sets the number of distinct items of the first layer.
    ///
    /// Too low a number costs layers, each of which is asked by every lookup of an absent key. Too high a number costs memory.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.given.expected_items = Some(items);
        self
    }

    /// Sets the false-positive rate at every moment, above 0 and below 1. Without it the rate is 0.01.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.given.rate = rate;
        self
    }

    /// Sets the factor from the items of a layer to those of the next one, from 1 to 32,768. Without it the factor is 2.
    ///
    /// With a factor of 1, layers reach a rate that 64-bit hashes cannot keep before they reach the greatest size. The filter is
    /// then full: at 1 % and 10 items per layer after 219 layers.
    pub const fn growth(mut self, growth: u32) -> Self {
        self.given.growth = growth;
        self
    }

    /// Sets how the layers share the rate. Without it each layer gets 0.85 times the share of the one before.
    pub const fn schedule(mut self, schedule: Schedule) -> Self {
        self.given.schedule = schedule;
        self
    }

    /// Sets the schedule for a likely number of items, which needs the least memory if that is right. The filter grows beyond it all
    /// the same.
    ///
    /// This is short for [`schedule`](Self::schedule) with [`Schedule::Likely`].
    pub const fn likely_items(self, items: u64) -> Self {
        self.schedule(Schedule::Likely(items))
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> ScalableBloomFilterBuilder<T> {
        ScalableBloomFilterBuilder { given: self.given, hasher }
    }

    /// Builds a filter of standard layers.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range or missing. [`BuildError::Alloc`] if the allocator refuses
    /// the memory.
    pub fn build(self) -> Result<ScalableBloomFilter<BloomFilter<S>>, BuildError>
    where
        S: KeyHasher + Clone,
    {
        ScalableBloomFilter::from_params(self.given.params()?, self.hasher)
    }

    /// Builds a filter of blocked layers, each of which reads one cache line per key.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_blocked(self) -> Result<ScalableBlockedBloomFilter<S>, BuildError>
    where
        S: KeyHasher + Clone,
    {
        ScalableBloomFilter::<BlockedBloomFilter<S>>::from_params(self.given.params()?, self.hasher)
    }
}

impl Given {
    fn params(&self) -> Result<ScalableParams, ParamError> {
        let missing = ParamError(ParamFault::Missing { parameter: "expected_items" });
        let items = self.expected_items.ok_or(missing)?;
        ScalableParams::new(items, self.rate, self.growth, self.schedule)
    }
}
