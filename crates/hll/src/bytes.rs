//! Portable bytes.
//!
//! Shape of a HyperLogLog: precision, form (0 sparse, 1 dense), entries of the sparse form. Payload: the
//! coupons in ascending order, 4 bytes each; or the ranks, six bits each. Shape of an UltraLogLog: precision;
//! payload: the registers.

use alloc::vec;
use alloc::vec::Vec;

use pds_core::Kind;
use pds_core::bytes::{Header, Portable, Shape};
use pds_core::internal::{Sink, Source, portable_methods};
use pds_core::{DecodeError, PortableHasher};
use pds_params::HllParams;

#[cfg(target_has_atomic = "8")]
use crate::AtomicHyperLogLog;
use crate::coupon::{Coupon, max_rank};
use crate::sketch::Form;
use crate::sparse::SparseTable;
use crate::ultra::is_possible;
use crate::{HyperLogLog, UltraLogLog, dense};

/// Where the numbers of the shape stand in the header, in bytes.
const SHAPE_AT: u64 = 56;

const SPARSE: u64 = 0;
pub(crate) const DENSE: u64 = 1;

impl<S: PortableHasher> Portable for HyperLogLog<S> {
    type Hasher = S;

    const KIND: Kind = Kind::HyperLogLog;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        match self.form() {
            Form::Sparse(table) => shape_of(self.params(), SPARSE, table.len() as u64),
            Form::Dense(_) => shape_of(self.params(), DENSE, 0),
        }
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        shape.expect_unused(3)?;
        let params = params_of(shape)?;
        let [_, form, entries, ..] = shape.numbers;
        match form {
            SPARSE if entries <= params.max_sparse_entries() => Ok(4 * entries),
            SPARSE => Err(number(2, "the number of sparse entries", entries, "at most m / 8")),
            DENSE if entries == 0 => Ok(params.packed_bytes()),
            DENSE => Err(number(2, "the number of sparse entries", entries, "0 in the dense form")),
            _ => Err(number(1, "the form", form, "0 (sparse) or 1 (dense)")),
        }
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
        let params = params_of(shape)?;
        let payload = take(source, Self::payload_bytes(shape)?)?;
        check_plain(shape, &payload)?;
        if shape.numbers[1] == SPARSE {
            let table = SparseTable::of_ascending(params, coupons(&payload));
            return Ok(Self::from_parts(Form::Sparse(table), hasher));
        }
        let quads = payload.as_chunks().0.iter().map(|&packed| dense::unpack(packed));
        let registers = quads.collect::<Vec<_>>().into_flattened();
        Ok(Self::from_registers(registers, params, hasher))
    }
}

fn shape_of(params: HllParams, form: u64, entries: u64) -> Shape {
    let numbers = [params.precision().into(), form, entries, 0, 0, 0];
    Shape { numbers, ..Shape::default() }
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

/// Checks the payload of a HyperLogLog, whose shape was checked.
pub(crate) fn check_plain(shape: &Shape, payload: &[u8]) -> Result<(), DecodeError> {
    match shape.numbers[1] {
        SPARSE => check_sparse(payload),
        _ => check_ranks(ranks(payload), params_of(shape)?.precision()),
    }
}

/// The coupons of a payload.
fn coupons(payload: &[u8]) -> impl ExactSizeIterator<Item = Coupon> {
    payload.as_chunks().0.iter().map(|&word| Coupon::from_word(u32::from_le_bytes(word)))
}

/// Checks coupons, which must ascend by register.
fn check_sparse(payload: &[u8]) -> Result<(), DecodeError> {
    let mut last = None;
    for (at, coupon) in (0..).zip(coupons(payload)) {
        let found = u64::from(coupon.word());
        if !coupon.is_possible() {
            return Err(payload_field(4 * at, "a sparse entry", found, "of rank 1 to 39"));
        }
        if last.is_some_and(|last| last >= coupon.index()) {
            return Err(payload_field(4 * at, "a sparse entry", found, "of a greater register"));
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
fn check_ranks(ranks: impl Iterator<Item = u8>, precision: u32) -> Result<(), DecodeError> {
    match (0..).zip(ranks).find(|&(_, rank)| u32::from(rank) > max_rank(precision)) {
        Some((register, rank)) => {
            Err(payload_field(register * 3 / 4, "a rank", rank.into(), "at most 65 - precision"))
        }
        None => Ok(()),
    }
}

/// Checks the registers of an UltraLogLog.
pub(crate) fn check_ultra(registers: &[u8], precision: u32) -> Result<(), DecodeError> {
    match (0..).zip(registers).find(|&(_, &register)| !is_possible(register, precision)) {
        Some((at, &register)) => {
            Err(payload_field(at, "a register", register.into(), "one that keys can leave"))
        }
        None => Ok(()),
    }
}

/// The bytes of the dense form. Those taken during inserts are no snapshot.
#[cfg(target_has_atomic = "8")]
impl<S: PortableHasher> Portable for AtomicHyperLogLog<S> {
    type Hasher = S;

    const KIND: Kind = Kind::HyperLogLog;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of(self.params(), DENSE, 0)
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        HyperLogLog::<S>::payload_bytes(shape)
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

    const KIND: Kind = Kind::UltraLogLog;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of(self.params(), 0, 0)
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        shape.expect_unused(1)?;
        params_of(shape).map(HllParams::num_registers)
    }

    fn write_payload<T: Sink>(&self, sink: &mut T) -> Result<(), T::Error> {
        sink.put(self.registers())
    }

    fn read_payload<T: Source>(shape: &Shape, hasher: S, source: &mut T) -> Result<Self, T::Error> {
        let params = params_of(shape)?;
        let registers = take(source, params.num_registers())?;
        check_ultra(&registers, params.precision())?;
        Ok(Self::from_parts(registers, params, hasher))
    }
}

/// The parameters that a header states.
pub(crate) fn params_of(shape: &Shape) -> Result<HllParams, DecodeError> {
    shape.expect_no_design()?;
    let precision = u32::try_from(shape.numbers[0]).unwrap_or(u32::MAX);
    HllParams::new(precision).map_err(Shape::error)
}

/// A number of the shape that cannot be.
fn number(at: usize, name: &'static str, found: u64, allowed: &'static str) -> DecodeError {
    DecodeError::Field { name, offset: SHAPE_AT + 8 * at as u64, found, allowed }
}

/// A value in the payload that cannot be.
fn payload_field(at: u64, name: &'static str, found: u64, allowed: &'static str) -> DecodeError {
    DecodeError::Field { name, offset: Header::BYTES as u64 + at, found, allowed }
}

portable_methods!(HyperLogLog);
#[cfg(target_has_atomic = "8")]
portable_methods!(AtomicHyperLogLog);
portable_methods!(UltraLogLog);
