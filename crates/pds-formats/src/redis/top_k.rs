//! The top-k list of `RedisBloom`: buckets of `HeavyKeeper`, and a heap of the most frequent items.

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use pds_core::error::{AllocError, BuildError, ParamError};
use pds_core::internal::{GOLDEN_RATIO, prefetch};
use pds_params::internal::ParamFault;

use super::rdb::{ModuleReader, ModuleWriter, RdbVersion};
use super::rows;
use crate::FormatError;
use crate::hash::murmur2_32;
use crate::memory::{collected, reserved, zeroed};

/// The name of the format in errors.
const FORMAT: &str = "RedisBloom top-k list";

/// Name and version of the module's type.
const TYPE: (&str, u16) = ("TopK-TYPE", 0);

/// The seed of fingerprints. Row i has the seed i.
const FINGERPRINT_SEED: u32 = 1919;

/// Words of 4 bytes of an entry of the heap.
const ENTRY_WORDS: u64 = 6;

/// The most buckets and the most entries: 2^32.
const MAX_BUCKETS: u64 = 1 << 32;

/// The most frequent items of a stream, with the buckets, the heap and the answers of `RedisBloom`.
///
/// Use it to exchange lists with a server. Otherwise use `heavy_hitters::TopK`, whose counts have bounds. Counts here have none:
/// an item that meets another one in its buckets takes weight from it, and is counted too low itself.
///
/// # Guarantees
/// - An item with a bucket to itself in some row has its exact count. No count is above the truth unless two items share
///   bucket and fingerprint: 1 pair in 2^32 w for w columns.
/// - The list has k items, the heaviest by these counts.
/// - Memory: 8 w d bytes for w columns and d rows, and 32 bytes and its own length per item of the list.
/// - Insert: O(d n + k) for a weight of n in the worst case. Query: O(d + k).
///
/// # Examples
/// ```
/// use pds_formats::redis::{RdbVersion, RedisTopK};
///
/// let mut words = RedisTopK::reserve(2, 50, 5, 0.9)?;
/// for (word, times) in [("the", 30), ("of", 20), ("and", 25)] {
///     words.insert(word.as_bytes(), times);
/// }
/// assert_eq!(words.list(), [(&b"the"[..], 30), (b"and", 25)]);
/// // `RESTORE key 0 value` makes it a key of the server.
/// let read = RedisTopK::from_dump(&words.to_dump(RdbVersion::default()))?;
/// assert!(read.contains(b"and") && read.estimate(b"of") == 20);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Junzhi Gong et al., "`HeavyKeeper`: an accurate algorithm for finding top-k elephant flows", USENIX ATC 2018.
#[derive(Clone)]
pub struct RedisTopK {
    width: u32,
    depth: u32,
    decay: Decay,
    buckets: Vec<Bucket>,
    /// A heap, the least count first.
    heap: Vec<Entry>,
    random: Random,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bucket {
    fingerprint: u32,
    count: u32,
}

/// An item of the list. Without fingerprint, length and count the entry is free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    fingerprint: u32,
    count: u32,
    /// The length of the item.
    length: u32,
    /// The item. The server dumps it up to its first zero byte only.
    item: Vec<u8>,
}

impl RedisTopK {
    /// Creates a list as `TOPK.RESERVE` does, whose defaults are 8 columns, 7 rows and a decay of 0.9.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `k`, `width` or `depth` is 0, if there would be more than 2^32 buckets, or if `decay` is not above 0
    /// and at most 1. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn reserve(k: u32, width: u32, depth: u32, decay: f64) -> Result<Self, BuildError> {
        let buckets = u64::from(width) * u64::from(depth);
        for (parameter, value) in [("k", k.into()), ("buckets", buckets)] {
            let (min, max) = (1, MAX_BUCKETS);
            if !(min..=max).contains(&value) {
                return Err(
                    ParamError(ParamFault::OutOfRange { parameter, value, min, max }).into()
                );
            }
        }
        if !is_decay(decay) {
            let (parameter, value) = ("decay", decay);
            return Err(ParamError(ParamFault::NotAProbability { parameter, value }).into());
        }
        let (buckets, heap) = (zeroed(buckets)?, zeroed(k.into())?);
        let decay = Decay::new(decay)?;
        Ok(Self { width, depth, decay, buckets, heap, random: Random::default() })
    }

    /// Reads what `DUMP` returns.
    ///
    /// The server cuts items with zero bytes in its dumps. They are found here by their fingerprint, their length and the bytes that
    /// are left.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or if their checksum is wrong.
    pub fn from_dump(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = ModuleReader::new(FORMAT, bytes, TYPE)?;
        let mut number = |name| reader.unsigned(name)?.narrow()?.within(1..=u32::MAX);
        let (k, width) = (number("k")?, number("width")?);
        let depth = reader.unsigned("depth")?.narrow()?;
        // Neither the number of words nor that of bytes overflows then.
        let can_be =
            |depth: u32| (1..=MAX_BUCKETS).contains(&(u64::from(width) * u64::from(depth)));
        let depth = depth.require(can_be(depth.value), "such that there are 1 to 2^32 buckets")?;
        let decay = reader.double("decay")?;
        let decay = decay.require(is_decay(decay.value), "above 0 and at most 1")?;
        let buckets = words(&mut reader, "buckets", u64::from(width) * u64::from(depth) * 2)?;
        let bucket = |&[fingerprint, count]: &[u32; 2]| Bucket { fingerprint, count };
        let buckets = buckets.as_chunks().0.iter().map(bucket).collect();
        // After the length stands an address of the server's, and after the count what fills up the entry.
        let entries = words(&mut reader, "heap", u64::from(k) * ENTRY_WORDS)?;
        let mut heap = reserved(k.into()).map_err(|error| FormatError::alloc(FORMAT, error))?;
        for &[fingerprint, length, _, _, count, _] in entries.as_chunks().0 {
            heap.push(Entry::read(&mut reader, fingerprint, count, length)?);
        }
        reader.end()?;
        let decay = Decay::new(decay).map_err(|error| FormatError::alloc(FORMAT, error))?;
        Ok(Self { width, depth, decay, buckets, heap, random: Random::default() })
    }

    /// Returns what `RESTORE` takes.
    ///
    /// The entries of the heap have zeros where a server's have addresses, which it ignores.
    #[must_use]
    pub fn to_dump(&self, version: RdbVersion) -> Vec<u8> {
        let mut writer = ModuleWriter::new(TYPE);
        let k = self.heap.len() as u64;
        [k, self.width.into(), self.depth.into()]
            .into_iter()
            .for_each(|number| writer.unsigned(number));
        writer.double(self.decay.base);
        let buckets = self.buckets.iter().flat_map(|bucket| [bucket.fingerprint, bucket.count]);
        writer.string(&buckets.flat_map(u32::to_le_bytes).collect::<Vec<_>>());
        let heap = self
            .heap
            .iter()
            .flat_map(|entry| [entry.fingerprint, entry.length, 0, 0, entry.count, 0]);
        writer.string(&heap.flat_map(u32::to_le_bytes).collect::<Vec<_>>());
        for entry in &self.heap {
            writer.string(&[&entry.item[..], &[0]].concat());
        }
        writer.end(version)
    }

    /// Adds a weight to an item, as `TOPK.INCRBY` does (`TOPK.ADD` adds 1). Returns the item that left the list for it.
    ///
    /// A bucket of another item loses a unit of its count with probability decay^count for each unit of `weight`. The server draws by
    /// the C library's generator, seeded with the time. Here the same inserts always give the same list: see
    /// [`set_seed`](Self::set_seed). The server takes weights up to 100,000. Counts saturate at 2^32 - 1, where those of the server
    /// begin again at 0.
    ///
    /// # Complexity
    /// O(d n + k) for d rows, and the weight or the count of a bucket as n, whichever is less. With a decay below 1, a bucket of
    /// another item seldom loses more than a few dozen units.
    pub fn insert(&mut self, item: &[u8], weight: u32) -> Option<Vec<u8>> {
        let fingerprint = murmur2_32(item, FINGERPRINT_SEED);
        let mut count = 0;
        for (places, rows) in rows::groups(item, self.width, self.depth) {
            // The processor cannot predict the branches of a bucket, so without this it would load the next one only after them.
            places.iter().for_each(|&place| prefetch(&self.buckets, place));
            for &place in &places[..rows] {
                let bucket = &mut self.buckets[place];
                bucket.add(fingerprint, weight, &self.decay, &mut self.random);
                if bucket.fingerprint == fingerprint {
                    count = count.max(bucket.count);
                }
            }
        }
        if count < self.heap[0].count {
            return None;
        }
        if let Some(at) = self.find(item, fingerprint) {
            self.heap[at].count = count;
            self.sift_down(at);
            return None;
        }
        let entry = Entry::new(item, fingerprint, count);
        let displaced = core::mem::replace(&mut self.heap[0], entry);
        self.sift_down(0);
        (!displaced.is_free()).then_some(displaced.item)
    }

    /// Tests whether an item is in the list, as `TOPK.QUERY` does.
    #[must_use]
    pub fn contains(&self, item: &[u8]) -> bool {
        self.find(item, murmur2_32(item, FINGERPRINT_SEED)).is_some()
    }

    /// Estimates the weight of an item, as `TOPK.COUNT` does: 0 if it has no bucket.
    #[must_use]
    pub fn estimate(&self, item: &[u8]) -> u32 {
        let fingerprint = murmur2_32(item, FINGERPRINT_SEED);
        // The module's: an item of the list is not looked for in buckets below the least count of the list.
        let least = self.find(item, fingerprint).map_or(0, |_| self.heap[0].count);
        let buckets = self.places(item).map(|place| self.buckets[place]);
        let own =
            buckets.filter(|bucket| bucket.fingerprint == fingerprint && bucket.count >= least);
        own.map(|bucket| bucket.count).max().unwrap_or(0)
    }

    /// Returns the items of the list with their counts, the most frequent first, as `TOPK.LIST` does with `WITHCOUNT`.
    ///
    /// The server prints items up to their first zero byte.
    #[must_use]
    pub fn list(&self) -> Vec<(&[u8], u32)> {
        let entries = self.heap.iter().filter(|entry| !entry.is_free());
        let mut list: Vec<_> = entries.map(|entry| (&entry.item[..], entry.count)).collect();
        // A stable sort, as the C library's of the server.
        list.sort_by_key(|&(_, count)| Reverse(count));
        list
    }

    /// Sets the seed of the random numbers that [`insert`](Self::insert) draws. It is 0 in a new list and in one that was read.
    pub const fn set_seed(&mut self, seed: u64) {
        self.random = Random(seed);
    }

    /// Returns the number of items that the list has room for.
    #[must_use]
    pub const fn k(&self) -> usize {
        self.heap.len()
    }

    /// Returns the number of columns.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the probability that a bucket of count 1 loses it to a unit of another item.
    #[must_use]
    pub const fn decay(&self) -> f64 {
        self.decay.base
    }

    /// Returns the bucket of an item in each row.
    fn places<'a>(&self, item: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
        rows::places(item, self.width, self.depth)
    }

    fn find(&self, item: &[u8], fingerprint: u32) -> Option<usize> {
        self.heap.iter().rposition(|entry| entry.is_of(item, fingerprint))
    }

    /// Moves an entry down. The module moves it below one of the same count in the first step only.
    fn sift_down(&mut self, mut at: usize) {
        let (count, mut is_first) = (self.heap[at].count, true);
        loop {
            let children = (2 * at + 1)..(2 * at + 3).min(self.heap.len());
            let Some(child) = children.min_by_key(|&child| self.heap[child].count) else { return };
            let least = self.heap[child].count;
            if least > count || !is_first && least == count {
                return;
            }
            self.heap.swap(at, child);
            (at, is_first) = (child, false);
        }
    }
}

/// The random numbers are not compared.
impl PartialEq for RedisTopK {
    fn eq(&self, other: &Self) -> bool {
        let shape = |list: &Self| (list.width, list.depth, list.decay());
        shape(self) == shape(other) && self.buckets == other.buckets && self.heap == other.heap
    }
}

impl fmt::Debug for RedisTopK {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisTopK")
            .field("k", &self.k())
            .field("width", &self.width)
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}

fn is_decay(decay: f64) -> bool {
    decay > 0.0 && decay <= 1.0
}

/// Takes a string of this number of words.
fn words(
    reader: &mut ModuleReader<'_>,
    field: &'static str,
    count: u64,
) -> Result<Vec<u32>, FormatError> {
    let offset = reader.offset();
    let bytes = reader.string(field)?;
    let (words, rest) = bytes.as_chunks();
    if words.len() as u64 != count || !rest.is_empty() {
        let allowed = alloc::format!("{}", u128::from(count) * 4);
        return Err(reader.invalid("length of a string", offset, bytes.len() as u64, allowed));
    }
    let words = words.iter().map(|&bytes| u32::from_le_bytes(bytes));
    collected(words).map_err(|error| FormatError::alloc(FORMAT, error))
}

impl Bucket {
    /// Adds a weight of the item of this fingerprint, which may take the bucket from another one.
    fn add(&mut self, fingerprint: u32, weight: u32, decay: &Decay, random: &mut Random) {
        if self.count == 0 || self.fingerprint == fingerprint {
            self.count = if self.count == 0 { weight } else { self.count.saturating_add(weight) };
            self.fingerprint = fingerprint;
            return;
        }
        let mut left = weight;
        while left > 0 {
            let idle = decay.failures(self.count, left, random.unit());
            if idle >= left {
                return;
            }
            left -= idle;
            self.count -= 1;
            if self.count == 0 {
                *self = Self { fingerprint, count: left };
                return;
            }
            left -= 1;
        }
    }
}

impl Entry {
    #[expect(clippy::cast_possible_truncation, reason = "as in the module")]
    fn new(item: &[u8], fingerprint: u32, count: u32) -> Self {
        Self { fingerprint, count, length: item.len() as u32, item: item.to_vec() }
    }

    /// Reads the item of an entry.
    fn read(
        reader: &mut ModuleReader<'_>,
        fingerprint: u32,
        count: u32,
        length: u32,
    ) -> Result<Self, FormatError> {
        let offset = reader.offset();
        let text = reader.string("item")?;
        let Some((&0, item)) = text.split_last() else {
            let allowed = "a string that ends with a zero byte";
            return Err(reader.invalid("item", offset, &text[..], allowed));
        };
        // Up to its first zero byte, or whole.
        let is_cut = item.len() < length as usize && !item.contains(&0);
        let is_whole = item.len() == length as usize
            && (length == 0 || murmur2_32(item, FINGERPRINT_SEED) == fingerprint);
        if !is_cut && !is_whole {
            let allowed =
                alloc::format!("an item of {length} bytes with the fingerprint {fingerprint}");
            return Err(reader.invalid("item", offset, item, allowed));
        }
        Ok(Self { fingerprint, count, length, item: item.to_vec() })
    }

    const fn is_free(&self) -> bool {
        self.fingerprint == 0 && self.length == 0 && self.count == 0
    }

    #[expect(clippy::cast_possible_truncation, reason = "as in the module")]
    fn is_of(&self, item: &[u8], fingerprint: u32) -> bool {
        self.fingerprint == fingerprint
            && self.length == item.len() as u32
            && item.starts_with(&self.item)
            && item[self.item.len()..].first().is_none_or(|&byte| byte == 0)
    }
}

/// The generator `SplitMix64`.
#[derive(Clone, Copy, Debug, Default)]
struct Random(u64);

/// The number of values of [`Random::unit`].
const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

impl Random {
    /// Returns a number from above 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(GOLDEN_RATIO);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((word ^ word >> 31) >> 11) as f64 + 1.0) / TWO_TO_53
    }
}

/// The chances that a bucket of a count loses a unit of it: the decay to the power of the count.
#[derive(Clone)]
struct Decay {
    base: f64,
    /// For the counts from 0 on: the probability that nothing is lost, and its logarithm.
    chances: Vec<(f64, f64)>,
}

/// Counts whose chances are computed in advance.
// A decay of 0.9 leaves a chance of 10^-12 there. With more counts the table would fill a larger part of the first-level cache.
const CHANCES: u32 = 256;

/// The share by which a random number has to be off a probability, to decide without logarithms. Their errors are far smaller.
const MARGIN: f64 = 1e-9;

impl Decay {
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    fn new(base: f64) -> Result<Self, AllocError> {
        let chances = (0..CHANCES).map(|count| {
            let chance = libm::pow(base, count.into());
            (1.0 - chance, libm::log1p(-chance))
        });
        Ok(Self { base, chances: collected(chances)? })
    }

    /// Returns how many trials fail before the first one succeeds at this count, by a random number from above 0 to 1. It saturates. If
    /// at least `enough` fail, it may return that number.
    // Most weights are 1. For them the question is on which side of a probability the random number is.
    fn failures(&self, count: u32, enough: u32, unit: f64) -> u32 {
        let (keeps, logarithm) = self.chances[count.min(CHANCES - 1) as usize];
        // The probability to lose nothing rises with the count, so that the last entry serves for all greater ones.
        if enough == 1 && unit < keeps * (1.0 - MARGIN) {
            return 1;
        }
        if count >= CHANCES {
            return quotient(unit, libm::log1p(-libm::pow(self.base, count.into())));
        }
        if enough == 1 && unit > keeps * (1.0 + MARGIN) {
            return 0;
        }
        quotient(unit, logarithm)
    }
}

/// Returns the whole part of the quotient of the logarithm of `unit` and another one. The other one is 0 if the chance is.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn quotient(unit: f64, logarithm: f64) -> u32 {
    if logarithm < 0.0 { (libm::log(unit) / logarithm) as u32 } else { u32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table and the shortcut change no answer: the same as one power and two logarithms for each draw.
    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    fn draws_are_those_of_the_formula() {
        let formula = |decay: f64, count: u32, unit: f64| {
            let chance = libm::pow(decay, count.into());
            let trials = libm::log(unit) / libm::log1p(-chance);
            if chance > 0.0 { trials as u32 } else { u32::MAX }
        };
        let mut random = Random(5);
        for base in [1e-300, 0.001, 0.5, 0.9, 0.99, 0.999_999, 1.0] {
            let decay = Decay::new(base).unwrap();
            for count in (1..400).chain([1_000, 100_000, u32::MAX]) {
                let keeps = 1.0 - libm::pow(base, count.into());
                let off = [2.0 * MARGIN, MARGIN, 1e-15, 0.0];
                let near = off.into_iter().flat_map(|off| [1.0 - off, 1.0 + off]);
                let units = near.map(|factor| keeps * factor).filter(|&unit| unit > 0.0);
                for unit in units.chain((0..50).map(|_| random.unit())).chain([1.0, 1e-18]) {
                    let unit = unit.min(1.0);
                    let expected = formula(base, count, unit);
                    for enough in [1, 2, 100, u32::MAX] {
                        let found = decay.failures(count, enough, unit);
                        assert_eq!(
                            found.min(enough),
                            expected.min(enough),
                            "{base}^{count} at {unit}"
                        );
                    }
                }
            }
        }
    }
}
