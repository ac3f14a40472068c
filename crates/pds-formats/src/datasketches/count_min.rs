//! The count-min sketches of DataSketches.

use alloc::format;
use alloc::vec::Vec;
use core::f64::consts::E;

use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_params::internal::ParamFault;

use super::DataSketchesKey;
use super::preamble::{self, MAX_EMPTY_BYTES};
use crate::FormatError;
use crate::hash::murmur3_128;
use crate::memory::{collected, zeroed};
use crate::reader::Reader;

const FORMAT: &str = "DataSketches count-min sketch";

const FAMILY: u8 = 18;
const VERSION: u8 = 1;
/// The preamble size, in words of 8 bytes.
const PREAMBLE_WORDS: u8 = 2;
const EMPTY: u8 = 1;

const MIN_BUCKETS: u32 = 3;
/// The library allows fewer counters than this.
const MAX_COUNTERS: u64 = 1 << 30;

/// A count-min sketch with the counters of DataSketches' `count_min_sketch<double>`.
///
/// It answers how often a key was inserted: never too few, if no weight is negative.
///
/// The bytes do not hold the seeds of the rows. The C++ library draws them by its standard library, and this type draws
/// as GNU's does. Sketches of other builds (Clang's or Microsoft's library) can be read, but their keys are not found.
///
/// # Guarantees
/// - The true weight of a key is from [`lower_bound`](Self::lower_bound) to the [estimate](Self::estimate), if no weight is
///   negative. With probability 1 - e^-rows the estimate is too high by at most [`relative_error`](Self::relative_error) of the
///   total weight.
/// - Memory: 8 bytes per counter. Insert and query: O(rows). Merging: exact, requires equal shape and seed.
///
/// # Examples
/// ```
/// use pds_formats::datasketches::DataSketchesCountMin;
///
/// let mut words = DataSketchesCountMin::new(9_001, 5, 300)?;
/// words.insert("the", 3.0);
/// words.insert("of", 1.0);
/// let bytes = words.to_bytes();
///
/// let read = DataSketchesCountMin::from_bytes(&bytes)?;
/// assert_eq!((read.estimate("the"), read.estimate("and")), (3.0, 0.0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Apache DataSketches C++ 5.2, `count/include/count_min.hpp`. Graham Cormode and S. Muthukrishnan, "An improved data
/// stream summary: the count-min sketch and its applications", J. Algorithms 55(1), 2005.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSketchesCountMin {
    seed: u64,
    /// The seed of each row.
    rows: Vec<u64>,
    num_buckets: u32,
    /// (2^64 - 1) / buckets, for remainders without a division.
    reciprocal: u64,
    total: f64,
    counters: Vec<f64>,
}

impl DataSketchesCountMin {
    /// Creates a sketch of `num_rows` rows with `num_buckets` counters each.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `num_rows` is 0, if `num_buckets` is below 3, or if there are 2^30 counters or more.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn new(seed: u64, num_rows: u8, num_buckets: u32) -> Result<Self, BuildError> {
        let out_of = |parameter, value: u64, min, max| {
            Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }).into())
        };
        let most = (MAX_COUNTERS - 1) / u64::from(num_rows).max(1);
        if num_rows == 0 {
            return out_of("num_rows", 0, 1, u8::MAX.into());
        }
        if num_buckets < MIN_BUCKETS || u64::from(num_buckets) > most {
            return out_of("num_buckets", num_buckets.into(), MIN_BUCKETS.into(), most);
        }
        let counters = zeroed(u64::from(num_rows) * u64::from(num_buckets))?;
        Ok(Self::of(seed, num_rows, num_buckets, 0.0, counters))
    }

    fn of(seed: u64, num_rows: u8, num_buckets: u32, total: f64, counters: Vec<f64>) -> Self {
        let reciprocal = u64::MAX / u64::from(num_buckets);
        Self { seed, rows: row_seeds(seed, num_rows), num_buckets, reciprocal, total, counters }
    }

    /// Reads the bytes of a sketch of the default seed, 9001.
    ///
    /// # Errors
    /// As [`from_bytes_with_seed`](Self::from_bytes_with_seed).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::from_bytes_with_seed(bytes, preamble::DEFAULT_SEED)
    }

    /// Reads the bytes of a sketch of this seed.
    ///
    /// Bytes without counters state a size only. Up to 1 MiB it is allocated.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more. Its kind is [`Hasher`](pds_core::error::DecodeErrorKind::Hasher) if
    /// they state the hash of another seed.
    pub fn from_bytes_with_seed(bytes: &[u8], seed: u64) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        preamble::read(&mut reader, VERSION, FAMILY)?.equals(PREAMBLE_WORDS)?;
        let is_empty = preamble::flags(&mut reader, EMPTY)? == EMPTY;
        reader.u32_le("unused field")?.equals(0)?;
        let buckets = reader.u32_le("number of buckets")?;
        let num_buckets = buckets.within(MIN_BUCKETS..=u32::MAX)?;
        let num_rows = reader.u8("number of rows")?.within(1..=u8::MAX)?;
        preamble::seed_hash(&mut reader, seed)?;
        reader.u8("unused field")?.equals(0)?;
        let counters = u64::from(num_rows) * u64::from(num_buckets);
        let max = if is_empty { MAX_EMPTY_BYTES / 8 } else { MAX_COUNTERS - 1 };
        if counters > max {
            return Err(buckets.invalid(format!("at most {}", max / u64::from(num_rows))));
        }
        let mut total = 0.0;
        let counters = if is_empty {
            zeroed(counters).map_err(|error| FormatError::alloc(FORMAT, error))?
        } else {
            let field = reader.f64_le("total weight")?;
            total = field.value;
            // The library writes a sketch without weight as empty.
            if !(total.is_finite() && total > 0.0) {
                return Err(field.invalid("finite and above 0 unless the sketch is empty"));
            }
            read_counters(&mut reader, counters)?
        };
        reader.end()?;
        Ok(Self::of(seed, num_rows, num_buckets, total, counters))
    }

    /// Returns the bytes of the sketch.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let is_empty = self.is_empty();
        let flags = if is_empty { EMPTY } else { 0 };
        let mut bytes = alloc::vec![PREAMBLE_WORDS, VERSION, FAMILY, flags, 0, 0, 0, 0];
        bytes.extend(self.num_buckets.to_le_bytes());
        bytes.extend_from_slice(&(self.rows.len() as u64).to_le_bytes()[..1]);
        bytes.extend(preamble::hash_of_seed(self.seed).to_le_bytes());
        bytes.push(0);
        if !is_empty {
            bytes.extend(self.total.to_le_bytes());
            bytes.extend(self.counters.iter().flat_map(|counter| counter.to_le_bytes()));
        }
        bytes
    }

    /// Adds a weight to a key. The total weight grows by its absolute value.
    ///
    /// Negative weights are allowed, as in the library. Estimates are no upper bounds then. Sums stop at the greatest finite
    /// number.
    ///
    /// # Panics
    /// If `weight` is infinite or not a number.
    pub fn insert<'a>(&mut self, key: impl Into<DataSketchesKey<'a>>, weight: f64) {
        assert!(weight.is_finite(), "a weight of {weight}");
        let key = key.into();
        for row in 0..self.rows.len() {
            let Some(at) = self.position(row, key) else { return };
            self.counters[at] = finite_sum(self.counters[at], weight);
        }
        self.total = finite_sum(self.total, weight.abs());
    }

    /// Estimates the weight of a key: the least of its counters.
    #[must_use]
    pub fn estimate<'a>(&self, key: impl Into<DataSketchesKey<'a>>) -> f64 {
        let key = key.into();
        let counters = (0..self.rows.len()).map(|row| self.position(row, key));
        // A key that is ignored has no counters.
        let counters = counters.map(|at| at.map_or(0.0, |at| self.counters[at]));
        counters.fold(f64::INFINITY, f64::min)
    }

    /// Returns the library's upper bound: the estimate plus the error that it exceeds rarely.
    #[must_use]
    pub fn upper_bound<'a>(&self, key: impl Into<DataSketchesKey<'a>>) -> f64 {
        self.estimate(key) + self.relative_error() * self.total
    }

    /// Returns the estimate less the error that it exceeds rarely.
    ///
    /// The library calls the estimate itself the lower bound. With weights that are not negative, it is an upper one.
    #[must_use]
    pub fn lower_bound<'a>(&self, key: impl Into<DataSketchesKey<'a>>) -> f64 {
        (self.estimate(key) - self.relative_error() * self.total).max(0.0)
    }

    /// Returns e / buckets: the error relative to the total weight that an estimate exceeds with probability e^-rows.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        E / f64::from(self.num_buckets)
    }

    /// Merges the weights of another sketch.
    ///
    /// # Errors
    /// [`Incompatible`] if seeds, rows or buckets differ. `self` is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        let shapes = [self, other]
            .map(|sketch| (sketch.seed, sketch.rows.len() as u64, u64::from(sketch.num_buckets)));
        Incompatible::check_shape("seed", shapes[0].0, shapes[1].0)?;
        Incompatible::check_shape("number of rows", shapes[0].1, shapes[1].1)?;
        Incompatible::check_shape("number of buckets", shapes[0].2, shapes[1].2)?;
        let pairs = self.counters.iter_mut().zip(&other.counters);
        pairs.for_each(|(counter, &other)| *counter = finite_sum(*counter, other));
        self.total = finite_sum(self.total, other.total);
        Ok(())
    }

    /// Returns the sum of the absolute values of all weights.
    #[must_use]
    pub const fn total_weight(&self) -> f64 {
        self.total
    }

    /// Returns whether the total weight is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0.0
    }

    /// Returns the counters, row by row.
    #[must_use]
    pub fn counters(&self) -> &[f64] {
        &self.counters
    }

    /// Returns the number of rows, each with a hash function of its own.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of counters per row.
    #[must_use]
    pub const fn num_buckets(&self) -> u32 {
        self.num_buckets
    }

    /// Returns the counter of a key in a row. `None` for a key that is ignored.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below the number of buckets")]
    fn position(&self, row: usize, key: DataSketchesKey<'_>) -> Option<usize> {
        let hash = key.hash(|bytes| murmur3_128(bytes, self.rows[row])[0])?;
        let bucket = remainder(hash, self.num_buckets, self.reciprocal) as usize;
        Some(row * self.num_buckets as usize + bucket)
    }
}

/// Returns the remainder of a division, by the reciprocal (2^64 - 1) / `divisor`.
// The estimated quotient lacks less than 1: the reciprocal is too small by at most 1, and `number` is below 2^64.
#[inline]
fn remainder(number: u64, divisor: u32, reciprocal: u64) -> u64 {
    let divisor = u64::from(divisor);
    let quotient = (u128::from(number) * u128::from(reciprocal)) >> 64;
    let rest = number - quotient as u64 * divisor;
    if rest >= divisor { rest - divisor } else { rest }
}

fn finite_sum(a: f64, b: f64) -> f64 {
    (a + b).clamp(f64::MIN, f64::MAX)
}

fn read_counters(reader: &mut Reader<'_>, counters: u64) -> Result<Vec<f64>, FormatError> {
    let start = reader.offset();
    let bytes = reader.bytes("counters", counters * 8)?;
    let counters = bytes.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
    let counters = collected(counters).map_err(|error| FormatError::alloc(FORMAT, error))?;
    // Without a branch for each, so that it is done in vectors.
    let are_finite = counters.iter().fold(true, |all, counter| all & counter.is_finite());
    if !are_finite && let Some(at) = counters.iter().position(|counter| !counter.is_finite()) {
        let offset = start + 8 * at as u64;
        return Err(reader.invalid("counter", offset, counters[at], "a finite number"));
    }
    Ok(counters)
}

/// Returns the seeds of the rows: numbers of 64 bits that GNU's `uniform_int_distribution` draws from its
/// `default_random_engine`, plus the seed of the sketch.
fn row_seeds(seed: u64, num_rows: u8) -> Vec<u64> {
    let mut engine = Minstd::new(seed);
    (0..num_rows).map(|_| engine.draw_u64().wrapping_add(seed)).collect()
}

/// The linear congruential generator `minstd_rand0`.
struct Minstd(u64);

impl Minstd {
    const MODULUS: u64 = 2_147_483_647;
    const MULTIPLIER: u64 = 16_807;
    /// The difference of its greatest and its least number.
    const RANGE: u64 = Self::MODULUS - 2;

    fn new(seed: u64) -> Self {
        Self((seed % Self::MODULUS).max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0 * Self::MULTIPLIER % Self::MODULUS;
        self.0 - 1
    }

    /// Draws from 0 to `max`, as GNU's `uniform_int_distribution` does.
    fn draw(&mut self, max: u64) -> u64 {
        if max < Self::RANGE {
            let scale = Self::RANGE / (max + 1);
            loop {
                let number = self.next();
                if number < (max + 1) * scale {
                    return number / scale;
                }
            }
        }
        loop {
            // Digits in base RANGE + 1, drawn again if they overflow.
            let high = self.draw(max / (Self::RANGE + 1)).wrapping_mul(Self::RANGE + 1);
            let number = high.wrapping_add(self.next());
            if (high..=max).contains(&number) {
                return number;
            }
        }
    }

    fn draw_u64(&mut self) -> u64 {
        self.draw(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use pds_testkit::keys;

    use super::remainder;

    #[test]
    fn a_remainder_is_that_of_a_division() {
        let powers = (0..32).map(|shift| 1u32 << shift);
        let divisors = powers.flat_map(|power| [power, power.saturating_sub(1), power + 1]);
        let random = keys::random(4).take(200).map(|word| (word >> 32) as u32);
        for divisor in divisors.chain(random).chain([u32::MAX]).filter(|&divisor| divisor > 2) {
            let (wide, reciprocal) = (u64::from(divisor), u64::MAX / u64::from(divisor));
            let last = u64::MAX / wide * wide;
            let edges = [0, 1, wide - 1, wide, wide + 1, last - 1, last, u64::MAX - 1, u64::MAX];
            for number in edges.into_iter().chain(keys::random(u64::from(divisor)).take(200)) {
                assert_eq!(
                    remainder(number, divisor, reciprocal),
                    number % wide,
                    "{number} by {divisor}"
                );
            }
        }
    }
}
