//! The quotient map: construction, and the methods that change it.

mod portable;
mod reading;
mod resize;
mod view;

use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible, InsertError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::Words;
use pds_params::QuotientParams;
use pds_params::internal::ParamFault;

pub use self::view::QuotientMapView;
use crate::QuotientMapBuilder;
use crate::blocks::MAX_WIDTH;
use crate::table::Table;

/// The most bits of a value.
const MAX_VALUE_BITS: u32 = 32;

/// A map from keys to small values that keeps no keys: for each key it lists the values that were inserted for it, and those
/// of a few other keys at a chosen rate.
///
/// Use it in front of something that has the keys: the shard, file or page in which a key is stored. All of its values are
/// tried then, which is one for most keys, and none for most absent ones.
///
/// | question | answer |
/// |---|---|
/// | [`values`](Self::values) of a key | each value that was inserted for it, as often as it was, in ascending order; and those of keys with the same fingerprint |
/// | [`get`](Self::get) of a key | the least of these. `None` is certain: nothing was inserted for the key |
/// | a key with one value, inserted once | exactly this value, but at the false-positive rate also others |
///
/// A second `insert` of a key adds a value and replaces none: the map could not tell a key's old value from that of another
/// key. To change a value, [`remove`](Self::remove) the old one and insert the new one.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a map has:
///
/// | type | slots | methods |
/// |---|---|---|
/// | `QuotientMap` | in [`Words`] of its own | all |
/// | [`QuotientMapView<B>`](crate::QuotientMapView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - The values of a key are all there, if the caller removes only pairs that are in.
/// - An absent key has values at the mean rate that was promised, up to the expected number of items. A present key has
///   values of other keys at the same rate. At load `a` and `r` bits per remainder it is 1 - e^(-a/2^r).
/// - Capacity: exactly 95 % of the slots. Each pair takes one. An insert below it fails only if the allocator refuses memory.
/// - Memory: `r` + `v` + 2.125 bits per slot for values of `v` bits.
/// - Time: all operations are O(1) on average if few pairs have the same key. `n` pairs of one key take O(n) for each
///   operation near it.
/// - Determinism: the bytes depend on the sizes and on the stored pairs, not on the order of operations.
///
/// # Examples
/// ```
/// use quotient::QuotientMap;
///
/// // In which of 200 files is a key?
/// let mut files = QuotientMap::new(10_000, 0.001, 8)?;
/// files.insert("8c1f", 17)?;
/// files.insert("77ab", 199)?;
/// assert_eq!((files.get("8c1f"), files.get("absent")), (Some(17), None));
/// // The key moves to another file.
/// assert!(files.remove("8c1f", 17));
/// files.insert("8c1f", 18)?;
/// assert!(files.values("8c1f").eq([18]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Alex Conway, Martin Farach-Colton and Rob Johnson, "SplinterDB and Maplets: Improving the Tradeoffs in Key-Value Store
/// Compaction Policy", SIGMOD 2023, section 3.
#[derive(Clone)]
pub struct QuotientMap<S = DefaultHashBuilder, W = Words> {
    /// The entries: a remainder, and below it the value.
    table: Table<W>,
    /// Shape and design; the table has this shape, and the bits of a value more per slot.
    params: QuotientParams,
    value_bits: u32,
    /// From keys to hashes.
    hasher: S,
}

// Functions that are called by path (`QuotientMap::new`) exist for one storage only: the compiler could not tell two of
// the same name apart (E0034).
impl QuotientMap {
    /// Creates a map for `expected_items` keys with a value of `value_bits` bits each, from 1 to 32, whose false-positive
    /// rate is at most `rate` up to that number.
    ///
    /// It has the fewest bytes for this, and does not grow by itself. For a map that grows use
    /// [`grows_to`](QuotientMapBuilder::grows_to).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, if `value_bits` is not from 1
    /// to 32, or if all need more than 2^48 slots or 56 bits per slot. [`BuildError::Alloc`] if the allocator refuses the
    /// memory.
    pub fn new(expected_items: u64, rate: f64, value_bits: u32) -> Result<Self, BuildError> {
        Self::builder(value_bits).expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder of a map with values of `value_bits` bits, from 1 to 32: for growth, other sizes, a seed, or another
    /// hasher.
    pub const fn builder(value_bits: u32) -> QuotientMapBuilder {
        QuotientMapBuilder::new().value_bits(value_bits)
    }
}

impl<S: KeyHasher> QuotientMap<S> {
    /// Creates an empty map with exactly these parameters, and values of `value_bits` bits.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `value_bits` is not from 1 to 32, or if it and the width of remainders are above 56.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn from_params(
        params: QuotientParams,
        value_bits: u32,
        hasher: S,
    ) -> Result<Self, BuildError> {
        check_bits(&params, value_bits)?;
        let table = Table::new(params.num_slots(), params.remainder_bits() + value_bits)?;
        Ok(Self { table, params, value_bits, hasher })
    }

    /// Copies the map. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        Ok(Self { table: self.table.try_clone()?, hasher: self.hasher.clone(), ..*self })
    }

    /// Inserts a value of a key by its hash; see [`insert`](Self::insert).
    ///
    /// Keys with equal hashes are one key. For the hash see [`contains_hash`](Self::contains_hash).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_hash(&mut self, hash: u64, value: u32) -> Result<(), InsertError> {
        let max = self.max_value();
        if value > max {
            return Err(InsertError::Value { value: value.into(), max: max.into() });
        }
        if self.len() >= self.capacity() {
            self.make_room()?;
        }
        let (quotient, entry) = self.entry(hash, value);
        self.table.insert(quotient, entry).map(drop).map_err(InsertError::Alloc)
    }

    /// Removes a value of a key by its hash; see [`remove`](Self::remove), and [`contains_hash`](Self::contains_hash) for
    /// the hash.
    pub fn remove_hash(&mut self, hash: u64, value: u32) -> bool {
        let (quotient, entry) = self.entry(hash, value);
        value <= self.max_value() && self.table.remove(quotient, entry)
    }

    /// Removes all pairs. The size stays.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Asks the system to back the slots with huge pages. Returns whether it agreed to try.
    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.table.words().advise_huge_pages()
    }

    /// Inserts `value` for `key`, beside the values that the key has. Each call adds one, equal ones included.
    ///
    /// # Errors
    /// [`InsertError::Value`] if the value has more bits than [`value_bits`](Self::value_bits). [`InsertError::Full`] if the
    /// map is at its capacity and does not grow. [`InsertError::Alloc`] if the allocator refuses the memory for growth, or
    /// for the run of pairs that overflows the last slot. No pair is added or lost then; the map may have grown.
    ///
    /// # Complexity
    /// O(1) on average, and O(pairs) if the key or one near it has many. The time grows from a load of 90 % up.
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K, value: u32) -> Result<(), InsertError> {
        self.insert_hash(self.hasher.hash_key(key), value)
    }

    /// Removes `value` of `key`, once. Returns `false`, and changes nothing, if the key certainly has no such value.
    ///
    /// Remove only pairs that are in. Removing another one returns `true` if a key with the same fingerprint has the value,
    /// and then that key loses it. The map cannot detect this.
    ///
    /// # Complexity
    /// As [`insert`](Self::insert), without an allocation.
    pub fn remove<K: Hash + ?Sized>(&mut self, key: &K, value: u32) -> bool {
        self.remove_hash(self.hasher.hash_key(key), value)
    }
}

/// Returns an error if values have not from `min` to 32 bits.
pub(crate) fn check_value_bits(value_bits: u32, min: u32) -> Result<(), ParamError> {
    check_range("value_bits", value_bits, min, MAX_VALUE_BITS)
}

/// Returns an error if values of this size, or both they and the remainders, do not fit a slot.
fn check_bits(params: &QuotientParams, value_bits: u32) -> Result<(), ParamError> {
    check_value_bits(value_bits, 1)?;
    check_range("remainder_bits", params.remainder_bits(), 1, MAX_WIDTH - value_bits)
}

fn check_range(parameter: &'static str, value: u32, min: u32, max: u32) -> Result<(), ParamError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let [value, min, max] = [value, min, max].map(u64::from);
    Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }))
}

/// Maps are equal if shape, hasher and pairs are. The design (expected items and rate) and the doublings left take no part.
impl<S: KeyHasher> PartialEq for QuotientMap<S> {
    fn eq(&self, other: &Self) -> bool {
        let same_hasher = Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok();
        same_hasher && self.value_bits == other.value_bits && self.table == other.table
    }
}

impl<S: KeyHasher> Eq for QuotientMap<S> {}
