//! MurmurHash3 x64-128.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// Returns both halves of the MurmurHash3 x64-128 of these bytes. Both halves of its state start with `seed`.
#[inline]
pub(crate) fn murmur3_x64_128(bytes: &[u8], seed: u64) -> (u64, u64) {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let (mut h1, mut h2) = (seed, seed);
    for block in blocks {
        let (k1, k2) = halves(*block);
        h1 ^= mixed_first(k1);
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mixed_second(k2);
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    let (k1, k2) = halves(last);
    let length = bytes.len() as u64;
    // A half of zeros is mixed to 0, which changes nothing: so a rest of no bytes needs no case of its own.
    h1 ^= mixed_first(k1) ^ length;
    h2 ^= mixed_second(k2) ^ length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2) = (finalized(h1), finalized(h2));
    h1 = h1.wrapping_add(h2);
    (h1, h2.wrapping_add(h1))
}

fn halves(block: [u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(block);
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    let low = both as u64;
    (low, (both >> 64) as u64)
}

const fn mixed_first(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

const fn mixed_second(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

const fn finalized(mut k: u64) -> u64 {
    k = (k ^ k >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ k >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ k >> 33
}
