//! Uniform 64-bit hashes of keys, the same on every machine.
//!
//! A structure takes one 64-bit hash per key from its [`KeyHasher`] and uses it as it is. Wrap weak hashers (the identity on
//! integers, FNV-1a, a CRC) in [`Mixed`], which passes their hashes through [`finalize`]. `docs/hashing.md` of the workspace specifies everything here for other languages.

mod default;
mod key;
mod sip;

use core::hash::{Hash, Hasher};

use crate::internal::GOLDEN_RATIO;

#[cfg(feature = "ahash")]
pub use ahash;
pub use default::DefaultHashBuilder;
pub use key::{Avalanching, KeyHasher, Mixed};
pub use sip::SipHashBuilder;

/// Mixes a 64-bit hash, so that every bit of the result depends on every bit of `hash`.
///
/// This is a bijection: distinct hashes stay distinct. The xorshifts and multipliers are Pelle Evensen's moremur ("Better,
/// stronger mixer and a test procedure", 2019), a stronger set for the finaliser of MurmurHash3.
///
/// # Examples
/// ```
/// assert_eq!(pds_core::hash::finalize(0), 0xb70f_b2cc_55af_013f);
/// ```
#[inline]
#[must_use]
pub const fn finalize(hash: u64) -> u64 {
    // The addition keeps 0 from mapping to 0. With one round less, or without the first xorshift, structures with the
    // identity as hasher miss their rates.
    let mut x = hash.wrapping_add(GOLDEN_RATIO);
    x ^= x >> 27;
    x = x.wrapping_mul(0x3C79_AC49_2BA7_B653);
    x ^= x >> 33;
    x = x.wrapping_mul(0x1C69_B3F7_4AC4_AE35);
    x ^ (x >> 27)
}

/// Maps a uniform `x` evenly to `0..n`: the high half of the 128-bit product.
///
/// Returns 0 if `n` is 0. Works for any `n`, not only powers of two, without a division
/// (Daniel Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019, section 4).
#[inline]
#[must_use]
pub const fn reduce(x: u64, n: u64) -> u64 {
    ((x as u128 * n as u128) >> 64) as u64
}

/// Returns the hash of a fixed key, by which structures check whether they hash alike.
///
/// Hashers of one type with equal seeds agree. Two other hashers agree with probability 2^-64.
#[must_use]
pub fn probe<S: KeyHasher>(hasher: &S) -> u64 {
    hasher.hash_key(&Raw(b"pds hasher probe"))
}

/// Byte string that is hashed as exactly these bytes, without a length or a terminator.
///
/// Use it to agree with other languages. With [`DefaultHashBuilder`] the hash is the one-shot XXH3-64 of the bytes, with
/// [`SipHashBuilder`] their SipHash-1-3. With the default hasher, `Raw` of the bytes of a string and the string itself have
/// equal hashes. `Raw(bytes)` and the slice `bytes` do not: the length of a slice is hashed first.
///
/// # Examples
/// ```
/// use pds_core::hash::{DefaultHashBuilder, KeyHasher, Raw};
///
/// let hasher = DefaultHashBuilder::default();
/// assert_eq!(hasher.hash_key(&Raw(b"abc")), 0x78af_5f94_892f_3950);
/// assert_eq!(hasher.hash_key("abc"), hasher.hash_key(&Raw(b"abc")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(pub &'a [u8]);

impl Hash for Raw<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.0);
    }
}

/// Hashers whose hashes are the same on every machine, so that structures can be stored, sent and merged.
///
/// Implement it for a hasher of your own to give its structures portable bytes. The promise covers the key types in
/// `docs/hashing.md`. The [`Hasher`] must write integers in a fixed byte order and `usize` as 64 bits.
/// [`ID`](Self::ID) names the hash function together with its mixing.
///
/// # Examples
/// A type of your own around [`Mixed`] or [`Avalanching`]:
/// ```
/// use core::hash::{BuildHasherDefault, Hasher};
///
/// use pds_core::hash::{KeyHasher, Mixed, PortableHasher};
///
/// /// FNV-1a, 64 bits.
/// #[derive(Clone)]
/// struct Fnv1a(u64);
///
/// impl Default for Fnv1a {
///     fn default() -> Self {
///         Self(0xcbf2_9ce4_8422_2325)
///     }
/// }
///
/// impl Hasher for Fnv1a {
///     fn write(&mut self, bytes: &[u8]) {
///         for &byte in bytes {
///             self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
///         }
///     }
///     // The provided methods write integers as the machine has them.
///     fn write_u64(&mut self, number: u64) {
///         self.write(&number.to_le_bytes());
///     }
///     fn write_usize(&mut self, number: usize) {
///         self.write_u64(number as u64);
///     }
///     // write_u16, write_u32, ... likewise.
///     fn finish(&self) -> u64 {
///         self.0
///     }
/// }
///
/// #[derive(Clone, Default)]
/// struct PortableFnv(Mixed<BuildHasherDefault<Fnv1a>>);
///
/// impl KeyHasher for PortableFnv {
///     fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
///         self.0.hash_key_dyn(feed)
///     }
///     // Not needed, but faster: no call through a vtable.
///     fn hash_key<K: core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
///         self.0.hash_key(key)
///     }
/// }
///
/// impl PortableHasher for PortableFnv {
///     const ID: u16 = 1 << 15;
///     const SECRET: bool = false;
///
///     fn to_seed(&self) -> [u8; 16] {
///         [0; 16]
///     }
///     fn from_seed(seed: [u8; 16]) -> Option<Self> {
///         (seed == [0; 16]).then(Self::default)
///     }
/// }
///
/// // The seed is no secret, so structures have `to_bytes`.
/// impl pds_core::hash::PublicSeed for PortableFnv {}
///
/// assert_eq!(PortableFnv::default().hash_bytes(b"a"), pds_core::hash::finalize(0xaf63_dc4c_8601_ec8c));
/// ```
///
/// # Panics
/// Writing a structure with its seed panics if `from_seed` does not undo `to_seed`: nobody could read the bytes.
///
/// ```compile_fail
/// // `RandomState` draws new keys in each process, so it has no portable bytes.
/// fn stores<H: pds_core::hash::PortableHasher>() {}
/// stores::<pds_core::hash::Avalanching<std::hash::RandomState>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no portable bytes: its hashes are promised for this process only",
    label = "not a `PortableHasher`",
    note = "a structure is stored, sent or read back with the hasher that built it; `ahash` and std's `RandomState` hash \
            differently from build to build or from process to process",
    note = "use `DefaultHashBuilder`, or `SipHashBuilder` where keys come from strangers"
)]
pub trait PortableHasher: KeyHasher + Sized {
    /// Id of the hash function in stored bytes. Ids below 2^15 belong to this family. Ids from 2^15 up are free.
    const ID: u16;

    /// Whether the seed is a secret. A secret is written only on request.
    const SECRET: bool;

    /// Returns the seed. A hasher with fewer than 128 bits leaves the last bytes zero.
    fn to_seed(&self) -> [u8; 16];

    /// Builds the hasher from the bytes of [`to_seed`](Self::to_seed). Returns `None` if no hasher has that seed.
    fn from_seed(seed: [u8; 16]) -> Option<Self>;

    /// Returns the hash of exactly these bytes, as of [`Raw`].
    #[inline]
    fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        self.hash_key(&Raw(bytes))
    }
}

/// Portable hashers whose seed is no secret, so that it is written with every structure.
///
/// It allows `to_bytes`, `write_to` and serde's `Serialize` without a further choice: what they write can be read back. A
/// structure whose hasher has a secret key, such as [`SipHashBuilder`], is written through `ByteOptions`, whose
/// `with_key` and `without_key` say whether the bytes contain the key.
///
/// Implement it for a hasher of your own whose seed may stand in stored bytes.
///
/// ```
/// fn saves_without_a_choice<H: pds_core::hash::PublicSeed>() {}
/// saves_without_a_choice::<pds_core::hash::DefaultHashBuilder>();
/// ```
/// ```compile_fail,E0277
/// # fn saves_without_a_choice<H: pds_core::hash::PublicSeed>() {}
/// saves_without_a_choice::<pds_core::hash::SipHashBuilder>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the key of `{Self}` is a secret: say whether it is written with the structure",
    label = "writing needs a choice here",
    note = "`ByteOptions::new().with_key().to_bytes(&filter)` writes the key in clear; serde accepts `WithKey(&filter)`",
    note = "`ByteOptions::new().without_key().to_bytes(&filter)` omits the key: keep it, and pass the hasher to \
            `ByteOptions::new().hasher(hasher)` to read. Without the key the bytes are lost"
)]
pub trait PublicSeed: PortableHasher {}
