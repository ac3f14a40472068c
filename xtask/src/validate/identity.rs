//! Merges with an empty structure: the identity, on either side, of every structure that can be merged.

use super::judge::{Case, Check, Measurement};
use super::random::first;
use super::schedule::Job;
use core::fmt::Debug;
use pds::traits::{Insert, Merge};
use pds_testkit::keys;

pub(crate) const IDENTITY: Check = Check::new(
    "answers that a merge with an empty one changes",
    "An empty structure is the identity of merging: on either side, whatever its precision, it leaves the \
              bytes and estimates of the other one.",
);

/// Keys of the full one: enough that sparse forms of a few kilobytes become dense.
pub(crate) const KEYS: u64 = 3_000;
/// Keys of those that stay sparse.
pub(crate) const FEW: u64 = 100;

/// The answers of a structure: its bytes, and its estimates as bytes.
pub(crate) type Said = Vec<u8>;

/// A structure that is merged with an empty one of the same or of another shape.
pub(crate) struct Identity<F> {
    name: &'static str,
    full: Box<dyn Fn(u64) -> F + Send>,
    empty: Box<dyn Fn() -> F + Send>,
    says: fn(&F) -> Said,
    /// Whether an empty one on the left can become the other: a shared sketch cannot change its precision.
    pub(crate) left: bool,
    /// How two are merged; tells whether the merge was refused.
    merge: fn(&mut F, &F) -> bool,
}

impl<F: Merge<Error: Debug> + 'static> Identity<F> {
    /// A structure that is merged by the trait that all structures have in common, on both sides.
    pub(crate) fn new(
        name: &'static str,
        full: impl Fn(u64) -> F + Send + 'static,
        empty: impl Fn() -> F + Send + 'static,
        says: fn(&F) -> Said,
    ) -> Self {
        Self::merged_by(merged, name, full, empty, says)
    }

    /// The same, of one shape and filled with random hashes.
    pub(crate) fn filled(
        name: &'static str,
        empty: impl Fn() -> F + Copy + Send + 'static,
        says: fn(&F) -> Said,
    ) -> Self
    where
        F: Insert,
    {
        Self::new(name, move |seed| with(empty(), seed, KEYS), empty, says)
    }
}

impl<F: 'static> Identity<F> {
    pub(crate) fn merged_by(
        merge: fn(&mut F, &F) -> bool,
        name: &'static str,
        full: impl Fn(u64) -> F + Send + 'static,
        empty: impl Fn() -> F + Send + 'static,
        says: fn(&F) -> Said,
    ) -> Self {
        Self { name, full: Box::new(full), empty: Box::new(empty), says, left: true, merge }
    }

    /// The rows of both sides.
    fn measure(&self, structure: &'static str, seed: u64) -> Vec<Measurement> {
        let wanted = (self.says)(&(self.full)(seed));
        let row = |side: &str, mut onto: F, other: F| {
            let refused = (self.merge)(&mut onto, &other);
            let said = (self.says)(&onto);
            let differing = wanted.iter().zip(&said).filter(|(one, other)| one != other).count();
            let lengths = wanted.len().abs_diff(said.len());
            let shape = format!("{}, empty on the {side}", self.name);
            let faults = differing + lengths + usize::from(refused);
            Case::random(structure, KEYS, 0.0, shape).none(IDENTITY, faults as u64)
        };
        let left = self.left.then(|| row("left", (self.empty)(), (self.full)(seed)));
        let right = row("right", (self.full)(seed), (self.empty)());
        left.into_iter().chain([right]).collect()
    }

    /// The job that measures it in rows of this structure.
    pub(crate) fn job<'a>(self, structure: &'static str, seed: u64) -> Job<'a> {
        Job::new(10 * KEYS, move || self.measure(structure, seed))
    }
}

pub(crate) fn hashes(seed: u64) -> impl Iterator<Item = u64> {
    first(KEYS, keys::random(seed))
}

/// Fills a structure with random hashes.
pub(crate) fn with<F: Insert>(mut empty: F, seed: u64, count: u64) -> F {
    for hash in first(count, keys::random(seed)) {
        empty.insert_hash(hash).expect("room");
    }
    empty
}

pub(crate) fn merged<F: Merge<Error: Debug>>(left: &mut F, right: &F) -> bool {
    left.merge(right).is_err()
}

pub(crate) fn and(bytes: impl Into<Said>, estimates: &[f64]) -> Said {
    let mut said = bytes.into();
    estimates.iter().for_each(|estimate| said.extend(estimate.to_bits().to_le_bytes()));
    said
}
