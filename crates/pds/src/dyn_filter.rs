//! A filter of whatever kind its bytes say.

mod open;
mod reading;
mod view;

use crate::DefaultHashBuilder;
#[cfg(feature = "counting")]
use crate::counting::Bits8;
use reading::{each, reading_methods};

pub use view::DynFilterView;

/// A membership filter whose kind its stored bytes tell: opened by their header, asked like any other.
///
/// Choose it where files come from elsewhere, or where the kind of a filter is a setting that may change while old
/// files live on. Where the kind is known, its own type says more and costs no branch a question; a `match` gets at it.
///
/// Parquet's split-block filter is not among the kinds: its bytes have no header.
///
/// # Guarantees
/// - Answers: those of the filter that wrote the bytes, for any bytes that are accepted.
/// - Another structure (a sketch), a kind whose feature is off, another hasher and damaged bytes are errors that say
///   so; never a panic.
/// - Cost: one branch a call, or a batch.
///
/// # Examples
#[cfg_attr(all(feature = "bloom", feature = "cuckoo"), doc = "```")]
#[cfg_attr(not(all(feature = "bloom", feature = "cuckoo")), doc = "```ignore")]
/// use pds::{BloomFilter, CuckooFilter, DynFilter};
///
/// let mut bloom = BloomFilter::new(1_000, 0.01)?;
/// bloom.insert("here");
/// let mut cuckoo = CuckooFilter::new(1_000, 0.01)?;
/// cuckoo.insert("here")?;
///
/// for bytes in [bloom.to_bytes(), cuckoo.to_bytes()] {
///     let filter = DynFilter::from_bytes(&bytes)?;
///     assert!(filter.contains("here") && !filter.contains("there"));
///     assert_eq!(filter.expected_items(), Some(1_000));
/// }
///
/// // The kind's own type has what only it can do.
/// if let DynFilter::Cuckoo(mut cuckoo) = DynFilter::from_bytes(&cuckoo.to_bytes())? {
///     assert!(cuckoo.remove("here"));
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum DynFilter<S = DefaultHashBuilder> {
    /// A standard Bloom filter.
    #[cfg(feature = "bloom")]
    Bloom(crate::BloomFilter<S>),
    /// A blocked Bloom filter.
    #[cfg(feature = "blocked")]
    BlockedBloom(crate::BlockedBloomFilter<S>),
    /// A counting Bloom filter with counters of four bits.
    #[cfg(feature = "counting")]
    CountingBloom(crate::CountingBloomFilter<S>),
    /// A counting Bloom filter with counters of eight bits.
    #[cfg(feature = "counting")]
    WideCountingBloom(crate::CountingBloomFilter<S, Bits8>),
    /// A blocked counting Bloom filter.
    #[cfg(feature = "counting")]
    BlockedCountingBloom(crate::BlockedCountingBloomFilter<S>),
    /// A cuckoo filter.
    #[cfg(feature = "cuckoo")]
    Cuckoo(crate::CuckooFilter<S>),
}

reading_methods!([S] DynFilter<S>);
