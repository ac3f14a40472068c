//! The parts that compressed structures and deltas share: a head, and a payload in coded chunks.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::chunk::{self, CHUNK_BYTES, MAX_BODY_BYTES};
use crate::bytes::header::{ALIGNMENT, MAX_HEAD, SUM_BYTES};
use crate::bytes::{Envelope, Header, Shape, Sink, Source};
use crate::error::{AllocError, DecodeError};
use crate::internal::DecodeFault;

/// Length of an entry of the index in bytes.
const ENTRY_BYTES: usize = 2;

/// Number of chunks in a group. Where its bodies start is kept.
// 8 bytes for 128 KiB of the index. The lengths of a group add up to less than 2^32, within microseconds.
const GROUP: usize = 1 << 16;

/// Greatest payload in bytes.
const MAX_PAYLOAD: u64 = 1 << 61;

/// A head of an envelope, a checksum of a payload, and bits as long as that payload in coded chunks.
#[derive(Clone, Debug)]
pub(super) struct Coded {
    head: Vec<u8>,
    header: Header,
    /// Checksum of the payload that results.
    sum: u64,
    /// Length of each body.
    lengths: Vec<u16>,
    /// Where the first body of each group starts in `bodies`.
    starts: Vec<usize>,
    bodies: Vec<u8>,
    /// Offset of the bodies in the bytes that they were read from.
    bodies_at: u64,
}

impl Coded {
    /// Encodes `bits`, which are as long as the payload of an envelope.
    pub(super) fn new(envelope: &Envelope<&[u8]>, bits: &[u8]) -> Self {
        let header = *envelope.header();
        let (mut lengths, mut starts, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        for group in bits.chunks(GROUP * CHUNK_BYTES) {
            starts.push(bodies.len());
            for chunk in group.chunks(CHUNK_BYTES) {
                let start = bodies.len();
                chunk::encode(chunk, &mut bodies);
                #[expect(clippy::cast_possible_truncation, reason = "at most a chunk")]
                lengths.push((bodies.len() - start) as u16);
            }
        }
        let head = envelope.get_ref()[..header.head_bytes()].to_vec();
        Self { head, header, sum: envelope.sum(), lengths, starts, bodies, bodies_at: 0 }
    }

    pub(super) const fn header(&self) -> &Header {
        &self.header
    }

    pub(super) const fn sum(&self) -> u64 {
        self.sum
    }

    pub(super) const fn num_chunks(&self) -> usize {
        self.lengths.len()
    }

    /// Decodes a chunk.
    ///
    /// # Errors
    /// If the body is not that of a chunk, or if the allocator refuses the memory.
    ///
    /// # Panics
    /// If there is no such chunk.
    pub(super) fn chunk(&self, index: usize) -> Result<Vec<u8>, DecodeError> {
        let chunks = self.num_chunks();
        assert!(
            index < chunks,
            "index out of bounds: there are {chunks} chunks, the index is {index}"
        );
        let (group, len) = (index / GROUP, self.chunk_bytes(index));
        let before: u32 = self.lengths[group * GROUP..index].iter().copied().map(u32::from).sum();
        let (mut chunk, mut scratch) = (reserved(len)?, reserved(MAX_BODY_BYTES)?);
        chunk.resize(len, 0);
        self.read_chunk(index, self.starts[group] + before as usize, &mut chunk, &mut scratch)?;
        Ok(chunk)
    }

    /// Decodes the chunk whose body starts at `start` into `into`, which has its length. Returns the end of the body.
    fn read_chunk(
        &self,
        index: usize,
        start: usize,
        into: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<usize, DecodeError> {
        let end = start + usize::from(self.lengths[index]);
        let body = &self.bodies[start..end];
        chunk::decode(body, into, scratch).ok_or(DecodeError(DecodeFault::Chunk {
            offset: self.bodies_at + start as u64,
            chunk: index as u64,
            found: body.len() as u64,
        }))?;
        Ok(end)
    }

    /// Returns the length of a chunk in bytes. All but the last have the same.
    fn chunk_bytes(&self, index: usize) -> usize {
        let left = self.header.payload_bytes - index as u64 * CHUNK_BYTES as u64;
        usize::try_from(left).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES))
    }

    /// Decodes an envelope whose payload is the bits. Its checksum is not verified.
    ///
    /// # Errors
    /// If a body is not that of a chunk, or if the allocator refuses the memory.
    pub(super) fn envelope(&self) -> Result<Vec<u8>, DecodeError> {
        let length = in_memory(self.header.envelope_bytes())?;
        let (mut bytes, mut scratch) = (reserved(length)?, reserved(MAX_BODY_BYTES)?);
        bytes.extend(&self.head);
        bytes.resize(length - SUM_BYTES, 0);
        let mut start = 0;
        for (index, chunk) in bytes[self.head.len()..].chunks_mut(CHUNK_BYTES).enumerate() {
            start = self.read_chunk(index, start, chunk, &mut scratch)?;
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
        self.lengths.iter().try_for_each(|length| sink.put(&length.to_le_bytes()))?;
        sink.put(&self.bodies)
    }

    /// Reads what [`write`](Self::write) wrote, without decoding it. Allocates no more than the payload has bytes.
    pub(super) fn read<R: Source>(shape: &Shape, source: &mut R) -> Result<Self, R::Error> {
        let (head, header) = read_head(source)?;
        let payload_bytes = payload_bytes(shape)?;
        if header.payload_bytes != payload_bytes {
            let numbers = shape.numbers(NAMES)?;
            return Err(numbers.field(0, "that of the head in the payload").into());
        }
        let sum = source.take_u64()?;
        let mut lengths = reserved(in_memory(payload_bytes.div_ceil(CHUNK_BYTES as u64))?)?;
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
            lengths.push(length);
        }
        let (bodies_at, left) = (source.offset(), source.remaining());
        let needed = lengths.iter().copied().map(u64::from).sum();
        if needed > left {
            let offset = bodies_at;
            return Err(DecodeError(DecodeFault::PayloadEnd { offset, needed, left }).into());
        }
        let bodies = read_bytes(source, in_memory(needed)?)?;
        let starts = starts(&lengths)?;
        Ok(Self { head, header, sum, lengths, starts, bodies, bodies_at })
    }
}

impl PartialEq for Coded {
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head
            && self.sum == other.sum
            && self.lengths == other.lengths
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
    let mut bytes = reserved(head_bytes)?;
    bytes.extend(&head[..head_bytes]);
    Ok((bytes, header))
}

/// Reads bytes. Touches each page of the memory only when its bytes arrive.
fn read_bytes<R: Source>(source: &mut R, len: usize) -> Result<Vec<u8>, R::Error> {
    let mut bytes = reserved(len)?;
    while bytes.len() < len {
        let start = bytes.len();
        bytes.resize(len.min(start + CHUNK_BYTES), 0);
        source.take(&mut bytes[start..])?;
    }
    Ok(bytes)
}

/// Returns where the bodies of each group start. All of them are in memory.
fn starts(lengths: &[u16]) -> Result<Vec<usize>, DecodeError> {
    let (mut starts, mut start) = (reserved(lengths.len().div_ceil(GROUP))?, 0);
    for group in lengths.chunks(GROUP) {
        starts.push(start);
        start += group.iter().copied().map(usize::from).sum::<usize>();
    }
    Ok(starts)
}

/// Returns an empty vector with room for `len` values.
fn reserved<T>(len: usize) -> Result<Vec<T>, DecodeError> {
    let mut values = Vec::new();
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    values.try_reserve_exact(len).map_err(|_| AllocError { bytes })?;
    Ok(values)
}

/// Returns a length as one of memory.
fn in_memory(len: u64) -> Result<usize, DecodeError> {
    usize::try_from(len).map_err(|_| AllocError { bytes: len }.into())
}
