//! The portable bytes; `docs/format.md` of the workspace specifies them.

mod key;
mod keyed;

use pds_core::Kind;
use pds_core::bytes::{Header, Portable, Shape};
use pds_core::internal::{portable_methods, reorder_lanes};
use pds_core::{DecodeError, DefaultHashBuilder, ParamError, PortableHasher};
use pds_params::{CountMinParams, CountSketchParams};

pub use key::PortableKey;
#[cfg(feature = "serde")]
pub(crate) use keyed::{check_counts, check_estimates, enter};
pub use pds_core::internal::{Sink, Source};

#[cfg(target_has_atomic = "64")]
use crate::AtomicCountMinSketch;
use crate::cells::{index, words_for};
use crate::sketch::Counted;
use crate::{
    CountMinSketch, CountSketch, Counter, HeavyHitters, SketchedHeavyHitters, TopK, Update,
};

portable_methods!([C: Counter] CountMinSketch<S, C>, CountMinSketch<DefaultHashBuilder, C>);
portable_methods!(CountSketch);
portable_methods!([K: PortableKey] HeavyHitters<K, S>, HeavyHitters<K, DefaultHashBuilder>);
portable_methods!(
    [K: PortableKey] SketchedHeavyHitters<K, S>, SketchedHeavyHitters<K, DefaultHashBuilder>
);
portable_methods!([K: PortableKey] TopK<K, S>, TopK<K, DefaultHashBuilder>);
#[cfg(target_has_atomic = "64")]
portable_methods!([C: Counter] AtomicCountMinSketch<S, C>, AtomicCountMinSketch<DefaultHashBuilder, C>);

/// Offset of the first number of the shape.
const SHAPE_AT: u64 = 56;

impl<S: PortableHasher, C: Counter> Portable for CountMinSketch<S, C> {
    type Hasher = S;
    const KIND: Kind = Kind::CountMin;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of::<C>(&self.params(), self.update())
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        Ok(sketch_bytes::<C>(&params_of::<C>(shape)?.0))
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().iter().map(|&word| reorder_lanes::<C>(word)))?;
        write_counted(self.counted(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, update) = params_of::<C>(shape)?;
        read_sketch(params, update, hasher, source)
    }
}

/// The bytes of the counters, the total, and the value from which counters are saturated.
fn sketch_bytes<C: Counter>(params: &CountMinParams) -> u64 {
    8 * words_for::<C>(params.counters()) + 16
}

fn write_counted<C: Counter, W: Sink>(
    Counted { total, full_from }: Counted<C>,
    sink: &mut W,
) -> Result<(), W::Error> {
    sink.put(&total.to_le_bytes())?;
    let full_from: u64 = full_from.into();
    sink.put(&full_from.to_le_bytes())
}

fn read_sketch<S, C: Counter, R: Source>(
    params: CountMinParams,
    update: Update,
    hasher: S,
    source: &mut R,
) -> Result<CountMinSketch<S, C>, R::Error> {
    let mut words = source.take_words(words_for::<C>(params.counters()))?;
    for word in words.iter_mut() {
        *word = reorder_lanes::<C>(*word);
    }
    let (total, full_from) = (take_u64(source)?, take_u64(source)?);
    let counted = Counted { total, full_from: C::saturating_from(full_from) };
    if full_from > C::MAX.into() {
        let offset = Header::BYTES as u64 + sketch_bytes::<C>(&params) - 8;
        let (name, allowed) = ("the least saturated count", "at most the limit of a counter");
        return Err(DecodeError::Field { name, offset, found: full_from, allowed }.into());
    }
    let sketch = CountMinSketch::from_parts(words, params, update, counted, hasher);
    check_padding(&sketch)?;
    check_total(&sketch)?;
    Ok(sketch)
}

/// The same bytes as the plain sketch's. Those taken during inserts are no snapshot.
#[cfg(target_has_atomic = "64")]
impl<S: PortableHasher, C: Counter> Portable for AtomicCountMinSketch<S, C> {
    type Hasher = S;
    const KIND: Kind = Kind::CountMin;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of::<C>(&self.params(), Update::Plain)
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        CountMinSketch::<S, C>::payload_bytes(shape)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().map(reorder_lanes::<C>))?;
        write_counted(self.counted(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let sketch = CountMinSketch::read_payload(shape, hasher, source)?;
        Self::try_from(sketch).map_err(|error| match error {
            crate::ShareError::Conservative => {
                other_update(Update::Conservative, "plain, for a sketch that threads share").into()
            }
            crate::ShareError::Alloc(error) => DecodeError::from(error).into(),
        })
    }
}

fn shape_of<C: Counter>(params: &CountMinParams, update: Update) -> Shape {
    let numbers = [
        params.width(),
        params.depth().into(),
        C::BITS.into(),
        update as u64,
        params.epsilon().to_bits(),
        0,
    ];
    Shape { numbers, expected_items: None, promised_rate: Some(params.delta()) }
}

/// The parameters of a shape, if a sketch of these counters can have it.
pub(crate) fn params_of<C: Counter>(
    shape: &Shape,
) -> Result<(CountMinParams, Update), DecodeError> {
    let [width, depth, bits, update, epsilon, unused] = shape.numbers;
    if bits != u64::from(C::BITS) {
        let allowed = match C::BITS {
            8 => "8, for counters of type `u8`",
            16 => "16, for counters of type `u16`",
            32 => "32, for counters of type `u32`",
            _ => "64, for counters of type `u64`",
        };
        return Err(field("the bits of a counter", 2, bits, allowed));
    }
    let update = match update {
        0 => Update::Plain,
        1 => Update::Conservative,
        _ => return Err(field("the update", 3, update, "0 (plain) or 1 (conservative)")),
    };
    check_unused(shape, 5, unused)?;
    let params = CountMinParams::with_error(
        width,
        narrow_depth(depth),
        f64::from_bits(epsilon),
        delta_of(shape)?,
    );
    Ok((params.map_err(bad_shape)?, update))
}

impl<S: PortableHasher> Portable for CountSketch<S> {
    type Hasher = S;
    const KIND: Kind = Kind::CountSketch;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let params = self.params();
        let epsilon = params.epsilon().to_bits();
        let numbers = [params.width(), params.depth().into(), epsilon, 0, 0, 0];
        Shape { numbers, expected_items: None, promised_rate: Some(params.delta()) }
    }

    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError> {
        Ok(8 * sketch_params_of(shape)?.counters())
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = sketch_params_of(shape)?;
        Ok(Self::from_parts(source.take_words(params.counters())?, params, hasher))
    }
}

pub(crate) fn sketch_params_of(shape: &Shape) -> Result<CountSketchParams, DecodeError> {
    let [width, depth, epsilon, unused @ ..] = shape.numbers;
    for (i, unused) in (3..).zip(unused) {
        check_unused(shape, i, unused)?;
    }
    let (epsilon, delta) = (f64::from_bits(epsilon), delta_of(shape)?);
    CountSketchParams::with_error(width, narrow_depth(depth), epsilon, delta).map_err(bad_shape)
}

/// A depth beyond 32 bits is out of range as the greatest of 32 is.
fn narrow_depth(depth: u64) -> u32 {
    u32::try_from(depth).unwrap_or(u32::MAX)
}

fn delta_of(shape: &Shape) -> Result<f64, DecodeError> {
    shape.promised_rate.ok_or(DecodeError::Field {
        name: "the promised rate",
        offset: SHAPE_AT - 8,
        found: 0,
        allowed: "the delta of the sketch",
    })
}

/// Refuses numbers of the shape that have no meaning, and expected items, which a sketch has none of.
fn check_unused(shape: &Shape, number: u64, found: u64) -> Result<(), DecodeError> {
    if let Some(found) = shape.expected_items {
        let (name, offset) = ("the expected items", SHAPE_AT - 16);
        return Err(DecodeError::Field { name, offset, found, allowed: "absent" });
    }
    if found == 0 {
        Ok(())
    } else {
        Err(field("an unused number of the shape", number, found, "0"))
    }
}

/// A number of the shape that is not possible.
fn field(name: &'static str, number: u64, found: u64, allowed: &'static str) -> DecodeError {
    DecodeError::Field { name, offset: SHAPE_AT + 8 * number, found, allowed }
}

/// An update that is possible, and not the one that the structure has.
pub(crate) fn other_update(found: Update, allowed: &'static str) -> DecodeError {
    DecodeError::Choice {
        name: "the update",
        offset: SHAPE_AT + 24,
        found: found as u64,
        meaning: Some(found.name()),
        allowed,
    }
}

fn bad_shape(error: ParamError) -> DecodeError {
    DecodeError::Shape { offset: SHAPE_AT, error }
}

/// What is left of the last word is no counter, and 0.
fn check_padding<S, C: Counter>(sketch: &CountMinSketch<S, C>) -> Result<(), DecodeError> {
    let words = sketch.words();
    let padding = words.lanes::<C>().iter().skip(sketch.counters().len());
    if padding.copied().all(|lane| lane.into() == 0) {
        return Ok(());
    }
    let last = words.len() as u64 - 1;
    let found = reorder_lanes::<C>(words.last().copied().unwrap_or_default());
    Err(DecodeError::Padding { offset: Header::BYTES as u64 + 8 * last, found })
}

/// No row holds more than the total: each insert adds to one counter a row at most.
fn check_total<S, C: Counter>(sketch: &CountMinSketch<S, C>) -> Result<(), DecodeError> {
    let rows = sketch.counters().chunks_exact(index(sketch.width()));
    let sum = |row: &[C]| row.iter().fold(0u128, |sum, &counter| sum + u128::from(counter.into()));
    let most = rows.map(sum).max().unwrap_or_default();
    let total = sketch.total();
    if most <= total.into() || total == u64::MAX {
        return Ok(());
    }
    Err(DecodeError::Field {
        name: "the total",
        offset: Header::BYTES as u64 + sketch.size_in_bytes(),
        found: total,
        allowed: "at least the sum of each row",
    })
}

fn take_u64<R: Source>(source: &mut R) -> Result<u64, R::Error> {
    let mut bytes = [0; 8];
    source.take(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
