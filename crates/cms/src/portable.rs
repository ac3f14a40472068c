//! The portable bytes of sketches. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Numbers, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher, PortableHasher, PublicSeed};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::internal::{check_padding, reorder_lanes, take_words};
use pds_core::storage::{OwnedWords, WordSource};
use pds_params::{CountMinParams, CountSketchParams};

use crate::cells::words_for;
use crate::counter::StoredCounter;
use crate::counters::{Counted, CounterStorage, PlainRows, Tally};
use crate::{CountMinSketch, CountSketch, Counter, Update};

// The readers exist for the default hasher only, like `new`: `CountMinSketch::from_bytes(&bytes)` then needs no more types
// than that of the counters.
impl<C: Counter> CountMinSketch<DefaultHashBuilder, C> {
    /// Reads portable bytes that hold one sketch and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
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

impl<S: PublicSeed, C: Counter, W: OwnedWords + CounterStorage> CountMinSketch<S, C, W> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`]. If other threads insert into a shared sketch
    /// meanwhile, each counter has its value at some moment.
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
impl<S: PublicSeed, C: Counter, W: OwnedWords + CounterStorage> serde::Serialize
    for CountMinSketch<S, C, W>
{
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher, C: Counter, W: OwnedWords + CounterStorage> serde::Deserialize<'de>
    for CountMinSketch<S, C, W>
{
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

/// The bytes of a shared sketch are those of the plain one.
impl<S: PortableHasher, C: Counter, W: OwnedWords + CounterStorage> Portable
    for CountMinSketch<S, C, W>
{
    type Hasher = S;
    const KIND: Kind = Kind::COUNT_MIN;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let (params, update) = (self.params(), self.update() as u64);
        let (width, depth) = (params.width(), params.depth().into());
        let (epsilon, delta) = (params.epsilon().to_bits(), params.delta().to_bits());
        Shape::new([width, depth, C::BITS.into(), update, epsilon, delta])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = sketch_bytes::<C>(&params_of::<C, W>(shape)?.0);
        Ok(bytes..=bytes)
    }

    fn write_payload<K: Sink>(&self, sink: &mut K) -> Result<(), K::Error> {
        sink.put_words(self.counters.values().map(reorder_lanes::<C>))?;
        // After the counters, so that no row holds more than the total if other threads insert meanwhile.
        let Counted { total, full_from, lost } = self.counted();
        sink.put_u64(total)?;
        sink.put_u64(full_from)?;
        sink.put_u64(lost)
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, update) = params_of::<C, W>(shape)?;
        let sketch = read_sketch::<S, C, R>(params, update, hasher, source)?;
        let tally = Tally::restored(sketch.tally).map_err(DecodeError::from)?;
        Ok(Self::from_parts(sketch.counters.into(), params, update, tally, sketch.hasher))
    }
}

/// Bytes after the counters: the total, the least saturated count, and the bound on lost counts.
pub(crate) const TALLY_BYTES: u64 = 24;

/// Returns the length of the payload of a sketch in bytes.
#[must_use]
pub fn sketch_bytes<C: Counter>(params: &CountMinParams) -> u64 {
    8 * words_for::<C>(params.counters()) + TALLY_BYTES
}

/// Reads the payload of a sketch.
///
/// # Errors
/// Those of the source, and [`DecodeError`] if no sketch has such counters.
pub fn read_sketch<S: KeyHasher, C: Counter, R: Source>(
    params: CountMinParams,
    update: Update,
    hasher: S,
    source: &mut R,
) -> Result<CountMinSketch<S, C>, R::Error> {
    let mut words = take_words(source, words_for::<C>(params.counters()))?;
    let (offset, last_word) = (source.offset(), words.last().copied().unwrap_or_default());
    for word in words.iter_mut() {
        *word = reorder_lanes::<C>(*word);
    }
    let counted = Counted {
        total: source.take_u64()?,
        full_from: source.take_u64()?,
        lost: source.take_u64()?,
    };
    let sketch = CountMinSketch::from_parts(words, params, update, counted, hasher);
    check_sketch(sketch.rows(), &params, last_word, counted, offset)?;
    Ok(sketch)
}

/// Returns the total and the least saturated count from the end of a payload.
pub(crate) fn counted_of(payload: &[u8]) -> Counted {
    let (_, words) = payload.as_rchunks::<8>();
    let last =
        |place: usize| words.iter().rev().nth(place).map_or(0, |word| u64::from_le_bytes(*word));
    Counted { total: last(2), full_from: last(1), lost: last(0) }
}

/// Checks the payload of a sketch whose counters end at offset `end`: the bits after the last counter, and the numbers
/// after the counters.
///
/// # Errors
/// [`DecodeError`] if no sketch has such counters.
pub(crate) fn check_sketch<C: Counter, T: StoredCounter<C>>(
    rows: PlainRows<'_, T>,
    params: &CountMinParams,
    last_word: u64,
    Counted { total, full_from, lost }: Counted,
    end: u64,
) -> Result<(), DecodeError> {
    let used = params.counters() % C::PER_WORD as u64 * u64::from(C::BITS);
    check_padding(end - 8, used, last_word)?;
    let refuse =
        |name, offset, found, allowed| Err(DecodeError::invalid(name, offset, found, allowed));
    if !(1..=C::MAX.into()).contains(&full_from) {
        let allowed = "at least 1, and at most the limit of a counter";
        return refuse("the least saturated count", end + 8, full_from, allowed);
    }
    if lost > total || lost == 0 && full_from < C::MAX.into() {
        let allowed = "at most the total, and above 0 if counts below the limit are saturated";
        return refuse("the lost counts", end + 16, lost, allowed);
    }
    // Each insert adds to one counter per row at most.
    if total < u64::MAX && rows.greatest_sum::<C>() > total.into() {
        return refuse("the total", end, total, "at least the sum of each row");
    }
    Ok(())
}

/// Index of the update among the shape numbers of a count-min sketch.
const UPDATE: usize = 3;

/// Returns the parameters of a shape. It is an error if no sketch of these counters in this storage has it.
pub(crate) fn params_of<C: Counter, W: CounterStorage>(
    shape: &Shape,
) -> Result<(CountMinParams, Update), DecodeError> {
    shape.expect_no_design()?;
    let numbers: Numbers<6> = shape.numbers([
        "width",
        "depth",
        "the bits of a counter",
        "the update",
        "epsilon",
        "delta",
    ])?;
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
        1 if W::SHARED => {
            let (meaning, allowed) =
                (Update::Conservative.name(), "plain, for a sketch that threads share");
            return Err(numbers.choice(UPDATE, Some(meaning), allowed));
        }
        1 => Update::Conservative,
        _ => return Err(numbers.field(UPDATE, "0 (plain) or 1 (conservative)")),
    };
    let (epsilon, delta) = (f64::from_bits(epsilon), f64::from_bits(delta));
    let params = CountMinParams::with_error(width, narrow_depth(depth), epsilon, delta);
    Ok((params.map_err(|error| numbers.error(error))?, update))
}

// As for the count-min sketch.
impl CountSketch {
    /// Reads portable bytes that hold one sketch and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
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

impl<S: PublicSeed> CountSketch<S> {
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
impl<S: PublicSeed> serde::Serialize for CountSketch<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for CountSketch<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
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

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = 8 * sketch_params_of(shape)?.counters();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.counters.values())
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

/// Narrows a depth. A depth beyond 32 bits becomes the greatest of 32 bits, which is out of range, too.
fn narrow_depth(depth: u64) -> u32 {
    u32::try_from(depth).unwrap_or(u32::MAX)
}
