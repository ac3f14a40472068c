//! A register: four times the greatest rank u, plus 2 if rank u - 1 has occurred, plus 1 if rank u - 2 has occurred.
#![expect(clippy::cast_possible_truncation, reason = "ranks and dropped bits are below 64")]

use pds_core::internal::Backend;
use pds_params::HllParams;

use crate::batch::RaiseAll;
use crate::coupon::{max_rank, rank_below};

/// Returns the register of a single key.
#[inline]
pub(crate) const fn of_rank(rank: u8) -> u8 {
    4 * rank
}

/// Adds a key of this rank. Returns whether the register changed.
// Most keys have a rank that is at least three below the greatest. They change nothing, and one comparison finds that.
// For the rest the outcome is unpredictable, so the update is branch-free.
#[inline(always)]
pub(crate) fn raise(register: &mut u8, rank: u8) -> bool {
    let before = *register;
    if before.saturating_sub(12) >= of_rank(rank) {
        return false;
    }
    *register = merge(before, of_rank(rank));
    *register != before
}

/// Inserts many keys. Returns how many of them changed a register.
pub(crate) fn raise_many<K>(
    registers: &mut [u8],
    params: HllParams,
    keys: &[K],
    hash: impl Fn(&K) -> u64,
) -> usize {
    let raise = |index: usize, rank| raise(&mut registers[index], rank);
    Backend::best().run(RaiseAll { keys, hash, precision: params.precision(), raise })
}

/// Returns the register of the keys of both.
#[inline]
pub(crate) fn merge(left: u8, right: u8) -> u8 {
    let (high, low) = (left.max(right), left.min(right));
    // The ranks that the lower register records, its greatest first, in the positions of the higher register.
    let known = if low == 0 { 0 } else { 4 | (low & 3) };
    let apart = (high / 4 - low / 4).min(7);
    high | ((known >> apart) & 3)
}

pub(crate) fn merge_all(registers: &mut [u8], others: impl Iterator<Item = u8>) {
    for (register, other) in registers.iter_mut().zip(others) {
        *register = merge(*register, other);
    }
}

/// Returns the register that the keys of a block of 2^`dropped` registers have at the lower precision.
pub(crate) fn fold(block: &[u8], dropped: u32) -> u8 {
    let Some((&first, others)) = block.split_first() else { return 0 };
    // Keys of the first register have only zeros in the dropped bits, so all their ranks grow.
    let raised = if first == 0 { 0 } else { first + 4 * dropped as u8 };
    let taken = (1..).zip(others).filter(|&(_, &register)| register != 0);
    taken.fold(raised, |folded, (index, _)| merge(folded, of_rank(rank_below(index, dropped, 1))))
}

/// Counts the registers of each value.
pub(crate) fn histogram(registers: &[u8]) -> [u32; 256] {
    let mut counts = [[0u32; 256]; 2];
    let (pairs, rest) = registers.as_chunks::<2>();
    for pair in pairs {
        for (lane, &register) in counts.iter_mut().zip(pair) {
            lane[usize::from(register)] += 1;
        }
    }
    for &register in rest {
        counts[0][usize::from(register)] += 1;
    }
    core::array::from_fn(|value| counts[0][value] + counts[1][value])
}

/// Returns whether keys can have left this register at a precision: no rank is below 1 or above the last.
pub(crate) fn is_possible(register: u8, precision: u32) -> bool {
    match register {
        0 | 4 | 8 | 10 => true,
        1..12 => false,
        _ => u32::from(register / 4) <= max_rank(precision),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Returns the register by its definition, from the set of ranks that have occurred.
    fn of_ranks(ranks: u64) -> u8 {
        let Some(top) = ranks.checked_ilog2() else { return 0 };
        let occurred = |below| top > below && ranks >> (top - below) & 1 == 1;
        4 * top as u8 + 2 * u8::from(occurred(1)) + u8::from(occurred(2))
    }

    #[test]
    fn merging_is_the_union_of_ranks() {
        // Sets of ranks 1 to 9.
        let sets: Vec<u64> = (0..1u64 << 9).map(|set| set << 1).collect();
        for &left in &sets {
            for &right in &sets {
                assert_eq!(merge(of_ranks(left), of_ranks(right)), of_ranks(left | right));
            }
        }
        assert_eq!(merge(of_ranks(1 << 61 | 1 << 60), of_ranks(2)), 246);
    }

    #[test]
    fn a_key_is_taken_in_like_the_register_of_a_single_key() {
        for register in (0..=247).filter(|&register| is_possible(register, 4)) {
            for rank in 1..=61 {
                let mut raised = register;
                let changed = raise(&mut raised, rank);
                let expected = merge(register, of_rank(rank));
                assert_eq!((raised, changed), (expected, expected != register), "{rank}");
            }
        }
    }

    #[test]
    fn every_set_of_ranks_is_possible_and_nothing_else() {
        let mut made = [false; 256];
        for top in 0..=61 {
            for below in 0..8u128 {
                let ranks = ((8 | below) << top) >> 3 & !1;
                made[usize::from(of_ranks(ranks as u64))] = true;
            }
        }
        for (register, made) in (0..=255).zip(made) {
            assert_eq!(is_possible(register, 4), made, "{register}");
        }
        assert!(!is_possible(4 * 48, 18) && is_possible(4 * 47 + 3, 18));
    }
}
