//! The builder of binary fuse filters.

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;
use core::ops::ControlFlow;
use pds_params::internal::ParamFault;

use pds_core::error::ParamError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::FuseParams;
use pds_params::fuse::check_bits;

use super::FuseFilter;
use crate::entries::{collect, sort_distinct};
use crate::fuse_build::{Limits, Problem, build};
use crate::options::Options;
use crate::{ConstructionError, Progress};

/// Builder for [`FuseFilter`]; start with [`FuseFilter::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// # Examples
/// ```
/// use fuse::FuseFilter;
///
/// let filter = FuseFilter::builder().fingerprint_bits(12).seed(7).build(["a", "b", "a"])?;
/// assert_eq!((filter.len(), filter.fingerprint_bits()), (2, 12));
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
#[derive(Clone, Copy)]
#[must_use]
pub struct FuseFilterBuilder<'a, S = DefaultHashBuilder> {
    rate: Option<f64>,
    fingerprint_bits: Option<u32>,
    limits: Limits,
    options: Options<'a, S>,
}

impl FuseFilterBuilder<'_> {
    pub(super) const fn new() -> Self {
        let (limits, options) = (Limits::DEFAULT, Options::new());
        Self { rate: None, fingerprint_bits: None, limits, options }
    }

    /// Sets the seed of the default hasher, 0 unless it is set.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.options = self.options.seed(seed);
        self
    }
}

impl<'a, S> FuseFilterBuilder<'a, S> {
    /// Sets the greatest false-positive rate, from 2^-32 up and below 1. Without it the rate is 0.01.
    ///
    /// The rate of the filter is the next power of two below. Collisions of whole 64-bit hashes count: they can take one bit
    /// more, and some rates near 2^-32 are out of reach for many keys.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Sets the width of a fingerprint in bits instead of the rate, from 1 to 32.
    pub const fn fingerprint_bits(mut self, fingerprint_bits: u32) -> Self {
        self.fingerprint_bits = Some(fingerprint_bits);
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> FuseFilterBuilder<'a, T> {
        let Self { rate, fingerprint_bits, limits, options } = self;
        FuseFilterBuilder { rate, fingerprint_bits, limits, options: options.hasher(hasher) }
    }

    /// Sets a callback that learns of the progress and may cancel the construction.
    ///
    /// Threads of the construction call it at least once per 8 million keys.
    pub fn progress<'b>(
        self,
        callback: &'b (dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> FuseFilterBuilder<'b, S> {
        let Self { rate, fingerprint_bits, limits, options } = self;
        FuseFilterBuilder { rate, fingerprint_bits, limits, options: options.progress(callback) }
    }

    /// Sets whether to use all threads of rayon's pool. The result is the same. Without it, one is used.
    ///
    /// Fewer than 8 million keys are one job.
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

    /// Sets how often the filter may grow, from 0 to 32, and how many seeds are tried before, from 1 to 8.
    ///
    /// For tests of the exact list. Filters of few seeds may be larger.
    #[doc(hidden)]
    pub const fn limits(mut self, growth: u32, seeds: u64) -> Self {
        self.limits = Limits { growth, seeds: [seeds; 2] };
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
    /// O(n) on average, O(n log n) with duplicates. Needs 8 bytes per key, and 16 bytes per key of up to 8 million keys
    /// for each thread.
    pub fn build<K: Hash>(
        self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<FuseFilter<S>, ConstructionError>
    where
        S: KeyHasher,
    {
        // Wrong values are found before any key is asked for.
        self.given_bits(1)?;
        let hasher = &self.options.hasher;
        let hashes = collect(keys.into_iter().map(|key| hasher.hash_key(&key)))?;
        self.build_hashes(hashes)
    }

    /// Builds the filter of the keys with these hashes. Reorders them in place.
    ///
    /// Each hash must be the [`hash_key`](KeyHasher::hash_key) of the hasher, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_hashes(self, hashes: Vec<u64>) -> Result<FuseFilter<S>, ConstructionError> {
        self.build_counted(hashes).map(|(filter, _)| filter)
    }

    /// Builds as [`build_hashes`](Self::build_hashes). Returns the number of seeds that failed, too.
    #[doc(hidden)]
    pub fn build_counted(
        self,
        mut hashes: Vec<u64>,
    ) -> Result<(FuseFilter<S>, u64), ConstructionError> {
        let Options { machine, .. } = self.options;
        let mut width = self.given_bits(1)?;
        // Collisions of whole hashes take a bit more at some rates. Whether they do follows from the number of distinct keys.
        if self.given_bits(hashes.len() as u64) != Ok(width) {
            sort_distinct(&mut hashes, machine.parallel)?;
            width = self.given_bits(hashes.len() as u64)?;
        }
        let problem = Problem { width, machine, limits: self.limits };
        let mut watch = self.options.watch(hashes.len());
        let built = build(&mut hashes, problem, &mut watch, |edge, _| edge.fingerprint)?;
        Ok((FuseFilter { table: built.table, hasher: self.options.hasher }, built.retries))
    }

    /// Returns the width of the fingerprints of a filter of `keys` keys.
    fn given_bits(&self, keys: u64) -> Result<u32, ParamError> {
        match (self.rate, self.fingerprint_bits) {
            (rate, None) => FuseParams::new(keys.max(1), rate.unwrap_or(DEFAULT_RATE))
                .map(|params| params.fingerprint_bits()),
            (None, Some(bits)) => check_bits(bits).map(|()| bits),
            (Some(_), Some(_)) => {
                Err(ParamError(ParamFault::Conflict { parameter: "false_positive_rate" }))
            }
        }
    }
}

impl<S> fmt::Debug for FuseFilterBuilder<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuseFilterBuilder")
            .field("false_positive_rate", &self.rate)
            .field("fingerprint_bits", &self.fingerprint_bits)
            .finish_non_exhaustive()
    }
}
