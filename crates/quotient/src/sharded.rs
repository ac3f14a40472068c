//! A quotient filter that many threads change: shards, each behind a lock.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::{iter, ptr};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pds_core::error::{AllocError, BuildError, Incompatible, InsertError, MergeError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::{Difference, check_lengths, hash_chunk};
use pds_core::traits::{Insert, Membership, Merge, Remove};
use pds_params::QuotientParams;
use pds_params::internal::ParamFault;
use pds_params::quotient::{MAX_SLOTS, least_slots};

use crate::QuotientFilter;
use crate::fingerprint::doubled;
use crate::resize::{doublings, merged_params, write};
use crate::sequence::Reader;

/// A [`QuotientFilter`] that many threads read and change through `&self`, removals and growth included.
///
/// Its shards are filters, each behind a lock of its own. The first bits of a key's hash choose the shard, so threads wait
/// only for keys of the same shard. Build it with [`build_sharded`](crate::QuotientFilterBuilder::build_sharded), or from a
/// plain filter with [`from_filter`](Self::from_filter).
///
/// All shards together are exactly one plain filter: [`to_filter`](Self::to_filter) returns it. It has the portable bytes,
/// and views of them.
///
/// # Guarantees
/// - Those of [`QuotientFilter`], at any time, for the calls that have returned. An answer is that of a moment between call
///   and return.
/// - Answers, and the filter that `to_filter` returns, are those of a plain filter with as many slots and the same
///   keys, in whatever order threads inserted them.
/// - Capacity: 95 % of the slots of *each shard*. Keys fall into shards at random, so the fullest is full before all are. A
///   filter built for a number of items has room for the differences: a given shard is full before that number with a
///   probability below 2^-25, one of 1,000 shards below 2^-15. That takes 6 sqrt(m) + 12 slots more per shard of m items.
/// - Growth: each shard doubles by itself, while the others answer.
/// - A thread that panics elsewhere leaves the filter whole, and no call panics because of it. Keys are hashed before the lock
///   is taken.
///
/// # Examples
/// ```
/// use std::thread;
/// use quotient::QuotientFilter;
///
/// let sessions = QuotientFilter::builder().expected_items(100_000).build_sharded(16)?;
/// thread::scope(|scope| {
///     for thread in 0..4u32 {
///         let sessions = &sessions;
///         scope.spawn(move || {
///             for key in 0..1_000u32 {
///                 sessions.insert(&(thread, key)).expect("it fits");
///             }
///             assert!((0..500u32).all(|key| sessions.remove(&(thread, key))));
///         });
///     }
/// });
/// assert_eq!(sessions.len(), 2_000);
/// assert!(sessions.contains(&(3u32, 999u32)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct ShardedQuotientFilter<S = DefaultHashBuilder> {
    shards: Box<[Shard]>,
    expected_items: Option<u64>,
    promised_rate: Option<f64>,
    /// From keys to hashes.
    hasher: S,
}

/// Number of keys of a batch that are sorted by their shards together.
const CHUNK: usize = 1_024;

/// The most shards.
const MAX_SHARDS: u32 = 1 << 16;

/// A filter of the keys of one shard. Its own hasher is not used.
// Two cache lines, because processors prefetch lines in pairs.
#[repr(align(128))]
struct Shard(RwLock<QuotientFilter>);

impl Shard {
    fn new(filter: QuotientFilter) -> Self {
        Self(RwLock::new(filter))
    }

    // No code of a caller runs while a lock is held, so a panic of another thread cannot have left a filter half changed.
    fn read(&self) -> RwLockReadGuard<'_, QuotientFilter> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, QuotientFilter> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn get_mut(&mut self) -> &mut QuotientFilter {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the items of a shard that holds any `items / shards` with near certainty.
// The number of keys of a shard is binomial with mean m. It exceeds m + t with a probability of at most
// exp(-t^2 / (2 (m + t/3))), by Bernstein's inequality: below e^-18 for this t.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "rounded up, and numbers above 2^48 are refused later"
)]
pub(crate) fn items_per_shard(items: u64, shards: u32) -> u64 {
    let mean = items as f64 / f64::from(shards);
    (mean + 6.0 * mean.sqrt() + 12.0).ceil() as u64
}

/// Returns an error if there are no shards, or more than 2^16.
pub(crate) fn check_shards(shards: u32) -> Result<(), ParamError> {
    if (1..=MAX_SHARDS).contains(&shards) {
        return Ok(());
    }
    let (parameter, value, max) = ("shards", shards.into(), MAX_SHARDS.into());
    Err(ParamError(ParamFault::OutOfRange { parameter, value, min: 1, max }))
}

/// Returns the slots of each shard: at least two, so that each has room for a key.
pub(crate) fn slots_per_shard(slots: u64, shards: u32) -> Result<u64, ParamError> {
    let (parameter, value) = ("shards", shards.into());
    if value > slots / 2 {
        return Err(ParamError(ParamFault::OutOfRange {
            parameter,
            value,
            min: 1,
            max: slots / 2,
        }));
    }
    if !slots.is_multiple_of(value) {
        return Err(ParamError(ParamFault::NotADivisor { parameter, value, of: slots }));
    }
    Ok(slots / value)
}

/// Returns the error of a shard that has too few slots for its keys.
fn too_full(error: InsertError, shard: &QuotientFilter) -> BuildError {
    let InsertError::Alloc(error) = error else {
        let (parameter, value) = ("slots of a shard", shard.num_slots());
        let (min, max) = (least_slots(shard.len()), MAX_SLOTS);
        return BuildError::Param(ParamError(ParamFault::OutOfRange {
            parameter,
            value,
            min,
            max,
        }));
    };
    error.into()
}

impl<S: KeyHasher> ShardedQuotientFilter<S> {
    /// Creates an empty filter whose shards have these parameters each.
    pub(crate) fn with_shards(
        params: QuotientParams,
        shards: u32,
        (expected_items, promised_rate): (Option<u64>, Option<f64>),
        hasher: S,
    ) -> Result<Self, BuildError> {
        let shard = || QuotientFilter::from_params(params, DefaultHashBuilder::default());
        let shards = (0..shards).map(|_| shard().map(Shard::new));
        let shards = shards.collect::<Result<_, AllocError>>()?;
        Ok(Self { shards, expected_items, promised_rate, hasher })
    }

    /// Splits a filter into shards. A shard with more keys than it has room for doubles, as far as the filter may grow.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `shards` is not from 1 to 65,536, does not divide the number of slots, or leaves a shard less
    /// than two; or if a shard has too few slots for its keys and may not grow. [`BuildError::Alloc`] if the allocator refuses
    /// the memory.
    ///
    /// # Complexity
    /// O(slots).
    pub fn from_filter(filter: QuotientFilter<S>, shards: u32) -> Result<Self, BuildError> {
        check_shards(shards)?;
        let QuotientFilter { table, params, hasher } = filter;
        let slots = slots_per_shard(params.num_slots(), shards)?;
        let per_shard =
            QuotientParams::from_slots_and_remainder_bits(slots, params.remainder_bits())?
                .with_doublings(params.doublings())?;
        let mut all = Reader::new(&table).peekable();
        let mut split = |first: usize| {
            let end = first + table.quotients() / shards as usize;
            let of_shard = iter::from_fn(|| all.next_if(|&(quotient, _)| quotient < end));
            let own = of_shard.map(|(quotient, remainder)| (quotient - first, remainder));
            let (table, hasher) = (write(&per_shard, 0, own)?, DefaultHashBuilder::default());
            let mut shard = QuotientFilter { table, params: per_shard, hasher };
            while shard.len() > shard.capacity() {
                shard.make_room().map_err(|error| too_full(error, &shard))?;
            }
            Ok(Shard::new(shard))
        };
        let firsts = (0..table.quotients()).step_by(table.quotients() / shards as usize);
        let shards = firsts.map(&mut split).collect::<Result<_, BuildError>>()?;
        let (expected_items, promised_rate) = (params.expected_items(), params.promised_rate());
        Ok(Self { shards, expected_items, promised_rate, hasher })
    }

    /// Copies all shards into one plain filter, whose slots are those of all shards. Smaller shards are grown for this.
    ///
    /// All shards are locked for reading meanwhile, so the copy is that of one moment.
    ///
    /// # Errors
    /// [`BuildError::Param`] if there are more than 2^48 slots. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Complexity
    /// O(slots).
    pub fn to_filter(&self) -> Result<QuotientFilter<S>, BuildError>
    where
        S: Clone,
    {
        let shards: Vec<_> = self.shards.iter().map(Shard::read).collect();
        let largest = shards.iter().fold(&*shards[0], |largest, shard| {
            if shard.num_slots() > largest.num_slots() { shard } else { largest }
        });
        let (slots, quotients) = (largest.num_slots(), largest.table.quotients());
        let slots_of_all = slots * shards.len() as u64;
        let params =
            QuotientParams::from_slots_and_remainder_bits(slots_of_all, largest.remainder_bits())?
                .with_doublings(largest.params.doublings())?
                .with_design(self.expected_items, self.promised_rate)?;
        let all = shards.iter().enumerate().flat_map(|(index, shard)| {
            let (bits, times) = (shard.remainder_bits(), doublings(&shard.params, slots));
            Reader::new(&shard.table).map(move |fingerprint| {
                let (quotient, remainder) = doubled(fingerprint, bits, times);
                (index * quotients + quotient, remainder)
            })
        });
        let table = write(&params, 0, all)?;
        Ok(QuotientFilter { table, params, hasher: self.hasher.clone() })
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the number of distinct items that the filter was designed for, which is the greatest number if it grows.
    /// `None` if it was sized by hand.
    #[must_use]
    pub const fn expected_items(&self) -> Option<u64> {
        self.expected_items
    }

    /// Returns the false-positive rate promised at the expected items. `None` if the filter was sized by hand.
    #[must_use]
    pub const fn promised_rate(&self) -> Option<f64> {
        self.promised_rate
    }

    /// Returns the number of shards.
    #[must_use]
    pub const fn num_shards(&self) -> usize {
        self.shards.len()
    }

    /// Returns the number of stored keys, copies included. While other threads change the filter, it is that of no
    /// particular moment.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.sum(QuotientFilter::len)
    }

    /// Returns whether the filter stores no key; see [`len`](Self::len).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of slots of all shards at their present sizes, without those for runs that overflow the last one.
    #[must_use]
    pub fn num_slots(&self) -> u64 {
        self.sum(QuotientFilter::num_slots)
    }

    /// Returns the size of the slots of all shards.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.sum(QuotientFilter::size_in_bytes)
    }

    /// Returns the current false-positive rate, from 0 to 1: the mean of those of the shards.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "there are at most 2^16 shards")]
    pub fn false_positive_rate(&self) -> f64 {
        let rates = self.shards.iter().map(|shard| shard.read().false_positive_rate());
        rates.sum::<f64>() / self.shards.len() as f64
    }

    /// Tests by its hash whether a key may be in the set. `false` is certain.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this filter, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let (shard, rest) = self.shard(hash);
        shard.read().contains_hash(rest)
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`. For the hashes see [`contains_hash`](Self::contains_hash).
    ///
    /// A lock is taken once per shard and 1,024 hashes, so the answers are those of several moments.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        for (hashes, out) in hashes.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
            let mut answers = [false; CHUNK];
            self.each_shard(hashes, |shard, places, rests| {
                let answers = &mut answers[..rests.len()];
                shard.read().contains_hash_batch(rests, answers);
                places.iter().zip(answers).for_each(|(&place, answer)| out[place] = *answer);
            });
        }
    }

    /// Counts the copies of a key by its hash; see [`count`](Self::count), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        let (shard, rest) = self.shard(hash);
        shard.read().count_hash(rest)
    }

    /// Inserts one copy of a key by its hash; see [`insert`](Self::insert), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_hash(&self, hash: u64) -> Result<(), InsertError> {
        let (shard, rest) = self.shard(hash);
        shard.write().insert_hash(rest)
    }

    /// Inserts one copy for each of many hashes; see [`insert_batch`](Self::insert_batch), and
    /// [`contains_hash`](Self::contains_hash) for the hashes.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> Result<(), InsertError> {
        for hashes in hashes.chunks(CHUNK) {
            let mut inserted = Ok(());
            self.each_shard(hashes, |shard, _, rests| {
                if inserted.is_ok() {
                    inserted = shard.write().insert_hash_batch(rests);
                }
            });
            inserted?;
        }
        Ok(())
    }

    /// Removes one copy for each of many hashes. Returns how many were removed. For the hashes see
    /// [`contains_hash`](Self::contains_hash).
    pub fn remove_hash_batch(&self, hashes: &[u64]) -> usize {
        let mut removed = 0;
        for hashes in hashes.chunks(CHUNK) {
            self.each_shard(hashes, |shard, _, rests| {
                removed += shard.write().remove_hash_batch(rests);
            });
        }
        removed
    }

    /// Inserts a key by its hash if [`contains_hash`](Self::contains_hash) is `false` for it; see
    /// [`insert_if_absent`](Self::insert_if_absent).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_hash_if_absent(&self, hash: u64) -> Result<bool, InsertError> {
        let (shard, rest) = self.shard(hash);
        shard.write().insert_hash_if_absent(rest)
    }

    /// Removes one copy of a key by its hash; see [`remove`](Self::remove), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    pub fn remove_hash(&self, hash: u64) -> bool {
        let (shard, rest) = self.shard(hash);
        shard.write().remove_hash(rest)
    }

    /// Removes all keys. The sizes stay.
    pub fn clear(&mut self) {
        self.shards.iter_mut().for_each(|shard| shard.get_mut().clear());
    }

    /// Tests whether `key` may be in the set. `false` is certain.
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// A lock is taken once per shard and 1,024 keys, so the answers are those of several moments.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// # Examples
    /// ```
    /// use quotient::QuotientFilter;
    ///
    /// let filter = QuotientFilter::builder().expected_items(1_000).build_sharded(4)?;
    /// filter.insert_batch(&[2u64, 3])?;
    /// let mut answers = [false; 3];
    /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [false, true, true]);
    /// assert_eq!(filter.remove_batch(&[2u64, 3]), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        check_lengths(keys, out);
        for (keys, out) in keys.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
            let hashes: [u64; CHUNK] = hash_chunk(&self.hasher, keys);
            self.contains_hash_batch(&hashes[..keys.len()], out);
        }
    }

    /// Counts the copies of `key`. Copies of other keys with the same fingerprint count too.
    #[must_use]
    pub fn count<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(self.hasher.hash_key(key))
    }

    /// Inserts one copy of `key`. Each call adds a copy.
    ///
    /// # Errors
    /// As [`QuotientFilter::insert`], for the shard of the key: [`InsertError::Full`] has its numbers.
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> Result<(), InsertError> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts one copy of each of many keys. A lock is taken once per shard and 1,024 keys.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), at the first key that is not taken. Any of the other keys may be in, because keys are
    /// inserted in the order of their shards.
    pub fn insert_batch<K: Hash>(&self, keys: &[K]) -> Result<(), InsertError> {
        keys.chunks(CHUNK).try_for_each(|keys| {
            let hashes: [u64; CHUNK] = hash_chunk(&self.hasher, keys);
            self.insert_hash_batch(&hashes[..keys.len()])
        })
    }

    /// Inserts `key` if [`contains`](Self::contains) is `false` for it. Returns whether it was inserted. Of several threads
    /// that insert one key at the same time, one gets `true`.
    ///
    /// Do not combine with [`remove`](Self::remove), as for [`QuotientFilter::insert_if_absent`].
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_if_absent<K: Hash + ?Sized>(&self, key: &K) -> Result<bool, InsertError> {
        self.insert_hash_if_absent(self.hasher.hash_key(key))
    }

    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent.
    ///
    /// Remove only keys that are in, as for [`QuotientFilter::remove`].
    pub fn remove<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.remove_hash(self.hasher.hash_key(key))
    }

    /// Removes one copy of each of many keys, as [`remove`](Self::remove) does. Returns how many were removed. A lock is taken
    /// once per shard and 1,024 keys.
    pub fn remove_batch<K: Hash>(&self, keys: &[K]) -> usize {
        let removed = keys.chunks(CHUNK).map(|keys| {
            let hashes: [u64; CHUNK] = hash_chunk(&self.hasher, keys);
            self.remove_hash_batch(&hashes[..keys.len()])
        });
        removed.sum()
    }

    /// Inserts all that `other` holds, shard by shard, as [`QuotientFilter::merge`] does.
    ///
    /// Each shard of `other` is locked for reading on its own. While other threads change `other`, what is merged is that of no
    /// particular moment; [`to_filter`](Self::to_filter) copies one moment.
    ///
    /// # Errors
    /// As that method, and [`MergeError::Incompatible`] if the numbers of shards or the lengths of fingerprints differ. Both
    /// filters are unchanged then.
    ///
    /// # Complexity
    /// O(slots of both). Allocates a copy of `self` and the result.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let incompatible = MergeError::Incompatible;
        Incompatible::check_hasher(&self.hasher, &other.hasher).map_err(incompatible)?;
        let (left, right) = (self.shards.len() as u64, other.shards.len() as u64);
        if left != right {
            let parameter = "number of shards";
            return Err(incompatible(Incompatible(Difference::Shape { parameter, left, right })));
        }
        self.check_bits(other).map_err(incompatible)?;
        // A later shard may fail, so none is replaced before all are merged.
        let merged = self.shards.iter().zip(&other.shards).map(|(own, other)| {
            let copied = own.read().try_clone().map_err(InsertError::Alloc);
            let mut filter = copied.map_err(MergeError::Insert)?;
            filter.merge(&other.read())?;
            Ok(Shard::new(filter))
        });
        self.shards = merged.collect::<Result<_, MergeError>>()?;
        Ok(())
    }

    /// Checks that the fingerprints of two filters are equally long.
    // A shard would lose bits by a merge, and its neighbour, whose other half is empty, would not. Then no plain filter were
    // both. All shards of a filter have fingerprints of one length, so one of each tells.
    fn check_bits(&self, other: &Self) -> Result<(), Incompatible> {
        let [own, other] = [self, other].map(|filter| filter.shards[0].read().params);
        let slots = merged_params(&own, &other)?.num_slots();
        let bits_at = |params: QuotientParams| params.remainder_bits() - doublings(&params, slots);
        let (left, right) = (bits_at(own).into(), bits_at(other).into());
        if left == right {
            return Ok(());
        }
        Err(Incompatible(Difference::Shape { parameter: "remainder_bits", left, right }))
    }

    /// Visits each shard of up to [`CHUNK`] hashes once, with their places in the slice and the hashes for that shard.
    // The order of the hashes is that of the shards, and of the slots in a shard.
    fn each_shard(&self, hashes: &[u64], mut visit: impl FnMut(&Shard, &[usize], &[u64])) {
        let (mut order, mut rests) = ([0; CHUNK], [0; CHUNK]);
        let order = &mut order[..hashes.len()];
        order.iter_mut().enumerate().for_each(|(place, at)| *at = place);
        order.sort_unstable_by_key(|&place| hashes[place]);
        let shard_of = |place: usize| self.shard(hashes[place]);
        for places in order.chunk_by(|&one, &next| ptr::eq(shard_of(one).0, shard_of(next).0)) {
            let rests = &mut rests[..places.len()];
            rests.iter_mut().zip(places).for_each(|(rest, &place)| *rest = shard_of(place).1);
            visit(shard_of(places[0]).0, places, rests);
        }
    }

    /// Returns the shard of a hash, and the hash for that shard.
    // The two words of the product with the number of shards. Their product with the slots of a shard is that of the hash
    // and all slots, so the fingerprints are those of one filter.
    #[expect(clippy::cast_possible_truncation, reason = "both words are what is asked for")]
    fn shard(&self, hash: u64) -> (&Shard, u64) {
        let product = u128::from(hash) * self.shards.len() as u128;
        (&self.shards[(product >> 64) as usize], product as u64)
    }

    fn sum(&self, of: impl Fn(&QuotientFilter) -> u64) -> u64 {
        self.shards.iter().map(|shard| of(&shard.read())).sum()
    }
}

impl<S: KeyHasher> KeyHasher for ShardedQuotientFilter<S> {
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher> Membership for ShardedQuotientFilter<S> {
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

/// Stores another copy of a key that may be contained, so that it can be removed.
impl<S: KeyHasher> Insert for ShardedQuotientFilter<S> {
    type Error = InsertError;

    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        Insert::insert_hash(&mut &*self, hash)
    }
}

/// Inserts keys through a shared reference, as `std::io::Write` is implemented for `&File`.
impl<S: KeyHasher> Insert for &ShardedQuotientFilter<S> {
    type Error = InsertError;

    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        let (shard, rest) = self.shard(hash);
        Insert::insert_hash(&mut *shard.write(), rest)
    }
}

/// Removes keys through a shared reference, as `std::io::Write` is implemented for `&File`.
impl<S: KeyHasher> Remove for &ShardedQuotientFilter<S> {
    fn remove_hash(&mut self, hash: u64) -> bool {
        ShardedQuotientFilter::remove_hash(self, hash)
    }
}

impl<S: KeyHasher> Remove for ShardedQuotientFilter<S> {
    fn remove_hash(&mut self, hash: u64) -> bool {
        Self::remove_hash(self, hash)
    }
}

impl<S: KeyHasher> Merge for ShardedQuotientFilter<S> {
    type Error = MergeError;

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge(other)
    }
}

impl<S> fmt::Debug for ShardedQuotientFilter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardedQuotientFilter")
            .field("num_shards", &self.shards.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core::panic::AssertUnwindSafe;
    use std::panic::catch_unwind;

    use super::*;

    /// Whatever panics while it holds a lock: the others go on.
    #[test]
    fn a_poisoned_lock_is_no_panic() {
        let builder = QuotientFilter::builder().slots(100).remainder_bits(9);
        let mut filter = builder.build_sharded(1).unwrap();
        filter.insert("key").unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _guard = filter.shards[0].write();
            panic!("a bug");
        }));
        assert!(panicked.is_err() && filter.shards[0].0.is_poisoned());
        assert!(filter.contains("key") && filter.remove("key"));
        assert_eq!((filter.insert("other"), filter.len()), (Ok(()), 1));
        assert!(filter.to_filter().unwrap().contains("other"));
        let other = builder.build_sharded(1).unwrap();
        filter.merge(&other).unwrap();
        filter.clear();
        assert!(filter.is_empty());
    }
}
