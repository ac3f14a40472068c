//! The rows of `RedisBloom`'s sketches, which have a place for each item.

use core::array;

use crate::hash::murmur2_32_each;

/// Rows whose places are computed together.
// The default top-k list has seven rows, and a count-min sketch for 1 % has seven, too.
const LANES: usize = 8;

/// Returns the places of an item in `depth` rows of `width` places, those of some rows together, with the number of these rows.
///
/// The seed of a row is its number. Places behind that number are those of the last row again.
#[expect(clippy::cast_possible_truncation, reason = "LANES is 8")]
pub(super) fn groups(
    item: &[u8],
    width: u32,
    depth: u32,
) -> impl Iterator<Item = ([usize; LANES], usize)> {
    (0..depth).step_by(LANES).map(move |first| {
        let rows = array::from_fn(|lane| first.saturating_add(lane as u32).min(depth - 1));
        let hashes: [u32; LANES] = murmur2_32_each(item, rows);
        let place =
            |lane: usize| rows[lane] as usize * width as usize + (hashes[lane] % width) as usize;
        (array::from_fn(place), LANES.min((depth - first) as usize))
    })
}

/// Returns the place of an item in each of `depth` rows of `width` places.
pub(super) fn places(item: &[u8], width: u32, depth: u32) -> impl Iterator<Item = usize> {
    groups(item, width, depth).flat_map(|(places, rows)| places.into_iter().take(rows))
}
