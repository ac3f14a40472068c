//! Options that the builders of all structures share.

use core::ops::ControlFlow;

use pds_core::hash::{DefaultHashBuilder, KeyHasher};

use crate::Progress;
use crate::progress::{Callback, Watch};

/// Options of a build that do not depend on the structure.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a, S> {
    pub(crate) hasher: S,
    callback: Option<Callback<'a>>,
    pub(crate) parallel: bool,
}

impl Options<'_, DefaultHashBuilder> {
    pub(crate) const fn new() -> Self {
        Self { hasher: DefaultHashBuilder::with_seed(0), callback: None, parallel: false }
    }

    pub(crate) const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<'a, S> Options<'a, S> {
    pub(crate) fn hasher<T: KeyHasher>(self, hasher: T) -> Options<'a, T> {
        Options { hasher, callback: self.callback, parallel: self.parallel }
    }

    pub(crate) fn progress<'b>(
        self,
        callback: &'b (dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> Options<'b, S> {
        Options { hasher: self.hasher, callback: Some(callback), parallel: self.parallel }
    }

    /// Returns the counter of a build of `keys` keys.
    pub(crate) const fn watch(&self, keys: usize) -> Watch<'a> {
        Watch::new(self.callback, keys)
    }
}
