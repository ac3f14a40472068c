//! The filters' portable bytes; `docs/format.md` of the workspace specifies them.

use core::ops::RangeInclusive;

use pds_core::Kind;
use pds_core::bytes::{Portable, Shape, Sink, Source};
use pds_core::internal::{portable_methods, portable_twin, take_words};
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
    const KIND: Kind = Kind::BLOCKED_BLOOM;

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
        sink.put_words(self.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of(shape)?;
        let words = take_words(source, params.num_bits() / 64)?;
        Ok(Self::from_parts(Blocks::from_words(words, &params), params, hasher))
    }
}

fn shape_of(params: &BlockedBloomParams) -> Shape {
    Shape::new([params.num_blocks(), params.num_hashes().into()])
        .with_design(params.expected_items(), params.promised_rate())
}

/// The parameters that a header states.
pub(crate) fn params_of(shape: &Shape) -> Result<BlockedBloomParams, DecodeError> {
    let numbers = shape.numbers(["blocks", "hashes"])?;
    let [blocks, hashes] = numbers.values();
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    BlockedBloomParams::from_blocks_and_hashes(blocks, hashes)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))
}
