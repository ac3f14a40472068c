//! Small saturating counters, as many as fit a 64-bit word.
//!
//! A counter that reached its greatest value is saturated, and is never decremented. How often it was incremented beyond is
//! not known, so decrementing it could reach zero while keys still count on it, and lose them.

use core::fmt::Debug;

/// The width of a counter: [`Bits4`] or [`Bits8`].
///
/// No other type can implement it.
// No other width divides a word as evenly and is of use: two bits are saturated after three keys.
pub trait Counter: sealed::Sealed + Copy + Eq + Debug + Default + Send + Sync + 'static {}

/// Counters of 4 bits, which saturate at 15: the default. Filters of distinct keys hardly ever have a saturated counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits4;

/// Counters of 8 bits, which saturate at 255: for multisets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits8;

impl Counter for Bits4 {}
impl Counter for Bits8 {}

pub(crate) mod sealed {
    pub trait Sealed {
        /// Number of bits per counter.
        const BITS: u32;

        /// The value at which a counter is saturated.
        const MAX: u64 = (1 << Self::BITS) - 1;
    }

    impl Sealed for super::Bits4 {
        const BITS: u32 = 4;
    }

    impl Sealed for super::Bits8 {
        const BITS: u32 = 8;
    }
}

/// Returns a word with a one in the least significant bit of every counter.
const fn ones<C: Counter>() -> u64 {
    u64::MAX / C::MAX
}

/// Returns a word with ones in every second counter.
const fn alternate<C: Counter>() -> u64 {
    u64::MAX / ((1 << (2 * C::BITS)) - 1) * C::MAX
}

/// Returns the counter that starts at this bit of the word.
#[inline(always)]
pub(crate) const fn value<C: Counter>(word: u64, shift: u32) -> u64 {
    word >> shift & C::MAX
}

/// Increments the counter that starts at this bit, unless it is saturated.
#[inline(always)]
pub(crate) fn raise<C: Counter>(word: u64, shift: u32) -> u64 {
    word + (u64::from(value::<C>(word, shift) != C::MAX) << shift)
}

/// Decrements the counter that starts at this bit, which is not zero, unless it is saturated.
#[inline(always)]
pub(crate) fn lower<C: Counter>(word: u64, shift: u32) -> u64 {
    debug_assert!(value::<C>(word, shift) > 0);
    word - (u64::from(value::<C>(word, shift) != C::MAX) << shift)
}

/// Adds the counters of two words, each to its limit.
// In two halves, so that each sum has room for its carry, which then fills it.
#[inline(always)]
pub(crate) const fn add<C: Counter>(left: u64, right: u64) -> u64 {
    let low = alternate::<C>();
    let even = add_alternate::<C>(left & low, right & low);
    let odd = add_alternate::<C>(left >> C::BITS & low, right >> C::BITS & low);
    even | odd << C::BITS
}

#[inline(always)]
const fn add_alternate<C: Counter>(left: u64, right: u64) -> u64 {
    let sum = left + right;
    let carries = sum & !alternate::<C>();
    (sum | (carries - (carries >> C::BITS))) & alternate::<C>()
}

/// Returns the lowest bit of each counter that is not zero.
#[inline(always)]
pub(crate) const fn raised<C: Counter>(word: u64) -> u64 {
    let mut any = word | word >> 1;
    any |= any >> 2;
    if C::BITS > 4 {
        any |= any >> 4;
    }
    any & ones::<C>()
}

/// Returns the lowest bit of each counter that is saturated.
#[inline(always)]
pub(crate) const fn saturated<C: Counter>(word: u64) -> u64 {
    !raised::<C>(!word) & ones::<C>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<C: Counter>(word: u64) -> impl Iterator<Item = u64> {
        (0..64 / C::BITS).map(move |i| value::<C>(word, i * C::BITS))
    }

    /// Words with every value in every place, and neighbours that differ.
    fn words() -> impl Iterator<Item = u64> + Clone {
        (0..200u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7))
            .chain([0, u64::MAX])
    }

    fn holds<C: Counter>() {
        for word in words() {
            let ones =
                |test: fn(u64) -> bool| values::<C>(word).map(|x| u32::from(test(x))).sum::<u32>();
            assert_eq!(raised::<C>(word).count_ones(), ones(|x| x > 0));
            assert_eq!(saturated::<C>(word).count_ones(), ones(|x| x == C::MAX));
            for place in 0..64 / C::BITS {
                let shift = place * C::BITS;
                let before = value::<C>(word, shift);
                let others = !(C::MAX << shift);
                let up = raise::<C>(word, shift);
                assert_eq!(value::<C>(up, shift), (before + 1).min(C::MAX));
                assert_eq!(up & others, word & others);
                if before > 0 {
                    let down = lower::<C>(word, shift);
                    let expected = if before == C::MAX { before } else { before - 1 };
                    assert_eq!(value::<C>(down, shift), expected);
                    assert_eq!(down & others, word & others);
                }
            }
            for other in words() {
                let expected =
                    values::<C>(word).zip(values::<C>(other)).map(|(a, b)| (a + b).min(C::MAX));
                assert!(values::<C>(add::<C>(word, other)).eq(expected), "{word:x} {other:x}");
            }
        }
    }

    #[test]
    fn counters_of_a_word_do_not_touch_each_other() {
        holds::<Bits4>();
        holds::<Bits8>();
    }
}
