//! The cuckoo filter.

use alloc::format;
use alloc::string::String;

use super::Structure;
use crate::bytes::Kind;
use crate::compare::{Abilities, Ability, Design, LinesRead, MembershipSizing, Promise, literal};
use crate::params::{CuckooParams, ParamError};

/// The cuckoo filter: fingerprints in buckets. It supports removal, and can be full.
pub static CUCKOO: Structure = Structure {
    name: "cuckoo filter",
    type_name: "CuckooFilter",
    crate_name: "cuckoo",
    feature: Some("cuckoo"),
    kind: Some(Kind::CUCKOO),
    caution: "It refuses keys when it is full, and merges only what fits; \
              never remove a key that was not inserted.",
    membership: Some(MembershipSizing::of::<CuckooParams>(Abilities {
        insert: Ability::Yes,
        remove: Ability::Yes,
        merge: Ability::Limited,
        count: Ability::No,
        grow: Ability::No,
    })),
    ..Structure::NONE
};

impl Design for CuckooParams {
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
        (items <= self.capacity()).then(|| self.rate_at(items))
    }

    fn lines_read(&self, _: u64) -> LinesRead {
        LinesRead::of_buckets(self.fingerprint_bits(), self.size_in_bytes())
    }

    fn constructor(&self, _: u64) -> String {
        let (buckets, bits) = (literal(self.num_buckets()), self.fingerprint_bits());
        format!("builder().buckets({buckets}).fingerprint_bits({bits}).build()?")
    }
}

#[cfg(feature = "cuckoo")]
mod dynamic {
    use super::CuckooParams;
    use crate::dynamic::filter_kind;
    use crate::{CuckooFilter, Estimate};

    filter_kind! {
        CuckooFilter of CuckooParams, CUCKOO,
        {
        fn approx_len(&self) -> Option<Estimate> {
            Some(Estimate { value: self.len() as f64, standard_error: 0.0 })
        }
        }
        {
        const NAME: &str = super::CUCKOO.name;

        fn try_remove(&mut self, hash: u64) -> Option<bool> {
            Some(self.remove_hash(hash))
        }
        }
    }
}
