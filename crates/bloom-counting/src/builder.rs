//! Filters from whatever is known of them.

use core::marker::PhantomData;

use pds_core::ParamError;
use pds_core::internal::{DEFAULT_RATE, filter_builder};
use pds_params::{BlockedCountingParams, BloomParams};

use crate::{Bits4, Bits8, BlockedCountingBloomFilter, Counter, CountingBloomFilter};

filter_builder! {
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
    CountingBloomFilterBuilder<C: Counter = Bits4> builds CountingBloomFilter {
        /// Sets the number of counters; needs [`hashes`](Self::hashes).
        counters: u64,
        /// Sets the number of positions a key; needs [`counters`](Self::counters).
        hashes: u32,
    }
}

impl<S, C: Counter> CountingBloomFilterBuilder<S, C> {
    /// Counts up to 255 with 8 bits a counter, for multisets; twice the memory.
    pub fn wide_counters(self) -> CountingBloomFilterBuilder<S, Bits8> {
        CountingBloomFilterBuilder {
            expected_items: self.expected_items,
            false_positive_rate: self.false_positive_rate,
            counters: self.counters,
            hashes: self.hashes,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher: self.hasher,
            width: PhantomData,
        }
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

filter_builder! {
    /// Sets up a [`BlockedCountingBloomFilter`]; [`BlockedCountingBloomFilter::builder`] starts it.
    ///
    /// Either [`expected_items`](Self::expected_items), with or without a rate, or [`lines`](Self::lines).
    BlockedCountingBloomFilterBuilder builds BlockedCountingBloomFilter {
        /// Sets the number of lines of 128 counters.
        lines: u64,
    }
}

impl<S> BlockedCountingBloomFilterBuilder<S> {
    /// The one way in which what was given fixes the size.
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
