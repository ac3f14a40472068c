//! Sketches that are asked straight from their bytes.

mod ultra;

use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::RangeInclusive;

use pds_core::bytes::Envelope;
use pds_core::internal::view_methods;
use pds_core::{Cardinality, DecodeError, DefaultHashBuilder, Estimate, KeyHasher, ParamError};
use pds_params::HllParams;

use crate::HyperLogLog;
use crate::bytes::{StoredForm, check_plain, plain_of, ranks};
use crate::estimator::{FINITE_SIZE, improved};
use crate::sketch::{dense_interval, estimate_sparse, sparse_interval, with_error};

pub use ultra::UltraLogLogView;

/// A [`HyperLogLog`] in borrowed bytes, such as a memory-mapped file: estimates without a copy.
///
/// Opening verifies the header and the length, in constant time; the payload is looked at only by estimates, and
/// checked only by [`verify`](Self::verify). Bytes at any address will do.
///
/// # Guarantees
/// - The answers are those of the sketch that wrote the bytes.
/// - From a payload that was damaged since and not verified: answers may be wrong. Never a panic, never a read
///   outside the bytes.
/// - A mapped file must not be truncated while it is mapped: the system then ends the process on access.
///
/// # Examples
/// ```
/// use hll::{HyperLogLog, HyperLogLogView};
///
/// let mut seen = HyperLogLog::new(12)?;
/// seen.extend(0..50_000u32);
/// let bytes = seen.to_bytes();
///
/// let view = HyperLogLogView::open(&bytes)?;
/// view.verify()?;
/// assert_eq!(view.estimate(), seen.estimate());
/// assert_eq!(view.to_sketch()?, seen);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct HyperLogLogView<'a, S = DefaultHashBuilder> {
    envelope: Envelope<&'a [u8]>,
    params: HllParams,
    form: StoredForm,
    hasher: S,
}

view_methods!(HyperLogLogView of HyperLogLog, to_sketch, check);

impl<'a, S> HyperLogLogView<'a, S> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let (params, form) = plain_of(&envelope.header().shape)?;
        Ok(Self { envelope, params, form, hasher })
    }

    fn check(&self) -> Result<(), DecodeError> {
        let at = self.envelope.header().payload_offset();
        check_plain(self.params, self.form, self.envelope.payload(), at)
    }
}

impl<S> HyperLogLogView<'_, S> {
    /// Estimates the number of distinct keys; see [`HyperLogLog::estimate`].
    ///
    /// # Complexity
    /// O(m) once dense, O(1) while sparse.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        match self.form {
            StoredForm::Sparse { entries } => estimate_sparse(entries),
            StoredForm::Dense => improved(&self.counts(), self.params, FINITE_SIZE),
        }
    }

    /// How many registers of a dense sketch have each rank.
    fn counts(&self) -> [u32; 64] {
        let mut counts = [0; 64];
        ranks(self.envelope.payload()).for_each(|rank| counts[usize::from(rank)] += 1);
        counts
    }

    /// Returns [`estimate`](Self::estimate) with its standard error.
    #[must_use]
    pub fn estimate_with_error(&self) -> Estimate {
        with_error(self.params, self.is_dense(), self.estimate())
    }

    /// Returns an interval that holds the true number with probability `confidence`; see
    /// [`HyperLogLog::estimate_interval`].
    ///
    /// # Errors
    /// [`ParamError`] when `confidence` is not above 0 and below 1.
    pub fn estimate_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        match self.form {
            StoredForm::Sparse { entries } => sparse_interval(entries, confidence),
            StoredForm::Dense => dense_interval(&self.counts(), self.params, confidence),
        }
    }

    /// Returns whether the sketch has a rank for every register, rather than some bytes a key.
    #[must_use]
    pub const fn is_dense(&self) -> bool {
        matches!(self.form, StoredForm::Dense)
    }

    /// Returns the precision p, the binary logarithm of the number of registers.
    #[must_use]
    pub const fn precision(&self) -> u32 {
        self.params.precision()
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> HllParams {
        self.params
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<S: KeyHasher> KeyHasher for HyperLogLogView<'_, S> {
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher> Cardinality for HyperLogLogView<'_, S> {
    fn estimate(&self) -> f64 {
        self.estimate()
    }
}

impl<S> fmt::Debug for HyperLogLogView<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperLogLogView")
            .field("precision", &self.precision())
            .field("is_dense", &self.is_dense())
            .field("estimate", &self.estimate())
            .finish_non_exhaustive()
    }
}
