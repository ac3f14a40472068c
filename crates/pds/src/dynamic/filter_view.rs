use alloc::boxed::Box;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::internal::{answer_keys, check_lengths};

use super::filter::{CHUNK, not_a_filter};
use super::{DynFilter, FilterKind, FilterVisitor, ViewFilter};
use crate::Estimate;
use crate::bytes::Kind;
use crate::error::DecodeError;
use crate::hash::{DefaultHashBuilder, KeyHasher, PortableHasher};
use crate::registry::visit_filters;
use crate::traits::Membership;

/// A [`DynFilter`] that answers from its portable bytes, without a copy.
///
/// The source is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns its source, so
/// a program can keep views of different sources in one collection. A view of owned bytes is a
/// `DynFilterView<'static>`.
///
/// [`open`](Self::open) checks the head and the length in constant time. Call [`verify`](Self::verify) to check the
/// payload too. The bytes may start at any address.
///
/// # Guarantees
/// - The answers are those of the filter that wrote the bytes. Errors are those of [`DynFilter`].
/// - If the payload is damaged and was not verified, answers may be wrong in both directions. No query panics, and
///   none reads outside the bytes.
/// - Do not truncate a file while it is mapped: the system then ends the process on access (`SIGBUS`). Replace files by
///   renaming, as [`ByteOptions::save`] does.
/// - Cost: one indirect call per call or batch.
///
/// # Examples
#[cfg_attr(all(feature = "bloom", feature = "cuckoo"), doc = "```")]
#[cfg_attr(not(all(feature = "bloom", feature = "cuckoo")), doc = "```ignore")]
/// use std::sync::Arc;
/// use pds::bytes::Kind;
/// use pds::{BloomFilter, CuckooFilter, DynFilterView};
///
/// let mut bloom = BloomFilter::new(1_000, 0.01)?;
/// bloom.insert("stored");
/// let mut cuckoo = CuckooFilter::new(1_000, 0.01)?;
/// cuckoo.insert("stored")?;
///
/// let shared: Arc<[u8]> = cuckoo.to_bytes().into();
/// let views: Vec<DynFilterView<'static>> =
///     vec![DynFilterView::open(bloom.to_bytes())?, DynFilterView::open(shared)?];
/// for (view, kind) in views.iter().zip([Kind::BLOOM, Kind::CUCKOO]) {
///     view.verify()?;
///     assert_eq!(view.kind(), kind);
///     assert!(view.contains("stored") && !view.contains("absent"));
///     assert!(view.to_filter()?.contains("stored"));
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct DynFilterView<'a, S = DefaultHashBuilder> {
    view: Box<dyn ViewFilter<S> + 'a>,
}

impl<'a> DynFilterView<'a> {
    /// Opens portable bytes that hold a filter of any kind and nothing else.
    ///
    /// For a hasher with a secret key use [`ByteOptions::open`].
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset: [`Kind`](pds_core::error::DecodeErrorKind::Kind) if the bytes hold no
    /// filter, or one whose feature is off.
    ///
    /// # Complexity
    /// Constant.
    pub fn open<B: AsRef<[u8]> + Send + Sync + 'a>(bytes: B) -> Result<Self, DecodeError> {
        ByteOptions::new().open(bytes)
    }
}

impl<S: KeyHasher> DynFilterView<'_, S> {
    /// Verifies the payload: its checksum, and everything else that the kind can check.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        self.view.verify()
    }

    /// Verifies the bytes and copies the filter out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_filter(&self) -> Result<DynFilter<S>, DecodeError> {
        self.view.to_filter()
    }

    /// Returns the kind of the filter.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.view.kind()
    }

    /// Tests by its hash whether a key may be in the set. `false` is certain.
    ///
    /// See [`KeyHasher`](crate::hash::KeyHasher) for the hash.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.view.contains_hash(hash)
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        self.view.contains_hash_batch(hashes, out);
    }

    /// Returns the hasher.
    #[must_use]
    pub fn hasher(&self) -> &S {
        self.view.hasher()
    }

    /// Returns the number of distinct items that the filter was designed for. `None` if it was sized by hand.
    #[must_use]
    pub fn expected_items(&self) -> Option<u64> {
        self.view.expected_items()
    }

    /// Returns the false-positive rate promised at the expected items. `None` if the filter was sized by hand.
    #[must_use]
    pub fn promised_rate(&self) -> Option<f64> {
        self.view.promised_rate()
    }

    /// Returns the size of the payload in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.view.size_in_bytes()
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// # Complexity
    /// O(size), constant for a cuckoo filter and a quotient filter.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.view.false_positive_rate()
    }

    /// Estimates the number of items, as [`DynFilter::approx_len`] does.
    ///
    /// # Complexity
    /// O(size), constant for a cuckoo filter and a quotient filter.
    #[must_use]
    pub fn approx_len(&self) -> Option<Estimate> {
        self.view.approx_len()
    }

    /// Compares the items with the expected ones, as [`DynFilter::health`] does.
    ///
    /// # Complexity
    /// O(size).
    #[cfg(any(feature = "bloom", feature = "blocked"))]
    #[must_use]
    pub fn health(&self) -> Option<crate::Health> {
        self.view.health()
    }

    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// That of the filter, plus two indirect calls.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher().hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        answer_keys::<CHUNK, K, bool>(self.hasher(), keys, out, |hashes, out| {
            self.contains_hash_batch(hashes, out);
        });
    }
}

impl<S: KeyHasher> KeyHasher for DynFilterView<'_, S> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher().hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher().hash_key_dyn(feed)
    }
}

impl<S: KeyHasher> Membership for DynFilterView<'_, S> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S> fmt::Debug for DynFilterView<'_, S> {
    /// Writes the view inside, whose type shows the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view.fmt(f)
    }
}

/// Opens the kind that the header states.
impl<'a, S, B> OpenView<B> for DynFilterView<'a, S>
where
    S: PortableHasher + Clone + Send + Sync + 'static,
    B: AsRef<[u8]> + Send + Sync + 'a,
{
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let header = *envelope.header();
        let view =
            visit_filters(&mut Open { envelope: Some(envelope), hasher, bytes: PhantomData });
        view.unwrap_or_else(|| Err(not_a_filter(&header))).map(|view| Self { view })
    }
}

struct Open<'a, S, B> {
    envelope: Option<Envelope<B>>,
    hasher: Option<S>,
    /// The lifetime of the bytes.
    bytes: PhantomData<&'a ()>,
}

impl<'a, S, B> FilterVisitor<S> for Open<'a, S, B>
where
    S: PortableHasher,
    B: AsRef<[u8]> + Send + Sync + 'a,
{
    type Output = Result<Box<dyn ViewFilter<S> + 'a>, DecodeError>;

    fn visit<F: FilterKind<S>>(&mut self) -> Option<Self::Output> {
        let envelope = self.envelope.take_if(|envelope| F::is_in(envelope.header()))?;
        Some(F::open_view(envelope, self.hasher.take()))
    }
}
