//! The builder of ribbon filters.

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;
use core::ops::ControlFlow;
use pds_params::internal::ParamFault;

use pds_core::error::ParamError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::RibbonParams;
use pds_params::ribbon::{Columns, Preset};

use super::RibbonFilter;
use crate::entries::{collect, sort_distinct};
use crate::equation::fingerprint;
use crate::options::Options;
use crate::solve::{Limits, Problem, solve};
use crate::system::RestForm;
use crate::{ConstructionError, Progress};

/// Builder for [`RibbonFilter`]; start with [`RibbonFilter::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// # Examples
/// ```
/// use fuse::RibbonFilter;
///
/// let filter = RibbonFilter::builder().columns(8.0).seed(7).build(["a", "b", "a"])?;
/// assert_eq!((filter.len(), filter.promised_rate()), (2, 1.0 / 256.0));
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
#[derive(Clone, Copy)]
#[must_use]
pub struct RibbonFilterBuilder<'a, S = DefaultHashBuilder> {
    rate: Option<f64>,
    columns: Option<f64>,
    preset: Preset,
    options: Options<'a, S>,
}

impl RibbonFilterBuilder<'_> {
    pub(super) const fn new() -> Self {
        Self { rate: None, columns: None, preset: Preset::Compact, options: Options::new() }
    }

    /// Sets the seed of the default hasher, 0 unless it is set.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.options = self.options.seed(seed);
        self
    }
}

impl<'a, S> RibbonFilterBuilder<'a, S> {
    /// Sets the greatest false-positive rate, from 2^-32 up and below 1. Without it the rate is 0.01.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Sets the number of columns instead of the rate: the bits per key, above 0 and at most 32. It is rounded up to a
    /// multiple of 1/256.
    ///
    /// r columns have a false-positive rate of 2^-r. Between two whole numbers the rate falls linearly.
    pub const fn columns(mut self, columns: f64) -> Self {
        self.columns = Some(columns);
        self
    }

    /// Sets what to save: bits, or time of construction. Without it, bits.
    pub const fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> RibbonFilterBuilder<'a, T> {
        let Self { rate, columns, preset, options } = self;
        RibbonFilterBuilder { rate, columns, preset, options: options.hasher(hasher) }
    }

    /// Sets a callback that learns of the progress and may cancel the construction.
    ///
    /// Threads of the construction call it, some 10 times per million keys.
    pub fn progress<'b>(
        self,
        callback: &'b (dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> RibbonFilterBuilder<'b, S> {
        let Self { rate, columns, preset, options } = self;
        RibbonFilterBuilder { rate, columns, preset, options: options.progress(callback) }
    }

    /// Sets whether to use all threads of rayon's pool. The result is the same. Without it, one is used.
    #[cfg(feature = "parallel")]
    pub const fn parallel(mut self, parallel: bool) -> Self {
        self.options.machine.parallel = parallel;
        self
    }

    /// Sets whether to ask the system for huge pages, which pays for many megabytes.
    ///
    /// Small ones ignore it. Copies, and what is read from bytes, do not ask.
    #[cfg(feature = "huge-pages")]
    pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.options.machine.huge_pages = huge_pages;
        self
    }

    /// Builds the filter of these keys. Duplicates are removed.
    ///
    /// # Errors
    /// [`ConstructionError::Param`] names a value that is out of range or in conflict with another.
    /// [`ConstructionError::Alloc`] if the allocator refuses the memory. [`ConstructionError::Cancelled`] if the progress
    /// callback asked for it.
    ///
    /// # Complexity
    /// O(n log n). Needs 8 bytes per key, and 2 to 4 MiB per thread.
    pub fn build<K: Hash>(
        self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<RibbonFilter<S>, ConstructionError>
    where
        S: KeyHasher,
    {
        // Wrong values are found before any key is asked for.
        self.columns_for(0)?;
        let hasher = &self.options.hasher;
        let hashes = collect(keys.into_iter().map(|key| hasher.hash_key(&key)))?;
        self.build_hashes(hashes)
    }

    /// Builds the filter of the keys with these hashes. Uses their memory, so that it needs little of its own.
    ///
    /// Each hash must be the [`hash_key`](KeyHasher::hash_key) of the hasher, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_hashes(self, hashes: Vec<u64>) -> Result<RibbonFilter<S>, ConstructionError> {
        // Wrong values are found before the keys are sorted.
        self.columns_for(0)?;
        let (mut hashes, machine) = (hashes, self.options.machine);
        sort_distinct(&mut hashes, machine.parallel)?;
        let columns = self.columns_for(hashes.len() as u64)?;
        let problem = Problem {
            columns,
            preset: self.preset,
            form: RestForm::Hashes,
            machine,
            watch: &self.options.watch(hashes.len()),
            limits: Limits::DEFAULT,
        };
        let (system, words) = solve(hashes, problem, |&hash| fingerprint(hash))?;
        Ok(RibbonFilter { words, system, hasher: self.options.hasher })
    }

    fn columns_for(&self, keys: u64) -> Result<Columns, ParamError> {
        match (self.rate, self.columns) {
            (rate, None) => columns_for_rate(keys, rate.unwrap_or(DEFAULT_RATE)),
            (None, Some(columns)) => Columns::from_f64(columns),
            (Some(_), Some(_)) => {
                Err(ParamError(ParamFault::Conflict { parameter: "false_positive_rate" }))
            }
        }
    }
}

/// Returns the fewest columns that keep a rate.
pub(super) fn columns_for_rate(keys: u64, rate: f64) -> Result<Columns, ParamError> {
    // A filter without keys has columns, too, so that its numbers are those that were asked for.
    RibbonParams::new(keys.max(1), rate).map(|params| params.columns())
}

impl<S> fmt::Debug for RibbonFilterBuilder<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RibbonFilterBuilder")
            .field("false_positive_rate", &self.rate)
            .field("columns", &self.columns)
            .field("preset", &self.preset)
            .finish_non_exhaustive()
    }
}
