//! A HyperLogLog that is asked straight from its bytes.

use core::ops::RangeInclusive;

use pds_core::bytes::{Envelope, hasher_of};
use pds_core::{
    Cardinality, DecodeError, DefaultHashBuilder, Estimate, HashKey, ParamError, PortableHasher,
};
use pds_params::HllParams;

use crate::HyperLogLog;
use crate::bytes::params_of;
use crate::dense;
use crate::estimator::{FINITE_SIZE, improved};
use crate::sketch::{estimate_sparse, interval, with_error};

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
/// let view = HyperLogLogView::from_bytes(&bytes)?;
/// view.verify()?;
/// assert_eq!(view.estimate(), seen.estimate());
/// assert_eq!(view.to_sketch()?, seen);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HyperLogLogView<'a, S = DefaultHashBuilder> {
    envelope: Envelope<'a>,
    params: HllParams,
    hasher: S,
}

impl<'a> HyperLogLogView<'a> {
    /// Opens portable bytes that hold a sketch and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    ///
    /// # Complexity
    /// Constant.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::open(bytes, None)
    }
}

impl<'a, S: PortableHasher> HyperLogLogView<'a, S> {
    /// Opens portable bytes that hold the hasher's key, as [`HyperLogLog::with_key`] writes them.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`KeyMissing`](DecodeError::KeyMissing) when the key was left
    /// out.
    pub fn from_bytes_with_key(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::open(bytes, None)
    }

    /// Opens portable bytes with this hasher: for those from which a secret key was left out.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`KeyMismatch`](DecodeError::KeyMismatch) when `hasher` is not
    /// the one that built the sketch.
    pub fn from_bytes_with_hasher(bytes: &'a [u8], hasher: S) -> Result<Self, DecodeError> {
        Self::open(bytes, Some(hasher))
    }

    fn open(bytes: &'a [u8], hasher: Option<S>) -> Result<Self, DecodeError> {
        let envelope = Envelope::open_as::<HyperLogLog<S>>(bytes)?;
        let params = params_of(&envelope.header().shape)?;
        let hasher = hasher_of(envelope.header(), hasher)?;
        Ok(Self { envelope, params, hasher })
    }

    /// Verifies the payload's checksum.
    ///
    /// # Errors
    /// [`DecodeError::Checksum`].
    ///
    /// # Complexity
    /// O(payload).
    pub fn verify(&self) -> Result<(), DecodeError> {
        self.envelope.verify()
    }

    /// Copies the sketch out of the bytes, which are verified.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong with the payload.
    pub fn to_sketch(&self) -> Result<HyperLogLog<S>, DecodeError>
    where
        S: Clone,
    {
        self.envelope.decode(Some(self.hasher.clone()))
    }
}

impl<S> HyperLogLogView<'_, S> {
    /// Estimates the number of distinct keys; see [`HyperLogLog::estimate`].
    ///
    /// # Complexity
    /// O(m) once dense, O(1) while sparse.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        if !self.is_dense() {
            return estimate_sparse(self.envelope.header().shape.numbers[2]);
        }
        let ranks =
            self.envelope.payload().as_chunks().0.iter().flat_map(|&packed| dense::unpack(packed));
        let mut counts = [0; 64];
        ranks.for_each(|rank| counts[usize::from(rank)] += 1);
        improved(&counts, self.precision(), FINITE_SIZE)
    }

    /// Returns [`estimate`](Self::estimate) with its standard error.
    #[must_use]
    pub fn estimate_with_error(&self) -> Estimate {
        with_error(self.params, self.is_dense(), self.estimate())
    }

    /// Returns an interval that holds the true number with probability `confidence`.
    ///
    /// # Errors
    /// [`ParamError`] when `confidence` is not above 0 and below 1.
    pub fn estimate_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        interval(self.estimate_with_error(), confidence)
    }

    /// Returns whether the sketch has a rank for every register, rather than some bytes a key.
    #[must_use]
    pub const fn is_dense(&self) -> bool {
        self.envelope.header().shape.numbers[1] == crate::bytes::DENSE
    }

    /// Returns the precision p, the binary logarithm of the number of registers.
    #[must_use]
    pub const fn precision(&self) -> u32 {
        self.params.precision()
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<S: PortableHasher> HashKey for HyperLogLogView<'_, S> {
    fn hash_key<K: core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_one(key)
    }
}

impl<S: PortableHasher> Cardinality for HyperLogLogView<'_, S> {
    fn estimate(&self) -> f64 {
        self.estimate()
    }
}
