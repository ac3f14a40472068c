//! Progress of reading, on a terminal.

use super::source::Source;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};

/// Progress of reading, shown on a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    count: Arc<AtomicU64>,
}

impl Progress {
    /// Progress on standard error, if that is a terminal and somebody is to see it.
    pub(super) fn new(sources: &[Source], is_wanted: bool) -> Self {
        let total = sources.iter().map(Source::length).sum::<Option<u64>>();
        let is_shown = is_wanted && io::stderr().is_terminal();
        let bar = if is_shown { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let template = match total {
            Some(total) => {
                bar.set_length(total);
                "{bytes} of {total_bytes} {bar:20} {bytes_per_sec}, {eta} left {msg}"
            }
            None => "{bytes} {bytes_per_sec} {msg}",
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a template of this program"));
        if is_shown {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar, count: Arc::new(AtomicU64::new(0)) }
    }

    /// The number of bytes that were read, for those who read them.
    pub(super) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.count)
    }

    pub(super) fn update(&self) {
        self.bar.set_position(self.count.load(Ordering::Relaxed));
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Shows what was found so far. `what` is called only if somebody sees it.
    pub(crate) fn say(&self, what: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            self.bar.set_message(what());
        }
    }

    /// Writes something else to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}
