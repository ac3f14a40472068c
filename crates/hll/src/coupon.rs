//! Register and rank of a hash.
#![expect(clippy::cast_possible_truncation, reason = "registers have 26 bits at most, ranks 6")]

use pds_params::hll::SPARSE_PRECISION;

/// The bits of a coupon that hold the rank.
pub(crate) const RANK_BITS: u32 = 32 - SPARSE_PRECISION;
const RANK_MASK: u32 = (1 << RANK_BITS) - 1;

/// The greatest rank at a precision: all remaining bits of the hash are zero.
pub(crate) const fn max_rank(precision: u32) -> u32 {
    65 - precision
}

/// Returns register and rank of a hash at a precision.
///
/// The register is the first `precision` bits of the hash. The rank is one more than the number of zeros that follow
/// them.
#[inline(always)]
pub(crate) fn register_and_rank(hash: u64, precision: u32) -> (usize, u8) {
    // At most 2^18, from the top bits.
    let register = (hash >> (64 - precision)) as usize;
    // The bits that follow, doubled, with a one after them. The value is never 0, so one instruction counts the leading
    // zeros. Only the register needs a shift by a variable.
    let rest = (hash & (u64::MAX >> precision)) << 1 | 1;
    let rank = rest.leading_zeros() + 2 - precision;
    (register, rank as u8)
}

/// Returns register and rank of a hash out of `registers` registers: a power of two from 16 to 2^18.
// One multiplication puts the first bits into one word and the following ones into another. Shifts by a variable take
// three steps each instead. Vectors have no such multiplication.
#[inline(always)]
pub(crate) fn register_and_rank_of(hash: u64, registers: usize) -> (usize, u8) {
    let registers = registers as u64;
    let wide = u128::from(hash) * u128::from(registers);
    // A one after the last bit of the hash.
    let rest = wide as u64 | (registers / 2);
    ((wide >> 64) as usize, (rest.leading_zeros() + 1) as u8)
}

/// Register (26 bits) and rank (6 bits) of a hash at the sparse precision, in one word. It is never 0.
///
/// It determines register and rank at every lower precision. Among coupons of one register the greater one has the
/// greater rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Coupon(u32);

impl Coupon {
    #[inline]
    pub(crate) fn of_hash(hash: u64) -> Self {
        let (register, rank) = register_and_rank(hash, SPARSE_PRECISION);
        Self(((register as u32) << RANK_BITS) | u32::from(rank))
    }

    #[inline]
    pub(crate) const fn from_word(word: u32) -> Self {
        Self(word)
    }

    #[inline]
    pub(crate) const fn word(self) -> u32 {
        self.0
    }

    /// Returns the register at the sparse precision.
    #[inline]
    pub(crate) const fn index(self) -> u32 {
        self.0 >> RANK_BITS
    }

    /// Returns the bits of the register in place, with zeros in place of the rank.
    #[inline]
    pub(crate) const fn register_bits(self) -> u32 {
        self.0 & !RANK_MASK
    }

    /// Returns the rank at the sparse precision.
    #[inline]
    pub(crate) const fn rank(self) -> u8 {
        (self.0 & RANK_MASK) as u8
    }

    /// Returns whether a hash can have this coupon.
    pub(crate) fn is_possible(self) -> bool {
        (1..=max_rank(SPARSE_PRECISION)).contains(&u32::from(self.rank()))
    }

    /// Returns register and rank at a lower precision.
    #[inline]
    pub(crate) fn at_precision(self, precision: u32) -> (usize, u8) {
        let spare = SPARSE_PRECISION - precision;
        let register = self.index() >> spare;
        let below = self.index() & ((1 << spare) - 1);
        (register as usize, rank_below(below, spare, self.rank()))
    }
}

/// Returns the rank of a value of `width` bits that is followed by more bits. `rest` is their rank, 0 for none.
#[inline]
pub(crate) fn rank_below(value: u32, width: u32, rest: u8) -> u8 {
    let rank = match value.checked_ilog2() {
        Some(top) => width - top,
        None if rest == 0 => 0,
        None => width + u32::from(rest),
    };
    rank as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_the_specification() {
        let (zero, one) = (0xb70f_b2cc_55af_013f, 0x90fa_784d_ff59_df1d);
        assert_eq!(register_and_rank(zero, 14), (0x2dc3, 1));
        assert_eq!(register_and_rank(zero, 12), (0xb70, 1));
        assert_eq!(register_and_rank(one, 16), (0x90fa, 2));
        assert_eq!(register_and_rank(one, 4), (0x9, 5));
    }

    #[test]
    fn a_coupon_fixes_register_and_rank_below() {
        for hash in (0..100_000u64).map(|key| key.wrapping_mul(0x1234_5678_9abc_def1)) {
            for precision in 4..=18 {
                let direct = register_and_rank(hash, precision);
                assert_eq!(register_and_rank_of(hash, 1 << precision), direct);
                assert_eq!(Coupon::of_hash(hash).at_precision(precision), direct);
            }
        }
    }

    #[test]
    fn ranks_beyond_the_first_bits_add_up() {
        // 8 bits of zero, then rank 39, the greatest at precision 26.
        assert_eq!(Coupon::from_word(39).at_precision(18), (0, 47));
        assert_eq!(u32::from(rank_below(0, 22, 39)), max_rank(4));
        assert_eq!(rank_below(0, 5, 0), 0);
        assert_eq!([rank_below(1, 5, 9), rank_below(31, 5, 9)], [5, 1]);
    }
}
