//! Portable bytes.
//!
//! Shape of a HyperLogLog: precision, form (0 sparse, 1 dense), entries of the sparse form. Payload: the
//! coupons in ascending order, 4 bytes each; or the ranks, six bits each. Shape of an UltraLogLog: precision;
//! payload: the registers.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use pds_core::Kind;
use pds_core::bytes::{Numbers, Portable, Shape, Sink, Source};
use pds_core::internal::portable_methods;
use pds_core::{DecodeError, PortableHasher};
use pds_params::HllParams;

#[cfg(target_has_atomic = "8")]
use crate::AtomicHyperLogLog;
use crate::coupon::{Coupon, max_rank};
use crate::sketch::Form;
use crate::sparse::SparseTable;
use crate::ultra::is_possible;
use crate::{HyperLogLog, UltraLogLog, dense};

const SPARSE: u64 = 0;
const DENSE: u64 = 1;

impl<S: PortableHasher> Portable for HyperLogLog<S> {
    type Hasher = S;

    const KIND: Kind = Kind::HYPER_LOG_LOG;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        match self.form() {
            Form::Sparse(table) => shape_of(self.params(), SPARSE, table.len() as u64),
            Form::Dense(_) => shape_of(self.params(), DENSE, 0),
        }
    }

    fn payload_bytes(&self) -> u64 {
        match self.form() {
            Form::Sparse(table) => 4 * table.len() as u64,
            Form::Dense(_) => self.params().packed_bytes(),
        }
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let (params, form) = plain_of(shape)?;
        let bytes = form.payload_bytes(params);
        Ok(bytes..=bytes)
    }

    fn write_payload<T: Sink>(&self, sink: &mut T) -> Result<(), T::Error> {
        match self.form() {
            Form::Sparse(table) => {
                let words: Vec<_> = table.sorted().iter().map(|c| c.word().to_le_bytes()).collect();
                sink.put(words.as_flattened())
            }
            Form::Dense(dense) => sink.put(&packed(dense.registers())),
        }
    }

    fn read_payload<T: Source>(shape: &Shape, hasher: S, source: &mut T) -> Result<Self, T::Error> {
        let (params, form) = plain_of(shape)?;
        let at = source.offset();
        let payload = take(source, form.payload_bytes(params))?;
        check_plain(params, form, &payload, at)?;
        if let StoredForm::Sparse { .. } = form {
            let table = SparseTable::of_ascending(params, coupons(&payload));
            return Ok(Self::from_parts(Form::Sparse(table), hasher));
        }
        let quads = payload.as_chunks().0.iter().map(|&packed| dense::unpack(packed));
        let registers = quads.collect::<Vec<_>>().into_flattened();
        Ok(Self::from_registers(registers, params, hasher))
    }
}

fn shape_of(params: HllParams, form: u64, entries: u64) -> Shape {
    Shape::new([params.precision().into(), form, entries])
}

/// The form of a HyperLogLog by its shape.
#[derive(Clone, Copy)]
pub(crate) enum StoredForm {
    Sparse { entries: u64 },
    Dense,
}

impl StoredForm {
    const fn payload_bytes(self, params: HllParams) -> u64 {
        match self {
            Self::Sparse { entries } => 4 * entries,
            Self::Dense => params.packed_bytes(),
        }
    }
}

/// The parameters that the head of a HyperLogLog states, and the form.
pub(crate) fn plain_of(shape: &Shape) -> Result<(HllParams, StoredForm), DecodeError> {
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

/// The parameters that the head of an UltraLogLog states.
pub(crate) fn ultra_of(shape: &Shape) -> Result<HllParams, DecodeError> {
    params_of(shape, &shape.numbers(["precision"])?)
}

fn params_of<const N: usize>(
    shape: &Shape,
    numbers: &Numbers<N>,
) -> Result<HllParams, DecodeError> {
    shape.expect_no_design()?;
    let precision = u32::try_from(numbers.values()[0]).unwrap_or(u32::MAX);
    HllParams::new(precision).map_err(|error| numbers.error(error))
}

/// The ranks, six bits each.
fn packed(registers: &[u8]) -> Vec<u8> {
    registers.as_chunks().0.iter().flat_map(|&ranks| dense::pack(ranks)).collect()
}

/// Reads a payload: 256 KiB at the most, by a shape that was checked.
#[expect(clippy::cast_possible_truncation, reason = "256 KiB at the most")]
fn take<T: Source>(source: &mut T, length: u64) -> Result<Vec<u8>, T::Error> {
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

/// The coupons of a payload.
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
            return Err(DecodeError::Field { name, offset, found, allowed });
        }
        if last.is_some_and(|last| last >= coupon.index()) {
            let allowed = "of a greater register";
            return Err(DecodeError::Field { name, offset, found, allowed });
        }
        last = Some(coupon.index());
    }
    Ok(())
}

/// The ranks of a payload.
pub(crate) fn ranks(payload: &[u8]) -> impl Iterator<Item = u8> {
    payload.as_chunks().0.iter().flat_map(|&packed| dense::unpack(packed))
}

/// Checks ranks, none of which may be above the last one.
fn check_ranks(
    ranks: impl Iterator<Item = u8>,
    precision: u32,
    at: u64,
) -> Result<(), DecodeError> {
    match (0..).zip(ranks).find(|&(_, rank)| u32::from(rank) > max_rank(precision)) {
        Some((register, rank)) => Err(DecodeError::Field {
            name: "a rank",
            offset: at + register * 3 / 4,
            found: rank.into(),
            allowed: "at most 65 - precision",
        }),
        None => Ok(()),
    }
}

/// Checks the registers of an UltraLogLog.
pub(crate) fn check_ultra(registers: &[u8], precision: u32, at: u64) -> Result<(), DecodeError> {
    match (at..).zip(registers).find(|&(_, &register)| !is_possible(register, precision)) {
        Some((offset, &register)) => Err(DecodeError::Field {
            name: "a register",
            offset,
            found: register.into(),
            allowed: "one that keys can leave",
        }),
        None => Ok(()),
    }
}

/// The bytes of the dense form. Those taken during inserts are no snapshot.
#[cfg(target_has_atomic = "8")]
impl<S: PortableHasher> Portable for AtomicHyperLogLog<S> {
    type Hasher = S;

    const KIND: Kind = Kind::HYPER_LOG_LOG;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of(self.params(), DENSE, 0)
    }

    fn payload_bytes(&self) -> u64 {
        self.params().packed_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        HyperLogLog::<S>::payload_range(shape)
    }

    fn write_payload<T: Sink>(&self, sink: &mut T) -> Result<(), T::Error> {
        sink.put(&packed(&self.ranks()))
    }

    fn read_payload<T: Source>(shape: &Shape, hasher: S, source: &mut T) -> Result<Self, T::Error> {
        HyperLogLog::read_payload(shape, hasher, source).map(Self::from)
    }
}

impl<S: PortableHasher> Portable for UltraLogLog<S> {
    type Hasher = S;

    const KIND: Kind = Kind::ULTRA_LOG_LOG;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.params().precision().into()])
    }

    fn payload_bytes(&self) -> u64 {
        self.params().num_registers()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = ultra_of(shape)?.num_registers();
        Ok(bytes..=bytes)
    }

    fn write_payload<T: Sink>(&self, sink: &mut T) -> Result<(), T::Error> {
        sink.put(self.registers())
    }

    fn read_payload<T: Source>(shape: &Shape, hasher: S, source: &mut T) -> Result<Self, T::Error> {
        let (params, at) = (ultra_of(shape)?, source.offset());
        let registers = take(source, params.num_registers())?;
        check_ultra(&registers, params.precision(), at)?;
        Ok(Self::from_parts(registers, params, hasher))
    }
}

portable_methods!(HyperLogLog);
#[cfg(target_has_atomic = "8")]
portable_methods!(AtomicHyperLogLog);
portable_methods!(UltraLogLog);
