//! The memory of structures with removal.

use crate::{BlockedCountingParams, BloomParams, CuckooParams, ParamError};

/// Structures with removal of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Removal {
    /// The cuckoo filter.
    Cuckoo,
    /// The counting Bloom filter with counters of 4 bits.
    Counting,
    /// The counting Bloom filter with all counters of a key in one cache line.
    BlockedCounting,
}

/// The number of bits of each structure with removal, for the same promise.
///
/// A counting filter takes four times the bits of a Bloom filter, a cuckoo filter hardly more than one times. From a
/// hundred items on, and for rates of 0.1 and below, the cuckoo filter is the smallest. Counting filters are never
/// full, and they merge at any load.
///
/// # Examples
/// ```
/// use pds_params::counting::{Memory, Removal};
///
/// let memory = Memory::of(1_000_000, 0.01)?;
/// assert_eq!(memory.smallest(), Removal::Cuckoo);
/// assert!(memory.counting > 3 * memory.cuckoo && memory.blocked_counting > memory.counting);
/// assert_eq!(Memory::of(1_000_000, 0.5)?.smallest(), Removal::Counting);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Bits of a cuckoo filter.
    pub cuckoo: u64,
    /// Bits of a counting Bloom filter with counters of 4 bits.
    pub counting: u64,
    /// Bits of a blocked counting Bloom filter.
    pub blocked_counting: u64,
}

impl Memory {
    /// Computes the sizes of all three structures for `items` distinct keys at the false-positive rate `rate`.
    ///
    /// # Errors
    /// The error of the first structure for which the parameters are impossible.
    pub fn of(items: u64, rate: f64) -> Result<Self, ParamError> {
        Ok(Self {
            cuckoo: CuckooParams::new(items, rate)?.num_bits(),
            counting: BloomParams::for_double_hashing(items, rate)?.num_bits().saturating_mul(4),
            blocked_counting: BlockedCountingParams::new(items, rate)?.num_lines() * 512,
        })
    }

    /// Returns the structure with the fewest bits, or the first of [`Removal`] if several have as few.
    #[must_use]
    pub fn smallest(&self) -> Removal {
        let all = [
            (self.cuckoo, Removal::Cuckoo),
            (self.counting, Removal::Counting),
            (self.blocked_counting, Removal::BlockedCounting),
        ];
        all.into_iter().min_by_key(|&(bits, _)| bits).map_or(Removal::Cuckoo, |(_, kind)| kind)
    }
}
