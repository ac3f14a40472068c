//! The Bloom filter of textbooks, which published ratios call naive.

use core::hash::{BuildHasher, Hash};
use pds::hash::DefaultHashBuilder;

/// An array of bits and `k` hash functions of `k` seeds, each reduced by a division.
pub(super) struct Textbook {
    words: Vec<u64>,
    bits: u64,
    hashers: Vec<DefaultHashBuilder>,
}

impl Textbook {
    pub(super) fn new(bits: u64, hashes: u64) -> Self {
        let words =
            vec![0; usize::try_from(bits.div_ceil(64)).expect("a filter that fits in memory")];
        Self { words, bits, hashers: (0..hashes).map(DefaultHashBuilder::with_seed).collect() }
    }

    pub(super) fn insert<K: Hash>(&mut self, key: &K) {
        for index in 0..self.hashers.len() {
            let (word, mask) = self.place(&self.hashers[index], key);
            self.words[word] |= mask;
        }
    }

    /// Stops at the first bit that is not set.
    pub(super) fn contains<K: Hash>(&self, key: &K) -> bool {
        self.hashers.iter().all(|hasher| {
            let (word, mask) = self.place(hasher, key);
            self.words[word] & mask != 0
        })
    }

    fn place<K: Hash>(&self, hasher: &DefaultHashBuilder, key: &K) -> (usize, u64) {
        let bit = hasher.hash_one(key) % self.bits;
        ((bit / 64) as usize, 1 << (bit % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_rate_of_the_formula() {
        let mut filter = Textbook::new(95_851, 7);
        (0..10_000_u64).for_each(|key| filter.insert(&key));
        assert!((0..10_000_u64).all(|key| filter.contains(&key)));
        let wrong = (10_000..1_010_000_u64).filter(|key| filter.contains(key)).count();
        assert!((9_000..11_000).contains(&wrong), "{wrong} of a million, 10,000 expected");
    }
}
