//! The portable bytes of both filters. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::hash::{PortableHasher, PublicSeed, probe};
use pds_core::internal::DecodeFault;
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_params::scalable::compound_rate;
use pds_params::{LayeredParams, ScalableParams, Schedule};

use crate::filter::reserve;
use crate::layer::{Layer, OwnedLayer, ROUNDING};
use crate::{LayeredBloomFilter, ScalableBloomFilter};

/// The requirement that a layer misses, in error messages.
const KEEPS_DESIGN: &str = "one of a size that can keep its design";

/// The least length of the envelope of a layer in bytes.
const LEAST_LAYER: u64 = 128;

/// Defines the methods for bytes of a filter of layers. The readers exist for the default layers only, like `new`.
macro_rules! byte_methods {
    ($filter:ident) => {
        impl $filter {
            /// Reads portable bytes that hold one filter of standard layers and nothing else. For other layers use
            /// [`ByteOptions`].
            ///
            /// # Errors
            /// [`DecodeError`] says what is wrong, and at which offset.
            ///
            /// # Complexity
            /// O(length of the bytes). Allocates no more than the bytes justify.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
                ByteOptions::new().from_bytes(bytes)
            }

            /// Reads one filter of standard layers from a stream. Leaves what follows it in the reader.
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

        impl<F, S: PublicSeed> $filter<F>
        where
            F: OwnedLayer<Hasher = S> + Portable<Hasher = S>,
            S: Clone,
        {
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
        impl<F, S: PublicSeed> serde::Serialize for $filter<F>
        where
            F: OwnedLayer<Hasher = S> + Portable<Hasher = S>,
            S: Clone,
        {
            fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                serde::serialize(self, serializer)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, F, S: PortableHasher> serde::Deserialize<'de> for $filter<F>
        where
            F: OwnedLayer<Hasher = S> + Portable<Hasher = S>,
            S: Clone,
        {
            fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
                serde::deserialize(deserializer)
            }
        }
    };
}

byte_methods!(ScalableBloomFilter);
byte_methods!(LayeredBloomFilter);

impl<F, S> Portable for ScalableBloomFilter<F>
where
    F: OwnedLayer<Hasher = S> + Portable<Hasher = S>,
    S: PortableHasher + Clone,
{
    type Hasher = S;
    const KIND: Kind = Kind::SCALABLE_BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let (schedule, value) = match self.params.schedule() {
            Schedule::Ratio(ratio) => (1, ratio.to_bits()),
            Schedule::Likely(items) => (3, items),
            _ => (2, 0),
        };
        Shape::new([
            F::LAYER.id().into(),
            self.params.first_items(),
            self.params.promised_rate().to_bits(),
            self.params.growth().into(),
            schedule,
            value,
            self.layers.len() as u64,
            self.merged as u64,
            self.room,
        ])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let growth = Growth::of_shape::<F>(shape)?;
        Ok(growth.layers.saturating_mul(8 + LEAST_LAYER)..=u64::MAX)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.indices.iter().map(|&index| index.into()))?;
        self.layers.iter().try_for_each(|layer| sink.put_envelope(layer))
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let growth = Growth::of_shape::<F>(shape)?;
        let mut indices = Vec::new();
        for place in 0..growth.layers {
            let offset = source.offset();
            let index = growth.check_index(place, &indices, source.take_u64()?, offset)?;
            reserve(&mut indices, 1).map_err(DecodeError::from)?;
            indices.push(index);
        }
        let layers = read_layers(growth.layers, &hasher, source, |index, layer, offset| {
            growth.check_layer(index, layer, offset)
        })?;
        Ok(growth.with_layers(layers, indices))
    }
}

/// The numbers of a growing filter.
pub(crate) struct Growth {
    params: ScalableParams,
    pub(crate) layers: u64,
    pub(crate) merged: u64,
    room: u64,
}

impl Growth {
    pub(crate) fn of_shape<F: Layer>(shape: &Shape) -> Result<Self, DecodeError> {
        shape.expect_no_design()?;
        let numbers = shape.numbers([
            "the kind of the layers",
            "expected_items",
            "false_positive_rate",
            "growth",
            "the schedule",
            "the value of the schedule",
            "layers",
            "the merged layers",
            "the room in the newest layer",
        ])?;
        let [kind, items, rate, growth, schedule, value, layers, merged, room] = numbers.values();
        if kind != u64::from(F::LAYER.id()) {
            return Err(numbers.field(0, F::ALLOWED));
        }
        let schedule = match schedule {
            1 => {
                let ratio = f64::from_bits(value);
                if !(ratio > 0.0 && ratio < 1.0) {
                    return Err(numbers.field(5, "above 0 and below 1 (as bits)"));
                }
                Schedule::Ratio(ratio)
            }
            2 if value == 0 => Schedule::Halving,
            2 => return Err(numbers.field(5, "0 for rates that are halved")),
            3 if value >= items => Schedule::Likely(value),
            3 => return Err(numbers.field(5, "at least the items of the first layer")),
            _ => return Err(numbers.field(4, "1 for a ratio, 2 for halving, 3 for likely items")),
        };
        let growth = u32::try_from(growth).map_err(|_| numbers.field(3, "from 1 to 32,768"))?;
        let params = ScalableParams::new(items, f64::from_bits(rate), growth, schedule)
            .map_err(|error| numbers.error(error))?;
        if layers == 0 {
            return Err(numbers.field(6, "at least 1"));
        }
        if merged >= layers {
            return Err(numbers.field(7, "fewer than all layers"));
        }
        let newest = u32::try_from(layers - merged - 1).ok().map(|newest| params.layer(newest));
        let Some(Ok(newest)) = newest else {
            return Err(numbers.field(6, "as many as the schedule can have"));
        };
        if room > newest.items {
            return Err(numbers.field(8, "at most the items of its design"));
        }
        if room == newest.items && layers - merged > 1 {
            return Err(
                numbers.field(8, "below the items of its design, since it was opened for a key")
            );
        }
        Ok(Self { params, layers, merged, room })
    }

    /// Checks that the layer at this place can keep its design, and that an own layer has the one that the schedule plans.
    pub(crate) fn check_layer(
        &self,
        index: u64,
        layer: &impl Layer,
        offset: u64,
    ) -> Result<(), DecodeError> {
        let refuse =
            |allowed| Err(DecodeError::invalid("the layer of this number", offset, index, allowed));
        let is_planned = |own: u64| {
            let planned = u32::try_from(own).ok().and_then(|own| self.params.layer(own).ok());
            planned.is_some_and(|planned| layer.design() == Some(planned.offered()))
        };
        if !index.checked_sub(self.merged).is_none_or(is_planned) {
            return refuse("the one that the schedule plans");
        }
        if layer.keeps_design() { Ok(()) } else { refuse(KEEPS_DESIGN) }
    }

    /// Checks the index by which the layer at this place mixes hashes. `before` has those of the layers before it.
    pub(crate) fn check_index(
        &self,
        place: u64,
        before: &[u32],
        found: u64,
        offset: u64,
    ) -> Result<u32, DecodeError> {
        let refused =
            |allowed| DecodeError::invalid("the index of a layer", offset, found, allowed);
        let index = u32::try_from(found).map_err(|_| refused("below 2^32"))?;
        if place + 1 == self.layers && self.room > 0 && before.contains(&index) {
            return Err(refused("one that no other layer has, since the newest layer has room"));
        }
        Ok(index)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "fewer than the layers, which are in memory"
    )]
    pub(crate) fn with_layers<F>(
        self,
        layers: Vec<F>,
        indices: Vec<u32>,
    ) -> ScalableBloomFilter<F> {
        let merged = self.merged as usize;
        ScalableBloomFilter { layers, params: self.params, indices, merged, room: self.room }
    }
}

/// Reads layers, each of which is checked with its index and the offset of its end.
fn read_layers<F, S, R: Source>(
    count: u64,
    hasher: &S,
    source: &mut R,
    mut check: impl FnMut(u64, &F, u64) -> Result<(), DecodeError>,
) -> Result<Vec<F>, R::Error>
where
    F: Layer<Hasher = S> + Portable<Hasher = S>,
    S: PortableHasher + Clone,
{
    let mut layers = Vec::new();
    for index in 0..count {
        let layer: F = source.take_envelope(layer_hasher(hasher))?;
        let offset = source.offset();
        check_hasher(hasher, layer.layer_hasher(), offset)?;
        check(index, &layer, offset)?;
        reserve(&mut layers, 1).map_err(DecodeError::from)?;
        layers.push(layer);
    }
    Ok(layers)
}

/// Returns the hasher that a layer is read with.
// Layers whose hasher is no secret contain it. If they were given one, bytes with and without it would be read alike.
pub(crate) fn layer_hasher<S: PortableHasher + Clone>(hasher: &S) -> Option<S> {
    S::SECRET.then(|| hasher.clone())
}

/// Checks that a layer that ends at `offset` has the hasher of the whole filter.
pub(crate) fn check_hasher<S: PortableHasher>(
    hasher: &S,
    of_layer: &S,
    offset: u64,
) -> Result<(), DecodeError> {
    let (expected, found) = (probe(hasher), probe(of_layer));
    if expected == found {
        return Ok(());
    }
    Err(DecodeError(DecodeFault::KeyMismatch { offset, expected, found }))
}

impl<F, S> Portable for LayeredBloomFilter<F>
where
    F: OwnedLayer<Hasher = S> + Portable<Hasher = S>,
    S: PortableHasher + Clone,
{
    type Hasher = S;
    const KIND: Kind = Kind::LAYERED_BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let (layers, rate) = (self.layers().len() as u64, self.promised_rate().to_bits());
        Shape::new([F::LAYER.id().into(), layers, rate])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let (layers, _) = layered_of_shape::<F>(shape)?;
        Ok(layers * LEAST_LAYER..=u64::MAX)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.layers().iter().try_for_each(|layer| sink.put_envelope(layer))
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (count, rate) = layered_of_shape::<F>(shape)?;
        let layers = read_layers(count, &hasher, source, check_counts())?;
        check_promise(shape, rate, &layers)?;
        Ok(Self::from_layers(layers, rate))
    }
}

const LAYERED_NUMBERS: [&str; 3] = ["the kind of the layers", "layers", "the promised rate"];

/// Returns the number of layers and the promised rate of a layered filter.
pub(crate) fn layered_of_shape<F: Layer>(shape: &Shape) -> Result<(u64, f64), DecodeError> {
    shape.expect_no_design()?;
    let numbers = shape.numbers(LAYERED_NUMBERS)?;
    let [kind, layers, rate] = numbers.values();
    if kind != u64::from(F::LAYER.id()) {
        return Err(numbers.field(0, F::ALLOWED));
    }
    if !(2..=LayeredParams::MAX_LAYERS as u64).contains(&layers) {
        return Err(numbers.field(1, "from 2 to 16"));
    }
    let rate = f64::from_bits(rate);
    if rate > 0.0 && rate < 1.0 {
        return Ok((layers, rate));
    }
    Err(numbers.field(2, "above 0 and below 1 (as bits)"))
}

/// Returns a check of the layers of a layered filter, from the first on: each can keep its design, and is for no more items than
/// the one before it.
pub(crate) fn check_counts<F: Layer>() -> impl FnMut(u64, &F, u64) -> Result<(), DecodeError> {
    let mut most = u64::MAX;
    move |index, layer, offset| {
        let items = layer.design().map_or(0, |design| design.items);
        let allowed = match (layer.keeps_design(), items <= most) {
            (false, _) => KEEPS_DESIGN,
            (_, false) => "one for at most the items of the layer before it",
            _ => {
                most = items;
                return Ok(());
            }
        };
        Err(DecodeError::invalid("the layer of this number", offset, index, allowed))
    }
}

/// Checks that layers with their designs keep the promised rate of a layered filter.
pub(crate) fn check_promise<F: Layer>(
    shape: &Shape,
    rate: f64,
    layers: &[F],
) -> Result<(), DecodeError> {
    let designs = layers.iter().filter_map(Layer::design);
    if compound_rate(designs.map(|design| design.rate)) * (1.0 - ROUNDING) <= rate {
        return Ok(());
    }
    Err(shape.numbers(LAYERED_NUMBERS)?.field(2, "at least the rate of all layers together"))
}
