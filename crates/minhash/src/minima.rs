//! The draws of a key in each round, and the minima that a sketch keeps.
//!
//! The first draw of a key is its hash, and each draw is that before it times [`MULTIPLIER`], modulo 2^64. All keys of a large
//! set need the first draw, and few need another one.

use pds_core::internal::MULTIPLIER;

/// Number of low bits of a minimum that hold the drawn number. The round stands above them.
pub(crate) const NUMBER_BITS: u32 = 50;

/// The minimum of a bin that no key has reached. No round is so late.
pub(crate) const EMPTY: u64 = u64::MAX;

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
    /// Number of bits of a draw below those that choose the bin.
    shift: u32,
}

impl Limit {
    /// The limit of a sketch that is not changed.
    pub(crate) const UNUSED: Self = Self { last: 0, floor: EMPTY, late: 0, shift: 0 };

    /// The limit of this number of empty bins.
    pub(crate) const fn of_empty(bins: u32) -> Self {
        let shift = u64::BITS - bins.ilog2();
        Self { last: 2 * bins - 1, floor: EMPTY, late: bins, shift }
    }

    /// Finds the limit of these minima.
    pub(crate) fn of(minima: &[u64]) -> Self {
        let greatest = minima.iter().copied().max().unwrap_or(EMPTY);
        let (last, floor) = if greatest == EMPTY {
            (rounds(minima.len()) - 1, EMPTY)
        } else {
            (round_of(greatest), greatest >> NUMBER_BITS << NUMBER_BITS)
        };
        let late = minima.iter().map(|&minimum| u32::from(minimum >= floor)).sum();
        Self { last, floor, late, shift: u64::BITS - minima.len().ilog2() }
    }

    /// Computes the limit anew if no minimum is late.
    #[inline]
    fn settle(&mut self, minima: &[u64]) {
        if self.late == 0 {
            *self = Self::of(minima);
        }
    }
}

/// Returns the number of rounds for this number of bins.
#[expect(clippy::cast_possible_truncation, reason = "at most 2^13")]
const fn rounds(bins: usize) -> u32 {
    2 * bins as u32
}

/// Returns the round of a minimum that is not empty.
pub(crate) const fn round_of(minimum: u64) -> u32 {
    (minimum >> NUMBER_BITS) as u32
}

/// Inserts a hash. Returns whether a minimum changed.
#[inline]
pub(crate) fn insert(minima: &mut [u64], limit: &mut Limit, hash: u64) -> bool {
    let mut changed = false;
    let (mut drawn, mut round) = (hash, 0);
    while round <= limit.last {
        let (bin, offered) = offer(drawn, round, minima.len(), limit.shift);
        let minimum = &mut minima[bin];
        if offered < *minimum {
            let was_late = *minimum >= limit.floor && offered < limit.floor;
            *minimum = offered;
            changed = true;
            limit.late -= u32::from(was_late);
            limit.settle(minima);
        }
        drawn = drawn.wrapping_mul(MULTIPLIER);
        round += 1;
    }
    changed
}

/// Inserts hashes, round by round. Returns whether a minimum changed.
///
/// The minima are those of inserting the hashes one by one: a minimum is the least of all that its bin was offered, and what
/// is left out is not less.
pub(crate) fn insert_by_rounds(minima: &mut [u64], limit: &mut Limit, hashes: &[u64]) -> bool {
    if hashes.is_empty() {
        return false;
    }
    let mut changed = false;
    let (mut multiplier, mut round) = (1_u64, 0);
    while round <= limit.last {
        let Limit { floor, shift, .. } = *limit;
        // A draw of the last round is late itself.
        let counts = floor == EMPTY || round < limit.last;
        let mut filled = 0;
        for &hash in hashes {
            let drawn = hash.wrapping_mul(multiplier);
            let (bin, offered) = offer(drawn, round, minima.len(), shift);
            // Without a branch: in small sets, whether the minimum changes cannot be foreseen.
            let minimum = minima[bin];
            filled += u32::from(minimum >= floor);
            changed |= offered < minimum;
            minima[bin] = minimum.min(offered);
        }
        if counts {
            limit.late -= filled;
            limit.settle(minima);
        }
        multiplier = multiplier.wrapping_mul(MULTIPLIER);
        round += 1;
    }
    changed
}

/// Returns the bin that a draw is offered to, and what it is offered.
///
/// The bin is drawn in the first half of the rounds. In the second half each round has its own bin, so none stays empty.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a bin is below 2^12")]
const fn offer(drawn: u64, round: u32, bins: usize, shift: u32) -> (usize, u64) {
    let bin = match (round as usize).checked_sub(bins) {
        None => (drawn >> shift) as usize,
        Some(bin) => bin,
    };
    let number = drawn & ((1 << NUMBER_BITS) - 1);
    (bin, (round as u64) << NUMBER_BITS | number)
}
