//! Keys in parts, so that several threads decide about the records of a batch.

use crate::error::Result;
use crate::input::Batch;
use rayon::prelude::*;
use std::thread;

/// The number of parts: the same on every machine, so that their sizes are. More threads would wait for the one that writes.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 2;

/// Batches of fewer records are not worth another thread.
const LEAST_RECORDS: usize = 256;

/// Keys that are read ahead at once: what they need fits into the nearest cache.
const AHEAD: usize = 64;

/// Keys of one part.
pub(super) trait Keys: Send {
    /// Reads ahead what the insertion of keys with these hashes will read.
    fn prepare(&mut self, hashes: &[u64]);

    /// Inserts the key at a place among those of [`prepare`](Self::prepare). Returns whether its record is to be written. `None`,
    /// and nothing is changed, if more than `most` would be used.
    ///
    /// # Errors
    /// If the keys cannot grow.
    fn insert(&mut self, place: usize, hash: u64, key: &[u8], most: u64) -> Result<Option<bool>>;

    /// How much is used, in the unit of the limit.
    fn used(&self) -> u64;

    /// The most that may be used when all of a batch is inserted.
    fn used_after(&self, batch: &Batch) -> u64;
}

/// All keys: those whose hashes begin with the same bits are in one part.
pub(super) struct Parts<K> {
    parts: Vec<Part<K>>,
    /// The most that all parts together may use.
    limit: u64,
}

struct Part<K> {
    keys: K,
    /// The records of a batch whose keys belong to the part.
    records: Vec<u32>,
    hashes: Vec<u64>,
    /// Those of them to be written.
    chosen: Vec<u32>,
}

/// The part that a hash belongs to.
pub(super) const fn part_of(hash: u64) -> usize {
    (hash >> (u64::BITS - PART_BITS)) as usize
}

/// The part of a hash that does not choose the part, as a hash.
pub(super) const fn within_part(hash: u64) -> u64 {
    hash << PART_BITS
}

/// The most keys in a part, of so many in all. It is exceeded by chance with a probability below 10^-7.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded up, and no more than all keys"
)]
pub(super) fn most_in_part(all: u64) -> u64 {
    let mean = all as f64 / PARTS as f64;
    all.min((mean + 6.0 * mean.sqrt() + 12.0).ceil() as u64)
}

/// Starts the threads that decide. This one is among them.
pub(super) fn start_threads() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = rayon::ThreadPoolBuilder::new().num_threads(cores.min(PARTS));
    // Without other threads, this one decides about all parts.
    let _ = threads.use_current_thread().build_global();
}

impl<K: Keys> Parts<K> {
    /// Parts with these keys, one for each part.
    pub(super) fn new(limit: u64, keys: impl FnMut() -> K) -> Self {
        Self::from_keys(limit, core::iter::repeat_with(keys).take(PARTS))
    }

    fn from_keys(limit: u64, keys: impl Iterator<Item = K>) -> Self {
        let part = |keys| Part { keys, records: vec![], hashes: vec![], chosen: vec![] };
        Self { parts: keys.map(part).collect(), limit }
    }

    /// Makes other keys of those of each part.
    ///
    /// # Errors
    /// The first of `other`.
    pub(super) fn try_map<L: Keys>(
        &self,
        limit: u64,
        other: impl FnMut(&K) -> Result<L>,
    ) -> Result<Parts<L>> {
        let keys = self.iter().map(other).collect::<Result<Vec<_>>>()?;
        Ok(Parts::from_keys(limit, keys.into_iter()))
    }

    /// The keys of each part.
    pub(super) fn iter(&self) -> impl Iterator<Item = &K> {
        self.parts.iter().map(|part| &part.keys)
    }

    /// The keys of the part that a hash belongs to.
    pub(super) fn of(&self, hash: u64) -> &K {
        &self.parts[part_of(hash)].keys
    }

    fn used(&self) -> u64 {
        self.iter().map(K::used).sum()
    }

    /// Inserts the keys of a batch from the record `first` on, and adds an answer for each: whether the record is to be written.
    /// There are fewer answers if the limit does not allow more.
    ///
    /// # Errors
    /// If the keys cannot grow.
    pub(super) fn mark(
        &mut self,
        batch: &Batch,
        first: usize,
        answers: &mut Vec<bool>,
    ) -> Result<()> {
        if self.iter().map(|keys| keys.used_after(batch)).sum::<u64>() > self.limit {
            return self.mark_in_turn(batch, first, answers);
        }
        let insert = |(number, part): (usize, &mut Part<K>)| {
            part.find(number, batch, first);
            part.insert_all(batch)
        };
        if batch.len() - first < LEAST_RECORDS {
            self.parts.iter_mut().enumerate().try_for_each(insert)?;
        } else {
            self.parts.par_iter_mut().enumerate().try_for_each(insert)?;
        }
        answers.resize(batch.len(), false);
        for &record in self.parts.iter().flat_map(|part| &part.chosen) {
            answers[record as usize] = true;
        }
        Ok(())
    }

    /// Inserts one key after another, as far as the limit allows.
    fn mark_in_turn(&mut self, batch: &Batch, first: usize, answers: &mut Vec<bool>) -> Result<()> {
        let mut used = self.used();
        for (index, &hash) in batch.hashes().iter().enumerate().skip(first) {
            let keys = &mut self.parts[part_of(hash)].keys;
            let others = used - keys.used();
            keys.prepare(&[hash]);
            let most = self.limit.saturating_sub(others);
            let Some(is_chosen) = keys.insert(0, hash, batch.key(index), most)? else {
                return Ok(());
            };
            answers.push(is_chosen);
            used = others + keys.used();
        }
        Ok(())
    }
}

impl<K: Keys> Part<K> {
    /// Finds the records of a batch that belong to this part, from `first` on.
    #[expect(clippy::cast_possible_truncation, reason = "a batch has less than 2^32 bytes")]
    fn find(&mut self, number: usize, batch: &Batch, first: usize) {
        let hashes = batch.hashes();
        self.records.resize(hashes.len(), 0);
        let mut found = 0;
        for (index, &hash) in hashes.iter().enumerate().skip(first) {
            // No branch: it could not be foreseen.
            self.records[found] = index as u32;
            found += usize::from(part_of(hash) == number);
        }
        self.records.truncate(found);
        self.hashes.clear();
        self.hashes.extend(self.records.iter().map(|&record| hashes[record as usize]));
    }

    fn insert_all(&mut self, batch: &Batch) -> Result<()> {
        self.chosen.clear();
        for (records, hashes) in self.records.chunks(AHEAD).zip(self.hashes.chunks(AHEAD)) {
            self.keys.prepare(hashes);
            for (place, (&record, &hash)) in records.iter().zip(hashes).enumerate() {
                let key = batch.key(record as usize);
                if self.keys.insert(place, hash, key, u64::MAX)? == Some(true) {
                    self.chosen.push(record);
                }
            }
        }
        Ok(())
    }
}
