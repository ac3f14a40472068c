//! The filters' portable bytes; `docs/format.md` of the workspace specifies them.

use core::ops::RangeInclusive;

use pds_core::Kind;
use pds_core::bytes::{Portable, Shape, Sink, Source};
use pds_core::internal::{self, portable_methods, portable_twin, take_words};
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
    const KIND: Kind = Kind::BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of(&self.params())
    }

    fn payload_bytes(&self) -> u64 {
        self.params().size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = params_of(shape)?.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.bits().words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of(shape)?;
        let words = take_words(source, params.num_bits().div_ceil(64))?;
        check_padding(&params, words.last().copied().unwrap_or_default(), source.offset())?;
        Ok(Self::from_parts(BitArray::from_words(words, params.num_bits()), params, hasher))
    }
}

fn shape_of(params: &BloomParams) -> Shape {
    Shape::new([params.num_bits(), params.num_hashes().into()])
        .with_design(params.expected_items(), params.promised_rate())
}

/// The parameters that a header states.
pub(crate) fn params_of(shape: &Shape) -> Result<BloomParams, DecodeError> {
    let numbers = shape.numbers(["bits", "hashes"])?;
    let [bits, hashes] = numbers.values();
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    BloomParams::from_bits_and_hashes(bits, hashes)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))
}

/// Refuses bits beyond the last one in the last word of a payload that ends at offset `end`.
pub(crate) fn check_padding(
    params: &BloomParams,
    last_word: u64,
    end: u64,
) -> Result<(), DecodeError> {
    internal::check_padding(end - 8, params.num_bits() % 64, last_word)
}
