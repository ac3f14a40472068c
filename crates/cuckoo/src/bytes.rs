//! The filter's portable bytes; `docs/format.md` of the workspace specifies them.

use pds_core::Kind;
use pds_core::bytes::{Portable, Shape};
use pds_core::internal::{Sink, Source, WordSource, check_padding, portable_methods};
use pds_core::{DecodeError, ParamError, PortableHasher};
use pds_params::CuckooParams;

use crate::CuckooFilter;
use crate::table::Table;

portable_methods!(CuckooFilter);

impl<S: PortableHasher> Portable for CuckooFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::Cuckoo;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape {
            numbers: [self.num_buckets(), self.fingerprint_bits().into(), self.len(), 0, 0, 0],
            expected_items: self.expected_items(),
            promised_rate: self.promised_rate(),
        }
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        Ok(params_of(shape)?.0.size_in_bytes())
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.table.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, len) = params_of(shape)?;
        let words = source.take_words(params.size_in_bytes() / 8)?;
        let table = Table::from_words(words, &params, len);
        check_table(&table, &params)?;
        Ok(Self { table, params, hasher })
    }
}

/// The parameters that a header states, and the number of fingerprints.
pub(crate) fn params_of(shape: &Shape) -> Result<(CuckooParams, u64), DecodeError> {
    let [buckets, bits, len, ..] = shape.numbers;
    shape.expect_unused(3)?;
    let bits = u32::try_from(bits).unwrap_or(u32::MAX);
    let params = CuckooParams::from_buckets_and_fingerprint_bits(buckets, bits)
        .and_then(|params| params.with_design(shape.expected_items, shape.promised_rate))
        .map_err(Shape::error)?;
    check_len(len, 0, params.num_slots())?;
    Ok((params, len))
}

/// Refuses a number of fingerprints that is not what the slots hold, and bits beyond the last slot.
///
/// That each fingerprint lies in one of its buckets needs no check: with the bucket in which it lies, any
/// is a possible one.
pub(crate) fn check_table<W: WordSource>(
    table: &Table<W>,
    params: &CuckooParams,
) -> Result<(), DecodeError> {
    let counted = table.iter().count() as u64;
    check_len(table.len(), counted, counted)?;
    check_padding(params.size_in_bytes(), params.num_bits() % 64, table.last_word())
}

fn check_len(len: u64, min: u64, max: u64) -> Result<(), DecodeError> {
    if (min..=max).contains(&len) {
        return Ok(());
    }
    let parameter = "number of fingerprints";
    Err(Shape::error(ParamError::OutOfRange { parameter, value: len, min, max }))
}
