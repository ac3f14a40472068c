//! Bloom filters of several layers.

use super::Structure;
use crate::bytes::Kind;

// The comparison starts from a known number of items, for which one layer needs less memory. So neither has a sizing.

/// The Bloom filter that grows.
pub static SCALABLE_BLOOM: Structure = Structure {
    name: "scalable Bloom filter",
    type_name: "ScalableBloomFilter",
    crate_name: "bloom-scalable",
    feature: Some("scalable"),
    kind: Some(Kind::SCALABLE_BLOOM),
    caution: "It asks one layer more after each doubling, and needs more memory than a filter of known size.",
    ..Structure::NONE
};

/// The Bloom filter that counts how often a key was seen.
pub static LAYERED_BLOOM: Structure = Structure {
    name: "layered Bloom filter",
    type_name: "LayeredBloomFilter",
    crate_name: "bloom-scalable",
    feature: Some("scalable"),
    kind: Some(Kind::LAYERED_BLOOM),
    caution: "It counts up to its number of layers.",
    ..Structure::NONE
};

/// The growing filter of standard layers.
#[cfg(feature = "scalable")]
pub(crate) type Standard<S> = crate::ScalableBloomFilter<crate::scalable::BloomFilter<S>>;

/// The growing filter of blocked layers.
#[cfg(feature = "scalable")]
pub(crate) type Blocked<S> = crate::ScalableBlockedBloomFilter<S>;

#[cfg(feature = "scalable")]
mod dynamic {
    use alloc::boxed::Box;

    use pds_core::bytes::{Envelope, Header, OpenView};

    use super::{Blocked, Standard};
    use crate::dynamic::{FilterKind, ReadFilter, ViewFilter};
    use crate::error::{DecodeError, InsertError};
    use crate::hash::{KeyHasher, PortableHasher};
    use crate::scalable::bytes::Kind;
    use crate::scalable::{
        Layer, LayersView, OfViews, ScalableBlockedBloomFilterView, ScalableBloomFilterView,
    };
    use crate::{DynFilter, Estimate, ScalableBloomFilter};

    impl<S, F> ReadFilter<S> for ScalableBloomFilter<F>
    where
        S: KeyHasher + Send + Sync,
        F: Layer<Hasher = S> + Send + Sync,
    {
        fn kind(&self) -> Kind {
            Kind::SCALABLE_BLOOM
        }

        fn hasher(&self) -> &S {
            self.hasher()
        }

        fn expected_items(&self) -> Option<u64> {
            Some(self.capacity())
        }

        fn promised_rate(&self) -> Option<f64> {
            Some(self.promised_rate())
        }

        fn size_in_bytes(&self) -> u64 {
            self.size_in_bytes()
        }

        fn false_positive_rate(&self) -> f64 {
            self.false_positive_rate()
        }

        fn approx_len(&self) -> Option<Estimate> {
            Some(self.approx_len())
        }

        #[cfg(any(feature = "bloom", feature = "blocked"))]
        fn health(&self) -> Option<crate::Health> {
            Some(self.health())
        }
    }

    impl<S, T, B> ReadFilter<S> for LayersView<T, B>
    where
        T: ReadFilter<S>,
        B: Send + Sync,
    {
        fn kind(&self) -> Kind {
            (**self).kind()
        }

        fn hasher(&self) -> &S {
            (**self).hasher()
        }

        fn expected_items(&self) -> Option<u64> {
            (**self).expected_items()
        }

        fn promised_rate(&self) -> Option<f64> {
            (**self).promised_rate()
        }

        fn size_in_bytes(&self) -> u64 {
            (**self).size_in_bytes()
        }

        fn false_positive_rate(&self) -> f64 {
            (**self).false_positive_rate()
        }

        fn approx_len(&self) -> Option<Estimate> {
            (**self).approx_len()
        }

        #[cfg(any(feature = "bloom", feature = "blocked"))]
        fn health(&self) -> Option<crate::Health> {
            (**self).health()
        }
    }

    impl<S, T, B> ViewFilter<S> for LayersView<T, B>
    where
        S: PortableHasher + Clone + Send + Sync + 'static,
        T: ReadFilter<S> + OfViews<B, Hasher = S, Owned: FilterKind<S>>,
        B: AsRef<[u8]> + Send + Sync,
    {
        fn verify(&self) -> Result<(), DecodeError> {
            self.verify()
        }

        fn to_filter(&self) -> Result<DynFilter<S>, DecodeError> {
            self.to_filter().map(DynFilter::of)
        }
    }

    macro_rules! filter_kind {
        ($filter:ident, $view:ident, $layer:ident, $name:expr) => {
            impl<S: PortableHasher + Clone + Send + Sync + 'static> FilterKind<S> for $filter<S> {
                const NAME: &str = $name;

                crate::dynamic::changes!();

                /// The first number of the shape is the kind of the layers.
                fn is_in(header: &Header) -> bool {
                    header.kind == Kind::SCALABLE_BLOOM
                        && header.shape.as_slice().first() == Some(&Kind::$layer.id().into())
                }

                fn try_insert(&mut self, hash: u64) -> Result<bool, InsertError> {
                    self.insert_hash(hash)
                }

                fn open_view<'a, B: AsRef<[u8]> + Send + Sync + 'a>(
                    envelope: Envelope<B>,
                    hasher: Option<S>,
                ) -> Result<Box<dyn ViewFilter<S> + 'a>, DecodeError> {
                    let view: $view<B, S> = OpenView::open_view(envelope, hasher)?;
                    Ok(Box::new(view))
                }
            }
        };
    }

    filter_kind!(Standard, ScalableBloomFilterView, BLOOM, super::SCALABLE_BLOOM.name);
    filter_kind!(
        Blocked,
        ScalableBlockedBloomFilterView,
        BLOCKED_BLOOM,
        "scalable Bloom filter with blocked layers"
    );
}
