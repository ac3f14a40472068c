use core::slice;

use super::Words;

/// An integer that a word holds a whole number of: `u8`, `u16`, `u32` or `u64`.
pub trait Lane: sealed::Sealed + Copy + Into<u64> {
    /// How many of them a word holds.
    const PER_WORD: usize = size_of::<u64>() / size_of::<Self>();
}

mod sealed {
    /// Only for integers: every pattern of bits is one, and none has padding.
    pub trait Sealed {}
}

macro_rules! lanes {
    ($($lane:ty)*) => {$(
        impl sealed::Sealed for $lane {}
        impl Lane for $lane {}
    )*};
}
lanes!(u8 u16 u32 u64);

#[doc(hidden)]
impl Words {
    /// Returns the words as narrower integers, in the order of memory.
    ///
    /// Word `w` holds the lanes from `w * T::PER_WORD` on; [`reorder_lanes`] tells which of its bits are
    /// which.
    ///
    /// # Examples
    /// ```
    /// use pds_core::internal::Words;
    ///
    /// let mut words = Words::zeroed(2)?;
    /// words.lanes_mut::<u16>()[5] = 7;
    /// assert_eq!(words.lanes::<u16>(), [0, 0, 0, 0, 0, 7, 0, 0]);
    /// # Ok::<(), pds_core::error::AllocError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn lanes<T: Lane>(&self) -> &[T] {
        lanes_of(self)
    }

    /// Returns the words as narrower integers that can be changed.
    #[inline]
    #[must_use]
    pub fn lanes_mut<T: Lane>(&mut self) -> &mut [T] {
        let len = self.len() * T::PER_WORD;
        let first = self.as_mut_ptr().cast::<T>();
        debug_assert!(first.is_aligned());
        // SAFETY: as in `lanes`, and every pattern of bits that is written is a `u64` too; the
        // exclusive borrow of `self` makes the access exclusive.
        unsafe { slice::from_raw_parts_mut(first, len) }
    }

    /// Flips bits of the half of a word: of number 2i the lower one of word i, of 2i + 1 the upper one.
    ///
    /// # Panics
    /// When there is none.
    #[inline(always)]
    pub fn flip_half(&mut self, number: usize, bits: u32) {
        self.lanes_mut::<u32>()[number ^ usize::from(cfg!(target_endian = "big"))] ^= bits;
    }

    /// Flips bits of the 64 from this byte on. Does nothing and returns `false` where they are not all there, and on
    /// big-endian machines, where they do not lie in one piece.
    #[inline(always)]
    pub fn flip_unaligned(&mut self, byte: usize, bits: u64) -> bool {
        let bytes = self.lanes_mut::<u8>().get_mut(byte..byte.wrapping_add(8));
        let bytes =
            bytes.and_then(<[u8]>::first_chunk_mut).filter(|_| cfg!(target_endian = "little"));
        let done = bytes.map(|bytes| *bytes = (u64::from_le_bytes(*bytes) ^ bits).to_le_bytes());
        done.is_some()
    }
}

/// Returns words as narrower integers, in the order of memory.
#[inline(always)]
pub(super) fn lanes_of<T: Lane>(words: &[u64]) -> &[T] {
    let first = words.as_ptr().cast::<T>();
    debug_assert!(first.is_aligned());
    // SAFETY: `T` is an integer of at most the size and alignment of `u64` that divides it, so that the words hold exactly
    // `len * PER_WORD` of them, all initialised; the borrow of `words` keeps them.
    unsafe { slice::from_raw_parts(first, words.len() * T::PER_WORD) }
}

/// Turns a word in memory into one whose lane `i` is at bit `i` times the width of a lane, and back.
///
/// The word itself on little-endian machines.
#[inline]
#[must_use]
pub const fn reorder_lanes<T: Lane>(word: u64) -> u64 {
    if cfg!(target_endian = "little") { word } else { reverse_lanes(word, T::PER_WORD) }
}

/// Reverses the order of `lanes` equal parts of a word, by swapping halves of halves.
const fn reverse_lanes(word: u64, lanes: usize) -> u64 {
    let halves = word.rotate_left(32);
    let quarters = (halves & 0x0000_ffff_0000_ffff) << 16 | (halves >> 16) & 0x0000_ffff_0000_ffff;
    match lanes {
        1 => word,
        2 => halves,
        4 => quarters,
        _ => word.swap_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_reversed_and_reversed_back() {
        let word = 0x0102_0304_0506_0708;
        let reversed = [
            (1, 0x0102_0304_0506_0708),
            (2, 0x0506_0708_0102_0304),
            (4, 0x0708_0506_0304_0102),
            (8, 0x0807_0605_0403_0201),
        ];
        for (lanes, expected) in reversed {
            assert_eq!(reverse_lanes(word, lanes), expected);
            assert_eq!(reverse_lanes(expected, lanes), word);
        }
    }

    #[test]
    fn a_lane_has_its_place_in_the_word_on_every_machine() {
        fn check<T: Lane + From<u8>>() {
            let bits = 64 / T::PER_WORD;
            for i in 0..2 * T::PER_WORD {
                let mut words = Words::zeroed(2).unwrap();
                words.lanes_mut::<T>()[i] = T::from(0xa5);
                let word = reorder_lanes::<T>(words[i / T::PER_WORD]);
                assert_eq!(word, 0xa5 << (i % T::PER_WORD * bits));
            }
            assert_eq!(Words::zeroed(0).unwrap().lanes::<T>().len(), 0);
        }
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
    }

    #[test]
    fn halves_are_flipped_where_arithmetic_has_them() {
        for number in 0..4 {
            let mut words = Words::zeroed(2).unwrap();
            words.fill(u64::MAX);
            words.flip_half(number, 0x1234_5678);
            let flipped = 0x1234_5678 << (number % 2 * 32);
            let expected = |word| if word == number / 2 { !flipped } else { u64::MAX };
            assert_eq!(words[..], [expected(0), expected(1)], "half {number}");
            words.flip_half(number, 0x1234_5678);
            assert_eq!(words[..], [u64::MAX; 2]);
        }
    }

    #[test]
    fn bits_from_a_byte_on_are_flipped_or_nothing_is() {
        const BITS: u64 = 0xfedc_ba98_7654_3210;
        for byte in (0..30).chain([usize::MAX - 8, usize::MAX]) {
            let mut words = Words::zeroed(3).unwrap();
            let done = words.flip_unaligned(byte, BITS);
            assert_eq!(done, byte <= 16 && cfg!(target_endian = "little"), "byte {byte}");
            let flipped = if done { u128::from(BITS) << (byte % 8 * 8) } else { 0 };
            let expected = |word| match usize::abs_diff(word, byte / 8) {
                0 => u64::try_from(flipped & u128::from(u64::MAX)).unwrap(),
                1 if word > byte / 8 => u64::try_from(flipped >> 64).unwrap(),
                _ => 0,
            };
            assert_eq!(words[..], [0, 1, 2].map(expected), "byte {byte}");
        }
    }
}
