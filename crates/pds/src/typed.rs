//! A structure whose key type the compiler checks.

use core::any::type_name;
use core::borrow::Borrow;
use core::convert::Infallible;
use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;

use pds_core::internal::answer_keys;
#[cfg(feature = "serde")]
use pds_core::internal::serde;

use crate::traits::{Frequency, Insert, Membership, Merge, Remove};

/// Keys that a batch hashes before it asks for them.
const KEYS: usize = 64;

/// A structure `F` that takes only keys of the type `K`.
///
/// A structure hashes any type, and `1u32`, `1u64` and `1i64` are different keys: the first has four bytes, and types
/// of equal bytes may hash differently. An insert of the literal `1` (an `i32`) and a later query for an `id: u64` of 1
/// compile, and the answer is a wrong *no*. `Typed` turns this mistake into a compile error. Use it if keys are
/// numbers, or if inserts and queries are in different places. Use the bare structure for keys of several types.
///
/// `K` may be unsized: a `Typed<F, str>` takes `&str` and, by coercion, `&String`.
///
/// # Guarantees
/// - Answers, bytes and errors: those of `F`, for the same keys.
/// - Cost: none. It has the layout of `F`, and calls are inlined.
/// - [`Merge`] merges only structures of equal `K`. The other traits are not implemented, because they would admit any
///   key again. For everything else use [`get_ref`](Self::get_ref): `get_ref().to_bytes()` gives the bytes of the
///   structure, and `Typed::new` takes what was read from them.
///
/// # Examples
#[cfg_attr(all(feature = "bloom", feature = "alloc"), doc = "```")]
#[cfg_attr(not(all(feature = "bloom", feature = "alloc")), doc = "```ignore")]
/// use pds::{BloomFilter, Typed};
///
/// # fn main() -> Result<(), pds::error::BuildError> {
/// let mut loose = BloomFilter::new(1_000, 0.001)?;
/// loose.insert(&1); // an i32
/// assert!(!loose.contains(&1u64), "another key: eight bytes, not four");
///
/// let mut seen = Typed::<_, u64>::new(BloomFilter::new(1_000, 0.001)?);
/// seen.insert(&1); // a u64, because nothing else is accepted
/// assert!(seen.contains(&1));
/// # Ok(())
/// # }
/// ```
///
/// A key of another type does not compile:
///
#[cfg_attr(all(feature = "bloom", feature = "alloc"), doc = "```compile_fail,E0308")]
#[cfg_attr(not(all(feature = "bloom", feature = "alloc")), doc = "```ignore")]
/// # use pds::{BloomFilter, Typed};
/// let seen = Typed::<_, u64>::new(BloomFilter::new(1_000, 0.001).unwrap());
/// seen.contains(&1u32);
/// ```
pub struct Typed<F, K: ?Sized> {
    structure: F,
    // Keys are only borrowed: `K` is neither owned, sent nor dropped.
    key: PhantomData<fn(&K)>,
}

impl<F, K: Hash + ?Sized> Typed<F, K> {
    /// Wraps `structure`. Keys that are already in it should be of type `K`.
    #[inline]
    pub const fn new(structure: F) -> Self {
        Self { structure, key: PhantomData }
    }

    /// Returns a reference to the structure, for everything that takes no key.
    #[inline]
    pub const fn get_ref(&self) -> &F {
        &self.structure
    }

    /// Returns the structure, which takes keys of any type again.
    #[inline]
    pub fn into_inner(self) -> F {
        self.structure
    }

    /// Inserts `key` into a structure that can refuse it. Returns `true` if it was not contained before.
    ///
    /// # Errors
    /// Those of the structure. Nothing is changed then.
    #[inline]
    pub fn try_insert(&mut self, key: &K) -> Result<bool, F::Error>
    where
        F: Insert,
    {
        self.structure.insert(key)
    }

    /// Inserts `key`. Returns `true` if it was not contained before.
    #[inline]
    pub fn insert(&mut self, key: &K) -> bool
    where
        F: Insert<Error = Infallible>,
    {
        let Ok(new) = self.try_insert(key);
        new
    }
}

impl<F, K: Hash + ?Sized> Typed<F, K>
where
    for<'a> &'a F: Insert<Error = Infallible>,
{
    /// Inserts `key` into a structure that threads share, such as [`AtomicBloomFilter`](crate::bloom::AtomicBloomFilter).
    ///
    /// Returns what the structure does: a Bloom filter `true` if this call set at least one of the bits of the key. Threads
    /// that insert the same new key at the same time may each get `true`.
    #[inline]
    pub fn insert_shared(&self, key: &K) -> bool {
        let Ok(new) = (&mut &self.structure).insert(key);
        new
    }
}

impl<F: Remove, K: Hash + ?Sized> Typed<F, K> {
    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent.
    #[inline]
    pub fn remove(&mut self, key: &K) -> bool {
        self.structure.remove(key)
    }
}

impl<F: Membership, K: Hash + ?Sized> Typed<F, K> {
    /// Tests whether `key` may be in the set. `false` is certain.
    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.structure.contains(key)
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[inline]
    #[track_caller]
    pub fn contains_batch(&self, keys: &[K], out: &mut [bool])
    where
        K: Sized,
    {
        answer_keys::<KEYS, K, bool>(&self.structure, keys, out, |hashes, answers| {
            self.structure.contains_hash_batch(hashes, answers);
        });
    }
}

impl<F: Frequency, K: Hash + ?Sized> Typed<F, K> {
    /// Estimates how often `key` was inserted.
    #[inline]
    pub fn estimate(&self, key: &K) -> u64 {
        self.structure.estimate(key)
    }
}

impl<F: Merge, K: ?Sized> Merge for Typed<F, K> {
    type Error = F::Error;

    #[inline]
    fn merge(&mut self, other: &Self) -> Result<(), F::Error> {
        self.structure.merge(&other.structure)
    }
}

// Whatever borrows as `K`: a `&K`, a `K`, and a `String` for `str`.
impl<F: Insert<Error = Infallible>, K: Hash + ?Sized, Q: Borrow<K>> Extend<Q> for Typed<F, K> {
    fn extend<I: IntoIterator<Item = Q>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key.borrow());
        }
    }
}

/// The serde form of the structure itself. It does not contain the type of the keys.
#[cfg(feature = "serde")]
impl<F: serde::Serialize, K: ?Sized> serde::Serialize for Typed<F, K> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        self.structure.serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, F: serde::Deserialize<'de>, K: Hash + ?Sized> serde::Deserialize<'de> for Typed<F, K> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        F::deserialize(deserializer).map(Self::new)
    }
}

// By hand, because a derive would require the same of `K`.
impl<F: Clone, K: Hash + ?Sized> Clone for Typed<F, K> {
    fn clone(&self) -> Self {
        Self::new(self.structure.clone())
    }
}

impl<F: PartialEq, K: ?Sized> PartialEq for Typed<F, K> {
    fn eq(&self, other: &Self) -> bool {
        self.structure == other.structure
    }
}

impl<F: Eq, K: ?Sized> Eq for Typed<F, K> {}

impl<F: fmt::Debug, K: ?Sized> fmt::Debug for Typed<F, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Typed<{}>(", type_name::<K>())?;
        self.structure.fmt(f)?;
        f.write_str(")")
    }
}
