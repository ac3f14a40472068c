//! Estimates with a standard error.

use core::fmt;

/// An estimated or predicted number with its standard error.
///
/// If the error is close to normal, about two thirds of the estimates lie within one standard error of the truth, and
/// 95 % within two.
///
/// # Examples
/// ```
/// let items = pds_params::bloom::cardinality(10_000, 4, 3_297);
/// assert_eq!(format!("{items:.1}"), "1000.0 ± 7.6");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate, in the unit of the estimated quantity.
    pub value: f64,
    /// The standard error of `value`, in the same unit.
    pub standard_error: f64,
}

impl fmt::Display for Estimate {
    /// Writes both numbers with the precision of the formatter, by default one decimal place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(1);
        write!(f, "{:.decimals$} ± {:.decimals$}", self.value, self.standard_error)
    }
}
