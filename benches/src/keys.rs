//! Keys from a counter: no set of them is kept, and none is ever warm by accident.

/// Where the stored keys start.
const STORED: u64 = 0;

/// Where the keys start that are inserted into a filter that is full by design already.
const SURPLUS: u64 = 1 << 62;

/// Where the absent keys start: beyond every key that is ever inserted.
const ABSENT: u64 = 1 << 63;

/// Spells the key with this number.
///
/// A bijection, so that keys of different numbers differ; and no number of lookups in a row has a
/// pattern that a processor could learn.
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
    first: u64,
    next: u64,
    end: u64,
}

impl Keys {
    /// The keys a filter for `items` keys holds, over and over.
    #[must_use]
    pub const fn stored(items: u64) -> Self {
        Self { first: STORED, next: STORED, end: STORED + items }
    }

    /// Keys that no filter holds, without end.
    #[must_use]
    pub const fn absent() -> Self {
        Self { first: ABSENT, next: ABSENT, end: u64::MAX }
    }

    /// Keys from that of a number on, which is below those of surplus keys, without end.
    #[must_use]
    pub const fn starting_at(number: u64) -> Self {
        Self { first: number, next: number, end: SURPLUS }
    }

    /// Keys to insert beyond the design, without end.
    #[must_use]
    pub const fn surplus() -> Self {
        Self { first: SURPLUS, next: SURPLUS, end: ABSENT }
    }

    /// Fills `block` with the next keys, from the start where they would not fit before the end.
    /// Returns whether it started there.
    ///
    /// # Panics
    /// When the whole stream is shorter than the block.
    pub fn fill(&mut self, block: &mut [u64]) -> bool {
        let len = block.len() as u64;
        assert!(len <= self.end - self.first, "a block longer than the stream");
        if self.end - self.next < len {
            self.next = self.first;
        }
        let starts = self.next == self.first;
        for (slot, number) in block.iter_mut().zip(self.next..) {
            *slot = key(number);
        }
        self.next += len;
        starts
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
        assert!(absent.fill(&mut others));
        assert!(first.iter().all(|key| !second.contains(key) && !others.contains(key)));
        assert!(stored.fill(&mut second), "two keys are left, too few for a block");
        assert_eq!(first, second);
        assert!(!absent.fill(&mut others));
    }
}
