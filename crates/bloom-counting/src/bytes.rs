//! The filters' portable bytes; `docs/format.md` of the workspace specifies them.

use pds_core::Kind;
use pds_core::bytes::{Portable, Shape};
use pds_core::internal::{Sink, Source, portable_methods};
use pds_core::{DecodeError, DefaultHashBuilder, ParamError, PortableHasher};
use pds_params::{BlockedCountingParams, BloomParams};

use crate::builder::of_counters;
use crate::counters::Counters;
use crate::{BlockedCountingBloomFilter, Counter, CountingBloomFilter};

portable_methods!([C: Counter] CountingBloomFilter<S, C>, CountingBloomFilter<DefaultHashBuilder, C>);
portable_methods!(BlockedCountingBloomFilter);

impl<S: PortableHasher, C: Counter> Portable for CountingBloomFilter<S, C> {
    type Hasher = S;
    const KIND: Kind = Kind::CountingBloom;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let (hashes, bits) = (self.num_hashes().into(), C::BITS.into());
        Shape {
            numbers: [self.num_counters(), hashes, bits, 0, 0, 0],
            expected_items: self.expected_items(),
            promised_rate: self.promised_rate(),
        }
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        let counters = params_of::<C>(shape)?.num_bits();
        // At most 2^60 words: the length in bytes may exceed what 64 bits hold by nothing.
        Ok(Counters::<C>::words_for(counters) * 8)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of::<C>(shape)?;
        let words = source.take_words(Counters::<C>::words_for(params.num_bits()))?;
        let counters = Counters::from_words(words, params.num_bits());
        counters.check_padding()?;
        Ok(Self::from_parts(counters, params, hasher))
    }
}

pub(crate) fn params_of<C: Counter>(shape: &Shape) -> Result<BloomParams, DecodeError> {
    let [counters, hashes, bits, ..] = shape.numbers;
    shape.expect_unused(3)?;
    let expected = u64::from(C::BITS);
    if bits != expected {
        let parameter = "counter bits";
        let error = ParamError::OutOfRange { parameter, value: bits, min: expected, max: expected };
        return Err(Shape::error(error));
    }
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    BloomParams::from_bits_and_hashes(counters, hashes)
        .and_then(|params| params.with_design(shape.expected_items, shape.promised_rate))
        .map_err(|error| Shape::error(of_counters(error)))
}

impl<S: PortableHasher> Portable for BlockedCountingBloomFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::BlockedCountingBloom;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape {
            numbers: [self.num_lines(), 0, 0, 0, 0, 0],
            expected_items: self.expected_items(),
            promised_rate: self.promised_rate(),
        }
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        Ok(blocked_params_of(shape)?.size_in_bytes())
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = blocked_params_of(shape)?;
        Ok(Self::from_words(source.take_words(params.size_in_bytes() / 8)?, params, hasher))
    }
}

pub(crate) fn blocked_params_of(shape: &Shape) -> Result<BlockedCountingParams, DecodeError> {
    shape.expect_unused(1)?;
    BlockedCountingParams::from_lines(shape.numbers[0])
        .and_then(|params| params.with_design(shape.expected_items, shape.promised_rate))
        .map_err(Shape::error)
}
