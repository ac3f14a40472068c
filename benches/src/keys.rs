//! Keys from a counter. No set of keys is kept in memory, so none is in the caches by accident.

use core::ops::Range;

/// The first number of keys that are inserted into a filter that is already full by design.
const SURPLUS: u64 = 1 << 62;

/// The first number of absent keys, beyond every key that is ever inserted.
const ABSENT: u64 = 1 << 63;

/// Returns the key with this number.
///
/// This is a bijection: keys of different numbers differ. A series of keys has no pattern that a branch predictor could
/// learn.
///
/// # References
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 17.
#[must_use]
pub const fn key(number: u64) -> u64 {
    let x = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A stream of keys, handed out in blocks of equal length.
#[derive(Clone, Debug)]
pub struct Keys {
    numbers: Range<u64>,
    next: u64,
}

impl Keys {
    /// Returns the keys with these numbers, over and over.
    #[must_use]
    pub const fn of(numbers: Range<u64>) -> Self {
        Self { next: numbers.start, numbers }
    }

    /// Returns the keys of a filter for `items` keys, over and over.
    #[must_use]
    pub const fn stored(items: u64) -> Self {
        Self::of(0..items)
    }

    /// Returns keys from this number on, which is below the surplus keys, without end.
    #[must_use]
    pub const fn starting_at(number: u64) -> Self {
        Self::of(number..SURPLUS)
    }

    /// Returns keys to insert beyond the design, without end.
    #[must_use]
    pub const fn surplus() -> Self {
        Self::of(SURPLUS..ABSENT)
    }

    /// Returns keys that no filter contains, without end.
    #[must_use]
    pub const fn absent() -> Self {
        Self::of(ABSENT..u64::MAX)
    }

    /// Fills `block` with the next keys, or from the start if too few are left. Returns whether it got the very first
    /// of the stored keys.
    ///
    /// # Panics
    /// If the whole stream is shorter than the block.
    pub fn fill(&mut self, block: &mut [u64]) -> bool {
        let (Range { start, end }, len) = (self.numbers.clone(), block.len() as u64);
        assert!(len <= end - start, "a block longer than the stream");
        let first = if end - self.next < len { start } else { self.next };
        self.next = first + len;
        for (slot, number) in block.iter_mut().zip(first..) {
            *slot = key(number);
        }
        first == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_keys_come_round_and_absent_ones_are_others() {
        let (mut stored, mut absent) = (Keys::stored(10), Keys::absent());
        let (mut first, mut second, mut others) = ([0; 4], [0; 4], [0; 4]);
        assert!(stored.fill(&mut first));
        assert!(!stored.fill(&mut second));
        assert!(!absent.fill(&mut others));
        assert!(first.iter().all(|key| !second.contains(key) && !others.contains(key)));
        assert!(stored.fill(&mut second), "two keys are left, too few for a block");
        assert_eq!(first, second);
    }
}
