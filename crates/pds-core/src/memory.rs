//! Words of memory for large structures: cache-line aligned, zeroed lazily, refused politely.
#![expect(
    unsafe_code,
    reason = "the one place of the workspace, beside `arch/` folders, that is allowed to"
)]

#[cfg(target_has_atomic = "64")]
mod atomic;
mod bits;
mod lanes;
#[cfg(feature = "map")]
mod map;
mod prefetch;
mod raw;
mod reduced;
mod source;
mod words;

#[cfg(target_has_atomic = "64")]
pub use atomic::{AtomicU64, AtomicWords, set_bits};
pub use bits::{BitWords, Bits, BitsMut};
pub use lanes::{Lane, reorder_lanes};
#[cfg(feature = "map")]
pub use map::MappedFile;
pub use prefetch::prefetch;
pub use raw::RawBytes;
pub use reduced::{prefetch_reduced, reduced, reduced_in_row, reduced_in_row_mut, reduced_mut};
pub use source::{OwnedWords, StoredWord, WordSource};
pub use words::{LINE_BYTES, Words};
