//! One structure, sized.

use super::shape::{Shape, greatest};
use super::{Abilities, Structure};
use crate::ParamError;

/// A structure with its size for a number of items, and what follows from both.
///
/// # Examples
/// ```
/// use pds_params::compare::{Candidate, Structure};
///
/// let filter = Candidate::new(Structure::Cuckoo, 1_000_000, 0.001)?;
/// assert_eq!(format!("{:.1}", filter.bits_per_item()), "13.7");
/// assert!(filter.rate() <= 0.001);
/// // A twentieth more than it was sized for, and it is full.
/// assert_eq!(filter.rate_at(1_050_000), None);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    shape: Shape,
    items: u64,
}

impl Candidate {
    /// Sizes `structure` for `items` distinct keys and a false-positive rate of at most `rate`.
    ///
    /// # Errors
    /// [`ParamError`] where the structure cannot have such a rate, or so many items.
    pub fn new(structure: Structure, items: u64, rate: f64) -> Result<Self, ParamError> {
        Ok(Self { shape: Shape::least(structure, items, rate)?, items })
    }

    /// Finds the lowest rate at which `structure` holds `items` distinct keys in at most `bytes` bytes.
    ///
    /// # Errors
    /// [`ParamError`] where they do not fit, whatever the rate.
    ///
    /// # Examples
    /// ```
    /// use pds_params::compare::{Candidate, Structure};
    ///
    /// let filter = Candidate::in_memory(Structure::Bloom, 64 << 20, 10_000_000)?;
    /// assert!(filter.rate() < 1e-11);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn in_memory(structure: Structure, bytes: u64, items: u64) -> Result<Self, ParamError> {
        Ok(Self { shape: Shape::in_memory(structure, bytes, items)?, items })
    }

    /// Finds the most items for which `structure` keeps `rate` in at most `bytes` bytes.
    ///
    /// # Errors
    /// [`ParamError`] where not even one item does.
    ///
    /// # Complexity
    /// About twice as many sizings as the number of items has bits.
    ///
    /// # Examples
    /// ```
    /// use pds_params::compare::{Candidate, Structure};
    ///
    /// let filter = Candidate::of_most_items(Structure::Bloom, 64 << 20, 0.01)?;
    /// assert_eq!(filter.items(), 55_965_125);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn of_most_items(structure: Structure, bytes: u64, rate: f64) -> Result<Self, ParamError> {
        let single = Self::new(structure, 1, rate)?;
        let fits = |items| {
            Self::new(structure, items, rate).is_ok_and(|filter| filter.size_in_bytes() <= bytes)
        };
        let Some(items) = greatest(u64::MAX, fits) else {
            let (min, max) = (single.size_in_bytes(), u64::MAX);
            return Err(ParamError::OutOfRange { parameter: "bytes", value: bytes, min, max });
        };
        Self::new(structure, items, rate)
    }

    /// The structure.
    #[must_use]
    pub fn structure(&self) -> Structure {
        self.shape.structure()
    }

    /// The numbers to build it from.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of distinct keys that it is sized for.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The bytes of its payload.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.shape.size_in_bytes()
    }

    /// The bits that each item takes.
    #[must_use]
    pub fn bits_per_item(&self) -> f64 {
        8.0 * self.size_in_bytes() as f64 / self.items as f64
    }

    /// Predicts the mean false-positive rate at the items that it is sized for.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate_at(self.items).unwrap_or(1.0)
    }

    /// Predicts the mean false-positive rate at another number of items; none where they do not fit.
    #[must_use]
    pub fn rate_at(&self, items: u64) -> Option<f64> {
        self.shape.rate_at(items)
    }

    /// How many cache lines a lookup reads.
    #[must_use]
    pub fn lines_read(&self) -> LinesRead {
        self.shape.lines_read(self.items)
    }

    /// What the structure can do.
    #[must_use]
    pub fn abilities(&self) -> Abilities {
        self.structure().abilities()
    }
}

/// The mean number of 64-byte cache lines that a lookup reads.
///
/// Beyond the cache a line is what a lookup takes time for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinesRead {
    /// For a key that was inserted.
    pub present: f64,
    /// For a key that was not.
    pub absent: f64,
}

impl LinesRead {
    /// The mean over both kinds of keys, equally many.
    #[must_use]
    pub fn mean(self) -> f64 {
        f64::midpoint(self.present, self.absent)
    }

    /// `probes` independent positions over `lines` lines, read until one is clear, with this fill.
    ///
    /// A probe comes about when all before it were set, and reads a line that none of them was in.
    pub(super) fn of_probes(probes: u32, fill: f64, lines: u64) -> Self {
        let elsewhere = 1.0 - 1.0 / lines as f64;
        Self { present: series(elsewhere, probes), absent: series(fill * elsewhere, probes) }
    }

    /// Two buckets of four fingerprints, some of which lie across the end of a line.
    pub(super) fn of_buckets(fingerprint_bits: u32, lines: u64) -> Self {
        if lines == 1 {
            return Self { present: 1.0, absent: 1.0 };
        }
        // 128 fingerprints fill a line to the bit: every line but one in gcd(f, 128) ends within a bucket.
        let aligned = 1_u32 << fingerprint_bits.trailing_zeros().min(7);
        let across = f64::from(fingerprint_bits - aligned) / 128.0;
        let both = (2.0 - 1.0 / lines as f64) * (1.0 + across);
        Self { present: both, absent: both }
    }
}

/// 1 + ratio + ratio² + ..., `terms` terms.
fn series(ratio: f64, terms: u32) -> f64 {
    (0..terms).fold(0.0, |sum, _| 1.0 + ratio * sum)
}

#[cfg(test)]
mod tests {
    use super::LinesRead;

    #[test]
    fn a_bloom_filter_reads_a_line_a_probe_and_stops_at_a_clear_bit() {
        let lines = LinesRead::of_probes(7, 0.5, 1 << 40);
        assert!((lines.present - 7.0).abs() < 1e-9);
        assert!((lines.absent - (2.0 - 1.0 / 64.0)).abs() < 1e-9);
        assert_eq!(LinesRead::of_probes(7, 0.5, 1), LinesRead { present: 1.0, absent: 1.0 });
    }

    /// Lays buckets of four fingerprints side by side and counts those that have a bit in two lines.
    #[test]
    fn buckets_across_two_lines_are_counted() {
        for width in 4..=32 {
            let across = (0..128).filter(|bucket| {
                let (first, last) = (bucket * 4 * width, (bucket + 1) * 4 * width - 1);
                first / 512 != last / 512
            });
            let expected = 2.0 * (1.0 + across.count() as f64 / 128.0);
            let lines = LinesRead::of_buckets(width, 1 << 60);
            assert!((lines.present - expected).abs() < 1e-12, "{width}");
        }
    }
}
