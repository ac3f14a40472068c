//! The rate of every constructor and of every method that makes one filter from another.
//!
//! A [`Constructor`] is data: its name, the keys it is for, its promise, and how a filled filter comes from it. The mean
//! rate over many filters is held against the promise, one-sided, and against the prediction of the filter's own
//! parameters.

use super::Run;
use super::bloom::Plain;
use super::judge::{Case, Interval};
use super::measure::Rates;
use super::random::{Random, first, label};
use super::schedule::Job;
use super::subject::{Design, Family, Size};
use crate::numbers::{real, whole};
use core::fmt::Debug;
use pds::bloom::BloomParams;
use pds::compare::{Candidate, Needs, recommend};
use pds::counting::Bits8;
use pds::error::ParamError;
use pds::hash::DefaultHashBuilder;
use pds::params::{BlockedBloomParams, BlockedCountingParams, CuckooParams, QuotientParams};
use pds::registry::Structure;
use pds::traits::{Insert, Membership};
use pds::{
    BlockedBloomFilter, BlockedCountingBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter,
    QuotientFilter,
};
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
        let queries = whole(
            EVENTS / self.promise.unwrap_or(predicted.low).min(predicted.low) / real(FILTERS),
        );
        Job::new(FILTERS * (2 * self.items + queries), move || {
            let mut random = keys::random(seed ^ label(&self.name));
            let mut rates = Rates::default();
            for _ in 0..FILTERS {
                let filter = (self.fill)(&mut random, self.items);
                rates.ask(queries, &mut random, filter.contains);
            }
            let rate = self.promise.unwrap_or(predicted.low);
            let case = Case::random(structure, self.items, rate, self.name).of(FILTERS);
            rates.judge(&Case { hasher: "none", ..case }, predicted, self.promise)
        })
    }
}

/// A filter whose mean rate follows from its parameters.
pub(crate) trait Rated: Insert + Membership + 'static {
    /// The mean rate of all filters like this one with so many keys.
    fn mean_rate(&self, items: u64) -> Interval;
}

/// Implements [`Rated`] by functions of the parameters and the number of keys.
macro_rules! rated {
    ($($filter:ty => $rate:expr),+ $(,)?) => {$(
        impl Rated for $filter {
            fn mean_rate(&self, items: u64) -> Interval {
                $rate(self.params(), items)
            }
        }
    )+};
}

rated! {
    BloomFilter => double_hashed,
    CountingBloomFilter => double_hashed,
    CountingBloomFilter<DefaultHashBuilder, Bits8> => double_hashed,
    BlockedBloomFilter => |params: BlockedBloomParams, items| Interval::exactly(params.rate_at(items)),
    BlockedCountingBloomFilter =>
        |params: BlockedCountingParams, items| Interval::exactly(params.rate_at(items)),
    CuckooFilter => |params: CuckooParams, items| Interval::exactly(params.rate_at(items)),
    QuotientFilter => |params: QuotientParams, items| Interval::exactly(params.rate_at(items)),
}

/// The predicted rate of double-hashed positions.
fn double_hashed(params: BloomParams, items: u64) -> Interval {
    let design = Design { items, rate: 1.0, size: Size::Bits(params.num_bits()) };
    Plain.predict(&params, &design, items).rate
}

/// A filled filter.
pub(crate) fn filled<F: Rated>(filter: F, random: Random<'_>, items: u64) -> Filled {
    turned(filter, random, items, |filter| filter)
}

/// A filled filter, after a method has made another one from it.
fn turned<F: Insert, G: Rated>(
    mut filter: F,
    random: Random<'_>,
    items: u64,
    turn: impl Fn(F) -> G,
) -> Filled {
    for hash in first(items, random) {
        filter.insert_hash(hash).expect("a filter that has room");
    }
    let filter = turn(filter);
    let rate = filter.mean_rate(items);
    Filled { contains: Box::new(move |hash| filter.contains_hash(hash)), rate }
}

/// Returns a constructor of a filter as it is built.
pub(crate) fn built<F: Rated, E: Debug + 'static>(
    name: &str,
    promise: impl Into<Option<f64>>,
    items: u64,
    build: fn() -> Result<F, E>,
) -> Constructor {
    made(name, promise, items, build, |filter| filter)
}

/// Returns a constructor of a filter that a method makes from a filled one.
pub(crate) fn made<F: Insert + 'static, G: Rated, E: Debug + 'static>(
    name: &str,
    promise: impl Into<Option<f64>>,
    items: u64,
    build: fn() -> Result<F, E>,
    turn: fn(F) -> G,
) -> Constructor {
    constructor(name, promise, items, move |random, items| {
        turned(build().expect("a sound design"), random, items, turn)
    })
}

/// Returns a structure's three ways through the calculator, and its recommendation if it is recommended. `build` builds the filter
/// of the parameters that the calculator found.
pub(crate) fn calculated<F: Rated, P: Copy + 'static, E: Debug + 'static>(
    of: &'static Structure,
    build: fn(P, DefaultHashBuilder) -> Result<F, E>,
) -> Vec<Constructor> {
    calculated_by(of, move |candidate, random, items| {
        let &params = candidate.params().expect("its own parameters");
        filled(build(params, DefaultHashBuilder::default()).expect("memory"), random, items)
    })
}

/// The same, with a function that fills the filter that the calculator found.
pub(crate) fn calculated_by(
    of: &'static Structure,
    fill: impl Fn(&Candidate, Random<'_>, u64) -> Filled + Copy + Send + 'static,
) -> Vec<Constructor> {
    const ITEMS: u64 = 3_000;
    let found = |name: &str, candidate: Candidate, promise: f64| {
        let (name, items) = (format!("{} {name}", of.type_name), candidate.items());
        constructor(name, promise, items, move |random, items| fill(&candidate, random, items))
    };
    let sound =
        |candidate: Result<Candidate, ParamError>| candidate.expect("a design that can be had");
    let new = sound(Candidate::new(of, ITEMS, RATE));
    let of_memory = sound(Candidate::for_memory(of, new.size_in_bytes(), ITEMS));
    let of_most = sound(Candidate::of_most_items(of, 4_096, RATE));
    let recommended = recommend(&Needs::new(ITEMS, RATE)).expect("sound needs");
    let choice =
        recommended.map(|found| found.choice().clone()).filter(|one| one.structure() == of);
    let rate = of_memory.rate();
    let ways = [
        found("Candidate::new", new, RATE),
        found("Candidate::for_memory", of_memory, rate),
        found("Candidate::of_most_items", of_most, RATE),
    ];
    ways.into_iter().chain(choice.map(|choice| found("recommend", choice, RATE))).collect()
}
