use core::ops::Range;

use super::{Envelope, MaybeHasher, Portable};
use crate::error::DecodeError;
use crate::memory::WordSource;

/// Storage of a read-only structure: portable bytes that the structure owns or borrows, read in place.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The structure keeps it, so bytes
/// that are owned or counted need no lifetime. The bytes may start at any address.
///
/// `B::as_ref` should return the same bytes every time. If the bytes change, answers may be wrong. If they become
/// fewer, a read panics. No read ever leaves the slice that `as_ref` returns.
#[derive(Clone, Debug)]
pub struct Stored<B> {
    envelope: Envelope<B>,
    /// Where the payload lies in the bytes.
    payload: Range<usize>,
}

impl<B> Stored<B> {
    /// Returns the bytes.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.envelope.get_ref()
    }
}

#[doc(hidden)]
impl<B: AsRef<[u8]>> Stored<B> {
    /// Checks by its head that an envelope holds a `P`. Returns the storage, and `hasher` or that of the head.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    pub fn open<P: Portable>(
        envelope: Envelope<B>,
        hasher: Option<P::Hasher>,
    ) -> Result<(Self, P::Hasher), DecodeError> {
        envelope.expect::<P>()?;
        let hasher = P::Hasher::of_header(envelope.header(), hasher)?;
        let start = envelope.header().head_bytes();
        let payload = start..start + envelope.payload().len();
        Ok((Self { envelope, payload }, hasher))
    }

    /// Returns the envelope.
    pub const fn envelope(&self) -> &Envelope<B> {
        &self.envelope
    }

    /// Returns the payload.
    ///
    /// # Panics
    /// If the bytes became fewer.
    #[inline(always)]
    pub fn payload(&self) -> &[u8] {
        &self.envelope.get_ref().as_ref()[self.payload.start..self.payload.end]
    }
}

/// Little-endian words at any address.
// Each call asks `as_ref` again: a slice kept beside the bytes would borrow from them, and without `unsafe` a structure
// cannot borrow from itself.
impl<B: AsRef<[u8]>> WordSource for Stored<B> {
    type Word = [u8; 8];

    #[inline(always)]
    fn as_words(&self) -> &[[u8; 8]] {
        self.payload().as_chunks().0
    }

    fn tail(&self) -> u64 {
        let rest = self.payload().as_chunks::<8>().1;
        rest.iter().rev().fold(0, |tail, &byte| tail << 8 | u64::from(byte))
    }

    fn name_of([.., view]: [&'static str; 3]) -> &'static str {
        view
    }
}
