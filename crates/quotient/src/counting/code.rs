//! Counts in slots: a remainder, and after it the digits of its count less 1.
//!
//! An entry has one bit more than a remainder, its highest: 1 if it is a digit. The digits have as many bits as the
//! remainders, the least significant one comes first, and the last one is not 0. So a count of 1 takes no digit, and each
//! count has one form. The remainders of a run are in ascending order, and no two are equal.
//
// The encoding of the paper (section 5) marks a digit by its place: below the remainder before it, where the order of the
// run would be broken. It needs no bit per slot, but three slots for a count of 3 or more, special forms for the remainder
// 0, and digits that leave out two values. With the bit, a count from 2 to 2^r takes two slots. At r = 7 the bit pays for
// itself as soon as one key in eight comes three times or more. Above all, each entry tells by itself what it is, so a check of
// foreign bytes needs no look ahead.

use core::iter::{self, Peekable};

use pds_core::storage::WordSource;

use crate::fingerprint::Fingerprint;
use crate::payload::{Fault, Order};
use crate::sequence::Reader;
use crate::table::Table;

/// The greatest count.
// With 63 bits for the count less 1, the sum of two counts does not overflow a word.
pub(crate) const MAX_COUNT: u64 = 1 << 63;
/// Most entries of a fingerprint: a remainder of one bit, and 63 digits.
const MAX_ENTRIES: usize = 64;

/// The entries of one fingerprint.
pub(crate) struct Code {
    entries: [u64; MAX_ENTRIES],
    len: usize,
}

impl Code {
    /// Encodes a count up to [`MAX_COUNT`] of a remainder of `bits` bits. A count of 0 has no entries.
    pub(crate) fn new(remainder: u64, count: u64, bits: u32) -> Self {
        let mut code = Self { entries: [0; MAX_ENTRIES], len: len_of(count, bits) };
        let digit = |index: u32| (count - 1) >> (index * bits) & mask(bits) | 1 << bits;
        code.entries[0] = remainder;
        for (index, entry) in (0..).zip(code.entries[..code.len].iter_mut().skip(1)) {
            *entry = digit(index);
        }
        code
    }

    pub(crate) fn as_slice(&self) -> &[u64] {
        &self.entries[..self.len]
    }
}

/// Returns the number of slots that a count takes.
pub(crate) const fn len_of(count: u64, bits: u32) -> usize {
    match count {
        0 => 0,
        _ => 1 + (u64::BITS - (count - 1).leading_zeros()).div_ceil(bits) as usize,
    }
}

/// Returns whether an entry is a digit.
pub(crate) const fn is_digit(entry: u64, bits: u32) -> bool {
    entry >> bits == 1
}

/// Returns the count that these digits state. Those after the last bit of a word are left.
fn count_of(digits: impl Iterator<Item = u64>, bits: u32) -> u64 {
    let shifts = (0..u64::BITS).step_by(bits as usize);
    let less_one =
        shifts.zip(digits).fold(0, |sum, (shift, digit)| sum | (digit & mask(bits)) << shift);
    // Damaged bytes may state any number.
    MAX_COUNT.min(less_one.saturating_add(1))
}

const fn mask(bits: u32) -> u64 {
    !(u64::MAX << bits)
}

/// Where a fingerprint is, or would be.
pub(crate) struct Found {
    /// The run of its quotient.
    pub(crate) run: core::ops::Range<usize>,
    /// Its slots. If it has none, the range is empty, where they would begin.
    pub(crate) slots: core::ops::Range<usize>,
    pub(crate) count: u64,
}

/// Finds a fingerprint with remainders of `bits` bits.
///
/// # Complexity
/// O(length of the run).
pub(crate) fn find<W: WordSource>(
    table: &Table<W>,
    (quotient, remainder): Fingerprint,
    bits: u32,
) -> Found {
    let run = table.run(quotient);
    let remainder_of = |slot| Some(table.entry(slot)).filter(|&entry| !is_digit(entry, bits));
    let is_below = |slot: &usize| remainder_of(*slot).is_none_or(|other| other < remainder);
    let start = run.clone().find(|slot| !is_below(slot)).unwrap_or(run.end);
    if start == run.end || table.entry(start) != remainder {
        return Found { run, slots: start..start, count: 0 };
    }
    let mut after = start + 1..run.end;
    let end = after.clone().find(|&slot| remainder_of(slot).is_some()).unwrap_or(run.end);
    after.end = end;
    let count = count_of(after.map(|slot| table.entry(slot)), bits);
    Found { run, slots: start..end, count }
}

/// Iterator over the fingerprints of a table in order, each with its count.
pub(crate) struct Counts<'a, W: WordSource> {
    entries: Peekable<Reader<'a, W>>,
    bits: u32,
}

impl<'a, W: WordSource> Counts<'a, W> {
    pub(crate) fn new(table: &'a Table<W>, bits: u32) -> Self {
        Self { entries: Reader::new(table).peekable(), bits }
    }
}

impl<W: WordSource> Iterator for Counts<'_, W> {
    type Item = (Fingerprint, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let bits = self.bits;
        // Damaged bytes may have digits without a remainder.
        let (quotient, remainder) = self.entries.find(|&(_, entry)| !is_digit(entry, bits))?;
        let mut digit = || self.entries.next_if(|&(_, entry)| is_digit(entry, bits));
        let digits = iter::from_fn(|| digit().map(|(_, entry)| entry));
        Some(((quotient, remainder), count_of(digits, bits)))
    }
}

/// Remainders in ascending order, each with the digits of its count.
pub(crate) struct Counted {
    bits: u32,
    /// The last remainder of the run, if it has one.
    remainder: Option<u64>,
    /// Whether the last entry is the digit 0.
    is_zero: bool,
    /// The place of the next digit in the count.
    shift: u32,
    /// Number of all remainders.
    pub(crate) fingerprints: u64,
}

impl Counted {
    pub(crate) const fn new(bits: u32) -> Self {
        Self { bits, remainder: None, is_zero: false, shift: 0, fingerprints: 0 }
    }

    fn take_digit(&mut self, digit: u64) -> Result<(), Fault> {
        if self.remainder.is_none() {
            return Err(("a digit of a count", "after a remainder"));
        }
        // The digits before it are below its place, so the count less 1 is below 2^63 if the digit fits.
        let room = 63u32.saturating_sub(self.shift);
        if digit >> room != 0 {
            return Err(("a digit of a count", "a count up to 2^63"));
        }
        (self.is_zero, self.shift) = (digit == 0, self.shift.saturating_add(self.bits));
        Ok(())
    }

    fn take_remainder(&mut self, remainder: u64) -> Result<(), Fault> {
        self.end_count()?;
        if self.remainder.is_some_and(|last| remainder <= last) {
            return Err(("a remainder", "above the one before it in its run"));
        }
        (self.remainder, self.shift) = (Some(remainder), 0);
        self.fingerprints += 1;
        Ok(())
    }

    const fn end_count(&self) -> Result<(), Fault> {
        if self.is_zero { Err(("the last digit of a count", "above 0")) } else { Ok(()) }
    }
}

impl Order for Counted {
    fn take(&mut self, entry: u64, is_last: bool) -> Result<(), Fault> {
        if is_digit(entry, self.bits) {
            self.take_digit(entry & mask(self.bits))?;
        } else {
            self.take_remainder(entry)?;
        }
        if is_last {
            self.end_count()?;
            self.remainder = None;
        }
        Ok(())
    }
}
