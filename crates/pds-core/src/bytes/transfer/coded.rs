//! The parts that compressed structures and deltas share: a head, and a payload in coded chunks.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::chunk::{self, CHUNK_BYTES};
use crate::bytes::header::{ALIGNMENT, MAX_HEAD, SUM_BYTES};
use crate::bytes::{Envelope, Header, Shape, Sink, Source};
use crate::error::{AllocError, DecodeError};
use crate::internal::DecodeFault;

/// Length of an entry of the index in bytes.
const ENTRY_BYTES: usize = 2;

/// Greatest payload in bytes.
const MAX_PAYLOAD: u64 = 1 << 61;

/// A head of an envelope, a checksum of a payload, and bits as long as that payload in coded chunks.
#[derive(Clone, Debug)]
pub(super) struct Coded {
    head: Vec<u8>,
    header: Header,
    /// Checksum of the payload that results.
    sum: u64,
    /// Where each body ends in `bodies`.
    ends: Vec<usize>,
    bodies: Vec<u8>,
    /// Offset of the bodies in the bytes that they were read from.
    bodies_at: u64,
}

impl Coded {
    /// Encodes `bits`, which are as long as the payload of an envelope.
    pub(super) fn new(envelope: &Envelope<&[u8]>, bits: &[u8]) -> Self {
        let header = *envelope.header();
        let (mut ends, mut bodies) = (Vec::new(), Vec::new());
        for chunk in bits.chunks(CHUNK_BYTES) {
            chunk::encode(chunk, &mut bodies);
            ends.push(bodies.len());
        }
        let head = envelope.get_ref()[..header.head_bytes()].to_vec();
        Self { head, header, sum: envelope.sum(), ends, bodies, bodies_at: 0 }
    }

    pub(super) const fn header(&self) -> &Header {
        &self.header
    }

    pub(super) const fn sum(&self) -> u64 {
        self.sum
    }

    pub(super) const fn num_chunks(&self) -> usize {
        self.ends.len()
    }

    /// Decodes a chunk into `into`, which has its length.
    ///
    /// # Errors
    /// If the body is that of no chunk.
    ///
    /// # Panics
    /// If there is no such chunk.
    pub(super) fn read_chunk(&self, index: usize, into: &mut [u8]) -> Result<(), DecodeError> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let body = &self.bodies[start..self.ends[index]];
        chunk::decode(body, into).ok_or(DecodeError(DecodeFault::Chunk {
            offset: self.bodies_at + start as u64,
            chunk: index as u64,
            found: body.len() as u64,
        }))
    }

    /// Returns the length of a chunk in bytes. All but the last have the same.
    pub(super) fn chunk_bytes(&self, index: usize) -> usize {
        let left = self.header.payload_bytes - (index * CHUNK_BYTES) as u64;
        usize::try_from(left).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES))
    }

    /// Decodes an envelope whose payload is the bits. Its checksum is not verified.
    ///
    /// # Errors
    /// If a body is that of no chunk, or if the allocator refuses the memory.
    pub(super) fn envelope(&self) -> Result<Vec<u8>, DecodeError> {
        let requested = self.header.envelope_bytes();
        let refused = || DecodeError::from(AllocError { bytes: requested });
        let length = usize::try_from(requested).map_err(|_| refused())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| refused())?;
        bytes.extend(&self.head);
        bytes.resize(length - SUM_BYTES, 0);
        for (index, chunk) in bytes[self.head.len()..].chunks_mut(CHUNK_BYTES).enumerate() {
            self.read_chunk(index, chunk)?;
        }
        bytes.extend(self.sum.to_le_bytes());
        Ok(bytes)
    }

    /// Returns the shape of the envelope that holds this: the length of the payload in bytes.
    pub(super) fn shape(&self) -> Shape {
        Shape::new([self.header.payload_bytes])
    }

    /// Returns the range of lengths of what [`write`](Self::write) writes.
    pub(super) fn range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        shape.expect_no_design()?;
        let bytes = payload_bytes(shape)?;
        let fixed = SUM_BYTES as u64 + ENTRY_BYTES as u64 * bytes.div_ceil(CHUNK_BYTES as u64);
        Ok(fixed + ALIGNMENT as u64..=fixed + MAX_HEAD as u64 + bytes)
    }

    pub(super) fn write<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put(&self.head)?;
        sink.put_u64(self.sum)?;
        let mut start = 0;
        for &end in &self.ends {
            #[expect(clippy::cast_possible_truncation, reason = "at most a chunk")]
            let length = (end - start) as u16;
            sink.put(&length.to_le_bytes())?;
            start = end;
        }
        sink.put(&self.bodies)
    }

    /// Reads what [`write`](Self::write) wrote, without decoding it. Allocates no more than the bytes justify.
    pub(super) fn read<R: Source>(shape: &Shape, source: &mut R) -> Result<Self, R::Error> {
        let (head, header) = read_head(source)?;
        let payload_bytes = payload_bytes(shape)?;
        if header.payload_bytes != payload_bytes {
            let numbers = shape.numbers(NAMES)?;
            return Err(numbers.field(0, "that of the head in the payload").into());
        }
        let sum = source.take_u64()?;
        let (mut ends, mut end) = (Vec::new(), 0_usize);
        for first in (0..payload_bytes).step_by(CHUNK_BYTES) {
            let (offset, longest) =
                (source.offset(), (payload_bytes - first).min(CHUNK_BYTES as u64));
            let mut length = [0; ENTRY_BYTES];
            source.take(&mut length)?;
            let length = u16::from_le_bytes(length);
            if u64::from(length) > longest {
                let (name, allowed) = ("the length of a chunk", "at most that of its bits");
                return Err(DecodeError::invalid(name, offset, length.into(), allowed).into());
            }
            end += usize::from(length);
            ends.push(end);
        }
        let bodies_at = source.offset();
        let bodies = read_bytes(source, end)?;
        Ok(Self { head, header, sum, ends, bodies, bodies_at })
    }
}

impl PartialEq for Coded {
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head
            && self.sum == other.sum
            && self.ends == other.ends
            && self.bodies == other.bodies
    }
}

impl Eq for Coded {}

const NAMES: [&str; 1] = ["the length of the payload"];

/// Returns the length of the payload that a shape states.
fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
    let numbers = shape.numbers(NAMES)?;
    match numbers.values() {
        [bytes @ 0..=MAX_PAYLOAD] => Ok(bytes),
        _ => Err(numbers.field(0, "at most 2^61")),
    }
}

/// Reads the head of an envelope.
fn read_head<R: Source>(source: &mut R) -> Result<(Vec<u8>, Header), R::Error> {
    let (at, mut head) = (source.offset(), [0; MAX_HEAD]);
    let (fixed, rest) = head.split_at_mut(Header::FIXED_BYTES);
    source.take(fixed)?;
    let head_bytes = Header::peek_head_bytes(fixed, at)?;
    source.take(&mut rest[..head_bytes - Header::FIXED_BYTES])?;
    // Twice: errors name offsets in these bytes, and the header those in the structure's own, as one that was written.
    Header::parse(&head[..head_bytes], head_bytes, at)?;
    let header = Header::peek(&head[..head_bytes])?;
    Ok((head[..head_bytes].to_vec(), header))
}

/// Reads bytes, and allocates for those that have arrived only.
fn read_bytes<R: Source>(source: &mut R, length: usize) -> Result<Vec<u8>, R::Error> {
    let mut bytes = Vec::new();
    while bytes.len() < length {
        let start = bytes.len();
        bytes.resize(length.min(start + CHUNK_BYTES), 0);
        source.take(&mut bytes[start..])?;
    }
    Ok(bytes)
}
