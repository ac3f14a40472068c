//! The counters of a count-min sketch in every storage, and its total.

#[cfg(target_has_atomic = "64")]
pub(crate) use shared::lanes_added;
#[cfg(target_has_atomic = "64")]
pub use shared::{SharedRows, SharedTally};

use pds_core::error::AllocError;
use pds_core::internal::prefetch;
use pds_core::storage::{Stored, WordSource, Words};
use pds_params::CountMinParams;

use crate::Counter;
use crate::cells::{fold_counters, index};
use crate::counter::StoredCounter;

/// Storage of a [`CountMinSketch`](crate::CountMinSketch): [`Words`], [`Stored`], or
/// [`AtomicWords`](pds_core::storage::AtomicWords).
///
/// It is the bound of the methods that read. Its own items are internal, and no other crate can implement it.
pub trait CounterStorage: WordSource {
    /// The total, and the least value at which counters may have lost counts.
    #[doc(hidden)]
    type Tally: Tally;

    /// The counters, as this storage keeps them.
    #[doc(hidden)]
    type Rows<'a, C: Counter>: Rows<C>
    where
        Self: 'a;

    /// Whether threads may share the counters.
    #[doc(hidden)]
    const SHARED: bool = false;

    /// Returns the counters. Call it once per operation or batch.
    #[doc(hidden)]
    fn rows<C: Counter>(&self, params: &CountMinParams) -> Self::Rows<'_, C>;
}

/// The total of a sketch, and its least saturated count.
pub trait Tally: Clone {
    /// Restores the numbers.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    fn restored(counted: Counted) -> Result<Self, AllocError>;

    /// Returns the present numbers.
    fn counted(&self) -> Counted;

    /// Returns the least value at which counters may have lost counts.
    fn full_from(&self) -> u64;
}

/// The total of a sketch, and its least saturated count, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The sum of all counts inserted.
    pub(crate) total: u64,
    /// Counters of at least this value may have lost counts. It is the limit, or less after saturated counters were
    /// halved.
    pub(crate) full_from: u64,
    /// Upper bound of what a counter below the limit has lost. All bits are set if no bound is known.
    pub(crate) lost: u64,
}

impl Counted {
    /// Returns the numbers of an empty sketch with counters of type `C`.
    pub(crate) fn nothing<C: Counter>() -> Self {
        Self { total: 0, full_from: C::MAX.into(), lost: 0 }
    }

    /// Returns the numbers of both streams.
    pub(crate) fn merged(self, other: Self) -> Self {
        Self {
            total: self.total.saturating_add(other.total),
            full_from: self.full_from.min(other.full_from),
            lost: self.lost.saturating_add(other.lost),
        }
    }

    /// Returns the numbers after all counts are halved. `full` counters are saturated, some of them `at_limit`.
    ///
    // No key came more often than the total, so a counter at its limit has lost at most the rest of the total. Saturated
    // counters are rounded up, so half of the lost counts, rounded down, bounds what is lost afterwards.
    pub(crate) fn halved<C: Counter>(self, full: u64, at_limit: bool) -> Self {
        let Self { total, full_from, lost } = self;
        let half = |bound: u64| if bound == u64::MAX { bound } else { bound / 2 };
        let rest = if total == u64::MAX { total } else { total.saturating_sub(C::MAX.into()) };
        let lost = match (full, at_limit) {
            (0, _) => 0,
            (_, false) => half(lost),
            (_, true) => half(lost.max(rest)),
        };
        Self {
            total: if total == u64::MAX { total } else { total.div_ceil(2) },
            full_from: if lost > 0 { full_from.div_ceil(2) } else { C::MAX.into() },
            lost,
        }
    }
}

impl Tally for Counted {
    fn restored(counted: Counted) -> Result<Self, AllocError> {
        Ok(counted)
    }

    #[inline(always)]
    fn counted(&self) -> Counted {
        *self
    }

    #[inline(always)]
    fn full_from(&self) -> u64 {
        self.full_from
    }
}

/// The counters of a sketch, row after row.
pub trait Rows<C>: Copy {
    /// Folds the counters of a key, one from each row.
    fn fold<T>(self, hash: u64, value: T, with: impl FnMut(T, C) -> T) -> T;

    /// Prefetches the counters of a key.
    fn prefetch(self, hash: u64);
}

/// Counters that lie side by side: of type `C`, or their bytes.
#[derive(Clone, Copy, Debug)]
pub struct PlainRows<'a, T> {
    cells: &'a [T],
    width: u64,
}

impl<T> PlainRows<'_, T> {
    /// Returns the greatest sum of a row.
    pub(crate) fn greatest_sum<C: Counter>(self) -> u128
    where
        T: StoredCounter<C>,
    {
        let rows = self.cells.chunks_exact(index(self.width));
        let sum =
            |row: &[T]| row.iter().fold(0u128, |sum, cell| sum + u128::from(cell.get().into()));
        rows.map(sum).max().unwrap_or_default()
    }
}

impl<C: Counter, T: StoredCounter<C> + Copy> Rows<C> for PlainRows<'_, T> {
    #[inline(always)]
    fn fold<U>(self, hash: u64, value: U, mut with: impl FnMut(U, C) -> U) -> U {
        fold_counters(self.cells, self.width, hash, value, |value, cell| with(value, cell.get()))
    }

    #[inline(always)]
    fn prefetch(self, hash: u64) {
        fold_counters(self.cells, self.width, hash, (), |(), cell| {
            prefetch(core::slice::from_ref(cell), 0);
        });
    }
}

impl CounterStorage for Words {
    type Tally = Counted;
    type Rows<'a, C: Counter> = PlainRows<'a, C>;

    #[inline(always)]
    fn rows<C: Counter>(&self, params: &CountMinParams) -> PlainRows<'_, C> {
        let cells = &self.lanes()[..index(params.counters())];
        PlainRows { cells, width: params.width() }
    }
}

impl<B: AsRef<[u8]>> CounterStorage for Stored<B> {
    type Tally = Counted;
    type Rows<'a, C: Counter>
        = PlainRows<'a, C::Bytes>
    where
        Self: 'a;

    #[inline(always)]
    fn rows<C: Counter>(&self, params: &CountMinParams) -> PlainRows<'_, C::Bytes> {
        let cells = &C::cells_of(self.payload())[..index(params.counters())];
        PlainRows { cells, width: params.width() }
    }
}

#[cfg(target_has_atomic = "64")]
mod shared {
    use core::marker::PhantomData;
    use core::sync::atomic::Ordering::Relaxed;

    use pds_core::error::AllocError;
    use pds_core::internal::{AtomicU64, prefetch, reorder_lanes};
    use pds_core::storage::{AtomicWords, WordSource, Words};
    use pds_params::CountMinParams;

    use super::{Counted, CounterStorage, Rows, Tally};
    use crate::Counter;
    use crate::cells::{Cells, index};

    impl CounterStorage for AtomicWords {
        type Tally = SharedTally;
        type Rows<'a, C: Counter> = SharedRows<'a, C>;
        const SHARED: bool = true;

        #[inline(always)]
        fn rows<C: Counter>(&self, params: &CountMinParams) -> SharedRows<'_, C> {
            let (width, counters) = (params.width(), params.counters());
            SharedRows { words: self.as_words(), width, counters, counter: PhantomData }
        }
    }

    /// Number of places that the total is spread over, so that threads rarely meet at one.
    const STRIPES: usize = 16;
    /// Words from one place to the next: a cache line.
    const STRIDE: usize = 8;
    /// Place of the least saturated count. It has a cache line of its own, because it is read often and written rarely.
    const FULL_FROM: usize = STRIPES * STRIDE;
    /// Place of the bound on lost counts.
    const LOST: usize = FULL_FROM + 1;

    /// The total and the least saturated count of a sketch that threads share.
    #[derive(Clone, Debug)]
    pub struct SharedTally(AtomicWords);

    impl SharedTally {
        /// Adds to the total, which saturates.
        #[inline]
        pub(crate) fn add(&self, hash: u64, count: u64) {
            let stripe = &self.0[index(hash % STRIPES as u64) * STRIDE];
            // The closure always returns a value, so this always succeeds.
            let _ =
                stripe.fetch_update(Relaxed, Relaxed, |total| Some(total.saturating_add(count)));
        }

        /// Adds the numbers of another sketch.
        pub(crate) fn merge(&self, Counted { total, full_from, lost }: Counted) {
            // In this order, lost counts are never more than the total, and none are denied where counts may be saturated.
            self.add(0, total);
            // The closures always return a value, so these always succeed.
            let add = |own: u64| Some(own.saturating_add(lost));
            let _ = self.0[LOST].fetch_update(Relaxed, Relaxed, add);
            let lower = |own: u64| Some(own.min(full_from));
            let _ = self.0[FULL_FROM].fetch_update(Relaxed, Relaxed, lower);
        }

        /// Replaces the numbers.
        pub(crate) fn set(&mut self, Counted { total, full_from, lost }: Counted) {
            self.0.clear();
            for (place, word) in [(0, total), (FULL_FROM, full_from), (LOST, lost)] {
                self.0[place].store(word, Relaxed);
            }
        }
    }

    impl Tally for SharedTally {
        fn restored(counted: Counted) -> Result<Self, AllocError> {
            let mut tally = Self(Words::zeroed((FULL_FROM + STRIDE) as u64)?.into());
            tally.set(counted);
            Ok(tally)
        }

        #[inline]
        fn full_from(&self) -> u64 {
            self.0[FULL_FROM].load(Relaxed)
        }

        #[inline]
        fn counted(&self) -> Counted {
            let stripes = self.0[..FULL_FROM].iter().step_by(STRIDE);
            let total = stripes.fold(0, |sum: u64, part| sum.saturating_add(part.load(Relaxed)));
            Counted { total, full_from: self.full_from(), lost: self.0[LOST].load(Relaxed) }
        }
    }

    /// Counters that threads share.
    #[derive(Debug)]
    pub struct SharedRows<'a, C> {
        words: &'a [AtomicU64],
        width: u64,
        counters: u64,
        counter: PhantomData<C>,
    }

    impl<C> Clone for SharedRows<'_, C> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<C> Copy for SharedRows<'_, C> {}

    impl<C: Counter> SharedRows<'_, C> {
        #[inline(always)]
        fn cells(self, hash: u64) -> Cells {
            Cells::new(self.width, self.counters, hash)
        }

        /// Adds to each counter of a key, up to the limit. Returns the least sum.
        #[inline]
        pub(crate) fn raise(self, hash: u64, added: C) -> C {
            self.cells(hash).fold(C::MAX, |least, cell| least.min(self.add(cell, added)))
        }

        /// Adds to a counter, up to the limit. Returns the sum. A counter at its limit is only read.
        // The word is changed as a whole: accesses of different widths to the same memory must not race.
        #[inline]
        fn add(self, cell: usize, added: C) -> C {
            let (word, shift) = (&self.words[cell / C::PER_WORD], shift_of::<C>(cell));
            let mut old = word.load(Relaxed);
            loop {
                let counter = lane::<C>(old, shift);
                let sum = counter.saturating_add(added);
                if sum == counter {
                    return sum;
                }
                let others = reorder_lanes::<C>(old) & !(C::MAX.into() << shift);
                let new = reorder_lanes::<C>(others | sum.into() << shift);
                match word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                    Ok(_) => return sum,
                    Err(found) => old = found,
                }
            }
        }
    }

    impl<C: Counter> Rows<C> for SharedRows<'_, C> {
        #[inline]
        fn fold<T>(self, hash: u64, value: T, mut with: impl FnMut(T, C) -> T) -> T {
            let counter = |cell: usize| {
                lane(self.words[cell / C::PER_WORD].load(Relaxed), shift_of::<C>(cell))
            };
            self.cells(hash).fold(value, |value, cell| with(value, counter(cell)))
        }

        #[inline]
        fn prefetch(self, hash: u64) {
            self.cells(hash).for_each(|cell| prefetch(self.words, cell / C::PER_WORD));
        }
    }

    /// Adds the counters of two words, each up to its limit.
    pub(crate) fn lanes_added<C: Counter>(left: u64, right: u64) -> u64 {
        let sum = |shift| lane::<C>(left, shift).saturating_add(lane(right, shift)).into() << shift;
        let sums = (0..C::PER_WORD).map(|cell| sum(shift_of::<C>(cell)));
        reorder_lanes::<C>(sums.fold(0, |word, sum: u64| word | sum))
    }

    /// Returns the place of a counter in its word, in bits, after the lanes are put in order.
    #[inline(always)]
    const fn shift_of<C: Counter>(cell: usize) -> usize {
        cell % C::PER_WORD * (64 / C::PER_WORD)
    }

    #[inline(always)]
    fn lane<C: Counter>(word: u64, shift: usize) -> C {
        C::saturating_from(reorder_lanes::<C>(word) >> shift & C::MAX.into())
    }
}
