//! XXH64 with seed 0 of the bytes of one number, as code that is inlined.
//!
//! The hash of any bytes is a call that finds out by their length what to do. This takes as long as the hash of a number.
//!
//! # References
//! Yann Collet, "xxHash fast digest algorithm", specification 0.1.1 (`xxhash_spec.md`), section "XXH64".

/// The primes of the specification, numbered as there.
const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;

/// Hashes the four bytes of a number, the least significant first.
#[inline]
pub(crate) fn hash_32(number: u32) -> u64 {
    let hash = PRIME_5.wrapping_add(4) ^ u64::from(number).wrapping_mul(PRIME_1);
    finish(hash.rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3))
}

/// Hashes the eight bytes of a number, the least significant first.
#[inline]
pub(crate) fn hash_64(number: u64) -> u64 {
    let lane = number.wrapping_mul(PRIME_2).rotate_left(31).wrapping_mul(PRIME_1);
    let hash = PRIME_5.wrapping_add(8) ^ lane;
    finish(hash.rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4))
}

#[inline]
fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME_2);
    let hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME_3);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use pds_testkit::keys;
    use xxhash_rust::xxh64::xxh64;

    use super::*;

    fn agrees(number: u64) {
        assert_eq!(hash_64(number), xxh64(&number.to_le_bytes(), 0), "{number}");
        let [low, high] = [number, number >> 32].map(|half| half & u64::from(u32::MAX));
        for half in [low, high].map(|half| u32::try_from(half).unwrap()) {
            assert_eq!(hash_32(half), xxh64(&half.to_le_bytes(), 0), "{half}");
        }
    }

    #[test]
    fn a_number_has_the_hash_of_its_bytes() {
        (0..64).for_each(|bit| agrees(1 << bit));
        [0, u64::MAX, i64::MIN.cast_unsigned(), f64::NAN.to_bits()].into_iter().for_each(agrees);
        keys::random(20).take(100_000).for_each(agrees);
    }
}
