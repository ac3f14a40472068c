//! Counting filters against a model: counts of hashes, and the entries that they must have.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use pds_core::error::InsertError;
use pds_core::hash::DefaultHashBuilder;
use pds_params::QuotientParams;

use super::CountingQuotientFilter;
use crate::model::{Random, verify};

const MAX: u64 = 1 << 63;

/// A filter, and the counts of the hashes in it.
#[derive(Clone)]
struct Tried {
    filter: CountingQuotientFilter,
    counts: BTreeMap<u64, u64>,
}

impl Tried {
    fn new(slots: u64, bits: u32, doublings: u32) -> Self {
        let params = QuotientParams::from_slots_and_remainder_bits(slots, bits).unwrap();
        let params = params.with_doublings(doublings).unwrap();
        let hasher = DefaultHashBuilder::with_seed(0);
        let filter = CountingQuotientFilter::from_params(params, hasher).unwrap();
        Self { filter, counts: BTreeMap::new() }
    }

    fn shape(&self) -> (u64, u32) {
        (self.filter.num_slots(), self.filter.remainder_bits())
    }

    /// Returns the sums of the counts of equal fingerprints in a filter of this shape.
    fn sums(&self, shape: (u64, u32)) -> BTreeMap<(usize, u64), u128> {
        let mut sums = BTreeMap::new();
        for (&hash, &count) in self.counts.iter().filter(|(_, count)| **count > 0) {
            *sums.entry(print_of(hash, shape)).or_default() += u128::from(count);
        }
        sums
    }

    /// Returns the sum of the counts of the keys with the fingerprint of this one.
    fn count(&self, hash: u64) -> u64 {
        let shape = self.shape();
        let sum = self.sums(shape).get(&print_of(hash, shape)).copied().unwrap_or(0);
        u64::try_from(sum).unwrap()
    }

    /// Returns all entries in order, if the counts are not too great.
    fn entries(&self, shape: (u64, u32)) -> Option<Vec<(usize, u64)>> {
        let mut entries = Vec::new();
        for ((quotient, remainder), count) in self.sums(shape) {
            let mut rest = u64::try_from(count).ok().filter(|&count| count <= MAX)? - 1;
            entries.push((quotient, remainder));
            while rest > 0 {
                entries.push((quotient, (1 << shape.1) + rest % (1 << shape.1)));
                rest >>= shape.1;
            }
        }
        Some(entries)
    }

    /// Returns how these counts end in a filter of this shape that may double some times.
    fn outcome(&self, (slots, bits): (u64, u32), doublings: u32) -> Outcome {
        if self.entries((slots, bits)).is_none() {
            return Outcome::Count;
        }
        for times in 0..=doublings {
            let shape = (slots << times, bits - times);
            if self.entries(shape).unwrap().len() as u64 <= shape.0 * 19 / 20 {
                return Outcome::Fits(shape);
            }
        }
        Outcome::Full(slots << doublings)
    }

    fn insert(&mut self, hash: u64, times: u64) {
        let mut after = self.clone();
        *after.counts.entry(hash).or_default() =
            self.counts.get(&hash).map_or(times, |count| count.saturating_add(times));
        let doublings = self.filter.params().doublings();
        let result = self.filter.insert_many_hash(hash, times);
        match after.outcome(after.shape(), doublings) {
            Outcome::Fits(shape) => {
                assert_eq!((result, self.shape()), (Ok(()), shape));
                self.counts = after.counts;
            }
            Outcome::Count => assert_eq!(result, Err(InsertError::Count { max: MAX })),
            Outcome::Full(slots) => {
                let (len, capacity) = (self.filter.used_slots(), slots * 19 / 20);
                assert_eq!(result, Err(InsertError::Full { len, capacity }));
            }
        }
    }

    /// Removes up to so many copies. Those of keys with the same fingerprint are taken first to last.
    fn remove(&mut self, hash: u64, times: u64) {
        let removed = times.min(self.count(hash));
        assert_eq!(self.filter.remove_many_hash(hash, times), removed);
        let (shape, mut rest) = (self.shape(), removed);
        for (&other, count) in &mut self.counts {
            if print_of(other, shape) == print_of(hash, shape) {
                let taken = rest.min(*count);
                (*count, rest) = (*count - taken, rest - taken);
            }
        }
        self.counts.retain(|_, count| *count > 0);
    }

    fn merge(&mut self, other: &Self) {
        let (before, mut after) = (self.clone(), self.clone());
        for (&hash, &count) in &other.counts {
            let sum = after.counts.entry(hash).or_default();
            *sum = sum.saturating_add(count);
        }
        let bits = self.shape().1.min(other.shape().1);
        let slots = self.shape().0;
        let plan = self.filter.params().doublings().min(bits - 1);
        let result = self.filter.merge(&other.filter);
        match after.outcome((slots, bits), plan) {
            _ if other.counts.is_empty() => assert!(result.is_ok()),
            Outcome::Fits(shape) => {
                assert_eq!(result, Ok(()));
                assert_eq!(self.shape(), shape);
                self.counts = after.counts;
            }
            _ => {
                assert!(result.is_err());
                assert_eq!(self.filter, before.filter);
                assert_eq!(self.filter.params(), before.filter.params());
            }
        }
    }

    fn verify(&self) {
        let (shape, filter) = (self.shape(), &self.filter);
        let entries = self.entries(shape).unwrap();
        verify(&filter.table, shape.1 + 1, &entries);
        let sums = self.sums(shape);
        assert_eq!((filter.len(), filter.is_empty()), (sums.len() as u64, sums.is_empty()));
        let listed = filter.counts().map(|(q, r, count)| ((q, r), u128::from(count)));
        assert!(listed.eq(sums.iter().map(|(&(q, r), &count)| ((q as u64, r), count))));
        for &hash in self.counts.keys() {
            let count = self.count(hash);
            assert_eq!((filter.count_hash(hash), filter.contains_hash(hash)), (count, count > 0));
        }
    }
}

enum Outcome {
    Fits((u64, u32)),
    /// A sum is too great.
    Count,
    Full(u64),
}

fn print_of(hash: u64, (slots, bits): (u64, u32)) -> (usize, u64) {
    let print = (u128::from(hash) * u128::from(slots)) >> (64 - bits);
    let quotient = usize::try_from(print >> bits).unwrap();
    (quotient, u64::try_from(print % (1 << bits)).unwrap())
}

/// Returns the least hash with this fingerprint.
fn hash_of(quotient: u64, remainder: u64, (slots, bits): (u64, u32)) -> u64 {
    let product = (u128::from(quotient) << bits | u128::from(remainder)) << (64 - bits);
    let hash = u64::try_from(product.div_ceil(slots.into())).unwrap();
    let quotient = usize::try_from(quotient).unwrap();
    assert_eq!(print_of(hash, (slots, bits)), (quotient, remainder));
    hash
}

/// All sequences of so many steps, each of which inserts or removes some copies of one of the hashes.
fn every_sequence(shape: (u64, u32), hashes: &[u64], length: u32) {
    let times = [1, 2, 6, MAX];
    let choices = 2 * hashes.len() * times.len();
    for sequence in 0..choices.pow(length) {
        let (mut tried, mut rest) = (Tried::new(shape.0, shape.1, 0), sequence);
        for _ in 0..length {
            let (choice, hash) = (rest % choices / 2, hashes[rest % choices / 2 % hashes.len()]);
            let times = times[choice / hashes.len()];
            if rest % 2 == 0 {
                tried.insert(hash, times)
            } else {
                tried.remove(hash, times)
            }
            rest /= choices;
        }
        tried.verify();
    }
}

#[test]
fn every_short_history_of_a_tiny_filter() {
    // One entry, two, and 19: with 7 bits a count of 2^63 takes ten.
    for (shape, length) in [((2, 7), 4), ((3, 1), 3), ((21, 7), 3), ((21, 2), 3), ((70, 1), 3)] {
        let last = shape.0 - 1;
        let hashes = [(0, 0), (0, 1), (last, 1)].map(|(q, r)| hash_of(q, r, shape));
        every_sequence(shape, &hashes, length);
    }
}

#[test]
fn random_histories_of_small_filters() {
    let mut random = Random::new(5);
    for round in 0..120 {
        let slots = random.of(&[2u64, 3, 7, 20, 21, 63, 64, 65, 130, 200, 300]);
        let bits = random.of(&[1, 2, 3, 7, 8, 13, 31, 54, 55]);
        let plan = random.of(&[0, 0, 1, 3]).min(bits - 1);
        let (bits, plan) = (bits, if slots > 200 { 0 } else { plan });
        let mut tried = Tried::new(slots, bits, plan);
        let hot = random.word();
        for step in 0..150 {
            let near = hot & u64::MAX << 8 | random.word() & 0xff;
            let known = tried.counts.keys().nth(random.below(tried.counts.len().max(1))).copied();
            let any = random.word();
            let hash = random.of(&[near, any, known.unwrap_or(near), u64::MAX - near % 8]);
            let power = 1u64 << random.below(64);
            let times = random.of(&[1, 1, 1, 2, 3, power - 1, power, power / 2 + 1]);
            match random.below(40) {
                0 if tried.shape().0 < 2_000 && tried.shape().1 > 1 => tried.filter.grow().unwrap(),
                1 => tried.filter.shrink_to_fit().unwrap(),
                2 => tried.filter.clear(),
                3..=5 => {
                    let mut other = tried.clone();
                    if random.below(2) == 0 {
                        other.filter.clear();
                        other.counts.clear();
                    }
                    other.insert(near, 3);
                    other.remove(known.unwrap_or(near), 1);
                    if other.shape() == tried.shape() {
                        tried.merge(&other);
                    }
                }
                6 => {
                    let bytes = tried.filter.to_bytes();
                    tried.filter = CountingQuotientFilter::from_bytes(&bytes).unwrap();
                    assert_eq!(tried.filter.to_bytes(), bytes);
                }
                7..=18 => tried.remove(hash, times),
                _ => tried.insert(hash, times),
            }
            if tried.filter.is_empty() {
                tried.counts.clear();
            }
            if step % 5 == round % 5 {
                tried.verify();
            }
        }
        tried.verify();
        for hash in tried.counts.clone().into_keys() {
            tried.remove(hash, u64::MAX);
            tried.verify();
        }
        let empty =
            CountingQuotientFilter::from_params(tried.filter.params(), *tried.filter.hasher());
        assert_eq!(tried.filter, empty.unwrap());
    }
}

/// With remainders of one bit a count of 2^63 takes 64 slots. The runs go beyond the last quotient.
#[test]
fn runs_of_digits_are_longer_than_blocks() {
    for slots in [150, 700] {
        let shape = (slots, 1);
        let mut tried = Tried::new(slots, 1, 0);
        let quotients = [0, 1, 62, 63, 64, slots / 2, slots - 2, slots - 1];
        let hashes = quotients.map(|q| [0, 1].map(|r| hash_of(q, r, shape))).concat();
        for times in [1, MAX - 1, 1] {
            for &hash in hashes.iter().rev() {
                tried.insert(hash, times);
                tried.verify();
            }
        }
        for times in [1, MAX / 2, MAX] {
            for &hash in &hashes {
                tried.remove(hash, times);
                tried.verify();
            }
        }
        assert!(tried.filter.is_empty());
    }
}

/// The counts need more digits when these get shorter, so one doubling need not make room.
#[test]
fn growth_takes_as_many_doublings_as_it_needs() {
    let mut tried = Tried::new(40, 3, 2);
    // A count of 2^63 takes 22 slots with three bits, 33 with two, and 64 with one.
    tried.insert(0, MAX);
    (1..17).for_each(|key| tried.insert(key << 59, 1));
    assert_eq!((tried.shape(), tried.filter.used_slots()), ((40, 3), 38));
    assert_eq!(tried.filter.used_slots(), tried.filter.capacity());
    tried.insert(20 << 59, MAX);
    assert_eq!((tried.shape(), tried.filter.used_slots()), ((160, 1), 2 * 64 + 16));
    tried.verify();
}
