//! The size of the sparse form's table, which grows with the number of its entries.

use crate::HllParams;

/// Slots of a bucket: as many as two vector instructions compare.
pub const BUCKET: usize = 8;

/// Up to so many slots are one list; more are buckets.
pub const MAX_LIST: usize = 5 * BUCKET;

/// The first list.
const MIN_LIST: usize = 5;

/// At most this share of the slots in buckets is taken: 7 of 8.
const MAX_LOAD: (usize, usize) = (7, 8);

/// Returns how many of so many slots may be taken.
#[must_use]
pub const fn room(slots: usize) -> usize {
    if slots <= MAX_LIST { slots } else { slots / MAX_LOAD.1 * MAX_LOAD.0 }
}

impl HllParams {
    /// Returns the slots, of four bytes each, of a table of so many entries.
    #[doc(hidden)]
    #[must_use]
    pub fn sparse_slots(self, entries: usize) -> usize {
        let mut sizes = core::iter::successors(Some(0), |&slots| Some(self.next_size(slots)));
        sizes.find(|&slots| room(slots) >= entries).unwrap_or(0)
    }

    /// Twice as many slots in a list, half as many again in buckets.
    fn next_size(self, slots: usize) -> usize {
        // One more than the sparse form may have is in the table when it is given up.
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
