//! The element that a well-mixed number falls on: what every structure of hashed places asks for.

use super::prefetch;
use crate::hash::reduce;

/// Returns `items[reduce(x, items.len())]`, which is always there: no index is compared with the length.
///
/// # Panics
/// When `items` is empty.
#[inline(always)]
#[must_use]
pub fn reduced<T>(items: &[T], x: u64) -> &T {
    let index = index(items.len(), x);
    // SAFETY: `index` is below the number of items.
    unsafe { items.get_unchecked(index) }
}

/// Returns `items[reduce(x, items.len())]`, as [`reduced`].
///
/// # Panics
/// When `items` is empty.
#[inline(always)]
#[must_use]
pub fn reduced_mut<T>(items: &mut [T], x: u64) -> &mut T {
    let index = index(items.len(), x);
    // SAFETY: `index` is below the number of items.
    unsafe { items.get_unchecked_mut(index) }
}

/// Asks the processor to bring the element that [`reduced`] returns into its cache. Returns its index.
///
/// # Panics
/// When `items` is empty.
#[inline(always)]
pub fn prefetch_reduced<T>(items: &[T], x: u64) -> usize {
    prefetch(core::slice::from_ref(reduced(items, x)), 0);
    index(items.len(), x)
}

/// Below `len`, since x / 2^64 is below 1.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "below a `usize`")]
fn index(len: usize, x: u64) -> usize {
    assert!(len != 0, "no element to fall on");
    let index = reduce(x, len as u64) as usize;
    debug_assert!(index < len);
    index
}
