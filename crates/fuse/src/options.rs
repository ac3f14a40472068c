//! Options that the builders of all structures share.

use core::ops::ControlFlow;

use pds_core::error::AllocError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::Words;

use crate::Progress;
use crate::progress::{Callback, Watch};

/// The parts of the machine that a build may use. They do not change the result.
#[derive(Clone, Copy, Default)]
pub(crate) struct Machine {
    pub(crate) parallel: bool,
    #[cfg(feature = "huge-pages")]
    pub(crate) huge_pages: bool,
}

impl Machine {
    /// Allocates words of a finished structure.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    #[cfg_attr(not(feature = "huge-pages"), expect(clippy::unused_self, reason = "no huge pages"))]
    pub(crate) fn zeroed(self, len: u64) -> Result<Words, AllocError> {
        let words = Words::zeroed(len)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            words.advise_huge_pages();
        }
        Ok(words)
    }
}

/// Options of a build that do not depend on the structure.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a, S> {
    pub(crate) hasher: S,
    callback: Option<Callback<'a>>,
    pub(crate) machine: Machine,
}

impl Options<'_, DefaultHashBuilder> {
    pub(crate) const fn new() -> Self {
        let machine = Machine {
            parallel: false,
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
        };
        Self { hasher: DefaultHashBuilder::with_seed(0), callback: None, machine }
    }

    pub(crate) const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<'a, S> Options<'a, S> {
    pub(crate) fn hasher<T: KeyHasher>(self, hasher: T) -> Options<'a, T> {
        Options { hasher, callback: self.callback, machine: self.machine }
    }

    pub(crate) fn progress<'b>(
        self,
        callback: &'b (dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> Options<'b, S> {
        Options { hasher: self.hasher, callback: Some(callback), machine: self.machine }
    }

    /// Returns the counter of a build of `keys` keys.
    pub(crate) const fn watch(&self, keys: usize) -> Watch<'a> {
        Watch::new(self.callback, keys)
    }
}
