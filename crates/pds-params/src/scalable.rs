//! Growing filters: layers of filters, each larger than the one before.
//!
//! Keys go into the newest layer. When it holds the items that it was designed for, the next one is opened. An absent key is
//! answered `true` if any layer answers `true`, so the *compound* rate of layers with the rates p_i is 1 - prod(1 - p_i).
//!
//! This holds if the layers answer independently of each other. With one hash for all they would not: the keys of a layer are those that
//! the layers before it did not answer `true`, so they would avoid the positions of absent keys that those answer `true`. At a promised
//! 60 % the compound rate would be up to 8 % higher (measured, four layers). So each layer mixes the hash of a key in its own way.
//!
//! A [`Schedule`] chooses the rates so that the compound rate is at most the promised one for every number of layers. The
//! promised rate p is a budget of -ln(1 - p), of which each layer gets a share. The shares of all layers, however many,
//! have a sum of at most 1.
//!
//! Bits per item of standard Bloom filters at a promised 1 %, first layer of 1,000 items, growth 2, when the newest layer is
//! full. Just after a layer was opened, the figure is about twice as high.
//!
//! | schedule | 4 layers | 12 layers | 20 layers |
//! |---|---|---|---|
//! | ratio 0.85 | 14.3 | 16.9 | 19.6 |
//! | halving | 14.3 | 25.5 | 37.0 |
//! | likely items known, and reached | 12.3 | 12.8 | 12.8 |
//!
//! # References
//! Paulo Sérgio Almeida, Carlos Baquero, Nuno Preguiça and David Hutchison, "Scalable Bloom Filters", Information Processing
//! Letters 101(6), 2007, section 3.

use crate::check::{check_items, check_probability, check_range, check_rate};
use crate::internal::ParamFault;
use crate::{BloomParams, LayerDesign, ParamError};

/// The share of the budget that [`Schedule::Likely`] keeps for layers beyond the likely items.
// A quarter would cost the likely layers 0.6 bits per item instead of 0.3. A sixteenth would cost the layers beyond them 1.4 bits
// more.
const RESERVE: f64 = 1.0 / 8.0;

/// The most layers whose bits are added up. A lookup would ask each of them.
const MAX_SUMMED: u32 = 1 << 12;

/// A number of halvings after which every rate is 0.
const MAX_HALVINGS: u32 = 1_100;

/// The part of a budget that is used, so that rounding cannot exceed it.
pub(crate) const EXACT: f64 = 1.0 - 1e-12;

/// How the promised rate is shared among the layers of a growing filter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Schedule {
    /// Each layer gets this ratio, above 0 and below 1, of the share of the layer before it.
    ///
    /// The first layer gets 1 - ratio. A high ratio serves many layers best, a low one few.
    Ratio(f64),
    /// The first layer has half the promised rate, and each further one half the rate of the layer before it. This is what
    /// RedisBloom does.
    ///
    /// Beyond four layers it needs much more memory than the default.
    Halving,
    /// Up to this number of items, the rates of the layers are proportional to their items, which needs the least memory.
    ///
    /// An eighth of the budget is left for layers beyond. They get the half of what is left, one after the other.
    Likely(u64),
}

impl Schedule {
    /// The schedule that builders use unless another one is given: a ratio of 0.85.
    pub const DEFAULT: Self = Self::Ratio(0.85);
}

/// Validated parameters of a growing filter.
///
/// # Guarantees
/// - The compound rate of full layers is at most the promised one, for every number of layers. With a growth of 2 or more, the greatest
///   size of a filter limits that number. With a growth of 1, the rate of colliding 64-bit hashes does.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::{ScalableParams, Schedule};
///
/// let params = ScalableParams::new(1_000, 0.01, 2, Schedule::DEFAULT)?;
/// assert_eq!(params.layer(3)?.items, 8_000);
/// assert!(params.compound_rate(12) <= 0.01);
/// assert!(params.bits_per_item(12)? < 17.0);
/// // The schedule of RedisBloom.
/// let halving = ScalableParams::new(1_000, 0.01, 2, Schedule::Halving)?;
/// assert!(halving.bits_per_item(12)? > 25.0);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalableParams {
    /// Items of the first layer, at least 1.
    first_items: u64,
    /// Promised compound rate, in (0, 1).
    rate: f64,
    /// Factor from the items of a layer to those of the next one, from 1 to [`ScalableParams::MAX_GROWTH`].
    growth: u32,
    schedule: Schedule,
}

impl ScalableParams {
    /// The greatest growth factor, 32,768.
    pub const MAX_GROWTH: u32 = 1 << 15;

    /// The growth factor that builders use unless another one is given.
    pub const DEFAULT_GROWTH: u32 = 2;

    /// Accepts a first layer of `expected_items`, a compound rate, a growth factor and a schedule.
    ///
    /// With a growth of 1 all layers have the same number of items, and a lookup takes time proportional to the number of items. The
    /// number of layers is then limited, because their rates fall until 64-bit hashes cannot keep them: 219 layers of 10 items at
    /// 1 % and the ratio 0.85.
    ///
    /// # Errors
    /// If there are no items. If the rate, or the ratio of the schedule, is not between 0 and 1. If the growth is not from 1 to
    /// [`MAX_GROWTH`](Self::MAX_GROWTH). If the likely items are fewer than those of the first layer.
    pub fn new(
        expected_items: u64,
        rate: f64,
        growth: u32,
        schedule: Schedule,
    ) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_rate(rate)?;
        check_range("growth", growth.into(), 1, Self::MAX_GROWTH.into())?;
        match schedule {
            Schedule::Ratio(ratio) => check_probability("ratio", ratio)?,
            Schedule::Halving => {}
            Schedule::Likely(items) => {
                check_range("likely_items", items, expected_items, u64::MAX)?;
            }
        }
        Ok(Self { first_items: expected_items, rate, growth, schedule })
    }

    /// Returns the number of items of the first layer.
    #[must_use]
    pub const fn first_items(&self) -> u64 {
        self.first_items
    }

    /// Returns the compound rate promised for every number of layers, a fraction.
    #[must_use]
    pub const fn promised_rate(&self) -> f64 {
        self.rate
    }

    /// Returns the factor from the items of a layer to those of the next one.
    #[must_use]
    pub const fn growth(&self) -> u32 {
        self.growth
    }

    /// Returns the schedule of the rates.
    #[must_use]
    pub const fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// Computes the design of the layer with this index, from 0 on.
    ///
    /// # Errors
    /// If the layer would have more than 2^64 - 1 items, or a rate below the least positive `f64`. The filter may refuse a layer
    /// earlier: it cannot have more than 2^63 bits, nor a rate below that of colliding 64-bit hashes.
    pub fn layer(&self, index: u32) -> Result<LayerDesign, ParamError> {
        let items = self.items(index).ok_or_else(|| {
            let (value, max) = (self.approx_items(index), u64::MAX as f64);
            ParamError(ParamFault::TooLarge { parameter: "expected_items", value, max })
        })?;
        let rate = self.rate_of(index);
        check_rate(rate)?;
        Ok(LayerDesign { items, rate })
    }

    /// Returns the compound rate of this number of full layers.
    ///
    /// # Complexity
    /// At most some thousand steps, for any number of layers.
    #[must_use]
    pub fn compound_rate(&self, layers: u32) -> f64 {
        match self.schedule {
            Schedule::Ratio(ratio) => {
                let left = f64::from(layers) * libm::log(ratio);
                self.rate_of_share(-libm::expm1(left))
            }
            Schedule::Halving => {
                compound_rate((0..layers.min(MAX_HALVINGS)).map(|index| self.rate_of(index)))
            }
            Schedule::Likely(likely) => self.rate_of_share(self.likely_shares(layers, likely)),
        }
    }

    /// Computes the bits per item of this number of full layers, each a standard Bloom filter.
    ///
    /// # Errors
    /// If one of the layers cannot be built. If there are no layers, or more than 4,096.
    ///
    /// # Complexity
    /// O(`layers`).
    pub fn bits_per_item(&self, layers: u32) -> Result<f64, ParamError> {
        check_range("layers", layers.into(), 1, MAX_SUMMED.into())?;
        let (mut bits, mut items) = (0.0, 0.0);
        for index in 0..layers {
            let layer = self.layer(index)?;
            let offered = layer.offered();
            bits += BloomParams::for_double_hashing(offered.items, offered.rate)?.num_bits() as f64;
            items += layer.items as f64;
        }
        Ok(bits / items)
    }

    fn items(&self, index: u32) -> Option<u64> {
        u64::from(self.growth).checked_pow(index)?.checked_mul(self.first_items)
    }

    fn rate_of(&self, index: u32) -> f64 {
        match self.schedule {
            Schedule::Ratio(ratio) => {
                self.rate_of_share((1.0 - ratio) * libm::pow(ratio, index.into()))
            }
            Schedule::Halving => self.rate * libm::pow(0.5, 1.0 + f64::from(index)),
            Schedule::Likely(likely) => self.rate_of_share(self.likely_share(index, likely)),
        }
    }

    /// Returns the rate of a layer with this share of the budget.
    fn rate_of_share(&self, share: f64) -> f64 {
        -libm::expm1(libm::log1p(-self.rate) * EXACT * share)
    }

    fn likely_share(&self, index: u32, likely: u64) -> f64 {
        let (planned, total) = self.planned(likely);
        if index >= planned {
            return RESERVE * libm::pow(0.5, 1.0 + f64::from(index - planned));
        }
        (1.0 - RESERVE) * self.approx_items(index) / total
    }

    /// Returns the sum of the shares of this number of layers.
    fn likely_shares(&self, layers: u32, likely: u64) -> f64 {
        let (planned, total) = self.planned(likely);
        let (known, beyond) = (layers.min(planned), layers.saturating_sub(planned));
        let items = match self.growth {
            1 => f64::from(known) * self.first_items as f64,
            _ => (0..known).map(|index| self.approx_items(index)).sum(),
        };
        (1.0 - RESERVE) * items / total + RESERVE * (1.0 - libm::pow(0.5, beyond.into()))
    }

    /// Returns the least number of layers for `likely` items, and how many they can hold.
    fn planned(&self, likely: u64) -> (u32, f64) {
        if self.growth == 1 {
            let layers = likely.div_ceil(self.first_items);
            let layers = u32::try_from(layers).unwrap_or(u32::MAX);
            return (layers, f64::from(layers) * self.first_items as f64);
        }
        let (mut layers, mut total) = (0, 0.0);
        while total < likely as f64 {
            total += self.approx_items(layers);
            layers += 1;
        }
        (layers, total)
    }

    fn approx_items(&self, index: u32) -> f64 {
        self.first_items as f64 * libm::pow(self.growth.into(), index.into())
    }
}

/// Returns the rate of several filters of which any may answer `true`: 1 - prod(1 - p_i).
#[must_use]
pub fn compound_rate(rates: impl IntoIterator<Item = f64>) -> f64 {
    -libm::expm1(rates.into_iter().map(|rate| libm::log1p(-rate)).sum())
}
