//! Summaries that hold keys.

use core::hash::Hash;

use pds_core::bytes::{Header, Portable, Shape};
use pds_core::internal::{Sink, Source};
use pds_core::{DecodeError, KeyHasher, Kind, PortableHasher};
use pds_params::{CountMinParams, HeavyHittersParams};

use super::{
    PortableKey, bad_shape, check_unused, delta_of, field, narrow_depth, read_sketch, sketch_bytes,
    take_u64,
};
use crate::heavy_hitters::capacity_of;
use crate::sketched::candidates_for;
use crate::summary::{Slot, Summary, room_for};
use crate::top_k::params_for;
use crate::{CountMinSketch, HeavyHitters, SketchedHeavyHitters, TopK, Update};

/// Where the tracked keys begin, in bytes from the start of the envelope.
pub(super) const KEYS_AT: u64 = Header::BYTES as u64 + 16;

/// Bytes of a tracked key beside the key itself: count and error.
const COUNT_BYTES: u64 = 16;
/// Bytes of the floor before the keys.
const FLOOR_BYTES: u64 = 8;
/// Bytes of the epsilon before a detector's sketch.
const EPSILON_BYTES: u64 = 8;

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
        let bytes = list_bytes::<K>(shape, capacity_of(&params_of(shape)?))?.checked_add(8);
        bytes.ok_or_else(|| too_many(shape.numbers[4]))
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put(&self.total().to_le_bytes())?;
        write_list(self.summary(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of(shape)?;
        let total = take_u64(source)?;
        let mut summary = read_list(shape, capacity_of(&params), &hasher, source)?;
        check_counts(&summary, total)?;
        summary.set_total(total);
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
        shape_of(self.list(), self.k(), 0)
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        let [k, unused, .., key_bytes, _] = shape.numbers;
        check_unused(shape, 1, unused)?;
        let (params, capacity) = params_for(k).map_err(bad_shape)?;
        let bytes = list_bytes::<K>(shape, capacity)?.checked_add(sketch_bytes::<u64>(&params));
        bytes.ok_or_else(|| too_many(key_bytes))
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.sketch().write_payload(sink)?;
        write_list(self.list(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, capacity) = params_for(shape.numbers[0]).map_err(bad_shape)?;
        let sketch = read_sketch(params, Update::Conservative, hasher, source)?;
        let list = read_list(shape, capacity, sketch.hasher(), source)?;
        check_estimates(&sketch, &list)?;
        Ok(Self::from_parts(sketch, list))
    }
}

impl<K: PortableKey, S: PortableHasher> Portable for SketchedHeavyHitters<K, S> {
    type Hasher = S;
    const KIND: Kind = Kind::SketchedHeavyHitters;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let params = self.sketch().params();
        let mut shape = shape_of(self.candidates(), params.width(), params.depth().into());
        shape.numbers[5] = self.phi().to_bits();
        Shape { promised_rate: Some(params.delta()), ..shape }
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        let [width, depth, .., phi] = shape.numbers;
        let params = CountMinParams::from_width_and_depth(width, narrow_depth(depth));
        let sketch = sketch_bytes::<u64>(&params.map_err(bad_shape)?);
        let capacity = candidates_for(f64::from_bits(phi)).map_err(bad_shape)?;
        let listed = Shape { numbers: without_last(shape), promised_rate: None, ..*shape };
        let bytes = list_bytes::<K>(&listed, capacity)?.checked_add(sketch + EPSILON_BYTES);
        bytes.ok_or_else(|| too_many(shape.numbers[4]))
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put(&self.sketch().params().epsilon().to_le_bytes())?;
        self.sketch().write_payload(sink)?;
        write_list(self.candidates(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let [width, depth, .., phi] = shape.numbers;
        let (epsilon, delta) = (f64::from_bits(take_u64(source)?), delta_of(shape)?);
        let params = CountMinParams::with_error(width, narrow_depth(depth), epsilon, delta);
        let params = params.map_err(bad_shape)?;
        let capacity = candidates_for(f64::from_bits(phi)).map_err(bad_shape)?;
        let sketch = read_sketch(params, Update::Conservative, hasher, source)?;
        let candidates = read_list(shape, capacity, sketch.hasher(), source)?;
        check_estimates(&sketch, &candidates)?;
        Ok(Self::from_parts(sketch, candidates, f64::from_bits(phi)))
    }
}

/// The numbers of a shape whose last one is not that of a list.
const fn without_last(shape: &Shape) -> [u64; 6] {
    let [a, b, c, d, e, _] = shape.numbers;
    [a, b, c, d, e, 0]
}

/// No listed key has a greater count than the sketch gives it, and a floor is raised where as many stay as the capacity.
pub(crate) fn check_estimates<K: Hash, S: KeyHasher>(
    sketch: &CountMinSketch<S, u64>,
    list: &Summary<K>,
) -> Result<(), DecodeError> {
    if list.floor() > 0 && list.len() < list.capacity() as usize {
        return refuse("the floor", list.floor(), "0 where fewer keys are listed than can be");
    }
    match list.iter().find(|slot| sketch.estimate(&slot.key) < slot.count) {
        None => Ok(()),
        Some(slot) => Err(DecodeError::Field {
            name: "a count",
            offset: Header::BYTES as u64,
            found: slot.count,
            allowed: "at most what the sketch says of the key",
        }),
    }
}

fn params_of(shape: &Shape) -> Result<HeavyHittersParams, DecodeError> {
    let [capacity, phi, ..] = shape.numbers;
    HeavyHittersParams::with_capacity(f64::from_bits(phi), capacity).map_err(bad_shape)
}

fn shape_of<K: PortableKey>(summary: &Summary<K>, first: u64, second: u64) -> Shape {
    let key_bytes = summary.iter().map(|slot| slot.key.key_bytes()).sum();
    let numbers = [first, second, K::ID.into(), summary.len() as u64, key_bytes, 0];
    Shape { numbers, expected_items: None, promised_rate: None }
}

/// The bytes of the floor, and of all tracked keys with count and error.
fn list_bytes<K: PortableKey>(shape: &Shape, capacity: u32) -> Result<u64, DecodeError> {
    let [.., id, tracked, key_bytes, unused] = shape.numbers;
    if id != u64::from(K::ID) {
        return Err(DecodeError::Choice {
            name: "the type of the keys",
            offset: super::SHAPE_AT + 16,
            found: id,
            meaning: super::key::name_of(id),
            allowed: core::any::type_name::<K>(),
        });
    }
    if tracked > room_for(capacity) {
        return Err(field(
            "the number of tracked keys",
            3,
            tracked,
            "at most half as many again as the capacity",
        ));
    }
    check_unused(shape, 5, unused)?;
    shape.expect_no_design()?;
    let counts = COUNT_BYTES * tracked + FLOOR_BYTES;
    key_bytes.checked_add(counts).ok_or_else(|| too_many(key_bytes))
}

fn too_many(key_bytes: u64) -> DecodeError {
    field("the bytes of the keys", 4, key_bytes, "below 2^64 with all else")
}

/// The floor, then each tracked key with count and error, in the order in which they came in.
fn write_list<K: PortableKey, W: Sink>(summary: &Summary<K>, sink: &mut W) -> Result<(), W::Error> {
    sink.put(&summary.floor().to_le_bytes())?;
    for slot in summary.iter() {
        sink.put(&slot.count.to_le_bytes())?;
        sink.put(&slot.error.to_le_bytes())?;
        slot.key.write_key(sink)?;
    }
    Ok(())
}

fn read_list<K: PortableKey, R: Source>(
    shape: &Shape,
    capacity: u32,
    hasher: &impl PortableHasher,
    source: &mut R,
) -> Result<Summary<K>, R::Error> {
    let [.., tracked, mut key_bytes, _] = shape.numbers;
    let floor = take_u64(source)?;
    let mut summary = Summary::restored(capacity, floor).map_err(DecodeError::from)?;
    for _ in 0..tracked {
        let (count, error) = (take_u64(source)?, take_u64(source)?);
        let key = K::read_key(source, &mut key_bytes)?;
        enter(&mut summary, hasher, key, count, error)?;
    }
    if key_bytes > 0 {
        return Err(field("the bytes of the keys", 4, key_bytes, "used up by the keys").into());
    }
    Ok(summary)
}

/// Enters a key behind the others.
pub(crate) fn enter<K: Hash + Eq>(
    summary: &mut Summary<K>,
    hasher: &impl KeyHasher,
    key: K,
    count: u64,
    error: u64,
) -> Result<(), DecodeError> {
    let slot = Slot { hash: hasher.hash_key(&key), key, count, error };
    check_entry(summary, &slot)?;
    summary.push(slot);
    Ok(())
}

/// Refuses what no summary holds: a key twice, a count below the floor, an error above it.
fn check_entry<K: Eq>(summary: &Summary<K>, slot: &Slot<K>) -> Result<(), DecodeError> {
    if summary.get(slot.hash, &slot.key).is_some() {
        let place = summary.len() as u64;
        return refuse("a tracked key", place, "there once (what is found is its place)");
    }
    if slot.error > summary.floor() {
        return refuse("the error of a count", slot.error, "at most the floor");
    }
    if slot.count < summary.floor() {
        return refuse("a count", slot.count, "at least the floor");
    }
    Ok(())
}

/// What counts are above the floor, and the floor once more often than the capacity, make up the total at most.
pub(crate) fn check_counts<K>(summary: &Summary<K>, total: u64) -> Result<(), DecodeError> {
    let floor = u128::from(summary.floor());
    let above: u128 = summary.iter().map(|slot| u128::from(slot.count) - floor).sum();
    if above + floor * (u128::from(summary.capacity()) + 1) <= total.into() || total == u64::MAX {
        return Ok(());
    }
    let (name, offset, allowed) =
        ("the total", Header::BYTES as u64, "at least what the counts and the floor make up");
    Err(DecodeError::Field { name, offset, found: total, allowed })
}

const fn refuse(name: &'static str, found: u64, allowed: &'static str) -> Result<(), DecodeError> {
    Err(DecodeError::Field { name, offset: KEYS_AT, found, allowed })
}
