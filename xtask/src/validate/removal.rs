//! Filters that forget keys: long histories of inserts and removals, and the cuckoo filter's rate at many loads.
//!
//! A history is random, and the keys that are in are known. One of them is asked for after every step, and all of
//! them now and then; none may ever be denied, whatever failed, saturated or was removed before.

use super::Run;
use super::effort::Effort;
use super::judge::{Case, Check, Law, Measurement, real};
use super::schedule::{Job, Progress};
use core::fmt::Debug;
use pds::params::CuckooParams;
use pds::{BlockedCountingBloomFilter, CountingBloomFilter, CuckooFilter, DefaultHashBuilder};
use pds_testkit::keys;

/// Buckets of the filters whose rate is measured: a prime number, so that nothing divides them.
const BUCKETS: u64 = 50_021;
/// Standard deviations of one filter's own rate around the mean that its row allows for.
const ALLOWED_DEVIATIONS: f64 = 5.0;
/// One step in so many inserts a key that is in already.
const COPIES: u64 = 8;
/// All keys are asked for after as many steps as this multiple of their number.
const ROUND: u64 = 16;

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
fn steps(effort: Effort) -> u64 {
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
    jobs
}

fn cuckoo_history(run: &Run, (buckets, bits): (u64, u32)) -> Job<'_> {
    let history = History { seed: run.seed ^ buckets, steps: steps(run.effort), keys: 4 * buckets };
    let shape = format!("{buckets} buckets of {bits} bits");
    history_job("cuckoo", shape, history, move || cuckoo(buckets, bits))
}

fn cuckoo(buckets: u64, bits: u32) -> CuckooFilter {
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
    anywhere.into_iter().chain(in_lines).collect()
}

fn history_job<'a, F: Removing>(
    structure: &'static str,
    shape: String,
    history: History,
    build: impl FnOnce() -> F + Send + 'a,
) -> Job<'a> {
    let run = move |progress: &Progress| {
        let lost = history.run(&mut build(), |steps| progress.advance(steps));
        let case = case(structure, history.keys, 0.0, shape);
        let law = Law::Exactly(0.0);
        let (check, observed, events) = (Check::LostKeys, real(lost), real(history.steps));
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
        vec![Measurement { case, check: Check::FalsePositives, law, observed, events: observed }]
    };
    Job { cost: items + queries, run: Box::new(work) }
}

fn case(structure: &'static str, items: u64, rate: f64, shape: String) -> Case {
    Case { structure, items, rate, shape, keys: "random", hasher: "default", instances: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hash::BuildHasher;
    use pds::bloom::DoubleHash;

    const HISTORY: History = History { seed: 1, steps: 100_000, keys: 400 };

    /// Loses a resident key to every insert that fails, as filters do that forget whom they moved last.
    #[derive(Debug)]
    struct DropsTheVictim {
        filter: CuckooFilter,
        last: u64,
    }

    impl Removing for DropsTheVictim {
        fn insert(&mut self, key: u64) -> bool {
            if self.filter.insert(&key).is_err() {
                self.filter.remove(&self.last);
            }
            self.last = key;
            true
        }

        fn remove(&mut self, key: u64) -> bool {
            self.filter.remove(&key)
        }

        fn contains(&self, key: u64) -> bool {
            self.filter.contains(&key)
        }
    }

    /// Counters of 4 bits that are lowered although they stick.
    #[derive(Debug)]
    struct LowersSaturated(Vec<u8>);

    impl LowersSaturated {
        fn counters(&mut self, key: u64, change: impl Fn(u8) -> u8) {
            let mut positions = self.positions(key);
            positions.sort_unstable();
            positions.dedup();
            positions.into_iter().for_each(|position| self.0[position] = change(self.0[position]));
        }

        fn positions(&self, key: u64) -> Vec<usize> {
            let mut probes = DoubleHash::new(DefaultHashBuilder::default().hash_one(key));
            let position = |_| usize::try_from(probes.next_position(self.0.len() as u64));
            (0..3).map(position).map(|position| position.expect("a position in memory")).collect()
        }
    }

    impl Removing for LowersSaturated {
        fn insert(&mut self, key: u64) -> bool {
            self.counters(key, |count| (count + 1).min(15));
            true
        }

        fn remove(&mut self, key: u64) -> bool {
            let contained = self.contains(key);
            self.counters(key, |count| count.saturating_sub(1));
            contained
        }

        fn contains(&self, key: u64) -> bool {
            self.positions(key).into_iter().all(|position| self.0[position] > 0)
        }
    }

    #[test]
    fn a_dropped_victim_is_noticed() {
        assert_eq!(HISTORY.run(&mut cuckoo(100, 8), |_| ()), 0);
        let mut sabotaged = DropsTheVictim { filter: cuckoo(100, 8), last: 0 };
        assert!(HISTORY.run(&mut sabotaged, |_| ()) > 100);
    }

    #[test]
    fn a_lowered_saturated_counter_is_noticed() {
        let filter = CountingBloomFilter::builder().counters(100).hashes(3).build();
        assert_eq!(HISTORY.run(&mut filter.expect("sound parameters"), |_| ()), 0);
        assert!(HISTORY.run(&mut LowersSaturated(vec![0; 100]), |_| ()) > 100);
    }
}
