//! Filters that answer *have I seen this?*, timed on the same keys at the same rate.

use core::error::Error;
use core::fmt;

use crate::arena::Arena;
use crate::floor::Floor;
use crate::keys::Keys;
use crate::report::size;
use crate::suite::{Bench, LEAST_PAIRS, Outcome};

/// Keys per block, for filters in the caches: about a millisecond of work.
const BLOCK: usize = 1 << 17;

/// Keys per block for larger filters.
///
/// Before each turn of a filter, the other contenders have evicted its lines and pages from the caches. A block must be
/// so long that reloading them is a small part of it, even if a key needs only one line.
const LARGE_BLOCK: usize = 1 << 20;

/// The size from which filters are large.
const LARGE_FROM: u64 = 1 << 20;

/// The size from which filters are preset. Inserting keys one by one would take peers minutes.
const PRESET_FROM: u64 = 1 << 30;

/// The number of keys that every contender contains if it is preset. Hits use these keys.
///
/// They suffice for seven positions per key to touch four out of five lines of a filter of 1 GiB.
const PRESET_KEYS: u64 = 1 << 22;

/// A filter of `u64` keys under test.
///
/// The loops are provided methods, so all contenders have the same loop. Each is compiled for its filter. Only whole
/// blocks are called by pointer.
pub trait Filter: fmt::Debug {
    /// Inserts a key. Returns whether it was new, if the filter reports it.
    fn insert(&mut self, key: u64) -> bool;

    /// Tests whether a key is possibly contained.
    fn contains(&self, key: u64) -> bool;

    /// Removes all keys.
    fn clear(&mut self);

    /// Inserts keys one by one. Returns how many were new.
    fn insert_each(&mut self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.insert(key))).sum()
    }

    /// Tests keys one by one. Returns how many are possibly contained.
    fn contains_each(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(key))).sum()
    }

    /// Inserts keys by the filter's own batch, if it has one. Returns how many were new.
    fn insert_batch(&mut self, keys: &[u64]) -> u64 {
        self.insert_each(keys)
    }

    /// Tests keys by the filter's own batch, if it has one, with as many `answers` to write to. Returns how many are
    /// possibly contained.
    fn contains_batch(&self, keys: &[u64], _answers: &mut [bool]) -> u64 {
        self.contains_each(keys)
    }

    /// Returns the bits as words, if a peer can be preset with them.
    fn words(&self) -> Option<&[u64]> {
        None
    }
}

/// Implements a contender for a filter of ours, with additional methods. A filter that can be full also defines its
/// insertion.
macro_rules! contender {
    (can be full, and forget: $filter:ty) => {
        $crate::membership::contender!(
            can be full: $filter,
            #[inline]
            fn insert(&mut self, key: u64) -> bool {
                self.insert(&key).is_ok()
            }

            fn insert_batch(&mut self, keys: &[u64]) -> u64 {
                let before = self.len();
                // A key that does not fit is found missing by the lookups.
                let _ = self.insert_batch(keys);
                self.len() - before
            }
        );

        impl $crate::removal::Removing for $filter {
            #[inline]
            fn remove(&mut self, key: u64) -> bool {
                self.remove(&key)
            }
        }
    };
    (can be full: $filter:ty, $($more:tt)*) => {
        impl $crate::membership::Filter for $filter {
            #[inline]
            fn contains(&self, key: u64) -> bool {
                self.contains(&key)
            }

            fn clear(&mut self) {
                self.clear();
            }

            fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) -> u64 {
                self.contains_batch(keys, answers);
                answers.iter().map(|&answer| u64::from(answer)).sum()
            }

            $($more)*
        }
    };
    ($filter:ty, $($more:tt)*) => {
        $crate::membership::contender!(
            can be full: $filter,
            #[inline]
            fn insert(&mut self, key: u64) -> bool {
                self.insert(&key)
            }

            fn insert_batch(&mut self, keys: &[u64]) -> u64 {
                self.insert_batch(keys) as u64
            }

            $($more)*
        );
    };
}
pub(crate) use contender;

/// An operation on each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A lookup of a stored key.
    Hit,
    /// A lookup of an absent key.
    Miss,
    /// Lookups of stored keys, many in one call.
    HitBatch,
    /// Lookups of absent keys, many in one call.
    MissBatch,
    /// An insertion of a new key.
    Insert,
    /// Insertions of new keys, many in one call.
    InsertBatch,
}

impl Operation {
    /// All operations. Those that change the filters come last.
    pub const ALL: [Self; 6] =
        [Self::Hit, Self::Miss, Self::HitBatch, Self::MissBatch, Self::Insert, Self::InsertBatch];

    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::HitBatch => "hit batch",
            Self::MissBatch => "miss batch",
            Self::Insert => "insert",
            Self::InsertBatch => "insert batch",
        }
    }

    /// Returns `true` if the operation changes the filters.
    #[must_use]
    pub const fn inserts(self) -> bool {
        matches!(self, Self::Insert | Self::InsertBatch)
    }

    /// Returns the keys of the operation.
    #[must_use]
    pub fn keys(self, design: &Design) -> Keys {
        match self {
            Self::Miss | Self::MissBatch => Keys::absent(),
            Self::Insert | Self::InsertBatch if design.is_preset() => Keys::surplus(),
            _ => Keys::stored(design.held_by_all()),
        }
    }

    /// Returns the number of keys per sample. Insertions fill an empty filter in at most eight samples, so that all
    /// stages of filling have the same weight.
    #[must_use]
    pub fn block(self, design: &Design) -> usize {
        let held = usize::try_from(design.held_by_all()).unwrap_or(usize::MAX);
        let block = if design.bytes < LARGE_FROM { BLOCK } else { LARGE_BLOCK };
        match self {
            Self::Miss | Self::MissBatch => block,
            Self::Insert | Self::InsertBatch if !design.is_preset() => {
                (held / 8).max(block.min(held))
            }
            _ => block.min(held),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The parameters of every contender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Bytes of the filter.
    pub bytes: u64,
    /// Keys that it is designed for.
    pub items: u64,
    /// The false-positive rate with so many keys.
    pub rate: f64,
    /// The backend of ours, if it has a choice.
    pub backend: Option<&'static str>,
}

impl Design {
    /// Returns `true` if peers are filled with random bits.
    #[must_use]
    pub const fn is_preset(&self) -> bool {
        self.bytes >= PRESET_FROM
    }

    /// Returns `true` if ours requests huge pages, which it does if they matter.
    #[must_use]
    pub const fn huge_pages(&self) -> bool {
        self.is_preset()
    }

    /// Returns the number of keys that every contender contains.
    pub(crate) const fn held_by_all(&self) -> u64 {
        if self.is_preset() { PRESET_KEYS } else { self.items }
    }
}

/// Returns the error for a missing backend. No row may have its name.
pub(crate) fn no_backend(name: &str, there: impl Iterator<Item = &'static str>) -> String {
    let there = there.collect::<Vec<_>>().join(", ");
    format!("no backend {name} in this build on this processor; available: {there}")
}

/// Builds a contender, empty or with the given bits.
pub type Build = fn(&Design, Option<&[u64]>) -> Result<Box<dyn Filter>, Box<dyn Error>>;

/// A filter of another crate.
#[derive(Debug)]
pub struct Peer {
    /// The crate's name.
    pub name: &'static str,
    /// Differences from ours, for the reader. Empty if there are none.
    pub note: &'static str,
    /// Builds the filter.
    pub build: Build,
}

/// Filters of ours and of others on equal terms.
#[derive(Debug)]
pub struct Lineup {
    /// The difference from other line-ups of the same structure. Empty if there is only one.
    pub mode: &'static str,
    /// The sizes of our filter, in bytes.
    pub sizes: &'static [u64],
    /// The false-positive rate of all contenders.
    pub rate: f64,
    /// Returns the number of keys for a filter of so many bytes at a rate.
    pub items: fn(bytes: u64, rate: f64) -> Result<u64, Box<dyn Error>>,
    /// Returns the lines of memory that a key needs.
    pub lines: fn(Operation) -> f64,
    /// The timed operations.
    pub operations: &'static [Operation],
    /// Returns the backend of ours, if it has a choice.
    pub backend: fn() -> Option<&'static str>,
    /// Builds our filter.
    pub ours: Build,
    /// The peers.
    pub peers: &'static [Peer],
}

impl Lineup {
    /// Returns the design of a filter of `bytes` bytes.
    ///
    /// # Errors
    /// The error of the structure for impossible parameters.
    pub fn design(&self, bytes: u64) -> Result<Design, Box<dyn Error>> {
        let items = (self.items)(bytes, self.rate)?;
        Ok(Design { bytes, items, rate: self.rate, backend: (self.backend)() })
    }

    /// Returns the name of a case in tables: the size, and the mode if there are several.
    #[must_use]
    pub fn case(&self, bytes: u64) -> String {
        let separator = if self.mode.is_empty() { "" } else { ", " };
        format!("{}{separator}{}", size(bytes), self.mode)
    }

    /// Measures every operation against every peer, for all sizes that `bench` includes.
    ///
    /// # Errors
    /// The error of a contender that cannot be built.
    ///
    /// # Panics
    /// If a contender gives a wrong answer, or its measured rate is not that of the design.
    pub fn run(&self, bench: &mut Bench<'_>) -> Outcome {
        for bytes in bench.effort().sizes(self.sizes) {
            let mut arena = Arena::build(self, bytes)?;
            arena.memory_rows().for_each(|row| bench.add(row));
            let mut floor = Floor::new(bytes, arena.design().huge_pages())?;
            let pairs =
                if arena.design().is_preset() { LEAST_PAIRS } else { bench.effort().pairs() };
            for &operation in self.operations {
                for peer in 0..self.peers.len() {
                    bench.add(arena.measure(operation, peer, pairs, &mut floor));
                }
            }
        }
        Ok(())
    }
}
