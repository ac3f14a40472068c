//! Lines of counters in memory: what is done with one key, and with many, on whichever kind of processor.

use core::ops::Deref;
use core::slice;

use pds_core::error::AllocError;
use pds_core::internal::{
    Backend, StoredWord, Visitor, Work, prefetch_reduced, reduced, reduced_mut, visit_ahead,
    visit_chunks,
};
use pds_core::storage::{WordSource, Words};
use pds_params::BlockedCountingParams;

use crate::Bits4;
use crate::counters::Counters;
use crate::line::{self, LANES, Line, StoredLine, fields, load};

/// Least number of keys of a batch that are prefetched. For fewer, single calls are faster.
// A batch makes places for a chunk of keys first. In a filter of 8 MiB, single calls take 5.4 ns per key, batches of 8, 16 and
// 32 keys 10, 6.7 and 5.6 ns, batches of a thousand 4.2 ns.
const LEAST_BATCH: usize = 32;

/// The lines, and the kind of processor that was found when they were made.
// The parts that know nothing of keys are those of the counters.
#[derive(Clone)]
pub(crate) struct Lines<W = Words> {
    counters: Counters<Bits4, W>,
    backend: Backend,
}

/// Lists the names of the backends that filters of this build can have on this processor, the best first.
///
/// For tests and benches, which compare them.
pub fn backends() -> impl Iterator<Item = &'static str> {
    Backend::all().map(Backend::name)
}

impl<W: WordSource> Lines<W> {
    /// Takes the eight words of each line.
    pub(crate) fn from_words(words: W, params: &BlockedCountingParams) -> Self {
        let len = params.num_lines() * pds_params::counting::LINE_COUNTERS;
        Self { counters: Counters::from_words(words, len), backend: Backend::best() }
    }

    /// Returns whether all counters of the hash are above zero.
    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        let (line, fields) = self.line(hash);
        self.backend.run(Contains { line, fields })
    }

    /// Returns the least counter of the hash.
    #[inline]
    pub(crate) fn estimate(&self, hash: u64) -> u64 {
        let (line, fields) = self.line(hash);
        self.backend.run(Estimate { line, fields })
    }

    /// Tests many keys as [`contains`](Self::contains) does.
    pub(crate) fn contains_each<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: &mut [bool],
    ) {
        if keys.len() < LEAST_BATCH {
            let keys = answers.iter_mut().zip(keys);
            return keys.for_each(|(answer, key)| *answer = self.contains(hash(key)));
        }
        self.backend.run(ContainsEach { lines: self.lines(), keys, hash, answers });
    }

    /// Returns the line of a hash, and what chooses its counters.
    #[inline(always)]
    fn line(&self, hash: u64) -> (&StoredLine<W::Word>, u64) {
        (reduced(self.lines(), hash), fields(hash))
    }

    #[inline(always)]
    fn lines(&self) -> &[StoredLine<W::Word>] {
        self.words().as_words().as_chunks().0
    }

    /// Returns the mean over the lines of the product of their lanes' fills.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean needs no more than the 53 bits of the number"
    )]
    pub(crate) fn rate(&self) -> f64 {
        let sum: f64 = self.lines().iter().map(|line| line::rate(&load(line))).sum();
        sum / (self.len() / pds_params::counting::LINE_COUNTERS) as f64
    }
}

impl Lines {
    pub(crate) fn zeroed(params: &BlockedCountingParams) -> Result<Self, AllocError> {
        Ok(Self::from_words(Words::zeroed(params.num_lines() * LANES as u64)?, params))
    }

    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { counters: self.counters.try_clone()?, backend: self.backend })
    }

    pub(crate) fn set_backend(&mut self, backend: Backend) {
        self.backend = backend;
    }

    /// Increments all counters of the hash. Returns whether one of them was zero.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let backend = self.backend;
        let (line, fields) = self.line_mut(hash);
        backend.run(Insert { line, fields })
    }

    /// Inserts many keys as [`insert`](Self::insert) does. Returns for how many of them a counter was zero.
    pub(crate) fn insert_each<K>(&mut self, keys: &[K], hash: impl Fn(&K) -> u64) -> usize {
        if keys.len() < LEAST_BATCH {
            return keys.iter().filter(|key| self.insert(hash(key))).count();
        }
        self.backend.run(InsertEach { lines: self.lines_mut(), keys, hash })
    }

    /// Decrements all counters of the hash, unless one of them is zero. Returns whether none was.
    #[inline]
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        let backend = self.backend;
        let (line, fields) = self.line_mut(hash);
        backend.run(Remove { line, fields })
    }

    pub(crate) fn clear(&mut self) {
        self.counters.clear();
    }

    pub(crate) fn add<V: WordSource>(&mut self, other: &Lines<V>) {
        self.counters.add(&other.counters);
    }

    #[inline(always)]
    fn line_mut(&mut self, hash: u64) -> (&mut Line, u64) {
        (reduced_mut(self.lines_mut(), hash), fields(hash))
    }

    #[inline(always)]
    fn lines_mut(&mut self) -> &mut [Line] {
        self.counters.words_mut().as_chunks_mut().0
    }
}

impl<W> Deref for Lines<W> {
    type Target = Counters<Bits4, W>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.counters
    }
}

/// Equal lines are so on every kind of processor.
impl PartialEq for Lines {
    fn eq(&self, other: &Self) -> bool {
        self.counters == other.counters
    }
}

struct Contains<'a, W> {
    line: &'a StoredLine<W>,
    fields: u64,
}

impl<W: StoredWord> Work for Contains<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        line::holds(&load(self.line), self.fields)
    }
}

struct Estimate<'a, W> {
    line: &'a StoredLine<W>,
    fields: u64,
}

impl<W: StoredWord> Work for Estimate<'_, W> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        line::least(&load(self.line), self.fields)
    }
}

struct Insert<'a> {
    line: &'a mut Line,
    fields: u64,
}

impl Work for Insert<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        insert(self.line, self.fields)
    }
}

struct Remove<'a> {
    line: &'a mut Line,
    fields: u64,
}

impl Work for Remove<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let contained = line::holds(self.line, self.fields);
        if contained {
            line::lower(self.line, self.fields);
        }
        contained
    }
}

struct ContainsEach<'a, W, K, H> {
    lines: &'a [StoredLine<W>],
    keys: &'a [K],
    hash: H,
    answers: &'a mut [bool],
}

impl<W: StoredWord, K, H: Fn(&K) -> u64> Work for ContainsEach<'_, W, K, H> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lines, keys, hash, answers } = self;
        visit_ahead(keys, hash, Asking { lines, answers: answers.iter_mut() });
    }
}

/// Tests the keys of a batch.
struct Asking<'a, W> {
    lines: &'a [StoredLine<W>],
    answers: slice::IterMut<'a, bool>,
}

impl<W: StoredWord> Visitor for Asking<'_, W> {
    type Place = u64;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> u64 {
        prefetch_reduced(self.lines, hash);
        hash
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, hash: u64) {
        if let Some(answer) = self.answers.next() {
            *answer = line::holds(&load(reduced(self.lines, hash)), fields(hash));
        }
    }
}

struct InsertEach<'a, K, H> {
    lines: &'a mut [Line],
    keys: &'a [K],
    hash: H,
}

impl<K, H: Fn(&K) -> u64> Work for InsertEach<'_, K, H> {
    type Output = usize;

    // By whole chunks: with `visit_ahead` an insert takes twice as long in the caches.
    #[inline(always)]
    fn run(self) -> usize {
        visit_chunks(self.keys, self.hash, Inserting { lines: self.lines, new: 0 }).new
    }
}

/// Inserts the keys of a batch.
struct Inserting<'a> {
    lines: &'a mut [Line],
    new: usize,
}

impl Visitor for Inserting<'_> {
    type Place = u64;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> u64 {
        prefetch_reduced(self.lines, hash);
        hash
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, hash: u64) {
        self.new += usize::from(insert(reduced_mut(self.lines, hash), fields(hash)));
    }
}

#[inline(always)]
fn insert(line: &mut Line, fields: u64) -> bool {
    let new = !line::holds(line, fields);
    line::raise(line, fields);
    new
}
