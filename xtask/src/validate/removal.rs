//! Filters that forget keys: long histories of inserts and removals, and the cuckoo filter's rate at many loads.
//!
//! A history is random, and the keys that are in are known. One of them is asked for after every step, and all of
//! them now and then; none may ever be denied, whatever failed, saturated or was removed before.

use super::Run;
use super::effort::Effort;
use super::judge::{Case, Check, Law, Measurement, real};
use super::measure::{FALSE_POSITIVES, LOST_KEYS};
use super::schedule::{Job, Progress};
use core::fmt::Debug;
use pds::params::CuckooParams;
use pds::params::counting::{mean_count, overflow_probability};
use pds::{BlockedCountingBloomFilter, CountingBloomFilter, CuckooFilter, DefaultHashBuilder};
use pds_testkit::keys;

pub(crate) const FIRST_FAILURE: Check = Check::new(
    "mean load at the first failure",
    "The mean load at which an insert first fails: no less than that of the usual scheme, and no \
     more than two choices allow.",
);
pub(crate) const OVERFLOW: Check =
    Check::new("counters that stick", "Counters that stick, against the tail of the Poisson law.");

/// Buckets of the filters whose rate is measured: a prime number, so that nothing divides them.
const BUCKETS: u64 = 50_021;
/// Standard deviations of one filter's own rate around the mean that its row allows for.
const ALLOWED_DEVIATIONS: f64 = 5.0;
/// One step in so many inserts a key that is in already.
const COPIES: u64 = 8;
/// All keys are asked for after as many steps as this multiple of their number.
const ROUND: u64 = 16;

/// Buckets of the filters that are filled until an insert fails.
const FILLED_BUCKETS: u64 = 4_096;
/// The load that no filter of four slots and two choices passes: Cain, Sanders and Wormald, "The random graph
/// threshold for k-orientability and a fast algorithm for optimal multiple-choice allocation", SODA 2007.
const THRESHOLD: f64 = 0.980_37;
/// Mean loads at the first failure of the usual scheme, by exclusive-or with 500 moves, simulated apart from this
/// library for as many buckets: widths in bits, loads.
const XOR_LOADS: [(u32, f64); 6] =
    [(4, 0.957_1), (5, 0.964_3), (6, 0.968_2), (8, 0.968_4), (12, 0.968_9), (16, 0.967_9)];
/// Counters of the filter whose overflow is counted, and the mean that they have.
const COUNTERS: u64 = 4_000_000;
const MEAN_COUNT: f64 = 6.0;

/// A filter under a history.
pub(crate) trait Removing: Debug {
    /// Whether the key was taken.
    fn insert(&mut self, key: u64) -> bool;

    /// Removes a copy of a key that is in. Whether the filter agreed.
    fn remove(&mut self, key: u64) -> bool;

    fn contains(&self, key: u64) -> bool;
}

impl Removing for CuckooFilter {
    fn insert(&mut self, key: u64) -> bool {
        Self::insert(self, &key).is_ok()
    }

    fn remove(&mut self, key: u64) -> bool {
        Self::remove(self, &key)
    }

    fn contains(&self, key: u64) -> bool {
        Self::contains(self, &key)
    }
}

impl Removing for CountingBloomFilter {
    fn insert(&mut self, key: u64) -> bool {
        Self::insert(self, &key);
        true
    }

    fn remove(&mut self, key: u64) -> bool {
        Self::remove(self, &key)
    }

    fn contains(&self, key: u64) -> bool {
        Self::contains(self, &key)
    }
}

impl Removing for BlockedCountingBloomFilter {
    fn insert(&mut self, key: u64) -> bool {
        Self::insert(self, &key);
        true
    }

    fn remove(&mut self, key: u64) -> bool {
        Self::remove(self, &key)
    }

    fn contains(&self, key: u64) -> bool {
        Self::contains(self, &key)
    }
}

/// What a history is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct History {
    pub(crate) seed: u64,
    pub(crate) steps: u64,
    /// Keys that the filter swings around.
    pub(crate) keys: u64,
}

impl History {
    /// Runs it. Returns how many times a key that was in was denied.
    ///
    /// Phases that mostly insert, to a quarter above the number of keys, alternate with phases that mostly remove, to
    /// half of it: a filter that can be full is so again and again.
    pub(crate) fn run(&self, filter: &mut impl Removing, mut advance: impl FnMut(u64)) -> u64 {
        let mut random = keys::random(self.seed);
        let mut present = Vec::new();
        let (mut lost, mut growing) = (0, true);
        for step in 0..self.steps {
            let number = random.next().expect("the stream is endless");
            let inserts = (number >> 60) < if growing { 11 } else { 5 };
            if inserts || present.is_empty() {
                let copy = number.is_multiple_of(COPIES) && !present.is_empty();
                let key = if copy { present[index(number >> 8, &present)] } else { number };
                let taken = filter.insert(key);
                growing &= taken && present.len() as u64 * 4 < 5 * self.keys;
                present.extend(taken.then_some(key));
            } else {
                let key = present.swap_remove(index(number >> 8, &present));
                lost += u64::from(!filter.remove(key));
                growing |= (present.len() as u64) < self.keys / 2;
            }
            if !present.is_empty() {
                lost += u64::from(!filter.contains(present[index(number >> 16, &present)]));
            }
            if step % (ROUND * self.keys) == 0 {
                lost += denied(filter, &present);
                advance(ROUND * self.keys);
            }
        }
        lost + denied(filter, &present)
    }
}

fn denied(filter: &impl Removing, present: &[u64]) -> u64 {
    present.iter().filter(|&&key| !filter.contains(key)).count() as u64
}

/// An index of a slice that is not empty.
fn index(number: u64, present: &[u64]) -> usize {
    usize::try_from(number % present.len() as u64).expect("less than the length")
}

/// The steps of a history: all of a run's together are 10^8 and more at full effort.
pub(crate) fn steps(effort: Effort) -> u64 {
    effort.choose([200_000, 1_000_000, 20_000_000])
}

/// A job for each history of cuckoo filters, and each width and load whose rate is measured.
pub(crate) fn cuckoo_jobs(run: &Run) -> Vec<Job<'_>> {
    let shapes = [(1, 8), (13, 4), (64, 8), (1_001, 5), (4_096, 12), (20_011, 23)];
    let mut jobs: Vec<_> = shapes.into_iter().map(|shape| cuckoo_history(run, shape)).collect();
    let widths: &[u32] =
        run.effort.choose([&[4, 8, 12], &[4, 6, 8, 12, 16], &[4, 5, 6, 8, 10, 12, 16, 20]]);
    for &bits in widths {
        jobs.extend([0.25, 0.5, 0.75, 0.95].map(|load| cuckoo_rate(run, bits, load)));
    }
    jobs.extend(XOR_LOADS.map(|(bits, load)| first_failure(run, bits, load)));
    jobs
}

/// Fills filters until an insert fails. The mean load lies between that of the usual scheme and what is possible at all.
fn first_failure(run: &Run, bits: u32, xor_load: f64) -> Job<'_> {
    let fills = run.effort.choose([10, 20, 200]);
    let items = 4 * FILLED_BUCKETS;
    let work = move |progress: &Progress| {
        let mut hashes = keys::random(run.seed ^ u64::from(bits));
        let mut filter = cuckoo(FILLED_BUCKETS, bits);
        let mut load = || {
            filter.clear();
            while hashes.next().is_some_and(|hash| filter.insert_hash(hash).is_ok()) {}
            progress.advance(items);
            filter.load_factor()
        };
        let loads: Vec<f64> = (0..fills).map(|_| load()).collect();
        let mean = loads.iter().sum::<f64>() / real(fills);
        let squares: f64 = loads.iter().map(|load| (load - mean).powi(2)).sum();
        let deviation = (squares / real(fills - 1) / real(fills)).sqrt();
        let case = case("cuckoo", items, 0.0, format!("{FILLED_BUCKETS} buckets of {bits} bits"));
        let law = Law::Normal { low: xor_load, high: THRESHOLD, deviation, looks: 1 };
        let case = Case { instances: fills, ..case };
        vec![Measurement { case, check: FIRST_FAILURE, law, observed: mean, events: real(fills) }]
    };
    Job { cost: items * fills, run: Box::new(work) }
}

fn cuckoo_history(run: &Run, (buckets, bits): (u64, u32)) -> Job<'_> {
    let history = History { seed: run.seed ^ buckets, steps: steps(run.effort), keys: 4 * buckets };
    let shape = format!("{buckets} buckets of {bits} bits");
    history_job("cuckoo", shape, history, move || cuckoo(buckets, bits))
}

pub(crate) fn cuckoo(buckets: u64, bits: u32) -> CuckooFilter {
    let params = CuckooParams::from_buckets_and_fingerprint_bits(buckets, bits);
    CuckooFilter::from_params(params.expect("a shape of the list"), DefaultHashBuilder::default())
        .expect("memory for the filter")
}

/// A job for each history of counting filters; the small ones saturate all the time.
pub(crate) fn counting_jobs(run: &Run) -> Vec<Job<'_>> {
    let history = |keys: u64| History { seed: run.seed ^ keys, steps: steps(run.effort), keys };
    let anywhere = [(50, 3), (1_000, 7), (100_000, 7)].map(|(counters, hashes)| {
        let build = move || {
            let builder = CountingBloomFilter::builder().counters(counters).hashes(hashes);
            builder.build().expect("a shape of the list")
        };
        let shape = format!("m = {counters}, k = {hashes}");
        history_job("counting", shape, history(counters / 8), build)
    });
    let in_lines = [1, 100, 1_000].map(|lines| {
        let builder = BlockedCountingBloomFilter::builder().lines(lines);
        let build = move || builder.build().expect("a shape of the list");
        history_job("blocked counting", format!("{lines} lines"), history(12 * lines), build)
    });
    anywhere.into_iter().chain(in_lines).chain([overflow(run)]).collect()
}

/// Counters that stick in an overfull filter, against the tail of the Poisson law.
fn overflow(run: &Run) -> Job<'_> {
    const HASHES: u32 = 4;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in bounds")]
    let items = (MEAN_COUNT * real(COUNTERS / u64::from(HASHES))) as u64;
    let work = move |progress: &Progress| {
        let builder = CountingBloomFilter::builder().counters(COUNTERS).hashes(HASHES);
        let mut filter = builder.build().expect("sound parameters");
        let mut hashes = keys::random(run.seed);
        (0..items).for_each(|_| {
            filter.insert_hash(hashes.next().expect("the stream is endless"));
        });
        progress.advance(items);
        let rate = overflow_probability(mean_count(COUNTERS, items, HASHES), 15);
        let law = Law::Events { trials: COUNTERS, low: rate, high: rate };
        let observed = real(filter.saturated_counters());
        let case = case("counting", items, rate, format!("m = {COUNTERS}, k = {HASHES}"));
        vec![Measurement { case, check: OVERFLOW, law, observed, events: rate * real(COUNTERS) }]
    };
    Job { cost: items, run: Box::new(work) }
}

pub(crate) fn history_job<'a, F: Removing>(
    structure: &'static str,
    shape: String,
    history: History,
    build: impl FnOnce() -> F + Send + 'a,
) -> Job<'a> {
    let run = move |progress: &Progress| {
        let lost = history.run(&mut build(), |steps| progress.advance(steps));
        let case = case(structure, history.keys, 0.0, shape);
        let law = Law::Exactly(0.0);
        let (check, observed, events) = (LOST_KEYS, real(lost), real(history.steps));
        vec![Measurement { case, check, law, observed, events }]
    };
    Job { cost: history.steps, run: Box::new(run) }
}

/// Absent keys of one large filter, against the exact mean rate and how far one filter's is from it.
fn cuckoo_rate(run: &Run, bits: u32, load: f64) -> Job<'_> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in bounds")]
    let items = (real(4 * BUCKETS) * load) as u64;
    let mut filter = cuckoo(BUCKETS, bits);
    let rate = filter.params().rate_at(items);
    let queries =
        run.effort.queries(rate).min(run.effort.choose([20_000_000, 100_000_000, u64::MAX]));
    let seed = run.seed ^ u64::from(bits);
    let work = move |progress: &Progress| {
        let mut hashes = keys::random(seed);
        for hash in hashes.by_ref().take(usize::try_from(items).expect("fits")) {
            filter.insert_hash(hash).expect("the load is below the limit of this size");
        }
        let absent = hashes.take(usize::try_from(queries).expect("fits"));
        let hits = absent.filter(|&hash| filter.contains_hash(hash)).count();
        progress.advance(items + queries);
        // The number of different places of so many keys, each one of 2 / rate, is spread by their coincidences.
        let spread = ALLOWED_DEVIATIONS * (rate / (2.0 * real(items))).sqrt();
        let (low, high) = (rate * (1.0 - spread), rate * (1.0 + spread));
        let case = case("cuckoo", items, rate, format!("{bits} bits, load {load}"));
        let law = Law::Events { trials: queries, low, high };
        let observed = real(hits as u64);
        vec![Measurement { case, check: FALSE_POSITIVES, law, observed, events: observed }]
    };
    Job { cost: items + queries, run: Box::new(work) }
}

fn case(structure: &'static str, items: u64, rate: f64, shape: String) -> Case {
    Case { structure, items, rate, shape, keys: "random", hasher: "default", instances: 1 }
}

#[cfg(test)]
mod tests {
    use super::super::sabotage_removal::{DropsTheVictim, LowersSaturated};
    use super::*;

    const HISTORY: History = History { seed: 1, steps: 100_000, keys: 400 };

    #[test]
    fn a_dropped_victim_is_noticed() {
        assert_eq!(HISTORY.run(&mut cuckoo(100, 8), |_| ()), 0);
        let mut sabotaged = DropsTheVictim::new(100, 8);
        assert!(HISTORY.run(&mut sabotaged, |_| ()) > 100);
    }

    #[test]
    fn a_lowered_saturated_counter_is_noticed() {
        let filter = CountingBloomFilter::builder().counters(100).hashes(3).build();
        assert_eq!(HISTORY.run(&mut filter.expect("sound parameters"), |_| ()), 0);
        assert!(HISTORY.run(&mut LowersSaturated::new(100), |_| ()) > 100);
    }
}
