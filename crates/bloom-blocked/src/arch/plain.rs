//! What instructions that the compiler does not see may read.
#![expect(unsafe_code, reason = "a promise that other unsafe code relies on")]

use crate::blocks::StoredBlock;
use crate::layout::{Block, LANES};

/// A block that can be read as a whole.
///
/// # Safety
/// Nobody changes it while it is borrowed, and on a little-endian processor its bytes are those of a [`Block`].
pub(crate) unsafe trait PlainBlock: StoredBlock {}

// SAFETY: numbers without interior mutability.
unsafe impl PlainBlock for Block {}

// SAFETY: as many bytes without interior mutability, each eight of them a little-endian number.
unsafe impl PlainBlock for [u8; 8 * LANES] {}
