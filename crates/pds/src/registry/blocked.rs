//! The blocked Bloom filters.

use alloc::format;
use alloc::string::String;

use super::Structure;
use crate::bytes::Kind;
use crate::compare::{Abilities, Ability, Design, LinesRead, MembershipSizing, Promise, literal};
use crate::params::blocked::{MAX_SPLIT_BLOCKS, split_block_rate_with_collisions, split_blocks};
use crate::params::bloom::HASH_COLLISION;
use crate::params::{BlockedBloomParams, ParamError, Preference};
use pds_params::internal::ParamFault;

const ABILITIES: Abilities = Abilities {
    insert: Ability::Yes,
    remove: Ability::No,
    merge: Ability::Yes,
    count: Ability::No,
    grow: Ability::Limited,
};

/// The Bloom filter with all bits of a key in one cache line.
pub static BLOCKED_BLOOM: Structure = Structure {
    name: "blocked Bloom filter",
    type_name: "BlockedBloomFilter",
    crate_name: "bloom-blocked",
    feature: Some("blocked"),
    kind: Some(Kind::BLOCKED_BLOOM),
    caution: "Past its number of items it errs more often, a little sooner than a standard filter.",
    membership: Some(MembershipSizing::of::<BlockedBloomParams>(ABILITIES)),
    ..Structure::NONE
};

/// The blocked Bloom filter of Parquet files.
pub static SPLIT_BLOCK_BLOOM: Structure = Structure {
    name: "split-block Bloom filter",
    type_name: "SplitBlockBloomFilter",
    crate_name: "bloom-blocked",
    feature: Some("blocked"),
    caution: "Made for Parquet: an unkeyed hash, eight bits per key whatever the rate.",
    membership: Some(MembershipSizing::of::<SplitBlocks>(ABILITIES)),
    ..Structure::NONE
};

impl Design for BlockedBloomParams {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        Self::new(items, rate, Preference::Fastest)
    }

    fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        Self::from_blocks_and_items(bytes / 64, items)
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        Some(self.rate_at(items) + items as f64 * HASH_COLLISION)
    }

    fn lines_read(&self, _: u64) -> LinesRead {
        LinesRead::ONE
    }

    fn constructor(&self, items: u64) -> String {
        let (blocks, items) = (literal(self.num_blocks()), literal(items));
        format!("builder().blocks({blocks}).expected_items({items}).build()?")
    }
}

/// The number of 32-byte blocks of Parquet's filter. Writers of files round it up to a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SplitBlocks(u64);

impl SplitBlocks {
    const BYTES: u64 = 32;
}

impl Design for SplitBlocks {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        split_blocks(items, rate).map(Self)
    }

    fn for_memory(bytes: u64, _: u64) -> Result<Self, ParamError> {
        match bytes / Self::BYTES {
            value @ 0 => {
                let (parameter, min, max) = ("blocks", 1, MAX_SPLIT_BLOCKS);
                Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }))
            }
            blocks => Ok(Self(blocks.min(MAX_SPLIT_BLOCKS))),
        }
    }

    fn size_in_bytes(&self) -> u64 {
        self.0 * Self::BYTES
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        Some(split_block_rate_with_collisions(self.0, items))
    }

    fn lines_read(&self, _: u64) -> LinesRead {
        LinesRead::ONE
    }

    fn constructor(&self, _: u64) -> String {
        format!("with_blocks({})?", literal(self.0))
    }

    // `new` chooses a power of two, as the writers of Parquet files do.
    fn promising(&self, _: Promise) -> String {
        self.constructor(0)
    }
}

#[cfg(feature = "blocked")]
mod dynamic {
    use super::BlockedBloomParams;
    use crate::dynamic::filter_kind;
    use crate::{BlockedBloomFilter, Estimate};

    filter_kind! {
        BlockedBloomFilter of BlockedBloomParams, BLOCKED_BLOOM,
        {
        fn approx_len(&self) -> Option<Estimate> {
            Some(self.approx_len())
        }

        fn health(&self) -> Option<crate::Health> {
            Some(self.health())
        }
        }
        {
        const NAME: &str = super::BLOCKED_BLOOM.name;
        }
    }
}
