//! What structures of one kind have in common, for code that is generic over them.
//!
//! The methods on hashes are required and object-safe; those on keys are provided, and need a sized
//! type. Reading and changing are apart, so that read-only views implement the reading half.

use core::error::Error;
use core::hash::Hash;

/// Hashes keys as this structure does.
pub trait HashKey {
    /// Returns the 64-bit hash that the `_hash` methods take for `key`.
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64
    where
        Self: Sized;
}

/// Answers *have I seen this?*
pub trait Membership: HashKey {
    /// Tests whether a key with this hash is possibly contained; `false` is certain.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
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

/// Takes keys in.
pub trait Insert: HashKey {
    /// Why a key cannot be taken; [`Infallible`](core::convert::Infallible) where it always can.
    type Error: Error;

    /// Inserts a key by its hash. Returns `true` when it was not contained before; a structure that threads share may
    /// return it to several that insert the same key at the same time.
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

/// Forgets keys that were inserted.
pub trait Remove: HashKey {
    /// Removes one copy of a key by its hash. Returns `false`, and changes nothing, when the
    /// structure can tell that the key is absent.
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
pub trait Frequency: HashKey {
    /// Estimates how often the key with this hash was inserted.
    fn estimate_hash(&self, hash: u64) -> u64;

    /// Estimates how often `key` was inserted.
    fn estimate<K: Hash + ?Sized>(&self, key: &K) -> u64
    where
        Self: Sized,
    {
        self.estimate_hash(self.hash_key(key))
    }
}

/// Answers *how many different ones?*
pub trait Cardinality: HashKey {
    /// Estimates the number of distinct keys inserted.
    fn estimate(&self) -> f64;
}
