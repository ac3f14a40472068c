//! From a hash to a quotient and a remainder, and from one size to another.

/// A quotient, and the remainder that is its entry.
pub(crate) type Fingerprint = (usize, u64);

/// Takes the quotient and the remainder from the first bits of the product of a hash and the number of slots.
// Every number of slots works, and the order of the fingerprints is the order of the hashes. Quotients are below the number
// of slots, which are in memory, so they fit a `usize`.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "both halves of the product are what is asked for"
)]
pub(crate) fn of_hash(hash: u64, slots: u64, bits: u32) -> Fingerprint {
    let product = u128::from(hash) * u128::from(slots);
    ((product >> 64) as usize, product as u64 >> (64 - bits))
}

/// Returns a fingerprint of `bits` bits in 2^`times` times the slots, with `times` bits less. `times` is below `bits`.
// The first bits of the remainder go to the quotient, because they are the next ones of the product.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the quotient is below the number of slots")]
pub(crate) const fn doubled(
    (quotient, remainder): Fingerprint,
    bits: u32,
    times: u32,
) -> Fingerprint {
    let bits = bits - times;
    (quotient << times | (remainder >> bits) as usize, remainder & ((1 << bits) - 1))
}

/// Returns a fingerprint of `bits` bits in the 2^`times`th part of the slots, with `times` bits more.
#[inline(always)]
pub(crate) const fn halved(
    (quotient, remainder): Fingerprint,
    bits: u32,
    times: u32,
) -> Fingerprint {
    let low = quotient as u64 & ((1 << times) - 1);
    (quotient >> times, low << bits | remainder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds_testkit::keys;

    /// A fingerprint is the first bits of a product, so those of all sizes follow from each other.
    #[test]
    fn a_doubled_fingerprint_is_that_of_the_greater_size() {
        for hash in keys::random(1).take(1_000).chain([0, 1, u64::MAX]) {
            for slots in [1, 3, 1_000, 1 << 20, (1 << 30) - 1] {
                for (bits, times) in [(2, 1), (9, 3), (30, 29), (33, 0)] {
                    let larger = of_hash(hash, slots << times, bits - times);
                    assert_eq!(doubled(of_hash(hash, slots, bits), bits, times), larger);
                    assert_eq!(halved(larger, bits - times, times), of_hash(hash, slots, bits));
                }
            }
        }
    }
}
