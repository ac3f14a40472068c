//! Every structure of the family, in one list.
//!
//! A [`Structure`] is data: names, the kind in stored bytes, abilities, and how it is sized. The comparison and the
//! recommendation in [`compare`](crate::compare) iterate over [`ALL`], and so do the tools of the workspace.
//!
//! Every structure is listed whatever the features of this crate are: its size needs no code of its own.

mod blocked;
mod bloom;
mod cms;
mod counting;
mod cuckoo;
mod exact;
mod heavy_hitters;
mod hll;

use core::fmt;

use crate::Kind;
use crate::compare::{Abilities, CardinalitySizing, FrequencySizing, MembershipSizing};

/// Names each structure, and lists all of them.
macro_rules! registry {
    ($($module:ident::$structure:ident,)*) => {
        $(pub use $module::$structure;)*

        /// Every structure, in the order of the documentation.
        pub static ALL: &[&Structure] = &[$(&$module::$structure),*];
    };
}

registry! {
    bloom::BLOOM,
    blocked::BLOCKED_BLOOM,
    blocked::SPLIT_BLOCK_BLOOM,
    cuckoo::CUCKOO,
    counting::COUNTING_BLOOM,
    counting::BLOCKED_COUNTING_BLOOM,
    cms::COUNT_MIN,
    cms::COUNT_SKETCH,
    heavy_hitters::HEAVY_HITTERS,
    heavy_hitters::SKETCHED_HEAVY_HITTERS,
    heavy_hitters::TOP_K,
    hll::HYPER_LOG_LOG,
    hll::ULTRA_LOG_LOG,
    exact::HASH_SET,
    exact::HASH_MAP,
}

/// A structure: what it is called, what it can do, and how it is sized.
///
/// Two are equal when their types are.
///
/// # Examples
/// ```
/// use pds::registry;
///
/// let structure = registry::of_kind(pds::Kind::CUCKOO).expect("a kind of this family");
/// assert_eq!((structure.type_name, structure.feature), ("CuckooFilter", Some("cuckoo")));
/// assert_eq!(structure.to_string(), "cuckoo filter");
/// ```
pub struct Structure {
    /// The name in words, as in a sentence.
    pub name: &'static str,
    /// The name of the type.
    pub type_name: &'static str,
    /// The name of the crate that has the type.
    pub crate_name: &'static str,
    /// The feature of `pds` that adds it; none for the standard library's.
    pub feature: Option<&'static str>,
    /// The kind in stored bytes; none where these have no header.
    pub kind: Option<Kind>,
    /// What its users have to mind, in a sentence.
    pub caution: &'static str,
    /// How it is sized for *have I seen this key?*, if it answers that.
    pub(crate) membership: Option<MembershipSizing>,
    /// How it is sized for *how often?*, if it answers that.
    pub(crate) frequency: Option<FrequencySizing>,
    /// How it is sized for *how many different ones?*, if it answers that.
    pub(crate) cardinality: Option<CardinalitySizing>,
}

impl Structure {
    /// What an entry starts from.
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

    /// Returns what the structure can do as a membership filter; none where it is no such filter.
    #[must_use]
    pub fn abilities(&self) -> Option<Abilities> {
        self.membership.as_ref().map(|sizing| sizing.abilities)
    }

    /// Returns the path of the type, as code that depends on `pds` alone names it.
    #[must_use]
    pub fn path(&self) -> Path<'_> {
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

/// Writes the name in words, as in a sentence.
impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// What [`Structure::path`] shows.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a>(&'a Structure);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = if self.0.feature.is_some() { "pds" } else { "std::collections" };
        // Generic arguments of a type in an expression stand behind a second `::`.
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

/// Returns the structure that stored bytes of this kind hold, if it is one of the family.
#[must_use]
pub fn of_kind(kind: Kind) -> Option<&'static Structure> {
    ALL.iter().copied().find(|structure| structure.kind == Some(kind))
}
