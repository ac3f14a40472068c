//! Summaries that hold keys.

use pds_core::bytes::{Header, Kind, Portable, Shape, Sink, Source};
use pds_core::hash::finalize;
use pds_core::{DecodeError, PortableHasher};
use pds_params::HeavyHittersParams;

use super::{PortableKey, bad_shape, check_unused, field, take_u64};
use crate::heavy_hitters::capacity_of;
use crate::summary::Summary;
use crate::top_k::check_k;
use crate::{HeavyHitters, TopK};

/// Where the tracked keys begin, in bytes from the start of the envelope.
pub(super) const KEYS_AT: u64 = Header::BYTES as u64 + 8;

/// Bytes of a tracked key beside the key itself: count and error.
const COUNT_BYTES: u64 = 16;

impl<K: PortableKey, S: PortableHasher> Portable for HeavyHitters<K, S> {
    type Hasher = S;
    const KIND: Kind = Kind::HeavyHitters;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of(self.summary(), self.capacity(), self.params().phi().to_bits())
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        payload_bytes::<K>(shape, capacity_of(&params_of(shape)?))
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        write_summary(self.summary(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of(shape)?;
        let summary = read_summary(shape, capacity_of(&params), &hasher, source)?;
        Ok(Self::from_parts(summary, params, hasher))
    }
}

impl<K: PortableKey, S: PortableHasher> Portable for TopK<K, S> {
    type Hasher = S;
    const KIND: Kind = Kind::TopK;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of(self.summary(), self.k(), 0)
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        check_unused(shape, 1, shape.numbers[1])?;
        payload_bytes::<K>(shape, check_k(shape.numbers[0]).map_err(bad_shape)?)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        write_summary(self.summary(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let k = shape.numbers[0];
        let capacity = check_k(k).map_err(bad_shape)?;
        let summary = read_summary(shape, capacity, &hasher, source)?;
        Ok(Self::from_parts(summary, k, hasher))
    }
}

fn params_of(shape: &Shape) -> Result<HeavyHittersParams, DecodeError> {
    let [capacity, phi, ..] = shape.numbers;
    HeavyHittersParams::with_capacity(f64::from_bits(phi), capacity).map_err(bad_shape)
}

fn shape_of<K: PortableKey>(summary: &Summary<K>, first: u64, second: u64) -> Shape {
    let key_bytes = summary.iter().map(|(slot, _)| slot.key.key_bytes()).sum();
    let numbers = [first, second, K::ID.into(), summary.len() as u64, key_bytes, 0];
    Shape { numbers, expected_items: None, promised_rate: None }
}

fn payload_bytes<K: PortableKey>(shape: &Shape, capacity: u32) -> Result<u64, DecodeError> {
    let [.., id, tracked, key_bytes, unused] = shape.numbers;
    if id != u64::from(K::ID) {
        return Err(field("the type of the keys", 2, id, "the one asked for"));
    }
    if tracked > capacity.into() {
        return Err(field("the number of tracked keys", 3, tracked, "at most the capacity"));
    }
    check_unused(shape, 5, unused)?;
    let bytes = key_bytes.checked_add(8 + COUNT_BYTES * tracked);
    bytes
        .ok_or_else(|| field("the bytes of the keys", 4, key_bytes, "below 2^64 with their counts"))
}

/// The total, then each tracked key with count and error, in the order of the heap.
fn write_summary<K: PortableKey, W: Sink>(
    summary: &Summary<K>,
    sink: &mut W,
) -> Result<(), W::Error> {
    sink.put(&summary.total().to_le_bytes())?;
    for (slot, count) in summary.iter() {
        sink.put(&count.to_le_bytes())?;
        sink.put(&slot.error.to_le_bytes())?;
        slot.key.write_key(sink)?;
    }
    Ok(())
}

fn read_summary<K: PortableKey, R: Source>(
    shape: &Shape,
    capacity: u32,
    hasher: &impl PortableHasher,
    source: &mut R,
) -> Result<Summary<K>, R::Error> {
    let [.., tracked, mut key_bytes, _] = shape.numbers;
    let mut summary = Summary::with_room_for(0, capacity).map_err(DecodeError::from)?;
    let total = take_u64(source)?;
    for _ in 0..tracked {
        let (count, error) = (take_u64(source)?, take_u64(source)?);
        let key = K::read_key(source, &mut key_bytes)?;
        let hash = finalize(hasher.hash_one(&key));
        check_entry(&summary, hash, &key, count, error)?;
        summary.push(key, hash, count, error);
    }
    if key_bytes > 0 {
        return Err(field("the bytes of the keys", 4, key_bytes, "used up by the keys").into());
    }
    check_counts(&summary, total)?;
    summary.set_total(total);
    Ok(summary)
}

/// Refuses what no summary holds: a key twice, an error above its count, an order that is no heap.
fn check_entry<K: PortableKey>(
    summary: &Summary<K>,
    hash: u64,
    key: &K,
    count: u64,
    error: u64,
) -> Result<(), DecodeError> {
    let place = summary.len();
    let refuse =
        |name, found, allowed| Err(DecodeError::Field { name, offset: KEYS_AT, found, allowed });
    if summary.get(hash, key).is_some() {
        return refuse("a tracked key", place as u64, "there once (what is found is its place)");
    }
    if error > count {
        return refuse("the error of a count", error, "at most the count");
    }
    if place > 0 && summary.iter().nth((place - 1) / 2).is_some_and(|(_, least)| least > count) {
        return refuse("a count", count, "at least that of its parent in the heap");
    }
    Ok(())
}

/// All counts together are at most the total: a key takes over the count of the one that it replaces.
fn check_counts<K>(summary: &Summary<K>, total: u64) -> Result<(), DecodeError> {
    let sum: u128 = summary.iter().map(|(_, count)| u128::from(count)).sum();
    if sum <= total.into() || total == u64::MAX {
        return Ok(());
    }
    let (name, offset, allowed) =
        ("the total", Header::BYTES as u64, "at least the sum of the counts");
    Err(DecodeError::Field { name, offset, found: total, allowed })
}
