//! Merges with an empty structure: the identity, on either side, of every structure that can be merged.

use super::Run;
use super::judge::{Case, Check, Law, Measurement, real};
use super::sabotage::Fault;
use super::schedule::Job;
use core::fmt::Debug;
use pds::{Insert, Merge, UltraLogLog};
use pds_testkit::keys;

mod table;

const IDENTITY: Check = Check::new(
    "answers that a merge with an empty one changes",
    "An empty structure is the identity of merging: on either side, whatever its precision, it leaves the \
              bytes and estimates of the other one.",
);

/// What a structure says: its bytes, and its estimates as bytes.
type Said = Vec<u8>;

/// A structure that is merged with an empty one of the same or of another shape.
struct Identity<F> {
    structure: &'static str,
    name: &'static str,
    full: fn(u64) -> F,
    empty: fn() -> F,
    says: fn(&F) -> Said,
    /// Whether an empty one on the left can become the other: a shared sketch cannot change its precision.
    left: bool,
    /// How two are merged; tells whether the merge was refused.
    merge: fn(&mut F, &F) -> bool,
}

impl<F: 'static> Identity<F> {
    /// The rows of both sides.
    fn measure(&self, seed: u64) -> Vec<Measurement> {
        let wanted = (self.says)(&(self.full)(seed));
        let row = |side: &str, mut onto: F, other: F| {
            let refused = (self.merge)(&mut onto, &other);
            let said = (self.says)(&onto);
            let differing = wanted.iter().zip(&said).filter(|(one, other)| one != other).count();
            let lengths = wanted.len().abs_diff(said.len());
            Measurement {
                case: Case {
                    structure: self.structure,
                    items: KEYS,
                    rate: 0.0,
                    shape: format!("{}, empty on the {side}", self.name),
                    keys: "random",
                    hasher: "default",
                    instances: 1,
                },
                check: IDENTITY,
                law: Law::Exactly(0.0),
                observed: real((differing + lengths + usize::from(refused)) as u64),
                events: 0.0,
            }
        };
        let left = self.left.then(|| row("left", (self.empty)(), (self.full)(seed)));
        let right = row("right", (self.full)(seed), (self.empty)());
        left.into_iter().chain([right]).collect()
    }

    fn job<'a>(self, seed: u64) -> Job<'a> {
        Job { cost: 10 * KEYS, run: Box::new(move |_| self.measure(seed)) }
    }
}

/// Keys of the full one: enough that sparse forms of a few kilobytes become dense.
const KEYS: u64 = 3_000;
/// Keys of those that stay sparse.
const FEW: u64 = 100;

fn hashes(seed: u64, count: u64) -> impl Iterator<Item = u64> {
    keys::random(seed).zip(0..count).map(|(hash, _)| hash)
}

fn with<F: Insert>(mut empty: F, seed: u64, count: u64) -> F {
    for hash in hashes(seed, count) {
        empty.insert_hash(hash).expect("room");
    }
    empty
}

/// By the trait that all structures have in common.
fn merged<F: Merge>(left: &mut F, right: &F) -> bool
where
    F::Error: Debug,
{
    left.merge(right).is_err()
}

fn and(mut bytes: Said, estimates: &[f64]) -> Said {
    estimates.iter().for_each(|estimate| bytes.extend(estimate.to_bits().to_le_bytes()));
    bytes
}

/// The jobs of a structure.
pub(crate) fn jobs<'a>(run: &Run, structure: &str) -> Vec<Job<'a>> {
    let seed = run.seed;
    match structure {
        "bloom" => table::bloom(seed),
        "blocked" => table::blocked(seed),
        "counting" => table::counting(seed),
        "cuckoo" => vec![table::cuckoo().job(seed)],
        "cms" => table::frequency(seed),
        _ => table::cardinality(seed),
    }
}

/// UltraLogLog sketches that take on the lower precision of an empty one, or sound ones of one precision.
fn ultra(fault: Option<Fault>) -> Identity<UltraLogLog> {
    fn of(precision: u32) -> UltraLogLog {
        UltraLogLog::new(precision).expect("in range")
    }
    Identity {
        structure: "sabotaged hll",
        name: "ultra",
        full: |seed| with(of(12), seed, KEYS),
        empty: if fault.is_some() { || of(6) } else { || of(12) },
        left: true,
        says: |sketch| and(sketch.to_bytes(), &[sketch.estimate()]),
        merge: |left, right| {
            let precision = left.precision().min(right.precision());
            let mut right = right.clone();
            let reduced = left.reduce_precision(precision).and(right.reduce_precision(precision));
            reduced.is_err() || merged(left, &right)
        },
    }
}

/// The jobs that find the fault.
pub(crate) fn fault_jobs<'a>(fault: Fault, run: &Run) -> Vec<Job<'a>> {
    vec![ultra(Some(fault)).job(run.seed)]
}

#[cfg(test)]
mod tests {
    use super::super::judge::{FALSE_ALARM, Verdict, judge};
    use super::*;

    fn verdicts(fault: Option<Fault>) -> Vec<Verdict> {
        judge(ultra(fault).measure(1), FALSE_ALARM).iter().map(|row| row.verdict).collect()
    }

    #[test]
    fn an_empty_sketch_that_lowers_the_precision_is_found() {
        assert_eq!(verdicts(None), [Verdict::Kept; 2]);
        assert_eq!(verdicts(Some(Fault::EmptyLowersPrecision)), [Verdict::Broken; 2]);
    }
}
