use core::cmp::Ordering;
use core::hash::BuildHasher;

use pds_core::{Estimate, Incompatible};
use pds_params::hll::SPARSE_PRECISION;

use super::{Form, HyperLogLog};
use crate::dense;
use crate::estimator::{
    FINITE_SIZE, JointCounts, Overlap, improved, linear_counting, maximum_joint_likelihood,
};
use crate::sparse::SparseTable;

impl<S: BuildHasher + Clone> HyperLogLog<S> {
    /// Estimates the number of distinct keys in all sketches together; none of them is changed.
    ///
    /// The estimate of the merged sketch, at the lowest precision of all; 0 for no sketches.
    ///
    /// # Errors
    /// [`Incompatible`] when hashers differ.
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
        // From the lowest precision on, so that registers are folded once and never again.
        let Some(first) = sketches.iter().min_by_key(|sketch| sketch.precision()) else {
            return Ok(0.0);
        };
        let mut union = (*first).clone();
        sketches.iter().try_for_each(|sketch| union.merge(sketch))?;
        Ok(union.estimate())
    }
}

impl<S: BuildHasher> HyperLogLog<S> {
    /// Estimates how many keys are in this set only, in the other only, and in both, each with its
    /// standard error.
    ///
    /// By the maximum of the joint likelihood of both sketches, at the lower precision of the two. Where few
    /// keys are in both, the error is a half to a fifth of that of inclusion and exclusion. While both are
    /// sparse, it is near exact. Registers that are all full, as only forged bytes can have them, tell nothing of
    /// the number of keys: errors are infinite then, and two such sketches are taken for equal.
    ///
    /// # Errors
    /// [`Incompatible`] when the hashers differ.
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
            return Ok(Overlap {
                only_left: self.estimate_with_error(),
                only_right: other.estimate_with_error(),
                both: Estimate { value: 0.0, standard_error: 0.0 },
            });
        }
        Ok(match (&self.form, &other.form) {
            (Form::Sparse(left), Form::Sparse(right)) => sparse_overlap(left, right),
            _ => self.dense_overlap(other),
        })
    }

    /// Estimates the number of keys in both sets; see [`overlap`](Self::overlap).
    ///
    /// # Errors
    /// [`Incompatible`] when the hashers differ.
    pub fn intersection_estimate(&self, other: &Self) -> Result<Estimate, Incompatible> {
        self.overlap(other).map(|overlap| overlap.both)
    }

    /// Estimates the number of keys in this set that are not in the other; see [`overlap`](Self::overlap).
    ///
    /// # Errors
    /// [`Incompatible`] when the hashers differ.
    pub fn difference_estimate(&self, other: &Self) -> Result<Estimate, Incompatible> {
        self.overlap(other).map(|overlap| overlap.only_left)
    }

    /// Estimates the share of the union that is in both sets; see [`overlap`](Self::overlap).
    ///
    /// # Errors
    /// [`Incompatible`] when the hashers differ.
    pub fn jaccard_estimate(&self, other: &Self) -> Result<f64, Incompatible> {
        self.overlap(other).map(|overlap| overlap.jaccard())
    }

    fn dense_overlap(&self, other: &Self) -> Overlap {
        let params =
            if self.precision() < other.precision() { self.params() } else { other.params() };
        let precision = params.precision();
        let (left, right) = (self.form.registers_at(precision), other.form.registers_at(precision));
        let mut counts = JointCounts::new(precision);
        left.iter().zip(&*right).for_each(|(&left, &right)| counts.add(left, right, 1));
        let size = |registers: &[u8]| improved(&dense::histogram(registers), params, FINITE_SIZE);
        let mut union = left.to_vec();
        dense::merge(&mut union, &right);
        let sizes = [&*left, &*right, &*union].map(size);
        if sizes == [f64::INFINITY; 3] {
            return Overlap::of_full();
        }
        // Full registers have no greatest likelihood; beyond this number nothing would change.
        let [left, right, union] = sizes.map(|size| size.min(MOST));
        maximum_joint_likelihood(&counts, starting_point(left, right, union))
    }
}

/// 2^70 keys, which leave every register full but for a chance of e^-64.
const MOST: f64 = 1_180_591_620_717_411_303_424.0;

/// The overlap of two sparse sketches, which know their keys' 26-bit prefixes.
fn sparse_overlap(left: &SparseTable, right: &SparseTable) -> Overlap {
    let mut counts = JointCounts::new(SPARSE_PRECISION);
    let mut union: u32 = 0;
    let (mut lefts, mut rights) =
        (left.sorted().into_iter().peekable(), right.sorted().into_iter().peekable());
    loop {
        let order = match (lefts.peek(), rights.peek()) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(l), Some(r)) => l.index().cmp(&r.index()),
        };
        let l = lefts.next_if(|_| order.is_le()).map_or(0, |coupon| coupon.rank());
        let r = rights.next_if(|_| order.is_ge()).map_or(0, |coupon| coupon.rank());
        counts.add(l, r, 1);
        union += 1;
    }
    let places: u32 = 1 << SPARSE_PRECISION;
    counts.add(0, 0, places - union);
    let size = |occupied: usize| linear_counting(occupied as u64, places.into());
    let start = starting_point(size(left.len()), size(right.len()), size(union as usize));
    maximum_joint_likelihood(&counts, start)
}

/// Only left, only right and both, by inclusion and exclusion; nothing below a hundredth of the smaller set.
fn starting_point(left: f64, right: f64, union: f64) -> [f64; 3] {
    let least = 0.01 * left.min(right);
    [union - right, union - left, left + right - union].map(|part| part.max(least))
}
