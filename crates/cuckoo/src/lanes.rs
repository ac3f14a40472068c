//! Fingerprints side by side in a 64-bit word, compared all at once.
//!
//! A bucket is one group of four lanes, or two groups of two where four fingerprints exceed a word.
//! Groups lie one after another without gaps, least significant bit first, so that a group may begin
//! in one word and end in the next.
//!
//! Everything takes the width as an argument and is inlined: [`by_width!`] calls it with a literal for
//! the common widths, for which shifts and masks are then constants.

use pds_core::memory::WordSource;

/// Slots a bucket.
pub(crate) const SLOTS: u32 = 4;
const _: () = assert!(SLOTS as u64 == pds_params::cuckoo::BUCKET_SLOTS);

/// The widest fingerprint of which four fit a word, in bits.
const WIDEST_OF_FOUR: u32 = 16;

/// Evaluates an expression with a width that is a constant where it is a common one.
///
/// Eight, twelve and sixteen bits are what rates of 3 %, 0.2 % and 0.01 % ask for, and 32 is the widest.
macro_rules! by_width {
    ($width:expr, |$constant:ident| $body:expr) => {
        match $width {
            8 => by_width!(@arm 8, $constant, $body),
            12 => by_width!(@arm 12, $constant, $body),
            16 => by_width!(@arm 16, $constant, $body),
            32 => by_width!(@arm 32, $constant, $body),
            width => by_width!(@arm width, $constant, $body),
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
#[inline(always)]
pub(crate) fn group(words: &impl WordSource, number: u64, width: u32) -> u64 {
    let bits = lanes(width) * width;
    let start = number * u64::from(bits);
    let (low, shift) = (words.word(word_of(start)), start % 64);
    if bits.is_power_of_two() {
        return low >> shift;
    }
    // The last word of the group is the first again where it does not straddle; what is then shifted
    // in lies above the lanes. In two steps, as a shift by 64 is none.
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

/// The word that holds a bit. Nothing is lost: words that were allocated can be counted in `usize`.
#[inline(always)]
pub(crate) const fn word_of(bit: u64) -> usize {
    (bit / 64) as usize
}
