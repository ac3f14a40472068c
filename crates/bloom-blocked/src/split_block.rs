//! The split-block Bloom filter, with the bits that Parquet files have.

mod reading;
#[cfg(target_has_atomic = "64")]
mod shared;
mod view;

use pds_core::error::{AllocError, BuildError, DecodeError, Incompatible, ParamError};
use pds_core::internal::{Backend, StoredWord, Visitor, prefetch, visit_chunks};
use pds_core::storage::{OwnedWords, RawBytes, WordSource, Words};
use pds_params::blocked::{MAX_SPLIT_BLOCKS as MAX_BLOCKS, split_blocks};
use pds_params::internal::ParamFault;

use crate::arch::SplitChoice;
use crate::batch::Place;

#[cfg(target_has_atomic = "64")]
pub use shared::AtomicSplitBlockBloomFilter;
pub use view::SplitBlockBloomFilterView;

/// The largest filter that writers of Parquet files make: 128 MiB.
const MAX_BYTES: u64 = 128 << 20;

/// Lanes of a block, of 32 bits each.
pub(crate) const LANES: usize = 8;

/// Bytes of a block.
const BLOCK_BYTES: usize = 4 * LANES;

/// Words of 64 bits per block. The even lanes are their lower halves.
pub(crate) const BLOCK_WORDS: usize = BLOCK_BYTES / 8;

/// The odd constants of the format, by which the lower half of a hash is multiplied for each lane.
pub(crate) const SALTS: [u32; LANES] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// The Bloom filter of Parquet files and of engines around them, as a structure: it takes 64-bit hashes.
///
/// `pds-formats` reads and writes the formats with these bits: Parquet's own, which hashes values by XXH64 of their plain
/// encoding, and Milvus' envelope. For other purposes a [`BlockedBloomFilter`](crate::BlockedBloomFilter) is smaller at the same
/// rate (by 4 % at 1 %, 10 % at 0.1 %), faster, and takes keys of any type.
///
/// A block has 256 bits: eight lanes of 32. A hash sets one bit in each lane.
///
/// # Storage
/// `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | blocks | methods |
/// |---|---|---|
/// | `SplitBlockBloomFilter` | in [`Words`] of its own | all |
/// | [`AtomicSplitBlockBloomFilter`](crate::AtomicSplitBlockBloomFilter) | in words of its own that threads share | those that read or copy; inserts, `clear` and unions with `&self` |
/// | [`SplitBlockBloomFilterView<B>`](crate::SplitBlockBloomFilterView) | in a bitset | those that read |
///
/// # Guarantees
/// - False negatives: never.
/// - False positives: E\[(1 - (31/32)^j)^8\], where the load j of a block is Poisson with mean 256 / c, for c bits per item.
///   Filters of [`new`](Self::new) keep their rate on average up to their number of items.
/// - Memory: 32 bytes per block; 10.5 bits per item at 1 %, before rounding up to a power of two.
/// - Insert and query: O(1), one block. Union: exact, requires equal blocks.
///
/// # Examples
/// ```
/// use bloom_blocked::SplitBlockBloomFilter;
/// use bloom_blocked::hash::{DefaultHashBuilder, KeyHasher};
///
/// let hasher = DefaultHashBuilder::default();
/// let mut filter = SplitBlockBloomFilter::new(1_000, 0.01)?;
/// filter.insert_hash(hasher.hash_key("user/17"));
/// let bitset = filter.to_bitset();
///
/// let read = SplitBlockBloomFilter::from_bitset(&bitset)?;
/// assert!(read.contains_hash(hasher.hash_key("user/17")));
/// assert!(!read.contains_hash(hasher.hash_key("user/18")));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Apache Parquet format, "Bloom filter" (BloomFilter.md), version 2.10; Jim Apple, "Split block Bloom
/// filters", arXiv:2101.01719, 2021.
#[derive(Clone)]
pub struct SplitBlockBloomFilter<W = Words> {
    words: W,
    choice: SplitChoice,
}

impl<W> SplitBlockBloomFilter<W> {
    fn from_words(words: W) -> Self {
        Self { words, choice: SplitChoice::new(Backend::best()) }
    }
}

/// Equal blocks.
impl<W: PartialEq> PartialEq for SplitBlockBloomFilter<W> {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl<W: Eq> Eq for SplitBlockBloomFilter<W> {}

// Functions that are called by path (`SplitBlockBloomFilter::new`) exist for one storage only: the compiler could not tell
// two of the same name apart (E0034).
impl SplitBlockBloomFilter {
    /// Creates a filter that keeps a false-positive rate of `rate` up to `items` items.
    ///
    /// The size is the least power of two of bytes, from 32 to 128 MiB as in Parquet files, for which the mean rate is
    /// at most `rate`. [`rate_at`](Self::rate_at) returns the resulting rate. For other numbers of blocks use
    /// [`with_blocks`](Self::with_blocks).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `items` is 0, if `rate` is not above 0 and below 1 or not above the rate of
    /// hash collisions, or if 128 MiB are too few for them. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::SplitBlockBloomFilter;
    ///
    /// let filter = SplitBlockBloomFilter::new(27_000, 0.01)?;
    /// assert_eq!(format!("{:.5}", filter.rate_at(27_000)), "0.00049");
    /// # Ok::<(), bloom_blocked::error::BuildError>(())
    /// ```
    pub fn new(items: u64, rate: f64) -> Result<Self, BuildError> {
        let (blocks, max) = (split_blocks(items, rate)?, MAX_BYTES / BLOCK_BYTES as u64);
        if blocks > max {
            #[expect(clippy::cast_precision_loss, reason = "an error names the size roughly")]
            let (value, max) = (blocks as f64, max as f64);
            return Err(ParamError(ParamFault::TooLarge { parameter: "blocks", value, max }).into());
        }
        Self::with_blocks(blocks.next_power_of_two())
    }

    /// Creates a filter of this many blocks of 32 bytes.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `blocks` is 0 or above 2^32. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn with_blocks(blocks: u64) -> Result<Self, BuildError> {
        if !(1..=MAX_BLOCKS).contains(&blocks) {
            let (parameter, min, max) = ("blocks", 1, MAX_BLOCKS);
            return Err(
                ParamError(ParamFault::OutOfRange { parameter, value: blocks, min, max }).into()
            );
        }
        Ok(Self::from_words(Words::zeroed(blocks * BLOCK_WORDS as u64)?))
    }

    /// Copies a filter out of its bitset, such as the one that follows the header in a Parquet file.
    ///
    /// # Errors
    /// [`DecodeError`] if `bitset` is empty, too long or not a whole number of blocks, or if the allocator
    /// refuses the memory.
    pub fn from_bitset(bitset: &[u8]) -> Result<Self, DecodeError> {
        view::check_length(bitset)?;
        Ok(Self::from_words(Words::copied(&RawBytes::new(bitset))?))
    }

    /// Inserts an item by its hash, of 64 uniform bits. Returns `true` if it was not contained before.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let blocks = self.words.as_chunks_mut().0;
        let block = block_of(blocks, hash);
        self.choice.insert(hash, &mut blocks[block])
    }

    /// Inserts many items by their hashes. Returns how many were not contained before.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        let choice = self.choice;
        let inserts = Inserts { blocks: self.words.as_chunks_mut().0, choice, new: 0 };
        visit_chunks(hashes, |&hash| hash, inserts).new
    }

    /// Inserts all that `other` contains.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of blocks differ. `self` is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.words.combine(other.words.values(), |left, right| left | right);
        Ok(())
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }
}

impl<W: OwnedWords> SplitBlockBloomFilter<W> {
    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: W::copied(&self.words)?, ..*self })
    }
}

struct Inserts<'a> {
    blocks: &'a mut [Block],
    choice: SplitChoice,
    new: usize,
}

impl Visitor for Inserts<'_> {
    type Place = Place;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> Place {
        fetch(self.blocks, hash)
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, place: Place) {
        self.new += usize::from(self.choice.insert(place.hash, &mut self.blocks[place.block]));
    }
}

/// A block, as the values of its words.
pub(crate) type Block = [u64; BLOCK_WORDS];

/// Sets the bits of a hash. Returns whether any was clear.
#[inline]
pub(crate) fn insert(block: &mut Block, hash: u64) -> bool {
    let mut missing = 0;
    for (word, mask) in block.iter_mut().zip(masks(hash)) {
        missing |= mask & !*word;
        *word |= mask;
    }
    missing != 0
}

/// Returns whether a block has all bits of a hash.
#[inline]
pub(crate) fn covers<W: StoredWord>(block: &[W; BLOCK_WORDS], hash: u64) -> bool {
    let missing = |(word, mask): (&W, u64)| mask & !word.value();
    block.iter().zip(masks(hash)).map(missing).fold(0, |all, missing| all | missing) == 0
}

/// Finds the block of a hash, and prefetches it.
#[inline(always)]
fn fetch<T>(blocks: &[T], hash: u64) -> Place {
    let block = block_of(blocks, hash);
    prefetch(blocks, block);
    Place { block, hash }
}

/// Returns the number of the block of a hash.
#[inline]
fn block_of<T>(blocks: &[T], hash: u64) -> usize {
    (((hash >> 32) * blocks.len() as u64) >> 32) as usize
}

/// Returns the bits of a hash in its block: one in each lane.
#[inline]
fn masks(hash: u64) -> [u64; BLOCK_WORDS] {
    let lane = |i: usize| 1u64 << (low(hash).wrapping_mul(SALTS[i]) >> 27);
    core::array::from_fn(|word| lane(2 * word) | lane(2 * word + 1) << 32)
}

/// Returns the lower half of a word.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
pub(crate) const fn low(word: u64) -> u32 {
    word as u32
}
