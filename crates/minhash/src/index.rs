//! The index of sketches: construction, and the methods that change it.

mod builder;
mod changes;
mod portable;
mod reading;
mod sorted;
mod view;

use alloc::vec::Vec;
use core::borrow::Borrow;

use pds_core::error::{AllocError, Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::{WordSource, Words};
use pds_params::LshParams;

use crate::MinHash;
use changes::Changes;
use sorted::{Entry, Sorted, merged, sorted_entries};

pub use builder::LshIndexBuilder;
pub use view::LshIndexView;

/// The least number of documents whose changes wait, so that small indexes are not sorted anew at each change.
const LEAST_WAITING: u64 = 256;

/// Changes wait until there is one for so many documents.
const DOCUMENTS_PER_CHANGE: u64 = 32;

/// An index of sketches that finds the similar ones among many, without comparing all pairs.
///
/// The values of a sketch are cut into bands of some rows. Documents that agree in all rows of a band are *candidates*.
/// Compare their sketches, or the documents, to tell the similar ones from the others.
///
/// A document is a number of your own, 32 bits, with a sketch. The index keeps no sketches, so `remove` needs the sketch, too.
///
/// **One number, one sketch.** To replace the sketch of a document, [`remove`](Self::remove) the old one, and then insert the new
/// one. The index cannot tell the entries of two sketches with one number apart: `contains` and `remove` would also accept a
/// third sketch that has some bands of either, such as their union, and removing that would leave a part of both.
///
/// # Storage
/// `S` is the hasher of the sketches. `W` is the [storage](crate::storage): an `LshIndex` has memory of its own and all methods,
/// an [`LshIndexView<B>`](crate::LshIndexView) reads portable bytes of the type `B`.
///
/// # Guarantees
/// - Recall: a pair with Jaccard index J is found with probability 1 - (1 - J^rows)^bands, at least the recall asked for if J is
///   at least the threshold. This holds for sets of many more than K keys. For smaller ones a recall below 0.6 is lower, by up to
///   40 % where it was measured, and one from 0.8 up is not ([`LshParams::recall`]).
/// - Memory: 12 bytes per band and document, in one sorted array. The last changes wait in a tree, for at most one document in
///   32 and always for 256 documents, with some 25 to 35 bytes per band and document.
/// - Query: O(bands log documents + c log c) for c candidates, counted once per band. Insert and remove: O(bands log documents),
///   and O(bands documents) once per documents / 32 changes. [`insert_batch`](Self::insert_batch) sorts once.
/// - Equality: the same documents give equal indexes and equal bytes, in any order of inserts and removals.
/// - An empty set is similar to none, so it is not stored, and finds nothing.
///
/// # Examples
/// ```
/// use minhash::{LshIndex, MinHash};
///
/// let mut index = LshIndex::new(128, 0.8, 0.99)?;
/// for document in 0..100_u32 {
///     let mut sketch = MinHash::new(128)?;
///     sketch.extend(1_000 * document..1_000 * document + 500);
///     index.insert(document, &sketch)?;
/// }
///
/// // 475 of 525 keys are also in document 7.
/// let mut sketch = MinHash::new(128)?;
/// sketch.extend(7_025..7_525_u32);
/// assert_eq!(index.query(&sketch)?, [7]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Jure Leskovec, Anand Rajaraman and Jeffrey Ullman, "Mining of Massive Datasets", section 3.4; Piotr Indyk and Rajeev
/// Motwani, "Approximate Nearest Neighbors: Towards Removing the Curse of Dimensionality", STOC 1998.
#[derive(Clone)]
pub struct LshIndex<S = DefaultHashBuilder, W = Words> {
    sorted: Sorted<W>,
    changes: Changes,
    params: LshParams,
    hasher: S,
}

impl LshIndex {
    /// Creates an empty index of sketches with `num_values` values. It finds pairs whose Jaccard index is at least `threshold`
    /// with probability `recall` or more.
    ///
    /// # Errors
    /// [`ParamError`] if the number of values is not allowed, if threshold or recall is not above 0 and below 1, or if so many
    /// values are too few.
    pub fn new(num_values: u32, threshold: f64, recall: f64) -> Result<Self, ParamError> {
        Self::builder().num_values(num_values).threshold(threshold).recall(recall).build()
    }

    /// Starts a builder: for bands and rows of your own, a seed, or another hasher.
    pub const fn builder() -> LshIndexBuilder {
        LshIndexBuilder::new()
    }
}

impl<S: KeyHasher> LshIndex<S> {
    /// Creates an empty index of sketches with this hasher.
    pub fn from_params(params: LshParams, hasher: S) -> Self {
        let sorted = Sorted::new(Words::empty(), 0);
        Self { sorted, changes: Changes::default(), params, hasher }
    }

    /// Inserts a document. Returns `false`, and changes nothing, if its set is empty, or if a document with this number that
    /// agrees in a band is there already.
    ///
    /// A document with this number that agrees in no band is not noticed. To replace a sketch, [`remove`](Self::remove) it first.
    ///
    /// # Errors
    /// [`Incompatible`] if the sketch has another number of values or another hasher. Nothing is changed then.
    pub fn insert<W: WordSource>(
        &mut self,
        document: u32,
        sketch: &MinHash<S, W>,
    ) -> Result<bool, Incompatible> {
        self.check_compatible(sketch)?;
        if sketch.is_empty() {
            return Ok(false);
        }
        let keys: Vec<u64> = self.band_keys(sketch).collect();
        Ok(self.insert_keys(document, &keys))
    }

    fn insert_keys(&mut self, document: u32, keys: &[u64]) -> bool {
        let is_new = !entries(document, keys).any(|entry| self.holds(entry));
        if is_new {
            entries(document, keys).for_each(|entry| self.changes.insert(entry));
            self.settle();
        }
        is_new
    }

    /// Inserts many documents, as [`insert`](Self::insert) does one after the other. Returns how many were inserted.
    ///
    /// Large batches are many times faster: the entries are sorted together. A batch of at most one document per 32 that are there
    /// is inserted one by one. The iterator may make the sketches, so that they need not be in memory at the same time.
    ///
    /// # Errors
    /// [`Incompatible`] if a sketch has another number of values or another hasher. Nothing is changed then.
    ///
    /// # Complexity
    /// O(N log N) for N entries that are inserted, one per band and document, and O(bands documents) for a batch that is sorted.
    /// While it is sorted, the memory is up to 28 bytes per band and document, and 32 more per document.
    pub fn insert_batch<T, W>(
        &mut self,
        documents: impl IntoIterator<Item = (u32, T)>,
    ) -> Result<usize, Incompatible>
    where
        T: Borrow<MinHash<S, W>>,
        W: WordSource,
    {
        let mut numbers = Vec::new();
        let mut bands: Vec<Vec<u64>> = (0..self.params.bands()).map(|_| Vec::new()).collect();
        for (document, sketch) in documents {
            let sketch = sketch.borrow();
            self.check_compatible(sketch)?;
            let mut keys = self.band_keys(sketch).zip(0..);
            let is_held = !self.is_empty()
                && keys.any(|(key, band)| self.holds(Entry { band, key, document }));
            if !sketch.is_empty() && !is_held {
                numbers.push(document);
                bands.iter_mut().zip(self.band_keys(sketch)).for_each(|(band, key)| band.push(key));
            }
        }
        Ok(self.insert_bands(numbers, bands))
    }

    /// Inserts documents, none of which is there. Entry i of each band is the key of document i.
    fn insert_bands(&mut self, mut numbers: Vec<u32>, mut bands: Vec<Vec<u64>>) -> usize {
        let mut sorted = 0;
        // As many changes may wait, and a new array takes longer.
        if numbers.len() as u64 > self.len() / DOCUMENTS_PER_CHANGE {
            let repeated = repeated(&numbers);
            move_to_end(&mut numbers, &repeated);
            bands.iter_mut().for_each(|band| move_to_end(band, &repeated));
            let once = numbers.len() - repeated.len();
            // Without the memory for it they are inserted one by one.
            if self.rebuild(&numbers[..once], &bands).is_ok() {
                sorted = once;
            }
        }
        let mut keys = Vec::new();
        let one_by_one = (sorted..numbers.len()).filter(|&i| {
            keys.clear();
            keys.extend(bands.iter().map(|band| band[i]));
            self.insert_keys(numbers[i], &keys)
        });
        sorted + one_by_one.count()
    }

    /// Removes a document. Returns `false`, and changes nothing, if it is not there with this sketch.
    ///
    /// The sketch must be the one that was inserted. If two were inserted with this number, see [`LshIndex`].
    ///
    /// # Errors
    /// [`Incompatible`] if the sketch has another number of values or another hasher. Nothing is changed then.
    pub fn remove<W: WordSource>(
        &mut self,
        document: u32,
        sketch: &MinHash<S, W>,
    ) -> Result<bool, Incompatible> {
        let is_there = self.contains(document, sketch)?;
        if is_there {
            let keys: Vec<u64> = self.band_keys(sketch).collect();
            entries(document, &keys).for_each(|entry| self.changes.remove(entry));
            self.settle();
        }
        Ok(is_there)
    }

    /// Removes the documents for whose number `keep` returns `false`. Asks once per number, in ascending order.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory for a second array. Nothing is changed then.
    ///
    /// # Complexity
    /// O(bands documents log documents).
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) -> Result<(), AllocError> {
        let mut removed: Vec<u32> = self.live(0).map(|(_, document)| document).collect();
        removed.sort_unstable();
        removed.dedup();
        removed.retain(|&document| !keep(document));
        let is_kept = |&(_, document): &(u64, u32)| removed.binary_search(&document).is_err();
        let kept = self.live(0).filter(is_kept).count() as u64;
        self.replace(Sorted::collect(self.params, kept, |band| self.live(band).filter(is_kept))?);
        Ok(())
    }

    /// Sorts the last changes into the array. The index then has 12 bytes per band and document.
    ///
    /// This happens by itself, too. It changes no answer.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory for a second array. Nothing is changed then.
    ///
    /// # Complexity
    /// O(bands documents).
    pub fn compact(&mut self) -> Result<(), AllocError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        self.rebuild(&[], &[])
    }

    /// Removes all documents, and releases their memory.
    pub fn clear(&mut self) {
        self.replace(Sorted::new(Words::empty(), 0));
    }

    /// Compacts if many changes wait.
    fn settle(&mut self) {
        let entries = u64::from(self.params.bands());
        let most = (self.sorted.documents() / DOCUMENTS_PER_CHANGE).max(LEAST_WAITING);
        if self.changes.len() > entries * most {
            // Without the memory for it the changes wait on. Answers are the same.
            _ = self.compact();
        }
    }

    /// Sorts what is there and the new documents, none of which is there, into one array. Keys beyond their number are left out.
    fn rebuild(&mut self, numbers: &[u32], bands: &[Vec<u64>]) -> Result<(), AllocError> {
        let documents = self.len() + numbers.len() as u64;
        self.replace(Sorted::collect(self.params, documents, |band| {
            let keys = bands.get(band as usize).map_or(&[][..], |keys| &keys[..numbers.len()]);
            merged(self.live(band), sorted_entries(keys, numbers))
        })?);
        Ok(())
    }

    fn replace(&mut self, sorted: Sorted<Words>) {
        self.sorted = sorted;
        self.changes = Changes::default();
    }
}

/// Returns the entries of a document.
fn entries(document: u32, keys: &[u64]) -> impl Iterator<Item = Entry> {
    (0..).zip(keys).map(move |(band, &key)| Entry { band, key, document })
}

/// Returns the places of numbers that stand at an earlier place, too, in ascending order.
fn repeated(numbers: &[u32]) -> Vec<usize> {
    let mut ascending: Vec<(u32, usize)> = numbers.iter().copied().zip(0..).collect();
    ascending.sort_unstable();
    let again = ascending.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let mut places: Vec<usize> = again.map(|pair| pair[1].1).collect();
    places.sort_unstable();
    places
}

/// Moves what stands at ascending places to the end, in the same order. The order of the others may change.
fn move_to_end<T>(items: &mut [T], places: &[usize]) {
    for (end, &place) in (0..items.len()).rev().zip(places.iter().rev()) {
        items.swap(place, end);
    }
}

/// Indexes are equal if bands, rows, hasher and documents are equal.
impl<S: KeyHasher> PartialEq for LshIndex<S> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok()
            && self.len() == other.len()
            && (0..self.params.bands()).all(|band| self.live(band).eq(other.live(band)))
    }
}

impl<S: KeyHasher> Eq for LshIndex<S> {}
