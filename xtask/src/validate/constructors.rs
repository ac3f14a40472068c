//! The rate of every constructor and of every method that makes one filter from another.
//!
//! A [`Constructor`] is data: its name, the keys it is for, its promise, and how a filled filter comes from it. The mean
//! rate over many filters is held against the promise, one-sided, and against the prediction of the filter's own
//! parameters.

use super::coverage::label;
use super::judge::{Case, real};
use super::measure::Rates;
use super::schedule::Job;
use super::subject::{Design, Interval, Size};
use super::{Run, bloom};
use pds::bloom::BloomParams;
use pds::compare::{Candidate, Needs, recommend};
use pds::error::ParamError;
use pds::registry::Structure;
use pds::traits::{Insert, Membership};
use pds_testkit::keys;

/// Keys and rate of most constructors: so few keys that a fault of the formula shows.
pub(crate) const ITEMS: u64 = 1_000;
pub(crate) const RATE: f64 = 0.01;

/// Filters of each constructor: so many that their scatter tells the error of their mean.
const FILTERS: u64 = 1_000;
/// False positives of all together: as many as show a deviation of a tenth.
const EVENTS: f64 = 20_000.0;

/// A filled filter: its answer by the hash, and its predicted mean rate.
pub(crate) struct Filled {
    pub(crate) contains: Box<dyn Fn(u64) -> bool>,
    pub(crate) rate: Interval,
}

/// Random hashes.
pub(crate) type Random<'a> = &'a mut dyn Iterator<Item = u64>;

/// A way to a filter.
pub(crate) struct Constructor {
    name: String,
    /// Keys to insert.
    items: u64,
    /// The rate that it promises not to exceed, where it does.
    promise: Option<f64>,
    /// Fills a filter with so many keys.
    fill: Box<dyn Fn(Random<'_>, u64) -> Filled + Send>,
}

/// Returns a constructor by its data.
pub(crate) fn constructor(
    name: impl Into<String>,
    promise: impl Into<Option<f64>>,
    items: u64,
    fill: impl Fn(Random<'_>, u64) -> Filled + Send + 'static,
) -> Constructor {
    Constructor { name: name.into(), items, promise: promise.into(), fill: Box::new(fill) }
}

/// Returns the jobs of the constructors of a structure.
pub(crate) fn jobs<'a>(run: &Run, structure: &'static str, all: Vec<Constructor>) -> Vec<Job<'a>> {
    let step = run.effort.choose([4, 1, 1]);
    all.into_iter().step_by(step).map(|one| one.job(structure, run.seed)).collect()
}

impl Constructor {
    /// The job that measures it in rows of this structure.
    pub(crate) fn job<'a>(self, structure: &'static str, seed: u64) -> Job<'a> {
        // A filter tells its prediction only once it is there; any hashes will do for that.
        let predicted = (self.fill)(&mut keys::random(0), self.items).rate;
        let least = self.promise.unwrap_or(predicted.low).min(predicted.low);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in bounds")]
        let queries = (EVENTS / least / real(FILTERS)) as u64;
        let each = 2 * self.items + queries;
        Job {
            cost: FILTERS * each,
            run: Box::new(move |progress| {
                let mut random = keys::random(seed ^ label(&self.name));
                let mut rates = Rates::default();
                for _ in 0..FILTERS {
                    let filter = (self.fill)(&mut random, self.items);
                    let absent = random.by_ref().take(usize::try_from(queries).expect("in memory"));
                    let hits = absent.filter(|&hash| (filter.contains)(hash)).count();
                    rates.add(queries, hits as u64);
                    progress.advance(each);
                }
                rates.judge(&self.case(structure, predicted), predicted, self.promise)
            }),
        }
    }

    fn case(&self, structure: &'static str, predicted: Interval) -> Case {
        Case {
            structure,
            items: self.items,
            rate: self.promise.unwrap_or(predicted.low),
            shape: self.name.clone(),
            keys: "random",
            hasher: "none",
            instances: FILTERS,
        }
    }
}

/// Fills a filter with random hashes.
pub(crate) fn insert_all<F: Insert>(filter: &mut F, random: Random<'_>, items: u64) {
    for _ in 0..items {
        filter.insert_hash(random.next().expect("endless")).expect("a filter that has room");
    }
}

/// A filter as it answers, with its predicted rate.
pub(crate) fn asked<F: Membership + 'static>(filter: F, rate: Interval) -> Filled {
    Filled { contains: Box::new(move |hash| filter.contains_hash(hash)), rate }
}

/// A filled filter with the rate that `predict` makes of it.
pub(crate) fn filled<F: Insert + Membership + 'static>(
    mut filter: F,
    random: Random<'_>,
    items: u64,
    predict: impl Fn(&F) -> Interval,
) -> Filled {
    insert_all(&mut filter, random, items);
    let rate = predict(&filter);
    asked(filter, rate)
}

/// The predicted rate of double-hashed positions.
pub(crate) fn double_hashed(params: &BloomParams, items: u64) -> Interval {
    let design = Design { items, rate: 1.0, size: Size::Bits(params.num_bits()) };
    bloom::predict(params, &design, items).rate
}

/// Returns a structure's three ways through the calculator, and its recommendation if it is recommended. `fill` fills
/// the filter that the calculator found.
pub(crate) fn calculated(
    of: &'static Structure,
    fill: fn(&Candidate, Random<'_>, u64) -> Filled,
) -> Vec<Constructor> {
    const ITEMS: u64 = 3_000;
    let found =
        |name: &str, candidate: Result<Candidate, ParamError>, promise: fn(&Candidate) -> f64| {
            let candidate = candidate.expect("a design that can be had");
            let (name, promise) = (format!("{} {name}", of.type_name), promise(&candidate));
            let items = candidate.items();
            constructor(name, promise, items, move |random, items| fill(&candidate, random, items))
        };
    let promised = |_: &Candidate| RATE;
    let bytes = Candidate::new(of, ITEMS, RATE).expect("a design that can be had").size_in_bytes();
    let mut all = vec![
        found("Candidate::new", Candidate::new(of, ITEMS, RATE), promised),
        found("Candidate::for_memory", Candidate::for_memory(of, bytes, ITEMS), Candidate::rate),
        found("Candidate::of_most_items", Candidate::of_most_items(of, 4_096, RATE), promised),
    ];
    let recommended = recommend(&Needs::new(ITEMS, RATE)).expect("sound needs");
    if let Some(choice) =
        recommended.map(|found| found.choice().clone()).filter(|one| one.structure() == of)
    {
        all.push(found("recommend", Ok(choice), promised));
    }
    all
}
