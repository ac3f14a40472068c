use super::{Words, prefetch};

/// Words that are owned, or lie in borrowed bytes.
pub trait WordSource {
    /// Returns the word of this index.
    ///
    /// # Panics
    /// When there is none.
    fn word(&self, index: usize) -> u64;

    /// Returns the `N` words from word `N * index` on.
    ///
    /// # Panics
    /// When there are not as many.
    fn array<const N: usize>(&self, index: usize) -> [u64; N];

    /// Returns all words in order.
    fn words(&self) -> impl Iterator<Item = u64>;

    /// Returns all words in order, `N` at a time; fewer left over are left out.
    fn arrays<const N: usize>(&self) -> impl Iterator<Item = [u64; N]>;

    /// Asks for a word to be brought near.
    fn prefetch(&self, index: usize);
}

impl WordSource for Words {
    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self[index]
    }

    #[inline(always)]
    fn array<const N: usize>(&self, index: usize) -> [u64; N] {
        self.as_chunks().0[index]
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.iter().copied()
    }

    fn arrays<const N: usize>(&self) -> impl Iterator<Item = [u64; N]> {
        self.as_chunks().0.iter().copied()
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(self, index);
    }
}

/// Little-endian words at any address.
impl WordSource for &[[u8; 8]] {
    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        u64::from_le_bytes(self[index])
    }

    #[inline(always)]
    fn array<const N: usize>(&self, index: usize) -> [u64; N] {
        self.as_chunks().0[index].map(u64::from_le_bytes)
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }

    fn arrays<const N: usize>(&self) -> impl Iterator<Item = [u64; N]> {
        self.as_chunks().0.iter().map(|chunk| chunk.map(u64::from_le_bytes))
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(self, index);
    }
}
