//! The portable bytes of a map. `docs/format.md` of the workspace specifies them.

use core::ops::RangeInclusive;

use pds_core::bytes::{Kind, Numbers, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
use pds_core::hash::PortableHasher;
use pds_core::storage::WordSource;
use pds_params::QuotientParams;
use pds_params::quotient::size_in_bytes;

use super::{QuotientMap, check_bits};
use crate::payload::Ascending;
use crate::portable::{
    OVERFLOW, bytes_methods, check, check_overflow, overflow_of, params_of, slots_of,
};
use crate::table::Table;

bytes_methods!(QuotientMap, "map", "pairs");

impl<S: PortableHasher> Portable for QuotientMap<S> {
    type Hasher = S;
    const KIND: Kind = Kind::QUOTIENT_MAP;

    fn portable_hasher(&self) -> &S {
        &self.hasher
    }

    fn shape(&self) -> Shape {
        let [bits, doublings, value_bits] =
            [self.remainder_bits(), self.params.doublings(), self.value_bits].map(u64::from);
        let overflow = overflow_of(&self.table);
        Shape::new([self.num_slots(), bits, self.len(), overflow, doublings, value_bits])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let contents = contents_of(shape)?;
        let bytes = size_in_bytes(contents.slots, contents.width());
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.table.put(sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let contents = contents_of(shape)?;
        let Contents { params, value_bits, len, slots } = contents;
        let start = source.offset();
        let table = Table::take(params.num_slots(), contents.width(), slots, len, source)?;
        check_table(&table, shape, start)?;
        Ok(Self { table, params, value_bits, hasher })
    }
}

/// The statements of a head.
pub(super) struct Contents {
    pub(super) params: QuotientParams,
    pub(super) value_bits: u32,
    /// Number of pairs.
    pub(super) len: u64,
    /// Number of slots, those after the last quotient included.
    pub(super) slots: u64,
}

impl Contents {
    /// Returns the width of an entry.
    pub(super) const fn width(&self) -> u32 {
        self.params.remainder_bits() + self.value_bits
    }
}

/// Returns what a head states, if that is possible.
pub(super) fn contents_of(shape: &Shape) -> Result<Contents, DecodeError> {
    let numbers = numbers_of(shape)?;
    let [slots, bits, len, overflow, doublings, value_bits] = numbers.values();
    let params = params_of(&numbers, shape, [slots, bits, doublings])?;
    let value_bits = u32::try_from(value_bits).unwrap_or(u32::MAX);
    check_bits(&params, value_bits).map_err(|error| numbers.error(error))?;
    check(&numbers, LEN, len, 0..=params.capacity())?;
    let slots = slots_of(&numbers, &params, len, (3, overflow))?;
    Ok(Contents { params, value_bits, len, slots })
}

const LEN: &str = "pairs";

fn numbers_of(shape: &Shape) -> Result<Numbers<6>, DecodeError> {
    shape.numbers(["slots", "remainder_bits", LEN, OVERFLOW, "doublings", "value_bits"])
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
    let (counted, end) = table.check(start, &mut Ascending::default())?;
    let numbers = numbers_of(shape)?;
    let [_, _, len, ..] = numbers.values();
    check(&numbers, LEN, len, counted..=counted)?;
    check_overflow(&numbers, table, end)
}
