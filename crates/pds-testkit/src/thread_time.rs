//! The time of a thread.

use core::time::Duration;

/// A moment in the time that the calling thread has had a processor, which other programs lengthen little.
///
/// On other systems than Unix it is the time of the day.
#[derive(Debug, Clone, Copy)]
pub struct ThreadTime(Duration);

impl ThreadTime {
    /// Returns this moment.
    #[must_use]
    pub fn now() -> Self {
        Self(now())
    }

    /// Returns the time since then. It must be asked of the same thread.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        now().saturating_sub(self.0)
    }
}

#[cfg(unix)]
fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a clock that starts at zero")
}

#[cfg(not(unix))]
fn now() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn work_takes_time_and_sleep_takes_little() {
        let start = ThreadTime::now();
        let last = (0..20_000_000_u64).fold(1, |x: u64, i| x.wrapping_mul(0x9e37_79b9) ^ i);
        core::hint::black_box(last);
        let worked = start.elapsed();
        assert!(worked > Duration::from_millis(1), "{worked:?}");
        let start = ThreadTime::now();
        thread::sleep(Duration::from_millis(300));
        let slept = start.elapsed();
        assert!(!cfg!(unix) || slept < Duration::from_millis(200), "{slept:?}");
    }
}
