//! Filters for static sets.

use alloc::format;
use alloc::string::String;

use super::Structure;
use crate::bytes::Kind;
use crate::compare::{Abilities, Ability, Design, LinesRead, MembershipSizing, Promise};
use crate::params::{FuseParams, ParamError, RibbonParams};

const CAUTION: &str = "It is built from all of its keys at once, and takes no more.";

const STRANGERS: &str = "Without check bits, a key that is not in the set gets an arbitrary value.";

const STATIC: Abilities = Abilities {
    insert: Ability::No,
    remove: Ability::No,
    merge: Ability::No,
    count: Ability::No,
    grow: Ability::No,
};

/// The ribbon filter: the fewest bits for a set that is known beforehand.
pub static RIBBON: Structure = Structure {
    name: "ribbon filter",
    type_name: "RibbonFilter",
    crate_name: "fuse",
    feature: Some("fuse"),
    kind: Some(Kind::RIBBON),
    caution: CAUTION,
    membership: Some(MembershipSizing::of::<RibbonParams>(STATIC)),
    ..Structure::NONE
};

/// The binary fuse filter: the fastest lookups for a set that is known beforehand.
pub static FUSE: Structure = Structure {
    name: "binary fuse filter",
    type_name: "FuseFilter",
    crate_name: "fuse",
    feature: Some("fuse"),
    kind: Some(Kind::FUSE),
    caution: CAUTION,
    membership: Some(MembershipSizing::of::<FuseParams>(STATIC)),
    ..Structure::NONE
};

/// The retrieval map: values of a fixed set of keys, without the keys.
pub static RETRIEVAL: Structure = Structure {
    name: "retrieval map",
    type_name: "RetrievalMap",
    crate_name: "fuse",
    feature: Some("fuse"),
    kind: Some(Kind::RETRIEVAL),
    caution: STRANGERS,
    ..Structure::NONE
};

/// The updatable map: values that can change, of a fixed set of keys.
pub static UPDATABLE: Structure = Structure {
    name: "updatable map",
    type_name: "UpdatableMap",
    crate_name: "fuse",
    feature: Some("fuse"),
    kind: Some(Kind::UPDATABLE),
    caution: STRANGERS,
    ..Structure::NONE
};

/// The exact filter: no error on a known universe.
pub static EXACT: Structure = Structure {
    name: "exact filter",
    type_name: "ExactFilter",
    crate_name: "fuse",
    feature: Some("fuse"),
    kind: Some(Kind::EXACT),
    caution: "A key outside of the universe gets an arbitrary answer.",
    ..Structure::NONE
};

impl Design for FuseParams {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        Self::new(items, rate)
    }

    fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        Self::for_memory(bytes, items)
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        // The size is that of the keys that it is built from.
        (items <= self.items()).then(|| self.rate())
    }

    fn lines_read(&self, _: u64) -> LinesRead {
        LinesRead::of_cells(3, self.size_in_bytes())
    }

    fn constructor(&self, _: u64) -> String {
        format!("builder().fingerprint_bits({}).build(keys)?", self.fingerprint_bits())
    }

    fn promising(&self, promise: Promise) -> String {
        format!("new(keys, {:?})?", promise.rate)
    }
}

impl Design for RibbonParams {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        Self::new(items, rate)
    }

    fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        Self::for_memory(bytes, items)
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        // The size is that of the keys that it is built from.
        (items <= self.items()).then(|| self.rate())
    }

    fn lines_read(&self, _: u64) -> LinesRead {
        LinesRead::of_windows(self.columns().most(), self.size_in_bytes())
    }

    fn constructor(&self, _: u64) -> String {
        format!("builder().columns({:?}).build(keys)?", self.columns().as_f64())
    }

    fn promising(&self, promise: Promise) -> String {
        format!("new(keys, {:?})?", promise.rate)
    }
}

#[cfg(feature = "fuse")]
mod dynamic {
    use crate::dynamic::filter_kind;
    use crate::{FuseFilter, RibbonFilter};

    filter_kind! { static RibbonFilter, RIBBON }
    filter_kind! { static FuseFilter, FUSE }
}
