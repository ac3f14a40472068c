//! Overlaps of two sketches: how many keys are in one, in the other, and in both.

mod likelihood;
mod maximum;
mod sparse;

use libm::{hypot, sqrt};
use pds_params::Estimate;

pub(crate) use likelihood::JointCounts;
pub(crate) use maximum::Maximum;
pub(crate) use sparse::sparse_overlap;

/// The number of distinct hashes. No sketch counts beyond it.
pub(crate) const HASHES: f64 = 18_446_744_073_709_551_616.0;

/// The estimated numbers of keys in both of two sets, and in only one of them.
///
/// All values and standard errors are finite. No part is greater than the estimate of a set that it lies in, unless the registers
/// prove more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Keys of the left set that are not in the right one.
    pub only_left: Estimate,
    /// Keys of the right set that are not in the left one.
    pub only_right: Estimate,
    /// Keys that are in both.
    pub both: Estimate,
}

impl Overlap {
    /// Returns the estimated number of keys in one set or both.
    #[must_use]
    pub fn union(&self) -> f64 {
        self.only_left.value + self.only_right.value + self.both.value
    }

    /// Returns the estimated Jaccard index: the share of the union that is in both sets. 0 for two empty sets.
    #[must_use]
    pub fn jaccard(&self) -> f64 {
        if self.both.value == 0.0 {
            return 0.0;
        }
        1.0 / (1.0 + (self.only_left.value + self.only_right.value) / self.both.value)
    }

    /// Returns the same values, each with the greater of its two errors.
    pub(crate) fn with_greater_errors(self, other: Self) -> Self {
        let greater = |own: Estimate, other: Estimate| Estimate {
            standard_error: own.standard_error.max(other.standard_error),
            ..own
        };
        Self {
            only_left: greater(self.only_left, other.only_left),
            only_right: greater(self.only_right, other.only_right),
            both: greater(self.both, other.both),
        }
    }
}

/// Three numbers: for the keys of the left set only, of the right set only, and of both.
type Triple = [f64; 3];

/// One common key more is one key less on either side.
const EXCHANGE: Triple = [-1.0, -1.0, 1.0];

/// The facts about one set, independent of the other.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    /// The number of its keys.
    pub(crate) size: Estimate,
    /// The least number of its keys that are not in the other set.
    pub(crate) only_here: u32,
}

impl Side {
    /// Limits the size to the number of hashes, because full registers have infinite estimates.
    pub(crate) fn new(size: Estimate, only_here: u32) -> Self {
        let Estimate { value, standard_error } = size;
        let size =
            Estimate { value: value.min(HASHES), standard_error: standard_error.min(HASHES) };
        Self { size, only_here }
    }
}

/// The three parts, before they are limited by the facts about each set.
pub(crate) struct Parts {
    values: Triple,
    covariance: [Triple; 3],
}

impl Parts {
    /// Replaces the covariance by that of the sizes if the registers tell less about the common part than the sizes do.
    /// The common part is at least 0 and at most the smaller set.
    pub(crate) fn bounded(mut self, left: Side, right: Side) -> Self {
        let variance = square(range_of(self.values[2], left, right));
        let is_known = self.covariance[2][2] <= variance;
        if !is_known {
            self.covariance = EXCHANGE.map(|row| EXCHANGE.map(|column| row * column * variance));
            self.covariance[0][0] += square(left.size.standard_error);
            self.covariance[1][1] += square(right.size.standard_error);
        }
        self
    }

    /// Corrects the parts by the size of the set of `members`, from a sketch that states it more exactly than the
    /// compared registers. For normal errors, this is the conditional mean and covariance.
    pub(crate) fn with_size(mut self, members: Triple, size: Estimate) -> Self {
        let along = self.covariance.map(|row| dot(row, members));
        let variance = dot(along, members);
        if variance <= 0.0 {
            return self;
        }
        let gain = along.map(|covariance| covariance / variance);
        let missing = size.value - dot(self.values, members);
        let change = square(size.standard_error) - variance;
        for i in 0..3 {
            self.values[i] += gain[i] * missing;
            for j in 0..3 {
                self.covariance[i][j] += gain[i] * gain[j] * change;
            }
        }
        self
    }

    /// Limits the parts by the facts about each set, and their errors by the range that remains.
    pub(crate) fn within(self, left: Side, right: Side) -> Overlap {
        let smaller = smaller(left, right);
        let range = range_of(self.values[2].clamp(0.0, smaller.value), left, right);
        let part = |i: usize, least: u32, size: Estimate| {
            let least = f64::from(least);
            let value = self.values[i].clamp(least, size.value.max(least));
            // The size may be the one that is wrong.
            let above = (self.values[i] - size.value).max(0.0);
            let standard_error = sqrt(self.covariance[i][i].max(0.0) + square(above));
            let most = hypot(range, size.standard_error);
            Estimate { value, standard_error: standard_error.min(most) }
        };
        Overlap {
            only_left: part(0, left.only_here, left.size),
            only_right: part(1, right.only_here, right.size),
            both: part(2, 0, smaller),
        }
    }
}

/// Returns the size of the smaller set.
fn smaller(left: Side, right: Side) -> Estimate {
    if left.size.value < right.size.value { left.size } else { right.size }
}

/// Returns how far a common part can be from the truth, which lies between 0 and the smaller set.
fn range_of(both: f64, left: Side, right: Side) -> f64 {
    both.max(smaller(left, right).value - both)
}

fn square(x: f64) -> f64 {
    x * x
}

fn dot(left: Triple, right: Triple) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}
