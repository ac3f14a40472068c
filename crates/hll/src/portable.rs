//! Portable bytes of a HyperLogLog.
//!
//! The shape is the precision, the form (0 sparse, 1 dense), and the number of entries of the sparse form. The payload is
//! the coupons in ascending order, 4 bytes each, or the ranks, six bits each.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Numbers, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::hash::{PortableHasher, PublicSeed};
use pds_core::internal::DecodeFault;
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_params::HllParams;

use crate::HyperLogLog;
use crate::coupon::{Coupon, max_rank};
use crate::dense::{Dense, unpack};
use crate::sketch::{Form, Registers};
use crate::sparse::SparseTable;
use crate::storage::OwnedRegisters;

const SPARSE: u64 = 0;
const DENSE: u64 = 1;

// The readers exist for the default hasher only, like `new`: `HyperLogLog::from_bytes(&bytes)` then needs no type.
impl HyperLogLog {
    /// Reads portable bytes that hold one sketch and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one sketch from a stream. Leaves what follows it in the reader.
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

impl<S: PublicSeed, W: OwnedRegisters> HyperLogLog<S, W> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`].
    ///
    /// # Complexity
    /// O(size); allocates the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Writes the portable bytes.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        ByteOptions::new().write_to(self, writer)
    }
}

#[cfg(feature = "serde")]
impl<S: PublicSeed, W: OwnedRegisters> serde::Serialize for HyperLogLog<S, W> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher, W: OwnedRegisters> serde::Deserialize<'de> for HyperLogLog<S, W> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

/// A shared sketch has the bytes of the dense form. If other threads insert meanwhile, each register is written as it
/// is at its own moment.
impl<S: PortableHasher, W: OwnedRegisters> Portable for HyperLogLog<S, W> {
    type Hasher = S;
    const KIND: Kind = Kind::HYPER_LOG_LOG;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let (form, entries) = self.registers.entries().map_or((DENSE, 0), |n| (SPARSE, n));
        Shape::new([self.precision().into(), form, entries])
    }

    fn payload_bytes(&self) -> u64 {
        self.registers.entries().map_or(self.params().packed_bytes(), |entries| 4 * entries)
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let (params, form) = form_of(shape)?;
        let bytes = form.payload_bytes(params);
        Ok(bytes..=bytes)
    }

    fn write_payload<T: Sink>(&self, sink: &mut T) -> Result<(), T::Error> {
        sink.put(&self.registers.payload())
    }

    fn read_payload<T: Source>(shape: &Shape, hasher: S, source: &mut T) -> Result<Self, T::Error> {
        let (params, form) = form_of(shape)?;
        let at = source.offset();
        let payload = take(source, form.payload_bytes(params))?;
        check_plain(params, form, &payload, at)?;
        let form = match form {
            StoredForm::Sparse { .. } => {
                Form::Sparse(SparseTable::of_ascending(params, coupons(&payload)))
            }
            StoredForm::Dense => Form::Dense(Dense::new(ranks(&payload).collect(), params).into()),
        };
        Ok(Self { registers: Registers::from(form).into(), hasher })
    }
}

/// The form of a HyperLogLog, as its shape states it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StoredForm {
    Sparse { entries: u64 },
    Dense,
}

impl StoredForm {
    pub(crate) const fn payload_bytes(self, params: HllParams) -> u64 {
        match self {
            Self::Sparse { entries } => 4 * entries,
            Self::Dense => params.packed_bytes(),
        }
    }
}

/// Returns the parameters and the form that the head of a HyperLogLog states.
pub(crate) fn form_of(shape: &Shape) -> Result<(HllParams, StoredForm), DecodeError> {
    let numbers = shape.numbers(["precision", "the form", "the number of sparse entries"])?;
    let params = params_of(shape, &numbers)?;
    let [_, form, entries] = numbers.values();
    match form {
        SPARSE if entries <= params.max_sparse_entries() => {
            Ok((params, StoredForm::Sparse { entries }))
        }
        SPARSE => Err(numbers.field(2, "at most m / 8")),
        DENSE if entries == 0 => Ok((params, StoredForm::Dense)),
        DENSE => Err(numbers.field(2, "0 in the dense form")),
        _ => Err(numbers.field(1, "0 (sparse) or 1 (dense)")),
    }
}

/// Returns the parameters that a head states.
pub(crate) fn params_of<const N: usize>(
    shape: &Shape,
    numbers: &Numbers<N>,
) -> Result<HllParams, DecodeError> {
    shape.expect_no_design()?;
    let precision = u32::try_from(numbers.values()[0]).unwrap_or(u32::MAX);
    HllParams::new(precision).map_err(|error| numbers.error(error))
}

/// Reads a payload. A shape that was checked allows 256 KiB at most.
#[expect(clippy::cast_possible_truncation, reason = "256 KiB at the most")]
pub(crate) fn take<T: Source>(source: &mut T, length: u64) -> Result<Vec<u8>, T::Error> {
    let mut payload = vec![0; length as usize];
    source.take(&mut payload)?;
    Ok(payload)
}

/// Checks the payload of a HyperLogLog, which starts at offset `at`.
pub(crate) fn check_plain(
    params: HllParams,
    form: StoredForm,
    payload: &[u8],
    at: u64,
) -> Result<(), DecodeError> {
    match form {
        StoredForm::Sparse { .. } => check_sparse(payload, at),
        StoredForm::Dense => check_ranks(ranks(payload), params.precision(), at),
    }
}

/// Lists the coupons of a payload.
fn coupons(payload: &[u8]) -> impl ExactSizeIterator<Item = Coupon> {
    payload.as_chunks().0.iter().map(|&word| Coupon::from_word(u32::from_le_bytes(word)))
}

/// Checks coupons, which must ascend by register.
fn check_sparse(payload: &[u8], at: u64) -> Result<(), DecodeError> {
    let mut last = None;
    for (offset, coupon) in (at..).step_by(4).zip(coupons(payload)) {
        let (name, found) = ("a sparse entry", u64::from(coupon.word()));
        if !coupon.is_possible() {
            let allowed = "of rank 1 to 39";
            return Err(DecodeError::invalid(name, offset, found, allowed));
        }
        if last.is_some_and(|last| last >= coupon.index()) {
            let allowed = "of a greater register";
            return Err(DecodeError::invalid(name, offset, found, allowed));
        }
        last = Some(coupon.index());
    }
    Ok(())
}

/// Lists the ranks of a payload.
pub(crate) fn ranks(payload: &[u8]) -> impl Iterator<Item = u8> {
    payload.as_chunks().0.iter().flat_map(|&packed| unpack(packed))
}

/// Checks that no rank is above the last one.
fn check_ranks(
    ranks: impl Iterator<Item = u8>,
    precision: u32,
    at: u64,
) -> Result<(), DecodeError> {
    match (0..).zip(ranks).find(|&(_, rank)| u32::from(rank) > max_rank(precision)) {
        Some((register, rank)) => Err(DecodeError(DecodeFault::Field {
            name: "a rank",
            offset: at + register * 3 / 4,
            found: rank.into(),
            allowed: "at most 65 - precision",
        })),
        None => Ok(()),
    }
}
