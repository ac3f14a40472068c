//! The retrieval map: construction.

mod builder;
mod portable;
mod reading;
mod view;

use core::hash::Hash;

use pds_core::error::AllocError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::Words;

pub use builder::RetrievalMapBuilder;
pub use view::RetrievalMapView;

use crate::ConstructionError;
use crate::system::System;

/// A static map from keys to small numbers, in little more than the bits of the values. It does not store the keys.
///
/// Each value has the same number of bits, from 1 to 64. In front of it stand check bits, from 0 to 32, which tell strangers
/// from keys: [`get`](Self::get) of an absent key is `None` except at the rate 2^-c for c check bits. Without check bits
/// the map is a pure retrieval structure: absent keys get arbitrary values.
///
/// Use it if all keys are known before the first query, and if a table of the keys themselves would be too large. Values
/// cannot change later.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a map has:
///
/// | type | contents | methods |
/// |---|---|---|
/// | `RetrievalMap` | in [`Words`] of its own | all |
/// | [`RetrievalMapView<B>`](crate::RetrievalMapView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - A key of the map has its value, always.
/// - An absent key has a value with probability 2^-c.
/// - Construction succeeds for every set of keys without contradictions.
/// - Bytes: equal maps, widths and hashers give equal bytes. Order, duplicates and threads do not matter.
/// - Memory: value and check bits of all keys, and as much more as in a [`RibbonFilter`](crate::RibbonFilter).
/// - Time: lookups read two adjacent groups of slots and one threshold. Construction is O(n log n).
///
/// # Examples
/// ```
/// use fuse::RetrievalMap;
///
/// let ports = RetrievalMap::new([("http", 80), ("https", 443), ("ssh", 22)], 16)?;
/// assert_eq!(ports.get("https"), Some(443));
/// assert_eq!(ports.get("gopher"), None);
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
///
/// # References
/// Bernard Chazelle, Joe Kilian, Ronitt Rubinfeld and Ayellet Tal, "The Bloomier Filter", SODA 2004, for the problem. Peter
/// C. Dillinger, Lorenz Hübschle-Schneider, Peter Sanders and Stefan Walzer, "Fast Succinct Retrieval and Approximate
/// Membership Using Ribbon", SEA 2022, for the solution.
#[derive(Clone)]
pub struct RetrievalMap<S = DefaultHashBuilder, W = Words> {
    /// The check bits of each key, and its value in the columns after them.
    words: W,
    system: System,
    value_bits: u32,
    /// From keys to hashes.
    hasher: S,
}

// Functions that are called by path (`RetrievalMap::new`) exist for one storage only: the compiler could not tell two
// of the same name apart (E0034).
impl RetrievalMap {
    /// Builds the map of these keys and values, with as many bits per value as the greatest one needs.
    ///
    /// # Errors
    /// [`ConstructionError::Param`] if there are more than 32 check bits, or more than 64 bits of value and check.
    /// [`ConstructionError::Contradiction`] if one key has two values. [`ConstructionError::Alloc`] if the allocator refuses
    /// the memory.
    ///
    /// # Examples
    /// ```
    /// use fuse::{ConstructionError, RetrievalMap};
    ///
    /// let squares = RetrievalMap::new((0..100u64).map(|key| (key, key * key)), 8)?;
    /// assert_eq!((squares.get(&9u64), squares.value_bits()), (Some(81), 14));
    /// let error = RetrievalMap::new([("a", 1), ("a", 2)], 8).unwrap_err();
    /// assert!(matches!(error, ConstructionError::Contradiction { values: [1, 2], .. }));
    /// # Ok::<(), ConstructionError>(())
    /// ```
    pub fn new<K: Hash>(
        entries: impl IntoIterator<Item = (K, u64)>,
        check_bits: u32,
    ) -> Result<Self, ConstructionError> {
        Self::builder().check_bits(check_bits).build(entries)
    }

    /// Starts a builder: for values of a fixed width, a seed, another hasher, threads, or progress.
    pub const fn builder<'a>() -> RetrievalMapBuilder<'a> {
        RetrievalMapBuilder::new()
    }
}

impl<S> RetrievalMap<S> {
    /// Copies the map. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let Self { ref words, system, value_bits, ref hasher } = *self;
        Ok(Self { words: words.try_clone()?, system, value_bits, hasher: hasher.clone() })
    }
}

impl<S: KeyHasher> PartialEq for RetrievalMap<S> {
    fn eq(&self, other: &Self) -> bool {
        let same_hasher = pds_core::error::Incompatible::check_hasher(&self.hasher, &other.hasher);
        let numbers = |map: &Self| (*map.system.params(), map.value_bits);
        same_hasher.is_ok() && numbers(self) == numbers(other) && self.words == other.words
    }
}

impl<S: KeyHasher> Eq for RetrievalMap<S> {}
