//! The intervals of the numbers of keys that filters estimate: `approx_len`, and of unions and intersections.

use super::Run;
use super::coverage::{Answer, Asked, Intervals};
use super::effort::Effort;
use super::keys::HasherKind;
use super::proofs::Claims;
use super::random::{Random, next, some};
use super::schedule::Job;
use super::subject::{Design, Family, Sets, Size, Subject};
use crate::numbers::real;
use pds::Estimate;

/// A small filter: the errors of a count are the larger the smaller it is.
pub(crate) const DESIGN: Design = Design { items: 1_200, rate: 0.01, size: Size::Promised };
/// Keys in the union: sparse, at the design load and far above it. One third is in both filters.
const LOADS: [u64; 3] = [120, 1_200, 3_600];

/// Of fewer keys, few bits coincide, 14 with 80 keys. The error is then skewed: three standard errors hold the truth in 0.995 of
/// all cases where those of a normal error do so in 0.9973.
const NORMAL_FROM: u64 = 100;

/// The numbers of keys that a run has time for.
pub(crate) fn loads(run: &Run) -> &'static [u64] {
    if run.effort == Effort::Quick { &LOADS[1..2] } else { &LOADS }
}

/// Returns the jobs of a family, with intervals of `width` times their width.
pub(crate) fn jobs<F: Family<Filter: Sets>>(family: F, run: &Run, width: f64) -> Vec<Job<'_>> {
    loads(run).iter().map(|&items| pair(family, items).job(run, width)).collect()
}

/// Two filters with `items` keys in all.
fn pair<F: Family<Filter: Sets>>(family: F, items: u64) -> Intervals<'static> {
    let params = family.params(&DESIGN);
    let shape = format!("{}, {items} in all", family.predict(&params, &DESIGN, items).shape);
    Intervals::new(family.name(), shape, 2 * items, move |random, ask| {
        let [mut left, mut right] =
            [(); 2].map(|()| family.build(&params, HasherKind::Default.seeded(0)));
        let third = items / 3;
        for _ in 0..third {
            left.insert(&next(random));
            right.insert(&next(random));
            let shared = next(random);
            left.insert(&shared);
            right.insert(&shared);
        }
        let mut tell = |name, truth, estimate: Estimate| {
            let judge = if truth < NORMAL_FROM { Answer::of_few } else { Answer::normal };
            ask(Asked { items: truth, name, truth: real(truth), answer: judge(estimate) });
        };
        tell("approx_len", 2 * third, left.count());
        tell("approx_union_len", 3 * third, left.union_count(&right));
        tell("approx_intersection_len", third, left.shared_count(&right));
    })
}

/// A history of two filters of a hundred keys: their numbers of keys are no fewer than the set bits of the left one prove, and no
/// more in both than in either.
pub(crate) fn history<F: Family<Filter: Sets>>(family: F, random: Random<'_>, claims: &mut Claims) {
    let params = family.params(&Design { items: 100, ..DESIGN });
    let [mut left, mut right] =
        [(); 2].map(|()| family.build(&params, HasherKind::Default.seeded(0)));
    for _ in 0..some(random, 8) {
        left.insert(&next(random));
        right.insert(&next(random));
    }
    let (one, other) = (left.count(), right.count());
    claims.estimate(one, left.least_count(), f64::INFINITY);
    claims.estimate(left.union_count(&right), one.value.max(other.value), f64::INFINITY);
    claims.estimate(left.shared_count(&right), 0.0, one.value.min(other.value));
}
