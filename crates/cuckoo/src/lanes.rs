//! Fingerprints side by side in a 64-bit word, compared all at once.
//!
//! A bucket is one group of four lanes, or two groups of two where four fingerprints exceed a word.
//! Groups lie one after another without gaps, least significant bit first, so that a group may begin
//! in one word and end in the next.
//!
//! Everything takes the width as an argument and is inlined: [`by_width!`] calls it with a literal, for
//! which shifts and masks are then constants.

use core::hint::select_unpredictable;

use pds_core::internal::{WordSource, Words};

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
        const $constant: u32 = $width;
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
const fn matches(group: u64, fingerprint: u32, width: u32) -> u64 {
    let ones = ones(width);
    let difference = group ^ (ones * fingerprint as u64);
    difference.wrapping_sub(ones) & !difference & (ones << (width - 1))
}

/// Where a fingerprint lies: in this group, above so many bits of it.
///
/// Not a slot's number, so that the address of a group does not wait for the group to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) group: u64,
    pub(crate) shift: u32,
}

impl Slot {
    /// The slot of a bucket that has this lane.
    pub(crate) const fn of(bucket: u64, lane: u32, width: u32) -> Self {
        let groups = SLOTS / lanes(width);
        let group = bucket * groups as u64 + (lane / lanes(width)) as u64;
        Self { group, shift: lane % lanes(width) * width }
    }
}

/// A group, and which of its lanes were found to be equal to a fingerprint.
#[derive(Clone, Copy)]
pub(crate) struct Matches {
    group: u64,
    found: u64,
}

impl Matches {
    #[inline(always)]
    pub(crate) fn new(words: &impl WordSource, number: u64, fingerprint: u32, width: u32) -> Self {
        Self { group: number, found: matches(group(words, number, width), fingerprint, width) }
    }

    /// Tests whether there is any here or there.
    #[inline(always)]
    pub(crate) const fn any(self, other: Self) -> bool {
        self.found | other.found != 0
    }

    /// These where there are any, or else the others, without a branch: which of two has a fingerprint cannot be
    /// predicted.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        let any = self.found != 0;
        let group = select_unpredictable(any, self.group, other.group);
        Self { group, found: select_unpredictable(any, self.found, other.found) }
    }

    /// The slot of the first, if there is any.
    #[inline(always)]
    pub(crate) fn first(self, width: u32) -> Option<Slot> {
        let shift = self.found.trailing_zeros().wrapping_sub(width - 1);
        (self.found != 0).then_some(Slot { group: self.group, shift })
    }
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

/// Reads the fingerprints of the bucket of this number.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "what the mask leaves fits")]
pub(crate) fn bucket(words: &impl WordSource, number: u64, width: u32) -> [u32; SLOTS as usize] {
    let (low, high) = if lanes(width) == SLOTS {
        let group = group(words, number, width);
        (group, group >> (2 * width))
    } else {
        (group(words, 2 * number, width), group(words, 2 * number + 1, width))
    };
    let [first, third] = [low & mask(width), high & mask(width)];
    let [second, fourth] = [low >> width & mask(width), high >> width & mask(width)];
    [first as u32, second as u32, third as u32, fourth as u32]
}

/// Writes a fingerprint into a slot that is empty, or empties a slot of this fingerprint.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "groups of 32 bits have no more")]
pub(crate) fn flip(words: &mut Words, slot: Slot, fingerprint: u32, width: u32) {
    let bits = lanes(width) * width;
    let (start, flipped) = (slot.group * u64::from(bits), u64::from(fingerprint) << slot.shift);
    match bits {
        32 => words.flip_half(index_of(slot.group), flipped as u32),
        64 => words[index_of(slot.group)] ^= flipped,
        _ if most_skipped(bits) + bits <= 64 => {
            if !words.flip_unaligned(index_of(start / 8), flipped << (start % 8)) {
                flip_words(words, start, flipped);
            }
        }
        _ => flip_words(words, start, flipped),
    }
}

/// Flips bits from `start` on, in the word or the two that have them.
#[cold]
#[inline(never)]
fn flip_words(words: &mut [u64], start: u64, flipped: u64) {
    let (first, shift) = (word_of(start), start % 64);
    words[first] ^= flipped << shift;
    // In two steps, as a shift by 64 is none.
    let rest = (flipped >> 1) >> (63 - shift);
    if rest != 0 {
        words[first + 1] ^= rest;
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
