//! Filters from whatever is known of them.

use core::marker::PhantomData;

use pds_core::{BuildError, DefaultHashBuilder, ParamError};
use pds_params::{BlockedCountingParams, BloomParams};

use crate::{Bits4, Bits8, BlockedCountingBloomFilter, Counter, CountingBloomFilter};

/// The rate where none is asked for: one absent key in a hundred.
const DEFAULT_RATE: f64 = 0.01;

/// Sets up a [`CountingBloomFilter`]; [`CountingBloomFilter::builder`] starts it.
///
/// Everything is checked in [`build`](Self::build), and nothing is adjusted silently.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, or that and `false_positive_rate` | the fewest counters that keep the promised rate |
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
/// # Ok::<(), bloom_counting::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CountingBloomFilterBuilder<S = DefaultHashBuilder, C = Bits4> {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    counters: Option<u64>,
    hashes: Option<u32>,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
    width: PhantomData<C>,
}

impl CountingBloomFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            expected_items: None,
            false_positive_rate: None,
            counters: None,
            hashes: None,
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
            width: PhantomData,
        }
    }
}

impl<C> CountingBloomFilterBuilder<DefaultHashBuilder, C> {
    /// Seeds the default hasher. Filters can be merged when their seeds are equal.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S, C: Counter> CountingBloomFilterBuilder<S, C> {
    /// Sets the number of distinct items at which the promised rate is reached.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.expected_items = Some(items);
        self
    }

    /// Sets the fraction of absent keys, in (0, 1), that may be answered `true` at the expected items.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.false_positive_rate = Some(rate);
        self
    }

    /// Sets the number of counters; needs [`hashes`](Self::hashes).
    pub const fn counters(mut self, counters: u64) -> Self {
        self.counters = Some(counters);
        self
    }

    /// Sets the number of positions a key; needs [`counters`](Self::counters).
    pub const fn hashes(mut self, hashes: u32) -> Self {
        self.hashes = Some(hashes);
        self
    }

    /// Asks the system for huge pages, which large filters gain from and small ones ignore.
    #[cfg(feature = "huge-pages")]
    pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Counts up to 255 with 8 bits a counter, for multisets; twice the memory.
    pub fn wide_counters(self) -> CountingBloomFilterBuilder<S, Bits8> {
        self.convert(|hasher| hasher)
    }

    /// Hashes keys with `hasher`, such as a [`SipHashBuilder`](pds_core::SipHashBuilder) for keys that
    /// strangers choose.
    pub fn hasher<T>(self, hasher: T) -> CountingBloomFilterBuilder<T, C> {
        self.convert(|_| hasher)
    }

    fn convert<T, D>(self, hasher: impl FnOnce(S) -> T) -> CountingBloomFilterBuilder<T, D> {
        CountingBloomFilterBuilder {
            expected_items: self.expected_items,
            false_positive_rate: self.false_positive_rate,
            counters: self.counters,
            hashes: self.hashes,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher: hasher(self.hasher),
            width: PhantomData,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a parameter that is out of range, missing, or fixed by the others
    /// already; [`BuildError::Alloc`] reports that memory was refused.
    pub fn build(self) -> Result<CountingBloomFilter<S, C>, BuildError> {
        let filter = CountingBloomFilter::from_params(self.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.counters().words().advise_huge_pages();
        }
        Ok(filter)
    }

    /// The one way in which what was given fixes the size.
    fn params(&self) -> Result<BloomParams, ParamError> {
        match (self.expected_items, self.false_positive_rate, self.counters, self.hashes) {
            (Some(items), rate, None, None) => {
                BloomParams::for_double_hashing(items, rate.unwrap_or(DEFAULT_RATE))
            }
            (None, None, Some(counters), Some(hashes)) => {
                BloomParams::from_bits_and_hashes(counters, hashes).map_err(of_counters)
            }
            (None, _, None, _) => Err(ParamError::Missing { parameter: "expected_items" }),
            (None, None, Some(_), None) => Err(ParamError::Missing { parameter: "hashes" }),
            (_, Some(_), Some(_), _) => {
                Err(ParamError::Conflict { parameter: "false_positive_rate" })
            }
            (Some(_), None, Some(_), _) => Err(ParamError::Conflict { parameter: "counters" }),
            (Some(_), _, None, Some(_)) => Err(ParamError::Conflict { parameter: "hashes" }),
        }
    }
}

/// Calls by their name here what a Bloom filter has as bits.
pub(crate) fn of_counters(error: ParamError) -> ParamError {
    match error {
        ParamError::OutOfRange { parameter: "bits", value, min, max } => {
            ParamError::OutOfRange { parameter: "counters", value, min, max }
        }
        other => other,
    }
}

/// Sets up a [`BlockedCountingBloomFilter`]; [`BlockedCountingBloomFilter::builder`] starts it.
///
/// Either [`expected_items`](Self::expected_items), with or without a rate, or [`lines`](Self::lines).
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct BlockedCountingBloomFilterBuilder<S = DefaultHashBuilder> {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    lines: Option<u64>,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

impl BlockedCountingBloomFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            expected_items: None,
            false_positive_rate: None,
            lines: None,
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Seeds the default hasher. Filters can be merged when their seeds are equal.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> BlockedCountingBloomFilterBuilder<S> {
    /// Sets the number of distinct items at which the promised rate is reached.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.expected_items = Some(items);
        self
    }

    /// Sets the fraction of absent keys, in (0, 1), that may be answered `true` at the expected items.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.false_positive_rate = Some(rate);
        self
    }

    /// Sets the number of lines of 128 counters.
    pub const fn lines(mut self, lines: u64) -> Self {
        self.lines = Some(lines);
        self
    }

    /// Asks the system for huge pages, which large filters gain from and small ones ignore.
    #[cfg(feature = "huge-pages")]
    pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Hashes keys with `hasher`, such as a [`SipHashBuilder`](pds_core::SipHashBuilder) for keys that
    /// strangers choose.
    pub fn hasher<T>(self, hasher: T) -> BlockedCountingBloomFilterBuilder<T> {
        BlockedCountingBloomFilterBuilder {
            expected_items: self.expected_items,
            false_positive_rate: self.false_positive_rate,
            lines: self.lines,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a parameter that is out of range, missing, or fixed by the others
    /// already; [`BuildError::Alloc`] reports that memory was refused.
    pub fn build(self) -> Result<BlockedCountingBloomFilter<S>, BuildError> {
        let filter = BlockedCountingBloomFilter::from_params(self.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.counters().words().advise_huge_pages();
        }
        Ok(filter)
    }

    fn params(&self) -> Result<BlockedCountingParams, ParamError> {
        match (self.expected_items, self.false_positive_rate, self.lines) {
            (Some(items), rate, None) => {
                BlockedCountingParams::new(items, rate.unwrap_or(DEFAULT_RATE))
            }
            (None, None, Some(lines)) => BlockedCountingParams::from_lines(lines),
            (None, _, None) => Err(ParamError::Missing { parameter: "expected_items" }),
            (_, Some(_), Some(_)) => Err(ParamError::Conflict { parameter: "false_positive_rate" }),
            (Some(_), None, Some(_)) => Err(ParamError::Conflict { parameter: "lines" }),
        }
    }
}
