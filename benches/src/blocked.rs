//! The blocked Bloom filter, by each of its backends.

use core::error::Error;
use core::hash::BuildHasher;

use pds::blocked::backends;
use pds::params::{BlockedBloomParams, BloomParams, blocked};
use pds::{BlockedBloomFilter, DefaultHashBuilder};

use crate::goals::{Against, Goal};
use crate::keys::key;
use crate::membership::{Build, Design, Filter, Operation, Peer, Suite};

const KIB_64: u64 = 64 << 10;
const MIB_8: u64 = 8 << 20;
const GIB_1: u64 = 1 << 30;

/// The rate of all contenders.
const RATE: f64 = 0.01;

/// By the backend that the processor gets.
pub const SUITE: Suite = Suite {
    goals: &[
        against_floor(Operation::HitBatch, GIB_1, 0.95),
        against_floor(Operation::HitBatch, MIB_8, 0.80),
        against_fastbloom(Operation::Hit, KIB_64, 2.5),
        against_fastbloom(Operation::Miss, KIB_64, 5.0),
        against_fastbloom(Operation::Hit, MIB_8, 5.0),
        against_fastbloom(Operation::Miss, MIB_8, 3.5),
        against_fastbloom(Operation::HitBatch, MIB_8, 8.0),
        against_fastbloom(Operation::MissBatch, MIB_8, 6.0),
        against_fastbloom(Operation::HitBatch, GIB_1, 10.0),
        against_fastbloom(Operation::MissBatch, GIB_1, 6.0),
        at_least(Operation::HitBatch, MIB_8, Against::Peer("sbbf-rs-safe"), 1.0),
        at_least(Operation::Hit, KIB_64, Against::Peer("sbbf-rs-safe"), 1.0),
    ],
    ..suite("blocked", "best", |design, _| ours(design, None))
};

/// By AVX2, where the build leaves a choice.
pub const AVX2: Suite = suite("blocked-avx2", "avx2", |design, _| ours(design, Some("avx2")));

/// By portable code, where the build leaves a choice.
pub const PORTABLE: Suite = Suite {
    goals: &[
        against_fastbloom(Operation::HitBatch, MIB_8, 3.0),
        against_fastbloom(Operation::HitBatch, GIB_1, 6.0),
    ],
    ..suite("blocked-portable", "portable", |design, _| ours(design, Some("portable")))
};

/// All contenders get the same keys and as many bits as give the same rate.
const fn suite(name: &'static str, backend: &'static str, ours: Build) -> Suite {
    Suite {
        name,
        backend,
        rate: RATE,
        items: |bytes, rate| {
            let blocks = 8 * bytes / blocked::BLOCK_BITS;
            let params =
                BlockedBloomParams::from_blocks_and_rate(blocks, rate, Default::default())?;
            Ok(params.expected_items().ok_or("sized by items")?)
        },
        lines: |_| 1.0,
        ours,
        peers: &[
            Peer { name: "fastbloom", note: "has fewer bits for the same rate", build: fastbloom },
            Peer {
                name: "sbbf-rs-safe",
                note: "has more bits for the same rate; its lookups choose AVX2 at run time",
                build: sbbf,
            },
        ],
        goals: &[],
    }
}

const fn against_fastbloom(operation: Operation, bytes: u64, ratio: f64) -> Goal {
    at_least(operation, bytes, Against::Peer("fastbloom"), ratio)
}

const fn against_floor(operation: Operation, bytes: u64, ratio: f64) -> Goal {
    at_least(operation, bytes, Against::Floor, ratio)
}

const fn at_least(operation: Operation, bytes: u64, against: Against, at_least: f64) -> Goal {
    Goal { operation, bytes, against, at_least }
}

fn ours(design: &Design, backend: Option<&str>) -> Result<Box<dyn Filter>, Box<dyn Error>> {
    let blocks = 8 * design.bytes / blocked::BLOCK_BITS;
    let builder = BlockedBloomFilter::builder().blocks(blocks).false_positive_rate(design.rate);
    let filter = builder.huge_pages(design.huge_pages()).build()?;
    Ok(Box::new(match backend.filter(|name| backends().any(|other| other == *name)) {
        Some(name) => filter.with_backend(name).ok_or("a backend of the list")?,
        None => filter,
    }))
}

fn fastbloom(design: &Design, preset: Option<&[u64]>) -> Result<Box<dyn Filter>, Box<dyn Error>> {
    use fastbloom::BloomFilter;
    let bits = BloomParams::new(design.items, design.rate)?.num_bits();
    let builder = match preset {
        Some(_) => {
            BloomFilter::from_vec(random_bits(bits.div_ceil(64), |bit| bit(1) | bit(5) | bit(8)))
        }
        None => BloomFilter::with_num_bits(usize::try_from(bits)?),
    };
    let items = usize::try_from(design.items)?;
    Ok(Box::new(builder.hasher(DefaultHashBuilder::default()).expected_items(items)))
}

fn sbbf(design: &Design, preset: Option<&[u64]>) -> Result<Box<dyn Filter>, Box<dyn Error>> {
    let (mut fails, mut keeps) = (1, design.items);
    while keeps - fails > 1 {
        let blocks = fails.midpoint(keeps);
        let kept = blocked::split_block_rate(blocks, design.items) <= design.rate;
        *(if kept { &mut keeps } else { &mut fails }) = blocks;
    }
    let mut filter = sbbf_rs_safe::Filter::new(256, usize::try_from(keeps)?);
    if preset.is_some() {
        let words = random_bits(4 * keeps, |bit| bit(1) | bit(3));
        let bytes = filter.as_bytes_mut().chunks_exact_mut(8);
        bytes.zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
    }
    Ok(Box::new(Split(filter)))
}

/// Bits as a full filter has them, for sizes that take minutes to fill by keys: `law` joins words each bit of
/// which is set with probability 2^-n.
fn random_bits(words: u64, law: impl Fn(&mut dyn FnMut(u32) -> u64) -> u64) -> Vec<u64> {
    let mut numbers = (1 << 63..).map(key);
    let mut sparse =
        |n: u32| numbers.by_ref().take(n as usize).fold(u64::MAX, |word, random| word & random);
    (0..words).map(|_| law(&mut sparse)).collect()
}

impl Filter for BlockedBloomFilter {
    fn insert(&mut self, key: u64) -> bool {
        self.insert(&key)
    }

    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn insert_batch(&mut self, keys: &[u64]) -> u64 {
        self.insert_batch(keys) as u64
    }

    fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) -> u64 {
        self.contains_batch(keys, answers);
        answers.iter().map(|&answer| u64::from(answer)).sum()
    }

    fn words(&self) -> Option<&[u64]> {
        Some(self.words())
    }
}

/// The peer takes hashes only; it gets those of our hasher.
#[derive(Debug)]
struct Split(sbbf_rs_safe::Filter);

impl Filter for Split {
    fn insert(&mut self, key: u64) -> bool {
        !self.0.insert_hash(DefaultHashBuilder::default().hash_one(key))
    }

    fn contains(&self, key: u64) -> bool {
        self.0.contains_hash(DefaultHashBuilder::default().hash_one(key))
    }

    fn clear(&mut self) {
        self.0.reset();
    }
}
