//! Sizing every structure, from the promise to the memory and back.

use super::Structure;
use super::candidate::LinesRead;
use crate::blocked::{MAX_SPLIT_BLOCKS, split_block_rate_with_collisions, split_blocks};
use crate::bloom::{HASH_COLLISION, MAX_BITS, scheme_excess};
use crate::check::{check_collisions, check_items, check_range, check_rate};
use crate::cuckoo::{MAX_BUCKETS, MAX_FINGERPRINT_BITS, MIN_FINGERPRINT_BITS, least_buckets};
use crate::{BlockedBloomParams, BlockedCountingParams, BloomParams, CuckooParams};
use crate::{ParamError, Preference};

/// Bytes of a cache line.
const LINE_BYTES: u64 = 64;

/// Bytes of a block of Parquet's filter.
const SPLIT_BLOCK_BYTES: u64 = 32;

/// Bytes of a slot of the standard library's table: a hash and a control byte.
const SET_SLOT_BYTES: u64 = 9;

/// The most slots of it that are considered, 2^59: no address space is larger.
const MAX_SET_SLOTS: u64 = 1 << 59;

/// The numbers that one of the structures is built from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// Of [`Structure::Bloom`].
    Bloom(BloomParams),
    /// Of [`Structure::BlockedBloom`].
    BlockedBloom(BlockedBloomParams),
    /// Of [`Structure::SplitBlock`].
    SplitBlock {
        /// Number of blocks of 256 bits; writers of Parquet files round it up to a power of two.
        blocks: u64,
    },
    /// Of [`Structure::Cuckoo`].
    Cuckoo(CuckooParams),
    /// Of [`Structure::CountingBloom`]: counters take the place of the bits.
    CountingBloom(BloomParams),
    /// Of [`Structure::BlockedCountingBloom`].
    BlockedCountingBloom(BlockedCountingParams),
    /// Of [`Structure::HashSet`].
    HashSet {
        /// Number of slots, a power of two, of which seven in eight are filled.
        slots: u64,
    },
}

impl Shape {
    /// The least shape of `structure` that keeps `rate` for `items` items.
    pub(super) fn least(structure: Structure, items: u64, rate: f64) -> Result<Self, ParamError> {
        check(items, rate)?;
        Ok(match structure {
            Structure::Bloom => Self::Bloom(BloomParams::for_double_hashing(items, rate)?),
            Structure::BlockedBloom => {
                Self::BlockedBloom(BlockedBloomParams::new(items, rate, Preference::Fastest)?)
            }
            Structure::SplitBlock => Self::SplitBlock { blocks: split_blocks(items, rate)? },
            Structure::Cuckoo => Self::Cuckoo(CuckooParams::new(items, rate)?),
            Structure::CountingBloom => {
                Self::CountingBloom(BloomParams::for_double_hashing(items, rate)?)
            }
            Structure::BlockedCountingBloom => {
                Self::BlockedCountingBloom(BlockedCountingParams::new(items, rate)?)
            }
            Structure::HashSet => Self::HashSet { slots: set_slots(items, rate)? },
        })
    }

    /// The shape of `structure` with the lowest rate for `items` items in at most `bytes` bytes.
    pub(super) fn in_memory(
        structure: Structure,
        bytes: u64,
        items: u64,
    ) -> Result<Self, ParamError> {
        check_items(items)?;
        check_range("bytes", bytes, 8, MAX_BITS / 8)?;
        let words = bytes / 8;
        Ok(match structure {
            Structure::Bloom => Self::Bloom(BloomParams::for_double_hashing_of(words * 64, items)?),
            Structure::BlockedBloom => Self::BlockedBloom(
                BlockedBloomParams::from_blocks_and_items(bytes / LINE_BYTES, items)?,
            ),
            Structure::SplitBlock => {
                let blocks = bytes / SPLIT_BLOCK_BYTES;
                check_range("blocks", blocks, 1, MAX_SPLIT_BLOCKS)?;
                Self::SplitBlock { blocks }
            }
            Structure::Cuckoo => Self::Cuckoo(cuckoo_in(words * 64, items)?),
            Structure::CountingBloom => {
                Self::CountingBloom(BloomParams::for_double_hashing_of(words * 16, items)?)
            }
            Structure::BlockedCountingBloom => {
                Self::BlockedCountingBloom(BlockedCountingParams::from_lines(bytes / LINE_BYTES)?)
            }
            Structure::HashSet => Self::HashSet { slots: set_slots_in(bytes, items)? },
        })
    }

    /// The structure that has this shape.
    #[must_use]
    pub fn structure(&self) -> Structure {
        match self {
            Self::Bloom(_) => Structure::Bloom,
            Self::BlockedBloom(_) => Structure::BlockedBloom,
            Self::SplitBlock { .. } => Structure::SplitBlock,
            Self::Cuckoo(_) => Structure::Cuckoo,
            Self::CountingBloom(_) => Structure::CountingBloom,
            Self::BlockedCountingBloom(_) => Structure::BlockedCountingBloom,
            Self::HashSet { .. } => Structure::HashSet,
        }
    }

    /// The bytes of the payload.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        match self {
            Self::Bloom(params) => params.size_in_bytes(),
            Self::BlockedBloom(params) => params.size_in_bytes(),
            Self::SplitBlock { blocks } => blocks * SPLIT_BLOCK_BYTES,
            Self::Cuckoo(params) => params.size_in_bytes(),
            Self::CountingBloom(params) => params.num_bits().div_ceil(16) * 8,
            Self::BlockedCountingBloom(params) => params.size_in_bytes(),
            Self::HashSet { slots } => slots * SET_SLOT_BYTES,
        }
    }

    /// Predicts the mean false-positive rate at `items` items; none where they do not fit.
    ///
    /// The share of absent keys whose 64-bit hash equals a stored one is included. For a hash set it is all
    /// of the rate; the set has grown where it has to.
    #[must_use]
    pub fn rate_at(&self, items: u64) -> Option<f64> {
        let collisions = items as f64 * HASH_COLLISION;
        let rate = match self {
            Self::Bloom(params) | Self::CountingBloom(params) => {
                let excess = scheme_excess(params.num_bits(), items, params.num_hashes());
                params.rate_at(items) + excess + collisions
            }
            Self::BlockedBloom(params) => params.rate_at(items) + collisions,
            Self::SplitBlock { blocks } => split_block_rate_with_collisions(*blocks, items),
            Self::Cuckoo(params) if items > params.capacity() => return None,
            Self::Cuckoo(params) => params.rate_at(items),
            Self::BlockedCountingBloom(params) => params.rate_at(items) + collisions,
            Self::HashSet { .. } => collisions,
        };
        Some(rate.min(1.0))
    }

    /// How many cache lines a lookup reads at `items` items.
    pub(super) fn lines_read(&self, items: u64) -> LinesRead {
        let lines = self.size_in_bytes().div_ceil(LINE_BYTES);
        match self {
            Self::Bloom(params) | Self::CountingBloom(params) => {
                LinesRead::of_probes(params.num_hashes(), params.fill_at(items), lines)
            }
            Self::BlockedBloom(_) | Self::SplitBlock { .. } | Self::BlockedCountingBloom(_) => {
                LinesRead { present: 1.0, absent: 1.0 }
            }
            Self::Cuckoo(params) => LinesRead::of_buckets(params.fingerprint_bits(), lines),
            // A group of control bytes, and the slot where one of them matches.
            Self::HashSet { .. } => LinesRead { present: 2.0, absent: 1.0 },
        }
    }
}

/// The greatest number up to `max` for which `holds` is true, which is so from 1 up to it, and false after.
pub(super) fn greatest(max: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(1) {
        return None;
    }
    let (mut good, mut bad) = (1, 2);
    while bad < max && holds(bad) {
        (good, bad) = (bad, bad.saturating_mul(2));
    }
    if bad >= max {
        if holds(max) {
            return Some(max);
        }
        bad = max;
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}

/// The cuckoo filter with the lowest rate for `items` items in `bits` bits, over all widths.
fn cuckoo_in(bits: u64, items: u64) -> Result<CuckooParams, ParamError> {
    let widest = |width: u32| {
        let buckets = (bits / 4 / u64::from(width)).min(MAX_BUCKETS);
        let fits = buckets > 0 && least_buckets(items, width) <= buckets;
        let params = CuckooParams::from_buckets_and_fingerprint_bits(buckets, width).ok()?;
        fits.then_some(params)
    };
    let lower = |best: CuckooParams, next: CuckooParams| {
        if next.rate_at(items) < best.rate_at(items) { next } else { best }
    };
    (MIN_FINGERPRINT_BITS..=MAX_FINGERPRINT_BITS)
        .filter_map(widest)
        .reduce(lower)
        .ok_or_else(|| out_of_memory(bits / 8, CuckooParams::new(items, 0.5)))
}

/// The error of a budget in which `items` do not fit at all; `least` is about what they would take.
fn out_of_memory(bytes: u64, least: Result<CuckooParams, ParamError>) -> ParamError {
    match least {
        Ok(least) => {
            let (min, max) = (least.size_in_bytes(), MAX_BITS / 8);
            ParamError::OutOfRange { parameter: "bytes", value: bytes, min, max }
        }
        Err(error) => error,
    }
}

/// Slots of a hash set: a power of two, seven eighths of which suffice.
pub(super) fn set_slots(items: u64, rate: f64) -> Result<u64, ParamError> {
    check_collisions(items, rate)?;
    if items > MAX_SET_SLOTS / 8 * 7 {
        return Err(too_large("slots", items as f64, MAX_SET_SLOTS));
    }
    Ok((items * 8).div_ceil(7).next_power_of_two().max(4))
}

fn set_slots_in(bytes: u64, items: u64) -> Result<u64, ParamError> {
    let slots = set_slots(items, 1.0)?;
    check_range("bytes", bytes, slots * SET_SLOT_BYTES, u64::MAX)?;
    Ok(slots)
}

fn check(items: u64, rate: f64) -> Result<(), ParamError> {
    check_items(items)?;
    check_rate(rate)
}

fn too_large(parameter: &'static str, value: f64, max: u64) -> ParamError {
    ParamError::TooLarge { parameter, value, max: max as f64 }
}

#[cfg(test)]
mod tests {
    use super::greatest;

    #[test]
    fn the_greatest_number_is_found_wherever_it_is() {
        for limit in 1..200 {
            assert_eq!(greatest(1_000, |n| n <= limit), Some(limit));
            assert_eq!(greatest(limit, |_| true), Some(limit));
        }
        assert_eq!(greatest(10, |_| false), None);
        assert_eq!(greatest(u64::MAX, |n| n < u64::MAX), Some(u64::MAX - 1));
        assert_eq!(greatest(u64::MAX, |_| true), Some(u64::MAX));
    }
}
