//! A solved system: where the equation of a key lies in the words, and what it yields.

use pds_core::hash::reduce;
use pds_core::internal::StoredWord;
use pds_params::ribbon::{
    BUCKET, Columns, LastShape, LayerShape, MAX_LAST_KEYS, MAX_LAYERS, Preset, THRESHOLD_BITS,
    THRESHOLDS, WINDOW, Width,
};

use crate::equation::{coefficients, rehash, salt};

/// Number of the last layer in the salts of all layers, to which its seed is added.
const LAST: u64 = 1 << 32;

/// Returns the salt of the last layer.
pub(crate) const fn last_salt(seed: u64) -> u64 {
    salt(LAST + seed)
}

/// Places of all parts of a system in its words.
///
/// In this order: the solutions of the layers, the thresholds of the layers but the last, and the number of keys that each
/// of these bumps.
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
    /// Lays out a system of `keys` keys, of which `bumped[i]` are bumped from layer `i`, at most [`MAX_LAYERS`] times.
    pub(crate) fn new(
        keys: u64,
        columns: Columns,
        preset: Preset,
        seed: u64,
        bumped: impl ExactSizeIterator<Item = u64> + Clone,
    ) -> Self {
        let count = bumped.len();
        let mut layers = [Layer::default(); MAX_LAYERS];
        let (mut left, mut at) = (keys, 0);
        for ((number, layer), bumped) in (0..).zip(&mut layers).zip(bumped.clone()) {
            let shape = LayerShape::new(left, preset);
            *layer = Layer::new(number, shape, columns, at);
            at = u64::saturating_add(at, shape.solution_words(columns));
            left = bumped;
        }
        let shape = LastShape::new(if left > MAX_LAST_KEYS { 0 } else { left });
        let last = LastLayer::new(seed, shape, columns, at);
        let mut thresholds_at = at.saturating_add(shape.solution_words(columns));
        for layer in &mut layers[..count] {
            layer.thresholds_at = thresholds_at;
            thresholds_at = thresholds_at.saturating_add(layer.threshold_words());
        }
        let len = thresholds_at.saturating_add(count as u64);
        Self { layers, count, last, last_keys: left, len }
    }

    /// Returns the number of words.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Returns the layers before the last one.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers[..self.count]
    }

    pub(crate) const fn last(&self) -> &LastLayer {
        &self.last
    }

    /// Returns the number of keys that all layers but the last bump.
    pub(crate) const fn last_keys(&self) -> u64 {
        self.last_keys
    }

    /// Returns the window of a key. `None` if there is no equation.
    ///
    /// # Complexity
    /// Constant: at most nine layers, and one or two for all but a few keys in a thousand.
    #[inline(always)]
    pub(crate) fn window<W: StoredWord>(&self, words: &[W], hash: u64) -> Option<Window> {
        if self.count > 0 {
            if let Some(window) = self.layers[0].window(words, hash) {
                return Some(window);
            }
        }
        self.later_window(words, hash)
    }

    #[inline(never)]
    fn later_window<W: StoredWord>(&self, words: &[W], hash: u64) -> Option<Window> {
        let later = self.layers().iter().skip(1);
        let mut windows = later.filter_map(|layer| layer.window(words, rehash(hash, layer.salt)));
        windows.next().or_else(|| self.last.window(rehash(hash, self.last.salt)))
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

    /// Returns the window of a key by its hash for this layer. `None` if the key is bumped.
    #[inline(always)]
    fn window<W: StoredWord>(&self, words: &[W], hash: u64) -> Option<Window> {
        let start = reduce(hash, self.starts);
        let bucket = start / BUCKET;
        let word = words[index(self.thresholds_at + bucket / 32)].value();
        let level = word >> (bucket % 32 * THRESHOLD_BITS) & 3;
        if start % BUCKET < THRESHOLDS[index(level)] {
            return None;
        }
        // The product rounds down at the ends of segments, too: this is the segment of `start`.
        let slot = start + reduce(hash, self.segments) * WINDOW;
        Some(self.groups.window(slot, coefficients(hash)))
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

    fn window(&self, hash: u64) -> Option<Window> {
        let start = reduce(hash, self.starts);
        let coefficients = coefficients(hash) & ones(self.slots);
        (self.starts > 0).then(|| self.groups.last_window(start, self.slots, coefficients))
    }
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
    /// Number of whole groups.
    full: u64,
    /// Number of slots in the group after the whole ones, where each column has only so many bits.
    tail: u64,
}

impl Groups {
    const fn new(width: Width, full: u64, at: u64) -> Self {
        Self { at, columns: width.columns, wider: width.wider_groups, full, tail: 0 }
    }

    /// Returns the index of the first word of a group.
    #[inline(always)]
    const fn word_of(&self, group: u64) -> u64 {
        let wider = if group < self.wider { group } else { self.wider };
        self.at + group * self.columns as u64 + wider
    }

    /// Returns the number of bits from a column of a group to the next.
    const fn step_of(&self, group: u64) -> u64 {
        if group < self.full { WINDOW } else { self.tail }
    }

    /// Returns the window from a slot of the whole groups on.
    #[inline(always)]
    const fn window(&self, slot: u64, coefficients: u64) -> Window {
        let (group, shift) = (slot / WINDOW, slot % WINDOW);
        let last = (slot + WINDOW - 1) / WINDOW;
        Window {
            near: index(self.word_of(group)),
            far: index(self.word_of(group + 1)),
            steps: [64; 2],
            columns: self.columns + (last < self.wider) as u32,
            coefficients: [coefficients << shift, (coefficients >> 1) >> (63 - shift)],
        }
    }

    /// Returns the window of `slots` slots from a slot on, which may be one after the whole groups.
    const fn last_window(&self, slot: u64, slots: u64, coefficients: u64) -> Window {
        let mut window = self.window(slot, coefficients);
        let (group, last) = (slot / WINDOW, (slot + slots - 1) / WINDOW);
        window.steps = [self.step_of(group), self.step_of(last)];
        if group == last {
            // There may be no other group. Its coefficients are all 0.
            window.far = window.near;
        }
        window
    }
}

/// The slots of an equation: those of two neighbouring groups that have a coefficient of 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Index of the first word of either group.
    near: usize,
    far: usize,
    /// Number of bits from a column to the next in either group.
    steps: [u64; 2],
    columns: u32,
    coefficients: [u64; 2],
}

impl Window {
    /// Returns the number of columns.
    pub(crate) const fn columns(&self) -> u32 {
        self.columns
    }

    /// Returns the sum of the slots in each column: that of column `j` in bit `j`.
    #[inline(always)]
    pub(crate) fn bits<W: StoredWord>(&self, words: &[W]) -> u64 {
        if self.steps != [64; 2] {
            return self.bits_in_tail(words);
        }
        let columns = self.columns as usize;
        let near = &words[self.near..self.near + columns];
        let far = &words[self.far..self.far + columns];
        let [near_coefficients, far_coefficients] = self.coefficients;
        let pairs = near.iter().zip(far).enumerate();
        pairs.fold(0, |bits, (column, (near, far))| {
            let sum = near.value() & near_coefficients ^ far.value() & far_coefficients;
            bits | parity(sum) << column
        })
    }

    /// Returns whether the sum of each column is the bit of `bits` for it.
    #[inline(always)]
    pub(crate) fn has<W: StoredWord>(&self, words: &[W], bits: u64) -> bool {
        (self.bits(words) ^ bits) & ones(self.columns.into()) == 0
    }

    #[inline(never)]
    fn bits_in_tail<W: StoredWord>(&self, words: &[W]) -> u64 {
        let [near_step, far_step] = self.steps;
        let [near_coefficients, far_coefficients] = self.coefficients;
        (0..u64::from(self.columns)).fold(0, |bits, column| {
            let near = bits_from(words, self.near, column * near_step);
            let far = bits_from(words, self.far, column * far_step);
            bits | parity(near & near_coefficients ^ far & far_coefficients) << column
        })
    }
}

/// Returns the parity of a number of ones.
#[inline(always)]
fn parity(word: u64) -> u64 {
    u64::from(word.count_ones() & 1)
}

/// Returns the 64 bits from a bit of a word on. Those beyond the last word are 0.
fn bits_from<W: StoredWord>(words: &[W], word: usize, bit: u64) -> u64 {
    let (word, shift) = (word + index(bit / 64), bit % 64);
    let value = |word: usize| words.get(word).map_or(0, StoredWord::value);
    value(word) >> shift | (value(word + 1) << 1) << (63 - shift)
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "an index of words in memory")]
const fn index(word: u64) -> usize {
    word as usize
}
