//! The builder of cuckoo filters.

use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::CuckooParams;
use pds_params::internal::ParamFault;

use crate::CuckooFilter;

/// Builder for [`CuckooFilter`]; start with [`CuckooFilter::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, with or without `false_positive_rate` | the fewest bits that hold the items and keep the rate |
/// | `expected_items` and `fingerprint_bits` | the fewest buckets that hold the items |
/// | `buckets` and `fingerprint_bits` | exactly these, without a promise |
///
/// # Examples
/// ```
/// use cuckoo::CuckooFilter;
///
/// let filter = CuckooFilter::builder().expected_items(10_000).fingerprint_bits(16).seed(7).build()?;
/// assert_eq!(filter.num_buckets(), 2632);
/// assert!(filter.promised_rate() < Some(0.000_12));
/// assert!(CuckooFilter::builder().build().is_err(), "neither items nor buckets");
/// # Ok::<(), cuckoo::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CuckooFilterBuilder<S = DefaultHashBuilder> {
    given: Given,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

/// Sizes that the caller has set.
#[derive(Clone, Copy, Debug)]
struct Given {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    buckets: Option<u64>,
    fingerprint_bits: Option<u32>,
}

impl CuckooFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            given: Given {
                expected_items: None,
                false_positive_rate: None,
                buckets: None,
                fingerprint_bits: None,
            },
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only filters with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> CuckooFilterBuilder<S> {
    /// Sets the number of distinct items that the filter must hold, and up to which it keeps its rate.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.given.expected_items = Some(items);
        self
    }

    /// Sets the false-positive rate at the expected items, above 0 and below 1. Without it the rate is 0.01.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.given.false_positive_rate = Some(rate);
        self
    }

    /// Sets the number of buckets, from 1 to 2^32. A bucket has four slots.
    ///
    /// Set [`fingerprint_bits`](Self::fingerprint_bits) too.
    pub const fn buckets(mut self, buckets: u64) -> Self {
        self.given.buckets = Some(buckets);
        self
    }

    /// Sets the width of a fingerprint in bits, from 4 to 32.
    pub const fn fingerprint_bits(mut self, fingerprint_bits: u32) -> Self {
        self.given.fingerprint_bits = Some(fingerprint_bits);
        self
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
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> CuckooFilterBuilder<T> {
        CuckooFilterBuilder {
            given: self.given,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range, missing, or in conflict with another.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<CuckooFilter<S>, BuildError>
    where
        S: KeyHasher,
    {
        let filter = CuckooFilter::from_params(self.given.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.advise_huge_pages();
        }
        Ok(filter)
    }
}

impl Given {
    /// Returns the parameters that the given values determine.
    fn params(self) -> Result<CuckooParams, ParamError> {
        let missing = |parameter| Err(ParamError(ParamFault::Missing { parameter }));
        let conflict = |parameter| Err(ParamError(ParamFault::Conflict { parameter }));
        match (self.expected_items, self.false_positive_rate, self.buckets, self.fingerprint_bits) {
            (Some(items), rate, None, None) => {
                CuckooParams::new(items, rate.unwrap_or(DEFAULT_RATE))
            }
            (Some(items), None, None, Some(bits)) => {
                CuckooParams::from_items_and_fingerprint_bits(items, bits)
            }
            (None, None, Some(buckets), Some(bits)) => {
                CuckooParams::from_buckets_and_fingerprint_bits(buckets, bits)
            }
            (None, _, None, _) => missing("expected_items"),
            (None, _, Some(_), None) => missing("fingerprint_bits"),
            (_, Some(_), _, Some(_)) => conflict("false_positive_rate"),
            (Some(_), _, Some(_), _) => conflict("buckets"),
        }
    }
}
