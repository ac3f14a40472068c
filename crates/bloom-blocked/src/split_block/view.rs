//! Views: split-block filters that answer from a bitset.

use pds_core::error::DecodeError;
use pds_core::storage::RawBytes;

use super::{BLOCK_BYTES, MAX_BLOCKS, SplitBlockBloomFilter};

/// A read-only [`SplitBlockBloomFilter`] that answers from a bitset, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`. The bytes may
/// start at any address.
///
/// # Examples
/// ```
/// use bloom_blocked::{SplitBlockBloomFilter, SplitBlockBloomFilterView};
///
/// let mut filter = SplitBlockBloomFilter::new(1_000, 0.01)?;
/// filter.insert_hash(17);
/// let bitset = filter.to_bitset();
///
/// let view = SplitBlockBloomFilterView::open(&bitset)?;
/// assert!(view.contains_hash(17) && !view.contains_hash(18));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type SplitBlockBloomFilterView<B> = SplitBlockBloomFilter<RawBytes<B>>;

impl<B: AsRef<[u8]>> SplitBlockBloomFilterView<B> {
    /// Opens the bitset of a filter, such as the one that follows the header in a Parquet file.
    ///
    /// # Errors
    /// [`DecodeError`] if `bitset` is empty, too long, or not a whole number of blocks.
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bitset: B) -> Result<Self, DecodeError> {
        check_length(bitset.as_ref())?;
        Ok(Self::from_words(RawBytes::new(bitset)))
    }

    /// Returns the bitset that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.words.get_ref()
    }
}

/// Checks that a bitset has a whole number of blocks, from 1 to 2^32.
pub(super) fn check_length(bitset: &[u8]) -> Result<(), DecodeError> {
    let (blocks, rest) = bitset.as_chunks::<BLOCK_BYTES>();
    if !rest.is_empty() || blocks.is_empty() || blocks.len() as u64 > MAX_BLOCKS {
        let (found, allowed) = (bitset.len() as u64, "a multiple of 32 from 32 to 2^37");
        return Err(DecodeError::invalid("the length of a bitset", 0, found, allowed));
    }
    Ok(())
}
