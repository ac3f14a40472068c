//! The last N keys.

use pds_core::bytes::{Kind, Shape};
use pds_core::error::{AllocError, BuildError, DecodeError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::{Stored, WordSource, Words};
use pds_params::WindowParams;
use pds_params::internal::ParamFault;
use pds_params::window::Grid;

use crate::builder::Given;
use crate::columns::Columns;
use crate::{Age, AgingBloomFilter, AgingBloomFilterBuilder};

/// A set of the last N keys that were inserted. It answers membership with false positives at a chosen rate.
///
/// `false` is certain: the key is not among the last N. Older keys are forgotten by themselves.
///
/// Use it for *have I seen this lately?* if the stream has no end: events that are delivered twice, pages that were crawled,
/// cache admission. If age is a matter of time, use [`TimedBloomFilter`](crate::TimedBloomFilter).
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - False negatives: never for a key that is among the last N inserts. Inserts of equal keys count each.
/// - Older keys: a key is forgotten after at most N (1 + slack) newer inserts. Then it is answered `true` at the
///   false-positive rate. The slack is 10 % unless the builder gets another one.
/// - False positives: the mean rate is at most the promised one at every moment, however many keys come.
/// - Memory: 18.4 bits per key of the window at 1 % and a slack of 10 %, 19.5 at a slack of 2 %; 23.7 and 24.9 at 0.1 %. A
///   Bloom filter that forgets nothing has 9.6 and 14.4.
/// - Time: an insert or a lookup is O(k) for k hash functions. One insert in 16 also clears some words, 80 at 1 %
///   and a slack of 10 %. No insert waits for more.
/// - Equality: equal inserts give equal filters and equal bytes.
/// - Merging: impossible, because the order of the keys of both is not known.
///
/// # Examples
/// ```
/// use bloom_window::WindowBloomFilter;
///
/// let mut recent = WindowBloomFilter::new(1_000, 0.01)?;
/// assert!(recent.insert("event 1"), "not among the last 1,000");
/// assert!(!recent.insert("event 1"), "delivered twice");
/// for event in 2..=1_000 {
///     recent.insert(&format!("event {event}"));
/// }
/// assert!(recent.contains("event 1"));
/// for event in 1_001..=2_100 {
///     recent.insert(&format!("event {event}"));
/// }
/// assert!(!recent.contains("event 1"), "at least 1,100 newer keys");
/// # Ok::<(), bloom_window::error::BuildError>(())
/// ```
///
/// # References
/// Ariel Shtul, Carlos Baquero and Paulo Sérgio Almeida, "Age-Partitioned Bloom Filters", 2020, arXiv:2001.03147: the
/// guarantees and the slack. The structure here is another one; see the README.
pub type WindowBloomFilter<S = DefaultHashBuilder, W = Words> = AgingBloomFilter<LastKeys, S, W>;

/// A read-only [`WindowBloomFilter`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`. The bytes may start
/// at any address. Call [`verify`](AgingBloomFilter::verify) to check the payload too.
///
/// # Examples
/// ```
/// use bloom_window::{WindowBloomFilter, WindowBloomFilterView};
///
/// let mut recent = WindowBloomFilter::new(1_000, 0.01)?;
/// recent.insert("stored");
/// let view = WindowBloomFilterView::open(recent.to_bytes())?;
/// view.verify()?;
/// assert!(view.contains("stored") && !view.contains("absent"));
/// assert_eq!(view.to_filter()?, recent);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type WindowBloomFilterView<B, S = DefaultHashBuilder> = WindowBloomFilter<S, Stored<B>>;

/// Age in keys: how many were inserted since. The measure of [`WindowBloomFilter`].
// The number of inserts is the whole state. The other fields follow from it, and save divisions.
#[derive(Clone, Copy, Debug)]
pub struct LastKeys {
    params: WindowParams,
    /// Number of keys inserted.
    inserted: u64,
    /// Number of them in the current generation.
    within: u64,
    /// The current column.
    column: u32,
    /// Number of words that a step clears.
    step_words: u64,
}

/// Number of inserts per step of clearing. The first of them clears words for all.
// Many words together cost less than one by one. At 1 % and a slack of 10 % a step is 80 words, so no insert waits.
const STEP: u64 = 16;

impl LastKeys {
    fn new(params: WindowParams, inserted: u64) -> Self {
        let items = params.generation_items();
        let columns = u64::from(params.grid().columns());
        #[expect(clippy::cast_possible_truncation, reason = "a remainder of at most 64")]
        let column = (inserted / items % columns) as u32;
        let step_words = params.grid().num_words().div_ceil(items).saturating_mul(STEP);
        Self { params, inserted, within: inserted % items, column, step_words }
    }

    /// Returns the number of inserts after which the same column is at the same key again. It is below 2^64.
    const fn round(&self) -> u64 {
        self.params.generation_items() * self.params.grid().columns() as u64
    }

    /// Returns the column after the current one, which is being cleared.
    const fn next(&self) -> u32 {
        let next = self.column + 1;
        if next < self.params.grid().columns() { next } else { 0 }
    }

    /// Returns the number of words that are clear in the next column.
    fn cleared(&self) -> u64 {
        let steps = self.within.div_ceil(STEP);
        steps.saturating_mul(self.step_words).min(self.params.grid().num_words())
    }

    #[expect(clippy::cast_possible_truncation, reason = "numbers of words in memory")]
    fn clear_step(&self, columns: &mut Columns) {
        let start = self.cleared();
        let end = start.saturating_add(self.step_words).min(self.params.grid().num_words());
        columns.clear(columns.in_word(self.next()), start as usize..end as usize);
    }
}

impl Age for LastKeys {
    const KIND: Kind = Kind::WINDOW_BLOOM;
    const NAMES: [&'static str; 3] =
        ["WindowBloomFilter", "AtomicWindowBloomFilter", "WindowBloomFilterView"];

    fn given(given: &Given) -> Result<Self, ParamError> {
        let missing = ParamError(ParamFault::Missing { parameter: "window" });
        let window = given.length.ok_or(missing)?;
        Ok(Self::new(WindowParams::new(window, given.rate, given.slack)?, 0))
    }

    fn grid(&self) -> &Grid {
        self.params.grid()
    }

    fn generations(&self) -> u32 {
        self.params.generations()
    }

    fn design(&self) -> (Option<u64>, Option<f64>) {
        (Some(self.params.longest_stay()), self.params.promised_rate())
    }

    #[inline]
    fn place(&self, columns: &mut Columns<impl WordSource>) {
        columns.set_current(self.column, Some(self.next()));
    }

    #[inline]
    fn note_insert(&mut self, columns: &mut Columns) {
        if self.within.is_multiple_of(STEP) {
            self.clear_step(columns);
        }
        // Bytes of strangers may say that centuries have passed: a whole round less is the same state.
        self.inserted = match self.inserted.checked_add(1) {
            Some(inserted) => inserted,
            None => self.inserted - self.round() + 1,
        };
        self.within += 1;
        if self.within == self.params.generation_items() {
            self.within = 0;
            self.column = self.next();
            self.place(columns);
        }
    }

    fn note_clear(&mut self) {
        *self = Self::new(self.params, 0);
    }

    fn clear_part(&self) -> Option<(u32, u64)> {
        Some((self.next(), self.cleared()))
    }

    fn shape(&self) -> Shape {
        let grid = self.grid();
        let generations = self.params.generations().into();
        let hashes = grid.num_hashes().into();
        Shape::new([self.params.window(), generations, grid.num_words(), hashes, self.inserted])
            .with_design(None, self.params.promised_rate())
    }

    fn of_shape(shape: &Shape) -> Result<Self, DecodeError> {
        let numbers = shape.numbers(["window", "generations", "words", "hashes", "inserted"])?;
        let [window, generations, words, hashes, inserted] = numbers.values();
        let narrow = |number| u32::try_from(number).unwrap_or(u32::MAX);
        let params = WindowParams::from_shape(window, narrow(generations), words, narrow(hashes))
            .and_then(|params| params.with_promised_rate(shape.promised_rate()))
            .map_err(|error| numbers.error(error))?;
        if shape.expected_items().is_some() {
            // Names the field, and its offset.
            shape.expect_no_design()?;
        }
        Ok(Self::new(params, inserted))
    }
}

// Functions that are called by path (`WindowBloomFilter::new`) exist for one storage only: the compiler could not tell two of
// the same name apart (E0034).
impl WindowBloomFilter {
    /// Creates a filter of the last `window` keys that keeps the false-positive rate `rate` at every moment, with a slack of
    /// 10 %.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `window` is 0 or exceeds 2^62, or if `rate` is not above 0 and below 1. If both need more than
    /// 2^63 bits. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Complexity
    /// 10 ms for the best of all numbers of generations.
    ///
    /// # Examples
    /// ```
    /// use bloom_window::WindowBloomFilter;
    ///
    /// let filter = WindowBloomFilter::new(1_000_000, 0.01)?;
    /// assert_eq!(filter.size_in_bytes() / 1024, 2250);
    /// assert!(WindowBloomFilter::new(0, 0.01).is_err());
    /// # Ok::<(), bloom_window::error::BuildError>(())
    /// ```
    pub fn new(window: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().window(window).false_positive_rate(rate).build()
    }

    /// Starts a builder: for another slack, a seed, or another hasher.
    pub const fn builder() -> AgingBloomFilterBuilder<LastKeys> {
        AgingBloomFilterBuilder::new()
    }
}

impl<S: KeyHasher> WindowBloomFilter<S> {
    /// Creates an empty filter with exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: WindowParams, hasher: S) -> Result<Self, AllocError> {
        Self::of_age(LastKeys::new(params, 0), hasher)
    }
}

impl<S: KeyHasher, W: WordSource> WindowBloomFilter<S, W> {
    /// Returns the parameters: window, generations, hashes, and promised rate.
    #[must_use]
    pub const fn params(&self) -> WindowParams {
        self.age.params
    }

    /// Returns the number N of keys in the window.
    #[must_use]
    pub const fn window(&self) -> u64 {
        self.age.params.window()
    }

    /// Returns the number of inserts since the filter was created or cleared.
    #[must_use]
    pub const fn inserted(&self) -> u64 {
        self.age.inserted
    }
}
