//! The structures and what each of them can do.

use core::fmt;

/// A structure that answers *have I seen this key?*
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Structure {
    /// The standard Bloom filter.
    Bloom,
    /// The Bloom filter with all bits of a key in one cache line.
    BlockedBloom,
    /// The blocked Bloom filter of Parquet files.
    SplitBlock,
    /// The cuckoo filter: fingerprints in buckets.
    Cuckoo,
    /// The Bloom filter with 4-bit counters in the place of bits.
    CountingBloom,
    /// The counting filter with all counters of a key in one cache line.
    BlockedCountingBloom,
    /// The standard library's hash set of 64-bit hashes: what all the others are to be measured by.
    HashSet,
}

/// How far a structure can do something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ability {
    /// Not at all.
    #[default]
    No,
    /// Up to a limit, which [`Structure::caution`] tells.
    Limited,
    /// Always.
    Yes,
}

/// What a structure can do besides inserting and answering, or what it is asked to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Abilities {
    /// Forget a key that was inserted.
    pub remove: Ability,
    /// Take in all keys of another one of the same shape.
    pub merge: Ability,
    /// Tell how often a key was inserted.
    pub count: Ability,
    /// Take more keys than it was sized for: [`Limited`](Ability::Limited) when it errs more often then.
    pub grow: Ability,
}

impl Abilities {
    /// The abilities with their names in words, to be put after "can" and "cannot".
    #[must_use]
    pub fn named(self) -> [(&'static str, Ability); 4] {
        [
            ("remove keys", self.remove),
            ("be merged", self.merge),
            ("count keys", self.count),
            ("grow", self.grow),
        ]
    }

    /// The first of `needed` that is lacking, in words.
    pub(super) fn lacks(self, needed: Self) -> Option<(&'static str, Ability)> {
        let pairs = self.named().into_iter().zip(needed.named());
        let mut lacking = pairs.filter(|((_, has), (_, needs))| has < needs);
        lacking.next().map(|(has, _)| has)
    }
}

impl Structure {
    /// Every structure, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Bloom,
        Self::BlockedBloom,
        Self::SplitBlock,
        Self::Cuckoo,
        Self::CountingBloom,
        Self::BlockedCountingBloom,
        Self::HashSet,
    ];

    /// The name of the type.
    #[must_use]
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::Bloom => "BloomFilter",
            Self::BlockedBloom => "BlockedBloomFilter",
            Self::SplitBlock => "SplitBlockBloomFilter",
            Self::Cuckoo => "CuckooFilter",
            Self::CountingBloom => "CountingBloomFilter",
            Self::BlockedCountingBloom => "BlockedCountingBloomFilter",
            Self::HashSet => "HashSet<u64>",
        }
    }

    /// The name of the crate that has the type.
    #[must_use]
    pub const fn crate_name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom-core",
            Self::BlockedBloom | Self::SplitBlock => "bloom-blocked",
            Self::Cuckoo => "cuckoo",
            Self::CountingBloom | Self::BlockedCountingBloom => "bloom-counting",
            Self::HashSet => "std",
        }
    }

    /// What the structure can do.
    #[must_use]
    pub const fn abilities(self) -> Abilities {
        use Ability::{Limited, No, Yes};
        let (remove, merge, count, grow) = match self {
            Self::Bloom | Self::BlockedBloom | Self::SplitBlock => (No, Yes, No, Limited),
            Self::Cuckoo => (Yes, Limited, No, No),
            Self::CountingBloom | Self::BlockedCountingBloom => (Yes, Yes, Limited, Limited),
            Self::HashSet => (Yes, Yes, No, Yes),
        };
        Abilities { remove, merge, count, grow }
    }

    /// What its users have to mind, in a sentence.
    #[must_use]
    pub const fn caution(self) -> &'static str {
        match self {
            Self::Bloom => "Past its number of items it errs more often; it never refuses a key.",
            Self::BlockedBloom => {
                "Past its number of items it errs more often, a little sooner than a standard filter."
            }
            Self::SplitBlock => {
                "Made for Parquet: an unkeyed hash, eight bits a key whatever the rate."
            }
            Self::Cuckoo => {
                "It refuses keys when it is full, and merges only what fits; \
                 never remove a key that was not inserted."
            }
            Self::CountingBloom | Self::BlockedCountingBloom => {
                "It counts up to 15; never remove a key that was not inserted."
            }
            Self::HashSet => "It doubles its memory at once when it grows.",
        }
    }
}

impl fmt::Display for Structure {
    /// Writes the name in words, as in a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bloom => "standard Bloom filter",
            Self::BlockedBloom => "blocked Bloom filter",
            Self::SplitBlock => "split-block Bloom filter",
            Self::Cuckoo => "cuckoo filter",
            Self::CountingBloom => "counting Bloom filter",
            Self::BlockedCountingBloom => "blocked counting Bloom filter",
            Self::HashSet => "hash set of 64-bit hashes",
        })
    }
}

impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::No => "no",
            Self::Limited => "limited",
            Self::Yes => "yes",
        })
    }
}
