use core::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64;

use super::header::check_sum;
use super::sink::Summing;
use super::source::Source;
use super::{Header, Portable};
use crate::error::DecodeError;
use crate::hash::{PortableHasher, probe};

/// Length of the checksum behind a payload, in bytes.
const SUM_BYTES: u64 = 8;

/// An envelope in borrowed bytes: the header is verified, the length is right, the payload is not looked at.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    header: Header,
    payload: &'a [u8],
    sum: [u8; 8],
}

impl<'a> Envelope<'a> {
    /// Opens an envelope that fills `bytes` exactly.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let header = Header::peek(bytes)?;
        check_length(&header, bytes.len() as u64)?;
        let (payload, end) = bytes[Header::BYTES..].split_at(bytes.len() - Header::BYTES - 8);
        let mut sum = [0; 8];
        sum.copy_from_slice(end);
        Ok(Self { header, payload, sum })
    }

    /// Opens an envelope as [`open`](Self::open) does, which must hold a `P` by its header.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    pub fn open_as<P: Portable>(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let envelope = Self::open(bytes)?;
        check_shape::<P>(&envelope.header)?;
        Ok(envelope)
    }

    /// Returns the header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the payload, whose checksum was not verified by [`open`](Self::open).
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Verifies the payload's checksum.
    ///
    /// # Errors
    /// [`DecodeError::Checksum`] when it does not fit.
    ///
    /// # Complexity
    /// O(length of the payload).
    pub fn verify(&self) -> Result<(), DecodeError> {
        check_payload_sum(&self.header, xxh3_64(self.payload), self.sum)
    }
}

impl Envelope<'_> {
    /// Decodes the structure, verifying all of it.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where; [`KeyMissing`](DecodeError::KeyMissing) when a
    /// secret key was left out and `hasher` is `None`.
    pub fn decode<P: Portable>(&self, hasher: Option<P::Hasher>) -> Result<P, DecodeError> {
        let (structure, expected) = decode_payload(&self.header, hasher, &mut { self.payload })?;
        check_payload_sum(&self.header, expected, self.sum)?;
        Ok(structure)
    }
}

/// Decodes a structure from bytes that hold it and nothing else.
///
/// # Errors
/// [`DecodeError`] says what is wrong and where.
pub fn from_slice<P: Portable>(bytes: &[u8], hasher: Option<P::Hasher>) -> Result<P, DecodeError> {
    Envelope::open_as::<P>(bytes)?.decode(hasher)
}

/// Decodes what follows a header, whose shape was checked, in a source.
#[cfg(feature = "std")]
pub(super) fn decode<P: Portable, S: Source>(
    header: &Header,
    hasher: Option<P::Hasher>,
    source: &mut S,
) -> Result<P, S::Error> {
    let (structure, expected) = decode_payload(header, hasher, source)?;
    let mut sum = [0; 8];
    source.take(&mut sum)?;
    check_payload_sum(header, expected, sum)?;
    Ok(structure)
}

/// Decodes a payload. Returns the checksum that it ought to have, too.
fn decode_payload<P: Portable, S: Source>(
    header: &Header,
    hasher: Option<P::Hasher>,
    source: &mut S,
) -> Result<(P, u64), S::Error> {
    let hasher = hasher_of(header, hasher)?;
    let mut summing = Summing::new(source);
    let structure = P::read_payload(&header.shape, hasher, &mut summing)?;
    Ok((structure, summing.sum()))
}

/// Checks kind and shape, and that the payload has the length that follows from them.
pub(super) fn check_shape<P: Portable>(header: &Header) -> Result<(), DecodeError> {
    header.expect_kind(P::KIND)?;
    header.expect_payload_bytes(P::payload_bytes(&header.shape)?)
}

/// Checks that an envelope ends where its input does, after `found` bytes.
pub(super) fn check_length(header: &Header, found: u64) -> Result<(), DecodeError> {
    let expected = end_of(header)?;
    match found.cmp(&expected) {
        Ordering::Less => Err(DecodeError::Truncated { offset: found, expected }),
        Ordering::Equal => Ok(()),
        Ordering::Greater => {
            Err(DecodeError::Trailing { offset: expected, found: found - expected })
        }
    }
}

/// Returns the hasher that a header asks for, the one given or the one in the header.
///
/// # Errors
/// [`DecodeError`] for another hash function, a key that is missing and a key that is wrong.
pub fn hasher_of<S: PortableHasher>(header: &Header, given: Option<S>) -> Result<S, DecodeError> {
    if header.hasher_id != S::ID {
        let offset = Header::HASHER_AT as u64;
        return Err(DecodeError::Hasher { offset, expected: S::ID, found: header.hasher_id });
    }
    let hasher = match (given, header.seed) {
        (Some(hasher), _) => hasher,
        (None, None) => return Err(DecodeError::KeyMissing),
        (None, Some(seed)) => S::from_seed(seed).ok_or(DecodeError::Field {
            name: "the upper half of the seed",
            offset: Header::SEED_AT as u64 + 8,
            found: u64::from_le_bytes(core::array::from_fn(|i| seed[8 + i])),
            allowed: "a seed of this hasher",
        })?,
    };
    let expected = probe(&hasher);
    if header.probe != expected {
        let offset = Header::PROBE_AT as u64;
        return Err(DecodeError::KeyMismatch { offset, expected, found: header.probe });
    }
    Ok(hasher)
}

/// Refuses bits of the payload's last word that are set beyond the `used` ones, of which 0 stands for all.
///
/// # Errors
/// [`DecodeError::Padding`].
pub fn check_padding(payload_bytes: u64, used: u64, last_word: u64) -> Result<(), DecodeError> {
    if used == 0 || last_word >> used == 0 {
        return Ok(());
    }
    let offset = Header::BYTES as u64 + payload_bytes - 8;
    Err(DecodeError::Padding { offset, found: last_word })
}

/// Where the envelope ends, in bytes from its start.
fn end_of(header: &Header) -> Result<u64, DecodeError> {
    header.payload_bytes.checked_add(Header::BYTES as u64 + SUM_BYTES).ok_or(DecodeError::Field {
        name: "the payload length",
        offset: Header::PAYLOAD_BYTES_AT as u64,
        found: header.payload_bytes,
        allowed: "below 2^64 together with header and checksum",
    })
}

fn check_payload_sum(header: &Header, expected: u64, sum: [u8; 8]) -> Result<(), DecodeError> {
    let offset = Header::BYTES as u64 + header.payload_bytes;
    check_sum("payload", offset, expected, u64::from_le_bytes(sum))
}
