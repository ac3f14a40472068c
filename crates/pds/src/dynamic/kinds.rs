//! Traits of the types of one kind, which the types of all kinds can hold.

use alloc::boxed::Box;
use core::any::Any;
use core::fmt;

use pds_core::bytes::{Envelope, Header, Portable, ToEnvelope};
use pds_core::internal::Difference;

use crate::Estimate;
use crate::bytes::Kind;
use crate::error::{AllocError, DecodeError, Incompatible, InsertError, MergeError};
use crate::hash::{KeyHasher, PortableHasher};
use crate::traits::{Cardinality, Frequency, Membership};

/// A membership filter of any kind, in any storage.
pub(crate) trait ReadFilter<S>: Membership + fmt::Debug + Send + Sync {
    fn kind(&self) -> Kind;
    fn hasher(&self) -> &S;
    fn expected_items(&self) -> Option<u64>;
    fn promised_rate(&self) -> Option<f64>;
    fn size_in_bytes(&self) -> u64;
    fn false_positive_rate(&self) -> f64;

    /// `None` if the filter cannot estimate it.
    fn approx_len(&self) -> Option<Estimate>;

    /// `None` if the filter has no such report.
    #[cfg(any(feature = "bloom", feature = "blocked"))]
    fn health(&self) -> Option<crate::Health> {
        None
    }
}

/// A view of a membership filter of any kind.
pub(crate) trait ViewFilter<S>: ReadFilter<S> {
    fn verify(&self) -> Result<(), DecodeError>;
    fn to_filter(&self) -> Result<super::DynFilter<S>, DecodeError>;
}

/// The type of an owned membership filter of one kind.
pub(crate) trait FilterKind<S: PortableHasher>:
    ReadFilter<S> + Portable<Hasher = S> + Clone + 'static
{
    /// The kind in words, with everything that distinguishes two types of one kind.
    const NAME: &str;

    /// Builds an empty filter. `None` if the kind is built from all of its keys, or from parameters of another type.
    fn from_params(_params: &dyn Any, _hasher: S) -> Option<Result<Self, AllocError>> {
        None
    }

    /// Returns whether an envelope with this header holds such a filter.
    fn is_in(header: &Header) -> bool {
        header.kind == Self::KIND
    }

    /// Inserts a key by its hash.
    fn try_insert(&mut self, _hash: u64) -> Result<bool, InsertError> {
        Err(InsertError::Static)
    }

    /// Removes a key by its hash. `None` if the kind does not support removal.
    fn try_remove(&mut self, _hash: u64) -> Option<bool> {
        None
    }

    /// Removes all keys. Returns `false` if the kind is built from all of its keys.
    fn try_clear(&mut self) -> bool {
        false
    }

    /// Adds the keys of another filter. `None` if the kind does not support it.
    fn try_merge(&mut self, _other: &Self) -> Option<Result<(), MergeError>> {
        None
    }

    /// Opens an envelope as a view, which owns its bytes.
    fn open_view<'a, B: AsRef<[u8]> + Send + Sync + 'a>(
        envelope: Envelope<B>,
        hasher: Option<S>,
    ) -> Result<Box<dyn ViewFilter<S> + 'a>, DecodeError>;
}

/// An owned membership filter of any kind.
pub(crate) trait OwnedFilter<S>: ReadFilter<S> + Any {
    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError>;
    fn try_remove(&mut self, hash: u64) -> Option<bool>;
    fn name(&self) -> &'static str;
    fn clear(&mut self) -> bool;
    fn merge(&mut self, other: &dyn OwnedFilter<S>) -> Option<Result<(), MergeError>>;
    fn envelope_bytes(&self) -> u64;
    fn boxed(&self) -> Box<dyn OwnedFilter<S>>;
}

impl<S: PortableHasher + 'static, F: FilterKind<S>> OwnedFilter<S> for F {
    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.try_insert(hash)
    }

    fn try_remove(&mut self, hash: u64) -> Option<bool> {
        FilterKind::try_remove(self, hash)
    }

    fn name(&self) -> &'static str {
        F::NAME
    }

    fn clear(&mut self) -> bool {
        self.try_clear()
    }

    fn merge(&mut self, other: &dyn OwnedFilter<S>) -> Option<Result<(), MergeError>> {
        match (other as &dyn Any).downcast_ref::<F>() {
            Some(other) => self.try_merge(other),
            None => {
                let (left, right) = (F::NAME, other.name());
                let different = Difference::Mode { parameter: "kind", left, right };
                Some(Err(Incompatible(different).into()))
            }
        }
    }

    fn envelope_bytes(&self) -> u64 {
        ToEnvelope::envelope_bytes(self)
    }

    fn boxed(&self) -> Box<dyn OwnedFilter<S>> {
        Box::new(self.clone())
    }
}

/// Work on the type of each kind of filter. The first result ends it.
pub(crate) trait FilterVisitor<S: PortableHasher> {
    type Output;

    fn visit<F: FilterKind<S>>(&mut self) -> Option<Self::Output>;
}

/// A sketch of any kind, in any storage.
pub(crate) trait ReadSketch<S>: KeyHasher + fmt::Debug + Send + Sync {
    fn kind(&self) -> Kind;
    fn hasher(&self) -> &S;
    fn size_in_bytes(&self) -> u64;

    /// Returns the sketch as one that counts how often a key occurred, if it does.
    fn as_frequency(&self) -> Option<&dyn Frequency> {
        None
    }

    /// Returns the sketch as one that counts distinct keys, if it does.
    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        None
    }
}

/// The type of an owned sketch of one kind.
pub(crate) trait SketchKind<S: PortableHasher>:
    ReadSketch<S> + Portable<Hasher = S> + Clone + 'static
{
    /// The kind in words, with everything that distinguishes two types of one kind.
    const NAME: &str;

    /// Returns whether an envelope with this header holds such a sketch.
    fn is_in(header: &Header) -> bool {
        header.kind == Self::KIND
    }

    fn insert_one(&mut self, hash: u64);
    fn merge_same(&mut self, other: &Self) -> Result<(), Incompatible>;
}

/// An owned sketch of any kind.
pub(crate) trait OwnedSketch<S>: ReadSketch<S> + Any {
    fn name(&self) -> &'static str;
    fn insert_hash(&mut self, hash: u64);
    fn merge(&mut self, other: &dyn OwnedSketch<S>) -> Result<(), Incompatible>;
    fn envelope_bytes(&self) -> u64;
    fn boxed(&self) -> Box<dyn OwnedSketch<S>>;
}

impl<S: PortableHasher + 'static, K: SketchKind<S>> OwnedSketch<S> for K {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn insert_hash(&mut self, hash: u64) {
        self.insert_one(hash);
    }

    fn merge(&mut self, other: &dyn OwnedSketch<S>) -> Result<(), Incompatible> {
        match (other as &dyn Any).downcast_ref::<K>() {
            Some(other) => self.merge_same(other),
            None => {
                let (left, right) = (K::NAME, other.name());
                Err(Incompatible(Difference::Mode { parameter: "kind", left, right }))
            }
        }
    }

    fn envelope_bytes(&self) -> u64 {
        ToEnvelope::envelope_bytes(self)
    }

    fn boxed(&self) -> Box<dyn OwnedSketch<S>> {
        Box::new(self.clone())
    }
}

/// Work on the type of each kind of sketch. The first result ends it.
pub(crate) trait SketchVisitor<S: PortableHasher> {
    type Output;

    fn visit<K: SketchKind<S>>(&mut self) -> Option<Self::Output>;
}

/// Implements the traits of all kinds for a filter of one kind: `Filter<S, W>` in any storage. `$own` holds the
/// differences.
///
/// The form is `filter_kind! { Filter of Params, KIND, { methods of ReadFilter } { methods of FilterKind } }`. A filter
/// with one more parameter is written `Filter with Bits8 of Params`. A filter that is built from all of its keys is
/// written `filter_kind! { static Filter, KIND }`.
macro_rules! filter_kind {
    (static $filter:ident, $kind:ident) => {
        $crate::dynamic::filter_kind! {
            @any $filter (), $kind,
            {
                fn expected_items(&self) -> Option<u64> {
                    Some(self.len())
                }

                fn promised_rate(&self) -> Option<f64> {
                    Some(self.promised_rate())
                }

                fn approx_len(&self) -> Option<$crate::Estimate> {
                    Some($crate::Estimate { value: self.len() as f64, standard_error: 0.0 })
                }
            }
            {
                const NAME: &str = $crate::registry::$kind.name;
            }
        }
    };
    ($filter:ident $(with $extra:ident)? of $params:ty, $kind:ident, { $($reads:tt)* } { $($owns:tt)* }) => {
        $crate::dynamic::filter_kind! {
            @any $filter ($($extra)?), $kind,
            {
                fn expected_items(&self) -> Option<u64> {
                    self.expected_items()
                }

                fn promised_rate(&self) -> Option<f64> {
                    self.promised_rate()
                }

                $($reads)*
            }
            {
                fn from_params(
                    params: &dyn core::any::Any,
                    hasher: S,
                ) -> Option<Result<Self, $crate::error::AllocError>> {
                    let params: &$params = params.downcast_ref()?;
                    Some(Self::from_params(*params, hasher))
                }

                fn try_insert(&mut self, hash: u64) -> Result<bool, $crate::error::InsertError> {
                    $crate::traits::Insert::insert_hash(self, hash).map_err(Into::into)
                }

                $crate::dynamic::changes!();
                $($owns)*
            }
        }
    };
    (@any $filter:ident ($($extra:ident)?), $kind:ident, { $($reads:tt)* } { $($owns:tt)* }) => {
        impl<S, W> $crate::dynamic::ReadFilter<S> for $filter<S $(, $extra)?, W>
        where
            S: $crate::hash::KeyHasher + Send + Sync,
            W: pds_core::storage::WordSource + Send + Sync,
        {
            fn kind(&self) -> $crate::bytes::Kind {
                $crate::bytes::Kind::$kind
            }

            fn hasher(&self) -> &S {
                self.hasher()
            }

            fn size_in_bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn false_positive_rate(&self) -> f64 {
                self.false_positive_rate()
            }

            $($reads)*
        }

        impl<S, B> $crate::dynamic::ViewFilter<S>
            for $filter<S $(, $extra)?, pds_core::storage::Stored<B>>
        where
            S: $crate::hash::PortableHasher + Clone + Send + Sync + 'static,
            B: AsRef<[u8]> + Send + Sync,
        {
            fn verify(&self) -> Result<(), $crate::error::DecodeError> {
                self.verify()
            }

            fn to_filter(&self) -> Result<$crate::DynFilter<S>, $crate::error::DecodeError> {
                self.to_filter().map($crate::DynFilter::of)
            }
        }

        impl<S> $crate::dynamic::FilterKind<S> for $filter<S $(, $extra)?>
        where
            S: $crate::hash::PortableHasher + Clone + Send + Sync + 'static,
        {
            fn open_view<'a, B: AsRef<[u8]> + Send + Sync + 'a>(
                envelope: pds_core::bytes::Envelope<B>,
                hasher: Option<S>,
            ) -> Result<alloc::boxed::Box<dyn $crate::dynamic::ViewFilter<S> + 'a>, $crate::error::DecodeError>
            {
                type View<S, B> = $filter<S $(, $extra)?, pds_core::storage::Stored<B>>;
                let view: View<S, B> = pds_core::bytes::OpenView::open_view(envelope, hasher)?;
                Ok(alloc::boxed::Box::new(view))
            }

            $($owns)*
        }
    };
}
pub(crate) use filter_kind;

/// The methods of `FilterKind` for filters that are filled key by key.
macro_rules! changes {
    () => {
        fn try_clear(&mut self) -> bool {
            self.clear();
            true
        }

        fn try_merge(&mut self, other: &Self) -> Option<Result<(), $crate::error::MergeError>> {
            Some($crate::traits::Merge::merge(self, other).map_err(Into::into))
        }
    };
}
pub(crate) use changes;

/// Implements the traits of all kinds for a sketch of one kind. `NAME` distinguishes it from the others.
macro_rules! sketch_kind {
    ([$($generics:tt)*] $sketch:ty, $kind:ident, $name:literal, $role:ident: $trait:ident $(, $($own:tt)*)?) => {
        impl<$($generics)*> $crate::dynamic::ReadSketch<S> for $sketch {
            fn kind(&self) -> $crate::bytes::Kind {
                $crate::bytes::Kind::$kind
            }

            fn hasher(&self) -> &S {
                self.hasher()
            }

            fn size_in_bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn $role(&self) -> Option<&dyn $crate::traits::$trait> {
                Some(self)
            }
        }

        impl<$($generics)*> $crate::dynamic::SketchKind<S> for $sketch {
            const NAME: &str = $name;

            fn insert_one(&mut self, hash: u64) {
                self.insert_hash(hash);
            }

            fn merge_same(&mut self, other: &Self) -> Result<(), $crate::error::Incompatible> {
                self.merge(other)
            }

            $($($own)*)?
        }
    };
}
pub(crate) use sketch_kind;
