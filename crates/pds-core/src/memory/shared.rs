use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A word of bits that threads share; a trait so that `loom` can put its own in the place of the real one.
///
/// Every operation is relaxed. No thread draws conclusions from one bit about memory outside the
/// structure, and bits are only ever set, so the order in which they become visible is of no account.
pub trait AtomicWord: 'static {
    /// Returns the word as it is now.
    fn load(&self) -> u64;

    /// Sets the bits of `mask` and returns the word as it was.
    fn fetch_or(&self, mask: u64) -> u64;

    /// Sets the bits of `mask` and returns those of them that were clear.
    ///
    /// A locked operation takes the line for this core alone, at 8 to 10 ns; a load shares it. Most bits
    /// that are set again and again need no more than the load.
    #[inline]
    fn set_all(&self, mask: u64) -> u64 {
        let missing = mask & !self.load();
        if missing == 0 { 0 } else { missing & !self.fetch_or(missing) }
    }
}

impl AtomicWord for AtomicU64 {
    #[inline]
    fn load(&self) -> u64 {
        self.load(Relaxed)
    }

    #[inline]
    fn fetch_or(&self, mask: u64) -> u64 {
        self.fetch_or(mask, Relaxed)
    }
}

#[cfg(loom)]
impl AtomicWord for loom::sync::atomic::AtomicU64 {
    fn load(&self) -> u64 {
        self.load(loom::sync::atomic::Ordering::Relaxed)
    }

    fn fetch_or(&self, mask: u64) -> u64 {
        self.fetch_or(mask, loom::sync::atomic::Ordering::Relaxed)
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
