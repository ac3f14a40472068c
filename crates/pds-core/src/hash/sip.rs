//! SipHash-1-3 with a 128-bit key, for keys that strangers choose.

use core::fmt;
use core::hash::{BuildHasher, Hasher};

use siphasher::sip::SipHasher13;

use super::PortableHasher;

/// SipHash-1-3 with a 128-bit key, for keys that strangers choose.
///
/// With a [random](Self::random) key that stays secret, crafted keys do no better than random keys. It takes about four
/// times as long as the default hasher. `Debug` does not print the key.
///
/// The hash is SipHash-1-3 of the bytes of the fields in order: integers in little endian, `usize` as 64 bits, a `str`
/// followed by the byte 0xff, a slice preceded by its length as `u64`.
///
/// # Examples
/// ```
/// use core::hash::BuildHasher;
/// use pds_core::hash::{Raw, SipHashBuilder};
///
/// let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
/// assert_ne!(hasher.hash_one("key"), SipHashBuilder::from_key([0; 16]).hash_one("key"));
/// assert_eq!(hasher.hash_one("key"), hasher.hash_one(Raw(b"key\xff")));
/// ```
///
/// # References
/// Jean-Philippe Aumasson and Daniel J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SipHashBuilder {
    key: [u8; 16],
}

impl SipHashBuilder {
    /// Creates a builder with this key.
    #[must_use]
    pub const fn from_key(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// Creates a builder with a fresh key from the operating system.
    ///
    /// # Panics
    /// If the operating system refuses random bytes.
    #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
    #[must_use]
    pub fn random() -> Self {
        let mut key = [0; 16];
        getrandom::fill(&mut key).expect("the operating system gives random bytes");
        Self { key }
    }

    /// Returns the secret key, to keep it apart from the structure.
    #[must_use]
    pub const fn key(&self) -> [u8; 16] {
        self.key
    }
}

impl fmt::Debug for SipHashBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SipHashBuilder").finish_non_exhaustive()
    }
}

impl BuildHasher for SipHashBuilder {
    type Hasher = SipHasher;

    #[inline]
    fn build_hasher(&self) -> SipHasher {
        SipHasher(SipHasher13::new_with_key(&self.key))
    }
}

impl PortableHasher for SipHashBuilder {
    const ID: u16 = 2;
    const SECRET: bool = true;

    fn to_seed(&self) -> [u8; 16] {
        self.key
    }

    fn from_seed(seed: [u8; 16]) -> Option<Self> {
        Some(Self::from_key(seed))
    }
}

/// The hasher of [`SipHashBuilder`]: `siphasher`'s, with integers fed in little endian.
#[derive(Clone)]
pub struct SipHasher(SipHasher13);

impl fmt::Debug for SipHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SipHasher").finish_non_exhaustive()
    }
}

impl Hasher for SipHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    #[inline]
    fn write_u8(&mut self, v: u8) {
        self.0.write(&[v]);
    }

    #[inline]
    fn write_u16(&mut self, v: u16) {
        self.0.write(&v.to_le_bytes());
    }

    #[inline]
    fn write_u32(&mut self, v: u32) {
        self.0.write(&v.to_le_bytes());
    }

    #[inline]
    fn write_u64(&mut self, v: u64) {
        self.0.write(&v.to_le_bytes());
    }

    #[inline]
    fn write_u128(&mut self, v: u128) {
        self.0.write(&v.to_le_bytes());
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
        self.0.finish()
    }
}
