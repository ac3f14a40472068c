//! A structure that knows how often it was given each key: copies and losses show.

use core::ops::RangeInclusive;
extern crate alloc;

use alloc::collections::BTreeMap;

use core::hash::Hasher;
use pds_core::bytes::{Kind, Portable, Shape, Sink, Source};
use pds_core::error::{DecodeError, InsertError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::traits::Insert;

/// Counts of hashes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tally {
    counts: BTreeMap<u64, u64>,
    capacity: u64,
    hasher: DefaultHashBuilder,
}

impl Default for Tally {
    fn default() -> Self {
        Self::with_capacity(u64::MAX)
    }
}

impl Tally {
    pub(super) fn with_capacity(capacity: u64) -> Self {
        Self { counts: BTreeMap::new(), capacity, hasher: DefaultHashBuilder::default() }
    }

    pub(super) fn of(keys: impl IntoIterator<Item = u64>) -> Self {
        let mut tally = Self::default();
        keys.into_iter().for_each(|key| _ = tally.insert(&key).unwrap());
        tally
    }

    pub(super) fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns whether it was given the keys `0..keys`, each once, and nothing else.
    pub(super) fn holds_exactly(&self, keys: u64) -> bool {
        self.counts == Self::of(0..keys).counts
    }

    pub(super) fn remove(&mut self, key: u64) {
        self.counts.remove(&self.hasher.hash_key(&key));
    }
}

impl KeyHasher for Tally {
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl Insert for Tally {
    type Error = InsertError;

    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        let (len, capacity) = (self.total(), self.capacity);
        if len >= capacity {
            return Err(InsertError::Full { len, capacity });
        }
        let count = self.counts.entry(hash).or_default();
        *count += 1;
        Ok(*count == 1)
    }
}

impl Portable for Tally {
    type Hasher = DefaultHashBuilder;
    const KIND: Kind = Kind::new(0x8005, "tally");

    fn portable_hasher(&self) -> &DefaultHashBuilder {
        &self.hasher
    }

    fn shape(&self) -> Shape {
        Shape::new([self.counts.len() as u64, self.capacity])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let numbers = shape.numbers(["keys", "capacity"])?;
        let bytes = numbers.values()[0].checked_mul(16);
        let bytes = bytes.ok_or_else(|| numbers.field(0, "fewer"))?;
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.counts.iter().flat_map(|(&hash, &count)| [hash, count]))
    }

    fn read_payload<R: Source>(
        shape: &Shape,
        hasher: DefaultHashBuilder,
        source: &mut R,
    ) -> Result<Self, R::Error> {
        let [keys, capacity] = shape.numbers(["keys", "capacity"])?.values();
        let pairs = (0..keys).map(|_| Ok((source.take_u64()?, source.take_u64()?)));
        Ok(Self { counts: pairs.collect::<Result<_, R::Error>>()?, capacity, hasher })
    }
}
