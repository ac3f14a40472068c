//! The positions of a key.

use bloom_core::DoubleHash;
use pds_params::bloom::MAX_HASHES;

/// Number of hash functions that most filters do not exceed. Up to here the buffer is small.
const FEW: usize = 16;

/// Calls `visit` with the positions of a hash, each once, in order.
// Positions may coincide, and often do in small filters. Incrementing a counter twice for one key would saturate it earlier and
// inflate estimates. To read all counters before the first is written, which needs no comparisons, was slower by a fifth.
#[inline]
pub(crate) fn for_each_distinct(hash: u64, hashes: u32, len: u64, visit: impl FnMut(u64)) {
    if hashes as usize <= FEW {
        distinct::<FEW>(hash, hashes, len, visit);
    } else {
        distinct::<{ MAX_HASHES as usize }>(hash, hashes, len, visit);
    }
}

/// Returns the positions of a hash, one for each hash function. Some may coincide.
#[inline(always)]
pub(crate) fn all(hash: u64, hashes: u32, len: u64) -> impl Iterator<Item = u64> {
    let mut probes = DoubleHash::new(hash);
    (0..hashes).map(move |_| probes.next_position(len))
}

#[inline(always)]
fn distinct<const MOST: usize>(hash: u64, hashes: u32, len: u64, mut visit: impl FnMut(u64)) {
    let mut seen = [0; MOST];
    let mut count = 0;
    for position in all(hash, hashes, len) {
        if !seen[..count].contains(&position) {
            seen[count] = position;
            count += 1;
            visit(position);
        }
    }
}
