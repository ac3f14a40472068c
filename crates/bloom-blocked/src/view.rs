//! A blocked Bloom filter that is asked straight from its bytes.

use pds_core::bytes::Envelope;
use pds_core::internal::view_methods;
use pds_core::{DecodeError, DefaultHashBuilder};
use pds_params::BlockedBloomParams;

use crate::BlockedBloomFilter;
use crate::arch::{Backend, Choice};
use crate::blocks::{BlockSlice, BlockSource};
use crate::bytes::params_of;
use crate::layout::{LANES, Layout, Positions};
use crate::reading::reading_methods;

/// A [`BlockedBloomFilter`] in borrowed bytes, such as a memory-mapped file: all questions, no copy.
///
/// Opening verifies the header and the length, in constant time; the payload is looked at only by
/// questions, and checked only by [`verify`](Self::verify). Bytes at any address will do; where they
/// start at a multiple of 64, a question reads one cache line, otherwise two.
///
/// # Guarantees
/// - The answers are those of the filter that wrote the bytes.
/// - From a payload that was damaged since and not verified: answers may be wrong, in both directions.
///   Never a panic, never a read outside the bytes.
/// - A mapped file must not be truncated while it is mapped: the system then ends the process on access
///   (`SIGBUS`), and no library can prevent it. Replace files by renaming, as
///   [`BlockedBloomFilter::save`] does.
///
/// # Examples
/// ```
/// use bloom_blocked::{BlockedBloomFilter, BlockedBloomFilterView};
///
/// let mut filter = BlockedBloomFilter::new(1_000, 0.01)?;
/// filter.insert("stored");
/// let bytes = filter.to_bytes();
///
/// let view = BlockedBloomFilterView::open(&bytes)?;
/// view.verify()?;
/// assert!(view.contains("stored") && !view.contains("absent"));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BlockedBloomFilterView<'a, S = DefaultHashBuilder> {
    envelope: Envelope<&'a [u8]>,
    blocks: ByteBlocks<'a>,
    params: BlockedBloomParams,
    hasher: S,
}

view_methods!(BlockedBloomFilterView of BlockedBloomFilter, to_filter);

impl<'a, S> BlockedBloomFilterView<'a, S> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let params = params_of(&envelope.header().shape)?;
        let (bytes, layout) = (envelope.borrowed_payload().as_chunks().0, Layout::new(&params));
        let blocks = ByteBlocks { bytes, layout, choice: Choice::best(layout.positions()) };
        Ok(Self { envelope, blocks, params, hasher })
    }

    /// Makes the view use one of [`backends`](crate::backends); none other than for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_backend(mut self, name: &str) -> Option<Self> {
        self.blocks.choice = Choice::new(Backend::by_name(name)?, self.blocks.layout.positions());
        Some(self)
    }
}

reading_methods!(['a, S] BlockedBloomFilterView<'a, S>, "BlockedBloomFilterView");

/// Blocks in bytes.
#[derive(Clone, Copy)]
struct ByteBlocks<'a> {
    bytes: &'a [[u8; 8 * LANES]],
    layout: Layout,
    choice: Choice,
}

impl BlockSource for ByteBlocks<'_> {
    type Stored = [u8; 8 * LANES];

    #[inline(always)]
    fn dispatch(&self) -> (Backend, Positions) {
        (self.choice.backend(), self.layout.positions())
    }

    #[inline(always)]
    fn blocks(&self) -> BlockSlice<'_, Self::Stored> {
        BlockSlice { all: self.bytes, layout: &self.layout }
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.choice.contains(self.blocks(), hash)
    }
}
