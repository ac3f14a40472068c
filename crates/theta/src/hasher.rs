//! The hash of DataSketches, and the keys that it takes.

use core::fmt;

use pds_core::error::ParamError;
use pds_params::internal::ParamFault;

use crate::murmur::murmur3_x64_128;

/// The seed that all writers use unless they are told another one.
const DEFAULT_SEED: u64 = 9_001;

/// The hash function of DataSketches' theta sketches: MurmurHash3 x64-128 with a seed.
///
/// Sketches of equal seeds can be combined. Bytes contain a hash of the seed, 16 bits, which is checked when they are read. It
/// is not a [`KeyHasher`](pds_core::hash::KeyHasher): hashes of other structures of this family do not fit, and cannot be inserted.
///
/// # Examples
/// ```
/// use theta::ThetaHasher;
///
/// let hasher = ThetaHasher::default();
/// assert_eq!((hasher.seed(), hasher.seed_hash()), (9001, 0x93cc));
/// assert_eq!(hasher.hash("item:0"), Some(0x4cbe_3727_2ece_d15c));
/// assert_eq!(hasher.hash(&-0.0), hasher.hash(&0.0));
/// assert_eq!(hasher.hash(""), None, "ignored");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThetaHasher {
    seed: u64,
    seed_hash: u16,
}

impl ThetaHasher {
    /// Creates the hash function of a seed.
    ///
    /// # Errors
    /// If the hash of the seed is 0, which DataSketches does not allow: one seed of 65,536.
    pub fn with_seed(seed: u64) -> Result<Self, ParamError> {
        match hash_of_seed(seed) {
            0 => Err(ParamError(ParamFault::Choice {
                parameter: "seed",
                value: "one whose hash is 0",
                allowed: "another one: 0 stands for no hash",
            })),
            seed_hash => Ok(Self { seed, seed_hash }),
        }
    }

    /// Returns the seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the hash of the seed, as bytes contain it.
    #[must_use]
    pub const fn seed_hash(&self) -> u16 {
        self.seed_hash
    }

    /// Returns the hash of a key, 63 bits. `None` for a key that DataSketches ignores: an empty string.
    #[must_use]
    #[inline]
    pub fn hash<K: ThetaKey + ?Sized>(&self, key: &K) -> Option<u64> {
        key.theta_hash(self)
    }

    /// Returns the hash of the bytes that stand for a key, 63 bits.
    ///
    /// For an implementation of [`ThetaKey`].
    #[must_use]
    #[inline]
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        murmur3_x64_128(bytes, self.seed).0 >> 1
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low 16 bits")]
fn hash_of_seed(seed: u64) -> u16 {
    murmur3_x64_128(&seed.to_le_bytes(), 0).0 as u16
}

/// Returns the hash function of seed 9001, the default of DataSketches.
impl Default for ThetaHasher {
    fn default() -> Self {
        Self { seed: DEFAULT_SEED, seed_hash: hash_of_seed(DEFAULT_SEED) }
    }
}

impl fmt::Debug for ThetaHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThetaHasher").field("seed", &self.seed).finish_non_exhaustive()
    }
}

/// A key as DataSketches hashes it.
///
/// | key | hashed bytes |
/// |---|---|
/// | signed integers, and `u64` | the number as 8 bytes, the least significant first: `1i32` and `1i64` are one key |
/// | `f32`, `f64` | the `f64` as 8 bytes; -0.0 is 0.0, and every NaN is the NaN 0x7ff8000000000000 |
/// | `str`, `String` | UTF-8; an empty string is ignored |
/// | bytes | as they are; none are ignored |
///
/// `u8`, `u16` and `u32` are no keys: its libraries extend their sign. Convert them to the type that the other side inserts.
pub trait ThetaKey {
    /// Returns the hash of the key, 63 bits. `None` for a key that is ignored.
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64>;
}

impl ThetaKey for u64 {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        Some(hasher.hash_bytes(&self.to_le_bytes()))
    }
}

impl ThetaKey for i64 {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        self.cast_unsigned().theta_hash(hasher)
    }
}

impl ThetaKey for i32 {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        i64::from(*self).theta_hash(hasher)
    }
}

impl ThetaKey for i16 {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        i64::from(*self).theta_hash(hasher)
    }
}

impl ThetaKey for i8 {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        i64::from(*self).theta_hash(hasher)
    }
}

impl ThetaKey for f64 {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        const NAN: u64 = 0x7ff8 << 48;
        let bits = match *self {
            number if number.is_nan() => NAN,
            0.0 => 0,
            number => number.to_bits(),
        };
        bits.theta_hash(hasher)
    }
}

impl ThetaKey for f32 {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        f64::from(*self).theta_hash(hasher)
    }
}

impl ThetaKey for [u8] {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        (!self.is_empty()).then(|| hasher.hash_bytes(self))
    }
}

impl<const N: usize> ThetaKey for [u8; N] {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        self[..].theta_hash(hasher)
    }
}

impl ThetaKey for str {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        self.as_bytes().theta_hash(hasher)
    }
}

#[cfg(feature = "alloc")]
impl ThetaKey for alloc::string::String {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        self.as_bytes().theta_hash(hasher)
    }
}

#[cfg(feature = "alloc")]
impl ThetaKey for alloc::vec::Vec<u8> {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        self[..].theta_hash(hasher)
    }
}

/// A reference is the key it refers to.
impl<K: ThetaKey + ?Sized> ThetaKey for &K {
    #[inline]
    fn theta_hash(&self, hasher: &ThetaHasher) -> Option<u64> {
        (**self).theta_hash(hasher)
    }
}
