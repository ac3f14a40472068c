//! XXH3-64, chained: one one-shot hash per field. Each hash is the seed of the next.
//!
//! The streaming state of XXH3 has more than 500 bytes, too many to set up for each key.
//! `cargo xtask bench --structure hash` compares the cost per key with the plain function and SipHash.

use core::hash::{BuildHasher, Hash, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{PortableHasher, PublicSeed};

/// Default hasher: XXH3-64 with a seed, the same on every machine.
///
/// Structures with equal seeds can be merged. The hasher is fast, but no defence against chosen keys, even with a
/// secret seed. If strangers choose the keys, use [`SipHashBuilder`](super::SipHashBuilder).
///
/// # Examples
/// ```
/// use core::hash::BuildHasher;
/// use pds_core::hash::DefaultHashBuilder;
///
/// assert_eq!(DefaultHashBuilder::default().hash_one(1u64), 0x2fbc_5935_64db_792e);
/// assert_eq!(DefaultHashBuilder::with_seed(1).hash_one(1u64), 0x8567_1091_eda7_5eb5);
/// ```
///
/// # References
/// Yann Collet, "xxHash", specification of XXH3 (version 0.8 or later).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefaultHashBuilder {
    seed: u64,
}

impl DefaultHashBuilder {
    /// Creates a builder whose hashes depend on `seed`.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the seed. The default is 0.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

impl BuildHasher for DefaultHashBuilder {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher { state: self.seed, after_bytes: false }
    }

    // Inlined: a call would cost more than the hash of an integer.
    #[inline]
    #[expect(clippy::manual_hash_one, reason = "this is `hash_one`")]
    fn hash_one<K: Hash>(&self, key: K) -> u64 {
        let mut hasher = self.build_hasher();
        key.hash(&mut hasher);
        hasher.finish()
    }
}

impl PortableHasher for DefaultHashBuilder {
    const ID: u16 = 1;
    const SECRET: bool = false;

    fn to_seed(&self) -> [u8; 16] {
        u128::from(self.seed).to_le_bytes()
    }

    fn from_seed(seed: [u8; 16]) -> Option<Self> {
        u64::try_from(u128::from_le_bytes(seed)).ok().map(Self::with_seed)
    }
}

impl PublicSeed for DefaultHashBuilder {}

/// The hasher of [`DefaultHashBuilder`].
#[derive(Clone, Debug)]
pub struct DefaultHasher {
    /// Hash so far: the seed of the next field.
    state: u64,
    /// Whether the last write was a byte string. A 0xff is then the terminator of a `str`.
    after_bytes: bool,
}

impl DefaultHasher {
    #[inline]
    fn fold(&mut self, little_endian: &[u8]) {
        self.state = xxh3_64_with_seed(little_endian, self.state);
        self.after_bytes = false;
    }
}

impl Hasher for DefaultHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.fold(bytes);
        self.after_bytes = true;
    }

    #[inline]
    fn write_u8(&mut self, v: u8) {
        // std appends this byte to a `str`. It is not needed here, since the chained seeds separate fields.
        if v == 0xff && self.after_bytes {
            self.after_bytes = false;
        } else {
            self.fold(&[v]);
        }
    }

    #[inline]
    fn write_u16(&mut self, v: u16) {
        self.fold(&v.to_le_bytes());
    }

    #[inline]
    fn write_u32(&mut self, v: u32) {
        self.fold(&v.to_le_bytes());
    }

    #[inline]
    fn write_u64(&mut self, v: u64) {
        self.fold(&v.to_le_bytes());
    }

    #[inline]
    fn write_u128(&mut self, v: u128) {
        self.fold(&v.to_le_bytes());
    }

    #[inline]
    fn write_usize(&mut self, v: usize) {
        self.write_u64(v as u64);
    }

    #[inline]
    fn write_isize(&mut self, v: isize) {
        self.write_i64(v as i64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.state
    }
}
