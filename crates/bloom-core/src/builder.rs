//! The builder of Bloom filters.

use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::BloomParams;
use pds_params::internal::ParamFault;

#[cfg(target_has_atomic = "64")]
use crate::AtomicBloomFilter;
use crate::{BloomFilter, FilterBank};

/// Builder for [`BloomFilter`] and [`AtomicBloomFilter`](crate::AtomicBloomFilter); start with
/// [`BloomFilter::builder`].
///
/// Two of items, rate and bits determine the third. The rate is 1 % if it is neither given nor determined. Bits and
/// hashes can also be given directly. [`build`](Self::build) checks all values. It adjusts none of them.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, with or without `false_positive_rate` | the fewest bits that keep the rate |
/// | `bits`, with or without `false_positive_rate` | these bits, for as many items as keep the rate |
/// | `bits` and `expected_items` | these bits, with the best number of hashes |
/// | `bits` and `hashes` | exactly these, without a promise |
/// | `bits`, `expected_items` and `for_transfer` | at most these bits, for the lowest rate in a given number of bits sent |
///
/// # Examples
/// ```
/// use bloom_core::BloomFilter;
///
/// let filter = BloomFilter::builder().bits(1 << 20).false_positive_rate(0.001).seed(7).build()?;
/// assert_eq!(filter.num_bits(), 1 << 20);
/// assert!(filter.expected_items() > Some(72_000));
/// assert!(BloomFilter::builder().build().is_err(), "neither items nor bits");
/// # Ok::<(), pds_core::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct BloomFilterBuilder<S = DefaultHashBuilder> {
    given: Given,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

/// The size as the caller gave it.
#[derive(Clone, Copy, Debug)]
struct Given {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    bits: Option<u64>,
    hashes: Option<u32>,
    sent_bits: Option<u64>,
}

impl BloomFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            given: Given {
                expected_items: None,
                false_positive_rate: None,
                bits: None,
                hashes: None,
                sent_bits: None,
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

impl<S> BloomFilterBuilder<S> {
    /// Sets the number of distinct items up to which the filter keeps its rate.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.given.expected_items = Some(items);
        self
    }

    /// Sets the false-positive rate at the expected items, above 0 and below 1.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.given.false_positive_rate = Some(rate);
        self
    }

    /// Sets the number of bits, from 1 to 2^63.
    pub const fn bits(mut self, bits: u64) -> Self {
        self.given.bits = Some(bits);
        self
    }

    /// Sets the number of hash functions, from 1 to 255. Set [`bits`](Self::bits) too.
    pub const fn hashes(mut self, hashes: u32) -> Self {
        self.given.hashes = Some(hashes);
        self
    }

    /// Sets the number of bits that the filter takes when it is sent in entropy code, holding the expected items.
    ///
    /// Set [`expected_items`](Self::expected_items) too, and [`bits`](Self::bits), which is the most memory. The filter has the
    /// lowest rate within both: with more memory it has fewer hash functions, and is less full, shorter in code and more
    /// accurate. [`Compressed`](pds_core::bytes::Compressed) sends it, in 208 bytes and up to 1 % more bits if 5 % of
    /// 100,000 bits or more are set (1.5 % if 1 % of 20 million bits are).
    ///
    /// If the receiver only asks for keys, a ribbon filter of the crate `fuse` has a lower rate in as many bytes.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let for_memory = BloomFilter::builder().bits(80_000).expected_items(10_000).build()?;
    /// let sent = BloomFilter::builder().bits(150_000).expected_items(10_000).for_transfer(80_000).build()?;
    /// assert!(for_memory.promised_rate() > Some(0.021));
    /// assert!(sent.promised_rate() < Some(0.0177));
    /// # Ok::<(), pds_core::error::BuildError>(())
    /// ```
    pub const fn for_transfer(mut self, sent_bits: u64) -> Self {
        self.given.sent_bits = Some(sent_bits);
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
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> BloomFilterBuilder<T> {
        BloomFilterBuilder {
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
    pub fn build(self) -> Result<BloomFilter<S>, BuildError>
    where
        S: KeyHasher,
    {
        let filter = BloomFilter::from_params(self.given.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.bits.advise_huge_pages();
        }
        Ok(filter)
    }

    /// Builds a bank of filters, without sets. The values are those of each set.
    ///
    /// `huge_pages` has no effect: a bank without sets has no memory.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_bank(self) -> Result<FilterBank<S>, BuildError>
    where
        S: KeyHasher,
    {
        Ok(FilterBank::from_params(self.given.params()?, self.hasher))
    }

    /// Builds a filter that threads share.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    #[cfg(target_has_atomic = "64")]
    pub fn build_atomic(self) -> Result<AtomicBloomFilter<S>, BuildError>
    where
        S: KeyHasher,
    {
        self.build().map(AtomicBloomFilter::from)
    }
}

impl Given {
    /// Returns the parameters that the given values determine.
    fn params(self) -> Result<BloomParams, ParamError> {
        let conflict = |parameter| Err(ParamError(ParamFault::Conflict { parameter }));
        let rate = self.false_positive_rate.unwrap_or(DEFAULT_RATE);
        if let Some(sent_bits) = self.sent_bits {
            return self.transfer_params(sent_bits);
        }
        match (self.bits, self.hashes, self.expected_items, self.false_positive_rate) {
            (None, None, Some(items), _) => BloomParams::for_double_hashing(items, rate),
            (None, None, None, _) => {
                Err(ParamError(ParamFault::Missing { parameter: "expected_items" }))
            }
            (None, Some(_), ..) => Err(ParamError(ParamFault::Missing { parameter: "bits" })),
            (Some(bits), None, None, _) => BloomParams::for_double_hashing_in(bits, rate),
            (Some(bits), None, Some(items), None) => {
                BloomParams::for_double_hashing_of(bits, items)
            }
            (Some(bits), Some(hashes), None, None) => {
                BloomParams::from_bits_and_hashes(bits, hashes)
            }
            (Some(_), None, Some(_), Some(_)) | (Some(_), Some(_), None, Some(_)) => {
                conflict("false_positive_rate")
            }
            (Some(_), Some(_), Some(_), _) => conflict("expected_items"),
        }
    }

    /// Returns the parameters of a filter that takes `sent_bits` in entropy code.
    fn transfer_params(self, sent_bits: u64) -> Result<BloomParams, ParamError> {
        let missing = |parameter| ParamError(ParamFault::Missing { parameter });
        let conflict = |parameter| Err(ParamError(ParamFault::Conflict { parameter }));
        if self.hashes.is_some() {
            return conflict("hashes");
        }
        if self.false_positive_rate.is_some() {
            return conflict("false_positive_rate");
        }
        let items = self.expected_items.ok_or(missing("expected_items"))?;
        BloomParams::for_transfer(items, sent_bits, self.bits.ok_or(missing("bits"))?)
    }
}
