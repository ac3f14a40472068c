//! Progress and cancellation of a build.

use core::fmt;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::ConstructionError;

/// State of a build, for its progress callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Keys that are done. Falls back if an attempt fails and the next one starts.
    pub done: u64,
    /// Keys in all, duplicates included as long as they are not removed. An exact filter counts a key to include once for each
    /// of its stages.
    pub total: u64,
}

/// Callback that learns of the progress, from any thread of the build, and may cancel it.
pub(crate) type Callback<'a> = &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync);

/// Counts the keys that are done, for all threads of a build.
pub(crate) struct Watch<'a> {
    callback: Option<Callback<'a>>,
    total: usize,
    done: AtomicUsize,
    cancelled: AtomicBool,
}

impl<'a> Watch<'a> {
    pub(crate) const fn new(callback: Option<Callback<'a>>, total: usize) -> Self {
        let (done, cancelled) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { callback, total, done, cancelled }
    }

    /// Sets the number of keys, and starts again from none.
    pub(crate) fn restart(&mut self, total: usize) {
        self.total = total;
        *self.done.get_mut() = 0;
    }

    /// Reports that `keys` more keys are done.
    ///
    /// # Errors
    /// [`ConstructionError::Cancelled`] if the callback asks to stop, or did so before.
    pub(crate) fn advance(&self, keys: usize) -> Result<(), ConstructionError> {
        let Some(callback) = self.callback else { return Ok(()) };
        let done = self.done.fetch_add(keys, Ordering::Relaxed) + keys;
        let cancelled = || self.cancelled.load(Ordering::Relaxed);
        let progress = Progress { done: done as u64, total: self.total as u64 };
        if cancelled() || callback(progress).is_break() {
            // The other threads stop at their next report.
            self.cancelled.store(true, Ordering::Relaxed);
            return Err(ConstructionError::Cancelled);
        }
        Ok(())
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("total", &self.total).finish_non_exhaustive()
    }
}
