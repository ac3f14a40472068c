//! The list of the structures of the family.
//!
//! A [`Structure`] is data: names, the kind in stored bytes, abilities, and sizing. The comparison and the
//! recommendation in [`compare`](crate::compare) iterate over [`ALL`], and so do the tools of the workspace.
//!
//! A structure has one entry, whatever its storage and the number of threads: shared forms, views, signatures and
//! compressed bytes have none of their own. Only entries with a sizing are compared: filters, frequencies, and numbers
//! of distinct keys.
//!
//! Every structure is listed with any features of this crate, because its size needs no code of the structure.

mod blocked;
mod bloom;
mod cms;
mod counting;
mod cuckoo;
mod exact;
mod fuse;
mod heavy_hitters;
mod hll;
mod minhash;
mod quotient;
mod scalable;
mod theta;
mod window;

use core::fmt;

use crate::bytes::Kind;
use crate::compare::{Abilities, CardinalitySizing, FrequencySizing, MembershipSizing};
use crate::dynamic::{DynFilter, DynSketch, FilterVisitor, SketchVisitor};
use crate::hash::PortableHasher;

/// Expands the code for a type of one role, if that role is wanted.
macro_rules! of_role {
    (visit filter filter $type:ty, $visitor:ident) => {
        if let Some(output) = $visitor.visit::<$type>() {
            return Some(output);
        }
    };
    (visit sketch sketch $type:ty, $visitor:ident) => {
        if let Some(output) = $visitor.visit::<$type>() {
            return Some(output);
        }
    };
    (visit $wanted:ident $role:ident $type:ty, $visitor:ident) => {};
    (from filter $type:ty) => {
        of_role!(from DynFilter, $type);
    };
    (from sketch $type:ty) => {
        of_role!(from DynSketch, $type);
    };
    (from $dynamic:ident, $type:ty) => {
        impl<S: PortableHasher + Clone + Send + Sync + 'static> From<$type> for $dynamic<S> {
            fn from(structure: $type) -> Self {
                Self::of(structure)
            }
        }
    };
}

/// Names each structure, and lists all of them.
///
/// Write `module::STRUCTURE => "feature" role: types;` if `DynFilter` (role `filter`) or `DynSketch` (role `sketch`)
/// can hold the structure. The first type that takes a header or a structure wins.
macro_rules! registry {
    ($($module:ident::$structure:ident $(=> $feature:literal $role:ident: $($type:ty),+)?;)*) => {
        $(pub use $module::$structure;)*

        /// Every structure, by purpose. The last ones are those of the standard library.
        pub static ALL: &[&Structure] = &[$(&$module::$structure),*];

        /// Shows a visitor the type of each kind of filter.
        pub(crate) fn visit_filters<S, V>(visitor: &mut V) -> Option<V::Output>
        where
            S: PortableHasher + Clone + Send + Sync + 'static,
            V: FilterVisitor<S>,
        {
            $($($(
                #[cfg(feature = $feature)]
                of_role!(visit filter $role $type, visitor);
            )+)?)*
            None
        }

        /// Shows a visitor the type of each kind of sketch.
        pub(crate) fn visit_sketches<S, V>(visitor: &mut V) -> Option<V::Output>
        where
            S: PortableHasher + Clone + Send + Sync + 'static,
            V: SketchVisitor<S>,
        {
            $($($(
                #[cfg(feature = $feature)]
                of_role!(visit sketch $role $type, visitor);
            )+)?)*
            None
        }

        $($($(
            #[cfg(feature = $feature)]
            of_role!(from $role $type);
        )+)?)*

        /// Returns the feature of a kind in stored bytes if that feature is off, among the structures of this role.
        pub(crate) fn feature_that_is_off(kind: Kind, role: &str) -> Option<&'static str> {
            let is_wanted = |structure: &Structure, its_role| {
                structure.kind == Some(kind) && role == its_role
            };
            $($(
                if !cfg!(feature = $feature) && is_wanted(&$structure, stringify!($role)) {
                    return Some(concat!(
                        "a structure whose feature is on (of `pds`, `", $feature, "` is off)"
                    ));
                }
            )?)*
            None
        }
    };
}

registry! {
    bloom::BLOOM => "bloom" filter: crate::BloomFilter<S>;
    bloom::FILTER_BANK;
    blocked::BLOCKED_BLOOM => "blocked" filter: crate::BlockedBloomFilter<S>;
    blocked::SPLIT_BLOCK_BLOOM;
    cuckoo::CUCKOO => "cuckoo" filter: crate::CuckooFilter<S>;
    quotient::QUOTIENT => "quotient" filter: crate::QuotientFilter<S>;
    quotient::COUNTING_QUOTIENT => "quotient" filter: crate::CountingQuotientFilter<S>;
    quotient::QUOTIENT_MAP;
    counting::COUNTING_BLOOM => "counting" filter: crate::CountingBloomFilter<S>, counting::Wide<S>;
    counting::BLOCKED_COUNTING_BLOOM => "counting" filter: crate::BlockedCountingBloomFilter<S>;
    fuse::RIBBON => "fuse" filter: crate::RibbonFilter<S>;
    fuse::FUSE => "fuse" filter: crate::FuseFilter<S>;
    fuse::RETRIEVAL;
    fuse::UPDATABLE;
    fuse::EXACT;
    scalable::SCALABLE_BLOOM => "scalable" filter: scalable::Standard<S>, scalable::Blocked<S>;
    scalable::LAYERED_BLOOM;
    window::WINDOW_BLOOM;
    window::TIMED_BLOOM;
    cms::COUNT_MIN => "cms" sketch:
        crate::CountMinSketch<S, u8>, crate::CountMinSketch<S, u16>,
        crate::CountMinSketch<S, u32>, crate::CountMinSketch<S, u64>;
    cms::COUNT_SKETCH => "cms" sketch: crate::CountSketch<S>;
    heavy_hitters::HEAVY_HITTERS;
    heavy_hitters::SKETCHED_HEAVY_HITTERS;
    heavy_hitters::TOP_K;
    hll::HYPER_LOG_LOG => "hll" sketch: crate::HyperLogLog<S>;
    hll::ULTRA_LOG_LOG => "hll" sketch: crate::UltraLogLog<S>;
    minhash::MIN_HASH;
    minhash::LSH_INDEX;
    theta::THETA;
    exact::HASH_SET;
    exact::HASH_MAP;
}

/// A structure: its names, its abilities and its sizing.
///
/// Two structures are equal if their types are equal.
///
/// # Examples
/// ```
/// use pds::registry;
///
/// let structure = registry::of_kind(pds::bytes::Kind::CUCKOO).expect("a kind of this family");
/// assert_eq!((structure.type_name, structure.feature), ("CuckooFilter", Some("cuckoo")));
/// assert_eq!(structure.to_string(), "cuckoo filter");
/// ```
pub struct Structure {
    /// The name in words, for use in a sentence.
    pub name: &'static str,
    /// The name of the type.
    pub type_name: &'static str,
    /// The name of the crate that has the type.
    pub crate_name: &'static str,
    /// The feature of `pds` that adds it. `None` for structures of the standard library.
    pub feature: Option<&'static str>,
    /// The kind in stored bytes. `None` if these have no header.
    pub kind: Option<Kind>,
    /// A caution for its users, in a sentence.
    pub caution: &'static str,
    /// Its sizing as a membership filter, if it is one.
    pub(crate) membership: Option<MembershipSizing>,
    /// Its sizing for frequencies, if it estimates them.
    pub(crate) frequency: Option<FrequencySizing>,
    /// Its sizing for numbers of distinct keys, if it estimates them.
    pub(crate) cardinality: Option<CardinalitySizing>,
}

impl Structure {
    /// The base of an entry.
    const NONE: Self = Self {
        name: "",
        type_name: "",
        crate_name: "",
        feature: None,
        kind: None,
        caution: "",
        membership: None,
        frequency: None,
        cardinality: None,
    };

    /// Returns the abilities of the structure as a membership filter. `None` if it is not one.
    #[must_use]
    pub fn abilities(&self) -> Option<Abilities> {
        self.membership.as_ref().map(|sizing| sizing.abilities)
    }

    /// Returns the path of the type for code that depends only on `pds`.
    #[must_use]
    pub fn path(&self) -> impl fmt::Display {
        Path(self)
    }
}

impl PartialEq for Structure {
    fn eq(&self, other: &Self) -> bool {
        self.type_name == other.type_name
    }
}

impl Eq for Structure {}

impl fmt::Debug for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name)
    }
}

/// Writes the name in words, for use in a sentence.
impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

struct Path<'a>(&'a Structure);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = if self.0.feature.is_some() { "pds" } else { "std::collections" };
        // Generic arguments of a type in an expression follow a second `::`.
        match self.0.type_name.split_once('<') {
            Some((name, arguments)) => write!(f, "{root}::{name}::<{arguments}"),
            None => write!(f, "{root}::{}", self.0.type_name),
        }
    }
}

/// Returns every membership filter.
pub fn filters() -> impl Iterator<Item = &'static Structure> {
    ALL.iter().copied().filter(|structure| structure.membership.is_some())
}

/// Returns the structure of a kind in stored bytes. `None` for kinds that are forms of other structures (compressed
/// bytes, deltas, MinHash signatures), and for kinds outside of the family.
#[must_use]
pub fn of_kind(kind: Kind) -> Option<&'static Structure> {
    ALL.iter().copied().find(|structure| structure.kind == Some(kind))
}
