//! The sorted array: for each band the keys of its entries in ascending order, and then their documents.

use alloc::vec;
use core::iter::Peekable;

use pds_core::error::AllocError;
use pds_core::hash::reduce;
use pds_core::internal::StoredWord;
use pds_core::storage::{WordSource, Words};
use pds_params::LshParams;

/// The entry of a document in one band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) band: u32,
    /// Hash of the rows of the band.
    pub(super) key: u64,
    pub(super) document: u32,
}

/// Entries in words: for each band the keys, one per word, and then the documents, two per word, the first one in the lower
/// half. Entries ascend by key, and those of one key by document.
#[derive(Clone)]
pub(super) struct Sorted<W> {
    pub(super) words: W,
    documents: usize,
}

impl Sorted<Words> {
    /// Writes the entries that `entries` returns for each band, in ascending order.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub(super) fn collect<I: Iterator<Item = (u64, u32)>>(
        params: LshParams,
        documents: u64,
        entries: impl Fn(u32) -> I,
    ) -> Result<Self, AllocError> {
        let words = Words::zeroed(params.size_in_bytes(documents) / 8)?;
        let mut sorted = Self::new(words, documents);
        let (len, stride) = (sorted.documents, sorted.stride());
        // Without documents a band has no words, and there are none to divide.
        for (band, words) in (0..).zip(sorted.words.chunks_exact_mut(stride.max(1))) {
            let (keys, numbers) = words.split_at_mut(len);
            for ((i, slot), (key, document)) in keys.iter_mut().enumerate().zip(entries(band)) {
                *slot = key;
                numbers[i / 2] |= u64::from(document) << (i % 2 * 32);
            }
        }
        Ok(sorted)
    }
}

impl<W: WordSource> Sorted<W> {
    /// Takes the words of this number of documents.
    #[expect(clippy::cast_possible_truncation, reason = "there are more words in memory")]
    pub(super) const fn new(words: W, documents: u64) -> Self {
        Self { words, documents: documents as usize }
    }

    /// Returns the number of documents.
    pub(super) const fn documents(&self) -> u64 {
        self.documents as u64
    }

    /// Returns the number of words per band.
    const fn stride(&self) -> usize {
        self.documents + self.documents.div_ceil(2)
    }

    /// Returns the words of one band.
    pub(super) fn band_words(&self, band: u32) -> &[W::Word] {
        let stride = self.stride();
        let start = band as usize * stride;
        &self.words.as_words()[start..start + stride]
    }

    /// Returns one band.
    pub(super) fn band(&self, band: u32) -> Band<'_, W::Word> {
        let (keys, documents) = self.band_words(band).split_at(self.documents);
        Band { keys, documents }
    }
}

/// The entries of one band.
pub(super) struct Band<'a, T> {
    keys: &'a [T],
    documents: &'a [T],
}

impl<'a, T: StoredWord> Band<'a, T> {
    /// Returns the entry at this place.
    fn at(&self, place: usize) -> (u64, u32) {
        (self.keys[place].value(), T::half(self.documents, place))
    }

    /// Returns all entries, in ascending order.
    pub(super) fn entries(self) -> impl ExactSizeIterator<Item = (u64, u32)> + use<'a, T> {
        (0..self.keys.len()).map(move |place| self.at(place))
    }

    /// Returns the documents with this key, in ascending order.
    pub(super) fn documents_of(self, key: u64) -> impl Iterator<Item = u32> + use<'a, T> {
        let start = self.first_not_below(key, 0);
        (start..self.keys.len())
            .map(move |place| self.at(place))
            .take_while(move |&(found, _)| found == key)
            .map(|(_, document)| document)
    }

    /// Returns whether the band has this entry.
    pub(super) fn contains(self, key: u64, document: u32) -> bool {
        let place = self.first_not_below(key, document);
        place < self.keys.len() && self.at(place) == (key, document)
    }

    /// Returns the place of the first entry that is not below this one.
    // Keys are hashes, so the place is near that share of the band. Steps from there that double find an interval for the
    // binary search, with a few reads in place of one per bit of the length. Equal documents have equal keys, so the search
    // must not go through those of one key one by one.
    fn first_not_below(&self, key: u64, document: u32) -> usize {
        let len = self.keys.len();
        let is_below = |place: usize| {
            let found = self.keys[place].value();
            found < key || found == key && T::half(self.documents, place) < document
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most the length")]
        let guess = reduce(key, len as u64) as usize;
        let (mut start, mut end, mut step) = (guess, guess, 8);
        while end < len && is_below(end) {
            start = end + 1;
            end = len.min(start + step);
            step *= 2;
        }
        while start > 0 && !is_below(start - 1) {
            end = start - 1;
            start = end.saturating_sub(step);
            step *= 2;
        }
        while start < end {
            let middle = start + (end - start) / 2;
            if is_below(middle) { start = middle + 1 } else { end = middle }
        }
        start
    }
}

/// Number of keys that are dealt to one group, on average.
const GROUP: usize = 256;

/// Returns keys with their documents, in ascending order.
// Keys are hashes, so their high bits deal them out evenly to groups that fit the innermost cache. Each entry is sorted as one
// number, which is compared without a branch.
#[expect(
    clippy::cast_possible_truncation,
    reason = "groups are below the length, and the halves are what is asked for"
)]
pub(super) fn sorted_entries(
    keys: &[u64],
    documents: &[u32],
) -> impl Iterator<Item = (u64, u32)> + use<> {
    let groups = (keys.len() / GROUP).next_power_of_two();
    let group = |key: u64| reduce(key, groups as u64) as usize;
    let mut ends = vec![0; groups + 1];
    keys.iter().for_each(|&key| ends[group(key) + 1] += 1);
    for i in 0..groups {
        ends[i + 1] += ends[i];
    }
    let mut entries = vec![0_u128; keys.len()];
    for (&key, &document) in keys.iter().zip(documents) {
        let end = &mut ends[group(key)];
        entries[*end] = u128::from(key) << 32 | u128::from(document);
        *end += 1;
    }
    let mut start = 0;
    for &end in &ends[..groups] {
        entries[start..end].sort_unstable();
        start = end;
    }
    entries.into_iter().map(|entry| ((entry >> 32) as u64, entry as u32))
}

/// Merges two ascending sequences.
pub(super) fn merged<T: Ord>(
    left: impl Iterator<Item = T>,
    right: impl Iterator<Item = T>,
) -> impl Iterator<Item = T> {
    Merged { left: left.peekable(), right: right.peekable() }
}

struct Merged<L: Iterator, R: Iterator> {
    left: Peekable<L>,
    right: Peekable<R>,
}

impl<T: Ord, L: Iterator<Item = T>, R: Iterator<Item = T>> Iterator for Merged<L, R> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let takes_left = match (self.left.peek(), self.right.peek()) {
            (Some(left), Some(right)) => left <= right,
            (left, _) => left.is_some(),
        };
        if takes_left { self.left.next() } else { self.right.next() }
    }
}
