//! The Bloom filter of valkey-bloom: layers that grow, in the value of `BF.LOAD`.

use alloc::vec::Vec;
use core::hash::Hasher as _;
use core::{fmt, iter};

use pds_core::error::{BuildError, DecodeErrorKind, InsertError, ParamError};
use pds_params::internal::ParamFault;
use siphasher::sip::SipHasher13;

use super::logarithm::log;
use crate::FormatError;
use crate::memory::{collected, zeroed};
use crate::reader::{MAX_HASHES, Reader};

/// The name of the format in errors.
const FORMAT: &str = "valkey-bloom filter";

/// The version of the value, and of the bits of a layer.
const VERSION: u8 = 1;

/// Bytes of a layer before its bits: version, number of bytes, number of hash functions, seed.
const HEAD_BYTES: u64 = 1 + 8 + 4 + 32;

/// The factor from the rate of one layer to the next one that the module takes.
const TIGHTENING: f64 = 0.5;

/// The largest prime below 2^64, by which combined hashes are reduced.
const PRIME: u64 = 0xffff_ffff_ffff_ffc5;

/// The largest layer, in bytes: 1 TiB.
const MAX_BYTES: f64 = 1_099_511_627_776.0;

/// A Bloom filter of valkey-bloom, of one layer or several.
///
/// Use it to exchange filters with a server. Otherwise use `bloom_scalable::ScalableBloomFilter`, whose layers together
/// keep the rate. Items are hashed by SipHash-1-3 with keys that are stored in the value.
///
/// # Guarantees
/// - False negatives: never.
/// - False positives: the first layer has about the rate of [`reserve`](Self::reserve), each next one half of that before it. All
///   layers together stay below twice the rate, up to the capacity of each.
/// - Memory: 1.44 log2(1 / rate) bits per item in the first layer, 1.44 more in each next one.
/// - Insert and query: O(k) in each layer, k hash functions.
///
/// # Examples
/// ```
/// use pds_formats::redis::ValkeyBloomFilter;
///
/// let seed = *b"thirty-two bytes as keys, 0 - 31";
/// let mut filter = ValkeyBloomFilter::reserve(0.01, 1_000, Some(2), seed)?;
/// assert_eq!(filter.insert(b"user:17"), Ok(true));
/// // `BF.LOAD key value` makes it a key of the server.
/// let read = ValkeyBloomFilter::from_bytes(&filter.to_bytes())?;
/// assert!(read.contains(b"user:17") && !read.contains(b"user:18"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ValkeyBloomFilter {
    /// How many times the capacity of a layer the next one has. 0: there is no next one.
    expansion: u32,
    rate: f64,
    tightening: f64,
    is_seed_random: bool,
    layers: Vec<Layer>,
}

/// A layer: a Bloom filter of its own.
#[derive(Clone, PartialEq)]
struct Layer {
    hashes: u32,
    seed: [u8; 32],
    bits: Vec<u8>,
    items: u64,
    capacity: u64,
}

impl ValkeyBloomFilter {
    /// Creates a filter as `BF.INSERT` does with `SEED`. `expansion` is the factor from the capacity of one layer to the next
    /// one (2 by default); `None` is a filter that does not grow (`NONSCALING`).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `rate` is not above 0 and below 1, if `capacity` is 0 or above 2^63 - 1, if `expansion` is 0,
    /// if both halves of `seed` are equal, or if the filter would have more than 2^40 bytes. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn reserve(
        rate: f64,
        capacity: u64,
        expansion: Option<u32>,
        seed: [u8; 32],
    ) -> Result<Self, BuildError> {
        if !(rate > 0.0 && rate < 1.0) {
            let parameter = "false_positive_rate";
            return Err(ParamError(ParamFault::NotAProbability { parameter, value: rate }).into());
        }
        let limits = [("capacity", capacity), ("expansion", expansion.map_or(1, u64::from))];
        for (parameter, value) in limits {
            let (min, max) = (1, i64::MAX as u64);
            if !(min..=max).contains(&value) {
                return Err(
                    ParamError(ParamFault::OutOfRange { parameter, value, min, max }).into()
                );
            }
        }
        // Both hashes of an item would be equal. A filter of 1 % then answers wrongly at 3.7 %.
        if seed[..16] == seed[16..] {
            let (parameter, value, allowed) = ("seed", "equal halves", "different halves");
            return Err(ParamError(ParamFault::Choice { parameter, value, allowed }).into());
        }
        let layers = alloc::vec![Layer::new(capacity, rate, seed)?];
        let expansion = expansion.unwrap_or(0);
        Ok(Self { expansion, rate, tightening: TIGHTENING, is_seed_random: false, layers })
    }

    /// Reads the value of `BF.LOAD`, which append-only files contain.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let version = reader.u8("version")?.equals(VERSION);
        version.map_err(|error| error.of_kind(DecodeErrorKind::Version))?;
        let expansion = reader.u32_le("expansion")?.value;
        let rate = reader.f64_le("rate")?;
        let rate = rate.require(rate.value > 0.0 && rate.value < 1.0, "above 0 and below 1")?;
        let tightening = reader.f64_le("tightening ratio")?;
        let is_ratio = tightening.value > 0.0 && tightening.value < 1.0;
        let tightening = tightening.require(is_ratio, "above 0 and below 1")?;
        let is_seed_random = reader.u8("whether the seed is random")?.within(0..=1)? == 1;
        let count = reader.u64_le("number of layers")?.within(1..=i32::MAX as u64)?;
        let mut layers: Vec<Layer> = Vec::new();
        for _ in 0..count {
            let layer = Layer::read(&mut reader, layers.first().map(|first| first.seed))?;
            layers.push(layer);
        }
        reader.end()?;
        Ok(Self { expansion, rate, tightening, is_seed_random, layers })
    }

    /// Returns the value that `BF.LOAD` takes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = alloc::vec![VERSION];
        bytes.extend(self.expansion.to_le_bytes());
        bytes.extend(self.rate.to_le_bytes());
        bytes.extend(self.tightening.to_le_bytes());
        bytes.push(self.is_seed_random.into());
        bytes.extend((self.layers.len() as u64).to_le_bytes());
        self.layers.iter().for_each(|layer| layer.write(&mut bytes));
        bytes
    }

    /// Inserts an item, as `BF.ADD` does. Returns `true` if it was not contained before.
    ///
    /// Opens a layer if the last one has as many items as its capacity.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the filter does not grow, or cannot grow any more. [`InsertError::Alloc`] if the allocator
    /// refuses the memory for a layer. The filter is unchanged then.
    pub fn insert(&mut self, item: &[u8]) -> Result<bool, InsertError> {
        if self.contains(item) {
            return Ok(false);
        }
        let last = &self.layers[self.layers.len() - 1];
        if last.items >= last.capacity {
            let next = self.next_layer()?;
            self.layers.push(next);
        }
        let last = self.layers.len() - 1;
        self.layers[last].insert(item);
        Ok(true)
    }

    /// Returns the layer after the last one.
    fn next_layer(&self) -> Result<Layer, InsertError> {
        let last = &self.layers[self.layers.len() - 1];
        let full = InsertError::Full { len: self.len(), capacity: self.capacity() };
        let capacity = last.capacity.checked_mul(self.expansion.into());
        let capacity =
            capacity.filter(|&next| (1..=i64::MAX as u64).contains(&next)).ok_or(full)?;
        let rate = self.rate * power(self.tightening, self.layers.len());
        if rate <= f64::MIN_POSITIVE {
            return Err(full);
        }
        Layer::new(capacity, rate, last.seed).map_err(|error| match error {
            BuildError::Alloc(error) => InsertError::Alloc(error),
            _ => full,
        })
    }

    /// Tests whether an item may be in the set, as `BF.EXISTS` does. `false` is certain.
    #[must_use]
    pub fn contains(&self, item: &[u8]) -> bool {
        self.layers.iter().any(|layer| layer.contains(item))
    }

    /// Returns the number of items for which [`insert`](Self::insert) returned `true`, as `BF.CARD` does.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.layers.iter().fold(0, |sum, layer| sum.saturating_add(layer.items))
    }

    /// Returns whether nothing was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of items that all layers of the filter are made for.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.layers.iter().fold(0, |sum, layer| sum.saturating_add(layer.capacity))
    }

    /// Returns the factor from the capacity of one layer to that of the next one. `None` if the filter does not grow.
    #[must_use]
    pub fn growth(&self) -> Option<u32> {
        (self.expansion > 0).then_some(self.expansion)
    }

    /// Returns the number of layers.
    #[must_use]
    pub fn num_layers(&self) -> usize {
        self.layers.len()
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

impl Layer {
    fn new(capacity: u64, rate: f64, seed: [u8; 32]) -> Result<Self, BuildError> {
        use core::f64::consts::LN_2;
        #[expect(clippy::cast_precision_loss, reason = "as in the module")]
        let items = capacity as f64;
        let bytes = libm::ceil(items * log(rate) / (-8.0 * (LN_2 * LN_2)));
        if bytes > MAX_BYTES {
            let (parameter, max) = ("bytes of a layer", MAX_BYTES);
            return Err(ParamError(ParamFault::TooLarge { parameter, value: bytes, max }).into());
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers in range")]
        #[expect(clippy::cast_sign_loss, reason = "neither is negative")]
        let (length, hashes) = (bytes as u64, libm::round(bytes * 8.0 / items * LN_2) as u32);
        Ok(Self { hashes: hashes.max(1), seed, bits: zeroed(length)?, items: 0, capacity })
    }

    /// Reads a layer, whose seed must be that of the first one.
    fn read(reader: &mut Reader<'_>, first: Option<[u8; 32]>) -> Result<Self, FormatError> {
        let length = reader.u64_le("length of a layer")?;
        let is_sound = length.value > HEAD_BYTES;
        let length = length.require(is_sound, "more than 45, the bytes before the bits")?;
        let version = reader.u8("version of a layer")?.equals(VERSION);
        version.map_err(|error| error.of_kind(DecodeErrorKind::Version))?;
        reader.u64_le("bytes of a layer")?.equals(length - HEAD_BYTES)?;
        let hashes = reader.u32_le("number of hash functions")?.within(1..=MAX_HASHES)?;
        let at = reader.offset();
        let mut seed = [0; 32];
        seed.copy_from_slice(reader.bytes("seed", 32)?);
        if first.is_some_and(|first| first != seed) {
            return Err(reader.invalid(
                "seed of a layer",
                at,
                &seed[..],
                "that of the first layer",
            ));
        }
        let bits = reader.bytes("bits of a layer", length - HEAD_BYTES)?.iter().copied();
        let bits = collected(bits).map_err(|error| FormatError::alloc(FORMAT, error))?;
        let items = reader.u64_le("number of items in a layer")?.within(0..=i64::MAX as u64)?;
        let capacity = reader.u64_le("capacity of a layer")?.within(1..=i64::MAX as u64)?;
        Ok(Self { hashes, seed, bits, items, capacity })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let length = self.bits.len() as u64;
        bytes.extend((HEAD_BYTES + length).to_le_bytes());
        bytes.push(VERSION);
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.hashes.to_le_bytes());
        bytes.extend(self.seed);
        bytes.extend_from_slice(&self.bits);
        bytes.extend(self.items.to_le_bytes());
        bytes.extend(self.capacity.to_le_bytes());
    }

    /// Returns the byte and the mask of each bit of an item.
    fn places(&self, item: &[u8]) -> impl Iterator<Item = (usize, u8)> + use<> {
        let [one, two] = [0, 16].map(|at| {
            let mut key = [0; 16];
            key.copy_from_slice(&self.seed[at..at + 16]);
            let mut hasher = SipHasher13::new_with_key(&key);
            // As Rust hashes a slice of bytes on a machine of 64 bits.
            hasher.write(&(item.len() as u64).to_le_bytes());
            hasher.write(item);
            hasher.finish()
        });
        let bits = 8 * self.bits.len() as u64;
        let others =
            (2..u64::from(self.hashes)).map(move |i| one.wrapping_add(i.wrapping_mul(two)) % PRIME);
        let hashes =
            iter::once(one).chain(iter::once(two)).chain(others).take(self.hashes as usize);
        hashes.map(move |hash| (((hash % bits) / 8) as usize, 1 << (hash % bits % 8)))
    }

    fn contains(&self, item: &[u8]) -> bool {
        self.places(item).all(|(byte, mask)| self.bits[byte] & mask != 0)
    }

    fn insert(&mut self, item: &[u8]) {
        for (byte, mask) in self.places(item) {
            self.bits[byte] |= mask;
        }
        self.items += 1;
    }

    #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than 53 bits")]
    fn rate(&self) -> f64 {
        let ones: u64 = self.bits.iter().map(|byte| u64::from(byte.count_ones())).sum();
        libm::pow(ones as f64 / (8 * self.bits.len()) as f64, f64::from(self.hashes))
    }
}

/// Returns a power as `f64::powi` computes it, by squaring.
fn power(mut base: f64, mut exponent: usize) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent % 2 == 1 {
            result *= base;
        }
        exponent /= 2;
        base *= base;
    }
    result
}

impl fmt::Debug for ValkeyBloomFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValkeyBloomFilter")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("num_layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}
