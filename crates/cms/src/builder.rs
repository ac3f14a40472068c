//! The builders of sketches.

use core::marker::PhantomData;

use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_params::internal::ParamFault;
use pds_params::{CountMinParams, CountSketchParams};

#[cfg(target_has_atomic = "64")]
use crate::AtomicCountMinSketch;
use crate::{CountMinSketch, CountSketch, Counter, Update};

/// The shape as the caller gave it: by its error, or directly.
#[derive(Clone, Copy, Debug)]
struct Given<P> {
    error: Option<(f64, f64)>,
    params: Option<P>,
}

impl<P> Given<P> {
    const fn nothing() -> Self {
        Self { error: None, params: None }
    }

    /// Returns the shape. `of_error` computes it from an error.
    fn params(self, of_error: fn(f64, f64) -> Result<P, ParamError>) -> Result<P, ParamError> {
        match (self.error, self.params) {
            (Some((epsilon, delta)), None) => of_error(epsilon, delta),
            (None, Some(params)) => Ok(params),
            (None, None) => Err(ParamError(ParamFault::Missing { parameter: "error" })),
            (Some(_), Some(_)) => Err(ParamError(ParamFault::Conflict { parameter: "params" })),
        }
    }
}

/// Builder for [`CountMinSketch`]; start with [`CountMinSketch::builder`].
///
/// Give the shape by [`error`](Self::error) or by [`params`](Self::params).
///
/// # Examples
/// ```
/// use cms::{CountMinParams, CountMinSketch, Update};
///
/// let params = CountMinParams::least_memory(0.001, 0.01)?;
/// let builder = CountMinSketch::builder().params(params).counters::<u16>().seed(7);
/// let sketch = builder.update(Update::Conservative).build()?;
/// assert_eq!(sketch.size_in_bytes(), 25_120);
/// assert!(CountMinSketch::builder().build().is_err(), "no shape");
/// # Ok::<(), cms::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CountMinSketchBuilder<S = DefaultHashBuilder, C = u32> {
    given: Given<CountMinParams>,
    update: Update,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
    counters: PhantomData<C>,
}

impl CountMinSketchBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            given: Given::nothing(),
            update: Update::Plain,
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
            counters: PhantomData,
        }
    }
}

impl<C> CountMinSketchBuilder<DefaultHashBuilder, C> {
    /// Sets the seed of the default hasher, 0 unless it is set. Only sketches with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S: KeyHasher, C: Counter> CountMinSketchBuilder<S, C> {
    /// Sets the error, and with it the published shape: estimates exceed the truth by more than `epsilon` times the
    /// total with probability at most `delta`.
    pub const fn error(mut self, epsilon: f64, delta: f64) -> Self {
        self.given.error = Some((epsilon, delta));
        self
    }

    /// Sets the shape directly.
    pub const fn params(mut self, params: CountMinParams) -> Self {
        self.given.params = Some(params);
        self
    }

    /// Sets which counters an insert raises. Without it that is one in each row.
    pub const fn update(mut self, update: Update) -> Self {
        self.update = update;
        self
    }

    /// Sets whether to ask the system for huge pages, which pays for sketches of many megabytes.
    ///
    /// Small sketches ignore it. Copies of a sketch, and sketches read from bytes, do not ask.
    #[cfg(feature = "huge-pages")]
    pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Sets the type of a counter, which determines memory and limit.
    pub fn counters<D: Counter>(self) -> CountMinSketchBuilder<S, D> {
        self.rebuilt(|hasher| hasher)
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> CountMinSketchBuilder<T, C> {
        self.rebuilt(|_| hasher)
    }

    fn rebuilt<T, D>(self, hasher: impl FnOnce(S) -> T) -> CountMinSketchBuilder<T, D> {
        CountMinSketchBuilder {
            given: self.given,
            update: self.update,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher: hasher(self.hasher),
            counters: PhantomData,
        }
    }

    /// Builds the sketch.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range, missing, or in conflict with another.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<CountMinSketch<S, C>, BuildError> {
        let params = self.given.params(CountMinParams::new)?;
        let sketch = CountMinSketch::empty(params, self.update, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            sketch.advise_huge_pages();
        }
        Ok(sketch)
    }

    /// Builds a sketch that threads share.
    ///
    /// # Errors
    /// As [`build`](Self::build), and if the update is [`Update::Conservative`].
    #[cfg(target_has_atomic = "64")]
    pub fn build_atomic(self) -> Result<AtomicCountMinSketch<S, C>, BuildError> {
        AtomicCountMinSketch::try_from(self.build()?)
    }
}

/// Builder for [`CountSketch`]; start with [`CountSketch::builder`].
///
/// Give the shape by [`error`](Self::error) or by [`params`](Self::params).
///
/// # Examples
/// ```
/// use cms::{CountSketch, CountSketchParams};
///
/// let params = CountSketchParams::from_width_and_depth(1_000, 5)?;
/// let sketch = CountSketch::builder().params(params).seed(7).build()?;
/// assert_eq!(sketch.size_in_bytes(), 40_000);
/// # Ok::<(), cms::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CountSketchBuilder<S = DefaultHashBuilder> {
    given: Given<CountSketchParams>,
    hasher: S,
}

impl CountSketchBuilder {
    pub(crate) const fn new() -> Self {
        Self { given: Given::nothing(), hasher: DefaultHashBuilder::with_seed(0) }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only sketches with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> CountSketchBuilder<S> {
    /// Sets the error, and with it the shape: estimates are off by more than `epsilon` times the norm of the counts
    /// with probability at most `delta`.
    pub const fn error(mut self, epsilon: f64, delta: f64) -> Self {
        self.given.error = Some((epsilon, delta));
        self
    }

    /// Sets the shape directly.
    pub const fn params(mut self, params: CountSketchParams) -> Self {
        self.given.params = Some(params);
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> CountSketchBuilder<T> {
        CountSketchBuilder { given: self.given, hasher }
    }

    /// Builds the sketch.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range, missing, or in conflict with another.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<CountSketch<S>, BuildError>
    where
        S: KeyHasher,
    {
        let params = self.given.params(CountSketchParams::new)?;
        Ok(CountSketch::from_params(params, self.hasher)?)
    }
}
