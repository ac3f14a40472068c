//! Changes that are not in the sorted array yet.

use alloc::collections::BTreeSet;
use core::ops::RangeInclusive;

use super::sorted::Entry;

/// Entries that were inserted, and entries of the sorted array that were removed.
#[derive(Clone, Default)]
pub(super) struct Changes {
    /// None of them is in the sorted array.
    inserted: BTreeSet<Entry>,
    /// All of them are in the sorted array.
    removed: BTreeSet<Entry>,
}

impl Changes {
    /// Inserts an entry that is not there: it is new, or was removed.
    pub(super) fn insert(&mut self, entry: Entry) {
        if !self.removed.remove(&entry) {
            self.inserted.insert(entry);
        }
    }

    /// Removes an entry that is there: it was inserted, or is in the sorted array.
    pub(super) fn remove(&mut self, entry: Entry) {
        if !self.inserted.remove(&entry) {
            self.removed.insert(entry);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.inserted.is_empty() && self.removed.is_empty()
    }

    /// Returns the number of entries that wait.
    pub(super) fn len(&self) -> u64 {
        (self.inserted.len() + self.removed.len()) as u64
    }

    /// Returns how many entries there are if the sorted array has `sorted`.
    pub(super) fn count(&self, sorted: u64) -> u64 {
        sorted + self.inserted.len() as u64 - self.removed.len() as u64
    }

    pub(super) fn is_inserted(&self, entry: Entry) -> bool {
        self.inserted.contains(&entry)
    }

    pub(super) fn is_removed(&self, entry: Entry) -> bool {
        !self.removed.is_empty() && self.removed.contains(&entry)
    }

    /// Returns the inserted entries of a band with these keys, in ascending order.
    pub(super) fn inserted(
        &self,
        band: u32,
        keys: RangeInclusive<u64>,
    ) -> impl Iterator<Item = (u64, u32)> {
        let first = Entry { band, key: *keys.start(), document: 0 };
        let last = Entry { band, key: *keys.end(), document: u32::MAX };
        self.inserted.range(first..=last).map(|entry| (entry.key, entry.document))
    }
}
