//! Sketches and summaries that count: never below the truth, and above it as little as promised.

mod bounds;
mod faults;
mod histories;
mod identities;
mod signed;

use super::prelude::*;
use super::proofs;
use pds::cms::Update;
use pds::hash::{DefaultHashBuilder, KeyHasher};
use pds::heavy_hitters::Hitter;
use pds::params::{CountMinParams, HeavyHittersParams};
use pds::{CountMinSketch, HeavyHitters, SketchedHeavyHitters};
use pds_testkit::zipf::{Zipf, counts};
use signed::count_sketch;

/// The sketches and summaries that count.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Count-min sketch and its kin",
    variants: &[],
    jobs,
    faults: &faults::FAULTS,
};

const NAME: &str = "cms";

pub(crate) const BELOW_TRUTH: Check = Check::new(
    "estimates below the truth",
    "No key may be estimated below its count, unless the answer is \"at least\".",
);
pub(crate) const BEYOND_BOUND: Check = Check::new(
    "estimates beyond the bound",
    "Of all estimates, at most a share of delta may exceed the count by more than epsilon N.",
);
const MEAN_ERROR: Check = Check::new(
    "mean error of estimates",
    "The mean error over all keys, against a simulation with fully random rows.",
);
const TAIL_ERROR: Check = Check::new(
    "99th percentile of errors",
    "The error that one key in a hundred exceeds, against the same simulation.",
);
const MERGED_BYTES: Check = Check::new(
    "merge's bytes unlike the whole's",
    "A merge must be the sketch of both streams, byte for byte.",
);
const MISSED_HEAVY: Check =
    Check::new("heavy keys missed", "Every key above the share must be listed.");
const WRONGLY_HEAVY: Check =
    Check::new("light keys listed", "No listed key may be below the share by more than the error.");

/// Operations of a stream: every event is counted, and every key is asked for.
const STREAM_COST: u64 = 2 * EVENTS as u64;
/// Different keys of a stream, and how many come in all, as in the simulation.
const ITEMS: usize = 100_000;
const EVENTS: usize = 1_000_000;

/// Count sketches for each stream of a count-min sketch, and events of each: in a full run, so many that a spread a tenth
/// above the bound is seen.
const SKETCHES: u64 = 60;
const SKETCH_EVENTS: usize = 100_000;

/// Standard errors of few streams are themselves uncertain: they are taken so many times larger, as the
/// distribution of Student asks for at the level of one test among a hundred, for the degrees of freedom of the
/// twelve streams of an ordinary run, and among thousands for the sixty of a full one.
const fn allowance(streams: usize) -> f64 {
    if streams < 60 { 2.7 } else { 1.2 }
}

/// Streams that the simulation took.
const SIMULATED_STREAMS: f64 = 5.0;

/// A sketch under test, or one with a fault.
trait Counts {
    fn insert(&mut self, key: u64);

    /// The estimate, and whether it is only "at least".
    fn estimate(&self, key: u64) -> (u64, bool);
}

impl<S: KeyHasher> Counts for CountMinSketch<S> {
    fn insert(&mut self, key: u64) {
        self.insert(&key);
    }

    fn estimate(&self, key: u64) -> (u64, bool) {
        let count = self.estimate(&key);
        (count.value(), count.is_saturated())
    }
}

/// A shape and a stream, with the mean error over all keys, and the error that one in a hundred exceeds, that a simulation with
/// fully random rows gave.
#[derive(Debug, Clone, Copy)]
struct Simulated {
    exponent: f64,
    /// Width and depth.
    params: (u64, u32),
    update: Update,
    mean_error: f64,
    tail_error: f64,
}

const fn simulated(
    exponent: f64,
    width: u64,
    depth: u32,
    update: Update,
    [mean_error, tail_error]: [f64; 2],
) -> Simulated {
    Simulated { exponent, params: (width, depth), update, mean_error, tail_error }
}

#[rustfmt::skip]
const SIMULATED: &[Simulated] = &[
    simulated(1.0, 272, 3, Update::Plain, [1882.08, 3517.0]),
    simulated(1.0, 272, 3, Update::Conservative, [1164.43, 1237.0]),
    simulated(1.0, 272, 5, Update::Plain, [1690.87, 2619.0]),
    simulated(1.0, 272, 5, Update::Conservative, [942.851, 958.0]),
    simulated(1.0, 1024, 3, Update::Plain, [391.158, 831.0]),
    simulated(1.0, 1024, 5, Update::Plain, [340.11, 583.0]),
    simulated(1.0, 1024, 5, Update::Conservative, [191.625, 200.0]),
    simulated(1.0, 8192, 3, Update::Plain, [27.6164, 84.0]),
    simulated(1.0, 8192, 3, Update::Conservative, [16.0567, 41.0]),
    simulated(1.0, 8192, 5, Update::Plain, [21.2102, 53.0]),
    simulated(1.0, 8192, 5, Update::Conservative, [10.971, 20.0]),
    simulated(1.1, 272, 3, Update::Plain, [1356.3, 3132.0]),
    simulated(1.1, 272, 5, Update::Plain, [1177.13, 2043.0]),
    simulated(1.1, 272, 5, Update::Conservative, [675.789, 686.0]),
    simulated(1.1, 1024, 3, Update::Conservative, [163.828, 312.0]),
    simulated(1.1, 1024, 5, Update::Plain, [221.804, 428.0]),
    simulated(1.1, 8192, 3, Update::Plain, [16.6994, 58.0]),
    simulated(1.1, 8192, 5, Update::Plain, [12.2516, 34.0]),
    simulated(1.1, 8192, 5, Update::Conservative, [6.60241, 14.0]),
    simulated(1.5, 272, 3, Update::Plain, [216.242, 1025.0]),
    simulated(1.5, 272, 5, Update::Plain, [149.993, 469.0]),
    simulated(1.5, 1024, 3, Update::Plain, [28.7609, 145.0]),
    simulated(1.5, 1024, 3, Update::Conservative, [19.6423, 101.0]),
    simulated(1.5, 1024, 5, Update::Plain, [19.0276, 63.0]),
    simulated(1.5, 8192, 5, Update::Plain, [0.329114, 3.0]),
    simulated(1.5, 8192, 5, Update::Conservative, [0.258852, 2.0]),
];

impl Simulated {
    fn params(&self) -> CountMinParams {
        CountMinParams::from_width_and_depth(self.params.0, self.params.1).expect("a sound shape")
    }

    fn sketch(&self, hasher: DefaultHashBuilder) -> CountMinSketch<DefaultHashBuilder, u32> {
        let builder = CountMinSketch::builder().params(self.params()).counters::<u32>();
        builder.update(self.update).hasher(hasher).build().expect("memory")
    }

    fn case(&self, keys: &'static str, streams: u64) -> Case {
        let (width, depth) = self.params;
        let shape = format!("{width} x {depth}, {:?}, Zipf {}", self.update, self.exponent);
        let case = Case::random(NAME, EVENTS as u64, self.params().delta(), shape);
        Case { keys, ..case.of(streams) }
    }
}

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = stream_jobs(run);
    jobs.extend(bounds::jobs(run));
    jobs.extend(identities::jobs(run.seed));
    jobs.extend(proofs::jobs(run, NAME, &histories::HISTORIES));
    jobs
}

/// Returns the jobs of streams, in random order and ordered.
fn stream_jobs(run: &Run) -> Vec<Job<'_>> {
    let (seed, streams) = (run.seed, run.effort.choose([12, 12, 60]));
    let chosen = SIMULATED.iter().step_by(run.effort.choose([9, 3, 1]));
    let count_min = |plan: &'static Simulated| {
        Job::new(streams * STREAM_COST, move || {
            let build = |stream| plan.sketch(DefaultHashBuilder::with_seed(seed ^ stream));
            let mut rows = measure(plan, streams, seed, build);
            rows.extend((plan.update == Update::Plain).then(|| merged(plan, seed)));
            rows
        })
    };
    let mut jobs: Vec<_> = chosen.map(count_min).collect();
    for &exponent in run.effort.choose::<&[f64]>([&[1.1], &[0.0, 1.1], &[0.0, 1.0, 1.1, 1.5]]) {
        jobs.push(Job::new(18 * EVENTS as u64, move || ordered(exponent, seed)));
        let sketches = streams * SKETCHES;
        let cost = sketches * SKETCH_EVENTS as u64;
        jobs.push(Job::new(cost, move || count_sketch(exponent, sketches, seed)));
    }
    jobs
}

/// Counts streams in random order, and asks for every key.
fn measure<C: Counts>(
    plan: &Simulated,
    streams: u64,
    seed: u64,
    build: impl Fn(u64) -> C,
) -> Vec<Measurement> {
    let zipf = Zipf::new(ITEMS, plan.exponent);
    let mut asked = Asked::default();
    for stream in 0..streams {
        let ranks: Vec<_> = zipf.stream(seed.wrapping_add(stream)).take(EVENTS).collect();
        let mut sketch = build(stream);
        ranks.iter().for_each(|&rank| sketch.insert(rank as u64));
        asked.add(&sketch, &ranks, plan.params().epsilon());
    }
    asked.judge(&plan.case("random order", streams), plan)
}

/// Errors of all keys of some streams.
#[derive(Debug, Default)]
struct Asked {
    keys: u64,
    too_low: u64,
    beyond: u64,
    /// The mean error of each stream.
    means: Vec<f64>,
    /// The error that one key in a hundred exceeds, of each stream.
    tails: Vec<f64>,
}

impl Asked {
    fn add(&mut self, sketch: &impl Counts, ranks: &[usize], epsilon: f64) {
        let mut errors = Vec::with_capacity(ITEMS);
        for (rank, count) in (0..).zip(counts(ITEMS, ranks)) {
            let (estimate, at_least) = sketch.estimate(rank);
            self.too_low += u64::from(estimate < count && !at_least);
            let error = real(estimate) - real(count);
            self.beyond += u64::from(error > epsilon * real(ranks.len() as u64));
            errors.push(error);
        }
        self.keys += ITEMS as u64;
        self.means.push(errors.iter().sum::<f64>() / real(ITEMS as u64));
        let (_, tail, _) = errors.select_nth_unstable_by(ITEMS / 100 * 99, f64::total_cmp);
        self.tails.push(*tail);
    }

    fn judge(&self, case: &Case, plan: &Simulated) -> Vec<Measurement> {
        let (mean, mean_law) = against(&self.means, plan.mean_error, 0.0);
        // Errors are whole numbers: a percentile of few different ones may be the next.
        let (tail, tail_law) = against(&self.tails, plan.tail_error, 1.0);
        let bound = plan.params().delta() * real(self.keys);
        vec![
            case.none(BELOW_TRUTH, self.too_low),
            case.row(BEYOND_BOUND, Law::at_most(bound, 0.0), real(self.beyond), bound),
            case.row(MEAN_ERROR, mean_law, mean, real(self.keys)),
            case.row(TAIL_ERROR, tail_law, tail, real(self.keys)),
        ]
    }
}

/// The mean over streams, and the law of its distance from a simulated one that is known up to `slack`.
fn against(streams: &[f64], simulated: f64, slack: f64) -> (f64, Law) {
    let (mean, variance) = mean_and_variance(streams);
    let of_mean = 1.0 / real(streams.len() as u64) + 1.0 / SIMULATED_STREAMS;
    let deviation = allowance(streams.len()) * (variance * of_mean).sqrt();
    (mean, Law::between(simulated - slack, simulated + slack, deviation))
}

/// The bytes of a merge of two halves that differ from those of the sketch of the whole.
fn merged(plan: &Simulated, seed: u64) -> Measurement {
    let build = || plan.sketch(DefaultHashBuilder::with_seed(seed));
    let [mut left, mut right, mut whole] = [build(), build(), build()];
    for (index, rank) in Zipf::new(ITEMS, plan.exponent).stream(seed).take(EVENTS).enumerate() {
        if index < EVENTS / 3 {
            left.insert(&rank)
        } else {
            right.insert(&rank)
        };
        whole.insert(&rank);
    }
    left.merge(&right).expect("two of one shape");
    let (merged, whole) = (left.to_bytes(), whole.to_bytes());
    let differing = merged.iter().zip(&whole).filter(|(a, b)| a != b).count();
    plan.case("two parts", 1).none(MERGED_BYTES, differing as u64)
}

/// Streams whose heavy keys come first, or last: the bound, and what summaries list.
fn ordered(exponent: f64, seed: u64) -> Vec<Measurement> {
    let mut ranks: Vec<_> = Zipf::new(ITEMS, exponent).stream(seed).take(EVENTS).collect();
    let mut rows = Vec::new();
    for order in ["random order", "heavy first", "heavy last"] {
        match order {
            "heavy first" => ranks.sort_unstable(),
            "heavy last" => ranks.reverse(),
            _ => {}
        }
        for update in [Update::Plain, Update::Conservative] {
            rows.extend(bound(&simulated(exponent, 1_000, 4, update, [0.0; 2]), order, &ranks));
        }
        for phi in [1e-2, 1e-3] {
            rows.extend(heavy(phi, exponent, order, &ranks));
        }
    }
    rows
}

fn bound(plan: &Simulated, order: &'static str, ranks: &[usize]) -> Vec<Measurement> {
    let mut sketch = plan.sketch(DefaultHashBuilder::default());
    ranks.iter().for_each(|&rank| Counts::insert(&mut sketch, rank as u64));
    let mut asked = Asked::default();
    asked.add(&sketch, ranks, plan.params().epsilon());
    let mut rows = asked.judge(&plan.case(order, 1), plan);
    rows.retain(|row| !matches!(row.check, MEAN_ERROR | TAIL_ERROR));
    rows
}

/// Keys above the share that are not listed, and listed ones too far below it.
fn heavy(phi: f64, exponent: f64, order: &'static str, ranks: &[usize]) -> Vec<Measurement> {
    let epsilon = phi / 4.0;
    let params = HeavyHittersParams::with_error(phi, epsilon).expect("a sound share");
    let hasher = DefaultHashBuilder::default();
    let mut summary = HeavyHitters::<u64>::from_params(params, hasher).expect("memory");
    let mut sketched = SketchedHeavyHitters::<u64>::new(phi, epsilon, 0.001).expect("memory");
    for &rank in ranks {
        summary.insert(&(rank as u64));
        sketched.insert(&(rank as u64));
    }
    let counts = counts(ITEMS, ranks);
    let lists = [("summary", summary.top()), ("sketch and candidates", sketched.top())];
    let judge = |(name, top): (&str, Vec<Hitter<'_, u64>>)| {
        let count = |hitter: &Hitter<'_, u64>| counts[index(*hitter.key)];
        let share = |share: f64| share * real(EVENTS as u64);
        let heavy = counts.iter().filter(|&&count| real(count) > share(phi)).count();
        let rightly = top.iter().filter(|hitter| real(count(hitter)) > share(phi)).count();
        let light =
            top.iter().filter(|hitter| real(count(hitter)) <= share(phi - epsilon) - 1.0).count();
        let shape = format!("{name}, Zipf {exponent}, {rightly} of {} listed rightly", top.len());
        let case = Case { keys: order, ..Case::random(NAME, EVENTS as u64, phi, shape) };
        let missed = case.none(MISSED_HEAVY, (heavy - rightly) as u64);
        // The sketch promises this with a probability only.
        let wrongly = (name == "summary").then(|| case.none(WRONGLY_HEAVY, light as u64));
        core::iter::once(missed).chain(wrongly).collect::<Vec<_>>()
    };
    lists.into_iter().flat_map(judge).collect()
}
