//! The count-min sketch of `RedisBloom`.

use alloc::vec::Vec;
use core::fmt;

use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_params::internal::ParamFault;

use super::rdb::{ModuleReader, ModuleWriter, RdbVersion};
use super::rows;
use crate::FormatError;
use crate::memory::{collected, zeroed};

/// The name of the format in errors.
const FORMAT: &str = "RedisBloom count-min sketch";

/// Name and version of the module's type.
const TYPE: (&str, u16) = ("CMSk-TYPE", 0);

/// The most counters: 2^32.
const MAX_COUNTERS: u64 = 1 << 32;

/// A count-min sketch of `RedisBloom`, with counters of 32 bits.
///
/// Use it to exchange sketches with a server. Otherwise use `cms::CountMinSketch`, which has intervals and wider counters.
///
/// # Guarantees
/// - An estimate is never below the truth, until a counter saturates at 2^32 - 1.
/// - It is above the truth by at most 2 N / w with probability 1 - 2^-d, for a total weight of N, w columns and d rows.
/// - Memory: 4 w d bytes. Insert and query: O(d). Merging: exact, O(w d), requires equal sizes.
///
/// # Examples
/// ```
/// use pds_formats::redis::{RdbVersion, RedisCountMinSketch};
///
/// let mut words = RedisCountMinSketch::with_size(2_000, 5)?;
/// words.insert(b"the", 3);
/// // `RESTORE key 0 value` makes it a key of the server.
/// let read = RedisCountMinSketch::from_dump(&words.to_dump(RdbVersion::default()))?;
/// assert_eq!((read.estimate(b"the"), read.total()), (3, 3));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RedisCountMinSketch {
    width: u32,
    depth: u32,
    total: u64,
    counters: Vec<u32>,
}

impl RedisCountMinSketch {
    /// Creates a sketch as `CMS.INITBYDIM` does.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `width` or `depth` is 0, or if there would be more than 2^32 counters.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn with_size(width: u32, depth: u32) -> Result<Self, BuildError> {
        let value = u64::from(width) * u64::from(depth);
        if !(1..=MAX_COUNTERS).contains(&value) {
            let (parameter, min, max) = ("counters", 1, MAX_COUNTERS);
            return Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }).into());
        }
        Ok(Self { width, depth, total: 0, counters: zeroed(value)? })
    }

    /// Creates a sketch as `CMS.INITBYPROB` does: an estimate errs by more than `error` times the total weight with
    /// probability `probability`.
    ///
    /// # Errors
    /// [`BuildError::Param`] if a parameter is not above 0 and below 1, or if there would be more than 2^32 counters.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn with_error(error: f64, probability: f64) -> Result<Self, BuildError> {
        for (parameter, value) in [("error", error), ("probability", probability)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(ParamError(ParamFault::NotAProbability { parameter, value }).into());
            }
        }
        let width = libm::ceil(2.0 / error);
        // The module computes the depth in numbers of 32 bits.
        #[expect(clippy::cast_possible_truncation, reason = "as in the module")]
        let single = probability as f32;
        if single == 0.0 {
            let (parameter, value, min) = ("probability", probability, f32::from_bits(1).into());
            return Err(ParamError(ParamFault::TooLow { parameter, value, min }).into());
        }
        #[expect(clippy::cast_possible_truncation, reason = "as in the module")]
        let depth = libm::ceilf(libm::log10(single.into()) as f32 / libm::log10(0.5) as f32);
        let max = f64::from(u32::MAX);
        if width > max {
            return Err(
                ParamError(ParamFault::TooLarge { parameter: "width", value: width, max }).into()
            );
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers of 32 bits")]
        #[expect(clippy::cast_sign_loss, reason = "neither is negative")]
        Self::with_size(width as u32, depth as u32)
    }

    /// Reads what `DUMP` returns.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or if their checksum is wrong.
    pub fn from_dump(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = ModuleReader::new(FORMAT, bytes, TYPE)?;
        let width = reader.unsigned("width")?.narrow()?.within(1..=u32::MAX)?;
        let depth = reader.unsigned("depth")?;
        let total = reader.unsigned("total weight")?.value;
        let counters = reader.string("counters")?;
        let is_sound =
            u64::from(width).checked_mul(depth.value).and_then(|count| count.checked_mul(4))
                == Some(counters.len() as u64);
        let depth = depth.narrow()?.require(
            is_sound && depth.value > 0,
            alloc::format!("such that {} bytes of counters have {width} columns", counters.len()),
        )?;
        let counters = counters.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes));
        let counters = collected(counters).map_err(|error| FormatError::alloc(FORMAT, error))?;
        reader.end()?;
        Ok(Self { width, depth, total, counters })
    }

    /// Returns what `RESTORE` takes.
    #[must_use]
    pub fn to_dump(&self, version: RdbVersion) -> Vec<u8> {
        let mut writer = ModuleWriter::new(TYPE);
        let numbers = [self.width.into(), self.depth.into(), self.total];
        numbers.into_iter().for_each(|number| writer.unsigned(number));
        writer.string(
            &self.counters.iter().flat_map(|counter| counter.to_le_bytes()).collect::<Vec<_>>(),
        );
        writer.end(version)
    }

    /// Adds a weight to an item, as `CMS.INCRBY` does. Returns the new estimate.
    ///
    /// Counters saturate at 2^32 - 1. An estimate of [`u32::MAX`] therefore means "at least", where the server answers
    /// with an error.
    pub fn insert(&mut self, item: &[u8], weight: u32) -> u32 {
        self.total = self.total.saturating_add(weight.into());
        let mut least = u32::MAX;
        for place in self.places(item) {
            let counter = &mut self.counters[place];
            *counter = counter.saturating_add(weight);
            least = least.min(*counter);
        }
        least
    }

    /// Estimates the weight of an item, as `CMS.QUERY` does. Never below the truth while below [`u32::MAX`].
    #[must_use]
    pub fn estimate(&self, item: &[u8]) -> u32 {
        self.places(item).map(|place| self.counters[place]).min().unwrap_or(0)
    }

    /// Returns the counter of an item in each row.
    fn places<'a>(&self, item: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
        rows::places(item, self.width, self.depth)
    }

    /// Adds a sketch, with all of its weights times `weight`: one source of `CMS.MERGE`.
    ///
    /// Counters saturate, where the server refuses the merge.
    ///
    /// # Errors
    /// [`Incompatible`] if width or depth differ. `self` is unchanged then.
    pub fn merge(&mut self, other: &Self, weight: u32) -> Result<(), Incompatible> {
        Incompatible::check_shape("width", self.width.into(), other.width.into())?;
        Incompatible::check_shape("depth", self.depth.into(), other.depth.into())?;
        for (counter, &other) in self.counters.iter_mut().zip(&other.counters) {
            *counter = counter.saturating_add(other.saturating_mul(weight));
        }
        self.total = self.total.saturating_add(other.total.saturating_mul(weight.into()));
        Ok(())
    }

    /// Returns the sum of all weights, as `CMS.INFO` does.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of columns.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }
}

impl fmt::Debug for RedisCountMinSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisCountMinSketch")
            .field("width", &self.width)
            .field("depth", &self.depth)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}
