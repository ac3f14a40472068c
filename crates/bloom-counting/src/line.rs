//! One cache line of counters: eight lanes of sixteen, one counter of a key in each.
//!
//! Line and fields are those of the blocked Bloom filter with eight hashes; of the six bits with which it
//! chooses among 64 bits, the upper four choose among 16 counters. Plain code over whole lines: lanes
//! are independent, so that the compiler makes vectors of it where the target has them.

use pds_core::hash::{finalize, reduce};
use pds_core::internal::GOLDEN_RATIO;

use crate::Bits4;
use crate::counter::{self, Counter};

/// Lanes of a line.
pub(crate) const LANES: usize = 8;

/// Eight words of 16 counters.
pub(crate) type Line = [u64; LANES];

/// The bit at which the field of the first lane starts, of which four bits are used.
const FIRST_FIELD: u32 = 60;

/// Bits from one lane's field to the next: six, as in the blocked Bloom filter.
const FIELD_STEP: u32 = 6;

/// Where a key lies: the number of its line, and the fields that choose a counter of each lane.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) fields: u64,
}

impl Place {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "lines in memory are counted by `usize`")]
    pub(crate) fn new(hash: u64, num_lines: u64) -> Self {
        let mixed = finalize(hash);
        let line = reduce(mixed, num_lines) as usize;
        Self { line, fields: mixed.wrapping_mul(GOLDEN_RATIO) }
    }

    /// The bit of each lane at which the key's counter starts.
    #[inline(always)]
    pub(crate) fn shifts(self) -> [u32; LANES] {
        core::array::from_fn(|lane| shift(self.fields, lane))
    }
}

/// A field is the number of a counter, and cut out two bits further up its first bit.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a bit of a word")]
const fn shift(fields: u64, lane: usize) -> u32 {
    const { assert!(Bits4::BITS == 4) };
    let field = fields >> (FIRST_FIELD - 2 - FIELD_STEP * lane as u32);
    (field & (Bits4::MAX << 2)) as u32
}

/// Whether all counters of the key are raised.
///
/// Half the time that the least of them takes: no counter has to be moved to where it can be compared.
#[inline(always)]
pub(crate) fn holds(line: &Line, Place { fields, .. }: Place) -> bool {
    let raised = |lane: usize| line[lane] & (Bits4::MAX << shift(fields, lane)) != 0;
    (0..LANES).fold(true, |all, lane| all & raised(lane))
}

/// The key's counter of each lane.
#[inline(always)]
pub(crate) fn values(line: &Line, shifts: &[u32; LANES]) -> [u64; LANES] {
    core::array::from_fn(|lane| counter::value::<Bits4>(line[lane], shifts[lane]))
}

/// The least of the key's counters.
#[inline(always)]
pub(crate) fn least(line: &Line, shifts: &[u32; LANES]) -> u64 {
    values(line, shifts).into_iter().fold(Bits4::MAX, u64::min)
}

/// Raises the key's counter of each lane, unless it sticks.
#[inline(always)]
pub(crate) fn raise(line: &mut Line, shifts: &[u32; LANES]) {
    for (word, &shift) in line.iter_mut().zip(shifts) {
        *word = counter::raise::<Bits4>(*word, shift);
    }
}

/// Lowers the key's counter of each lane, none of which is zero, unless it sticks.
#[inline(always)]
pub(crate) fn lower(line: &mut Line, shifts: &[u32; LANES]) {
    for (word, &shift) in line.iter_mut().zip(shifts) {
        *word = counter::lower::<Bits4>(*word, shift);
    }
}

/// The fraction of absent keys of this line that are found in it.
pub(crate) fn rate(line: &Line) -> f64 {
    let fill = |word: u64| f64::from(counter::raised::<Bits4>(word).count_ones()) / 16.0;
    line.iter().map(|&word| fill(word)).product()
}
