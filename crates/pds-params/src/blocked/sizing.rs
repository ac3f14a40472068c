//! The fewest blocks for a promise, and the most items under one.

use super::params::Preference;
use super::rate::rate;
use super::{BLOCK_BITS, MAX_BLOCKS, MAX_HASHES};
use crate::bloom::HASH_COLLISION;

/// The rates between which eight hashes are the fastest choice: one bit in every lane, so that no
/// lanes have to be chosen.
const FASTEST_AT_EIGHT: core::ops::RangeInclusive<f64> = 0.0005..=0.02;

/// All numbers of hashes.
fn all_hashes() -> impl Iterator<Item = u32> {
    (2..=MAX_HASHES).step_by(2)
}

/// The numbers of hashes that a filter with this promise may have.
fn choices(promised: f64, preference: Preference) -> impl Iterator<Item = u32> {
    let eight = preference == Preference::Fastest && FASTEST_AT_EIGHT.contains(&promised);
    all_hashes().filter(move |&hashes| !eight || hashes == 8)
}

/// The number of hashes with the lowest rate for `items` in `blocks`.
pub(super) fn best_hashes(blocks: u64, items: u64) -> u32 {
    let better = |best: (u32, f64), hashes| {
        let lower = rate(blocks, items, hashes);
        if lower < best.1 { (hashes, lower) } else { best }
    };
    all_hashes().fold((8, rate(blocks, items, 8)), better).0
}

/// Whether the promise is kept, on hashes of 64 bits.
fn is_kept(promised: f64, blocks: u64, items: u64, hashes: u32) -> bool {
    rate(blocks, items, hashes) + items as f64 * HASH_COLLISION <= promised
}

/// The fewest blocks that keep the promise, and their number of hashes; none when 2^63 bits do not.
pub(super) fn least_blocks(
    items: u64,
    promised: f64,
    preference: Preference,
) -> Option<(u64, u32)> {
    let mut best: Option<(u64, u32)> = None;
    for hashes in choices(promised, preference) {
        let limit = best.map_or(MAX_BLOCKS, |(blocks, _)| blocks - 1);
        let holds = |blocks| is_kept(promised, blocks, items, hashes);
        if limit > 0 && holds(limit) {
            best = Some((least(guess(items), limit, holds), hashes));
        }
    }
    best
}

/// The most items that `blocks` blocks can hold under the promise, and their number of hashes.
pub(super) fn most_items(blocks: u64, promised: f64, preference: Preference) -> Option<(u64, u32)> {
    let mut best: Option<(u64, u32)> = None;
    for hashes in choices(promised, preference) {
        let wanted = best.map_or(1, |(items, _)| items.saturating_add(1));
        let breaks = |items| !is_kept(promised, blocks, items, hashes);
        if !breaks(wanted) {
            // 2^64 items collide with every absent key, so that this many break any promise.
            let first_broken = least(blocks.saturating_mul(BLOCK_BITS / 10), u64::MAX, breaks);
            best = Some((first_broken - 1, hashes));
        }
    }
    best
}

/// Blocks at ten bits an item: where a search starts.
fn guess(items: u64) -> u64 {
    items / (BLOCK_BITS / 10) + 1
}

/// The least x in 1..=max for which `holds`, which is monotone and holds at `max`.
fn least(guess: u64, max: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut fails, mut succeeds) = (0, max);
    let mut probe = guess.clamp(1, max);
    let mut step = 1 + guess / 4;
    while succeeds - fails > 1 {
        let held = holds(probe);
        *(if held { &mut succeeds } else { &mut fails }) = probe;
        // Steps that grow until both sides are known, halves from then on.
        probe = match (fails, succeeds) {
            (0, _) => probe.saturating_sub(step),
            (_, end) if end == max => probe.saturating_add(step),
            _ => 0,
        };
        step = step.saturating_mul(2);
        if probe <= fails || probe >= succeeds {
            probe = fails + (succeeds - fails) / 2;
        }
    }
    succeeds
}
