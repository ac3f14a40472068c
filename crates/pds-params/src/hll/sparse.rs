//! The size of the sparse form's table, which grows with the number of its entries.

use crate::HllParams;

/// Slots per bucket: as many as two vector instructions compare.
pub const BUCKET: usize = 8;

/// The greatest number of slots in a single list. Larger tables have buckets.
pub const MAX_LIST: usize = 5 * BUCKET;

/// The number of slots of the first list.
const MIN_LIST: usize = 5;

/// The maximum load of buckets: 7 of 8 slots.
const MAX_LOAD: (usize, usize) = (7, 8);

/// Returns the number of entries that a table of this many slots can hold.
#[must_use]
pub const fn room(slots: usize) -> usize {
    if slots <= MAX_LIST { slots } else { slots / MAX_LOAD.1 * MAX_LOAD.0 }
}

impl HllParams {
    /// Returns the number of slots, of four bytes each, of a table with this many entries.
    #[doc(hidden)]
    #[must_use]
    pub fn sparse_slots(self, entries: usize) -> usize {
        let mut sizes = core::iter::successors(Some(0), |&slots| Some(self.next_size(slots)));
        sizes.find(|&slots| room(slots) >= entries).unwrap_or(0)
    }

    /// Returns the next size: twice as many slots for a list, half as many again for buckets.
    fn next_size(self, slots: usize) -> usize {
        // When the sparse form is given up, the table holds one more entry than the form allows.
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^15")]
        let most = self.max_sparse_entries() as usize + 1;
        if slots < MAX_LIST.min(most) {
            (2 * slots).max(MIN_LIST).min(most)
        } else {
            let buckets = slots / BUCKET;
            (buckets + buckets / 2) * BUCKET
        }
    }
}
