use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::hash::{Hash, Hasher};
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, FromEnvelope, Header, OpenEnvelope, Sink, ToEnvelope};
use pds_core::hash::PublicSeed;
use pds_core::internal::DecodeFault;

use super::kinds::OwnedSketch;
use super::{SketchKind, SketchVisitor};
use crate::bytes::Kind;
#[cfg(feature = "std")]
use crate::error::ReadError;
use crate::error::{DecodeError, Incompatible};
use crate::hash::{DefaultHashBuilder, KeyHasher, PortableHasher};
use crate::registry::{feature_that_is_off, visit_sketches};
use crate::traits::{Cardinality, Frequency};

/// A sketch whose kind is known at run time: count-min sketch, count sketch, `HyperLogLog` or `UltraLogLog`.
///
/// The first two count how often a key occurred ([`frequency`](Self::frequency)), the others count distinct keys
/// ([`cardinality`](Self::cardinality)). If the kind is known, use its own type: it has more methods.
/// [`downcast_ref`](Self::downcast_ref) and [`downcast`](Self::downcast) return it.
///
/// # Guarantees
/// - The answers and the bytes are those of the sketch inside.
/// - Another structure, a kind whose feature is off, another hasher and damaged bytes are typed errors, not panics.
/// - Cost: one indirect call per call.
///
/// # Examples
#[cfg_attr(all(feature = "cms", feature = "hll"), doc = "```")]
#[cfg_attr(not(all(feature = "cms", feature = "hll")), doc = "```ignore")]
/// use pds::{CountMinSketch, DynSketch, HyperLogLog};
///
/// let counts: CountMinSketch = CountMinSketch::new(0.01, 0.01)?;
/// let mut sketches: Vec<DynSketch> = vec![counts.into(), HyperLogLog::new(12)?.into()];
/// for sketch in &mut sketches {
///     (0..3).for_each(|_| sketch.insert("here"));
///     let other = DynSketch::from_bytes(&sketch.to_bytes())?;
///     sketch.merge(&other)?;
/// }
/// assert_eq!(sketches[0].frequency("here"), Some(6));
/// assert_eq!(sketches[1].cardinality().map(f64::round), Some(1.0));
/// assert_eq!((sketches[0].cardinality(), sketches[1].frequency("here")), (None, None));
///
/// let [one, other] = sketches.try_into().expect("two");
/// assert!(one.clone().merge(&other).is_err());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct DynSketch<S = DefaultHashBuilder> {
    sketch: Box<dyn OwnedSketch<S>>,
    /// The hasher of the sketch. It is kept here so that a key is hashed without an indirect call.
    // Nobody gets a mutable reference to the sketch: another one of its type may have another hasher.
    hasher: S,
}

impl DynSketch {
    /// Reads portable bytes that hold a sketch of any kind and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset: [`Kind`](pds_core::error::DecodeErrorKind::Kind) if the bytes hold no
    /// sketch, or one whose feature is off.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify. An `UltraLogLog` takes all of its registers, 256 KiB
    /// at the most.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one sketch from a stream. Leaves what follows it in the reader.
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

impl<S: PublicSeed + Clone + Send + Sync + 'static> DynSketch<S> {
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

impl<S: PortableHasher + Clone + 'static> DynSketch<S> {
    /// Holds a sketch of one kind. `From` is the public form.
    pub(crate) fn of<K: SketchKind<S>>(sketch: K) -> Self {
        Self { hasher: sketch.hasher().clone(), sketch: Box::new(sketch) }
    }
}

impl<S: KeyHasher + 'static> DynSketch<S> {
    /// Returns the kind of the sketch.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.sketch.kind()
    }

    /// Returns a reference to the sketch in its own type, if it is a `T`.
    #[must_use]
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        (&*self.sketch as &dyn Any).downcast_ref()
    }

    /// Returns the sketch as its own type. To change it by a method of that type, put it back with `DynSketch::from`.
    ///
    /// # Errors
    /// The unchanged sketch, if it is not a `T`.
    #[expect(clippy::missing_panics_doc, reason = "the type is asked for before")]
    pub fn downcast<T: Any>(self) -> Result<T, Self> {
        if self.downcast_ref::<T>().is_none() {
            return Err(self);
        }
        let sketch: Box<dyn Any> = self.sketch;
        Ok(*sketch.downcast().expect("a type that was asked for above"))
    }

    /// Inserts a key by its hash.
    ///
    /// See [`KeyHasher`](crate::hash::KeyHasher) for the hash.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.sketch.insert_hash(hash);
    }

    /// Estimates the number of distinct keys inserted. `None` if the sketch counts something else.
    #[must_use]
    pub fn cardinality(&self) -> Option<f64> {
        self.as_cardinality().map(Cardinality::estimate)
    }

    /// Returns the sketch as one that counts how often a key occurred, if it does.
    #[must_use]
    pub fn as_frequency(&self) -> Option<&dyn Frequency> {
        self.sketch.as_frequency()
    }

    /// Returns the sketch as one that counts distinct keys, if it does.
    #[must_use]
    pub fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        self.sketch.as_cardinality()
    }

    /// Adds the contents of another sketch of the same kind and shape.
    ///
    /// # Errors
    /// [`Incompatible`] if kind, shape or hasher differ. Nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.sketch.merge(&*other.sketch)
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the size of the sketch in memory, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.sketch.size_in_bytes()
    }

    /// Inserts `key`.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) {
        self.insert_hash(self.hasher.hash_key(key));
    }

    /// Estimates how often `key` was inserted, 0 if a count sketch estimates less. `None` if the sketch counts distinct
    /// keys.
    #[must_use]
    pub fn frequency<K: Hash + ?Sized>(&self, key: &K) -> Option<u64> {
        self.as_frequency().map(|sketch| sketch.estimate_hash(self.hasher.hash_key(key)))
    }
}

impl<S: KeyHasher + 'static> KeyHasher for DynSketch<S> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: Clone + 'static> Clone for DynSketch<S> {
    fn clone(&self) -> Self {
        Self { sketch: self.sketch.boxed(), hasher: self.hasher.clone() }
    }
}

impl<S> fmt::Debug for DynSketch<S> {
    /// Writes the sketch inside, whose type shows the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sketch.fmt(f)
    }
}

/// Decodes the kind that the header states.
impl<S: PortableHasher + Clone + Send + Sync + 'static> FromEnvelope for DynSketch<S> {
    type Hasher = S;

    fn from_envelope<E: OpenEnvelope>(envelope: E, hasher: Option<S>) -> Result<Self, E::Error> {
        let header = *envelope.header();
        let read = visit_sketches(&mut Decode { envelope: Some(envelope), hasher });
        read.unwrap_or_else(|| Err(not_a_sketch(&header).into()))
    }
}

struct Decode<E, S> {
    envelope: Option<E>,
    hasher: Option<S>,
}

impl<E: OpenEnvelope, S: PortableHasher + Clone + 'static> SketchVisitor<S> for Decode<E, S> {
    type Output = Result<DynSketch<S>, E::Error>;

    fn visit<K: SketchKind<S>>(&mut self) -> Option<Self::Output> {
        let envelope = self.envelope.take_if(|envelope| K::is_in(envelope.header()))?;
        Some(envelope.into_structure::<K>(self.hasher.take()).map(DynSketch::of))
    }
}

fn not_a_sketch(header: &Header) -> DecodeError {
    let off = feature_that_is_off(header.kind, "sketch");
    let allowed = off.unwrap_or("a count-min or count sketch, a HyperLogLog or an UltraLogLog");
    DecodeError(DecodeFault::OtherKind {
        offset: header.kind_offset(),
        found: header.kind,
        allowed,
    })
}

/// Writes the envelope of the sketch inside.
impl<S: PortableHasher + Clone + Send + Sync + 'static> ToEnvelope for DynSketch<S> {
    type Hasher = S;

    fn envelope_bytes(&self) -> u64 {
        self.sketch.envelope_bytes()
    }

    fn put_in<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        visit_sketches(&mut Put { sketch: self, sink }).expect("a sketch of a registered kind")
    }
}

struct Put<'a, W, S> {
    sketch: &'a DynSketch<S>,
    sink: &'a mut W,
}

impl<W: Sink, S: PortableHasher + 'static> SketchVisitor<S> for Put<'_, W, S> {
    type Output = Result<(), W::Error>;

    fn visit<K: SketchKind<S>>(&mut self) -> Option<Self::Output> {
        self.sketch.downcast_ref::<K>().map(|sketch| self.sink.put_envelope(sketch))
    }
}
