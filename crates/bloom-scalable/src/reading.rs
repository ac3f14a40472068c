//! The methods of growing filters that only read, for layers in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use bloom_core::Health;
use pds_core::error::ParamError;
use pds_core::hash::KeyHasher;
use pds_core::internal::{answer_keys, check_lengths};
use pds_core::traits::Membership;
use pds_params::scalable::compound_rate;
use pds_params::{Estimate, LayerDesign, ScalableParams};

use crate::ScalableBloomFilter;
use crate::layer::{Layer, hash_in};

/// Number of keys of a batch that go through the layers together.
// As many as a batch of a layer prefetches together.
pub(crate) const BATCH: usize = 128;

/// Number of standard deviations by which the rate of a healthy filter may exceed its promise.
const TOLERATED_DEVIATIONS: f64 = 3.0;

impl<F: Layer> ScalableBloomFilter<F> {
    /// Returns the hasher.
    #[must_use]
    pub fn hasher(&self) -> &F::Hasher {
        self.newest().layer_hasher()
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> ScalableParams {
        self.params
    }

    /// Returns the layers: those of merged filters, then its own from the oldest to the newest.
    #[must_use]
    pub fn layers(&self) -> &[F] {
        &self.layers
    }

    /// Returns the number of layers, 1 at least.
    #[must_use]
    pub fn num_layers(&self) -> usize {
        self.layers.len()
    }

    /// Returns the number of items that its own layers are designed for. Layers of merged filters take no keys, and are not counted.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        let own = index_of(self.layers.len() - self.merged);
        total((0..own).filter_map(|place| self.params.layer(place).ok()))
    }

    /// Returns the number of further items that fit into the newest layer, before the next one is opened.
    #[must_use]
    pub const fn room(&self) -> u64 {
        self.room
    }

    /// Computes the design of the layer that is opened when the newest one is full.
    ///
    /// # Errors
    /// [`ParamError`] if there can be no such layer.
    pub fn next_layer(&self) -> Result<LayerDesign, ParamError> {
        self.params.layer(index_of(self.layers.len() - self.merged))
    }

    /// Returns the false-positive rate that is promised at every moment from now on, whatever is inserted.
    ///
    /// It is that of the design, compounded with the rates of the layers of merged filters.
    #[must_use]
    pub fn promised_rate(&self) -> f64 {
        let rate = |layer: &F| layer.design().map_or(1.0, |design| design.rate);
        if self.merged == 0 {
            return self.params.promised_rate();
        }
        let merged = self.layers[..self.merged].iter().map(rate);
        compound_rate(merged.chain([self.params.promised_rate()]))
    }

    /// Returns the size of all layers in bytes, a multiple of 8.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.layers.iter().map(Layer::bytes).sum()
    }

    /// Tests by its [hash](KeyHasher#hashes-of-your-own) whether a key may be in the set. `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.stack().contain(hash)
    }

    /// Tests many [hashes](KeyHasher#hashes-of-your-own): `out[i]` is the answer for `hashes[i]`.
    ///
    /// This is faster than single calls if the layers exceed the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        for (hashes, out) in hashes.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            self.stack().contain_each(hashes, out);
        }
    }

    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// O(k) for k hash functions per layer, without allocation. Layers are asked from the newest to the oldest, until one
    /// contains the key.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher().hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// This is faster than single calls if the layers exceed the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        answer_keys::<BATCH, K, bool>(self.hasher(), keys, out, |hashes, out| {
            self.stack().contain_each(hashes, out);
        });
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// It is 1 - prod(1 - p_i) over the rates of the layers. If merged filters have keys in common, it is an upper bound. It takes
    /// for granted that the keys of one merged filter were not chosen by the answers of the other.
    ///
    /// # Complexity
    /// O(size).
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        compound_rate(self.layers.iter().map(Layer::rate))
    }

    /// Estimates the number of distinct items, with its standard error.
    ///
    /// Keys that an older layer answered `true` falsely when they were inserted are in no layer, and are not counted. Keys that the
    /// newest layer answered so are counted. Keys that merged filters have in common count once per filter.
    ///
    /// # Complexity
    /// O(size).
    #[must_use]
    pub fn approx_len(&self) -> Estimate {
        let (value, variance) =
            self.layers.iter().map(Layer::items).fold((0.0, 0.0), |sum, items| {
                let error = items.standard_error;
                (sum.0 + items.value, sum.1 + error * error)
            });
        Estimate { value, standard_error: libm::sqrt(variance) }
    }

    /// Compares the estimated items with those that the layers are designed for, and the current rate with the promised one.
    ///
    /// A filter that is filled by its own methods stays healthy, however many items there are.
    ///
    /// # Complexity
    /// O(size).
    #[must_use]
    pub fn health(&self) -> Health {
        let promised = self.promised_rate();
        let limit = highest_healthy(&self.layers, promised);
        let merged = total(self.layers[..self.merged].iter().filter_map(Layer::design));
        let design = (Some(self.capacity().saturating_add(merged)), Some(promised));
        Health::judge(self.approx_len(), self.false_positive_rate(), design, limit)
    }

    pub(crate) fn newest(&self) -> &F {
        self.layers.last().expect("one layer at least")
    }

    #[inline]
    pub(crate) fn stack(&self) -> Stack<'_, F> {
        Stack { layers: &self.layers, indices: &self.indices }
    }
}

/// Returns the highest compound rate of layers that hold what they were designed for.
pub(crate) fn highest_healthy<F: Layer>(layers: &[F], promised: f64) -> f64 {
    let variance: f64 = layers.iter().map(Layer::rate_deviation).map(|x| x * x).sum();
    promised + TOLERATED_DEVIATIONS * libm::sqrt(variance)
}

/// Returns the number of items that layers are designed for.
fn total(designs: impl Iterator<Item = LayerDesign>) -> u64 {
    designs.map(|design| design.items).fold(0, u64::saturating_add)
}

/// Returns the place of a layer in its schedule. No schedule has so many layers that it saturates.
#[inline]
pub(crate) fn index_of(own: usize) -> u32 {
    u32::try_from(own).unwrap_or(u32::MAX)
}

/// Layers, each with the index by which it mixes hashes.
pub(crate) struct Stack<'a, F> {
    pub(crate) layers: &'a [F],
    pub(crate) indices: &'a [u32],
}

impl<'a, F: Layer> Stack<'a, F> {
    #[inline]
    pub(crate) fn newest_first(
        &self,
    ) -> impl DoubleEndedIterator<Item = (u32, &'a F)> + use<'a, F> {
        self.indices.iter().copied().zip(self.layers).rev()
    }

    /// Returns whether one of the layers contains a key.
    #[inline]
    pub(crate) fn contain(&self, hash: u64) -> bool {
        self.newest_first().any(|(index, layer)| layer.contains_hash(hash_in(index, hash)))
    }

    /// Moves the hashes of keys that no layer contains to the front, in order. Returns how many there are. At most [`BATCH`] hashes.
    pub(crate) fn keep_absent(&self, hashes: &mut [u64]) -> usize {
        let (mut left, mut answers) = (hashes.len(), [false; BATCH]);
        for (index, layer) in self.newest_first() {
            answer_in(index, layer, &hashes[..left], &mut answers[..left]);
            let mut kept = 0;
            for i in 0..left {
                hashes[kept] = hashes[i];
                kept += usize::from(!answers[i]);
            }
            left = kept;
        }
        left
    }

    /// Tests at most [`BATCH`] keys by their hashes.
    fn contain_each(&self, hashes: &[u64], out: &mut [bool]) {
        let (mut left, mut places, mut answers) = ([0; BATCH], [0; BATCH], [false; BATCH]);
        left[..hashes.len()].copy_from_slice(hashes);
        places.iter_mut().enumerate().for_each(|(index, place)| *place = index);
        let mut count = hashes.len();
        out.fill(false);
        for (index, layer) in self.newest_first() {
            answer_in(index, layer, &left[..count], &mut answers[..count]);
            let mut kept = 0;
            for i in 0..count {
                out[places[i]] = answers[i];
                (left[kept], places[kept]) = (left[i], places[i]);
                kept += usize::from(!answers[i]);
            }
            count = kept;
        }
    }
}

/// Tests at most [`BATCH`] keys in the layer with this index.
fn answer_in(index: u32, layer: &impl Layer, hashes: &[u64], answers: &mut [bool]) {
    let mut mixed = [0; BATCH];
    for (mixed, &hash) in mixed.iter_mut().zip(hashes) {
        *mixed = hash_in(index, hash);
    }
    layer.contains_hash_batch(&mixed[..hashes.len()], answers);
}

impl<F: Layer> KeyHasher for ScalableBloomFilter<F> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher().hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher().hash_key_dyn(feed)
    }
}

impl<F: Layer> Membership for ScalableBloomFilter<F> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<F: Layer> fmt::Debug for ScalableBloomFilter<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableBloomFilter")
            .field("num_layers", &self.num_layers())
            .field("room", &self.room())
            .field("size_in_bytes", &self.size_in_bytes())
            .finish_non_exhaustive()
    }
}
