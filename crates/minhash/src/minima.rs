//! What a key draws in each round, and the minima that a sketch keeps.

use pds_core::hash::finalize;
use pds_core::internal::GOLDEN_RATIO;

/// Number of low bits of a minimum that hold the drawn number. The round stands above them.
pub(crate) const NUMBER_BITS: u32 = 50;

/// The minimum of a bin that no key has reached. No round is so late.
pub(crate) const EMPTY: u64 = u64::MAX;

/// Returns the 64 bits that a key draws in a round.
// The first round takes the hash as it is: all keys of a large set need it, and few need another one.
#[inline]
fn draw(hash: u64, round: u32) -> u64 {
    match round {
        0 => hash,
        _ => finalize(hash.wrapping_add(u64::from(round).wrapping_mul(GOLDEN_RATIO))),
    }
}

/// The rounds in which a key can still change one of the minima.
///
/// A minimum of round r is changed by no later round. So the greatest round of all minima is the last one that counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// The last round in which a key can change anything.
    last: u32,
    /// The minima that `late` counts are at least this: empty ones, or those of the last round.
    floor: u64,
    /// How many minima stand at or above `floor`. When none does, the limit is computed anew.
    late: u32,
}

impl Limit {
    /// Finds the limit of these minima.
    pub(crate) fn of(minima: &[u64]) -> Self {
        let greatest = minima.iter().copied().max().unwrap_or(EMPTY);
        let (last, floor) = if greatest == EMPTY {
            (rounds(minima.len()) - 1, EMPTY)
        } else {
            (round_of(greatest), greatest >> NUMBER_BITS << NUMBER_BITS)
        };
        let late = minima.iter().map(|&minimum| u32::from(minimum >= floor)).sum();
        Self { last, floor, late }
    }

    /// The limit of a sketch that is not changed.
    pub(crate) const UNUSED: Self = Self { last: 0, floor: EMPTY, late: 0 };
}

/// Returns the number of rounds for this number of bins.
#[expect(clippy::cast_possible_truncation, reason = "at most 2^13")]
pub(crate) const fn rounds(bins: usize) -> u32 {
    2 * bins as u32
}

/// Returns the round of a minimum that is not empty.
pub(crate) const fn round_of(minimum: u64) -> u32 {
    (minimum >> NUMBER_BITS) as u32
}

/// Inserts hashes, round by round. Returns whether a minimum changed.
///
/// The minima are those of inserting the hashes one by one: a minimum is the least of all that its bin was offered, and what
/// is left out is not less.
#[inline]
pub(crate) fn insert(minima: &mut [u64], limit: &mut Limit, hashes: &[u64]) -> bool {
    let mut changed = false;
    let mut round = 0;
    while round <= limit.last {
        for &hash in hashes {
            changed |= offer(minima, limit, hash, round);
        }
        round += 1;
    }
    changed
}

/// Offers what a key draws in a round to its bin. Returns whether the minimum of the bin changed.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a bin is below 2^12")]
fn offer(minima: &mut [u64], limit: &mut Limit, hash: u64, round: u32) -> bool {
    let drawn = draw(hash, round);
    // The bin is drawn in the first half of the rounds. In the second half each round has its own bin, so none stays empty.
    let drawn_rounds = minima.len();
    let bin = match (round as usize).checked_sub(drawn_rounds) {
        None => (drawn >> (u64::BITS - drawn_rounds.ilog2())) as usize,
        Some(bin) => bin,
    };
    let number = drawn & ((1 << NUMBER_BITS) - 1);
    let offered = u64::from(round) << NUMBER_BITS | number;
    let minimum = &mut minima[bin];
    if offered >= *minimum {
        return false;
    }
    let was_late = *minimum >= limit.floor && offered < limit.floor;
    *minimum = offered;
    if was_late {
        limit.late -= 1;
        if limit.late == 0 {
            *limit = Limit::of(minima);
        }
    }
    true
}
