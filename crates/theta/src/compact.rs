//! The sketch that has bytes.

use alloc::vec::Vec;
use core::fmt;

use pds_core::error::{DecodeError, Incompatible};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::traits::Similarity;

use crate::codec::{self, Head};
use crate::set::MAX_THETA;
use crate::set::sealed::Sealed;
use crate::{ThetaHasher, ThetaSet};

/// A sketch that takes no more keys: the result of set operations, and what bytes contain.
///
/// Its bytes are the compact form of DataSketches, serial version 3, with the hashes in ascending order. Compressed bytes are serial
/// version 4. Both are read by its libraries, and so are theirs here, ordered or not. To insert more keys use
/// [`ThetaSketch::resume`](crate::ThetaSketch::resume).
///
/// # Examples
/// ```
/// use theta::{CompactThetaSketch, ThetaSet, ThetaSketch};
///
/// let mut sketch = ThetaSketch::new(4_096)?;
/// sketch.extend((0..100).map(|item| format!("item:{item}")));
/// let compact = sketch.to_compact();
/// let bytes = compact.to_bytes();
/// assert_eq!(bytes.len(), 16 + 8 * 100);
/// assert_eq!(CompactThetaSketch::from_bytes(&bytes)?, compact);
///
/// let compressed = compact.to_compressed_bytes();
/// assert!(compressed.len() < 780);
/// assert_eq!(CompactThetaSketch::from_bytes(&compressed)?, compact);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CompactThetaSketch {
    /// Ascending, from 1, and below theta.
    pub(crate) hashes: Vec<u64>,
    pub(crate) theta: u64,
    pub(crate) is_empty: bool,
    hasher: ThetaHasher,
}

impl CompactThetaSketch {
    /// Returns the sketch of the empty set.
    #[must_use]
    pub const fn empty(hasher: ThetaHasher) -> Self {
        Self::from_parts(Vec::new(), MAX_THETA, true, hasher)
    }

    pub(crate) const fn from_parts(
        hashes: Vec<u64>,
        theta: u64,
        is_empty: bool,
        hasher: ThetaHasher,
    ) -> Self {
        Self { hashes, theta, is_empty, hasher }
    }

    /// The result of an operation is empty only if that is certain.
    pub(crate) const fn of_operation(hashes: Vec<u64>, theta: u64, hasher: ThetaHasher) -> Self {
        let is_empty = hashes.is_empty() && theta == MAX_THETA;
        Self::from_parts(hashes, theta, is_empty, hasher)
    }

    /// Reads compact bytes of serial version 3 or 4, of the default seed.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset: another seed, family or serial version, a theta that is 0 or above
    /// 2^63 - 1, hashes that are not below it, not ascending or not distinct, a count that does not fit the length.
    ///
    /// # Complexity
    /// O(bytes). O(hashes log hashes) if they are not ordered. It allocates 8 bytes per hash, once the length was checked. This is
    /// at most the length of the bytes for version 3, and 64 times that for version 4.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::from_bytes_with_hasher(bytes, ThetaHasher::default())
    }

    /// Reads compact bytes of another seed.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_bytes_with_hasher(bytes: &[u8], hasher: ThetaHasher) -> Result<Self, DecodeError> {
        let head = Head::read(bytes, hasher)?;
        let hashes = codec::decode(&head, bytes)?;
        Ok(Self::from_parts(hashes, head.theta, head.is_empty, hasher))
    }

    /// Returns the compact bytes of serial version 3, ordered: at most 24 and 8 per hash.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Returns the compact bytes of serial version 4, which have fewer bits per hash: 52 instead of 64 for 4,096 hashes.
    ///
    /// An empty sketch, and an exact one of one key, have no compressed form. Their bytes are those of version 3, as in
    /// DataSketches.
    #[must_use]
    pub fn to_compressed_bytes(&self) -> Vec<u8> {
        codec::encode_compressed(self)
    }

    /// Returns the hashes in ascending order.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }
}

impl Sealed for CompactThetaSketch {}

impl ThetaSet for CompactThetaSketch {
    fn hasher(&self) -> ThetaHasher {
        self.hasher
    }

    fn theta64(&self) -> u64 {
        self.theta
    }

    fn is_empty(&self) -> bool {
        self.is_empty
    }

    fn num_retained(&self) -> usize {
        self.hashes.len()
    }

    fn ascending(&self) -> impl Iterator<Item = u64> {
        self.hashes.iter().copied()
    }
}

impl Similarity for CompactThetaSketch {
    type Error = Incompatible;

    fn jaccard(&self, other: &Self) -> Result<f64, Incompatible> {
        Ok(self.compare(other)?.jaccard().value)
    }
}

/// Serialises the bytes of [`to_bytes`](CompactThetaSketch::to_bytes). A sketch of another seed than the default one is an error: the
/// bytes contain only a hash of the seed, and no format could pass the seed to `Deserialize`.
#[cfg(feature = "serde")]
impl serde::Serialize for CompactThetaSketch {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        use serde::Error;
        let (seed, default) = (self.hasher.seed(), ThetaHasher::default().seed());
        if seed != default {
            let error = "a theta sketch has a serde form for the default seed only";
            return Err(Z::Error::custom(alloc::format!("{error}: {default}, not {seed}")));
        }
        serde::serialize_bytes(&self.to_bytes(), serializer)
    }
}

/// Reads what [`from_bytes`](CompactThetaSketch::from_bytes) reads.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for CompactThetaSketch {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize_bytes(Self::from_bytes, &"a theta sketch", deserializer)
    }
}

impl fmt::Debug for CompactThetaSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactThetaSketch")
            .field("theta", &self.theta())
            .field("num_retained", &self.hashes.len())
            .field("is_empty", &self.is_empty)
            .finish_non_exhaustive()
    }
}
