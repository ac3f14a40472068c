//! Assembly and disassembly of envelopes by hand, as an attacker would do it.
//!
//! The code follows `docs/format.md` alone. It does not use the code under test for any length, offset or checksum.

use xxhash_rust::xxh3::xxh3_64;

/// Length of the fixed part of a header in bytes.
const FIXED: usize = 24;
/// Length of a checksum in bytes.
const SUM: usize = 8;
/// Offset of the kind.
const KIND_AT: usize = 10;
/// Offset of the length of the header.
const HEAD_BYTES_AT: usize = 12;
/// Offset of the length of the envelope.
const ENVELOPE_BYTES_AT: usize = 16;

/// Tag of the section with the hasher.
pub const HASHER: u16 = 1;
/// Tag of the section with the expected items and the promised rate.
pub const DESIGN: u16 = 2;
/// Tag of the section with the numbers of the shape.
pub const SHAPE: u16 = 3;

/// A section: its tag and its bytes.
pub type Section = (u16, Vec<u8>);

/// Returns the length of the header by its own field, if it is possible and the bytes are at least as many.
#[must_use]
pub fn head_bytes(bytes: &[u8]) -> Option<usize> {
    let stated = u32::from_le_bytes(*bytes.get(HEAD_BYTES_AT..)?.first_chunk()?);
    let length = usize::try_from(stated).ok()?;
    (length % 64 == 0 && (64..=4096).contains(&length) && length <= bytes.len()).then_some(length)
}

/// Makes both checksums valid, as far as the bytes contain them.
pub fn seal(bytes: &mut [u8]) {
    seal_payload(bytes);
    seal_head(bytes);
}

pub(crate) fn seal_head(bytes: &mut [u8]) {
    if let Some(length) = head_bytes(bytes) {
        put_sum(&mut bytes[..length]);
    }
}

pub(crate) fn seal_payload(bytes: &mut [u8]) {
    if let Some(length) = head_bytes(bytes) {
        put_sum(&mut bytes[length..]);
    }
}

/// Writes the checksum of all but the last eight bytes into the last eight.
fn put_sum(bytes: &mut [u8]) {
    if let Some((covered, sum)) = bytes.split_last_chunk_mut() {
        *sum = xxh3_64(covered).to_le_bytes();
    }
}

/// Returns the bytes with `new` at `offset`, with valid checksums.
///
/// # Panics
/// If there are no bytes at the offset.
#[must_use]
pub fn forged(bytes: &[u8], offset: usize, new: &[u8]) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    forged[offset..][..new.len()].copy_from_slice(new);
    seal(&mut forged);
    forged
}

/// Returns the sections of a header, up to the first that is invalid.
#[must_use]
pub fn sections(bytes: &[u8]) -> Vec<Section> {
    let mut sections = Vec::new();
    let Some(length) = head_bytes(bytes) else { return sections };
    let mut rest = &bytes[FIXED..length - SUM];
    while let Some(([t0, t1, _, _, l0, l1, l2, l3], behind)) = rest.split_first_chunk() {
        let (tag, length) = (u16::from_le_bytes([*t0, *t1]), [*l0, *l1, *l2, *l3]);
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        match behind.split_at_checked(length) {
            Some((section, _)) if tag != 0 => sections.push((tag, section.to_vec())),
            _ => break,
        }
        rest = behind.get(length.next_multiple_of(8)..).unwrap_or_default();
    }
    sections
}

/// Returns an envelope of any kind, sections and payload, with valid checksums. The header has the least possible
/// length.
///
/// # Panics
/// If a section is too long for its length field.
#[must_use]
pub fn envelope(kind: u16, sections: &[Section], payload: &[u8]) -> Vec<u8> {
    let mut head = vec![0; FIXED];
    head[..10].copy_from_slice(b"\x89PDS\r\n\x1a\n\x01\x00");
    head[KIND_AT..HEAD_BYTES_AT].copy_from_slice(&kind.to_le_bytes());
    for (tag, section) in sections {
        head.extend(u32::from(*tag).to_le_bytes());
        head.extend(u32::try_from(section.len()).expect("a short section").to_le_bytes());
        head.extend(section);
        head.resize(head.len().next_multiple_of(8), 0);
    }
    head.resize((head.len() + SUM).next_multiple_of(64), 0);
    sized([&head, payload, &[0; SUM]].concat(), head.len())
}

/// Writes the lengths of an envelope with a header of `head_bytes` bytes, and seals it.
fn sized(mut bytes: Vec<u8>, head_bytes: usize) -> Vec<u8> {
    let stated = u32::try_from(head_bytes).expect("a short head");
    let total = bytes.len() as u64;
    bytes[HEAD_BYTES_AT..ENVELOPE_BYTES_AT].copy_from_slice(&stated.to_le_bytes());
    bytes[ENVELOPE_BYTES_AT..FIXED].copy_from_slice(&total.to_le_bytes());
    seal(&mut bytes);
    bytes
}

/// Returns the envelope with other sections, in a header of the least possible length.
///
/// # Panics
/// If the bytes are not an envelope.
#[must_use]
pub fn with_sections(bytes: &[u8], sections: &[Section]) -> Vec<u8> {
    let length = head_bytes(bytes).expect("an envelope");
    let kind = u16::from_le_bytes([bytes[KIND_AT], bytes[KIND_AT + 1]]);
    envelope(kind, sections, &bytes[length..bytes.len() - SUM])
}

/// Returns the offset of a shape number.
///
/// # Panics
/// If the bytes are not an envelope.
#[must_use]
pub fn number_offset(bytes: &[u8], index: usize) -> usize {
    let before = sections(bytes).into_iter().take_while(|(tag, _)| *tag != SHAPE);
    let start = before.map(|(_, section)| 8 + section.len().next_multiple_of(8)).sum::<usize>();
    FIXED + start + 8 + 8 * index
}

/// Returns the envelope with another shape number, with valid checksums.
///
/// # Panics
/// If there is no such number.
#[must_use]
pub fn with_number(bytes: &[u8], index: usize, number: u64) -> Vec<u8> {
    let at = number_offset(bytes, index);
    assert!(at + SUM < head_bytes(bytes).expect("an envelope"), "no number {index}");
    forged(bytes, at, &number.to_le_bytes())
}

/// Returns the envelope with other shape numbers, more or fewer, with valid checksums.
///
/// # Panics
/// If the bytes are not an envelope.
#[must_use]
pub fn with_numbers(bytes: &[u8], numbers: &[u64]) -> Vec<u8> {
    let mut sections = sections(bytes);
    sections.retain(|(tag, _)| *tag != SHAPE);
    if !numbers.is_empty() {
        sections.push((SHAPE, numbers.iter().flat_map(|number| number.to_le_bytes()).collect()));
    }
    with_sections(bytes, &sections)
}

/// Returns the bytes with another payload, with valid checksums.
///
/// # Panics
/// If the bytes are not an envelope.
#[must_use]
pub fn with_payload(bytes: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = head_bytes(bytes).expect("an envelope");
    sized([&bytes[..length], payload, &[0; SUM]].concat(), length)
}

/// Returns bytes with another first shape number and another payload length, with valid checksums. The bytes after the
/// header do not match this claim.
///
/// # Panics
/// If the bytes are not an envelope with a shape.
#[must_use]
pub fn claiming(bytes: &[u8], number: u64, payload_bytes: u64) -> Vec<u8> {
    let total = head_bytes(bytes).expect("an envelope") as u64 + payload_bytes + SUM as u64;
    let claim = with_number(bytes, 0, number);
    forged(&claim, ENVELOPE_BYTES_AT, &total.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Vec<u8> {
        envelope(7, &[(HASHER, vec![1; 32]), (SHAPE, vec![2; 16])], &[3; 24])
    }

    #[test]
    fn sealing_covers_what_the_format_says() {
        let bytes = example();
        assert_eq!((bytes.len(), &bytes[10..12]), (128 + 24 + 8, &[7, 0][..]));
        assert_eq!(bytes[12..24], [128, 0, 0, 0, 160, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[24..32], [1, 0, 0, 0, 32, 0, 0, 0]);
        assert_eq!(bytes[64..72], [3, 0, 0, 0, 16, 0, 0, 0]);
        assert_eq!(bytes[72..88], [2; 16]);
        assert_eq!(bytes[120..128], xxh3_64(&bytes[..120]).to_le_bytes());
        assert_eq!(bytes[128..152], [3; 24]);
        assert_eq!(bytes[152..], xxh3_64(&[3; 24]).to_le_bytes());
        for length in 0..bytes.len() {
            seal(&mut example()[..length]);
        }
    }

    #[test]
    fn an_envelope_comes_apart_as_it_was_put_together() {
        let bytes = example();
        assert_eq!(sections(&bytes), [(HASHER, vec![1; 32]), (SHAPE, vec![2; 16])]);
        assert_eq!(with_sections(&bytes, &sections(&bytes)), bytes);
        assert_eq!(with_numbers(&bytes, &[0x0202_0202_0202_0202; 2]), bytes);
        assert_eq!(with_payload(&bytes, &[3; 24]), bytes);
        assert_eq!((number_offset(&bytes, 0), number_offset(&bytes, 1)), (72, 80));
        assert_eq!(with_numbers(&bytes, &[5; 16]).len(), 256 + 24 + 8);
    }

    #[test]
    fn a_claim_changes_two_numbers_and_the_checksum() {
        let claim = claiming(&example(), 3, 4);
        assert_eq!(claim[72..80], 3u64.to_le_bytes());
        assert_eq!(claim[16..24], (128 + 4 + 8u64).to_le_bytes());
        let mut sealed = claim.clone();
        seal(&mut sealed);
        assert_eq!(sealed, claim);
    }
}
