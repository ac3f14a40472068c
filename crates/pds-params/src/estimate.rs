//! A number that is known only up to chance.

use core::fmt;

/// An estimated or predicted number with its standard error.
///
/// Of many independent estimates about two thirds lie within one standard error of the truth, and
/// 95 % within two, while the error is close to normal.
///
/// # Examples
/// ```
/// let items = pds_params::bloom::cardinality(10_000, 4, 3_297);
/// assert_eq!(format!("{items:.1}"), "1000.0 ± 7.6");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate, in the unit of what is estimated.
    pub value: f64,
    /// The standard error of `value`, in the same unit.
    pub standard_error: f64,
}

impl fmt::Display for Estimate {
    /// Writes both numbers with the precision of the formatter, one decimal place by default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(1);
        write!(f, "{:.decimals$} ± {:.decimals$}", self.value, self.standard_error)
    }
}
