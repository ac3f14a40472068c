//! `CF.*`: filters that remove and count, by the commands of cuckoo filters.
//!
//! The filter is a counting quotient filter. It grows without a further table, counts copies in a few bits, and keeps its
//! rate while it grows to [`GROWTH`] times its capacity.

mod commands;
mod portable;

use pds_core::error::{AllocError, BuildError, InsertError};
use pds_core::hash::{KeyHasher as _, Raw};
use pds_formats::redis::{RdbVersion, RedisCuckooFilter};
use quotient::CountingQuotientFilter;

use crate::foreign;
use crate::quality::{Described, Description, Quality};

pub(crate) use commands::COMMANDS;

/// The promised rate: about that of RedisBloom's fingerprints of 8 bits in buckets of 2, which is 1.6 % for one table.
const RATE: f64 = 0.01;

/// A filter keeps its rate up to so many times its capacity. Each doubling costs a bit per item at first.
const GROWTH: u64 = 1 << 10;

/// The most items for which a growth can be planned.
const MAX_ITEMS: u64 = 1 << 46;

/// A filter under a key.
#[derive(Debug)]
pub(crate) enum Cuckoo {
    /// Ours.
    Quotient(Quotient),
    /// A filter of RedisBloom.
    Redis(RedisCuckooFilter),
}

/// A counting quotient filter, with what `CF.INFO` shows.
#[derive(Debug)]
pub(crate) struct Quotient {
    filter: CountingQuotientFilter,
    /// The number of copies, which the filter does not know: it knows how many items differ.
    items: u64,
    deleted: u64,
    options: Options,
}

/// The options of RedisBloom's filters. Ours only need to know whether they may grow.
#[derive(Clone, Copy, Debug)]
struct Options {
    bucket_size: u64,
    max_iterations: u64,
    expansion: u64,
}

impl Options {
    const DEFAULT: Self = Self { bucket_size: 2, max_iterations: 20, expansion: 1 };
}

/// Why an item is not in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The filter does not grow.
    Full,
    /// The filter cannot grow any more.
    Largest,
    /// The memory was refused.
    Memory,
}

impl Cuckoo {
    fn new(capacity: u64, options: Options) -> Result<Self, BuildError> {
        Quotient::new(capacity, options).map(Self::Quotient)
    }

    /// Adds a copy of an item.
    fn add(&mut self, item: &[u8]) -> Result<(), Refusal> {
        match self {
            Self::Quotient(filter) => filter.add(item),
            Self::Redis(filter) => filter.insert(item).map_err(Refusal::of),
        }
    }

    /// Adds an item if it is not in. Returns whether it is new.
    fn add_new(&mut self, item: &[u8]) -> Result<bool, Refusal> {
        if self.contains(item) { Ok(false) } else { self.add(item).map(|()| true) }
    }

    fn contains(&self, item: &[u8]) -> bool {
        match self {
            Self::Quotient(filter) => filter.contains(item),
            Self::Redis(filter) => filter.contains(item),
        }
    }

    fn count(&self, item: &[u8]) -> u64 {
        match self {
            Self::Quotient(filter) => filter.count(item),
            Self::Redis(filter) => filter.count(item),
        }
    }

    /// Removes a copy of an item. Returns whether there was one.
    fn remove(&mut self, item: &[u8]) -> bool {
        match self {
            Self::Quotient(filter) => filter.remove(item),
            Self::Redis(filter) => filter.remove(item),
        }
    }

    /// Gives memory back that is not needed.
    fn compact(&mut self) -> Result<(), AllocError> {
        match self {
            Self::Quotient(filter) => filter.filter.shrink_to_fit(),
            Self::Redis(filter) => {
                filter.compact();
                Ok(())
            }
        }
    }

    /// Returns the size that `CF.INFO` shows for a value that takes `bytes`. RedisBloom's layout has the one that RedisBloom
    /// shows: 40 bytes, 16 for each table, and the slots.
    fn shown_bytes(&self, bytes: usize) -> u64 {
        match self {
            Self::Quotient(_) => bytes as u64,
            Self::Redis(filter) => 40 + 16 * filter.num_tables() as u64 + filter.num_slots(),
        }
    }

    /// Returns buckets, tables, items, deleted items, bucket size, expansion and iterations, as `CF.INFO` does.
    fn numbers(&self) -> [u64; 7] {
        match self {
            Self::Quotient(Quotient { filter, items, deleted, options }) => {
                let buckets = filter.num_slots().div_ceil(options.bucket_size.max(1));
                let Options { bucket_size, max_iterations, expansion } = *options;
                [buckets, 1, *items, *deleted, bucket_size, expansion, max_iterations]
            }
            Self::Redis(filter) => {
                let payload = filter.to_dump(RdbVersion::default());
                let [tables, buckets, items, deleted, bucket_size, max_iterations, expansion] =
                    foreign::numbers(&payload);
                [buckets, tables, items, deleted, bucket_size, expansion, max_iterations]
            }
        }
    }
}

impl Quotient {
    fn new(capacity: u64, options: Options) -> Result<Self, BuildError> {
        let builder = CountingQuotientFilter::builder()
            .expected_items(capacity)
            .false_positive_rate(RATE)
            .slots_per_item(1.0);
        let builder = match options.expansion {
            0 => builder,
            _ => builder.grows_to(capacity.saturating_mul(GROWTH).min(MAX_ITEMS).max(capacity)),
        };
        Ok(Self { filter: builder.build()?, items: 0, deleted: 0, options })
    }

    fn hash(&self, item: &[u8]) -> u64 {
        self.filter.hash_key(&Raw(item))
    }

    /// Adds a copy of an item.
    fn add(&mut self, item: &[u8]) -> Result<(), Refusal> {
        self.add_hash(self.hash(item))?;
        self.items += 1;
        Ok(())
    }

    fn add_hash(&mut self, hash: u64) -> Result<(), Refusal> {
        let inserted = self.filter.insert_hash(hash);
        let Err(InsertError::Full { .. }) = inserted else { return inserted.map_err(Refusal::of) };
        if self.options.expansion == 0 {
            return Err(Refusal::Full);
        }
        // Beyond the planned growth the filter doubles all the same; its rate then rises with each doubling.
        self.filter.grow().map_err(|error| match error {
            BuildError::Alloc(_) => Refusal::Memory,
            _ => Refusal::Largest,
        })?;
        self.filter.insert_hash(hash).map_err(Refusal::of)
    }

    fn contains(&self, item: &[u8]) -> bool {
        self.filter.contains_hash(self.hash(item))
    }

    fn count(&self, item: &[u8]) -> u64 {
        self.filter.count_hash(self.hash(item))
    }

    /// Removes a copy of an item. Returns whether there was one.
    fn remove(&mut self, item: &[u8]) -> bool {
        let is_removed = self.filter.remove_hash(self.hash(item));
        self.items -= u64::from(is_removed);
        self.deleted += u64::from(is_removed);
        is_removed
    }
}

impl Refusal {
    fn of(error: InsertError) -> Self {
        match error {
            InsertError::Alloc(_) => Self::Memory,
            _ => Self::Largest,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Full => "Filter is full",
            Self::Largest => "ERR Maximum expansions reached",
            Self::Memory => "ERR Insufficient memory to grow filter",
        }
    }
}

impl Described for Cuckoo {
    fn describe(&self) -> Description {
        let (layout, items, quality) = match self {
            Self::Quotient(Quotient { filter, items, .. }) => {
                let promised = filter.promised_rate().unwrap_or(RATE);
                let quality = Quality::kept(promised, filter.false_positive_rate());
                ("counting quotient filter", *items, quality)
            }
            Self::Redis(filter) => {
                ("RedisBloom", filter.len(), Quality::without_promise(filter.false_positive_rate()))
            }
        };
        Description { layout, items, measure: "false-positive rate", quality }
    }
}
