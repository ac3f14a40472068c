//! Fingerprints side by side in a 64-bit word, compared in parallel.
//!
//! A bucket is one group of four lanes, or two groups of two if four fingerprints exceed a word. Groups follow each other
//! without gaps, least significant bit first, so a group may begin in one word and end in the next.
//!
//! All functions take the width as an argument and are inlined. [`by_width!`] calls them with a literal width, so that
//! shifts and masks are constants.

use core::hint::select_unpredictable;

use pds_core::internal::StoredWord;
use pds_core::storage::Words;

/// Number of slots per bucket.
pub(crate) const SLOTS: u32 = 4;
const _: () = assert!(SLOTS as u64 == pds_params::cuckoo::BUCKET_SLOTS);

/// Widest fingerprint of which four fit into a word, in bits.
const WIDEST_OF_FOUR: u32 = 16;

/// Evaluates an expression with the width as a constant. The expression is compiled once per width.
// Masks and shifts are then constants too, and for even widths no group starts within a byte. Use it in functions that are
// not inlined: they contain the code of all widths.
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

/// Returns the number of lanes per group: how many fingerprints of `width` bits are compared in parallel.
#[inline(always)]
pub(crate) const fn lanes(width: u32) -> u32 {
    if width <= WIDEST_OF_FOUR { SLOTS } else { SLOTS / 2 }
}

/// Returns a word with a one in the least significant bit of each lane.
#[inline(always)]
const fn ones(width: u32) -> u64 {
    let pair = 1 | 1 << width;
    if width <= WIDEST_OF_FOUR { pair | pair << (2 * width) } else { pair }
}

/// Tests which lanes of `group` equal `fingerprint`. The lowest set bit is in the first equal lane; zero if there is none.
///
/// Lanes above the first equal one may be marked wrongly, because of its borrow. Bits above the lanes have no effect.
#[inline(always)]
const fn matches(group: u64, fingerprint: u32, width: u32) -> u64 {
    let ones = ones(width);
    let difference = group ^ (ones * fingerprint as u64);
    difference.wrapping_sub(ones) & !difference & (ones << (width - 1))
}

/// Tests whether any lane of two groups equals `fingerprint`. `None` if a group cannot be read by one instruction.
#[inline(always)]
pub(crate) fn either_at_once<W: StoredWord>(
    words: &[W],
    numbers: [u64; 2],
    fingerprint: u32,
    width: u32,
) -> Option<bool> {
    // The complements of `matches`, because a processor has no and-not for general registers.
    let rest = ones(width) - 1;
    let others = |number| {
        let difference =
            group_at_once(words, number, width)? ^ (ones(width) * u64::from(fingerprint));
        Some(rest.wrapping_sub(difference) | difference)
    };
    let found = !(others(numbers[0])? & others(numbers[1])?);
    Some(found & (ones(width) << (width - 1)) != 0)
}

/// Position of a fingerprint: its group, and the shift within the group in bits.
// Not the number of a slot, so that the address of a group does not depend on what the group contains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) group: u64,
    pub(crate) shift: u32,
}

impl Slot {
    /// Returns the slot of a lane of a bucket.
    pub(crate) const fn of(bucket: u64, lane: u32, width: u32) -> Self {
        let groups = SLOTS / lanes(width);
        let group = bucket * groups as u64 + (lane / lanes(width)) as u64;
        Self { group, shift: lane % lanes(width) * width }
    }
}

/// A group, and the marks of the lanes that equal a fingerprint.
#[derive(Clone, Copy)]
pub(crate) struct Matches {
    group: u64,
    found: u64,
}

impl Matches {
    #[inline(always)]
    pub(crate) fn new(
        words: &[impl StoredWord],
        number: u64,
        fingerprint: u32,
        width: u32,
    ) -> Self {
        Self { group: number, found: matches(group(words, number, width), fingerprint, width) }
    }

    /// Returns whether either has a match.
    #[inline(always)]
    pub(crate) const fn any(self, other: Self) -> bool {
        self.found | other.found != 0
    }

    /// Returns `self` if it has a match, and `other` otherwise.
    // Without a branch, because the outcome cannot be predicted.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        let any = self.found != 0;
        let group = select_unpredictable(any, self.group, other.group);
        Self { group, found: select_unpredictable(any, self.found, other.found) }
    }

    /// Returns the slot of the first match.
    #[inline(always)]
    pub(crate) fn first(self, width: u32) -> Option<Slot> {
        let shift = self.found.trailing_zeros().wrapping_sub(width - 1);
        (self.found != 0).then_some(Slot { group: self.group, shift })
    }
}

/// Reads a group by its number. The bits above its lanes are arbitrary.
#[inline(always)]
pub(crate) fn group<W: StoredWord>(words: &[W], number: u64, width: u32) -> u64 {
    group_at_once(words, number, width).unwrap_or_else(|| group_of_words(words, number, width))
}

/// Reads a group as [`group`] does, by one instruction. `None` if it needs more: at the end of the memory, on big-endian
/// machines, and for the one width of which a group can span nine bytes.
#[inline(always)]
fn group_at_once<W: StoredWord>(words: &[W], number: u64, width: u32) -> Option<u64> {
    let bits = lanes(width) * width;
    match bits {
        32 => Some(u64::from(W::half(words, index_of(number)))),
        64 => Some(words[index_of(number)].value()),
        _ if most_skipped(bits) + bits <= 64 => {
            let start = number * u64::from(bits);
            W::unaligned(words, index_of(start / 8)).map(|group| group >> (start % 8))
        }
        _ => None,
    }
}

/// Returns the most bits below a group in its first byte. Groups start at multiples of their length.
const fn most_skipped(bits: u32) -> u32 {
    8_u32.saturating_sub(1 << bits.trailing_zeros())
}

/// Reads a group as [`group`] does, from the one or two words that hold it.
#[cold]
#[inline(never)]
fn group_of_words<W: StoredWord>(words: &[W], number: u64, width: u32) -> u64 {
    let bits = lanes(width) * width;
    let start = number * u64::from(bits);
    // The last word of the group is the first again where it does not straddle; what is then shifted
    // in lies above the lanes. In two steps, as a shift by 64 is none.
    let (low, shift) = (words[word_of(start)].value(), start % 64);
    let high = words[word_of(start + u64::from(bits - 1))].value();
    low >> shift | (high << 1) << (63 - shift)
}

/// Reads the fingerprints of a bucket by its number.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "what the mask leaves fits")]
pub(crate) fn bucket<W: StoredWord>(words: &[W], number: u64, width: u32) -> [u32; SLOTS as usize] {
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

/// Writes a fingerprint into an empty slot, or clears a slot that holds it.
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

/// Flips bits from `start` on, in the one or two words that hold them.
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

/// Returns the greatest fingerprint of `width` bits. It is also their number, since 0 marks an empty slot.
#[inline(always)]
pub(crate) const fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Returns the index of the word that holds a bit.
#[inline(always)]
pub(crate) const fn word_of(bit: u64) -> usize {
    index_of(bit / 64)
}

/// Converts a number to an index without loss: what was allocated can be counted in `usize`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "no more than the bytes of memory")]
const fn index_of(number: u64) -> usize {
    number as usize
}
