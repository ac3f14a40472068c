use super::WordSource;
use super::source::sealed::Sealed;

/// Storage of a read-only structure: raw little-endian words in bytes of the type `B`, without an envelope.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The structure keeps it. The bytes
/// may start at any address.
///
/// `B::as_ref` should return the same bytes every time. If the bytes change, answers may be wrong. If they become
/// fewer, a read panics. No read ever leaves the slice that `as_ref` returns.
#[derive(Clone, Copy, Debug)]
pub struct RawBytes<B>(B);

impl<B> RawBytes<B> {
    #[doc(hidden)]
    pub const fn new(bytes: B) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        &self.0
    }
}

impl<B: AsRef<[u8]>> Sealed for RawBytes<B> {}

impl<B: AsRef<[u8]>> WordSource for RawBytes<B> {
    type Word = [u8; 8];
    const IS_FIXED: bool = false;

    #[inline(always)]
    fn as_words(&self) -> &[[u8; 8]] {
        self.0.as_ref().as_chunks().0
    }

    fn name_of([.., view]: [&'static str; 3]) -> &'static str {
        view
    }
}
