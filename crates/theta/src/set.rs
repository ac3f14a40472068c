//! The answers of all sketches, and the operations on two of them.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::RangeInclusive;

use pds_core::error::{Incompatible, ParamError};
use pds_params::Estimate;
use pds_params::theta::{cardinality, cardinality_interval};

use crate::{CompactThetaSketch, Comparison, ThetaHasher};

/// Theta of an exact sketch. Hashes have 63 bits.
pub(crate) const MAX_THETA: u64 = u64::MAX >> 1;

pub(crate) mod sealed {
    /// Only this crate has sets: their operations rely on hashes that ascend, differ, and are below theta.
    pub trait Sealed {}
}

/// A sketch of a set, of any of the types of this crate: estimates, and operations with another sketch.
///
/// It is a set of hashes below a limit theta. Operands may have other nominal sizes, and be of other types.
///
/// There is no method for the union, because a union needs a nominal size of its own: take
/// [`ThetaSketch::merge`](crate::ThetaSketch::merge) or a [`ThetaUnion`](crate::ThetaUnion).
///
/// # Examples
/// ```
/// use theta::{ThetaSet, ThetaSketch};
///
/// let (mut left, mut right) = (ThetaSketch::new(1_024)?, ThetaSketch::new(1_024)?);
/// left.extend(0..600_i64);
/// right.extend(200..1_000_i64);
///
/// // Small sets are exact.
/// assert_eq!(left.intersection(&right)?.estimate(), 400.0);
/// assert_eq!(left.difference(&right)?.estimate(), 200.0);
/// assert_eq!(left.compare(&right)?.jaccard().value, 0.4);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait ThetaSet: sealed::Sealed {
    /// Returns the hash function, which has the seed.
    fn hasher(&self) -> ThetaHasher;

    /// Returns theta as the number from 1 to 2^63 - 1 that bytes contain. All hashes are below it.
    fn theta64(&self) -> u64;

    /// Returns whether no key was inserted.
    ///
    /// A sketch with a sampling probability, or the result of an operation, may have no hashes and still not be empty.
    fn is_empty(&self) -> bool;

    /// Returns the number of kept hashes.
    fn num_retained(&self) -> usize;

    /// Returns the hashes in ascending order.
    fn ascending(&self) -> impl Iterator<Item = u64>;

    /// Returns theta as a fraction of all hashes: 1 while the sketch is exact.
    fn theta(&self) -> f64 {
        self.theta64() as f64 / MAX_THETA as f64
    }

    /// Returns whether the sketch keeps a part of the hashes only, so that its answers have an error.
    fn is_estimate(&self) -> bool {
        self.theta64() < MAX_THETA
    }

    /// Estimates the number of distinct keys. It is unbiased.
    fn estimate(&self) -> f64 {
        self.estimate_with_error().value
    }

    /// Returns [`estimate`](Self::estimate) with its standard error.
    ///
    /// The standard error is 0 if the sketch is exact, and otherwise above 0. If no hash is kept it is that of one hash:
    /// [`estimate_interval`](Self::estimate_interval) tells how many keys there may be.
    fn estimate_with_error(&self) -> Estimate {
        cardinality(self.num_retained() as u64, self.theta())
    }

    /// Returns an interval that holds the number of distinct keys with this probability.
    ///
    /// [`cardinality_interval`](pds_params::theta::cardinality_interval) says how it is made.
    ///
    /// # Errors
    /// If `confidence` is not above 0 and below 1.
    fn estimate_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        cardinality_interval(self.num_retained() as u64, self.theta(), confidence)
    }

    /// Copies the sketch to its compact form, which takes no more keys.
    fn to_compact(&self) -> CompactThetaSketch {
        let hashes = self.ascending().collect();
        CompactThetaSketch::from_parts(hashes, self.theta64(), self.is_empty(), self.hasher())
    }

    /// Returns the [bytes of the compact form](CompactThetaSketch::to_bytes), which [`CompactThetaSketch::from_bytes`] reads.
    fn to_bytes(&self) -> Vec<u8> {
        self.to_compact().to_bytes()
    }

    /// Returns the sketch of the keys that are in both sets.
    ///
    /// Its relative error is about that of the union divided by the square root of the share of common keys.
    ///
    /// # Errors
    /// [`Incompatible`] if the seeds differ.
    ///
    /// # Complexity
    /// O(hashes of both).
    fn intersection(&self, other: &impl ThetaSet) -> Result<CompactThetaSketch, Incompatible> {
        check_seeds(self, other)?;
        if self.is_empty() || other.is_empty() {
            return Ok(CompactThetaSketch::empty(self.hasher()));
        }
        let theta = self.theta64().min(other.theta64());
        let mut hashes = Vec::new();
        join(self.ascending(), other.ascending(), theta, |hash, side| {
            if side == Side::Both {
                hashes.push(hash);
            }
        });
        Ok(CompactThetaSketch::of_operation(hashes, theta, self.hasher()))
    }

    /// Returns the sketch of the keys that are in this set and not in `other`.
    ///
    /// # Errors
    /// [`Incompatible`] if the seeds differ.
    ///
    /// # Complexity
    /// O(hashes of both).
    fn difference(&self, other: &impl ThetaSet) -> Result<CompactThetaSketch, Incompatible> {
        check_seeds(self, other)?;
        if self.is_empty() {
            return Ok(CompactThetaSketch::empty(self.hasher()));
        }
        let theta = self.theta64().min(other.theta64());
        let mut hashes = Vec::new();
        join(self.ascending(), other.ascending(), theta, |hash, side| {
            if side == Side::Left {
                hashes.push(hash);
            }
        });
        Ok(CompactThetaSketch::of_operation(hashes, theta, self.hasher()))
    }

    /// Compares the sets: their Jaccard index with an interval.
    ///
    /// # Errors
    /// [`Incompatible`] if the seeds differ.
    ///
    /// # Complexity
    /// O(hashes of both).
    fn compare(&self, other: &impl ThetaSet) -> Result<Comparison, Incompatible> {
        check_seeds(self, other)?;
        let theta = self.theta64().min(other.theta64());
        let mut comparison = Comparison::new(theta as f64 / MAX_THETA as f64);
        join(self.ascending(), other.ascending(), theta, |_, side| comparison.count(side));
        Ok(comparison)
    }
}

pub(crate) fn check_seeds(
    left: &(impl ThetaSet + ?Sized),
    right: &impl ThetaSet,
) -> Result<(), Incompatible> {
    Incompatible::check_shape("seed", left.hasher().seed(), right.hasher().seed())
}

/// Which of two sets have a hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
    Both,
}

/// Passes the hashes below `theta` of two ascending lists, in order, each once.
fn join(
    mut left: impl Iterator<Item = u64>,
    mut right: impl Iterator<Item = u64>,
    theta: u64,
    mut visit: impl FnMut(u64, Side),
) {
    // The end of a list counts as theta. The loop ends when both lists have reached it.
    let mut next_left = || left.next().unwrap_or(theta);
    let mut next_right = || right.next().unwrap_or(theta);
    let (mut a, mut b) = (next_left(), next_right());
    while a.min(b) < theta {
        match a.cmp(&b) {
            Ordering::Less => {
                visit(a, Side::Left);
                a = next_left();
            }
            Ordering::Greater => {
                visit(b, Side::Right);
                b = next_right();
            }
            Ordering::Equal => {
                visit(a, Side::Both);
                (a, b) = (next_left(), next_right());
            }
        }
    }
}

/// Replaces `all` by the hashes below `theta` of two ascending lists, in order, each once, and by the `limit` least ones if they are more.
pub(crate) fn union(left: &[u64], right: &[u64], theta: u64, limit: usize, all: &mut Vec<u64>) {
    let below = |hashes: &[u64]| hashes.partition_point(|&hash| hash < theta).min(limit);
    let (left, right) = (&left[..below(left)], &right[..below(right)]);
    let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
    all.clear();
    if long.len() < MIN_RUN * short.len() {
        merge(long, short, limit, all);
    } else {
        merge_by_runs(long, short, limit, all);
    }
}

/// From this average length of runs on, a search for the end of a run is faster than to go through it.
const MIN_RUN: usize = 8;

/// Fills `all` hash by hash, without a branch that depends on which list has the next one.
fn merge(left: &[u64], right: &[u64], limit: usize, all: &mut Vec<u64>) {
    all.resize(limit.min(left.len() + right.len()), 0);
    let (mut i, mut j, mut len) = (0, 0, 0);
    for next in all.iter_mut() {
        let (Some(&a), Some(&b)) = (left.get(i), right.get(j)) else { break };
        *next = a.min(b);
        (i, j, len) = (i + usize::from(a <= b), j + usize::from(b <= a), len + 1);
    }
    all.truncate(len);
    for rest in [&left[i..], &right[j..]] {
        all.extend_from_slice(&rest[..rest.len().min(limit - all.len())]);
    }
}

/// Fills `all` with the runs between the hashes of the shorter list as a whole.
// A sketch brings few new hashes to a union of many.
fn merge_by_runs(mut long: &[u64], short: &[u64], limit: usize, all: &mut Vec<u64>) {
    all.reserve(long.len() + short.len());
    for &hash in short {
        let run = number_below(long, hash);
        all.extend_from_slice(&long[..run]);
        all.push(hash);
        let is_in_both = long.get(run) == Some(&hash);
        long = &long[run + usize::from(is_in_both)..];
        if all.len() >= limit {
            break;
        }
    }
    all.extend_from_slice(long);
    all.truncate(limit);
}

/// Returns how many of ascending hashes are below `hash`, in time logarithmic in their number.
fn number_below(hashes: &[u64], hash: u64) -> usize {
    let mut end = 1;
    while hashes.get(end - 1).is_some_and(|&other| other < hash) {
        end *= 2;
    }
    let (start, end) = (end / 2, end.min(hashes.len()));
    start + hashes[start..end].partition_point(|&other| other < hash)
}
