//! Static filters of the C library `xor_singleheader`, in the bytes of its `serialize` functions, and of the crate `xorf`.
//!
//! The bytes do not name the kind of filter, so the reader has to be told. They are little-endian here, as on the machines
//! where the C library is used; it writes numbers as they are in memory. `xorf` leaves the bytes to its users: those of its binary
//! fuse filters are the descriptor and the fingerprints of its trait `DmaSerializable`, one after the other. Those of its xor
//! filters are what `bincode` 1 makes of them through serde.

use alloc::format;
use alloc::vec::Vec;

use crate::FormatError;
use crate::memory::collected;
use crate::reader::{Field, Reader};

/// A kind of static filter: which positions belong to a key, and the width of fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum XorKind {
    /// `xor8_t`: three blocks, a rate of 1 / 256.
    Xor8,
    /// `xor16_t`: three blocks, a rate of 1 / 65,536.
    Xor16,
    /// `binary_fuse8_t`: overlapping segments, a rate of 1 / 256.
    BinaryFuse8,
    /// `binary_fuse16_t`: overlapping segments, a rate of 1 / 65,536.
    BinaryFuse16,
}

/// A static filter of `xor_singleheader` or of `xorf`, for queries.
///
/// Keys are numbers of 64 bits, which the program that built the filter may have made by a hash of its own. The filter takes
/// no further keys. To build static filters use the crate `fuse`.
///
/// # Guarantees
/// - False negatives: never. False positives: 2^-8 or 2^-16.
/// - Memory: the size of the bytes. Query: O(1), three places.
///
/// # Examples
/// ```
/// use pds_formats::xorf::{XorFilter, XorKind};
///
/// // The filter of the number 1: a seed, segments, 12 fingerprints.
/// let mut bytes = 0x6fb6_f225_37d2_3467u64.to_le_bytes().to_vec();
/// bytes.extend([4u32, 1, 4, 12].into_iter().flat_map(u32::to_le_bytes));
/// bytes.extend([0; 12]);
/// let filter = XorFilter::from_bytes(XorKind::BinaryFuse8, &bytes)?;
/// assert_eq!(filter.to_bytes(), bytes);
/// assert!(!filter.contains(2));
/// # Ok::<(), pds_formats::FormatError>(())
/// ```
///
/// # References
/// Thomas Mueller Graf and Daniel Lemire, "Xor filters: faster and smaller than Bloom and cuckoo filters", J. Exp.
/// Algorithmics 25, 2020; "Binary fuse filters: fast and smaller than xor filters", J. Exp. Algorithmics 27, 2022.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XorFilter {
    kind: XorKind,
    seed: u64,
    layout: Layout,
    shape: Shape,
    fingerprints: Fingerprints,
    /// Bytes that the library counts and does not write.
    unwritten: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Blocks { length: u32 },
    Segments { length: u32, count: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fingerprints {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

/// Which numbers stand before the fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    C,
    /// Of later versions of the C library: the number of keys before the segments.
    Sized {
        keys: u32,
    },
    /// Of `xorf`: the number of fingerprints after blocks, and a mask instead of the number of segments.
    Rust,
}

impl XorKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Xor8 => "xor_singleheader xor8 filter",
            Self::Xor16 => "xor_singleheader xor16 filter",
            Self::BinaryFuse8 => "xor_singleheader binary_fuse8 filter",
            Self::BinaryFuse16 => "xor_singleheader binary_fuse16 filter",
        }
    }

    const fn is_wide(self) -> bool {
        matches!(self, Self::Xor16 | Self::BinaryFuse16)
    }
}

impl XorFilter {
    /// Reads the bytes of a filter of this kind.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(kind: XorKind, bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(kind.name(), bytes);
        let seed = reader.u64_le("seed")?.value;
        let width = if kind.is_wide() { 2 } else { 1 };
        let (layout, shape) = match kind {
            XorKind::Xor8 | XorKind::Xor16 => blocks(&mut reader, width)?,
            XorKind::BinaryFuse8 | XorKind::BinaryFuse16 => segments(&mut reader, width)?,
        };
        let bytes = reader.bytes("fingerprints", shape.num_fingerprints() * width)?;
        let fingerprints = if kind.is_wide() {
            let wide = bytes.as_chunks().0.iter().map(|&bytes| u16::from_le_bytes(bytes));
            collected(wide).map(Fingerprints::Wide)
        } else {
            collected(bytes.iter().copied()).map(Fingerprints::Narrow)
        };
        let fingerprints = fingerprints.map_err(|error| FormatError::alloc(kind.name(), error))?;
        // The library counts a mask of four bytes here that it does not write.
        let unwritten = match (kind, reader.remaining()) {
            (XorKind::BinaryFuse16, 4) => reader.rest().to_vec(),
            _ => Vec::new(),
        };
        reader.end()?;
        Ok(Self { kind, seed, layout, shape, fingerprints, unwritten })
    }

    /// Returns the bytes that were read.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.seed.to_le_bytes().to_vec();
        match self.shape {
            Shape::Blocks { length } => {
                bytes.extend(u64::from(length).to_le_bytes());
                if self.layout == Layout::Rust {
                    bytes.extend(self.shape.num_fingerprints().to_le_bytes());
                }
            }
            Shape::Segments { length, count } => {
                let all = count * length;
                let numbers = match self.layout {
                    Layout::C => &[length, count, all, all + 2 * length][..],
                    Layout::Sized { keys } => &[keys, length, count, all, all + 2 * length],
                    Layout::Rust => &[length, length - 1, all],
                };
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
        }
        match &self.fingerprints {
            Fingerprints::Narrow(narrow) => bytes.extend(narrow),
            Fingerprints::Wide(wide) => bytes.extend(wide.iter().flat_map(|f| f.to_le_bytes())),
        }
        bytes.extend(&self.unwritten);
        bytes
    }

    /// Tests whether a key possibly belongs to the set. `false` is certain.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "parts of a hash")]
    pub fn contains(&self, key: u64) -> bool {
        let hash = mix(key.wrapping_add(self.seed));
        let fingerprint = hash ^ (hash >> 32);
        let at = self.shape.positions(hash).map(|at| at as usize);
        match &self.fingerprints {
            Fingerprints::Narrow(stored) => {
                fingerprint as u8 == stored[at[0]] ^ stored[at[1]] ^ stored[at[2]]
            }
            Fingerprints::Wide(stored) => {
                fingerprint as u16 == stored[at[0]] ^ stored[at[1]] ^ stored[at[2]]
            }
        }
    }

    /// Returns the kind of the filter.
    #[must_use]
    pub const fn kind(&self) -> XorKind {
        self.kind
    }

    /// Returns the number of fingerprints: 1.23 per key or less, and some more.
    #[must_use]
    pub const fn num_fingerprints(&self) -> usize {
        match &self.fingerprints {
            Fingerprints::Narrow(narrow) => narrow.len(),
            Fingerprints::Wide(wide) => wide.len(),
        }
    }
}

fn blocks(reader: &mut Reader<'_>, width: u64) -> Result<(Layout, Shape), FormatError> {
    let length = reader.u64_le("block length")?.within(1..=u64::from(u32::MAX))?;
    let shape = Shape::Blocks { length: u32::try_from(length).unwrap_or(u32::MAX) };
    if reader.remaining() != 8 + shape.num_fingerprints() * width {
        return Ok((Layout::C, shape));
    }
    reader.u64_le("number of fingerprints")?.equals(shape.num_fingerprints())?;
    Ok((Layout::Rust, shape))
}

/// Reads the segments, in the layout that their products and the length of the bytes fit.
fn segments(reader: &mut Reader<'_>, width: u64) -> Result<(Layout, Shape), FormatError> {
    let mut ahead = reader.clone();
    let [a, b, c, d] =
        [(); 4].map(|()| ahead.u32_le("number").map_or(0, |field| u64::from(field.value)));
    if b + 1 == a && reader.remaining() == 12 + (c + 2 * a) * width {
        let length = segment_length(reader)?;
        reader.u32_le("mask of a segment")?.equals(length - 1)?;
        let all = reader.u32_le("length of all segments")?;
        if all.value == 0 || all.value % length != 0 {
            return Err(all.invalid(format!("a multiple of {length}, the length of one")));
        }
        return Ok((Layout::Rust, Shape::Segments { length, count: all.value / length }));
    }
    // The number of segments times their length.
    let layout = if a * b != c && b * c == d {
        Layout::Sized { keys: reader.u32_le("number of keys")?.value }
    } else {
        Layout::C
    };
    let length = segment_length(reader)?;
    let count = reader.u32_le("number of segments")?.within(1..=u32::MAX / length - 2)?;
    let product = |field: Field<u32>, expected: u32| {
        if field.value == expected {
            return Ok(());
        }
        Err(field.invalid(format!("{expected}, as the segments say")))
    };
    product(reader.u32_le("length of all segments")?, count * length)?;
    product(reader.u32_le("number of fingerprints")?, (count + 2) * length)?;
    Ok((layout, Shape::Segments { length, count }))
}

fn segment_length(reader: &mut Reader<'_>) -> Result<u32, FormatError> {
    let length = reader.u32_le("segment length")?;
    length.require(
        length.value.is_power_of_two() && length.value <= 1 << 18,
        "a power of two up to 262144",
    )
}

impl Shape {
    fn num_fingerprints(self) -> u64 {
        match self {
            Self::Blocks { length } => 3 * u64::from(length),
            Self::Segments { length, count } => (u64::from(count) + 2) * u64::from(length),
        }
    }

    /// Returns the places of a hash.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "parts of a hash")]
    fn positions(self, hash: u64) -> [u64; 3] {
        match self {
            Self::Blocks { length } => {
                let length = u64::from(length);
                let reduced = |turn| (u64::from(hash.rotate_left(turn) as u32) * length) >> 32;
                [reduced(0), reduced(21) + length, reduced(42) + 2 * length]
            }
            Self::Segments { length, count } => {
                let (length, mask) = (u64::from(length), u64::from(length - 1));
                let first =
                    ((u128::from(hash) * u128::from(u64::from(count) * length)) >> 64) as u64;
                let (second, third) = (first + length, first + 2 * length);
                [first, second ^ (hash >> 18 & mask), third ^ (hash & mask)]
            }
        }
    }
}

/// The finalizer of `MurmurHash3`.
#[inline]
const fn mix(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}
