use xxhash_rust::xxh3::xxh3_64;

use super::section::{Section, Sections, put};
use super::{MaybeHasher, Portable, SecretKey, Shape, StoredHasher};
use crate::error::DecodeError;
use crate::internal::{DecodeFault, SectionFault};
use crate::kind::Kind;

/// First bytes of every envelope. As in PNG, a byte above 0x7f, a CR LF and a lone LF reveal a transfer in text mode.
const MAGIC: [u8; 8] = *b"\x89PDS\r\n\x1a\n";
const VERSION: u16 = 1;

/// Heads and nested envelopes start and end at multiples of a cache line.
pub(super) const ALIGNMENT: usize = 64;
/// Length of a checksum in bytes.
pub(super) const SUM_BYTES: usize = 8;
/// The longest head that is read, in bytes.
pub(super) const MAX_HEAD: usize = 4096;
/// The longest head that is written: the fixed part, all sections, the checksum.
const LONGEST_HEAD: usize = 256;
/// The shortest envelope: a head without sections and an empty payload.
const SHORTEST_ENVELOPE: usize = ALIGNMENT + SUM_BYTES;

const HASHER: u16 = 1;
const DESIGN: u16 = 2;
const SHAPE: u16 = 3;

/// Head of an envelope: kind, hasher, shape, and length of the payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// Kind of the structure. An unknown kind has no name.
    pub kind: Kind,
    /// Hasher of the structure, if it has one.
    pub hasher: Option<StoredHasher>,
    /// Shape and design.
    pub shape: Shape,
    /// Length of the payload in bytes.
    pub payload_bytes: u64,
    /// Offset of the envelope from the start of the outermost one.
    at: u64,
    /// Length of the head in bytes.
    head_bytes: usize,
}

impl Header {
    /// Length of the fixed part of a head in bytes.
    pub(super) const FIXED_BYTES: usize = 24;

    const VERSION_AT: usize = 8;
    const KIND_AT: usize = 10;
    const HEAD_BYTES_AT: usize = 12;
    const ENVELOPE_BYTES_AT: usize = 16;

    /// Reads the head of an envelope and verifies its checksum. Does not look at what follows.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Examples
    /// ```
    /// use pds_core::bytes::Header;
    /// use pds_core::error::DecodeErrorKind;
    ///
    /// let error = Header::peek(&[]).unwrap_err();
    /// assert_eq!(error.kind(), DecodeErrorKind::Truncated);
    /// assert_eq!(error.to_string(), "the input ends too early: 0 of at least 72 bytes are there");
    /// ```
    pub fn peek(bytes: &[u8]) -> Result<Self, DecodeError> {
        let head_bytes = Self::peek_head_bytes(bytes, 0)?;
        Self::parse(bytes.get(..head_bytes).unwrap_or(bytes), head_bytes, 0)
    }

    /// Returns the offset of the envelope: 0, unless it is nested in another one.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.at
    }

    /// Returns the offset of the kind.
    #[doc(hidden)]
    #[must_use]
    pub const fn kind_offset(&self) -> u64 {
        self.at + Self::KIND_AT as u64
    }

    /// Returns the offset of the payload.
    #[must_use]
    pub const fn payload_offset(&self) -> u64 {
        self.at + self.head_bytes as u64
    }

    /// Returns the offset of the end of the payload, where its checksum follows.
    #[must_use]
    pub const fn payload_end(&self) -> u64 {
        self.payload_offset() + self.payload_bytes
    }

    /// Returns the length of the whole envelope in bytes.
    #[must_use]
    pub const fn envelope_bytes(&self) -> u64 {
        (self.head_bytes + SUM_BYTES) as u64 + self.payload_bytes
    }

    /// Length of the head in bytes.
    pub(super) const fn head_bytes(&self) -> usize {
        self.head_bytes
    }

    /// Returns the header of a structure.
    pub(super) fn of<P: Portable>(structure: &P, key: SecretKey) -> Self {
        let mut header = Self {
            kind: P::KIND,
            hasher: structure.portable_hasher().stored(key),
            shape: structure.shape(),
            payload_bytes: structure.payload_bytes(),
            at: 0,
            head_bytes: 0,
        };
        header.head_bytes = header.write_sections().1;
        header
    }

    /// Passes the bytes of the head to `write`.
    pub(super) fn write<T>(&self, write: impl FnOnce(&[u8]) -> T) -> T {
        let (mut head, head_bytes) = self.write_sections();
        let mut put = |at: usize, bytes: &[u8]| head[at..][..bytes.len()].copy_from_slice(bytes);
        let stated = u32::try_from(head_bytes).expect("at most the longest head");
        put(0, &MAGIC);
        put(Self::VERSION_AT, &VERSION.to_le_bytes());
        put(Self::KIND_AT, &self.kind.id().to_le_bytes());
        put(Self::HEAD_BYTES_AT, &stated.to_le_bytes());
        put(Self::ENVELOPE_BYTES_AT, &self.envelope_bytes().to_le_bytes());
        let (covered, sum) = head[..head_bytes].split_last_chunk_mut().expect("a checksum's room");
        *sum = xxh3_64(covered).to_le_bytes();
        write(&head[..head_bytes])
    }

    /// Returns a head with only the sections written, and its length.
    fn write_sections(&self) -> ([u8; LONGEST_HEAD], usize) {
        let (mut head, mut position) = ([0; LONGEST_HEAD], Self::FIXED_BYTES);
        if let Some(hasher) = self.hasher {
            put(&mut head, &mut position, HASHER, &hasher.to_bytes());
        }
        let (items, rate) = (self.shape.expected_items(), self.shape.promised_rate());
        if items.is_some() || rate.is_some() {
            let design = [items.unwrap_or(0).to_le_bytes(), rate.unwrap_or(0.0).to_le_bytes()];
            put(&mut head, &mut position, DESIGN, design.as_flattened());
        }
        let numbers = self.shape.as_slice();
        if !numbers.is_empty() {
            let mut bytes = [[0; 8]; Shape::MAX_NUMBERS];
            for (bytes, number) in bytes.iter_mut().zip(numbers) {
                *bytes = number.to_le_bytes();
            }
            put(&mut head, &mut position, SHAPE, bytes[..numbers.len()].as_flattened());
        }
        (head, Self::least_head(position))
    }

    /// Returns the least length of a head whose last section ends at `position`.
    const fn least_head(position: usize) -> usize {
        (position + SUM_BYTES).next_multiple_of(ALIGNMENT)
    }

    /// Reads the fixed part of the head at offset `at`, as far as it is present. Returns the length of the head.
    pub(super) fn peek_head_bytes(bytes: &[u8], at: u64) -> Result<usize, DecodeError> {
        if let Some(found) = bytes.first_chunk()
            && *found != MAGIC
        {
            return Err(DecodeError(DecodeFault::Magic { offset: at, found: *found }));
        }
        let Some(fixed) = bytes.first_chunk::<{ Self::FIXED_BYTES }>() else {
            let offset = at + bytes.len() as u64;
            return Err(DecodeError(DecodeFault::Truncated {
                offset,
                expected: at + SHORTEST_ENVELOPE as u64,
            }));
        };
        let found = u16::from_le_bytes(bytes_at(fixed, Self::VERSION_AT));
        if found != VERSION {
            let offset = at + Self::VERSION_AT as u64;
            return Err(DecodeError(DecodeFault::Version { offset, expected: VERSION, found }));
        }
        let found = u32::from_le_bytes(bytes_at(fixed, Self::HEAD_BYTES_AT));
        match usize::try_from(found) {
            Ok(length @ ALIGNMENT..=MAX_HEAD) if length.is_multiple_of(ALIGNMENT) => Ok(length),
            _ => Err(bad_head_bytes(at, found.into(), "a multiple of 64 from 64 to 4096")),
        }
    }

    /// Reads a head at offset `at`, whose fixed part states a length of `head_bytes`.
    pub(super) fn parse(bytes: &[u8], head_bytes: usize, at: u64) -> Result<Self, DecodeError> {
        if bytes.len() < head_bytes {
            let (offset, expected) = (at + bytes.len() as u64, at + head_bytes as u64);
            return Err(DecodeError(DecodeFault::Truncated { offset, expected }));
        }
        let (head, sum) = bytes.split_last_chunk().expect("a head has a checksum");
        check_sum("header", at + head.len() as u64, xxh3_64(head), u64::from_le_bytes(*sum))?;
        let fixed = head.first_chunk::<{ Self::FIXED_BYTES }>().expect("a head has a fixed part");
        let envelope_bytes = u64::from_le_bytes(bytes_at(fixed, Self::ENVELOPE_BYTES_AT));
        let payload_bytes = envelope_bytes.checked_sub((head_bytes + SUM_BYTES) as u64);
        let mut header = Self {
            kind: Kind::from_id(u16::from_le_bytes(bytes_at(fixed, Self::KIND_AT))),
            hasher: None,
            shape: Shape::new([]),
            payload_bytes: payload_bytes.ok_or(DecodeError(DecodeFault::Field {
                name: "the length of the envelope",
                offset: at + Self::ENVELOPE_BYTES_AT as u64,
                found: envelope_bytes,
                allowed: "at least that of its head and a checksum",
            }))?,
            at,
            head_bytes,
        };
        header.parse_sections(head)?;
        Ok(header)
    }

    fn parse_sections(&mut self, head: &[u8]) -> Result<(), DecodeError> {
        let mut sections = Sections::new(head, self.at);
        let mut design = (None, None);
        let first = self.at + Self::FIXED_BYTES as u64;
        let (mut design_at, mut numbers_at) = (first, first);
        while let Some(section) = sections.next()? {
            match section.tag {
                HASHER => self.hasher = Some(StoredHasher::parse(&section)?),
                DESIGN => (design, design_at) = (parse_design(&section)?, section.at),
                SHAPE => (self.shape, numbers_at) = (parse_shape(&section)?, section.at),
                _ => return Err(section.fault(SectionFault::Unknown)),
            }
        }
        let (items, rate) = design;
        self.shape = self.shape.with_design(items, rate).read_at(numbers_at, design_at);
        if self.head_bytes == Self::least_head(sections.position()) {
            return Ok(());
        }
        let allowed = "the least multiple of 64 that holds the sections and a checksum";
        Err(bad_head_bytes(self.at, self.head_bytes as u64, allowed))
    }

    /// Checks that the header belongs to a `P`: kind, shape, and a payload length that the shape allows.
    pub(super) fn expect<P: Portable>(&self) -> Result<(), DecodeError> {
        if self.kind != P::KIND {
            let offset = self.kind_offset();
            return Err(DecodeError(DecodeFault::Kind {
                offset,
                expected: P::KIND,
                found: self.kind,
            }));
        }
        let range = P::payload_range(&self.shape)?;
        let (min, max, found) = (*range.start(), *range.end(), self.payload_bytes);
        if range.contains(&found) {
            return Ok(());
        }
        Err(DecodeError(DecodeFault::PayloadLength {
            offset: self.envelope_bytes_offset(),
            min,
            max,
            found,
        }))
    }

    /// Returns an error if the envelope is longer than the `left` bytes around it.
    pub(super) fn expect_within(&self, left: u64) -> Result<(), DecodeError> {
        let found = self.envelope_bytes();
        if found <= left {
            return Ok(());
        }
        let (name, offset) = ("the length of the envelope", self.envelope_bytes_offset());
        let allowed = "within the payload that holds it";
        Err(DecodeError::invalid(name, offset, found, allowed))
    }

    /// Returns an error if the envelope is longer than `limit`.
    pub(super) fn expect_at_most(&self, limit: u64) -> Result<(), DecodeError> {
        let (offset, found) = (self.envelope_bytes_offset(), self.envelope_bytes());
        if found <= limit {
            Ok(())
        } else {
            Err(DecodeError(DecodeFault::Limit { offset, limit, found }))
        }
    }

    const fn envelope_bytes_offset(&self) -> u64 {
        self.at + Self::ENVELOPE_BYTES_AT as u64
    }

    /// Returns an error about the section of the hasher.
    pub(super) const fn hasher_fault(&self, fault: SectionFault) -> DecodeError {
        // The section of the hasher comes first.
        let offset = self.at + Self::FIXED_BYTES as u64;
        DecodeError(DecodeFault::Section { offset, tag: HASHER, fault })
    }
}

type Design = (Option<u64>, Option<f64>);

fn parse_design(section: &Section<'_>) -> Result<Design, DecodeError> {
    let bytes = section.exactly::<16>("16 bytes")?;
    let items = u64::from_le_bytes(bytes_at(bytes, 0));
    let bits = u64::from_le_bytes(bytes_at(bytes, 8));
    let rate = f64::from_bits(bits);
    let field = |name, at, found, allowed| {
        Err(DecodeError(DecodeFault::Field { name, offset: section.at + at, found, allowed }))
    };
    if bits != 0 && !(rate > 0.0 && rate < 1.0) {
        let allowed = "0 for none, or a number above 0 and below 1";
        return field("the promised rate (as bits)", 8, bits, allowed);
    }
    if items == 0 && bits == 0 {
        return field("the expected items", 0, 0, "at least 1 where no rate is stated");
    }
    Ok(((items != 0).then_some(items), (bits != 0).then_some(rate)))
}

fn parse_shape(section: &Section<'_>) -> Result<Shape, DecodeError> {
    match section.bytes.as_chunks() {
        (numbers, []) if (1..=Shape::MAX_NUMBERS).contains(&numbers.len()) => {
            Ok(Shape::of_slice(numbers))
        }
        _ => Err(section.bad_length("8 bytes for each of 1 to 16 numbers")),
    }
}

fn bad_head_bytes(at: u64, found: u64, allowed: &'static str) -> DecodeError {
    let offset = at + Header::HEAD_BYTES_AT as u64;
    DecodeError(DecodeFault::Field { name: "the length of the head", offset, found, allowed })
}

/// Compares a checksum with the one stored at `offset`.
pub(super) fn check_sum(
    part: &'static str,
    offset: u64,
    expected: u64,
    found: u64,
) -> Result<(), DecodeError> {
    if expected == found {
        Ok(())
    } else {
        Err(DecodeError(DecodeFault::Checksum { part, offset, expected, found }))
    }
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    core::array::from_fn(|i| bytes[at + i])
}
