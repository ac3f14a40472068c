//! Sketches of numbers of keys that nobody can insert, drawn from the law of their registers.

use super::{Errors, SKETCHES, Series, judge};
use crate::validate::judge::Measurement;
use crate::validate::schedule::{Job, Progress};
use pds::hll::estimator::{
    FINITE_SIZE, improved, maximum_likelihood, ultra_fgra, ultra_maximum_likelihood,
};
use pds::params::hll::CardinalityEstimator::{
    self, Improved, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood,
};
use pds_testkit::keys;

const PRECISION: u32 = 8;
const REGISTERS: u64 = 1 << PRECISION;
const LAST_RANK: u32 = 65 - PRECISION;

/// All that estimate from a state: a martingale would have to see every key.
const ESTIMATORS: [CardinalityEstimator; 4] =
    [Improved, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood];

/// Draws and judges sketches of so many keys, a power of ten.
pub(super) fn job<'a>(exponent: i32, seed: u64) -> Job<'a> {
    Job {
        cost: SKETCHES * REGISTERS,
        run: Box::new(move |progress| measure(10f64.powi(exponent), seed, progress)),
    }
}

fn measure(size: f64, seed: u64, progress: &Progress) -> Vec<Measurement> {
    let series = Series {
        structure: "hll",
        precision: PRECISION,
        hasher: "none",
        sizes: Vec::new(),
        sketches: SKETCHES,
    };
    let law = RankLaw::new(size / f64::from(1u32 << PRECISION));
    let mut random = keys::random(seed ^ size.to_bits());
    let mut errors = [Errors::default(); ESTIMATORS.len()];
    for _ in 0..SKETCHES {
        for (errors, estimate) in errors.iter_mut().zip(estimates(&law, &mut random)) {
            errors.add(estimate / size - 1.0);
        }
        progress.advance(REGISTERS);
    }
    let judged = ESTIMATORS.into_iter().zip(&errors);
    judged.flat_map(|(estimator, errors)| judge(&series, size, estimator, errors)).collect()
}

/// The estimates of one sketch.
fn estimates(law: &RankLaw, random: &mut impl Iterator<Item = u64>) -> [f64; ESTIMATORS.len()] {
    let (mut plain, mut ultra) = ([0; 64], [0; 256]);
    for _ in 0..REGISTERS {
        let ranks = law.draw(random);
        let top = ranks.ilog2() as usize;
        let occurred = |below: usize| top > below && ranks >> (top - below) & 1 == 1;
        plain[top] += 1;
        ultra[4 * top + 2 * usize::from(occurred(1)) + usize::from(occurred(2))] += 1;
    }
    [
        improved(&plain, PRECISION, FINITE_SIZE),
        maximum_likelihood(&plain, PRECISION),
        ultra_fgra(&ultra, PRECISION),
        ultra_maximum_likelihood(&ultra, PRECISION),
    ]
}

/// For each rank, how many of the 2^64 random numbers say that it has occurred.
struct RankLaw([u64; 65 - PRECISION as usize + 1]);

impl RankLaw {
    /// The law of a register that sees a Poisson number of keys, so many on average.
    fn new(rate: f64) -> Self {
        Self(core::array::from_fn(|rank| {
            // The last rank stands for all that would follow it.
            let rank = i32::try_from(rank).expect("below 64").min(LAST_RANK.cast_signed() - 1);
            let probability = -(-rate * 0.5f64.powi(rank)).exp_m1();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let share = (probability * 2f64.powi(64)) as u64;
            share
        }))
    }

    /// The ranks that have occurred in a register, as bits; bit 0, which is no rank, is set.
    fn draw(&self, random: &mut impl Iterator<Item = u64>) -> u64 {
        let occurs = |rank: u32| {
            // Certainties need no random number.
            let share = self.0[rank as usize];
            share == u64::MAX || random.next().expect("endless") < share
        };
        1 | (1..=LAST_RANK).map(occurs_bit(occurs)).sum::<u64>()
    }
}

/// The bit of a rank where it occurs.
fn occurs_bit(mut occurs: impl FnMut(u32) -> bool) -> impl FnMut(u32) -> u64 {
    move |rank| u64::from(occurs(rank)) << rank
}
