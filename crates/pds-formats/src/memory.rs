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

#[cfg(test)]
mod tests {
    use super::{collected, reserved, zeroed};

    #[test]
    fn memory_that_cannot_be_is_an_error() {
        assert_eq!(zeroed::<u64>(u64::MAX).unwrap_err().bytes, u64::MAX);
        assert_eq!(reserved::<u32>(1 << 61).unwrap_err().bytes, 1 << 63);
        assert_eq!(zeroed::<u8>(3), Ok(alloc::vec![0; 3]));
        assert_eq!(collected([7, 8].into_iter()), Ok(alloc::vec![7, 8]));
    }
}
