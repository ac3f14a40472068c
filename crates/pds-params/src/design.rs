//! Design of a shape: the number of items and the rate that it was computed from.

use crate::ParamError;
use crate::check::{check_items, check_rate, is_probability};

/// The number of items and the rate that a shape was computed from, if any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Design {
    /// Number of items, at least 1.
    pub(crate) expected_items: Option<u64>,
    /// Rate promised for this number of items, in (0, 1).
    pub(crate) promised_rate: Option<f64>,
}

impl Design {
    /// The design of a shape that was given as such.
    pub(crate) const NONE: Self = Self { expected_items: None, promised_rate: None };

    /// Promises `rate` for `items`, or no rate if `rate` is 0 or 1 after rounding. A filter with such a rate gives one
    /// answer to all queries.
    pub(crate) fn new(items: u64, rate: f64) -> Self {
        let promised_rate = Some(rate).filter(|&rate| is_probability(rate));
        Self { expected_items: Some(items), promised_rate }
    }

    /// Returns the design that a stored filter states.
    pub(crate) fn stated(
        expected_items: Option<u64>,
        promised_rate: Option<f64>,
    ) -> Result<Self, ParamError> {
        expected_items.map_or(Ok(()), check_items)?;
        promised_rate.map_or(Ok(()), check_rate)?;
        Ok(Self { expected_items, promised_rate })
    }
}

/// Defines the methods of parameters with a field `design`.
// A macro instead of a generic type, so that the documentation of each type of parameters shows the methods.
macro_rules! design_methods {
    () => {
        /// Replaces the design and keeps the shape. Stored filters state their design in this way.
        ///
        /// # Errors
        /// If there are no items. If the rate is not between 0 and 1.
        pub fn with_design(
            self,
            expected_items: Option<u64>,
            promised_rate: Option<f64>,
        ) -> Result<Self, crate::ParamError> {
            let design = crate::design::Design::stated(expected_items, promised_rate)?;
            Ok(Self { design, ..self })
        }

        /// Returns the number of items that the filter is designed for, if any.
        #[must_use]
        pub fn expected_items(&self) -> Option<u64> {
            self.design.expected_items
        }

        /// Returns the false-positive rate promised for that number of items, a fraction, if any.
        #[must_use]
        pub fn promised_rate(&self) -> Option<f64> {
            self.design.promised_rate
        }
    };
}
pub(crate) use design_methods;
