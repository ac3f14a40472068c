//! Measurement and refusal of memory: for tests of bytes that claim more than they contain, and of what a failure changes.
//!
//! A test binary that measures uses [`PeakAlloc`] as its global allocator. One whose memory is refused uses a [`Cap`], which
//! may be around a `PeakAlloc`. It runs one measurement at a time, because the count is that of the process.

use core::alloc::GlobalAlloc;

pub use cap::Cap;
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

/// Runs `run` while the allocator refuses all but `more` bytes beyond those allocated before.
///
/// # Panics
/// If the allocator takes no limit.
pub fn with_at_most<A: GlobalAlloc, T>(
    allocator: &Cap<A>,
    more: usize,
    run: impl FnOnce() -> T,
) -> T {
    let limit = allocator.allocated() + more;
    allocator.set_limit(limit).expect("not less than what is allocated");
    let result = run();
    allocator.set_limit(usize::MAX).expect("no limit");
    result
}

/// Applies a change to copies of a structure, with more and more memory, until it succeeds. Returns how often memory was
/// refused.
///
/// # Panics
/// If `change` fails otherwise than by `is_refusal`, or if a copy differs from the structure after it failed.
pub fn refusals_of<A: GlobalAlloc, T: Clone + PartialEq, E: core::fmt::Debug>(
    allocator: &Cap<A>,
    structure: &T,
    change: impl Fn(&mut T) -> Result<(), E>,
    is_refusal: impl Fn(&E) -> bool,
) -> usize {
    for refusals in 0.. {
        let mut changed = structure.clone();
        match with_at_most(allocator, 64 * refusals, || change(&mut changed)) {
            Ok(()) => return refusals,
            Err(error) => assert!(is_refusal(&error), "{error:?}"),
        }
        assert!(changed == *structure, "a change that failed left a trace");
    }
    unreachable!("the memory of the machine")
}
