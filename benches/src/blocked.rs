//! The blocked Bloom filter with each of its backends, with and without hashing; and its memory.

use core::hash::BuildHasher;

use pds::BlockedBloomFilter;
use pds::blocked::backends;
use pds::hash::DefaultHashBuilder;
use pds::params::{BlockedBloomParams, BloomParams, Preference, blocked};

use crate::arena::{Build, Design, Lineup, Peer, no_backend};
use crate::filter::{ALL, Filter, HashIn, filter};
use crate::keys::key;
use crate::removal::{self, BLOOM};
use crate::suite::{Bench, Fallible, Outcome};

/// Measures the backend for this processor.
///
/// Within the caches, the goals use rows with given hashes. Both sides hash in the same way, and for longer than ours
/// looks up. Beyond the caches, the goals use rows with hashing.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let lineup = Lineup { backend: backends().next(), ..HASHED };
    Lineup { sizes: &[64 << 10, 8 << 20, 1 << 30, 4 << 30], ..lineup }.run(bench)?;
    hash_in(lineup).run(bench)
}

/// Measures a backend of builds and on processors that have a choice.
pub(crate) fn run_on(bench: &mut Bench<'_>, backend: &'static str) -> Outcome {
    let lineup = Lineup { backend: Some(backend), ..HASHED };
    lineup.run(bench)?;
    hash_in(lineup).run(bench)
}

/// Measures the number of positions with the least memory, six at this rate, compared with the eight that take the least
/// time.
pub(crate) fn run_smallest(bench: &mut Bench<'_>) -> Outcome {
    let lineup = Lineup {
        sizes: HASH_IN.sizes,
        items: |bytes, rate| items(bytes, rate, Preference::Smallest),
        backend: backends().next(),
        ours: |design, _| Ok(boxed(design, ours(design, Preference::Smallest)?)),
        peers: &[Peer {
            name: "fastest",
            note: "is ours with eight positions per key, and more blocks for the same rate",
            build: |design, _| Ok(boxed(design, fastest(design)?)),
        }],
        ..HASHED
    };
    lineup.run(bench)?;
    hash_in(lineup).run(bench)
}

/// All contenders have the same keys, as many bits as give the same rate, and our hasher.
pub const HASHED: Lineup = Lineup {
    mode: "",
    hash_in: false,
    sizes: &[64 << 10, 8 << 20, 1 << 30],
    rate: 0.01,
    items: |bytes, rate| items(bytes, rate, Preference::Fastest),
    lines: |_| 1.0,
    operations: &ALL,
    backend: None,
    ours: |design, _| Ok(boxed(design, ours(design, Preference::Fastest)?)),
    peers: &[
        Peer {
            name: "fastbloom",
            note: "has fewer bits than blocked for the same rate",
            build: |design, preset| Ok(boxed(design, fastbloom(design, preset.is_some())?)),
        },
        Peer {
            name: "sbbf-rs-safe",
            note: "has more bits than blocked for the same rate; its lookups choose AVX2 at run time",
            build: |design, preset| {
                let filter = sbbf(design, preset.is_some())?;
                Ok(boxed(design, Sbbf { filter, hasher: DefaultHashBuilder::default() }))
            },
        },
    ],
};

/// The same, with the keys as hashes.
pub const HASH_IN: Lineup = hash_in(HASHED);

const fn hash_in(lineup: Lineup) -> Lineup {
    Lineup { mode: "hash-in", hash_in: true, sizes: &[64 << 10, 8 << 20], ..lineup }
}

/// Returns a filter that takes keys as the design says.
fn boxed<F: Filter>(design: &Design, filter: F) -> Box<dyn Filter>
where
    HashIn<F>: Filter,
{
    if design.hash_in { Box::new(HashIn(filter)) } else { Box::new(filter) }
}

/// Returns the most keys for this many bytes at a rate.
fn items(bytes: u64, rate: f64, preference: Preference) -> Fallible<u64> {
    let params = BlockedBloomParams::from_blocks_and_rate(blocks(bytes), rate, preference)?;
    Ok(params.expected_items().ok_or("sized by items")?)
}

const fn blocks(bytes: u64) -> u64 {
    8 * bytes / blocked::BLOCK_BITS
}

/// Returns our filter with the backend of the design, empty.
pub(crate) fn ours(design: &Design, preference: Preference) -> Fallible<BlockedBloomFilter> {
    let builder = BlockedBloomFilter::builder().blocks(blocks(design.bytes)).prefer(preference);
    let filter = builder.false_positive_rate(design.rate).huge_pages(design.is_huge()).build()?;
    let Some(backend) = design.backend else { return Ok(filter) };
    Ok(filter.with_backend(backend).ok_or_else(|| no_backend(backend, backends()))?)
}

/// Returns our filter with eight positions per key and the fewest blocks that keep the rate.
fn fastest(design: &Design) -> Fallible<BlockedBloomFilter> {
    let params = BlockedBloomParams::new(design.items, design.rate, Preference::Fastest)?;
    let bytes = params.num_blocks() * (blocked::BLOCK_BITS / 8);
    ours(&Design { bytes, ..*design }, Preference::Fastest)
}

/// Measures the bits per item for each promise and preference, beside those of the standard filter.
pub(crate) fn run_memory(bench: &mut Bench<'_>) -> Outcome {
    let fastest: Build = |design, _| promised(design, Preference::Fastest);
    let smallest: Build = |design, _| promised(design, Preference::Smallest);
    for (case, build) in [(", fastest", fastest), (", smallest", smallest)] {
        let bloom = Peer { name: "bloom", note: "", build: BLOOM };
        removal::memory(bench, (&[0.01, 0.001, 0.000_1], case), build, &[bloom])?;
    }
    Ok(())
}

fn promised(design: &Design, preference: Preference) -> Fallible<Box<dyn Filter>> {
    let params = BlockedBloomParams::new(design.items, design.rate, preference)?;
    Ok(Box::new(BlockedBloomFilter::from_params(params, DefaultHashBuilder::default())?))
}

type Fastbloom = fastbloom::BloomFilter<DefaultHashBuilder>;

fn fastbloom(design: &Design, preset: bool) -> Fallible<Fastbloom> {
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

/// A filter that takes only hashes, with our hasher.
struct Sbbf {
    filter: sbbf_rs_safe::Filter,
    hasher: DefaultHashBuilder,
}

fn sbbf(design: &Design, preset: bool) -> Fallible<sbbf_rs_safe::Filter> {
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

filter!(ours BlockedBloomFilter => {
    insert(filter, key) => filter.insert(&key),
    insert_batch(filter, keys) => filter.insert_batch(keys) as u64,
    words(filter) => filter.words(),
});

filter!(HashIn<BlockedBloomFilter> => {
    insert(filter, key) => filter.0.insert_hash(key),
    insert_batch(filter, keys) => filter.0.insert_hash_batch(keys) as u64,
    contains(filter, key) => filter.0.contains_hash(key),
    contains_batch(filter, keys, answers) => filter.0.contains_hash_batch(keys, answers),
    clear(filter) => filter.0.clear(),
    words(filter) => filter.0.words(),
});

filter!(HashIn<Fastbloom> => {
    insert(filter, key) => !filter.0.insert_hash(key),
    contains(filter, key) => filter.0.contains_hash(key),
    clear(filter) => filter.0.clear(),
});

filter!(HashIn<Sbbf> => {
    insert(filter, key) => !filter.0.filter.insert_hash(key),
    contains(filter, key) => filter.0.filter.contains_hash(key),
    clear(filter) => filter.0.filter.reset(),
});

filter!(Sbbf => {
    insert(filter, key) => !filter.filter.insert_hash(filter.hasher.hash_one(key)),
    contains(filter, key) => filter.filter.contains_hash(filter.hasher.hash_one(key)),
    clear(filter) => filter.filter.reset(),
});
