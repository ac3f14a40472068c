use core::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64;

use super::header::{Header, check_sum};
use super::level::padding_at;
use super::reader::Reader;
use super::{OpenEnvelope, Portable};
use crate::error::DecodeError;
use crate::internal::DecodeFault;

/// Envelope in bytes that it owns or borrows: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map.
///
/// Opening verifies the head and the length, but not the payload. If the bytes change later, answers may be wrong, but
/// no read leaves the bytes.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use pds_core::bytes::Envelope;
///
/// /// Keeps the bytes that were received, without a copy.
/// fn receive(bytes: Arc<[u8]>) -> Result<Envelope<Arc<[u8]>>, pds_core::error::DecodeError> {
///     let envelope = Envelope::open(bytes)?;
///     envelope.verify()?;
///     Ok(envelope)
/// }
/// assert!(receive(Arc::from(*b"no envelope")).is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Envelope<B> {
    bytes: B,
    header: Header,
    /// Number of envelopes around this one.
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
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bytes: B) -> Result<Self, DecodeError> {
        let header = Header::peek(bytes.as_ref())?;
        check_length(&header, bytes.as_ref().len() as u64)?;
        Ok(Self { bytes, header, depth: 0 })
    }

    /// Checks by the head that the envelope contains a `P`: kind, shape, and a payload length that the shape allows.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    pub fn expect<P: Portable>(&self) -> Result<(), DecodeError> {
        self.header.expect::<P>()
    }

    /// Returns the header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the payload. [`open`](Self::open) did not verify its checksum.
    ///
    /// Empty if the bytes have become shorter.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        parts(self.bytes.as_ref(), &self.header).0
    }

    /// Returns the checksum of the payload, which [`open`](Self::open) did not verify.
    pub(super) fn sum(&self) -> u64 {
        u64::from_le_bytes(parts(self.bytes.as_ref(), &self.header).1)
    }

    /// Verifies the checksum of the payload, which covers nested envelopes.
    ///
    /// # Errors
    /// [`Checksum`](crate::error::DecodeErrorKind::Checksum) if it is wrong.
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

    /// Returns the same envelope in equal bytes. Others give wrong answers, as bytes that change do.
    #[doc(hidden)]
    #[must_use]
    pub fn map_bytes<C: AsRef<[u8]>>(self, wrap: impl FnOnce(B) -> C) -> Envelope<C> {
        let (header, depth) = (self.header, self.depth);
        Envelope { bytes: wrap(self.bytes), header, depth }
    }

    /// Borrows the envelope. Use it to reach [nested envelopes](Envelope::nested_at).
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
    /// Opens an envelope that this library has just written.
    pub(crate) fn written(bytes: &'a [u8]) -> Self {
        Self::open(bytes).expect("bytes that were just written")
    }

    /// Returns the payload for as long as the bytes are there.
    #[doc(hidden)]
    #[must_use]
    pub fn borrowed_payload(&self) -> &'a [u8] {
        parts(self.bytes, &self.header).0
    }

    /// Opens the envelope nested in the payload at `position`, or after the zeros there.
    ///
    /// Returns the envelope and the position of its end, where the next one may follow.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset: [`Invalid`](crate::error::DecodeErrorKind::Invalid) if the envelope is nested
    /// deeper than [`MAX_NESTING`](crate::bytes::MAX_NESTING).
    ///
    /// # Complexity
    /// Constant.
    pub fn nested_at(&self, position: u64) -> Result<(Self, u64), DecodeError> {
        let (payload, start) = (self.borrowed_payload(), self.header.payload_offset());
        let behind = usize::try_from(position).ok().and_then(|at| payload.get(at..));
        let behind = behind.ok_or_else(|| {
            let len = payload.len() as u64;
            DecodeError(DecodeFault::PayloadEnd {
                offset: start + len,
                needed: position - len,
                left: 0,
            })
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

/// Returns payload and checksum. Empty and zero if the length of the bytes has changed since they were opened.
fn parts<'a>(bytes: &'a [u8], header: &Header) -> (&'a [u8], [u8; 8]) {
    let behind = bytes.get(header.head_bytes()..).unwrap_or_default();
    match behind.split_last_chunk() {
        Some((payload, sum)) if payload.len() as u64 == header.payload_bytes => (payload, *sum),
        _ => (&[], [0; 8]),
    }
}

/// Checks that an envelope ends at the end of its input, after `found` bytes.
pub(super) fn check_length(header: &Header, found: u64) -> Result<(), DecodeError> {
    let expected = header.envelope_bytes();
    match found.cmp(&expected) {
        Ordering::Less => Err(DecodeError(DecodeFault::Truncated { offset: found, expected })),
        Ordering::Equal => Ok(()),
        Ordering::Greater => {
            Err(DecodeError(DecodeFault::Trailing { offset: expected, found: found - expected }))
        }
    }
}

/// Checks that only the lowest `used` bits of the word at `offset` are set. `used` = 0 means all 64.
///
/// # Errors
/// [`Invalid`](crate::error::DecodeErrorKind::Invalid).
pub const fn check_padding(offset: u64, used: u64, word: u64) -> Result<(), DecodeError> {
    if used == 0 || word >> used == 0 {
        return Ok(());
    }
    Err(DecodeError(DecodeFault::Padding { offset, found: word }))
}
