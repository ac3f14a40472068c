//! The methods that only read, for a counting filter in any storage.

use core::fmt;
use core::hash::Hash;

use pds_core::hash::KeyHasher;
use pds_core::storage::WordSource;
use pds_core::traits::Frequency;

use super::CountingQuotientFilter;
use super::code::find;
use crate::reading::{membership_methods, membership_traits, sizes_and_design};

impl<S: KeyHasher, W: WordSource> CountingQuotientFilter<S, W> {
    sizes_and_design!();
    membership_methods!();

    /// Returns the number of distinct keys, as the filter tells them apart: keys with equal fingerprints are one.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the number of slots that remainders and counts take.
    #[must_use]
    pub fn used_slots(&self) -> u64 {
        self.table.len()
    }

    /// Returns the load: used slots per slot, from 0 to 0.95.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn load_factor(&self) -> f64 {
        self.used_slots() as f64 / self.num_slots() as f64
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys with a count above 0, and of
    /// present keys with a count that is too high.
    ///
    /// The rate follows from the number of distinct keys, the number of slots and the width of remainders. It is the mean
    /// over all sets of as many keys. Growth does not change it.
    ///
    /// # Complexity
    /// Constant.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.params.rate_at(self.len)
    }

    /// Tests by its hash whether a key may be in the multiset. `false` is certain.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this filter, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let (quotient, remainder) = self.fingerprint(hash);
        self.table.contains(quotient, remainder)
    }

    /// Returns the count of a key by its hash; see [`count`](Self::count), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        find(&self.table, self.fingerprint(hash), self.remainder_bits()).count
    }

    /// Lists the counts by ascending fingerprint, each with its quotient and its remainder.
    ///
    /// A key cannot be recovered from its fingerprint. The sum of all counts may exceed a `u64`.
    ///
    /// # Examples
    /// ```
    /// use quotient::CountingQuotientFilter;
    ///
    /// let mut filter = CountingQuotientFilter::new(100, 0.001)?;
    /// filter.insert_many("a", 3)?;
    /// filter.insert_many("b", 4)?;
    /// assert_eq!(filter.counts().map(|(_, _, count)| u128::from(count)).sum::<u128>(), 7);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.counts_of().map(|((quotient, remainder), count)| (quotient as u64, remainder, count))
    }

    /// Returns how often `key` was inserted and not removed. Copies of other keys with the same fingerprint count too.
    ///
    /// # Complexity
    /// O(1) on average, and no allocation.
    #[must_use]
    pub fn count<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(self.hasher.hash_key(key))
    }
}

membership_traits!(CountingQuotientFilter);

/// The estimate is the count.
impl<S: KeyHasher, W: WordSource> Frequency for CountingQuotientFilter<S, W> {
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.count_hash(hash)
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for CountingQuotientFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of([
            "CountingQuotientFilter",
            "AtomicCountingQuotientFilter",
            "CountingQuotientFilterView",
        ]))
        .field("num_slots", &self.num_slots())
        .field("remainder_bits", &self.remainder_bits())
        .field("len", &self.len)
        .finish_non_exhaustive()
    }
}
