//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Numbers, Portable, Shape, Sink, Source};
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::error::{DecodeError, ParamError};
use pds_core::hash::{PortableHasher, PublicSeed};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::storage::WordSource;
use pds_params::QuotientParams;
use pds_params::internal::ParamFault;
use pds_params::quotient::{SLOT_GROUP, size_in_bytes};

use crate::QuotientFilter;
use crate::table::Table;

// The readers exist for the default hasher only, like `new`: `QuotientFilter::from_bytes(&bytes)` then needs no type.
impl QuotientFilter {
    /// Reads portable bytes that hold one filter and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one filter from a stream. Leaves what follows it in the reader.
    ///
    /// Reads at most 1 GiB. For another limit use [`ByteOptions`].
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        ByteOptions::new().read_from(reader)
    }
}

impl<S: PublicSeed> QuotientFilter<S> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// They depend on the stored fingerprints and on the sizes alone, not on the order of operations. For a hasher with a
    /// secret key, and for files, use [`ByteOptions`].
    ///
    /// # Complexity
    /// O(size); allocates the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Writes the portable bytes, 16 KiB at a time.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        ByteOptions::new().write_to(self, writer)
    }
}

#[cfg(feature = "serde")]
impl<S: PublicSeed> serde::Serialize for QuotientFilter<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for QuotientFilter<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for QuotientFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::QUOTIENT;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let overflow = self.table.slots() as u64 - rounded(self.num_slots());
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

/// What a head states.
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
    let [bits, doublings] =
        [bits, doublings].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let params = QuotientParams::from_slots_and_remainder_bits(slots, bits)
        .and_then(|params| params.with_doublings(doublings))
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))?;
    check(&numbers, LEN, len, 0..=params.capacity())?;
    // Each fingerprint moves the end of the last run by one slot at most.
    check(&numbers, OVERFLOW, overflow, 0..=rounded(len))?;
    if !overflow.is_multiple_of(SLOT_GROUP) {
        return Err(numbers.field(3, "a multiple of 8"));
    }
    Ok(Contents { params, len, slots: rounded(slots) + overflow })
}

/// Returns the number of slots in whole groups.
const fn rounded(slots: u64) -> u64 {
    slots.next_multiple_of(SLOT_GROUP)
}

const LEN: &str = "fingerprints";
const OVERFLOW: &str = "overflow_slots";

fn numbers_of(shape: &Shape) -> Result<Numbers<5>, DecodeError> {
    shape.numbers(["slots", "remainder_bits", LEN, OVERFLOW, "doublings"])
}

fn check(
    numbers: &Numbers<5>,
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
    let (counted, end) = table.check(start)?;
    let (numbers, least) = (numbers_of(shape)?, rounded(table.quotients() as u64));
    let [.., len, overflow, _] = numbers.values();
    check(&numbers, LEN, len, counted..=counted)?;
    let needed = rounded(end as u64).saturating_sub(least);
    check(&numbers, OVERFLOW, overflow, needed..=needed)
}
