//! The exact structures of the standard library, for comparison.

use alloc::format;
use alloc::string::String;

use super::Structure;
use crate::compare::{
    Abilities, Ability, CardinalitySizing, CountAbilities, CountNeeds, Design, DistinctNeeds,
    FrequencySizing, LinesRead, MembershipSizing, Promise, SketchSize, literal,
};
use crate::params::bloom::HASH_COLLISION;
use crate::params::{HashTableParams, ParamError};

/// The standard library's set of 64-bit hashes.
pub static HASH_SET: Structure = Structure {
    name: "hash set of 64-bit hashes",
    type_name: "HashSet<u64>",
    crate_name: "std",
    caution: "It doubles its memory at once when it grows.",
    membership: Some(MembershipSizing::of::<HashTableParams>(Abilities {
        insert: Ability::Yes,
        remove: Ability::Yes,
        merge: Ability::Yes,
        count: Ability::No,
        grow: Ability::Yes,
    })),
    cardinality: Some(CardinalitySizing { overlap: true, size: set }),
    ..Structure::NONE
};

/// The standard library's map from 64-bit hashes to counts.
pub static HASH_MAP: Structure = Structure {
    name: "hash map of counts",
    type_name: "HashMap<u64, u64>",
    crate_name: "std",
    caution: "It doubles its memory at once when it grows.",
    frequency: Some(FrequencySizing {
        abilities: CountAbilities { remove: true, unbiased: true, list: true },
        size: map,
    }),
    ..Structure::NONE
};

impl Design for HashTableParams {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        Self::new(items, rate)
    }

    fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        Self::for_memory(bytes, items)
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes(0)
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        // The set grows when it must.
        Some(items as f64 * HASH_COLLISION)
    }

    fn lines_read(&self, _: u64) -> LinesRead {
        // A group of control bytes, and the slot of a match.
        LinesRead { present: 2.0, absent: 1.0 }
    }

    fn constructor(&self, items: u64) -> String {
        format!("with_capacity({})", literal(items))
    }

    fn promising(&self, promise: Promise) -> String {
        self.constructor(promise.items)
    }
}

fn set(needs: &DistinctNeeds) -> Result<SketchSize, ParamError> {
    table(needs.keys, 0)
}

fn map(needs: &CountNeeds) -> Result<SketchSize, ParamError> {
    table(needs.keys, 8)
}

/// Returns the size of the table for a number of keys, with a value per key.
fn table(keys: u64, value_bytes: u64) -> Result<SketchSize, ParamError> {
    let bytes = HashTableParams::for_items(keys.max(1))?.size_in_bytes(value_bytes);
    Ok(SketchSize { bytes, constructor: format!("with_capacity({})", literal(keys)) })
}
