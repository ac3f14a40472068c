//! The difference of two states of a structure.

use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};

use xxhash_rust::xxh3::Xxh3;

use super::coded::Coded;
use crate::bytes::writer::{Output, Writer, to_vec};
use crate::bytes::{
    ByteOptions, Envelope, FromEnvelope, Header, Kind, MaybeHasher, NoHasher, Portable, SecretKey,
    Shape, Sink, Source, ToEnvelope,
};
use crate::error::{ApplyError, DecodeError, Incompatible};
use crate::internal::Difference;

/// The difference of two states of a structure, to bring a copy of the older one up to date.
///
/// It is the entropy code of the bits that differ. Both states need payloads of one length. This excludes two states of a
/// sparse `HyperLogLog`, of heavy hitters with other keys, and of a filter that has grown in between.
///
/// A delta is short if inserts change few bits: for all Bloom filters, cuckoo filters, and sketches. It is as long as
/// the structure if an insert moves others, as in a quotient filter, or if the structure was built anew, as a ribbon
/// filter is. Compare its length with that of the structure before you send it.
///
/// # Guarantees
/// - A delta applies to the state that it starts from and to no other. It keeps a fingerprint of that state: kind, hasher,
///   shape and contents. Another state passes by chance with a probability of 2^-64. A fingerprint detects mistakes, not
///   forgery.
/// - The result equals the newer state bit for bit, which the checksum of its payload proves.
/// - It holds no secret key. The key of the structure that it is applied to stays.
/// - Length: that of the portable bytes with the code in the place of the payload, 2 bytes per started chunk of 4096
///   bytes, and 80 bytes. The code has no bytes for a chunk without changes.
///
/// # Examples
/// ```
/// # use core::ops::{Range, RangeInclusive};
/// # use pds_core::bytes::{Kind, NoHasher, Portable, Shape, Sink, Source};
/// use pds_core::bytes::Delta;
/// use pds_core::error::ApplyError;
/// # use pds_core::error::DecodeError;
/// # #[derive(Clone, Debug, PartialEq)]
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
/// # let yesterday = Bits((0..10_000).map(|i| i * 0x9e37).collect());
/// # let mut today = yesterday.clone();
/// # today.0[77] |= 1 << 60;
/// // 80,000 bytes, of which one bit has changed.
/// let patch = Delta::between(&yesterday, &today)?.to_bytes();
/// assert!(patch.len() < 300);
///
/// let mut copy = yesterday.clone();
/// let patch = Delta::from_bytes(&patch)?;
/// patch.apply(&mut copy)?;
/// assert_eq!(copy, today);
/// assert_eq!(patch.apply(&mut copy), Err(ApplyError::Applied));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Fingerprint of the older state.
    old: u64,
    /// The head of the newer state, and the bits that differ.
    coded: Coded,
}

impl Delta {
    /// Computes the difference from `old` to `new`.
    ///
    /// # Errors
    /// [`Incompatible`] if the kinds, the hashers or the lengths of the payloads differ.
    ///
    /// # Complexity
    /// O(size); allocates the portable bytes of both.
    pub fn between<P: ToEnvelope>(old: &P, new: &P) -> Result<Self, Incompatible> {
        let (mut old, new) = (to_vec(old, SecretKey::Omit), to_vec(new, SecretKey::Omit));
        let (before, after) = (Envelope::written(&old), Envelope::written(&new));
        check_compatible(before.header(), after.header())?;
        let fingerprint = fingerprint_of(&before);
        let payload = payload_range(before.header());
        let bits = &mut old[payload];
        combine(bits, after.borrowed_payload());
        Ok(Self { old: fingerprint, coded: Coded::new(&after, bits) })
    }

    /// Replaces the older state by the newer one.
    ///
    /// # Errors
    /// [`ApplyError::Applied`] if `structure` is in the newer state already. [`ApplyError::Other`] if it is in
    /// neither of the two. [`ApplyError::Decode`] if the delta is wrong, or if the allocator refuses the memory.
    /// Nothing is changed then.
    ///
    /// # Complexity
    /// O(size); allocates the portable bytes twice, and the newer state.
    pub fn apply<P: ToEnvelope + FromEnvelope>(&self, structure: &mut P) -> Result<(), ApplyError> {
        // Without the key, as `between`: nested envelopes lie in the payload, so a key in them would be among the changes.
        let older = to_vec(structure, SecretKey::Omit);
        let older = Envelope::written(&older);
        let (header, next) = (older.header(), self.coded.header());
        let found = fingerprint_of(&older);
        if found != self.old {
            let (expected, is_new) = (self.old, found == self.new_fingerprint());
            let other = ApplyError::Other { expected, found };
            return Err(if is_new { ApplyError::Applied } else { other });
        }
        if check_compatible(header, next).is_err() {
            let (name, found) = ("the kind", next.kind.id().into());
            let allowed = "that of a structure with the hasher and the length of the older state";
            return Err(DecodeError::invalid(name, next.kind_offset(), found, allowed).into());
        }
        let mut newer = self.coded.envelope()?;
        combine(&mut newer[payload_range(next)], older.borrowed_payload());
        let hasher = header.hasher.map(|_| hasher_of(structure)).transpose()?;
        *structure = P::from_envelope(Envelope::open(newer)?, hasher)?;
        Ok(())
    }

    /// Returns the fingerprint of the state that the delta starts from.
    #[must_use]
    pub const fn old_fingerprint(&self) -> u64 {
        self.old
    }

    /// Returns the fingerprint of the state that the delta leads to. It equals the
    /// [`old_fingerprint`](Self::old_fingerprint) of the next delta.
    #[must_use]
    pub fn new_fingerprint(&self) -> u64 {
        fingerprint(self.coded.header(), self.coded.sum())
    }

    /// Returns the portable bytes.
    ///
    /// For streams and files, use [`ByteOptions`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Reads portable bytes that hold one delta and nothing else.
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

/// Returns the hasher of a structure, which must have one.
fn hasher_of<P: ToEnvelope, S: MaybeHasher>(structure: &P) -> Result<S, DecodeError> {
    let Err(head) = Writer::write(structure, SecretKey::Include, Head) else {
        unreachable!("an envelope starts with a head")
    };
    S::of_header(&head?, None)
}

/// Output that ends with the head of an envelope.
struct Head;

impl Output for Head {
    type Error = Result<Header, DecodeError>;

    fn write(&mut self, head: &[u8]) -> Result<(), Self::Error> {
        // A head is written at once, after the empty padding of an outermost envelope.
        if head.is_empty() { Ok(()) } else { Err(Header::peek(head)) }
    }
}

/// Returns the fingerprint of the structure in an envelope.
pub(crate) fn fingerprint_of(envelope: &Envelope<&[u8]>) -> u64 {
    fingerprint(envelope.header(), envelope.sum())
}

/// Returns the fingerprint of a structure: of its kind, its hasher, its shape and its payload. The design is not part of it.
fn fingerprint(header: &Header, sum: u64) -> u64 {
    let mut hash = Xxh3::new();
    let mut put = |number: u64| hash.update(&number.to_le_bytes());
    put(header.kind.id().into());
    put(header.hasher.map_or(0, |hasher| hasher.id.into()));
    put(header.hasher.map_or(0, |hasher| hasher.probe));
    header.shape.as_slice().iter().copied().for_each(&mut put);
    put(sum);
    hash.digest()
}

/// Checks that the payloads of two structures can be compared.
fn check_compatible(left: &Header, right: &Header) -> Result<(), Incompatible> {
    Incompatible::check_shape("number of the kind", left.kind.id().into(), right.kind.id().into())?;
    let identity = |header: &Header| header.hasher.map(|hasher| (hasher.id, hasher.probe));
    if identity(left) != identity(right) {
        let probe = |header: &Header| header.hasher.map_or(0, |hasher| hasher.probe);
        return Err(Incompatible(Difference::Hasher { left: probe(left), right: probe(right) }));
    }
    Incompatible::check_shape("number of bytes", left.payload_bytes, right.payload_bytes)
}

/// Returns where the payload lies in the bytes of an envelope.
#[expect(clippy::cast_possible_truncation, reason = "the payload is in memory")]
fn payload_range(header: &Header) -> Range<usize> {
    let start = header.head_bytes();
    start..start + header.payload_bytes as usize
}

/// Flips every bit of `bits` that is set in `others`.
fn combine(bits: &mut [u8], others: &[u8]) {
    for (bits, others) in bits.iter_mut().zip(others) {
        *bits ^= others;
    }
}

impl Portable for Delta {
    type Hasher = NoHasher;
    const KIND: Kind = Kind::DELTA;

    fn portable_hasher(&self) -> &NoHasher {
        &NoHasher
    }

    fn shape(&self) -> Shape {
        self.coded.shape()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let (least, most) = Coded::range(shape)?.into_inner();
        Ok(least + 8..=most + 8)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_u64(self.old)?;
        self.coded.write(sink)
    }

    fn read_payload<R: Source>(
        shape: &Shape,
        _: NoHasher,
        source: &mut R,
    ) -> Result<Self, R::Error> {
        Ok(Self { old: source.take_u64()?, coded: Coded::read(shape, source)? })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Delta {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::bytes::serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Delta {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::bytes::serde::deserialize(deserializer)
    }
}
