//! Parameters of membership filters, as the comparison uses them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::any::Any;
use core::fmt;

use super::{Abilities, LinesRead};
use crate::params::ParamError;

/// A number of items, and the false-positive rate at that number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Promise {
    pub(crate) items: u64,
    pub(crate) rate: f64,
}

/// Parameters of a membership filter, as the comparison uses them.
pub(crate) trait Design: Clone + fmt::Debug + Send + Sync + 'static {
    /// Finds the smallest filter that keeps the promise.
    fn for_promise(promise: Promise) -> Result<Self, ParamError>;

    /// Finds the filter with the lowest rate for `items` items in at most `bytes` bytes, from 8 to 2^60.
    fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError>;

    /// Returns the size of the payload in bytes.
    fn size_in_bytes(&self) -> u64;

    /// Predicts the mean false-positive rate, with collisions of whole hashes. `None` if `items` do not fit.
    fn rate_at(&self, items: u64) -> Option<f64>;

    /// Returns the number of cache lines that a lookup reads if the filter holds `items` items.
    fn lines_read(&self, items: u64) -> LinesRead;

    /// Returns the call that builds exactly this filter, without the type before it.
    fn constructor(&self, items: u64) -> String;

    /// Returns the call that builds the filter which keeps the promise.
    fn promising(&self, promise: Promise) -> String {
        format!("new({}, {:?})?", literal(promise.items), promise.rate)
    }

    /// Returns the parameters that the structure is built from.
    fn params(&self) -> &dyn Any {
        self
    }
}

/// Returns a number as a Rust literal.
pub(crate) fn literal(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let groups = digits.bytes().enumerate().map(|(i, digit)| (i > 0 && i % 3 == first, digit));
    let mut text = String::new();
    for (starts_group, digit) in groups {
        text.extend(starts_group.then_some('_').into_iter().chain([digit.into()]));
    }
    text
}

/// A [`Design`] of any type.
pub(super) trait AnyDesign: fmt::Debug + Send + Sync {
    fn size_in_bytes(&self) -> u64;
    fn rate_at(&self, items: u64) -> Option<f64>;
    fn lines_read(&self, items: u64) -> LinesRead;
    fn constructor(&self, items: u64) -> String;
    fn promising(&self, promise: Promise) -> String;
    fn params(&self) -> &dyn Any;
    fn boxed(&self) -> Box<dyn AnyDesign>;
}

impl<D: Design> AnyDesign for D {
    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        self.rate_at(items)
    }

    fn lines_read(&self, items: u64) -> LinesRead {
        self.lines_read(items)
    }

    fn constructor(&self, items: u64) -> String {
        self.constructor(items)
    }

    fn promising(&self, promise: Promise) -> String {
        self.promising(promise)
    }

    fn params(&self) -> &dyn Any {
        self.params()
    }

    fn boxed(&self) -> Box<dyn AnyDesign> {
        Box::new(self.clone())
    }
}

/// The sizing of a membership filter, and its abilities.
pub(crate) struct MembershipSizing {
    pub(crate) abilities: Abilities,
    pub(super) for_promise: fn(Promise) -> Result<Box<dyn AnyDesign>, ParamError>,
    pub(super) for_memory: fn(u64, u64) -> Result<Box<dyn AnyDesign>, ParamError>,
}

impl MembershipSizing {
    /// Sizing by the parameters `D`.
    pub(crate) const fn of<D: Design>(abilities: Abilities) -> Self {
        Self {
            abilities,
            for_promise: |promise| Ok(Box::new(D::for_promise(promise)?)),
            for_memory: |bytes, items| Ok(Box::new(D::for_memory(bytes, items)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn literals_are_grouped_from_the_end() {
        let numbers = [0, 12, 999, 1_000, 12_345, 1_234_567, u64::MAX];
        let texts = numbers.map(literal);
        assert_eq!(texts[..5], ["0", "12", "999", "1_000", "12_345"]);
        assert_eq!(texts[5..], ["1_234_567", "18_446_744_073_709_551_615"]);
    }
}
