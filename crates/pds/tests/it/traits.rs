//! Every structure and every view implements the traits that apply to it, and generic code works with each.
#![cfg(all(
    feature = "std",
    feature = "blocked",
    feature = "bloom",
    feature = "cms",
    feature = "counting",
    feature = "cuckoo",
    feature = "fuse",
    feature = "heavy-hitters",
    feature = "hll",
    feature = "quotient",
    feature = "scalable"
))]

use core::fmt::Debug;
use core::hash::{Hash, Hasher};

use pds::QuotientFilter;
use pds::ScalableBloomFilter;
use pds::blocked::BlockedBloomFilterView;
use pds::bloom::BloomFilterView;
use pds::cms::{CountMinSketchView, CountSketchView};
use pds::counting::{BlockedCountingBloomFilterView, CountingBloomFilterView};
use pds::cuckoo::CuckooFilterView;
use pds::hash::*;
use pds::hll::{HyperLogLogView, UltraLogLogView};
use pds::quotient::QuotientFilterView;
use pds::scalable::ScalableBloomFilterView;
use pds::traits::*;
use pds::*;

const KEYS: u64 = 200;
/// Number of keys that a merge adds twice.
const BOTH: u64 = 100;

/// A structure hashes keys of every type as its hasher does, asked by its type or as a trait object.
fn hashes_alike<F: KeyHasher>(structure: &F) {
    let hasher = DefaultHashBuilder::default();
    assert_eq!(structure.hash_key(&7u64), hasher.hash_key(&7u64));
    assert_eq!(structure.hash_key("seven"), hasher.hash_key("seven"));
    let by_object = |feed: &mut dyn FnMut(&mut dyn Hasher)| structure.hash_key_dyn(feed);
    assert_eq!(by_object(&mut |mut state| 7u64.hash(&mut state)), hasher.hash_key(&7u64));
    assert_eq!(by_object(&mut |mut state| "seven".hash(&mut state)), hasher.hash_key("seven"));
}

/// Inserts keys from `first` up. Each is reported as new, except by chance.
fn fill<F: Insert>(structure: &mut F, first: u64) {
    let object: &mut dyn Insert<Error = F::Error> = structure;
    let half =
        (first..first + KEYS / 2).filter(|key| object.insert_key(key).expect("room for all"));
    let mut new = half.count() as u64;
    let rest = first + KEYS / 2..first + KEYS;
    let rest = rest.filter(|key| structure.insert(key).expect("room for all"));
    new += rest.count() as u64;
    assert!(new > KEYS - 20, "{new} of {KEYS} were new");
}

fn answers<F: Membership>(filter: &F) {
    assert!((0..KEYS).all(|key| filter.contains(&key)));
    let hashes: Vec<u64> = (0..2 * KEYS).map(|key| filter.hash_key(&key)).collect();
    let mut batch = vec![false; hashes.len()];
    let dynamic: &dyn Membership = filter;
    dynamic.contains_hash_batch(&hashes, &mut batch);
    assert!(hashes.iter().zip(&batch).all(|(&hash, &one)| dynamic.contains_hash(hash) == one));
    assert!((0..).zip(&batch).all(|(key, &one): (u64, _)| dynamic.contains_key(&key) == one));
    hashes_alike(filter);
    let wrong = batch.iter().skip(200).filter(|&&one| one).count();
    assert!(wrong < 20, "{wrong} of 200 absent keys");
}

fn merges<F: Merge + Insert>(mut one: F, mut other: F, holds: impl Fn(&F, u64)) {
    fill(&mut one, 0);
    fill(&mut other, BOTH);
    one.merge(&other).expect("two of one shape");
    (0..BOTH + KEYS).for_each(|key| holds(&one, key));
}

fn joins<F: Merge + Insert + Membership>(one: F, other: F) {
    merges(one, other, |filter, key| assert!(filter.contains(&key), "{key}"));
}

fn forgets<F: Insert + Remove + Membership>(mut filter: F) {
    fill(&mut filter, 0);
    let object: &mut dyn Remove = &mut filter;
    assert!((0..KEYS / 2).all(|key| object.remove_key(&key)));
    assert!((KEYS / 2..KEYS).all(|key| filter.remove(&key)));
    assert!((0..KEYS).all(|key| !filter.contains(&key)));
}

fn counts<F: Frequency>(sketch: &F, times: u64) {
    let object: &dyn Frequency = sketch;
    assert!((0..KEYS).all(|key| object.estimate_hash(sketch.hash_key(&key)) >= times));
    assert!((0..KEYS).all(|key| object.estimate_key(&key) == sketch.estimate(&key)));
    hashes_alike(sketch);
    assert!(sketch.estimate(&u64::MAX) < times + 3);
}

fn numbers<F: Cardinality>(sketch: &F) {
    hashes_alike(sketch);
    let estimate = sketch.estimate();
    assert!((estimate - 200.0).abs() < 20.0, "{estimate}");
}

/// A structure that can be built, with what stands for its view.
fn filled<F: Insert>(mut empty: F) -> F {
    fill(&mut empty, 0);
    empty
}

fn sized<F, E: Debug>(new: impl Fn(u64, f64) -> Result<F, E>) -> F {
    new(400, 0.01).expect("sound parameters")
}

macro_rules! filter {
    ($filter:ident, $open:expr, $kind:ident) => {
        let new = || sized($filter::new);
        joins(new(), new());
        let filter = filled(new());
        answers(&filter);
        let bytes = filter.to_bytes();
        let view = $open(&bytes).expect("bytes just written");
        answers(&view);
        let opened = DynFilter::from_bytes(&bytes).expect("bytes just written");
        answers(&opened);
        answers(&DynFilterView::open(&bytes).expect("bytes just written"));
        assert_eq!(opened.kind(), pds::bytes::Kind::$kind);
    };
}

#[test]
fn membership() {
    filter!(BloomFilter, BloomFilterView::open, BLOOM);
    filter!(BlockedBloomFilter, BlockedBloomFilterView::open, BLOCKED_BLOOM);
    filter!(CountingBloomFilter, <CountingBloomFilterView<_>>::open, COUNTING_BLOOM);
    filter!(
        BlockedCountingBloomFilter,
        BlockedCountingBloomFilterView::open,
        BLOCKED_COUNTING_BLOOM
    );
    filter!(CuckooFilter, CuckooFilterView::open, CUCKOO);
    filter!(QuotientFilter, QuotientFilterView::open, QUOTIENT);
    filter!(ScalableBloomFilter, ScalableBloomFilterView::open, SCALABLE_BLOOM);
    joins(AtomicBloomFilter::from(sized(BloomFilter::new)), sized(BloomFilter::new).into());
    let shared = || AtomicBlockedBloomFilter::from(sized(BlockedBloomFilter::new));
    joins(shared(), shared());
    answers(&filled(AtomicBloomFilter::from(sized(BloomFilter::new))));
    answers(&filled(shared()));
}

#[test]
fn removal() {
    forgets(sized(CountingBloomFilter::new));
    forgets(sized(BlockedCountingBloomFilter::new));
    forgets(sized(CuckooFilter::new));
    forgets(sized(QuotientFilter::new));
}

#[test]
fn frequency() {
    let plain = || CountMinSketch::new(0.001, 0.001).expect("sound parameters");
    merges(plain(), plain(), |sketch, key| {
        let shared = (BOTH..KEYS).contains(&key);
        assert!(Frequency::estimate(sketch, &key) > u64::from(shared), "{key}");
    });
    let sketch = filled(plain());
    counts(&sketch, 1);
    let bytes = sketch.to_bytes();
    let view: CountMinSketchView<_> = CountMinSketchView::open(&bytes).expect("bytes just written");
    counts(&view, 1);
    counts(&filled(AtomicCountMinSketch::try_from(plain()).expect("plain update")), 1);
    counts(&filled(sized(CountingBloomFilter::new)), 1);
    counts(&filled(sized(BlockedCountingBloomFilter::new)), 1);
    let mut signed = CountSketch::new(0.01, 0.001).expect("sound parameters");
    (0..KEYS).for_each(|key| {
        signed.insert_many(&key, 50);
    });
    assert!((0..KEYS).all(|key| Frequency::estimate(&signed, &key).abs_diff(50) < 10));
    let bytes = signed.to_bytes();
    let view = CountSketchView::open(&bytes).expect("bytes just written");
    assert!((0..KEYS).all(|key| view.estimate(&key) == signed.estimate(&key)));
    let other = signed.clone();
    Merge::merge(&mut signed, &other).expect("two of one shape");
    assert!((0..KEYS).all(|key| Frequency::estimate(&signed, &key).abs_diff(100) < 20));
}

#[test]
fn cardinality() {
    let merged = |sketch: &HyperLogLog, _| assert!(sketch.estimate() > 250.0);
    merges(HyperLogLog::new(12).unwrap(), HyperLogLog::new(12).unwrap(), merged);
    merges(UltraLogLog::new(12).unwrap(), UltraLogLog::new(12).unwrap(), |sketch, _| {
        assert!(sketch.estimate() > 250.0);
    });
    let sketch = filled(HyperLogLog::new(12).unwrap());
    numbers(&sketch);
    numbers(&HyperLogLogView::open(&sketch.to_bytes()).expect("bytes just written"));
    let sketch = filled(UltraLogLog::new(12).unwrap());
    numbers(&sketch);
    numbers(&UltraLogLogView::open(&sketch.to_bytes()).expect("bytes just written"));
    numbers(&filled(AtomicHyperLogLog::from(HyperLogLog::new(12).unwrap())));
}
