//! All structures in one table.

use super::{Candidate, Structure};
use crate::ParamError;

/// The number of structures.
pub(super) const STRUCTURES: usize = Structure::ALL.len();

/// All structures for one promise, the smallest first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    rows: [(Structure, Result<Candidate, ParamError>); STRUCTURES],
}

impl Comparison {
    /// Sizes all structures, and keeps the reason where one cannot be had.
    fn of(
        size: impl Fn(Structure) -> Result<Candidate, ParamError>,
        order: impl Fn(&Candidate) -> (u64, u64),
    ) -> Result<Self, ParamError> {
        let mut rows = Structure::ALL.map(|structure| (structure, size(structure)));
        // Equal ones stay in the order of their declaration.
        rows.sort_unstable_by_key(|(structure, row)| {
            (row.as_ref().map_or((u64::MAX, u64::MAX), &order), *structure as u8)
        });
        match rows[0].1 {
            Ok(_) => Ok(Self { rows }),
            Err(error) => Err(error),
        }
    }

    /// The structures that can keep the promise, the best first.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.rows.iter().filter_map(|(_, row)| row.as_ref().ok())
    }

    /// Those that cannot, with what stands against it.
    pub fn impossible(&self) -> impl Iterator<Item = (Structure, ParamError)> {
        self.rows.iter().filter_map(|&(structure, row)| Some((structure, row.err()?)))
    }

    /// One structure, or what stands against it.
    ///
    /// # Errors
    /// [`ParamError`] where it cannot keep the promise.
    pub fn get(&self, structure: Structure) -> Result<Candidate, ParamError> {
        let row = self.rows.iter().find(|(other, _)| *other == structure);
        row.map_or(Err(ParamError::Missing { parameter: "structure" }), |&(_, row)| row)
    }
}

/// Sizes every structure for `items` distinct keys and a false-positive rate of at most `rate`.
///
/// The smallest comes first.
///
/// # Errors
/// [`ParamError`] where no structure can keep the promise, as for no items, or for a rate that is not
/// between 0 and 1.
///
/// # Examples
/// ```
/// use pds_params::compare::{Structure, compare};
///
/// let comparison = compare(1_000_000, 0.01)?;
/// let smallest = comparison.candidates().next().unwrap();
/// assert_eq!(smallest.structure(), Structure::Bloom);
/// assert_eq!(format!("{:.2}", smallest.bits_per_item()), "9.59");
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn compare(items: u64, rate: f64) -> Result<Comparison, ParamError> {
    Comparison::of(|structure| Candidate::new(structure, items, rate), by_size)
}

/// Finds the lowest rate of every structure for `items` distinct keys in at most `bytes` bytes.
///
/// The lowest rate comes first.
///
/// # Errors
/// [`ParamError`] where no structure holds so many items in so little.
///
/// # Examples
/// ```
/// use pds_params::compare::{Structure, compare_in_memory};
///
/// // A byte and a half for each of ten million keys: from here on fingerprints are the better use of it.
/// let comparison = compare_in_memory(20_000_000, 10_000_000)?;
/// let rates = [Structure::Cuckoo, Structure::Bloom].map(|one| comparison.get(one).unwrap().rate());
/// assert!(rates[0] < rates[1]);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn compare_in_memory(bytes: u64, items: u64) -> Result<Comparison, ParamError> {
    Comparison::of(|structure| Candidate::in_memory(structure, bytes, items), by_rate)
}

/// Finds the most items for which every structure keeps `rate` in at most `bytes` bytes.
///
/// The most items come first.
///
/// # Errors
/// [`ParamError`] where no structure holds one item so.
pub fn compare_most_items(bytes: u64, rate: f64) -> Result<Comparison, ParamError> {
    let by_items = |candidate: &Candidate| (u64::MAX - candidate.items(), 0);
    Comparison::of(|structure| Candidate::of_most_items(structure, bytes, rate), by_items)
}

fn by_size(candidate: &Candidate) -> (u64, u64) {
    (candidate.size_in_bytes(), 0)
}

/// Positive numbers are in the order of their bits.
fn by_rate(candidate: &Candidate) -> (u64, u64) {
    (candidate.rate().to_bits(), candidate.size_in_bytes())
}
