//! The dense form: one byte a register, which holds its rank.

use crate::coupon::rank_below;

/// Makes every register the greater one of both.
pub(crate) fn merge(registers: &mut [u8], others: &[u8]) {
    debug_assert_eq!(registers.len(), others.len());
    for (register, &other) in registers.iter_mut().zip(others) {
        *register = other.max(*register);
    }
}

/// The registers at a precision that is lower by `dropped`, as if built there.
pub(crate) fn fold(registers: &[u8], dropped: u32) -> impl Iterator<Item = u8> {
    registers.chunks_exact(1 << dropped).map(move |block| {
        // All keys of a register but the first of its block have their rank in the dropped bits; the
        // earlier the register, the greater.
        let first = (0u32..).zip(block).find(|&(_, &rank)| rank != 0);
        first.map_or(0, |(index, &rank)| rank_below(index, dropped, rank))
    })
}

/// How many registers have each rank.
///
/// Four counters a rank, taken in turn, keep equal ranks in a row from waiting for each other.
pub(crate) fn histogram(registers: &[u8]) -> [u32; 64] {
    let mut counts = [[0u32; 64]; 4];
    let (quads, rest) = registers.as_chunks::<4>();
    for quad in quads {
        for (lane, &rank) in counts.iter_mut().zip(quad) {
            lane[usize::from(rank & 63)] += 1;
        }
    }
    for &rank in rest {
        counts[0][usize::from(rank & 63)] += 1;
    }
    core::array::from_fn(|rank| counts.iter().map(|lane| lane[rank]).sum())
}

/// Four ranks of six bits in three bytes, the least significant bits first.
#[inline]
pub(crate) fn pack(ranks: [u8; 4]) -> [u8; 3] {
    let [a, b, c, d] = ranks.map(u32::from);
    let [x, y, z, _] = (a | b << 6 | c << 12 | d << 18).to_le_bytes();
    [x, y, z]
}

/// The four ranks that [`pack`] put into three bytes.
#[inline]
pub(crate) fn unpack(packed: [u8; 3]) -> [u8; 4] {
    let [x, y, z] = packed;
    let word = u32::from_le_bytes([x, y, z, 0]);
    [0, 6, 12, 18].map(|shift| (word >> shift).to_le_bytes()[0] & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_is_reversible() {
        for i in 0..64u8 {
            let ranks = [i, 63 - i, i ^ 21, 63];
            assert_eq!(unpack(pack(ranks)), ranks);
        }
        assert_eq!(pack([1, 0, 0, 0]), [1, 0, 0]);
        assert_eq!(pack([0, 1, 0, 0]), [64, 0, 0]);
    }

    #[test]
    fn a_histogram_counts_every_register() {
        let registers: alloc::vec::Vec<u8> = (0..1027u32).map(|i| (i % 62) as u8).collect();
        let counts = histogram(&registers);
        for (rank, &count) in (0u8..).zip(&counts) {
            assert_eq!(count as usize, registers.iter().filter(|&&r| r == rank).count());
        }
    }
}
