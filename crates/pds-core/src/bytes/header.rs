use xxhash_rust::xxh3::xxh3_64;

use crate::error::{DecodeError, ParamError};
use crate::kind::Kind;

/// How many numbers a shape has room for.
const SHAPE_FIELDS: usize = 6;

/// Starts every envelope. Like PNG's, it has a byte above 0x7f, a CR LF and a lone LF, so that a transfer
/// in text mode is noticed at once.
const MAGIC: [u8; 8] = *b"\x89PDS\r\n\x1a\n";
const VERSION: u16 = 1;

const SEED_PRESENT: u16 = 1;
const ITEMS_PRESENT: u16 = 2;
const RATE_PRESENT: u16 = 4;

/// The numbers that fix a structure's shape, and the design it was built for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shape {
    /// What the numbers mean is the kind's; unused ones are zero.
    pub numbers: [u64; SHAPE_FIELDS],
    /// How many items the structure was built for. Metadata: no part of equality or compatibility.
    pub expected_items: Option<u64>,
    /// The rate promised for them. Metadata too.
    pub promised_rate: Option<f64>,
}

impl Shape {
    /// Refuses numbers from the one with this index on that are not zero, for they mean nothing.
    ///
    /// # Errors
    /// [`DecodeError::Field`] for the first of them.
    #[doc(hidden)]
    pub fn expect_unused(&self, from: usize) -> Result<(), DecodeError> {
        match (from..).zip(&self.numbers[from..]).find(|(_, number)| **number != 0) {
            None => Ok(()),
            Some((i, &number)) => {
                Err(field("an unused number of the shape", Header::SHAPE_AT + 8 * i, number, "0"))
            }
        }
    }

    /// Refuses a design, for a structure that states none: what is read would be written otherwise.
    ///
    /// # Errors
    /// [`DecodeError::Field`] for the expected items or the promised rate.
    #[doc(hidden)]
    pub fn expect_no_design(&self) -> Result<(), DecodeError> {
        match (self.expected_items, self.promised_rate) {
            (None, None) => Ok(()),
            (Some(items), _) => Err(field("the expected items", Header::ITEMS_AT, items, "absent")),
            (None, Some(rate)) => {
                let name = "the promised rate (as bits)";
                Err(field(name, Header::RATE_AT, rate.to_bits(), "absent"))
            }
        }
    }

    /// Wraps what is wrong with the numbers.
    #[doc(hidden)]
    #[must_use]
    pub const fn error(error: ParamError) -> DecodeError {
        DecodeError::Shape { offset: Header::SHAPE_AT as u64, error }
    }
}

/// What stands in front of a payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// What the payload is.
    pub kind: Kind,
    /// The hash function, as [`PortableHasher::ID`](crate::PortableHasher::ID).
    pub hasher_id: u16,
    /// The hasher's seed; `None` when it is a secret that was left out.
    pub seed: Option<[u8; 16]>,
    /// The hash of the [probe key](crate::hash::probe), which tells a wrong key.
    pub probe: u64,
    /// The shape and the design.
    pub shape: Shape,
    /// Length of the payload in bytes.
    pub payload_bytes: u64,
}

impl Header {
    /// Length of a header in bytes.
    pub const BYTES: usize = 128;

    /// Offset of the version field.
    const VERSION_AT: usize = 8;
    const KIND_AT: usize = 10;
    pub(super) const HASHER_AT: usize = 12;
    const FLAGS_AT: usize = 14;
    pub(super) const PROBE_AT: usize = 16;
    pub(super) const SEED_AT: usize = 24;
    const ITEMS_AT: usize = 40;
    const RATE_AT: usize = 48;
    pub(super) const SHAPE_AT: usize = 56;
    const RESERVED_AT: usize = Self::SHAPE_AT + 8 * SHAPE_FIELDS;
    pub(super) const PAYLOAD_BYTES_AT: usize = 112;
    const CHECKSUM_AT: usize = 120;

    /// Reads the header of an envelope and verifies its checksum; what follows it is not looked at.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    ///
    /// # Examples
    /// ```
    /// use pds_core::bytes::Header;
    /// use pds_core::DecodeError;
    ///
    /// assert_eq!(Header::peek(&[]), Err(DecodeError::Truncated { offset: 0, expected: 128 }));
    /// ```
    pub fn peek(bytes: &[u8]) -> Result<Self, DecodeError> {
        if let Some(start) = bytes.first_chunk()
            && *start != MAGIC
        {
            return Err(DecodeError::Magic { found: *start });
        }
        let Some(header) = bytes.first_chunk() else {
            let offset = bytes.len() as u64;
            return Err(DecodeError::Truncated { offset, expected: Self::BYTES as u64 });
        };
        Self::parse(header)
    }

    /// Returns the bytes of the header.
    #[doc(hidden)]
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(Self::VERSION_AT, &VERSION.to_le_bytes());
        put(Self::KIND_AT, &self.kind.id().to_le_bytes());
        put(Self::HASHER_AT, &self.hasher_id.to_le_bytes());
        put(Self::FLAGS_AT, &self.flags().to_le_bytes());
        put(Self::PROBE_AT, &self.probe.to_le_bytes());
        put(Self::SEED_AT, &self.seed.unwrap_or_default());
        put(Self::ITEMS_AT, &self.shape.expected_items.unwrap_or_default().to_le_bytes());
        put(Self::RATE_AT, &self.shape.promised_rate.unwrap_or_default().to_le_bytes());
        for (i, number) in self.shape.numbers.iter().enumerate() {
            put(Self::SHAPE_AT + 8 * i, &number.to_le_bytes());
        }
        put(Self::PAYLOAD_BYTES_AT, &self.payload_bytes.to_le_bytes());
        let checksum = xxh3_64(&out[..Self::CHECKSUM_AT]);
        out[Self::CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        out
    }

    fn flags(&self) -> u16 {
        let flag = |present: bool, flag| if present { flag } else { 0 };
        flag(self.seed.is_some(), SEED_PRESENT)
            | flag(self.shape.expected_items.is_some(), ITEMS_PRESENT)
            | flag(self.shape.promised_rate.is_some(), RATE_PRESENT)
    }

    /// Reads the fields; the magic bytes are known to be right.
    fn parse(bytes: &[u8; Self::BYTES]) -> Result<Self, DecodeError> {
        let found = u16_at(bytes, Self::VERSION_AT);
        if found != VERSION {
            let offset = Self::VERSION_AT as u64;
            return Err(DecodeError::Version { offset, expected: VERSION, found });
        }
        check_sum(
            "header",
            Self::CHECKSUM_AT as u64,
            xxh3_64(&bytes[..Self::CHECKSUM_AT]),
            u64_at(bytes, Self::CHECKSUM_AT),
        )?;
        let flags = u16_at(bytes, Self::FLAGS_AT);
        if flags >= 2 * RATE_PRESENT {
            return Err(field(
                "flags",
                Self::FLAGS_AT,
                u64::from(flags),
                "a sum of 1 (seed), 2 (expected items) and 4 (promised rate)",
            ));
        }
        if u64_at(bytes, Self::RESERVED_AT) != 0 {
            return Err(field(
                "the reserved field",
                Self::RESERVED_AT,
                u64_at(bytes, Self::RESERVED_AT),
                "0",
            ));
        }
        Ok(Self {
            kind: Self::parse_kind(bytes)?,
            hasher_id: u16_at(bytes, Self::HASHER_AT),
            seed: Self::parse_seed(bytes, flags)?,
            probe: u64_at(bytes, Self::PROBE_AT),
            shape: Self::parse_shape(bytes, flags)?,
            payload_bytes: u64_at(bytes, Self::PAYLOAD_BYTES_AT),
        })
    }

    fn parse_kind(bytes: &[u8; Self::BYTES]) -> Result<Kind, DecodeError> {
        let id = u16_at(bytes, Self::KIND_AT);
        Kind::from_id(id).ok_or_else(|| {
            field("the kind of structure", Self::KIND_AT, u64::from(id), "a known one")
        })
    }

    fn parse_seed(bytes: &[u8; Self::BYTES], flags: u16) -> Result<Option<[u8; 16]>, DecodeError> {
        let seed = bytes_at::<16>(bytes, Self::SEED_AT);
        if flags & SEED_PRESENT != 0 {
            return Ok(Some(seed));
        }
        match u128::from_le_bytes(seed) {
            0 => Ok(None),
            _ => Err(field(
                "the seed that is left out",
                Self::SEED_AT,
                u64_at(bytes, Self::SEED_AT),
                "0",
            )),
        }
    }

    fn parse_shape(bytes: &[u8; Self::BYTES], flags: u16) -> Result<Shape, DecodeError> {
        let items = u64_at(bytes, Self::ITEMS_AT);
        let rate = u64_at(bytes, Self::RATE_AT);
        let with_items = flags & ITEMS_PRESENT != 0;
        if with_items != (items != 0) {
            let allowed = if with_items { "at least 1" } else { "0, for none are stated" };
            return Err(field("the expected items", Self::ITEMS_AT, items, allowed));
        }
        let with_rate = flags & RATE_PRESENT != 0;
        let value = f64::from_bits(rate);
        let sound = if with_rate { value > 0.0 && value < 1.0 } else { rate == 0 };
        if !sound {
            let allowed =
                if with_rate { "a number above 0 and below 1" } else { "0, for none is stated" };
            return Err(field("the promised rate (as bits)", Self::RATE_AT, rate, allowed));
        }
        Ok(Shape {
            numbers: core::array::from_fn(|i| u64_at(bytes, Self::SHAPE_AT + 8 * i)),
            expected_items: with_items.then_some(items),
            promised_rate: with_rate.then_some(value),
        })
    }

    /// Refuses another kind than the one asked for.
    pub(super) fn expect_kind(&self, kind: Kind) -> Result<(), DecodeError> {
        if self.kind == kind {
            return Ok(());
        }
        let offset = Self::KIND_AT as u64;
        Err(DecodeError::Kind { offset, expected: kind, found: self.kind })
    }

    /// Refuses another payload length than the one that follows from the shape.
    pub(super) fn expect_payload_bytes(&self, expected: u64) -> Result<(), DecodeError> {
        if self.payload_bytes == expected {
            return Ok(());
        }
        let offset = Self::PAYLOAD_BYTES_AT as u64;
        Err(DecodeError::PayloadLength { offset, expected, found: self.payload_bytes })
    }
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
        Err(DecodeError::Checksum { part, offset, expected, found })
    }
}

/// A field that holds an impossible value.
fn field(name: &'static str, at: usize, found: u64, allowed: &'static str) -> DecodeError {
    DecodeError::Field { name, offset: at as u64, found, allowed }
}

fn bytes_at<const N: usize>(bytes: &[u8; Header::BYTES], at: usize) -> [u8; N] {
    core::array::from_fn(|i| bytes[at + i])
}

fn u16_at(bytes: &[u8; Header::BYTES], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(bytes, at))
}

fn u64_at(bytes: &[u8; Header::BYTES], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(bytes, at))
}
