//! The hash functions of other systems, bit for bit on every machine.
//!
//! They decide which bits of a foreign filter belong to a key, and nothing else. Filters and sketches of this family use
//! [`pds_core::hash`] instead.
//!
//! # References
//! Austin Appleby, SMHasher: `MurmurHash2` and `MurmurHash64A` (2008), `MurmurHash3` (2011), all in the public domain.

#[cfg(feature = "parquet")]
pub(crate) mod xxh64_number;

/// The multiplier of `MurmurHash64A`.
const M64: u64 = 0xc6a4_a793_5bd1_e995;

/// The multiplier of `MurmurHash2`.
const M32: u32 = 0x5bd1_e995;

/// Returns `MurmurHash64A` of a byte string, as little-endian machines compute it.
///
/// Redis and `RedisBloom` hash keys with it.
#[must_use]
#[inline]
pub fn murmur2_64a(bytes: &[u8], seed: u64) -> u64 {
    let scramble = |word: u64| {
        let word = word.wrapping_mul(M64);
        (word ^ (word >> 47)).wrapping_mul(M64)
    };
    let (words, rest) = bytes.as_chunks();
    let start = seed ^ (bytes.len() as u64).wrapping_mul(M64);
    let mut hash = words
        .iter()
        .fold(start, |hash, &word| (hash ^ scramble(u64::from_le_bytes(word))).wrapping_mul(M64));
    if !rest.is_empty() {
        hash = (hash ^ u64::from_le_bytes(padded(rest))).wrapping_mul(M64);
    }
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(M64);
    hash ^ (hash >> 47)
}

/// Returns `MurmurHash2` of a byte string, the first version with 32 bits, as little-endian machines compute it.
///
/// `RedisBloom` hashes the keys of count-min sketches and `TopK` with it.
#[must_use]
#[inline]
pub fn murmur2_32(bytes: &[u8], seed: u32) -> u32 {
    let [hash] = murmur2_32_each(bytes, [seed]);
    hash
}

/// Returns [`murmur2_32`] for each of these seeds.
// The words of the byte string are mixed once for all seeds, and the seeds side by side.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the hash takes the low 32 bits of the length")]
pub(crate) fn murmur2_32_each<const N: usize>(bytes: &[u8], seeds: [u32; N]) -> [u32; N] {
    let (words, rest) = bytes.as_chunks();
    let mut hashes = seeds.map(|seed| seed ^ bytes.len() as u32);
    for &word in words {
        let word = u32::from_le_bytes(word).wrapping_mul(M32);
        let word = (word ^ (word >> 24)).wrapping_mul(M32);
        hashes = hashes.map(|hash| hash.wrapping_mul(M32) ^ word);
    }
    if !rest.is_empty() {
        let rest = u32::from_le_bytes(padded(rest));
        hashes = hashes.map(|hash| (hash ^ rest).wrapping_mul(M32));
    }
    hashes.map(|hash| {
        let hash = (hash ^ (hash >> 13)).wrapping_mul(M32);
        hash ^ (hash >> 15)
    })
}

/// Returns `MurmurHash3_x86_32` of a byte string.
#[must_use]
#[inline]
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let (words, rest) = bytes.as_chunks();
    let hash = words.iter().fold(seed, |hash, &word| step_32(hash, u32::from_le_bytes(word)));
    // A tail of zeros only, or none, is mixed to zero.
    let hash = hash ^ scramble_32(u32::from_le_bytes(padded(rest)));
    finish_32(hash, bytes.len())
}

/// Returns Spark's variant of `MurmurHash3_x86_32`.
///
/// Each byte of the tail is extended by its sign and mixed as a whole word.
#[must_use]
#[inline]
pub fn spark_murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let (words, rest) = bytes.as_chunks();
    let hash = words.iter().fold(seed, |hash, &word| step_32(hash, u32::from_le_bytes(word)));
    let signed = |byte: u8| i32::from(byte.cast_signed()).cast_unsigned();
    let hash = rest.iter().fold(hash, |hash, &byte| step_32(hash, signed(byte)));
    finish_32(hash, bytes.len())
}

#[inline]
fn scramble_32(word: u32) -> u32 {
    word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

#[inline]
fn step_32(hash: u32, word: u32) -> u32 {
    (hash ^ scramble_32(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the hash takes the low 32 bits of the length")]
fn finish_32(hash: u32, len: usize) -> u32 {
    let mut hash = hash ^ len as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// Returns the two halves of `MurmurHash3_x64_128` of a byte string, as little-endian machines compute it.
///
/// Both halves of the state start at `seed`, which most systems take from 32 bits and some from 64.
#[must_use]
#[inline]
pub fn murmur3_128(bytes: &[u8], seed: u64) -> [u64; 2] {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let halves = |block: &[u8; 16]| {
        let (words, _) = block.as_chunks();
        [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
    };
    let [mut h1, mut h2] = blocks.iter().map(halves).fold([seed, seed], |[h1, h2], [k1, k2]| {
        let h1 = (h1 ^ scramble_low(k1)).rotate_left(27).wrapping_add(h2);
        let h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        let h2 = (h2 ^ scramble_high(k2)).rotate_left(31).wrapping_add(h1);
        [h1, h2.wrapping_mul(5).wrapping_add(0x3849_5ab5)]
    });
    // A tail of zeros only, or none, is mixed to zero.
    let [k1, k2] = halves(&padded(rest));
    h1 ^= scramble_low(k1) ^ bytes.len() as u64;
    h2 ^= scramble_high(k2) ^ bytes.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    [h1, h2] = [h1, h2].map(finish_64);
    h1 = h1.wrapping_add(h2);
    [h1, h2.wrapping_add(h1)]
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

#[inline]
fn scramble_low(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

#[inline]
fn scramble_high(word: u64) -> u64 {
    word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

#[inline]
fn finish_64(hash: u64) -> u64 {
    let mut hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Returns a tail that is filled up with zeros.
#[inline]
fn padded<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}
