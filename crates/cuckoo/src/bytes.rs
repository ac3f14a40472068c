//! The filter's portable bytes; `docs/format.md` of the workspace specifies them.

use core::ops::RangeInclusive;

use pds_core::Kind;
use pds_core::bytes::{Numbers, Portable, Shape, Sink, Source};
use pds_core::internal::{WordSource, check_padding, portable_methods, take_words};
use pds_core::{DecodeError, ParamError, PortableHasher};
use pds_params::CuckooParams;

use crate::CuckooFilter;
use crate::table::Table;

portable_methods!(CuckooFilter);

impl<S: PortableHasher> Portable for CuckooFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::CUCKOO;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.num_buckets(), self.fingerprint_bits().into(), self.len()])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_bytes(&self) -> u64 {
        self.params().size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = params_of(shape)?.0.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.table.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, len) = params_of(shape)?;
        let words = take_words(source, params.size_in_bytes() / 8)?;
        let table = Table::from_words(words, &params, len);
        check_table(&table, &params, shape, source.offset())?;
        Ok(Self { table, params, hasher })
    }
}

/// The parameters that a header states, and the number of fingerprints.
pub(crate) fn params_of(shape: &Shape) -> Result<(CuckooParams, u64), DecodeError> {
    let numbers = numbers_of(shape)?;
    let [buckets, bits, len] = numbers.values();
    let bits = u32::try_from(bits).unwrap_or(u32::MAX);
    let params = CuckooParams::from_buckets_and_fingerprint_bits(buckets, bits)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))?;
    check_len(&numbers, 0, params.num_slots())?;
    Ok((params, len))
}

const LEN: &str = "fingerprints";

fn numbers_of(shape: &Shape) -> Result<Numbers<3>, DecodeError> {
    shape.numbers(["buckets", "fingerprint_bits", LEN])
}

/// Refuses a number of fingerprints that is not what the slots hold, and bits beyond the last slot, in a payload that
/// ends at offset `end`.
///
/// That each fingerprint lies in one of its buckets needs no check: with the bucket in which it lies, any
/// is a possible one.
pub(crate) fn check_table<W: WordSource>(
    table: &Table<W>,
    params: &CuckooParams,
    shape: &Shape,
    end: u64,
) -> Result<(), DecodeError> {
    let counted = table.iter().count() as u64;
    check_len(&numbers_of(shape)?, counted, counted)?;
    check_padding(end - 8, params.num_bits() % 64, table.last_word())
}

fn check_len(numbers: &Numbers<3>, min: u64, max: u64) -> Result<(), DecodeError> {
    let [.., value] = numbers.values();
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(numbers.error(ParamError::OutOfRange { parameter: LEN, value, min, max }))
}
