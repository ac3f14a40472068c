//! Filters that are asked together as subjects: the compound rate is that of the formula.

use super::bloom::rate_now;
use super::prelude::*;
use pds::BloomFilter;
use pds::hash::{DefaultHashBuilder, KeyHasher};
use pds::many::{AllOf, AnyOf, all_of_rate, any_of_rate};
use pds::params::BloomParams;
use pds::params::bloom::scheme_excess;

/// Unions and intersections of filters.
pub(crate) const STRUCTURE: Structure = Structure {
    name: ANY,
    title: "Any of many filters",
    variants: &[(ALL, "All of many filters")],
    jobs,
    faults: &[
        fault(
            "filter-left-out",
            "`AllOf` does not ask its last filter",
            &[FALSE_POSITIVES, MEAN_RATE],
            |run| vec![job(run, ensembles()[0], |filters| AllOf::new(but_last(filters)))],
        ),
        fault("set-left-out", "`AnyOf` does not ask its last filter", &[LOST_KEYS], |run| {
            vec![job(run, unions()[0], |filters| AnyOf::new(but_last(filters)))]
        }),
        fault(
            "hashed-once",
            "`AllOf` asks every filter for the hash that the first one gives a key",
            &[LOST_KEYS],
            |run| vec![job(run, ensembles()[0], HashedOnce)],
        ),
    ],
};

const ANY: &str = "any-of";
const ALL: &str = "all-of";

/// Filters that answer together.
trait Together {
    fn contains(&self, key: u64) -> bool;

    fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) {
        keys.iter().zip(answers).for_each(|(&key, answer)| *answer = self.contains(key));
    }
}

macro_rules! together {
    ($($filters:ident),+) => {$(
        impl Together for $filters<BloomFilter> {
            fn contains(&self, key: u64) -> bool {
                self.contains(&key)
            }

            fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) {
                self.contains_batch(keys, answers);
            }
        }
    )+};
}
together!(AnyOf, AllOf);

/// Filters that are asked together: of sets that have no key in common, or of one set.
#[derive(Clone, Copy)]
struct Design {
    params: BloomParams,
    /// Keys of each filter.
    items: u64,
    members: u64,
    /// Whether the hashers have different seeds.
    has_seeds: bool,
    /// The rate that filters of one set promise not to exceed together. Those of others promise none.
    promise: Option<f64>,
}

impl Design {
    /// Sets that have no key in common: a key is stored if it is in any.
    fn union(items: u64, rate: f64, members: u64, has_seeds: bool) -> Self {
        let params = BloomParams::for_double_hashing(items, rate).expect("a sound design");
        Self { params, items, members, has_seeds, promise: None }
    }

    /// Filters of one set with different seeds, which promise this rate together.
    fn ensemble(items: u64, rate: f64, members: u32) -> Self {
        let params = BloomParams::for_ensemble(items, rate, members).expect("a sound design");
        Self { params, items, members: members.into(), has_seeds: true, promise: Some(rate) }
    }

    /// Returns filters of these keys. No two instances have a seed in common.
    fn build(&self, instance: u64, keys: &[u64]) -> Vec<BloomFilter> {
        let parts = keys.chunks(index(self.items)).cycle();
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
        let compound = |of: fn(&Interval) -> f64| match self.promise {
            None => any_of_rate(rates.iter().map(of)),
            Some(_) => all_of_rate(rates.iter().map(of)),
        };
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
    let mean = design.rate(&vec![each; index(members)]);
    let instances = run.effort.choose([100, 400, 4_000]);
    let queries = run.effort.queries(mean.low) / instances;
    let (structure, stored) = match design.promise {
        None => (ANY, members * items),
        Some(_) => (ALL, items),
    };
    let shape = format!("{members} of m = {}, k = {}", params.num_bits(), params.num_hashes());
    let rate = design.promise.unwrap_or(mean.low);
    let case = Case::random(structure, stored, rate, shape).of(instances);
    let seed = run.seed ^ stored;
    Job::new(instances * (2 * members * items + queries), move || {
        let (mut rates, mut lost, mut hits) = (Rates::default(), 0, 0);
        let mut now = Interval::exactly(0.0);
        let mut random = keys::random(seed);
        for instance in 0..instances {
            let keys: Vec<u64> = first(stored, &mut random).collect();
            let filters = design.build(instance, &keys);
            let rate_now =
                |filter: &BloomFilter| rate_now(filter.count_ones(), &filter.params(), items);
            let rate = design.rate(&filters.iter().map(rate_now).collect::<Vec<_>>());
            now = Interval { low: now.low + rate.low, high: now.high + rate.high };
            let together = build(filters);
            lost += keys.iter().filter(|&&key| !together.contains(key)).count() as u64;
            let absent: Vec<u64> = first(queries, &mut random).collect();
            let mut answers = vec![false; absent.len()];
            together.contains_batch(&absent, &mut answers);
            let found = answers.iter().filter(|&&answer| answer).count() as u64;
            rates.add(queries, found);
            hits += found;
        }
        let [low, high] = [now.low, now.high].map(|sum| sum / real(instances));
        let given_fill = Interval { low, high };
        let rows = [
            case.none(LOST_KEYS, lost),
            case.events(FALSE_POSITIVES, instances * queries, given_fill, hits),
        ];
        rows.into_iter().chain(rates.judge(&case, mean, design.promise)).collect()
    })
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
}
