//! The binary fuse filter: construction.

mod builder;
mod portable;
mod reading;
mod view;

use core::hash::Hash;

use pds_core::error::{AllocError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::Words;

pub use builder::FuseFilterBuilder;
pub use view::FuseFilterView;

use crate::ConstructionError;
use crate::fuse_table::FuseTable;

/// A static set that answers membership with false positives at a rate of 2^-b, with the fastest lookups and the fastest
/// construction of this crate.
///
/// `false` is certain: the key is absent. An absent key is answered `true` at the false-positive rate.
///
/// Use a fuse filter if all keys are known before the first query, and if time matters more than size. A
/// [`RibbonFilter`](crate::RibbonFilter) is 11 to 25 % smaller and has any rate.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | contents | methods |
/// |---|---|---|
/// | `FuseFilter` | in [`Words`] of its own | all |
/// | [`FuseFilterView<B>`](crate::FuseFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - False negatives: never.
/// - False positives: 2^-b on average, for fingerprints of b bits. b is any whole number from 1 to 32. Each key adds 2^-64,
///   because an absent key may have its whole hash.
/// - Construction succeeds for every set of keys. It does not depend on luck: if some keys cannot be placed with 3 seeds,
///   the filter grows in steps of 1/64, at most 32 times. Keys that cannot be placed then are kept in an exact list.
/// - Bytes: equal sets, widths and hashers give equal bytes. Order, duplicates and threads do not matter.
/// - Memory: 64 bits per shard, and 1.12 b bits per key at 10^7 keys, 1.13 b at 10^6, 1.17 b at 10^5, 1.24 b at 10^4, 1.27 b at
///   10^3, 1.38 b at 100.
/// - Time: lookups read three places, which are close to each other in filters of more than 11,000 keys. Construction is
///   O(n).
///
/// # Examples
/// ```
/// use fuse::FuseFilter;
///
/// let filter = FuseFilter::new(["10.0.0.1", "10.0.0.7"], 0.001)?;
/// assert!(filter.contains("10.0.0.7"));
/// assert!(!filter.contains("10.0.0.8"));
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
///
/// # References
/// Thomas Mueller Graf and Daniel Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", ACM Journal of
/// Experimental Algorithmics 27, 2022.
#[derive(Clone)]
pub struct FuseFilter<S = DefaultHashBuilder, W = Words> {
    /// The fingerprints.
    table: FuseTable<W>,
    /// From keys to hashes.
    hasher: S,
}

// Functions that are called by path (`FuseFilter::new`) exist for one storage only: the compiler could not tell two
// of the same name apart (E0034).
impl FuseFilter {
    /// Builds the smallest filter of these keys with a false-positive rate of at most `rate`.
    ///
    /// # Errors
    /// [`ConstructionError::Param`] if `rate` is not above 0 and below 1, or below 2^-32. [`ConstructionError::Alloc`] if
    /// the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use fuse::FuseFilter;
    ///
    /// let filter = FuseFilter::new(0..1_000_000u32, 0.004)?;
    /// assert_eq!((filter.len(), filter.fingerprint_bits()), (1_000_000, 8));
    /// assert_eq!(filter.size_in_bytes() / 1024, 1103);
    /// assert!(FuseFilter::new(0..10u32, 0.0).is_err());
    /// # Ok::<(), fuse::ConstructionError>(())
    /// ```
    pub fn new<K: Hash>(
        keys: impl IntoIterator<Item = K>,
        rate: f64,
    ) -> Result<Self, ConstructionError> {
        Self::builder().false_positive_rate(rate).build(keys)
    }

    /// Starts a builder: for another width, a seed, another hasher, threads, or progress.
    pub const fn builder<'a>() -> FuseFilterBuilder<'a> {
        FuseFilterBuilder::new()
    }
}

impl<S> FuseFilter<S> {
    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        Ok(Self { table: self.table.try_clone()?, hasher: self.hasher.clone() })
    }
}

impl<S: KeyHasher> PartialEq for FuseFilter<S> {
    fn eq(&self, other: &Self) -> bool {
        Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok() && self.table == other.table
    }
}

impl<S: KeyHasher> Eq for FuseFilter<S> {}
