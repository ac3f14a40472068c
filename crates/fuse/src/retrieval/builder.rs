//! The builder of retrieval maps.

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;
use core::ops::ControlFlow;

use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_params::ribbon::{Preset, map_columns};

use super::RetrievalMap;
use crate::entries::{self, check_value, collect, sort_distinct};
use crate::equation::fingerprint;
use crate::options::Options;
use crate::solve::{Limits, Problem, solve};
use crate::system::{RestForm, ones};
use crate::{ConstructionError, Progress};

/// Builder for [`RetrievalMap`]; start with [`RetrievalMap::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// # Examples
/// ```
/// use fuse::RetrievalMap;
///
/// let map = RetrievalMap::builder().value_bits(4).check_bits(0).build([("a", 3), ("b", 15)])?;
/// assert_eq!((map.get("b"), map.value_bits()), (Some(15), 4));
/// assert!(RetrievalMap::builder().value_bits(4).build([("c", 16)]).is_err());
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
#[derive(Clone, Copy)]
#[must_use]
pub struct RetrievalMapBuilder<'a, S = DefaultHashBuilder> {
    value_bits: Option<u32>,
    check_bits: u32,
    preset: Preset,
    options: Options<'a, S>,
}

impl RetrievalMapBuilder<'_> {
    pub(super) const fn new() -> Self {
        let (value_bits, preset) = (None, Preset::Compact);
        Self { value_bits, check_bits: 8, preset, options: Options::new() }
    }

    /// Sets the seed of the default hasher, 0 unless it is set.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.options = self.options.seed(seed);
        self
    }
}

impl<'a, S> RetrievalMapBuilder<'a, S> {
    /// Sets the number of bits of a value, from 1 to 64. Without it, the greatest value determines it.
    pub const fn value_bits(mut self, value_bits: u32) -> Self {
        self.value_bits = Some(value_bits);
        self
    }

    /// Sets the number of check bits, from 0 to 32, and at most 64 together with those of a value. Without it there are 8.
    ///
    /// An absent key has a value with probability 2^-c for c check bits.
    pub const fn check_bits(mut self, check_bits: u32) -> Self {
        self.check_bits = check_bits;
        self
    }

    /// Sets what to save: bits, or time of construction. Without it, bits.
    pub const fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](crate::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> RetrievalMapBuilder<'a, T> {
        let Self { value_bits, check_bits, preset, options } = self;
        RetrievalMapBuilder { value_bits, check_bits, preset, options: options.hasher(hasher) }
    }

    /// Sets a callback that learns of the progress and may cancel the construction.
    ///
    /// Threads of the construction call it, some 10 times per million keys.
    pub fn progress<'b>(
        self,
        callback: &'b (dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> RetrievalMapBuilder<'b, S> {
        let Self { value_bits, check_bits, preset, options } = self;
        RetrievalMapBuilder { value_bits, check_bits, preset, options: options.progress(callback) }
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

    /// Builds the map of these keys and values. Equal entries count once.
    ///
    /// # Errors
    /// [`ConstructionError::Param`] names a value that is out of range. [`ConstructionError::Contradiction`] if one key has
    /// two values, [`ConstructionError::ValueTooLarge`] if a value does not fit. [`ConstructionError::Alloc`] if the
    /// allocator refuses the memory. [`ConstructionError::Cancelled`] if the progress callback asked for it.
    ///
    /// # Complexity
    /// O(n log n). Needs 16 bytes per key, and 2 to 4 MiB per thread.
    pub fn build<K: Hash>(
        self,
        entries: impl IntoIterator<Item = (K, u64)>,
    ) -> Result<RetrievalMap<S>, ConstructionError>
    where
        S: KeyHasher,
    {
        // Wrong widths are found before any key is asked for.
        map_columns(self.value_bits.unwrap_or(1), self.check_bits)?;
        let hasher = &self.options.hasher;
        let entries = entries.into_iter().map(|(key, value)| (hasher.hash_key(&key), value));
        let entries = collect(entries)?;
        self.build_hashes(entries)
    }

    /// Builds the map of the keys with these hashes, each with its value. Uses their memory, so that it needs little of its
    /// own.
    ///
    /// Each hash must be the [`hash_key`](KeyHasher::hash_key) of the hasher, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_hashes(
        self,
        entries: Vec<(u64, u64)>,
    ) -> Result<RetrievalMap<S>, ConstructionError> {
        let Self { value_bits, check_bits, preset, options } = self;
        let value_bits = entries::value_bits(&entries, value_bits);
        let columns = map_columns(value_bits, check_bits)?;
        entries.iter().try_for_each(|&entry| check_value(entry, value_bits))?;
        let (mut entries, machine) = (entries, options.machine);
        sort_distinct(&mut entries, machine.parallel)?;
        let watch = &options.watch(entries.len());
        let (form, limits) = (RestForm::Bits, Limits::DEFAULT);
        let problem = Problem { columns, preset, form, machine, watch, limits };
        let check = ones(check_bits.into());
        let (system, words) = solve(entries, problem, |&(hash, value)| {
            fingerprint(hash) & check | value << check_bits
        })?;
        Ok(RetrievalMap { words, system, value_bits, hasher: options.hasher })
    }
}

impl<S> fmt::Debug for RetrievalMapBuilder<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetrievalMapBuilder")
            .field("value_bits", &self.value_bits)
            .field("check_bits", &self.check_bits)
            .field("preset", &self.preset)
            .finish_non_exhaustive()
    }
}
