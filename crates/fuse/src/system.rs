//! A solved system: where the equation of a key lies in the words, and what it yields.

use core::ops::RangeInclusive;
use core::{iter, mem};

use pds_core::error::{AllocError, ParamError};
use pds_core::hash::reduce;
use pds_core::internal::{Backend, StoredWord, Visitor, prefetch, visit_ahead};
use pds_core::storage::Words;
use pds_params::internal::ParamFault;
use pds_params::ribbon::{
    BUCKET, Columns, LastShape, LayerShape, MAX_KEYS, MAX_LAST_KEYS, MAX_LAYERS, MAX_SEEDS, Preset,
    THRESHOLD_BITS, THRESHOLDS, WINDOW, Width,
};

use crate::arch::{COLUMNS, GROUP, Kernel, Sums};
use crate::equation::{coefficients, fingerprint, rehash, salt};
use crate::{index, is_worth_prefetching, rest};

/// Number of the last layer in the salts of all layers, to which its seed is added.
const LAST: u64 = 1 << 32;

/// Returns the salt of the last layer.
pub(crate) const fn last_salt(seed: u64) -> u64 {
    salt(LAST + seed)
}

/// Contents of the exact list besides the hashes.
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
    pub(crate) columns: Columns,
    /// Contents of the exact list.
    pub(crate) form: RestForm,
    pub(crate) keys: u64,
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
    pub(crate) const NAMES: [&'static str; 5] =
        ["keys", "preset", "seed", "layers", "keys of the exact list"];

    /// Returns the numbers.
    pub(crate) const fn numbers(&self) -> [u64; 5] {
        let Self { keys, preset, seed, layers, rest, .. } = *self;
        [keys, preset as u64, seed, layers as u64, rest]
    }

    /// Checks the numbers of a system, which have these names.
    ///
    /// # Errors
    /// [`ParamError`] names the number.
    pub(crate) fn from_numbers(
        columns: Columns,
        form: RestForm,
        names: [&'static str; 5],
        numbers: [u64; 5],
    ) -> Result<Self, ParamError> {
        let [keys, preset, seed, layers, rest] = numbers;
        for ((parameter, value), max) in names.into_iter().zip(numbers).zip([
            MAX_KEYS,
            1,
            MAX_SEEDS - 1,
            MAX_LAYERS as u64,
            keys,
        ]) {
            if value > max {
                return Err(ParamError(ParamFault::OutOfRange { parameter, value, min: 0, max }));
            }
        }
        let preset = if preset == 0 { Preset::Compact } else { Preset::Quick };
        Ok(Self { columns, form, keys, preset, seed, layers: index(layers), rest })
    }

    /// Returns the least and the greatest number of words of a system.
    pub(crate) fn words(&self) -> RangeInclusive<u64> {
        let with = |bumped: u64| Layout::new(self, iter::repeat_n(bumped, self.layers)).len();
        let (fewest, most) = (with(0), with(self.keys));
        let most = match self.layers {
            0 => most,
            _ => most + LastShape::new(MAX_LAST_KEYS).solution_words(self.columns),
        };
        fewest + self.rest_words()..=most + self.rest_words()
    }

    /// Returns the number of words of the exact list.
    pub(crate) const fn rest_words(&self) -> u64 {
        self.rest * self.form.words()
    }
}

/// A solved system with its exact list, without the words that hold it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System {
    params: SystemParams,
    layout: Layout,
    kernel: Kernel,
    /// Whether there are several layers, of as many whole columns as are summed at once.
    // This is the usual case. It has a short path of its own, which callers inline.
    is_plain: bool,
}

impl System {
    pub(crate) fn new(params: SystemParams, layout: Layout) -> Self {
        let is_plain = layout.layers().first().is_some_and(|layer| layer.groups.is_plain());
        Self { params, layout, kernel: Kernel::new(Backend::best()), is_plain }
    }

    /// Finds the parts of a system in its words.
    ///
    /// # Errors
    /// The index of a word, its value, and what is allowed.
    pub(crate) fn open<V: StoredWord>(words: &[V], params: SystemParams) -> Result<Self, Misfit> {
        let end = words.len().saturating_sub(index(params.rest_words()));
        let at = end.saturating_sub(params.layers);
        let bumped = words[at..end].iter().map(StoredWord::value);
        let (name, mut most) = ("the number of bumped keys", params.keys);
        for (index, keys) in (at..).zip(bumped.clone()) {
            if keys > most {
                let allowed = "at most the number of keys of its layer";
                return Err(Misfit { name, index, found: keys, allowed });
            }
            most = keys;
        }
        let layout = Layout::new(&params, bumped.chain(iter::repeat(0)).take(params.layers));
        let last = layout.last_keys();
        let len = layout.len() + params.rest_words();
        if len != words.len() as u64 || params.rest > last {
            let allowed = "such that the layers have the size of the payload";
            return Err(Misfit { name, index: at, found: most, allowed });
        }
        // A larger last layer has no slots. Without columns none has. Otherwise only the greatest number of layers leaves one, and
        // all of its keys are listed.
        let is_listed = params.layers == MAX_LAYERS && params.rest == last;
        if last > MAX_LAST_KEYS && !is_listed && params.columns.most() > 0 {
            let name = "the number of keys of the last layer";
            return Err(Misfit { name, index: at, found: last, allowed: "at most 2048" });
        }
        Ok(Self::new(params, layout))
    }

    /// Replaces the code that sums slots.
    pub(crate) fn set_backend(&mut self, backend: Backend) {
        self.kernel = Kernel::new(backend);
    }

    pub(crate) const fn params(&self) -> &SystemParams {
        &self.params
    }

    /// Returns whether the system has the fingerprint of a hash, or the exact list has the hash.
    #[inline(always)]
    pub(crate) fn has<V: StoredWord>(&self, words: &[V], hash: u64) -> bool {
        if !self.is_plain {
            return self.has_in_any(words, hash);
        }
        let layer = &self.layout.layers[0];
        if layer.bumps(words, hash) {
            return self.has_later(words, hash);
        }
        let (group, coefficients) = split(layer.slot(hash), coefficients(hash));
        let pair = pair_from(words, group);
        let sums = self.kernel.sums_of(pair, pair, coefficients);
        (sums ^ fingerprint(hash)) & ones(COLUMNS.into()) == 0
    }

    #[inline(never)]
    fn has_in_any<V: StoredWord>(&self, words: &[V], hash: u64) -> bool {
        match self.layout.first_window(words, hash) {
            Some(window) => window.has(self.kernel, words, fingerprint(hash)),
            None => self.has_later(words, hash),
        }
    }

    // Few keys of large systems come here, so that it takes no room in the caller's loop. The keys of the exact list do: no
    // layer takes them.
    #[inline(never)]
    fn has_later<V: StoredWord>(&self, words: &[V], hash: u64) -> bool {
        let fingerprint = fingerprint(hash);
        let has = match self.layout.later_window(words, hash) {
            LaterWindow::None => false,
            LaterWindow::Whole(window) => window.has(self.kernel, words, fingerprint),
            LaterWindow::Tail(window) => {
                (window.bits(words) ^ fingerprint) & ones(window.window.columns.into()) == 0
            }
        };
        has || self.params.rest > 0 && rest::find(self.rest_hashes(words), hash).is_some()
    }

    /// Returns the bits of a key. `None` if there are no slots. Those of a stranger are arbitrary.
    #[inline(always)]
    pub(crate) fn bits<V: StoredWord>(&self, words: &[V], hash: u64) -> Option<u64> {
        match self.layout.first_window(words, hash) {
            Some(window) => Some(window.bits(self.kernel, words)),
            None => self.later_bits(words, hash),
        }
    }

    #[inline(never)]
    fn later_bits<V: StoredWord>(&self, words: &[V], hash: u64) -> Option<u64> {
        if self.params.rest > 0 {
            let hashes = self.rest_hashes(words);
            if let Some(place) = rest::find(hashes, hash) {
                let values = index(self.layout.len()) + hashes.len();
                return Some(words[values + place].value());
            }
        }
        match self.layout.later_window(words, hash) {
            LaterWindow::None => None,
            LaterWindow::Whole(window) => Some(window.bits(self.kernel, words)),
            LaterWindow::Tail(window) => Some(window.bits(words)),
        }
    }

    /// Copies the system with fewer columns: the one that would be solved for them.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    // Which keys a layer bumps does not depend on the columns, and each column is solved on its own.
    pub(crate) fn narrowed<V: StoredWord>(
        &self,
        old: &[V],
        columns: Columns,
    ) -> Result<(Self, Words), AllocError> {
        debug_assert!(columns.steps() <= self.params.columns.steps());
        let bumped_at = index(self.layout.len()) - self.params.layers;
        let bumped = old[bumped_at..].iter().take(self.params.layers).map(StoredWord::value);
        let params = SystemParams { columns, ..self.params };
        let layout = Layout::new(&params, bumped);
        let mut words = Words::zeroed(layout.len() + params.rest_words())?;
        for (from, to) in self.layout.groups().zip(layout.groups()) {
            to.copy(&mut words, from, old);
        }
        let solutions = |layout: &Layout| index(layout.last.groups.end());
        let others = old[solutions(&self.layout)..].iter().map(StoredWord::value);
        let copies = words[solutions(&layout)..].iter_mut();
        copies.zip(others).for_each(|(copy, word)| *copy = word);
        Ok((Self::new(params, layout), words))
    }

    /// Finds a word with an unused bit that is set. Returns its index and its value.
    pub(crate) fn first_unclean<V: StoredWord>(&self, words: &[V]) -> Option<(usize, u64)> {
        let last = &self.layout.last.groups;
        let tail = (last.end(), last.tail * u64::from(last.columns));
        let thresholds = self.layout.layers().iter().map(|layer| {
            let bits = layer.starts / BUCKET * THRESHOLD_BITS;
            (layer.thresholds_at + layer.threshold_words(), bits)
        });
        let unclean = |(end, bits): (u64, u64)| {
            let at = index(end).checked_sub(1).filter(|_| !bits.is_multiple_of(64))?;
            let word = words[at].value();
            (word & !ones(bits % 64) != 0).then_some((at, word))
        };
        thresholds.chain([tail]).find_map(unclean)
    }

    /// Finds a hash in the exact list that is not above the one before, or bits beyond the columns of its key.
    pub(crate) fn first_wrong_in_rest<V: StoredWord>(&self, words: &[V]) -> Option<Misfit> {
        let hashes = self.rest_hashes(words);
        let start = index(self.layout.len());
        let misfit = |name, index: usize, allowed| {
            Some(Misfit { name, index, found: words[index].value(), allowed })
        };
        if let Some(place) = rest::first_unordered(hashes) {
            return misfit("a hash in the exact list", start + place, "above the one before");
        }
        let beyond = !ones(self.params.columns.most().into());
        let mut values = words[start + hashes.len()..].iter();
        let place = values.position(|word| word.value() & beyond != 0)?;
        let allowed = "within its columns";
        misfit("a value in the exact list", start + hashes.len() + place, allowed)
    }

    /// Tests many hashes, as [`has`](Self::has).
    pub(crate) fn has_each<V: StoredWord>(&self, words: &[V], hashes: &[u64], out: &mut [bool]) {
        self.answer_each(words, hashes, out, |words, hash| self.has(words, hash));
    }

    /// Answers many hashes, each after its place was prefetched if that is worth it.
    #[inline(always)]
    pub(crate) fn answer_each<V: StoredWord, T>(
        &self,
        words: &[V],
        hashes: &[u64],
        answers: &mut [T],
        answer: impl Fn(&[V], u64) -> T,
    ) {
        if !is_worth_prefetching(words.len(), hashes.len()) {
            let pairs = hashes.iter().zip(answers);
            return pairs.for_each(|(&hash, place)| *place = answer(words, hash));
        }
        let layout = &self.layout;
        visit_ahead(hashes, |&hash| hash, Answer { layout, words, answers, answer });
    }

    /// Returns the rate at which the fingerprints of strangers are met.
    pub(crate) fn rate<V: StoredWord>(&self, words: &[V]) -> f64 {
        // The share of strangers that reach a layer, and of those that were met before.
        let (reaching, met) =
            self.layout.layers().iter().fold((1.0, 0.0), |(reaching, met), layer| {
                let (kept, rate) = layer.kept_and_rate(words);
                (reaching * (1.0 - kept), met + reaching * rate)
            });
        met + reaching * self.layout.last.rate()
    }

    #[inline(never)]
    fn rest_hashes<'a, V>(&self, words: &'a [V]) -> &'a [V] {
        let start = index(self.layout.len());
        &words[start..start + index(self.params.rest)]
    }
}

/// The visitor of a batch of queries.
struct Answer<'a, V, T, F> {
    layout: &'a Layout,
    words: &'a [V],
    answers: &'a mut [T],
    answer: F,
}

impl<V: StoredWord, T, F: Fn(&[V], u64) -> T> Visitor for Answer<'_, V, T, F> {
    type Place = u64;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> u64 {
        self.layout.prefetch(self.words, hash);
        hash
    }

    #[inline(always)]
    fn visit(&mut self, index: usize, hash: u64) {
        self.answers[index] = (self.answer)(self.words, hash);
    }

    #[inline(always)]
    fn end(&mut self, len: usize) {
        self.answers = &mut mem::take(&mut self.answers)[len..];
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

/// Returns the group of a slot, and the coefficients from the slot on, as those of this group and of the next one.
#[inline(always)]
const fn split(slot: u64, coefficients: u64) -> (u64, [u64; 2]) {
    let (group, shift) = (slot / WINDOW, slot % WINDOW);
    (group, [coefficients << shift, (coefficients >> 1) >> (63 - shift)])
}

/// Returns a group and the next one, in a first layer of plain groups.
#[inline(always)]
fn pair_from<W>(words: &[W], group: u64) -> &[W; 2 * GROUP] {
    words[index(group) * GROUP..].first_chunk().expect("two groups")
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

    /// Returns whether each group has as many columns as are summed at once.
    const fn is_plain(&self) -> bool {
        self.at == 0 && self.columns == COLUMNS && self.wider == 0
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
        let (group, coefficients) = split(slot, coefficients);
        let near = self.word_of(group);
        Window {
            near: index(near),
            far: index(near + self.columns as u64 + (group < self.wider) as u64),
            columns: self.columns + (slot < self.narrow_from) as u32,
            coefficients,
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
