//! Filters that are asked together as subjects: the compound rate is that of the formula.

use super::Run;
use super::effort::Effort;
use super::judge::{Case, Law, real};
use super::measure::{FALSE_POSITIVES, LOST_KEYS, MEAN_RATE, Rates};
use super::schedule::{Job, Progress};
use super::structures::{Fault, Structure};
use super::subject::{Interval, Subject};
use pds::BloomFilter;
use pds::hash::{DefaultHashBuilder, KeyHasher};
use pds::many::{AllOf, AnyOf, all_of_rate, any_of_rate};
use pds::params::BloomParams;
use pds::params::bloom::scheme_excess;
use pds_testkit::keys;

/// Unions and intersections of filters.
pub(crate) const STRUCTURE: Structure = Structure {
    name: ANY,
    title: "Any of many filters",
    variants: &[(ALL, "All of many filters")],
    jobs,
    faults: &[
        Fault {
            name: "filter-left-out",
            effect: "`AllOf` does not ask its last filter",
            breaks: &[FALSE_POSITIVES, MEAN_RATE],
            effort: Effort::Quick,
            jobs: |run| vec![job(run, ensembles()[0], |filters| AllOf::new(but_last(filters)))],
        },
        Fault {
            name: "set-left-out",
            effect: "`AnyOf` does not ask its last filter",
            breaks: &[LOST_KEYS],
            effort: Effort::Quick,
            jobs: |run| vec![job(run, unions()[0], |filters| AnyOf::new(but_last(filters)))],
        },
        Fault {
            name: "hashed-once",
            effect: "`AllOf` asks every filter for the hash that the first one gives a key",
            breaks: &[LOST_KEYS],
            effort: Effort::Quick,
            jobs: |run| vec![job(run, ensembles()[0], HashedOnce)],
        },
    ],
};

const ANY: &str = "any-of";
const ALL: &str = "all-of";

/// Filters that answer together.
trait Together {
    fn contains(&self, key: u64) -> bool;

    fn contains_batch(&self, keys: &[u64], answers: &mut [bool]);
}

impl Together for AnyOf<BloomFilter> {
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) {
        self.contains_batch(keys, answers);
    }
}

impl Together for AllOf<BloomFilter> {
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) {
        self.contains_batch(keys, answers);
    }
}

/// Filters that are asked together.
#[derive(Clone, Copy)]
struct Design {
    structure: &'static str,
    params: BloomParams,
    /// Keys of each filter.
    items: u64,
    members: u64,
    /// Whether the sets have no key in common. They are one set otherwise.
    is_split: bool,
    /// Whether the hashers have different seeds.
    has_seeds: bool,
    /// The rate that the constructor promised not to exceed, where it did.
    promise: Option<f64>,
    compound: fn(Vec<f64>) -> f64,
}

impl Design {
    /// Sets that have no key in common: a key is stored if it is in any.
    fn union(items: u64, rate: f64, members: u64, has_seeds: bool) -> Self {
        Self {
            structure: ANY,
            params: BloomParams::for_double_hashing(items, rate).expect("a sound design"),
            items,
            members,
            is_split: true,
            has_seeds,
            promise: None,
            compound: any_of_rate,
        }
    }

    /// Filters of one set with different seeds, which promise this rate together.
    fn ensemble(items: u64, rate: f64, members: u32) -> Self {
        Self {
            structure: ALL,
            params: BloomParams::for_ensemble(items, rate, members).expect("a sound design"),
            items,
            members: members.into(),
            is_split: false,
            has_seeds: true,
            promise: Some(rate),
            compound: all_of_rate,
        }
    }

    /// Returns filters of these keys. No two instances have a seed in common.
    fn build(&self, instance: u64, keys: &[u64]) -> Vec<BloomFilter> {
        let parts = keys.chunks(usize::try_from(self.items).expect("in memory")).cycle();
        let filter = |(member, keys): (u64, &[u64])| {
            let seed = instance * self.members + if self.has_seeds { member } else { 0 };
            let hasher = DefaultHashBuilder::with_seed(seed);
            let mut filter = BloomFilter::from_params(self.params, hasher).expect("memory");
            filter.extend(keys);
            filter
        };
        (0..self.members).zip(parts).map(filter).collect()
    }

    /// Returns the compound rate of filters of these rates.
    fn rate(&self, rates: &[Interval]) -> Interval {
        let compound = |of: fn(&Interval) -> f64| (self.compound)(rates.iter().map(of).collect());
        Interval { low: compound(|rate| rate.low), high: compound(|rate| rate.high) }
    }
}

fn unions() -> [Design; 3] {
    [
        Design::union(200, 0.02, 3, false),
        Design::union(50, 0.001, 12, false),
        Design::union(300, 0.01, 7, true),
    ]
}

fn ensembles() -> [Design; 3] {
    [
        Design::ensemble(600, 0.05, 2),
        Design::ensemble(400, 0.01, 3),
        Design::ensemble(500, 0.002, 4),
    ]
}

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let unions = unions().map(|design| job(run, design, AnyOf::new));
    let ensembles = ensembles().map(|design| job(run, design, AllOf::new));
    unions.into_iter().chain(ensembles).collect()
}

/// Asks many instances for all keys, and for absent ones.
fn job<T: Together + 'static>(
    run: &Run,
    design: Design,
    build: fn(Vec<BloomFilter>) -> T,
) -> Job<'static> {
    let Design { items, members, params, .. } = design;
    let exact = params.rate_at(items);
    let excess = scheme_excess(params.num_bits(), items, params.num_hashes());
    let each = Interval { low: exact, high: exact + excess };
    let mean = design.rate(&vec![each; usize::try_from(members).expect("few")]);

    let instances = run.effort.choose([100, 400, 4_000]);
    let queries = run.effort.queries(mean.low) / instances;
    let stored = if design.is_split { members * items } else { items };
    let operations = 2 * members * items + queries;
    let shape = format!("{members} of m = {}, k = {}", params.num_bits(), params.num_hashes());
    let rate = design.promise.unwrap_or(mean.low);
    let case = Case { instances, ..Case::random(design.structure, stored, rate, shape) };
    let seed = run.seed ^ stored;
    let work = move |progress: &Progress| {
        let (mut rates, mut lost, mut hits) = (Rates::default(), 0, 0);
        let mut now = Interval { low: 0.0, high: 0.0 };
        let mut random = keys::random(seed);
        let mut next =
            |count: u64| -> Vec<u64> { (0..count).zip(&mut random).map(|(_, key)| key).collect() };
        for instance in 0..instances {
            let keys = next(stored);
            let filters = design.build(instance, &keys);
            let each: Vec<_> = filters.iter().map(|filter| filter.rate_now(items)).collect();
            let rate = design.rate(&each);
            now = Interval { low: now.low + rate.low, high: now.high + rate.high };
            let together = build(filters);
            lost += keys.iter().filter(|&&key| !together.contains(key)).count() as u64;
            let absent = next(queries);
            let mut answers = vec![false; absent.len()];
            together.contains_batch(&absent, &mut answers);
            let found = answers.iter().filter(|&&answer| answer).count() as u64;
            rates.add(queries, found);
            hits += found;
            progress.advance(operations);
        }
        let trials = instances * queries;
        let [low, high] = [now.low, now.high].map(|sum| sum / real(instances));
        let given_fill = Law::Events { trials, low, high };
        let mut rows = vec![
            case.none(LOST_KEYS, lost),
            case.row(FALSE_POSITIVES, given_fill, real(hits), low * real(trials)),
        ];
        rows.extend(rates.judge(&case, mean, design.promise));
        rows
    };
    Job { cost: instances * operations, run: Box::new(work) }
}

fn but_last(mut filters: Vec<BloomFilter>) -> Vec<BloomFilter> {
    filters.pop();
    filters
}

/// Asks all filters for one hash, though their hashers differ.
struct HashedOnce(Vec<BloomFilter>);

impl Together for HashedOnce {
    fn contains(&self, key: u64) -> bool {
        let hash = self.0[0].hash_key(&key);
        self.0.iter().all(|filter| filter.contains_hash(hash))
    }

    fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) {
        keys.iter().zip(answers).for_each(|(&key, answer)| *answer = self.contains(key));
    }
}
