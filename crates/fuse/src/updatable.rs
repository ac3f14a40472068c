//! The updatable map: construction, and changes of values.

mod builder;
mod portable;
mod reading;
mod view;

use core::hash::Hash;

use pds_core::error::{AllocError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::StoredWord;
use pds_core::storage::{WordSource, Words};

pub use builder::UpdatableMapBuilder;
pub use view::UpdatableMapView;

use crate::entries::check_value;
use crate::fuse_table::{FuseTable, Place, cell, flip};
use crate::system::ones;
use crate::{ConstructionError, index};

/// Number of bits that name one of the three slots of a key.
const OWN_BITS: u32 = 2;

/// A map from a fixed set of keys to values that can be changed, without the keys.
///
/// [`get`](Self::get) returns the value of a key. [`set`](Self::set) changes it in place, in constant time, and without the
/// other keys. No key can be added or removed later. For a key that is not in the set `get` returns `None`, except at the
/// false-positive rate.
///
/// Use it if values change and the keys do not. If no value changes, a retrieval map takes about half the bits.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a map has:
///
/// | type | contents | methods |
/// |---|---|---|
/// | `UpdatableMap` | in [`Words`] of its own | all |
/// | [`UpdatableMapView<B>`](crate::UpdatableMapView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - Keys of the set: the value is the one that was set last. This is exact.
/// - Other keys: with c check bits, `get` returns a value for a fraction 3/4 · 2^-c of them, and `set` overwrites the value of a
///   key of the set at the same rate. Without check bits, ask for keys of the set only.
/// - Construction succeeds for every set of keys, as that of a [`FuseFilter`](crate::FuseFilter).
/// - Bytes: equal keys, values, widths and hashers give equal bytes, whatever the order of the keys and of the changes.
/// - Memory: a key has 2 + c + v bits for values of v bits, times the slots per key of a fuse filter: 1.13 at 10^6 keys, 1.17
///   at 10^5, 1.24 at 10^4. For each key that is to be changed in place, the map stores which of its three slots is its own.
/// - Time: `get` and `set` read three places that name the slot of the key, and then the value: four cache lines.
///
/// # Examples
/// ```
/// use fuse::UpdatableMap;
///
/// let mut stock = UpdatableMap::builder().value_bits(10).check_bits(20).build([("bolt", 7), ("nut", 900)])?;
/// assert_eq!((stock.get("bolt"), stock.get("nut"), stock.get("gear")), (Some(7), Some(900), None));
/// assert_eq!(stock.set("bolt", 6), Ok(true));
/// assert_eq!(stock.get("bolt"), Some(6));
/// assert_eq!(stock.set("gear", 1), Ok(false), "no key of the set");
/// assert!(stock.set("nut", 1024).is_err(), "more than 10 bits");
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
///
/// # References
/// Bernard Chazelle, Joe Kilian, Ronitt Rubinfeld and Ayellet Tal, "The Bloomier Filter: An Efficient Data Structure for
/// Static Support Lookup Tables", SODA 2004, section 3: the two tables of a mutable filter.
#[derive(Clone)]
pub struct UpdatableMap<S = DefaultHashBuilder, W = Words> {
    /// For each key which of its slots is its own, and its check bits. The values follow in the same words.
    table: FuseTable<W>,
    value_bits: u32,
    /// From keys to hashes.
    hasher: S,
}

/// Where the value of a key is.
enum Home {
    /// In the cell with this number.
    Cell(u64),
    /// In the word with this number.
    Word(u64),
}

// Functions that are called by path (`UpdatableMap::new`) exist for one storage only: the compiler could not tell two
// of the same name apart (E0034).
impl UpdatableMap {
    /// Builds the map of these keys and values, with this number of check bits, from 0 to 32. The greatest value determines
    /// the number of bits of a value.
    ///
    /// # Errors
    /// As [`UpdatableMapBuilder::build`].
    pub fn new<K: Hash>(
        entries: impl IntoIterator<Item = (K, u64)>,
        check_bits: u32,
    ) -> Result<Self, ConstructionError> {
        Self::builder().check_bits(check_bits).build(entries)
    }

    /// Starts a builder: for values of a fixed width, a seed, another hasher, threads, or progress.
    pub const fn builder<'a>() -> UpdatableMapBuilder<'a> {
        UpdatableMapBuilder::new()
    }
}

impl<S> UpdatableMap<S> {
    /// Copies the map. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (table, value_bits) = (self.table.try_clone()?, self.value_bits);
        Ok(Self { table, value_bits, hasher: self.hasher.clone() })
    }

    /// Changes the value of a key by its hash; see [`set`](Self::set). For the hash see [`get_hash`](Self::get_hash).
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn set_hash(&mut self, hash: u64, value: u64) -> Result<bool, ConstructionError> {
        check_value((hash, value), self.value_bits)?;
        let home = self.home(self.table.words(), hash);
        let (at, bits) = (index(self.table.len()), self.value_bits);
        let words = self.table.words_mut();
        match home {
            None => return Ok(false),
            Some(Home::Word(word)) => words[index(word)] = value,
            Some(Home::Cell(slot)) => {
                let values = &mut words[at..];
                let old = cell(values, slot, bits) & ones(bits.into());
                flip(values, slot, bits, old ^ value);
            }
        }
        Ok(true)
    }
}

impl<S: KeyHasher> UpdatableMap<S> {
    /// Changes the value of `key`, and returns `true`. Returns `false`, and changes nothing, if the key is certainly not in the
    /// set.
    ///
    /// A key that is not in the set is taken for one at the false-positive rate. Then the value of another key is lost.
    ///
    /// # Errors
    /// [`ConstructionError::ValueTooLarge`] if the value has more bits than the map stores.
    ///
    /// # Complexity
    /// O(1): reads three places, and writes one. Does not allocate.
    pub fn set<K: Hash + ?Sized>(
        &mut self,
        key: &K,
        value: u64,
    ) -> Result<bool, ConstructionError> {
        self.set_hash(self.hasher.hash_key(key), value)
    }
}

impl<S, W: WordSource> UpdatableMap<S, W> {
    /// Finds the value of a key. `None` if the key is not in the set.
    #[inline]
    fn home(&self, words: &[W::Word], hash: u64) -> Option<Home> {
        self.home_at(words, hash, self.table.place(words, hash).as_ref())
    }

    /// Finds the value of a key by its place in the table.
    #[inline(always)]
    fn home_at(&self, words: &[W::Word], hash: u64, place: Option<&Place>) -> Option<Home> {
        if self.table.params().rest > 0
            && let Some(number) = self.table.find_exact(words, hash)
        {
            let values = self.num_value_words() - self.table.params().rest;
            return Some(Home::Word(self.table.len() + values + number as u64));
        }
        let place = place?;
        let sum = self.table.sum(words, place);
        let check = (sum >> OWN_BITS ^ place.fingerprint()) & ones(self.check_bits().into());
        let own = index(sum & ones(OWN_BITS.into()));
        (check == 0 && own < 3).then(|| Home::Cell(self.table.slot_of(place, own)))
    }

    /// Returns the value at a home.
    fn value(&self, words: &[W::Word], home: &Home) -> u64 {
        let mask = ones(self.value_bits.into());
        match *home {
            Home::Word(word) => words[index(word)].value() & mask,
            Home::Cell(slot) => {
                cell(&words[index(self.table.len())..], slot, self.value_bits) & mask
            }
        }
    }
}

impl<S, W> UpdatableMap<S, W> {
    /// Returns the number of words after the table: the cells of the values, and the values of the exact list.
    const fn num_value_words(&self) -> u64 {
        value_words(&self.table, self.value_bits)
    }
}

/// Returns the number of words for the values of a table.
const fn value_words<W>(table: &FuseTable<W>, value_bits: u32) -> u64 {
    let bits = table.num_slots().saturating_mul(value_bits as u64);
    bits.div_ceil(64).saturating_add(table.params().rest)
}

impl<S: KeyHasher> PartialEq for UpdatableMap<S> {
    fn eq(&self, other: &Self) -> bool {
        let same_hasher = Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok();
        same_hasher && self.value_bits == other.value_bits && self.table == other.table
    }
}

impl<S: KeyHasher> Eq for UpdatableMap<S> {}
