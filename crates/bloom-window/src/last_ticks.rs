//! The keys of the last ticks of a clock.

use pds_core::bytes::{Kind, Shape};
use pds_core::error::{AllocError, BuildError, DecodeError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::{Stored, WordSource, Words};
use pds_params::TimedParams;
use pds_params::internal::ParamFault;
use pds_params::window::Grid;

use crate::builder::Given;
use crate::columns::Columns;
use crate::{Age, AgingBloomFilter, AgingBloomFilterBuilder, ClockError};

/// A set of the keys that were inserted within a time T. It answers membership with false positives at a chosen rate.
///
/// `false` is certain: the key was not inserted within T. Older keys are forgotten by themselves.
///
/// The clock is the caller's, and counts *ticks* of any length. Call [`advance`](AgingBloomFilter::advance) with its time
/// before an insert or a lookup. The filter never asks the system for the time, so equal inserts give equal filters.
///
/// If age is a matter of newer keys, use [`WindowBloomFilter`](crate::WindowBloomFilter).
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - False negatives: never for a key that is at most T old at the last `advance`, however many keys come.
/// - Older keys: a key is forgotten when it is T (1 + slack) old, rounded up to whole ticks. Then it is answered `true` at the false-positive rate. The
///   slack is 10 % unless the builder gets another one.
/// - False positives: the mean rate is at most the promised one while at most the expected number of inserts comes per T, and
///   evenly. More inserts, or bursts, raise it until they are forgotten, and [`health`](AgingBloomFilter::health) tells. If keys
///   come in bursts, expect as many as would come if a burst lasted for T.
/// - Keys that come again: equal keys within one generation count once. A key that is inserted again in a later generation
///   counts again, up to as many times per T as there are [generations](TimedParams::generations). If keys need not become young
///   again, ask [`contains`](AgingBloomFilter::contains), and insert a key only if the answer is `false`.
/// - Memory: 17.4 bits per expected insert at 1 % and a slack of 10 %, 19.3 at a slack of 2 %.
/// - Time: an insert or a lookup is O(k) for k hash functions. An [`advance`](AgingBloomFilter::advance) is O(1), but O(size)
///   once per generation.
/// - Equality: equal calls give equal filters and equal bytes.
///
/// # Examples
/// ```
/// use bloom_window::TimedBloomFilter;
///
/// // An hour in seconds, with 10,000 inserts per hour.
/// let mut alerts = TimedBloomFilter::new(3_600, 10_000, 0.001)?;
/// alerts.advance(1_000)?;
/// assert!(alerts.insert("disk full"));
/// alerts.advance(4_600)?;
/// assert!(!alerts.insert("disk full"), "an hour ago");
/// alerts.advance(8_560)?;
/// assert!(alerts.insert("disk full"), "66 minutes after the last one");
/// assert!(alerts.advance(8_559).is_err(), "clocks must not run backwards");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Ariel Shtul, Carlos Baquero and Paulo Sérgio Almeida, "Time-limited Bloom Filter", 2023, arXiv:2306.06742: the guarantees.
/// The structure here is another one; see the README.
pub type TimedBloomFilter<S = DefaultHashBuilder, W = Words> = AgingBloomFilter<LastTicks, S, W>;

/// A read-only [`TimedBloomFilter`] that answers from its portable bytes, without a copy. Its time is that of the bytes.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`. The bytes may start
/// at any address. Call [`verify`](AgingBloomFilter::verify) to check the payload too.
///
/// # Examples
/// ```
/// use bloom_window::{TimedBloomFilter, TimedBloomFilterView};
///
/// let mut alerts = TimedBloomFilter::new(3_600, 10_000, 0.001)?;
/// alerts.insert("disk full");
/// let view = TimedBloomFilterView::open(alerts.to_bytes())?;
/// assert!(view.contains("disk full") && !view.contains("fan stopped"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type TimedBloomFilterView<B, S = DefaultHashBuilder> = TimedBloomFilter<S, Stored<B>>;

/// Age in ticks of a clock. The measure of [`TimedBloomFilter`].
#[derive(Clone, Copy, Debug)]
pub struct LastTicks {
    params: TimedParams,
    /// The time of the last [`advance`](AgingBloomFilter::advance).
    now: u64,
    /// The last tick of its generation. It follows from the time, and saves divisions.
    last: u64,
}

impl LastTicks {
    const fn at(params: TimedParams, now: u64) -> Self {
        let ticks = params.generation_ticks();
        let last = (now - now % ticks).saturating_add(ticks - 1);
        Self { params, now, last }
    }

    /// Returns the number of the generation of a time.
    const fn generation(&self, time: u64) -> u64 {
        time / self.params.generation_ticks()
    }

    /// Returns the column of a generation.
    #[expect(clippy::cast_possible_truncation, reason = "a remainder of at most 64")]
    const fn column(&self, generation: u64) -> u32 {
        (generation % self.params.grid().columns() as u64) as u32
    }

    /// Returns the columns of the generations after that of `now` up to that of `time`. `None` if these are all columns.
    fn entered(&self, time: u64) -> Option<impl Iterator<Item = u32>> {
        let last = self.generation(self.now);
        let passed = self.generation(time) - last;
        let some = passed < self.params.grid().columns().into();
        some.then(|| (1..=passed).map(move |step| self.column(last + step)))
    }
}

impl Age for LastTicks {
    const KIND: Kind = Kind::TIMED_BLOOM;
    const NAMES: [&'static str; 3] =
        ["TimedBloomFilter", "AtomicTimedBloomFilter", "TimedBloomFilterView"];

    fn given(given: &Given) -> Result<Self, ParamError> {
        let missing = |parameter| ParamError(ParamFault::Missing { parameter });
        let ticks = given.length.ok_or(missing("ticks"))?;
        let items = given.expected_items.ok_or(missing("expected_items"))?;
        let params = TimedParams::new(ticks, items, given.rate, given.slack)?;
        Ok(Self::at(params, 0))
    }

    fn grid(&self) -> &Grid {
        self.params.grid()
    }

    fn generations(&self) -> u32 {
        self.params.generations()
    }

    fn design(&self) -> (Option<u64>, Option<f64>) {
        let generations = u64::from(self.params.generations());
        let in_all = |items| self.params.share_of(items).saturating_mul(generations + 1);
        (self.params.expected_items().map(in_all), self.params.promised_rate())
    }

    fn place(&self, columns: &mut Columns<impl WordSource>) {
        columns.set_current(self.column(self.generation(self.now)), None);
    }

    #[inline]
    fn note_insert(&mut self, _: &mut Columns) {}

    fn note_clear(&mut self) {}

    fn clear_part(&self) -> Option<(u32, u64)> {
        None
    }

    fn shape(&self) -> Shape {
        let grid = self.grid();
        let generations = self.params.generations().into();
        let hashes = grid.num_hashes().into();
        Shape::new([self.params.ticks(), generations, grid.num_words(), hashes, self.now])
            .with_design(self.params.expected_items(), self.params.promised_rate())
    }

    fn of_shape(shape: &Shape) -> Result<Self, DecodeError> {
        let numbers = shape.numbers(["ticks", "generations", "words", "hashes", "now"])?;
        let [ticks, generations, words, hashes, now] = numbers.values();
        let narrow = |number| u32::try_from(number).unwrap_or(u32::MAX);
        let params = TimedParams::from_shape(ticks, narrow(generations), words, narrow(hashes))
            .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
            .map_err(|error| numbers.error(error))?;
        Ok(Self::at(params, now))
    }
}

// Functions that are called by path (`TimedBloomFilter::new`) exist for one storage only: the compiler could not tell two of
// the same name apart (E0034).
impl TimedBloomFilter {
    /// Creates a filter of the keys of the last `ticks`, with the false-positive rate `rate` for `expected_items`
    /// inserts in that time and a slack of 10 %. The time is 0.
    ///
    /// Equal keys count once per generation, not once per T: the README says what to expect of keys that come again.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `ticks` is 0 or exceeds 2^62, if `expected_items` is 0, or if `rate` is not above 0 and below
    /// 1, or if more than 2^63 bits are needed. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Complexity
    /// 10 ms for the best of all numbers of generations.
    ///
    /// # Examples
    /// ```
    /// use bloom_window::TimedBloomFilter;
    ///
    /// // A day in milliseconds, with a million inserts per day.
    /// let filter = TimedBloomFilter::new(86_400_000, 1_000_000, 0.01)?;
    /// assert_eq!(filter.size_in_bytes() / 1024, 2125);
    /// assert!(TimedBloomFilter::new(0, 1_000_000, 0.01).is_err());
    /// # Ok::<(), bloom_window::error::BuildError>(())
    /// ```
    pub fn new(ticks: u64, expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        let builder = Self::builder().ticks(ticks).expected_items(expected_items);
        builder.false_positive_rate(rate).build()
    }

    /// Starts a builder: for another slack, a seed, or another hasher.
    pub const fn builder() -> AgingBloomFilterBuilder<LastTicks> {
        AgingBloomFilterBuilder::new()
    }
}

impl<S: KeyHasher> TimedBloomFilter<S> {
    /// Creates an empty filter with exactly these parameters. The time is 0.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: TimedParams, hasher: S) -> Result<Self, AllocError> {
        Self::of_age(LastTicks::at(params, 0), hasher)
    }

    /// Sets the time, in ticks. Keys that are too old are forgotten.
    ///
    /// # Errors
    /// [`ClockError`] if `now` is before the time of the filter. Nothing is changed then.
    ///
    /// # Complexity
    /// O(1) within a generation. The first time of a new generation costs one pass over the bits, about 0.1 ms per MB. A window
    /// has at most 63 generations.
    #[inline]
    pub fn advance(&mut self, now: u64) -> Result<(), ClockError> {
        if now < self.age.now {
            return Err(ClockError { given: now, now: self.age.now });
        }
        if now > self.age.last {
            self.enter(now);
        }
        self.age.now = now;
        Ok(())
    }

    /// Begins the generation of a later time.
    #[cold]
    fn enter(&mut self, now: u64) {
        if let Some(columns) = self.age.entered(now) {
            let bits = columns.fold(0, |bits, column| bits | self.columns.in_word(column));
            self.columns.clear(bits, 0..self.columns.words().len());
        } else {
            self.columns.clear_all();
        }
        self.age = LastTicks::at(self.age.params, now);
        self.age.place(&mut self.columns);
    }
}

impl<S: KeyHasher, W: WordSource> TimedBloomFilter<S, W> {
    /// Returns the parameters: window, generations, hashes, and design.
    #[must_use]
    pub const fn params(&self) -> TimedParams {
        self.age.params
    }

    /// Returns the length T of the window in ticks.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.age.params.ticks()
    }

    /// Returns the time of the last [`advance`](AgingBloomFilter::advance), in ticks.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.age.now
    }

    /// Returns the number of inserts per window that the filter was designed for, if any.
    #[must_use]
    pub fn expected_items(&self) -> Option<u64> {
        self.age.params.expected_items()
    }
}
