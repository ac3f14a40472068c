//! The filters that layers can be.

use bloom_blocked::BlockedBloomFilter;
use bloom_core::BloomFilter;
use pds_core::bytes::Kind;
use pds_core::error::{AllocError, BuildError};
use pds_core::hash::{KeyHasher, finalize};
use pds_core::internal::GOLDEN_RATIO;
use pds_core::storage::WordSource;
use pds_core::traits::Membership;
use pds_params::{
    BlockedBloomParams, BloomParams, Estimate, LayerDesign, ParamError, Preference, bloom,
};

/// Returns the hash of a key in the layer with this index.
///
/// The keys of a layer depend on what the layers before it contain. If all of them used one hash, a layer would answer falsely for
/// other absent keys, or for the same ones, more often than by chance. With hashes that are mixed apart the layers are independent.
#[inline]
pub(crate) fn hash_in(index: u32, hash: u64) -> u64 {
    if index == 0 {
        return hash;
    }
    finalize(hash.wrapping_add(GOLDEN_RATIO.wrapping_mul(index.into())))
}

/// A filter that can be a layer: a [`BloomFilter`] or a [`BlockedBloomFilter`], in any storage.
///
/// It is the bound of the methods that read. Its own methods are internal, and no other crate can implement it.
pub trait Layer: Membership + sealed::Sealed {
    /// The hasher.
    type Hasher: KeyHasher;

    /// The kind of the layers in portable bytes.
    #[doc(hidden)]
    const LAYER: Kind;

    /// The number of this kind, with its name, for error messages.
    #[doc(hidden)]
    const ALLOWED: &'static str;

    #[doc(hidden)]
    fn layer_hasher(&self) -> &Self::Hasher;

    /// Returns what the layer was designed for, if anything.
    #[doc(hidden)]
    fn design(&self) -> Option<LayerDesign>;

    /// Returns whether the layer has a design, and a shape that can keep it.
    #[doc(hidden)]
    fn keeps_design(&self) -> bool;

    #[doc(hidden)]
    fn bytes(&self) -> u64;

    #[doc(hidden)]
    fn rate(&self) -> f64;

    #[doc(hidden)]
    fn items(&self) -> Estimate;

    /// Returns the standard deviation of the rates of single layers of this design, 0 without a design.
    #[doc(hidden)]
    fn rate_deviation(&self) -> f64;
}

/// A [`Layer`] in memory of its own, which can be built and changed.
pub trait OwnedLayer: Layer + Clone + PartialEq {
    /// Builds an empty layer.
    #[doc(hidden)]
    fn build(design: LayerDesign, hasher: Self::Hasher) -> Result<Self, BuildError>;

    #[doc(hidden)]
    fn copied(&self) -> Result<Self, AllocError>
    where
        Self::Hasher: Clone;

    #[doc(hidden)]
    fn put(&mut self, hash: u64) -> bool;

    #[doc(hidden)]
    fn put_batch(&mut self, hashes: &[u64]) -> usize;

    #[doc(hidden)]
    fn empty(&mut self);

    #[doc(hidden)]
    fn is_empty(&self) -> bool;
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl<S, W> Sealed for super::BloomFilter<S, W> {}
    impl<S, W> Sealed for super::BlockedBloomFilter<S, W> {}
}

fn standard(design: LayerDesign) -> Result<BloomParams, ParamError> {
    BloomParams::for_double_hashing(design.items, design.rate)
}

fn blocked(design: LayerDesign) -> Result<BlockedBloomParams, ParamError> {
    BlockedBloomParams::new(design.items, design.rate, Preference::Fastest)
}

/// The relative error that rounding may cause in a rate.
pub(crate) const ROUNDING: f64 = 1e-11;

/// Implements the traits for a filter whose methods have the names of the family.
macro_rules! layer {
    ($filter:ident, $kind:ident $allowed:literal, $params_for:ident, $ones:expr, |$params:ident, $items:ident| $least_rate:expr, $spread:expr) => {
        impl<S: KeyHasher, W: WordSource> Layer for $filter<S, W> {
            type Hasher = S;
            const LAYER: Kind = Kind::$kind;
            const ALLOWED: &'static str = $allowed;

            fn layer_hasher(&self) -> &S {
                self.hasher()
            }

            fn design(&self) -> Option<LayerDesign> {
                let (items, rate) = (self.expected_items()?, self.promised_rate()?);
                Some(LayerDesign { items, rate })
            }

            fn keeps_design(&self) -> bool {
                self.design().is_some_and(|design| {
                    let ($params, $items) = (self.params(), design.items);
                    let least_rate: f64 = $least_rate;
                    least_rate <= design.rate
                })
            }

            fn bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn rate(&self) -> f64 {
                self.false_positive_rate()
            }

            fn items(&self) -> Estimate {
                self.approx_len()
            }

            fn rate_deviation(&self) -> f64 {
                self.design().map_or(0.0, |design| {
                    let ($params, $items) = (self.params(), design.items);
                    design.rate * $spread
                })
            }
        }

        impl<S: KeyHasher + Clone> OwnedLayer for $filter<S> {
            fn build(design: LayerDesign, hasher: S) -> Result<Self, BuildError> {
                Ok(Self::from_params($params_for(design)?, hasher)?)
            }

            fn copied(&self) -> Result<Self, AllocError> {
                self.try_clone()
            }

            #[inline]
            fn put(&mut self, hash: u64) -> bool {
                self.insert_hash(hash)
            }

            fn put_batch(&mut self, hashes: &[u64]) -> usize {
                self.insert_hash_batch(hashes)
            }

            fn empty(&mut self) {
                self.clear();
            }

            fn is_empty(&self) -> bool {
                $ones(self)
            }
        }
    };
}

layer!(
    BloomFilter,
    BLOOM "1 (Bloom filter)",
    standard,
    |filter: &Self| filter.bits().words().iter().all(|&word| word == 0),
    // Bytes may have thousands of layers, so the bound must be cheap: the exact rate can take milliseconds.
    |params, items| {
        let rate = bloom::rate_finite(params.num_bits(), items, params.num_hashes());
        rate * (1.0 - ROUNDING)
    },
    bloom::instance_rate_relative_spread(
        params.num_bits(),
        items,
        params.num_hashes()
    )
);

layer!(
    BlockedBloomFilter,
    BLOCKED_BLOOM "2 (blocked Bloom filter)",
    blocked,
    |filter: &Self| filter.words().iter().all(|&word| word == 0),
    |params, items| params.rate_at(items),
    params.relative_spread_at(items)
);
