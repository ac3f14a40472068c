//! The blocked Bloom filter with each of its backends, with and without hashing; and its memory.

use core::error::Error;
use core::fmt;
use core::hash::BuildHasher;

use pds::blocked::backends;
use pds::hash::DefaultHashBuilder;
use pds::params::{BlockedBloomParams, BloomParams, Preference, blocked};
use pds::{BlockedBloomFilter, BloomFilter};

use crate::keys::key;
use crate::membership::{Design, Filter, Lineup, Operation, Peer, contender, no_backend};
use crate::removal::Promise;
use crate::suite::{Bench, Outcome, Suite};

/// The backend for this processor.
///
/// Within the caches, the goals use rows with given hashes. Both sides hash in the same way, and for longer than ours
/// looks up. Beyond the caches, the goals use rows with hashing.
pub const SUITE: Suite = Suite {
    name: "blocked",
    peers: PEERS,
    run: |bench| {
        Lineup { sizes: &[64 << 10, 8 << 20, 1 << 30, 4 << 30], ..HASHED }.run(bench)?;
        HASH_IN.run(bench)
    },
};

/// AVX2, in builds and on processors that have a choice.
pub const AVX2: Suite = Suite {
    name: "blocked-avx2",
    peers: PEERS,
    run: |bench| {
        Lineup { backend: || Some("avx2"), ..HASHED }.run(bench)?;
        Lineup { backend: || Some("avx2"), ..HASH_IN }.run(bench)
    },
};

/// Portable code, in builds that have a choice.
pub const PORTABLE: Suite = Suite {
    name: "blocked-portable",
    peers: PEERS,
    run: |bench| {
        Lineup { backend: || Some("portable"), ..HASHED }.run(bench)?;
        Lineup { backend: || Some("portable"), ..HASH_IN }.run(bench)
    },
};

/// The number of positions with the least memory, six at this rate, compared with the eight that take the least time.
pub const SMALLEST: Suite = Suite {
    name: "blocked-smallest",
    peers: &[],
    run: |bench| {
        SMALL.run(bench)?;
        SMALL_HASH_IN.run(bench)
    },
};

/// The memory of our filters for a promise, and their measured rates.
pub const MEMORY: Suite = Suite { name: "blocked-memory", peers: &[], run: promises };

const PEERS: &[&str] = &["fastbloom", "sbbf-rs-safe"];

/// All contenders have the same keys, as many bits as give the same rate, and our hasher.
pub const HASHED: Lineup = Lineup {
    mode: "",
    sizes: &[64 << 10, 8 << 20, 1 << 30],
    rate: 0.01,
    items: |bytes, rate| items(bytes, rate, Preference::Fastest),
    lines: |_| 1.0,
    operations: &Operation::ALL,
    backend: || backends().next(),
    ours: |design, _| Ok(Box::new(ours(design, Preference::Fastest)?)),
    peers: &[
        Peer {
            name: "fastbloom",
            note: FEWER_BITS,
            build: |design, preset| Ok(Box::new(fastbloom(design, preset.is_some())?)),
        },
        Peer {
            name: "sbbf-rs-safe",
            note: MORE_BITS,
            build: |design, preset| {
                let filter = sbbf(design, preset.is_some())?;
                Ok(Box::new(Hashing(filter, DefaultHashBuilder::default())))
            },
        },
    ],
};

/// The same, with the keys as hashes.
pub const HASH_IN: Lineup = Lineup {
    mode: "hash-in",
    sizes: &[64 << 10, 8 << 20],
    ours: |design, _| Ok(Box::new(HashIn(ours(design, Preference::Fastest)?))),
    peers: &[
        Peer {
            name: "fastbloom",
            note: FEWER_BITS,
            build: |design, preset| Ok(Box::new(HashIn(fastbloom(design, preset.is_some())?))),
        },
        Peer {
            name: "sbbf-rs-safe",
            note: MORE_BITS,
            build: |design, preset| Ok(Box::new(HashIn(sbbf(design, preset.is_some())?))),
        },
    ],
    ..HASHED
};

/// Our filter with the fewest bits compared with ours with eight positions per key.
const SMALL: Lineup = Lineup {
    sizes: HASH_IN.sizes,
    items: |bytes, rate| items(bytes, rate, Preference::Smallest),
    ours: |design, _| Ok(Box::new(ours(design, Preference::Smallest)?)),
    peers: &[Peer {
        name: "fastest",
        note: MORE_BLOCKS,
        build: |design, _| Ok(Box::new(fastest(design)?)),
    }],
    ..HASHED
};

/// The same, with the keys as hashes.
const SMALL_HASH_IN: Lineup = Lineup {
    mode: HASH_IN.mode,
    ours: |design, _| Ok(Box::new(HashIn(ours(design, Preference::Smallest)?))),
    peers: &[Peer {
        name: "fastest",
        note: MORE_BLOCKS,
        build: |design, _| Ok(Box::new(HashIn(fastest(design)?))),
    }],
    ..SMALL
};

const FEWER_BITS: &str = "has fewer bits than blocked for the same rate";
const MORE_BITS: &str =
    "has more bits than blocked for the same rate; its lookups choose AVX2 at run time";

const MORE_BLOCKS: &str = "is ours with eight positions per key, and more blocks for the same rate";

/// Returns the most keys for this many bytes at a rate.
fn items(bytes: u64, rate: f64, preference: Preference) -> Result<u64, Box<dyn Error>> {
    let params = BlockedBloomParams::from_blocks_and_rate(blocks(bytes), rate, preference)?;
    Ok(params.expected_items().ok_or("sized by items")?)
}

const fn blocks(bytes: u64) -> u64 {
    8 * bytes / blocked::BLOCK_BITS
}

/// Returns our filter with the backend of the design, empty.
pub(crate) fn ours(
    design: &Design,
    preference: Preference,
) -> Result<BlockedBloomFilter, Box<dyn Error>> {
    let builder = BlockedBloomFilter::builder().blocks(blocks(design.bytes)).prefer(preference);
    let filter =
        builder.false_positive_rate(design.rate).huge_pages(design.huge_pages()).build()?;
    let Some(backend) = design.backend else { return Ok(filter) };
    Ok(filter.with_backend(backend).ok_or_else(|| no_backend(backend, backends()))?)
}

/// Returns our filter with eight positions per key and the fewest blocks that keep the rate.
fn fastest(design: &Design) -> Result<BlockedBloomFilter, Box<dyn Error>> {
    let params = BlockedBloomParams::new(design.items, design.rate, Preference::Fastest)?;
    let bytes = params.num_blocks() * (blocked::BLOCK_BITS / 8);
    ours(&Design { bytes, ..*design }, Preference::Fastest)
}

/// Measures the bits per item for each promise and preference, beside those of the standard filter.
fn promises(bench: &mut Bench<'_>) -> Outcome {
    for rate in [0.01, 0.001, 0.000_1] {
        let promise = Promise { items: 1_000_000, rate };
        let standard = promise
            .measure("bloom", &|items, rate| Ok(Box::new(BloomFilter::new(items, rate)?)))?;
        for (preference, name) in
            [(Preference::Fastest, "fastest"), (Preference::Smallest, "smallest")]
        {
            let ours = promise.measure(name, &move |items, rate| {
                let params = BlockedBloomParams::new(items, rate, preference)?;
                Ok(Box::new(BlockedBloomFilter::from_params(
                    params,
                    DefaultHashBuilder::default(),
                )?))
            })?;
            let case = format!("{} %, {name}", 100.0 * rate);
            bench.add(promise.row(&case, ours, ("bloom", standard)));
        }
    }
    Ok(())
}

type Fastbloom = fastbloom::BloomFilter<DefaultHashBuilder>;

fn fastbloom(design: &Design, preset: bool) -> Result<Fastbloom, Box<dyn Error>> {
    let bits = BloomParams::new(design.items, design.rate)?.num_bits();
    let builder = if preset {
        fastbloom::BloomFilter::from_vec(random_bits(bits.div_ceil(64), |bit| {
            bit(1) | bit(5) | bit(8)
        }))
    } else {
        fastbloom::BloomFilter::with_num_bits(usize::try_from(bits)?)
    };
    let items = usize::try_from(design.items)?;
    Ok(builder.hasher(DefaultHashBuilder::default()).expected_items(items))
}

fn sbbf(design: &Design, preset: bool) -> Result<sbbf_rs_safe::Filter, Box<dyn Error>> {
    let (mut fails, mut keeps) = (1, design.items);
    while keeps - fails > 1 {
        let blocks = fails.midpoint(keeps);
        let kept = blocked::split_block_rate(blocks, design.items) <= design.rate;
        *(if kept { &mut keeps } else { &mut fails }) = blocks;
    }
    let mut filter = sbbf_rs_safe::Filter::new(256, usize::try_from(keeps)?);
    if preset {
        let words = random_bits(4 * keeps, |bit| bit(1) | bit(3));
        let bytes = filter.as_bytes_mut().chunks_exact_mut(8);
        bytes.zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
    }
    Ok(filter)
}

/// Returns bits like those of a full filter, for sizes that take minutes to fill with keys.
///
/// `law` combines words in which each bit is set with probability 2^-n.
fn random_bits(words: u64, law: impl Fn(&mut dyn FnMut(u32) -> u64) -> u64) -> Vec<u64> {
    let mut numbers = (1 << 63..).map(key);
    let mut sparse =
        |n: u32| numbers.by_ref().take(n as usize).fold(u64::MAX, |word, random| word & random);
    (0..words).map(|_| law(&mut sparse)).collect()
}

contender!(
    BlockedBloomFilter,
    fn words(&self) -> Option<&[u64]> {
        Some(self.words())
    }
);

/// A filter that takes hashes, with batches if it has them.
trait ByHash: fmt::Debug {
    fn insert_hash(&mut self, hash: u64) -> bool;
    fn contains_hash(&self, hash: u64) -> bool;
    fn clear(&mut self);

    fn insert_batch(&mut self, hashes: &[u64]) -> u64 {
        hashes.iter().map(|&hash| u64::from(self.insert_hash(hash))).sum()
    }

    fn contains_batch(&self, hashes: &[u64], _answers: &mut [bool]) -> u64 {
        hashes.iter().map(|&hash| u64::from(self.contains_hash(hash))).sum()
    }

    fn words(&self) -> Option<&[u64]> {
        None
    }
}

/// A filter that takes keys as hashes.
#[derive(Debug)]
struct HashIn<F>(F);

impl<F: ByHash> Filter for HashIn<F> {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_hash(key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains_hash(key)
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn insert_batch(&mut self, keys: &[u64]) -> u64 {
        self.0.insert_batch(keys)
    }

    fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) -> u64 {
        self.0.contains_batch(keys, answers)
    }

    fn words(&self) -> Option<&[u64]> {
        self.0.words()
    }
}

/// A filter that takes only hashes, with our hasher.
#[derive(Debug)]
struct Hashing<F>(F, DefaultHashBuilder);

impl<F: ByHash> Filter for Hashing<F> {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_hash(self.1.hash_one(key))
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains_hash(self.1.hash_one(key))
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

impl ByHash for BlockedBloomFilter {
    #[inline]
    fn insert_hash(&mut self, hash: u64) -> bool {
        self.insert_hash(hash)
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> u64 {
        self.insert_hash_batch(hashes) as u64
    }

    fn contains_batch(&self, hashes: &[u64], answers: &mut [bool]) -> u64 {
        self.contains_hash_batch(hashes, answers);
        answers.iter().map(|&answer| u64::from(answer)).sum()
    }

    fn words(&self) -> Option<&[u64]> {
        Some(self.words())
    }
}

impl ByHash for Fastbloom {
    #[inline]
    fn insert_hash(&mut self, hash: u64) -> bool {
        !self.insert_hash(hash)
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn clear(&mut self) {
        self.clear();
    }
}

impl ByHash for sbbf_rs_safe::Filter {
    #[inline]
    fn insert_hash(&mut self, hash: u64) -> bool {
        !self.insert_hash(hash)
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn clear(&mut self) {
        self.reset();
    }
}
