//! The standard Bloom filter.

use alloc::format;
use alloc::string::String;

use super::Structure;
use crate::bytes::Kind;
use crate::compare::{Abilities, Ability, Design, LinesRead, MembershipSizing, Promise, literal};
use crate::params::bloom::{HASH_COLLISION, scheme_excess};
use crate::params::{BloomParams, ParamError};

/// The standard Bloom filter: the least memory, exact unions.
pub static BLOOM: Structure = Structure {
    name: "standard Bloom filter",
    type_name: "BloomFilter",
    crate_name: "bloom-core",
    feature: Some("bloom"),
    kind: Some(Kind::BLOOM),
    caution: "Past its number of items it errs more often; it never refuses a key.",
    membership: Some(MembershipSizing::of::<BloomParams>(Abilities {
        insert: Ability::Yes,
        remove: Ability::No,
        merge: Ability::Yes,
        count: Ability::No,
        grow: Ability::Limited,
    })),
    ..Structure::NONE
};

/// The bank of Bloom filters: which of many sets contain a key.
pub static FILTER_BANK: Structure = Structure {
    name: "bank of Bloom filters",
    type_name: "FilterBank",
    crate_name: "bloom-core",
    feature: Some("bloom"),
    kind: Some(Kind::FILTER_BANK),
    caution: "All of its sets have one size and one hasher.",
    ..Structure::NONE
};

/// Returns the rate of double-hashed positions, with the share of whole hashes that collide.
pub(super) fn double_hashed_rate(params: &BloomParams, items: u64) -> f64 {
    let excess = scheme_excess(params.num_bits(), items, params.num_hashes());
    params.rate_at(items) + excess + items as f64 * HASH_COLLISION
}

impl Design for BloomParams {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        Self::for_double_hashing(items, rate)
    }

    fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        Self::for_double_hashing_of(bytes / 8 * 64, items)
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        Some(double_hashed_rate(self, items))
    }

    fn lines_read(&self, items: u64) -> LinesRead {
        let probes = self.num_hashes();
        LinesRead::of_probes(probes, self.fill_at(items), self.size_in_bytes())
    }

    fn constructor(&self, items: u64) -> String {
        let (bits, items) = (literal(self.num_bits()), literal(items));
        format!("builder().bits({bits}).expected_items({items}).build()?")
    }
}

#[cfg(feature = "bloom")]
mod dynamic {
    use super::BloomParams;
    use crate::dynamic::filter_kind;
    use crate::{BloomFilter, Estimate};

    filter_kind! {
        BloomFilter of BloomParams, BLOOM,
        {
        fn approx_len(&self) -> Option<Estimate> {
            Some(self.approx_len())
        }

        fn health(&self) -> Option<crate::Health> {
            Some(self.health())
        }
        }
        {
        const NAME: &str = super::BLOOM.name;
        }
    }
}
