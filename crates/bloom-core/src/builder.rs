//! A filter from whatever is known of it.

use pds_core::ParamError;
use pds_core::internal::{DEFAULT_RATE, filter_builder};
use pds_params::BloomParams;

use crate::BloomFilter;

filter_builder! {
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
    BloomFilterBuilder builds BloomFilter {
        /// Sets the number of bits.
        bits: u64,
        /// Sets the number of positions a key; needs [`bits`](Self::bits).
        hashes: u32,
    }
}

impl<S> BloomFilterBuilder<S> {
    /// The one way in which what was given fixes the size.
    fn params(&self) -> Result<BloomParams, ParamError> {
        let conflict = |parameter| Err(ParamError::Conflict { parameter });
        let rate = self.false_positive_rate.unwrap_or(DEFAULT_RATE);
        match (self.bits, self.hashes, self.expected_items, self.false_positive_rate) {
            (None, None, Some(items), _) => BloomParams::for_double_hashing(items, rate),
            (None, None, None, _) => Err(ParamError::Missing { parameter: "expected_items" }),
            (None, Some(_), ..) => Err(ParamError::Missing { parameter: "bits" }),
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
}
