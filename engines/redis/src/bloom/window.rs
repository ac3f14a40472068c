//! Filters that forget: the last items by their number, and those of the last time.

use std::time::SystemTime;

use bloom_window::{TimedBloomFilter, WindowBloomFilter};
use pds_core::error::BuildError;
use pds_core::hash::{KeyHasher as _, Raw};

use super::growing::rounded;
use super::{Added, Design, Information, Layout};
use crate::quality::Quality;

/// A filter of the last items.
#[derive(Debug)]
pub(crate) struct LastKeys(pub(super) WindowBloomFilter);

/// A filter of the items of the last time.
#[derive(Debug)]
pub(crate) struct LastTime(pub(super) TimedBloomFilter);

/// Returns the milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The common part of both windows.
macro_rules! of_ages {
    () => {
        fn add(&mut self, item: &[u8]) -> Added {
            let hash = self.0.hash_key(&Raw(item));
            Ok(self.0.insert_hash(hash))
        }

        fn contains(&self, item: &[u8]) -> bool {
            self.0.contains_hash(self.0.hash_key(&Raw(item)))
        }

        fn quality(&self) -> Quality {
            Quality::of(&self.0.health())
        }
    };
}

impl LastKeys {
    pub(super) fn new(design: Design) -> Result<Self, BuildError> {
        WindowBloomFilter::new(design.capacity, design.rate).map(Self)
    }
}

impl Layout for LastKeys {
    of_ages!();

    fn information(&self) -> Information {
        Information {
            layout: "the last items",
            capacity: self.0.window(),
            layers: 1,
            items: self.0.inserted(),
            growth: None,
        }
    }

    fn lines(&self) -> Vec<String> {
        vec![format!(
            "bytes:{} generations:{} window:{}",
            self.0.size_in_bytes(),
            self.0.generations(),
            self.0.window()
        )]
    }
}

impl LastTime {
    pub(super) fn new(design: Design, time: u64) -> Result<Self, BuildError> {
        TimedBloomFilter::new(time, design.capacity, design.rate).map(Self)
    }

    /// Sets the time. One before that of the filter changes nothing: clocks of servers differ.
    pub(super) fn advance(&mut self, now: u64) {
        let _ = self.0.advance(now.max(self.0.now()));
    }

    /// Returns the time of the filter.
    pub(super) const fn time(&self) -> u64 {
        self.0.now()
    }
}

impl Layout for LastTime {
    of_ages!();

    fn information(&self) -> Information {
        Information {
            layout: "the items of the last time",
            capacity: self.0.expected_items().unwrap_or(0),
            layers: 1,
            items: rounded(self.0.approx_len().value),
            growth: None,
        }
    }

    fn lines(&self) -> Vec<String> {
        vec![format!(
            "bytes:{} generations:{} milliseconds:{} time:{}",
            self.0.size_in_bytes(),
            self.0.generations(),
            self.0.ticks(),
            self.0.now()
        )]
    }
}
