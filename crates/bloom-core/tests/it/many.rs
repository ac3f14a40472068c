//! `AnyOf` and `AllOf` over filters of equal and different hashers: answers, and rates against the formulas.
#![cfg(feature = "std")]

mod bodies;

use bloom_core::{BloomFilter, BloomParams};
use core::cell::Cell;
use core::hash::Hasher;
use pds_core::hash::{DefaultHashBuilder, KeyHasher, SipHashBuilder};
use pds_core::many::{AllOf, AnyOf, all_of_rate};
use pds_core::traits::Membership;
use pds_params::bloom::{rate_exact, scheme_excess};
use pds_testkit::keys;
use pds_testkit::mutate::inputs;
use pds_testkit::stats::judge_mean;

/// Returns a filter of 7 hashes with the keys `keys`.
fn filter(bits: u64, seed: u64, keys: impl IntoIterator<Item = u64>) -> BloomFilter {
    let mut filter = BloomFilter::builder().bits(bits).hashes(7).seed(seed).build().unwrap();
    filter.extend(keys);
    filter
}

/// Number of absent keys that are asked for.
const ASKED: u64 = 400_000;

/// Returns the share of absent keys that are contained.
fn rate(contains: impl Fn(&u64) -> bool) -> f64 {
    (1 << 40..(1 << 40) + ASKED).filter(contains).count() as f64 / ASKED as f64
}

/// Returns whether a share found is within 5 standard deviations of a rate.
fn is_near(found: f64, rate: f64) -> bool {
    (found - rate).abs() < 5.0 * (rate * (1.0 - rate) / ASKED as f64).sqrt()
}

#[test]
fn the_answers_are_those_of_the_filters() {
    let sets = [0..300_u64, 200..500, 250..260];
    let equal = sets.clone().map(|keys| filter(3_000, 1, keys));
    let seeded = [1, 2, 1].iter().zip(sets.clone()).map(|(&seed, keys)| filter(3_000, seed, keys));
    for filters in [equal.to_vec(), seeded.collect(), vec![]] {
        let (any, all) = (AnyOf::new(filters.clone()), AllOf::new(filters.iter()));
        let keys: Vec<u64> = (0..3_000).collect();
        let mut answers = [vec![true; 3_000], vec![true; 3_000]];
        any.contains_batch(&keys, &mut answers[0]);
        all.contains_batch(&keys, &mut answers[1]);
        for (key, i) in keys.iter().zip(0..) {
            let expected = filters.iter().any(|filter| filter.contains(key));
            assert_eq!((any.contains(key), answers[0][i]), (expected, expected), "any {key}");
            let expected = filters.iter().all(|filter| filter.contains(key));
            assert_eq!((all.contains(key), answers[1][i]), (expected, expected), "all {key}");
        }
        let mut parallel = [vec![true; 3_000], vec![true; 3_000]];
        any.par_contains_batch(&keys, &mut parallel[0]);
        all.par_contains_batch(&keys, &mut parallel[1]);
        assert_eq!(parallel, answers);
        assert_eq!(any.filters().len(), all.into_filters().len());
    }
}

/// Rates of small filters that must all agree, with different seeds and with equal ones. False alarms: 10^-6.
#[test]
fn small_filters_of_equal_seeds_agree_more_often() {
    const TRIPLES: u64 = 20_000;
    const EACH: usize = 40;
    let params = BloomParams::for_double_hashing(3, 0.1).unwrap();
    let (bits, hashes) = (params.num_bits(), params.num_hashes());
    let one = rate_exact(bits, 3, hashes) + scheme_excess(bits, 3, hashes);
    let product = all_of_rate([one; 3]);
    let mut random = keys::random(1);
    let mut measure = |seeds: [u64; 3]| -> Vec<f64> {
        let of_triple = |_| {
            let all = AllOf::new(seeds.map(|seed| {
                let builder = BloomFilter::builder().bits(bits).hashes(hashes).seed(seed);
                let mut filter = builder.build().unwrap();
                filter.extend(random.by_ref().take(3));
                filter
            }));
            let hits = random.by_ref().take(EACH).filter(|key| all.contains(key)).count();
            hits as f64 / EACH as f64
        };
        (0..TRIPLES).map(of_triple).collect()
    };
    judge_mean("different seeds", &measure([1, 2, 3]), product, 1e-6);
    let equal = measure([1; 3]).iter().sum::<f64>() / TRIPLES as f64;
    assert!(equal > 1.5 * product, "{equal} {product}");
}

#[test]
fn filters_of_different_types_and_hashers_are_combined() {
    let sip = SipHashBuilder::from_key([7; 16]);
    let mut other = BloomFilter::builder().expected_items(100).hasher(sip).build().unwrap();
    other.insert("b");
    other.insert("both");
    let mut first = BloomFilter::new(100, 0.001).unwrap();
    first.insert("a");
    first.insert("both");
    let boxed = || -> [Box<dyn Membership + Send + Sync>; 2] {
        [Box::new(first.clone()), Box::new(other.clone())]
    };
    let (any, all) = (AnyOf::new(boxed()), AllOf::new(boxed()));
    for (key, in_any, in_all) in
        [("a", true, false), ("b", true, false), ("both", true, true), ("no", false, false)]
    {
        assert_eq!((any.contains(key), all.contains(key)), (in_any, in_all), "{key}");
        let mut answers = [[!in_any], [!in_all]];
        any.contains_batch(&[key], &mut answers[0]);
        all.contains_batch(&[key], &mut answers[1]);
        assert_eq!(answers, [[in_any], [in_all]], "{key}");
    }
}

#[test]
fn no_filters_are_the_empty_set_or_the_set_of_all_keys() {
    let (any, all) = (AnyOf::<BloomFilter>::new([]), AllOf::<BloomFilter>::new([]));
    assert!(!any.contains("a") && all.contains("a"));
    let (mut none, mut every) = ([true; 300], [false; 300]);
    any.contains_batch(&[1; 300], &mut none);
    all.contains_batch(&[1; 300], &mut every);
    assert!(none.iter().all(|&answer| !answer) && every.iter().all(|&answer| answer));
    let rates = (any.false_positive_rate(|_| 0.5), all.false_positive_rate(|_| 0.5));
    assert_eq!(rates, (0.0, 1.0));
    any.contains_batch(&[0; 0], &mut []);
}

#[test]
#[should_panic(expected = "one answer per key")]
fn a_batch_needs_an_answer_for_each_key() {
    AnyOf::new([filter(10, 1, [])]).contains_batch(&[1, 2], &mut [false]);
}

/// `keys_spread_query_all` of the table of split filters: keys that are spread over j filters, all of them asked.
#[test]
fn the_rate_of_any_is_that_of_the_reference() {
    // m = 100,000 bits and n = 10,000 keys in j filters of equal parts, k = 7.
    for (j, expected) in [(1_u64, 0.008_194_445), (8, 0.063_741_968), (16, 0.123_506_848)] {
        let keys = |part: u64| (0..10_000_u64).filter(move |key| key % j == part);
        let any = AnyOf::new((0..j).map(|part| filter(100_000 / j, 3, keys(part))));
        let formula = any.false_positive_rate(BloomFilter::false_positive_rate);
        let found = rate(|key| any.contains(key));
        assert!(is_near(found, formula), "{j}: {found}, not {formula}");
        // One filter's rate spreads by 1.2 to 5 %, that of many together by less.
        assert!((formula / expected - 1.0).abs() < 0.04, "{j}: {formula}, not {expected}");
    }
}

/// `all_filters_k_each` of the same table: every key sets k bits in each of j filters of m / j bits.
#[test]
fn the_rate_of_all_is_that_of_the_reference_if_the_seeds_differ() {
    let table = [
        (1_000_000, 100_000, 2, 0.018_984_203),
        (10_000, 1_000, 8, 0.813_416_416),
        (100_000, 10_000, 4, 0.172_670_243),
    ];
    for (bits, keys, j, expected) in table {
        let all = AllOf::new((0..j).map(|seed| filter(bits / j, seed, 0..keys)));
        let formula = all.false_positive_rate(BloomFilter::false_positive_rate);
        let found = rate(|key| all.contains(key));
        assert!(is_near(found, formula), "{j}: {found}, not {formula}");
        assert!((formula / expected - 1.0).abs() < 0.03, "{j}: {formula}, not {expected}");
    }
}

#[test]
fn answers_of_equal_hashers_are_independent_for_disjoint_sets_only() {
    let (left, right) = (filter(9_586, 1, 0..2_000), filter(9_586, 1, 2_000..4_000));
    let p = left.false_positive_rate();
    let both = p * right.false_positive_rate();
    let all = AllOf::new([&left, &right]);
    let found = rate(|key| all.contains(key));
    assert!(is_near(found, both), "disjoint sets: {found}, not {both}");
    let any = AnyOf::new([&left, &right]);
    let expected = any.false_positive_rate(|filter| filter.false_positive_rate());
    assert!(is_near(rate(|key| any.contains(key)), expected));
    // The same set: copies, which agree in everything.
    let copies = AllOf::new([filter(9_586, 1, 0..2_000), left.clone()]);
    let found = rate(|key| copies.contains(key));
    assert!(is_near(found, p), "one set, one seed: {found}, not {p}");
    let ensemble = AllOf::new([filter(9_586, 2, 0..2_000), left.clone()]);
    let expected = ensemble.false_positive_rate(BloomFilter::false_positive_rate);
    let found = rate(|key| ensemble.contains(key));
    assert!(is_near(found, expected), "one set, two seeds: {found}, not {expected}");
    // Sets that differ, and overlap: between the two for one seed, independent for two.
    for (first, seed) in [(1_u64, 1), (1_000, 1), (1_000, 2)] {
        let all = AllOf::new([left.clone(), filter(9_586, seed, first..first + 2_000)]);
        let any = AnyOf::new(all.filters());
        let expected = all.false_positive_rate(BloomFilter::false_positive_rate);
        let found = rate(|key| all.contains(key));
        let either = any.false_positive_rate(|filter| filter.false_positive_rate());
        let found_either = rate(|key| any.contains(key));
        if seed == 1 {
            assert!(found > 1.2 * expected && found < 1.02 * p, "{first}: {found}");
            assert!(found_either < 0.98 * either && found_either > 0.98 * p, "{first}");
        } else {
            assert!(is_near(found, expected), "{first}: {found}, not {expected}");
            assert!(is_near(found_either, either), "{first}: {found_either}, not {either}");
        }
    }
    // A key of one set alone is contained at the rate of the other.
    let found = (0..2_000_u64).filter(|key| all.contains(key)).count() as f64 / 2_000.0;
    assert!((found - p).abs() < 5.0 * (p / 2_000.0).sqrt());
}

#[test]
fn an_ensemble_keeps_its_rate_and_is_hardly_larger_than_one_filter() {
    for (target, members) in [(1e-2, 2), (1e-3, 3), (1e-4, 2), (1e-6, 3)] {
        let items = 10_000;
        let one = BloomParams::for_double_hashing(items, target).unwrap();
        let params = BloomParams::for_ensemble(items, target, members).unwrap();
        let all = AllOf::new((0..members).map(|seed| {
            let hasher = DefaultHashBuilder::with_seed(seed.into());
            let mut filter = BloomFilter::from_params(params, hasher).unwrap();
            filter.extend(0..items);
            filter
        }));
        assert!((0..items).all(|key| all.contains(&key)));
        let share = f64::from(members) * params.num_bits() as f64 / one.num_bits() as f64;
        assert!((1.0..1.08).contains(&share), "{target} {members}: {share}");
        let found = rate(|key| all.contains(key));
        // One-sided, with 6 standard deviations and the spread of the fill of a single filter.
        let tolerance = 6.0 * (target / ASKED as f64).sqrt() + 0.05 * target;
        assert!(found < target + tolerance, "{target} {members}: {found}");
    }
    // The figures of the documentation.
    let share = |target, members| {
        let one = BloomParams::for_double_hashing(10_000, target).unwrap();
        let params = BloomParams::for_ensemble(10_000, target, members).unwrap();
        f64::from(members) * params.num_bits() as f64 / one.num_bits() as f64
    };
    for target in (3..=60).map(|tenths| 10_f64.powf(-0.1 * f64::from(tenths))) {
        for members in (1..=20).filter(|&members| f64::from(members) <= -target.log2()) {
            let share = share(target, members);
            assert!(share < 1.06, "{target} {members}: {share}");
        }
    }
    assert_eq!([20, 100].map(|members| format!("{:.2}", share(1e-2, members))), ["1.32", "3.36"]);
    let refused =
        |rate, members| BloomParams::for_ensemble(10, rate, members).unwrap_err().parameter();
    assert_eq!(refused(0.5, 0), "members");
    assert_eq!(refused(1.0, 2), "false_positive_rate");
}

/// A filter of all keys or of none, that counts how often it hashes and answers.
struct Counting {
    answer: bool,
    seed: u64,
    hashed: Cell<u32>,
    asked: Cell<u32>,
}

impl Counting {
    fn new(answer: bool, seed: u64) -> Self {
        Self { answer, seed, hashed: Cell::new(0), asked: Cell::new(0) }
    }
}

impl KeyHasher for Counting {
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hashed.set(self.hashed.get() + 1);
        DefaultHashBuilder::with_seed(self.seed).hash_key_dyn(feed)
    }
}

impl Membership for Counting {
    fn contains_hash(&self, _: u64) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.answer
    }
}

#[test]
fn a_key_is_hashed_once_per_hasher_and_asked_until_the_answer_is_known() {
    let counts = |all: &AllOf<Counting>| {
        let count = |filter: &Counting| (filter.hashed.take(), filter.asked.take());
        all.filters().iter().map(count).collect::<Vec<_>>()
    };
    let answers = [(true, 1), (true, 1), (true, 2), (false, 2), (true, 1)];
    let all = AllOf::new(answers.map(|(answer, seed)| Counting::new(answer, seed)));
    counts(&all);
    assert!(!all.contains("a"));
    assert_eq!(counts(&all), [(1, 1), (0, 1), (1, 1), (0, 1), (0, 0)]);
    let mut out = [true; 300];
    all.contains_batch(&["a"; 300], &mut out);
    assert!(out.iter().all(|&answer| !answer));
    assert_eq!(counts(&all), [(300, 300), (0, 300), (300, 300), (0, 300), (0, 0)]);
}

#[test]
fn filters_of_any_shapes_answer_together_as_one_by_one() {
    inputs(1, 500).for_each(|input| bodies::ops(&input));
}
