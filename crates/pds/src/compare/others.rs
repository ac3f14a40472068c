//! Sizes of structures for which a number of keys and a rate are not all that counts.

use alloc::format;
use alloc::string::String;

use super::literal;
use crate::params::window::DEFAULT_SLACK;
use crate::params::{
    BloomParams, LshParams, MinHashParams, ParamError, ScalableParams, Schedule, ThetaParams,
    TimedParams, WindowParams,
};
use crate::registry::{self, Structure};

/// The length of the window of a timed filter in its expression: an hour in milliseconds. Its size does not depend on it.
const TICKS: u64 = 3_600_000;

/// A structure with its size, which no comparison ranks.
#[derive(Debug, Clone)]
pub struct OtherSize {
    structure: &'static Structure,
    bytes: u64,
    constructor: String,
}

impl OtherSize {
    const fn new(structure: &'static Structure, bytes: u64, constructor: String) -> Self {
        Self { structure, bytes, constructor }
    }

    /// Returns the structure.
    #[must_use]
    pub const fn structure(&self) -> &'static Structure {
        self.structure
    }

    /// Returns the size in bytes.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the Rust expression that builds the structure.
    #[must_use]
    pub fn expression(&self) -> String {
        format!("{}::{}", self.structure.path(), self.constructor)
    }
}

/// Sizes the filters that grow, or that forget keys by their age, for `items` keys at once and a rate.
///
/// The growing filter is sized when it holds `items` keys. It starts with a layer for as many.
///
/// # Errors
/// [`ParamError`] if the rate is not above 0 and below 1, or if there are no items or too many.
///
/// # Examples
/// ```
/// use pds::compare::aging_and_growing;
///
/// let sizes = aging_and_growing(1_000_000, 0.01)?;
/// assert_eq!(sizes[1].expression(), "pds::WindowBloomFilter::new(1_000_000, 0.01)?");
/// assert_eq!(sizes[1].size_in_bytes(), pds::WindowBloomFilter::new(1_000_000, 0.01)?.size_in_bytes());
/// # Ok::<(), pds::error::BuildError>(())
/// ```
pub fn aging_and_growing(items: u64, rate: f64) -> Result<[OtherSize; 3], ParamError> {
    let of_keys = format!("new({}, {rate:?})?", literal(items));
    let of_ticks = format!("new({}, {}, {rate:?})?", literal(TICKS), literal(items));
    let window = WindowParams::new(items, rate, DEFAULT_SLACK)?.size_in_bytes();
    let timed = TimedParams::new(TICKS, items, rate, DEFAULT_SLACK)?.size_in_bytes();
    Ok([
        OtherSize::new(&registry::SCALABLE_BLOOM, grown(items, rate, 1)?, of_keys.clone()),
        OtherSize::new(&registry::WINDOW_BLOOM, window, of_keys),
        OtherSize::new(&registry::TIMED_BLOOM, timed, of_ticks),
    ])
}

/// Returns the size in bytes of a growing filter of standard layers, the first of `items` keys, when `layers` of them are there.
///
/// It then holds `items` (2^layers - 1) keys.
///
/// # Errors
/// [`ParamError`] if a layer cannot be built, or if there are none.
pub fn grown(items: u64, rate: f64, layers: u32) -> Result<u64, ParamError> {
    let growth = ScalableParams::DEFAULT_GROWTH;
    let params = ScalableParams::new(items, rate, growth, Schedule::DEFAULT)?;
    (0..layers).try_fold(0, |bytes: u64, index| {
        let layer = params.layer(index)?.offered();
        let layer = BloomParams::for_double_hashing(layer.items, layer.rate)?;
        Ok(bytes.saturating_add(layer.size_in_bytes()))
    })
}

/// Sizes the theta sketch with a relative standard error of a number of distinct keys: its compact bytes, at most.
///
/// # Errors
/// [`ParamError`] if the error is not above 0 and below 1, or if no sketch is so exact.
///
/// # Examples
/// ```
/// let size = pds::compare::theta_sketch(0.01)?;
/// assert_eq!((size.size_in_bytes(), size.expression().as_str()), (245_784, "pds::ThetaSketch::new(16_384)?"));
/// # Ok::<(), pds::error::ParamError>(())
/// ```
pub fn theta_sketch(standard_error: f64) -> Result<OtherSize, ParamError> {
    let params = ThetaParams::for_relative_error(standard_error)?;
    let constructor = format!("new({})?", literal(params.nominal_size().into()));
    Ok(OtherSize::new(&registry::THETA, params.max_compact_bytes(), constructor))
}

/// Sizes the MinHash sketch of a set whose estimated Jaccard index has at most this standard error, and an index of `documents`
/// such sketches that finds pairs of a Jaccard index of `threshold` with the probability `recall`.
///
/// # Errors
/// [`ParamError`] if one of the shares is not above 0 and below 1, if no sketch is so exact, or if its values are too few for the
/// index.
///
/// # Examples
/// ```
/// let [sketch, index] = pds::compare::similar_sets(0.05, 1_000_000, 0.8, 0.99)?;
/// assert_eq!((sketch.size_in_bytes(), index.size_in_bytes()), (1_024, 192_000_000));
/// assert_eq!(index.expression(), "pds::LshIndex::new(128, 0.8, 0.99)?");
/// # Ok::<(), pds::error::ParamError>(())
/// ```
pub fn similar_sets(
    standard_error: f64,
    documents: u64,
    threshold: f64,
    recall: f64,
) -> Result<[OtherSize; 2], ParamError> {
    let params = MinHashParams::for_standard_error(standard_error)?;
    let values = params.num_values();
    let index = LshParams::new(values, threshold, recall)?;
    Ok([
        OtherSize::new(
            &registry::MIN_HASH,
            params.size_in_bytes(),
            format!("new({})?", literal(values.into())),
        ),
        OtherSize::new(
            &registry::LSH_INDEX,
            index.size_in_bytes(documents),
            format!("new({}, {threshold:?}, {recall:?})?", literal(values.into())),
        ),
    ])
}
