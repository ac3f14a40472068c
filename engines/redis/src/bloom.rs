//! `BF.*`: Bloom filters.

mod commands;
mod foreign;
mod growing;
mod portable;
mod window;

use pds_core::error::{BuildError, InsertError};
use pds_formats::redis::{RedisBloomFilter, ValkeyBloomFilter};

use crate::quality::{Described, Description, Quality};

pub(crate) use commands::COMMANDS;
use growing::{Fixed, Growing};
use window::{LastKeys, LastTime};

/// A Bloom filter under a key.
#[derive(Debug)]
pub(crate) enum Bloom {
    /// Blocked layers, which open one after the other. Together they keep the rate.
    Growing(Growing),
    /// One blocked filter of the whole rate, which takes as many items as it was built for.
    Fixed(Fixed),
    /// The last items, by their number.
    LastKeys(LastKeys),
    /// The items of the last time.
    LastTime(LastTime),
    /// A filter of RedisBloom.
    Redis(RedisBloomFilter),
    /// A filter of valkey-bloom.
    Valkey(ValkeyBloomFilter),
}

/// Why an item is not in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The filter does not grow, and has all items that it was built for.
    Full,
    /// No further layer is possible.
    Layers,
    /// The memory for a layer was refused.
    Memory,
}

impl Refusal {
    fn of(error: &InsertError) -> Self {
        if let InsertError::Alloc(_) = error { Self::Memory } else { Self::Layers }
    }
}

/// Whether an item was new, or why it is not in.
type Added = Result<bool, Refusal>;

/// Appends answers up to the first refusal, as RedisBloom replies.
fn take_answers(answers: &mut Vec<Added>, new: impl Iterator<Item = Added>) {
    for answer in new {
        answers.push(answer);
        if answer.is_err() {
            break;
        }
    }
}

/// The questions that all layouts answer.
trait Layout {
    /// Adds an item. Returns whether it is new.
    fn add(&mut self, item: &[u8]) -> Added;

    /// Tests whether an item may be in.
    fn contains(&self, item: &[u8]) -> bool;

    /// Adds items up to the first that is refused. Appends for each what [`add`](Self::add) returns to `answers`, which has the
    /// capacity for it.
    fn add_each(&mut self, items: &[&[u8]], answers: &mut Vec<Added>) {
        take_answers(answers, items.iter().map(|item| self.add(item)));
    }

    /// Tests items.
    fn contains_each(&self, items: &[&[u8]]) -> Vec<bool> {
        items.iter().map(|item| self.contains(item)).collect()
    }

    /// Returns what a filter is made for, and what it holds.
    fn information(&self) -> Information;

    /// Returns the promise, and what became of it. Reads all of the filter.
    fn quality(&self) -> Quality;

    /// Returns a line for each layer, as `BF.DEBUG` shows them.
    fn lines(&self) -> Vec<String>;
}

/// The design of a filter, and its contents.
#[derive(Clone, Copy, Debug)]
struct Information {
    /// The name of the layout.
    layout: &'static str,
    capacity: u64,
    layers: u64,
    items: u64,
    /// The factor from the capacity of a layer to that of the next one. `None` if the filter does not grow.
    growth: Option<u64>,
}

/// The parameters of a filter.
#[derive(Clone, Copy, Debug)]
struct Design {
    rate: f64,
    capacity: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// It grows by this factor.
    Growing(u32),
    Fixed,
    /// It keeps the last items.
    LastKeys,
    /// It keeps the items of so many milliseconds.
    LastTime(u64),
}

impl Bloom {
    fn new(design: Design) -> Result<Self, BuildError> {
        match design.kind {
            Kind::Growing(growth) => Growing::new(design, growth).map(Self::Growing),
            Kind::Fixed => Fixed::new(design).map(Self::Fixed),
            Kind::LastKeys => LastKeys::new(design).map(Self::LastKeys),
            Kind::LastTime(time) => LastTime::new(design, time).map(Self::LastTime),
        }
    }

    #[inline]
    fn layout(&self) -> &dyn Layout {
        match self {
            Self::Growing(filter) => filter,
            Self::Fixed(filter) => filter,
            Self::LastKeys(filter) => filter,
            Self::LastTime(filter) => filter,
            Self::Redis(filter) => filter,
            Self::Valkey(filter) => filter,
        }
    }

    #[inline]
    fn layout_mut(&mut self) -> &mut dyn Layout {
        match self {
            Self::Growing(filter) => filter,
            Self::Fixed(filter) => filter,
            Self::LastKeys(filter) => filter,
            Self::LastTime(filter) => filter,
            Self::Redis(filter) => filter,
            Self::Valkey(filter) => filter,
        }
    }

    /// Returns whether an item that is in makes a difference when it is added.
    const fn ages(&self) -> bool {
        matches!(self, Self::LastKeys(_) | Self::LastTime(_))
    }

    /// Returns the number of items that were new.
    fn items(&self) -> u64 {
        match self {
            Self::Growing(filter) => filter.items,
            Self::Fixed(filter) => filter.items,
            Self::LastKeys(_) | Self::LastTime(_) => self.layout().information().items,
            Self::Redis(filter) => filter.len(),
            Self::Valkey(filter) => filter.len(),
        }
    }

    /// Returns the size that `BF.INFO` shows for a value that takes `bytes`. RedisBloom's layout has the one that RedisBloom
    /// shows: 32 bytes, 64 for each layer, and the bits.
    fn shown_bytes(&self, bytes: usize) -> u64 {
        match self {
            Self::Redis(filter) => 32 + 64 * filter.num_layers() as u64 + filter.size_in_bytes(),
            _ => bytes as u64,
        }
    }
}

impl Described for Bloom {
    fn describe(&self) -> Description {
        let (layout, quality) = (self.layout().information().layout, self.layout().quality());
        Description { layout, items: self.items(), measure: "false-positive rate", quality }
    }
}
