//! Sketches of numbers of keys that nobody can insert, drawn from the law of their registers.

use super::{Errors, NAME, Series, judge};
use crate::validate::prelude::*;
use pds::hll::internal::{
    FINITE_SIZE, improved, maximum_likelihood, ultra_fgra, ultra_maximum_likelihood,
};
use pds::params::HllParams;
use pds::params::hll::CardinalityEstimator::{
    self, Improved, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood,
};

/// All that estimate from a state: a martingale would have to see every key.
pub(super) const ESTIMATORS: [CardinalityEstimator; 4] =
    [Improved, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood];

/// Draws and judges so many sketches of a precision, of so many keys, a power of ten.
pub(super) fn job<'a>(precision: u32, exponent: i32, sketches: u64, seed: u64) -> Job<'a> {
    let params = HllParams::new(precision).expect("a precision of the list");
    let size = 10f64.powi(exponent);
    let series = Series { structure: NAME, precision, hasher: "none", sizes: Vec::new(), sketches };
    Job::new(sketches * params.num_registers(), move || {
        let law = RankLaw::new(params, size);
        let mut random = keys::random(seed ^ size.to_bits() ^ u64::from(precision));
        let mut errors = [Errors::default(); ESTIMATORS.len()];
        for _ in 0..sketches {
            for (errors, estimate) in errors.iter_mut().zip(estimates(params, &law, &mut random)) {
                errors.add(estimate / size - 1.0);
            }
        }
        let judged = ESTIMATORS.into_iter().zip(&errors);
        judged.flat_map(|(estimator, errors)| judge(&series, size, estimator, errors)).collect()
    })
}

/// The estimates of one sketch.
pub(super) fn estimates(
    params: HllParams,
    law: &RankLaw,
    random: Random<'_>,
) -> [f64; ESTIMATORS.len()] {
    let (mut plain, mut ultra) = ([0; 64], [0; 256]);
    for _ in 0..params.num_registers() {
        let (top, below) = law.draw(random);
        plain[top] += 1;
        ultra[4 * top + below] += 1;
    }
    [
        improved(&plain, params, FINITE_SIZE),
        maximum_likelihood(&plain, params),
        ultra_fgra(&ultra, params),
        ultra_maximum_likelihood(&ultra, params),
    ]
}

/// The law of a register: each number is a share of the 2^64 random ones.
pub(super) struct RankLaw {
    /// That a rank occurs; never for rank 0 and those below, which are none.
    occurs: [u64; 64],
    /// That no rank above this one occurs, for each rank but the last.
    none_above: Vec<u64>,
}

impl RankLaw {
    /// The law of a register of a sketch that sees a Poisson number of keys, `size` on average.
    pub(super) fn new(params: HllParams, size: f64) -> Self {
        let rate = size / super::real(params.num_registers());
        let last = 65 - params.precision().cast_signed();
        // The last rank stands for all that would follow it.
        let frequency = |rank: i32| rate * 0.5f64.powi(rank.min(last - 1));
        let occurs = |rank: i32| if rank == 0 { 0.0 } else { -(-frequency(rank)).exp_m1() };
        // The frequencies of all ranks above one sum up to its own.
        let none_above = |rank: i32| (-frequency(rank)).exp();
        Self {
            occurs: core::array::from_fn(|rank| {
                share(occurs(i32::try_from(rank).expect("below 64")))
            }),
            none_above: (0..last).map(|rank| share(none_above(rank))).collect(),
        }
    }

    /// The greatest rank of a register, and which of the two below it have occurred: 2 and 1.
    fn draw(&self, random: Random<'_>) -> (usize, usize) {
        let number = next(random);
        let top = self.none_above.partition_point(|&share| share <= number);
        let mut occurred = |below: usize| top > below && next(random) < self.occurs[top - below];
        (top, 2 * usize::from(occurred(1)) + usize::from(occurred(2)))
    }
}

/// A probability as a share of 2^64.
fn share(probability: f64) -> u64 {
    whole(probability * 2f64.powi(64))
}
