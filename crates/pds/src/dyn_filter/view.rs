//! A filter of whatever kind its bytes say, asked without a copy of them.

use pds_core::Kind;
use pds_core::bytes::{ByteOptions, Envelope, OpenView};

use super::DynFilter;
use super::open::by_kind;
use super::reading::{each, reading_methods};
#[cfg(feature = "counting")]
use crate::counting::Bits8;
use crate::{DecodeError, DefaultHashBuilder, PortableHasher};

/// A [`DynFilter`] in borrowed bytes, such as a memory-mapped file: opened by their header, all questions, no copy.
///
/// Opening verifies the header and the length, in constant time; the payload is looked at only by
/// questions, and checked only by [`verify`](Self::verify). Bytes at any address will do.
///
/// # Guarantees
/// - The answers are those of the filter that wrote the bytes; what is refused, and why, is as with [`DynFilter`].
/// - From a payload that was damaged since and not verified: answers may be wrong, in both directions.
///   Never a panic, never a read outside the bytes.
/// - A mapped file must not be truncated while it is mapped: the system then ends the process on access
///   (`SIGBUS`), and no library can prevent it. Replace files by renaming, as [`ByteOptions::save`] does.
/// - Cost: one branch a call, or a batch.
///
/// # Examples
#[cfg_attr(all(feature = "bloom", feature = "cuckoo"), doc = "```")]
#[cfg_attr(not(all(feature = "bloom", feature = "cuckoo")), doc = "```ignore")]
/// use pds::{BloomFilter, CuckooFilter, DynFilterView, Kind};
///
/// let mut bloom = BloomFilter::new(1_000, 0.01)?;
/// bloom.insert("stored");
/// let mut cuckoo = CuckooFilter::new(1_000, 0.01)?;
/// cuckoo.insert("stored")?;
///
/// for (bytes, kind) in [(bloom.to_bytes(), Kind::BLOOM), (cuckoo.to_bytes(), Kind::CUCKOO)] {
///     let view = DynFilterView::open(&bytes)?;
///     view.verify()?;
///     assert_eq!(view.kind(), kind);
///     assert!(view.contains("stored") && !view.contains("absent"));
///     assert!(view.to_filter()?.contains("stored"));
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum DynFilterView<'a, S = DefaultHashBuilder> {
    /// A standard Bloom filter.
    #[cfg(feature = "bloom")]
    Bloom(crate::BloomFilterView<&'a [u8], S>),
    /// A blocked Bloom filter.
    #[cfg(feature = "blocked")]
    BlockedBloom(crate::BlockedBloomFilterView<&'a [u8], S>),
    /// A counting Bloom filter with counters of four bits.
    #[cfg(feature = "counting")]
    CountingBloom(crate::CountingBloomFilterView<'a, S>),
    /// A counting Bloom filter with counters of eight bits.
    #[cfg(feature = "counting")]
    WideCountingBloom(crate::CountingBloomFilterView<'a, S, Bits8>),
    /// A blocked counting Bloom filter.
    #[cfg(feature = "counting")]
    BlockedCountingBloom(crate::BlockedCountingBloomFilterView<'a, S>),
    /// A cuckoo filter.
    #[cfg(feature = "cuckoo")]
    Cuckoo(crate::CuckooFilterView<&'a [u8], S>),
}

impl<'a> DynFilterView<'a> {
    /// Opens portable bytes that hold a filter of any kind and nothing else.
    ///
    /// For a hasher with a secret key use [`ByteOptions::open`].
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset: [`OtherKind`](DecodeError::OtherKind) if the bytes hold no
    /// filter, or one whose feature is off.
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().open(bytes)
    }
}

impl<'a, S: PortableHasher> DynFilterView<'a, S> {
    /// Verifies the payload: its checksum, and what else can be told to be wrong with it.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    ///
    /// # Complexity
    /// O(size): every byte is read.
    pub fn verify(&self) -> Result<(), DecodeError> {
        each!(self, view => view.verify())
    }

    /// Copies the filter out of the bytes, which are verified.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](DecodeError::Alloc) when memory is refused.
    pub fn to_filter(&self) -> Result<DynFilter<S>, DecodeError>
    where
        S: Clone,
    {
        match self {
            #[cfg(feature = "bloom")]
            Self::Bloom(view) => view.to_filter().map(DynFilter::Bloom),
            #[cfg(feature = "blocked")]
            Self::BlockedBloom(view) => view.to_filter().map(DynFilter::BlockedBloom),
            #[cfg(feature = "counting")]
            Self::CountingBloom(view) => view.to_filter().map(DynFilter::CountingBloom),
            #[cfg(feature = "counting")]
            Self::WideCountingBloom(view) => view.to_filter().map(DynFilter::WideCountingBloom),
            #[cfg(feature = "counting")]
            Self::BlockedCountingBloom(view) => {
                view.to_filter().map(DynFilter::BlockedCountingBloom)
            }
            #[cfg(feature = "cuckoo")]
            Self::Cuckoo(view) => view.to_filter().map(DynFilter::Cuckoo),
        }
    }
}

reading_methods!(['a, S] DynFilterView<'a, S>);

/// Opens what the header announces.
impl<'a, S: PortableHasher> OpenView<&'a [u8]> for DynFilterView<'a, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<&'a [u8]>, hasher: Option<S>) -> Result<Self, DecodeError> {
        by_kind!(*envelope.header(), Self, OpenView::open_view(envelope, hasher))
    }
}
