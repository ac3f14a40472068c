//! What structures of one kind have in common, for code that is generic over them.
//!
//! The methods on hashes are required and object-safe; those on keys are provided, and need a sized
//! type. A trait object has methods of its own for keys: `contains_key`, `insert_key`, `remove_key`,
//! `estimate_key`. Reading and changing are apart, so that read-only views implement the reading half.
//!
//! Every structure is a [`KeyHasher`]: `hash_key` makes the hash that its `_hash` methods take.

use core::error::Error;
use core::hash::Hash;

use crate::KeyHasher;

/// Answers *have I seen this?*
pub trait Membership: KeyHasher {
    /// Tests whether a key with this hash is possibly contained; `false` is certain.
    /// The hash is one that this structure's [`hash_key`](crate::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](crate::hash::finalize) makes those of any other hash.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    /// Each hash is one that this structure's [`hash_key`](crate::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](crate::hash::finalize) makes those of any other hash.
    ///
    /// # Panics
    /// When the slices differ in length.
    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        assert_eq!(hashes.len(), out.len(), "one answer a hash");
        for (answer, &hash) in out.iter_mut().zip(hashes) {
            *answer = self.contains_hash(hash);
        }
    }

    /// Tests whether `key` is possibly contained; `false` is certain.
    fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool
    where
        Self: Sized,
    {
        self.contains_hash(self.hash_key(key))
    }
}

impl dyn Membership + '_ {
    /// Tests whether `key` is possibly contained; `false` is certain. As [`contains`](Membership::contains), for
    /// trait objects.
    ///
    /// A `&(dyn Membership + Send + Sync)` coerces to `&dyn Membership`.
    ///
    /// # Examples
    /// ```
    /// use pds_core::Membership;
    ///
    /// fn in_all(filters: &[Box<dyn Membership>], key: &str) -> bool {
    ///     filters.iter().all(|filter| filter.contains_key(key))
    /// }
    /// ```
    #[must_use]
    pub fn contains_key<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(hash_dyn(self, key))
    }
}

/// Takes keys in.
pub trait Insert: KeyHasher {
    /// Why a key cannot be taken; [`Infallible`](core::convert::Infallible) where it always can.
    type Error: Error;

    /// Inserts a key by its hash. Returns `true` when it was not contained before; a structure that threads share may
    /// return it to several that insert the same key at the same time.
    ///
    /// The hash is one that this structure's [`hash_key`](crate::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](crate::hash::finalize) makes those of any other hash.
    ///
    /// # Errors
    /// As the structure says; nothing is changed then.
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Self::Error>;

    /// Inserts `key`. Returns `true` when it was not contained before.
    ///
    /// # Errors
    /// As the structure says; nothing is changed then.
    fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, Self::Error>
    where
        Self: Sized,
    {
        self.insert_hash(self.hash_key(key))
    }
}

impl<E: Error> dyn Insert<Error = E> + '_ {
    /// Inserts `key`. Returns `true` when it was not contained before. As [`insert`](Insert::insert), for trait
    /// objects.
    ///
    /// # Errors
    /// As the structure says; nothing is changed then.
    pub fn insert_key<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, E> {
        self.insert_hash(hash_dyn(self, key))
    }
}

/// Forgets keys that were inserted.
pub trait Remove: KeyHasher {
    /// Removes one copy of a key by its hash. Returns `false`, and changes nothing, when the
    /// structure can tell that the key is absent.
    /// The hash is one that this structure's [`hash_key`](crate::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](crate::hash::finalize) makes those of any other hash.
    fn remove_hash(&mut self, hash: u64) -> bool;

    /// Removes one copy of `key`. Returns `false`, and changes nothing, when the structure can tell
    /// that the key is absent.
    fn remove<K: Hash + ?Sized>(&mut self, key: &K) -> bool
    where
        Self: Sized,
    {
        self.remove_hash(self.hash_key(key))
    }
}

impl dyn Remove + '_ {
    /// Removes one copy of `key`. Returns `false`, and changes nothing, when the structure can tell that the key is
    /// absent. As [`remove`](Remove::remove), for trait objects.
    pub fn remove_key<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(hash_dyn(self, key))
    }
}

/// Takes in what another structure of the same shape holds.
pub trait Merge: Sized {
    /// Why two structures cannot be merged: [`Incompatible`](crate::Incompatible), and whatever else the structure
    /// can run into.
    type Error: Error;

    /// Makes `self` hold what both hold.
    ///
    /// # Errors
    /// As the structure says; nothing is changed then.
    fn merge(&mut self, other: &Self) -> Result<(), Self::Error>;
}

/// Answers *how often?*
pub trait Frequency: KeyHasher {
    /// Estimates how often the key with this hash was inserted.
    /// The hash is one that this structure's [`hash_key`](crate::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](crate::hash::finalize) makes those of any other hash.
    fn estimate_hash(&self, hash: u64) -> u64;

    /// Estimates how often `key` was inserted.
    fn estimate<K: Hash + ?Sized>(&self, key: &K) -> u64
    where
        Self: Sized,
    {
        self.estimate_hash(self.hash_key(key))
    }
}

impl dyn Frequency + '_ {
    /// Estimates how often `key` was inserted. As [`estimate`](Frequency::estimate), for trait objects.
    #[must_use]
    pub fn estimate_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_hash(hash_dyn(self, key))
    }
}

/// Answers *how many different ones?*
pub trait Cardinality: KeyHasher {
    /// Estimates the number of distinct keys inserted.
    fn estimate(&self) -> f64;
}

/// The hash of `key` by a trait object.
fn hash_dyn<T: KeyHasher + ?Sized, K: Hash + ?Sized>(hasher: &T, key: &K) -> u64 {
    hasher.hash_key_dyn(&mut |mut state| key.hash(&mut state))
}
