//! The compact bytes of DataSketches: a preamble of 8 to 24 bytes, then the hashes, or their packed differences.

use alloc::vec::Vec;
use core::cmp::Ordering;

use pds_core::error::{AllocError, DecodeError};
use pds_core::internal::{DecodeFault, pack_bits, unpack_bits};

use crate::set::MAX_THETA;
use crate::{CompactThetaSketch, ThetaHasher, ThetaSet};

const FAMILY: u8 = 3;
const PLAIN: u8 = 3;
const COMPRESSED: u8 = 4;

/// The bits of the flags.
const BIG_ENDIAN: u8 = 1;
const READ_ONLY: u8 = 2;
const EMPTY: u8 = 4;
const COMPACT: u8 = 8;
const ORDERED: u8 = 16;
/// Some writers mark a sketch of one hash. The other fields say it, too.
const SINGLE: u8 = 32;
const KNOWN: u8 = BIG_ENDIAN | READ_ONLY | EMPTY | COMPACT | ORDERED | SINGLE;

/// Offsets in the preamble.
const VERSION_AT: usize = 1;
const FAMILY_AT: usize = 2;
const BITS_AT: usize = 3;
const COUNT_BYTES_AT: usize = 4;
const FLAGS_AT: usize = 5;
const SEED_AT: usize = 6;

/// Bits per hash in serial version 3, which are whole numbers, the least significant byte first.
const PLAIN_BITS: u32 = 64;

/// The contents of the preamble, checked against the length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) theta: u64,
    pub(crate) is_empty: bool,
    is_ordered: bool,
    pub(crate) count: usize,
    /// Bits per difference of hashes, or [`PLAIN_BITS`].
    bits: u32,
    /// Offset of the hashes.
    start: usize,
}

impl Head {
    /// Reads the preamble. Checks that the bytes end where the hashes do.
    pub(crate) fn read(bytes: &[u8], hasher: ThetaHasher) -> Result<Self, DecodeError> {
        let preamble: [u8; 8] = array(bytes, 0)?;
        if preamble[FAMILY_AT] != FAMILY {
            return Err(other_family(preamble[FAMILY_AT]));
        }
        let flags = preamble[FLAGS_AT];
        if flags & (BIG_ENDIAN | !KNOWN) != 0 {
            let allowed = "known flags, without that of big-endian numbers (bit 0)";
            return Err(invalid("the flags", FLAGS_AT, flags.into(), allowed));
        }
        let head = match preamble[VERSION_AT] {
            PLAIN => Self::read_plain(bytes, preamble)?,
            COMPRESSED => Self::read_compressed(bytes, preamble)?,
            version => {
                let (offset, expected) = (VERSION_AT as u64, COMPRESSED.into());
                let found = version.into();
                return Err(DecodeError(DecodeFault::Version { offset, expected, found }));
            }
        };
        head.check_seed(preamble, hasher)?;
        head.check_length(bytes)?;
        Ok(head)
    }

    fn read_plain(bytes: &[u8], preamble: [u8; 8]) -> Result<Self, DecodeError> {
        let [longs, _, _, _, _, flags, ..] = preamble;
        let head = Self {
            theta: MAX_THETA,
            is_empty: flags & EMPTY != 0,
            is_ordered: flags & ORDERED != 0,
            count: usize::from(flags & EMPTY == 0),
            bits: PLAIN_BITS,
            start: 8,
        };
        if head.is_empty && longs != 1 {
            return Err(invalid("the preamble length", 0, longs.into(), "1 for an empty sketch"));
        }
        match longs {
            1 => Ok(head),
            2 => Ok(Self { count: count(bytes)?, start: 16, ..head }),
            3 => Ok(Self { count: count(bytes)?, theta: theta(bytes, 16)?, start: 24, ..head }),
            _ => Err(invalid("the preamble length", 0, longs.into(), "1 to 3")),
        }
    }

    fn read_compressed(bytes: &[u8], preamble: [u8; 8]) -> Result<Self, DecodeError> {
        let [longs, _, _, bits, count_bytes, flags, ..] = preamble;
        if flags & (EMPTY | ORDERED) != ORDERED {
            let allowed = "those of an ordered sketch that is not empty";
            return Err(invalid("the flags", FLAGS_AT, flags.into(), allowed));
        }
        if !(1..=63).contains(&bits) {
            let name = "the number of bits per difference";
            return Err(invalid(name, BITS_AT, bits.into(), "1 to 63"));
        }
        if !(1..=4).contains(&count_bytes) {
            let name = "the length of the count";
            return Err(invalid(name, COUNT_BYTES_AT, count_bytes.into(), "1 to 4"));
        }
        let (theta, count_at) = match longs {
            1 => (MAX_THETA, 8),
            2 => (theta(bytes, 8)?, 16),
            _ => return Err(invalid("the preamble length", 0, longs.into(), "1 or 2")),
        };
        let start = count_at + usize::from(count_bytes);
        let Some(number) = bytes.get(count_at..start) else {
            return Err(truncated(bytes.len(), start as u64));
        };
        let count = number.iter().rev().fold(0, |count, &byte| count << 8 | usize::from(byte));
        Ok(Self { theta, is_empty: false, is_ordered: true, count, bits: bits.into(), start })
    }

    /// Some writers store no seed hash in an empty sketch.
    fn check_seed(&self, preamble: [u8; 8], hasher: ThetaHasher) -> Result<(), DecodeError> {
        let found = u16::from_le_bytes([preamble[SEED_AT], preamble[SEED_AT + 1]]);
        let expected = hasher.seed_hash();
        if found == expected || self.is_empty && found == 0 {
            return Ok(());
        }
        Err(DecodeError(DecodeFault::Seed { offset: SEED_AT as u64, expected, found }))
    }

    fn check_length(&self, bytes: &[u8]) -> Result<(), DecodeError> {
        let bits = self.count as u64 * u64::from(self.bits);
        let end = self.start as u64 + bits.div_ceil(8);
        match (bytes.len() as u64).cmp(&end) {
            Ordering::Less => return Err(truncated(bytes.len(), end)),
            Ordering::Greater => {
                let found = bytes.len() as u64 - end;
                return Err(DecodeError(DecodeFault::Trailing { offset: end, found }));
            }
            Ordering::Equal => {}
        }
        // Where the last byte has unused bits, they are the lowest ones.
        let unused = (1_u16 << ((8 - bits % 8) % 8)) - 1;
        match bytes.last() {
            Some(&last) if u16::from(last) & unused != 0 => {
                let (offset, found) = (end - 1, last.into());
                Err(DecodeError(DecodeFault::Padding { offset, found }))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if the hashes are not ordered.
    pub(crate) fn check_ordered(&self, bytes: &[u8]) -> Result<(), DecodeError> {
        if self.is_ordered || self.count < 2 {
            return Ok(());
        }
        let found = bytes[FLAGS_AT].into();
        let allowed = "those of an ordered sketch (bit 4), which a view needs";
        Err(invalid("the flags", FLAGS_AT, found, allowed))
    }

    /// Returns the error of a hash.
    fn bad_hash(&self, index: usize, hash: u64, allowed: &'static str) -> DecodeError {
        let offset = self.start as u64 + index as u64 * u64::from(self.bits) / 8;
        DecodeError::invalid("a hash", offset, hash, allowed)
    }

    /// Checks the hashes of ordered bytes.
    pub(crate) fn check_hashes(&self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut previous = 0;
        for (index, hash) in Hashes::new(self, bytes).enumerate() {
            if hash <= previous {
                return Err(self.bad_hash(index, hash, "above 0 and above the hash before it"));
            }
            if hash >= self.theta {
                return Err(self.bad_hash(index, hash, "below theta"));
            }
            previous = hash;
        }
        Ok(())
    }

    /// Checks the hashes of bytes that are not ordered, except that they are distinct.
    fn check_range(&self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut hashes = Hashes::new(self, bytes).enumerate();
        match hashes.find(|(_, hash)| !(1..self.theta).contains(hash)) {
            Some((index, hash)) => Err(self.bad_hash(index, hash, "above 0 and below theta")),
            None => Ok(()),
        }
    }
}

/// Returns the hashes in ascending order.
pub(crate) fn decode(head: &Head, bytes: &[u8]) -> Result<Vec<u64>, DecodeError> {
    if head.is_ordered { head.check_hashes(bytes) } else { head.check_range(bytes) }?;
    let mut hashes = Vec::new();
    let refused = AllocError { bytes: head.count as u64 * 8 };
    hashes.try_reserve_exact(head.count).map_err(|_| refused)?;
    hashes.extend(Hashes::new(head, bytes));
    if !head.is_ordered {
        hashes.sort_unstable();
        if let Some(pair) = hashes.windows(2).find(|pair| pair[0] == pair[1]) {
            let (name, offset) = ("a hash that is there twice", head.start as u64);
            return Err(DecodeError::invalid(name, offset, pair[0], "there once"));
        }
    }
    Ok(hashes)
}

/// The hashes in bytes, in the order of the bytes, unchecked.
#[derive(Clone, Debug)]
pub(crate) struct Hashes<'a> {
    body: &'a [u8],
    bits: u32,
    index: usize,
    count: usize,
    previous: u64,
}

impl<'a> Hashes<'a> {
    pub(crate) fn new(head: &Head, bytes: &'a [u8]) -> Self {
        let body = bytes.get(head.start..).unwrap_or_default();
        Self { body, bits: head.bits, index: 0, count: head.count, previous: 0 }
    }
}

impl Iterator for Hashes<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.index == self.count {
            return None;
        }
        let index = self.index;
        self.index += 1;
        if self.bits == PLAIN_BITS {
            let number = self.body.get(8 * index..).and_then(<[u8]>::first_chunk);
            return number.map(|&bytes| u64::from_le_bytes(bytes));
        }
        let difference = unpack_bits(self.body, index as u64 * u64::from(self.bits), self.bits);
        // Only bytes that were not verified can overflow.
        self.previous = self.previous.wrapping_add(difference);
        Some(self.previous)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.count - self.index;
        (left, Some(left))
    }
}

/// Returns the bytes of serial version 3.
pub(crate) fn encode(sketch: &CompactThetaSketch) -> Vec<u8> {
    let hashes = sketch.hashes();
    let longs = match hashes.len() {
        _ if sketch.is_empty() => 1,
        _ if sketch.is_estimate() => 3,
        1 => 1,
        _ => 2,
    };
    let mut bytes = Vec::with_capacity(8 * (longs + hashes.len()));
    let flags = if sketch.is_empty() { EMPTY } else { 0 };
    bytes.extend(preamble(longs, PLAIN, [0, 0], flags, sketch));
    if longs > 1 {
        bytes.extend((hashes.len() as u64).to_le_bytes());
    }
    if longs > 2 {
        bytes.extend(sketch.theta64().to_le_bytes());
    }
    bytes.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
    bytes
}

/// Returns the bytes of serial version 4, where the sketch has some.
pub(crate) fn encode_compressed(sketch: &CompactThetaSketch) -> Vec<u8> {
    let hashes = sketch.hashes();
    if hashes.is_empty() || hashes.len() == 1 && !sketch.is_estimate() {
        return encode(sketch);
    }
    let differences = || {
        let before = [0].into_iter().chain(hashes.iter().copied());
        hashes.iter().zip(before).map(|(hash, before)| hash - before)
    };
    let bits = 64 - differences().fold(0, |all, difference| all | difference).leading_zeros();
    let count = (hashes.len() as u64).to_le_bytes();
    let count_bytes = (64 - (hashes.len() as u64).leading_zeros()).div_ceil(8) as usize;
    let longs = 1 + usize::from(sketch.is_estimate());
    let mut bytes =
        Vec::with_capacity(8 * longs + count_bytes + hashes.len() * bits as usize / 8 + 1);
    #[expect(clippy::cast_possible_truncation, reason = "at most 63 bits, and 4 bytes")]
    let sizes = [bits as u8, count_bytes as u8];
    bytes.extend(preamble(longs, COMPRESSED, sizes, 0, sketch));
    if longs > 1 {
        bytes.extend(sketch.theta64().to_le_bytes());
    }
    bytes.extend(&count[..count_bytes]);
    pack_bits(differences(), bits, &mut bytes);
    bytes
}

#[expect(clippy::cast_possible_truncation, reason = "1 to 3")]
fn preamble(
    longs: usize,
    version: u8,
    [bits, count_bytes]: [u8; 2],
    flags: u8,
    sketch: &CompactThetaSketch,
) -> [u8; 8] {
    let [low, high] = sketch.hasher().seed_hash().to_le_bytes();
    let flags = READ_ONLY | COMPACT | ORDERED | flags;
    [longs as u8, version, FAMILY, bits, count_bytes, flags, low, high]
}

fn count(bytes: &[u8]) -> Result<usize, DecodeError> {
    Ok(u32::from_le_bytes(array(bytes, 8)?) as usize)
}

fn theta(bytes: &[u8], offset: usize) -> Result<u64, DecodeError> {
    match u64::from_le_bytes(array(bytes, offset)?) {
        theta @ 1..=MAX_THETA => Ok(theta),
        theta => Err(invalid("theta", offset, theta, "1 to 2^63 - 1")),
    }
}

fn array<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N], DecodeError> {
    let found = bytes.get(offset..).and_then(<[u8]>::first_chunk);
    found.copied().ok_or_else(|| truncated(bytes.len(), (offset + N) as u64))
}

fn truncated(found: usize, expected: u64) -> DecodeError {
    DecodeError(DecodeFault::Truncated { offset: found as u64, expected })
}

fn invalid(name: &'static str, offset: usize, found: u64, allowed: &'static str) -> DecodeError {
    DecodeError::invalid(name, offset as u64, found, allowed)
}

fn other_family(found: u8) -> DecodeError {
    let meaning = match found {
        1 => Some("an updatable theta sketch (alpha)"),
        2 => Some("an updatable theta sketch (quick select)"),
        7 => Some("an HLL sketch"),
        9 => Some("a tuple sketch"),
        15 => Some("a KLL sketch"),
        16 => Some("a CPC sketch"),
        18 => Some("a count-min sketch"),
        21 => Some("a Bloom filter"),
        _ => None,
    };
    DecodeError(DecodeFault::Choice {
        name: "the family",
        offset: FAMILY_AT as u64,
        found: found.into(),
        meaning,
        allowed: "a compact theta sketch (number 3)",
    })
}
