//! Laws that hold for every history and every shape.
#![cfg(feature = "std")]

use std::collections::HashMap;

use cuckoo::error::InsertError;
use cuckoo::{CuckooFilter, CuckooFilterView};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// Buckets and width of a filter, small enough that keys meet in it and that it is full soon.
#[derive(Clone, Copy, Debug)]
struct Shape {
    buckets: u64,
    bits: u32,
}

impl Arbitrary for Shape {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            buckets: 1 + u64::from(u8::arbitrary(g)) % 40,
            bits: 4 + u32::from(u8::arbitrary(g)) % 29,
        }
    }
}

fn empty(shape: Shape) -> CuckooFilter {
    CuckooFilter::builder().buckets(shape.buckets).fingerprint_bits(shape.bits).build().unwrap()
}

/// Inserts the keys that fit. Returns them with the filter.
fn filled(shape: Shape, keys: &[u8]) -> (CuckooFilter, Vec<u8>) {
    let mut filter = empty(shape);
    let fit = keys.iter().copied().filter(|key| filter.insert(key).is_ok()).collect();
    (filter, fit)
}

/// One step of a history; few different keys, so that copies and removals of what is in are common.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u8),
    Remove(u8),
    /// Through the bytes and back.
    Store,
    Clear,
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) {
            0..=150 => Self::Insert(u8::arbitrary(g)),
            151..=245 => Self::Remove(u8::arbitrary(g)),
            246..=254 => Self::Store,
            255 => Self::Clear,
        }
    }
}

/// A filter beside the multiset that it stands for.
struct Model {
    filter: CuckooFilter,
    copies: HashMap<u8, u32>,
}

impl Model {
    fn new(shape: Shape) -> Self {
        Self { filter: empty(shape), copies: HashMap::new() }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Insert(key) => self.insert(key),
            Step::Remove(key) => self.remove(key),
            Step::Store => self.filter = CuckooFilter::from_bytes(&self.filter.to_bytes()).unwrap(),
            Step::Clear => {
                self.filter.clear();
                self.copies.clear();
            }
        }
        self.check();
    }

    fn insert(&mut self, key: u8) {
        let before = self.filter.clone();
        match self.filter.insert(&key) {
            Ok(()) => *self.copies.entry(key).or_default() += 1,
            Err(full) => {
                assert!(self.filter == before, "a failed insert changed the filter");
                let len = before.len();
                assert_eq!(full, InsertError::Full { len, capacity: before.num_slots() });
            }
        }
    }

    /// Removes what is in; of what is not, the filter may be asked only where it can tell.
    fn remove(&mut self, key: u8) {
        match self.copies.get_mut(&key).filter(|copies| **copies > 0) {
            Some(copies) => {
                *copies -= 1;
                assert!(self.filter.remove(&key));
            }
            None => assert!(self.filter.contains(&key) || !self.filter.remove(&key)),
        }
    }

    fn check(&self) {
        assert_eq!(self.filter.len(), self.copies.values().copied().map(u64::from).sum::<u64>());
        for (key, &copies) in &self.copies {
            assert!(self.filter.count(key) >= copies, "key {key} is in {copies} times");
            assert!(copies == 0 || self.filter.contains(key));
        }
    }
}

quickcheck! {
    fn no_history_loses_a_key(shape: Shape, steps: Vec<Step>) -> bool {
        let mut model = Model::new(shape);
        // Long enough to fill, empty and fill again.
        (0..4).for_each(|_| steps.iter().for_each(|&step| model.step(step)));
        true
    }

    fn what_was_removed_leaves_no_trace(shape: Shape, keys: Vec<u8>) -> bool {
        let (mut filter, fit) = filled(shape, &keys);
        fit.iter().all(|key| filter.remove(key)) && filter == empty(shape)
    }

    fn equal_histories_give_equal_bytes(shape: Shape, keys: Vec<u8>) -> bool {
        filled(shape, &keys).0.to_bytes() == filled(shape, &keys).0.to_bytes()
    }

    fn case_24_a_batch_is_one_by_one(shape: Shape, stored: Vec<u8>, asked: Vec<u64>) -> bool {
        let asked: Vec<u64> = (0..5).flat_map(|i| asked.iter().map(move |key| key ^ i)).collect();
        let (single, fit) = filled(shape, &stored);
        let mut batch = empty(shape);
        batch.insert_batch(&fit).unwrap();
        let (mut of_keys, mut of_hashes) = (vec![true; asked.len()], vec![true; asked.len()]);
        batch.contains_batch(&asked, &mut of_keys);
        batch.contains_hash_batch(&asked, &mut of_hashes);
        single == batch
            && asked.iter().map(|key| single.contains(key)).eq(of_keys)
            && asked.iter().map(|&hash| single.contains_hash(hash)).eq(of_hashes)
    }

    fn a_merge_holds_both_or_nothing_changes(shape: Shape, left: Vec<u8>, right: Vec<u8>) -> bool {
        let ((mut merged, left), (other, right)) = (filled(shape, &left), filled(shape, &right));
        let before = merged.clone();
        match merged.merge(&other) {
            Ok(()) => left.iter().chain(&right).all(|key| merged.remove(key)) && merged.is_empty(),
            Err(_) => merged == before,
        }
    }

    fn case_15_merging_after_the_bytes_is_merging(shape: Shape, left: Vec<u8>, right: Vec<u8>) -> bool {
        let (left, right) = (filled(shape, &left).0, filled(shape, &right).0);
        let (mut direct, mut stored) = (left.clone(), CuckooFilter::from_bytes(&left.to_bytes()).unwrap());
        direct.merge(&right) == stored.merge(&right)
            && direct.to_bytes() == stored.to_bytes()
    }

    fn case_21_a_view_answers_as_its_filter(shape: Shape, stored: Vec<u8>, asked: Vec<u16>) -> bool {
        let filter = filled(shape, &stored).0;
        // At an odd address.
        let mut bytes = vec![0];
        bytes.extend(filter.to_bytes());
        let view = CuckooFilterView::open(&bytes[1..]).unwrap();
        let mut answers = vec![true; asked.len()];
        view.contains_batch(&asked, &mut answers);
        view.verify().is_ok()
            && view.to_filter().unwrap() == filter
            && view.fingerprints().eq(filter.fingerprints())
            && (view.len(), view.capacity()) == (filter.len(), filter.capacity())
            && asked.iter().map(|key| filter.contains(key)).eq(answers.iter().copied())
            && asked.iter().map(|key| view.contains(key)).eq(answers.iter().copied())
            && asked.iter().all(|key| view.count(key) == filter.count(key))
    }
}
