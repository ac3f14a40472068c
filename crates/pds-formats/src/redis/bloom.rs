//! The Bloom filter of `RedisBloom`: layers that grow.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use libm::ceil;
use pds_core::error::{BuildError, InsertError, ParamError};
use pds_core::storage::{OwnedWords as _, RawBytes, WordSource as _, Words};
use pds_params::internal::ParamFault;

use super::chunks::{self, Chunk};
use super::logarithm::log;
use super::rdb::{ModuleReader, ModuleWriter, RdbVersion};
use crate::FormatError;
use crate::hash::murmur2_64a;
use crate::reader::{Field, MAX_HASHES, Reader};

/// The name of the format in errors.
const FORMAT: &str = "RedisBloom Bloom filter";

/// Name and version of the module's type.
const TYPE: (&str, u16) = ("MBbloom--", 4);

/// The seed of the first hash. The first hash is the seed of the second.
const SEED: u64 = 0xc6a4_a793_5bd1_e995;

/// Options: sizes are not rounded to a power of two, hashes have 64 bits, the filter does not grow.
const NO_ROUNDING: u32 = 1;
const HASH_64: u32 = 4;
const NON_SCALING: u32 = 8;
const KNOWN: [u32; 2] = [NO_ROUNDING | HASH_64, NO_ROUNDING | HASH_64 | NON_SCALING];

/// Bytes of the header before the layers, and for each layer.
const HEADER_BYTES: u64 = 20;
const LAYER_BYTES: u64 = 53;

/// The constants of the module: (ln 2)^2 and ln 2.
const LN2_SQUARED: f64 = 0.480_453_013_918_201;
#[expect(
    clippy::approx_constant,
    reason = "the digits decide where a number of hash functions is rounded up"
)]
const LN2: f64 = 0.693_147_180_559_945;

/// The most items that are read, and that a filter grows to.
const MAX_ITEMS: u64 = u64::MAX - 1;

/// A Bloom filter of `RedisBloom`, of one layer or several.
///
/// Use it to exchange filters with a server. Otherwise use `bloom_scalable::ScalableBloomFilter`, whose layers together
/// keep the rate.
///
/// # Guarantees
/// - False negatives: never.
/// - False positives: each layer has half the rate of the one before, and the first one half the rate of
///   [`reserve`](Self::reserve). Together they keep it, up to the capacity of each layer. A filter that does not grow has
///   one layer of the whole rate, which it misses by up to 1 % of it: the module rounds up its number of hash functions.
/// - Memory: 1.44 log2(2 / rate) bits per item in the first layer, 1.44 more in each next one.
/// - Insert and query: O(k) in each layer, k hash functions.
///
/// # Examples
/// ```
/// use pds_formats::redis::RedisBloomFilter;
///
/// let mut filter = RedisBloomFilter::reserve(0.01, 1_000, Some(2))?;
/// assert_eq!(filter.insert(b"user:17"), Ok(true));
/// // `BF.LOADCHUNK key iterator data` for each chunk makes it a key of the server.
/// let chunks = filter.to_chunks();
/// let read = RedisBloomFilter::from_chunks(&chunks)?;
/// assert!(read.contains(b"user:17") && !read.contains(b"user:18"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct RedisBloomFilter {
    layers: Vec<Layer>,
    items: u64,
    options: u32,
    growth: u32,
}

impl RedisBloomFilter {
    /// Creates a filter as `BF.RESERVE` does. `growth` is the factor from the capacity of one layer to the next one
    /// (`EXPANSION`, 2 by default); `None` is a filter that does not grow (`NONSCALING`).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `rate` is not above 0 and below 1, if `capacity` or `growth` is 0, or if the filter would
    /// have more than 2^40 bytes. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn reserve(rate: f64, capacity: u64, growth: Option<u32>) -> Result<Self, BuildError> {
        if !(rate > 0.0 && rate < 1.0) {
            let parameter = "false_positive_rate";
            return Err(ParamError(ParamFault::NotAProbability { parameter, value: rate }).into());
        }
        for (parameter, value) in [("capacity", capacity), ("growth", growth.map_or(1, u64::from))]
        {
            if value == 0 {
                let (min, max) = (1, u64::MAX);
                return Err(
                    ParamError(ParamFault::OutOfRange { parameter, value, min, max }).into()
                );
            }
        }
        let (options, rate) = match growth {
            Some(_) => (KNOWN[0], rate * 0.5),
            None => (KNOWN[1], rate),
        };
        let layers = alloc::vec![Layer::new(capacity, rate)?];
        Ok(Self { layers, items: 0, options, growth: growth.unwrap_or(2) })
    }

    /// Reads the chunks of `BF.SCANDUMP`, all of them but the empty one at the end.
    ///
    /// # Errors
    /// [`FormatError`] if the chunks are anything else. Offsets count from the start of the first chunk, through all. The header
    /// of modules before 2.0, of 16 bytes and 49 per layer, is refused.
    pub fn from_chunks<D: AsRef<[u8]>>(chunks: &[Chunk<D>]) -> Result<Self, FormatError> {
        let bytes = chunks::join(FORMAT, chunks)?;
        let header_bytes = chunks.first().map_or(0, |chunk| chunk.data.as_ref().len() as u64);
        let mut reader = Reader::new(FORMAT, &bytes);
        let items = reader.u64_le("number of items")?;
        let count = reader.u32_le("number of layers")?;
        let expected = HEADER_BYTES + LAYER_BYTES * u64::from(count.value);
        if expected != header_bytes {
            let old = 16 + 49 * u64::from(count.value) == header_bytes;
            let allowed = if old {
                "20 and 53 per layer (16 and 49 are those of RedisBloom before 2.0)"
            } else {
                "20 and 53 per layer"
            };
            return Err(reader.invalid(
                "length of the header",
                count.offset,
                header_bytes,
                allowed,
            ));
        }
        let options = reader.u32_le("options")?;
        let growth = reader.u32_le("growth")?;
        let mut heads = Vec::new();
        for _ in 0..count.value {
            heads.push(Head::from_chunk(&mut reader)?);
        }
        let mut layers = Vec::new();
        for head in heads {
            let bits = reader.bytes("bits of a layer", head.bytes())?;
            layers.push(head.with_bits(bits)?);
        }
        reader.end()?;
        let options = options.one_of(&KNOWN, ALLOWED_OPTIONS)?;
        let growth = check_growth(growth, options)?;
        let filter = Self { layers, items: items.value, options, growth };
        filter.check_counts(&reader, count.offset, items.offset)?;
        Ok(filter)
    }

    /// Returns the chunks that `BF.LOADCHUNK` takes one by one, with their iterators.
    #[must_use]
    pub fn to_chunks(&self) -> Vec<Chunk> {
        let mut header = Vec::new();
        header.extend(self.items.to_le_bytes());
        header.extend(self.layers.len().to_le_bytes().into_iter().take(4));
        header.extend(self.options.to_le_bytes());
        header.extend(self.growth.to_le_bytes());
        self.layers.iter().for_each(|layer| layer.head.write_chunk(&mut header));
        chunks::split(header, self.layers.iter().map(Layer::to_bytes))
    }

    /// Reads what `DUMP` returns.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or if their checksum is wrong.
    pub fn from_dump(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = ModuleReader::new(FORMAT, bytes, TYPE)?;
        let items = reader.unsigned("number of items")?;
        let count = reader.unsigned("number of layers")?;
        let options = reader.unsigned("options")?;
        let growth = reader.unsigned("growth")?;
        let mut layers = Vec::new();
        for _ in 0..count.value {
            layers.push(Layer::from_dump(&mut reader)?);
        }
        let options = options.narrow()?.one_of(&KNOWN, ALLOWED_OPTIONS)?;
        let growth = check_growth(growth.narrow()?, options)?;
        let filter = Self { layers, items: items.value, options, growth };
        let reader = reader.end()?;
        filter.check_counts(&reader, count.offset, items.offset)?;
        Ok(filter)
    }

    /// Returns what `RESTORE` takes.
    #[must_use]
    pub fn to_dump(&self, version: RdbVersion) -> Vec<u8> {
        let mut writer = ModuleWriter::new(TYPE);
        for number in
            [self.items, self.layers.len() as u64, self.options.into(), self.growth.into()]
        {
            writer.unsigned(number);
        }
        self.layers.iter().for_each(|layer| layer.write_dump(&mut writer));
        writer.end(version)
    }

    /// Checks what the fields say of each other.
    fn check_counts(
        &self,
        reader: &Reader<'_>,
        count_at: u64,
        items_at: u64,
    ) -> Result<(), FormatError> {
        if self.layers.is_empty() {
            return Err(reader.invalid("number of layers", count_at, 0_u64, "at least 1"));
        }
        let sum = self.layers.iter().map(|layer| u128::from(layer.head.items)).sum::<u128>();
        let wrong = |allowed| Err(reader.invalid("number of items", items_at, self.items, allowed));
        if sum != self.items.into() {
            return wrong(alloc::format!("{sum}, the sum of all layers"));
        }
        if self.items > MAX_ITEMS {
            return wrong("below 2^64 - 1".into());
        }
        Ok(())
    }

    /// Inserts an item, as `BF.ADD` does. Returns `true` if it was not contained before.
    ///
    /// Opens a layer if the last one has as many items as its capacity.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the filter does not grow, cannot grow any more, or has 2^64 - 2 items. [`InsertError::Alloc`]
    /// if the allocator refuses the memory for a layer. The filter is unchanged then.
    pub fn insert(&mut self, item: &[u8]) -> Result<bool, InsertError> {
        let hashes = Hashes::new(item);
        if self.contains_hashes(hashes) {
            return Ok(false);
        }
        // One more could not be counted, or not be read back.
        if self.items >= MAX_ITEMS {
            return Err(self.full());
        }
        let last = &self.layers[self.layers.len() - 1].head;
        if last.items >= last.capacity {
            let next = self.next_layer()?;
            self.layers.push(next);
        }
        let last = self.layers.len() - 1;
        self.layers[last].insert(hashes);
        self.items += 1;
        Ok(true)
    }

    fn full(&self) -> InsertError {
        InsertError::Full { len: self.items, capacity: self.capacity() }
    }

    /// Returns the layer after the last one.
    fn next_layer(&self) -> Result<Layer, InsertError> {
        let last = &self.layers[self.layers.len() - 1].head;
        let full = self.full();
        let capacity = last.capacity.checked_mul(self.growth.into()).ok_or(full)?;
        if !self.is_scaling() {
            return Err(full);
        }
        Layer::new(capacity, last.rate * 0.5).map_err(|error| match error {
            BuildError::Alloc(error) => InsertError::Alloc(error),
            _ => full,
        })
    }

    /// Tests whether an item may be in the set, as `BF.EXISTS` does. `false` is certain.
    #[must_use]
    pub fn contains(&self, item: &[u8]) -> bool {
        self.contains_hashes(Hashes::new(item))
    }

    fn contains_hashes(&self, hashes: Hashes) -> bool {
        self.layers.iter().any(|layer| layer.contains(hashes))
    }

    /// Returns the number of items for which [`insert`](Self::insert) returned `true`, as `BF.CARD` does.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.items
    }

    /// Returns whether nothing was inserted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Returns the number of items that all layers of the filter are made for.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.layers.iter().fold(0, |sum, layer| sum.saturating_add(layer.head.capacity))
    }

    /// Returns the number of layers.
    #[must_use]
    pub fn num_layers(&self) -> usize {
        self.layers.len()
    }

    /// Returns whether the filter opens layers as it fills.
    #[must_use]
    pub const fn is_scaling(&self) -> bool {
        self.options & NON_SCALING == 0
    }

    /// Returns the factor from the capacity of one layer to that of the next one. `None` if the filter does not grow.
    #[must_use]
    pub fn growth(&self) -> Option<u32> {
        self.is_scaling().then_some(self.growth)
    }

    /// Returns the size of the bits of all layers, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.layers.iter().map(|layer| layer.head.bytes()).sum()
    }

    /// Returns the current false-positive rate: the fraction of absent items that are answered `true`.
    ///
    /// It takes the layers to answer independently, each with its fill to the power of its number of hash functions.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        1.0 - self.layers.iter().map(|layer| 1.0 - layer.rate()).product::<f64>()
    }
}

impl fmt::Debug for RedisBloomFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBloomFilter")
            .field("len", &self.items)
            .field("capacity", &self.capacity())
            .field("num_layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}

/// Returns the growth, which may be 0 in a filter that does not grow.
fn check_growth(growth: Field<u32>, options: u32) -> Result<u32, FormatError> {
    growth.require(
        growth.value > 0 || options & NON_SCALING != 0,
        "at least 1 in a filter that grows",
    )
}

fn finite(number: Field<f64>) -> Result<f64, FormatError> {
    number.require(number.value.is_finite(), "finite")
}

/// Returns whether a layer can have this many bits: whole words of 64.
const fn is_whole(bits: u64) -> bool {
    bits > 0 && bits.is_multiple_of(64)
}

fn allowed_bits(bytes: u64) -> String {
    alloc::format!("a multiple of 64 and 8 per byte of the layer, which are {bytes}")
}

const ALLOWED_OPTIONS: &str = "5, or 13 for a filter that does not grow";

/// The two hashes of an item.
#[derive(Clone, Copy)]
struct Hashes {
    first: u64,
    second: u64,
}

impl Hashes {
    fn new(item: &[u8]) -> Self {
        let first = murmur2_64a(item, SEED);
        Self { first, second: murmur2_64a(item, first) }
    }
}

/// The stated numbers of a layer.
#[derive(Clone, Debug, PartialEq)]
struct Head {
    capacity: u64,
    rate: f64,
    hashes: u32,
    /// Bits per item.
    bits_per_item: f64,
    bits: u64,
    items: u64,
}

/// A layer: a Bloom filter of its own.
#[derive(Clone, PartialEq)]
struct Layer {
    head: Head,
    bits: Words,
}

impl Head {
    fn new(capacity: u64, rate: f64) -> Result<Self, ParamError> {
        /// 2^40 bytes.
        const MAX_BITS: f64 = 8_796_093_022_208.0;
        // A rate that is halved often becomes 0.
        let bits_per_item = if rate > 0.0 { -log(rate) / LN2_SQUARED } else { f64::INFINITY };
        #[expect(clippy::cast_precision_loss, reason = "as in the module")]
        let bits = capacity as f64 * bits_per_item;
        if bits > MAX_BITS {
            let parameter = "bits of a layer";
            return Err(ParamError(ParamFault::TooLarge { parameter, value: bits, max: MAX_BITS }));
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole parts, as in the module")]
        #[expect(clippy::cast_sign_loss, reason = "neither is negative")]
        let (bits, hashes) = (bits as u64, ceil(LN2 * bits_per_item) as u32);
        let bits = bits.max(1).next_multiple_of(64);
        Ok(Self { capacity, rate, hashes, bits_per_item, bits, items: 0 })
    }

    const fn bytes(&self) -> u64 {
        self.bits / 8
    }

    /// Returns the layer with these bits, of which there are as many as the head says.
    fn with_bits(self, bits: &[u8]) -> Result<Layer, FormatError> {
        let bits = Words::copied(&RawBytes::new(bits));
        Ok(Layer { head: self, bits: bits.map_err(|error| FormatError::alloc(FORMAT, error))? })
    }

    /// Reads the 53 bytes in the header of a dump by chunks.
    fn from_chunk(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let bytes = reader.u64_le("bytes of a layer")?.value;
        let bits = reader.u64_le("bits of a layer")?;
        let items = reader.u64_le("number of items in a layer")?.value;
        let rate = reader.f64_le("rate of a layer")?;
        let bits_per_item = finite(reader.f64_le("bits per item")?)?;
        let hashes = reader.u32_le("number of hash functions")?;
        let capacity = reader.u64_le("capacity of a layer")?.within(1..=u64::MAX)?;
        reader.u8("power of two of a layer")?.equals(0)?;
        let is_sound = is_whole(bits.value) && bytes.checked_mul(8) == Some(bits.value);
        let bits = bits.require(is_sound, allowed_bits(bytes))?;
        let rate = rate.require(rate.value > 0.0 && rate.value < 1.0, "above 0 and below 1")?;
        let hashes = hashes.within(1..=MAX_HASHES)?;
        Ok(Self { capacity, rate, hashes, bits_per_item, bits, items })
    }

    fn write_chunk(&self, header: &mut Vec<u8>) {
        header.extend(self.bytes().to_le_bytes());
        header.extend(self.bits.to_le_bytes());
        header.extend(self.items.to_le_bytes());
        header.extend(self.rate.to_le_bytes());
        header.extend(self.bits_per_item.to_le_bytes());
        header.extend(self.hashes.to_le_bytes());
        header.extend(self.capacity.to_le_bytes());
        header.push(0);
    }
}

impl Layer {
    fn new(capacity: u64, rate: f64) -> Result<Self, BuildError> {
        let head = Head::new(capacity, rate)?;
        let bits = Words::zeroed(head.bits / 64)?;
        Ok(Self { head, bits })
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.bits.values().flat_map(u64::to_le_bytes).collect()
    }

    fn from_dump(reader: &mut ModuleReader<'_>) -> Result<Self, FormatError> {
        let capacity = reader.unsigned("capacity of a layer")?.within(1..=u64::MAX)?;
        let rate = reader.double("rate of a layer")?;
        let hashes =
            reader.unsigned("number of hash functions")?.narrow()?.within(1..=MAX_HASHES)?;
        let bits_per_item = finite(reader.double("bits per item")?)?;
        let bits = reader.unsigned("bits of a layer")?;
        reader.unsigned("power of two of a layer")?.equals(0)?;
        let stored = reader.string("bits of a layer")?;
        let items = reader.unsigned("number of items in a layer")?.value;
        let is_sound = is_whole(bits.value) && bits.value == 8 * stored.len() as u64;
        let bits = bits.require(is_sound, allowed_bits(stored.len() as u64))?;
        let rate = rate.require(rate.value > 0.0 && rate.value < 1.0, "above 0 and below 1")?;
        let head = Head { capacity, rate, hashes, bits_per_item, bits, items };
        head.with_bits(&stored)
    }

    fn write_dump(&self, writer: &mut ModuleWriter) {
        let head = &self.head;
        writer.unsigned(head.capacity);
        writer.double(head.rate);
        writer.unsigned(head.hashes.into());
        writer.double(head.bits_per_item);
        writer.unsigned(head.bits);
        writer.unsigned(0);
        writer.string(&self.to_bytes());
        writer.unsigned(head.items);
    }

    /// Returns the word and the mask of each bit of an item.
    fn places(&self, hashes: Hashes) -> impl Iterator<Item = (usize, u64)> + use<> {
        let bits = self.head.bits;
        (0..u64::from(self.head.hashes)).map(move |i| {
            let bit = hashes.first.wrapping_add(i.wrapping_mul(hashes.second)) % bits;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn contains(&self, hashes: Hashes) -> bool {
        self.places(hashes).all(|(word, mask)| self.bits[word] & mask != 0)
    }

    fn insert(&mut self, hashes: Hashes) {
        for (word, mask) in self.places(hashes) {
            self.bits[word] |= mask;
        }
        self.head.items += 1;
    }

    #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than 53 bits")]
    fn rate(&self) -> f64 {
        let ones: u64 = self.bits.values().map(|word| u64::from(word.count_ones())).sum();
        libm::pow(ones as f64 / self.head.bits as f64, f64::from(self.head.hashes))
    }
}
