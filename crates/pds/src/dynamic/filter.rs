use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::hash::{Hash, Hasher};
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, FromEnvelope, Header, OpenEnvelope, Sink, ToEnvelope};
use pds_core::hash::PublicSeed;
use pds_core::internal::{DecodeFault, answer_keys, check_lengths};

use super::kinds::OwnedFilter;
use super::{FilterKind, FilterVisitor};
use crate::Estimate;
use crate::bytes::Kind;
use crate::compare::Candidate;
#[cfg(feature = "std")]
use crate::error::ReadError;
use crate::error::{AllocError, DecodeError, InsertError, MergeError};
use crate::hash::{DefaultHashBuilder, KeyHasher, PortableHasher};
use crate::registry::{feature_that_is_off, visit_filters};
use crate::traits::{Insert, Membership};

/// A membership filter whose kind is known at run time, from its stored bytes or from a setting.
///
/// Use it if files come from elsewhere, or if the kind of a filter is a setting that may change while old files remain.
/// If the kind is known, use its own type: it has more methods. [`downcast_ref`](Self::downcast_ref) and
/// [`downcast`](Self::downcast) return it.
///
/// [`ByteOptions`] writes and reads it as any filter.
///
/// The kinds are: Bloom, blocked Bloom, scalable Bloom (with standard or blocked layers), counting Bloom (of both widths),
/// blocked counting Bloom, cuckoo, quotient, counting quotient, ribbon and binary fuse filters. It holds no layered,
/// window or timed filter, no bank of filters, and no split-block filter, whose bytes have no header.
///
/// # Guarantees
/// - The answers and the bytes are those of the filter inside.
/// - Another structure (a sketch), a kind whose feature is off, another hasher and damaged bytes are typed errors, not
///   panics.
/// - Cost: one indirect call per call or batch.
///
/// # Examples
#[cfg_attr(all(feature = "bloom", feature = "cuckoo"), doc = "```")]
#[cfg_attr(not(all(feature = "bloom", feature = "cuckoo")), doc = "```ignore")]
/// use pds::{BloomFilter, CuckooFilter, DynFilter};
///
/// let mut filters: Vec<DynFilter> =
///     vec![BloomFilter::new(1_000, 0.01)?.into(), CuckooFilter::new(1_000, 0.01)?.into()];
/// for filter in &mut filters {
///     filter.insert("here")?;
///     let read = DynFilter::from_bytes(&filter.to_bytes())?;
///     assert!(read.contains("here") && !read.contains("there"));
///     assert_eq!(read.expected_items(), Some(1_000));
/// }
///
/// assert_eq!(filters[0].remove("here"), None, "no key can be removed from a Bloom filter");
/// assert_eq!(filters[1].remove("here"), Some(true));
///
/// // The kind's own type has what only it can do.
/// let cuckoo: &CuckooFilter = filters[1].downcast_ref().expect("a cuckoo filter");
/// assert!(cuckoo.is_empty());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct DynFilter<S = DefaultHashBuilder> {
    filter: Box<dyn OwnedFilter<S>>,
    /// The hasher of the filter. It is kept here so that a key is hashed without an indirect call.
    // Nobody gets a mutable reference to the filter: another one of its type may have another hasher.
    hasher: S,
}

/// Number of hashes that are on the stack at once.
pub(super) const CHUNK: usize = 256;

impl DynFilter {
    /// Reads portable bytes that hold a filter of any kind and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset: [`Kind`](pds_core::error::DecodeErrorKind::Kind) if the bytes hold no
    /// filter, or one whose feature is off.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one filter from a stream. Leaves what follows it in the reader.
    ///
    /// Reads at most 1 GiB. For another limit use [`ByteOptions`].
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        ByteOptions::new().read_from(reader)
    }
}

impl<S: PublicSeed + Clone + Send + Sync + 'static> DynFilter<S> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`].
    ///
    /// # Complexity
    /// O(size); allocates the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Writes the portable bytes, 16 KiB at a time.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        ByteOptions::new().write_to(self, writer)
    }
}

impl<S: PortableHasher + Clone + Send + Sync + 'static> DynFilter<S> {
    /// Holds a filter of one kind. `From` is the public form.
    pub(crate) fn of<F: FilterKind<S>>(filter: F) -> Self {
        Self { hasher: filter.hasher().clone(), filter: Box::new(filter) }
    }

    /// Builds the filter of a candidate, if its kind is among those of this type.
    pub(crate) fn of_candidate(
        candidate: &Candidate,
        hasher: S,
    ) -> Option<Result<Self, AllocError>> {
        visit_filters(&mut Build { candidate, hasher: Some(hasher) })
    }
}

struct Build<'a, S> {
    candidate: &'a Candidate,
    hasher: Option<S>,
}

impl<S: PortableHasher + Clone + Send + Sync + 'static> FilterVisitor<S> for Build<'_, S> {
    type Output = Result<DynFilter<S>, AllocError>;

    fn visit<F: FilterKind<S>>(&mut self) -> Option<Self::Output> {
        if self.candidate.structure().kind != Some(F::KIND) {
            return None;
        }
        let built = F::from_params(self.candidate.any_params(), self.hasher.take()?)?;
        Some(built.map(DynFilter::of))
    }
}

impl<S: KeyHasher + 'static> DynFilter<S> {
    /// Returns the kind of the filter.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.filter.kind()
    }

    /// Returns a reference to the filter in its own type, if it is an `F`.
    #[must_use]
    pub fn downcast_ref<F: Any>(&self) -> Option<&F> {
        (&*self.filter as &dyn Any).downcast_ref()
    }

    /// Returns the filter as its own type. To change it by a method of that type, put it back with `DynFilter::from`.
    ///
    /// # Errors
    /// The unchanged filter, if it is not an `F`.
    #[expect(clippy::missing_panics_doc, reason = "the type is asked for before")]
    pub fn downcast<F: Any>(self) -> Result<F, Self> {
        if self.downcast_ref::<F>().is_none() {
            return Err(self);
        }
        let filter: Box<dyn Any> = self.filter;
        Ok(*filter.downcast().expect("a type that was asked for above"))
    }

    /// Tests by its hash whether a key may be in the set. `false` is certain.
    ///
    /// See [`KeyHasher`](crate::hash::KeyHasher) for the hash.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.filter.contains_hash(hash)
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        self.filter.contains_hash_batch(hashes, out);
    }

    /// Inserts a key by its hash. Returns `true` if it was not contained before.
    ///
    /// See [`KeyHasher`](crate::hash::KeyHasher) for the hash.
    ///
    /// # Errors
    /// Nothing is changed then.
    /// - [`InsertError::Full`]: the filter has no free slot for the key.
    /// - [`InsertError::Static`]: the filter is built from all of its keys at once.
    /// - [`InsertError::Count`]: a counting quotient filter already has the greatest count of the key.
    /// - [`InsertError::Alloc`]: the allocator refuses the memory of a filter that grows.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.filter.insert_hash(hash)
    }

    /// Removes one copy of a key by its hash. Returns `false`, and changes nothing, if the key is certainly absent.
    ///
    /// See [`KeyHasher`](crate::hash::KeyHasher) for the hash.
    ///
    /// Returns `None` if no key can be removed from a filter of this kind.
    pub fn remove_hash(&mut self, hash: u64) -> Option<bool> {
        self.filter.try_remove(hash)
    }

    /// Removes all keys, and keeps the size. Returns `false`, and changes nothing, if the filter is built from all of its
    /// keys at once.
    ///
    /// # Complexity
    /// O(size).
    pub fn clear(&mut self) -> bool {
        self.filter.clear()
    }

    /// Adds the keys of another filter of the same kind and shape.
    ///
    /// Returns `None`, and changes nothing, if filters of this kind are built from all of their keys at once.
    ///
    /// # Errors
    /// [`MergeError`] if kind, shape or hasher differ, or if both do not fit into one. Nothing is changed then.
    ///
    /// # Complexity
    /// O(size).
    ///
    /// # Examples
    #[cfg_attr(feature = "bloom", doc = "```")]
    #[cfg_attr(not(feature = "bloom"), doc = "```ignore")]
    /// use pds::{BloomFilter, DynFilter};
    ///
    /// let mut monday: DynFilter = BloomFilter::new(1_000, 0.01)?.into();
    /// let mut tuesday = monday.clone();
    /// tuesday.insert("late")?;
    /// monday.merge(&tuesday).expect("Bloom filters merge")?;
    /// assert!(monday.contains("late"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Option<Result<(), MergeError>> {
        self.filter.merge(&*other.filter)
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the number of distinct items that the filter was designed for. `None` if it was sized by hand.
    #[must_use]
    pub fn expected_items(&self) -> Option<u64> {
        self.filter.expected_items()
    }

    /// Returns the false-positive rate promised at the expected items. `None` if the filter was sized by hand.
    #[must_use]
    pub fn promised_rate(&self) -> Option<f64> {
        self.filter.promised_rate()
    }

    /// Returns the size of the payload in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.filter.size_in_bytes()
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// # Complexity
    /// O(size), constant for a cuckoo filter and a quotient filter.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    /// Estimates the number of items, with its standard error. `None` for a blocked counting filter, which cannot
    /// estimate it.
    ///
    /// A cuckoo filter and a quotient filter count their items, with copies, so that the error is 0. A counting quotient
    /// filter counts its distinct ones.
    ///
    /// # Complexity
    /// O(size), constant for a cuckoo filter and a quotient filter.
    #[must_use]
    pub fn approx_len(&self) -> Option<Estimate> {
        self.filter.approx_len()
    }

    /// Compares the number of items with the expected one, and the current rate with the promised one. `None` for the
    /// kinds without such a report: all but the Bloom, blocked Bloom and scalable Bloom filter.
    ///
    /// # Complexity
    /// O(size).
    #[cfg(any(feature = "bloom", feature = "blocked"))]
    #[must_use]
    pub fn health(&self) -> Option<crate::Health> {
        self.filter.health()
    }

    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// That of the filter, plus one indirect call.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        answer_keys::<CHUNK, K, bool>(&self.hasher, keys, out, |hashes, out| {
            self.contains_hash_batch(hashes, out);
        });
    }

    /// Inserts `key`. Returns `true` if it was not contained before.
    ///
    /// # Errors
    /// Nothing is changed then.
    /// - [`InsertError::Full`]: the filter has no free slot for the key.
    /// - [`InsertError::Static`]: the filter is built from all of its keys at once.
    /// - [`InsertError::Count`]: a counting quotient filter already has the greatest count of the key.
    /// - [`InsertError::Alloc`]: the allocator refuses the memory of a filter that grows.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent.
    ///
    /// Returns `None` if no key can be removed from a filter of this kind.
    pub fn remove<K: Hash + ?Sized>(&mut self, key: &K) -> Option<bool> {
        self.remove_hash(self.hasher.hash_key(key))
    }
}

impl<S: KeyHasher + 'static> KeyHasher for DynFilter<S> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher + 'static> Membership for DynFilter<S> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S: KeyHasher + 'static> Insert for DynFilter<S> {
    type Error = InsertError;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.insert_hash(hash)
    }
}

impl<S: Clone + 'static> Clone for DynFilter<S> {
    fn clone(&self) -> Self {
        Self { filter: self.filter.boxed(), hasher: self.hasher.clone() }
    }
}

impl<S> fmt::Debug for DynFilter<S> {
    /// Writes the filter inside, whose type shows the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filter.fmt(f)
    }
}

/// Decodes the kind that the header states.
impl<S: PortableHasher + Clone + Send + Sync + 'static> FromEnvelope for DynFilter<S> {
    type Hasher = S;

    fn from_envelope<E: OpenEnvelope>(envelope: E, hasher: Option<S>) -> Result<Self, E::Error> {
        let header = *envelope.header();
        let read = visit_filters(&mut Decode { envelope: Some(envelope), hasher });
        read.unwrap_or_else(|| Err(not_a_filter(&header).into()))
    }
}

struct Decode<E, S> {
    envelope: Option<E>,
    hasher: Option<S>,
}

impl<E: OpenEnvelope, S: PortableHasher + Clone + Send + Sync + 'static> FilterVisitor<S>
    for Decode<E, S>
{
    type Output = Result<DynFilter<S>, E::Error>;

    fn visit<F: FilterKind<S>>(&mut self) -> Option<Self::Output> {
        let envelope = self.envelope.take_if(|envelope| F::is_in(envelope.header()))?;
        Some(envelope.into_structure::<F>(self.hasher.take()).map(DynFilter::of))
    }
}

/// Returns the error for bytes that hold another structure, or one whose feature is off.
pub(super) fn not_a_filter(header: &Header) -> DecodeError {
    let held = "a membership filter (Bloom, blocked Bloom, scalable Bloom, counting Bloom, blocked counting Bloom, \
                cuckoo, quotient, counting quotient, ribbon or binary fuse)";
    let allowed = feature_that_is_off(header.kind, "filter").unwrap_or(held);
    DecodeError(DecodeFault::OtherKind {
        offset: header.kind_offset(),
        found: header.kind,
        allowed,
    })
}

/// Writes the envelope of the filter inside.
impl<S: PortableHasher + Clone + Send + Sync + 'static> ToEnvelope for DynFilter<S> {
    type Hasher = S;

    fn envelope_bytes(&self) -> u64 {
        self.filter.envelope_bytes()
    }

    fn put_in<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        visit_filters(&mut Put { filter: self, sink }).expect("a filter of a registered kind")
    }
}

struct Put<'a, W, S> {
    filter: &'a DynFilter<S>,
    sink: &'a mut W,
}

impl<W: Sink, S: PortableHasher + 'static> FilterVisitor<S> for Put<'_, W, S> {
    type Output = Result<(), W::Error>;

    fn visit<F: FilterKind<S>>(&mut self) -> Option<Self::Output> {
        self.filter.downcast_ref::<F>().map(|filter| self.sink.put_envelope(filter))
    }
}
