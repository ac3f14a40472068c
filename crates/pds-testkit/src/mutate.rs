//! Forged envelopes: valid bytes that are changed by a string of choices, with valid checksums.
//!
//! A fuzzer provides the choices, or [`inputs`] does for an ordinary test. The same test bodies run under both. The
//! offsets are those of `docs/format.md`, as in [`envelope`](crate::envelope).

use crate::envelope::{head_bytes, seal, seal_head, seal_payload, sections, with_sections};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Length of a checksum in bytes.
const SUM: usize = 8;
/// Offset of the length of the envelope.
const ENVELOPE_BYTES_AT: usize = 16;

/// Offset and length of every field between the magic number and the checksum of a header of 128 bytes. It has a hasher, a design
/// and a shape, or a hasher and a shape. Longer ones have further numbers of 8 bytes.
const FIELDS: [(usize, usize); 24] = [
    (8, 2),
    (10, 2),
    (12, 4),
    (ENVELOPE_BYTES_AT, 8),
    (24, 2),
    (26, 2),
    (28, 4),
    (32, 2),
    (34, 2),
    (36, 4),
    (40, 8),
    (48, 8),
    (56, 8),
    (64, 2),
    (66, 2),
    (68, 4),
    (72, 8),
    (80, 8),
    (88, 2),
    (90, 2),
    (92, 4),
    (96, 8),
    (104, 8),
    (112, 8),
];

/// Offset after the last of [`FIELDS`].
const FIELDS_END: usize = 120;

/// Values that have caused faults in decoders. The last are bits of an `f64`.
const NUMBERS: [u64; 20] = [
    0,
    1,
    2,
    63,
    64,
    65,
    255,
    256,
    0xffff,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 60,
    1 << 63,
    u64::MAX - 135,
    u64::MAX,
    f64::NAN.to_bits(),
    f64::INFINITY.to_bits(),
    (1.0_f64 - f64::EPSILON).to_bits(),
    (-0.5_f64).to_bits(),
];

/// A string of bytes that controls a test body. When it is used up, every choice is the first one.
#[derive(Clone, Debug)]
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Creates choices from these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns `true` if all choices are used up.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Chooses a byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Chooses a number below `limit`, nearly uniformly for limits that are small compared with 2^32.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let bytes = if limit <= 256 { 1 } else { 4 };
        (0..bytes).fold(0, |number, _| number << 8 | usize::from(self.byte())) % limit
    }

    /// Chooses any number.
    pub fn number(&mut self) -> u64 {
        u64::from_le_bytes(core::array::from_fn(|_| self.byte()))
    }
}

/// Returns choices for an ordinary test: `count` random strings of up to 95 bytes.
pub fn inputs(seed: u64, count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    core::iter::repeat_with(move || {
        let mut input = vec![0; (generator.next_u64() % 96) as usize];
        generator.fill_bytes(&mut input);
        input
    })
    .take(count)
}

/// Changes an envelope up to four times. Its checksums are mostly valid afterwards, as in an attack.
pub fn mutate(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    for _ in 0..=choices.below(4) {
        edit(bytes, choices);
    }
    match choices.below(8) {
        0 => {}
        1 => seal_head(bytes),
        2 => seal_payload(bytes),
        _ => seal(bytes),
    }
}

fn edit(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    match choices.below(10) {
        0 => flip_bit(bytes, choices),
        1 | 2 => put_field(bytes, choices),
        3 => shift_field(bytes, choices),
        4 => bytes.truncate(choices.below(bytes.len() + 1)),
        5 => bytes.extend((0..choices.below(200)).map(|_| choices.byte())),
        6 => fill_payload(bytes, choices),
        7 | 8 => resize_payload(bytes, choices),
        _ => edit_sections(bytes, choices),
    }
}

fn flip_bit(bytes: &mut [u8], choices: &mut Choices<'_>) {
    if !bytes.is_empty() {
        let bit = choices.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Overwrites a field of the header with a number that is likely to cause faults.
fn put_field(bytes: &mut [u8], choices: &mut Choices<'_>) {
    if let Some(field) = field(bytes, choices) {
        let known = NUMBERS.get(choices.below(NUMBERS.len() + 1));
        let number = known.copied().unwrap_or_else(|| choices.number());
        field.copy_from_slice(&number.to_le_bytes()[..field.len()]);
    }
}

/// Adds a small number to a field of the header, or subtracts it.
fn shift_field(bytes: &mut [u8], choices: &mut Choices<'_>) {
    if let Some(field) = field(bytes, choices) {
        let mut number = [0; 8];
        number[..field.len()].copy_from_slice(field);
        let by = i64::from(choices.byte().cast_signed());
        let number = u64::from_le_bytes(number).wrapping_add_signed(by);
        field.copy_from_slice(&number.to_le_bytes()[..field.len()]);
    }
}

fn field<'a>(bytes: &'a mut [u8], choices: &mut Choices<'_>) -> Option<&'a mut [u8]> {
    let further = head_bytes(bytes).map_or(0, |head| head.saturating_sub(FIELDS_END + SUM) / 8);
    let index = choices.below(FIELDS.len() + further);
    let known = FIELDS.get(index).copied();
    let (at, length) = known.unwrap_or_else(|| (FIELDS_END + 8 * (index - FIELDS.len()), 8));
    bytes.get_mut(at..at + length)
}

/// Overwrites a part of the payload with one repeated byte.
fn fill_payload(bytes: &mut [u8], choices: &mut Choices<'_>) {
    let end = bytes.len().saturating_sub(SUM);
    if let Some(head) = head_bytes(bytes).filter(|&head| head < end) {
        let start = head + choices.below(end - head);
        let length = 1 + choices.below(64);
        bytes[start..end.min(start + length)].fill(choices.byte());
    }
}

/// Changes the length of the payload, and the length in the header.
fn resize_payload(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    if let Some(head) = head_bytes(bytes) {
        let length = choices.below(64) * [1, 4, 8, 64][choices.below(4)];
        bytes.resize(head + length + SUM, choices.byte());
        let total = bytes.len() as u64;
        bytes[ENVELOPE_BYTES_AT..][..8].copy_from_slice(&total.to_le_bytes());
    }
}

/// Removes, duplicates or moves a section, or changes its tag or length, in a header of matching length.
fn edit_sections(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let mut sections = sections(bytes);
    if sections.is_empty() || head_bytes(bytes).is_none_or(|head| bytes.len() < head + SUM) {
        return;
    }
    let place = choices.below(sections.len());
    match choices.below(5) {
        0 => drop(sections.remove(place)),
        1 => sections.insert(place, sections[place].clone()),
        2 => sections.swap(0, place),
        3 => sections[place].0 = u16::from(choices.byte() % 5),
        _ => sections[place].1.resize(choices.below(160), choices.byte()),
    }
    *bytes = with_sections(bytes, &sections);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{DESIGN, HASHER, SHAPE, envelope as put_together, number_offset};

    fn envelope() -> Vec<u8> {
        let sections = [(HASHER, vec![7; 32]), (DESIGN, vec![7; 16]), (SHAPE, vec![7; 24])];
        put_together(7, &sections, &[7; 24])
    }

    #[test]
    fn fields_follow_each_other_from_the_version_to_the_checksum() {
        let end = FIELDS.iter().fold(8, |end, &(at, length)| {
            assert_eq!(at, end);
            end + length
        });
        assert_eq!(end, FIELDS_END);
        assert_eq!(Some(end + SUM), head_bytes(&envelope()));
    }

    /// An exact filter has 11 numbers, a window has 6 behind its design.
    #[test]
    fn every_number_of_a_long_header_is_overwritten() {
        let hasher = (HASHER, vec![7; 32]);
        for sections in [
            vec![hasher.clone(), (SHAPE, vec![7; 8 * 11])],
            vec![hasher, (DESIGN, vec![7; 16]), (SHAPE, vec![7; 8 * 6])],
        ] {
            let bytes = put_together(7, &sections, &[7; 24]);
            // The first number is 0.
            let choices = (0..=255).map(|field| [field, 0]);
            let results: Vec<_> = choices
                .map(|choices| {
                    let mut bytes = bytes.clone();
                    put_field(&mut bytes, &mut Choices::new(&choices));
                    bytes
                })
                .collect();
            for index in 0..sections.last().unwrap().1.len() / 8 {
                let at = number_offset(&bytes, index);
                // One that may be the head of a section in another layout is overwritten in parts.
                let is_changed = |changed: &Vec<u8>| changed[at..at + 8] != bytes[at..at + 8];
                assert!(results.iter().any(is_changed), "{index}");
            }
        }
    }

    #[test]
    fn most_strings_of_choices_change_something_and_many_differ() {
        let changed = |input: Vec<u8>| {
            let mut bytes = envelope();
            mutate(&mut bytes, &mut Choices::new(&input));
            bytes
        };
        let results: std::collections::HashSet<_> = inputs(1, 1_000).map(changed).collect();
        assert!(results.len() > 900, "{} different results", results.len());
        assert!(results.iter().any(|bytes| bytes.len() < 128));
        assert!(results.iter().any(|bytes| bytes.len() > envelope().len()));
        let tags = |bytes: &Vec<u8>| sections(bytes).iter().map(|section| section.0).collect();
        let orders: std::collections::HashSet<Vec<u16>> = results.iter().map(tags).collect();
        assert!(orders.len() > 10, "{} orders of sections", orders.len());
    }
}
