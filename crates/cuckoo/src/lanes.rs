//! Fingerprints side by side in a 64-bit word, compared all at once.
//!
//! A bucket is one group of four lanes, or two groups of two where four fingerprints exceed a word.
//! Groups lie one after another without gaps, least significant bit first, so that a group may begin
//! in one word and end in the next.
//!
//! Everything takes the width as an argument and is inlined: [`by_width!`] calls it with a literal, for
//! which shifts and masks are then constants.

use pds_core::internal::WordSource;

/// Slots a bucket.
pub(crate) const SLOTS: u32 = 4;
const _: () = assert!(SLOTS as u64 == pds_params::cuckoo::BUCKET_SLOTS);

/// The widest fingerprint of which four fit a word, in bits.
const WIDEST_OF_FOUR: u32 = 16;

/// Evaluates an expression with a width that is a constant: once for each of them.
///
/// Masks and distances are then constants too, and for even widths no group starts within a byte. Not to
/// be inlined: one function of all widths is called once for many keys, or for a thing that takes longer.
macro_rules! by_width {
    ($width:expr, |$constant:ident| $body:expr) => {
        by_width!(@arms $width, $constant, $body,
            4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    (@arms $width:expr, $constant:ident, $body:expr, $($number:literal)*) => {
        match $width {
            $($number => by_width!(@arm $number, $constant, $body),)*
            _ => by_width!(@arm 32, $constant, $body),
        }
    };
    (@arm $width:expr, $constant:ident, $body:expr) => {{
        let $constant: u32 = $width;
        $body
    }};
}
pub(crate) use by_width;

/// Lanes a group: how many fingerprints of `width` bits are compared at once.
#[inline(always)]
pub(crate) const fn lanes(width: u32) -> u32 {
    if width <= WIDEST_OF_FOUR { SLOTS } else { SLOTS / 2 }
}

/// A one in the least significant bit of each lane.
#[inline(always)]
const fn ones(width: u32) -> u64 {
    let pair = 1 | 1 << width;
    if width <= WIDEST_OF_FOUR { pair | pair << (2 * width) } else { pair }
}

/// Tests which lanes of `group` equal `fingerprint`: the lowest bit set is in the first that does.
///
/// Zero when none does. Above the first, lanes may be marked that do not: a borrow comes from it.
/// Bits above the lanes have no influence.
#[inline(always)]
pub(crate) const fn matches(group: u64, fingerprint: u32, width: u32) -> u64 {
    let ones = ones(width);
    let difference = group ^ (ones * fingerprint as u64);
    difference.wrapping_sub(ones) & !difference & (ones << (width - 1))
}

/// The lane of the lowest bit that [`matches()`] set.
#[inline(always)]
pub(crate) const fn first_lane(matches: u64, width: u32) -> u32 {
    matches.trailing_zeros() / width
}

/// Reads the group of this number; the bits above its lanes are anything.
///
/// In one piece but where words are not enough for that: at the end of the memory, on big-endian
/// machines, and for the one width of which a group can lie in nine bytes.
#[inline(always)]
pub(crate) fn group(words: &impl WordSource, number: u64, width: u32) -> u64 {
    let bits = lanes(width) * width;
    let start = number * u64::from(bits);
    match bits {
        32 => u64::from(words.half(index_of(number))),
        64 => words.word(index_of(number)),
        _ if most_skipped(bits) + bits <= 64 => match words.unaligned(index_of(start / 8)) {
            Some(group) => group >> (start % 8),
            None => group_of_words(words, start, bits),
        },
        _ => group_of_words(words, start, bits),
    }
}

/// The most bits below a group in its first byte: groups start at multiples of the length of one.
const fn most_skipped(bits: u32) -> u32 {
    8_u32.saturating_sub(1 << bits.trailing_zeros())
}

/// Reads the bits from `start` on out of the word or the two that have them.
#[cold]
#[inline(never)]
fn group_of_words(words: &impl WordSource, start: u64, bits: u32) -> u64 {
    // The last word of the group is the first again where it does not straddle; what is then shifted
    // in lies above the lanes. In two steps, as a shift by 64 is none.
    let (low, shift) = (words.word(word_of(start)), start % 64);
    let high = words.word(word_of(start + u64::from(bits - 1)));
    low >> shift | (high << 1) << (63 - shift)
}

/// Reads the fingerprint in the slot of this number.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "both values fit after the mask and the remainder"
)]
pub(crate) fn slot(words: &impl WordSource, number: u64, width: u32) -> u32 {
    let lanes = lanes(width);
    let group = group(words, number / u64::from(lanes), width);
    let lane = (number % u64::from(lanes)) as u32;
    (group >> (lane * width) & mask(width)) as u32
}

/// Writes a fingerprint of at most `width` bits into the slot of this number.
#[inline(always)]
pub(crate) fn set_slot(words: &mut [u64], number: u64, fingerprint: u32, width: u32) {
    debug_assert!(u64::from(fingerprint) <= mask(width));
    let start = number * u64::from(width);
    let (first, last) = (word_of(start), word_of(start + u64::from(width - 1)));
    let (shift, value) = (start % 64, u64::from(fingerprint));
    words[first] = words[first] & !(mask(width) << shift) | value << shift;
    if last != first {
        let spilled = 64 - shift;
        words[last] = words[last] & !(mask(width) >> spilled) | value >> spilled;
    }
}

/// The greatest fingerprint of `width` bits; how many there are, as 0 is none.
#[inline(always)]
pub(crate) const fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The word that holds a bit.
#[inline(always)]
pub(crate) const fn word_of(bit: u64) -> usize {
    index_of(bit / 64)
}

/// Nothing is lost: what was allocated can be counted in `usize`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "no more than the bytes of memory")]
const fn index_of(number: u64) -> usize {
    number as usize
}
