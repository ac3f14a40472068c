//! The counting Bloom filters.

use alloc::format;
use alloc::string::String;
use core::any::Any;

use super::Structure;
use super::bloom::double_hashed_rate;
use crate::Kind;
use crate::compare::{Abilities, Ability, Design, LinesRead, MembershipSizing, Promise, literal};
use crate::params::bloom::HASH_COLLISION;
use crate::params::{BlockedCountingParams, BloomParams, ParamError};

/// The counting filter with counters of eight bits.
#[cfg(feature = "counting")]
pub(crate) type Wide<S> = crate::CountingBloomFilter<S, crate::counting::Bits8>;

const ABILITIES: Abilities = Abilities {
    remove: Ability::Yes,
    merge: Ability::Yes,
    count: Ability::Limited,
    grow: Ability::Limited,
};

const CAUTION: &str = "It counts up to 15; never remove a key that was not inserted.";

/// The Bloom filter with 4-bit counters in the place of bits.
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
    use alloc::boxed::Box;
    use core::fmt;
    use core::hash::Hasher;

    use pds_core::bytes::{Envelope, Header, OpenView};

    use super::{BlockedCountingParams, BloomParams, Wide};
    use crate::counting::Bits8;
    use crate::dynamic::{FilterKind, ReadFilter, ViewFilter};
    use crate::{
        AllocError, BlockedCountingBloomFilter, BlockedCountingBloomFilterView,
        CountingBloomFilter, CountingBloomFilterView, DecodeError, DynFilter, Estimate, KeyHasher,
        Kind, Membership, PortableHasher,
    };

    /// Gives a counting filter what all filters do. Its view borrows bytes, so that one which owns them, `$owner`, opens it
    /// anew for each call, in constant time.
    macro_rules! counting_kind {
        ($filter:ty, $params:ty, $view:ty, $owner:ident, $kind:ident, $approx_len:expr, $is_in:expr) => {
            impl<S: KeyHasher + Send + Sync> ReadFilter<S> for $filter {
                fn kind(&self) -> Kind {
                    Kind::$kind
                }

                fn hasher(&self) -> &S {
                    self.hasher()
                }

                fn expected_items(&self) -> Option<u64> {
                    self.expected_items()
                }

                fn promised_rate(&self) -> Option<f64> {
                    self.promised_rate()
                }

                fn size_in_bytes(&self) -> u64 {
                    self.size_in_bytes()
                }

                fn false_positive_rate(&self) -> f64 {
                    self.false_positive_rate()
                }

                fn approx_len(&self) -> Option<Estimate> {
                    let approx_len: fn(&Self) -> Option<Estimate> = $approx_len;
                    approx_len(self)
                }
            }

            struct $owner<B, S> {
                envelope: Envelope<B>,
                hasher: S,
            }

            impl<B: AsRef<[u8]>, S: PortableHasher + Clone> $owner<B, S> {
                fn ask<T>(&self, question: impl FnOnce(&$view) -> T) -> T {
                    let view =
                        OpenView::open_view(self.envelope.borrowed(), Some(self.hasher.clone()));
                    question(&view.expect("a header that was accepted before"))
                }
            }

            impl<B: AsRef<[u8]>, S: PortableHasher> KeyHasher for $owner<B, S> {
                fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
                    self.hasher.hash_key_dyn(feed)
                }
            }

            impl<B: AsRef<[u8]>, S: PortableHasher + Clone> Membership for $owner<B, S> {
                fn contains_hash(&self, hash: u64) -> bool {
                    self.ask(|view| view.contains_hash(hash))
                }

                fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                    self.ask(|view| view.contains_hash_batch(hashes, out));
                }
            }

            impl<B: AsRef<[u8]>, S: PortableHasher + Clone> fmt::Debug for $owner<B, S> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.ask(|view| view.fmt(f))
                }
            }

            impl<B, S> ReadFilter<S> for $owner<B, S>
            where
                B: AsRef<[u8]> + Send + Sync,
                S: PortableHasher + Clone + Send + Sync,
            {
                fn kind(&self) -> Kind {
                    Kind::$kind
                }

                fn hasher(&self) -> &S {
                    &self.hasher
                }

                fn expected_items(&self) -> Option<u64> {
                    self.ask(|view| view.expected_items())
                }

                fn promised_rate(&self) -> Option<f64> {
                    self.ask(|view| view.promised_rate())
                }

                fn size_in_bytes(&self) -> u64 {
                    self.ask(|view| view.size_in_bytes())
                }

                fn false_positive_rate(&self) -> f64 {
                    self.ask(|view| view.false_positive_rate())
                }

                fn approx_len(&self) -> Option<Estimate> {
                    let approx_len: fn(&$view) -> Option<Estimate> = $approx_len;
                    self.ask(approx_len)
                }
            }

            impl<B, S> ViewFilter<S> for $owner<B, S>
            where
                B: AsRef<[u8]> + Send + Sync,
                S: PortableHasher + Clone + Send + Sync + 'static,
            {
                fn verify(&self) -> Result<(), DecodeError> {
                    self.ask(|view| view.verify())
                }

                fn to_filter(&self) -> Result<DynFilter<S>, DecodeError> {
                    self.ask(|view| view.to_filter()).map(DynFilter::of)
                }
            }

            impl<S: PortableHasher + Clone + Send + Sync + 'static> FilterKind<S> for $filter {
                type Params = $params;

                fn from_params(params: $params, hasher: S) -> Result<Self, AllocError> {
                    Self::from_params(params, hasher)
                }

                fn is_in(header: &Header) -> bool {
                    let is_in: fn(&Header) -> bool = $is_in;
                    header.kind == Kind::$kind && is_in(header)
                }

                fn try_remove(&mut self, hash: u64) -> Option<bool> {
                    Some(self.remove_hash(hash))
                }

                fn open_view<'a, B: AsRef<[u8]> + Send + Sync + 'a>(
                    envelope: Envelope<B>,
                    hasher: Option<S>,
                ) -> Result<Box<dyn ViewFilter<S> + 'a>, DecodeError> {
                    let hasher = {
                        let view: $view = OpenView::open_view(envelope.borrowed(), hasher)?;
                        view.hasher().clone()
                    };
                    Ok(Box::new($owner { envelope, hasher }))
                }
            }
        };
    }

    /// Whether the counters have 8 bits: the third number of the shape is their width.
    fn has_wide_counters(header: &Header) -> bool {
        header.shape.as_slice().get(2) == Some(&8)
    }

    counting_kind!(
        CountingBloomFilter<S>,
        BloomParams,
        CountingBloomFilterView<'_, S>,
        CountingView,
        COUNTING_BLOOM,
        |filter| Some(filter.approx_len()),
        |header| !has_wide_counters(header)
    );
    counting_kind!(
        Wide<S>,
        BloomParams,
        CountingBloomFilterView<'_, S, Bits8>,
        WideView,
        COUNTING_BLOOM,
        |filter| Some(filter.approx_len()),
        has_wide_counters
    );
    counting_kind!(
        BlockedCountingBloomFilter<S>,
        BlockedCountingParams,
        BlockedCountingBloomFilterView<'_, S>,
        BlockedView,
        BLOCKED_COUNTING_BLOOM,
        |_| None,
        |_| true
    );
}
