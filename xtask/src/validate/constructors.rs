//! The rate of every constructor and of every method that makes one filter from another.
//!
//! A [`Constructor`] is data: its name, the keys it is for, its promise, and how a filled filter comes from it. The mean
//! rate over many filters is held against the promise, one-sided, and against the prediction of the filter's own
//! parameters.

use super::Run;
use super::blocked::exactly;
use super::bloom;
use super::coverage::label;
use super::judge::{Case, real};
use super::measure::Rates;
use super::sabotage::Fault;
use super::schedule::Job;
use super::subject::{Design, Interval, Size};
use pds::bloom::BloomParams;
use pds::compare::{Candidate, Needs, recommend};
use pds::params::blocked::split_block_rate;
use pds::params::{BlockedBloomParams, BlockedCountingParams, CuckooParams};
use pds::registry::{COUNTING_BLOOM, SPLIT_BLOCK_BLOOM, Structure};
use pds::{
    AllocError, BlockedBloomFilter, BlockedCountingBloomFilter, BloomFilter, CountingBloomFilter,
    CuckooFilter, DefaultHashBuilder, Insert, Membership, ParamError, SplitBlockBloomFilter,
};
use pds_testkit::keys;

mod table;

/// Filters of each constructor: so many that their scatter tells the error of their mean.
const FILTERS: u64 = 1_000;
/// False positives of all together: as many as show a deviation of a tenth.
const EVENTS: f64 = 20_000.0;

/// A filled filter: its answer by the hash, and its predicted mean rate.
struct Filled {
    contains: Box<dyn Fn(u64) -> bool>,
    rate: Interval,
}

/// Random hashes.
type Random<'a> = &'a mut dyn Iterator<Item = u64>;

/// A way to a filter.
struct Constructor {
    structure: &'static str,
    name: String,
    /// Keys to insert.
    items: u64,
    /// The rate that it promises not to exceed, where it does.
    promise: Option<f64>,
    /// Fills a filter with so many keys.
    fill: Box<dyn Fn(Random<'_>, u64) -> Filled + Send>,
}

/// The jobs of all constructors of a structure.
pub(crate) fn jobs<'a>(run: &'a Run, structure: &str) -> Vec<Job<'a>> {
    let mut all = table::all();
    all.retain(|constructor| constructor.structure == structure);
    let step = run.effort.choose([4, 1, 1]);
    all.into_iter().step_by(step).map(|constructor| constructor.job(run.seed)).collect()
}

/// A constructor that takes 3 % of the bits too few, or none.
fn bits_short(fault: Option<Fault>) -> Constructor {
    const ITEMS: u64 = 1_000;
    let bits = BloomParams::for_double_hashing(ITEMS, 0.01).expect("sound").num_bits();
    let bits = if fault.is_some() { bits - bits * 3 / 100 } else { bits };
    let params = BloomParams::from_bits_and_hashes(bits, 7).expect("sound");
    Constructor {
        structure: "sabotaged bloom",
        name: "new(1000, 0.01)".to_owned(),
        items: ITEMS,
        promise: Some(0.01),
        fill: Box::new(move |random, items| {
            let filter = BloomFilter::from_params(params, DefaultHashBuilder::default());
            filled(filter.expect("memory"), random, items, |_| double_hashed(&params, items))
        }),
    }
}

/// The jobs that find the fault.
pub(crate) fn fault_jobs<'a>(fault: Fault, run: &Run) -> Vec<Job<'a>> {
    vec![bits_short(Some(fault)).job(run.seed)]
}

impl Constructor {
    fn job<'a>(self, seed: u64) -> Job<'a> {
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
                rates.judge(&self.case(predicted), predicted, self.promise)
            }),
        }
    }

    fn case(&self, predicted: Interval) -> Case {
        Case {
            structure: self.structure,
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
fn insert_all<F: Insert>(filter: &mut F, random: Random<'_>, items: u64) {
    for _ in 0..items {
        filter.insert_hash(random.next().expect("endless")).expect("a filter that has room");
    }
}

/// A filter as it answers, with its predicted rate.
fn asked<F: Membership + 'static>(filter: F, rate: Interval) -> Filled {
    Filled { contains: Box::new(move |hash| filter.contains_hash(hash)), rate }
}

/// A filled filter with the rate that `predict` makes of it.
fn filled<F: Insert + Membership + 'static>(
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
fn double_hashed(params: &BloomParams, items: u64) -> Interval {
    let design = Design { items, rate: 1.0, size: Size::Bits(params.num_bits()) };
    bloom::predict(params, &design, items).rate
}

/// A filled split-block filter.
fn filled_split(mut filter: SplitBlockBloomFilter, random: Random<'_>, items: u64) -> Filled {
    (0..items).for_each(|_| {
        filter.insert_hash(random.next().expect("endless"));
    });
    asked_split(filter, items)
}

fn asked_split(filter: SplitBlockBloomFilter, items: u64) -> Filled {
    let rate = exactly(split_block_rate(filter.num_blocks(), items));
    Filled { contains: Box::new(move |hash| filter.contains_hash(hash)), rate }
}

/// The filter that the calculator found.
fn of_candidate(candidate: &Candidate, random: Random<'_>, items: u64) -> Filled {
    let hasher = DefaultHashBuilder::default();
    let mut fill = || -> Result<Filled, AllocError> {
        if *candidate.structure() == SPLIT_BLOCK_BLOOM {
            let blocks = candidate.size_in_bytes() / 32;
            let filter = SplitBlockBloomFilter::with_blocks(blocks).expect("a block");
            return Ok(filled_split(filter, random, items));
        }
        if let Some(&params) = candidate.params::<BloomParams>() {
            let rate = |params| double_hashed(params, items);
            return Ok(if *candidate.structure() == COUNTING_BLOOM {
                let filter = CountingBloomFilter::<_>::from_params(params, hasher)?;
                filled(filter, random, items, |_| rate(&params))
            } else {
                let filter = BloomFilter::from_params(params, hasher)?;
                filled(filter, random, items, |_| rate(&params))
            });
        }
        if let Some(&params) = candidate.params::<BlockedBloomParams>() {
            let filter = BlockedBloomFilter::from_params(params, hasher)?;
            return Ok(filled(filter, random, items, |_| exactly(params.rate_at(items))));
        }
        if let Some(&params) = candidate.params::<BlockedCountingParams>() {
            let filter = BlockedCountingBloomFilter::from_params(params, hasher)?;
            return Ok(filled(filter, random, items, |_| exactly(params.rate_at(items))));
        }
        let &params = candidate.params::<CuckooParams>().expect("one of ours");
        let filter = CuckooFilter::from_params(params, hasher)?;
        Ok(filled(filter, random, items, |_| exactly(params.rate_at(items))))
    };
    fill().expect("memory")
}

/// A structure's three ways through the calculator, and its recommendation where it is recommended.
fn calculated(structure: &'static str, of: &'static Structure) -> Vec<Constructor> {
    const ITEMS: u64 = 3_000;
    const RATE: f64 = 0.01;
    let found =
        |name: &str, candidate: Result<Candidate, ParamError>, promise: fn(&Candidate) -> f64| {
            let candidate = candidate.expect("a design that can be had");
            Constructor {
                structure,
                name: format!("{} {name}", of.type_name),
                items: candidate.items(),
                promise: Some(promise(&candidate)),
                fill: Box::new(move |random, items| of_candidate(&candidate, random, items)),
            }
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

#[cfg(test)]
mod tests {
    use super::super::judge::{FALSE_ALARM, Verdict, judge};
    use super::super::schedule;
    use super::*;

    fn verdicts(fault: Option<Fault>) -> Vec<Verdict> {
        let rows = schedule::run(vec![bits_short(fault).job(1)]);
        judge(rows, FALSE_ALARM / 3_000.0).iter().map(|row| row.verdict).collect()
    }

    #[test]
    fn bits_too_few_are_found_by_the_promise_alone() {
        assert_eq!(verdicts(None), [Verdict::Kept; 2]);
        assert_eq!(verdicts(Some(Fault::BitsShort)), [Verdict::Broken, Verdict::Kept]);
    }
}
