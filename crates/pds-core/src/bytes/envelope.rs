use core::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64;

use super::header::{Header, check_sum};
use super::level::padding_at;
use super::reader::Reader;
use super::{OpenEnvelope, Portable};
use crate::error::DecodeError;

/// An envelope in bytes that it owns or borrows: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map.
///
/// Opening verifies the head and the length; the payload is not looked at. Bytes that change later are the
/// caller's affair: answers may then be wrong, and never is anything read outside of them.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use pds_core::bytes::Envelope;
///
/// /// Keeps what was received, in whatever it came.
/// fn receive(bytes: Arc<[u8]>) -> Result<Envelope<Arc<[u8]>>, pds_core::DecodeError> {
///     let envelope = Envelope::open(bytes)?;
///     envelope.verify()?;
///     Ok(envelope)
/// }
/// assert!(receive(Arc::from(*b"nothing of the sort")).is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Envelope<B> {
    bytes: B,
    header: Header,
    /// How many envelopes lie around this one.
    depth: usize,
}

impl<B> Envelope<B> {
    /// Returns the bytes.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        &self.bytes
    }
}

impl<B: AsRef<[u8]>> Envelope<B> {
    /// Opens an envelope that fills `bytes` exactly.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bytes: B) -> Result<Self, DecodeError> {
        let header = Header::peek(bytes.as_ref())?;
        check_length(&header, bytes.as_ref().len() as u64)?;
        Ok(Self { bytes, header, depth: 0 })
    }

    /// Checks that the envelope holds a `P` by its head: kind, shape, and a length of payload that the shape allows.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    pub fn expect<P: Portable>(&self) -> Result<(), DecodeError> {
        self.header.expect::<P>()
    }

    /// Returns the header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the payload, whose checksum was not verified by [`open`](Self::open).
    ///
    /// Empty where the bytes have become shorter.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        parts(self.bytes.as_ref(), &self.header).0
    }

    /// Verifies the payload's checksum, which covers the envelopes nested in it.
    ///
    /// # Errors
    /// [`DecodeError::Checksum`] when it does not fit.
    ///
    /// # Complexity
    /// O(length of the payload).
    pub fn verify(&self) -> Result<(), DecodeError> {
        let (payload, sum) = parts(self.bytes.as_ref(), &self.header);
        let offset = self.header.payload_end();
        check_sum("payload", offset, xxh3_64(payload), u64::from_le_bytes(sum))
    }

    /// Decodes the structure with `hasher`, or with the one in the bytes, and verifies all of it.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    pub fn decode<P: Portable>(&self, hasher: Option<P::Hasher>) -> Result<P, DecodeError> {
        self.header.expect::<P>()?;
        let behind = self.bytes.as_ref().get(self.header.head_bytes()..).unwrap_or_default();
        let mut reader = Reader::new(behind, self.header.payload_offset(), self.depth);
        reader.structure(&self.header, hasher)
    }

    /// Borrows the envelope, to [go on](Envelope::nested_at) to those nested in it.
    #[must_use]
    pub fn borrowed(&self) -> Envelope<&[u8]> {
        Envelope { bytes: self.bytes.as_ref(), header: self.header, depth: self.depth }
    }
}

impl<B: AsRef<[u8]>> OpenEnvelope for Envelope<B> {
    type Error = DecodeError;

    fn header(&self) -> &Header {
        &self.header
    }

    fn into_structure<P: Portable>(self, hasher: Option<P::Hasher>) -> Result<P, DecodeError> {
        self.decode(hasher)
    }
}

impl<'a> Envelope<&'a [u8]> {
    /// Returns the payload for as long as the bytes are there.
    #[doc(hidden)]
    #[must_use]
    pub fn borrowed_payload(&self) -> &'a [u8] {
        parts(self.bytes, &self.header).0
    }

    /// Opens the envelope that is nested in the payload from `position` on, zeros in front of it included.
    ///
    /// Returns it with the position behind it, where the next one may follow.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where; [`Nesting`](DecodeError::Nesting) for an envelope that lies more
    /// than [`MAX_NESTING`](crate::bytes::MAX_NESTING) deep.
    ///
    /// # Complexity
    /// Constant.
    pub fn nested_at(&self, position: u64) -> Result<(Self, u64), DecodeError> {
        let (payload, start) = (self.borrowed_payload(), self.header.payload_offset());
        let behind = usize::try_from(position).ok().and_then(|at| payload.get(at..));
        let behind = behind.ok_or(DecodeError::PayloadEnd {
            offset: start + self.header.payload_bytes,
            needed: position,
            left: payload.len() as u64,
        })?;
        let mut reader = Reader::new(behind, start + position, self.depth);
        reader.open(&self.header);
        let header = reader.nested_head()?;
        let next = header.offset() - start + header.envelope_bytes();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it ends in the payload, which is in memory"
        )]
        let bytes = &behind[padding_at(position)..(next - position) as usize];
        Ok((Self { bytes, header, depth: self.depth + 1 }, next))
    }
}

/// Payload and checksum; empty and zero where the bytes are no longer those that were opened.
fn parts<'a>(bytes: &'a [u8], header: &Header) -> (&'a [u8], [u8; 8]) {
    let behind = bytes.get(header.head_bytes()..).unwrap_or_default();
    match behind.split_last_chunk() {
        Some((payload, sum)) if payload.len() as u64 == header.payload_bytes => (payload, *sum),
        _ => (&[], [0; 8]),
    }
}

/// Checks that an envelope ends where its input does, after `found` bytes.
pub(super) fn check_length(header: &Header, found: u64) -> Result<(), DecodeError> {
    let expected = header.envelope_bytes();
    match found.cmp(&expected) {
        Ordering::Less => Err(DecodeError::Truncated { offset: found, expected }),
        Ordering::Equal => Ok(()),
        Ordering::Greater => {
            Err(DecodeError::Trailing { offset: expected, found: found - expected })
        }
    }
}

/// Refuses bits of the word at `offset` that are set beyond the `used` ones, of which 0 stands for all.
///
/// # Errors
/// [`DecodeError::Padding`].
pub const fn check_padding(offset: u64, used: u64, word: u64) -> Result<(), DecodeError> {
    if used == 0 || word >> used == 0 {
        return Ok(());
    }
    Err(DecodeError::Padding { offset, found: word })
}
