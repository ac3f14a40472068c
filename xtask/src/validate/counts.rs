//! The intervals of the numbers of keys that filters estimate: `approx_len`, and of unions and intersections.

use super::Run;
use super::coverage::{Answer, Asked, Intervals, Trial};
use super::effort::Effort;
use super::judge::real;
use super::schedule::Job;
use super::subject::{Design, Family, Sets, Size, Subject};
use pds::Estimate;
use pds::hash::DefaultHashBuilder;

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
pub(crate) fn jobs<F: Family>(family: F, run: &Run, width: f64) -> Vec<Job<'_>>
where
    F::Filter<DefaultHashBuilder>: Sets,
{
    loads(run).iter().map(|&items| pair(family, items).job(run, width)).collect()
}

/// Two filters with `items` keys in all.
fn pair<F: Family>(family: F, items: u64) -> Intervals<'static>
where
    F::Filter<DefaultHashBuilder>: Sets,
{
    let params = family.params(&DESIGN);
    let trial: Trial<'_> = Box::new(move |random, ask| {
        let build = || family.build(&params, DefaultHashBuilder::default());
        let (mut left, mut right) = (build(), build());
        let third = items / 3;
        for _ in 0..third {
            let mut key = || random.next().expect("endless");
            left.insert(&key());
            right.insert(&key());
            let shared = key();
            left.insert(&shared);
            right.insert(&shared);
        }
        let mut tell = |name, truth, estimate: Estimate| {
            let judge = if truth < NORMAL_FROM { Answer::of_few } else { Answer::normal };
            let answer = judge(estimate);
            ask(Asked { items: truth, name, truth: real(truth), answer });
        };
        tell("approx_len", 2 * third, left.count());
        tell("approx_union_len", 3 * third, left.union_count(&right));
        tell("approx_intersection_len", third, left.shared_count(&right));
    });
    let shape = format!("{}, {items} in all", family.predict(&params, &DESIGN, items).shape);
    Intervals { structure: family.name(), shape, cost: 2 * items, trial }
}
