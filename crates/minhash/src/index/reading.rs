//! The methods that only read, for an index in any storage.

use alloc::vec::Vec;
use core::fmt;

use pds_core::error::Incompatible;
use pds_core::hash::{KeyHasher, finalize};
use pds_core::storage::WordSource;
use pds_params::LshParams;

use super::LshIndex;
use super::sorted::{Entry, merged};
use crate::MinHash;

impl<S: KeyHasher, W: WordSource> LshIndex<S, W> {
    /// Returns the hasher of the sketches.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the parameters: bands, rows, and the recall by Jaccard index.
    #[must_use]
    pub const fn params(&self) -> LshParams {
        self.params
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> u64 {
        let bands = u64::from(self.params.bands());
        self.changes.count(bands * self.sorted.documents()) / bands
    }

    /// Returns whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of the sorted array in bytes, without the changes that wait.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.params.size_in_bytes(self.sorted.documents())
    }

    /// Returns whether this document is there with this sketch.
    ///
    /// # Errors
    /// [`Incompatible`] if the sketch has another number of values or another hasher.
    pub fn contains<V: WordSource>(
        &self,
        document: u32,
        sketch: &MinHash<S, V>,
    ) -> Result<bool, Incompatible> {
        self.check_compatible(sketch)?;
        let mut keys = (0..).zip(self.band_keys(sketch));
        let is_there = keys.all(|(band, key)| self.holds(Entry { band, key, document }));
        Ok(is_there && !sketch.is_empty())
    }

    /// Returns the candidates for a sketch: the documents that agree with it in a band, in ascending order, each once.
    ///
    /// A document that is inserted itself is its own candidate. An empty set has none.
    ///
    /// # Errors
    /// [`Incompatible`] if the sketch has another number of values or another hasher.
    ///
    /// # Complexity
    /// O(bands log documents + c log c) for c candidates, counted once per band.
    pub fn query<V: WordSource>(&self, sketch: &MinHash<S, V>) -> Result<Vec<u32>, Incompatible> {
        self.check_compatible(sketch)?;
        let mut found = Vec::new();
        if sketch.is_empty() || self.is_empty() {
            return Ok(found);
        }
        for (band, key) in (0..).zip(self.band_keys(sketch)) {
            let is_live = |&document: &u32| !self.changes.is_removed(Entry { band, key, document });
            found.extend(self.sorted.band(band).documents_of(key).filter(is_live));
            found.extend(self.changes.inserted(band, key..=key).map(|(_, document)| document));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Returns all pairs of documents that agree in a band, in ascending order, each once and with the lower number first.
    ///
    /// A group of n equal documents has n (n - 1) / 2 pairs, of 8 bytes each. If so many documents may be equal that the pairs
    /// do not fit into memory, call [`visit_groups`](Self::visit_groups).
    ///
    /// # Complexity
    /// O(bands documents + p log p) for p pairs, counted once per band, and O(bands q) for q different pairs. The memory is at most
    /// 24 bytes per pair.
    #[must_use]
    pub fn near_duplicates(&self) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for band in 0..self.params.bands() {
            let earlier = pairs.len();
            self.visit_groups_of(band, |group| {
                for (i, &left) in group.iter().enumerate() {
                    pairs.extend(group[i + 1..].iter().map(|&right| (left, right)));
                }
            });
            pairs[earlier..].sort_unstable();
            // Similar documents agree in several bands: without this all their pairs would stand there that often. A stable
            // sort merges both parts, which ascend, in linear time.
            pairs.sort();
            pairs.dedup();
        }
        pairs
    }

    /// Calls `visit` with each group of two or more documents that agree in a band. The documents of a group ascend.
    ///
    /// Each band has its own groups, so similar documents come together several times. In a group of n documents all
    /// n (n - 1) / 2 pairs are candidates. To join equal documents, linking each one of a group to the first one is enough.
    ///
    /// # Complexity
    /// O(bands documents). The memory is that of the largest group, 4 bytes per document.
    ///
    /// # Examples
    /// ```
    /// use minhash::{LshIndex, MinHash};
    ///
    /// let mut sketch = MinHash::new(128)?;
    /// sketch.insert("the same in all documents");
    /// let mut index = LshIndex::new(128, 0.8, 0.99)?;
    /// index.insert_batch((0..100_000).map(|document| (document, &sketch)))?;
    ///
    /// // 100,000 links per band in place of 5 billion pairs.
    /// let mut first_of: Vec<u32> = (0..100_000).collect();
    /// index.visit_groups(|group| {
    ///     for &document in group {
    ///         first_of[document as usize] = first_of[document as usize].min(group[0]);
    ///     }
    /// });
    /// assert!(first_of.iter().all(|&first| first == 0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn visit_groups(&self, mut visit: impl FnMut(&[u32])) {
        (0..self.params.bands()).for_each(|band| self.visit_groups_of(band, &mut visit));
    }

    fn visit_groups_of(&self, band: u32, mut visit: impl FnMut(&[u32])) {
        let mut group = Vec::new();
        let mut entries = self.live(band).peekable();
        while let Some((key, document)) = entries.next() {
            group.push(document);
            if entries.peek().is_none_or(|&(next, _)| next != key) {
                if group.len() > 1 {
                    visit(&group);
                }
                group.clear();
            }
        }
    }

    /// Returns the keys of the bands of a sketch.
    pub(super) fn band_keys<V: WordSource>(
        &self,
        sketch: &MinHash<S, V>,
    ) -> impl Iterator<Item = u64> {
        let rows = self.params.rows();
        let mut minima = sketch.minima.values();
        (0..self.params.bands()).map(move |_| {
            let band = minima.by_ref().take(rows as usize);
            band.fold(0, |key, minimum| finalize(key ^ minimum))
        })
    }

    pub(super) fn check_compatible<V>(&self, sketch: &MinHash<S, V>) -> Result<(), Incompatible> {
        let (values, others) = (self.params.num_values(), sketch.params.num_values());
        Incompatible::check_shape("number of values", values.into(), others.into())?;
        Incompatible::check_hasher(&self.hasher, &sketch.hasher)
    }

    /// Returns whether there is this entry.
    pub(super) fn holds(&self, entry: Entry) -> bool {
        let Entry { band, key, document } = entry;
        self.changes.is_inserted(entry)
            || self.sorted.band(band).contains(key, document) && !self.changes.is_removed(entry)
    }

    /// Returns all entries of a band, in ascending order.
    pub(super) fn live(&self, band: u32) -> impl Iterator<Item = (u64, u32)> {
        let is_live = move |&(key, document): &(u64, u32)| {
            !self.changes.is_removed(Entry { band, key, document })
        };
        let sorted = self.sorted.band(band).entries().filter(is_live);
        merged(sorted, self.changes.inserted(band, 0..=u64::MAX))
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for LshIndex<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["LshIndex", "", "LshIndexView"]))
            .field("num_values", &self.params.num_values())
            .field("bands", &self.params.bands())
            .field("rows", &self.params.rows())
            .field("documents", &self.len())
            .finish_non_exhaustive()
    }
}
