use pds_core::error::Incompatible;
use pds_core::hash::KeyHasher;
use pds_params::Estimate;

use super::{Form, HyperLogLog};
use crate::dense;
use crate::estimator::{
    FINITE_SIZE, HASHES, JointCounts, Maximum, Overlap, Side, improved, sparse_overlap,
};

impl<S: KeyHasher + Clone> HyperLogLog<S> {
    /// Estimates the number of distinct keys in all sketches together. Changes none of them.
    ///
    /// It is the estimate of the merged sketch, at the lowest precision of those that are not empty. 0 for no sketches.
    ///
    /// # Errors
    /// [`Incompatible`] if hashers differ.
    ///
    /// # Examples
    /// ```
    /// use hll::HyperLogLog;
    ///
    /// let mut hours = vec![HyperLogLog::new(12)?; 3];
    /// hours[0].insert("a");
    /// hours[1].insert("b");
    /// hours[2].insert("a");
    /// let hours: Vec<_> = hours.iter().collect();
    /// assert_eq!(HyperLogLog::union_estimate(&hours)?.round(), 2.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn union_estimate(sketches: &[&Self]) -> Result<f64, Incompatible> {
        // From the lowest precision up, so that registers are folded only once. An empty sketch does not affect the
        // precision.
        let rank = |sketch: &&&Self| (sketch.is_empty(), sketch.precision());
        let Some(first) = sketches.iter().min_by_key(rank) else {
            return Ok(0.0);
        };
        let mut union = (*first).clone();
        sketches.iter().try_for_each(|sketch| union.merge(sketch))?;
        Ok(union.estimate())
    }
}

impl<S: KeyHasher> HyperLogLog<S> {
    /// Estimates how many keys are in this set only, in the other only, and in both, each with its
    /// standard error.
    ///
    /// Two sparse sketches are compared key by key, which is nearly exact. Otherwise the estimate is the maximum of the
    /// joint likelihood of the registers of both sketches, at the lower precision of those that are dense. If few keys
    /// are in both, its error is a half to a fifth of that of inclusion and exclusion.
    ///
    /// The error depends on the unknown numbers. If one size is known more exactly than by the compared registers, it is the
    /// greatest within three errors of the estimate. Intervals of up to three errors then hold at least as often as they say.
    ///
    /// All values and errors are finite. No part is greater than the estimate of a set that it lies in, and no error of
    /// the common part is greater than the smaller set. If a large set hides a small one, nothing more is known: values
    /// and errors are then of the same size.
    ///
    /// # Errors
    /// [`Incompatible`] if the hashers differ.
    ///
    /// # Complexity
    /// O(m), and about a millisecond for the maximum.
    ///
    /// # Examples
    /// ```
    /// use hll::HyperLogLog;
    ///
    /// let (mut monday, mut tuesday) = (HyperLogLog::new(14)?, HyperLogLog::new(14)?);
    /// monday.extend(0..100_000u32);
    /// tuesday.extend(90_000..190_000u32);
    /// let overlap = monday.overlap(&tuesday)?;
    /// assert!((overlap.both.value - 1e4).abs() < 4.0 * overlap.both.standard_error);
    /// assert!(overlap.both.standard_error < 800.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # References
    /// Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284,
    /// 2017, section 7.
    pub fn overlap(&self, other: &Self) -> Result<Overlap, Incompatible> {
        Incompatible::check_hasher(&self.hasher, &other.hasher)?;
        if self.is_empty() || other.is_empty() {
            let [only_left, only_right] =
                [self, other].map(|sketch| Side::new(sketch.estimate_with_error(), 0).size);
            let both = Estimate { value: 0.0, standard_error: 0.0 };
            return Ok(Overlap { only_left, only_right, both });
        }
        let (Form::Sparse(left), Form::Sparse(right)) = (self.form(), other.form()) else {
            return Ok(self.dense_overlap(other));
        };
        let sizes = [self, other].map(Self::estimate_with_error);
        Ok(sparse_overlap(&left.sorted(), &right.sorted(), sizes))
    }

    /// Estimates the number of keys in both sets; see [`overlap`](Self::overlap).
    ///
    /// # Errors
    /// [`Incompatible`] if the hashers differ.
    pub fn intersection_estimate(&self, other: &Self) -> Result<Estimate, Incompatible> {
        self.overlap(other).map(|overlap| overlap.both)
    }

    /// Estimates the number of keys in this set that are not in the other; see [`overlap`](Self::overlap).
    ///
    /// # Errors
    /// [`Incompatible`] if the hashers differ.
    pub fn difference_estimate(&self, other: &Self) -> Result<Estimate, Incompatible> {
        self.overlap(other).map(|overlap| overlap.only_left)
    }

    /// Estimates the share of the union that is in both sets; see [`overlap`](Self::overlap).
    ///
    /// # Errors
    /// [`Incompatible`] if the hashers differ.
    pub fn jaccard_estimate(&self, other: &Self) -> Result<f64, Incompatible> {
        self.overlap(other).map(|overlap| overlap.jaccard())
    }

    /// Returns the overlap by registers, at the lower precision of the dense sketches. The coupons of a sparse sketch
    /// give registers of any precision.
    fn dense_overlap(&self, other: &Self) -> Overlap {
        let dense = [self, other].into_iter().filter(|sketch| sketch.is_dense());
        let Some(params) = dense.map(Self::params).min_by_key(|params| params.precision()) else {
            unreachable!("one of the sketches is dense")
        };
        let precision = params.precision();
        let (left, right) =
            (self.form().registers_at(precision), other.form().registers_at(precision));
        let mut counts = JointCounts::new(precision);
        left.iter().zip(&*right).for_each(|(&left, &right)| counts.add(left, right, 1));
        let mut union = left.to_vec();
        dense::merge(&mut union, &right);
        let size = |registers: &[u8]| improved(&dense::histogram(registers), params, FINITE_SIZE);
        let sizes = [&*left, &*right, &*union].map(|registers| size(registers).min(HASHES));
        let only = counts.greater();
        let maximum = Maximum::of(&counts, starting_point(sizes, only));
        let sketches = [self, other];
        let [left, right] = [0, 1].map(|i| Side::new(sketches[i].estimate_with_error(), only[i]));
        let is_finer = sketches.map(|sketch| !sketch.is_dense() || sketch.precision() > precision);
        // With the error of the maximum if so many more keys were common.
        let overlap = |shift| {
            let mut parts = maximum.parts(shift).bounded(left, right);
            if is_finer[0] {
                parts = parts.with_size([1.0, 0.0, 1.0], left.size);
            }
            if is_finer[1] {
                parts = parts.with_size([0.0, 1.0, 1.0], right.size);
            }
            parts.within(left, right)
        };
        let here = overlap(0.0);
        if is_finer == [false; 2] {
            return here;
        }
        // If a size is known, an estimate near either end of the possible range comes with a small error. The truth may
        // be further inside, where the error is greater, and an interval of three errors has to reach it.
        let away = 3.0 * here.both.standard_error;
        here.with_greater_errors(overlap(-away)).with_greater_errors(overlap(away))
    }
}

/// Returns the parts (only left, only right, both) by inclusion and exclusion. No part is below the number that the
/// registers prove.
fn starting_point([left, right, union]: [f64; 3], [only_left, only_right]: [u32; 2]) -> [f64; 3] {
    let [a, b] = [union - right, union - left];
    // From the smaller set: beside a much larger one it would lose all its digits.
    let both = if left < right { left - a } else { right - b };
    [a.max(only_left.into()), b.max(only_right.into()), both.max(0.0)]
}
