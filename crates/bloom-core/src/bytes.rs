//! The filters' portable bytes; `docs/format.md` of the workspace specifies them.

use pds_core::bytes::{Envelope, Header, Kind, Portable, Shape, Sink, Source};
use pds_core::{DecodeError, PortableHasher, portable_methods};
use pds_params::BloomParams;

use crate::bit_array::{BitArray, padding};
#[cfg(target_has_atomic = "64")]
use crate::{AtomicBloomFilter, filter};
use crate::BloomFilter;

portable_methods!(BloomFilter);
#[cfg(target_has_atomic = "64")]
portable_methods!(AtomicBloomFilter);

impl<S: PortableHasher> Portable for BloomFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::Bloom;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of(&self.params())
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        Ok(params_of(shape)?.size_in_bytes())
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.bits().words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of(shape)?;
        let words = source.take_words(params.num_bits().div_ceil(64))?;
        check_padding(&params, words.last().copied().unwrap_or_default())?;
        Ok(Self::from_parts(BitArray::from_words(words, params.num_bits()), params, hasher))
    }
}

/// The same bytes as the plain filter's. Those taken during inserts are no snapshot.
#[cfg(target_has_atomic = "64")]
impl<S: PortableHasher> Portable for AtomicBloomFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::Bloom;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of(&self.params())
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        BloomFilter::<S>::payload_bytes(shape)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        BloomFilter::read_payload(shape, hasher, source).map(Self::from)
    }
}
