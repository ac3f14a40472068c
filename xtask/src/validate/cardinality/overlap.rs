//! The intervals of joint estimates: how many keys are in one sketch only, in the other only, in both.

use super::NAME;
use crate::validate::prelude::*;
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
    let [left, right] = pair.precisions;
    let shape = format!("p {left} and {right}, {}", pair.name);
    // About a millisecond for the greatest likelihood.
    Intervals::new(NAME, shape, 20_000, move |random, ask| {
        let [mut left, mut right] =
            pair.precisions.map(|p| HyperLogLog::new(p).expect("a precision of the list"));
        let [only_left, only_right, both] = pair.parts;
        first(only_left, &mut *random).for_each(|hash| _ = left.insert_hash(hash));
        first(only_right, &mut *random).for_each(|hash| _ = right.insert_hash(hash));
        for hash in first(both, random) {
            left.insert_hash(hash);
            right.insert_hash(hash);
        }
        // Nothing errs but keys that share 26 bits, of which there is seldom a pair.
        let few = !left.is_dense() && !right.is_dense();
        let overlap = left.overlap(&right).expect("one hasher");
        let parts = [
            ("only left", overlap.only_left, only_left),
            ("only right", overlap.only_right, only_right),
            ("both", overlap.both, both),
        ];
        for (name, estimate, truth) in parts {
            let answer = if few { Answer::of_few(estimate) } else { Answer::normal(estimate) };
            ask(Asked { items, name, truth: real(truth), answer });
        }
    })
}
