//! Measurement of allocated memory, for tests of bytes that claim more than they contain.
//!
//! A test binary that measures uses [`PeakAlloc`] as its global allocator. It runs one measurement at a time, because
//! the count is that of the process.

pub use peak_alloc::PeakAlloc;

/// An allowance in bytes. It is more than errors and the surrounding code need, because buffers are on the stack. It is
/// less than any claim or filter of such a test.
pub const CONSTANT: usize = 64 << 10;

/// Runs `run`. Returns its result and the peak of allocated bytes, beyond those allocated before.
pub fn peak_of<T>(allocator: &PeakAlloc, run: impl FnOnce() -> T) -> (T, usize) {
    let before = allocator.current_usage();
    allocator.reset_peak_usage();
    let result = run();
    (result, allocator.peak_usage().saturating_sub(before))
}
