//! The hashing scheme: one column per row, all from one hash.

use pds_core::hash::{finalize, reduce};
use pds_core::internal::MULTIPLIER;

/// The columns of a key, one per row, all from one 64-bit hash.
///
/// Column i is the high half of (hash · M^i mod 2^64) · width. Two keys meet in row i if their difference times M^i is
/// small. These products form a lattice. Its good spectrum spreads the meetings of one pair of keys over the rows as
/// independent rows would. Double hashing does not: two keys that meet in two rows would meet in all.
///
/// The published bound assumes a separate pairwise independent hash function for each row. `tests/it/statistics.rs`
/// measures that these rows keep the bound, and that their errors are those of fully random rows.
///
/// # Examples
/// ```
/// use cms::internal::RowHash;
/// use pds_core::hash::finalize;
///
/// let mut rows = RowHash::new(finalize(1));
/// assert_eq!([rows.next_column(1_000), rows.next_column(1_000)], [566, 764]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RowHash(u64);

impl RowHash {
    /// Starts at the first row of the key with this hash: 64 uniform bits, such as those of a
    /// [`KeyHasher`](pds_core::hash::KeyHasher). Pass any other hash through [`finalize`].
    #[inline]
    #[must_use]
    pub const fn new(hash: u64) -> Self {
        Self(hash)
    }

    /// Returns the column in the next row, below `width`.
    #[inline]
    pub const fn next_column(&mut self, width: u64) -> u64 {
        let column = reduce(self.0, width);
        self.0 = self.0.wrapping_mul(MULTIPLIER);
        column
    }

    /// Returns the column in the next row as a fraction of 2^64.
    #[inline]
    pub(crate) const fn next_unreduced(&mut self) -> u64 {
        let place = self.0;
        self.0 = place.wrapping_mul(MULTIPLIER);
        place
    }

    /// Returns 64 signs for the rows, one per bit. They are independent of the columns.
    ///
    /// They are the finalised hash, because the low bits of multiples repeat from row to row.
    #[inline]
    #[must_use]
    pub const fn signs(hash: u64) -> u64 {
        finalize(hash)
    }
}
