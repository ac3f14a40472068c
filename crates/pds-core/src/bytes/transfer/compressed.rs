//! A structure with its bits in entropy code.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::chunk::CHUNK_BYTES;
use super::coded::Coded;
use crate::bytes::writer::to_vec;
use crate::bytes::{
    ByteOptions, Envelope, FromEnvelope, Header, KeyChoice, Kind, NoHasher, Portable, SecretKey,
    Shape, Sink, Source, ToEnvelope,
};
use crate::error::DecodeError;

/// Portable bytes of any structure, with the payload in entropy code: to send it or to keep it.
///
/// The code takes the bits of a chunk as independent, each set with the probability that the chunk shows. A half-full
/// Bloom filter does not compress. Build it with `for_transfer`: it is less full, so its code is shorter. If the
/// receiver only asks for keys, send a ribbon filter instead: it is shorter than any compressed Bloom filter of that
/// rate, and answers as it is. Compress what the receiver goes on to insert into or to merge.
///
/// # Guarantees
/// - Length: that of the portable bytes with the code in the place of the payload, 2 bytes per started chunk of 4096
///   bytes, and 72 bytes.
/// - The code is never longer than the payload. The 2 bytes per chunk are at most 0.1 % of a payload of 4,096 bytes or
///   more, and at most 0.05 % of 172,032 bytes or more.
/// - From 100,000 bits on, with 5 to 95 % of them set, the code and the 2 bytes per chunk are within 1 % of the entropy.
/// - Random access: a [chunk](Self::chunk) is decoded without the others.
/// - A structure has one code. A reader refuses every other.
/// - The bytes that [`decompress`](Self::decompress) reads are those that were compressed, checked by their checksum.
/// - Time: linear.
///
/// # Examples
/// ```
/// # use core::ops::RangeInclusive;
/// # use pds_core::bytes::{Kind, NoHasher, Portable, Shape, Sink, Source};
/// use pds_core::bytes::Compressed;
/// # use pds_core::error::DecodeError;
/// # #[derive(Debug, PartialEq)]
/// # struct Bits(Vec<u64>);
/// # impl Portable for Bits {
/// #     type Hasher = NoHasher;
/// #     const KIND: Kind = Kind::new(0x8003, "bits");
/// #     fn portable_hasher(&self) -> &NoHasher { &NoHasher }
/// #     fn shape(&self) -> Shape { Shape::new([self.0.len() as u64]) }
/// #     fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
/// #         let [words] = shape.numbers(["words"])?.values();
/// #         Ok(8 * words..=8 * words)
/// #     }
/// #     fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
/// #         sink.put_words(self.0.iter().copied())
/// #     }
/// #     fn read_payload<R: Source>(shape: &Shape, _: NoHasher, source: &mut R) -> Result<Self, R::Error> {
/// #         let [words] = shape.numbers(["words"])?.values();
/// #         Ok(Self((0..words).map(|_| source.take_u64()).collect::<Result<_, _>>()?))
/// #     }
/// # }
/// # let filter = Bits((0..10_000).map(|i| 1 << (i % 64)).collect());
/// // A filter with one of 64 bits set. Its payload is 80,000 bytes.
/// let sent = Compressed::new(&filter).to_bytes();
/// assert!(sent.len() < 10_000);
///
/// let received = Compressed::from_bytes(&sent)?;
/// assert_eq!(received.decompress::<Bits>()?, filter);
/// # Ok::<(), DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    coded: Coded,
}

impl Compressed {
    /// Length of a chunk of the payload in bytes: 32,768 bits. The last chunk may be shorter.
    pub const CHUNK_BYTES: usize = CHUNK_BYTES;

    /// Compresses a structure, with the seed of its hasher.
    ///
    /// For a hasher with a secret key, use [`ByteOptions::compress`].
    ///
    /// # Complexity
    /// O(size); allocates the portable bytes, and then their code.
    #[must_use]
    pub fn new<P: ToEnvelope>(structure: &P) -> Self
    where
        (): KeyChoice<P::Hasher>,
    {
        ByteOptions::new().compress(structure)
    }

    /// Compresses a structure, with its secret key or without.
    pub(in crate::bytes) fn with<P: ToEnvelope>(structure: &P, key: SecretKey) -> Self {
        let bytes = to_vec(structure, key);
        let envelope = Envelope::written(&bytes);
        Self { coded: Coded::new(&envelope, envelope.borrowed_payload()) }
    }

    /// Decodes the structure, which must be a `P`, and verifies all of it.
    ///
    /// Allocates at most 1 GiB for its portable bytes. For another limit or a secret key use [`ByteOptions::decompress`].
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong. The offset of a chunk counts from the start of the compressed bytes, all others
    /// from the start of the portable bytes that result.
    pub fn decompress<P: FromEnvelope>(&self) -> Result<P, DecodeError> {
        ByteOptions::new().decompress(self)
    }

    /// Decodes the portable bytes of the structure. Their checksum was not verified.
    pub(in crate::bytes) fn envelope(&self) -> Result<Vec<u8>, DecodeError> {
        self.coded.envelope()
    }

    /// Returns the head of the structure, with offsets in its own portable bytes.
    #[must_use]
    pub const fn header(&self) -> &Header {
        self.coded.header()
    }

    /// Returns the number of chunks.
    #[must_use]
    pub const fn num_chunks(&self) -> usize {
        self.coded.num_chunks()
    }

    /// Decodes one chunk of the payload: the bytes from `index` times [`CHUNK_BYTES`](Self::CHUNK_BYTES) on.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes of the chunk are no valid code, or if the allocator refuses the memory.
    ///
    /// # Panics
    /// If there is no such chunk.
    ///
    /// # Complexity
    /// O([`CHUNK_BYTES`](Self::CHUNK_BYTES)); allocates the chunk.
    pub fn chunk(&self, index: usize) -> Result<Vec<u8>, DecodeError> {
        self.coded.chunk(index)
    }

    /// Returns the compressed bytes.
    ///
    /// For streams and files, use [`ByteOptions`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Reads compressed bytes, without decompressing them.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }
}

impl Portable for Compressed {
    type Hasher = NoHasher;
    const KIND: Kind = Kind::COMPRESSED;

    fn portable_hasher(&self) -> &NoHasher {
        &NoHasher
    }

    fn shape(&self) -> Shape {
        self.coded.shape()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        Coded::range(shape)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.coded.write(sink)
    }

    fn read_payload<R: Source>(
        shape: &Shape,
        _: NoHasher,
        source: &mut R,
    ) -> Result<Self, R::Error> {
        Ok(Self { coded: Coded::read(shape, source)? })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Compressed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::bytes::serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Compressed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::bytes::serde::deserialize(deserializer)
    }
}
