//! Membership filters with a size.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::any::Any;

use super::design::AnyDesign;
use super::{Abilities, LinesRead, MembershipSizing, Promise};
use crate::DynFilter;
use crate::error::AllocError;
use crate::hash::PortableHasher;
use crate::params::ParamError;
use crate::params::bloom::MAX_BITS;
use crate::registry::Structure;
use pds_params::internal::ParamFault;

/// A membership filter with its size for a number of items, and the properties that follow.
///
/// # Examples
/// ```
/// use pds::compare::Candidate;
/// use pds::registry;
///
/// let filter = Candidate::new(&registry::CUCKOO, 1_000_000, 0.001)?;
/// assert_eq!(format!("{:.1}", filter.bits_per_item()), "13.7");
/// assert!(filter.rate() <= 0.001);
/// // A twentieth more than it was sized for, and it is full.
/// assert_eq!(filter.rate_at(1_050_000), None);
/// assert_eq!(filter.expression(), "pds::CuckooFilter::new(1_000_000, 0.001)?");
/// # Ok::<(), pds::error::ParamError>(())
/// ```
#[derive(Debug)]
pub struct Candidate {
    structure: &'static Structure,
    abilities: Abilities,
    design: Box<dyn AnyDesign>,
    items: u64,
    /// The rate that it was sized for. `None` if it was sized by its memory.
    promised: Option<f64>,
}

impl Candidate {
    /// Sizes `structure` for `items` distinct keys and a false-positive rate of at most `rate`.
    ///
    /// # Errors
    /// [`ParamError`] if the structure cannot have such a rate, or so many items, or is not a membership filter.
    pub fn new(structure: &'static Structure, items: u64, rate: f64) -> Result<Self, ParamError> {
        let sizing = sizing(structure)?;
        let design = (sizing.for_promise)(Promise { items, rate })?;
        Ok(Self { structure, abilities: sizing.abilities, design, items, promised: Some(rate) })
    }

    /// Finds the lowest rate at which `structure` holds `items` distinct keys in at most `bytes` bytes.
    ///
    /// # Errors
    /// [`ParamError`] if they do not fit at any rate, or if the structure is not a membership filter.
    ///
    /// # Examples
    /// ```
    /// use pds::compare::Candidate;
    /// use pds::registry;
    ///
    /// let filter = Candidate::for_memory(&registry::BLOOM, 64 << 20, 10_000_000)?;
    /// assert!(filter.rate() < 1e-11);
    /// # Ok::<(), pds::error::ParamError>(())
    /// ```
    pub fn for_memory(
        structure: &'static Structure,
        bytes: u64,
        items: u64,
    ) -> Result<Self, ParamError> {
        in_range("expected_items", items, 1, u64::MAX)?;
        in_range("bytes", bytes, 8, MAX_BITS / 8)?;
        let sizing = sizing(structure)?;
        let design = (sizing.for_memory)(bytes, items)?;
        Ok(Self { structure, abilities: sizing.abilities, design, items, promised: None })
    }

    /// Finds the most items for which `structure` keeps `rate` in at most `bytes` bytes. For a ribbon filter this is the expected
    /// size.
    ///
    /// # Errors
    /// [`ParamError`] if not even one item fits, or if the structure is not a membership filter.
    ///
    /// # Complexity
    /// About twice as many sizings as the number of items has bits.
    ///
    /// # Examples
    /// ```
    /// use pds::compare::Candidate;
    /// use pds::registry;
    ///
    /// let filter = Candidate::of_most_items(&registry::BLOOM, 64 << 20, 0.01)?;
    /// assert_eq!(filter.items(), 55_965_125);
    /// # Ok::<(), pds::error::ParamError>(())
    /// ```
    pub fn of_most_items(
        structure: &'static Structure,
        bytes: u64,
        rate: f64,
    ) -> Result<Self, ParamError> {
        let single = Self::new(structure, 1, rate)?;
        let fits = |items| {
            Self::new(structure, items, rate).is_ok_and(|filter| filter.size_in_bytes() <= bytes)
        };
        let Some(items) = greatest(u64::MAX, fits) else {
            let (min, max) = (single.size_in_bytes(), u64::MAX);
            return Err(ParamError(ParamFault::OutOfRange {
                parameter: "bytes",
                value: bytes,
                min,
                max,
            }));
        };
        Self::new(structure, items, rate)
    }

    /// Returns the structure.
    #[must_use]
    pub const fn structure(&self) -> &'static Structure {
        self.structure
    }

    /// Returns the parameters to build it from, if they are of the type `P`.
    ///
    /// # Examples
    /// ```
    /// use pds::compare::Candidate;
    /// use pds::params::CuckooParams;
    /// use pds::registry;
    ///
    /// let filter = Candidate::new(&registry::CUCKOO, 1_000_000, 0.001)?;
    /// let params: &CuckooParams = filter.params().expect("those of a cuckoo filter");
    /// assert_eq!(params.fingerprint_bits(), 13);
    /// # Ok::<(), pds::error::ParamError>(())
    /// ```
    #[must_use]
    pub fn params<P: Any>(&self) -> Option<&P> {
        self.any_params().downcast_ref()
    }

    pub(crate) fn any_params(&self) -> &dyn Any {
        self.design.params()
    }

    /// Returns the Rust expression that builds it: `pds::BloomFilter::new(1_000, 0.01)?`.
    #[must_use]
    pub fn expression(&self) -> String {
        let call = match self.promised {
            Some(rate) => self.design.promising(Promise { items: self.items, rate }),
            None => self.design.constructor(self.items),
        };
        format!("{}::{call}", self.structure.path())
    }

    /// Builds the empty filter. `None` if [`DynFilter`] holds no such structure, if its feature is off, or if it is built
    /// from all of its keys at once.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    ///
    /// # Examples
    #[cfg_attr(feature = "cuckoo", doc = "```")]
    #[cfg_attr(not(feature = "cuckoo"), doc = "```ignore")]
    /// use pds::compare::Candidate;
    /// use pds::hash::DefaultHashBuilder;
    /// use pds::{DynFilter, registry};
    ///
    /// // The value of a setting.
    /// let setting = "CuckooFilter";
    /// let structure = registry::filters().find(|one| one.type_name == setting).expect("a filter");
    /// let candidate = Candidate::new(structure, 1_000, 0.01)?;
    /// let mut filter: DynFilter =
    ///     candidate.build(DefaultHashBuilder::default()).expect("a filter of this crate")?;
    /// filter.insert("here")?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn build<S>(&self, hasher: S) -> Option<Result<DynFilter<S>, AllocError>>
    where
        S: PortableHasher + Clone + Send + Sync + 'static,
    {
        DynFilter::of_candidate(self, hasher)
    }

    /// Returns the number of distinct keys that it is sized for.
    #[must_use]
    pub const fn items(&self) -> u64 {
        self.items
    }

    /// Returns the size of its payload in bytes. That of a ribbon filter depends on the keys, and this is the expected one.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.design.size_in_bytes()
    }

    /// Returns the number of bits per item.
    #[must_use]
    pub fn bits_per_item(&self) -> f64 {
        8.0 * self.size_in_bytes() as f64 / self.items as f64
    }

    /// Predicts the mean false-positive rate at the items that it is sized for.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate_at(self.items).unwrap_or(1.0)
    }

    /// Predicts the mean false-positive rate at another number of items. `None` if they do not fit.
    ///
    /// It includes absent keys whose 64-bit hash equals a stored one.
    #[must_use]
    pub fn rate_at(&self, items: u64) -> Option<f64> {
        self.design.rate_at(items).map(|rate| rate.min(1.0))
    }

    /// Returns the number of cache lines that a lookup reads.
    #[must_use]
    pub fn lines_read(&self) -> LinesRead {
        self.design.lines_read(self.items)
    }

    /// Returns the abilities of the structure.
    #[must_use]
    pub const fn abilities(&self) -> Abilities {
        self.abilities
    }
}

impl Clone for Candidate {
    fn clone(&self) -> Self {
        Self { design: self.design.boxed(), ..*self }
    }
}

fn sizing(structure: &'static Structure) -> Result<&'static MembershipSizing, ParamError> {
    structure
        .membership
        .as_ref()
        .ok_or(ParamError(ParamFault::Missing { parameter: "membership filter" }))
}

fn in_range(parameter: &'static str, value: u64, min: u64, max: u64) -> Result<(), ParamError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }))
}

/// Returns the greatest number up to `max` for which `holds` is true. `holds` must be true from 1 up to some number,
/// and false above it.
fn greatest(max: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(1) {
        return None;
    }
    let (mut good, mut bad) = (1, 2);
    while bad < max && holds(bad) {
        (good, bad) = (bad, bad.saturating_mul(2));
    }
    if bad >= max {
        if holds(max) {
            return Some(max);
        }
        bad = max;
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}

#[cfg(test)]
mod tests {
    use super::greatest;

    #[test]
    fn the_greatest_number_is_found_wherever_it_is() {
        for limit in 1..200 {
            assert_eq!(greatest(1_000, |n| n <= limit), Some(limit));
            assert_eq!(greatest(limit, |_| true), Some(limit));
        }
        assert_eq!(greatest(10, |_| false), None);
        assert_eq!(greatest(u64::MAX, |n| n < u64::MAX), Some(u64::MAX - 1));
        assert_eq!(greatest(u64::MAX, |_| true), Some(u64::MAX));
    }
}
