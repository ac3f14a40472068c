//! The methods that only read, for a map in any storage.

use core::fmt;
use core::hash::Hash;

use pds_core::hash::KeyHasher;
use pds_core::storage::WordSource;

use super::QuotientMap;
use crate::fingerprint::Fingerprint;
use crate::reading::{membership_methods, membership_traits, sizes_and_design};
use crate::sequence::Reader;

impl<S: KeyHasher, W: WordSource> QuotientMap<S, W> {
    sizes_and_design!();
    membership_methods!();

    /// Returns the number of bits of a value.
    #[must_use]
    pub fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// Returns the greatest value.
    #[must_use]
    pub fn max_value(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.value_bits)
    }

    /// Returns the number of stored pairs: successful inserts minus removals.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.table.len()
    }

    /// Returns the load: stored pairs per slot, from 0 to 0.95.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn load_factor(&self) -> f64 {
        self.len() as f64 / self.num_slots() as f64
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that have values.
    ///
    /// The rate follows from the number of stored pairs, the number of slots and the width of remainders. It is the mean
    /// over all sets of as many distinct keys. Growth does not change it.
    ///
    /// # Complexity
    /// Constant.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.params.rate_at(self.len())
    }

    /// Tests by its hash whether a key may have values. `false` is certain.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this map, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.get_hash(hash).is_some()
    }

    /// Returns the least value of a key by its hash; see [`get`](Self::get), and [`contains_hash`](Self::contains_hash)
    /// for the hash.
    #[must_use]
    pub fn get_hash(&self, hash: u64) -> Option<u32> {
        self.values_hash(hash).next()
    }

    /// Lists the values of a key by its hash; see [`values`](Self::values), and [`contains_hash`](Self::contains_hash)
    /// for the hash.
    #[expect(clippy::cast_possible_truncation, reason = "a value has at most 32 bits")]
    pub fn values_hash(&self, hash: u64) -> impl Iterator<Item = u32> {
        let (quotient, least) = self.entry(hash, 0);
        let greatest = least | u64::from(self.max_value());
        let entries = self.table.run(quotient).map(|slot| self.table.entry(slot));
        entries
            .skip_while(move |&entry| entry < least)
            // Those of damaged bytes may not ascend.
            .take_while(move |entry| (least..=greatest).contains(entry))
            .map(move |entry| (entry - least) as u32)
    }

    /// Lists all pairs in ascending order, each as the quotient and the remainder of its key, and its value.
    ///
    /// A key cannot be recovered from these.
    #[expect(clippy::cast_possible_truncation, reason = "a value has at most 32 bits")]
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64, u32)> {
        Reader::new(&self.table).map(|(quotient, entry)| {
            let value = entry & u64::from(self.max_value());
            (quotient as u64, entry >> self.value_bits, value as u32)
        })
    }

    /// Returns the least value of `key`, or of a key with the same fingerprint. `None` is certain: the key has none.
    ///
    /// If two keys have one fingerprint, this is the lower value of both, for both. At the false-positive rate it is
    /// therefore not that of the key. [`values`](Self::values) has it always.
    ///
    /// # Complexity
    /// O(1) on average, and no allocation.
    #[must_use]
    pub fn get<K: Hash + ?Sized>(&self, key: &K) -> Option<u32> {
        self.get_hash(self.hasher.hash_key(key))
    }

    /// Lists the values of `key` and of all keys with the same fingerprint, in ascending order.
    ///
    /// # Complexity
    /// O(1) on average for few pairs per key, and no allocation.
    pub fn values<K: Hash + ?Sized>(&self, key: &K) -> impl Iterator<Item = u32> {
        self.values_hash(self.hasher.hash_key(key))
    }

    /// Returns the quotient and the entry of a pair.
    pub(super) fn entry(&self, hash: u64, value: u32) -> Fingerprint {
        let (quotient, remainder) = self.fingerprint(hash);
        (quotient, remainder << self.value_bits | u64::from(value))
    }

    const fn bits_beside(&self) -> u32 {
        self.value_bits
    }
}

membership_traits!(QuotientMap);

impl<S: KeyHasher, W: WordSource> fmt::Debug for QuotientMap<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["QuotientMap", "AtomicQuotientMap", "QuotientMapView"]))
            .field("num_slots", &self.num_slots())
            .field("remainder_bits", &self.remainder_bits())
            .field("value_bits", &self.value_bits)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
