//! Memory that is asked for without an end of the program if it is refused.

use alloc::vec::Vec;

use pds_core::error::AllocError;

/// Allocates this number of zeros.
#[expect(clippy::cast_possible_truncation, reason = "memory for as many is there")]
pub(crate) fn zeroed<T: Clone + Default>(len: u64) -> Result<Vec<T>, AllocError> {
    let mut zeros = reserved(len)?;
    zeros.resize(len as usize, T::default());
    Ok(zeros)
}

/// Collects items, whose number is known.
pub(crate) fn collected<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, AllocError> {
    let mut all = reserved(items.len() as u64)?;
    all.extend(items);
    Ok(all)
}

/// Allocates room for this number of items.
pub(crate) fn reserved<T>(len: u64) -> Result<Vec<T>, AllocError> {
    let refused = AllocError { bytes: len.saturating_mul(size_of::<T>() as u64) };
    let len = usize::try_from(len).map_err(|_| refused)?;
    let mut items = Vec::new();
    items.try_reserve_exact(len).map_err(|_| refused)?;
    Ok(items)
}
