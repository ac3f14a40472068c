//! Merges with an empty structure: the identity, on either side, of every structure that can be merged.

use super::judge::{Case, Check, Measurement};
use super::schedule::Job;
use core::fmt::Debug;
use pds::traits::{Insert, Merge};
use pds_testkit::keys;

pub(crate) const IDENTITY: Check = Check::new(
    "answers that a merge with an empty one changes",
    "An empty structure is the identity of merging: on either side, whatever its precision, it leaves the \
              bytes and estimates of the other one.",
);

/// The answers of a structure: its bytes, and its estimates as bytes.
pub(crate) type Said = Vec<u8>;

/// A structure that is merged with an empty one of the same or of another shape.
pub(crate) struct Identity<F> {
    pub(crate) name: &'static str,
    pub(crate) full: fn(u64) -> F,
    pub(crate) empty: fn() -> F,
    pub(crate) says: fn(&F) -> Said,
    /// Whether an empty one on the left can become the other: a shared sketch cannot change its precision.
    pub(crate) left: bool,
    /// How two are merged; tells whether the merge was refused.
    pub(crate) merge: fn(&mut F, &F) -> bool,
}

impl<F: 'static> Identity<F> {
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
        Job { cost: 10 * KEYS, run: Box::new(move |_| self.measure(structure, seed)) }
    }
}

/// Keys of the full one: enough that sparse forms of a few kilobytes become dense.
pub(crate) const KEYS: u64 = 3_000;
/// Keys of those that stay sparse.
pub(crate) const FEW: u64 = 100;

pub(crate) fn hashes(seed: u64, count: u64) -> impl Iterator<Item = u64> {
    keys::random(seed).zip(0..count).map(|(hash, _)| hash)
}

pub(crate) fn with<F: Insert>(mut empty: F, seed: u64, count: u64) -> F {
    for hash in hashes(seed, count) {
        empty.insert_hash(hash).expect("room");
    }
    empty
}

/// By the trait that all structures have in common.
pub(crate) fn merged<F: Merge>(left: &mut F, right: &F) -> bool
where
    F::Error: Debug,
{
    left.merge(right).is_err()
}

pub(crate) fn and(mut bytes: Said, estimates: &[f64]) -> Said {
    estimates.iter().for_each(|estimate| bytes.extend(estimate.to_bits().to_le_bytes()));
    bytes
}

/// Returns the identity of a type with `Merge`, `to_bytes` and these estimates.
macro_rules! identity {
    ($name:literal, $full:expr, $empty:expr, |$one:ident: $type:ty| $estimates:expr) => {
        $crate::validate::identity::Identity::<$type> {
            name: $name,
            full: $full,
            empty: || $empty,
            says: |$one: &$type| {
                $crate::validate::identity::and($one.to_bytes().to_vec(), &$estimates)
            },
            left: true,
            merge: $crate::validate::identity::merged,
        }
    };
}
pub(crate) use identity;
