//! The filters' portable bytes; `docs/format.md` of the workspace specifies them.

use pds_core::Kind;
use pds_core::bytes::{Portable, Shape};
use pds_core::internal::{Sink, Source, portable_methods, portable_twin};
use pds_core::{DecodeError, PortableHasher};
use pds_params::BlockedBloomParams;

#[cfg(target_has_atomic = "64")]
use crate::AtomicBlockedBloomFilter;
use crate::BlockedBloomFilter;
use crate::blocks::Blocks;

portable_methods!(BlockedBloomFilter);
#[cfg(target_has_atomic = "64")]
portable_twin!(AtomicBlockedBloomFilter of BlockedBloomFilter, shape_of);

impl<S: PortableHasher> Portable for BlockedBloomFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::BlockedBloom;

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
        sink.put_words(self.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of(shape)?;
        let words = source.take_words(params.num_bits() / 64)?;
        Ok(Self::from_parts(Blocks::from_words(words, &params), params, hasher))
    }
}

fn shape_of(params: &BlockedBloomParams) -> Shape {
    Shape {
        numbers: [params.num_blocks(), params.num_hashes().into(), 0, 0, 0, 0],
        expected_items: params.expected_items(),
        promised_rate: params.promised_rate(),
    }
}

/// The parameters that a header states.
pub(crate) fn params_of(shape: &Shape) -> Result<BlockedBloomParams, DecodeError> {
    let [blocks, hashes, ..] = shape.numbers;
    shape.expect_unused(2)?;
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    let params =
        BlockedBloomParams::from_blocks_and_hashes(blocks, hashes).map_err(Shape::error)?;
    params.with_design(shape.expected_items, shape.promised_rate).map_err(Shape::error)
}
