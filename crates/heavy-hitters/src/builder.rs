//! The builders of summaries.

use core::marker::PhantomData;

use cms::{CountMinSketch, Update};
use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_params::internal::ParamFault;
use pds_params::{CountMinParams, HeavyHittersParams};

use crate::summary::Summary;
use crate::{HeavyHitters, SketchedHeavyHitters, TopK, sketched, top_k};

const fn missing(parameter: &'static str) -> ParamError {
    ParamError(ParamFault::Missing { parameter })
}

const fn conflict(parameter: &'static str) -> ParamError {
    ParamError(ParamFault::Conflict { parameter })
}

/// Builds the sketch beside a list: with conservative update, whose estimates are closer.
// With 64-bit counters: weights such as bytes pass 2^32 in minutes, and full counters could not be ranked.
fn sketch_for<S: KeyHasher>(
    params: CountMinParams,
    hasher: S,
) -> Result<CountMinSketch<S, u64>, BuildError> {
    let builder = CountMinSketch::builder().params(params).update(Update::Conservative);
    builder.counters().hasher(hasher).build()
}

/// Builder for [`HeavyHitters`]; start with [`HeavyHitters::builder`].
///
/// Give the share by [`phi`](Self::phi), or share and capacity by [`params`](Self::params).
///
/// # Examples
/// ```
/// use heavy_hitters::{HeavyHitters, HeavyHittersParams};
///
/// let params = HeavyHittersParams::with_error(0.01, 0.001)?;
/// let summary = HeavyHitters::<String>::builder().params(params).seed(7).build()?;
/// assert_eq!(summary.capacity(), 1_000);
/// # Ok::<(), heavy_hitters::error::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct HeavyHittersBuilder<K, S = DefaultHashBuilder> {
    phi: Option<f64>,
    params: Option<HeavyHittersParams>,
    hasher: S,
    key: PhantomData<fn() -> K>,
}

impl<K> HeavyHittersBuilder<K> {
    pub(crate) const fn new() -> Self {
        let hasher = DefaultHashBuilder::with_seed(0);
        Self { phi: None, params: None, hasher, key: PhantomData }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only summaries with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<K, S> HeavyHittersBuilder<K, S> {
    /// Sets the share of the total above which no key is missed, above 0 and below 1. The capacity is `ceil(1 / phi)`.
    pub const fn phi(mut self, phi: f64) -> Self {
        self.phi = Some(phi);
        self
    }

    /// Sets exactly these parameters.
    pub const fn params(mut self, params: HeavyHittersParams) -> Self {
        self.params = Some(params);
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> HeavyHittersBuilder<K, T> {
        HeavyHittersBuilder { phi: self.phi, params: self.params, hasher, key: PhantomData }
    }

    /// Builds the summary.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range, missing, or in conflict with another.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<HeavyHitters<K, S>, BuildError>
    where
        S: KeyHasher,
    {
        let params = match (self.phi, self.params) {
            (Some(phi), None) => HeavyHittersParams::new(phi)?,
            (None, Some(params)) => params,
            (None, None) => return Err(missing("phi").into()),
            (Some(_), Some(_)) => return Err(conflict("phi").into()),
        };
        Ok(HeavyHitters::from_params(params, self.hasher)?)
    }
}

/// Builder for [`TopK`]; start with [`TopK::builder`].
///
/// # Examples
/// ```
/// use heavy_hitters::TopK;
///
/// let list = TopK::<String>::builder().k(10).seed(7).build()?;
/// assert_eq!(list.k(), 10);
/// assert!(TopK::<String>::builder().build().is_err(), "no k");
/// # Ok::<(), heavy_hitters::error::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TopKBuilder<K, S = DefaultHashBuilder> {
    k: Option<u64>,
    hasher: S,
    key: PhantomData<fn() -> K>,
}

impl<K> TopKBuilder<K> {
    pub(crate) const fn new() -> Self {
        Self { k: None, hasher: DefaultHashBuilder::with_seed(0), key: PhantomData }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only lists with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<K, S> TopKBuilder<K, S> {
    /// Sets the number of keys that are listed, from 1 to 2^31.
    pub const fn k(mut self, k: u64) -> Self {
        self.k = Some(k);
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> TopKBuilder<K, T> {
        TopKBuilder { k: self.k, hasher, key: PhantomData }
    }

    /// Builds the list.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `k` is out of range or missing. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<TopK<K, S>, BuildError>
    where
        S: KeyHasher,
    {
        let (params, capacity) = top_k::params_for(self.k.ok_or(missing("k"))?)?;
        Ok(TopK::from_parts(sketch_for(params, self.hasher)?, Summary::new(capacity)?))
    }
}

/// Builder for [`SketchedHeavyHitters`]; start with [`SketchedHeavyHitters::builder`].
///
/// Give the share by [`phi`](Self::phi), and the shape of the sketch by [`error`](Self::error) or by
/// [`params`](Self::params).
///
/// # Examples
/// ```
/// use cms::CountMinParams;
/// use heavy_hitters::SketchedHeavyHitters;
///
/// let params = CountMinParams::least_memory(0.001, 0.01)?;
/// let detector = SketchedHeavyHitters::<String>::builder().phi(0.01).params(params).build()?;
/// assert_eq!(detector.sketch().params(), params);
/// # Ok::<(), heavy_hitters::error::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SketchedHeavyHittersBuilder<K, S = DefaultHashBuilder> {
    phi: Option<f64>,
    error: Option<(f64, f64)>,
    params: Option<CountMinParams>,
    hasher: S,
    key: PhantomData<fn() -> K>,
}

impl<K> SketchedHeavyHittersBuilder<K> {
    pub(crate) const fn new() -> Self {
        let hasher = DefaultHashBuilder::with_seed(0);
        Self { phi: None, error: None, params: None, hasher, key: PhantomData }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only detectors with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<K, S> SketchedHeavyHittersBuilder<K, S> {
    /// Sets the share of the total above which keys are listed, above 0 and below 1.
    pub const fn phi(mut self, phi: f64) -> Self {
        self.phi = Some(phi);
        self
    }

    /// Sets the published shape of the sketch, whose estimates exceed the truth by more than `epsilon` times the total
    /// with probability `delta` at most.
    pub const fn error(mut self, epsilon: f64, delta: f64) -> Self {
        self.error = Some((epsilon, delta));
        self
    }

    /// Sets exactly this shape of the sketch.
    pub const fn params(mut self, params: CountMinParams) -> Self {
        self.params = Some(params);
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> SketchedHeavyHittersBuilder<K, T> {
        let Self { phi, error, params, key, .. } = self;
        SketchedHeavyHittersBuilder { phi, error, params, hasher, key }
    }

    /// Builds the detector.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range, missing, or in conflict with another.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<SketchedHeavyHitters<K, S>, BuildError>
    where
        S: KeyHasher,
    {
        let phi = self.phi.ok_or(missing("phi"))?;
        let candidates = sketched::candidates_for(phi)?;
        let params = match (self.error, self.params) {
            (Some((epsilon, delta)), None) => CountMinParams::new(epsilon, delta)?,
            (None, Some(params)) => params,
            (None, None) => return Err(missing("error").into()),
            (Some(_), Some(_)) => return Err(conflict("params").into()),
        };
        let sketch = sketch_for(params, self.hasher)?;
        Ok(SketchedHeavyHitters::from_parts(sketch, Summary::new(candidates)?, phi))
    }
}
