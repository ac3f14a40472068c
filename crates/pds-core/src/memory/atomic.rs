use core::ops::Deref;
use core::sync::atomic::AtomicU64;
use core::{fmt, slice};

use super::Words;

/// [`Words`] that threads share and change: the same memory, seen as atomics.
///
/// Converts to and from [`Words`] without a copy.
///
/// # Examples
/// ```
/// use core::sync::atomic::Ordering::Relaxed;
/// use pds_core::internal::{AtomicWords, Words};
///
/// let shared = AtomicWords::from(Words::zeroed(8)?);
/// std::thread::scope(|s| {
///     s.spawn(|| shared[0].fetch_or(1, Relaxed));
///     s.spawn(|| shared[0].fetch_or(2, Relaxed));
/// });
/// assert_eq!(Words::from(shared)[0], 3);
/// # Ok::<(), pds_core::AllocError>(())
/// ```
// Invariant: no reference to the plain words is made while `self` is borrowed.
pub struct AtomicWords(Words);

impl AtomicWords {
    /// Returns the plain words; the exclusive borrow proves that no thread is changing them.
    pub fn as_plain_mut(&mut self) -> &mut Words {
        &mut self.0
    }
}

impl From<Words> for AtomicWords {
    fn from(words: Words) -> Self {
        Self(words)
    }
}

impl From<AtomicWords> for Words {
    fn from(words: AtomicWords) -> Self {
        words.0
    }
}

impl Deref for AtomicWords {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        let (first, len) = self.0.as_parts();
        let first = first.cast::<AtomicU64>();
        debug_assert!(first.is_aligned());
        // SAFETY: `AtomicU64` has the size of `u64`, and cache-line alignment satisfies its own. The
        // words are owned by `self`, and while it is borrowed only atomics refer to them.
        unsafe { slice::from_raw_parts(first.as_ptr(), len) }
    }
}

impl fmt::Debug for AtomicWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWords").field("len", &self.len()).finish_non_exhaustive()
    }
}
