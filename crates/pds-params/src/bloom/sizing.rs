//! The least filter for a promise, and the most items under a promise.

use super::exact::rate_exact;
use super::rate::{instance_rate_relative_spread, rate_finite};
use super::{MAX_BITS, MAX_HASHES};

/// The probability that two different keys have the same 64-bit hash, 2^-64.
///
/// An absent key whose hash equals a stored one is a false positive at any size. The rate of n items therefore cannot
/// be below n times this probability.
pub const HASH_COLLISION: f64 = 1.0 / (u64::MAX as f64 + 1.0);

/// The size above which one bit more or less changes a rate by less than a few times its rounding error.
const EXACT_BITS: u64 = 1 << 40;

/// The relative error of a bound that rounding may cause.
const SLACK: f64 = 16.0 * f64::EPSILON;

/// The relative error of a rate that rounding may cause. Smaller differences are not improvements.
const NOISE: f64 = 1e-12;

/// The relative error that rounding may cause in the finite formula and in the exact rate.
const FINITE_SLACK: f64 = 1e-11;

/// Returns an upper bound of the rate that double hashing adds to the mean rate of independent positions.
///
/// The bound is 8n / (mk)^3 for four or more hashes, and 0 for fewer. It matters for a handful of items and rates below
/// 10^-6.
///
/// Three numbers determine all positions of a key: the first position, the step and the increment of the step. Two keys
/// probe the same bits if these agree within 1/m, 1/(mk) and 1/(mk²). The probability is near 1 / (m · mk · mk²).
// Simulated at loads so light that nothing else matters (6·10^9 absent keys each at m = 64 to 128, k = 8 to 12, n = 1)
// the excess is 3.4 to 4.7 times n / (mk)^3, within 9 to 23 % each. At half fill, the rates of 42 shapes from m = 8 to
// 1,000 show no other excess (`docs/hashing.md`, section 3).
#[must_use]
pub fn scheme_excess(bits: u64, items: u64, hashes: u32) -> f64 {
    if hashes < 4 || items == 0 {
        return 0.0;
    }
    let positions = bits as f64 * f64::from(hashes);
    8.0 * items as f64 / (positions * positions * positions)
}

/// The derivation of a filter's positions from a key.
#[derive(Clone, Copy)]
pub(super) enum Positions {
    /// Each position by a hash function of its own.
    Independent,
    /// All positions by the family's double hashing of one 64-bit hash.
    DoubleHashed,
}

impl Positions {
    /// Returns the mean rate of a filter.
    pub(super) fn rate(self, bits: u64, items: u64, hashes: u32) -> f64 {
        (rate_exact(bits, items, hashes) + self.excess(bits, items, hashes)).min(1.0)
    }

    /// Returns the rate that these positions add to that of independent ones. It is proportional to the items.
    fn excess(self, bits: u64, items: u64, hashes: u32) -> f64 {
        match self {
            Self::Independent => 0.0,
            Self::DoubleHashed => {
                scheme_excess(bits, items, hashes) + items as f64 * HASH_COLLISION
            }
        }
    }

    /// Returns the number of hashes with the lowest rate for `items` in `bits`.
    pub(super) fn best_hashes(self, bits: u64, items: u64) -> u32 {
        self.best_hashes_near(self.likely_hashes(bits, items), bits, items)
    }

    /// Returns the number of hashes with the lowest rate, up to the third order in the spread of the fill.
    fn likely_hashes(self, bits: u64, items: u64) -> u32 {
        least_by(|hashes| {
            let spread = instance_rate_relative_spread(bits, items, hashes);
            let mean = rate_finite(bits, items, hashes) * libm::exp(0.5 * spread * spread);
            mean + self.excess(bits, items, hashes)
        })
    }

    /// Searches from `start` for the nearest number of hashes whose neighbours have no lower rate.
    fn best_hashes_near(self, start: u32, bits: u64, items: u64) -> u32 {
        let mut best = (start, self.rate(bits, items, start));
        for step in [-1, 1] {
            while let Some(next) =
                best.0.checked_add_signed(step).filter(|k| (1..=MAX_HASHES).contains(k))
            {
                let lower = self.rate(bits, items, next);
                if lower >= best.1 * (1.0 - NOISE) {
                    break;
                }
                best = (next, lower);
            }
        }
        best.0
    }
}

/// A false-positive rate that filters of one kind must keep.
#[derive(Clone, Copy)]
pub(super) struct Promise {
    /// The greatest mean rate allowed.
    pub(super) rate: f64,
    /// The kind of filter.
    pub(super) positions: Positions,
}

impl Promise {
    fn is_kept(&self, bits: u64, items: u64, hashes: u32) -> bool {
        // The finite formula is a lower bound of the rate, and is cheap to compute.
        let bound = rate_finite(bits, items, hashes) * (1.0 - FINITE_SLACK)
            + self.positions.excess(bits, items, hashes);
        bound <= self.rate && self.positions.rate(bits, items, hashes) <= self.rate
    }

    /// Returns the natural logarithm of the fraction of clear bits at a fill of p^(1/k).
    fn log_clear(&self, hashes: u32) -> f64 {
        let log_fill = libm::log(self.rate) / f64::from(hashes);
        if log_fill < -core::f64::consts::LN_2 {
            libm::log1p(-libm::exp(log_fill))
        } else {
            libm::log(-libm::expm1(log_fill))
        }
    }

    /// Returns the real number of bits at which the finite formula meets the promise.
    ///
    /// That formula is a lower bound of the rate, so the result is a lower bound of the size.
    pub(super) fn bits_by_finite(&self, items: u64, hashes: u32) -> f64 {
        let throws = f64::from(hashes) * items as f64;
        -1.0 / libm::expm1(self.log_clear(hashes) / throws)
    }

    /// Returns the real number of bits at which the excess of the positions alone meets the promise.
    fn bits_by_excess(&self, items: u64, hashes: u32) -> f64 {
        // At the greatest size, only collisions of whole hashes are left of the excess.
        let collisions = self.positions.excess(u64::MAX, items, hashes);
        let of_one_bit = self.positions.excess(1, items, hashes) - collisions;
        libm::cbrt(of_one_bit / (self.rate - collisions))
    }

    /// Returns a lower bound of the size. It decreases up to some number of hashes, and increases beyond.
    fn bits_bound(&self, items: u64, hashes: u32) -> f64 {
        self.bits_by_finite(items, hashes).max(self.bits_by_excess(items, hashes)) * (1.0 - SLACK)
    }

    /// Returns an upper bound of the items. It increases up to some number of hashes, and decreases beyond.
    fn items_bound(&self, bits: u64, hashes: u32) -> f64 {
        let by_finite =
            self.log_clear(hashes) / (f64::from(hashes) * libm::log1p(-1.0 / bits as f64));
        let by_excess = self.rate / self.positions.excess(bits, 1, hashes);
        by_finite.min(by_excess) * (1.0 + SLACK)
    }

    /// Returns the best number of hashes for a fill of one half, log2(1/p), clamped to its range.
    pub(super) fn hashes_at_half_fill(&self) -> u32 {
        clamp_hashes(-libm::log2(self.rate))
    }

    /// Returns the least number of bits that keeps the promise for any number of hashes, and the best number for it.
    // Every number of hashes that may be best is tried, the likely best first. The bound excludes the others.
    pub(super) fn least_bits(&self, items: u64) -> Option<(u64, u32)> {
        let mut best: Option<(u64, u32)> = None;
        let mut try_hashes = |hashes| {
            let bound = self.bits_bound(items, hashes);
            let limit = best.map_or(MAX_BITS, |(bits, _)| bits - 1);
            let possible = bound <= limit as f64;
            let keeps = |bits| self.is_kept(bits, items, hashes);
            // The likely best is rarely beaten, and only slightly, so the search goes down from it.
            let guess = if best.is_some() { limit } else { to_u64(bound) };
            if possible && (best.is_some() || keeps(limit)) {
                best = first(guess, limit, keeps).map(|bits| (bits, hashes)).or(best);
            }
            possible
        };
        let start = least_by(|hashes| self.bits_bound(items, hashes));
        let size = to_u64(self.bits_bound(items, start)).max(1);
        try_hashes(self.positions.likely_hashes(size, items));
        outwards(start, try_hashes);
        best.map(|(bits, hashes)| {
            let bits = guard(bits);
            (bits, self.positions.best_hashes_near(hashes, bits, items))
        })
    }

    /// Returns the fewest hashes that keep the promise with at most 1/15 more than `bits` bits, and the least number of bits for
    /// them. `bits` must keep the promise for some number of hashes.
    pub(super) fn fewest_hashes(&self, items: u64, bits: u64) -> Option<(u64, u32)> {
        let limit = bits.saturating_add(bits / 15).min(MAX_BITS);
        let hashes = (1..=MAX_HASHES).find(|&hashes| self.is_kept(limit, items, hashes))?;
        let guess = to_u64(self.bits_bound(items, hashes));
        let bits = first(guess, limit, |bits| self.is_kept(bits, items, hashes))?;
        Some((guard(bits), hashes))
    }

    /// Returns the most items that `bits` bits can hold under the promise, with their number of hashes.
    pub(super) fn most_items(&self, bits: u64) -> Option<(u64, u32)> {
        let mut best: Option<(u64, u32)> = None;
        let mut try_hashes = |hashes| {
            let bound = self.items_bound(bits, hashes);
            let wanted = best.map_or(1, |(items, _)| items.saturating_add(1));
            let possible = bound >= wanted as f64;
            if possible && self.is_kept(bits, wanted, hashes) {
                let breaks = |items| !self.is_kept(bits, items, hashes);
                let items = first(to_u64(bound), u64::MAX, breaks).map_or(u64::MAX, |n| n - 1);
                best = Some((items, hashes));
            }
            possible
        };
        let start = least_by(|hashes| -libm::floor(self.items_bound(bits, hashes)));
        let items = to_u64(self.items_bound(bits, start)).max(1);
        try_hashes(self.positions.likely_hashes(bits, items));
        outwards(start, try_hashes);
        best.map(|(items, hashes)| (items, self.positions.best_hashes_near(hashes, bits, items)))
    }
}

/// Returns the number of hashes at which `bound` is least.
fn least_by(bound: impl Fn(u32) -> f64) -> u32 {
    let lower = |best: (u32, f64), hashes| {
        let next = bound(hashes);
        if next < best.1 { (hashes, next) } else { best }
    };
    (2..=MAX_HASHES).fold((1, bound(1)), lower).0
}

/// Tries numbers of hashes from `ideal` downwards and upwards, in each direction until one is not possible.
fn outwards(ideal: u32, mut try_hashes: impl FnMut(u32) -> bool) {
    for hashes in (1..=ideal).rev() {
        if !try_hashes(hashes) {
            break;
        }
    }
    for hashes in ideal + 1..=MAX_HASHES {
        if !try_hashes(hashes) {
            break;
        }
    }
}

/// Adds 2^-42 to a size above [`EXACT_BITS`], the part that rounding may hide.
fn guard(bits: u64) -> u64 {
    if bits <= EXACT_BITS {
        return bits;
    }
    (bits + (bits >> 42) + 1).min(MAX_BITS)
}

/// Returns the least x in 1..=max for which `holds`, starting from a guess nearby. `holds` must be monotone.
fn first(guess: u64, max: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let guess = guess.clamp(1, max);
    let (mut fails, mut succeeds) = if holds(guess) {
        (below(guess, &holds), guess)
    } else {
        (guess, above(guess, max, &holds)?)
    };
    while succeeds - fails > 1 {
        let middle = fails + (succeeds - fails) / 2;
        if holds(middle) { succeeds = middle } else { fails = middle }
    }
    Some(succeeds)
}

/// Returns a number below `from` that does not hold, found by growing steps. 0 never holds.
fn below(from: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut step, mut at) = (1, from);
    while at > 0 && (at == from || holds(at)) {
        at = at.saturating_sub(step);
        step *= 2;
    }
    at
}

/// Returns a number above `from` and at most `max` that holds, found by growing steps.
fn above(from: u64, max: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut step, mut at) = (1, from);
    while at < max {
        at = at.saturating_add(step).min(max);
        if holds(at) {
            return Some(at);
        }
        step *= 2;
    }
    None
}

/// Returns the nearest allowed number of hashes.
#[expect(clippy::cast_possible_truncation, reason = "the value is in range after the clamp")]
#[expect(clippy::cast_sign_loss, reason = "the value is positive after the clamp")]
fn clamp_hashes(real: f64) -> u32 {
    libm::round(real).clamp(1.0, f64::from(MAX_HASHES)) as u32
}

/// Returns the whole part of a number, saturated to 0 and `u64::MAX`.
#[expect(clippy::cast_possible_truncation, reason = "a saturating cast is what is wanted")]
#[expect(clippy::cast_sign_loss, reason = "a saturating cast is what is wanted")]
fn to_u64(real: f64) -> u64 {
    real as u64
}
