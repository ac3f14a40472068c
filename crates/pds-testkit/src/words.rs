//! Words that count how often they are read.

use core::cell::Cell;

use pds_core::internal::StoredWord;

thread_local! {
    static READS: Cell<u64> = const { Cell::new(0) };
}

/// A word that counts how often words are read in this thread.
#[derive(Debug)]
pub struct Counted(pub u64);

impl StoredWord for Counted {
    const IS_PLAIN: bool = false;

    fn value(&self) -> u64 {
        READS.set(READS.get() + 1);
        self.0
    }
}

/// Returns how many words `work` reads.
pub fn reads_of(work: impl FnOnce()) -> u64 {
    let before = READS.get();
    work();
    READS.get() - before
}

/// Returns whether `ask` looks for each key before it hashes the next one.
///
/// `ask` is given the hash function, and asks for all `keys` in words that are [`Counted`].
///
/// # Panics
/// If it does not hash each key once.
pub fn are_asked_one_by_one(keys: &[u64], ask: impl FnOnce(&dyn Fn(&u64) -> u64)) -> bool {
    let start = READS.get();
    let (hashed, alternating) = (Cell::new(0_u64), Cell::new(true));
    ask(&|&key| {
        let read = READS.get() - start;
        alternating.set(alternating.get() && (hashed.get() == 0) == (read == 0));
        hashed.set(hashed.get() + 1);
        key
    });
    assert_eq!(hashed.get(), keys.len() as u64, "each key is hashed once");
    alternating.get()
}
