//! Traits of the structures, for generic code and for trait objects.
//!
//! The methods that take hashes are required and object-safe. The methods that take keys are provided, and need a sized
//! type. A trait object has methods of its own for keys: `contains_key`, `insert_key`, `remove_key`, `estimate_key`.
//! Reading and changing are separate traits, so that read-only views implement the traits that read.
//!
//! Every structure is a [`KeyHasher`]: `hash_key` returns the hash that its `_hash` methods take.

use core::error::Error;
use core::hash::Hash;

use crate::error::InsertError;
use crate::hash::KeyHasher;
use crate::internal::check_lengths;

/// Membership tests: *have I seen this key?*
pub trait Membership: KeyHasher {
    /// Tests by its hash whether a key may be in the set. `false` is certain.
    ///
    /// See [`KeyHasher`](crate::hash::KeyHasher#hashes-of-your-own) for the hash.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        for (answer, &hash) in out.iter_mut().zip(hashes) {
            *answer = self.contains_hash(hash);
        }
    }

    /// Tests whether `key` may be in the set. `false` is certain.
    fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool
    where
        Self: Sized,
    {
        self.contains_hash(self.hash_key(key))
    }
}

/// A borrowed filter answers as itself.
impl<T: Membership> Membership for &T {
    fn contains_hash(&self, hash: u64) -> bool {
        (**self).contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        (**self).contains_hash_batch(hashes, out);
    }
}

/// A boxed filter answers as itself, also if its type is known at run time only.
#[cfg(feature = "alloc")]
impl<T: Membership + ?Sized> Membership for alloc::boxed::Box<T> {
    fn contains_hash(&self, hash: u64) -> bool {
        (**self).contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        (**self).contains_hash_batch(hashes, out);
    }
}

impl dyn Membership + '_ {
    /// Tests whether `key` may be in the set. `false` is certain. This is [`contains`](Membership::contains) for trait
    /// objects.
    ///
    /// A `&(dyn Membership + Send + Sync)` coerces to `&dyn Membership`.
    ///
    /// # Examples
    /// ```
    /// use pds_core::traits::Membership;
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

/// Insertion of keys.
pub trait Insert: KeyHasher {
    /// Why a key cannot be inserted. [`Infallible`](core::convert::Infallible) for a structure that is never full.
    type Error: Error;

    /// Inserts a key by its hash. Returns `true` if it was not contained before.
    ///
    /// If several threads insert the same key into a shared structure at the same time, several may get `true`. See
    /// [`KeyHasher`](crate::hash::KeyHasher#hashes-of-your-own) for the hash.
    ///
    /// # Errors
    /// Those of the structure. Nothing is changed then.
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Self::Error>;

    /// Inserts `key`. Returns `true` if it was not contained before.
    ///
    /// # Errors
    /// Those of the structure. Nothing is changed then.
    fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, Self::Error>
    where
        Self: Sized,
    {
        self.insert_hash(self.hash_key(key))
    }
}

impl<E: Error> dyn Insert<Error = E> + '_ {
    /// Inserts `key`. Returns `true` if it was not contained before. This is [`insert`](Insert::insert) for trait objects.
    ///
    /// # Errors
    /// Those of the structure. Nothing is changed then.
    pub fn insert_key<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, E> {
        self.insert_hash(hash_dyn(self, key))
    }
}

/// [`Insert`] with one error for all kinds, so that structures of different kinds are inserted into by one trait object.
///
/// Implemented for every [`Insert`] whose error becomes an [`InsertError`].
///
/// # Examples
/// ```
/// use pds_core::error::InsertError;
/// use pds_core::traits::DynInsert;
///
/// fn insert_into_all(structures: &mut [Box<dyn DynInsert>], key: &str) -> Result<(), InsertError> {
///     structures.iter_mut().try_for_each(|structure| structure.insert_key(key).map(drop))
/// }
/// ```
pub trait DynInsert: KeyHasher {
    /// Inserts a key by its hash, as [`Insert::insert_hash`] does.
    ///
    /// # Errors
    /// [`InsertError`] says why the key is not taken. Nothing is changed then.
    fn try_insert_hash(&mut self, hash: u64) -> Result<bool, InsertError>;
}

impl<T: Insert<Error: Into<InsertError>>> DynInsert for T {
    fn try_insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.insert_hash(hash).map_err(Into::into)
    }
}

impl dyn DynInsert + '_ {
    /// Inserts `key`. Returns `true` if it was not contained before.
    ///
    /// # Errors
    /// [`InsertError`] says why the key is not taken. Nothing is changed then.
    pub fn insert_key<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.try_insert_hash(hash_dyn(self, key))
    }
}

/// Removal of keys that were inserted.
pub trait Remove: KeyHasher {
    /// Removes one copy of a key by its hash. Returns `false`, and changes nothing, if the key is certainly absent.
    ///
    /// See [`KeyHasher`](crate::hash::KeyHasher#hashes-of-your-own) for the hash.
    fn remove_hash(&mut self, hash: u64) -> bool;

    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent.
    fn remove<K: Hash + ?Sized>(&mut self, key: &K) -> bool
    where
        Self: Sized,
    {
        self.remove_hash(self.hash_key(key))
    }
}

impl dyn Remove + '_ {
    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent. This is
    /// [`remove`](Remove::remove) for trait objects.
    pub fn remove_key<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(hash_dyn(self, key))
    }
}

/// Merging of structures of the same shape.
pub trait Merge: Sized {
    /// Why two structures cannot be merged: [`Incompatible`](crate::error::Incompatible), or an error of the structure.
    type Error: Error;

    /// Adds the contents of `other` to `self`.
    ///
    /// # Errors
    /// Those of the structure. Nothing is changed then.
    fn merge(&mut self, other: &Self) -> Result<(), Self::Error>;
}

/// Frequency estimates: *how often was this key inserted?*
pub trait Frequency: KeyHasher {
    /// Estimates by its hash how often a key was inserted.
    ///
    /// See [`KeyHasher`](crate::hash::KeyHasher#hashes-of-your-own) for the hash.
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
    /// Estimates how often `key` was inserted. This is [`estimate`](Frequency::estimate) for trait objects.
    #[must_use]
    pub fn estimate_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_hash(hash_dyn(self, key))
    }
}

/// Cardinality estimates: *how many distinct keys were inserted?*
pub trait Cardinality: KeyHasher {
    /// Estimates the number of distinct keys inserted.
    fn estimate(&self) -> f64;
}

/// Similarity estimates: *how alike are two sets?*
pub trait Similarity: Sized {
    /// Why two structures cannot be compared: [`Incompatible`](crate::error::Incompatible), or an error of the structure.
    type Error: Error;

    /// Estimates the Jaccard index of the two sets: the share of their union that is in both. 0 if one of them is empty, or both.
    ///
    /// # Errors
    /// Those of the structure.
    fn jaccard(&self, other: &Self) -> Result<f64, Self::Error>;
}

/// Returns the hash of `key` by a trait object.
fn hash_dyn<T: KeyHasher + ?Sized, K: Hash + ?Sized>(hasher: &T, key: &K) -> u64 {
    hasher.hash_key_dyn(&mut |mut state| key.hash(&mut state))
}
