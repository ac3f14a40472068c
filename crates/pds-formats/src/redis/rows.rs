//! The rows of `RedisBloom`'s sketches, which have a place for each item.

use core::array;

use crate::hash::murmur2_32_each;

/// Rows whose hashes are computed together.
// The default top-k list has seven rows, and a count-min sketch for 1 % has seven, too.
const LANES: usize = 8;

/// Returns the place of an item in each of `depth` rows of `width` places. The seed of a row is its number.
#[expect(clippy::cast_possible_truncation, reason = "LANES is 8")]
pub(super) fn places(item: &[u8], width: u32, depth: u32) -> impl Iterator<Item = usize> {
    (0..depth).step_by(LANES).flat_map(move |first| {
        let hashes = murmur2_32_each(item, array::from_fn(|lane| first.wrapping_add(lane as u32)));
        (first..depth)
            .zip::<[u32; LANES]>(hashes)
            .map(move |(row, hash)| row as usize * width as usize + (hash % width) as usize)
    })
}
