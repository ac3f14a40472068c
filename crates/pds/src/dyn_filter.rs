//! A filter of whatever kind its bytes say.

mod open;

use core::fmt;
use core::hash::{BuildHasher, Hash};

use pds_core::Kind;

#[cfg(any(feature = "bloom", feature = "blocked"))]
use crate::Health;
#[cfg(feature = "counting")]
use crate::counting::Bits8;
use crate::{DefaultHashBuilder, Estimate, HashKey, Membership};

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

/// Asks the filter inside, whatever it is.
macro_rules! each {
    ($self:expr, $filter:ident => $answer:expr) => {
        match $self {
            #[cfg(feature = "bloom")]
            Self::Bloom($filter) => $answer,
            #[cfg(feature = "blocked")]
            Self::BlockedBloom($filter) => $answer,
            #[cfg(feature = "counting")]
            Self::CountingBloom($filter) => $answer,
            #[cfg(feature = "counting")]
            Self::WideCountingBloom($filter) => $answer,
            #[cfg(feature = "counting")]
            Self::BlockedCountingBloom($filter) => $answer,
            #[cfg(feature = "cuckoo")]
            Self::Cuckoo($filter) => $answer,
        }
    };
}

impl<S> DynFilter<S> {
    /// Returns the kind of the filter.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            #[cfg(feature = "bloom")]
            Self::Bloom(_) => Kind::Bloom,
            #[cfg(feature = "blocked")]
            Self::BlockedBloom(_) => Kind::BlockedBloom,
            #[cfg(feature = "counting")]
            Self::CountingBloom(_) | Self::WideCountingBloom(_) => Kind::CountingBloom,
            #[cfg(feature = "counting")]
            Self::BlockedCountingBloom(_) => Kind::BlockedCountingBloom,
            #[cfg(feature = "cuckoo")]
            Self::Cuckoo(_) => Kind::Cuckoo,
        }
    }

    /// Tests whether a key with this hash is possibly contained; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        each!(self, filter => filter.contains_hash(hash))
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        each!(self, filter => filter.contains_hash_batch(hashes, out));
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        each!(self, filter => filter.hasher())
    }

    /// Returns the number of items that the filter was designed for, if it was.
    #[must_use]
    pub fn expected_items(&self) -> Option<u64> {
        each!(self, filter => filter.expected_items())
    }

    /// Returns the false-positive rate promised at the expected items, if one was.
    #[must_use]
    pub fn promised_rate(&self) -> Option<f64> {
        each!(self, filter => filter.promised_rate())
    }

    /// Returns the size of the payload in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        each!(self, filter => filter.size_in_bytes())
    }

    /// Returns the fraction of absent keys that are answered `true` now, in [0, 1].
    ///
    /// # Complexity
    /// O(size); constant for a cuckoo filter.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        each!(self, filter => filter.false_positive_rate())
    }

    /// Estimates the number of items, with its standard error; none for a blocked counting filter, which cannot tell.
    ///
    /// A cuckoo filter counts its items, copies too, and has no error.
    ///
    /// # Complexity
    /// O(size); constant for a cuckoo filter.
    #[must_use]
    pub fn approx_len(&self) -> Option<Estimate> {
        match self {
            #[cfg(feature = "bloom")]
            Self::Bloom(filter) => Some(filter.approx_len()),
            #[cfg(feature = "blocked")]
            Self::BlockedBloom(filter) => Some(filter.approx_len()),
            #[cfg(feature = "counting")]
            Self::CountingBloom(filter) => Some(filter.approx_len()),
            #[cfg(feature = "counting")]
            Self::WideCountingBloom(filter) => Some(filter.approx_len()),
            #[cfg(feature = "counting")]
            Self::BlockedCountingBloom(_) => None,
            #[cfg(feature = "cuckoo")]
            Self::Cuckoo(filter) => {
                Some(Estimate { value: filter.len() as f64, standard_error: 0.0 })
            }
        }
    }
    /// Reports the items against the expected ones and the present rate against the promised one; none for the kinds
    /// that have no such report: counting and cuckoo filters.
    ///
    /// # Complexity
    /// O(size).
    #[cfg(any(feature = "bloom", feature = "blocked"))]
    #[must_use]
    pub fn health(&self) -> Option<Health> {
        match self {
            #[cfg(feature = "bloom")]
            Self::Bloom(filter) => Some(filter.health()),
            #[cfg(feature = "blocked")]
            Self::BlockedBloom(filter) => Some(filter.health()),
            #[cfg(any(feature = "counting", feature = "cuckoo"))]
            _ => None,
        }
    }
}

impl<S: BuildHasher> DynFilter<S> {
    /// Tests whether `key` is possibly contained; `false` is certain.
    ///
    /// # Complexity
    /// That of the filter, and one branch.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher().hash_one(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        each!(self, filter => filter.contains_batch(keys, out));
    }
}

impl<S: BuildHasher> HashKey for DynFilter<S> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher().hash_one(key)
    }
}

impl<S: BuildHasher> Membership for DynFilter<S> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S> fmt::Debug for DynFilter<S> {
    /// Writes the filter inside, whose type tells the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        each!(self, filter => filter.fmt(f))
    }
}
