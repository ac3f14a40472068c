//! A Bloom filter that is asked straight from its bytes.

use pds_core::bytes::Envelope;
use pds_core::internal::{prefetch, view_methods};
use pds_core::{DecodeError, DefaultHashBuilder};
use pds_params::BloomParams;

use crate::BloomFilter;
use crate::bytes::{self, params_of};
use crate::probing::BitSource;
use crate::reading::reading_methods;

/// A [`BloomFilter`] in borrowed bytes, such as a memory-mapped file: all questions, no copy.
///
/// Opening verifies the header and the length, in constant time; the payload is looked at only by
/// questions, and checked only by [`verify`](Self::verify). Bytes at any address will do.
///
/// # Guarantees
/// - The answers are those of the filter that wrote the bytes.
/// - From a payload that was damaged since and not verified: answers may be wrong, in both directions.
///   Never a panic, never a read outside the bytes.
/// - A mapped file must not be truncated while it is mapped: the system then ends the process on access
///   (`SIGBUS`), and no library can prevent it. Replace files by renaming, as
///   [`BloomFilter::save`] does.
///
/// # Examples
/// ```
/// use bloom_core::{BloomFilter, BloomFilterView};
///
/// let mut filter = BloomFilter::new(1_000, 0.01)?;
/// filter.insert("stored");
/// let bytes = filter.to_bytes();
///
/// let view = BloomFilterView::open(&bytes)?;
/// view.verify()?;
/// assert!(view.contains("stored") && !view.contains("absent"));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BloomFilterView<'a, S = DefaultHashBuilder> {
    envelope: Envelope<&'a [u8]>,
    bits: ByteBits<'a>,
    params: BloomParams,
    hasher: S,
}

view_methods!(BloomFilterView of BloomFilter, to_filter, check_padding);

impl<'a, S> BloomFilterView<'a, S> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let params = params_of(&envelope.header().shape)?;
        let bits = ByteBits { bytes: envelope.borrowed_payload(), num_bits: params.num_bits() };
        Ok(Self { envelope, bits, params, hasher })
    }

    fn check_padding(&self) -> Result<(), DecodeError> {
        let last = self.bits.words().last().unwrap_or_default();
        bytes::check_padding(&self.params, last, self.envelope.header().payload_end())
    }
}

reading_methods!(['a, S] BloomFilterView<'a, S>);

/// Bits in bytes: as the words are little endian, bit `i` is bit `i % 8` of byte `i / 8`.
#[derive(Clone, Copy)]
struct ByteBits<'a> {
    /// Whole words of 8 bytes.
    bytes: &'a [u8],
    num_bits: u64,
}

impl BitSource for ByteBits<'_> {
    fn num_bits(&self) -> u64 {
        self.num_bits
    }

    #[inline]
    fn bit(&self, position: u64) -> u64 {
        debug_assert!(position < self.num_bits);
        u64::from(self.bytes[byte_index(position)] >> (position % 8)) & 1
    }

    #[inline]
    fn prefetch(&self, position: u64) {
        prefetch(self.bytes, byte_index(position));
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }
}

/// The byte that holds a bit. The cast comes last and loses nothing: the bytes are in memory.
#[inline]
const fn byte_index(position: u64) -> usize {
    (position / 8) as usize
}
