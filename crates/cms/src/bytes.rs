//! The portable bytes; `docs/format.md` of the workspace specifies them.

use core::ops::RangeInclusive;

use pds_core::Kind;
use pds_core::bytes::{Numbers, Portable, Shape, Sink, Source};
use pds_core::internal::{check_padding, portable_methods, reorder_lanes, take_words};
use pds_core::{DecodeError, DefaultHashBuilder, PortableHasher};
use pds_params::{CountMinParams, CountSketchParams};

#[cfg(target_has_atomic = "64")]
use crate::AtomicCountMinSketch;
use crate::cells::{index, words_for};
use crate::sketch::Counted;
use crate::{CountMinSketch, CountSketch, Counter, Update};

portable_methods!([C: Counter] CountMinSketch<S, C>, CountMinSketch<DefaultHashBuilder, C>);
portable_methods!(CountSketch);
#[cfg(target_has_atomic = "64")]
portable_methods!([C: Counter] AtomicCountMinSketch<S, C>, AtomicCountMinSketch<DefaultHashBuilder, C>);

impl<S: PortableHasher, C: Counter> Portable for CountMinSketch<S, C> {
    type Hasher = S;
    const KIND: Kind = Kind::COUNT_MIN;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of::<C>(&self.params(), self.update())
    }

    fn payload_bytes(&self) -> u64 {
        sketch_bytes::<C>(&self.params())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = sketch_bytes::<C>(&params_of::<C>(shape)?.0);
        Ok(bytes..=bytes)
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
#[must_use]
pub fn sketch_bytes<C: Counter>(params: &CountMinParams) -> u64 {
    8 * words_for::<C>(params.counters()) + 16
}

fn write_counted<C: Counter, W: Sink>(
    Counted { total, full_from }: Counted<C>,
    sink: &mut W,
) -> Result<(), W::Error> {
    sink.put_u64(total)?;
    sink.put_u64(full_from.into())
}

/// Reads the payload of a sketch.
///
/// # Errors
/// Those of the source, and [`DecodeError`] if no sketch has such counters.
pub fn read_sketch<S, C: Counter, R: Source>(
    params: CountMinParams,
    update: Update,
    hasher: S,
    source: &mut R,
) -> Result<CountMinSketch<S, C>, R::Error> {
    let mut words = take_words(source, words_for::<C>(params.counters()))?;
    // The bits of the last word behind the last counter are zero.
    let used = params.counters() % C::PER_WORD as u64 * u64::from(C::BITS);
    check_padding(source.offset() - 8, used, words.last().copied().unwrap_or_default())?;
    for word in words.iter_mut() {
        *word = reorder_lanes::<C>(*word);
    }
    let total_at = source.offset();
    let total = source.take_u64()?;
    let offset = source.offset();
    let full_from = source.take_u64()?;
    if full_from > C::MAX.into() {
        let (name, allowed) = ("the least saturated count", "at most the limit of a counter");
        return Err(DecodeError::Field { name, offset, found: full_from, allowed }.into());
    }
    let counted = Counted { total, full_from: C::saturating_from(full_from) };
    let sketch = CountMinSketch::from_parts(words, params, update, counted, hasher);
    check_total(&sketch, total_at)?;
    Ok(sketch)
}

/// The same bytes as the plain sketch's. Those taken during inserts are no snapshot.
#[cfg(target_has_atomic = "64")]
impl<S: PortableHasher, C: Counter> Portable for AtomicCountMinSketch<S, C> {
    type Hasher = S;
    const KIND: Kind = Kind::COUNT_MIN;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        shape_of::<C>(&self.params(), Update::Plain)
    }

    fn payload_bytes(&self) -> u64 {
        sketch_bytes::<C>(&self.params())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        CountMinSketch::<S, C>::payload_range(shape)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().map(reorder_lanes::<C>))?;
        write_counted(self.counted(), sink)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let sketch = CountMinSketch::read_payload(shape, hasher, source)?;
        let numbers = numbers_of(shape)?;
        Self::try_from(sketch).map_err(|error| match error {
            crate::ShareError::Conservative => {
                let meaning = Some(Update::Conservative.name());
                numbers.choice(UPDATE, meaning, "plain, for a sketch that threads share").into()
            }
            crate::ShareError::Alloc(error) => DecodeError::from(error).into(),
        })
    }
}

/// Where the update stands among the numbers of a count-min sketch.
const UPDATE: usize = 3;

fn shape_of<C: Counter>(params: &CountMinParams, update: Update) -> Shape {
    let (width, depth) = (params.width(), params.depth().into());
    let (epsilon, delta) = (params.epsilon().to_bits(), params.delta().to_bits());
    Shape::new([width, depth, C::BITS.into(), update as u64, epsilon, delta])
}

fn numbers_of(shape: &Shape) -> Result<Numbers<6>, DecodeError> {
    shape.expect_no_design()?;
    shape.numbers(["width", "depth", "the bits of a counter", "the update", "epsilon", "delta"])
}

/// The parameters of a shape, if a sketch of these counters can have it.
pub(crate) fn params_of<C: Counter>(
    shape: &Shape,
) -> Result<(CountMinParams, Update), DecodeError> {
    let numbers = numbers_of(shape)?;
    let [width, depth, bits, update, epsilon, delta] = numbers.values();
    if bits != u64::from(C::BITS) {
        let allowed = match C::BITS {
            8 => "8, for counters of type `u8`",
            16 => "16, for counters of type `u16`",
            32 => "32, for counters of type `u32`",
            _ => "64, for counters of type `u64`",
        };
        return Err(numbers.field(2, allowed));
    }
    let update = match update {
        0 => Update::Plain,
        1 => Update::Conservative,
        _ => return Err(numbers.field(UPDATE, "0 (plain) or 1 (conservative)")),
    };
    let (epsilon, delta) = (f64::from_bits(epsilon), f64::from_bits(delta));
    let params = CountMinParams::with_error(width, narrow_depth(depth), epsilon, delta);
    Ok((params.map_err(|error| numbers.error(error))?, update))
}

impl<S: PortableHasher> Portable for CountSketch<S> {
    type Hasher = S;
    const KIND: Kind = Kind::COUNT_SKETCH;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let params = self.params();
        let (epsilon, delta) = (params.epsilon().to_bits(), params.delta().to_bits());
        Shape::new([params.width(), params.depth().into(), epsilon, delta])
    }

    fn payload_bytes(&self) -> u64 {
        8 * self.params().counters()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = 8 * sketch_params_of(shape)?.counters();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = sketch_params_of(shape)?;
        Ok(Self::from_parts(take_words(source, params.counters())?, params, hasher))
    }
}

pub(crate) fn sketch_params_of(shape: &Shape) -> Result<CountSketchParams, DecodeError> {
    shape.expect_no_design()?;
    let numbers = shape.numbers(["width", "depth", "epsilon", "delta"])?;
    let [width, depth, epsilon, delta] = numbers.values();
    let (epsilon, delta) = (f64::from_bits(epsilon), f64::from_bits(delta));
    CountSketchParams::with_error(width, narrow_depth(depth), epsilon, delta)
        .map_err(|error| numbers.error(error))
}

/// No row holds more than the total: each insert adds to one counter a row at most.
fn check_total<S, C: Counter>(
    sketch: &CountMinSketch<S, C>,
    offset: u64,
) -> Result<(), DecodeError> {
    let rows = sketch.counters().chunks_exact(index(sketch.width()));
    let sum = |row: &[C]| row.iter().fold(0u128, |sum, &counter| sum + u128::from(counter.into()));
    let most = rows.map(sum).max().unwrap_or_default();
    let total = sketch.total();
    if most <= total.into() || total == u64::MAX {
        return Ok(());
    }
    Err(DecodeError::Field {
        name: "the total",
        offset,
        found: total,
        allowed: "at least the sum of each row",
    })
}

/// A depth beyond 32 bits is out of range as the greatest of 32 is.
fn narrow_depth(depth: u64) -> u32 {
    u32::try_from(depth).unwrap_or(u32::MAX)
}
