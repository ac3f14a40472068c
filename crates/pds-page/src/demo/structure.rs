//! The structures of the demo, and their cells.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use pds::params::hll::CardinalityEstimator;
use pds::params::{CountMinParams, HllParams};
use pds::{
    BlockedBloomFilter, BloomFilter, CountMinSketch, CountingBloomFilter, CuckooFilter, Estimate,
    HyperLogLog, QuotientFilter,
};

use crate::json::Refusal;

/// Bytes of an envelope before its payload, of every structure here.
const HEAD: usize = 128;

/// Rows of the count-min sketch.
const DEPTH: u32 = 4;

/// Copies of one key that fill both of its buckets.
const BOTH_BUCKETS: usize = 8;

/// A structure that the demo shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bloom,
    Blocked,
    Counting,
    Cuckoo,
    Quotient,
    HyperLogLog,
    CountMin,
}

const KINDS: [(&str, Kind); 7] = [
    ("standard Bloom filter", Kind::Bloom),
    ("blocked Bloom filter", Kind::Blocked),
    ("counting Bloom filter", Kind::Counting),
    ("cuckoo filter", Kind::Cuckoo),
    ("quotient filter", Kind::Quotient),
    ("HyperLogLog", Kind::HyperLogLog),
    ("count-min sketch", Kind::CountMin),
];

impl Kind {
    pub(crate) fn of(name: &str) -> Result<Self, Refusal> {
        let kind = KINDS.iter().find(|(one, _)| *one == name);
        kind.map(|&(_, kind)| kind).ok_or_else(|| Refusal(format!("the demo has no `{name}`")))
    }

    pub(crate) fn name(self) -> &'static str {
        KINDS.iter().find(|&&(_, kind)| kind == self).map_or("", |(name, _)| name)
    }

    /// Whether each copy of a key is to be inserted.
    pub(crate) const fn counts_copies(self) -> bool {
        matches!(self, Self::CountMin)
    }
}

#[derive(Debug)]
pub(crate) enum Structure {
    Bloom(BloomFilter),
    Blocked(BlockedBloomFilter),
    Counting(CountingBloomFilter),
    Cuckoo(CuckooFilter),
    Quotient(QuotientFilter),
    HyperLogLog(HyperLogLog),
    CountMin(CountMinSketch),
}

impl Structure {
    /// Creates an empty structure. For a HyperLogLog `rate` is its standard error; a count-min sketch has `items` counters
    /// per row.
    pub(crate) fn new(kind: Kind, items: u64, rate: f64) -> Result<Self, Refusal> {
        Ok(match kind {
            Kind::Bloom => Self::Bloom(BloomFilter::new(items, rate)?),
            Kind::Blocked => Self::Blocked(BlockedBloomFilter::new(items, rate)?),
            Kind::Counting => Self::Counting(CountingBloomFilter::new(items, rate)?),
            Kind::Cuckoo => Self::Cuckoo(CuckooFilter::new(items, rate)?),
            Kind::Quotient => Self::Quotient(QuotientFilter::new(items, rate)?),
            Kind::HyperLogLog => {
                let params = HllParams::for_standard_error(CardinalityEstimator::Improved, rate)?;
                Self::dense(params)
            }
            Kind::CountMin => {
                let params = CountMinParams::from_width_and_depth(items, DEPTH)?;
                Self::CountMin(CountMinSketch::builder().params(params).build()?)
            }
        })
    }

    /// Creates a HyperLogLog that has its registers from the start, since they are what the page shows.
    fn dense(params: HllParams) -> Self {
        let mut sketch = HyperLogLog::from_params(params, pds::hash::DefaultHashBuilder::default());
        sketch.make_dense();
        Self::HyperLogLog(sketch)
    }

    /// Creates a structure of the same shape with one key alone. A cuckoo filter gets copies of it, for both of its buckets.
    pub(crate) fn alone(&self, hash: u64) -> Result<Self, Refusal> {
        let hasher = pds::hash::DefaultHashBuilder::default();
        let mut alone = match self {
            Self::Bloom(filter) => Self::Bloom(BloomFilter::from_params(filter.params(), hasher)?),
            Self::Blocked(filter) => {
                Self::Blocked(BlockedBloomFilter::from_params(filter.params(), hasher)?)
            }
            Self::Counting(filter) => {
                Self::Counting(CountingBloomFilter::from_params(filter.params(), hasher)?)
            }
            Self::Cuckoo(filter) => {
                Self::Cuckoo(CuckooFilter::from_params(filter.params(), hasher)?)
            }
            Self::Quotient(filter) => {
                Self::Quotient(QuotientFilter::from_params(filter.params(), hasher)?)
            }
            Self::HyperLogLog(sketch) => Self::dense(sketch.params()),
            Self::CountMin(sketch) => {
                Self::CountMin(CountMinSketch::from_params(sketch.params(), hasher)?)
            }
        };
        alone.insert(hash)?;
        if matches!(alone, Self::Cuckoo(_)) {
            // Both buckets may be one, which then takes fewer copies.
            (1..BOTH_BUCKETS).take_while(|_| alone.insert(hash).is_ok()).for_each(drop);
        }
        Ok(alone)
    }

    pub(crate) fn insert(&mut self, hash: u64) -> Result<(), Refusal> {
        match self {
            Self::Bloom(filter) => drop(filter.insert_hash(hash)),
            Self::Blocked(filter) => drop(filter.insert_hash(hash)),
            Self::Counting(filter) => drop(filter.insert_hash(hash)),
            Self::Cuckoo(filter) => filter.insert_hash(hash)?,
            Self::Quotient(filter) => filter.insert_hash(hash)?,
            Self::HyperLogLog(sketch) => drop(sketch.insert_hash(hash)),
            Self::CountMin(sketch) => drop(sketch.insert_hash(hash)),
        }
        Ok(())
    }

    pub(crate) fn insert_copies(&mut self, hash: u64, copies: u64) -> Result<(), Refusal> {
        (0..copies).try_for_each(|_| self.insert(hash))
    }

    /// Whether the structure takes the key for one that was inserted. A HyperLogLog cannot tell.
    pub(crate) fn contains(&self, hash: u64) -> bool {
        match self {
            Self::Bloom(filter) => filter.contains_hash(hash),
            Self::Blocked(filter) => filter.contains_hash(hash),
            Self::Counting(filter) => filter.contains_hash(hash),
            Self::Cuckoo(filter) => filter.contains_hash(hash),
            Self::Quotient(filter) => filter.contains_hash(hash),
            Self::HyperLogLog(_) => false,
            Self::CountMin(sketch) => sketch.estimate_hash(hash).value() > 0,
        }
    }

    /// Estimates how often a key came, if the structure counts.
    pub(crate) fn count(&self, hash: u64) -> Option<u64> {
        match self {
            Self::CountMin(sketch) => Some(sketch.estimate_hash(hash).value()),
            _ => None,
        }
    }

    pub(crate) const fn can_remove(&self) -> bool {
        matches!(self, Self::Counting(_) | Self::Cuckoo(_) | Self::Quotient(_))
    }

    pub(crate) fn remove(&mut self, hash: u64) {
        match self {
            Self::Counting(filter) => drop(filter.remove_hash(hash)),
            Self::Cuckoo(filter) => drop(filter.remove_hash(hash)),
            Self::Quotient(filter) => drop(filter.remove_hash(hash)),
            _ => {}
        }
    }

    /// Estimates how many different keys were inserted.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        match self {
            Self::HyperLogLog(sketch) => Some(sketch.estimate_with_error()),
            _ => None,
        }
    }

    /// Returns the current false-positive rate of a filter.
    pub(crate) fn rate(&self) -> Option<f64> {
        match self {
            Self::Bloom(filter) => Some(filter.false_positive_rate()),
            Self::Blocked(filter) => Some(filter.false_positive_rate()),
            Self::Counting(filter) => Some(filter.false_positive_rate()),
            Self::Cuckoo(filter) => Some(filter.false_positive_rate()),
            Self::Quotient(filter) => Some(filter.false_positive_rate()),
            Self::HyperLogLog(_) | Self::CountMin(_) => None,
        }
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.to_bytes().len() as u64 - HEAD as u64 - 8
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Bloom(filter) => filter.to_bytes(),
            Self::Blocked(filter) => filter.to_bytes(),
            Self::Counting(filter) => filter.to_bytes(),
            Self::Cuckoo(filter) => filter.to_bytes(),
            Self::Quotient(filter) => filter.to_bytes(),
            Self::HyperLogLog(sketch) => sketch.to_bytes(),
            Self::CountMin(sketch) => sketch.to_bytes(),
        }
    }

    /// Returns the number of cells: bits, counters, slots or registers.
    pub(crate) fn num_cells(&self) -> u64 {
        match self {
            Self::Bloom(filter) => filter.num_bits(),
            Self::Blocked(filter) => filter.num_bits(),
            Self::Counting(filter) => filter.num_counters(),
            Self::Cuckoo(filter) => filter.num_slots(),
            Self::Quotient(filter) => filter.num_slots(),
            Self::HyperLogLog(sketch) => sketch.params().num_registers(),
            Self::CountMin(sketch) => sketch.params().counters(),
        }
    }

    /// Returns the number of cells that belong in one row, if the structure says so.
    pub(crate) fn columns(&self) -> Option<u64> {
        match self {
            Self::CountMin(sketch) => Some(sketch.params().width()),
            _ => None,
        }
    }

    /// Returns how many cells belong together: the bits of a block, the slots of a bucket.
    pub(crate) const fn group(&self) -> u64 {
        match self {
            Self::Blocked(_) => 512,
            Self::Cuckoo(_) => 4,
            _ => 1,
        }
    }

    /// Returns the first cells, at most `most`. An empty one is 0. Slots hold 1 + the lowest 8 bits of the fingerprint, and 256
    /// more if another fingerprint has the slot of its own quotient.
    pub(crate) fn cells(&self, most: usize) -> Vec<u32> {
        let cells = usize::try_from(self.num_cells()).unwrap_or(most).min(most);
        match self {
            Self::Bloom(filter) => bits(filter.bits().words(), cells),
            Self::Blocked(filter) => bits(filter.words(), cells),
            Self::Counting(filter) => fields(&filter.to_bytes(), filter.counter_bits(), cells),
            Self::Cuckoo(filter) => buckets(filter.fingerprints(), cells),
            Self::Quotient(filter) => runs(filter.fingerprints(), cells, most),
            Self::HyperLogLog(sketch) => fields(&sketch.to_bytes(), 6, cells),
            Self::CountMin(sketch) => sketch.counters().iter().take(cells).copied().collect(),
        }
    }
}

fn bits(words: &[u64], cells: usize) -> Vec<u32> {
    (0..cells).map(|bit| (words[bit / 64] >> (bit % 64) & 1) as u32).collect()
}

/// Returns the fields of a payload, of `width` bits each, as `docs/format.md` lays them out.
fn fields(envelope: &[u8], width: u32, cells: usize) -> Vec<u32> {
    let bit = |index: usize| u32::from(envelope[HEAD + index / 8] >> (index % 8) & 1);
    let width = width as usize;
    (0..cells).map(|cell| (0..width).map(|j| bit(width * cell + j) << j).sum()).collect()
}

fn slot(fingerprint: u64) -> u32 {
    1 + (fingerprint & 0xff) as u32
}

/// Places the fingerprints of each bucket from its first slot on.
fn buckets(fingerprints: impl Iterator<Item = (u64, u32)>, cells: usize) -> Vec<u32> {
    let mut slots = vec![0; cells];
    let mut next = 0;
    for (bucket, fingerprint) in fingerprints {
        next = next.max(4 * bucket);
        let Some(free) = at(&mut slots, next) else { break };
        *free = slot(fingerprint.into());
        next += 1;
    }
    slots
}

/// Places the runs: at the slot of their quotient, or after the run before. Runs at the end take slots beyond the last
/// quotient.
fn runs(fingerprints: impl Iterator<Item = (u64, u64)>, cells: usize, most: usize) -> Vec<u32> {
    let mut slots = vec![0; cells];
    let mut next = 0;
    for (quotient, remainder) in fingerprints {
        next = next.max(quotient);
        if next == slots.len() as u64 && slots.len() < most {
            slots.push(0);
        }
        let Some(free) = at(&mut slots, next) else { break };
        *free = slot(remainder) + if next == quotient { 0 } else { 256 };
        next += 1;
    }
    slots
}

fn at(slots: &mut [u32], place: u64) -> Option<&mut u32> {
    slots.get_mut(usize::try_from(place).ok()?)
}
