//! Numbers in arguments, as the server reads them.

use std::str;

/// Reads a whole number: decimal digits without zeros before them, and a sign only before negative ones.
pub(crate) fn integer(bytes: &[u8]) -> Option<i64> {
    let text = str::from_utf8(bytes).ok()?;
    let is_padded = text.starts_with("-0") || text.len() > 1 && text.starts_with('0');
    if is_padded || text.starts_with('+') { None } else { text.parse().ok() }
}

/// Reads a number that is not negative.
pub(crate) fn unsigned(bytes: &[u8]) -> Option<u64> {
    integer(bytes)?.try_into().ok()
}

/// Reads a floating-point number, which is not NaN.
pub(crate) fn double(bytes: &[u8]) -> Option<f64> {
    str::from_utf8(bytes).ok()?.parse().ok().filter(|number: &f64| !number.is_nan())
}
