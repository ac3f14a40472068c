//! A sketch with other counters, another update or another hasher than the usual ones.

use core::marker::PhantomData;

use pds_core::{AllocError, DefaultHashBuilder, KeyHasher};
use pds_params::CountMinParams;

use crate::{CountMinSketch, Counter, Update};

/// Sets up a [`CountMinSketch`]; [`CountMinSketch::builder`] starts it with the shape.
///
/// # Examples
/// ```
/// use cms::{CountMinParams, CountMinSketch};
///
/// let params = CountMinParams::least_memory(0.001, 0.01)?;
/// let sketch = CountMinSketch::builder(params).conservative().counters::<u16>().seed(7).build()?;
/// assert_eq!(sketch.size_in_bytes(), 25_120);
/// # Ok::<(), pds_core::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CountMinSketchBuilder<S = DefaultHashBuilder, C = u32> {
    params: CountMinParams,
    update: Update,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
    counters: PhantomData<C>,
}

impl CountMinSketchBuilder {
    pub(crate) const fn new(params: CountMinParams) -> Self {
        Self {
            params,
            update: Update::Plain,
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
            counters: PhantomData,
        }
    }
}

impl<C> CountMinSketchBuilder<DefaultHashBuilder, C> {
    /// Seeds the default hasher. Sketches can be merged when their seeds are equal.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S, C> CountMinSketchBuilder<S, C> {
    /// Raises only the counters that have to be raised; see [`Update::Conservative`].
    pub const fn conservative(mut self) -> Self {
        self.update = Update::Conservative;
        self
    }

    /// Asks the system for huge pages, which large sketches gain from and small ones ignore.
    #[cfg(feature = "huge-pages")]
    pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Counts in integers of another width, which fixes memory and limit.
    pub fn counters<D: Counter>(self) -> CountMinSketchBuilder<S, D> {
        let hasher = self.hasher;
        CountMinSketchBuilder {
            params: self.params,
            update: self.update,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher,
            counters: PhantomData,
        }
    }

    /// Hashes keys with `hasher`, such as a [`SipHashBuilder`](pds_core::SipHashBuilder) for keys that
    /// strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> CountMinSketchBuilder<T, C> {
        CountMinSketchBuilder {
            params: self.params,
            update: self.update,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher,
            counters: PhantomData,
        }
    }
}

impl<S, C: Counter> CountMinSketchBuilder<S, C> {
    /// Builds the sketch.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn build(self) -> Result<CountMinSketch<S, C>, AllocError>
    where
        S: KeyHasher,
    {
        let sketch = CountMinSketch::from_params(self.params, self.update, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            sketch.advise_huge_pages();
        }
        Ok(sketch)
    }
}
