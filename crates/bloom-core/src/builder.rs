//! A filter from whatever is known of it.

use pds_core::{BuildError, DefaultHashBuilder, ParamError};
use pds_params::BloomParams;

use crate::BloomFilter;

/// The rate where none is asked for: one absent key in a hundred.
const DEFAULT_RATE: f64 = 0.01;

/// Sets up a [`BloomFilter`]; [`BloomFilter::builder`] starts it.
///
/// Two of items, rate and bits fix the third; the rate is 1 % where it is neither given nor fixed. Bits
/// and hashes can be given outright. Everything is checked in [`build`](Self::build), and nothing is
/// adjusted silently.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, or that and `false_positive_rate` | the fewest bits that keep the promised rate |
/// | `bits`, or that and `false_positive_rate` | these bits, for as many items as keep the rate |
/// | `bits` and `expected_items` | these bits, with the best number of hashes |
/// | `bits` and `hashes` | exactly these, without a promise |
///
/// # Examples
/// ```
/// use bloom_core::BloomFilter;
///
/// let filter = BloomFilter::builder().bits(1 << 20).false_positive_rate(0.001).seed(7).build()?;
/// assert_eq!(filter.num_bits(), 1 << 20);
/// assert!(filter.expected_items() > Some(72_000));
/// assert!(BloomFilter::builder().build().is_err(), "neither items nor bits");
/// # Ok::<(), pds_core::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct BloomFilterBuilder<S = DefaultHashBuilder> {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    bits: Option<u64>,
    hashes: Option<u32>,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

impl BloomFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            expected_items: None,
            false_positive_rate: None,
            bits: None,
            hashes: None,
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Seeds the default hasher. Filters can be combined when their seeds are equal.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> BloomFilterBuilder<S> {
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

    /// Sets the number of bits.
    pub const fn bits(mut self, bits: u64) -> Self {
        self.bits = Some(bits);
        self
    }

    /// Sets the number of positions a key; needs [`bits`](Self::bits).
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

    /// Hashes keys with `hasher`, such as a [`SipHashBuilder`](pds_core::SipHashBuilder) for keys that
    /// strangers choose.
    pub fn hasher<T>(self, hasher: T) -> BloomFilterBuilder<T> {
        BloomFilterBuilder {
            expected_items: self.expected_items,
            false_positive_rate: self.false_positive_rate,
            bits: self.bits,
            hashes: self.hashes,
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
    pub fn build(self) -> Result<BloomFilter<S>, BuildError> {
        let filter = BloomFilter::from_params(self.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.bits().advise_huge_pages();
        }
        Ok(filter)
    }

    /// The one way in which what was given fixes the size.
    fn params(&self) -> Result<BloomParams, ParamError> {
        let conflict = |parameter| Err(ParamError::Conflict { parameter });
        let rate = self.false_positive_rate.unwrap_or(DEFAULT_RATE);
        match (self.bits, self.hashes, self.expected_items, self.false_positive_rate) {
            (None, None, Some(items), _) => BloomParams::for_double_hashing(items, rate),
            (None, None, None, _) => Err(ParamError::Missing { parameter: "expected_items" }),
            (None, Some(_), ..) => Err(ParamError::Missing { parameter: "bits" }),
            (Some(bits), None, None, _) => BloomParams::for_double_hashing_in(bits, rate),
            (Some(bits), None, Some(items), None) => BloomParams::from_bits_and_items(bits, items),
            (Some(bits), Some(hashes), None, None) => {
                BloomParams::from_bits_and_hashes(bits, hashes)
            }
            (Some(_), None, Some(_), Some(_)) | (Some(_), Some(_), None, Some(_)) => {
                conflict("false_positive_rate")
            }
            (Some(_), Some(_), Some(_), _) => conflict("expected_items"),
        }
    }
}
