//! Faults of sketches of similar sets.

use super::{ERROR_BOUND, JACCARD_SPREAD, MEAN_JACCARD, Pairs, RECALL, VALUES};
use super::{index, one_by_one, signatures};
use crate::numbers;
use crate::validate::prelude::*;
use pds::MinHash;
use pds::hash::finalize;
use pds::params::LshParams;
use pds_testkit::envelope::with_payload;

pub(super) const FAULTS: [Fault; 4] = [
    fault(
        "round-left-out",
        "a batch leaves out the second round of a MinHash sketch",
        &[MEAN_JACCARD],
        |run| {
            let left_out = |values, hashes: &[u64]| by_rounds(values, hashes, |round| round != 1);
            vec![Pairs::new(VALUES, 100, 0.5).job(run, left_out, one_by_one)]
        },
    ),
    fault(
        "independent-bins",
        "a key draws all bins of a MinHash sketch in the first round",
        &[JACCARD_SPREAD, ERROR_BOUND],
        |run| vec![Pairs::new(VALUES, 40, 0.5).job(run, independent, independent)],
    ),
    fault(
        "keeps-chance",
        "the estimate of a MinHash signature has the values that agree by chance",
        &[MEAN_JACCARD],
        |run| {
            let share = |matches: u32| real(matches.into()) / real(VALUES.into());
            vec![signatures(run, 4, 0.5, move |comparison| share(comparison.matches()))]
        },
    ),
    fault(
        "short-band",
        "the key of a band of the index of similar sets has one row too few",
        &[RECALL],
        |run| {
            let stated = LshParams::new(VALUES, 0.5, 0.9).expect("a sound design");
            let (bands, rows) = (stated.bands(), stated.rows() - 1);
            let built = LshParams::from_shape(VALUES, bands, rows).expect("a sound shape");
            vec![index(run, stated, built, 0.4)]
        },
    ),
];

/// The sketch of these keys by its definition, of the rounds that are kept.
pub(super) fn by_rounds(values: u32, hashes: &[u64], is_kept: impl Fn(u32) -> bool) -> MinHash {
    let mut minima = vec![u64::MAX; values as usize];
    for &hash in hashes {
        let mut drawn = hash;
        for round in 0..2 * values {
            let bin = match round.checked_sub(values) {
                None => drawn >> (64 - values.ilog2()),
                Some(bin) => bin.into(),
            };
            if is_kept(round) {
                offer(&mut minima, bin, u64::from(round) << 50 | drawn & ((1 << 50) - 1));
            }
            drawn = drawn.wrapping_mul(0xD134_2543_DE82_EF95);
        }
    }
    of_minima(values, &minima)
}

/// A sketch with a hash function for each bin.
fn independent(values: u32, hashes: &[u64]) -> MinHash {
    let mut minima = vec![u64::MAX; values as usize];
    for &hash in hashes {
        for bin in 0..values.into() {
            offer(&mut minima, bin, finalize(hash ^ finalize(bin)) >> 14);
        }
    }
    of_minima(values, &minima)
}

fn offer(minima: &mut [u64], bin: u64, offered: u64) {
    let minimum = &mut minima[numbers::index(bin)];
    *minimum = offered.min(*minimum);
}

fn of_minima(values: u32, minima: &[u64]) -> MinHash {
    let empty = MinHash::new(values).expect("a sound size").to_bytes();
    let payload: Vec<u8> = minima.iter().flat_map(|minimum| minimum.to_le_bytes()).collect();
    MinHash::from_bytes(&with_payload(&empty, &payload)).expect("minima that keys can draw")
}
