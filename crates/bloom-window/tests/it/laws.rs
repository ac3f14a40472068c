//! Laws against models that know all keys and their ages.

use alloc::collections::VecDeque;

use bloom_window::hash::DefaultHashBuilder;
use bloom_window::{
    ClockError, TimedBloomFilter, TimedParams, WindowBloomFilter, WindowBloomFilterView,
    WindowParams,
};
use pds_testkit::keys;
use quickcheck::quickcheck;

/// A rate at which no key of these tests is a false positive.
const NEVER: f64 = 1e-15;

/// Windows, and slacks that they can keep.
const WINDOWS: [(u64, f64); 9] = [
    (1, 0.5),
    (2, 0.5),
    (3, 0.9),
    (10, 0.1),
    (17, 0.2),
    (62, 0.02),
    (63, 0.05),
    (100, 0.1),
    (500, 0.02),
];

#[test]
fn a_key_among_the_last_n_is_never_missed_and_each_of_them_counts() {
    for (seed, (window, slack)) in (1..).zip(WINDOWS) {
        for rate in [0.5, 0.01] {
            let builder = WindowBloomFilter::builder().window(window).slack(slack);
            let mut filter = builder.false_positive_rate(rate).build().unwrap();
            let mut recent = VecDeque::new();
            // Few enough keys that many return within the window, and many do not.
            let stream = keys::random(seed).map(|key| key % (2 * window));
            for key in stream.take(12 * usize::try_from(window).unwrap() + 50) {
                let is_new = filter.insert(&key);
                assert!(!(is_new && recent.contains(&key)), "{window}: {key} is in the window");
                recent.push_back(key);
                if recent.len() as u64 > window {
                    recent.pop_front();
                }
                assert!(
                    recent.iter().all(|key| filter.contains(key)),
                    "{window}: a key was missed"
                );
            }
        }
    }
}

#[test]
fn a_key_is_gone_after_the_slack_and_then_new_again() {
    for (window, slack) in WINDOWS {
        let builder = WindowBloomFilter::builder().window(window).slack(slack);
        let mut filter = builder.false_positive_rate(NEVER).build().unwrap();
        let stay = filter.params().longest_stay();
        assert!(stay as f64 <= (window as f64 * (1.0 + slack)).ceil());
        let mut longest = 0;
        for key in 0..6 * stay + 20 {
            assert!(filter.insert(&key), "{key} is new");
            let missing = (0..=key).rev().find(|key| !filter.contains(key));
            let missing = missing.map_or(0, |missing| key - missing);
            assert!(missing <= stay, "{window}: {missing} newer keys, and the key is still in");
            longest = longest.max(missing);
        }
        assert_eq!(longest, stay, "{window}: the longest stay is reached");
        assert!(filter.insert(&0_u64), "forgotten, so new");
    }
}

#[test]
fn a_key_that_is_inserted_again_is_young_again() {
    let mut filter =
        WindowBloomFilter::builder().window(100).false_positive_rate(NEVER).build().unwrap();
    filter.insert("again");
    for key in 0..2_000_u32 {
        filter.insert(&key);
        if key % 99 == 98 {
            assert!(!filter.insert("again"));
        }
        assert!(filter.contains("again"));
    }
}

/// Each million of operations asks for the oldest key of the window and another one.
fn miss_nothing(inserts: u64) {
    let window = 10_000;
    let mut filter = WindowBloomFilter::new(window, 0.05).unwrap();
    for key in 0..inserts {
        filter.insert(&key);
        for age in [window - 1, key % window] {
            assert!(key < age || filter.contains(&(key - age)), "{key}: age {age}");
        }
    }
}

#[test]
fn no_key_of_a_window_is_missed_in_a_million_inserts() {
    miss_nothing(1_000_000);
}

#[test]
#[ignore = "takes 10 s"]
fn no_key_of_a_window_is_missed_in_a_hundred_million_operations() {
    miss_nothing(34_000_000);
}

#[test]
fn the_rate_is_the_same_after_many_windows() {
    let params = WindowParams::new(700, 0.01, 0.1).unwrap();
    let mut filter = WindowBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
    let mut rate = || {
        filter.extend(keys::random(filter.inserted()).take(700 * 14));
        filter.false_positive_rate()
    };
    let rates: Vec<f64> = (0..50).map(|_| rate()).collect();
    let mean = rates.iter().sum::<f64>() / 50.0;
    assert!((mean / params.rate_after(9_800) - 1.0).abs() < 0.1, "{mean}");
    assert!(rates.iter().all(|rate| *rate < 0.03), "bits of old keys stay behind: {rates:?}");
}

/// Keys and their times, and a filter that is asked for all of them.
struct Timed {
    filter: TimedBloomFilter,
    inserted: Vec<(u64, u64)>,
    now: u64,
}

impl Timed {
    fn new(ticks: u64, slack: f64) -> Self {
        let builder = TimedBloomFilter::builder().ticks(ticks).slack(slack).expected_items(50);
        let filter = builder.false_positive_rate(NEVER).build().unwrap();
        Self { filter, inserted: Vec::new(), now: 0 }
    }

    fn advance(&mut self, ticks: u64) {
        self.now += ticks;
        self.filter.advance(self.now).unwrap();
        assert_eq!(self.filter.now(), self.now);
        let (window, stay) = (self.filter.ticks(), self.filter.params().longest_stay());
        for &(key, time) in &self.inserted {
            let age = self.now - time;
            let contained = self.filter.contains(&key);
            assert!(age > window || contained, "missed at the age of {age} in {window}");
            assert!(age < stay || !contained, "still there at the age of {age} in {window}");
        }
    }

    fn insert(&mut self) {
        let key = self.inserted.len() as u64;
        assert!(self.filter.insert(&key) && self.filter.contains(&key));
        self.inserted.push((key, self.now));
    }
}

#[test]
fn a_key_stays_for_the_time_and_at_most_for_the_slack() {
    for (seed, (ticks, slack)) in (1..).zip(WINDOWS) {
        // A tick at a time, then by jumps, some of them beyond all columns.
        for longest in [1, 3, ticks / 4 + 1, ticks, 3 * ticks + 5] {
            let mut timed = Timed::new(ticks, slack);
            for jump in keys::random(seed).take(200) {
                timed.insert();
                timed.advance(jump % (longest + 1));
            }
        }
    }
}

#[test]
fn more_keys_than_designed_are_not_missed() {
    let mut filter = TimedBloomFilter::new(100, 10, 0.01).unwrap();
    for time in 0..50_u64 {
        filter.advance(time).unwrap();
        (0..40).for_each(|key| _ = filter.insert(&(time, key)));
    }
    let all = (0..50_u64).flat_map(|time| (0..40).map(move |key| (time, key)));
    assert!(all.clone().all(|key| filter.contains(&key)));
    assert!(filter.false_positive_rate() > 0.5);
    filter.advance(1_000).unwrap();
    assert_eq!(
        (filter.false_positive_rate(), all.filter(|key| filter.contains(key)).count()),
        (0.0, 0)
    );
}

#[test]
fn a_clock_that_runs_backwards_changes_nothing() {
    let mut filter = TimedBloomFilter::new(60, 100, 0.01).unwrap();
    filter.advance(1_000).unwrap();
    filter.insert("key");
    let before = filter.clone();
    for time in [999, 940, 0] {
        let error = filter.advance(time).unwrap_err();
        assert_eq!(error, ClockError { given: time, now: 1_000 });
        assert!(error.to_string().contains(&time.to_string()));
    }
    assert!(filter == before);
    filter.advance(1_000).unwrap();
    assert!(filter == before, "the same time again");
}

#[test]
fn any_time_can_come() {
    for ticks in [1, 2, 1 << 40, 1 << 62] {
        let params = TimedParams::new(ticks, 10, NEVER, 0.5).unwrap();
        let mut filter =
            TimedBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
        for time in [0, 1, 1 << 30, 1 << 62, u64::MAX - 1, u64::MAX, u64::MAX] {
            filter.advance(time).unwrap();
            filter.insert(&time);
            assert!(filter.contains(&time));
        }
        assert!(!filter.contains(&0_u64));
    }
}

#[test]
fn clear_makes_a_fresh_filter() {
    let mut filter = WindowBloomFilter::new(100, 0.01).unwrap();
    let fresh = filter.clone();
    filter.extend(0..5_050_u32);
    filter.clear();
    assert!(filter == fresh && filter.inserted() == 0);
    let mut timed = TimedBloomFilter::new(100, 10, 0.01).unwrap();
    timed.advance(77).unwrap();
    let fresh = timed.clone();
    timed.extend(0..50_u32);
    timed.clear();
    assert!(timed == fresh && timed.now() == 77);
}

quickcheck! {
    fn equal_inserts_give_equal_bytes_in_any_way(keys: Vec<u16>, window: u8, cut: u8) -> bool {
        let params = WindowParams::from_shape(u64::from(window) + 1, 5, 40, 6).unwrap();
        let build = || WindowBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
        let (mut one_by_one, mut batch, mut sent) = (build(), build(), build());
        let new = keys.iter().filter(|key| one_by_one.insert(key)).count();
        let same = new == batch.insert_batch(&keys);
        let (before, after) = keys.split_at(keys.len().min(cut.into()));
        sent.extend(before);
        let mut sent = WindowBloomFilter::from_bytes(&sent.to_bytes()).unwrap();
        let hashes: Vec<u64> = after.iter().map(|key| pds_core::hash::KeyHasher::hash_key(&sent, key)).collect();
        sent.insert_hash_batch(&hashes);
        same && one_by_one == batch && one_by_one == sent && batch.to_bytes() == sent.to_bytes()
    }

    fn batches_answer_like_single_lookups(keys: Vec<u16>, asked: Vec<u16>) -> bool {
        let mut filter = WindowBloomFilter::builder().window(20).false_positive_rate(0.2).build().unwrap();
        filter.extend(&keys);
        let mut answers = vec![false; asked.len()];
        filter.contains_batch(&asked, &mut answers);
        let bytes = filter.to_bytes();
        let view = WindowBloomFilterView::open(&bytes).unwrap();
        asked.iter().zip(answers).all(|(key, answer)| {
            filter.contains(key) == answer && view.contains(key) == answer
        })
    }
}

/// Beyond the size from which on batches prefetch.
#[test]
fn batches_of_large_filters_answer_like_single_lookups() {
    let mut filter = WindowBloomFilter::new(300_000, 0.01).unwrap();
    let mut same = filter.clone();
    let keys: Vec<u64> = keys::random(1).take(50_001).collect();
    assert_eq!(filter.insert_batch(&keys), keys.iter().filter(|key| same.insert(key)).count());
    assert!(filter == same && filter.size_in_bytes() > 1 << 19);
    let asked: Vec<u64> = keys::random(1).skip(40_000).take(20_007).collect();
    let mut answers = vec![false; asked.len()];
    filter.contains_batch(&asked, &mut answers);
    assert!(asked.iter().zip(answers).all(|(key, answer)| filter.contains(key) == answer));
}
