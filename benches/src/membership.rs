//! Filters that answer *have I seen this?*, timed on the same keys at the same rate.

use core::error::Error;
use core::fmt;

use crate::arena::Arena;
use crate::floor::Floor;
use crate::keys::Keys;
use crate::report::size;
use crate::suite::{Bench, LEAST_PAIRS, Outcome};

/// Keys of a block, for filters in the caches: about a millisecond of work.
const BLOCK: usize = 1 << 17;

/// Keys of a block for larger filters. When a filter's turn comes, the others have taken its lines and pages out of the
/// caches; a block has to be so long that bringing them back is a small part of it even where a key needs one line.
const LARGE_BLOCK: usize = 1 << 20;

/// From this size on filters are large.
const LARGE_FROM: u64 = 1 << 20;

/// From this size on filters are preset: to insert a key at a time would take peers minutes.
const PRESET_FROM: u64 = 1 << 30;

/// Keys that every contender really holds when it is preset: hits are asked for among these. Enough
/// that seven positions each touch four lines out of five of a filter of 1 GiB.
const PRESET_KEYS: u64 = 1 << 22;

/// A filter of `u64` keys under test.
///
/// The loops are provided, so that no contender gets a better one than another. Each is compiled for
/// its filter: only whole blocks are called by pointer.
pub trait Filter: fmt::Debug {
    /// Inserts a key. Returns whether it was new, where the filter tells.
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

    /// Inserts keys by the filter's own batch where it has one. Returns how many were new.
    fn insert_batch(&mut self, keys: &[u64]) -> u64 {
        self.insert_each(keys)
    }

    /// Tests keys by the filter's own batch where it has one, with as many `answers` to write to.
    /// Returns how many are possibly contained.
    fn contains_batch(&self, keys: &[u64], _answers: &mut [bool]) -> u64 {
        self.contains_each(keys)
    }

    /// The bits as words, where a peer can be preset with them.
    fn words(&self) -> Option<&[u64]> {
        None
    }
}

/// Makes a contender of a filter of ours, with methods beyond those that all of them have; of one that can be full, with
/// how it inserts as well.
macro_rules! contender {
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

/// What is done with each key.
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
    /// All of them; those that change the filters come last.
    pub const ALL: [Self; 6] =
        [Self::Hit, Self::Miss, Self::HitBatch, Self::MissBatch, Self::Insert, Self::InsertBatch];

    /// The name in tables.
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

    /// Whether the filters change.
    #[must_use]
    pub const fn inserts(self) -> bool {
        matches!(self, Self::Insert | Self::InsertBatch)
    }

    /// The keys it is done with.
    #[must_use]
    pub fn keys(self, design: &Design) -> Keys {
        match self {
            Self::Miss | Self::MissBatch => Keys::absent(),
            Self::Insert | Self::InsertBatch if design.is_preset() => Keys::surplus(),
            _ => Keys::stored(design.held_by_all()),
        }
    }

    /// Keys of a sample. Insertions go from an empty filter to a full one in eight samples at most, so
    /// that all stages of filling weigh the same.
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

/// What every contender is built for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Bytes of the filter.
    pub bytes: u64,
    /// Keys it is to hold.
    pub items: u64,
    /// The false positive rate with so many.
    pub rate: f64,
    /// The code that ours is to run, where it has a choice.
    pub backend: Option<&'static str>,
}

impl Design {
    /// Whether peers get their fill as random bits.
    #[must_use]
    pub const fn is_preset(&self) -> bool {
        self.bytes >= PRESET_FROM
    }

    /// Whether ours asks for huge pages: where they matter.
    #[must_use]
    pub const fn huge_pages(&self) -> bool {
        self.is_preset()
    }

    /// How many keys every contender really holds.
    pub(crate) const fn held_by_all(&self) -> u64 {
        if self.is_preset() { PRESET_KEYS } else { self.items }
    }
}

/// What to say where there is no such backend: no row may bear its name.
pub(crate) fn no_backend(name: &str, there: impl Iterator<Item = &'static str>) -> String {
    let there = there.collect::<Vec<_>>().join(", ");
    format!("no backend {name} in this build and on this processor, which have {there}")
}

/// Builds a contender, empty or with the bits given.
pub type Build = fn(&Design, Option<&[u64]>) -> Result<Box<dyn Filter>, Box<dyn Error>>;

/// Someone else's filter.
#[derive(Debug)]
pub struct Peer {
    /// The crate's name.
    pub name: &'static str,
    /// In what it is not equal, for the reader; empty when in nothing.
    pub note: &'static str,
    /// Builds it.
    pub build: Build,
}

/// Filters of ours and of others on equal terms.
#[derive(Debug)]
pub struct Lineup {
    /// What tells it from other line-ups of the same structure; empty where there is one only.
    pub mode: &'static str,
    /// The sizes of our filter, in bytes.
    pub sizes: &'static [u64],
    /// The false positive rate of all contenders.
    pub rate: f64,
    /// How many keys a filter of so many bytes holds at a rate.
    pub items: fn(bytes: u64, rate: f64) -> Result<u64, Box<dyn Error>>,
    /// The lines of memory that a key needs.
    pub lines: fn(Operation) -> f64,
    /// What is timed.
    pub operations: &'static [Operation],
    /// The code that ours runs, where it has a choice.
    pub backend: fn() -> Option<&'static str>,
    /// Builds ours.
    pub ours: Build,
    /// Those it is compared with.
    pub peers: &'static [Peer],
}

impl Lineup {
    /// The design of a filter of `bytes` bytes.
    ///
    /// # Errors
    /// What the structure says against the parameters.
    pub fn design(&self, bytes: u64) -> Result<Design, Box<dyn Error>> {
        let items = (self.items)(bytes, self.rate)?;
        Ok(Design { bytes, items, rate: self.rate, backend: (self.backend)() })
    }

    /// The name of a case in tables: the size, and the mode where there are several.
    #[must_use]
    pub fn case(&self, bytes: u64) -> String {
        let separator = if self.mode.is_empty() { "" } else { ", " };
        format!("{}{separator}{}", size(bytes), self.mode)
    }

    /// Measures every operation against every peer, for all sizes that `bench` includes.
    ///
    /// # Errors
    /// Whatever keeps a contender from being built.
    ///
    /// # Panics
    /// When a contender gives a wrong answer, or its measured rate is not that of the design.
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
