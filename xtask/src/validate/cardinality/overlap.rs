//! The intervals of joint estimates: how many keys are in one sketch only, in the other only, in both.

use super::NAME;
use crate::validate::Run;
use crate::validate::coverage::{Answer, Asked, Intervals, Trial};
use crate::validate::judge::real;
use crate::validate::schedule::Job;
use pds::HyperLogLog;

/// Two sets: the precisions of their sketches, and the keys in the left one only, in the right one only, in both.
struct Pair {
    name: &'static str,
    precisions: [u32; 2],
    parts: [u64; 3],
}

const fn pair(name: &'static str, precisions: [u32; 2], parts: [u64; 3]) -> Pair {
    Pair { name, precisions, parts }
}

/// From the ones that every run tries to those of a full run.
const PAIRS: [Pair; 8] = [
    pair("dense", [10, 10], [3_000, 2_000, 1_000]),
    pair("sparse, equal", [14, 14], [0, 0, 500]),
    pair("sparse", [14, 14], [300, 200, 500]),
    pair("sparse, disjoint", [14, 14], [10, 10, 0]),
    pair("sparse, nested", [14, 14], [0, 400, 100]),
    pair("sparse and dense", [12, 10], [100, 5_000, 300]),
    pair("dense, few in both", [10, 10], [5_000, 5_000, 100]),
    pair("sparse, of two precisions", [18, 14], [500, 300, 200]),
];

/// The jobs of the pairs, with intervals of `width` times their width.
pub(super) fn jobs(run: &Run, width: f64) -> Vec<Job<'_>> {
    let chosen = PAIRS.iter().take(run.effort.choose([2, 6, PAIRS.len()]));
    chosen.map(|pair| intervals(pair).job(run, width)).collect()
}

fn intervals(pair: &'static Pair) -> Intervals<'static> {
    let items = pair.parts.iter().sum();
    let trial: Trial<'_> = Box::new(move |random, ask| {
        let mut sketches =
            pair.precisions.map(|p| HyperLogLog::new(p).expect("a precision of the list"));
        let [left, right] = &mut sketches;
        let mut insert = |count, sketches: &mut [&mut HyperLogLog]| {
            for _ in 0..count {
                let hash = random.next().expect("endless");
                sketches.iter_mut().for_each(|sketch| {
                    sketch.insert_hash(hash);
                });
            }
        };
        let [only_left, only_right, both] = pair.parts;
        insert(only_left, &mut [left]);
        insert(only_right, &mut [right]);
        insert(both, &mut [left, right]);
        // Nothing errs but keys that share 26 bits, of which there is seldom a pair.
        let few = !left.is_dense() && !right.is_dense();
        let overlap = left.overlap(right).expect("one hasher");
        let parts = [
            ("only left", overlap.only_left, only_left),
            ("only right", overlap.only_right, only_right),
            ("both", overlap.both, both),
        ];
        for (name, estimate, truth) in parts {
            let answer = if few { Answer::of_few(estimate) } else { Answer::normal(estimate) };
            ask(Asked { items, name, truth: real(truth), answer });
        }
    });
    let [left, right] = pair.precisions;
    let shape = format!("p {left} and {right}, {}", pair.name);
    // About a millisecond for the greatest likelihood.
    Intervals { structure: NAME, shape, cost: 20_000, trial }
}
