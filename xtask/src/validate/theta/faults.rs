//! Faults of theta sketches.

use super::{MEAN_NUMBER, Pairs};
use crate::validate::prelude::*;
use pds::theta::ThetaSet;
use pds::{CompactThetaSketch, ThetaSketch};

pub(super) const FAULTS: [Fault; 1] = [fault(
    "theta-not-lowered",
    "a union of theta sketches keeps the higher theta of the two",
    &[MEAN_NUMBER],
    |run| {
        let pairs = Pairs { sizes: [64, 256], left: 1_200, right: 800, common: 400 };
        vec![pairs.job(run, &[("union", union_with_higher_theta, Pairs::union)])]
    },
)];

/// All hashes of both, below the higher theta.
fn union_with_higher_theta(left: &ThetaSketch, right: &ThetaSketch) -> CompactThetaSketch {
    let mut hashes: Vec<u64> = left.ascending().chain(right.ascending()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let theta = left.theta64().max(right.theta64());
    // The compact bytes with a theta below one: 3 preamble longs, ordered.
    let mut bytes = vec![3, 3, 3, 0, 0, 0b1_1010];
    bytes.extend(left.hasher().seed_hash().to_le_bytes());
    bytes.extend((hashes.len() as u64).to_le_bytes());
    bytes.extend(theta.to_le_bytes());
    bytes.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
    CompactThetaSketch::from_bytes(&bytes).expect("hashes below theta")
}
