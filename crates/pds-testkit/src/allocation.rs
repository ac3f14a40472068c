//! What code allocates, for tests of bytes that claim more than there is.
//!
//! A test binary that measures has [`PeakAlloc`] for its global allocator, and runs one measurement at a time: what is
//! counted is the process's.

pub use peak_alloc::PeakAlloc;

/// Bytes: more than errors and the code around them need (buffers are on the stack), and less than any claim or filter
/// of such a test.
pub const CONSTANT: usize = 64 << 10;

/// Runs `run`. Returns its result and the most bytes that it had allocated at a time, beyond those before it.
pub fn peak_of<T>(allocator: &PeakAlloc, run: impl FnOnce() -> T) -> (T, usize) {
    let before = allocator.current_usage();
    allocator.reset_peak_usage();
    let result = run();
    (result, allocator.peak_usage().saturating_sub(before))
}
