//! The builder of both kinds of filters.

use core::marker::PhantomData;

use pds_core::error::BuildError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::window::DEFAULT_SLACK;

use crate::{Age, AgingBloomFilter, LastKeys, LastTicks};

/// Builder for [`WindowBloomFilter`](crate::WindowBloomFilter) and [`TimedBloomFilter`](crate::TimedBloomFilter); start with
/// `WindowBloomFilter::builder` or `TimedBloomFilter::builder`.
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// # Examples
/// ```
/// use bloom_window::{TimedBloomFilter, WindowBloomFilter};
///
/// let recent = WindowBloomFilter::builder().window(10_000).slack(0.02).seed(7).build()?;
/// assert_eq!(recent.promised_rate(), Some(0.01));
/// assert!(WindowBloomFilter::builder().build().is_err(), "no window");
///
/// let alerts = TimedBloomFilter::builder().ticks(3_600).expected_items(500).slack(0.25).build()?;
/// assert!(alerts.params().longest_stay() <= 4_500);
/// # Ok::<(), bloom_window::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct AgingBloomFilterBuilder<A, S = DefaultHashBuilder> {
    given: Given,
    hasher: S,
    age: PhantomData<A>,
}

/// Values that the caller has set.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// Length of the window, in keys or in ticks.
    pub(crate) length: Option<u64>,
    pub(crate) expected_items: Option<u64>,
    pub(crate) rate: f64,
    pub(crate) slack: f64,
}

impl<A> AgingBloomFilterBuilder<A> {
    pub(crate) const fn new() -> Self {
        let (rate, slack) = (DEFAULT_RATE, DEFAULT_SLACK);
        Self {
            given: Given { length: None, expected_items: None, rate, slack },
            hasher: DefaultHashBuilder::with_seed(0),
            age: PhantomData,
        }
    }

    /// Sets the seed of the default hasher, 0 unless it is set.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> AgingBloomFilterBuilder<LastKeys, S> {
    /// Sets the number of keys in the window, from 1 to 2^62.
    pub const fn window(mut self, window: u64) -> Self {
        self.given.length = Some(window);
        self
    }
}

impl<S> AgingBloomFilterBuilder<LastTicks, S> {
    /// Sets the length of the window in ticks, from 1 to 2^62.
    pub const fn ticks(mut self, ticks: u64) -> Self {
        self.given.length = Some(ticks);
        self
    }

    /// Sets the number of inserts per window, up to which the filter keeps its rate if they come evenly.
    ///
    /// Equal keys within one generation count once. A key that is inserted again in a later generation counts again.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.given.expected_items = Some(items);
        self
    }
}

impl<A, S> AgingBloomFilterBuilder<A, S> {
    /// Sets the false-positive rate at every moment, above 0 and below 1. Without it the rate is 0.01.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.given.rate = rate;
        self
    }

    /// Sets the share of the window that a key may stay longer, above 0 and below 1. Without it the slack is 0.1.
    ///
    /// The least possible slack of long windows is 1/62, or 1/63 for a window of ticks. Some short windows need more.
    pub const fn slack(mut self, slack: f64) -> Self {
        self.given.slack = slack;
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> AgingBloomFilterBuilder<A, T> {
        AgingBloomFilterBuilder { given: self.given, hasher, age: PhantomData }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range or missing. [`BuildError::Alloc`] if the allocator refuses
    /// the memory.
    pub fn build(self) -> Result<AgingBloomFilter<A, S>, BuildError>
    where
        A: Age,
        S: KeyHasher,
    {
        Ok(AgingBloomFilter::of_age(A::given(&self.given)?, self.hasher)?)
    }
}
