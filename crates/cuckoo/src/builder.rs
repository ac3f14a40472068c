//! A filter from whatever is known of it.

use pds_core::ParamError;
use pds_core::internal::{DEFAULT_RATE, filter_builder};
use pds_params::CuckooParams;

use crate::CuckooFilter;

filter_builder! {
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
    CuckooFilterBuilder builds CuckooFilter {
        /// Sets the number of buckets of four slots, any from 1 to 2^32; needs
        /// [`fingerprint_bits`](Self::fingerprint_bits).
        buckets: u64,
        /// Sets the width of a fingerprint in bits, from 4 to 32.
        fingerprint_bits: u32,
    }
}

impl<S> CuckooFilterBuilder<S> {
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
