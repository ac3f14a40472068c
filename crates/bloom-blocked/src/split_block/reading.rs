//! The methods of split-block filters that only read, in any storage.

use alloc::vec::Vec;
use core::array::from_fn;
use core::fmt;

use pds_core::error::{AllocError, BuildError, Incompatible, ParamError};
use pds_core::internal::{StoredWord, Visitor, check_lengths, visit_chunks};
use pds_core::storage::{OwnedWords, WordSource, Words};
use pds_params::blocked::split_block_rate_with_collisions;
use pds_params::internal::ParamFault;

use super::{BLOCK_BYTES, BLOCK_WORDS, Block, SplitBlockBloomFilter, block_of, fetch, low};
use crate::arch::SplitChoice;
use crate::batch::Place;

impl<W: WordSource> SplitBlockBloomFilter<W> {
    /// Tests by its hash whether an item may be in the set. `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let blocks = self.stored();
        self.choice.contains(hash, &blocks[block_of(blocks, hash)])
    }

    /// Tests many items by their hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        let (blocks, choice) = (self.stored(), self.choice);
        let contains = Contains { blocks, choice, answers: out.iter_mut() };
        visit_chunks(hashes, |&hash| hash, contains);
    }

    /// Returns the bitset: the blocks, little endian.
    #[must_use]
    pub fn to_bitset(&self) -> Vec<u8> {
        self.words.values().flat_map(u64::to_le_bytes).collect()
    }

    /// Returns the smallest filter of the same values whose [rate](Self::false_positive_rate) is at most `rate`, by
    /// halves.
    ///
    /// Neighbouring blocks are united, so the result equals the filter that the same values would have built at that
    /// size. It can hold no more values at that rate.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `rate` is not above 0 and below 1, or below the current rate of this filter.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::SplitBlockBloomFilter;
    ///
    /// let mut filter = SplitBlockBloomFilter::new(100_000, 0.01)?;
    /// (0..20_000u64).for_each(|item| {
    ///     filter.insert_hash(bloom_blocked::hash::finalize(item));
    /// });
    /// let small = filter.shrink_to_rate(0.01)?;
    /// assert!(small.num_blocks() < filter.num_blocks() && small.false_positive_rate() <= 0.01);
    /// assert!(small.shrink_to_rate(1e-6).is_err(), "the rate is higher already");
    /// # Ok::<(), bloom_blocked::error::BuildError>(())
    /// ```
    pub fn shrink_to_rate(&self, rate: f64) -> Result<SplitBlockBloomFilter, BuildError> {
        check_rate(rate)?;
        let own = self.false_positive_rate();
        if own > rate {
            let parameter = "false_positive_rate";
            return Err(ParamError(ParamFault::TooLow { parameter, value: rate, min: own }).into());
        }
        let mut smallest = SplitBlockBloomFilter::from_words(Words::copied(&self.words)?);
        while let Some(half) = smallest.halved()?.filter(|half| half.false_positive_rate() <= rate)
        {
            smallest = half;
        }
        Ok(smallest)
    }

    /// Returns the filter of the same values with half the blocks, or `None` if their number is odd.
    ///
    /// Each block is the union of two neighbours. [`shrink_to_rate`](Self::shrink_to_rate) repeats it while a rate holds.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn halved(&self) -> Result<Option<SplitBlockBloomFilter>, AllocError> {
        if !self.num_blocks().is_multiple_of(2) {
            return Ok(None);
        }
        let mut words = Words::zeroed(self.num_blocks() / 2 * BLOCK_WORDS as u64)?;
        let halves: &mut [Block] = words.as_chunks_mut().0;
        for (half, [left, right]) in halves.iter_mut().zip(self.stored().as_chunks().0) {
            *half = from_fn(|i| left[i].value() | right[i].value());
        }
        Ok(Some(SplitBlockBloomFilter::from_words(words)))
    }

    /// Returns the number of blocks of 32 bytes.
    #[must_use]
    pub fn num_blocks(&self) -> u64 {
        self.stored().len() as u64
    }

    /// Returns the size of the blocks in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.num_blocks() * BLOCK_BYTES as u64
    }

    /// Returns the fraction of set bits, in O(m) for m bits.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn fill_ratio(&self) -> f64 {
        let ones: u64 = self.words.values().map(|word| u64::from(word.count_ones())).sum();
        ones as f64 / (self.size_in_bytes() * 8) as f64
    }

    /// Predicts the mean false-positive rate of filters of this size that hold `items`.
    ///
    /// It includes absent items whose hash has the same lower half as that of a stored item in the same block.
    #[must_use]
    pub fn rate_at(&self, items: u64) -> f64 {
        split_block_rate_with_collisions(self.num_blocks(), items)
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent items that are answered `true`.
    ///
    /// It is the mean over all blocks of the product of the fills of the lanes.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    pub fn false_positive_rate(&self) -> f64 {
        let lane = |lane: u32| f64::from(lane.count_ones()) / 32.0;
        let fills = |word: u64| lane(low(word)) * lane(low(word >> 32));
        let blocks = self.stored();
        let rates =
            blocks.iter().map(|block| block.iter().map(|w| fills(w.value())).product::<f64>());
        rates.sum::<f64>() / blocks.len() as f64
    }

    pub(super) fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("number of blocks", self.num_blocks(), other.num_blocks())
    }

    /// Returns the blocks as they are stored.
    #[inline(always)]
    pub(super) fn stored(&self) -> &[[W::Word; BLOCK_WORDS]] {
        self.words.as_words().as_chunks().0
    }
}

struct Contains<'a, W, A> {
    blocks: &'a [[W; BLOCK_WORDS]],
    choice: SplitChoice,
    answers: A,
}

impl<'o, W: StoredWord, A: Iterator<Item = &'o mut bool>> Visitor for Contains<'_, W, A> {
    type Place = Place;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> Place {
        fetch(self.blocks, hash)
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, place: Place) {
        if let Some(answer) = self.answers.next() {
            *answer = self.choice.contains(place.hash, &self.blocks[place.block]);
        }
    }
}

fn check_rate(rate: f64) -> Result<(), ParamError> {
    if rate > 0.0 && rate < 1.0 {
        return Ok(());
    }
    Err(ParamError(ParamFault::NotAProbability { parameter: "false_positive_rate", value: rate }))
}

impl<W: WordSource> fmt::Debug for SplitBlockBloomFilter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            ["SplitBlockBloomFilter", "AtomicSplitBlockBloomFilter", "SplitBlockBloomFilterView"];
        f.debug_struct(W::name_of(names))
            .field("num_blocks", &self.num_blocks())
            .field("fill_ratio", &self.fill_ratio())
            .finish_non_exhaustive()
    }
}
