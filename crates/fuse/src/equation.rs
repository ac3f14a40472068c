//! From the hash of a key to its equation.

use pds_core::hash::finalize;

// Odd, with about as many ones as zeros: the fractional parts of the square roots of 2 and 3.
const COEFFICIENTS: u64 = 0x6A09_E667_F3BC_C909;
const FINGERPRINT: u64 = 0xBB67_AE85_84CA_A73B;

/// Returns the coefficients of a key in its window. The one of the first slot is 1.
#[inline(always)]
pub(crate) const fn coefficients(hash: u64) -> u64 {
    folded(hash, COEFFICIENTS) | 1
}

/// Returns the fingerprint of a key: 32 bits, one per column.
// Not linear over GF(2) in the coefficients: sums of stored equations would else be met by strangers more often.
#[inline(always)]
pub(crate) const fn fingerprint(hash: u64) -> u64 {
    hash.wrapping_mul(FINGERPRINT) >> 32
}

/// Returns the constant from which `rehash` makes the hashes of a layer.
pub(crate) const fn salt(layer: u64) -> u64 {
    finalize(layer)
}

/// Returns the hash of a key for a later layer. Distinct hashes stay distinct.
#[inline(always)]
pub(crate) const fn rehash(hash: u64, salt: u64) -> u64 {
    finalize(hash ^ salt)
}

/// Returns both halves of the product, folded into one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
pub(crate) const fn folded(hash: u64, factor: u64) -> u64 {
    let product = hash as u128 * factor as u128;
    (product >> 64) as u64 ^ product as u64
}
