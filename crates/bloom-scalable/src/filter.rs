//! The growing filter: construction, and the methods that change it.

use alloc::vec::Vec;
use core::hash::Hash;

use bloom_blocked::BlockedBloomFilter;
use bloom_core::BloomFilter;
use pds_core::error::{AllocError, BuildError, Incompatible, InsertError, MergeError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::hash_chunk;
use pds_core::traits::{Insert, Merge};
use pds_params::ScalableParams;

use crate::ScalableBloomFilterBuilder;
use crate::layer::{Layer, OwnedLayer, hash_in};
use crate::reading::{BATCH, Stack};

/// A Bloom filter that grows: it keeps its false-positive rate as items are added.
///
/// It consists of layers. Keys go into the newest one. When that holds the items of its design, a larger one with a lower rate is
/// opened. The rates are chosen so that all layers together keep the promised rate.
///
/// Use it if the number of items is not known, not even roughly, and the filter must stay a Bloom filter. Examples are append-only
/// files, and layers that are paged in one by one. If the number is known within a factor of two, a [`BloomFilter`] needs less
/// memory. In memory, with one writer, use a quotient filter that grows. It needs about as little memory, asks one place per
/// lookup instead of one per layer, and removes keys.
///
/// `F` is the filter of each layer: [`BloomFilter`], the default, or [`BlockedBloomFilter`], for which
/// [`ScalableBlockedBloomFilter`] is the short name. [`ScalableBloomFilterView`](crate::ScalableBloomFilterView) answers from
/// portable bytes.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - False negatives: never, if `Hash` of a key always feeds the same bytes.
/// - False positives: the mean rate is at most the promised one at every moment.
/// - No key is counted twice: a key that is contained is not inserted again, in no layer.
/// - Memory at 1 %: 14.3 bits per item in 4 full layers, 16.9 in 12, 19.6 in 20, and twice that just after a layer was opened. See
///   [`Schedule`](crate::Schedule) for others.
/// - Number of items: limited by memory alone, unless [`growth`](ScalableBloomFilterBuilder::growth) is 1. Then it is limited by
///   the rate that 64-bit hashes can keep.
/// - Time: a lookup asks all layers for an absent key, newest first. Each doubling adds one. The key is hashed once.
/// - Merging: the layers of both stand side by side, and their rates add up. [`merge`](Self::merge) returns the sum.
/// - Layers can never be joined into fewer. The keys are not stored, so their positions in a layer of another size are unknown;
///   and the union of two layers of one size would have more set bits than it was designed for. Build a new filter from the
///   keys instead.
///
/// # Examples
/// ```
/// use bloom_scalable::ScalableBloomFilter;
///
/// // A first layer for 1,000 items, and 1 % for any number.
/// let mut seen = ScalableBloomFilter::new(1_000, 0.01)?;
/// for page in 0..100_000u32 {
///     seen.insert(&page)?;
/// }
/// assert!((0..100_000u32).all(|page| seen.contains(&page)));
/// assert_eq!(seen.num_layers(), 7);
/// assert!(seen.false_positive_rate() < 0.01);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Paulo Sérgio Almeida, Carlos Baquero, Nuno Preguiça and David Hutchison, "Scalable Bloom Filters", Information Processing
/// Letters 101(6), 2007.
#[derive(Clone)]
pub struct ScalableBloomFilter<F = BloomFilter> {
    /// Those of merged filters, then its own from the oldest to the newest. There is one of its own at least.
    pub(crate) layers: Vec<F>,
    pub(crate) params: ScalableParams,
    /// For each layer the index by which it mixes hashes. Layers with different indices answer independently.
    pub(crate) indices: Vec<u32>,
    /// Number of layers of merged filters.
    pub(crate) merged: usize,
    /// Number of further keys for the newest layer.
    pub(crate) room: u64,
}

/// A [`ScalableBloomFilter`] of blocked layers, each of which reads one cache line per key.
pub type ScalableBlockedBloomFilter<S = DefaultHashBuilder> =
    ScalableBloomFilter<BlockedBloomFilter<S>>;

// `new` is defined for the default layer only: the compiler could not tell two functions of one name apart (E0034).
impl ScalableBloomFilter {
    /// Creates a filter whose first layer is for `expected_items` distinct items, and that keeps the rate `rate` for any number.
    ///
    /// Growth and schedule are the default ones: each layer has twice the items of the one before and 0.85 times its rate. The
    /// [`builder`](Self::builder) takes others.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if the first layer needs more than
    /// 2^63 bits. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder: for blocked layers, another growth or schedule, a seed, or another hasher.
    pub const fn builder() -> ScalableBloomFilterBuilder {
        ScalableBloomFilterBuilder::new()
    }
}

impl<F: OwnedLayer<Hasher: Clone>> ScalableBloomFilter<F> {
    /// Creates an empty filter with exactly these parameters.
    ///
    /// # Errors
    /// [`BuildError::Param`] if the first layer cannot have this design. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn from_params(params: ScalableParams, hasher: F::Hasher) -> Result<Self, BuildError> {
        let (mut layers, mut indices) = (Vec::new(), Vec::new());
        reserve(&mut layers, 1)?;
        reserve(&mut indices, 1)?;
        let design = params.layer(0)?;
        layers.push(F::build(design.offered(), hasher)?);
        indices.push(0);
        Ok(Self { layers, params, indices, merged: 0, room: design.items })
    }

    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        let (mut layers, mut indices) = (Vec::new(), Vec::new());
        reserve(&mut layers, self.layers.len())?;
        reserve(&mut indices, self.indices.len())?;
        indices.extend_from_slice(&self.indices);
        for layer in &self.layers {
            layers.push(layer.copied()?);
        }
        Ok(Self { layers, indices, ..*self })
    }

    /// Inserts a key by its [hash](KeyHasher#hashes-of-your-own). Returns `true` if it was not contained before.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        if self.room == 0 {
            return self.insert_when_full(hash);
        }
        let (newest, older) = self.split_newest();
        let is_new = !older.contain(hash) && newest.put(hash);
        self.room -= u64::from(is_new);
        Ok(is_new)
    }

    /// Inserts many [hashes](KeyHasher#hashes-of-your-own). Returns how many were not contained before.
    ///
    /// Bits and number are those of single inserts in this order.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> Result<usize, InsertError> {
        let mut new = 0;
        for hashes in hashes.chunks(BATCH) {
            new += self.insert_chunk(hashes)?;
        }
        Ok(new)
    }

    /// Inserts `key`. Returns `true` if it was not contained before.
    ///
    /// `true` is certain. `false` means that this key was inserted before, or that it is a false positive. Nothing is changed
    /// then.
    ///
    /// # Errors
    /// Only for a new key when the newest layer is full and no further one can be opened. Nothing is changed then.
    /// [`InsertError::Alloc`] if the allocator refuses the memory. [`InsertError::Full`] if the next layer would need more than
    /// 2^63 bits, or a rate below that of colliding 64-bit hashes: [`next_layer`](Self::next_layer) tells its design. Its numbers
    /// are those of the [`capacity`](Self::capacity). Places of a layer that a merge closed count as taken.
    ///
    /// # Complexity
    /// O(layers * k) for k hash functions per layer. A new key allocates another layer if the newest one is full.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_hash(self.hasher().hash_key(key))
    }

    /// Inserts many keys. Returns how many were not contained before.
    ///
    /// Bits and number are those of single inserts in this order.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), at the first key that is not taken. The keys before it are in.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> Result<usize, InsertError> {
        let mut new = 0;
        for keys in keys.chunks(BATCH) {
            let hashes: [u64; BATCH] = hash_chunk(self.hasher(), keys);
            new += self.insert_chunk(&hashes[..keys.len()])?;
        }
        Ok(new)
    }

    /// Removes all keys, and all layers but the first. The promised rate is again that of the design.
    pub fn clear(&mut self) {
        self.layers.truncate(self.merged + 1);
        self.layers.drain(..self.merged);
        self.layers[0].empty();
        self.indices.clear();
        self.indices.push(0);
        self.merged = 0;
        self.room = self.params.first_items();
    }

    /// Takes the layers of `other` beside its own. Returns the [promised rate](Self::promised_rate) from now on.
    ///
    /// The filter then contains the keys of both. Keys go on into its own newest layer. Empty layers are left out, and so are
    /// layers that are equal to one that is there already: merging a filter again, or with itself, changes nothing. Parameters
    /// may differ.
    ///
    /// If its newest layer has keys already, and a new layer mixes hashes as that one does, its newest layer is closed: its
    /// [`room`](Self::room) is 0, and the next new key goes to another layer. Merge into an empty filter to avoid this.
    ///
    /// A key that is in both filters is stored twice, and [`approx_len`](Self::approx_len) counts it twice. Each merge adds the
    /// rate of the other filter, and each lookup asks its layers. So merge few filters. For many, use filters of one fixed size,
    /// whose union costs neither.
    ///
    /// # Errors
    /// [`MergeError`] if the hashers differ, or if the allocator refuses the memory. Nothing is changed then.
    ///
    /// # Complexity
    /// O(size of `other`), and a comparison of each layer with each one.
    ///
    /// # Examples
    /// ```
    /// use bloom_scalable::ScalableBloomFilter;
    ///
    /// let mut left = ScalableBloomFilter::new(100, 0.01)?;
    /// let mut right = left.clone();
    /// left.insert("in left")?;
    /// right.insert("in right")?;
    /// // Its one layer has the rate of a first layer, 0.15 %.
    /// let rate = left.merge(&right)?;
    /// assert!((0.0114..0.0116).contains(&rate));
    /// assert!(left.contains("in left") && left.contains("in right"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<f64, MergeError> {
        Incompatible::check_hasher(self.hasher(), other.hasher())
            .map_err(MergeError::Incompatible)?;
        let refused = |error| MergeError::Insert(InsertError::Alloc(error));
        let (mut added, mut indices): (Vec<F>, Vec<u32>) = (Vec::new(), Vec::new());
        for (index, layer) in other.stack().newest_first().rev() {
            let is_same = |(own, copy): (u32, &F)| own == index && copy == layer;
            if !layer.is_empty() && !self.stack().newest_first().any(is_same) {
                reserve(&mut added, 1).map_err(refused)?;
                reserve(&mut indices, 1).map_err(refused)?;
                added.push(layer.copied().map_err(refused)?);
                indices.push(index);
            }
        }
        reserve(&mut self.layers, added.len()).map_err(refused)?;
        reserve(&mut self.indices, added.len()).map_err(refused)?;
        let end = self.merged;
        self.merged += added.len();
        self.layers.splice(end..end, added);
        self.indices.splice(end..end, indices);
        self.keep_newest_apart();
        Ok(self.promised_rate())
    }

    /// Makes sure that no further key goes into a layer that mixes hashes as another one does.
    // Further keys are those that no other layer contains. With the hash of another layer they would avoid its positions, and the
    // two layers would answer falsely for more absent keys than independent ones do.
    fn keep_newest_apart(&mut self) {
        let (&newest, others) = self.indices.split_last().expect("one layer at least");
        if !others.contains(&newest) {
            return;
        }
        if self.newest().is_empty() {
            let index = self.next_index();
            *self.indices.last_mut().expect("one layer at least") = index;
        } else {
            self.room = 0;
        }
    }

    /// Returns the least index that no layer has.
    fn next_index(&self) -> u32 {
        least_absent(&self.indices)
    }

    /// Returns the newest layer, as one that takes hashes of keys, and the others.
    #[inline]
    fn split_newest(&mut self) -> (Newest<'_, F>, Stack<'_, F>) {
        let (layer, layers) = self.layers.split_last_mut().expect("one layer at least");
        let (&index, indices) = self.indices.split_last().expect("one layer at least");
        (Newest { layer, index }, Stack { layers, indices })
    }

    #[cold]
    fn insert_when_full(&mut self, hash: u64) -> Result<bool, InsertError> {
        if self.contains_hash(hash) {
            return Ok(false);
        }
        self.grow()?;
        self.insert_hash(hash)
    }

    /// Opens the next layer.
    fn grow(&mut self) -> Result<(), InsertError> {
        let full = || {
            let capacity = self.capacity();
            InsertError::Full { len: capacity, capacity }
        };
        let design = self.next_layer().map_err(|_| full())?;
        let next = F::build(design.offered(), self.hasher().clone());
        let next = next.map_err(|error| match error {
            BuildError::Alloc(error) => InsertError::Alloc(error),
            _ => full(),
        })?;
        reserve(&mut self.layers, 1).map_err(InsertError::Alloc)?;
        reserve(&mut self.indices, 1).map_err(InsertError::Alloc)?;
        self.indices.push(self.next_index());
        self.layers.push(next);
        self.room = design.items;
        Ok(())
    }

    /// Inserts up to [`BATCH`] hashes.
    fn insert_chunk(&mut self, hashes: &[u64]) -> Result<usize, InsertError> {
        if self.room < hashes.len() as u64 {
            let mut new = 0;
            for &hash in hashes {
                new += usize::from(self.insert_hash(hash)?);
            }
            return Ok(new);
        }
        let mut left = [0; BATCH];
        left[..hashes.len()].copy_from_slice(hashes);
        let (newest, older) = self.split_newest();
        let count = older.keep_absent(&mut left[..hashes.len()]);
        let new = newest.put_batch(&mut left[..count]);
        self.room -= new as u64;
        Ok(new)
    }
}

/// The layer that takes keys.
struct Newest<'a, F> {
    layer: &'a mut F,
    index: u32,
}

impl<F: OwnedLayer> Newest<'_, F> {
    #[inline]
    fn put(self, hash: u64) -> bool {
        self.layer.put(hash_in(self.index, hash))
    }

    fn put_batch(self, hashes: &mut [u64]) -> usize {
        hashes.iter_mut().for_each(|hash| *hash = hash_in(self.index, *hash));
        self.layer.put_batch(hashes)
    }
}

/// Makes room for `more` layers.
pub(crate) fn reserve<F>(layers: &mut Vec<F>, more: usize) -> Result<(), AllocError> {
    let bytes = ((layers.len() + more) * size_of::<F>()) as u64;
    layers.try_reserve(more).map_err(|_| AllocError { bytes })
}

impl<F: OwnedLayer<Hasher: Clone>> Insert for ScalableBloomFilter<F> {
    type Error = InsertError;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.insert_hash(hash)
    }
}

impl<F: OwnedLayer<Hasher: Clone>> Merge for ScalableBloomFilter<F> {
    type Error = MergeError;

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge(other).map(drop)
    }
}

/// Filters are equal if parameters, hasher and layers are equal. Equal inserts make equal filters.
impl<F: Layer + PartialEq> PartialEq for ScalableBloomFilter<F> {
    fn eq(&self, other: &Self) -> bool {
        (self.params, self.merged, self.room) == (other.params, other.merged, other.room)
            && self.indices == other.indices
            && self.layers == other.layers
    }
}

impl<F: Layer + PartialEq> Eq for ScalableBloomFilter<F> {}

/// Returns the least number that none of these is.
// Bytes of strangers may have a hundred thousand layers of a word each. To look for each number among all would take a time that is
// quadratic in their length. A table of all would need memory.
fn least_absent(numbers: &[u32]) -> u32 {
    /// Numbers of a scan.
    const BLOCK: u32 = 1 << 15;
    let absent_from = |first: u32| {
        let mut present = [0u64; BLOCK as usize / 64];
        for place in numbers.iter().filter_map(|number| number.checked_sub(first)) {
            if let Some(word) = present.get_mut(place as usize / 64) {
                *word |= 1 << (place % 64);
            }
        }
        let (place, word) = (0..).zip(present).find(|&(_, word)| word != u64::MAX)?;
        Some(first + 64 * place + word.trailing_ones())
    };
    let mut blocks = (0..=u32::MAX).step_by(BLOCK as usize);
    blocks.find_map(absent_from).expect("fewer than 2^32 numbers")
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use alloc::vec;
    use pds_params::{BloomParams, Schedule};
    use pds_testkit::ThreadTime;

    /// A filter that is full at one key, and whose next layer is for `items`.
    fn full(items: u64) -> ScalableBloomFilter {
        let params = ScalableParams::new(items / 2, 0.999, 2, Schedule::DEFAULT).unwrap();
        let layer = BloomParams::for_double_hashing(1, 0.01).unwrap();
        let layer = BloomFilter::from_params(layer, DefaultHashBuilder::default()).unwrap();
        let mut filter = ScalableBloomFilter {
            layers: vec![layer],
            params,
            indices: vec![0],
            merged: 0,
            room: 1,
        };
        assert_eq!(filter.insert(&1), Ok(true));
        filter
    }

    #[test]
    fn a_layer_that_cannot_be_had_is_an_error_and_changes_nothing() {
        let refused = full(1 << 50).insert(&2).unwrap_err();
        assert!(matches!(refused, InsertError::Alloc(_)), "{refused}");
        for items in [1 << 50, 1 << 62] {
            let mut filter = full(items);
            let before = filter.clone();
            let is_full = matches!(filter.insert(&2), Err(InsertError::Full { .. }));
            assert_eq!(is_full, items == 1 << 62);
            assert!(filter.insert_batch(&[1, 2, 1]).is_err());
            assert!(filter == before && !filter.contains(&2));
            assert_eq!(filter.insert_batch(&[1, 1]), Ok(0));
        }
    }

    #[test]
    fn the_next_index_is_the_least_that_no_layer_has() {
        for (indices, next) in
            [(&[0][..], 1), (&[1, 2], 0), (&[3, 0, 0, 1, u32::MAX], 2), (&[2, 1, 0], 3)]
        {
            assert_eq!(least_absent(indices), next, "{indices:?}");
        }
        for count in [63, 64, 65, 32_767, 32_768, 32_769, 70_000] {
            let mut indices: Vec<u32> = (0..count).rev().collect();
            assert_eq!(least_absent(&indices), count);
            for absent in [0, 62, count / 2, count - 1] {
                let place = indices.iter().position(|&index| index == absent).unwrap();
                indices[place] = u32::MAX;
                assert_eq!(least_absent(&indices), absent, "{count}");
                indices[place] = absent;
            }
        }
    }

    /// As many layers as 60 MB can have. To look for each number among all would take 4 * 10^10 steps.
    #[test]
    fn the_next_index_is_found_in_linear_time() {
        let indices: Vec<u32> = (0..300_000).rev().collect();
        let start = ThreadTime::now();
        assert_eq!(least_absent(&indices), 300_000);
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}
