use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::bytes::Envelope;
use pds_core::internal::view_methods;
use pds_core::{DecodeError, DefaultHashBuilder, Frequency, KeyHasher};
use pds_params::CountSketchParams;

use crate::bytes::sketch_params_of;
use crate::count_sketch::median_row;
use crate::{CountSketch, SignedCount};

/// A [`CountSketch`] in borrowed bytes, such as a memory-mapped file: all estimates, no copy.
///
/// Opens and verifies as [`CountMinSketchView`](crate::CountMinSketchView) does, and promises the same of damaged payloads.
///
/// # Examples
/// ```
/// use cms::{CountSketch, CountSketchView};
///
/// let mut stock = CountSketch::new(0.01, 0.01)?;
/// stock.insert_many("apples", 10);
/// stock.remove_many("apples", 3);
/// let bytes = stock.to_bytes();
///
/// let view = CountSketchView::open(&bytes)?;
/// view.verify()?;
/// assert_eq!((view.estimate("apples").value(), view.estimate("pears").value()), (7, 0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CountSketchView<'a, S = DefaultHashBuilder> {
    envelope: Envelope<&'a [u8]>,
    params: CountSketchParams,
    hasher: S,
}

view_methods!(CountSketchView of CountSketch, to_sketch);

impl<'a, S> CountSketchView<'a, S> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let params = sketch_params_of(&envelope.header().shape)?;
        Ok(Self { envelope, params, hasher })
    }

    /// Estimates how often the key with this hash came, less how often it was removed.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> SignedCount {
        let (counters, _) = self.envelope.payload().as_chunks::<8>();
        median_row(&self.params, hash, |cell| i64::from_le_bytes(counters[cell]))
    }

    /// Returns the shape and its error.
    #[must_use]
    pub const fn params(&self) -> CountSketchParams {
        self.params
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<S: KeyHasher> CountSketchView<'_, S> {
    /// Estimates how often `key` came, less how often it was removed; it may be negative.
    #[must_use]
    pub fn estimate<K: Hash + ?Sized>(&self, key: &K) -> SignedCount {
        self.estimate_hash(self.hasher.hash_key(key))
    }
}

impl<S: KeyHasher> KeyHasher for CountSketchView<'_, S> {
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

/// Estimates below 0 are given as 0.
impl<S: KeyHasher> Frequency for CountSketchView<'_, S> {
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash).value().max(0).cast_unsigned()
    }
}

impl<S> fmt::Debug for CountSketchView<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountSketchView")
            .field("width", &self.params.width())
            .field("depth", &self.params.depth())
            .finish_non_exhaustive()
    }
}
