//! The files of DCSO's tool `bloom` and its libraries for Go and Python.

use alloc::format;
use alloc::vec::Vec;

use pds_core::error::{BuildError, DecodeErrorKind, Incompatible};

use crate::FormatError;
use crate::bits::{Bits, bloom_methods, usual_bits, whole_bits};
use crate::reader::{MAX_HASHES, Reader};

/// The name of the format in errors.
const FORMAT: &str = "DCSO Bloom filter";

/// The version, in the low byte of the flags.
const VERSION: u64 = 1;

/// The largest prime below 2^64, and a generator of its multiplicative group.
const PRIME: u64 = u64::MAX - 58;
const GENERATOR: u64 = 18_446_744_073_709_550_147;

/// The most words: 2^57, of 2^63 bits, which no machine has.
const MAX_WORDS: u64 = 1 << 57;

/// A Bloom filter with the bits of DCSO's `bloom`.
///
/// Use it to exchange files with that tool, which Debian ships. Files that it wrote with gzip must be unpacked first.
/// Otherwise use [`bloom_core::BloomFilter`].
///
/// # Guarantees
/// - False negatives: never.
/// - False positives: about the rate of [`new`](Self::new) at `expected_items`. [`false_positive_rate`](Self::false_positive_rate)
///   returns the rate of the current bits. The hash is FNV-1, so keys from strangers may be crafted to collide.
/// - Memory: the size of the file. Insert and query: O(k) for k hashes. Union: exact, requires equal shape.
///
/// # Examples
/// ```
/// use pds_formats::dcso::DcsoBloomFilter;
///
/// let mut filter = DcsoBloomFilter::new(1_000, 0.001)?;
/// filter.insert(b"evil.example");
/// // `bloom check` reads these bytes.
/// let file = filter.to_bytes();
/// assert!(DcsoBloomFilter::from_bytes(&file)?.contains(b"evil.example"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// DCSO GmbH, Flor 1.1 and bloom 0.2, class `BloomFilter`.
#[derive(Clone, Debug, PartialEq)]
pub struct DcsoBloomFilter {
    flags: u64,
    expected_items: u64,
    rate: f64,
    num_inserted: u64,
    bits: Bits,
    data: Vec<u8>,
}

impl DcsoBloomFilter {
    /// Creates a filter of the size of `bloom create -n expected_items -p rate`.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if more than 2^63 bits are
    /// needed. [`BuildError::Alloc`] if the allocator refuses the memory.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        // The owner takes the ceiling of the negative number, and so truncates.
        let num_bits = whole_bits(usual_bits(expected_items, rate)?, MAX_WORDS)?;
        let hashes = core::f64::consts::LN_2 * num_bits as f64 / expected_items as f64;
        let bits = Bits::new(num_bits, libm::ceil(hashes) as u32)?.cut_to(num_bits);
        let (flags, data) = (VERSION, Vec::new());
        Ok(Self { flags, expected_items, rate, num_inserted: 0, bits, data })
    }

    /// Reads a file. What follows the bits is its [data](Self::data).
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let flags = reader.u64_le("flags")?;
        if flags.value & 0xff != VERSION {
            let error = flags.invalid("of version 1, in the low byte");
            return Err(error.of_kind(DecodeErrorKind::Version));
        }
        let expected_items = reader.u64_le("capacity")?.value;
        let rate = reader.f64_le("rate")?;
        let rate = rate.require(!rate.value.is_nan(), "a number")?;
        let hashes = reader.u64_le("number of hashes")?;
        if hashes.value > MAX_HASHES.into() {
            return Err(hashes.invalid(format!("from 1 to {MAX_HASHES}")));
        }
        let num_bits = reader.u64_le("number of bits")?.within(1..=MAX_WORDS * 64)?;
        let num_inserted = reader.u64_le("number of keys")?.value;
        let words = num_bits.div_ceil(64);
        let start = reader.offset();
        let bits = Bits::read(&mut reader, FORMAT, words, hashes, u64::from_le_bytes)?;
        let last = bits.array().words().last().copied().unwrap_or(0);
        let unused = words * 64 - num_bits;
        if unused > 0 && last >> (64 - unused) != 0 {
            let allowed = "without bits beyond the number of bits";
            return Err(reader.invalid("last word", start + words * 8 - 8, last, allowed));
        }
        let (flags, bits) = (flags.value, bits.cut_to(num_bits));
        Ok(Self { flags, expected_items, rate, num_inserted, bits, data: reader.rest().to_vec() })
    }

    /// Returns the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.flags.to_le_bytes().to_vec();
        bytes.extend(self.expected_items.to_le_bytes());
        bytes.extend(self.rate.to_le_bytes());
        bytes.extend(u64::from(self.num_hashes()).to_le_bytes());
        bytes.extend(self.num_bits().to_le_bytes());
        bytes.extend(self.num_inserted.to_le_bytes());
        bytes.extend(self.words().iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(&self.data);
        bytes
    }

    /// Inserts a key. Returns `true` if it was not contained before, and counts it then.
    ///
    /// The owner refuses keys beyond the [capacity](Self::expected_items). This filter takes them, at a higher rate.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        let is_new = self.bits.insert(positions(key, self.bits.num_bits()));
        self.num_inserted = self.num_inserted.saturating_add(is_new.into());
        is_new
    }

    /// Tests whether a key was possibly inserted. `false` is certain.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.bits.contains(positions(key, self.bits.num_bits()))
    }

    /// Inserts all keys of `other`, as `bloom join` does: numbers of keys are added.
    ///
    /// # Errors
    /// [`Incompatible`] if capacities, rates, bits or hashes differ. `self` is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("capacity", self.expected_items, other.expected_items)?;
        Incompatible::check_share("rate", self.rate, other.rate)?;
        self.bits.union_with(&other.bits)?;
        self.num_inserted = self.num_inserted.saturating_add(other.num_inserted);
        Ok(())
    }

    /// Returns the number of keys that the filter was made for.
    #[must_use]
    pub const fn expected_items(&self) -> u64 {
        self.expected_items
    }

    /// Returns the false-positive rate that the filter was made for.
    #[must_use]
    pub const fn expected_rate(&self) -> f64 {
        self.rate
    }

    /// Returns the number of inserts that changed a bit.
    #[must_use]
    pub const fn num_inserted(&self) -> u64 {
        self.num_inserted
    }

    /// Returns what is attached to the file.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Attaches data to the file, in the place of the former.
    pub fn set_data(&mut self, data: &[u8]) {
        self.data = data.to_vec();
    }

    bloom_methods!();
}

/// Returns the positions of a key, without an end: powers of a generator times the hash.
fn positions(key: &[u8], num_bits: u64) -> impl Iterator<Item = u64> {
    // FNV-1, which multiplies first.
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
        hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)
    });
    let mut number = hash % PRIME;
    core::iter::repeat_with(move || {
        // The owner reduces the product to 64 bits first.
        number = number.wrapping_mul(GENERATOR) % PRIME;
        number % num_bits
    })
}
