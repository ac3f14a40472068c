//! Sketches that are asked straight from their bytes.

mod signed;

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use pds_core::bytes::Envelope;
use pds_core::internal::view_methods;
use pds_core::{DecodeError, DefaultHashBuilder, Frequency, KeyHasher};
use pds_params::CountMinParams;

use crate::bytes::params_of;
use crate::cells::Cells;
use crate::numbers::error_of;
use crate::{Count, CountInterval, CountMinSketch, Counter};

pub use signed::CountSketchView;

/// A [`CountMinSketch`] in borrowed bytes, such as a memory-mapped file: all estimates, no copy.
///
/// Opening verifies the header and the length, in constant time; the payload is looked at only by
/// estimates, and checked only by [`verify`](Self::verify). Bytes at any address will do.
///
/// # Guarantees
/// - The answers are those of the sketch that wrote the bytes.
/// - From a payload that was damaged since and not verified: answers may be wrong, in both directions.
///   Never a panic, never a read outside the bytes.
/// - A mapped file must not be truncated while it is mapped: the system then ends the process on access
///   (`SIGBUS`), and no library can prevent it. Replace files by renaming, as
///   [`CountMinSketch::save`] does.
///
/// # Examples
/// ```
/// use cms::{CountMinSketch, CountMinSketchView};
///
/// let mut sketch = CountMinSketch::new(0.01, 0.01)?;
/// sketch.insert_many("stored", 3);
/// let bytes = sketch.to_bytes();
///
/// let view: CountMinSketchView = CountMinSketchView::open(&bytes)?;
/// view.verify()?;
/// assert_eq!((view.estimate("stored").value(), view.estimate("absent").value()), (3, 0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CountMinSketchView<'a, S = DefaultHashBuilder, C = u32> {
    envelope: Envelope<&'a [u8]>,
    params: CountMinParams,
    hasher: S,
    width_of_counters: PhantomData<C>,
}

view_methods!(
    [C: Counter] CountMinSketchView<'a, S, C>, CountMinSketchView<'a, DefaultHashBuilder, C>, CountMinSketch<S, C>, to_sketch
);

impl<'a, S, C: Counter> CountMinSketchView<'a, S, C> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let (params, _) = params_of::<C>(&envelope.header().shape)?;
        Ok(Self { envelope, params, hasher, width_of_counters: PhantomData })
    }
}

impl<S, C: Counter> CountMinSketchView<'_, S, C> {
    /// Estimates how often the key with this hash came.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> Count {
        let least = Cells::new(self.params.width(), self.params.counters(), hash)
            .map(|cell| self.counter(cell))
            .min();
        Count::new(least.unwrap_or(C::MAX).into(), self.last_word(0))
    }

    fn counter(&self, cell: usize) -> C {
        let width = size_of::<C>();
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(&self.envelope.payload()[cell * width..][..width]);
        C::saturating_from(u64::from_le_bytes(bytes))
    }

    /// Bounds how often the key with this hash came, as
    /// [`CountMinSketch::estimate_interval`] does.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[must_use]
    pub fn estimate_interval_hash(&self, hash: u64) -> CountInterval {
        let count = self.estimate_hash(hash);
        CountInterval::below(count, error_of(&self.params, self.total()))
    }

    /// Returns the sum of all counts inserted, as [`CountMinSketch::total`] does.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.last_word(1)
    }

    /// One of the words behind the counters, by its place from the end.
    fn last_word(&self, place: usize) -> u64 {
        let (_, words) = self.envelope.payload().as_rchunks::<8>();
        words.iter().rev().nth(place).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Returns the shape and its error.
    #[must_use]
    pub const fn params(&self) -> CountMinParams {
        self.params
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<S: KeyHasher, C: Counter> CountMinSketchView<'_, S, C> {
    /// Estimates how often `key` came: never less, unless the answer is saturated.
    #[must_use]
    pub fn estimate<K: Hash + ?Sized>(&self, key: &K) -> Count {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// Bounds how often `key` came, as [`CountMinSketch::estimate_interval`] does.
    #[must_use]
    pub fn estimate_interval<K: Hash + ?Sized>(&self, key: &K) -> CountInterval {
        self.estimate_interval_hash(self.hasher.hash_key(key))
    }
}

impl<S: KeyHasher, C: Counter> KeyHasher for CountMinSketchView<'_, S, C> {
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, C: Counter> Frequency for CountMinSketchView<'_, S, C> {
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash).value()
    }
}

impl<S, C: Counter> fmt::Debug for CountMinSketchView<'_, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountMinSketchView")
            .field("width", &self.params.width())
            .field("depth", &self.params.depth())
            .field("counter_bits", &C::BITS)
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}
