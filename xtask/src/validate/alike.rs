//! Three ways to compare two sets, with the same bytes: the error of the Jaccard index by HyperLogLog, MinHash and theta sketches.
//!
//! A row is the root mean square of the errors itself, and its prediction. The tables of `docs/choosing.md` and of the reports are
//! these rows.

use super::errors::Errors;
use super::prelude::*;
use super::similarity::signature_error;
use pds::params::{MinHashParams, SignatureParams};
use pds::theta::ThetaSet;
use pds::{HyperLogLog, MinHash, ThetaSketch};

/// Sketches of two sets, compared.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Two sets compared in 8 KiB each",
    variants: &[],
    jobs: |run| PAIRS.into_iter().map(|pair| pair.job(run, &METHODS)).collect(),
    faults: &[fault(
        "beyond-theta",
        "a comparison of theta sketches counts hashes up to the higher theta of the two",
        &[ERROR],
        |run| {
            const BEYOND: Method = Method { estimate: compare_beyond_theta, ..THETA };
            vec![Pair { jaccard: 0.5, is_subset: true }.job(run, &[BEYOND])]
        },
    )],
};

const NAME: &str = "alike";

const ERROR: Check = Check::new(
    "error of the Jaccard index in 8 KiB",
    "The root mean square of the errors of many pairs of sketches of 8 KiB each, beside its prediction.",
);

/// Keys in one set or both.
const UNION: u64 = 20_000;

/// An estimate of the Jaccard index, and a bound of its error that the sketches state, if they do.
type Answer = (f64, Option<f64>);

/// A way to compare two sets by sketches of 8 KiB.
#[derive(Clone, Copy)]
struct Method {
    name: &'static str,
    estimate: fn([&[u64]; 2]) -> Answer,
    /// Predicts the standard error, if it does not follow from what is stated.
    predict: fn(Pair) -> Option<f64>,
}

const THETA: Method = Method {
    name: "theta, K = 1,024",
    estimate: |sets| {
        let [left, right] = sets.map(theta_sketch);
        (left.compare(&right).expect("equal seeds").jaccard().value, None)
    },
    predict: |pair| Some(pair.theta_error()),
};

const METHODS: [Method; 4] = [
    Method {
        name: "HyperLogLog, p = 13",
        estimate: |sets| {
            let [left, right] = sets.map(|keys| {
                let mut sketch = HyperLogLog::new(13).expect("a precision");
                sketch.insert_hash_batch(keys);
                sketch
            });
            let overlap = left.overlap(&right).expect("equal hashers");
            let jaccard = overlap.jaccard();
            // Errors of the parts add up at most: d ln(J / (1 - J)) = d both / both - d others / others.
            let others = overlap.only_left.value + overlap.only_right.value;
            let of_others = overlap.only_left.standard_error + overlap.only_right.standard_error;
            let relative = overlap.both.standard_error / overlap.both.value + of_others / others;
            let bound = jaccard * (1.0 - jaccard) * relative;
            (jaccard, bound.is_finite().then_some(bound))
        },
        predict: |_| None,
    },
    Method {
        name: "MinHash, K = 1,024",
        estimate: |sets| {
            let [left, right] = sets.map(|keys| minhash(1_024, keys));
            (left.compare(&right).expect("equal hashers").jaccard().value, None)
        },
        predict: |pair| {
            let params = MinHashParams::new(1_024).expect("a size");
            Some(params.standard_error_at(pair.truth(), real(UNION)))
        },
    },
    Method {
        name: "signature, 4,096 values of 16 bits",
        estimate: |sets| {
            let [left, right] =
                sets.map(|keys| minhash(4_096, keys).signature(16).expect("a size"));
            (left.compare(&right).expect("equal hashers").jaccard().value, None)
        },
        predict: |pair| {
            let params = SignatureParams::new(4_096, 16).expect("a size");
            Some(signature_error(params, pair.truth(), real(UNION)))
        },
    },
    THETA,
];

fn minhash(values: u32, keys: &[u64]) -> MinHash {
    let mut sketch = MinHash::new(values).expect("a size");
    sketch.insert_hash_batch(keys);
    sketch
}

/// A sketch of 1,024 hashes, which are 8 KiB in its compact form.
fn theta_sketch(keys: &[u64]) -> ThetaSketch {
    let mut sketch = ThetaSketch::new(1_024).expect("a size");
    sketch.extend(keys);
    sketch.trim();
    sketch
}

/// The share of hashes that both sketches have, without regard to theta.
fn compare_beyond_theta(sets: [&[u64]; 2]) -> Answer {
    let [left, right] = sets.map(|keys| theta_sketch(keys).to_compact());
    let both = left.hashes().iter().filter(|hash| right.hashes().binary_search(hash).is_ok());
    let both = both.count() as u64;
    let union = (left.num_retained() + right.num_retained()) as u64 - both;
    (real(both) / real(union), None)
}

/// Two sets: of equal size, or one a part of the other.
#[derive(Clone, Copy)]
struct Pair {
    jaccard: f64,
    is_subset: bool,
}

const PAIRS: [Pair; 8] = [
    Pair { jaccard: 0.01, is_subset: false },
    Pair { jaccard: 0.1, is_subset: false },
    Pair { jaccard: 0.5, is_subset: false },
    Pair { jaccard: 0.9, is_subset: false },
    Pair { jaccard: 0.01, is_subset: true },
    Pair { jaccard: 0.1, is_subset: true },
    Pair { jaccard: 0.5, is_subset: true },
    Pair { jaccard: 0.9, is_subset: true },
];

impl Pair {
    /// The number of keys in both sets.
    fn common(self) -> u64 {
        whole((self.jaccard * real(UNION)).round())
    }

    fn truth(self) -> f64 {
        real(self.common()) / real(UNION)
    }

    /// Returns the numbers of keys of the two sets.
    fn sizes(self) -> [u64; 2] {
        if self.is_subset {
            return [UNION, self.common()];
        }
        let only_left = (UNION - self.common()) / 2;
        [self.common() + only_left, UNION - only_left]
    }

    /// Of n hashes of the union below theta, without replacement.
    fn theta_error(self) -> f64 {
        let theta = 1_024.0 / real(self.sizes()[0].max(self.sizes()[1]));
        (self.truth() * (1.0 - self.truth()) * (1.0 - theta) / (real(UNION) * theta)).sqrt()
    }

    /// Judges the errors of methods with the same sets.
    fn job<'a>(self, run: &'a Run, methods: &'a [Method]) -> Job<'a> {
        let instances = run.effort.choose([200, 200, 10_000]);
        let seed = run.seed ^ self.common() << 8 ^ u64::from(self.is_subset);
        Job::new(instances * UNION * 8, move || {
            let mut hashes = keys::random(seed);
            let mut all: Vec<_> = methods.iter().map(|_| Errors::default()).collect();
            let [left, right] = self.sizes().map(index);
            for _ in 0..instances {
                let keys: Vec<u64> = first(UNION, &mut hashes).collect();
                let sets = [&keys[..left], &keys[keys.len() - right..]];
                for (method, errors) in methods.iter().zip(&mut all) {
                    let (estimate, bound) = (method.estimate)(sets);
                    errors.add(estimate - self.truth(), true);
                    errors.add_stated(bound.unwrap_or_default());
                }
            }
            let judged = methods.iter().zip(&all);
            judged.map(|(method, errors)| self.judge(*method, errors, instances)).collect()
        })
    }

    fn judge(self, method: Method, errors: &Errors, instances: u64) -> Measurement {
        let stated = errors.stated();
        let (observed, deviation) = errors.spread(1.0);
        let predicted = (method.predict)(self);
        let law = match predicted {
            // Theta of two sketches is the lower one of both, so there are up to 2 % fewer hashes than predicted.
            Some(error) => Law::between(error, 1.01 * error, deviation),
            None => Law::at_most(stated, deviation),
        };
        let sets = if self.is_subset { "one in the other" } else { "equal sizes" };
        let shape = format!("{}, J = {}, {sets}", method.name, self.jaccard);
        let case = Case::random(NAME, UNION, predicted.unwrap_or(stated), shape).of(instances);
        case.row(ERROR, law, observed, real(instances))
    }
}
