//! Laws that hold for every history and every shape.

use std::collections::HashMap;

use pds_core::hash::finalize;
use quickcheck::{Arbitrary, Gen, quickcheck};
use quotient::error::{InsertError, MergeError};
use quotient::{QuotientFilter, QuotientFilterView};

use crate::shaped;

/// Slots and width of a filter, small enough that keys meet in it and that it is full soon.
#[derive(Clone, Copy, Debug)]
struct Shape {
    slots: u64,
    bits: u32,
}

impl Arbitrary for Shape {
    fn arbitrary(g: &mut Gen) -> Self {
        let slots = match u8::arbitrary(g) % 4 {
            0 => 2 + u64::from(u8::arbitrary(g)) % 9,
            1 => 60 + u64::from(u8::arbitrary(g)) % 12,
            // Not 256: with 56 bits that would be more fingerprints than hashes.
            _ => u64::from(u8::arbitrary(g)).max(2),
        };
        Self { slots, bits: 1 + u32::from(u8::arbitrary(g)) % 56 }
    }
}

impl Shape {
    fn empty(self) -> QuotientFilter {
        shaped(self.slots, self.bits)
    }

    /// Returns a filter of the keys that fit, and these keys.
    fn filled(self, keys: &[u8]) -> (QuotientFilter, Vec<u8>) {
        let mut filter = self.empty();
        let fit = keys.iter().copied().filter(|key| filter.insert(key).is_ok()).collect();
        (filter, fit)
    }

    /// Returns a filter of the keys, which must fit.
    fn of(self, keys: &[u8]) -> QuotientFilter {
        let mut filter = self.empty();
        filter.insert_batch(keys).unwrap();
        filter
    }

    fn doubled(self) -> Self {
        Self { slots: 2 * self.slots, bits: self.bits - 1 }
    }
}

/// One step of a history; few different keys, so that copies and removals of what is in are common.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u8),
    Remove(u8),
    /// Through the bytes and back.
    Store,
    Grow,
    Shrink,
    Clear,
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) {
            0..=150 => Self::Insert(u8::arbitrary(g)),
            151..=235 => Self::Remove(u8::arbitrary(g)),
            236..=244 => Self::Store,
            245..=249 => Self::Grow,
            250..=254 => Self::Shrink,
            255 => Self::Clear,
        }
    }
}

/// A filter beside the multiset that it stands for.
struct Model {
    filter: QuotientFilter,
    copies: HashMap<u8, u64>,
}

impl Model {
    fn step(&mut self, step: Step) {
        match step {
            Step::Insert(key) => self.insert(key),
            Step::Remove(key) => self.remove(key),
            Step::Store => {
                self.filter = QuotientFilter::from_bytes(&self.filter.to_bytes()).unwrap()
            }
            // Past some megabytes nothing more is learned.
            Step::Grow if self.filter.num_slots() > 10_000 => {}
            Step::Grow => {
                let has_bits = self.filter.remainder_bits() > 1;
                assert_eq!(self.filter.grow().is_ok(), has_bits);
            }
            Step::Shrink => self.filter.shrink_to_fit().unwrap(),
            Step::Clear => {
                self.filter.clear();
                self.copies.clear();
            }
        }
        self.check();
    }

    fn insert(&mut self, key: u8) {
        let (before, can_grow) = (self.filter.clone(), self.filter.params().doublings() > 0);
        match self.filter.insert(&key) {
            Ok(()) => *self.copies.entry(key).or_default() += 1,
            Err(full) => {
                assert!(self.filter == before, "a failed insert changed the filter");
                let len = before.len();
                assert_eq!(full, InsertError::Full { len, capacity: len });
                assert!(!can_grow && len == before.capacity());
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
        assert_eq!(self.filter.len(), self.copies.values().sum::<u64>());
        for (key, &copies) in &self.copies {
            assert!(self.filter.count(key) >= copies, "key {key} is in {copies} times");
            assert!(copies == 0 || self.filter.contains(key));
        }
        let mut built = shaped(self.filter.num_slots(), self.filter.remainder_bits());
        for (key, &copies) in &self.copies {
            (0..copies).for_each(|_| built.insert(key).unwrap());
        }
        assert_eq!(self.filter, built, "a filter is what is in it, however it came to be");
    }
}

quickcheck! {
    fn no_history_loses_a_key(shape: Shape, steps: Vec<Step>) -> bool {
        let mut model = Model { filter: shape.empty(), copies: HashMap::new() };
        // Long enough to fill, empty and fill again.
        (0..2).for_each(|_| steps.iter().for_each(|&step| model.step(step)));
        true
    }

    fn what_was_removed_leaves_no_trace(shape: Shape, keys: Vec<u8>) -> bool {
        let (mut filter, fit) = shape.filled(&keys);
        fit.iter().all(|key| filter.remove(key)) && filter.to_bytes() == shape.empty().to_bytes()
    }

    fn the_order_of_inserts_leaves_no_trace(shape: Shape, keys: Vec<u8>, turn: usize) -> bool {
        let (filter, mut fit) = shape.filled(&keys);
        let turn = turn % fit.len().max(1);
        fit.rotate_left(turn);
        let turned = shape.of(&fit).to_bytes();
        fit.sort_unstable();
        filter.to_bytes() == turned && turned == shape.of(&fit).to_bytes()
    }

    fn a_filter_that_has_grown_is_one_built_at_its_size(shape: Shape, keys: Vec<u8>) -> bool {
        let (before, fit) = shape.filled(&keys);
        let mut grown = before.clone();
        if shape.bits == 1 {
            return grown.grow().is_err() && grown.to_bytes() == before.to_bytes();
        }
        grown.grow().unwrap();
        let is_built = grown.to_bytes() == shape.doubled().of(&fit).to_bytes();
        grown.shrink_to_fit().unwrap();
        is_built && grown.num_slots() <= before.num_slots() && grown.fingerprints().count() == fit.len()
    }

    fn shrinking_undoes_growth(shape: Shape, keys: Vec<u8>, times: u8) -> bool {
        // An odd number of slots is not halved.
        let shape = Shape { slots: shape.slots | 1, ..shape };
        let (before, _) = shape.filled(&keys);
        let mut grown = before.clone();
        let possible = (0..times % 7).filter(|_| grown.grow().is_ok()).count();
        grown.shrink_to_fit().unwrap();
        grown.to_bytes() == before.to_bytes() && possible == usize::from(times % 7).min(shape.bits as usize - 1)
    }

    fn case_24_a_batch_is_one_by_one(shape: Shape, stored: Vec<u8>, asked: Vec<u64>) -> bool {
        let asked: Vec<u64> = (0..5).flat_map(|i| asked.iter().map(move |key| key ^ i)).collect();
        let (single, fit) = shape.filled(&stored);
        let mut batch = shape.of(&fit);
        let (mut of_keys, mut of_hashes) = (vec![true; asked.len()], vec![true; asked.len()]);
        batch.contains_batch(&asked, &mut of_keys);
        batch.contains_hash_batch(&asked, &mut of_hashes);
        single == batch
            && asked.iter().map(|key| single.contains(key)).eq(of_keys)
            && asked.iter().map(|&hash| single.contains_hash(hash)).eq(of_hashes)
            && batch.remove_batch(&fit) == fit.len()
            && batch == shape.empty()
    }

    fn a_merge_is_all_inserts_or_nothing_changes(shape: Shape, left: Vec<u8>, right: Vec<u8>) -> bool {
        let ((mut merged, left), (other, right)) = (shape.filled(&left), shape.filled(&right));
        let (before, capacity) = (merged.clone(), merged.capacity());
        let both = [left, right].concat();
        match merged.merge(&other) {
            Ok(()) => merged.to_bytes() == shape.of(&both).to_bytes(),
            Err(MergeError::Insert(InsertError::Full { .. })) => {
                both.len() as u64 > capacity && merged.to_bytes() == before.to_bytes()
            }
            Err(_) => false,
        }
    }

    fn a_merge_of_two_sizes_has_the_greater_one(shape: Shape, left: Vec<u8>, right: Vec<u8>, times: u32) -> bool {
        let times = times % shape.bits.min(5);
        let larger = (0..times).fold(shape, |shape, _| shape.doubled());
        let (small, small_keys) = shape.filled(&left);
        let (large, large_keys) = larger.filled(&right);
        let both = [small_keys, large_keys].concat();
        if both.len() as u64 > large.capacity() {
            return small.clone().merge(&large).is_err() && large.clone().merge(&small).is_err();
        }
        let expected = larger.of(&both);
        let (mut one, mut other) = (small.clone(), large.clone());
        one.merge(&large).unwrap();
        other.merge(&small).unwrap();
        one == if large.is_empty() { small } else { expected.clone() } && other == expected
    }

    fn a_merge_keeps_the_bits_that_both_have(shape: Shape, left: Vec<u8>, right: Vec<u8>, bits: u32) -> bool {
        let narrow = Shape { bits: 1 + bits % shape.bits, ..shape };
        let ((wide, left), (other, right)) = (shape.filled(&left), narrow.filled(&right));
        let both = [left, right].concat();
        if both.len() as u64 > wide.capacity() {
            return true;
        }
        let (mut one, mut two) = (wide.clone(), other.clone());
        one.merge(&other).unwrap();
        two.merge(&wide).unwrap();
        let expected = narrow.of(&both);
        one == if other.is_empty() { wide } else { expected.clone() } && two == expected
    }

    fn case_15_merging_after_the_bytes_is_merging(shape: Shape, left: Vec<u8>, right: Vec<u8>) -> bool {
        let (left, right) = (shape.filled(&left).0, shape.filled(&right).0);
        let (mut direct, mut stored) = (left.clone(), QuotientFilter::from_bytes(&left.to_bytes()).unwrap());
        direct.merge(&right) == stored.merge(&right)
            && direct.to_bytes() == stored.to_bytes()
    }

    fn case_21_a_view_answers_as_its_filter(shape: Shape, stored: Vec<u8>, asked: Vec<u16>) -> bool {
        let filter = shape.filled(&stored).0;
        // At an odd address.
        let mut bytes = vec![0];
        bytes.extend(filter.to_bytes());
        let view = QuotientFilterView::open(&bytes[1..]).unwrap();
        let mut answers = vec![true; asked.len()];
        view.contains_batch(&asked, &mut answers);
        view.verify().is_ok()
            && view.to_filter().unwrap() == filter
            && view.fingerprints().eq(filter.fingerprints())
            && (view.len(), view.capacity()) == (filter.len(), filter.capacity())
            && asked.iter().map(|key| filter.contains(key)).eq(answers.iter().copied())
            && asked.iter().map(|key| view.contains(key)).eq(answers.iter().copied())
            && stored.iter().all(|key| view.count(key) == filter.count(key))
    }
}

/// One run of thousands of entries, whose offsets are all 255 or more.
#[test]
fn copies_of_one_key_fill_a_filter() {
    for slots in [1_000, 4_097] {
        let mut filter = shaped(slots, 9);
        for hash in [0, finalize(1), u64::MAX] {
            (0..filter.capacity()).for_each(|_| filter.insert_hash(hash).unwrap());
            assert_eq!(filter.count_hash(hash), filter.capacity());
            assert!(filter.insert_hash(hash).is_err());
            let bytes = filter.to_bytes();
            assert_eq!(QuotientFilter::from_bytes(&bytes).as_ref(), Ok(&filter));
            let view = QuotientFilterView::open(&bytes).unwrap();
            assert_eq!((view.verify(), view.count_hash(hash)), (Ok(()), filter.len()));
            (0..filter.len()).for_each(|_| assert!(filter.remove_hash(hash)));
            assert_eq!(filter.to_bytes(), shaped(slots, 9).to_bytes());
        }
    }
}

/// A filter that grows by itself is at every moment the one built at its size, and keeps its promise at the end.
#[test]
fn growth_by_itself_follows_the_plan() {
    let builder = QuotientFilter::builder().expected_items(10).grows_to(20_000);
    let (mut filter, mut sizes) = (builder.build().unwrap(), vec![]);
    for key in 0..20_000u64 {
        filter.insert(&key).unwrap();
        assert!(filter.false_positive_rate() <= 0.01);
        if sizes.last() != Some(&filter.num_slots()) {
            sizes.push(filter.num_slots());
            let mut built = shaped(filter.num_slots(), filter.remainder_bits());
            (0..=key).for_each(|key| built.insert(&key).unwrap());
            assert_eq!(filter, built);
        }
    }
    assert!(sizes.len() > 5 && sizes.windows(2).all(|pair| pair[1] == 2 * pair[0]), "{sizes:?}");
    let last = builder.build().unwrap().params().grown();
    assert_eq!((filter.num_slots(), filter.params().doublings()), (last.num_slots(), 0));
    while filter.len() < last.capacity() {
        filter.insert(&filter.len()).unwrap();
    }
    let full = InsertError::Full { len: last.capacity(), capacity: last.capacity() };
    assert_eq!(filter.insert(&0u64), Err(full));
    filter.grow().unwrap();
    filter.insert(&0u64).unwrap();
    assert!((0..20_000u64).all(|key| filter.contains(&key)));
}

/// Slots that a filter grew past its plan are given up for good. Those that the expected items need come back by themselves.
#[test]
fn a_shrunk_filter_grows_again_as_far_as_it_was_meant_to() {
    let builder = QuotientFilter::builder().expected_items(2_000);
    for builder in [builder, builder.grows_to(9_000)] {
        let mut filter = builder.build().unwrap();
        let (least, last) = (filter.params(), filter.params().grown());
        let items = last.expected_items().unwrap();
        (0..items).for_each(|key| filter.insert(&key).unwrap());
        assert_eq!(filter.params(), last);
        let bytes = filter.to_bytes();
        (0..2).for_each(|_| filter.grow().unwrap());
        filter.shrink_to_fit().unwrap();
        assert_eq!(filter.to_bytes(), bytes);
        assert_eq!(filter.remove_batch(&(300..items).collect::<Vec<_>>()) as u64, items - 300);
        filter.shrink_to_fit().unwrap();
        assert!(filter.num_slots() <= least.num_slots() && filter.params().grown() == last);
        (300..items).for_each(|key| filter.insert(&key).unwrap());
        assert_eq!(filter.to_bytes(), bytes);
    }
}

/// An empty filter shrinks to one that takes a key.
#[test]
fn no_filter_shrinks_to_nothing() {
    for bits in [3, 8, 40] {
        let mut filter = shaped(64, bits);
        filter.shrink_to_fit().unwrap();
        assert_eq!((filter.num_slots(), filter.capacity()), (2, 1));
        filter.insert("key").unwrap();
        assert!(filter.insert("other").is_err() && filter.contains("key"));
    }
    // The remainders are as wide as possible before.
    let mut filter = shaped(64, 54);
    filter.shrink_to_fit().unwrap();
    assert_eq!((filter.num_slots(), filter.remainder_bits()), (16, 56));
}

/// A history of many operations against the number of copies of each key, with a check of the whole now and then.
fn long_history(slots: u64, keys: usize, operations: u64) {
    let mut random = pds_testkit::keys::random(slots);
    let mut filter = shaped(slots, 40);
    let mut copies = vec![0u32; keys];
    for step in 0..operations {
        let word = random.next().unwrap();
        let key = usize::try_from(word % keys as u64).unwrap();
        // By turns the filter gets fuller and emptier.
        let inserts = if (step / (4 * slots)).is_multiple_of(2) { 5 } else { 3 };
        if (word >> 40) % 8 < inserts {
            let took = filter.insert_hash(finalize(key as u64)).is_ok();
            copies[key] += u32::from(took);
        } else {
            let removed = filter.remove_hash(finalize(key as u64));
            assert_eq!(removed, copies[key] > 0);
            copies[key] -= u32::from(removed);
        }
        assert_eq!(filter.contains_hash(finalize(key as u64)), copies[key] > 0);
        if step % (16 * slots) == 0 {
            assert_eq!(filter.len(), copies.iter().map(|&count| u64::from(count)).sum::<u64>());
            assert!(
                copies
                    .iter()
                    .zip(0..)
                    .all(|(&count, key)| filter.count_hash(finalize(key)) == u64::from(count))
            );
            assert_eq!(QuotientFilter::from_bytes(&filter.to_bytes()).as_ref(), Ok(&filter));
        }
    }
    for (key, &count) in (0..).zip(&copies) {
        (0..count).for_each(|_| assert!(filter.remove_hash(finalize(key))));
    }
    assert_eq!(filter.to_bytes(), shaped(slots, 40).to_bytes());
}

// With 40 bits per remainder, no two of these keys have one fingerprint.
#[test]
fn no_key_is_lost_in_a_long_history() {
    long_history(1_000, 1_500, 200_000);
    long_history(10_007, 14_000, 200_000);
}

/// Takes minutes: `cargo test --release -p quotient --test it -- --ignored hundred`.
#[test]
#[ignore = "takes minutes"]
fn no_key_is_lost_in_a_hundred_million_operations() {
    long_history(1_000, 1_500, 30_000_000);
    long_history(100_003, 140_000, 40_000_000);
    long_history(1_000_000, 1_400_000, 30_000_000);
}
