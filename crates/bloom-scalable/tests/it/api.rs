//! Behaviour and edges.

use bloom_blocked::BlockedBloomFilter;
use bloom_core::BloomFilter;
use bloom_scalable::error::{BuildError, InsertError, MergeError};
use bloom_scalable::hash::{KeyHasher, SipHashBuilder};
use bloom_scalable::{
    HealthStatus, LayeredBloomFilter, LayeredParams, ScalableBlockedBloomFilter,
    ScalableBloomFilter, Schedule, Sighting,
};
use pds_core::traits::{DynInsert, Frequency, Membership, Merge};

fn small(items: u64) -> ScalableBloomFilter {
    ScalableBloomFilter::new(items, 0.01).unwrap()
}

#[test]
fn an_empty_filter_contains_nothing() {
    let filter = small(1);
    assert!((0..1_000_u32).all(|key| !filter.contains(&key)));
    assert_eq!((filter.num_layers(), filter.capacity(), filter.room()), (1, 1, 1));
    assert_eq!((filter.false_positive_rate(), filter.approx_len().value), (0.0, 0.0));
    assert_eq!(filter.health().status, HealthStatus::Ok);
    assert_eq!(filter.promised_rate(), 0.01);
}

#[test]
fn a_layer_is_opened_by_the_first_new_key_beyond_the_capacity() {
    let mut filter = ScalableBloomFilter::new(10, 1e-9).unwrap();
    for key in 0..10_u32 {
        assert_eq!(filter.insert(&key), Ok(true));
    }
    assert_eq!((filter.num_layers(), filter.room()), (1, 0));
    // A key that is there opens nothing.
    let before = filter.clone();
    assert_eq!(filter.insert(&3_u32), Ok(false));
    assert_eq!(filter.insert_batch(&[0_u32, 9, 5]), Ok(0));
    assert!(filter == before);
    assert_eq!(filter.insert(&10_u32), Ok(true));
    assert_eq!((filter.num_layers(), filter.room(), filter.capacity()), (2, 19, 30));
    assert!((0..=10_u32).all(|key| filter.contains(&key)));
}

#[test]
fn no_key_is_counted_twice() {
    let mut filter = ScalableBloomFilter::new(100, 1e-6).unwrap();
    for _ in 0..3 {
        for key in 0..5_000_u32 {
            filter.insert(&key).unwrap();
        }
    }
    // 100 + 200 + ... + 3,200 hold 6,300, and 1,300 of the last ones are free.
    assert_eq!((filter.num_layers(), filter.room()), (6, 1_300));
    let items = filter.approx_len();
    assert!((items.value - 5_000.0).abs() < 5.0 * items.standard_error, "{items:?}");
    assert!(items.standard_error < 100.0);
}

#[test]
fn numbers_out_of_range_are_named() {
    let fault = |result: Result<ScalableBloomFilter, BuildError>| match result.unwrap_err() {
        BuildError::Param(error) => error.parameter(),
        error => panic!("{error}"),
    };
    let builder = ScalableBloomFilter::builder;
    assert_eq!(fault(builder().build()), "expected_items");
    assert_eq!(fault(small_of(0, 0.01)), "expected_items");
    for rate in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(fault(small_of(10, rate)), "false_positive_rate");
    }
    assert_eq!(fault(builder().expected_items(1).growth(0).build()), "growth");
    assert_eq!(fault(builder().expected_items(1).growth(40_000).build()), "growth");
    assert_eq!(fault(builder().expected_items(9).likely_items(8).build()), "likely_items");
    assert_eq!(fault(builder().expected_items(9).schedule(Schedule::Ratio(1.5)).build()), "ratio");
    assert_eq!(fault(small_of(2_767_000_000_000_000_000, 0.9073)), "bits");
    // 64-bit hashes collide more often than that.
    assert_eq!(fault(small_of(1_000, 1e-17)), "false_positive_rate");
}

fn small_of(items: u64, rate: f64) -> Result<ScalableBloomFilter, BuildError> {
    ScalableBloomFilter::new(items, rate)
}

#[test]
fn what_cannot_grow_refuses_new_keys_and_stays_as_it_is() {
    // The second layer would have a rate below that of colliding hashes.
    let mut filter = ScalableBloomFilter::builder()
        .expected_items(20)
        .schedule(Schedule::Ratio(1e-17))
        .build()
        .unwrap();
    let mut new = 0;
    let refused = (0..100_u32).find_map(|key| match filter.insert(&key) {
        Ok(is_new) => {
            new += u64::from(is_new);
            None
        }
        Err(error) => Some((key, error)),
    });
    let (key, error) = refused.unwrap();
    assert_eq!((new, error), (20, InsertError::Full { len: 20, capacity: 20 }));
    let before = filter.to_bytes();
    assert!(filter.insert(&key).is_err() && filter.insert_batch(&[0, key]).is_err());
    assert!(filter.try_insert_hash(77).is_err());
    assert_eq!(filter.to_bytes(), before);
    assert_eq!(filter.insert(&0_u32), Ok(false), "a key that is there");
    assert!(filter.next_layer().is_ok(), "the schedule has one, but hashes have not");
}

#[test]
fn refused_memory_is_an_error() {
    let huge = ScalableBloomFilter::new(1 << 50, 0.9);
    assert!(matches!(huge, Err(BuildError::Alloc(_))), "{huge:?}");
    let huge = ScalableBloomFilter::builder().expected_items(1 << 50).build_blocked();
    assert!(matches!(huge, Err(BuildError::Alloc(_))), "{huge:?}");
    let huge = LayeredBloomFilter::new(&[1 << 50, 1], 0.5);
    assert!(matches!(huge, Err(BuildError::Alloc(_))), "{huge:?}");
}

#[test]
fn a_merge_places_the_layers_side_by_side_and_tells_the_rate() {
    let (mut left, mut right) = (small(50), small(20));
    for key in 0..200_u32 {
        left.insert(&key).unwrap();
        right.insert(&(key + 150)).unwrap();
    }
    let (own, other) = (left.num_layers(), right.num_layers());
    let expected = 1.0
        - right
            .layers()
            .iter()
            .fold(0.99, |rest, layer| rest * (1.0 - layer.promised_rate().unwrap()));
    let rate = left.merge(&right).unwrap();
    assert_eq!(left.num_layers(), own + other);
    assert!((rate - expected).abs() < 1e-12 && rate == left.promised_rate(), "{rate}");
    assert!((0..350_u32).all(|key| left.contains(&key)));
    assert_eq!(left.health().status, HealthStatus::Ok);
    // It knows the keys of the other. Its third layer mixed hashes as the third one of the other does, so new keys go into a fourth.
    assert_eq!((left.insert(&340_u32), left.room()), (Ok(false), 0));
    assert_eq!(left.insert(&350_u32), Ok(true));
    assert_eq!((left.num_layers(), left.room()), (own + other + 1, 399));
    (351..1_000_u32).for_each(|key| _ = left.insert(&key));
    assert_eq!(left.num_layers(), own + other + 2);
    assert_eq!(left.promised_rate(), rate, "growing does not raise it");
    assert!(left.false_positive_rate() <= rate * 1.1);
    left.clear();
    assert_eq!((left.num_layers(), left.promised_rate(), left.room()), (1, 0.01, 50));
    assert!(left == small(50));
}

#[test]
fn merging_with_itself_or_an_empty_one_or_again_changes_nothing() {
    let mut filter = small(10);
    (0..100_u32).for_each(|key| _ = filter.insert(&key));
    let before = filter.clone();
    assert_eq!(filter.merge(&before), Ok(0.01));
    assert!(filter == before);
    assert_eq!(filter.merge(&small(77)), Ok(0.01));
    assert!(filter == before);

    let mut other = small(30);
    other.insert(&1_000_u32).unwrap();
    let rate = filter.merge(&other).unwrap();
    let once = filter.clone();
    assert_eq!(filter.merge(&other), Ok(rate));
    assert!(filter == once && once != before);
    // Of itself, after the merge.
    assert_eq!(filter.merge(&once), Ok(rate));
    assert!(filter == once);

    let mut empty = small(10);
    empty.merge(&before).unwrap();
    assert_eq!(empty.num_layers(), before.num_layers() + 1);
    assert!((0..100_u32).all(|key| empty.contains(&key)));
    // Layers of a merged filter take no keys.
    let mut small_and_large = small(10);
    let mut large = small(1_000);
    large.insert(&1_u32).unwrap();
    small_and_large.merge(&large).unwrap();
    assert_eq!((small_and_large.capacity(), small_and_large.room()), (10, 10));
    assert_eq!(small_and_large.health().status, HealthStatus::Ok);
    // A merge into an empty filter closes nothing, nor does one of a filter with fewer layers.
    assert_eq!(empty.room(), 10);
    let room = filter.room();
    let mut few = small(9);
    few.insert(&2_000_u32).unwrap();
    filter.merge(&few).unwrap();
    assert_eq!((filter.room(), room > 0), (room, true));
    let mut both_empty = small(10);
    assert_eq!(Merge::merge(&mut both_empty, &small(10)), Ok(()));
    assert!(both_empty == small(10));
}

#[test]
fn a_merge_with_another_hasher_is_refused_and_changes_nothing() {
    let mut filter = small(10);
    filter.insert("key").unwrap();
    let before = filter.clone();
    let mut other = ScalableBloomFilter::builder().expected_items(10).seed(1).build().unwrap();
    other.insert("key").unwrap();
    assert!(matches!(filter.merge(&other), Err(MergeError::Incompatible(_))));
    assert!(filter == before && filter != other);
}

#[test]
fn batches_are_single_inserts() {
    let mut single = small(30);
    let mut batch = small(30);
    let keys: Vec<u32> = (0..3_000).map(|i| i * 7_919 % 1_000).collect();
    let mut start = 0;
    for len in [0, 1, 29, 30, 31, 127, 128, 129, 500, 2_025] {
        let keys = &keys[start..start + len];
        let new = keys.iter().filter(|key| single.insert(key).unwrap()).count();
        assert_eq!(batch.insert_batch(keys), Ok(new), "{len}");
        assert!(batch == single, "{len}");
        start += len;
    }
    assert_eq!(start, keys.len());
    let mut answers = vec![true; 2_000];
    let asked: Vec<u32> = (0..2_000).collect();
    single.contains_batch(&asked, &mut answers);
    assert!(asked.iter().zip(answers).all(|(key, answer)| answer == single.contains(key)));
    let hashes: Vec<u64> = asked.iter().map(|key| single.hash_key(key)).collect();
    let mut of_hashes = vec![false; 2_000];
    Membership::contains_hash_batch(&single, &hashes, &mut of_hashes);
    assert!(
        hashes.iter().zip(of_hashes).all(|(&hash, answer)| answer == single.contains_hash(hash))
    );
    let mut by_hash = small(30);
    by_hash
        .insert_hash_batch(&keys.iter().map(|key| single.hash_key(key)).collect::<Vec<_>>())
        .unwrap();
    assert!(by_hash == single);
}

#[test]
#[should_panic(expected = "one answer per key: 1 keys, but 2 answers")]
fn a_batch_of_another_length_panics() {
    small(1).contains_batch(&[1], &mut [false; 2]);
}

#[test]
fn layers_are_blocked_on_request_and_a_schedule_is_kept() {
    let mut filter: ScalableBlockedBloomFilter = ScalableBloomFilter::builder()
        .expected_items(64)
        .growth(4)
        .schedule(Schedule::Halving)
        .build_blocked()
        .unwrap();
    (0..5_000_u32).for_each(|key| _ = filter.insert(&key));
    let rates: Vec<_> =
        filter.layers().iter().map(|layer| layer.promised_rate().unwrap()).collect();
    assert_eq!(rates, [0.005, 0.0025, 0.00125, 0.000_625]);
    assert!((0..5_000_u32).all(|key| filter.contains(&key)));
    let mut keyed = ScalableBloomFilter::builder()
        .expected_items(5)
        .hasher(SipHashBuilder::random())
        .build_blocked()
        .unwrap();
    (0..100_u8).for_each(|key| _ = keyed.insert(&key));
    assert!((0..100_u8).all(|key| keyed.contains(&key)) && keyed.num_layers() == 5);
}

#[test]
fn growth_at_its_limits() {
    let mut even = ScalableBloomFilter::builder().expected_items(10).growth(1).build().unwrap();
    (0..300_u32).for_each(|key| _ = even.insert(&key));
    assert_eq!(even.capacity(), 10 * even.num_layers() as u64);
    assert!((0..300_u32).all(|key| even.contains(&key)) && even.num_layers() >= 29);
    // Until the rate of a layer would be below that of colliding hashes.
    let mut even = ScalableBloomFilter::builder().expected_items(10).growth(1).build().unwrap();
    let refused = (0..u32::MAX).find_map(|key| even.insert(&key).err());
    assert_eq!(refused, Some(InsertError::Full { len: 2_190, capacity: 2_190 }));
    assert_eq!(even.num_layers(), 219);
    let mut steep =
        ScalableBloomFilter::builder().expected_items(1).growth(32_768).build().unwrap();
    (0..300_u32).for_each(|key| _ = steep.insert(&key));
    assert_eq!((steep.num_layers(), steep.capacity()), (2, 32_769));
    // Rates near 0 and 1.
    for rate in [1e-12, 1.0 - 1e-12] {
        let mut filter = ScalableBloomFilter::new(8, rate).unwrap();
        (0..200_u32).for_each(|key| _ = filter.insert(&key));
        assert!((0..200_u32).all(|key| filter.contains(&key)), "{rate}");
        assert!(filter.false_positive_rate() <= 1.0 && filter.promised_rate() == rate);
    }
}

#[test]
fn counts_go_up_to_the_number_of_layers() {
    let mut filter = LayeredBloomFilter::new(&[1_000, 100, 10], 1e-6).unwrap();
    assert_eq!((filter.count("key"), filter.num_layers()), (0, 3));
    assert_eq!([1, 2, 3, 4].map(|_| filter.insert("key")), [1, 2, 3, 3]);
    assert_eq!((filter.count("key"), filter.estimate_hash(filter.hash_key("key"))), (3, 3));
    assert_eq!(filter.sight("other"), Sighting::New);
    assert_eq!((filter.sight("other"), filter.sight("other")), (Sighting::Second, Sighting::More));
    assert_eq!(filter.sight("other"), Sighting::More);
    let copy = filter.try_clone().unwrap();
    filter.insert_batch(&["key", "third"]);
    assert!(copy != filter && filter.count("third") == 1);
    filter.clear();
    assert!(filter == LayeredBloomFilter::new(&[1_000, 100, 10], 1e-6).unwrap());
    assert_eq!(
        (filter.rate_above(0), filter.rate_above(3), filter.rate_above(u32::MAX)),
        (0.0, 0.0, 0.0)
    );
    filter.extend(["a", "b"]);
    assert!(filter.rate_above(0) > 0.0 && filter.rate_above(2) < 1e-6);
}

#[test]
fn layers_that_cannot_be_are_named() {
    let fault = |keys: &[u64], rate| match LayeredBloomFilter::new(keys, rate) {
        Err(BuildError::Param(error)) => error.parameter(),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(&[5], 0.1), "layers");
    assert_eq!(fault(&[5; 17], 0.1), "layers");
    assert_eq!(fault(&[5, 0], 0.1), "keys");
    assert_eq!(fault(&[5, 6], 0.1), "keys");
    assert_eq!(fault(&[5, 5], 0.0), "false_positive_rate");
    assert_eq!(fault(&[5, 5], 1e-19), "false_positive_rate");
    let params = LayeredParams::new(&[100, 10], 0.01).unwrap();
    let hasher = SipHashBuilder::random();
    let mut blocked =
        LayeredBloomFilter::<BlockedBloomFilter<_>>::from_params(params, hasher).unwrap();
    assert_eq!((blocked.insert(&1), blocked.insert(&1), blocked.count(&2)), (1, 2, 0));
}

#[test]
fn they_are_send_and_sync_and_say_what_they_are() {
    fn shared<T: Send + Sync>() {}
    shared::<ScalableBloomFilter>();
    shared::<LayeredBloomFilter>();
    shared::<bloom_scalable::ScalableBloomFilterView<Vec<u8>>>();
    let text = format!("{:?} {:?}", small(9), LayeredBloomFilter::new(&[2, 1], 0.1).unwrap());
    assert!(text.contains("ScalableBloomFilter { num_layers: 1, room: 9"), "{text}");
    assert!(text.contains("LayeredBloomFilter { num_layers: 2"), "{text}");
    let standard: &[BloomFilter] = small(9).layers().to_owned().leak();
    assert_eq!(standard.len(), 1);
}

/// Inserts the first `keys[c - 1]` keys at least c times each.
fn sight_all(filter: &mut LayeredBloomFilter, keys: &[u32]) {
    keys.iter().for_each(|&keys| (0..keys).for_each(|key| _ = filter.insert(&key)));
}

#[test]
fn a_layered_filter_is_healthy_up_to_its_design() {
    let design = [20_000, 2_000, 500];
    let empty = LayeredBloomFilter::new(&design, 0.01).unwrap();
    let health = |keys: &[u32]| {
        let mut filter = empty.clone();
        sight_all(&mut filter, keys);
        let health = filter.health();
        assert_eq!((health.expected_items, health.promised_rate), (Some(20_000), Some(0.01)));
        assert_eq!(health.false_positive_rate, filter.rate_above(2));
        assert!((health.items.value / f64::from(keys[0].max(1)) - 1.0).abs() < 0.02 || keys == [0]);
        health.status
    };
    assert_eq!(health(&[0]), HealthStatus::Ok);
    assert_eq!(health(&[20_000, 2_000, 500]), HealthStatus::Ok);
    // More distinct keys, and as many that come more often: either breaks the promise.
    assert_eq!(health(&[26_000, 2_000, 500]), HealthStatus::Warning);
    assert_eq!(health(&[20_000, 4_000, 500]), HealthStatus::Warning);
    assert_eq!(health(&[20_000, 2_000, 900]), HealthStatus::Warning);
    assert_eq!(health(&[60_000, 2_000, 500]), HealthStatus::Critical);
    let blocked = LayeredBloomFilter::<BlockedBloomFilter>::from_params(
        LayeredParams::new(&[100, 10], 0.01).unwrap(),
        Default::default(),
    );
    assert_eq!(blocked.unwrap().health().status, HealthStatus::Ok);
}
