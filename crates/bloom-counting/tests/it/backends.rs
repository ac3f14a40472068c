//! Every backend that this processor has against a description of the counters, one by one.
//!
//! `RUSTFLAGS='--cfg pds_backend="avx2"' cargo test -p bloom-counting --test it backends` confines the build to
//! one of them.
#![cfg(feature = "std")]

use bloom_counting::{BlockedCountingBloomFilter, backends};
use pds_testkit::keys;
use quickcheck::quickcheck;

/// A model of a filter, from its description and not from the code: one byte per counter.
struct Model {
    counters: Vec<u8>,
}

impl Model {
    fn new(lines: u64) -> Self {
        Self { counters: vec![0; usize::try_from(lines).unwrap() * 128] }
    }

    /// The counters of a hash: one in each of the eight lanes of its line.
    fn positions(&self, hash: u64) -> [usize; 8] {
        let lines = self.counters.len() as u64 / 128;
        let line = usize::try_from((u128::from(hash) * u128::from(lines)) >> 64).unwrap();
        let fields = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        core::array::from_fn(|lane| {
            128 * line + 16 * lane + (fields >> (60 - 6 * lane) & 15) as usize
        })
    }

    fn estimate(&self, hash: u64) -> u64 {
        self.positions(hash)
            .map(|position| self.counters[position].into())
            .into_iter()
            .min()
            .unwrap()
    }

    fn insert(&mut self, hash: u64) -> bool {
        let new = self.estimate(hash) == 0;
        for position in self.positions(hash) {
            self.counters[position] += u8::from(self.counters[position] < 15);
        }
        new
    }

    fn remove(&mut self, hash: u64) -> bool {
        let contained = self.estimate(hash) > 0;
        if contained {
            for position in self.positions(hash) {
                self.counters[position] -= u8::from(self.counters[position] < 15);
            }
        }
        contained
    }

    /// Two counters a byte, the first in its lower half: the words, least significant byte first.
    fn bytes(&self) -> Vec<u8> {
        self.counters.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect()
    }
}

fn empty(lines: u64, backend: &str) -> BlockedCountingBloomFilter {
    let filter = BlockedCountingBloomFilter::builder().lines(lines).build().unwrap();
    filter.with_backend(backend).unwrap()
}

/// The counters of a filter, as they are stored: before a checksum of eight bytes, which ends them.
fn stored(filter: &BlockedCountingBloomFilter) -> Vec<u8> {
    let bytes = filter.to_bytes();
    let end = bytes.len() - 8;
    bytes[end - usize::try_from(filter.size_in_bytes()).unwrap()..end].to_vec()
}

/// A history of inserts, removals and questions, the same for filter and model; a third of each.
fn agrees(lines: u64, backend: &str, hashes: &[u64]) {
    let (mut filter, mut model) = (empty(lines, backend), Model::new(lines));
    for (step, &hash) in hashes.iter().enumerate() {
        // Every other key comes again soon, so that removals find something and counters stick.
        let key = if hash % 2 == 0 { hashes[step / 2] } else { hash };
        match hash >> 2 & 3 {
            0 | 1 => assert_eq!(
                filter.insert_hash(key),
                model.insert(key),
                "{backend}, {lines} lines, {key:#x}"
            ),
            2 => assert_eq!(
                filter.remove_hash(key),
                model.remove(key),
                "{backend}, {lines} lines, {key:#x}"
            ),
            _ => {
                let estimate = model.estimate(key);
                assert_eq!(
                    filter.estimate_hash(key),
                    estimate,
                    "{backend}, {lines} lines, {key:#x}"
                );
                assert_eq!(
                    filter.contains_hash(key),
                    estimate > 0,
                    "{backend}, {lines} lines, {key:#x}"
                );
            }
        }
    }
    assert_eq!(stored(&filter), model.bytes(), "{backend}, {lines} lines");
    batches_agree(filter, model, hashes);
}

/// A batch of inserts on top, and then a batch of questions.
fn batches_agree(mut filter: BlockedCountingBloomFilter, mut model: Model, hashes: &[u64]) {
    let half = &hashes[..hashes.len() / 2];
    let new = half.iter().filter(|&&hash| model.insert(hash)).count();
    assert_eq!(filter.insert_hash_batch(half), new);
    assert_eq!(stored(&filter), model.bytes());
    let mut answers = vec![false; hashes.len()];
    filter.contains_hash_batch(hashes, &mut answers);
    let expected: Vec<bool> = hashes.iter().map(|&hash| model.estimate(hash) > 0).collect();
    assert_eq!(answers, expected);
}

#[test]
fn a_backend_is_there_and_others_are_refused() {
    let confined = cfg!(any(pds_backend = "avx2", pds_backend = "avx512"));
    assert!(confined || backends().any(|name| name == "portable"));
    let filter = BlockedCountingBloomFilter::builder().lines(1).build().unwrap();
    assert!(filter.with_backend("none").is_none());
}

/// A million operations for each backend, on counters that are mostly free and on such that mostly stick.
#[test]
fn all_backends_agree_on_a_million_operations() {
    const ROUNDS: u64 = 64;
    for backend in backends() {
        for round in 0..ROUNDS {
            let hashes: Vec<u64> = keys::random(round).take(16_000).collect();
            agrees(1 + round * round, backend, &hashes);
        }
    }
}

quickcheck! {
    fn all_backends_agree(lines: u8, hashes: Vec<u64>) -> bool {
        backends().for_each(|backend| agrees(1 + u64::from(lines), backend, &hashes));
        true
    }
}
