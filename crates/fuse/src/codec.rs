//! The portable bytes of systems.

use pds_core::bytes::Source;
use pds_core::error::DecodeError;
use pds_core::internal::{DecodeFault, StoredWord, Words, take_words};
use pds_core::storage::Stored;

use crate::system::{Misfit, System};

/// Reads the words of a payload, all of which it has.
pub(crate) fn take_all<R: Source>(source: &mut R) -> Result<Words, R::Error> {
    let words = take_words(source, source.remaining() / 8)?;
    match source.remaining() {
        0 => Ok(words),
        found => Err(unread(source.offset(), found).into()),
    }
}

/// Checks that the payload of a view is a number of words.
pub(crate) fn check_whole<B: AsRef<[u8]>>(words: &Stored<B>) -> Result<(), DecodeError> {
    let len = words.payload().len() as u64;
    match len % 8 {
        0 => Ok(()),
        found => Err(unread(payload_offset(words) + len - found, found)),
    }
}

/// Returns the offset of the payload of a view.
pub(crate) fn payload_offset<B: AsRef<[u8]>>(words: &Stored<B>) -> u64 {
    words.envelope().header().payload_offset()
}

/// Checks the unused bits and the exact list of a system whose words begin at offset `at`.
pub(crate) fn check<V: StoredWord>(
    system: &System,
    words: &[V],
    at: u64,
) -> Result<(), DecodeError> {
    if let Some((index, found)) = system.first_unclean(words) {
        return Err(DecodeError(DecodeFault::Padding { offset: at + 8 * index as u64, found }));
    }
    system.first_wrong_in_rest(words).map_or(Ok(()), |misfit| Err(misfit.at(at)))
}

const fn unread(offset: u64, found: u64) -> DecodeError {
    DecodeError(DecodeFault::Unread { offset, found })
}

impl Misfit {
    /// Returns the error of a word of a system whose words begin at offset `at`.
    pub(crate) fn at(self, at: u64) -> DecodeError {
        let Self { name, index, found, allowed } = self;
        DecodeError::invalid(name, at + 8 * index as u64, found, allowed)
    }
}
