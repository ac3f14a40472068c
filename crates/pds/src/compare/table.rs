//! A table of all membership filters.

use alloc::vec::Vec;

use super::Candidate;
use crate::params::ParamError;
use crate::registry::{Structure, filters};
use pds_params::internal::ParamFault;

/// All membership filters for one promise, the best first.
#[derive(Debug, Clone)]
pub struct Comparison {
    rows: Vec<(&'static Structure, Result<Candidate, ParamError>)>,
}

impl Comparison {
    /// Sizes all structures. Keeps the error of those that cannot be sized.
    fn of(
        size: impl Fn(&'static Structure) -> Result<Candidate, ParamError>,
        order: impl Fn(&Candidate) -> (u64, u64),
    ) -> Result<Self, ParamError> {
        let mut rows: Vec<_> = filters().map(|structure| (structure, size(structure))).collect();
        // Equal structures stay in the order of the registry.
        rows.sort_by_cached_key(|(_, row)| row.as_ref().map_or((u64::MAX, u64::MAX), &order));
        match rows.first() {
            Some(&(_, Err(error))) => Err(error),
            _ => Ok(Self { rows }),
        }
    }

    /// Returns the structures that can keep the promise, the best first.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.rows.iter().filter_map(|(_, row)| row.as_ref().ok())
    }

    /// Returns the structures that cannot keep the promise, with the reasons.
    pub fn impossible(&self) -> impl Iterator<Item = (&'static Structure, ParamError)> {
        self.rows.iter().filter_map(|(structure, row)| Some((*structure, *row.as_ref().err()?)))
    }

    /// Returns one structure with its size.
    ///
    /// # Errors
    /// [`ParamError`] if it cannot keep the promise, or is not a membership filter.
    pub fn get(&self, structure: &Structure) -> Result<&Candidate, ParamError> {
        let row = self.rows.iter().find(|(other, _)| *other == structure);
        let missing = ParamError(ParamFault::Missing { parameter: "membership filter" });
        row.ok_or(missing)?.1.as_ref().map_err(|&error| error)
    }
}

/// Sizes every filter for `items` distinct keys and a false-positive rate of at most `rate`.
///
/// The smallest comes first.
///
/// # Errors
/// [`ParamError`] if no structure can keep the promise, such as for 0 items, or for a rate that is not between 0 and 1.
///
/// # Examples
/// ```
/// use pds::compare::compare;
/// use pds::registry;
///
/// let comparison = compare(1_000_000, 0.01)?;
/// let mut candidates = comparison.candidates();
/// // The smallest ones are built from all keys at once.
/// assert_eq!(candidates.next().unwrap().structure(), &registry::RIBBON);
/// let next = candidates.nth(1).unwrap();
/// assert_eq!(next.structure(), &registry::BLOOM);
/// assert_eq!(format!("{:.2}", next.bits_per_item()), "9.59");
/// # Ok::<(), pds::error::ParamError>(())
/// ```
pub fn compare(items: u64, rate: f64) -> Result<Comparison, ParamError> {
    Comparison::of(|structure| Candidate::new(structure, items, rate), by_size)
}

/// Finds the lowest rate of every filter for `items` distinct keys in at most `bytes` bytes.
///
/// The lowest rate comes first.
///
/// # Errors
/// [`ParamError`] if no structure holds so many items in so few bytes.
///
/// # Examples
/// ```
/// use pds::compare::compare_in_memory;
/// use pds::registry::{BLOOM, CUCKOO};
///
/// // Two bytes for each of ten million keys: from here on fingerprints are the better use of it.
/// let comparison = compare_in_memory(20_000_000, 10_000_000)?;
/// assert!(comparison.get(&CUCKOO)?.rate() < comparison.get(&BLOOM)?.rate());
/// # Ok::<(), pds::error::ParamError>(())
/// ```
pub fn compare_in_memory(bytes: u64, items: u64) -> Result<Comparison, ParamError> {
    Comparison::of(|structure| Candidate::for_memory(structure, bytes, items), by_rate)
}

/// Finds the most items for which every filter keeps `rate` in at most `bytes` bytes.
///
/// The most items come first.
///
/// # Errors
/// [`ParamError`] if no structure holds one item in so few bytes.
pub fn compare_most_items(bytes: u64, rate: f64) -> Result<Comparison, ParamError> {
    let by_items = |candidate: &Candidate| (u64::MAX - candidate.items(), 0);
    Comparison::of(|structure| Candidate::of_most_items(structure, bytes, rate), by_items)
}

fn by_size(candidate: &Candidate) -> (u64, u64) {
    (candidate.size_in_bytes(), 0)
}

/// Returns a key that sorts by rate, then by size.
// Positive floating-point numbers are in the order of their bits.
fn by_rate(candidate: &Candidate) -> (u64, u64) {
    (candidate.rate().to_bits(), candidate.size_in_bytes())
}
