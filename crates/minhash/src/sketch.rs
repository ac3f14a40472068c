//! The sketch: construction, and the methods that change it.

use core::convert::Infallible;
use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::hash_chunk;
use pds_core::storage::Words;
use pds_core::traits::{Insert, Merge};
use pds_params::MinHashParams;

use crate::MinHashBuilder;
use crate::minima::{EMPTY, Limit, insert, insert_by_rounds};

/// Number of keys that are hashed before they are inserted together.
const BATCH: usize = 256;

/// A sketch of a set. Two sketches tell how alike their sets are: the share of the union that is in both, the Jaccard index.
///
/// Use it for documents, users, or neighbours of nodes: sets that are compared with many others, or too large to keep. To find
/// the similar ones among many, put the sketches into an [`LshIndex`](crate::LshIndex). To keep many of them, take their
/// [`signature`](Self::signature), which has 1 to 32 bits per value instead of 64.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](crate::storage), which decides which methods a sketch has:
///
/// | type | values | methods |
/// |---|---|---|
/// | `MinHash` | in memory of its own | all |
/// | [`MinHashView<B>`](crate::MinHashView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// With K values:
/// - Error of [`jaccard`](Self::jaccard): unbiased, with a standard error of at most sqrt(J (1 - J) / K) for sets of any size. It
///   is 0.71 of that for up to K / 2 keys in the union, and 0.73 for K keys
///   ([`error_in_units`](pds_params::minhash::error_in_units)).
/// - Memory: 8 K bytes.
/// - Insert: O(1) once some thousand keys are in, for K = 128. The first key takes O(K), and so does each repetition while there
///   are few keys. A batch of n hashes takes O(n + K log K), and one of n keys, which are hashed 256 at a time,
///   O(n + K log K log n). Keys that somebody chose by their hashes can keep every insert at O(K): use
///   [`SipHashBuilder::random`](crate::hash::SipHashBuilder::random) then.
/// - The state is a function of the set of keys. Order, repetition, batches and the way of merging do not change it.
/// - Merging: exact. The numbers of values and the hashers must be equal.
/// - An empty set is similar to none: its Jaccard index with every set is 0, also with another empty set. The index of two
///   equal sets that are not empty is 1.
///
/// # Examples
/// ```
/// use minhash::MinHash;
///
/// let (mut left, mut right) = (MinHash::new(128)?, MinHash::new(128)?);
/// left.insert_batch(&"the quick brown fox jumps over the lazy dog".split(' ').collect::<Vec<_>>());
/// right.insert_batch(&"the quick brown cat jumps over the lazy dog".split(' ').collect::<Vec<_>>());
///
/// // 7 of 9 words are in both.
/// let jaccard = left.jaccard(&right)?;
/// assert!((jaccard.value - 7.0 / 9.0).abs() < 4.0 * jaccard.standard_error);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Søren Dahlgaard, Mathias Bæk Tejs Langhede, Jakob Bæk Tejs Houen and Mikkel Thorup, "Fast Similarity Sketching",
/// 2017, revised 2024, arXiv:1704.04370, section 2; Andrei Z. Broder, "On the Resemblance and Containment of Documents",
/// SEQUENCES 1997.
#[derive(Clone)]
pub struct MinHash<S = DefaultHashBuilder, W = Words> {
    /// One minimum per bin: all empty, or none.
    pub(crate) minima: W,
    pub(crate) params: MinHashParams,
    /// Follows from the minima.
    pub(crate) limit: Limit,
    pub(crate) hasher: S,
}

// Functions that are called by path (`MinHash::new`) exist for one storage only: the compiler could not tell two of the same
// name apart (E0034).
impl MinHash {
    /// Creates an empty sketch of `num_values` values, a power of two from 16 to 4,096.
    ///
    /// 128 is a good choice: an error of at most 0.044, and 1 KiB.
    ///
    /// # Errors
    /// [`BuildError::Param`] if the number is not allowed. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn new(num_values: u32) -> Result<Self, BuildError> {
        Self::builder().num_values(num_values).build()
    }

    /// Starts a builder: for an error instead of the number of values, a seed, or another hasher.
    pub const fn builder() -> MinHashBuilder {
        MinHashBuilder::new()
    }
}

impl<S: KeyHasher> MinHash<S> {
    /// Creates an empty sketch.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: MinHashParams, hasher: S) -> Result<Self, AllocError> {
        let mut minima = Words::zeroed(params.num_values().into())?;
        minima.fill(EMPTY);
        Ok(Self { minima, params, limit: Limit::of_empty(params.num_values()), hasher })
    }

    /// Puts a sketch together from its parts.
    pub(crate) fn of_minima(minima: Words, params: MinHashParams, hasher: S) -> Self {
        let limit = Limit::of(&minima);
        Self { minima, params, limit, hasher }
    }

    /// Copies the sketch. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (params, limit, hasher) = (self.params, self.limit, self.hasher.clone());
        Ok(Self { minima: self.minima.try_clone()?, params, limit, hasher })
    }

    /// Inserts a key by its [hash](KeyHasher#hashes-of-your-own). Returns `true` if the state changed.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        insert(&mut self.minima, &mut self.limit, hash)
    }

    /// Inserts many [hashes](KeyHasher#hashes-of-your-own). Returns `true` if the state changed.
    ///
    /// The state is that of single inserts. For some tens or hundreds of keys this is several times faster, because the
    /// hashes are inserted round by round, until no round can change anything.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> bool {
        insert_by_rounds(&mut self.minima, &mut self.limit, hashes)
    }

    /// Inserts `key`. Returns `true` if the state changed: the key was not inserted before.
    ///
    /// `false` means that the key was inserted before, or that no minimum is lower with it.
    ///
    /// # Complexity
    /// One step per round that can still change something: 2 K for the first key, about K ln K / n for n keys, and at least
    /// one. No allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns `true` if the state changed.
    ///
    /// The state is that of single inserts. For some tens or hundreds of keys this is several times faster.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> bool {
        let mut changed = false;
        for keys in keys.chunks(BATCH) {
            let hashes = hash_chunk::<BATCH, K>(&self.hasher, keys);
            changed |= self.insert_hash_batch(&hashes[..keys.len()]);
        }
        changed
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.minima.fill(EMPTY);
        self.limit = Limit::of_empty(self.num_values());
    }

    /// Inserts all keys of `other`.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of values or the hashers differ. `self` is unchanged then.
    ///
    /// # Complexity
    /// O(K).
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        for (minimum, &others) in self.minima.iter_mut().zip(other.minima.iter()) {
            *minimum = others.min(*minimum);
        }
        self.limit = Limit::of(&self.minima);
        Ok(())
    }
}

impl<S: KeyHasher> Insert for MinHash<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }
}

impl<S: KeyHasher> Merge for MinHash<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher> Extend<K> for MinHash<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Sketches are equal if number of values, hasher and values are equal. Equal sets have equal sketches.
impl<S: KeyHasher> PartialEq for MinHash<S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.minima == other.minima
    }
}

impl<S: KeyHasher> Eq for MinHash<S> {}
