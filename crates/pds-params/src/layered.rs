//! Layered filters: layer c holds the keys that were seen at least c times.
//!
//! An insert goes to the first layer that does not hold the key. The count of a key is the number of layers, from the first on
//! without a gap, that hold it. It is never too low, up to the number of layers.
//!
//! Two laws say how often it is too high:
//!
//! - *Given the contents of the layers*, a key that is in the first c layers is answered at least a with the product of the
//!   false-positive rates of the layers c + 1 to a: [`answer_at_least`].
//! - *Inserts can be shifted.* If a layer answers `true` falsely, the insert goes one layer too far, and the count stays one too
//!   high. A key that was inserted c times is counted too high if any of the first c + 1 layers ever answered `true` falsely for
//!   it. The probability of that is at most 1 - prod(1 - p_i) over these layers: [`LayeredParams::rate_above`].
//!
//! Shifted inserts also add keys to the layers. Sizes are computed for the keys that are really stored.

use crate::check::{check_range, check_rate};
use crate::scalable::{EXACT, compound_rate};
use crate::{LayerDesign, ParamError};

/// Rounds of the search for rates and stored keys, which depend on each other.
// The rates keep the promise after every round. The third changes the size by less than 0.1 %.
const ROUNDS: usize = 4;

/// Returns the probability that a key that is in the first `seen` layers is counted at least `answer` times, if `rates` are the
/// false-positive rates of the layers.
///
/// The layers must be independent. It is 0 if there are fewer layers than `answer`, and 1 if `answer` is at most `seen`.
#[must_use]
pub fn answer_at_least(rates: &[f64], seen: usize, answer: usize) -> f64 {
    if answer <= seen {
        return 1.0;
    }
    rates.get(seen..answer).map_or(0.0, |between| between.iter().product())
}

/// Validated parameters of a layered filter.
///
/// # Guarantees
/// - The count of a key is too high with a probability of at most the promised rate, whatever its true count, as long as the keys
///   are those of the design.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::LayeredParams;
///
/// // A million distinct keys, of which 50,000 are seen at least twice and 10,000 at least three times.
/// let params = LayeredParams::new(&[1_000_000, 50_000, 10_000], 0.01)?;
/// assert!(params.rate_above(2) <= 0.01);
/// // The second layer also gets keys that were seen once, because the first layer answered `true` falsely.
/// assert!(params.layer(1).is_some_and(|layer| layer.items > 55_000));
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayeredParams {
    layers: [LayerDesign; Self::MAX_LAYERS],
    num_layers: usize,
    rate: f64,
}

impl LayeredParams {
    /// The greatest number of layers, 16.
    ///
    /// A structure that stores counts needs less memory far below.
    pub const MAX_LAYERS: usize = 16;

    /// Computes layers for `keys[c - 1]` distinct keys that are seen at least c times, so that a count is too high with a
    /// probability of at most `rate`.
    ///
    /// # Errors
    /// If there are not 2 to [`MAX_LAYERS`](Self::MAX_LAYERS) numbers. If one is 0, or greater than the number before it. If the
    /// rate is not between 0 and 1.
    pub fn new(keys: &[u64], rate: f64) -> Result<Self, ParamError> {
        check_range("layers", keys.len() as u64, 2, Self::MAX_LAYERS as u64)?;
        check_rate(rate)?;
        let mut most = u64::MAX;
        for &keys in keys {
            check_range("keys", keys, 1, most)?;
            most = keys;
        }
        let mut layers = [LayerDesign { items: 0, rate: 0.0 }; Self::MAX_LAYERS];
        let designs = &mut layers[..keys.len()];
        for (design, &keys) in designs.iter_mut().zip(keys) {
            design.items = keys;
        }
        for _ in 0..ROUNDS {
            share(designs, rate);
            store(designs, keys);
        }
        Ok(Self { layers, num_layers: keys.len(), rate })
    }

    /// Returns the number of layers, which is the greatest count.
    #[must_use]
    pub const fn num_layers(&self) -> usize {
        self.num_layers
    }

    /// Returns the design of the layer with this index, from 0 on, if there is one.
    #[must_use]
    pub fn layer(&self, index: usize) -> Option<LayerDesign> {
        self.layers[..self.num_layers].get(index).copied()
    }

    /// Returns the promised probability that a count is too high, a fraction.
    #[must_use]
    pub const fn promised_rate(&self) -> f64 {
        self.rate
    }

    /// Returns the greatest probability that a key that was inserted `count` times is counted more often. It is 0 from the number
    /// of layers on.
    #[must_use]
    pub fn rate_above(&self, count: usize) -> f64 {
        let layers = &self.layers[..self.num_layers];
        layers
            .get(..=count)
            .map_or(0.0, |layers| compound_rate(layers.iter().map(|layer| layer.rate)))
    }
}

/// Shares the budget in proportion to the stored keys, which needs the least memory.
fn share(layers: &mut [LayerDesign], rate: f64) {
    let total: f64 = layers.iter().map(|layer| layer.items as f64).sum();
    let budget = libm::log1p(-rate) * EXACT;
    for layer in layers {
        layer.rate = -libm::expm1(budget * layer.items as f64 / total);
    }
}

/// Computes the keys that each layer stores at most in the mean: those that were seen often enough, and those whose inserts are
/// shifted so far.
fn store(layers: &mut [LayerDesign], keys: &[u64]) {
    // `shifted[s]` is the probability that s of the layers so far answer falsely.
    let mut shifted = [0.0; LayeredParams::MAX_LAYERS + 1];
    shifted[0] = 1.0;
    for c in 0..layers.len() {
        // A key that was seen c - s times more than 0 reaches this layer if at least s layers before it were skipped.
        let (mut stored, mut at_least) = (keys[c] as f64, 1.0_f64);
        for s in 1..=c {
            at_least -= shifted[s - 1];
            stored += (keys[c - s] - keys[c - s + 1]) as f64 * at_least.max(0.0);
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most the keys of the first layer")]
        let items = libm::ceil(stored) as u64;
        layers[c].items = items.min(keys[0]);
        let rate = layers[c].rate;
        for s in (0..=c).rev() {
            shifted[s + 1] += shifted[s] * rate;
            shifted[s] *= 1.0 - rate;
        }
    }
}
