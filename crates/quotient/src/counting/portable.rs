//! The portable bytes of a counting filter. `docs/format.md` of the workspace specifies them.

use core::ops::RangeInclusive;

use pds_core::bytes::{Kind, Numbers, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
use pds_core::hash::PortableHasher;
use pds_core::storage::WordSource;
use pds_params::QuotientParams;
use pds_params::quotient::size_in_bytes;

use super::code::Counted;
use super::{CountingQuotientFilter, check_bits};
use crate::portable::{
    OVERFLOW, bytes_methods, check, check_overflow, overflow_of, params_of, slots_of,
};
use crate::table::Table;

bytes_methods!(CountingQuotientFilter, "filter", "counts");

impl<S: PortableHasher> Portable for CountingQuotientFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::COUNTING_QUOTIENT;

    fn portable_hasher(&self) -> &S {
        &self.hasher
    }

    fn shape(&self) -> Shape {
        let bits = self.remainder_bits().into();
        let (overflow, doublings) = (overflow_of(&self.table), self.params.doublings().into());
        Shape::new([self.num_slots(), bits, self.len, self.used_slots(), overflow, doublings])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let Contents { params, slots, .. } = contents_of(shape)?;
        let bytes = size_in_bytes(slots, params.remainder_bits() + 1);
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.table.put(sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let Contents { params, len, used, slots } = contents_of(shape)?;
        let start = source.offset();
        let width = params.remainder_bits() + 1;
        let table = Table::take(params.num_slots(), width, slots, used, source)?;
        check_table(&table, shape, start)?;
        Ok(Self { table, params, len, hasher })
    }
}

/// The statements of a head.
pub(super) struct Contents {
    pub(super) params: QuotientParams,
    /// Number of fingerprints.
    pub(super) len: u64,
    /// Number of slots that they and their counts take.
    pub(super) used: u64,
    /// Number of slots, those after the last quotient included.
    pub(super) slots: u64,
}

/// Returns what a head states, if that is possible.
pub(super) fn contents_of(shape: &Shape) -> Result<Contents, DecodeError> {
    let numbers = numbers_of(shape)?;
    let [slots, bits, len, used, overflow, doublings] = numbers.values();
    let params = params_of(&numbers, shape, [slots, bits, doublings])?;
    check_bits(&params).map_err(|error| numbers.error(error))?;
    check(&numbers, USED, used, 0..=params.capacity())?;
    check(&numbers, LEN, len, 0..=used)?;
    let slots = slots_of(&numbers, &params, used, (4, overflow))?;
    Ok(Contents { params, len, used, slots })
}

const LEN: &str = "fingerprints";
const USED: &str = "used_slots";

fn numbers_of(shape: &Shape) -> Result<Numbers<6>, DecodeError> {
    shape.numbers(["slots", "remainder_bits", LEN, USED, OVERFLOW, "doublings"])
}

/// Checks a payload that begins at offset `start`, in one pass.
///
/// # Errors
/// [`DecodeError`] if the blocks contradict themselves or the head.
pub(super) fn check_table<W: WordSource>(
    table: &Table<W>,
    shape: &Shape,
    start: u64,
) -> Result<(), DecodeError> {
    let numbers = numbers_of(shape)?;
    let [_, _, len, used, ..] = numbers.values();
    let mut counts = Counted::new(contents_of(shape)?.params.remainder_bits());
    let (counted, end) = table.check(start, &mut counts)?;
    check(&numbers, USED, used, counted..=counted)?;
    check(&numbers, LEN, len, counts.fingerprints..=counts.fingerprints)?;
    check_overflow(&numbers, table, end)
}
