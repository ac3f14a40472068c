//! The filters and sketches of other systems: what they promise, and what they tell of themselves.

mod sketches;

use super::cardinality::ESTIMATE_SPREAD;
use super::constructors::{Constructor, Filled, ITEMS, RATE, constructor, jobs};
use super::frequency::BEYOND_BOUND;
use super::prelude::*;
use pds::formats::datasketches::DataSketchesBloomFilter;
use pds::formats::dcso::DcsoBloomFilter;
use pds::formats::guava::{GuavaBloomFilter, GuavaStrategy};
use pds::formats::milvus::MilvusBloomFilter;
use pds::formats::parquet::ParquetBloomFilter;
use pds::formats::redis::{RedisBloomFilter, RedisCuckooFilter, ValkeyBloomFilter};
use pds::formats::spark::{SparkBloomFilter, SparkBloomVersion};
use pds::formats::xorf::{XorFilter, XorKind};

/// The filters of other systems.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Filters and sketches of other systems",
    variants: &[],
    jobs: |run| {
        let mut all = jobs(run, NAME, all());
        all.extend(sketches::jobs(run));
        all
    },
    faults: &[
        fault(
            "not-halved",
            "the first layer of a filter of RedisBloom has twice its rate",
            &[PROMISE],
            |run| vec![redis_layers(2.0 * RATE).job(NAME, run.seed)],
        ),
        fault(
            "half-the-error",
            "an HLL sketch of DataSketches states half of its standard error",
            &[ESTIMATE_SPREAD],
            sketches::half_the_error,
        ),
        fault(
            "tight-bound",
            "a count-min sketch of RedisBloom states a twentieth of its bound",
            &[BEYOND_BOUND],
            sketches::tight_bound,
        ),
    ],
};

const NAME: &str = "formats";

/// A filter that is filled and asked, by `insert` and `contains` or by two other methods, by values that hashes stand for.
macro_rules! filled {
    ($filter:ident, $random:ident, $items:ident, $hash:ident => $value:expr, $rate:expr) => {
        filled!($filter, insert, contains, $random, $items, $hash => $value, $rate)
    };
    ($filter:ident, $insert:ident, $contains:ident, $random:ident, $items:ident, $hash:ident => $value:expr, $rate:expr) => {{
        let (rate, mut filter) = ($rate, $filter);
        for $hash in first($items, $random) {
            let _ = filter.$insert($value);
        }
        Filled { contains: Box::new(move |$hash| filter.$contains($value)), rate }
    }};
}

/// A static filter of random fingerprints, which a key meets as often as in a filter of keys.
fn random_xor(kind: XorKind, head: &[u8], fingerprints: u64) -> Constructor {
    let head = head.to_vec();
    constructor(format!("xor_singleheader {kind:?}"), None, 1, move |random, _| {
        let mut bytes = head.clone();
        bytes[..8].copy_from_slice(&next(random).to_le_bytes());
        bytes.extend(first(fingerprints, random).map(|number| number.to_le_bytes()[0]));
        let filter = XorFilter::from_bytes(kind, &bytes).expect("sound");
        let contains = Box::new(move |hash| filter.contains(hash));
        Filled { contains, rate: Interval::exactly(1.0 / 256.0) }
    })
}

/// The rate of full layers by their numbers of items, bits and hash functions, as textbooks have it. The double hashing of
/// the systems adds up to 2 % at a thousand items.
fn textbook(layers: &[(u32, u32, i32)]) -> Interval {
    let rate = |&(items, bits, hashes): &(u32, u32, i32)| {
        let load = f64::from(hashes) * f64::from(items) / f64::from(bits);
        (1.0 - (-load).exp()).powi(hashes)
    };
    let rate = 1.0 - layers.iter().map(|layer| 1.0 - rate(layer)).product::<f64>();
    Interval { low: 0.99 * rate, high: 1.02 * rate }
}

/// Three full layers.
fn redis_layers(rate: f64) -> Constructor {
    constructor("RedisBloom, three layers", RATE, 7 * ITEMS, move |random, items| {
        let filter = RedisBloomFilter::reserve(rate, ITEMS, Some(2)).expect("sound");
        let rate = textbook(&[(1_000, 11_072, 8), (2_000, 24_960, 9), (4_000, 55_680, 10)]);
        filled!(filter, random, items, hash => &hash.to_le_bytes(), rate)
    })
}

fn spark(name: &'static str, version: SparkBloomVersion) -> Constructor {
    constructor(name, None, ITEMS, move |random, items| {
        let filter = SparkBloomFilter::new(version, items, RATE).expect("sound");
        let rate = textbook(&[(1_000, 9_600, 7)]);
        filled!(filter, random, items, hash => hash.cast_signed(), rate)
    })
}

fn guava(name: &'static str, strategy: GuavaStrategy) -> Constructor {
    constructor(name, None, ITEMS, move |random, items| {
        let filter = GuavaBloomFilter::with_strategy(strategy, items, RATE).expect("sound");
        let rate = textbook(&[(1_000, 9_600, 7)]);
        filled!(filter, random, items, hash => hash.cast_signed(), rate)
    })
}

/// One row for each format that answers with a rate. A system whose formula gives more than the rate has no promise.
fn all() -> Vec<Constructor> {
    vec![
        constructor("Parquet new(3300, 0.01)", RATE, 3_300, |random, items| {
            let filter = ParquetBloomFilter::new(items, RATE).expect("sound");
            let rate = Interval::exactly(filter.rate_at(items));
            filled!(filter, random, items, hash => &hash.cast_signed(), rate)
        }),
        constructor("Milvus new(1000, 0.005)", None, ITEMS, |random, items| {
            let filter = MilvusBloomFilter::new(items, 0.005).expect("sound");
            let rate = Interval::exactly(filter.rate_at(items));
            filled!(
                filter, insert_integer, contains_integer, random, items,
                hash => hash.cast_signed(), rate
            )
        }),
        redis_layers(RATE),
        constructor("RedisBloom, one layer", None, ITEMS, |random, items| {
            let filter = RedisBloomFilter::reserve(RATE, items, None).expect("sound");
            let rate = textbook(&[(1_000, 9_600, 7)]);
            filled!(filter, random, items, hash => &hash.to_le_bytes(), rate)
        }),
        constructor("RedisBloom cuckoo, 900 of 1024", None, 900, |random, items| {
            let filter = RedisCuckooFilter::with_options(1_024, 2, 500, 1).expect("sound");
            // Each of four slots is full with probability 900 / 1024, and then has one of 255 fingerprints.
            let rate = 1.0 - (1.0 - 900.0 / 1_024.0 / 255.0_f64).powi(4);
            filled!(filter, random, items, hash => &hash.to_le_bytes(), Interval::exactly(rate))
        }),
        constructor("valkey-bloom, one layer", None, ITEMS, |random, items| {
            let seed = *b"thirty-two bytes as keys, 0 - 31";
            let filter = ValkeyBloomFilter::reserve(RATE, items, None, seed).expect("sound");
            let rate = textbook(&[(1_000, 9_592, 7)]);
            filled!(filter, random, items, hash => &hash.to_le_bytes(), rate)
        }),
        constructor("DataSketches Bloom", None, ITEMS, |random, items| {
            let filter = DataSketchesBloomFilter::new(9_001, items, RATE).expect("sound");
            let rate = textbook(&[(1_000, 9_600, 7)]);
            filled!(filter, random, items, hash => hash, rate)
        }),
        constructor("DCSO", None, ITEMS, |random, items| {
            let filter = DcsoBloomFilter::new(items, RATE).expect("sound");
            let rate = textbook(&[(1_000, 9_585, 7)]);
            filled!(filter, random, items, hash => &hash.to_le_bytes(), rate)
        }),
        spark("Spark Bloom, version 1", SparkBloomVersion::V1),
        spark("Spark Bloom, version 2", SparkBloomVersion::V2 { seed: 17 }),
        guava("Guava MURMUR128_MITZ_32", GuavaStrategy::Murmur128Mitz32),
        guava("Guava MURMUR128_MITZ_64", GuavaStrategy::Murmur128Mitz64),
        // Three blocks of 100, and 6 segments of 64 with two more.
        random_xor(XorKind::Xor8, &[[0; 8], 100u64.to_le_bytes()].concat(), 300),
        random_xor(
            XorKind::BinaryFuse8,
            &[0, 0, 64, 6, 64 * 6, 64 * 8].map(u32::to_le_bytes).concat(),
            64 * 8,
        ),
    ]
}
