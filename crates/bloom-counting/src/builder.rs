//! The builder of counting Bloom filters.

use core::marker::PhantomData;

use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::BloomParams;
use pds_params::internal::ParamFault;

use crate::{Bits4, Bits8, Counter, CountingBloomFilter};

/// Builder for [`CountingBloomFilter`]; start with [`CountingBloomFilter::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, with or without `false_positive_rate` | the fewest counters that keep the rate |
/// | `counters` and `hashes` | exactly these, without a promise |
///
/// # Examples
/// ```
/// use bloom_counting::CountingBloomFilter;
///
/// let mut filter = CountingBloomFilter::builder().expected_items(1_000).wide_counters().build()?;
/// (0..200).for_each(|_| drop(filter.insert("often")));
/// assert_eq!(filter.estimate("often"), 200);
/// assert!(CountingBloomFilter::builder().build().is_err(), "neither items nor counters");
/// # Ok::<(), bloom_counting::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CountingBloomFilterBuilder<S = DefaultHashBuilder, C = Bits4> {
    given: Given,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
    width: PhantomData<C>,
}

/// Sizes that the caller has set.
#[derive(Clone, Copy, Debug)]
struct Given {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    counters: Option<u64>,
    hashes: Option<u32>,
}

impl CountingBloomFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            given: Given {
                expected_items: None,
                false_positive_rate: None,
                counters: None,
                hashes: None,
            },
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
            width: PhantomData,
        }
    }
}

impl<C> CountingBloomFilterBuilder<DefaultHashBuilder, C> {
    /// Sets the seed of the default hasher, 0 unless it is set. Only filters with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S, C: Counter> CountingBloomFilterBuilder<S, C> {
    /// Sets the number of distinct items up to which the filter keeps its rate.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.given.expected_items = Some(items);
        self
    }

    /// Sets the false-positive rate at the expected items, above 0 and below 1. Without it the rate is 0.01.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.given.false_positive_rate = Some(rate);
        self
    }

    /// Sets the number of counters, from 1 to 2^63. Set [`hashes`](Self::hashes) too.
    pub const fn counters(mut self, counters: u64) -> Self {
        self.given.counters = Some(counters);
        self
    }

    /// Sets the number of hash functions, from 1 to 255. Set [`counters`](Self::counters) too.
    pub const fn hashes(mut self, hashes: u32) -> Self {
        self.given.hashes = Some(hashes);
        self
    }

    /// Sets the width of a counter to 8 bits, which count up to 255, for multisets. It takes twice the memory.
    pub fn wide_counters(self) -> CountingBloomFilterBuilder<S, Bits8> {
        self.rebuilt(|hasher| hasher)
    }

    /// Sets whether to ask the system for huge pages, which pays for filters of many megabytes.
    ///
    /// Small filters ignore it. Copies of a filter, and filters read from bytes, do not ask.
    #[cfg(feature = "huge-pages")]
    pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> CountingBloomFilterBuilder<T, C> {
        self.rebuilt(|_| hasher)
    }

    fn rebuilt<T, D>(self, hasher: impl FnOnce(S) -> T) -> CountingBloomFilterBuilder<T, D> {
        CountingBloomFilterBuilder {
            given: self.given,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher: hasher(self.hasher),
            width: PhantomData,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range, missing, or in conflict with another.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<CountingBloomFilter<S, C>, BuildError>
    where
        S: KeyHasher,
    {
        let filter = CountingBloomFilter::from_params(self.given.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.counters.words().advise_huge_pages();
        }
        Ok(filter)
    }
}

impl Given {
    /// Returns the parameters that the given values determine.
    fn params(self) -> Result<BloomParams, ParamError> {
        let missing = |parameter| Err(ParamError(ParamFault::Missing { parameter }));
        let conflict = |parameter| Err(ParamError(ParamFault::Conflict { parameter }));
        match (self.expected_items, self.false_positive_rate, self.counters, self.hashes) {
            (Some(items), rate, None, None) => {
                BloomParams::for_double_hashing(items, rate.unwrap_or(DEFAULT_RATE))
            }
            (None, None, Some(counters), Some(hashes)) => {
                BloomParams::from_bits_and_hashes(counters, hashes).map_err(of_counters)
            }
            (None, _, None, _) => missing("expected_items"),
            (None, None, Some(_), None) => missing("hashes"),
            (_, Some(_), Some(_), _) => conflict("false_positive_rate"),
            (Some(_), None, Some(_), _) => conflict("counters"),
            (Some(_), _, None, Some(_)) => conflict("hashes"),
        }
    }
}

/// Names the parameter that a Bloom filter calls bits as it is called here.
pub(crate) fn of_counters(error: ParamError) -> ParamError {
    match error {
        ParamError(ParamFault::OutOfRange { parameter: "bits", value, min, max }) => {
            ParamError(ParamFault::OutOfRange { parameter: "counters", value, min, max })
        }
        other => other,
    }
}
