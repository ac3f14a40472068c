//! What the shape of a filter was designed for.

use crate::ParamError;
use crate::check::{check_items, check_rate, is_probability};

/// The items and the rate that a shape was computed from, where it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Design {
    /// Number of items, at least 1.
    pub(crate) expected_items: Option<u64>,
    /// Rate promised for them, in (0, 1).
    pub(crate) promised_rate: Option<f64>,
}

impl Design {
    /// A shape that was taken as it is.
    pub(crate) const NONE: Self = Self { expected_items: None, promised_rate: None };

    /// Promises `rate` for `items`, or nothing where it is 0 or 1 to the last bit of a float: that is the
    /// rate of a filter which answers alike always.
    pub(crate) fn new(items: u64, rate: f64) -> Self {
        let promised_rate = Some(rate).filter(|&rate| is_probability(rate));
        Self { expected_items: Some(items), promised_rate }
    }

    /// Takes what a stored filter states.
    pub(crate) fn stated(
        expected_items: Option<u64>,
        promised_rate: Option<f64>,
    ) -> Result<Self, ParamError> {
        expected_items.map_or(Ok(()), check_items)?;
        promised_rate.map_or(Ok(()), check_rate)?;
        Ok(Self { expected_items, promised_rate })
    }
}

/// Gives parameters with the field `design` the methods on it.
///
/// A macro and no generic type, so that the documentation of each kind of parameters shows them.
macro_rules! design_methods {
    () => {
        /// States what the shape was designed for, as a stored filter does; the shape stays as it is.
        ///
        /// # Errors
        /// [`ParamError::OutOfRange`](crate::ParamError::OutOfRange) for no items,
        /// [`ParamError::NotAProbability`](crate::ParamError::NotAProbability) for a rate that is not
        /// between 0 and 1.
        pub fn with_design(
            self,
            expected_items: Option<u64>,
            promised_rate: Option<f64>,
        ) -> Result<Self, crate::ParamError> {
            let design = crate::design::Design::stated(expected_items, promised_rate)?;
            Ok(Self { design, ..self })
        }

        /// The number of items that the filter is designed for, if it is.
        #[must_use]
        pub fn expected_items(&self) -> Option<u64> {
            self.design.expected_items
        }

        /// The false-positive rate promised for that number of items, a fraction.
        #[must_use]
        pub fn promised_rate(&self) -> Option<f64> {
            self.design.promised_rate
        }
    };
}
pub(crate) use design_methods;
