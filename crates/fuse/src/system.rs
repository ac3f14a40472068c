//! A solved system: where the equation of a key lies in the words, and what it yields.

use core::ops::RangeInclusive;
use core::{iter, mem};
use pds_params::internal::ParamFault;

use pds_core::error::{AllocError, ParamError};
use pds_core::hash::reduce;
use pds_core::internal::{Backend, StoredWord, Visitor, prefetch, visit_ahead};
use pds_core::storage::{WordSource, Words};
use pds_params::ribbon::{
    BUCKET, Columns, LastShape, LayerShape, MAX_KEYS, MAX_LAST_KEYS, MAX_LAYERS, MAX_SEEDS, Preset,
    THRESHOLD_BITS, THRESHOLDS, WINDOW, Width,
};

use crate::arch::{COLUMNS, Kernel, Sums};
use crate::equation::{coefficients, fingerprint, rehash, salt};
use crate::rest;

/// Number of the last layer in the salts of all layers, to which its seed is added.
const LAST: u64 = 1 << 32;

/// Returns the salt of the last layer.
pub(crate) const fn last_salt(seed: u64) -> u64 {
    salt(LAST + seed)
}

/// What follows the hash of each key in the exact list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestForm {
    /// Nothing.
    Hashes,
    /// After all hashes, the bits of each key.
    Bits,
}

impl RestForm {
    /// Returns the number of words per key.
    pub(crate) const fn words(self) -> u64 {
        match self {
            Self::Hashes => 1,
            Self::Bits => 2,
        }
    }
}

/// The numbers that determine a system together with what its layers bump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemParams {
    pub(crate) keys: u64,
    pub(crate) columns: Columns,
    pub(crate) preset: Preset,
    /// Seed of the last layer.
    pub(crate) seed: u64,
    /// Number of layers before the last one.
    pub(crate) layers: usize,
    /// Number of keys in the exact list.
    pub(crate) rest: u64,
}

impl SystemParams {
    /// Names of the numbers.
    pub(crate) const NAMES: [&'static str; 6] =
        ["keys", "columns", "preset", "seed", "layers", "keys of the exact list"];

    /// Returns the numbers.
    pub(crate) const fn numbers(&self) -> [u64; 6] {
        let Self { keys, columns, preset, seed, layers, rest } = *self;
        [keys, columns.steps() as u64, preset as u64, seed, layers as u64, rest]
    }

    /// Checks the numbers of a system.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] names the number.
    pub(crate) fn from_numbers(numbers: [u64; 6]) -> Result<Self, ParamError> {
        let [keys, steps, preset, seed, layers, rest] = numbers;
        let check = |index: usize, max| match numbers[index] <= max {
            true => Ok(()),
            false => {
                let (parameter, value) = (Self::NAMES[index], numbers[index]);
                Err(ParamError(ParamFault::OutOfRange { parameter, value, min: 0, max }))
            }
        };
        check(0, MAX_KEYS)?;
        let columns = Columns::from_steps(u32::try_from(steps).unwrap_or(u32::MAX))?;
        check(2, 1)?;
        check(3, MAX_SEEDS - 1)?;
        check(4, MAX_LAYERS as u64)?;
        check(5, keys)?;
        let preset = if preset == 0 { Preset::Compact } else { Preset::Quick };
        Ok(Self { keys, columns, preset, seed, layers: index(layers), rest })
    }

    /// Returns the least and the greatest number of words of a system with an exact list in this form.
    pub(crate) fn words(&self, rest: RestForm) -> RangeInclusive<u64> {
        let with = |bumped: u64| Layout::new(self, iter::repeat_n(bumped, self.layers)).len();
        let (fewest, most) = (with(0), with(self.keys));
        let most = match self.layers {
            0 => most,
            _ => most + LastShape::new(MAX_LAST_KEYS).solution_words(self.columns),
        };
        let rest = self.rest * rest.words();
        fewest + rest..=most + rest
    }
}

/// A solved system with its exact list.
#[derive(Clone, Debug)]
pub(crate) struct System<W> {
    words: W,
    params: SystemParams,
    layout: Layout,
    kernel: Kernel,
}

impl<W> System<W> {
    pub(crate) fn new(words: W, params: SystemParams, layout: Layout) -> Self {
        Self { words, params, layout, kernel: Kernel::new(Backend::best()) }
    }

    /// Replaces the code that sums slots.
    pub(crate) fn set_backend(&mut self, backend: Backend) {
        self.kernel = Kernel::new(backend);
    }

    pub(crate) const fn params(&self) -> &SystemParams {
        &self.params
    }

    pub(crate) const fn storage(&self) -> &W {
        &self.words
    }
}

impl<W: WordSource> System<W> {
    /// Finds the parts of a system in its words.
    ///
    /// # Errors
    /// The index of a word, its value, and what is allowed.
    pub(crate) fn open(words: W, params: SystemParams, rest: RestForm) -> Result<Self, Misfit> {
        let slice = words.as_words();
        let rest_words = index(params.rest * rest.words());
        let end = slice.len().saturating_sub(rest_words);
        let at = end.saturating_sub(params.layers);
        let bumped = slice[at..end].iter().map(StoredWord::value);
        let (name, mut most) = ("the number of bumped keys", params.keys);
        for (index, keys) in (at..).zip(bumped.clone()) {
            if keys > most {
                let allowed = "at most the number of keys of its layer";
                return Err(Misfit { name, index, found: keys, allowed });
            }
            most = keys;
        }
        let layout = Layout::new(&params, bumped.chain(iter::repeat(0)).take(params.layers));
        if layout.len() != end as u64 || params.rest > layout.last_keys() {
            let allowed = "such that the layers have the size of the payload";
            return Err(Misfit { name, index: at, found: most, allowed });
        }
        Ok(Self::new(words, params, layout))
    }

    /// Returns the words as they are stored. Call it once per operation or batch.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[W::Word] {
        self.words.as_words()
    }

    /// Returns whether the system has the fingerprint of a hash, or the exact list has the hash.
    #[inline(always)]
    pub(crate) fn has(&self, words: &[W::Word], hash: u64) -> bool {
        match self.layout.first_window(words, hash) {
            Some(window) => window.has(self.kernel, words, fingerprint(hash)),
            None => self.has_later(words, hash),
        }
    }

    // Few keys of large systems come here, so that it takes no room in the caller's loop. The keys of the exact list do: no
    // layer takes them.
    #[inline(never)]
    fn has_later(&self, words: &[W::Word], hash: u64) -> bool {
        let fingerprint = fingerprint(hash);
        let has = match self.layout.later_window(words, hash) {
            LaterWindow::None => false,
            LaterWindow::Whole(window) => window.has(self.kernel, words, fingerprint),
            LaterWindow::Tail(window) => {
                (window.bits(words) ^ fingerprint) & ones(window.window.columns.into()) == 0
            }
        };
        has || self.rest_index(words, hash).is_some()
    }

    /// Returns the index of a hash in the exact list.
    #[inline(always)]
    pub(crate) fn rest_index(&self, words: &[W::Word], hash: u64) -> Option<usize> {
        if self.params.rest == 0 { None } else { rest::find(self.rest_hashes(words), hash) }
    }

    /// Copies the system with fewer columns: the one that would be solved for them.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    // Which keys a layer bumps does not depend on the columns, and each column is solved on its own.
    pub(crate) fn narrowed(
        &self,
        columns: Columns,
        rest: RestForm,
    ) -> Result<System<Words>, AllocError> {
        debug_assert!(columns.steps() <= self.params.columns.steps());
        let old = self.words();
        let bumped_at = index(self.layout.len()) - self.params.layers;
        let bumped = old[bumped_at..].iter().take(self.params.layers).map(StoredWord::value);
        let params = SystemParams { columns, ..self.params };
        let layout = Layout::new(&params, bumped);
        let mut words = Words::zeroed(layout.len() + params.rest * rest.words())?;
        for (from, to) in self.layout.groups().zip(layout.groups()) {
            to.copy(&mut words, from, old);
        }
        let solutions = |layout: &Layout| index(layout.last.groups.end());
        let others = old[solutions(&self.layout)..].iter().map(StoredWord::value);
        let copies = words[solutions(&layout)..].iter_mut();
        copies.zip(others).for_each(|(copy, word)| *copy = word);
        Ok(System::new(words, params, layout))
    }

    /// Finds a word with an unused bit that is set. Returns its index and its value.
    pub(crate) fn first_unclean(&self) -> Option<(usize, u64)> {
        let last = &self.layout.last.groups;
        let tail = (last.end(), last.tail * u64::from(last.columns));
        let thresholds = self.layout.layers().iter().map(|layer| {
            let bits = layer.starts / BUCKET * THRESHOLD_BITS;
            (layer.thresholds_at + layer.threshold_words(), bits)
        });
        let unclean = |(end, bits): (u64, u64)| {
            let at = index(end).checked_sub(1).filter(|_| !bits.is_multiple_of(64))?;
            let word = self.words()[at].value();
            (word & !ones(bits % 64) != 0).then_some((at, word))
        };
        thresholds.chain([tail]).find_map(unclean)
    }

    /// Finds a hash in the exact list that is not above the one before.
    pub(crate) fn first_unordered(&self) -> Option<Misfit> {
        let hashes = self.rest_hashes(self.words());
        let place = rest::first_unordered(hashes)?;
        let (name, index) = ("a hash in the exact list", index(self.layout.len()) + place);
        Some(Misfit { name, index, found: hashes[place].value(), allowed: "above the one before" })
    }

    /// Tests many hashes, as [`has`](Self::has).
    pub(crate) fn has_each(&self, hashes: &[u64], answers: &mut [bool]) {
        let words = self.words();
        visit_ahead(hashes, |&hash| hash, Has { system: self, words, answers });
    }

    /// Returns the rate at which the fingerprints of strangers are met.
    pub(crate) fn rate(&self) -> f64 {
        let words = self.words();
        // The share of strangers that reach a layer, and of those that were met before.
        let (reaching, met) =
            self.layout.layers().iter().fold((1.0, 0.0), |(reaching, met), layer| {
                let (kept, rate) = layer.kept_and_rate(words);
                (reaching * (1.0 - kept), met + reaching * rate)
            });
        met + reaching * self.layout.last.rate()
    }

    #[inline(never)]
    fn rest_hashes<'a>(&self, words: &'a [W::Word]) -> &'a [W::Word] {
        let start = index(self.layout.len());
        &words[start..start + index(self.params.rest)]
    }
}

/// The visitor of a batch of lookups.
struct Has<'a, W: WordSource> {
    system: &'a System<W>,
    words: &'a [W::Word],
    answers: &'a mut [bool],
}

impl<W: WordSource> Visitor for Has<'_, W> {
    type Place = u64;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> u64 {
        self.system.layout.prefetch(self.words, hash);
        hash
    }

    #[inline(always)]
    fn visit(&mut self, index: usize, hash: u64) {
        self.answers[index] = self.system.has(self.words, hash);
    }

    #[inline(always)]
    fn end(&mut self, len: usize) {
        self.answers = &mut mem::take(&mut self.answers)[len..];
    }
}

impl System<Words> {
    /// Copies the system.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        let Self { ref words, params, layout, kernel } = *self;
        Ok(Self { words: words.try_clone()?, params, layout, kernel })
    }
}

impl PartialEq for System<Words> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params && self.words == other.words
    }
}

/// A word that does not fit the others.
pub(crate) struct Misfit {
    pub(crate) name: &'static str,
    /// Its index.
    pub(crate) index: usize,
    pub(crate) found: u64,
    pub(crate) allowed: &'static str,
}

/// Places of all parts of a system in its words.
///
/// In this order: the solutions of the layers, the thresholds of the layers but the last, and the number of keys that each
/// of these bumps. The exact list follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    layers: [Layer; MAX_LAYERS],
    count: usize,
    last: LastLayer,
    /// Number of keys in the last layer.
    last_keys: u64,
    /// Number of words.
    len: u64,
}

impl Layout {
    /// Lays out a system of which layer `i` bumps `bumped[i]` keys.
    pub(crate) fn new(params: &SystemParams, bumped: impl Iterator<Item = u64>) -> Self {
        let SystemParams { keys, columns, preset, seed, layers: count, .. } = *params;
        let mut layers = [Layer::default(); MAX_LAYERS];
        let (mut left, mut at) = (keys, 0);
        for ((number, layer), bumped) in (0..).zip(&mut layers[..count]).zip(bumped) {
            let shape = LayerShape::new(left, preset);
            *layer = Layer::new(number, shape, columns, at);
            at += shape.solution_words(columns);
            left = bumped;
        }
        let shape = LastShape::new(if left > MAX_LAST_KEYS { 0 } else { left });
        let last = LastLayer::new(seed, shape, columns, at);
        let mut len = at + shape.solution_words(columns);
        for layer in &mut layers[..count] {
            layer.thresholds_at = len;
            len += layer.threshold_words();
        }
        Self { layers, count, last, last_keys: left, len: len + count as u64 }
    }

    /// Returns the number of words.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Returns the layers before the last one.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers[..self.count]
    }

    /// Returns the groups of all layers.
    fn groups(&self) -> impl Iterator<Item = &Groups> {
        self.layers().iter().map(|layer| &layer.groups).chain([&self.last.groups])
    }

    /// Returns the number of keys that all layers but the last bump.
    pub(crate) const fn last_keys(&self) -> u64 {
        self.last_keys
    }

    /// Returns the window of a key in the first of several layers. `None` if the key is bumped, or if there is one layer.
    #[inline(always)]
    fn first_window<W: StoredWord>(&self, words: &[W], hash: u64) -> Option<Window> {
        if self.count == 0 {
            return None;
        }
        let layer = &self.layers[0];
        if layer.bumps(words, hash) { None } else { Some(layer.window(hash)) }
    }

    /// Returns the window of a key that the first of several layers bumps.
    fn later_window<W: StoredWord>(&self, words: &[W], hash: u64) -> LaterWindow {
        for layer in self.layers().iter().skip(1) {
            let hash = rehash(hash, layer.salt);
            if !layer.bumps(words, hash) {
                return LaterWindow::Whole(layer.window(hash));
            }
        }
        self.last.window(rehash(hash, self.last.salt))
    }

    /// Prefetches what the first layer has of a key.
    #[inline(always)]
    fn prefetch<W: StoredWord>(&self, words: &[W], hash: u64) {
        if self.count > 0 {
            self.layers[0].prefetch(words, hash);
        }
    }
}

/// A layer of which keys may be bumped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layer {
    starts: u64,
    segments: u64,
    groups: Groups,
    thresholds_at: u64,
    salt: u64,
}

impl Layer {
    fn new(number: u64, shape: LayerShape, columns: Columns, at: u64) -> Self {
        Self {
            starts: shape.starts(),
            segments: shape.segments(),
            groups: Groups::new(shape.width(columns), shape.groups(), at),
            thresholds_at: 0,
            salt: salt(number),
        }
    }

    const fn threshold_words(&self) -> u64 {
        (self.starts / BUCKET * THRESHOLD_BITS).div_ceil(64)
    }

    #[inline(always)]
    fn prefetch<W: StoredWord>(&self, words: &[W], hash: u64) {
        let start = reduce(hash, self.starts);
        let group = self.slot(hash) / WINDOW;
        prefetch(words, index(self.thresholds_at + start / BUCKET / 32));
        prefetch(words, index(self.groups.word_of(group)));
        prefetch(words, index(self.groups.word_of(group + 1)));
    }

    /// Returns the share of strangers that are not bumped, and of those that are also met.
    fn kept_and_rate<W: StoredWord>(&self, words: &[W]) -> (f64, f64) {
        let buckets_per_segment = self.starts / BUCKET / self.segments;
        let mut kept = [0, 0];
        for bucket in 0..self.starts / BUCKET {
            let threshold = THRESHOLDS[self.level(words, bucket)];
            // The starts of a segment are its slots but for 64.
            let skipped = bucket / buckets_per_segment * WINDOW;
            let wide_until = self.groups.narrow_from.saturating_sub(skipped + bucket * BUCKET);
            let wide = wide_until.clamp(threshold, BUCKET) - threshold;
            kept[0] += BUCKET - threshold - wide;
            kept[1] += wide;
        }
        let [narrow, wide] = kept.map(|kept: u64| kept as f64 / self.starts as f64);
        let columns = self.groups.columns;
        (narrow + wide, narrow * rate_of(columns) + wide * rate_of(columns + 1))
    }

    /// Returns which of the thresholds a bucket has.
    #[inline(always)]
    fn level<W: StoredWord>(&self, words: &[W], bucket: u64) -> usize {
        let word = words[index(self.thresholds_at + bucket / 32)].value();
        index(word >> (bucket % 32 * THRESHOLD_BITS) & 3)
    }

    /// Returns whether a key, by its hash for this layer, is bumped.
    #[inline(always)]
    fn bumps<W: StoredWord>(&self, words: &[W], hash: u64) -> bool {
        let start = reduce(hash, self.starts);
        start % BUCKET < THRESHOLDS[self.level(words, start / BUCKET)]
    }

    /// Returns the window of a key by its hash for this layer.
    #[inline(always)]
    fn window(&self, hash: u64) -> Window {
        self.groups.window(self.slot(hash), coefficients(hash))
    }

    /// Returns the slot where the window of a key starts.
    #[inline(always)]
    fn slot(&self, hash: u64) -> u64 {
        // The product rounds down at the ends of segments, too: this is the segment of the start.
        reduce(hash, self.starts) + reduce(hash, self.segments) * WINDOW
    }
}

/// The last layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastLayer {
    starts: u64,
    /// Number of slots in a window.
    slots: u64,
    groups: Groups,
    salt: u64,
}

impl LastLayer {
    fn new(seed: u64, shape: LastShape, columns: Columns, at: u64) -> Self {
        let width = shape.width(columns);
        Self {
            starts: shape.starts(),
            slots: shape.window(),
            groups: Groups { tail: shape.tail(), ..Groups::new(width, shape.full_groups(), at) },
            salt: last_salt(seed),
        }
    }

    /// Returns the share of strangers that are met, 0 without slots.
    fn rate(&self) -> f64 {
        if self.starts == 0 {
            return 0.0;
        }
        let wide = self.groups.narrow_from as f64 / self.starts as f64;
        let columns = self.groups.columns;
        (1.0 - wide) * rate_of(columns) + wide * rate_of(columns + 1)
    }

    fn window(&self, hash: u64) -> LaterWindow {
        if self.starts == 0 {
            return LaterWindow::None;
        }
        let start = reduce(hash, self.starts);
        self.groups.last_window(start, self.slots, coefficients(hash) & ones(self.slots))
    }
}

/// Returns the rate at which strangers meet as many columns.
fn rate_of(columns: u32) -> f64 {
    1.0 / (1_u64 << columns) as f64
}

/// Returns a number of ones, from the lowest bit on.
pub(crate) const fn ones(count: u64) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// Groups of 64 slots of a layer: each has a word per column.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Groups {
    /// Index of the first word.
    at: u64,
    columns: u32,
    /// Number of groups, from the first on, that have one column more.
    wider: u64,
    /// First slot where a window starts that does not lie in these.
    narrow_from: u64,
    /// Number of whole groups.
    full: u64,
    /// Number of slots in the group after the whole ones, where each column has only so many bits.
    tail: u64,
}

impl Groups {
    const fn new(width: Width, full: u64, at: u64) -> Self {
        let (columns, wider) = (width.columns, width.wider_groups);
        let narrow_from = (wider * WINDOW).saturating_sub(WINDOW - 1);
        Self { at, columns, wider, narrow_from, full, tail: 0 }
    }

    /// Returns the index of the first word of a group.
    #[inline(always)]
    const fn word_of(&self, group: u64) -> u64 {
        let wider = if group < self.wider { group } else { self.wider };
        self.at + group * self.columns as u64 + wider
    }

    /// Returns the index of the word after the last one.
    const fn end(&self) -> u64 {
        self.word_of(self.full) + (self.tail * self.columns as u64).div_ceil(64)
    }

    /// Copies the first columns of groups that have more of them.
    fn copy<W: StoredWord>(&self, words: &mut [u64], wider: &Self, from: &[W]) {
        let copied = |from: &[W], to: &mut [u64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from.value());
        };
        for group in 0..self.full {
            let to = index(self.word_of(group))..index(self.word_of(group + 1));
            copied(&from[index(wider.word_of(group))..], &mut words[to]);
        }
        let tail = index(self.word_of(self.full))..index(self.end());
        copied(&from[index(wider.word_of(self.full))..], &mut words[tail.clone()]);
        let bits = self.tail * u64::from(self.columns);
        if let Some(last) = words[tail].last_mut().filter(|_| !bits.is_multiple_of(64)) {
            *last &= ones(bits % 64);
        }
    }

    /// Returns the number of bits from a column of a group to the next.
    const fn step_of(&self, group: u64) -> u64 {
        if group < self.full { WINDOW } else { self.tail }
    }

    /// Returns the window from a slot of the whole groups on.
    #[inline(always)]
    const fn window(&self, slot: u64, coefficients: u64) -> Window {
        let (group, shift) = (slot / WINDOW, slot % WINDOW);
        let near = self.word_of(group);
        Window {
            near: index(near),
            far: index(near + self.columns as u64 + (group < self.wider) as u64),
            columns: self.columns + (slot < self.narrow_from) as u32,
            coefficients: [coefficients << shift, (coefficients >> 1) >> (63 - shift)],
        }
    }

    /// Returns the window of `slots` slots from a slot on, which may be one after the whole groups.
    const fn last_window(&self, slot: u64, slots: u64, coefficients: u64) -> LaterWindow {
        let mut window = self.window(slot, coefficients);
        let (group, last) = (slot / WINDOW, (slot + slots - 1) / WINDOW);
        if group == last {
            // There may be no other group. Its coefficients are all 0.
            window.far = window.near;
        }
        if last < self.full {
            return LaterWindow::Whole(window);
        }
        LaterWindow::Tail(TailWindow { window, steps: [self.step_of(group), self.step_of(last)] })
    }
}

/// A window of any layer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LaterWindow {
    /// There is no slot.
    None,
    Whole(Window),
    Tail(TailWindow),
}

/// The slots of an equation: those of two neighbouring groups that have a coefficient of 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Index of the first word of either group.
    near: usize,
    far: usize,
    columns: u32,
    coefficients: [u64; 2],
}

impl Window {
    /// Returns the sum of the slots in each column: that of column `j` in bit `j`.
    #[inline(always)]
    pub(crate) fn bits<W: StoredWord>(&self, kernel: Kernel, words: &[W]) -> u64 {
        (0..self.columns)
            .step_by(COLUMNS as usize)
            .fold(0, |bits, first| bits | kernel.sums(words, &self.sums_from(first)) << first)
    }

    /// Returns whether the sum of each column is the bit of `bits` for it.
    #[inline(always)]
    fn has<W: StoredWord>(&self, kernel: Kernel, words: &[W], bits: u64) -> bool {
        // Most strangers are found out by the first columns.
        self.has_first(kernel, words, bits)
            && (self.columns <= COLUMNS || self.has_others(kernel, words, bits))
    }

    #[inline(always)]
    fn has_first<W: StoredWord>(&self, kernel: Kernel, words: &[W], bits: u64) -> bool {
        let sums = self.sums_from(0);
        (kernel.sums(words, &sums) ^ bits) & ones(sums.columns.into()) == 0
    }

    #[inline(never)]
    fn has_others<W: StoredWord>(&self, kernel: Kernel, words: &[W], bits: u64) -> bool {
        (self.bits(kernel, words) ^ bits) & ones(self.columns.into()) == 0
    }

    /// Returns the columns from one on, as many as are summed at once.
    #[inline(always)]
    fn sums_from(&self, first: u32) -> Sums {
        let left = self.columns - first;
        Sums {
            near: self.near + first as usize,
            far: self.far + first as usize,
            columns: if left < COLUMNS { left } else { COLUMNS },
            coefficients: self.coefficients,
        }
    }
}

/// A window that reaches into the group after the whole ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailWindow {
    window: Window,
    /// Number of bits from a column to the next in either group.
    steps: [u64; 2],
}

impl TailWindow {
    /// Returns the sum of the slots in each column: that of column `j` in bit `j`.
    pub(crate) fn bits<W: StoredWord>(&self, words: &[W]) -> u64 {
        let Self { window, steps: [near_step, far_step] } = *self;
        let [of_near, of_far] = window.coefficients;
        (0..u64::from(window.columns)).fold(0, |bits, column| {
            let near = bits_from(words, window.near, column * near_step);
            let far = bits_from(words, window.far, column * far_step);
            let sum = near & of_near ^ far & of_far;
            bits | u64::from(sum.count_ones() & 1) << column
        })
    }
}

/// Returns the 64 bits from a bit of a word on. Those beyond the last word are 0.
pub(crate) fn bits_from<W: StoredWord>(words: &[W], word: usize, bit: u64) -> u64 {
    let (word, shift) = (word + index(bit / 64), bit % 64);
    let value = |word: usize| words.get(word).map_or(0, StoredWord::value);
    value(word) >> shift | (value(word + 1) << 1) << (63 - shift)
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "an index of words in memory")]
const fn index(word: u64) -> usize {
    word as usize
}
