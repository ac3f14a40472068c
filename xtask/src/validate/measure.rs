//! Measurements that every membership structure undergoes.

use super::corpus::Corpus;
use super::judge::{Case, Check, Law, Measurement, real};
use super::keys::{HasherKind, Key, KeyKind, Salted, Stream, with_hasher};
use super::schedule::Progress;
use super::subject::{Design, Family, Interval, Observation, Prediction, Sets, Subject};
use pds::{Avalanching, KeyHasher};
use pds_testkit::hashers::IdentityBuilder;
use pds_testkit::keys;

/// Keys made, hashed and asked for at a time: few enough to stay in the first-level cache.
const CHUNK: usize = 1024;

/// One case of the grid: what to build, of what, and how to measure it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plan {
    pub(crate) design: Design,
    pub(crate) keys: KeyKind,
    pub(crate) hasher: HasherKind,
    pub(crate) work: Work,
}

/// What is done with a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Work {
    /// One instance holds `stored` keys and is asked for `queries` absent ones.
    Instance { stored: u64, queries: u64 },
    /// Many instances, each of keys of its own and, where it has one, with a seed of its own.
    Pool { instances: u64, stored: u64, queries: u64 },
}

impl Plan {
    /// Roughly how many operations this takes, for the order of work and the progress bar.
    pub(crate) const fn cost(&self) -> u64 {
        match self.work {
            Work::Instance { stored, queries } => 2 * stored + queries,
            Work::Pool { instances, stored, queries } => instances * (2 * stored + queries),
        }
    }
}

/// A plan with all that is needed to carry it out.
pub(crate) struct Task<'a, F> {
    pub(crate) family: F,
    pub(crate) plan: Plan,
    pub(crate) seed: u64,
    pub(crate) corpus: &'a Corpus,
    pub(crate) progress: &'a Progress,
}

impl<F: Family> Task<'_, F> {
    /// Measures an instance or a pool.
    pub(crate) fn run(&self) -> Vec<Measurement> {
        if self.plan.keys.is_text() { self.run_on::<String>() } else { self.run_on::<u64>() }
    }

    fn run_on<K: Key>(&self) -> Vec<Measurement> {
        match self.plan.work {
            Work::Instance { stored, queries } => {
                with_hasher!(self.plan.hasher, self.seed, |hasher| {
                    self.instance::<K, _>(hasher, stored, queries)
                })
            }
            Work::Pool { instances, stored, queries } => {
                let mut pool = Pool::new(stored);
                for seed in keys::random(self.seed).zip(0..instances).map(|(seed, _)| seed) {
                    with_hasher!(self.plan.hasher, seed, |hasher| {
                        let trial = self.trial::<K, _>(hasher, seed, stored, queries);
                        pool.add(&trial.1, trial.0.rate_now(stored), trial.0.fill(stored));
                    });
                }
                self.judge_pool(&pool)
            }
        }
    }

    /// Measures an instance whose hasher is weak and said to be uniform: the rate has to break.
    pub(crate) fn run_unmixed(&self) -> Vec<Measurement> {
        let Work::Instance { stored, queries } = self.plan.work else { return Vec::new() };
        let hasher = Avalanching(Salted(self.seed, IdentityBuilder));
        vec![self.unmixed_rate(hasher, stored, queries)]
    }

    /// The rate of an instance with this hasher, against the predicted one.
    pub(crate) fn unmixed_rate(
        &self,
        hasher: impl KeyHasher + Clone,
        stored: u64,
        queries: u64,
    ) -> Measurement {
        let (_, trial) = self.trial::<u64, _>(hasher, self.seed, stored, queries);
        let case = Case { hasher: "identity, unmixed", ..self.case(stored, 1) };
        let rate = self.predict(stored).rate;
        Measurement { check: Check::UnmixedRate, ..false_positives(&case, &trial, rate) }
    }

    fn instance<K: Key, S: KeyHasher + Clone>(
        &self,
        hasher: S,
        stored: u64,
        queries: u64,
    ) -> Vec<Measurement> {
        let (filter, trial) = self.trial::<K, S>(hasher, self.seed, stored, queries);
        let case = self.case(stored, 1);
        let mut rows = vec![
            lost_keys(&case, trial.lost),
            false_positives(&case, &trial, filter.rate_now(stored)),
        ];
        let state = core::iter::once(filter.fill(stored)).chain(filter.spread());
        rows.extend(state.map(|observation| of_state(&case, observation)));
        rows
    }

    /// Builds an instance, stores the first keys of a stream, asks for all of them and for `queries` later ones.
    fn trial<K: Key, S: KeyHasher + Clone>(
        &self,
        hasher: S,
        seed: u64,
        stored: u64,
        queries: u64,
    ) -> (F::Filter<S>, Trial) {
        let open = || K::stream(self.plan.keys.open(seed, self.corpus));
        let mut filter = self.family.build(&self.plan.design, hasher);
        let mut stream = open();
        self.each_chunk(&mut *stream, stored, |keys| {
            keys.iter().for_each(|key| filter.insert(key));
        });
        let mut trial = Trial::default();
        let mut answers = [false; CHUNK];
        self.each_chunk(&mut *stream, queries, |keys| {
            let answers = &mut answers[..keys.len()];
            filter.contains_batch(keys, answers);
            trial.queries += keys.len() as u64;
            trial.hits += answers.iter().map(|&answer| u64::from(answer)).sum::<u64>();
        });
        self.each_chunk(&mut *open(), stored, |keys| {
            trial.lost += keys.iter().map(|key| u64::from(!filter.contains(key))).sum::<u64>();
        });
        (filter, trial)
    }

    /// Hands out the next `count` keys of a stream in chunks, or all that are left.
    fn each_chunk<K>(&self, stream: &mut dyn Stream<K>, count: u64, mut visit: impl FnMut(&[K])) {
        let mut chunk = Vec::with_capacity(CHUNK);
        let mut left = count;
        while left > 0 {
            stream.fill(usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK)), &mut chunk);
            if chunk.is_empty() {
                break;
            }
            visit(&chunk);
            left -= chunk.len() as u64;
            self.progress.advance(chunk.len() as u64);
        }
    }

    fn predict(&self, stored: u64) -> Prediction {
        self.family.predict(&self.plan.design, stored)
    }

    fn case(&self, items: u64, instances: u64) -> Case {
        let Prediction { promise, rate, shape } = self.predict(items);
        Case {
            structure: self.family.name(),
            items,
            rate: promise.unwrap_or(rate.low),
            shape,
            keys: self.plan.keys.name(),
            hasher: self.plan.hasher.name(),
            instances,
        }
    }

    fn judge_pool(&self, pool: &Pool) -> Vec<Measurement> {
        let case = self.case(pool.stored, pool.instances);
        let mut rows = vec![
            lost_keys(&case, pool.sum.lost),
            false_positives(&case, &pool.sum, pool.mean_rate_given_fill()),
            of_state(&case, pool.fill()),
        ];
        // Fewer instances than this say little about the mean over all.
        if pool.instances >= 1_000 {
            rows.extend(self.mean_rates(&case, pool));
        }
        rows
    }

    /// The mean over instances against the promise, and against the prediction.
    fn mean_rates(&self, case: &Case, pool: &Pool) -> Vec<Measurement> {
        let Prediction { rate, promise, .. } = self.predict(pool.stored);
        let (observed, deviation) = pool.mean_rate(rate.low);
        let row = |check, law, rate: f64| Measurement {
            case: case.clone(),
            check,
            law,
            observed,
            events: rate * real(pool.sum.queries),
        };
        let predicted = Law::Normal { low: rate.low, high: rate.high, deviation, looks: 1 };
        let promised =
            promise.map(|promise| row(Check::Promise, Law::at_most(promise, deviation), promise));
        promised.into_iter().chain([row(Check::MeanRate, predicted, rate.low)]).collect()
    }
}

impl<F: Family> Task<'_, F>
where
    F::Filter<pds::DefaultHashBuilder>: Sets,
{
    /// Measures the union and the counts of two sets, of two thirds of the design's keys each and one third in both,
    /// with the default hasher.
    pub(crate) fn run_sets(&self) -> Vec<Measurement> {
        let hasher = pds::DefaultHashBuilder::with_seed(self.seed);
        let mut filters = [(); 3].map(|()| self.family.build(&self.plan.design, hasher));
        let [left, right, whole] = &mut filters;
        let mut stream = u64::stream(self.plan.keys.open(self.seed, self.corpus));
        let third = self.plan.design.items / 3;
        let mut fill = |count, filters: &mut [&mut F::Filter<_>]| {
            self.each_chunk(&mut *stream, count, |keys| {
                for filter in filters.iter_mut() {
                    keys.iter().for_each(|key| filter.insert(key));
                }
            });
        };
        fill(third, &mut [left, whole]);
        fill(third, &mut [left, right, whole]);
        fill(third, &mut [right, whole]);
        let case = self.case(3 * third, 1);
        let mut rows = vec![
            count(&case, Check::Count, 3 * third, whole.count()),
            count(&case, Check::UnionCount, 3 * third, left.union_count(right)),
            count(&case, Check::SharedCount, third, left.shared_count(right)),
        ];
        left.unite(right);
        let differing = real(left.differing_words(whole));
        rows.push(exact(&case, Check::UnionWords, differing));
        rows
    }
}

/// What one instance did.
#[derive(Debug, Default)]
struct Trial {
    queries: u64,
    hits: u64,
    lost: u64,
}

/// What many instances did.
#[derive(Debug)]
struct Pool {
    stored: u64,
    instances: u64,
    sum: Trial,
    /// Sum of the squared numbers of hits.
    squares: f64,
    /// Sums over instances of the rate given the fill.
    rate: Interval,
    /// Sums over instances of the set bits: observed, least mean, greatest mean, variance.
    set_bits: [f64; 4],
}

impl Pool {
    fn new(stored: u64) -> Self {
        let rate = Interval { low: 0.0, high: 0.0 };
        Self { stored, instances: 0, sum: Trial::default(), squares: 0.0, rate, set_bits: [0.0; 4] }
    }

    fn add(&mut self, trial: &Trial, rate: Interval, fill: Observation) {
        self.instances += 1;
        self.sum.queries += trial.queries;
        self.sum.hits += trial.hits;
        self.sum.lost += trial.lost;
        self.squares += real(trial.hits).powi(2);
        self.rate.low += rate.low;
        self.rate.high += rate.high;
        if let Law::Normal { low, high, deviation, .. } = fill.law {
            let terms = [fill.observed, low, high, deviation.powi(2)];
            self.set_bits.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
    }

    /// Counts of instances with unequal rates scatter less than those of one with the mean rate, so that the
    /// binomial law of the mean is a safe bound.
    fn mean_rate_given_fill(&self) -> Interval {
        let instances = real(self.instances);
        Interval { low: self.rate.low / instances, high: self.rate.high / instances }
    }

    fn fill(&self) -> Observation {
        let [observed, low, high, variance] = self.set_bits;
        let law = Law::Normal { low, high, deviation: variance.sqrt(), looks: 1 };
        Observation { check: Check::SetBits, law, observed }
    }

    /// The mean rate and its standard error from the scatter of the instances, never taken below that of one rate
    /// common to all.
    fn mean_rate(&self, predicted: f64) -> (f64, f64) {
        let (instances, queries) = (real(self.instances), real(self.sum.queries));
        let mean = real(self.sum.hits) / instances;
        let variance =
            (self.squares / instances - mean * mean).max(0.0) * instances / (instances - 1.0);
        let least = predicted * (1.0 - predicted) / queries;
        let each = queries / instances;
        (mean / each, (variance / (instances * each * each)).max(least).sqrt())
    }
}

fn exact(case: &Case, check: Check, observed: f64) -> Measurement {
    Measurement { case: case.clone(), check, law: Law::Exactly(0.0), observed, events: 0.0 }
}

fn lost_keys(case: &Case, lost: u64) -> Measurement {
    exact(case, Check::LostKeys, real(lost))
}

fn false_positives(case: &Case, trial: &Trial, rate: Interval) -> Measurement {
    Measurement {
        case: case.clone(),
        check: Check::FalsePositives,
        law: Law::Events { trials: trial.queries, low: rate.low, high: rate.high },
        observed: real(trial.hits),
        events: rate.low * real(trial.queries),
    }
}

fn of_state(case: &Case, Observation { check, law, observed }: Observation) -> Measurement {
    Measurement { case: case.clone(), check, law, observed, events: observed }
}

/// An estimated number of keys; its bias is below one key for any filter that is not saturated.
fn count(case: &Case, check: Check, truth: u64, (value, deviation): (f64, f64)) -> Measurement {
    let truth = real(truth);
    let law = Law::Normal { low: truth, high: truth + 1.0, deviation, looks: 1 };
    Measurement { case: case.clone(), check, law, observed: value, events: truth }
}
