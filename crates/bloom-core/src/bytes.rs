//! The filters' portable bytes; `docs/format.md` of the workspace specifies them.

use pds_core::Kind;
use pds_core::bytes::{Portable, Shape};
use pds_core::internal::{self, Sink, Source, portable_methods, portable_twin};
use pds_core::{DecodeError, PortableHasher};
use pds_params::BloomParams;

#[cfg(target_has_atomic = "64")]
use crate::AtomicBloomFilter;
use crate::{BitArray, BloomFilter};

portable_methods!(BloomFilter);
#[cfg(target_has_atomic = "64")]
portable_twin!(AtomicBloomFilter of BloomFilter, shape_of);

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

fn shape_of(params: &BloomParams) -> Shape {
    Shape {
        numbers: [params.num_bits(), params.num_hashes().into(), 0, 0, 0, 0],
        expected_items: params.expected_items(),
        promised_rate: params.promised_rate(),
    }
}

/// The parameters that a header states.
pub(crate) fn params_of(shape: &Shape) -> Result<BloomParams, DecodeError> {
    let [bits, hashes, ..] = shape.numbers;
    shape.expect_unused(2)?;
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    let params = BloomParams::from_bits_and_hashes(bits, hashes).map_err(Shape::error)?;
    params.with_design(shape.expected_items, shape.promised_rate).map_err(Shape::error)
}

/// Refuses bits beyond the last one in the last word.
pub(crate) fn check_padding(params: &BloomParams, last_word: u64) -> Result<(), DecodeError> {
    internal::check_padding(params.size_in_bytes(), params.num_bits() % 64, last_word)
}
