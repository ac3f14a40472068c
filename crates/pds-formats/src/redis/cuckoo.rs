//! The cuckoo filter of `RedisBloom`: tables that are added as they fill.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use pds_core::error::{AllocError, BuildError, InsertError, ParamError};
use pds_params::internal::ParamFault;

use super::chunks::{self, Chunk};
use super::rdb::{ModuleReader, ModuleWriter, RdbVersion};
use crate::FormatError;
use crate::hash::murmur2_64a;
use crate::memory::{collected, zeroed};
use crate::reader::Reader;

/// The name of the format in errors.
const FORMAT: &str = "RedisBloom cuckoo filter";

/// Name and version of the module's type.
const TYPE: (&str, u16) = ("MBbloomCF", 4);

/// The factor of a fingerprint in the hash of its other bucket.
const STEP: u64 = 0x5bd1_e995;

/// The most tables that a filter grows to, as on a server with its default of `cf-max-expansions`.
const MAX_TABLES: usize = 32;

/// The most tables that are read: the greatest value of that option.
const MAX_TABLES_READ: u64 = 65_536;

/// The largest table, in bytes: 1 TiB.
const MAX_BYTES: u64 = 1 << 40;

/// A cuckoo filter of `RedisBloom`: fingerprints of one byte in buckets of few slots, in one table or several.
///
/// Use it to exchange filters with a server. Otherwise use `cuckoo::CuckooFilter` or `quotient::QuotientFilter`, which are
/// smaller and have any rate.
///
/// # Guarantees
/// - False negatives: never for items that are in, unless an item was removed that was not.
/// - False positives: at most 2 b t / 255 for b slots per bucket and t tables, whatever the load.
/// - Memory: one byte per slot.
/// - Insert, query and remove: O(b t). A removal may [compact](Self::compact) all tables.
///
/// # Examples
/// ```
/// use pds_formats::redis::RedisCuckooFilter;
///
/// let mut filter = RedisCuckooFilter::reserve(1_000)?;
/// filter.insert(b"user:17")?;
/// // `CF.LOADCHUNK key iterator data` for each chunk makes it a key of the server.
/// let mut read = RedisCuckooFilter::from_chunks(&filter.to_chunks())?;
/// assert!(read.contains(b"user:17") && read.remove(b"user:17") && !read.contains(b"user:17"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RedisCuckooFilter {
    tables: Vec<Vec<u8>>,
    /// Buckets of the first table.
    buckets: u64,
    items: u64,
    deletes: u64,
    bucket_size: u16,
    max_iterations: u16,
    /// How many times as many buckets as a table the next one has. 0: there is no next one.
    expansion: u16,
}

/// A fingerprint and the hashes of its two buckets.
#[derive(Clone, Copy)]
struct Entry {
    fingerprint: u8,
    hashes: [u64; 2],
}

impl Entry {
    fn new(item: &[u8]) -> Self {
        let hash = murmur2_64a(item, 0);
        #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
        Self::at((hash % 255 + 1) as u8, hash)
    }

    fn at(fingerprint: u8, hash: u64) -> Self {
        Self { fingerprint, hashes: [hash, other(fingerprint, hash)] }
    }
}

/// Returns the hash of the other bucket.
const fn other(fingerprint: u8, hash: u64) -> u64 {
    hash ^ (fingerprint as u64).wrapping_mul(STEP)
}

impl RedisCuckooFilter {
    /// Creates a filter as `CF.RESERVE` does by default: two slots per bucket, 20 iterations, and further tables of the same
    /// size.
    ///
    /// # Errors
    /// As [`with_options`](Self::with_options).
    pub fn reserve(capacity: u64) -> Result<Self, BuildError> {
        Self::with_options(capacity, 2, 20, 1)
    }

    /// Creates a filter as `CF.RESERVE` does with `BUCKETSIZE`, `MAXITERATIONS` and `EXPANSION`.
    ///
    /// The number of buckets is the next power of two of `capacity` divided by `bucket_size`. `expansion` is rounded up to a
    /// power of two; with 0 the filter does not grow.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `bucket_size` is not from 1 to 255, if `max_iterations` is 0, if `capacity` is below two
    /// buckets or above 2^40, or if `expansion` is above 32768. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn with_options(
        capacity: u64,
        bucket_size: u16,
        max_iterations: u16,
        expansion: u16,
    ) -> Result<Self, BuildError> {
        let limits = [
            ("bucket_size", u64::from(bucket_size), 1, 255),
            ("max_iterations", max_iterations.into(), 1, u16::MAX.into()),
            ("capacity", capacity, 2 * u64::from(bucket_size), MAX_BYTES),
            ("expansion", expansion.into(), 0, 1 << 15),
        ];
        for (parameter, value, min, max) in limits {
            if !(min..=max).contains(&value) {
                return Err(
                    ParamError(ParamFault::OutOfRange { parameter, value, min, max }).into()
                );
            }
        }
        let buckets = (capacity / u64::from(bucket_size)).next_power_of_two();
        let expansion = if expansion == 0 { 0 } else { expansion.next_power_of_two() };
        let empty = Self {
            tables: Vec::new(),
            buckets,
            items: 0,
            deletes: 0,
            bucket_size,
            max_iterations,
            expansion,
        };
        let first = empty.table(0).ok_or(ParamError(ParamFault::OutOfRange {
            parameter: "capacity",
            value: capacity,
            min: 2 * u64::from(bucket_size),
            max: MAX_BYTES,
        }))??;
        Ok(Self { tables: vec![first], ..empty })
    }

    /// Returns the bytes of a table, `None` if there is no such table.
    fn table_bytes(&self, number: usize) -> Option<u64> {
        let growth = u64::from(self.expansion).checked_pow(u32::try_from(number).ok()?)?;
        let bytes = self.buckets.checked_mul(growth)?.checked_mul(self.bucket_size.into())?;
        (bytes > 0 && bytes <= MAX_BYTES).then_some(bytes)
    }

    /// Returns an empty table, `None` if there is no such table.
    fn table(&self, number: usize) -> Option<Result<Vec<u8>, AllocError>> {
        self.table_bytes(number).map(zeroed)
    }

    /// Reads the chunks of `CF.SCANDUMP`, all of them but the empty one at the end.
    ///
    /// # Errors
    /// [`FormatError`] if the chunks are anything else, or none: the server dumps nothing of a filter without items. Offsets
    /// count from the start of the first chunk, through all.
    pub fn from_chunks<D: AsRef<[u8]>>(chunks: &[Chunk<D>]) -> Result<Self, FormatError> {
        let bytes = chunks::join(FORMAT, chunks)?;
        let mut reader = Reader::new(FORMAT, &bytes);
        let items = reader.u64_le("number of items")?;
        let buckets = reader.u64_le("number of buckets")?;
        let deletes = reader.u64_le("number of deleted items")?.value;
        let tables = reader.u64_le("number of tables")?.within(1..=MAX_TABLES_READ)?;
        let bucket_size = reader.u16_le("bucket size")?.within(1..=255)?;
        let max_iterations = reader.u16_le("most iterations")?.within(1..=u16::MAX)?;
        let expansion = reader.u16_le("expansion")?;
        let expansion = expansion.require(
            expansion.value == 0 || expansion.value.is_power_of_two(),
            "0 or a power of two",
        )?;
        let header_bytes = chunks[0].data.as_ref().len() as u64;
        if header_bytes != reader.offset() {
            return Err(reader.invalid("length of the header", 0, header_bytes, "38"));
        }
        let buckets_at = buckets.offset;
        let buckets = buckets.require(buckets.value.is_power_of_two(), "a power of two")?;
        let mut filter = Self {
            tables: Vec::new(),
            buckets,
            items: items.value,
            deletes,
            bucket_size,
            max_iterations,
            expansion,
        };
        for number in 0..tables {
            let Some(bytes) = filter.table_bytes(filter.tables.len()) else {
                let allowed = alloc::format!("such that table {number} has 1 to 2^40 bytes");
                return Err(reader.invalid("number of buckets", buckets_at, buckets, allowed));
            };
            filter.tables.push(copied(reader.bytes("table", bytes)?)?);
        }
        reader.end()?;
        filter.check_items(&reader, items.offset)?;
        Ok(filter)
    }

    /// Returns the chunks that `CF.LOADCHUNK` takes one by one, with their iterators. None of a filter without items, as on
    /// the server.
    #[must_use]
    pub fn to_chunks(&self) -> Vec<Chunk> {
        if self.items == 0 {
            return Vec::new();
        }
        let mut header = Vec::new();
        for number in [self.items, self.buckets, self.deletes, self.tables.len() as u64] {
            header.extend(number.to_le_bytes());
        }
        for number in [self.bucket_size, self.max_iterations, self.expansion] {
            header.extend(number.to_le_bytes());
        }
        chunks::split(header, self.tables.iter().cloned())
    }

    /// Reads what `DUMP` returns.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or if their checksum is wrong.
    pub fn from_dump(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = ModuleReader::new(FORMAT, bytes, TYPE)?;
        let tables = reader.unsigned("number of tables")?.within(1..=MAX_TABLES_READ)?;
        let buckets = reader.unsigned("number of buckets")?;
        let buckets = buckets.require(buckets.value.is_power_of_two(), "a power of two")?;
        let items = reader.unsigned("number of items")?;
        let deletes = reader.unsigned("number of deleted items")?.value;
        let bucket_size = reader.unsigned("bucket size")?.narrow()?.within(1..=255)?;
        let max_iterations =
            reader.unsigned("most iterations")?.narrow()?.within(1..=u16::MAX.into())?;
        let expansion = reader.unsigned("expansion")?.narrow()?;
        let expansion = expansion.require(
            expansion.value == 0 || expansion.value.is_power_of_two() && expansion.value <= 1 << 15,
            "0 or a power of two up to 32768",
        )?;
        #[expect(clippy::cast_possible_truncation, reason = "checked above")]
        let mut filter = Self {
            tables: Vec::new(),
            buckets,
            items: items.value,
            deletes,
            bucket_size: bucket_size as u16,
            max_iterations: max_iterations as u16,
            expansion: expansion as u16,
        };
        for _ in 0..tables {
            let number = filter.tables.len();
            let buckets = reader.unsigned("buckets of a table")?;
            let table = reader.string("table")?;
            let bytes = filter.table_bytes(number);
            let is_sound = bytes == Some(table.len() as u64)
                && buckets.value.checked_mul(u64::from(filter.bucket_size)) == bytes;
            buckets
                .require(is_sound, "as many as the table has, and as the tables before it say")?;
            filter.tables.push(match table {
                Cow::Owned(table) => table,
                Cow::Borrowed(table) => copied(table)?,
            });
        }
        let reader = reader.end()?;
        filter.check_items(&reader, items.offset)?;
        Ok(filter)
    }

    /// Returns what `RESTORE` takes.
    #[must_use]
    pub fn to_dump(&self, version: RdbVersion) -> Vec<u8> {
        let mut writer = ModuleWriter::new(TYPE);
        let numbers = [self.tables.len() as u64, self.buckets, self.items, self.deletes];
        let options = [self.bucket_size, self.max_iterations, self.expansion].map(u64::from);
        numbers.into_iter().chain(options).for_each(|number| writer.unsigned(number));
        for table in &self.tables {
            writer.unsigned(table.len() as u64 / u64::from(self.bucket_size));
            writer.string(table);
        }
        writer.end(version)
    }

    /// Checks that there are as many fingerprints as items.
    fn check_items(&self, reader: &Reader<'_>, offset: u64) -> Result<(), FormatError> {
        let stored = self.tables.iter().flatten().filter(|&&slot| slot != 0).count() as u64;
        if stored == self.items {
            return Ok(());
        }
        let allowed = alloc::format!("{stored}, the number of fingerprints");
        Err(reader.invalid("number of items", offset, self.items, allowed))
    }

    /// Inserts an item, as `CF.ADD` does. An item that is in becomes in twice.
    ///
    /// # Errors
    /// [`InsertError::Full`] if no place was found and the filter does not grow, or has 32 tables. [`InsertError::Alloc`] if
    /// the allocator refuses the memory for a table. The filter is unchanged then.
    pub fn insert(&mut self, item: &[u8]) -> Result<(), InsertError> {
        let entry = Entry::new(item);
        if !self.place(entry) && !self.displace(entry) {
            let full = InsertError::Full { len: self.items, capacity: self.num_slots() };
            if self.expansion == 0 || self.tables.len() >= MAX_TABLES {
                return Err(full);
            }
            let next = self.table(self.tables.len()).ok_or(full)?;
            self.tables.push(next.map_err(InsertError::Alloc)?);
            let is_placed = self.place(entry);
            debug_assert!(is_placed, "the new table is empty");
        }
        self.items += 1;
        Ok(())
    }

    /// Puts an entry into an empty slot of its buckets, in the newest table that has one.
    fn place(&mut self, entry: Entry) -> bool {
        let bucket_size = usize::from(self.bucket_size);
        self.tables.iter_mut().rev().any(|table| place(table, bucket_size, entry))
    }

    /// Puts an entry into the newest table by moving others to their other buckets. If the iterations do not suffice, all
    /// moves are undone.
    fn displace(&mut self, entry: Entry) -> bool {
        let (size, iterations) = (usize::from(self.bucket_size), self.max_iterations);
        let last = self.tables.len() - 1;
        let table = &mut self.tables[last];
        let (mut hash, mut slot, mut fingerprint) = (entry.hashes[0], 0, entry.fingerprint);
        let mut moved = Vec::new();
        for _ in 0..iterations {
            let at = bucket(table, size, hash) + slot;
            core::mem::swap(&mut table[at], &mut fingerprint);
            moved.push(at);
            hash = other(fingerprint, (at / size) as u64);
            let bucket = bucket(table, size, hash);
            if place_in(table, bucket, size, fingerprint) {
                return true;
            }
            slot = (slot + 1) % size;
        }
        for at in moved.into_iter().rev() {
            core::mem::swap(&mut table[at], &mut fingerprint);
        }
        false
    }

    /// Inserts an item if it is not contained, as `CF.ADDNX` does. Returns whether it was inserted.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_new(&mut self, item: &[u8]) -> Result<bool, InsertError> {
        if self.contains(item) {
            return Ok(false);
        }
        self.insert(item).map(|()| true)
    }

    /// Removes one copy of an item, as `CF.DEL` does. Returns whether one was found.
    ///
    /// Removing an item that is not in may remove another item.
    pub fn remove(&mut self, item: &[u8]) -> bool {
        let (entry, size) = (Entry::new(item), usize::from(self.bucket_size));
        let found = self.tables.iter_mut().rev().find_map(|table| {
            let at = slots(table, size, entry).find(|&at| table[at] == entry.fingerprint)?;
            Some(&mut table[at])
        });
        let Some(slot) = found else { return false };
        *slot = 0;
        self.items -= 1;
        // A header may say anything.
        self.deletes = self.deletes.saturating_add(1);
        #[expect(clippy::cast_precision_loss, reason = "as in the module")]
        if self.tables.len() > 1 && self.deletes as f64 > self.items as f64 * 0.1 {
            self.compact();
        }
        true
    }

    /// Moves fingerprints to the oldest table that has a place, and drops the newest ones while they are empty, as
    /// `CF.COMPACT` does.
    ///
    /// # Complexity
    /// O(m) for m slots if all tables have the same size, however many they are. O(m t) otherwise: t is at most 41 then.
    /// Allocates two bytes per bucket of the newest table, or takes more time if they are refused.
    pub fn compact(&mut self) {
        let size = usize::from(self.bucket_size);
        let mut open = OpenTables::new(&self.tables, size);
        for newest in (1..self.tables.len()).rev() {
            let (older, rest) = self.tables.split_at_mut(newest);
            let table = &mut rest[0];
            for (at, slot) in table.iter_mut().enumerate().filter(|(_, slot)| **slot != 0) {
                let entry = Entry::at(*slot, (at / size) as u64);
                if let Some(oldest) = open.oldest(older, entry) {
                    let is_placed = place(&mut older[oldest], size, entry);
                    debug_assert!(is_placed, "the table has an empty slot");
                    *slot = 0;
                }
            }
            if table.iter().any(|&slot| slot != 0) {
                break;
            }
            self.tables.truncate(newest);
        }
        self.deletes = 0;
    }

    /// Tests whether an item may be in the set, as `CF.EXISTS` does. `false` is certain.
    #[must_use]
    pub fn contains(&self, item: &[u8]) -> bool {
        let (entry, size) = (Entry::new(item), usize::from(self.bucket_size));
        let is_in =
            |table: &Vec<u8>| slots(table, size, entry).any(|at| table[at] == entry.fingerprint);
        self.tables.iter().any(is_in)
    }

    /// Returns how many copies of an item may be in, as `CF.COUNT` does. Never less than there are.
    ///
    /// If both buckets of an item are the same, each copy counts twice, as on the server.
    #[must_use]
    pub fn count(&self, item: &[u8]) -> u64 {
        let (entry, size) = (Entry::new(item), usize::from(self.bucket_size));
        let copies = |table: &Vec<u8>| {
            slots(table, size, entry).filter(|&at| table[at] == entry.fingerprint).count() as u64
        };
        self.tables.iter().map(copies).sum()
    }

    /// Returns the number of copies of items that are in.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.items
    }

    /// Returns whether nothing is in.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Returns the number of slots of all tables.
    #[must_use]
    pub fn num_slots(&self) -> u64 {
        self.tables.iter().map(|table| table.len() as u64).sum()
    }

    /// Returns the number of tables.
    #[must_use]
    pub fn num_tables(&self) -> usize {
        self.tables.len()
    }

    /// Returns the current false-positive rate: the fraction of absent items that are answered `true`.
    ///
    /// It takes all fingerprints to be equally frequent: an absent item finds its own in each full slot of its two buckets
    /// with probability 1 / 255.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than 53 bits")]
    pub fn false_positive_rate(&self) -> f64 {
        let clear = |table: &Vec<u8>| {
            let full = table.iter().filter(|&&slot| slot != 0).count();
            let load = full as f64 / table.len() as f64;
            libm::pow(1.0 - load / 255.0, 2.0 * f64::from(self.bucket_size))
        };
        1.0 - self.tables.iter().map(clear).product::<f64>()
    }
}

/// Finds the oldest table with a place while tables only fill.
// The input of a reader may have 65,536 tables of a few buckets. To ask all of them for each fingerprint would take a time that is
// quadratic in its length.
struct OpenTables {
    size: usize,
    /// For each bucket of the newest table, a number of tables, from the oldest on, where this bucket is full. The buckets of
    /// older tables are as many or fewer, both powers of two: one of the newest table is one of each. Empty if there is no memory.
    full: Vec<u16>,
}

impl OpenTables {
    fn new(tables: &[Vec<u8>], size: usize) -> Self {
        // The first table has no older ones.
        let newest = tables.iter().skip(1).next_back();
        let buckets = newest.map_or(0, |table| table.len() / size);
        Self { size, full: zeroed(buckets as u64).unwrap_or_default() }
    }

    /// Returns the oldest table with an empty slot for an entry.
    fn oldest(&mut self, tables: &[Vec<u8>], entry: Entry) -> Option<usize> {
        let oldest = entry.hashes.map(|hash| self.oldest_of(tables, hash));
        oldest.into_iter().flatten().min()
    }

    /// Returns the oldest table with an empty slot in the bucket of a hash.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are at most 65,536 tables, and the newest is not asked"
    )]
    fn oldest_of(&mut self, tables: &[Vec<u8>], hash: u64) -> Option<usize> {
        let (size, buckets) = (self.size, self.full.len().max(1) as u64);
        let known = self.full.get_mut((hash % buckets) as usize);
        let from = known.as_ref().map_or(0, |full| usize::from(**full));
        let is_open = |table: &Vec<u8>| {
            let at = bucket(table, size, hash);
            table[at..at + size].contains(&0)
        };
        let open = tables.iter().skip(from).position(is_open).map(|after| from + after);
        if let Some(full) = known {
            *full = open.unwrap_or_else(|| from.max(tables.len())) as u16;
        }
        open
    }
}

fn copied(table: &[u8]) -> Result<Vec<u8>, FormatError> {
    collected(table.iter().copied()).map_err(|error| FormatError::alloc(FORMAT, error))
}

/// Returns the first slot of the bucket of a hash.
#[expect(clippy::cast_possible_truncation, reason = "the table is in memory")]
fn bucket(table: &[u8], size: usize, hash: u64) -> usize {
    (hash % (table.len() / size) as u64) as usize * size
}

/// Returns the slots of both buckets of an entry.
fn slots(table: &[u8], size: usize, entry: Entry) -> impl Iterator<Item = usize> + use<> {
    let [one, other] = entry.hashes.map(|hash| bucket(table, size, hash));
    (one..one + size).chain(other..other + size)
}

/// Puts an entry into the first empty slot of its buckets.
fn place(table: &mut [u8], size: usize, entry: Entry) -> bool {
    let buckets = entry.hashes.map(|hash| bucket(table, size, hash));
    buckets.into_iter().any(|at| place_in(table, at, size, entry.fingerprint))
}

fn place_in(table: &mut [u8], bucket: usize, size: usize, fingerprint: u8) -> bool {
    let slot = table[bucket..bucket + size].iter_mut().find(|slot| **slot == 0);
    slot.map(|slot| *slot = fingerprint).is_some()
}

impl fmt::Debug for RedisCuckooFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisCuckooFilter")
            .field("len", &self.items)
            .field("num_slots", &self.num_slots())
            .field("num_tables", &self.tables.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use pds_testkit::ThreadTime;

    /// `CF.COMPACT` as the module has it: it asks all older tables for each fingerprint.
    fn compact_as_the_module(filter: &mut RedisCuckooFilter) {
        let size = usize::from(filter.bucket_size);
        for newest in (1..filter.tables.len()).rev() {
            let (older, rest) = filter.tables.split_at_mut(newest);
            for (at, slot) in rest[0].iter_mut().enumerate().filter(|(_, slot)| **slot != 0) {
                let entry = Entry::at(*slot, (at / size) as u64);
                if older.iter_mut().any(|table| place(table, size, entry)) {
                    *slot = 0;
                }
            }
            if rest[0].iter().any(|&slot| slot != 0) {
                break;
            }
            filter.tables.truncate(newest);
        }
        filter.deletes = 0;
    }

    /// Returns a filter with these slots, and zeros after them.
    fn filled(
        buckets: u64,
        size: u16,
        expansion: u16,
        tables: usize,
        slots: &[u8],
    ) -> RedisCuckooFilter {
        let mut filter =
            RedisCuckooFilter::with_options(buckets * u64::from(size), size, 1, expansion).unwrap();
        filter.tables = (0..tables).map(|number| filter.table(number).unwrap().unwrap()).collect();
        let mut slots = slots.iter().copied();
        filter.tables.iter_mut().flatten().for_each(|slot| *slot = slots.next().unwrap_or(0));
        filter.items = filter.tables.iter().flatten().filter(|&&slot| slot != 0).count() as u64;
        filter
    }

    #[test]
    fn tables_are_compacted_as_by_the_module() {
        let mut moved = 0;
        for seed in 0..3_000 {
            let mut words = pds_testkit::keys::random(seed);
            let mut below = |n: u8| {
                let word = words.next().expect("no end");
                u8::try_from(word % u64::from(n)).expect("below a byte")
            };
            let (buckets, size) = (2 << below(3), u16::from(1 + below(3)));
            let (expansion, tables, load) = (1 << below(3), usize::from(1 + below(6)), below(10));
            // Few fingerprints, so that many share their buckets.
            let slots: Vec<u8> =
                (0..2_000).map(|_| if below(10) < load { 1 + below(9) } else { 0 }).collect();
            let filter = filled(buckets, size, expansion, tables, &slots);
            let [mut ours, mut theirs] = [filter.clone(), filter.clone()];
            ours.compact();
            compact_as_the_module(&mut theirs);
            assert!(ours == theirs, "seed {seed}");
            moved += u32::from(ours != filter);
        }
        assert!(moved > 1_000, "{moved}");
    }

    /// The oldest half is full, a quarter is empty and the newest quarter is full. To ask all tables for each fingerprint would take
    /// 10^10 steps.
    #[test]
    fn crafted_tables_are_compacted_in_linear_time() {
        let (buckets, tables) = (16, 65_536);
        let mut slots = vec![7; buckets * tables];
        slots[buckets * tables / 2..buckets * tables * 3 / 4].fill(0);
        let mut filter = filled(buckets as u64, 1, 1, tables, &slots);
        let (items, start) = (filter.len(), ThreadTime::now());
        filter.compact();
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        assert_eq!((filter.len(), filter.num_tables()), (items, tables * 3 / 4));
        assert!(filter.tables.iter().flatten().all(|&slot| slot == 7));
    }
}
