use core::sync::atomic::Ordering::Relaxed;

use super::{AtomicU64, set_bits};

/// A word of bits that threads share.
pub trait AtomicWord: 'static {
    /// Returns the word as it is now.
    fn load(&self) -> u64;

    /// Sets the bits of `mask` and returns those of them that were clear.
    fn set_all(&self, mask: u64) -> u64;
}

impl AtomicWord for AtomicU64 {
    #[inline]
    fn load(&self) -> u64 {
        self.load(Relaxed)
    }

    #[inline]
    fn set_all(&self, mask: u64) -> u64 {
        set_bits(self, mask)
    }
}

/// Returns the words in order, each at some moment.
pub fn load_words<A: AtomicWord>(words: &[A]) -> impl Iterator<Item = u64> {
    words.iter().map(A::load)
}

/// Sets in `words` every bit that is set in `others`.
pub fn union_words<A: AtomicWord>(words: &[A], others: impl Iterator<Item = u64>) {
    for (word, theirs) in words.iter().zip(others) {
        word.set_all(theirs);
    }
}
