//! One cache line of counters: eight lanes of sixteen, one counter of a key in each.
//!
//! Line and fields are those of the blocked Bloom filter with eight hashes; of the six bits with which it
//! chooses among 64 bits, the upper four choose among 16 counters. Plain code over whole lines: lanes are
//! independent, so that the compiler makes vectors of it where each of them can be shifted by itself.

use pds_core::internal::{GOLDEN_RATIO, StoredWord};

use crate::Bits4;
use crate::counter::{self, sealed::Sealed};

/// Lanes of a line.
pub(crate) const LANES: usize = 8;

/// Eight words of 16 counters.
pub(crate) type Line = [u64; LANES];

/// A line as it is stored.
pub(crate) type StoredLine<W> = [W; LANES];

/// Reads a line.
#[inline(always)]
pub(crate) fn load<W: StoredWord>(line: &StoredLine<W>) -> Line {
    line.each_ref().map(W::value)
}

/// The bit at which the field of the first lane starts, of which four bits are used.
const FIRST_FIELD: u32 = 60;

/// Bits from one lane's field to the next: six, as in the blocked Bloom filter.
const FIELD_STEP: u32 = 6;

/// Returns the word whose fields choose a counter of each lane. The hash itself chooses the line.
#[inline(always)]
pub(crate) const fn fields(hash: u64) -> u64 {
    hash.wrapping_mul(GOLDEN_RATIO)
}

/// Returns the bit of each lane at which the key's counter starts.
#[inline(always)]
fn shifts(fields: u64) -> [u32; LANES] {
    core::array::from_fn(|lane| shift(fields, lane))
}

/// Returns the bit of a lane at which the key's counter starts.
// A field is the number of a counter. Cut out two bits further up, it is the first bit of that counter.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a bit of a word")]
const fn shift(fields: u64, lane: usize) -> u32 {
    const { assert!(Bits4::BITS == 4) };
    let field = fields >> (FIRST_FIELD - 2 - FIELD_STEP * lane as u32);
    (field & (Bits4::MAX << 2)) as u32
}

/// Returns whether all counters of the key are above zero.
// Takes half the time of `least`: no counter has to be moved to where it can be compared.
#[inline(always)]
pub(crate) fn holds(line: &Line, fields: u64) -> bool {
    let raised = |lane: usize| line[lane] & (Bits4::MAX << shift(fields, lane)) != 0;
    (0..LANES).fold(true, |all, lane| all & raised(lane))
}

/// Returns the least of the key's counters.
#[inline(always)]
pub(crate) fn least(line: &Line, fields: u64) -> u64 {
    let value = |lane: usize| counter::value::<Bits4>(line[lane], shift(fields, lane));
    (0..LANES).fold(Bits4::MAX, |least, lane| least.min(value(lane)))
}

/// Increments the key's counter of each lane, unless it is saturated.
#[inline(always)]
pub(crate) fn raise(line: &mut Line, fields: u64) {
    for (word, shift) in line.iter_mut().zip(shifts(fields)) {
        *word = counter::raise::<Bits4>(*word, shift);
    }
}

/// Decrements the key's counter of each lane, none of which is zero, unless it is saturated.
#[inline(always)]
pub(crate) fn lower(line: &mut Line, fields: u64) {
    for (word, shift) in line.iter_mut().zip(shifts(fields)) {
        *word = counter::lower::<Bits4>(*word, shift);
    }
}

/// Returns the fraction of absent keys of this line that are found in it.
pub(crate) fn rate(line: &Line) -> f64 {
    let fill = |word: u64| f64::from(counter::raised::<Bits4>(word).count_ones()) / 16.0;
    line.iter().map(|&word| fill(word)).product()
}
