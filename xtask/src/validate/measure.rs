//! Measurements that every membership structure undergoes.

use super::corpus::Corpus;
use super::judge::{Case, Check, Interval, Law, Measurement};
use super::keys::{CaseHasher, HasherKind, Key, KeyKind, Salted, Stream};
use super::random::{Random, first};
use super::subject::{Design, Family, Observation, Prediction, Sets, Subject};
use crate::numbers::{index, real};
use pds::Estimate;
use pds::hash::Avalanching;
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
}

impl<'a, F: Family> Task<'a, F> {
    /// A plan with a seed of its own.
    pub(crate) fn new(family: F, plan: Plan, seed: u64, corpus: &'a Corpus) -> Self {
        let params = family.params(&plan.design);
        Self { family, plan, params, seed, corpus }
    }

    /// Measures an instance or a pool.
    pub(crate) fn run(&self) -> Vec<Measurement> {
        if self.plan.keys.is_text() { self.run_on::<String>() } else { self.run_on::<u64>() }
    }

    fn run_on<K: Key>(&self) -> Vec<Measurement> {
        match self.plan.work {
            Work::Instance { stored, queries } => self.instance::<K>(stored, queries),
            Work::Pool { instances, stored, queries } => {
                let mut pool = Pool::new(stored);
                for seed in first(instances, keys::random(self.seed)) {
                    let hasher = self.plan.hasher.seeded(seed);
                    let (filter, trial) = self.trial::<K>(hasher, seed, stored, queries);
                    pool.add(&trial, filter.rate_now(stored), filter.fill(stored));
                }
                self.judge_pool(&pool)
            }
        }
    }

    /// Measures an instance whose hasher is weak and said to be uniform: the rate has to break.
    pub(crate) fn run_unmixed(&self) -> Vec<Measurement> {
        let Work::Instance { stored, queries } = self.plan.work else { return Vec::new() };
        let hasher = |seed| CaseHasher::Unmixed(Avalanching(Salted(seed, IdentityBuilder)));
        vec![self.unmixed_rate(hasher, stored, queries)]
    }

    /// The mean rate of instances with such hashers, which may not exceed the predicted one.
    // How far a weak hasher is off depends on where the keys start: in one instance of a few, it may look sound.
    pub(crate) fn unmixed_rate(
        &self,
        hasher: impl Fn(u64) -> CaseHasher,
        stored: u64,
        queries: u64,
    ) -> Measurement {
        const INSTANCES: u64 = 16;
        let trials = (0..INSTANCES).map(|instance| {
            let seed = self.seed.wrapping_add(instance);
            self.trial::<u64>(hasher(seed), seed, stored, queries / INSTANCES).1
        });
        let (asked, hits) =
            trials.fold((0, 0), |(asked, hits), one| (asked + one.queries, hits + one.hits));
        let case = Case { hasher: "identity, unmixed", ..self.case(stored, INSTANCES) };
        let events = self.predict(stored).rate.high * real(asked);
        case.row(UNMIXED_RATE, Law::at_most(events, events.sqrt()), real(hits), events)
    }

    fn instance<K: Key>(&self, stored: u64, queries: u64) -> Vec<Measurement> {
        let hasher = self.plan.hasher.seeded(self.seed);
        let (filter, trial) = self.trial::<K>(hasher, self.seed, stored, queries);
        let state = core::iter::once(filter.fill(stored)).chain(filter.spread());
        trial.judge(&self.case(stored, 1), filter.rate_now(stored), state)
    }

    /// Builds an instance, stores the first keys of a stream, asks for all of them and for `queries` later ones.
    fn trial<K: Key>(
        &self,
        hasher: CaseHasher,
        seed: u64,
        stored: u64,
        queries: u64,
    ) -> (F::Filter, Trial) {
        let open = || K::open(self.plan.keys, seed, self.corpus);
        let mut filter = self.family.build(&self.params, hasher);
        let mut stream = open();
        each_chunk(&mut *stream, stored, |keys| keys.iter().for_each(|key| filter.insert(key)));
        let mut trial = Trial::default();
        let mut answers = [false; CHUNK];
        each_chunk(&mut *stream, queries, |keys| {
            let answers = &mut answers[..keys.len()];
            filter.contains_batch(keys, answers);
            trial.queries += keys.len() as u64;
            trial.hits += answers.iter().map(|&answer| u64::from(answer)).sum::<u64>();
        });
        each_chunk(&mut *open(), stored, |keys| {
            trial.lost += keys.iter().map(|key| u64::from(!filter.contains(key))).sum::<u64>();
        });
        (filter, trial)
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
        let mut rows = pool.sum.judge(&case, pool.mean_rate_given_fill(), [pool.fill()]);
        // Fewer instances than this say little about the mean over all.
        if pool.rates.instances >= 1_000 {
            let Prediction { rate, promise, .. } = self.predict(pool.stored);
            rows.extend(pool.rates.judge(&case, rate, promise));
        }
        rows
    }
}

impl<F: Family<Filter: Sets>> Task<'_, F> {
    /// Measures the union and the counts of two sets, of two thirds of the design's keys each and one third in both,
    /// with the default hasher.
    pub(crate) fn run_sets(&self) -> Vec<Measurement> {
        let mut filters = [(); 3]
            .map(|()| self.family.build(&self.params, HasherKind::Default.seeded(self.seed)));
        let [left, right, whole] = &mut filters;
        let mut stream = u64::open(self.plan.keys, self.seed, self.corpus);
        let third = self.plan.design.items / 3;
        let mut fill = |count, filters: &mut [&mut F::Filter]| {
            each_chunk(&mut *stream, count, |keys| {
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
        let words = left.words().into_iter().zip(whole.words());
        rows.push(case.none(UNION_WORDS, words.filter(|(one, other)| one != other).count() as u64));
        rows
    }
}

/// Hands out the next `count` keys of a stream in chunks, or all that are left.
fn each_chunk<K>(stream: &mut dyn Stream<K>, count: u64, mut visit: impl FnMut(&[K])) {
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut left = count;
    while left > 0 {
        stream.fill(index(left.min(CHUNK as u64)), &mut chunk);
        if chunk.is_empty() {
            break;
        }
        visit(&chunk);
        left -= chunk.len() as u64;
    }
}

/// The results of one instance.
#[derive(Debug, Default)]
struct Trial {
    queries: u64,
    hits: u64,
    lost: u64,
}

impl Trial {
    /// The keys that were lost, the false positives at this rate, and the state.
    fn judge(
        &self,
        case: &Case,
        rate: Interval,
        state: impl IntoIterator<Item = Observation>,
    ) -> Vec<Measurement> {
        let state =
            state.into_iter().map(|one| case.row(one.check, one.law, one.observed, one.observed));
        let rows = [
            case.none(LOST_KEYS, self.lost),
            case.events(FALSE_POSITIVES, self.queries, rate, self.hits),
        ];
        rows.into_iter().chain(state).collect()
    }
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
        let (sum, rates) = (Trial::default(), Rates::default());
        Self { stored, sum, rates, rate: Interval::exactly(0.0), set_bits: [0.0; 4] }
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

    /// Asks an instance for absent hashes, and takes it in.
    pub(crate) fn ask(&mut self, absent: u64, random: Random<'_>, affirms: impl Fn(u64) -> bool) {
        let hits = first(absent, random).filter(|&hash| affirms(hash)).count();
        self.add(absent, hits as u64);
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

/// An estimated number of keys; its bias is below one key for any filter that is not saturated.
fn count(case: &Case, check: Check, truth: u64, estimate: Estimate) -> Measurement {
    let Estimate { value, standard_error: deviation } = estimate;
    let truth = real(truth);
    case.row(check, Law::between(truth, truth + 1.0, deviation), value, truth)
}
