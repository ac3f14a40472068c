//! The dense form: one byte per register, which holds its rank.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use pds_core::internal::{Backend, Work, reduced};
use pds_params::HllParams;

use crate::batch::RaiseAll;
use crate::coupon::{Coupon, rank_below, register_and_rank_of};
use crate::martingale::Martingale;

/// The registers of a sketch, and its martingale.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    registers: Vec<u8>,
    params: HllParams,
    /// Present until something other than an insert changes the registers.
    martingale: Option<Martingale>,
}

impl Dense {
    /// Creates the form from registers that did not come from inserts alone.
    pub(crate) fn new(registers: Vec<u8>, params: HllParams) -> Self {
        debug_assert_eq!(registers.len() as u64, params.num_registers());
        Self { registers, params, martingale: None }
    }

    /// Continues the martingale from an estimate.
    pub(crate) fn followed_from(mut self, estimate: Option<f64>) -> Self {
        self.martingale = estimate.map(|estimate| Martingale::resume(estimate, &self.registers));
        self
    }

    pub(crate) const fn params(&self) -> HllParams {
        self.params
    }

    pub(crate) fn registers(&self) -> &[u8] {
        &self.registers
    }

    #[cfg(target_has_atomic = "8")]
    pub(crate) fn into_registers(self) -> Vec<u8> {
        self.registers
    }

    pub(crate) fn martingale_estimate(&self) -> Option<f64> {
        self.martingale.as_ref().map(Martingale::estimate)
    }

    #[inline]
    pub(crate) fn insert_hash(&mut self, hash: u64) -> bool {
        let (register, rank) = register_and_rank_of(hash, self.registers.len());
        // The register of the hash, without a bounds check.
        let is_raised = rank > *reduced(&self.registers, hash);
        if is_raised {
            self.raise(register, rank);
        }
        is_raised
    }

    /// Raises a register.
    // A function of its own, so that the code of an insert that changes nothing stays small. Most inserts change
    // nothing.
    #[inline(never)]
    fn raise(&mut self, register: usize, rank: u8) {
        let precision = self.params.precision();
        raise(&mut self.registers, &mut self.martingale, precision, register, rank);
    }

    /// Inserts many keys. Returns how many of them changed a register, one after the other.
    pub(crate) fn insert_batch<K>(&mut self, keys: &[K], hash: impl Fn(&K) -> u64) -> usize {
        let precision = self.params.precision();
        let (registers, martingale) = (&mut self.registers[..], &mut self.martingale);
        let raise = |register, rank| raise(registers, martingale, precision, register, rank);
        Backend::best().run(RaiseAll { keys, hash, precision, raise })
    }

    /// Ends the martingale, because something other than an insert changes the registers.
    pub(crate) const fn forget_martingale(&mut self) {
        self.martingale = None;
    }

    /// Merges a coupon of another sketch.
    pub(crate) fn merge_coupon(&mut self, coupon: Coupon) {
        raise_to(&mut self.registers, self.params.precision(), coupon);
    }

    /// Merges the registers of another sketch whose precision is not lower.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.forget_martingale();
        merge(&mut self.registers, &other.registers_at(self.params.precision()));
    }

    /// Lowers the precision to one that is not greater.
    pub(crate) fn fold_to(&mut self, params: HllParams) {
        if params != self.params {
            let registers = self.registers_at(params.precision()).into_owned();
            *self = Self::new(registers, params).followed_from(self.martingale_estimate());
        }
    }

    /// Returns the registers at a precision that is not greater than theirs.
    pub(crate) fn registers_at(&self, precision: u32) -> Cow<'_, [u8]> {
        match self.params.precision() - precision {
            0 => Cow::Borrowed(&self.registers),
            dropped => Cow::Owned(fold(&self.registers, dropped).collect()),
        }
    }
}

/// The martingale is not compared, because it depends on the order of inserts.
impl PartialEq for Dense {
    fn eq(&self, other: &Self) -> bool {
        self.registers == other.registers
    }
}

/// Raises a register to a rank, and updates the martingale. Returns whether the register was lower.
#[inline(always)]
fn raise(
    registers: &mut [u8],
    martingale: &mut Option<Martingale>,
    precision: u32,
    register: usize,
    rank: u8,
) -> bool {
    let present = &mut registers[register];
    if rank <= *present {
        return false;
    }
    if let Some(martingale) = martingale {
        martingale.observe(precision, *present, rank);
    }
    *present = rank;
    true
}

/// Raises the register of a coupon to its rank.
pub(crate) fn raise_to(registers: &mut [u8], precision: u32, coupon: Coupon) {
    let (register, rank) = coupon.at_precision(precision);
    registers[register] = rank.max(registers[register]);
}

/// Replaces every register by the greater one of both.
pub fn merge(registers: &mut [u8], others: &[u8]) {
    debug_assert_eq!(registers.len(), others.len());
    Backend::best().run(Merge { registers, others });
}

struct Merge<'a> {
    registers: &'a mut [u8],
    others: &'a [u8],
}

impl Work for Merge<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (register, &other) in self.registers.iter_mut().zip(self.others) {
            *register = other.max(*register);
        }
    }
}

/// Returns the registers at a precision that is lower by `dropped`, as if built at that precision.
pub(crate) fn fold(registers: &[u8], dropped: u32) -> impl Iterator<Item = u8> {
    registers.chunks_exact(1 << dropped).map(move |block| {
        // Except for the first register of a block, all keys of a register have their rank in the dropped bits. Earlier
        // registers have greater ranks.
        let first = (0u32..).zip(block).find(|&(_, &rank)| rank != 0);
        first.map_or(0, |(index, &rank)| rank_below(index, dropped, rank))
    })
}

/// Counts the registers of each rank.
// Four counters per rank are used in turn, so that successive equal ranks do not wait for each other.
#[must_use]
pub fn histogram(registers: &[u8]) -> [u32; 64] {
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

/// Packs four ranks of six bits into three bytes, the least significant bits first.
#[inline]
fn pack(ranks: [u8; 4]) -> [u8; 3] {
    let [a, b, c, d] = ranks.map(u32::from);
    let [x, y, z, _] = (a | b << 6 | c << 12 | d << 18).to_le_bytes();
    [x, y, z]
}

/// Packs ranks, six bits each.
#[must_use]
pub fn packed(registers: &[u8]) -> Vec<u8> {
    registers.as_chunks().0.iter().flat_map(|&ranks| pack(ranks)).collect()
}

/// Returns ranks of six bits, as [`packed`] leaves them. Bytes that are no multiple of three end with some that are ignored.
// Eight ranks at a time: the six bits of each move apart in one word, in three steps. Four at a time took twice as long
// (2026-11-30).
#[must_use]
pub fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut ranks = alloc::vec![0; packed.len() / 3 * 4];
    let ((sixes, rest), (eights, last)) = (packed.as_chunks(), ranks.as_chunks_mut());
    for (ranks, &six) in eights.iter_mut().zip(sixes) {
        *ranks = unpack_eight(six);
    }
    for (ranks, &packed) in last.as_chunks_mut().0.iter_mut().zip(rest.as_chunks().0) {
        *ranks = unpack(packed);
    }
    ranks
}

/// Returns the eight ranks of six bytes.
#[inline]
fn unpack_eight([a, b, c, d, e, f]: [u8; 6]) -> [u8; 8] {
    let word = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
    let halves = word & 0x00ff_ffff | (word & 0xffff_ff00_0000) << 8;
    let pairs = halves & 0x0fff_0000_0fff | (halves & 0x00ff_f000_00ff_f000) << 4;
    let ranks = pairs & 0x003f_003f_003f_003f | (pairs & 0x0fc0_0fc0_0fc0_0fc0) << 2;
    ranks.to_le_bytes()
}

/// Returns the four ranks that `pack` put into three bytes.
#[inline]
#[must_use]
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
    fn all_ranks_come_back_from_packed_ones() {
        for len in (0..200_u32).step_by(4) {
            for seed in 0..64 {
                let ranks: Vec<u8> =
                    (0..len).map(|i| ((i * i + seed * i + seed) % 64) as u8).collect();
                assert_eq!(unpacked(&packed(&ranks)), ranks);
            }
        }
        // Every bit has one place.
        for bit in 0..48 {
            let bytes = (1u64 << bit).to_le_bytes();
            let four_by_four: Vec<u8> =
                bytes[..6].as_chunks().0.iter().flat_map(|&packed| unpack(packed)).collect();
            assert_eq!(unpacked(&bytes[..6]), four_by_four, "{bit}");
        }
        assert!(unpacked(&[1, 2]).is_empty());
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
