//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

use core::ops::RangeInclusive;

use pds_core::bytes::{Kind, Numbers, Portable, Shape, Sink, Source};
use pds_core::error::{DecodeError, ParamError};
use pds_core::hash::PortableHasher;
use pds_core::storage::WordSource;
use pds_params::QuotientParams;
use pds_params::internal::ParamFault;
use pds_params::quotient::{SLOT_GROUP, size_in_bytes};

use crate::QuotientFilter;
use crate::payload::Ascending;
use crate::table::Table;

/// Defines reading and writing of the portable bytes of a filter or a map, which stores `what`.
// A macro instead of a generic type: the readers exist for the default hasher only, like `new`, so that
// `QuotientFilter::from_bytes(&bytes)` needs no type.
macro_rules! bytes_methods {
    ($filter:ident, $noun:literal, $what:literal) => {
        impl $filter {
            #[doc = concat!("Reads portable bytes that hold one ", $noun, " and nothing else.")]
            ///
            /// # Errors
            /// [`DecodeError`](pds_core::error::DecodeError) says what is wrong, and at which offset.
            ///
            /// # Complexity
            /// O(length of the bytes). Allocates no more than the bytes justify.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, pds_core::error::DecodeError> {
                pds_core::bytes::ByteOptions::new().from_bytes(bytes)
            }

            #[doc = concat!("Reads one ", $noun, " from a stream. Leaves what follows it in the reader.")]
            ///
            /// Reads at most 1 GiB. For another limit use [`ByteOptions`](pds_core::bytes::ByteOptions).
            ///
            /// # Errors
            /// [`ReadError`](pds_core::error::ReadError) if reading fails, or if the bytes are wrong.
            #[cfg(feature = "std")]
            pub fn read_from(reader: impl std::io::Read) -> Result<Self, $crate::error::ReadError> {
                pds_core::bytes::ByteOptions::new().read_from(reader)
            }
        }

        impl<S: pds_core::hash::PublicSeed> $filter<S> {
            /// Returns the portable bytes, which contain the seed of the hasher.
            ///
            #[doc = concat!("They depend on the stored ", $what, " and on the sizes alone,")]
            /// not on the order of operations. For a hasher with a
            /// secret key, and for files, use [`ByteOptions`](pds_core::bytes::ByteOptions).
            ///
            /// # Complexity
            /// O(size); allocates the bytes.
            #[must_use]
            pub fn to_bytes(&self) -> alloc::vec::Vec<u8> {
                pds_core::bytes::ByteOptions::new().to_bytes(self)
            }

            /// Writes the portable bytes, 16 KiB at a time.
            ///
            /// # Errors
            /// Those of the writer.
            #[cfg(feature = "std")]
            pub fn write_to(&self, writer: impl std::io::Write) -> std::io::Result<()> {
                pds_core::bytes::ByteOptions::new().write_to(self, writer)
            }
        }

        #[cfg(feature = "serde")]
        impl<S: pds_core::hash::PublicSeed> pds_core::internal::serde::Serialize for $filter<S> {
            fn serialize<Z: pds_core::internal::serde::Serializer>(
                &self,
                serializer: Z,
            ) -> Result<Z::Ok, Z::Error> {
                pds_core::internal::serde::serialize(self, serializer)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, S: pds_core::hash::PortableHasher> pds_core::internal::serde::Deserialize<'de>
            for $filter<S>
        {
            fn deserialize<Z: pds_core::internal::serde::Deserializer<'de>>(
                deserializer: Z,
            ) -> Result<Self, Z::Error> {
                pds_core::internal::serde::deserialize(deserializer)
            }
        }
    };
}
pub(crate) use bytes_methods;

bytes_methods!(QuotientFilter, "filter", "fingerprints");

impl<S: PortableHasher> Portable for QuotientFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::QUOTIENT;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let overflow = overflow_of(&self.table);
        let bits = self.remainder_bits().into();
        let doublings = self.params.doublings().into();
        Shape::new([self.num_slots(), bits, self.len(), overflow, doublings])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let Contents { params, slots, .. } = contents_of(shape)?;
        let bytes = size_in_bytes(slots, params.remainder_bits());
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.table.put(sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let Contents { params, len, slots } = contents_of(shape)?;
        let start = source.offset();
        let table = Table::take(params.num_slots(), params.remainder_bits(), slots, len, source)?;
        check_table(&table, shape, start)?;
        Ok(Self { table, params, hasher })
    }
}

/// The statements of a head.
pub(crate) struct Contents {
    pub(crate) params: QuotientParams,
    /// Number of fingerprints.
    pub(crate) len: u64,
    /// Number of slots, those after the last quotient included.
    pub(crate) slots: u64,
}

/// Returns what a head states, if that is possible.
pub(crate) fn contents_of(shape: &Shape) -> Result<Contents, DecodeError> {
    let numbers = numbers_of(shape)?;
    let [slots, bits, len, overflow, doublings] = numbers.values();
    let params = params_of(&numbers, shape, [slots, bits, doublings])?;
    check(&numbers, LEN, len, 0..=params.capacity())?;
    let slots = slots_of(&numbers, &params, len, (3, overflow))?;
    Ok(Contents { params, len, slots })
}

/// Returns the parameters with these slots, bits per remainder, and doublings left.
pub(crate) fn params_of<const N: usize>(
    numbers: &Numbers<N>,
    shape: &Shape,
    [slots, bits, doublings]: [u64; 3],
) -> Result<QuotientParams, DecodeError> {
    let [bits, doublings] =
        [bits, doublings].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    QuotientParams::from_slots_and_remainder_bits(slots, bits)
        .and_then(|params| params.with_doublings(doublings))
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))
}

/// Returns the number of slots of a filter with `len` entries, if it can have these that overflow. Their number is the one
/// with this index.
pub(crate) fn slots_of<const N: usize>(
    numbers: &Numbers<N>,
    params: &QuotientParams,
    len: u64,
    (index, overflow): (usize, u64),
) -> Result<u64, DecodeError> {
    // Each entry moves the end of the last run by one slot at most.
    check(numbers, OVERFLOW, overflow, 0..=rounded(len))?;
    if !overflow.is_multiple_of(SLOT_GROUP) {
        return Err(numbers.field(index, "a multiple of 8"));
    }
    Ok(rounded(params.num_slots()) + overflow)
}

/// Returns the number of slots behind those of the quotients.
pub(crate) fn overflow_of<W: WordSource>(table: &Table<W>) -> u64 {
    table.slots() as u64 - rounded(table.quotients() as u64)
}

/// Checks that no slots overflow but those before `end`, the slot after the last run.
pub(crate) fn check_overflow<W: WordSource, const N: usize>(
    numbers: &Numbers<N>,
    table: &Table<W>,
    end: usize,
) -> Result<(), DecodeError> {
    let least = rounded(table.quotients() as u64);
    let needed = rounded(end as u64).saturating_sub(least);
    check(numbers, OVERFLOW, overflow_of(table), needed..=needed)
}

/// Returns the number of slots in whole groups.
const fn rounded(slots: u64) -> u64 {
    slots.next_multiple_of(SLOT_GROUP)
}

const LEN: &str = "fingerprints";
pub(crate) const OVERFLOW: &str = "overflow_slots";

fn numbers_of(shape: &Shape) -> Result<Numbers<5>, DecodeError> {
    shape.numbers(["slots", "remainder_bits", LEN, OVERFLOW, "doublings"])
}

/// Checks one of the numbers of a head.
pub(crate) fn check<const N: usize>(
    numbers: &Numbers<N>,
    parameter: &'static str,
    value: u64,
    range: RangeInclusive<u64>,
) -> Result<(), DecodeError> {
    if range.contains(&value) {
        return Ok(());
    }
    let (min, max) = range.into_inner();
    Err(numbers.error(ParamError(ParamFault::OutOfRange { parameter, value, min, max })))
}

/// Checks a payload that begins at offset `start`, in one pass.
///
/// # Errors
/// [`DecodeError`] if the blocks contradict themselves or the head.
pub(crate) fn check_table<W: WordSource>(
    table: &Table<W>,
    shape: &Shape,
    start: u64,
) -> Result<(), DecodeError> {
    let (counted, end) = table.check(start, &mut Ascending::default())?;
    let numbers = numbers_of(shape)?;
    let [.., len, _, _] = numbers.values();
    check(&numbers, LEN, len, counted..=counted)?;
    check_overflow(&numbers, table, end)
}
