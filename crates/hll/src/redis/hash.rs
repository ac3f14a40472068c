/// The multiplier of `MurmurHash64A`.
const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;

/// Returns `MurmurHash64A` of a byte string, as little-endian machines compute it.
///
/// # References
/// Austin Appleby, `MurmurHash2`, 64-bit version for 64-bit platforms, 2008.
#[must_use]
pub fn murmur_hash_64a(bytes: &[u8], seed: u64) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let start = seed ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let mut hash = words.iter().fold(start, |hash, &word| {
        (hash ^ scramble(u64::from_le_bytes(word))).wrapping_mul(MULTIPLIER)
    });
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(MULTIPLIER);
    }
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 47)
}

fn scramble(word: u64) -> u64 {
    let word = word.wrapping_mul(MULTIPLIER);
    (word ^ (word >> 47)).wrapping_mul(MULTIPLIER)
}
