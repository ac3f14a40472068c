//! The exact filter: construction, and the answers of its two stages.

mod builder;
mod portable;
mod reading;
mod view;

use core::hash::Hash;

use pds_core::error::AllocError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::StoredWord;
use pds_core::storage::Words;
use pds_params::ribbon::exact_bound;

pub use builder::ExactFilterBuilder;
pub use view::ExactFilterView;

use crate::ConstructionError;
use crate::system::System;

/// A filter that makes no error on a known universe: it contains all keys of one set and none of another.
///
/// Use it if every key that will ever be asked for is known: the certificates that were issued, the packages of a registry,
/// the users of a service. For keys outside of both sets the answer is arbitrary, and mostly `false`.
///
/// It is a [`RibbonFilter`](crate::RibbonFilter) of the keys to include and, behind it, one bit for each key that passes it:
/// the keys to include and a few of the others.
///
/// If there are at least as many keys to exclude as to include, the size is at most 17 % above the
/// [least possible one](Self::least_bits) from 3,000 keys to include on, and at most 13 % from 100,000 on. Fewer keys to exclude
/// cost one bit per key of both sets. That is 1.4 times the least possible size if they are a quarter of the others, and 13 times
/// if they are a hundredth. Build the filter that includes *them* then, and negate its answers.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | contents | methods |
/// |---|---|---|
/// | `ExactFilter` | in [`Words`] of its own | all |
/// | [`ExactFilterView<B>`](crate::ExactFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - Keys to include are contained, keys to exclude are not. Always.
/// - Two keys of both sets have one 64-bit hash with a probability of n m / 2^64. Construction then fails: choose another
///   seed.
/// - Bytes: equal sets and hashers give equal bytes. Order, duplicates and threads do not matter.
/// - Memory: n (r + 1) + m / 2^r bits to include n keys and exclude m, where 2^r is between m / 2n and m / n, and 0.4 % more
///   for large sets.
/// - Time: a lookup reads what two lookups in ribbon filters read, and the second only if the first says `true`.
///
/// # Examples
/// ```
/// use fuse::ExactFilter;
///
/// let (revoked, valid) = (0..1_000u32, 1_000..100_000u32);
/// let filter = ExactFilter::new(revoked.clone(), valid.clone())?;
/// assert!(revoked.clone().all(|serial| filter.contains(&serial)));
/// assert!(!valid.clone().any(|serial| filter.contains(&serial)));
/// assert!(filter.bits_per_key() < 9.0);
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
///
/// # References
/// John M. Schanck, "Clubcards for the WebPKI: smaller certificate revocation tests in theory and practice", Cryptology
/// ePrint Archive, Paper 2025/610, 2025.
#[derive(Clone)]
pub struct ExactFilter<S = DefaultHashBuilder, W = Words> {
    /// Those of the first stage, then those of the second.
    words: W,
    stages: Stages,
    /// From keys to hashes.
    hasher: S,
}

/// Both stages, without the words that hold them.
#[derive(Clone, Copy, Debug)]
struct Stages {
    /// Fingerprints of the keys to include. It has no column if nearly all keys are to be included.
    first: System,
    /// Number of words of the first stage.
    split: usize,
    /// For each key that passes the first stage, whether it is to be included.
    second: System,
}

impl Stages {
    #[inline(always)]
    fn has<V: StoredWord>(&self, words: &[V], hash: u64) -> bool {
        let (of_first, of_second) = words.split_at(self.split);
        self.passes(of_first, hash)
            && self.second.bits(of_second, hash).is_some_and(|bits| bits & 1 == 1)
    }

    /// Returns whether a key passes the first stage.
    #[inline(always)]
    fn passes<V: StoredWord>(&self, of_first: &[V], hash: u64) -> bool {
        passes(&self.first, of_first, hash)
    }
}

/// Returns whether a key passes a first stage.
#[inline(always)]
fn passes<V: StoredWord>(first: &System, words: &[V], hash: u64) -> bool {
    first.params().columns.most() == 0 || first.has(words, hash)
}

// Functions that are called by path (`ExactFilter::new`) exist for one storage only: the compiler could not tell two
// of the same name apart (E0034).
impl ExactFilter {
    /// Builds the filter that contains `include` and does not contain `exclude`.
    ///
    /// # Errors
    /// [`ConstructionError::InBoth`] if a key is in both sets. [`ConstructionError::Alloc`] if the allocator refuses the
    /// memory.
    ///
    /// # Examples
    /// ```
    /// use fuse::{ConstructionError, ExactFilter};
    ///
    /// let filter = ExactFilter::new(["mallory"], ["alice", "bob"])?;
    /// assert!(filter.contains("mallory") && !filter.contains("alice"));
    /// let error = ExactFilter::new(["mallory"], ["alice", "mallory"]).unwrap_err();
    /// assert!(matches!(error, ConstructionError::InBoth { .. }));
    /// # Ok::<(), ConstructionError>(())
    /// ```
    pub fn new<K: Hash>(
        include: impl IntoIterator<Item = K>,
        exclude: impl IntoIterator<Item = K>,
    ) -> Result<Self, ConstructionError> {
        Self::builder().build(include, exclude)
    }

    /// Returns the least size in bits of any structure that tells `include` keys from `exclude` others: the logarithm to base 2
    /// of the number of ways to choose them.
    ///
    /// # Examples
    /// ```
    /// use fuse::ExactFilter;
    ///
    /// let filter = ExactFilter::new(0..5_000u32, 5_000..300_000)?;
    /// let over = filter.size_in_bytes() as f64 * 8.0 / ExactFilter::least_bits(5_000, 295_000);
    /// assert!((1.0..1.12).contains(&over));
    /// # Ok::<(), fuse::ConstructionError>(())
    /// ```
    #[must_use]
    pub fn least_bits(include: u64, exclude: u64) -> f64 {
        exact_bound(include, exclude)
    }

    /// Starts a builder: for a seed, another hasher, threads, or progress.
    pub const fn builder<'a>() -> ExactFilterBuilder<'a> {
        ExactFilterBuilder::new()
    }
}

impl<S> ExactFilter<S> {
    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (stages, hasher) = (self.stages, self.hasher.clone());
        Ok(Self { words: self.words.try_clone()?, stages, hasher })
    }
}

impl<S: KeyHasher> PartialEq for ExactFilter<S> {
    fn eq(&self, other: &Self) -> bool {
        let same_hasher = pds_core::error::Incompatible::check_hasher(&self.hasher, &other.hasher);
        let params =
            |filter: &Self| (*filter.stages.first.params(), *filter.stages.second.params());
        same_hasher.is_ok() && params(self) == params(other) && self.words == other.words
    }
}

impl<S: KeyHasher> Eq for ExactFilter<S> {}
