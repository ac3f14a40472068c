//! The least filter for a promise, and the most items under one.

use super::exact::rate_exact;
use super::{MAX_BITS, MAX_HASHES};

/// The probability that two different keys have the same 64-bit hash, 2^-64.
///
/// An absent key whose hash equals a stored one is answered wrongly at any size: the rate of n
/// items cannot fall below n times this.
pub const HASH_COLLISION: f64 = 1.0 / (u64::MAX as f64 + 1.0);

/// Above this many bits one bit more or less changes a rate by less than a few times its rounding
/// error.
const EXACT_BITS: u64 = 1 << 40;

/// How much the positions of the family's double hashing raise the mean rate above that of
/// independent ones, at most: 8n / (mk)^3 from four hashes on, nothing below.
///
/// A key's positions are fixed by three numbers, so that with probability near 1 / (m · mk · mk²) two
/// keys probe the same bits throughout: keys that agree in the first position within 1/m, in the
/// step within 1/(mk), in the step's own step within 1/(mk²). Simulated at loads so light that
/// nothing else counts (6·10^9 absent keys each at m = 64 to 128, k = 8 to 12, n = 1) the excess is 3.4 to 4.7
/// times n / (mk)^3, within 9 to 23 % each. It matters for a handful of items and rates below 10^-6;
/// at half fill the rates of 42 shapes from m = 8 to 1,000 show no other excess (`docs/hashing.md`,
/// section 3).
#[must_use]
pub fn scheme_excess(bits: u64, items: u64, hashes: u32) -> f64 {
    if hashes < 4 {
        return 0.0;
    }
    let positions = bits as f64 * f64::from(hashes);
    8.0 * items as f64 / (positions * positions * positions)
}

/// A false-positive rate to be kept by filters of a kind.
#[derive(Clone, Copy)]
pub(super) struct Promise {
    /// The greatest mean rate allowed.
    pub(super) rate: f64,
    /// What the filters' positions add to the rate of independent ones.
    pub(super) excess: fn(u64, u64, u32) -> f64,
}

impl Promise {
    /// A promise for filters whose positions are independent.
    pub(super) fn independent(rate: f64) -> Self {
        Self { rate, excess: |_, _, _| 0.0 }
    }

    /// A promise for filters whose positions are double-hashed from 64-bit hashes.
    pub(super) fn double_hashing(rate: f64) -> Self {
        let excess = |bits, items, hashes| {
            scheme_excess(bits, items, hashes) + items as f64 * HASH_COLLISION
        };
        Self { rate, excess }
    }

    /// The mean rate of a filter of this kind.
    fn rate_of(&self, bits: u64, items: u64, hashes: u32) -> f64 {
        rate_exact(bits, items, hashes) + (self.excess)(bits, items, hashes)
    }

    fn is_kept(&self, bits: u64, items: u64, hashes: u32) -> bool {
        self.rate_of(bits, items, hashes) <= self.rate
    }

    /// The natural logarithm of the fraction of bits that are clear where the fill is p^(1/k).
    fn log_clear(&self, hashes: u32) -> f64 {
        libm::log(-libm::expm1(libm::log(self.rate) / f64::from(hashes)))
    }

    /// The real number of bits at which the finite formula meets the promise. As that formula is a
    /// lower bound of the rate, this is one of the size.
    pub(super) fn bits_by_finite(&self, items: u64, hashes: u32) -> f64 {
        let throws = f64::from(hashes) * items as f64;
        -1.0 / libm::expm1(self.log_clear(hashes) / throws)
    }

    /// The real number of items at which the finite formula meets the promise: an upper bound.
    fn items_by_finite(&self, bits: u64, hashes: u32) -> f64 {
        self.log_clear(hashes) / (f64::from(hashes) * libm::log1p(-1.0 / bits as f64))
    }

    /// The number of hashes that is best at a fill of one half, log2(1/p), in its range.
    pub(super) fn hashes_at_half_fill(&self) -> u32 {
        clamp_hashes(-libm::log2(self.rate))
    }

    /// The least bits that keep the promise for any number of hashes, and the best number for them.
    ///
    /// Every number of hashes that could win is tried: those left out cannot by the finite formula.
    pub(super) fn least_bits(&self, items: u64) -> Option<(u64, u32)> {
        let mut best: Option<(u64, u32)> = None;
        outwards(self.hashes_at_half_fill(), |hashes| {
            let bound = self.bits_by_finite(items, hashes);
            let limit = best.map_or(MAX_BITS, |(bits, _)| bits - 1);
            let possible = bound * (1.0 - 4.0 * f64::EPSILON) <= limit as f64;
            if possible && self.is_kept(limit, items, hashes) {
                let keeps = |bits| self.is_kept(bits, items, hashes);
                best = first(to_u64(bound), limit, keeps).map(|bits| (bits, hashes));
            }
            possible
        });
        best.map(|(bits, hashes)| {
            let bits = guard(bits);
            (bits, best_hashes(hashes, |k| self.rate_of(bits, items, k)))
        })
    }

    /// The most items that `bits` bits can hold under the promise, with their number of hashes.
    pub(super) fn most_items(&self, bits: u64) -> Option<(u64, u32)> {
        let mut best: Option<(u64, u32)> = None;
        outwards(self.hashes_at_half_fill(), |hashes| {
            let bound = self.items_by_finite(bits, hashes);
            let wanted = best.map_or(1, |(items, _)| items.saturating_add(1));
            let possible = bound * (1.0 + 4.0 * f64::EPSILON) >= wanted as f64;
            if possible && self.is_kept(bits, wanted, hashes) {
                let breaks = |items| !self.is_kept(bits, items, hashes);
                let items = first(to_u64(bound), u64::MAX, breaks).map_or(u64::MAX, |n| n - 1);
                best = Some((items, hashes));
            }
            possible
        });
        best.map(|(items, hashes)| (items, best_hashes(hashes, |k| self.rate_of(bits, items, k))))
    }
}

/// Tries numbers of hashes from `ideal` downwards and upwards, each way until one is not possible.
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

/// Adds what rounding may hide from a size beyond [`EXACT_BITS`]: 2^-42 of it.
fn guard(bits: u64) -> u64 {
    if bits <= EXACT_BITS {
        return bits;
    }
    (bits + (bits >> 42) + 1).min(MAX_BITS)
}

/// The number of hashes with the lowest rate for `items` in `bits`.
pub(super) fn best_hashes_for(bits: u64, items: u64) -> u32 {
    let start = clamp_hashes(bits as f64 / items as f64 * core::f64::consts::LN_2);
    best_hashes(start, |hashes| rate_exact(bits, items, hashes))
}

/// Walks from `start` to the nearest number of hashes whose neighbours have no lower rate.
fn best_hashes(start: u32, rate: impl Fn(u32) -> f64) -> u32 {
    let mut best = (start, rate(start));
    for step in [-1, 1] {
        while let Some(next) =
            best.0.checked_add_signed(step).filter(|k| (1..=MAX_HASHES).contains(k))
        {
            let lower = rate(next);
            if lower >= best.1 {
                break;
            }
            best = (next, lower);
        }
    }
    best.0
}

/// The least x in 1..=max for which `holds`, which must be monotone, found from a guess nearby.
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

/// A number below `from` that does not hold, by growing steps; 0 counts as one.
fn below(from: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut step, mut at) = (1, from);
    while at > 0 && (at == from || holds(at)) {
        at = at.saturating_sub(step);
        step *= 2;
    }
    at
}

/// A number above `from` and up to `max` that holds, by growing steps.
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

/// The nearest number of hashes that is allowed.
#[expect(clippy::cast_possible_truncation, reason = "the value is in range after the clamp")]
#[expect(clippy::cast_sign_loss, reason = "the value is positive after the clamp")]
fn clamp_hashes(real: f64) -> u32 {
    libm::round(real).clamp(1.0, f64::from(MAX_HASHES)) as u32
}

/// The whole part of a number, 0 below 0 and `u64::MAX` above that.
#[expect(clippy::cast_possible_truncation, reason = "a saturating cast is what is wanted")]
#[expect(clippy::cast_sign_loss, reason = "a saturating cast is what is wanted")]
fn to_u64(real: f64) -> u64 {
    real as u64
}
