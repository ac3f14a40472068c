//! The portable bytes; `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::hash::Hash;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use cms::internal::{read_sketch, sketch_bytes};
use cms::{CountMinSketch, Update};
use pds_core::bytes::{ByteOptions, Kind, Numbers, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::hash::{KeyHasher, PortableHasher, PublicSeed};
use pds_core::internal::DecodeFault;
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_params::{CountMinParams, HeavyHittersParams};

use crate::heavy_hitters::capacity_of;
use crate::sketched::candidates_for;
use crate::summary::{Slot, Summary, room_for};
use crate::top_k::params_for;
use crate::{HeavyHitters, PortableKey, SketchedHeavyHitters, TopK};

// The readers exist for the default hasher only, like `new`: `HeavyHitters::<String>::from_bytes(&bytes)` then needs no other
// type.
impl<K: PortableKey> HeavyHitters<K> {
    /// Reads portable bytes that hold one summary and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes), if few keys have equal hashes; k keys with one hash take k² / 2 comparisons. A secret key of the
    /// hasher keeps hostile bytes from this. Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one summary from a stream. Leaves what follows it in the reader.
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

impl<K: PortableKey, S: PublicSeed> HeavyHitters<K, S> {
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

#[cfg(feature = "serde")]
impl<K: PortableKey, S: PublicSeed> serde::Serialize for HeavyHitters<K, S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, K: PortableKey, S: PortableHasher> serde::Deserialize<'de> for HeavyHitters<K, S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<K: PortableKey> SketchedHeavyHitters<K> {
    /// Reads portable bytes that hold one detector and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one detector from a stream. Leaves what follows it in the reader.
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

impl<K: PortableKey, S: PublicSeed> SketchedHeavyHitters<K, S> {
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

#[cfg(feature = "serde")]
impl<K: PortableKey, S: PublicSeed> serde::Serialize for SketchedHeavyHitters<K, S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, K: PortableKey, S: PortableHasher> serde::Deserialize<'de>
    for SketchedHeavyHitters<K, S>
{
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<K: PortableKey> TopK<K> {
    /// Reads portable bytes that hold one list and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one list from a stream. Leaves what follows it in the reader.
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

impl<K: PortableKey, S: PublicSeed> TopK<K, S> {
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

#[cfg(feature = "serde")]
impl<K: PortableKey, S: PublicSeed> serde::Serialize for TopK<K, S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, K: PortableKey, S: PortableHasher> serde::Deserialize<'de> for TopK<K, S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

/// Bytes of the floor and of the number of keys, in front of the keys.
const LIST_BYTES: u64 = 16;
/// Bytes of count and error, in front of a key.
const COUNT_BYTES: u64 = 16;

impl<K: PortableKey, S: PortableHasher> Portable for HeavyHitters<K, S> {
    type Hasher = S;
    const KIND: Kind = Kind::HEAVY_HITTERS;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.capacity(), self.params().phi().to_bits(), K::ID.into()])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        params_of::<K>(shape)?;
        Ok(8 + LIST_BYTES..=u64::MAX)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_u64(self.total())?;
        write_list(self.summary(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of::<K>(shape)?;
        let total_at = source.offset();
        let total = source.take_u64()?;
        let mut summary = read_list(capacity_of(&params), &hasher, |_| u64::MAX, source)?;
        check_counts(&summary, total, total_at)?;
        summary.set_total(total);
        Ok(Self::from_parts(summary, params, hasher))
    }
}

fn params_of<K: PortableKey>(shape: &Shape) -> Result<HeavyHittersParams, DecodeError> {
    shape.expect_no_design()?;
    let numbers = shape.numbers(["capacity", "phi", KEY_TYPE])?;
    check_key_type::<K, _>(&numbers, 2)?;
    let [capacity, phi, _] = numbers.values();
    HeavyHittersParams::with_capacity(f64::from_bits(phi), capacity)
        .map_err(|error| numbers.error(error))
}

const KEY_TYPE: &str = "the type of the keys";

/// Refuses another type of keys than the one asked for, which the number of this index states.
fn check_key_type<K: PortableKey, const N: usize>(
    numbers: &Numbers<N>,
    index: usize,
) -> Result<(), DecodeError> {
    let id = numbers.values()[index];
    if id == K::ID.into() {
        return Ok(());
    }
    Err(numbers.choice(index, crate::key::name_of(id), core::any::type_name::<K>()))
}

impl<K: PortableKey, S: PortableHasher> Portable for TopK<K, S> {
    type Hasher = S;
    const KIND: Kind = Kind::TOP_K;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.k(), K::ID.into()])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let (params, _) = top_params_of::<K>(shape)?;
        Ok(sketch_bytes::<u64>(&params) + LIST_BYTES..=u64::MAX)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.sketch().write_payload(sink)?;
        write_list(self.list(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, capacity) = top_params_of::<K>(shape)?;
        let sketch = read_sketch(params, Update::Conservative, hasher, source)?;
        let list = read_list_beside(&sketch, capacity, source)?;
        Ok(Self::from_parts(sketch, list))
    }
}

/// The sketch of a list of the most frequent keys, and the capacity of the list.
fn top_params_of<K: PortableKey>(shape: &Shape) -> Result<(CountMinParams, u32), DecodeError> {
    shape.expect_no_design()?;
    let numbers = shape.numbers(["k", KEY_TYPE])?;
    check_key_type::<K, _>(&numbers, 1)?;
    let [k, _] = numbers.values();
    params_for(k).map_err(|error| numbers.error(error))
}

impl<K: PortableKey, S: PortableHasher> Portable for SketchedHeavyHitters<K, S> {
    type Hasher = S;
    const KIND: Kind = Kind::SKETCHED_HEAVY_HITTERS;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let params = self.sketch().params();
        let (epsilon, delta) = (params.epsilon().to_bits(), params.delta().to_bits());
        let (width, depth) = (params.width(), params.depth().into());
        Shape::new([width, depth, epsilon, delta, self.phi().to_bits(), K::ID.into()])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let (params, _) = detector_of::<K>(shape)?;
        Ok(sketch_bytes::<u64>(&params) + LIST_BYTES..=u64::MAX)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.sketch().write_payload(sink)?;
        write_list(self.candidates(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, (phi, capacity)) = detector_of::<K>(shape)?;
        let sketch = read_sketch(params, Update::Conservative, hasher, source)?;
        let candidates = read_list_beside(&sketch, capacity, source)?;
        Ok(Self::from_parts(sketch, candidates, phi))
    }
}

/// The sketch of a detector; phi, and the number of candidates that follows from it.
fn detector_of<K: PortableKey>(shape: &Shape) -> Result<(CountMinParams, (f64, u32)), DecodeError> {
    shape.expect_no_design()?;
    let numbers = shape.numbers(["width", "depth", "epsilon", "delta", "phi", KEY_TYPE])?;
    check_key_type::<K, _>(&numbers, 5)?;
    let [width, depth, epsilon, delta, phi, _] = numbers.values();
    let [epsilon, delta, phi] = [epsilon, delta, phi].map(f64::from_bits);
    // A depth beyond 32 bits is out of range, like the greatest of 32.
    let depth = u32::try_from(depth).unwrap_or(u32::MAX);
    CountMinParams::with_error(width, depth, epsilon, delta)
        .and_then(|params| Ok((params, (phi, candidates_for(phi)?))))
        .map_err(|error| numbers.error(error))
}

/// The floor, the number of keys, then each tracked key with count and error, in the order in which they came in.
fn write_list<K: PortableKey, W: Sink>(summary: &Summary<K>, sink: &mut W) -> Result<(), W::Error> {
    sink.put_u64(summary.floor())?;
    sink.put_u64(summary.len() as u64)?;
    for slot in summary.iter() {
        sink.put_u64(slot.count)?;
        sink.put_u64(slot.error)?;
        slot.key.write_key(sink)?;
    }
    Ok(())
}

/// Reads a list, no key of which has a greater count than `most` says.
fn read_list<K: PortableKey, R: Source>(
    capacity: u32,
    hasher: &impl PortableHasher,
    most: impl Fn(&K) -> u64,
    source: &mut R,
) -> Result<Summary<K>, R::Error> {
    let floor = source.take_u64()?;
    let mut summary = Summary::restored(capacity, floor).map_err(DecodeError::from)?;
    let offset = source.offset();
    let tracked = source.take_u64()?;
    check_tracked(tracked, capacity, offset)?;
    for _ in 0..tracked {
        let offset = source.offset();
        let (count, error) = (source.take_u64()?, source.take_u64()?);
        let key = K::read_key(source)?;
        let most = most(&key);
        enter(&mut summary, hasher, Entry { key, count, error, most, offset })?;
    }
    Ok(summary)
}

/// Reads a list beside a sketch, which bounds its counts.
fn read_list_beside<K: PortableKey, S: PortableHasher, R: Source>(
    sketch: &CountMinSketch<S, u64>,
    capacity: u32,
    source: &mut R,
) -> Result<Summary<K>, R::Error> {
    let floor_at = source.offset();
    let most = |key: &K| sketch.estimate(key).value();
    let list = read_list(capacity, sketch.hasher(), most, source)?;
    check_floor(&list, floor_at)?;
    Ok(list)
}

/// Refuses more keys than a summary tracks.
pub(crate) fn check_tracked(tracked: u64, capacity: u32, offset: u64) -> Result<(), DecodeError> {
    if tracked <= room_for(capacity) {
        return Ok(());
    }
    let (name, allowed) =
        ("the number of tracked keys", "at most half as many again as the capacity");
    Err(DecodeError(DecodeFault::Field { name, offset, found: tracked, allowed }))
}

/// Beside a sketch the floor is raised where as many keys stay as the capacity.
pub(crate) fn check_floor<K>(list: &Summary<K>, offset: u64) -> Result<(), DecodeError> {
    if list.floor() == 0 || list.len() >= list.capacity() as usize {
        return Ok(());
    }
    let (name, allowed) = ("the floor", "0 where fewer keys are listed than can be");
    Err(DecodeError(DecodeFault::Field { name, offset, found: list.floor(), allowed }))
}

/// A key of a list that is read.
pub(crate) struct Entry<K> {
    pub(crate) key: K,
    pub(crate) count: u64,
    pub(crate) error: u64,
    /// The upper bound of the count.
    pub(crate) most: u64,
    /// Where its bytes start: count, error, key.
    pub(crate) offset: u64,
}

/// Enters a key behind the others.
///
/// Refuses what no summary holds: a key twice, a count below the floor or above its bound, an error above its count.
pub(crate) fn enter<K: Hash + Eq>(
    summary: &mut Summary<K>,
    hasher: &impl KeyHasher,
    Entry { key, count, error, most, offset }: Entry<K>,
) -> Result<(), DecodeError> {
    let refuse =
        |name, offset, found, allowed| Err(DecodeError::invalid(name, offset, found, allowed));
    let slot = Slot { hash: hasher.hash_key(&key), key, count, error };
    if summary.get(slot.hash, |key| *key == slot.key).is_some() {
        let (place, allowed) = (summary.len() as u64, "there once (what is found is its place)");
        return refuse("a tracked key", offset + COUNT_BYTES, place, allowed);
    }
    if count < summary.floor() {
        return refuse("a count", offset, count, "at least the floor");
    }
    if count > most {
        return refuse("a count", offset, count, "at most what the sketch says of the key");
    }
    // An error is no bound of the floor: each summary that was halved and merged may add one.
    if error > count {
        return refuse("the error of a count", offset + 8, error, "at most the count");
    }
    summary.push(slot);
    Ok(())
}

/// Checks that the total is at least (capacity + 1) * floor, plus the part of each count above the floor, or saturated.
pub(crate) fn check_counts<K>(
    summary: &Summary<K>,
    total: u64,
    offset: u64,
) -> Result<(), DecodeError> {
    let floor = u128::from(summary.floor());
    let above: u128 = summary.iter().map(|slot| u128::from(slot.count) - floor).sum();
    if above + floor * (u128::from(summary.capacity()) + 1) <= total.into() || total == u64::MAX {
        return Ok(());
    }
    let (name, allowed) = ("the total", "at least what the counts and the floor make up");
    Err(DecodeError(DecodeFault::Field { name, offset, found: total, allowed }))
}
