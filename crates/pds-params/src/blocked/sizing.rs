//! The fewest blocks for a promise, and the most items under a promise.

use super::params::Preference;
use super::rate::{rate, split_block_rate_with_collisions};
use super::{BLOCK_BITS, MAX_BLOCKS, MAX_HASHES, MAX_SPLIT_BLOCKS};
use crate::ParamError;
use crate::bloom::HASH_COLLISION;
use crate::check::{check_collisions, check_items, check_rate};
use crate::internal::ParamFault;

/// The rates for which eight hashes are the fastest choice. They have one bit in every lane, so no lanes are chosen.
const FASTEST_AT_EIGHT: core::ops::RangeInclusive<f64> = 0.0005..=0.02;

/// Returns all numbers of hashes.
fn all_hashes() -> impl Iterator<Item = u32> {
    (2..=MAX_HASHES).step_by(2)
}

/// Returns the numbers of hashes that a filter with this promise may have.
fn choices(promised: f64, preference: Preference) -> impl Iterator<Item = u32> {
    let eight = preference == Preference::Fastest && FASTEST_AT_EIGHT.contains(&promised);
    all_hashes().filter(move |&hashes| !eight || hashes == 8)
}

/// Returns the number of hashes with the lowest rate for `items` in `blocks`.
pub(super) fn best_hashes(blocks: u64, items: u64) -> u32 {
    let better = |best: (u32, f64), hashes| {
        let lower = rate(blocks, items, hashes);
        if lower < best.1 { (hashes, lower) } else { best }
    };
    all_hashes().fold((8, rate(blocks, items, 8)), better).0
}

/// Returns `true` if the promise is kept, on hashes of 64 bits.
fn is_kept(promised: f64, blocks: u64, items: u64, hashes: u32) -> bool {
    rate(blocks, items, hashes) + items as f64 * HASH_COLLISION <= promised
}

/// Returns the fewest blocks that keep the promise, and their number of hashes, or `None` if 2^63 bits do not keep it.
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

/// Returns the most items that `blocks` blocks can hold under the promise, and their number of hashes.
pub(super) fn most_items(blocks: u64, promised: f64, preference: Preference) -> Option<(u64, u32)> {
    let mut best: Option<(u64, u32)> = None;
    for hashes in choices(promised, preference) {
        let wanted = best.map_or(1, |(items, _)| items.saturating_add(1));
        let breaks = |items| !is_kept(promised, blocks, items, hashes);
        if !breaks(wanted) {
            // 2^64 items collide with every absent key, so this many break any promise.
            let first_broken = least(blocks.saturating_mul(BLOCK_BITS / 10), u64::MAX, breaks);
            best = Some((first_broken - 1, hashes));
        }
    }
    best
}

/// Returns the fewest blocks of Parquet's filter whose mean rate for `items` is at most `promised`.
///
/// Blocks have 256 bits. The rate is [`split_block_rate_with_collisions`].
///
/// # Errors
/// If there are no items. If the rate is not between 0 and 1. If the rate is at or below the share of 64-bit hashes
/// that collide. If more than [`MAX_SPLIT_BLOCKS`] are needed.
///
/// # Examples
/// ```
/// use pds_params::blocked::{split_block_bits, split_blocks};
/// // The usual formula misses 1 %: 8 % of the bits are missing.
/// let blocks = split_blocks(27_000, 0.01)?;
/// assert_eq!((blocks, (split_block_bits(27_000, 0.01) / 256.0).ceil()), (1_111, 1_022.0));
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn split_blocks(items: u64, promised: f64) -> Result<u64, ParamError> {
    check_items(items)?;
    check_rate(promised)?;
    check_collisions(items, promised)?;
    let holds = |blocks| split_block_rate_with_collisions(blocks, items) <= promised;
    if !holds(MAX_SPLIT_BLOCKS) {
        let max = MAX_SPLIT_BLOCKS as f64;
        return Err(ParamError(ParamFault::TooLarge {
            parameter: "blocks",
            value: 2.0 * max,
            max,
        }));
    }
    Ok(least(items / 25 + 1, MAX_SPLIT_BLOCKS, holds))
}

/// Returns the number of blocks at ten bits per item, the start of a search.
fn guess(items: u64) -> u64 {
    items / (BLOCK_BITS / 10) + 1
}

/// Returns the least x in 1..=max for which `holds`. `holds` must be monotone and hold at `max`.
fn least(guess: u64, max: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut fails, mut succeeds) = (0, max);
    let mut probe = guess.clamp(1, max);
    let mut step = 1 + guess / 4;
    while succeeds - fails > 1 {
        let held = holds(probe);
        *(if held { &mut succeeds } else { &mut fails }) = probe;
        // Steps grow until both sides are known, and are halved from then on.
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
