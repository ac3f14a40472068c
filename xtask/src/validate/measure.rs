//! Measurements that every membership structure undergoes.

use super::corpus::Corpus;
use super::judge::{Case, Check, Law, Measurement, real};
use super::keys::{HasherKind, Key, KeyKind, Salted, Stream, with_hasher};
use super::schedule::Progress;
use super::subject::{Design, Family, Interval, Observation, Prediction, Sets, Subject};
use pds::Estimate;
use pds::hash::{Avalanching, KeyHasher};
use pds_testkit::hashers::IdentityBuilder;
use pds_testkit::keys;

pub(crate) const LOST_KEYS: Check =
    Check::new("lost keys", "Every stored key was asked for; none may be denied.");
pub(crate) const FALSE_POSITIVES: Check = Check::new(
    "false positives, given the fill",
    "Absent keys that were affirmed, against the number that the measured fill of the same \
     instance predicts, by the exact binomial law.",
);
/// Broken on purpose.
pub(crate) const UNMIXED_RATE: Check = Check::new("false positives, a weak hasher unmixed", "An expected failure: a weak hasher in `Avalanching` must break the promised rate, which `Mixed` keeps.").to_break();
pub(crate) const PROMISE: Check = Check::new(
    "mean rate, at most the promise",
    "The mean over many small filters may not exceed the rate that was asked for.",
);
pub(crate) const MEAN_RATE: Check = Check::new(
    "mean rate, as predicted",
    "The same mean must be the one that the exact formula predicts.",
);
pub(crate) const SET_BITS: Check =
    Check::new("set bits", "As many bits must be set as the stored keys set on average.");
pub(crate) const UNION_WORDS: Check = Check::new(
    "union's words unlike the whole's",
    "The union of two filters must be the filter of the united keys, word by word.",
);
pub(crate) const COUNT: Check = Check::new(
    "approx_len",
    "The number of keys, estimated from the fill, within its own standard error.",
);
pub(crate) const UNION_COUNT: Check = Check::new(
    "approx_union_len",
    "The number of keys in either of two filters, within its own standard error.",
);
pub(crate) const SHARED_COUNT: Check = Check::new(
    "approx_intersection_len",
    "The number of keys in both of two filters, within its own standard error.",
);

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

/// The measurement of a case.
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
pub(crate) struct Task<'a, F: Family> {
    family: F,
    plan: Plan,
    /// Found once: finding them takes longer than filling a small filter.
    params: F::Params,
    seed: u64,
    corpus: &'a Corpus,
    progress: &'a Progress,
}

impl<'a, F: Family> Task<'a, F> {
    /// A plan with a seed of its own.
    pub(crate) fn new(
        family: F,
        plan: Plan,
        seed: u64,
        corpus: &'a Corpus,
        progress: &'a Progress,
    ) -> Self {
        let params = family.params(&plan.design);
        Self { family, plan, params, seed, corpus, progress }
    }

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
        let hasher = |seed| Avalanching(Salted(seed, IdentityBuilder));
        vec![self.unmixed_rate(hasher, stored, queries)]
    }

    /// The mean rate of instances with such hashers, which may not exceed the predicted one.
    // How far a weak hasher is off depends on where the keys start: in one instance of a few, it may look sound.
    pub(crate) fn unmixed_rate<S: KeyHasher + Clone>(
        &self,
        hasher: impl Fn(u64) -> S,
        stored: u64,
        queries: u64,
    ) -> Measurement {
        const INSTANCES: u64 = 16;
        let trials = (0..INSTANCES).map(|instance| {
            let seed = self.seed.wrapping_add(instance);
            self.trial::<u64, S>(hasher(seed), seed, stored, queries / INSTANCES).1
        });
        let (asked, hits) =
            trials.fold((0, 0), |(asked, hits), one| (asked + one.queries, hits + one.hits));
        let case = Case { hasher: "identity, unmixed", ..self.case(stored, INSTANCES) };
        let events = self.predict(stored).rate.high * real(asked);
        case.row(UNMIXED_RATE, Law::at_most(events, events.sqrt()), real(hits), events)
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
            case.none(LOST_KEYS, trial.lost),
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
        let mut filter = self.family.build(&self.params, hasher);
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
        self.family.predict(&self.params, &self.plan.design, stored)
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
        let case = self.case(pool.stored, pool.rates.instances);
        let mut rows = vec![
            case.none(LOST_KEYS, pool.sum.lost),
            false_positives(&case, &pool.sum, pool.mean_rate_given_fill()),
            of_state(&case, pool.fill()),
        ];
        // Fewer instances than this say little about the mean over all.
        if pool.rates.instances >= 1_000 {
            let Prediction { rate, promise, .. } = self.predict(pool.stored);
            rows.extend(pool.rates.judge(&case, rate, promise));
        }
        rows
    }
}

impl<F: Family> Task<'_, F>
where
    F::Filter<pds::hash::DefaultHashBuilder>: Sets,
{
    /// Measures the union and the counts of two sets, of two thirds of the design's keys each and one third in both,
    /// with the default hasher.
    pub(crate) fn run_sets(&self) -> Vec<Measurement> {
        let hasher = pds::hash::DefaultHashBuilder::with_seed(self.seed);
        let mut filters = [(); 3].map(|()| self.family.build(&self.params, hasher));
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
            count(&case, COUNT, 3 * third, whole.count()),
            count(&case, UNION_COUNT, 3 * third, left.union_count(right)),
            count(&case, SHARED_COUNT, third, left.shared_count(right)),
        ];
        left.unite(right);
        rows.push(case.none(UNION_WORDS, left.differing_words(whole)));
        rows
    }
}

/// The results of one instance.
#[derive(Debug, Default)]
struct Trial {
    queries: u64,
    hits: u64,
    lost: u64,
}

/// The results of many instances.
#[derive(Debug)]
struct Pool {
    stored: u64,
    sum: Trial,
    rates: Rates,
    /// Sums over instances of the rate given the fill.
    rate: Interval,
    /// Sums over instances of the set bits: observed, least mean, greatest mean, variance.
    set_bits: [f64; 4],
}

impl Pool {
    fn new(stored: u64) -> Self {
        let rate = Interval { low: 0.0, high: 0.0 };
        let rates = Rates::default();
        Self { stored, sum: Trial::default(), rates, rate, set_bits: [0.0; 4] }
    }

    fn add(&mut self, trial: &Trial, rate: Interval, fill: Observation) {
        self.rates.add(trial.queries, trial.hits);
        self.sum.queries += trial.queries;
        self.sum.hits += trial.hits;
        self.sum.lost += trial.lost;
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
        let instances = real(self.rates.instances);
        Interval { low: self.rate.low / instances, high: self.rate.high / instances }
    }

    fn fill(&self) -> Observation {
        let [observed, low, high, variance] = self.set_bits;
        let law = Law::between(low, high, variance.sqrt());
        Observation { check: SET_BITS, law, observed }
    }
}

/// The false positives of many instances that were asked as often as each other.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    instances: u64,
    queries: u64,
    hits: u64,
    /// Sum of the squared numbers of hits.
    squares: f64,
}

impl Rates {
    /// Takes in one instance.
    pub(crate) fn add(&mut self, queries: u64, hits: u64) {
        self.instances += 1;
        self.queries += queries;
        self.hits += hits;
        self.squares += real(hits).powi(2);
    }

    /// The mean over instances against the promise, and against the prediction.
    pub(crate) fn judge(
        &self,
        case: &Case,
        rate: Interval,
        promise: Option<f64>,
    ) -> Vec<Measurement> {
        let (observed, deviation) = self.mean(rate.low);
        let row = |check, law, rate: f64| case.row(check, law, observed, rate * real(self.queries));
        let predicted = Law::between(rate.low, rate.high, deviation);
        let promised =
            promise.map(|promise| row(PROMISE, Law::at_most(promise, deviation), promise));
        promised.into_iter().chain([row(MEAN_RATE, predicted, rate.low)]).collect()
    }

    /// The mean rate and its standard error from the scatter of the instances, never taken below that of one rate
    /// common to all.
    fn mean(&self, predicted: f64) -> (f64, f64) {
        let (instances, queries) = (real(self.instances), real(self.queries));
        let mean = real(self.hits) / instances;
        let variance =
            (self.squares / instances - mean * mean).max(0.0) * instances / (instances - 1.0);
        let least = predicted * (1.0 - predicted) / queries;
        let each = queries / instances;
        (mean / each, (variance / (instances * each * each)).max(least).sqrt())
    }
}

fn false_positives(case: &Case, trial: &Trial, rate: Interval) -> Measurement {
    let law = Law::Events { trials: trial.queries, low: rate.low, high: rate.high };
    case.row(FALSE_POSITIVES, law, real(trial.hits), rate.low * real(trial.queries))
}

fn of_state(case: &Case, Observation { check, law, observed }: Observation) -> Measurement {
    case.row(check, law, observed, observed)
}

/// An estimated number of keys; its bias is below one key for any filter that is not saturated.
fn count(case: &Case, check: Check, truth: u64, estimate: Estimate) -> Measurement {
    let Estimate { value, standard_error: deviation } = estimate;
    let truth = real(truth);
    case.row(check, Law::between(truth, truth + 1.0, deviation), value, truth)
}
