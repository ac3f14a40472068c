//! Filters under test: one table of operations for each, and the loops that all of them share.

use core::any::Any;
use core::fmt;
use core::ops::Range;

use crate::contest::{Block, Contender};
use crate::keys::{Keys, key};

/// Keys per insertion batch while a filter is filled.
const FILLED_AT_A_TIME: usize = 1 << 17;

/// A filter of `u64` keys under test. The macro `filter!` implements it by the operations that a suite measures.
///
/// The loops are provided methods, so all contenders have the same loop. Each is compiled for its filter. Only whole
/// blocks are called by pointer.
pub trait Filter: Any {
    /// Inserts a key. Returns whether it was new, if the filter reports it.
    fn insert(&mut self, _key: u64) -> bool {
        lacks("insertion")
    }

    /// Tests whether a key is possibly contained.
    fn contains(&self, key: u64) -> bool;

    /// Removes a key that was inserted. Returns whether the filter found it.
    fn remove(&mut self, _key: u64) -> bool {
        lacks("removal")
    }

    /// Removes all keys.
    fn clear(&mut self) {
        lacks("removal of all keys")
    }

    /// Returns the size in bytes, as the filter reports it.
    fn bytes(&self) -> u64 {
        lacks("size of its own")
    }

    /// Returns the bits as words, if a peer can be preset with them.
    fn words(&self) -> Option<&[u64]> {
        None
    }

    /// Inserts keys one by one. Returns how many were new.
    fn insert_each(&mut self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.insert(key))).sum()
    }

    /// Tests keys one by one. Returns how many are possibly contained.
    fn contains_each(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(key))).sum()
    }

    /// Removes keys one by one. Returns how many the filter found.
    fn remove_each(&mut self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.remove(key))).sum()
    }

    /// Inserts keys by the filter's own batch, if it has one. Returns a number that depends on the answers.
    fn insert_batch(&mut self, keys: &[u64]) -> u64 {
        self.insert_each(keys)
    }

    /// Tests keys by the filter's own batch, if it has one, with as many `answers` to write to. Returns how many are
    /// possibly contained.
    fn contains_batch(&self, keys: &[u64], _answers: &mut [bool]) -> u64 {
        self.contains_each(keys)
    }

    /// Inserts the keys with these numbers, by the filter's own batch.
    fn fill(&mut self, numbers: Range<u64>) {
        for start in numbers.clone().step_by(FILLED_AT_A_TIME) {
            let block: Vec<u64> = (start..numbers.end).take(FILLED_AT_A_TIME).map(key).collect();
            self.insert_batch(&block);
        }
    }
}

fn lacks(operation: &str) -> ! {
    panic!("a filter without {operation}, which its suite must not measure")
}

impl fmt::Debug for dyn Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Filter")
    }
}

/// Describes filters by a table of their operations. A filter of ours, marked by `ours`, has some of them anyway.
macro_rules! filter {
    (ours $($filter:ty),+ => $rows:tt) => {
        $($crate::filter::filter!(@ours $filter => $rows);)+
    };
    (@ours $filter:ty => { $($row:tt)* }) => {
        $crate::filter::filter!(@impl $filter => {
            contains(filter, key) => filter.contains(&key),
            contains_batch(filter, keys, answers) => filter.contains_batch(keys, answers),
            clear(filter) => filter.clear(),
            $($row)*
        });
    };
    (@impl $filter:ty => { $($operation:ident($($name:ident),+) => $work:expr,)+ }) => {
        impl $crate::filter::Filter for $filter {
            $($crate::filter::filter!(@$operation $($name)+ => $work);)+
        }
    };
    (@insert $filter:ident $key:ident => $work:expr) => {
        #[inline]
        fn insert(&mut self, $key: u64) -> bool {
            let $filter = self;
            $work
        }
    };
    (@contains $filter:ident $key:ident => $work:expr) => {
        #[inline]
        fn contains(&self, $key: u64) -> bool {
            let $filter = self;
            $work
        }
    };
    (@remove $filter:ident $key:ident => $work:expr) => {
        #[inline]
        fn remove(&mut self, $key: u64) -> bool {
            let $filter = self;
            $work
        }
    };
    (@clear $filter:ident => $work:expr) => {
        fn clear(&mut self) {
            let $filter = self;
            $work;
        }
    };
    (@bytes $filter:ident => $work:expr) => {
        fn bytes(&self) -> u64 {
            let $filter = self;
            $work
        }
    };
    (@words $filter:ident => $work:expr) => {
        fn words(&self) -> Option<&[u64]> {
            let $filter = self;
            Some($work)
        }
    };
    (@insert_batch $filter:ident $keys:ident => $work:expr) => {
        fn insert_batch(&mut self, $keys: &[u64]) -> u64 {
            let $filter = self;
            $work
        }
    };
    (@contains_batch $filter:ident $keys:ident $answers:ident => $work:expr) => {
        fn contains_batch(&self, $keys: &[u64], $answers: &mut [bool]) -> u64 {
            let $filter = self;
            $work;
            $answers.iter().map(|&answer| u64::from(answer)).sum()
        }
    };
    ($($filter:ty),+ => $rows:tt) => {
        $($crate::filter::filter!(@impl $filter => $rows);)+
    };
}
pub(crate) use filter;

/// A filter that takes keys as hashes.
#[derive(Debug)]
pub(crate) struct HashIn<F>(pub(crate) F);

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
    /// A removal of a stored key.
    Remove,
}

use Operation::{Hit, HitBatch, Insert, InsertBatch, Miss, MissBatch, Remove};

/// All lookups.
pub const LOOKUPS: [Operation; 4] = [Hit, Miss, HitBatch, MissBatch];

/// All lookups and insertions. Those that change the filters come last.
pub const ALL: [Operation; 6] = [Hit, Miss, HitBatch, MissBatch, Insert, InsertBatch];

impl Operation {
    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Hit => "hit",
            Miss => "miss",
            HitBatch => "hit batch",
            MissBatch => "miss batch",
            Insert => "insert",
            InsertBatch => "insert batch",
            Remove => "remove",
        }
    }

    /// Returns `true` if the operation inserts keys.
    #[must_use]
    pub const fn inserts(self) -> bool {
        matches!(self, Insert | InsertBatch)
    }

    /// Returns the keys of a lookup: of a hit, those that are given.
    pub(crate) fn looked_up(self, stored: &Keys) -> Keys {
        if matches!(self, Miss | MissBatch) { Keys::absent() } else { stored.clone() }
    }
}

/// An operation on one filter, as its part in a contest.
#[derive(Debug)]
pub struct Task<'a> {
    filter: &'a mut dyn Filter,
    operation: Operation,
    answers: Vec<bool>,
    /// For how many keys the operation succeeded.
    pub(crate) done: u64,
}

impl<'a> Task<'a> {
    /// Creates a task that does `operation` with each key of the coming blocks.
    pub fn new(filter: &'a mut dyn Filter, operation: Operation) -> Self {
        Self { filter, operation, answers: Vec::new(), done: 0 }
    }

    /// Creates the tasks of two filters.
    pub(crate) fn pair(filters: [&'a mut dyn Filter; 2], operation: Operation) -> [Self; 2] {
        filters.map(|filter| Self::new(filter, operation))
    }
}

impl Contender for Task<'_> {
    fn prepare(&mut self, block: &Block) {
        self.answers.resize(block.keys.len(), false);
        if self.operation.inserts() && block.starts {
            self.filter.clear();
        }
    }

    fn run(&mut self, keys: &[u64]) -> u64 {
        let Self { filter, operation, answers, .. } = self;
        self.done += match operation {
            Hit | Miss => filter.contains_each(keys),
            HitBatch | MissBatch => filter.contains_batch(keys, answers),
            Insert => filter.insert_each(keys),
            InsertBatch => filter.insert_batch(keys),
            Remove => filter.remove_each(keys),
        };
        self.done
    }
}
