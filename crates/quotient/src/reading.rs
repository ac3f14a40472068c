//! The methods that only read, for a filter in any storage.

use core::fmt;
use core::hash::Hash;

use pds_core::hash::KeyHasher;
use pds_core::internal::check_lengths;
use pds_core::storage::WordSource;
use pds_params::quotient::size_in_bytes;

use crate::QuotientFilter;
use crate::fingerprint::{self, Fingerprint};
use crate::sequence::Reader;

/// Number of keys of a batch that are prefetched together.
pub(crate) const BATCH: usize = 32;

/// Defines the methods of a filter in any storage that tell its sizes and its design.
// A macro instead of a generic type, so that the documentation of each type shows the methods.
macro_rules! sizes_and_design {
    () => {
        /// Returns the hasher.
        #[must_use]
        pub const fn hasher(&self) -> &S {
            &self.hasher
        }

        /// Returns the parameters: size, width of remainders, doublings left, and design.
        #[must_use]
        pub const fn params(&self) -> pds_params::QuotientParams {
            self.params
        }

        /// Returns the number of distinct items that the filter was designed for, which is the greatest number if it grows.
        /// `None` if it was sized by hand.
        #[must_use]
        pub fn expected_items(&self) -> Option<u64> {
            self.params.expected_items()
        }

        /// Returns the false-positive rate promised at the expected items. `None` if the filter was sized by hand.
        #[must_use]
        pub fn promised_rate(&self) -> Option<f64> {
            self.params.promised_rate()
        }

        /// Returns whether the filter stores no key.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// Returns the number of slots, without those for runs that overflow the last one.
        #[must_use]
        pub fn num_slots(&self) -> u64 {
            self.params.num_slots()
        }

        /// Returns the width of a remainder in bits.
        #[must_use]
        pub fn remainder_bits(&self) -> u32 {
            self.params.remainder_bits()
        }
    };
}
pub(crate) use sizes_and_design;

/// Defines membership of a filter that is more than a set, and its sizes. The filter has a method `bits_beside`, which
/// returns the number of bits of a slot beside a remainder.
macro_rules! membership_methods {
    () => {
        /// Returns the number of slots that can be used at the present size: 95 % of them.
        ///
        /// At the greatest size of a filter that grows it is `params().grown().capacity()`.
        #[must_use]
        pub fn capacity(&self) -> u64 {
            self.params.capacity()
        }

        /// Returns the size of the slots in the portable bytes.
        ///
        /// It includes the slots for runs that overflow the last one, nine on average at capacity. In memory the last 64 slots
        /// have the room of all of them.
        #[must_use]
        pub fn size_in_bytes(&self) -> u64 {
            let bits = self.remainder_bits() + self.bits_beside();
            pds_params::quotient::size_in_bytes(self.table.slots() as u64, bits)
        }

        /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
        ///
        /// This is faster than single calls if the filter exceeds the cache. For the hashes see
        /// [`contains_hash`](Self::contains_hash).
        ///
        /// # Panics
        /// If the slices differ in length.
        #[track_caller]
        pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
            pds_core::internal::check_lengths(hashes, out);
            for (hashes, out) in
                hashes.chunks($crate::reading::BATCH).zip(out.chunks_mut($crate::reading::BATCH))
            {
                hashes.iter().for_each(|&hash| self.table.prefetch(self.fingerprint(hash).0));
                for (answer, &hash) in out.iter_mut().zip(hashes) {
                    *answer = self.contains_hash(hash);
                }
            }
        }

        /// Tests whether `key` may be stored. `false` is certain.
        ///
        /// # Complexity
        /// O(1) on average, and no allocation.
        #[inline]
        #[must_use]
        pub fn contains<K: core::hash::Hash + ?Sized>(&self, key: &K) -> bool {
            self.contains_hash(self.hasher.hash_key(key))
        }

        /// Tests many keys: `out[i]` is the answer for `keys[i]`.
        ///
        /// # Panics
        /// If the slices differ in length.
        #[track_caller]
        pub fn contains_batch<K: core::hash::Hash>(&self, keys: &[K], out: &mut [bool]) {
            let answer = |hashes: &[u64], out: &mut [bool]| self.contains_hash_batch(hashes, out);
            pds_core::internal::answer_keys::<{ $crate::reading::BATCH }, K, bool>(
                &self.hasher,
                keys,
                out,
                answer,
            );
        }

        #[inline(always)]
        pub(crate) fn fingerprint(&self, hash: u64) -> $crate::fingerprint::Fingerprint {
            $crate::fingerprint::of_hash(
                hash,
                self.params.num_slots(),
                self.params.remainder_bits(),
            )
        }
    };
}
pub(crate) use membership_methods;

/// Implements the traits of hashing and membership by the methods of the same names.
macro_rules! membership_traits {
    ($filter:ident) => {
        impl<S: KeyHasher, W> KeyHasher for $filter<S, W> {
            #[inline]
            fn hash_key<K: core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
                self.hasher.hash_key(key)
            }

            #[inline]
            fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn core::hash::Hasher)) -> u64 {
                self.hasher.hash_key_dyn(feed)
            }
        }

        impl<S: KeyHasher, W: WordSource> pds_core::traits::Membership for $filter<S, W> {
            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                self.contains_hash_batch(hashes, out);
            }
        }
    };
}
pub(crate) use membership_traits;

impl<S: KeyHasher, W: WordSource> QuotientFilter<S, W> {
    sizes_and_design!();

    /// Returns the number of stored keys, copies included: successful inserts minus removals.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.table.len()
    }

    /// Returns the load: stored keys per slot, from 0 to 0.95.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn load_factor(&self) -> f64 {
        self.len() as f64 / self.num_slots() as f64
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// The rate follows from the number of stored keys, the number of slots and the width of remainders. It is the mean over
    /// all sets of as many distinct keys. Copies of a key do not raise the true rate, but this method counts them. Growth
    /// does not change it.
    ///
    /// # Complexity
    /// Constant.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.params.rate_at(self.len())
    }

    /// Returns the number of keys that fit at the present size, copies included: 95 % of the slots.
    ///
    /// At the greatest size of a filter that grows it is `params().grown().capacity()`.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.params.capacity()
    }

    /// Returns the size of the slots in the portable bytes.
    ///
    /// It includes the slots for runs that overflow the last one, nine on average at capacity. In memory the last 64 slots
    /// have the room of all of them.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        size_in_bytes(self.table.slots() as u64, self.remainder_bits())
    }

    /// Tests by its hash whether a key may be in the set. `false` is certain.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this filter, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let (quotient, remainder) = self.fingerprint(hash);
        self.table.contains(quotient, remainder)
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache. For the hashes see
    /// [`contains_hash`](Self::contains_hash).
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        self.contains_each(hashes, |&hash| hash, out);
    }

    /// Counts the copies of a key by its hash; see [`count`](Self::count), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        let (quotient, remainder) = self.fingerprint(hash);
        self.table.count(quotient, remainder)
    }

    /// Lists the fingerprints in ascending order, each as its quotient and its remainder. Copies are listed side by side.
    ///
    /// A key cannot be recovered from its fingerprint.
    pub fn fingerprints(&self) -> impl Iterator<Item = (u64, u64)> {
        Reader::new(&self.table).map(|(quotient, remainder)| (quotient as u64, remainder))
    }

    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// O(1) on average, and no allocation. The time grows with the copies of keys nearby.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// # Examples
    /// ```
    /// use quotient::QuotientFilter;
    ///
    /// let mut filter = QuotientFilter::new(1_000, 0.001)?;
    /// filter.insert(&2u64)?;
    /// let mut answers = [false; 3];
    /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [false, true, false]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        check_lengths(keys, out);
        self.contains_each(keys, |key| self.hasher.hash_key(key), out);
    }

    /// Counts the copies of `key`. Copies of other keys with the same fingerprint count too.
    ///
    /// # Complexity
    /// O(number of copies) at least.
    #[must_use]
    pub fn count<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(self.hasher.hash_key(key))
    }

    #[inline(always)]
    pub(crate) fn fingerprint(&self, hash: u64) -> Fingerprint {
        fingerprint::of_hash(hash, self.params.num_slots(), self.params.remainder_bits())
    }

    pub(crate) fn prefetch(&self, hashes: &[u64]) {
        for &hash in hashes {
            self.table.prefetch(self.fingerprint(hash).0);
        }
    }

    fn contains_each<K>(&self, keys: &[K], hash: impl Fn(&K) -> u64, answers: &mut [bool]) {
        let mut places = [(0, 0); BATCH];
        for (keys, answers) in keys.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            for (place, key) in places.iter_mut().zip(keys) {
                *place = self.fingerprint(hash(key));
                self.table.prefetch(place.0);
            }
            for (answer, &(quotient, remainder)) in answers.iter_mut().zip(&places) {
                *answer = self.table.contains(quotient, remainder);
            }
        }
    }
}

membership_traits!(QuotientFilter);

impl<S: KeyHasher, W: WordSource> fmt::Debug for QuotientFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["QuotientFilter", "AtomicQuotientFilter", "QuotientFilterView"]))
            .field("num_slots", &self.num_slots())
            .field("remainder_bits", &self.remainder_bits())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
