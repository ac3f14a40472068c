//! The counting Bloom filters.

use alloc::format;
use alloc::string::String;
use core::any::Any;

use super::Structure;
use super::bloom::double_hashed_rate;
use crate::bytes::Kind;
use crate::compare::{Abilities, Ability, Design, LinesRead, MembershipSizing, Promise, literal};
use crate::params::bloom::HASH_COLLISION;
use crate::params::{BlockedCountingParams, BloomParams, ParamError};

/// The counting filter with counters of eight bits.
#[cfg(feature = "counting")]
pub(crate) type Wide<S> = crate::CountingBloomFilter<S, crate::counting::Bits8>;

const ABILITIES: Abilities = Abilities {
    insert: Ability::Yes,
    remove: Ability::Yes,
    merge: Ability::Yes,
    count: Ability::Limited,
    grow: Ability::Limited,
};

const CAUTION: &str = "It counts up to 15; never remove a key that was not inserted.";

/// The Bloom filter with 4-bit counters in place of bits.
pub static COUNTING_BLOOM: Structure = Structure {
    name: "counting Bloom filter",
    type_name: "CountingBloomFilter",
    crate_name: "bloom-counting",
    feature: Some("counting"),
    kind: Some(Kind::COUNTING_BLOOM),
    caution: CAUTION,
    membership: Some(MembershipSizing::of::<Counters>(ABILITIES)),
    ..Structure::NONE
};

/// The counting filter with all counters of a key in one cache line.
pub static BLOCKED_COUNTING_BLOOM: Structure = Structure {
    name: "blocked counting Bloom filter",
    type_name: "BlockedCountingBloomFilter",
    crate_name: "bloom-counting",
    feature: Some("counting"),
    kind: Some(Kind::BLOCKED_COUNTING_BLOOM),
    caution: CAUTION,
    membership: Some(MembershipSizing::of::<BlockedCountingParams>(ABILITIES)),
    ..Structure::NONE
};

/// Parameters of a Bloom filter whose bits are counters of four bits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counters(BloomParams);

impl Counters {
    /// Counters in a 64-bit word.
    const PER_WORD: u64 = 16;
}

impl Design for Counters {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        BloomParams::for_double_hashing(items, rate).map(Self)
    }

    fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        BloomParams::for_double_hashing_of(bytes / 8 * Self::PER_WORD, items).map(Self)
    }

    fn size_in_bytes(&self) -> u64 {
        self.0.num_bits().div_ceil(Self::PER_WORD) * 8
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        Some(double_hashed_rate(&self.0, items))
    }

    fn lines_read(&self, items: u64) -> LinesRead {
        LinesRead::of_probes(self.0.num_hashes(), self.0.fill_at(items), self.size_in_bytes())
    }

    fn constructor(&self, _: u64) -> String {
        let (counters, hashes) = (literal(self.0.num_bits()), self.0.num_hashes());
        format!("builder().counters({counters}).hashes({hashes}).build()?")
    }

    fn params(&self) -> &dyn Any {
        &self.0
    }
}

impl Design for BlockedCountingParams {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        Self::new(items, rate)
    }

    fn for_memory(bytes: u64, _: u64) -> Result<Self, ParamError> {
        Self::from_lines(bytes / 64)
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

    fn constructor(&self, _: u64) -> String {
        format!("builder().lines({}).build()?", literal(self.num_lines()))
    }
}

#[cfg(feature = "counting")]
mod dynamic {
    use pds_core::bytes::Header;

    use super::{BlockedCountingParams, BloomParams};
    use crate::bytes::Kind;
    use crate::counting::{Bits4, Bits8};
    use crate::dynamic::filter_kind;
    use crate::{BlockedCountingBloomFilter, CountingBloomFilter, Estimate};

    /// Returns whether the counters have 8 bits. The third number of the shape is their width.
    fn has_wide_counters(header: &Header) -> bool {
        header.shape.as_slice().get(2) == Some(&8)
    }

    filter_kind! {
        CountingBloomFilter with Bits4 of BloomParams, COUNTING_BLOOM,
        {
            fn approx_len(&self) -> Option<Estimate> {
                Some(self.approx_len())
            }
        }
        {
            const NAME: &str = super::COUNTING_BLOOM.name;

            fn is_in(header: &Header) -> bool {
                header.kind == Kind::COUNTING_BLOOM && !has_wide_counters(header)
            }

            fn try_remove(&mut self, hash: u64) -> Option<bool> {
                Some(self.remove_hash(hash))
            }
        }
    }

    filter_kind! {
        CountingBloomFilter with Bits8 of BloomParams, COUNTING_BLOOM,
        {
            fn approx_len(&self) -> Option<Estimate> {
                Some(self.approx_len())
            }
        }
        {
            const NAME: &str = "counting Bloom filter with counters of 8 bits";

            fn is_in(header: &Header) -> bool {
                header.kind == Kind::COUNTING_BLOOM && has_wide_counters(header)
            }

            fn try_remove(&mut self, hash: u64) -> Option<bool> {
                Some(self.remove_hash(hash))
            }
        }
    }

    filter_kind! {
        BlockedCountingBloomFilter of BlockedCountingParams, BLOCKED_COUNTING_BLOOM,
        {
            fn approx_len(&self) -> Option<Estimate> {
                None
            }
        }
        {
            const NAME: &str = super::BLOCKED_COUNTING_BLOOM.name;

            fn try_remove(&mut self, hash: u64) -> Option<bool> {
                Some(self.remove_hash(hash))
            }
        }
    }
}
