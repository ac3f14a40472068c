//! Error of a clock that runs backwards.

use core::{error, fmt};

/// A time before one that the filter has already seen. Nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockError {
    /// The time given, in ticks.
    pub given: u64,
    /// The time of the filter, in ticks.
    pub now: u64,
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { given, now } = self;
        write!(f, "the time is {given}, but the filter has already seen {now}")
    }
}

impl error::Error for ClockError {}
