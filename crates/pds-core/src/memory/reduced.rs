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

/// Returns what [`reduced`] returns of row `row` of `ROWS` rows of `width` items each: neither the place nor the row
/// is compared with the length.
///
/// # Panics
/// When `items` is not exactly so many rows, `row` is not one of them, or `width` is 0.
#[inline(always)]
#[must_use]
pub fn reduced_in_row<const ROWS: usize, T>(items: &[T], width: usize, row: usize, x: u64) -> &T {
    let index = index_in_row(items.len(), ROWS, width, row, x);
    // SAFETY: `index` is below the number of items.
    unsafe { items.get_unchecked(index) }
}

/// Returns an item of a row, as [`reduced_in_row`].
///
/// # Panics
/// When `items` is not exactly so many rows, `row` is not one of them, or `width` is 0.
#[inline(always)]
#[must_use]
pub fn reduced_in_row_mut<const ROWS: usize, T>(
    items: &mut [T],
    width: usize,
    row: usize,
    x: u64,
) -> &mut T {
    let index = index_in_row(items.len(), ROWS, width, row, x);
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

/// Below `len`, since it is below the end of a row, and the rows make up `len`.
#[inline(always)]
fn index_in_row(len: usize, rows: usize, width: usize, row: usize, x: u64) -> usize {
    assert!(row < rows && rows.saturating_mul(width) == len, "no such row");
    let index = row * width + index(width, x);
    debug_assert!(index < len);
    index
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
