//! The layered filter, which counts how often a key was seen.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

use bloom_core::{BloomFilter, Health};
use pds_core::error::{AllocError, BuildError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::traits::Frequency;
use pds_params::LayeredParams;
use pds_params::scalable::compound_rate;

use crate::filter::reserve;
use crate::layer::{Layer, OwnedLayer, hash_in};
use crate::reading::{highest_healthy, index_of};

/// A filter that counts how often each key was seen, up to its number of layers.
///
/// Layer c holds the keys that were seen at least c times. An insert goes to the first layer that does not hold the key. The count
/// of a key is the number of layers that hold it, from the first on without a gap.
///
/// Use it for small counts of which most are 1: *count only what was seen twice*, *cache what comes for the second time*,
/// *list what came three times*. Its memory follows the multiplicities: the sum over c of the keys that are seen at least c times. Above
/// some five layers, or if most keys are seen often, a counting quotient filter or a count-min sketch needs less.
///
/// `F` is the filter of each layer, a [`BloomFilter`] or a [`BlockedBloomFilter`](bloom_blocked::BlockedBloomFilter).
/// [`LayeredBloomFilterView`](crate::LayeredBloomFilterView) answers from portable bytes.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - A count is never too low, up to the number of layers, where it stays.
/// - A count is too high with a probability of at most the promised rate, as long as the keys are those of the design. This
///   includes inserts that go one layer too far, because a layer answered `true` falsely.
/// - Memory at 1 %: 11.0 bits per key in each of two layers if all keys are seen twice, and 11.4 bits per distinct key in both
///   together if one in ten is. One filter alone needs 9.6. Layers need more, because they share the promised rate.
/// - Time: an insert or a count of a key that was seen c times asks c + 1 layers.
/// - No removal. A bit of a Bloom layer belongs to many keys. Layers of counters would not help: a key that a layer answers falsely
///   would be removed from a layer that does not hold it, and then other keys would be counted too low. Filters that remove
///   and count are the counting quotient filter and the counting Bloom filter.
/// - No merging. The layers of two filters say that a key was seen c times here and d times there, but their union has the greater
///   of both counts, not the sum.
///
/// # Examples
/// ```
/// use bloom_scalable::{LayeredBloomFilter, Sighting};
///
/// // A million distinct keys, of which 100,000 come at least twice.
/// let mut seen = LayeredBloomFilter::new(&[1_000_000, 100_000], 0.01)?;
/// assert_eq!(seen.sight("GATTACA"), Sighting::New);
/// assert_eq!(seen.sight("GATTACA"), Sighting::Second);
/// assert_eq!(seen.sight("GATTACA"), Sighting::More);
/// assert_eq!((seen.count("GATTACA"), seen.count("TACTAGA")), (2, 0));
/// # Ok::<(), bloom_scalable::error::BuildError>(())
/// ```
#[derive(Clone)]
pub struct LayeredBloomFilter<F = BloomFilter> {
    /// Two at least.
    layers: Vec<F>,
    rate: f64,
}

/// How often a key was seen before, as [`LayeredBloomFilter::sight`] tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[doc(alias = "SecondTime")]
pub enum Sighting {
    /// Never: the key is certainly new.
    New,
    /// Once.
    Second,
    /// Twice or more.
    More,
}

impl LayeredBloomFilter {
    /// Creates a filter for `keys[c - 1]` distinct keys that are seen at least c times. The number of layers is that of the slice, from
    /// 2 to 16.
    ///
    /// A count is too high with a probability of at most `rate`. For another hasher or blocked layers use
    /// [`from_params`](Self::from_params).
    ///
    /// # Errors
    /// [`BuildError::Param`] if there are not 2 to 16 numbers, if one is 0 or greater than the one before it, if `rate` is not above 0
    /// and below 1, or if a layer needs more than 2^63 bits. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn new(keys: &[u64], rate: f64) -> Result<Self, BuildError> {
        Self::from_params(LayeredParams::new(keys, rate)?, DefaultHashBuilder::default())
    }
}

impl<F: OwnedLayer<Hasher: Clone>> LayeredBloomFilter<F> {
    /// Creates an empty filter with exactly these parameters.
    ///
    /// # Errors
    /// [`BuildError::Param`] if a layer cannot have its design. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn from_params(params: LayeredParams, hasher: F::Hasher) -> Result<Self, BuildError> {
        let mut layers = Vec::new();
        reserve(&mut layers, params.num_layers())?;
        for design in (0..).map_while(|index| params.layer(index)) {
            layers.push(F::build(design, hasher.clone())?);
        }
        Ok(Self { layers, rate: params.promised_rate() })
    }

    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        let mut layers = Vec::new();
        reserve(&mut layers, self.layers.len())?;
        for layer in &self.layers {
            layers.push(layer.copied()?);
        }
        Ok(Self { layers, rate: self.rate })
    }

    /// Inserts a key by its [hash](KeyHasher#hashes-of-your-own). Returns its count, as [`insert`](Self::insert) does.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> u32 {
        (self.insert_below(hash) + 1).min(self.num_layers())
    }

    /// Inserts a key by its [hash](KeyHasher#hashes-of-your-own). Returns how often it was seen before.
    #[inline]
    pub fn sight_hash(&mut self, hash: u64) -> Sighting {
        match self.insert_below(hash) {
            0 => Sighting::New,
            1 => Sighting::Second,
            _ => Sighting::More,
        }
    }

    /// Inserts `key`. Returns its count, this time included: at least the true one, up to the number of layers.
    ///
    /// # Complexity
    /// O(k) for k hash functions per layer that is asked, without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> u32 {
        self.insert_hash(self.hasher().hash_key(key))
    }

    /// Inserts `key`. Returns whether it was seen before: never, once, or more often.
    ///
    /// `New` is certain. `Second` and `More` may be one too high, at the promised rate.
    ///
    /// # Complexity
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn sight<K: Hash + ?Sized>(&mut self, key: &K) -> Sighting {
        self.sight_hash(self.hasher().hash_key(key))
    }

    /// Inserts many keys, in this order.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) {
        keys.iter().for_each(|key| _ = self.insert(key));
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.layers.iter_mut().for_each(OwnedLayer::empty);
    }

    /// Inserts a hash into the first layer that does not hold it. Returns the number of layers before that one.
    #[inline]
    fn insert_below(&mut self, hash: u64) -> u32 {
        let mut layers = (0..).zip(&mut self.layers);
        let taken =
            layers.find_map(|(index, layer)| layer.put(hash_in(index, hash)).then_some(index));
        taken.unwrap_or_else(|| self.num_layers())
    }
}

impl<F: Layer> LayeredBloomFilter<F> {
    pub(crate) fn from_layers(layers: Vec<F>, rate: f64) -> Self {
        Self { layers, rate }
    }

    /// Returns the hasher.
    #[must_use]
    pub fn hasher(&self) -> &F::Hasher {
        self.layers[0].layer_hasher()
    }

    /// Returns the layers. The one with index c holds the keys that were seen more than c times.
    ///
    /// Each takes another hash of a key, except the first. So ask [`count`](Self::count) rather than a layer.
    #[must_use]
    pub fn layers(&self) -> &[F] {
        &self.layers
    }

    /// Returns the number of layers, which is the greatest count.
    #[must_use]
    pub fn num_layers(&self) -> u32 {
        index_of(self.layers.len())
    }

    /// Returns the promised probability that a count is too high.
    #[must_use]
    pub const fn promised_rate(&self) -> f64 {
        self.rate
    }

    /// Returns the size of all layers in bytes, a multiple of 8.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.layers.iter().map(Layer::bytes).sum()
    }

    /// Returns the count of a key by its [hash](KeyHasher#hashes-of-your-own).
    #[inline]
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u32 {
        let holds = |(index, layer): &(u32, &F)| layer.contains_hash(hash_in(*index, hash));
        (0..).zip(&self.layers).take_while(holds).map(|_| 1).sum()
    }

    /// Returns how often a key was seen: at least the true number, up to the number of layers. 0 is certain.
    ///
    /// # Complexity
    /// O(k) for k hash functions per layer that is asked, without allocation.
    #[inline]
    #[must_use]
    pub fn count<K: Hash + ?Sized>(&self, key: &K) -> u32 {
        self.count_hash(self.hasher().hash_key(key))
    }

    /// Returns an upper bound of the probability, from 0 to 1, that a key that was seen `count` times is counted more often.
    ///
    /// Keys that are inserted now for the first time reach it. For keys that were inserted while there were fewer, the probability is lower.
    ///
    /// # Complexity
    /// O(size).
    #[must_use]
    pub fn rate_above(&self, count: u32) -> f64 {
        match self.layers.get(..=count as usize) {
            Some(layers) => compound_rate(layers.iter().map(Layer::rate)),
            None => 0.0,
        }
    }

    /// Compares the greatest probability that a count is too high now with the promised one.
    ///
    /// The report has this probability as its `false_positive_rate`, and the estimated number of distinct keys as its `items`. A filter
    /// stays healthy as long as the keys are those of the design. More distinct keys, or more keys that come often, end that.
    ///
    /// # Complexity
    /// O(size).
    #[must_use]
    pub fn health(&self) -> Health {
        let first = &self.layers[0];
        let design = (first.design().map(|design| design.items), Some(self.rate));
        let rate = self.rate_above(self.num_layers() - 1);
        Health::judge(first.items(), rate, design, highest_healthy(&self.layers, self.rate))
    }
}

impl<F: Layer> KeyHasher for LayeredBloomFilter<F> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher().hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher().hash_key_dyn(feed)
    }
}

impl<F: Layer> Frequency for LayeredBloomFilter<F> {
    #[inline]
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.count_hash(hash).into()
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, F: OwnedLayer<Hasher: Clone>> Extend<K> for LayeredBloomFilter<F> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Filters are equal if promised rate, hasher and layers are equal. Equal inserts make equal filters.
impl<F: Layer + PartialEq> PartialEq for LayeredBloomFilter<F> {
    fn eq(&self, other: &Self) -> bool {
        self.rate == other.rate && self.layers == other.layers
    }
}

impl<F: Layer + PartialEq> Eq for LayeredBloomFilter<F> {}

impl<F: Layer> fmt::Debug for LayeredBloomFilter<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayeredBloomFilter")
            .field("num_layers", &self.num_layers())
            .field("promised_rate", &self.promised_rate())
            .field("size_in_bytes", &self.size_in_bytes())
            .finish_non_exhaustive()
    }
}
