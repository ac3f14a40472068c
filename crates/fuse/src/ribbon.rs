//! The ribbon filter: construction, and what changes its size.

mod builder;
mod portable;
mod reading;
mod view;

use core::hash::Hash;
use pds_params::internal::ParamFault;

use pds_core::error::{AllocError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::Backend;
use pds_core::storage::{WordSource, Words};

use builder::columns_for_rate;

pub use builder::RibbonFilterBuilder;
pub use view::RibbonFilterView;

use crate::ConstructionError;
use crate::system::System;

/// A static set that answers membership with false positives at a chosen rate, in few more bits than the least
/// possible.
///
/// `false` is certain: the key is absent. An absent key is answered `true` at the false-positive rate.
///
/// Use a ribbon filter if all keys are known before the first query. It is the smallest filter of this family at every
/// rate. Keys can be neither inserted nor removed later.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | contents | methods |
/// |---|---|---|
/// | `RibbonFilter` | in [`Words`] of its own | all |
/// | [`RibbonFilterView<B>`](crate::RibbonFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - False negatives: never.
/// - False positives: the mean rate is the promised one, which is at most the rate asked for. Any rate from 2^-32 up is
///   possible, not only powers of two.
/// - Construction succeeds for every set of keys. It does not depend on luck: keys that fit nowhere are kept in an exact
///   list, which is empty in almost every filter.
/// - Bytes: equal sets, rates and hashers give equal bytes. Order, duplicates and threads do not matter.
/// - Memory: n log2(1/rate) bits for n keys, and at 8 columns 6.7 % more for 30 keys, 4 % for 100, 1.6 % for 1,000 to 2,048, 1.4 to
///   3.7 % for 3,000, 0.7 % for 10,000, 0.4 % from 100,000 up (measured). A rate that is no power of two takes up to 0.09 bits per key
///   more. At rates above 1 % the share that is lost is greater: the README has a table.
/// - Time: lookups read two adjacent groups of slots and one threshold. Construction is O(n log n).
///
/// # Examples
/// ```
/// use fuse::RibbonFilter;
///
/// let filter = RibbonFilter::new(["10.0.0.1", "10.0.0.7"], 0.001)?;
/// assert!(filter.contains("10.0.0.7"));
/// assert!(!filter.contains("10.0.0.8"));
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
///
/// # References
/// Peter C. Dillinger, Lorenz Hübschle-Schneider, Peter Sanders and Stefan Walzer, "Fast Succinct Retrieval and
/// Approximate Membership Using Ribbon", SEA 2022.
#[derive(Clone)]
pub struct RibbonFilter<S = DefaultHashBuilder, W = Words> {
    /// The fingerprints.
    words: W,
    system: System,
    /// From keys to hashes.
    hasher: S,
}

// Functions that are called by path (`RibbonFilter::new`) exist for one storage only: the compiler could not tell two
// of the same name apart (E0034).
impl RibbonFilter {
    /// Builds the smallest filter of these keys with a false-positive rate of at most `rate`.
    ///
    /// # Errors
    /// [`ConstructionError::Param`] if `rate` is not above 0 and below 1, or below 2^-32. [`ConstructionError::Alloc`] if
    /// the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use fuse::RibbonFilter;
    ///
    /// let filter = RibbonFilter::new(0..1_000_000u32, 0.01)?;
    /// assert_eq!((filter.len(), filter.size_in_bytes() / 1024), (1_000_000, 823));
    /// assert!(RibbonFilter::new(0..10u32, 0.0).is_err());
    /// # Ok::<(), fuse::ConstructionError>(())
    /// ```
    pub fn new<K: Hash>(
        keys: impl IntoIterator<Item = K>,
        rate: f64,
    ) -> Result<Self, ConstructionError> {
        Self::builder().false_positive_rate(rate).build(keys)
    }

    /// Starts a builder: for another size, a seed, another hasher, threads, or progress.
    pub const fn builder<'a>() -> RibbonFilterBuilder<'a> {
        RibbonFilterBuilder::new()
    }
}

impl<S> RibbonFilter<S> {
    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (system, hasher) = (self.system, self.hasher.clone());
        Ok(Self { words: self.words.try_clone()?, system, hasher })
    }
}

impl<S, W> RibbonFilter<S, W> {
    /// Uses another backend. `None` if the build or the processor lacks it.
    ///
    /// For tests and benches. All backends give the same answers.
    #[doc(hidden)]
    pub fn with_backend(mut self, name: &str) -> Option<Self> {
        self.system.set_backend(Backend::by_name(name)?);
        Some(self)
    }
}

impl<S: Clone, W: WordSource> RibbonFilter<S, W> {
    /// Returns the filter that a build with a higher rate would give, without the keys.
    ///
    /// # Errors
    /// [`ConstructionError::Param`] if `rate` is not above 0 and below 1, or below the present
    /// [`promised_rate`](Self::promised_rate). [`ConstructionError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Complexity
    /// O(size of the result).
    ///
    /// # Examples
    /// ```
    /// use fuse::RibbonFilter;
    ///
    /// let precise = RibbonFilter::new(0..10_000u32, 1e-6)?;
    /// let small = precise.shrink_to_rate(0.01)?;
    /// assert_eq!(small, RibbonFilter::new(0..10_000u32, 0.01)?);
    /// # Ok::<(), fuse::ConstructionError>(())
    /// ```
    pub fn shrink_to_rate(&self, rate: f64) -> Result<RibbonFilter<S>, ConstructionError> {
        let present = self.system.params().columns;
        let columns = columns_for_rate(self.len(), rate)?;
        if rate < self.promised_rate() && columns != present {
            let (parameter, value, min) = ("false_positive_rate", rate, self.promised_rate());
            return Err(ParamError(ParamFault::TooLow { parameter, value, min }).into());
        }
        // The sum with the collisions of hashes may be rounded up.
        let columns = columns.min(present);
        let (system, words) = self.system.narrowed(self.words.as_words(), columns)?;
        Ok(RibbonFilter { words, system, hasher: self.hasher.clone() })
    }
}

impl<S: KeyHasher> PartialEq for RibbonFilter<S> {
    fn eq(&self, other: &Self) -> bool {
        let same_hasher =
            pds_core::error::Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok();
        same_hasher && self.system.params() == other.system.params() && self.words == other.words
    }
}

impl<S: KeyHasher> Eq for RibbonFilter<S> {}
