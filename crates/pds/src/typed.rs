//! A structure whose key type the compiler checks.

use core::any::type_name;
use core::convert::Infallible;
use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;

use crate::{Frequency, Insert, Membership, Merge, Remove};

/// A structure `F` that takes keys of the one type `K` and no others.
///
/// A structure hashes whatever it is given, and `1u32`, `1u64` and `1i64` are different keys to a
/// hasher: the first has four bytes, and derived types of equal bytes may be written differently.
/// An insert of the literal `1` (an `i32`) and a later question for an `id: u64` of 1 compile, and
/// the answer is a wrong *no*. `Typed` turns the mistake into a compile error. Choose it where keys are
/// numbers, or where one structure is filled and asked in different places; use the bare structure
/// where keys of several types are meant to live in it.
///
/// `K` may be unsized: a `Typed<F, str>` takes `&str` and, by coercion, `&String`.
///
/// # Guarantees
/// - Answers, bytes and errors: those of `F`, for the same keys.
/// - Cost: none; the layout of `F`, and one inlined call.
/// - [`Merge`] joins structures of equal `K` only. The other traits are left out on purpose: through
///   them, any key would come in again. [`get_ref`](Self::get_ref) gives the structure for all else.
///
/// # Examples
#[cfg_attr(all(feature = "bloom", feature = "alloc"), doc = "```")]
#[cfg_attr(not(all(feature = "bloom", feature = "alloc")), doc = "```ignore")]
/// use pds::{BloomFilter, Typed};
///
/// # fn main() -> Result<(), pds::BuildError> {
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
    // Keys are only lent: `K` is no part of what is owned, sent or dropped.
    key: PhantomData<fn(&K)>,
}

impl<F, K: ?Sized> Typed<F, K> {
    /// Wraps `structure`; keys that are already in it should be of type `K`.
    #[inline]
    pub const fn new(structure: F) -> Self {
        Self { structure, key: PhantomData }
    }

    /// Lends the structure, for all that takes no key.
    #[inline]
    pub const fn get_ref(&self) -> &F {
        &self.structure
    }

    /// Returns the structure, which takes keys of any type again.
    #[inline]
    pub fn into_inner(self) -> F {
        self.structure
    }
}

impl<F: Insert, K: Hash + ?Sized> Typed<F, K> {
    /// Inserts `key` into a structure that can refuse it. Returns `true` when it was not contained before.
    ///
    /// # Errors
    /// As the structure says; nothing is changed then.
    #[inline]
    pub fn try_insert(&mut self, key: &K) -> Result<bool, F::Error> {
        self.structure.insert(key)
    }
}

impl<F: Insert<Error = Infallible>, K: Hash + ?Sized> Typed<F, K> {
    /// Inserts `key`. Returns `true` when it was not contained before.
    #[inline]
    pub fn insert(&mut self, key: &K) -> bool {
        let Ok(new) = self.try_insert(key);
        new
    }
}

impl<F: Remove, K: Hash + ?Sized> Typed<F, K> {
    /// Removes one copy of `key`. Returns `false`, and changes nothing, when the structure can tell that
    /// the key is absent.
    #[inline]
    pub fn remove(&mut self, key: &K) -> bool {
        self.structure.remove(key)
    }
}

impl<F: Membership, K: Hash + ?Sized> Typed<F, K> {
    /// Tests whether `key` is possibly contained; `false` is certain.
    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.structure.contains(key)
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

impl<'a, F: Insert<Error = Infallible>, K: Hash + ?Sized + 'a> Extend<&'a K> for Typed<F, K> {
    fn extend<I: IntoIterator<Item = &'a K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<F, K: ?Sized> From<F> for Typed<F, K> {
    fn from(structure: F) -> Self {
        Self::new(structure)
    }
}

// By hand, because a derive would ask the same of `K`.
impl<F: Clone, K: ?Sized> Clone for Typed<F, K> {
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
