//! Filters of several layers as subjects: a growing filter keeps its compound rate while it grows, and a count is never too low,
//! and too high as rarely as promised.

mod faults;

use super::prelude::*;
use super::removal::Ways;
use pds::blocked::BlockedBloomFilter;
use pds::bloom::BloomFilter;
use pds::hash::DefaultHashBuilder;
use pds::params::bloom::scheme_excess;
use pds::params::scalable::compound_rate;
use pds::params::{
    BlockedBloomParams, BloomParams, LayerDesign, LayeredParams, Preference, ScalableParams,
    Schedule,
};
use pds::scalable::OwnedLayer;
use pds::{LayeredBloomFilter, ScalableBloomFilter};

/// Bloom filters of several layers.
pub(crate) const STRUCTURE: Structure = Structure {
    name: SCALABLE,
    title: "Scalable Bloom filter",
    variants: &[(BLOCKED, "Scalable filter of blocked layers"), (LAYERED, "Layered Bloom filter")],
    jobs,
    faults: &faults::FAULTS,
};

const SCALABLE: &str = "scalable";
const BLOCKED: &str = "scalable-blocked";
const LAYERED: &str = "layered";

const COUNTED_ABOVE: Check = Check::new(
    "counts above the truth, given the fill",
    "Keys that came once more than they were counted, against the number that the measured fill of the layers predicts.",
);

/// Absent keys per filter.
const ABSENT: u64 = 2_000;
/// Layers of a small filter.
const LAYERS: u32 = 4;

/// The ways of a filter that takes any number of keys: an insert tells whether the key was new.
const fn growing<F: OwnedLayer<Hasher = DefaultHashBuilder>>() -> Ways<ScalableBloomFilter<F>> {
    Ways {
        insert: |filter, hash| filter.insert_hash(hash).expect("memory"),
        remove: |_, _| false,
        contains: |filter, hash| filter.contains_hash(hash),
    }
}

/// How a layered filter counts.
struct Counting {
    insert: fn(&mut LayeredBloomFilter, u64),
    count: fn(&LayeredBloomFilter, u64) -> u32,
}

impl Counting {
    const OWN: Self = Self {
        insert: |filter, hash| _ = filter.sight_hash(hash),
        count: LayeredBloomFilter::count_hash,
    };
}

/// Items of the first layer, rate, growth and schedule.
const DESIGNS: [(u64, f64, u32, Schedule); 5] = [
    (50, 0.01, 2, Schedule::DEFAULT),
    (40, 0.3, 2, Schedule::Ratio(0.5)),
    (60, 0.05, 1, Schedule::DEFAULT),
    (50, 0.02, 2, Schedule::Halving),
    (20, 0.02, 3, Schedule::Likely(800)),
];

/// Keys that are seen at least once, twice, and so on, and the rate.
const COUNTS: [(&[u64], f64); 3] =
    [(&[500, 100], 0.02), (&[300, 300, 300], 0.05), (&[800, 80, 20, 5], 0.01)];

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let both = |design| {
        let params = of(design);
        [
            history(run, SCALABLE, params, standard, (built::<BloomFilter>, growing())),
            history(run, BLOCKED, params, blocked, (built::<BlockedBloomFilter>, growing())),
        ]
    };
    let growing = DESIGNS.into_iter().flat_map(both);
    let counting = COUNTS.into_iter().map(|design| counts(run, design, Counting::OWN));
    growing.chain(counting).chain([doublings(run)]).collect()
}

fn of((items, rate, growth, schedule): (u64, f64, u32, Schedule)) -> ScalableParams {
    ScalableParams::new(items, rate, growth, schedule).expect("a sound design")
}

fn built<F: OwnedLayer<Hasher = DefaultHashBuilder>>(
    params: ScalableParams,
) -> ScalableBloomFilter<F> {
    ScalableBloomFilter::from_params(params, DefaultHashBuilder::default()).expect("memory")
}

/// Returns the rates of a layer by the number of keys that came to it: without and with what double hashing adds.
type RateOf = fn(LayerDesign, u64) -> [f64; 2];

fn standard(design: LayerDesign, items: u64) -> [f64; 2] {
    let sized = design.offered();
    let params = BloomParams::for_double_hashing(sized.items, sized.rate).expect("sound");
    let rate = params.rate_at(items);
    [rate, rate + scheme_excess(params.num_bits(), items, params.num_hashes())]
}

fn blocked(design: LayerDesign, items: u64) -> [f64; 2] {
    let sized = design.offered();
    let params =
        BlockedBloomParams::new(sized.items, sized.rate, Preference::Fastest).expect("sound");
    [params.rate_at(items); 2]
}

/// Returns the rates of a full layer. More keys came than were new, since the layer answered some of them `true` falsely.
fn rates_when_full(design: LayerDesign, rate_of: RateOf) -> [f64; 2] {
    let (mut left, mut came) = (real(design.items), 0);
    loop {
        let new = 1.0 - rate_of(design, came)[0];
        let [before, after] = [came, came + 1].map(|came| rate_of(design, came));
        if left <= new {
            // Between two whole numbers of keys.
            let part = left / new;
            return [0, 1].map(|index| before[index] + part * (after[index] - before[index]));
        }
        (left, came) = (left - new, came + 1);
    }
}

/// Fills many filters until their layers are full. Asks for all keys, and for absent ones.
fn history<'a, F: 'static>(
    run: &'a Run,
    name: &'static str,
    params: ScalableParams,
    rate_of: RateOf,
    (build, ways): (fn(ScalableParams) -> F, Ways<F>),
) -> Job<'a> {
    let designs: Vec<_> =
        (0..LAYERS).map(|index| params.layer(index).expect("a sound design")).collect();
    let keys: u64 = designs.iter().map(|design| design.items).sum();
    let instances = run.effort.choose([1_000, 2_000, 30_000]);
    let shape = format!("growth {}, {:?}", params.growth(), params.schedule());
    let case = Case::random(name, keys, params.promised_rate(), shape).of(instances);
    let seed = run.seed ^ keys ^ params.promised_rate().to_bits();
    Job::new(instances * (2 * keys + ABSENT), move || {
        let (mut rates, mut lost) = (Rates::default(), 0);
        let mut hashes = keys::random(seed);
        for _ in 0..instances {
            let (mut filter, mut stored) = (build(params), Vec::new());
            while (stored.len() as u64) < keys {
                let hash = next(&mut hashes);
                if (ways.insert)(&mut filter, hash) {
                    stored.push(hash);
                }
            }
            let contains = |hash| (ways.contains)(&filter, hash);
            lost += stored.iter().filter(|&&hash| !contains(hash)).count() as u64;
            rates.ask(ABSENT, &mut hashes, contains);
        }
        let full: Vec<_> = designs.iter().map(|&design| rates_when_full(design, rate_of)).collect();
        let rate = |index: usize| compound_rate(full.iter().map(|rates| rates[index]));
        let rate = Interval { low: rate(0), high: rate(1) };
        let judged = rates.judge(&case, rate, Some(params.promised_rate()));
        core::iter::once(case.none(LOST_KEYS, lost)).chain(judged).collect()
    })
}

/// Twelve layers: the highest of the rates at 100 moments keeps the promise.
fn doublings(run: &Run) -> Job<'_> {
    const MOMENTS: u32 = 100;
    let initial = run.effort.choose([100, 1_000, 10_000]);
    let queries = run.effort.choose([10_000, 100_000, 500_000]);
    let params = of((initial, 0.01, 2, Schedule::DEFAULT));
    let keys = initial * ((1 << 12) - 1);
    let seed = run.seed ^ 12;
    Job::new(12 * keys + u64::from(MOMENTS) * 6 * queries, move || {
        let (mut inserted, mut absent) = (keys::random(seed), keys::random(seed + 1));
        let (mut filter, mut new, mut highest) = (built::<BloomFilter>(params), 0, 0);
        for moment in 1..=MOMENTS {
            let part = real(keys).powf(f64::from(moment) / f64::from(MOMENTS));
            while real(new) < part.round() {
                new += u64::from(filter.insert_hash(next(&mut inserted)).expect("memory"));
            }
            let asked = first(queries, &mut absent);
            highest = asked.filter(|&hash| filter.contains_hash(hash)).count().max(highest);
        }
        let promise = params.promised_rate();
        let deviation = (promise * (1.0 - promise) / real(queries)).sqrt();
        let law = Law::Normal { low: f64::NEG_INFINITY, high: promise, deviation, looks: MOMENTS };
        let shape = format!("{} layers, the highest of {MOMENTS} moments", filter.num_layers());
        let case = Case::random(SCALABLE, keys, promise, shape);
        let observed = highest as f64 / real(queries);
        vec![case.row(PROMISE, law, observed, promise * real(queries))]
    })
}

/// Inserts keys as often as the design says. Asks for the counts of all, and inserts new keys, each into a copy.
fn counts<'a>(run: &'a Run, (keys, rate): (&'static [u64], f64), by: Counting) -> Job<'a> {
    const NEW: u64 = 1_000;
    let params = LayeredParams::new(keys, rate).expect("a sound design");
    let instances = run.effort.choose([500, 1_000, 20_000]);
    let inserts: u64 = keys.iter().sum();
    let promise = params.promised_rate();
    let case = Case::random(LAYERED, keys[0], promise, format!("seen {keys:?}")).of(instances);
    let seed = run.seed ^ inserts ^ promise.to_bits();
    Job::new(instances * (inserts + keys[0] + NEW), move || {
        let (mut rates, mut lost, mut expected) = (Rates::default(), 0, 0.0);
        for instance in 0..instances {
            let hasher = DefaultHashBuilder::default();
            let mut filter = LayeredBloomFilter::from_params(params, hasher).expect("memory");
            let mut hashes = keys::random(seed ^ instance << 32);
            let distinct: Vec<u64> = first(keys[0], &mut hashes).collect();
            for &times in keys {
                first(times, &distinct).for_each(|&hash| (by.insert)(&mut filter, hash));
            }
            for (index, &hash) in (0..).zip(&distinct) {
                let times = keys.iter().filter(|&&keys| index < keys).count();
                lost += u64::from(((by.count)(&filter, hash) as usize) < times);
            }
            rates.ask(NEW, &mut hashes, |hash| {
                let mut copy = filter.clone();
                (by.insert)(&mut copy, hash);
                (by.count)(&copy, hash) > 1
            });
            // That a key that comes now for the first time is counted twice.
            expected += filter.rate_above(1);
        }
        let rate = expected / real(instances);
        // Layers are so small that double hashing adds a little.
        let rate = Interval { low: rate, high: 1.02 * rate };
        let judged =
            rates.judge(&case, rate, Some(promise)).into_iter().map(|row| match row.check {
                PROMISE => row,
                _ => Measurement { check: COUNTED_ABOVE, ..row },
            });
        core::iter::once(case.none(LOST_KEYS, lost)).chain(judged).collect()
    })
}
