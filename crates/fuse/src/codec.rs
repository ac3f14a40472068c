//! The portable bytes of a system.

use core::ops::RangeInclusive;
use pds_core::internal::DecodeFault;

use pds_core::bytes::{Shape, Source};
use pds_core::error::DecodeError;
use pds_core::internal::take_words;
use pds_core::storage::{Stored, WordSource, Words};

use crate::system::{Misfit, RestForm, System, SystemParams};

/// Returns the numbers that a head states.
pub(crate) fn params_of(shape: &Shape) -> Result<SystemParams, DecodeError> {
    let numbers = shape.numbers(SystemParams::NAMES)?;
    shape.expect_no_design()?;
    SystemParams::from_numbers(numbers.values()).map_err(|error| numbers.error(error))
}

/// Returns the lengths in bytes that these numbers allow.
pub(crate) fn payload_range(params: &SystemParams, rest: RestForm) -> RangeInclusive<u64> {
    let words = params.words(rest);
    words.start() * 8..=words.end() * 8
}

/// Reads a system, and checks all of it.
pub(crate) fn read<R: Source>(
    params: SystemParams,
    rest: RestForm,
    source: &mut R,
) -> Result<System<Words>, R::Error> {
    let at = source.offset();
    let words = take_words(source, source.remaining() / 8)?;
    if source.remaining() > 0 {
        let (offset, found) = (source.offset(), source.remaining());
        return Err(DecodeError(DecodeFault::Unread { offset, found }).into());
    }
    let system = System::open(words, params, rest).map_err(|misfit| field(at, misfit))?;
    check(&system, at)?;
    Ok(system)
}

/// Opens a system in stored bytes.
pub(crate) fn open<B: AsRef<[u8]>>(
    words: Stored<B>,
    params: SystemParams,
    rest: RestForm,
) -> Result<System<Stored<B>>, DecodeError> {
    let at = words.envelope().header().payload_offset();
    let found = words.payload().len() as u64 % 8;
    if found > 0 {
        let offset = at + words.payload().len() as u64 - found;
        return Err(DecodeError(DecodeFault::Unread { offset, found }));
    }
    System::open(words, params, rest).map_err(|misfit| field(at, misfit))
}

/// Verifies the checksum and all that the payload could contradict.
pub(crate) fn verify<B: AsRef<[u8]>>(system: &System<Stored<B>>) -> Result<(), DecodeError> {
    let envelope = system.storage().envelope();
    envelope.verify()?;
    check(system, envelope.header().payload_offset())
}

/// Checks the exact list and the unused bits of a payload at offset `at`.
fn check<W: WordSource>(system: &System<W>, at: u64) -> Result<(), DecodeError> {
    if let Some((index, found)) = system.first_unclean() {
        return Err(DecodeError(DecodeFault::Padding { offset: at + 8 * index as u64, found }));
    }
    match system.first_unordered() {
        Some(misfit) => Err(field(at, misfit)),
        None => Ok(()),
    }
}

fn field(at: u64, Misfit { name, index, found, allowed }: Misfit) -> DecodeError {
    DecodeError(DecodeFault::Field { name, offset: at + 8 * index as u64, found, allowed })
}
