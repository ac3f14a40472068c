//! The counting Bloom filter.

use bloom_core::{BitArray, BloomFilter};
use pds_core::{AllocError, BuildError, DefaultHashBuilder, Incompatible, KeyHasher};
use pds_params::BloomParams;

use crate::counters::Counters;
use crate::methods::{BATCH, changing_methods, hashes};
use crate::positions::for_each_distinct;
use crate::{Bits4, Counter, CountingBloomFilterBuilder};

/// Answers *is this key in the set?* of sets that shrink, and roughly how often it is in; `false` is certain.
///
/// A Bloom filter whose bits are counters: four times the memory, or eight times with [`Bits8`](crate::Bits8).
/// A cuckoo filter of a thousand keys or more takes less than a third of it. Choose this one where a filter must
/// never be full, where filters are merged at any load, or where it is shipped as a Bloom filter
/// ([`to_bloom_filter`](Self::to_bloom_filter)); and the [blocked](crate::BlockedCountingBloomFilter) one where
/// speed counts most.
///
/// The type of a key is part of it: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - False negatives: never, provided that only keys are removed that were inserted, each at most as often.
///   A counter that reached its greatest value is never lowered.
/// - False positives: those of the Bloom filter with as many bits; the mean rate is at most the promised one
///   while at most the expected number of distinct items is in and no counter sticks.
/// - Memory: m/2 bytes for m counters of 4 bits; 38.4 bits an item at 1 %, 57.5 at 0.1 %.
/// - Insert, query, removal: O(k). Merging, counts: O(m).
/// - Merging: multisets add; requires equal counters, hashes and hasher seed.
///
/// # Examples
/// ```
/// use bloom_counting::CountingBloomFilter;
///
/// let mut sessions = CountingBloomFilter::new(10_000, 0.01)?;
/// assert!(sessions.insert("8c1f"), "not contained before");
/// assert!(sessions.remove("8c1f"));
/// assert!(!sessions.contains("8c1f"));
/// # Ok::<(), bloom_counting::BuildError>(())
/// ```
///
/// # References
/// Li Fan, Pei Cao, Jussara Almeida and Andrei Z. Broder, "Summary Cache: A Scalable Wide-Area Web Cache
/// Sharing Protocol", IEEE/ACM Transactions on Networking 8(3), 2000.
pub struct CountingBloomFilter<S = DefaultHashBuilder, C = Bits4> {
    /// As many counters as the parameters have bits.
    counters: Counters<C>,
    /// Shape and design.
    params: BloomParams,
    /// From keys to hashes.
    hasher: S,
}

impl CountingBloomFilter {
    /// Creates a filter of 4-bit counters that keeps a false-positive rate of `rate` up to `expected_items`
    /// distinct items.
    ///
    /// # Errors
    /// [`BuildError::Param`] when `expected_items` is 0, when `rate` is not above 0 and below 1, or when
    /// they ask for more than 2^63 counters; [`BuildError::Alloc`] when the memory is refused.
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder, for other things known than items and rate, wider counters, a seed, or another hasher.
    pub const fn builder() -> CountingBloomFilterBuilder {
        CountingBloomFilterBuilder::new()
    }
}

impl<S, C: Counter> CountingBloomFilter<S, C> {
    /// Creates an empty filter with a counter for each bit of these parameters.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn from_params(params: BloomParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { counters: Counters::zeroed(params.num_bits())?, params, hasher })
    }

    pub(crate) fn from_parts(counters: Counters<C>, params: BloomParams, hasher: S) -> Self {
        debug_assert_eq!(counters.len(), params.num_bits());
        Self { counters, params, hasher }
    }

    /// Inserts a key by its hash. Returns `true` when it was not contained before.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// Keys of equal hashes are one key to the filter.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let mut new = false;
        for_each_distinct(hash, self.num_hashes(), self.num_counters(), |position| {
            new |= self.counters.raise(position) == 0;
        });
        new
    }

    /// Removes one copy of a key by its hash; see [`remove`](Self::remove).
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        let contained = self.contains_hash(hash);
        if contained {
            for_each_distinct(hash, self.num_hashes(), self.num_counters(), |position| {
                self.counters.lower(position);
            });
        }
        contained
    }

    fn insert_each<K>(&mut self, keys: &[K], hash: impl Fn(&S, &K) -> u64) -> usize {
        let mut new = 0;
        for keys in keys.chunks(BATCH) {
            let hashes = hashes(keys, |key| hash(&self.hasher, key));
            let hashes = &hashes[..keys.len()];
            hashes.iter().for_each(|&hash| self.prefetch_hash(hash));
            new += hashes.iter().filter(|&&hash| self.insert_hash(hash)).count();
        }
        new
    }
}

impl<S: KeyHasher, C: Counter> CountingBloomFilter<S, C> {
    /// Adds the counters of `other`: a key that both hold is in as often as in both together.
    ///
    /// Counters saturate, and those that stick in either stick in the sum.
    ///
    /// # Errors
    /// [`Incompatible`] when counters, hashes or hashers differ; nothing is changed then.
    ///
    /// # Complexity
    /// O(m) for m counters, without allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_counting::CountingBloomFilter;
    ///
    /// let mut left = CountingBloomFilter::new(100, 0.001)?;
    /// let mut right = CountingBloomFilter::new(100, 0.001)?;
    /// left.insert("both");
    /// right.extend(["both", "right"]);
    /// left.merge(&right)?;
    /// assert_eq!((left.estimate("both"), left.estimate("right")), (2, 1));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.counters.add(&other.counters);
        Ok(())
    }

    fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        let hashes = |filter: &Self| u64::from(filter.num_hashes());
        let (left, right) = (self.num_counters(), other.num_counters());
        Incompatible::check_shape("number of counters", left, right)?;
        Incompatible::check_shape("number of hashes", hashes(self), hashes(other))?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }
}

impl<S: Clone, C: Counter> CountingBloomFilter<S, C> {
    /// Makes the Bloom filter with a bit for each counter, for shipping: the same answers in a quarter of the
    /// memory, or an eighth.
    ///
    /// It is the filter that the keys themselves would have built. There is no way back, and no removal.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    ///
    /// # Examples
    /// ```
    /// use bloom_counting::{BloomFilter, CountingBloomFilter};
    ///
    /// let mut counting = CountingBloomFilter::new(1_000, 0.01)?;
    /// let mut bloom = BloomFilter::new(1_000, 0.01)?;
    /// counting.extend(["a", "b", "b"]);
    /// counting.remove("a");
    /// bloom.extend(["b"]);
    /// assert_eq!(counting.to_bloom_filter()?, bloom);
    /// # Ok::<(), bloom_counting::BuildError>(())
    /// ```
    pub fn to_bloom_filter(&self) -> Result<BloomFilter<S>, AllocError>
    where
        S: KeyHasher,
    {
        let mut bits = BitArray::zeroed(self.num_counters())?;
        self.counters.raised().for_each(|position| {
            bits.set(position);
        });
        Ok(BloomFilter::from_bits(self.params, bits, self.hasher.clone())
            .unwrap_or_else(|_| unreachable!("a bit for each counter")))
    }
}

/// Gives what is read of a key's counters, and of the shape, to a filter that is owned or borrowed.
macro_rules! counting_methods {
    ([$($generics:tt)*] $filter:ty, $name:literal) => {
        $crate::methods::reading_methods!([$($generics)*] $filter);

        impl<$($generics)*> $filter {
            /// Tests whether a key with this hash is possibly contained; `false` is certain.
            /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            #[inline]
            #[must_use]
            pub fn contains_hash(&self, hash: u64) -> bool {
                self.positions(hash).all(|position| self.counters.get(position) != 0)
            }

            /// Estimates how often a key is in by its hash; see [`estimate`](Self::estimate).
            /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            #[must_use]
            pub fn estimate_hash(&self, hash: u64) -> u64 {
                self.positions(hash).map(|position| self.counters.get(position)).min().unwrap_or(0)
            }

            fn contains_each<K>(
                &self,
                keys: &[K],
                hash: impl Fn(&K) -> u64,
                answers: &mut [bool],
            ) {
                const BATCH: usize = $crate::methods::BATCH;
                for (keys, answers) in keys.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
                    let hashes = $crate::methods::hashes(keys, &hash);
                    let hashes = &hashes[..keys.len()];
                    hashes.iter().for_each(|&hash| self.prefetch_hash(hash));
                    for (answer, &hash) in answers.iter_mut().zip(hashes) {
                        *answer = self.contains_hash(hash);
                    }
                }
            }

            fn prefetch_hash(&self, hash: u64) {
                self.positions(hash).for_each(|position| self.counters.prefetch(position));
            }

            /// The positions of a hash, as many as there are hash functions; some may coincide.
            #[inline]
            fn positions(&self, hash: u64) -> impl Iterator<Item = u64> {
                $crate::positions::all(hash, self.num_hashes(), self.num_counters())
            }

            /// Returns the number of counters.
            #[must_use]
            pub fn num_counters(&self) -> u64 {
                self.params.num_bits()
            }

            /// Returns the number of positions a key.
            #[must_use]
            pub fn num_hashes(&self) -> u32 {
                self.params.num_hashes()
            }

            /// Returns the width of a counter in bits.
            #[must_use]
            pub const fn counter_bits(&self) -> u32 {
                C::BITS
            }

            /// Returns the parameters: those of the Bloom filter with a bit for each counter.
            #[must_use]
            pub const fn params(&self) -> ::pds_params::BloomParams {
                self.params
            }

            /// Returns the fraction of absent keys that are answered `true` now, in [0, 1]; in O(m).
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                ::pds_params::bloom::rate_from_fill(self.fill_ratio(), self.num_hashes())
            }

            /// Estimates the number of *distinct* items, with its standard error; in O(m).
            ///
            /// Both are infinite when every counter is raised. Counters that stick and whose keys are
            /// gone make it too high.
            #[must_use]
            pub fn approx_len(&self) -> ::pds_core::Estimate {
                let raised = self.counters.count_raised();
                ::pds_params::bloom::cardinality(self.num_counters(), self.num_hashes(), raised)
            }
        }

        impl<$($generics)*> ::core::fmt::Debug for $filter {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct($name)
                    .field("num_counters", &self.num_counters())
                    .field("counter_bits", &C::BITS)
                    .field("num_hashes", &self.num_hashes())
                    .field("fill_ratio", &self.fill_ratio())
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use counting_methods;

counting_methods!([S, C: Counter] CountingBloomFilter<S, C>, "CountingBloomFilter");
changing_methods!([S, C: Counter] CountingBloomFilter<S, C>);
