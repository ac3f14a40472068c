//! Deliberately weak hash functions.
//!
//! Real programs hash with these functions, and real filters have missed their promised rate because of them. Published
//! check values pin each function, so that a failure points to the structure under test.

use core::fmt;
use core::hash::{BuildHasher, Hasher};

use pds_core::hash::{DefaultHashBuilder, Mixed};

use crate::keys::awkward;

/// The multiplier of FxHash on 64-bit machines, a number near the golden ratio that Firefox chose.
const FX_MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;
/// FNV-1a, 64 bits: offset basis and prime, from Fowler, Noll and Vo's page on the hash.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
/// The polynomial of ECMA-182 with reversed bits, as in the XZ format.
const CRC64_POLYNOMIAL: u64 = 0xc96c_5795_d787_0f42;

/// Defines a `BuildHasher` without state for a hasher with the initial state `$start`.
macro_rules! build_hasher {
    ($(#[$doc:meta])* $builder:ident -> $hasher:ident($start:expr)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $builder;

        impl BuildHasher for $builder {
            type Hasher = $hasher;

            fn build_hasher(&self) -> $hasher {
                $hasher($start)
            }
        }
    };
}

/// Defines methods that push each integer as one word, and return the state as the hash.
macro_rules! push_integers {
    () => {
        fn write_u16(&mut self, value: u16) {
            self.push(value.into());
        }

        fn write_u32(&mut self, value: u32) {
            self.push(value.into());
        }

        fn write_u64(&mut self, value: u64) {
            self.push(value);
        }

        fn write_usize(&mut self, value: usize) {
            self.push(value as u64);
        }

        fn finish(&self) -> u64 {
            self.0
        }
    };
}

build_hasher! {
    /// A hasher that returns integers unchanged. Consecutive keys have consecutive hashes.
    ///
    /// Other data continues as a polynomial in 257. Its value keeps the order and the common prefixes of short strings.
    IdentityBuilder -> IdentityHasher(0)
}

build_hasher! {
    /// FxHash as `rustc` used it for years: one rotation, one xor and one multiplication per word.
    ///
    /// It has no finaliser, so low bits of the hash depend only on low bits of the key.
    FxBuilder -> FxHasher(0)
}

build_hasher! {
    /// FNV-1a, byte by byte. Its high bits are poor for short keys.
    Fnv1aBuilder -> Fnv1aHasher(FNV_OFFSET)
}

build_hasher! {
    /// CRC-64/XZ. It is linear over bits, so differences of keys become fixed differences of hashes.
    Crc64Builder -> Crc64Hasher(u64::MAX)
}

/// The hasher of [`IdentityBuilder`].
#[derive(Debug, Clone)]
pub struct IdentityHasher(u64);

impl IdentityHasher {
    fn push(&mut self, value: u64) {
        self.0 = self.0.wrapping_mul(257).wrapping_add(value);
    }
}

impl Hasher for IdentityHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.push(byte.into()));
    }

    push_integers!();
}

/// The hasher of [`FxBuilder`].
#[derive(Debug, Clone)]
pub struct FxHasher(u64);

impl FxHasher {
    fn push(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FX_MULTIPLIER);
    }
}

impl Hasher for FxHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.push(u64::from_le_bytes(word)));
        rest.iter().for_each(|&byte| self.push(byte.into()));
    }

    fn write_u8(&mut self, value: u8) {
        self.push(value.into());
    }

    push_integers!();
}

/// The hasher of [`Fnv1aBuilder`].
#[derive(Debug, Clone)]
pub struct Fnv1aHasher(u64);

impl Hasher for Fnv1aHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The hasher of [`Crc64Builder`].
#[derive(Debug, Clone)]
pub struct Crc64Hasher(u64);

impl Hasher for Crc64Hasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let index = self.0.to_le_bytes()[0] ^ byte;
            self.0 = CRC64_TABLE[usize::from(index)] ^ (self.0 >> 8);
        }
    }

    fn finish(&self) -> u64 {
        !self.0
    }
}

/// The remainder of each byte. A byte costs one look-up instead of eight steps.
static CRC64_TABLE: [u64; 256] = crc64_table();

const fn crc64_table() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            remainder = (remainder >> 1) ^ (CRC64_POLYNOMIAL * (remainder & 1));
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

/// Any of these hashers, or the default one, as one type, for tests of all of them.
#[derive(Clone, Copy)]
pub struct AnyBuilder {
    name: &'static str,
    build: fn() -> Box<dyn Hasher>,
}

impl fmt::Debug for AnyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl BuildHasher for AnyBuilder {
    type Hasher = Box<dyn Hasher>;

    fn build_hasher(&self) -> Self::Hasher {
        (self.build)()
    }
}

/// Returns all weak hashers and the default one, each made uniform by [`Mixed`].
#[must_use]
pub fn all() -> [Mixed<AnyBuilder>; 5] {
    fn build<S: BuildHasher<Hasher: 'static> + Default>() -> Box<dyn Hasher> {
        Box::new(S::default().build_hasher())
    }
    [
        AnyBuilder { name: "identity", build: build::<IdentityBuilder> },
        AnyBuilder { name: "FxHash", build: build::<FxBuilder> },
        AnyBuilder { name: "FNV-1a", build: build::<Fnv1aBuilder> },
        AnyBuilder { name: "CRC-64", build: build::<Crc64Builder> },
        AnyBuilder { name: "default", build: build::<DefaultHashBuilder> },
    ]
    .map(Mixed)
}

/// Returns [`all`] hashers with every stream of integers on which a weak one is likely to fail, and a name for both.
pub fn on_awkward_keys()
-> impl Iterator<Item = (String, Mixed<AnyBuilder>, impl Iterator<Item = u64> + Clone)> {
    all().into_iter().flat_map(|hasher| {
        awkward().map(move |(name, keys)| (format!("{:?}, {name}", hasher.0), hasher, keys))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hash::Hash;

    fn hash_bytes<S: BuildHasher>(builder: S, bytes: &[u8]) -> u64 {
        let mut hasher = builder.build_hasher();
        hasher.write(bytes);
        hasher.finish()
    }

    #[test]
    fn fnv1a_meets_its_published_vectors() {
        assert_eq!(hash_bytes(Fnv1aBuilder, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash_bytes(Fnv1aBuilder, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash_bytes(Fnv1aBuilder, b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn crc64_meets_its_check_value() {
        assert_eq!(hash_bytes(Crc64Builder, b"123456789"), 0x995d_c9bb_df19_39fa);
    }

    #[test]
    fn fx_multiplies_each_word_once() {
        assert_eq!(FxBuilder.hash_one(1u64), FX_MULTIPLIER);
        assert_eq!(FxBuilder.hash_one(0u64), 0);
    }

    #[test]
    fn the_identity_leaves_integers_alone() {
        for key in [0, 1, 12_345, u64::MAX] {
            assert_eq!(IdentityBuilder.hash_one(key), key);
        }
        assert_eq!(IdentityBuilder.hash_one(7u32), 7);
    }

    #[test]
    fn no_hasher_maps_two_short_words_to_one_hash() {
        fn distinct<S: BuildHasher>(builder: S) -> usize {
            let words = (0..10_000).map(|index| format!("key-{index}"));
            let hashes: std::collections::HashSet<u64> =
                words.map(|word| builder.hash_one(word)).collect();
            hashes.len()
        }
        assert_eq!(distinct(IdentityBuilder), 10_000);
        assert_eq!(distinct(FxBuilder), 10_000);
        assert_eq!(distinct(Fnv1aBuilder), 10_000);
        assert_eq!(distinct(Crc64Builder), 10_000);
    }

    #[test]
    fn consecutive_integers_differ_by_a_constant_where_a_hash_is_linear() {
        let step = |builder: FxBuilder, key: u64| {
            builder.hash_one(key + 1).wrapping_sub(builder.hash_one(key))
        };
        assert!((0..100).all(|key| step(FxBuilder, key) == FX_MULTIPLIER));
    }

    #[test]
    fn any_hasher_is_the_one_it_is_named_for() {
        let hashes = all().map(|hasher| (format!("{:?}", hasher.0), hasher.0.hash_one("key")));
        let same: [(&str, u64); 5] = [
            ("identity", IdentityBuilder.hash_one("key")),
            ("FxHash", FxBuilder.hash_one("key")),
            ("FNV-1a", Fnv1aBuilder.hash_one("key")),
            ("CRC-64", Crc64Builder.hash_one("key")),
            ("default", DefaultHashBuilder::default().hash_one("key")),
        ];
        assert_eq!(hashes, same.map(|(name, hash)| (name.to_owned(), hash)));
        assert_eq!(on_awkward_keys().count(), 15);
    }

    #[test]
    fn a_prefix_is_no_collision() {
        fn differ<S: BuildHasher, K: Hash>(builder: &S, left: K, right: K) -> bool {
            builder.hash_one(left) != builder.hash_one(right)
        }
        assert!(differ(&FxBuilder, "abc", "abcd"));
        assert!(differ(&Fnv1aBuilder, ("ab", "c"), ("a", "bc")));
        assert!(differ(&Crc64Builder, "", "a"));
    }
}
