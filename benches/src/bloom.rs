//! The standard Bloom filter.

mod many;

use bloomfilter::Bloom;
use pds::bloom::BloomFilter;
use pds::error::ParamError;
use pds::hash::DefaultHashBuilder;
use pds::params::BloomParams;

use crate::arena::{Design, Lineup, Peer};
use crate::filter::{ALL, Operation, filter};
use crate::suite::{Bench, Fallible, Outcome};

/// Measures filters of one size, and many small ones.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    LINEUP.run(bench)?;
    many::run(bench)
}

/// All contenders have the same bits, keys and number of positions per key.
pub const LINEUP: Lineup = Lineup {
    mode: "",
    hash_in: false,
    sizes: &[64 << 10, 8 << 20, 1 << 30],
    rate: 0.01,
    items: |bytes, rate| Ok(params(bytes, rate)?.expected_items().ok_or("sized by items")?),
    lines,
    operations: &ALL,
    backend: None,
    ours: |design, _| Ok(Box::new(filter(design)?)),
    peers: &[
        Peer {
            name: "fastbloom",
            note: "",
            build: |design, ours| {
                let builder = match ours.and_then(|ours| ours.words()) {
                    Some(words) => fastbloom::BloomFilter::from_vec(words.to_vec()),
                    None => {
                        fastbloom::BloomFilter::with_num_bits(usize::try_from(8 * design.bytes)?)
                    }
                };
                let items = usize::try_from(design.items)?;
                let filter = builder.hasher(DefaultHashBuilder::default()).expected_items(items);
                expect_hashes(filter.num_hashes())?;
                Ok(Box::new(filter))
            },
        },
        Peer {
            name: "bloomfilter",
            note: "hashes each key twice by its own SipHash-1-3, and accepts no other hasher",
            build: |design, ours| {
                // The two keys differ. With equal keys, its positions would be those of single hashing.
                let seed = b"sixteen bytes a key, two of them";
                let (bytes, items) =
                    (usize::try_from(design.bytes)?, usize::try_from(design.items)?);
                let empty = Bloom::<u64>::new_with_seed(bytes, items, seed)?;
                expect_hashes(empty.number_of_hash_functions())?;
                Ok(Box::new(match ours.and_then(|ours| ours.words()) {
                    Some(words) => preset(empty, words)?,
                    None => empty,
                }))
            },
        },
    ],
};

/// Positions per key at the rate of the line-up.
const HASHES: u32 = 7;

fn params(bytes: u64, rate: f64) -> Result<BloomParams, ParamError> {
    BloomParams::from_bits_and_rate(8 * bytes, rate)
}

/// Returns the lines that a key needs. A stored or new key needs all positions. An absent key needs its first position,
/// and each that follows a set bit.
fn lines(operation: Operation) -> f64 {
    match operation {
        Operation::Miss | Operation::MissBatch => {
            let fill = LINEUP.rate.powf(1.0 / f64::from(HASHES));
            (0..HASHES).map(|set| fill.powf(f64::from(set))).sum()
        }
        _ => f64::from(HASHES),
    }
}

/// Returns our filter, empty.
pub(crate) fn filter(design: &Design) -> Fallible<BloomFilter> {
    let builder = BloomFilter::builder().bits(8 * design.bytes).expected_items(design.items);
    let filter = builder.huge_pages(design.is_huge()).build()?;
    expect_hashes(filter.num_hashes())?;
    Ok(filter)
}

/// Writes `words` after the header of the filter's own bytes.
fn preset(empty: Bloom<u64>, words: &[u64]) -> Result<Bloom<u64>, &'static str> {
    let mut bytes = empty.into_bytes();
    let header = bytes.len() - 8 * words.len();
    for (slot, word) in bytes[header..].chunks_exact_mut(8).zip(words) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    Bloom::from_bytes(bytes)
}

/// Returns an error if the number of positions differs. Each crate chooses its own, and times are comparable only if
/// they are equal.
fn expect_hashes(hashes: u32) -> Result<(), String> {
    if hashes == HASHES { Ok(()) } else { Err(format!("{hashes} positions per key, not {HASHES}")) }
}

filter!(ours BloomFilter => {
    insert(filter, key) => filter.insert(&key),
    insert_batch(filter, keys) => filter.insert_batch(keys) as u64,
    words(filter) => filter.bits().words(),
});

filter!(fastbloom::BloomFilter<DefaultHashBuilder> => {
    insert(filter, key) => !filter.insert(&key),
    contains(filter, key) => filter.contains(&key),
    clear(filter) => filter.clear(),
});

// Its plain insertion does not report whether the key was new. The one that does is slower.
filter!(Bloom<u64> => {
    insert(filter, key) => {
        filter.set(&key);
        true
    },
    contains(filter, key) => filter.check(&key),
    clear(filter) => filter.clear(),
});
