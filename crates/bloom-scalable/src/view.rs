//! Read-only filters in portable bytes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, Range};

use bloom_blocked::{BlockedBloomFilter, BlockedBloomFilterView};
use bloom_core::{BloomFilter, BloomFilterView};
use pds_core::bytes::{ByteOptions, Envelope, MaybeHasher, OpenView, Portable};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher, PortableHasher};
use pds_core::internal::DecodeFault;
use pds_core::traits::{Frequency, Membership};

use crate::filter::reserve;
use crate::layer::{Layer, OwnedLayer};
use crate::portable::{
    Growth, check_counts, check_hasher, check_promise, layer_hasher, layered_of_shape,
};
use crate::{LayeredBloomFilter, ScalableBloomFilter};

/// A part of bytes that several layers share.
#[derive(Debug)]
pub struct Part<B> {
    bytes: Arc<B>,
    range: Range<usize>,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Part<B> {
    /// Returns the part. Empty if the bytes became fewer.
    #[inline]
    fn as_ref(&self) -> &[u8] {
        (*self.bytes).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

/// A filter of layers, `T`, that answers from its portable bytes, without a copy of them.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. A view has all methods of `T` that read, by
/// [`Deref`].
///
/// The head, the lengths and the heads of all layers are checked when it is opened. Call [`verify`](Self::verify) to check the
/// contents, too. If they are damaged and were not verified, answers may be wrong in both directions. No question panics, and
/// none reads outside the bytes.
///
/// # Examples
/// ```
/// use bloom_scalable::{ScalableBloomFilter, ScalableBloomFilterView};
///
/// let mut filter = ScalableBloomFilter::new(10, 0.01)?;
/// (0..100u32).try_for_each(|key| filter.insert(&key).map(drop))?;
/// let view = ScalableBloomFilterView::open(filter.to_bytes())?;
/// view.verify()?;
/// assert!(view.contains(&70u32) && view.num_layers() == 4);
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct LayersView<T, B> {
    filter: T,
    envelope: Envelope<Part<B>>,
}

/// A read-only [`ScalableBloomFilter`] of standard layers in portable bytes.
pub type ScalableBloomFilterView<B, S = DefaultHashBuilder> =
    LayersView<ScalableBloomFilter<BloomFilterView<Part<B>, S>>, B>;

/// A read-only [`ScalableBlockedBloomFilter`](crate::ScalableBlockedBloomFilter) in portable bytes.
pub type ScalableBlockedBloomFilterView<B, S = DefaultHashBuilder> =
    LayersView<ScalableBloomFilter<BlockedBloomFilterView<Part<B>, S>>, B>;

/// A read-only [`LayeredBloomFilter`] of standard layers in portable bytes.
pub type LayeredBloomFilterView<B, S = DefaultHashBuilder> =
    LayersView<LayeredBloomFilter<BloomFilterView<Part<B>, S>>, B>;

/// A layer that is a view of a part of bytes.
pub trait ViewLayer<B>:
    Layer<Hasher = <Self as OpenView<Part<B>>>::Hasher> + OpenView<Part<B>>
{
    /// The layer in memory of its own.
    type Owned: OwnedLayer<Hasher = <Self as Layer>::Hasher>
        + Portable<Hasher = <Self as Layer>::Hasher>;

    #[doc(hidden)]
    fn verify_layer(&self) -> Result<(), DecodeError>;
}

impl<B: AsRef<[u8]>, S: PortableHasher + Clone> ViewLayer<B> for BloomFilterView<Part<B>, S> {
    type Owned = BloomFilter<S>;

    fn verify_layer(&self) -> Result<(), DecodeError> {
        self.verify()
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher + Clone> ViewLayer<B>
    for BlockedBloomFilterView<Part<B>, S>
{
    type Owned = BlockedBloomFilter<S>;

    fn verify_layer(&self) -> Result<(), DecodeError> {
        self.verify()
    }
}

/// A filter whose layers are views.
pub trait OfViews<B>: Sized + sealed::Sealed {
    /// The hasher.
    type Hasher: PortableHasher + Clone;

    /// The filter in memory of its own.
    type Owned: Portable<Hasher = Self::Hasher>;

    #[doc(hidden)]
    fn open_in(whole: &Envelope<Part<B>>, hasher: &Self::Hasher) -> Result<Self, DecodeError>;

    #[doc(hidden)]
    fn verify_layers(&self) -> Result<(), DecodeError>;

    #[doc(hidden)]
    fn hasher_of(&self) -> &Self::Hasher;
}

mod sealed {
    pub trait Sealed {}
    impl<F> Sealed for super::ScalableBloomFilter<F> {}
    impl<F> Sealed for super::LayeredBloomFilter<F> {}
}

impl<B: AsRef<[u8]>, F: ViewLayer<B>> OfViews<B> for ScalableBloomFilter<F>
where
    <F as Layer>::Hasher: PortableHasher + Clone,
{
    type Hasher = <F as Layer>::Hasher;
    type Owned = ScalableBloomFilter<F::Owned>;

    fn open_in(whole: &Envelope<Part<B>>, hasher: &Self::Hasher) -> Result<Self, DecodeError> {
        let growth = Growth::of_shape::<F>(&whole.header().shape)?;
        let (mut indices, at) = (Vec::new(), whole.header().payload_offset());
        let words = whole.payload().as_chunks().0;
        for (place, bytes) in (0..growth.layers).zip(words) {
            let found = u64::from_le_bytes(*bytes);
            let index = growth.check_index(place, &indices, found, at + 8 * place)?;
            reserve(&mut indices, 1)?;
            indices.push(index);
        }
        let check = |index, layer: &F, offset| growth.check_layer(index, layer, offset);
        let layers = open_layers(whole, 8 * growth.layers, growth.layers, hasher, check)?;
        Ok(growth.with_layers(layers, indices))
    }

    fn verify_layers(&self) -> Result<(), DecodeError> {
        self.layers().iter().try_for_each(F::verify_layer)
    }

    fn hasher_of(&self) -> &Self::Hasher {
        self.hasher()
    }
}

impl<B: AsRef<[u8]>, F: ViewLayer<B>> OfViews<B> for LayeredBloomFilter<F>
where
    <F as Layer>::Hasher: PortableHasher + Clone,
{
    type Hasher = <F as Layer>::Hasher;
    type Owned = LayeredBloomFilter<F::Owned>;

    fn open_in(whole: &Envelope<Part<B>>, hasher: &Self::Hasher) -> Result<Self, DecodeError> {
        let (count, rate) = layered_of_shape::<F>(&whole.header().shape)?;
        let layers = open_layers(whole, 0, count, hasher, check_counts())?;
        check_promise(&whole.header().shape, rate, &layers)?;
        Ok(Self::from_layers(layers, rate))
    }

    fn verify_layers(&self) -> Result<(), DecodeError> {
        self.layers().iter().try_for_each(F::verify_layer)
    }

    fn hasher_of(&self) -> &Self::Hasher {
        self.hasher()
    }
}

/// Opens the layers that an envelope holds from `position` of its payload on, as `read_layers` reads them.
fn open_layers<B: AsRef<[u8]>, F: ViewLayer<B>>(
    whole: &Envelope<Part<B>>,
    mut position: u64,
    count: u64,
    hasher: &<F as Layer>::Hasher,
    mut check: impl FnMut(u64, &F, u64) -> Result<(), DecodeError>,
) -> Result<Vec<F>, DecodeError>
where
    <F as Layer>::Hasher: PortableHasher + Clone,
{
    let (borrowed, payload_at) = (whole.borrowed(), whole.header().payload_offset());
    let mut layers = Vec::new();
    for index in 0..count {
        let (nested, end) = borrowed.nested_at(position)?;
        let offset = nested.header().offset();
        let envelope = nested.map_bytes(|bytes| part(whole, offset, bytes.len()));
        let layer = F::open_view(envelope, layer_hasher(hasher))?;
        let offset = payload_at + end;
        check_hasher(hasher, layer.layer_hasher(), offset)?;
        check(index, &layer, offset)?;
        reserve(&mut layers, 1)?;
        layers.push(layer);
        position = end;
    }
    let left = whole.header().payload_bytes - position;
    if left > 0 {
        let offset = payload_at + position;
        return Err(DecodeError(DecodeFault::Unread { offset, found: left }));
    }
    Ok(layers)
}

/// Returns the bytes of a nested envelope that starts at `offset`.
#[expect(clippy::cast_possible_truncation, reason = "it is in memory")]
fn part<B: AsRef<[u8]>>(whole: &Envelope<Part<B>>, offset: u64, len: usize) -> Part<B> {
    let whole_part = whole.get_ref();
    let start = whole_part.range.start + (offset - whole.header().offset()) as usize;
    Part { bytes: Arc::clone(&whole_part.bytes), range: start..start + len }
}

impl<T: OfViews<B>, B: AsRef<[u8]>> LayersView<T, B> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub fn get_ref(&self) -> &B {
        &self.envelope.get_ref().bytes
    }

    /// Verifies the contents: the checksums of the whole and of each layer, and the bits that must be clear.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte twice.
    pub fn verify(&self) -> Result<(), DecodeError> {
        self.filter.verify_layers()?;
        self.envelope.verify()
    }

    /// Verifies the bytes and copies the filter out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_filter(&self) -> Result<T::Owned, DecodeError> {
        self.envelope.decode(Some(self.filter.hasher_of().clone()))
    }
}

impl<T: OfViews<B, Hasher = DefaultHashBuilder>, B: AsRef<[u8]>> LayersView<T, B> {
    /// Opens portable bytes that hold one filter and nothing else. For a hasher with a secret key use
    /// [`ByteOptions::open`].
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(layers): reads their heads.
    pub fn open(bytes: B) -> Result<Self, DecodeError> {
        ByteOptions::new().open(bytes)
    }
}

impl<T: OfViews<B>, B: AsRef<[u8]>> OpenView<B> for LayersView<T, B> {
    type Hasher = T::Hasher;

    fn open_view(envelope: Envelope<B>, hasher: Option<T::Hasher>) -> Result<Self, DecodeError> {
        envelope.expect::<T::Owned>()?;
        let hasher = T::Hasher::of_header(envelope.header(), hasher)?;
        let range = 0..envelope.get_ref().as_ref().len();
        let envelope = envelope.map_bytes(|bytes| Part { bytes: Arc::new(bytes), range });
        Ok(Self { filter: T::open_in(&envelope, &hasher)?, envelope })
    }
}

impl<T, B> Deref for LayersView<T, B> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.filter
    }
}

impl<T: KeyHasher, B> KeyHasher for LayersView<T, B> {
    #[inline]
    fn hash_key<K: core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
        self.filter.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn core::hash::Hasher)) -> u64 {
        self.filter.hash_key_dyn(feed)
    }
}

impl<T: Membership, B> Membership for LayersView<T, B> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.filter.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.filter.contains_hash_batch(hashes, out);
    }
}

impl<T: Frequency, B> Frequency for LayersView<T, B> {
    #[inline]
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.filter.estimate_hash(hash)
    }
}

impl<T: fmt::Debug, B> fmt::Debug for LayersView<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LayersView").field(&self.filter).finish()
    }
}
