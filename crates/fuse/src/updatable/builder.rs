//! The builder of updatable maps.

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;
use core::ops::ControlFlow;

use pds_core::error::ParamError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_params::internal::ParamFault;

use super::{OWN_BITS, UpdatableMap, value_words};
use crate::entries::{self, check_value, collect, sort_distinct};
use crate::fuse_build::{Limits, Problem, build};
use crate::graph::Edge;
use crate::options::Options;
use crate::{ConstructionError, Progress};

/// Greatest number of check bits.
const MAX_CHECK_BITS: u32 = 32;

/// Greatest number of bits of a value.
const MAX_VALUE_BITS: u32 = 64;

/// Builder for [`UpdatableMap`]; start with [`UpdatableMap::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// # Examples
/// ```
/// use fuse::UpdatableMap;
///
/// let map = UpdatableMap::builder().value_bits(4).check_bits(0).build([("a", 3), ("b", 15)])?;
/// assert_eq!((map.get("b"), map.value_bits()), (Some(15), 4));
/// assert!(UpdatableMap::builder().value_bits(4).build([("c", 16)]).is_err());
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
#[derive(Clone, Copy)]
#[must_use]
pub struct UpdatableMapBuilder<'a, S = DefaultHashBuilder> {
    value_bits: Option<u32>,
    check_bits: u32,
    limits: Limits,
    options: Options<'a, S>,
}

impl UpdatableMapBuilder<'_> {
    pub(super) const fn new() -> Self {
        let (limits, options) = (Limits::DEFAULT, Options::new());
        Self { value_bits: None, check_bits: 8, limits, options }
    }

    /// Sets the seed of the default hasher, 0 unless it is set.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.options = self.options.seed(seed);
        self
    }
}

impl<'a, S> UpdatableMapBuilder<'a, S> {
    /// Sets the number of bits of a value, from 1 to 64. Without it, the greatest value determines it.
    pub const fn value_bits(mut self, value_bits: u32) -> Self {
        self.value_bits = Some(value_bits);
        self
    }

    /// Sets the number of bits by which other keys are told from those of the set, from 0 to 32. Without it, they are 8.
    pub const fn check_bits(mut self, check_bits: u32) -> Self {
        self.check_bits = check_bits;
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> UpdatableMapBuilder<'a, T> {
        let Self { value_bits, check_bits, limits, options } = self;
        UpdatableMapBuilder { value_bits, check_bits, limits, options: options.hasher(hasher) }
    }

    /// Sets a callback that learns of the progress and may cancel the construction.
    ///
    /// Threads of the construction call it at least once per 8 million keys.
    pub fn progress<'b>(
        self,
        callback: &'b (dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> UpdatableMapBuilder<'b, S> {
        let Self { value_bits, check_bits, limits, options } = self;
        UpdatableMapBuilder { value_bits, check_bits, limits, options: options.progress(callback) }
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

    /// Sets how often the map may grow, from 0 to 32, and how many seeds are tried before, from 1 to 8.
    ///
    /// For tests of the exact list.
    #[doc(hidden)]
    pub const fn limits(mut self, growth: u32, seeds: u64) -> Self {
        self.limits = Limits { growth, seeds: [seeds; 2] };
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
    /// O(n log n). Needs 24 bytes per key, and 16 bytes per key of up to 8 million keys for each thread.
    pub fn build<K: Hash>(
        self,
        entries: impl IntoIterator<Item = (K, u64)>,
    ) -> Result<UpdatableMap<S>, ConstructionError>
    where
        S: KeyHasher,
    {
        // Wrong widths are found before any key is asked for.
        table_width(self.value_bits.unwrap_or(1), self.check_bits)?;
        let hasher = &self.options.hasher;
        let entries = entries.into_iter().map(|(key, value)| (hasher.hash_key(&key), value));
        let entries = collect(entries)?;
        self.build_hashes(entries)
    }

    /// Builds the map of the keys with these hashes, each with its value.
    ///
    /// Each hash must be the [`hash_key`](KeyHasher::hash_key) of the hasher, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_hashes(
        self,
        mut entries: Vec<(u64, u64)>,
    ) -> Result<UpdatableMap<S>, ConstructionError> {
        let Self { value_bits, check_bits, limits, options } = self;
        let value_bits = entries::value_bits(&entries, value_bits);
        let (width, machine) = (table_width(value_bits, check_bits)?, options.machine);
        entries.iter().try_for_each(|&entry| check_value(entry, value_bits))?;
        sort_distinct(&mut entries, machine.parallel)?;
        let mut hashes = collect(entries.iter().map(|&(hash, _)| hash))?;
        let mut watch = options.watch(hashes.len());
        let problem = Problem { width, machine, limits };
        let built = build(&mut hashes, problem, &mut watch, |edge, slot| {
            own_index(edge, slot) | edge.fingerprint << OWN_BITS
        })?;
        let table = built.table.with_room(value_words(&built.table, value_bits))?;
        let mut map = UpdatableMap { table, value_bits, hasher: options.hasher };
        for (hash, value) in entries {
            map.set_hash(hash, value)?;
        }
        Ok(map)
    }
}

/// Returns which of the slots of an edge this is.
fn own_index(edge: &Edge, slot: u64) -> u64 {
    let [first, _, third] = edge.slots;
    u64::from(slot != first) + u64::from(slot == third)
}

/// Returns the width of the cells that name the slot of a key, with the check bits.
pub(super) fn table_width(value_bits: u32, check_bits: u32) -> Result<u32, ParamError> {
    let check = |parameter, value: u32, min: u32, max: u32| {
        let [number, min, max] = [value, min, max].map(u64::from);
        if (min..=max).contains(&number) {
            return Ok(value);
        }
        Err(ParamError(ParamFault::OutOfRange { parameter, value: number, min, max }))
    };
    check("value_bits", value_bits, 1, MAX_VALUE_BITS)?;
    Ok(OWN_BITS + check("check_bits", check_bits, 0, MAX_CHECK_BITS)?)
}

impl<S> fmt::Debug for UpdatableMapBuilder<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpdatableMapBuilder")
            .field("value_bits", &self.value_bits)
            .field("check_bits", &self.check_bits)
            .finish_non_exhaustive()
    }
}
