//! The filters' portable bytes; `docs/format.md` of the workspace specifies them.

use core::ops::RangeInclusive;

use pds_core::Kind;
use pds_core::bytes::{Portable, Shape, Sink, Source};
use pds_core::internal::{portable_methods, take_words};
use pds_core::{DecodeError, DefaultHashBuilder, ParamError, PortableHasher};
use pds_params::{BlockedCountingParams, BloomParams};

use crate::builder::of_counters;
use crate::counters::Counters;
use crate::{BlockedCountingBloomFilter, Counter, CountingBloomFilter};

portable_methods!([C: Counter] CountingBloomFilter<S, C>, CountingBloomFilter<DefaultHashBuilder, C>);
portable_methods!(BlockedCountingBloomFilter);

impl<S: PortableHasher, C: Counter> Portable for CountingBloomFilter<S, C> {
    type Hasher = S;
    const KIND: Kind = Kind::COUNTING_BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let (hashes, bits) = (self.num_hashes().into(), C::BITS.into());
        Shape::new([self.num_counters(), hashes, bits])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        // At most 2^60 words: the length in bytes may exceed what 64 bits hold by nothing.
        let bytes = 8 * Counters::<C>::words_for(params_of::<C>(shape)?.num_bits());
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of::<C>(shape)?;
        let words = take_words(source, Counters::<C>::words_for(params.num_bits()))?;
        let counters = Counters::from_words(words, params.num_bits());
        counters.check_padding(source.offset())?;
        Ok(Self::from_parts(counters, params, hasher))
    }
}

pub(crate) fn params_of<C: Counter>(shape: &Shape) -> Result<BloomParams, DecodeError> {
    let numbers = shape.numbers(["counters", "hashes", "counter_bits"])?;
    let [counters, hashes, bits] = numbers.values();
    let expected = u64::from(C::BITS);
    if bits != expected {
        let parameter = "counter_bits";
        let error = ParamError::OutOfRange { parameter, value: bits, min: expected, max: expected };
        return Err(numbers.error(error));
    }
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    BloomParams::from_bits_and_hashes(counters, hashes)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(of_counters(error)))
}

impl<S: PortableHasher> Portable for BlockedCountingBloomFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::BLOCKED_COUNTING_BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.num_lines()]).with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = blocked_params_of(shape)?.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = blocked_params_of(shape)?;
        Ok(Self::from_words(take_words(source, params.size_in_bytes() / 8)?, params, hasher))
    }
}

pub(crate) fn blocked_params_of(shape: &Shape) -> Result<BlockedCountingParams, DecodeError> {
    let numbers = shape.numbers(["lines"])?;
    let [lines] = numbers.values();
    BlockedCountingParams::from_lines(lines)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))
}
