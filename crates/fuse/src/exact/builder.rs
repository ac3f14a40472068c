//! The builder of exact filters.

use alloc::vec::Vec;
use core::hash::Hash;
use core::ops::ControlFlow;
use core::{fmt, iter};

use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::Words;
use pds_params::ribbon::{Columns, Preset, exact_columns};

use super::{ExactFilter, Stages, passes};
use crate::entries::{collect, reserve, sort_distinct};
use crate::equation::fingerprint;
use crate::options::Options;
use crate::progress::Watch;
use crate::solve::{Limits, Problem, solve};
use crate::system::{Layout, RestForm, System, SystemParams};
use crate::{ConstructionError, Progress};

/// Number of keys to exclude from one report of the progress to the next.
const CHUNK: usize = 1 << 16;

/// Builder for [`ExactFilter`]; start with [`ExactFilter::builder`].
///
/// # Examples
/// ```
/// use fuse::ExactFilter;
///
/// let filter = ExactFilter::builder().seed(7).build(["a", "b", "a"], ["c", "d"])?;
/// assert_eq!((filter.len(), filter.contains("d")), (2, false));
/// # Ok::<(), fuse::ConstructionError>(())
/// ```
#[derive(Clone, Copy)]
#[must_use]
pub struct ExactFilterBuilder<'a, S = DefaultHashBuilder> {
    preset: Preset,
    options: Options<'a, S>,
}

impl ExactFilterBuilder<'_> {
    pub(super) const fn new() -> Self {
        Self { preset: Preset::Compact, options: Options::new() }
    }

    /// Sets the seed of the default hasher, 0 unless it is set.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.options = self.options.seed(seed);
        self
    }
}

impl<'a, S> ExactFilterBuilder<'a, S> {
    /// Sets what to save: bits, or time of construction. Without it, bits.
    pub const fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> ExactFilterBuilder<'a, T> {
        let Self { preset, options } = self;
        ExactFilterBuilder { preset, options: options.hasher(hasher) }
    }

    /// Sets a callback that learns of the progress and may cancel the construction.
    ///
    /// Threads of the construction call it, some 10 times per million keys.
    pub fn progress<'b>(
        self,
        callback: &'b (dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> ExactFilterBuilder<'b, S> {
        let Self { preset, options } = self;
        ExactFilterBuilder { preset, options: options.progress(callback) }
    }

    /// Sets whether to use all threads of rayon's pool. The result is the same. Without it, one is used.
    #[cfg(feature = "parallel")]
    pub const fn parallel(mut self, parallel: bool) -> Self {
        self.options.machine.parallel = parallel;
        self
    }

    /// Builds the filter that contains `include` and does not contain `exclude`. Duplicates within a set are removed.
    ///
    /// # Errors
    /// [`ConstructionError::InBoth`] if a key is in both sets. [`ConstructionError::Alloc`] if the allocator refuses the
    /// memory. [`ConstructionError::Cancelled`] if the progress callback asked for it.
    ///
    /// # Complexity
    /// O(n log n) for n keys of both sets. Needs 8 bytes per key, up to 48 more per key to include, and
    /// 2 to 4 MiB per thread.
    pub fn build<K: Hash>(
        self,
        include: impl IntoIterator<Item = K>,
        exclude: impl IntoIterator<Item = K>,
    ) -> Result<ExactFilter<S>, ConstructionError>
    where
        S: KeyHasher,
    {
        let hasher = &self.options.hasher;
        let include = collect(include.into_iter().map(|key| hasher.hash_key(&key)))?;
        let exclude = collect(exclude.into_iter().map(|key| hasher.hash_key(&key)))?;
        self.build_hashes(include, exclude)
    }

    /// Builds the filter of the keys with these hashes. Uses their memory.
    ///
    /// Each hash must be the [`hash_key`](KeyHasher::hash_key) of the hasher, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_hashes(
        self,
        include: Vec<u64>,
        exclude: Vec<u64>,
    ) -> Result<ExactFilter<S>, ConstructionError> {
        let Self { preset, options } = self;
        let (mut include, mut exclude, machine) = (include, exclude, options.machine);
        sort_distinct(&mut include, machine.parallel)?;
        sort_distinct(&mut exclude, machine.parallel)?;
        if let Some(hash) = first_common(&include, &exclude) {
            return Err(ConstructionError::InBoth { hash });
        }
        let columns = exact_columns(include.len() as u64, exclude.len() as u64);
        let of_first = if columns.most() == 0 { 0 } else { include.len() };
        // Each key to exclude is done when it fails the first stage, or with the second one.
        let watch = &options.watch(of_first + exclude.len() + include.len());
        let problem = |columns, form| {
            let limits = Limits::DEFAULT;
            Problem { columns, preset, form, machine, watch, limits }
        };
        let (first, of_first) = match columns.most() {
            0 => unsolved(include.len() as u64, columns, preset),
            _ => {
                let include = collect(include.iter().copied())?;
                solve(include, problem(columns, RestForm::Hashes), |&hash| fingerprint(hash))?
            }
        };
        keep_passing(&mut exclude, watch, |&hash| passes(&first, &of_first, hash))?;
        // Both numbers are known now, so that no entry has to move.
        let mut second = Vec::new();
        reserve(&mut second, include.len() + exclude.len())?;
        second.extend(include.iter().map(|&hash| (hash, 1)));
        second.extend(exclude.iter().map(|&hash| (hash, 0)));
        drop((include, exclude));
        sort_distinct(&mut second, machine.parallel)?;
        let problem = problem(Columns::whole(1)?, RestForm::Bits);
        let (second, of_second) = solve(second, problem, |&(_, bit)| bit)?;
        let split = of_first.len();
        let mut words = Words::zeroed((split + of_second.len()) as u64)?;
        words[..split].copy_from_slice(&of_first);
        words[split..].copy_from_slice(&of_second);
        let stages = Stages { first, split, second };
        Ok(ExactFilter { words, stages, hasher: options.hasher })
    }
}

/// Keeps the hashes that pass, in place, and reports those that do not.
///
/// # Errors
/// [`ConstructionError::Cancelled`].
fn keep_passing(
    hashes: &mut Vec<u64>,
    watch: &Watch<'_>,
    passes: impl Fn(&u64) -> bool,
) -> Result<(), ConstructionError> {
    let mut kept = 0;
    for start in (0..hashes.len()).step_by(CHUNK) {
        let (before, end) = (kept, hashes.len().min(start + CHUNK));
        for index in start..end {
            if passes(&hashes[index]) {
                hashes[kept] = hashes[index];
                kept += 1;
            }
        }
        watch.advance(end - start - (kept - before))?;
    }
    hashes.truncate(kept);
    Ok(())
}

/// Returns a first stage without columns, which every key passes.
fn unsolved(keys: u64, columns: Columns, preset: Preset) -> (System, Words) {
    let form = RestForm::Hashes;
    let params = SystemParams { columns, form, keys, preset, seed: 0, layers: 0, rest: 0 };
    let words = Words::zeroed(0).expect("no memory is asked for");
    (System::new(params, Layout::new(&params, iter::empty())), words)
}

/// Returns the least number of two ascending lists that is in both.
fn first_common(left: &[u64], right: &[u64]) -> Option<u64> {
    let mut right = right.iter().peekable();
    left.iter().copied().find(|number| {
        while right.next_if(|other| *other < number).is_some() {}
        right.peek() == Some(&number)
    })
}

impl<S> fmt::Debug for ExactFilterBuilder<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactFilterBuilder").field("preset", &self.preset).finish_non_exhaustive()
    }
}
