//! Window filters as subjects: no key of the window is lost, and absent keys are affirmed at the predicted rate at the worst
//! moment.

mod faults;

use super::prelude::*;
use alloc::collections::VecDeque;
use pds::hash::DefaultHashBuilder;
use pds::params::window::Grid;
use pds::params::{TimedParams, WindowParams};
use pds::{TimedBloomFilter, WindowBloomFilter};

/// Bloom filters that forget keys by their age.
pub(crate) const STRUCTURE: Structure = Structure {
    name: WINDOW,
    title: "Window Bloom filter",
    variants: &[(TIMED, "Timed Bloom filter")],
    jobs,
    faults: &faults::FAULTS,
};

const WINDOW: &str = "window";
const TIMED: &str = "timed";

/// Absent keys per filter.
const ABSENT: u64 = 1_000;

/// How a filter of the last keys, of which one comes per tick, takes a key and finds one, and refuses to have its clock set back.
struct Aging<F> {
    insert: fn(&mut F, u64),
    contains: fn(&F, u64) -> bool,
    set_back: fn(&mut F),
}

const OF_KEYS: Aging<WindowBloomFilter> = Aging {
    insert: |filter, hash| _ = filter.insert_hash(hash),
    contains: WindowBloomFilter::contains_hash,
    set_back: |_| (),
};

const OF_TIME: Aging<TimedBloomFilter> = Aging {
    insert: |filter, hash| {
        filter.insert_hash(hash);
        filter.advance(filter.now() + 1).expect("a later time");
    },
    contains: TimedBloomFilter::contains_hash,
    set_back: |filter| {
        let refuses = filter.now() == 0 || filter.advance(filter.now() / 2).is_err();
        assert!(refuses, "an earlier time");
    },
};

/// Windows, and their rates and slacks.
const DESIGNS: [(u64, f64, f64); 6] = [
    (1, 0.05, 0.5),
    (63, 0.02, 0.05),
    (300, 0.01, 0.1),
    (500, 0.001, 0.3),
    (1_000, 0.01, 0.02),
    (1_000, 0.1, 0.05),
];

/// Designs of filters to which the same keys come again and again.
const RECURRING: [(u64, f64, f64); 2] = [DESIGNS[2], DESIGNS[5]];

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let both = |design| [window(run, design), timed(run, design)];
    let again = RECURRING.map(|design| recurring(run, design));
    DESIGNS.into_iter().flat_map(both).chain(again).collect()
}

fn window(run: &Run, (window, rate, slack): (u64, f64, f64)) -> Job<'_> {
    let params = WindowParams::new(window, rate, slack).expect("a sound design");
    let subject = Subject::of(&params, format!("slack {slack}"));
    history(run, subject, move || of_params(params), OF_KEYS)
}

fn of_params(params: WindowParams) -> WindowBloomFilter {
    WindowBloomFilter::from_params(params, DefaultHashBuilder::default()).expect("memory")
}

fn timed(run: &Run, (window, rate, slack): (u64, f64, f64)) -> Job<'_> {
    let params = TimedParams::new(window, window, rate, slack).expect("a sound design");
    let subject = Subject::of_timed(&params, format!("slack {slack}"));
    history(run, subject, move || of_time(params), OF_TIME)
}

/// A filter for the inserts of its window, to which keys come again after half of its generations. Each comes about twice per
/// window, and counts twice.
fn recurring(run: &Run, (window, rate, slack): (u64, f64, f64)) -> Job<'_> {
    let params = TimedParams::new(window, window, rate, slack).expect("a sound design");
    let again = params.generations() / 2;
    let shape = format!("slack {slack}, keys again after {again} generations");
    let items = params.generation_ticks();
    let subject = Subject {
        period: Some(index(u64::from(again) * items)),
        // Only as many columns differ, and all of them are full.
        rate: rate_of(params.grid(), (0..again).map(|_| items)),
        ..Subject::of_timed(&params, shape)
    };
    history(run, subject, move || of_time(params), OF_TIME)
}

fn of_time(params: TimedParams) -> TimedBloomFilter {
    TimedBloomFilter::from_params(params, DefaultHashBuilder::default()).expect("memory")
}

/// A history, and the numbers that it must show.
struct Subject {
    /// With the keys of a window.
    case: Case,
    /// A key comes again after so many inserts, if keys come again.
    period: Option<usize>,
    /// Keys until the worst moment, when all generations but the current one are full.
    inserts: u64,
    rate: Interval,
}

/// Returns the rate of columns with so many keys each.
// The prediction takes columns as independent. They share the rows of the absent key, of which some may coincide. The rate is
// lower for that, by a share of the order of one in the number of rows.
fn rate_of(grid: &Grid, items: impl Iterator<Item = u64>) -> Interval {
    let rate = grid.rate_at(items);
    Interval { low: rate * (1.0 - 3.0 / real(grid.num_rows())).max(0.5), high: rate }
}

impl Subject {
    fn of(params: &WindowParams, shape: String) -> Self {
        let promise = params.promised_rate().expect("one");
        let case = Case::random(WINDOW, params.window(), promise, shape);
        Self::new(case, params.grid(), params.generations(), params.generation_items())
    }

    fn of_timed(params: &TimedParams, shape: String) -> Self {
        let promise = params.promised_rate().expect("one");
        let case = Case::random(TIMED, params.ticks(), promise, shape);
        Self::new(case, params.grid(), params.generations(), params.generation_ticks())
    }

    fn new(case: Case, grid: &Grid, generations: u32, items: u64) -> Self {
        let rate = rate_of(grid, (0..generations).map(|_| items).chain([items - 1]));
        let inserts = 2 * u64::from(grid.columns()) * items + items - 1;
        Self { case, period: None, inserts, rate }
    }
}

/// Fills many filters beyond their window. Asks for the oldest key of the window after every insert, for all keys of the
/// window at the end, and for absent keys.
fn history<F: 'static>(
    run: &Run,
    subject: Subject,
    build: impl Fn() -> F + Send + 'static,
    by: Aging<F>,
) -> Job<'_> {
    // The spread of the mean must be small against the rate, and every filter costs its inserts.
    let instances = run.effort.choose([1_000, 4_000, 40_000]);
    let instances = if subject.rate.high < 0.005 { 4 * instances } else { instances };
    let seed = run.seed ^ subject.case.items ^ subject.rate.high.to_bits();
    Job::new(instances * (2 * subject.inserts + ABSENT), move || {
        let (mut rates, mut lost) = (Rates::default(), 0);
        let mut hashes = keys::random(seed);
        for _ in 0..instances {
            let (mut filter, mut recent) = (build(), VecDeque::new());
            for (number, new) in (1..=subject.inserts).zip(&mut hashes) {
                let again = subject.period.and_then(|period| recent.len().checked_sub(period));
                let hash = again.map_or(new, |index| recent[index]);
                (by.insert)(&mut filter, hash);
                recent.push_back(hash);
                if recent.len() as u64 > subject.case.items {
                    recent.pop_front();
                }
                lost += u64::from(!(by.contains)(&filter, recent[0]));
                if number % 64 == 0 {
                    (by.set_back)(&mut filter);
                }
            }
            let is_lost = |&&hash: &&u64| !(by.contains)(&filter, hash);
            lost += recent.iter().filter(is_lost).count() as u64;
            rates.ask(ABSENT, &mut hashes, |hash| (by.contains)(&filter, hash));
        }
        let case = subject.case.of(instances);
        let judged = rates.judge(&case, subject.rate, Some(case.rate));
        core::iter::once(case.none(LOST_KEYS, lost)).chain(judged).collect()
    })
}
