use core::fmt;
// The word of `AtomicWords`: model checking puts its own in the place of the real one.
#[cfg(not(loom))]
pub use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

#[cfg(loom)]
pub use loom::sync::atomic::AtomicU64;

pub use self::owner::AtomicWords;
use super::{OwnedWords, StoredWord, WordSource, Words};

/// Every operation is relaxed. No thread draws conclusions from one word about other memory, so the order in which
/// changes of different words become visible does not matter.
impl StoredWord for AtomicU64 {
    const IS_PLAIN: bool = false;

    #[inline(always)]
    fn value(&self) -> u64 {
        self.load(Relaxed)
    }
}

/// Sets the bits of `mask` in a word that threads share. Returns those of them that were clear.
// A locked operation takes the line for this core alone, at 8 to 10 ns; a load shares it. Most bits that are set again and
// again need no more than the load.
#[inline]
pub fn set_bits(word: &AtomicU64, mask: u64) -> u64 {
    let missing = mask & !word.load(Relaxed);
    if missing == 0 { 0 } else { missing & !word.fetch_or(missing, Relaxed) }
}

impl AtomicWords {
    /// Sets every bit that is set in `others`, while other threads may do the same.
    #[doc(hidden)]
    pub fn unite(&self, others: impl Iterator<Item = u64>) {
        self.as_words().iter().zip(others).for_each(|(word, theirs)| _ = set_bits(word, theirs));
    }

    /// Sets all words to zero, while other threads may change them.
    #[doc(hidden)]
    pub fn clear(&self) {
        self.as_words().iter().for_each(|word| word.store(0, Relaxed));
    }
}

/// Copies the words, each at some moment. Aborts if the allocator refuses the memory.
impl Clone for AtomicWords {
    fn clone(&self) -> Self {
        Self::copied(self).unwrap_or_else(|_| Words::abort(self.len()))
    }
}

impl fmt::Debug for AtomicWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWords").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The words of a structure that threads share: the memory of [`Words`], seen as atomics.
#[cfg(not(loom))]
mod owner {
    use core::ops::Deref;
    use core::slice;
    use core::sync::atomic::AtomicU64;

    use crate::memory::{OwnedWords, WordSource, Words};

    /// Storage of a structure that threads share and change: memory of its own, seen as atomic words.
    ///
    /// It converts to and from [`Words`] without a copy.
    ///
    /// # Examples
    /// ```
    /// use core::sync::atomic::Ordering::Relaxed;
    /// use pds_core::storage::{AtomicWords, Words};
    ///
    /// let shared = AtomicWords::from(Words::zeroed(8)?);
    /// std::thread::scope(|s| {
    ///     s.spawn(|| shared[0].fetch_or(1, Relaxed));
    ///     s.spawn(|| shared[0].fetch_or(2, Relaxed));
    /// });
    /// assert_eq!(Words::from(shared)[0], 3);
    /// # Ok::<(), pds_core::error::AllocError>(())
    /// ```
    // Invariant: no reference to the plain words is made while `self` is borrowed.
    pub struct AtomicWords(Words);

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
            // SAFETY: `AtomicU64` has the size of `u64`, and cache-line alignment satisfies its own. The words are owned by
            // `self`, and while it is borrowed only atomics refer to them.
            unsafe { slice::from_raw_parts(first.as_ptr(), len) }
        }
    }

    impl WordSource for AtomicWords {
        type Word = AtomicU64;
        const IS_FIXED: bool = true;

        #[inline(always)]
        fn as_words(&self) -> &[AtomicU64] {
            self
        }

        fn name_of([_, shared, _]: [&'static str; 3]) -> &'static str {
            shared
        }
    }

    impl OwnedWords for AtomicWords {
        fn combine(&mut self, others: impl Iterator<Item = u64>, f: impl Fn(u64, u64) -> u64) {
            self.0.combine(others, f);
        }
    }
}

/// The words of a structure that threads share, for model checking: those of `loom`.
#[cfg(loom)]
mod owner {
    use alloc::vec::Vec;
    use core::ops::Deref;

    use loom::sync::atomic::AtomicU64;

    use crate::memory::{OwnedWords, WordSource, Words};

    /// Storage of a structure that threads share and change.
    pub struct AtomicWords(Vec<AtomicU64>);

    impl From<Words> for AtomicWords {
        fn from(words: Words) -> Self {
            Self(words.iter().map(|&word| AtomicU64::new(word)).collect())
        }
    }

    impl From<AtomicWords> for Words {
        fn from(words: AtomicWords) -> Self {
            let mut plain = Self::zeroed(words.0.len() as u64).expect("memory for a model");
            plain.iter_mut().zip(words.values()).for_each(|(plain, word)| *plain = word);
            plain
        }
    }

    impl Deref for AtomicWords {
        type Target = [AtomicU64];

        fn deref(&self) -> &[AtomicU64] {
            &self.0
        }
    }

    impl WordSource for AtomicWords {
        type Word = AtomicU64;
        const IS_FIXED: bool = true;

        fn as_words(&self) -> &[AtomicU64] {
            &self.0
        }

        fn name_of([_, shared, _]: [&'static str; 3]) -> &'static str {
            shared
        }
    }

    impl OwnedWords for AtomicWords {
        fn combine(&mut self, others: impl Iterator<Item = u64>, f: impl Fn(u64, u64) -> u64) {
            for (word, other) in self.0.iter_mut().zip(others) {
                word.with_mut(|word| *word = f(*word, other));
            }
        }
    }
}
