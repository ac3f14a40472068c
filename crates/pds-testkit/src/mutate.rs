//! Forged envelopes: valid bytes, changed by a string of choices, with checksums that fit again.
//!
//! A fuzzer gives the choices, or [`inputs`] does for an ordinary test; the same bodies run under both. The
//! offsets are those of `docs/format.md`, written down anew: the code under test is not asked for them.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64;

/// Length of a header in bytes, its checksum included.
const HEADER: usize = 128;
/// Length of a checksum in bytes.
const SUM: usize = 8;
/// Offset of the first number of the shape.
const SHAPE_AT: usize = 56;
/// Offset of the length of the payload.
const PAYLOAD_BYTES_AT: usize = 112;

/// Offset and length of every field between the magic and the checksum.
const FIELDS: [(usize, usize); 17] = [
    (8, 2),
    (10, 2),
    (12, 2),
    (14, 2),
    (16, 8),
    (24, 8),
    (32, 8),
    (40, 8),
    (48, 8),
    (SHAPE_AT, 8),
    (64, 8),
    (72, 8),
    (80, 8),
    (88, 8),
    (96, 8),
    (104, 8),
    (PAYLOAD_BYTES_AT, 8),
];

/// Values that decoders have been seen to stumble over; the last are bits of an `f64`.
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

/// A string of bytes that decides what a test body does. When it is used up, every choice is the first one.
#[derive(Clone, Debug)]
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Decides by these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns whether all choices are used up.
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

    /// Chooses a number below `limit`; nearly evenly for limits that are small against 2^32.
    ///
    /// # Panics
    /// When `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let bytes = if limit <= 256 { 1 } else { 4 };
        (0..bytes).fold(0, |number, _| number << 8 | usize::from(self.byte())) % limit
    }

    /// Chooses any number.
    pub fn number(&mut self) -> u64 {
        u64::from_le_bytes(core::array::from_fn(|_| self.byte()))
    }
}

/// Choices for an ordinary test: `count` random strings of up to 95 bytes.
pub fn inputs(seed: u64, count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    core::iter::repeat_with(move || {
        let mut input = vec![0; (generator.next_u64() % 96) as usize];
        generator.fill_bytes(&mut input);
        input
    })
    .take(count)
}

/// Changes an envelope up to four times; mostly its checksums fit afterwards, as an attacker would have it.
pub fn mutate(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    for _ in 0..=choices.below(4) {
        edit(bytes, choices);
    }
    match choices.below(8) {
        0 => {}
        1 => seal_header(bytes),
        2 => seal_payload(bytes),
        _ => seal(bytes),
    }
}

/// Makes both checksums fit what they cover, as far as there is room for them.
pub fn seal(bytes: &mut [u8]) {
    seal_payload(bytes);
    seal_header(bytes);
}

/// Bytes with another first number of their shape and another length of payload, truly sealed: what follows the header
/// is not what it claims.
#[must_use]
pub fn claiming(mut bytes: Vec<u8>, number: u64, payload_bytes: u64) -> Vec<u8> {
    bytes[SHAPE_AT..][..8].copy_from_slice(&number.to_le_bytes());
    bytes[PAYLOAD_BYTES_AT..][..8].copy_from_slice(&payload_bytes.to_le_bytes());
    seal(&mut bytes);
    bytes
}

fn seal_header(bytes: &mut [u8]) {
    if let Some(header) = bytes.first_chunk_mut::<HEADER>() {
        put_sum(header);
    }
}

fn seal_payload(bytes: &mut [u8]) {
    if bytes.len() >= HEADER + SUM {
        put_sum(&mut bytes[HEADER..]);
    }
}

/// Writes the checksum of all but the last eight bytes into those.
fn put_sum(bytes: &mut [u8]) {
    if let Some((covered, sum)) = bytes.split_last_chunk_mut() {
        *sum = xxh3_64(covered).to_le_bytes();
    }
}

fn edit(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    match choices.below(8) {
        0 => flip_bit(bytes, choices),
        1 | 2 => put_field(bytes, choices),
        3 => shift_field(bytes, choices),
        4 => bytes.truncate(choices.below(bytes.len() + 1)),
        5 => bytes.extend((0..choices.below(200)).map(|_| choices.byte())),
        6 => fill_payload(bytes, choices),
        _ => resize_payload(bytes, choices),
    }
}

fn flip_bit(bytes: &mut [u8], choices: &mut Choices<'_>) {
    if !bytes.is_empty() {
        let bit = choices.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Overwrites a field of the header with a number that is likely to matter.
fn put_field(bytes: &mut [u8], choices: &mut Choices<'_>) {
    if let Some(field) = field(bytes, choices) {
        let known = NUMBERS.get(choices.below(NUMBERS.len() + 1));
        let number = known.copied().unwrap_or_else(|| choices.number());
        field.copy_from_slice(&number.to_le_bytes()[..field.len()]);
    }
}

/// Adds a small number to a field of the header, or takes it away.
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
    let (at, length) = FIELDS[choices.below(FIELDS.len())];
    bytes.get_mut(at..at + length)
}

/// Overwrites a piece of the payload with one byte over and over.
fn fill_payload(bytes: &mut [u8], choices: &mut Choices<'_>) {
    if bytes.len() > HEADER + SUM {
        let end = bytes.len() - SUM;
        let start = HEADER + choices.below(end - HEADER);
        let length = 1 + choices.below(64);
        bytes[start..end.min(start + length)].fill(choices.byte());
    }
}

/// Gives the payload another length and says so in the header.
fn resize_payload(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    if bytes.len() >= HEADER {
        let length = choices.below(64) * [1, 4, 8, 64][choices.below(4)];
        bytes.resize(HEADER + length + SUM, choices.byte());
        bytes[PAYLOAD_BYTES_AT..][..8].copy_from_slice(&(length as u64).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope() -> Vec<u8> {
        vec![7; HEADER + 24 + SUM]
    }

    #[test]
    fn sealing_covers_what_the_format_says() {
        let mut bytes = envelope();
        seal(&mut bytes);
        assert_eq!(bytes[120..128], xxh3_64(&[7; 120]).to_le_bytes());
        assert_eq!(bytes[128..152], [7; 24]);
        assert_eq!(bytes[152..], xxh3_64(&[7; 24]).to_le_bytes());
        for length in 0..HEADER + SUM {
            seal(&mut envelope()[..length]);
        }
    }

    #[test]
    fn a_claim_changes_two_numbers_and_the_checksum() {
        let claim = claiming(envelope(), 3, 4);
        assert_eq!(
            (claim[56..64].to_vec(), claim[112..120].to_vec()),
            (3u64.to_le_bytes().to_vec(), 4u64.to_le_bytes().to_vec())
        );
        let mut sealed = claim.clone();
        seal(&mut sealed);
        assert_eq!(sealed, claim);
    }

    #[test]
    fn fields_follow_each_other_from_the_version_to_the_checksum() {
        let end = FIELDS.iter().fold(8, |end, &(at, length)| {
            assert_eq!(at, end);
            end + length
        });
        assert_eq!(end, HEADER - SUM);
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
        assert!(results.iter().any(|bytes| bytes.len() < HEADER));
        assert!(results.iter().any(|bytes| bytes.len() > envelope().len()));
    }
}
