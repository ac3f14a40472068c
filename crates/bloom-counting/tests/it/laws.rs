//! Laws that hold for every history and every shape.
#![cfg(feature = "std")]

use std::collections::HashMap;

use bloom_counting::hash::DefaultHashBuilder;
use bloom_counting::{
    Bits8, BlockedCountingBloomFilter, BloomFilter, Counter, CountingBloomFilter,
};
use pds_core::traits::{Frequency, Insert, Membership, Merge, Remove};
use quickcheck::{Arbitrary, Gen, quickcheck};

type Narrow = CountingBloomFilter;
type Wide = CountingBloomFilter<DefaultHashBuilder, Bits8>;
type Blocked = BlockedCountingBloomFilter;

/// Counters and hashes of a filter, small enough that keys meet in it and positions coincide.
#[derive(Clone, Copy, Debug)]
struct Shape {
    counters: u64,
    hashes: u32,
}

impl Arbitrary for Shape {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            counters: 1 + u64::from(u16::arbitrary(g)) % 400,
            hashes: 1 + u32::from(u8::arbitrary(g)) % 20,
        }
    }
}

/// The filters under one set of laws.
trait Filter: Insert + Remove + Membership + Frequency + Merge + Clone + PartialEq {
    /// Where its counters stick.
    const LIMIT: u64;

    fn empty(shape: Shape) -> Self;

    /// Through the bytes and back.
    fn stored(&self) -> Self;

    fn saturated(&self) -> u64;
}

impl Filter for Narrow {
    const LIMIT: u64 = 15;

    fn empty(shape: Shape) -> Self {
        let Shape { counters, hashes } = shape;
        CountingBloomFilter::builder().counters(counters).hashes(hashes).build().unwrap()
    }

    fn stored(&self) -> Self {
        Self::from_bytes(&self.to_bytes()).unwrap()
    }

    fn saturated(&self) -> u64 {
        self.saturated_counters()
    }
}

impl Filter for Wide {
    const LIMIT: u64 = 255;

    fn empty(shape: Shape) -> Self {
        let builder = CountingBloomFilter::builder().counters(shape.counters);
        builder.hashes(shape.hashes).wide_counters().build().unwrap()
    }

    fn stored(&self) -> Self {
        Self::from_bytes(&self.to_bytes()).unwrap()
    }

    fn saturated(&self) -> u64 {
        self.saturated_counters()
    }
}

impl Filter for Blocked {
    const LIMIT: u64 = 15;

    fn empty(shape: Shape) -> Self {
        Self::builder().lines(shape.counters.div_ceil(128)).build().unwrap()
    }

    fn stored(&self) -> Self {
        Self::from_bytes(&self.to_bytes()).unwrap()
    }

    fn saturated(&self) -> u64 {
        self.saturated_counters()
    }
}

fn insert<F: Filter>(filter: &mut F, key: u8) -> bool {
    filter.insert(&key).unwrap_or_else(|_| panic!("a counting filter is never full"))
}

fn filled<F: Filter>(shape: Shape, keys: &[u8]) -> F {
    let mut filter = F::empty(shape);
    for &key in keys {
        insert(&mut filter, key);
    }
    filter
}

/// One step of a history; few different keys, so that copies and removals of what is in are common.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u8),
    Remove(u8),
    Store,
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) {
            0..=140 => Self::Insert(u8::arbitrary(g) % 50),
            141..=250 => Self::Remove(u8::arbitrary(g) % 50),
            251..=255 => Self::Store,
        }
    }
}

/// Runs a history beside the multiset that it stands for.
fn no_history_loses_a_key<F: Filter>(shape: Shape, steps: &[Step]) {
    let (mut filter, mut copies) = (F::empty(shape), HashMap::<u8, u64>::new());
    for &step in steps.iter().cycle().take(4 * steps.len()) {
        match step {
            Step::Insert(key) => {
                assert_eq!(insert(&mut filter, key), filter_was_without(&filter, key));
                *copies.entry(key).or_default() += 1;
            }
            Step::Remove(key) => match copies.get_mut(&key).filter(|copies| **copies > 0) {
                Some(copies) => {
                    *copies -= 1;
                    assert!(filter.remove(&key), "a key that is in was denied");
                }
                // Of what is not in, the filter is asked only where it can tell.
                None if !filter.contains(&key) => {
                    let before = filter.clone();
                    assert!(!filter.remove(&key) && filter == before);
                }
                None => {}
            },
            Step::Store => filter = filter.stored(),
        }
        for (key, &copies) in &copies {
            assert!(filter.estimate(key) >= copies.min(F::LIMIT), "key {key} is in {copies} times");
            assert!(copies == 0 || filter.contains(key));
        }
    }
}

/// The right answer of `insert`, told from the state after it: the least counter is 1 only if it was 0.
fn filter_was_without<F: Filter>(filter: &F, key: u8) -> bool {
    filter.estimate(&key) == 1
}

/// While nothing sticks, removing what was inserted leaves nothing.
fn what_was_removed_leaves_no_trace<F: Filter>(shape: Shape, keys: &[u8]) -> bool {
    let mut filter: F = filled(shape, keys);
    let stuck = filter.saturated() > 0;
    keys.iter().all(|key| filter.remove(key)) && (stuck || filter == F::empty(shape))
}

fn merging_is_inserting_both<F: Filter>(shape: Shape, left: &[u8], right: &[u8]) -> bool {
    let mut merged: F = filled(shape, left);
    let other: F = filled(shape, right);
    let mut after_bytes = merged.stored();
    merged.merge(&other).unwrap();
    after_bytes.merge(&other).unwrap();
    let both: F = filled(shape, &[left, right].concat());
    let reversed: Vec<u8> = [left, right].concat().into_iter().rev().collect();
    merged == both && after_bytes == both && filled::<F>(shape, &reversed) == both
}

/// The counters of a filter, by the definition: each different position of a key once.
fn of_definition<C: Counter>(shape: Shape, keys: &[u8]) -> Vec<u64> {
    use core::hash::BuildHasher;
    let mut counters = vec![0; usize::try_from(shape.counters).unwrap()];
    for key in keys {
        let mut probes = bloom_core::DoubleHash::new(DefaultHashBuilder::default().hash_one(key));
        let mut positions: Vec<u64> =
            (0..shape.hashes).map(|_| probes.next_position(shape.counters)).collect();
        positions.sort_unstable();
        positions.dedup();
        for position in positions {
            let counter = &mut counters[usize::try_from(position).unwrap()];
            *counter = C::MAX.min(*counter + 1);
        }
    }
    counters
}

quickcheck! {
    fn no_history_loses_a_key_of_any(shape: Shape, steps: Vec<Step>) -> bool {
        no_history_loses_a_key::<Narrow>(shape, &steps);
        no_history_loses_a_key::<Wide>(shape, &steps);
        no_history_loses_a_key::<Blocked>(shape, &steps);
        true
    }

    fn removed_keys_leave_no_trace_in_any(shape: Shape, keys: Vec<u8>) -> bool {
        what_was_removed_leaves_no_trace::<Narrow>(shape, &keys)
            && what_was_removed_leaves_no_trace::<Wide>(shape, &keys)
            && what_was_removed_leaves_no_trace::<Blocked>(shape, &keys)
    }

    fn case_15_merging_any_after_the_bytes_is_inserting_both(shape: Shape, left: Vec<u8>, right: Vec<u8>) -> bool {
        merging_is_inserting_both::<Narrow>(shape, &left, &right)
            && merging_is_inserting_both::<Wide>(shape, &left, &right)
            && merging_is_inserting_both::<Blocked>(shape, &left, &right)
    }

    fn case_10_a_counter_is_touched_once_a_key(shape: Shape, keys: Vec<u8>) -> bool {
        let expected = of_definition::<Bits8>(shape, &keys);
        let filter: Wide = filled(shape, &keys);
        let raised = expected.iter().filter(|&&count| count > 0).count() as f64;
        let fill = raised / expected.len() as f64;
        // The payload of 8-bit counters is the counters.
        let bytes = filter.to_bytes();
        let payload = &bytes[128..];
        (filter.fill_ratio() - fill).abs() < 1e-12
            && expected.iter().zip(payload).all(|(&count, &byte)| count == u64::from(byte))
    }

    fn the_bloom_filter_answers_the_same(shape: Shape, keys: Vec<u8>, gone: Vec<u8>) -> bool {
        let mut counting: Narrow = filled(shape, &keys);
        gone.iter().filter(|key| keys.contains(key)).for_each(|key| { counting.remove(key); });
        let shipped = counting.to_bloom_filter().unwrap();
        (0..=255u8).all(|key| shipped.contains(&key) == counting.contains(&key))
            && shipped.fill_ratio() == counting.fill_ratio()
            && shipped.false_positive_rate() == counting.false_positive_rate()
            && shipped.approx_len() == counting.approx_len()
    }

    fn without_removal_it_is_the_bloom_filter(shape: Shape, keys: Vec<u8>) -> bool {
        let mut bloom = BloomFilter::builder().bits(shape.counters).hashes(shape.hashes).build().unwrap();
        bloom.extend(&keys);
        filled::<Narrow>(shape, &keys).to_bloom_filter().unwrap() == bloom
            && filled::<Wide>(shape, &keys).to_bloom_filter().unwrap() == bloom
    }

    fn case_24_a_batch_is_one_by_one(shape: Shape, stored: Vec<u64>, asked: Vec<u64>) -> bool {
        let repeat = |keys: &[u64]| -> Vec<u64> { (0..4).flat_map(|i| keys.iter().map(move |key| key ^ (i % 3))).collect() };
        let (stored, asked) = (repeat(&stored), repeat(&asked));
        let (mut single, mut batch) = (Narrow::empty(shape), Narrow::empty(shape));
        let (mut single_line, mut batch_line) = (Blocked::empty(shape), Blocked::empty(shape));
        let new = stored.iter().filter(|key| single.insert(key)).count();
        let new_in_line = stored.iter().filter(|key| single_line.insert(key)).count();
        let mut answers = [vec![true; asked.len()], vec![true; asked.len()]];
        let told = (batch.insert_batch(&stored), batch_line.insert_batch(&stored));
        batch.contains_batch(&asked, &mut answers[0]);
        batch_line.contains_batch(&asked, &mut answers[1]);
        told == (new, new_in_line) && single == batch && single_line == batch_line
            && asked.iter().map(|key| single.contains(key)).eq(answers[0].iter().copied())
            && asked.iter().map(|key| single_line.contains(key)).eq(answers[1].iter().copied())
    }
}
