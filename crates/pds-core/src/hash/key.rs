//! Uniform 64-bit hashes of keys: the trait, and wrappers for other hashers.

use core::hash::{BuildHasher, Hash, Hasher};

use super::{DefaultHashBuilder, SipHashBuilder, finalize};

/// Hashers whose 64-bit hashes are uniform: every bit of the hash depends on every bit of the key.
///
/// Structures use the hash as it is, so their promises depend on this one. Both hashers of this family keep it. Wrap any
/// other [`BuildHasher`]: [`Mixed`] works for all of them. [`Avalanching`] is faster, for hashers that are uniform already.
///
/// A structure is a `KeyHasher` too. It hashes as its hasher does. So a key can be hashed once and passed to several
/// structures with equal hashers.
///
/// # Hashes of your own
/// Methods with `_hash` in their name take the hash of a key in place of the key. Pass the [`hash_key`](Self::hash_key)
/// of the structure, or of any structure with an equal hasher, or 64 uniform bits. Pass any other hash through
/// [`finalize`](crate::hash::finalize) first, otherwise the promised errors do not hold. Keys with equal hashes are one
/// key.
///
/// # Examples
/// ```
/// use pds_core::hash::{DefaultHashBuilder, KeyHasher, finalize};
///
/// let hasher = DefaultHashBuilder::default();
/// assert_eq!(hasher.hash_key("abc"), 0x78af_5f94_892f_3950);
///
/// // A hasher of your own needs one method. This one serves keys that are written as a single `u64`.
/// struct Number;
///
/// #[derive(Default)]
/// struct LastNumber(u64);
///
/// impl core::hash::Hasher for LastNumber {
///     fn write(&mut self, bytes: &[u8]) {
///         self.0 = bytes.iter().fold(self.0, |hash, &byte| finalize(hash ^ u64::from(byte)));
///     }
///     fn write_u64(&mut self, number: u64) {
///         self.0 = number;
///     }
///     fn finish(&self) -> u64 {
///         finalize(self.0)
///     }
/// }
///
/// impl KeyHasher for Number {
///     fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn core::hash::Hasher)) -> u64 {
///         let mut hasher = LastNumber::default();
///         feed(&mut hasher);
///         core::hash::Hasher::finish(&hasher)
///     }
/// }
/// assert_eq!(Number.hash_key(&1u64), 0x90fa_784d_ff59_df1d);
/// ```
///
/// ```compile_fail
/// // It is not known whether these hashes are uniform: write `Mixed(RandomState::new())`.
/// fn builds(_: impl pds_core::hash::KeyHasher) {}
/// builds(std::hash::RandomState::new());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say that its hashes are uniform in all 64 bits",
    label = "not a `KeyHasher`",
    note = "wrap it: `Mixed(hasher)` makes a `KeyHasher` of every `BuildHasher`; it mixes each hash once more",
    note = "`Avalanching(hasher)` takes the hashes as they are, for hashers that change every bit of the hash with every \
            bit of the key, such as `ahash`; with any other hasher the promised errors do not hold"
)]
pub trait KeyHasher {
    /// Returns the hash of what `feed` writes into the hasher that it is given.
    ///
    /// This is the object-safe form of [`hash_key`](Self::hash_key). Both return the same hash if `feed` writes what the
    /// key's [`Hash`] writes.
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64;

    /// Returns the 64-bit hash of `key`, which the `_hash` methods take.
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64
    where
        Self: Sized,
    {
        self.hash_key_dyn(&mut |mut hasher| key.hash(&mut hasher))
    }
}

/// A borrowed hasher or structure hashes as itself.
impl<H: KeyHasher> KeyHasher for &H {
    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        (**self).hash_key_dyn(feed)
    }

    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        (**self).hash_key(key)
    }
}

/// A boxed hasher or structure hashes as itself.
// Through the vtable for every type: a trait object has no other way.
#[cfg(feature = "alloc")]
impl<H: KeyHasher + ?Sized> KeyHasher for alloc::boxed::Box<H> {
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        (**self).hash_key_dyn(feed)
    }
}

impl KeyHasher for DefaultHashBuilder {
    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        fed(self, feed)
    }

    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        hashed(self, key)
    }
}

impl KeyHasher for SipHashBuilder {
    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        fed(self, feed)
    }

    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        hashed(self, key)
    }
}

/// Wrapper for any hasher: passes its hashes through [`finalize`].
///
/// Structures keep their promises with it, also for the identity on integers, FxHash or FNV-1a. Keys whose whole hashes are equal
/// stay one key. So a hash with only 2^b values, such as a CRC-32 with b = 32, adds n / 2^b to the rate of a filter of n
/// keys, and a sketch counts the hashes and not the keys.
///
/// # Examples
/// ```
/// use std::hash::{BuildHasher, RandomState};
///
/// use pds_core::hash::{KeyHasher, Mixed, finalize};
///
/// let hasher = Mixed(RandomState::new());
/// assert_eq!(hasher.hash_key("key"), finalize(hasher.0.hash_one("key")));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mixed<B>(pub B);

impl<B: BuildHasher> KeyHasher for Mixed<B> {
    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        finalize(fed(&self.0, feed))
    }

    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        finalize(hashed(&self.0, key))
    }
}

/// Wrapper for a hasher that is uniform already: takes its hashes as they are.
///
/// You state that each bit of the hash changes in half of the cases if any bit of the key changes. This holds for `ahash`
/// and std's `RandomState`. It does not hold for the identity on integers, FxHash, FNV-1a and CRCs: with those, structures
/// break their promises. In doubt use [`Mixed`].
///
/// # Examples
/// ```
/// use std::hash::{BuildHasher, RandomState};
///
/// use pds_core::hash::{Avalanching, KeyHasher};
///
/// let hasher = Avalanching(RandomState::new());
/// assert_eq!(hasher.hash_key("key"), hasher.0.hash_one("key"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Avalanching<B>(pub B);

impl<B: BuildHasher> KeyHasher for Avalanching<B> {
    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        fed(&self.0, feed)
    }

    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        hashed(&self.0, key)
    }
}

/// Returns the hash of `key`.
#[inline]
#[expect(
    clippy::manual_hash_one,
    reason = "a hasher may answer some types of keys by a way of its own in `hash_one`, which a trait object cannot take"
)]
fn hashed<B: BuildHasher, K: Hash + ?Sized>(builder: &B, key: &K) -> u64 {
    let mut hasher = builder.build_hasher();
    key.hash(&mut hasher);
    hasher.finish()
}

/// Returns the hash of what `feed` writes.
#[inline]
fn fed<B: BuildHasher>(builder: &B, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
    let mut hasher = builder.build_hasher();
    feed(&mut hasher);
    hasher.finish()
}
