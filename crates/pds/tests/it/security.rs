//! Attacks: with a known hash they succeed, with a secret key they gain nothing.
//!
//! `docs/security.md` describes them. `cargo test -p pds --test it security -- --nocapture` prints its numbers.
#![cfg(all(feature = "std", feature = "bloom"))]

use core::iter::repeat_with;

use pds::BloomFilter;
use pds::bloom::{BitArray, DoubleHash};
use pds::hash::{DefaultHashBuilder, KeyHasher, SipHashBuilder};

/// 10,000, for which chance and choice differ enough, and choosing takes a second.
const ITEMS: u64 = 10_000;
const RATE: f64 = 0.01;

/// The key of a service. It is fixed, so that the test is repeatable. Services use `SipHashBuilder::random()`.
fn secret() -> SipHashBuilder {
    SipHashBuilder::from_key(*b"known to no one!")
}

fn filter<S: KeyHasher>(hasher: S) -> BloomFilter<S> {
    let builder = BloomFilter::builder().expected_items(ITEMS).false_positive_rate(RATE);
    builder.hasher(hasher).build().expect("sound parameters")
}

/// Returns the filter of a service after these keys were inserted.
fn filled<S: KeyHasher>(hasher: S, keys: &[u64]) -> BloomFilter<S> {
    let mut filter = filter(hasher);
    filter.extend(keys);
    filter
}

/// Returns the share of absent keys that are answered `true`, over 200,000 keys that nobody chose.
fn measured_rate<S: KeyHasher>(filter: &BloomFilter<S>) -> f64 {
    let strangers = (1 << 40..).take(200_000);
    strangers.filter(|key: &u64| filter.contains(key)).count() as f64 / 200_000.0
}

/// Positions of a key in the filter that everyone can compute.
fn positions(key: u64, filter: &BloomFilter) -> Vec<u64> {
    let mut probes = DoubleHash::new(filter.hasher().hash_key(&key));
    let next = || probes.next_position(filter.num_bits());
    repeat_with(next).take(filter.num_hashes() as usize).collect()
}

/// Returns as many keys as the filter is designed for. Each sets bits that no other key sets.
///
/// The attacker needs a copy of the parameters only. From "The Power of Evil Choices in Bloom Filters" by
/// Thomas Gerbet, Amrit Kumar and Cédric Lauradoux, DSN 2015, section 4.1.
fn polluting_keys() -> Vec<u64> {
    let public = filter(DefaultHashBuilder::default());
    let mut bits = BitArray::zeroed(public.num_bits()).expect("12 kB");
    let mut all_fresh = |key: &u64| {
        let mut positions = positions(*key, &public);
        positions.sort_unstable();
        let distinct = positions.windows(2).all(|pair| pair[0] < pair[1]);
        let fresh = distinct && positions.iter().all(|&position| !bits.get(position));
        fresh && positions.iter().all(|&position| bits.set(position))
    };
    (0..).filter(|key| all_fresh(key)).take(10_000).collect()
}

/// Chosen inserts: every one of kn bits is another one, where chance sets half of the bits.
#[test]
fn chosen_inserts_raise_the_rate_of_a_known_hash_only() {
    let keys = polluting_keys();
    let known = filled(DefaultHashBuilder::default(), &keys);
    let keyed = filled(secret(), &keys);
    let ones = ITEMS * u64::from(known.num_hashes());
    assert_eq!(known.count_ones(), ones, "no bit is set twice");

    let (of_known, of_keyed) = (measured_rate(&known), measured_rate(&keyed));
    println!("chosen inserts: {of_known:.4} with a known hash, {of_keyed:.4} with a secret key");
    // (kn/m)^k = 0.110 within five standard errors, and the promise within five, spread of filters included.
    let predicted = (ones as f64 / known.num_bits() as f64).powi(7);
    assert!((of_known - predicted).abs() < 0.0035, "{of_known}, {predicted} predicted");
    assert!((of_keyed - RATE).abs() < 0.0013, "{of_keyed}");
}

/// Chosen queries: absent keys for which a copy of the filter answers `true`.
#[test]
fn forged_keys_pass_a_known_hash_only() {
    let keys: Vec<_> = (0..ITEMS).collect();
    let known = filled(DefaultHashBuilder::default(), &keys);
    let keyed = filled(secret(), &keys);
    let forged: Vec<_> = (ITEMS..).filter(|key| known.contains(key)).take(10_000).collect();

    let passed = forged.iter().filter(|key| keyed.contains(*key)).count();
    println!("forged keys: 10000 of 10000 pass a known hash, {passed} a secret key");
    assert!(passed.abs_diff(100) < 65, "{passed}: five standard errors of 100, and of the filter");
}

/// A secret key does not help against queries whose *yes* answers are collected.
#[test]
fn probing_finds_false_positives_of_any_hash() {
    let keyed = filled(secret(), &(0..ITEMS).collect::<Vec<_>>());
    let questions = 100_000;
    let kept: Vec<_> = (ITEMS..ITEMS + questions).filter(|key| keyed.contains(key)).collect();
    println!("probing: {} false positives of {questions} questions, for ever after", kept.len());
    assert!(kept.len().abs_diff(1_000) < 250, "one in a hundred: {}", kept.len());
    assert!(kept.iter().all(|key| keyed.contains(key)));

    // After a rebuild with another key, the collected keys are worthless.
    let rebuilt = filled(SipHashBuilder::from_key([7; 16]), &(0..ITEMS).collect::<Vec<_>>());
    let again = kept.iter().filter(|key| rebuilt.contains(*key)).count();
    println!("probing: {again} of them after a rebuild with another key");
    assert!(again < 40, "{again}: five standard errors above 10");
}

/// Keys that leave a copy of a sketch unchanged: it counts many as the few that it has seen.
#[cfg(feature = "hll")]
#[test]
fn a_crowd_hides_from_a_known_hash_only() {
    use pds::HyperLogLog;

    let mut copy = HyperLogLog::new(10).expect("a precision in range");
    copy.make_dense();
    copy.extend(0..1_000_u64);
    let hidden: Vec<u64> = (1_000..).filter(|key| !copy.clone().insert(key)).take(20_000).collect();

    let mut known = copy.clone();
    known.extend(&hidden);
    let mut keyed =
        HyperLogLog::builder().precision(10).hasher(secret()).build().expect("as above");
    keyed.extend(0..1_000_u64);
    keyed.extend(&hidden);
    let (of_known, of_keyed) = (known.estimate(), keyed.estimate());
    println!("21,000 visitors: {of_known:.0} with a known hash, {of_keyed:.0} with a secret key");
    assert_eq!(of_known, copy.estimate(), "20,000 keys changed nothing");
    assert!((of_keyed / 21_000.0 - 1.0).abs() < 0.165, "{of_keyed}: five standard errors of 3.3 %");
}

/// Nine keys with one fingerprint in one pair of buckets fill a filter for ten thousand.
#[cfg(feature = "cuckoo")]
#[test]
fn nine_chosen_keys_fill_a_cuckoo_filter_of_a_known_hash_only() {
    use pds::CuckooFilter;

    let mut known = CuckooFilter::new(ITEMS, RATE).expect("sound parameters");
    known.insert(&0_u64).expect("room for the first");
    let alike: Vec<u64> = (1..).filter(|key| known.contains(key)).take(8).collect();
    let refused = alike.iter().filter(|key| known.insert(*key).is_err()).count();

    let builder = CuckooFilter::builder().expected_items(ITEMS).false_positive_rate(RATE);
    let mut keyed = builder.hasher(secret()).build().expect("sound parameters");
    keyed.insert(&0_u64).expect("room for the first");
    let taken = alike.iter().filter(|key| keyed.insert(*key).is_ok()).count();
    println!(
        "9 keys in a cuckoo filter: {refused} refused with a known hash, {} with a secret key",
        8 - taken
    );
    assert_eq!((refused, taken), (1, 8), "two buckets have eight slots");
}

/// Keys that share a counter with the victim, one for each row, make it look as busy as they are.
#[cfg(feature = "cms")]
#[test]
fn an_innocent_key_is_blamed_with_a_known_hash_only() {
    use pds::cms::{CountMinParams, CountMinSketch};

    const VICTIM: u64 = u64::MAX;
    let params = CountMinParams::new(0.01, 0.01).expect("sound parameters");
    let empty = CountMinSketch::builder().params(params).build().expect("5 kB");
    let counters = |key: u64| {
        let mut sketch = empty.clone();
        sketch.insert(&key);
        let raised = |(at, &count): (usize, &u32)| (count > 0).then_some(at);
        sketch.counters().iter().enumerate().filter_map(raised).collect::<Vec<_>>()
    };
    // For each of the victim's counters, the first key that shares it.
    let accomplice = |at| (0..).find(|&key| counters(key).contains(&at)).expect("one in 272");
    let accomplices: Vec<u64> = counters(VICTIM).into_iter().map(accomplice).collect();

    let mut known = empty.clone();
    let mut keyed =
        CountMinSketch::builder().params(params).hasher(secret()).build().expect("5 kB");
    for key in &accomplices {
        known.insert_many(key, 1_000);
        keyed.insert_many(key, 1_000);
    }
    let (of_known, of_keyed) = (known.estimate(&VICTIM).value(), keyed.estimate(&VICTIM).value());
    println!("a key that never came: {of_known} with a known hash, {of_keyed} with a secret key");
    assert!(of_known >= 1_000);
    assert_eq!(of_keyed, 0);
}
