//! Spark's `CountMinSketch`.

use alloc::format;
use alloc::vec::Vec;

use pds_core::error::{BuildError, DecodeErrorKind, Incompatible, ParamError};
use pds_params::internal::ParamFault;

use super::SparkKey;
use crate::FormatError;
use crate::memory::{reserved, zeroed};
use crate::reader::Reader;

/// The name of the format in errors.
const FORMAT: &str = "Spark count-min sketch";

const VERSION: i32 = 1;

/// Multipliers are below this prime.
const PRIME: u32 = i32::MAX as u32;

/// A count-min sketch with the counters of Spark's `CountMinSketch`.
///
/// It answers how often a key was inserted: never too few.
///
/// Use it to exchange sketches with Spark. Otherwise use the crate `cms`, whose rows are independent for strings, too.
///
/// # Guarantees
/// - The true count of a key is at most its [estimate](Self::estimate). With probability
///   [`confidence`](Self::confidence) the estimate is too high by at most [`relative_error`](Self::relative_error) of the total.
/// - Memory: 8 bytes per counter. Insert and query: O(depth). Merging: exact, requires equal shape and multipliers.
///
/// # Examples
/// ```
/// use pds_formats::spark::SparkCountMin;
///
/// let mut words = SparkCountMin::new(0.01, 0.99, 42)?;
/// words.insert("the", 3);
/// words.insert(17, 1);
/// // `CountMinSketch.readFrom` reads these bytes.
/// let bytes = words.to_bytes();
///
/// let read = SparkCountMin::from_bytes(&bytes)?;
/// assert_eq!((read.estimate("the"), read.estimate(17), read.estimate("17")), (3, 1, 0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Apache Spark 4.3, module `common/sketch`, class `CountMinSketchImpl`. Graham Cormode and S. Muthukrishnan, "An improved
/// data stream summary: the count-min sketch and its applications", J. Algorithms 55(1), 2005.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparkCountMin {
    /// The multiplier of each row, for numbers.
    multipliers: Vec<u32>,
    width: u32,
    total: u64,
    /// Up to 2^63 - 1, row by row.
    counters: Vec<u64>,
}

/// The greatest number of the counters, and of their sum.
const MAX: u64 = i64::MAX as u64;

fn sum(left: u64, right: u64) -> u64 {
    left.saturating_add(right).min(MAX)
}

impl SparkCountMin {
    /// Creates the sketch of `CountMinSketch.create(relative_error, confidence, seed)`.
    ///
    /// # Errors
    /// [`BuildError::Param`] if one of the fractions is not above 0 and below 1, or if the sketch is too large.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub fn new(relative_error: f64, confidence: f64, seed: i32) -> Result<Self, BuildError> {
        let fractions = [("relative_error", relative_error), ("confidence", confidence)];
        for (parameter, value) in fractions {
            if !(value > 0.0 && value < 1.0) {
                return Err(ParamError(ParamFault::NotAProbability { parameter, value }).into());
            }
        }
        let width = libm::ceil(2.0 / relative_error) as u64;
        let depth = libm::ceil(-libm::log1p(-confidence) / core::f64::consts::LN_2) as u64;
        Self::with_size(depth, width, seed)
    }

    /// Creates the sketch of `CountMinSketch.create(depth, width, seed)`.
    ///
    /// # Errors
    /// [`BuildError::Param`] if depth or width are 0 or above 2^31 - 1. [`BuildError::Alloc`] if the allocator refuses the
    /// memory.
    pub fn with_size(depth: u64, width: u64, seed: i32) -> Result<Self, BuildError> {
        let max = i32::MAX as u64;
        let size = |parameter, value: u64| match u32::try_from(value) {
            Ok(size) if (1..=max).contains(&value) => Ok(size),
            _ => Err(ParamError(ParamFault::OutOfRange { parameter, value, min: 1, max })),
        };
        let (depth, width) = (size("depth", depth)?, size("width", width)?);
        let counters = zeroed(u64::from(depth) * u64::from(width))?;
        let mut random = JavaRandom::new(seed);
        let multipliers = (0..depth).map(|_| random.below_prime()).collect();
        Ok(Self { multipliers, width, total: 0, counters })
    }

    /// Reads the bytes that `writeTo` wrote.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let version = reader.i32_be("version")?;
        version.equals(VERSION).map_err(|error| error.of_kind(DecodeErrorKind::Version))?;
        let total = reader.i64_be("total count")?.within(0..=i64::MAX)?.cast_unsigned();
        let depth = reader.i32_be("depth")?.within(1..=i32::MAX)?;
        let width = reader.i32_be("width")?.within(1..=i32::MAX)?;
        let (depth, width) = (depth.cast_unsigned(), width.cast_unsigned());
        // Refuses a size that lies before memory is taken for it.
        let cells = u64::from(depth) * (1 + u64::from(width));
        reader.clone().bytes("multipliers and counters", cells.saturating_mul(8))?;
        let mut multipliers = Vec::new();
        for _ in 0..depth {
            let multiplier = reader.i64_be("multiplier")?.within(0..=i64::from(PRIME))?;
            multipliers.push(u32::try_from(multiplier).unwrap_or(PRIME));
        }
        let mut counters = reserved(u64::from(depth) * u64::from(width))
            .map_err(|error| FormatError::alloc(FORMAT, error))?;
        for row in 0..depth {
            let start = reader.offset();
            let mut of_row = 0u64;
            for _ in 0..width {
                let counter = reader.i64_be("counter")?.within(0..=i64::MAX)?.cast_unsigned();
                of_row = of_row.saturating_add(counter);
                counters.push(counter);
            }
            // Every key counts once in every row. A sum at its limit is no sum any more.
            if of_row != total && total < MAX {
                let allowed = format!("{total}, the total count, in row {row}");
                return Err(reader.invalid("sum of counters", start, of_row, allowed));
            }
        }
        reader.end()?;
        Ok(Self { multipliers, width, total, counters })
    }

    /// Returns the bytes that `readFrom` reads.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_be_bytes().to_vec();
        bytes.extend(self.total.to_be_bytes());
        bytes.extend_from_slice(&(self.multipliers.len() as u64).to_be_bytes()[4..]);
        bytes.extend(self.width.to_be_bytes());
        let multipliers = self.multipliers.iter().map(|&multiplier| u64::from(multiplier));
        let numbers = multipliers.chain(self.counters.iter().copied());
        bytes.extend(numbers.flat_map(u64::to_be_bytes));
        bytes
    }

    /// Inserts a key `count` times. Counters stop at 2^63 - 1.
    pub fn insert<'a>(&mut self, key: impl Into<SparkKey<'a>>, count: u64) {
        let key = Hashed::new(key.into());
        self.total = sum(self.total, count);
        for row in 0..self.depth() {
            let at = self.position(row, key);
            self.counters[at] = sum(self.counters[at], count);
        }
    }

    /// Estimates how often a key was inserted. Never too few.
    #[must_use]
    pub fn estimate<'a>(&self, key: impl Into<SparkKey<'a>>) -> u64 {
        let key = Hashed::new(key.into());
        let counters = (0..self.depth()).map(|row| self.counters[self.position(row, key)]);
        counters.min().unwrap_or(0)
    }

    /// Merges the counts of another sketch, as `mergeInPlace` does.
    ///
    /// # Errors
    /// [`Incompatible`] if depths, widths or multipliers differ. `self` is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        let depths = [self, other].map(|sketch| sketch.multipliers.len() as u64);
        Incompatible::check_shape("depth", depths[0], depths[1])?;
        Incompatible::check_shape("width", self.width.into(), other.width.into())?;
        for (&ours, &theirs) in self.multipliers.iter().zip(&other.multipliers) {
            Incompatible::check_shape("multiplier of a row", ours.into(), theirs.into())?;
        }
        self.total = sum(self.total, other.total);
        let pairs = self.counters.iter_mut().zip(&other.counters);
        pairs.for_each(|(counter, &other)| *counter = sum(*counter, other));
        Ok(())
    }

    /// Returns the total of all counts.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Returns 2 / width: the error relative to the total, as Spark tells it.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        2.0 / f64::from(self.width)
    }

    /// Returns 1 - 2^-depth: the confidence that an error is at most [`relative_error`](Self::relative_error).
    #[must_use]
    pub fn confidence(&self) -> f64 {
        1.0 - libm::exp2(-(self.multipliers.len() as f64))
    }

    /// Returns the counters, row by row.
    #[must_use]
    pub fn counters(&self) -> &[u64] {
        &self.counters
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.multipliers.len()
    }

    /// Returns the number of counters per row.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Returns the counter of a key in a row.
    fn position(&self, row: usize, key: Hashed) -> usize {
        let column = match key {
            Hashed::Number(number) => {
                let product = i64::from(self.multipliers[row]).wrapping_mul(number);
                let folded = product.wrapping_add(product >> 32) & i64::from(PRIME);
                folded.cast_unsigned() % u64::from(self.width)
            }
            Hashed::Pair([first, step]) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_possible_wrap,
                    reason = "below 2^31"
                )]
                let sum = first.wrapping_add((row as i32).wrapping_mul(step));
                u64::from((sum % self.width.cast_signed()).unsigned_abs())
            }
        };
        #[expect(clippy::cast_possible_truncation, reason = "below the width")]
        let column = column as usize;
        row * self.width as usize + column
    }
}

/// The source of the columns of a key.
#[derive(Clone, Copy)]
enum Hashed {
    Number(i64),
    Pair([i32; 2]),
}

impl Hashed {
    fn new(key: SparkKey<'_>) -> Self {
        match key {
            SparkKey::Long(number) => Self::Number(number),
            SparkKey::Bytes(_) => Self::Pair(key.hash_pair(0)),
        }
    }
}

/// The generator of `java.util.Random`.
struct JavaRandom(u64);

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_deec_e66d;
    const MASK: u64 = (1 << 48) - 1;

    fn new(seed: i32) -> Self {
        Self((i64::from(seed).cast_unsigned() ^ Self::MULTIPLIER) & Self::MASK)
    }

    /// Returns the number of `nextInt(2^31 - 1)`.
    fn below_prime(&mut self) -> u32 {
        loop {
            self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(11) & Self::MASK;
            #[expect(clippy::cast_possible_truncation, reason = "31 bits")]
            let bits = (self.0 >> 17) as u32;
            // The one number beyond the last whole interval is drawn again.
            if bits < PRIME {
                return bits;
            }
        }
    }
}
