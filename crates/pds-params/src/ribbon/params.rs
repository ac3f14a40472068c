//! Validated parameters of ribbon filters, with the size that they lead to.

use super::{
    BUCKET, Columns, LastShape, LayerShape, MAX_FILTER_COLUMNS, MAX_KEYS, MAX_LAST_KEYS,
    MAX_LAYERS, Preset, STEPS, WINDOW,
};
use crate::ParamError;
use crate::bloom::{HASH_COLLISION, MAX_BITS};
use crate::check::{check_collisions, check_items, check_range, check_rate};

/// Share of the rate below which collisions of whole hashes are left out.
const NEGLIGIBLE: f64 = 1e-6;

/// Up to so many keys, single filters need so many per cent more than the expected size at most.
const ROOM: [(u64, u64); 4] = [(MAX_LAST_KEYS, 0), (3_000, 7), (6_000, 5), (12_000, 3)];

/// Validated parameters of a ribbon filter.
///
/// The size of a ribbon filter depends a little on the keys, because some of each layer are bumped to the next one.
/// [`size_in_bytes`](Self::size_in_bytes) is the expected size, and [`max_size_in_bytes`](Self::max_size_in_bytes) leaves room for
/// single filters.
///
/// # Guarantees
/// - The mean false-positive rate is at most the promised one. Collisions of whole 64-bit hashes are included if they are
///   more than a millionth of it.
/// - Filters of up to 2,048 keys have exactly the expected size. Above, the mean size is within 1 % of it. Of 2,850 single filters,
///   the largest were 5.9 % above it up to 3,000 keys, 3.6 % up to 6,000, 2.0 % up to 12,000, and 0.8 % beyond.
///
/// # Examples
/// ```
/// use pds_params::RibbonParams;
///
/// let params = RibbonParams::new(1_000_000, 0.01)?;
/// assert!(params.rate() <= 0.01);
/// assert!(params.size_in_bytes() * 8 < 6_800_000);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RibbonParams {
    items: u64,
    columns: Columns,
    preset: Preset,
}

impl RibbonParams {
    /// Computes the fewest columns for `items` distinct keys and a mean rate of at most `rate`.
    ///
    /// # Errors
    /// If there are no items, or too many. If the rate is not
    /// between 0 and 1. If whole hashes collide more often. If
    /// more than 32 columns are needed.
    pub fn new(items: u64, rate: f64) -> Result<Self, ParamError> {
        check_items(items)?;
        check_range("items", items, 1, MAX_KEYS)?;
        check_rate(rate)?;
        check_collisions(items, rate)?;
        let collisions = collisions(items);
        // A rate of 2^-8 takes 8 columns, although a few absent keys in 2^64 have the hash of a key.
        let negligible = collisions <= rate * NEGLIGIBLE;
        let rate = if negligible { rate } else { rate - collisions };
        Self::from_items_and_columns(items, Columns::for_rate(rate)?)
    }

    /// Accepts the number of keys and the columns as given, for the preset [`Compact`](Preset::Compact).
    ///
    /// # Errors
    /// If there are no items, or too many.
    pub fn from_items_and_columns(items: u64, columns: Columns) -> Result<Self, ParamError> {
        check_range("items", items, 1, MAX_KEYS)?;
        Ok(Self { items, columns, preset: Preset::Compact })
    }

    /// Computes the most columns for `items` distinct keys with a [greatest size](Self::max_size_in_bytes) of at most `bytes` bytes.
    ///
    /// # Errors
    /// If there are no items, or if `bytes` is too small for them.
    pub fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        check_range("items", items, 1, MAX_KEYS)?;
        check_range("bytes", bytes, 8, MAX_BITS / 8)?;
        let with = |steps| Self::from_items_and_columns(items, Columns::from_steps(steps)?);
        let least = with(1)?.max_size_in_bytes();
        check_range("bytes", bytes, least, MAX_BITS / 8)?;
        let (mut good, mut bad) = (1, MAX_FILTER_COLUMNS * STEPS + 1);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if with(middle)?.max_size_in_bytes() <= bytes { good = middle } else { bad = middle }
        }
        with(good)
    }

    /// Returns the same with another preset.
    #[must_use]
    pub const fn with_preset(self, preset: Preset) -> Self {
        Self { preset, ..self }
    }

    /// Returns the number of distinct keys.
    #[must_use]
    pub const fn items(&self) -> u64 {
        self.items
    }

    /// Returns the columns.
    #[must_use]
    pub const fn columns(&self) -> Columns {
        self.columns
    }

    /// Returns the preset.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// Returns the greatest mean rate, with collisions of whole hashes.
    #[must_use]
    pub fn rate(&self) -> f64 {
        (self.columns.rate() + collisions(self.items)).min(1.0)
    }

    /// Returns the expected size of the contents in bytes.
    ///
    /// # Complexity
    /// O(1): a few multiplications per layer.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        let (mut keys, mut layers, mut words) = (self.items, 0, 0);
        while keys > MAX_LAST_KEYS && layers < MAX_LAYERS {
            let shape = LayerShape::new(keys, self.preset);
            // One word says how many keys the layer bumps.
            words += shape.solution_words(self.columns) + shape.threshold_words() + 1;
            keys = bumped(keys, shape);
            layers += 1;
        }
        8 * (words + LastShape::new(keys).solution_words(self.columns))
    }

    /// Returns the size in bytes that filters do not exceed, as far as was measured.
    ///
    /// It is the expected size up to 2,048 keys, and 7 % more up to 3,000, 5 % up to 6,000, 3 % up to 12,000, and 1 % beyond.
    #[must_use]
    pub fn max_size_in_bytes(&self) -> u64 {
        let size = self.size_in_bytes();
        let row = ROOM.iter().find(|&&(keys, _)| self.items <= keys);
        let percent = row.map_or(1, |&(_, percent)| percent);
        size.saturating_add(size / 100 * percent + size % 100 * percent / 100)
    }
}

/// Returns the expected number of keys that a layer bumps.
///
/// At least those that have no slot are bumped. If there are slots for all, some windows are still overfull. The curve
/// between both cases, w ln(1 + e^(x / w)) for a share x of keys without a slot, was fitted to built layers of 2,100 to
/// 16,000,000 keys in buckets of 128 slots. Its greatest error was half a per cent of the keys.
fn bumped(keys: u64, shape: LayerShape) -> u64 {
    const BEND: f64 = 0.014;
    let slots = shape.groups() * WINDOW;
    let short = 1.0 - slots as f64 / keys as f64;
    let share = BEND * libm::log1p(libm::exp(short / BEND));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below `keys`")]
    let bumped = (keys as f64 * share) as u64;
    debug_assert!(bumped < keys.max(BUCKET));
    bumped
}

/// Returns the share of absent keys whose whole hash equals that of a key.
fn collisions(items: u64) -> f64 {
    items as f64 * HASH_COLLISION
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::internal::ParamFault;

    #[test]
    fn promises_are_kept_with_collisions() {
        for items in [1, 1_000, 1_000_000, 10_000_000_000] {
            for rate in [0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-9] {
                let params = RibbonParams::new(items, rate).unwrap();
                assert!(params.rate() <= rate * (1.0 + NEGLIGIBLE));
                let fewer = Columns::from_steps(params.columns().steps() - 1);
                let fewer = fewer.map_or(1.0, |columns| columns.rate() + collisions(items));
                assert!(fewer >= rate, "{items} {rate}");
            }
        }
        assert_eq!(RibbonParams::new(1_000, 1.0 / 256.0).unwrap().columns().as_f64(), 8.0);
        assert!(matches!(
            RibbonParams::new(10_000_000_000, 5e-10),
            Err(ParamError(ParamFault::BelowCollisions { .. }))
        ));
        assert!(matches!(
            RibbonParams::new(1, 1e-10),
            Err(ParamError(ParamFault::TooLarge { .. }))
        ));
        assert!(RibbonParams::new(0, 0.01).is_err() && RibbonParams::new(u64::MAX, 0.01).is_err());
    }

    #[test]
    fn memory_is_used_up_and_not_exceeded() {
        for (bytes, items) in
            [(8, 1), (100, 100), (3_000, 2_500), (10_000, 9_000), (1 << 30, 1_000_000_000)]
        {
            let params = RibbonParams::for_memory(bytes, items).unwrap();
            assert!(params.max_size_in_bytes() <= bytes);
            let more = Columns::from_steps(params.columns().steps() + 1);
            let more =
                more.and_then(|columns| RibbonParams::from_items_and_columns(items, columns));
            assert!(more.is_err() || more.is_ok_and(|params| params.max_size_in_bytes() > bytes));
        }
        assert!(RibbonParams::for_memory(8, 1_000_000).is_err());
        assert!(RibbonParams::for_memory(1 << 30, 0).is_err());
    }

    /// Mean sizes of filters that were built, 60 of 3,000 keys. The tests of `fuse` build some.
    #[test]
    fn sizes_are_those_of_built_filters() {
        for (items, preset, bits) in [
            (3_000, Preset::Compact, 8.1756),
            (10_000, Preset::Compact, 8.0576),
            (10_000, Preset::Quick, 8.1472),
            (100_000, Preset::Compact, 8.0307),
            (1_000_000, Preset::Compact, 8.0289),
            (1_000_000, Preset::Quick, 8.0999),
            (16_000_000, Preset::Compact, 8.0278),
        ] {
            let columns = Columns::whole(8).unwrap();
            let params = RibbonParams::from_items_and_columns(items, columns).unwrap();
            let size = params.with_preset(preset).size_in_bytes() as f64 * 8.0 / items as f64;
            assert!((size / bits - 1.0).abs() < 0.005, "{items} {preset:?}: {size} for {bits}");
        }
    }

    #[test]
    fn single_filters_have_room_where_their_sizes_vary() {
        let all =
            [(2_048, 0.0), (2_049, 7.0), (3_001, 5.0), (6_001, 3.0), (12_000, 3.0), (12_001, 1.0)];
        for (items, percent) in all {
            let columns = Columns::whole(32).unwrap();
            let params = RibbonParams::from_items_and_columns(items, columns).unwrap();
            let room = params.max_size_in_bytes() as f64 / params.size_in_bytes() as f64 - 1.0;
            assert!((100.0 * room - percent).abs() < 0.02, "{items}: {room}");
        }
    }

    #[test]
    fn absurd_numbers_have_an_answer() {
        let columns = Columns::whole(32).unwrap();
        let params = RibbonParams::from_items_and_columns(MAX_KEYS, columns).unwrap();
        assert!(params.size_in_bytes() > MAX_KEYS * 4);
        assert!(params.rate() < 1e-4);
    }
}
