//! A filter from whatever is known of it.

use pds_core::{BuildError, DefaultHashBuilder, ParamError};
use pds_params::CuckooParams;

use crate::CuckooFilter;

/// The rate where none is asked for: one absent key in a hundred.
const DEFAULT_RATE: f64 = 0.01;

/// Sets up a [`CuckooFilter`]; [`CuckooFilter::builder`] starts it.
///
/// Everything is checked in [`build`](Self::build), and nothing is adjusted silently.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, or that and `false_positive_rate` | the fewest bits that take the items and keep the rate |
/// | `expected_items` and `fingerprint_bits` | the fewest buckets that take the items |
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
/// # Ok::<(), cuckoo::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CuckooFilterBuilder<S = DefaultHashBuilder> {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    buckets: Option<u64>,
    fingerprint_bits: Option<u32>,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

impl CuckooFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            expected_items: None,
            false_positive_rate: None,
            buckets: None,
            fingerprint_bits: None,
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

impl<S> CuckooFilterBuilder<S> {
    /// Sets the number of items that surely fit, and at which the promised rate is reached.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.expected_items = Some(items);
        self
    }

    /// Sets the fraction of absent keys, in (0, 1), that may be answered `true` at the expected items.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.false_positive_rate = Some(rate);
        self
    }

    /// Sets the number of buckets of four slots, any from 1 to 2^32; needs
    /// [`fingerprint_bits`](Self::fingerprint_bits).
    pub const fn buckets(mut self, buckets: u64) -> Self {
        self.buckets = Some(buckets);
        self
    }

    /// Sets the width of a fingerprint in bits, from 4 to 32.
    pub const fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.fingerprint_bits = Some(bits);
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
    pub fn hasher<T>(self, hasher: T) -> CuckooFilterBuilder<T> {
        CuckooFilterBuilder {
            expected_items: self.expected_items,
            false_positive_rate: self.false_positive_rate,
            buckets: self.buckets,
            fingerprint_bits: self.fingerprint_bits,
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
    pub fn build(self) -> Result<CuckooFilter<S>, BuildError> {
        let filter = CuckooFilter::from_params(self.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.advise_huge_pages();
        }
        Ok(filter)
    }

    /// The one way in which what was given fixes the size.
    fn params(&self) -> Result<CuckooParams, ParamError> {
        let missing = |parameter| Err(ParamError::Missing { parameter });
        let conflict = |parameter| Err(ParamError::Conflict { parameter });
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
