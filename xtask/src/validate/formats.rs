//! The filters of other systems: the rates that they promise, and those that they tell of themselves.

use super::Run;
use super::constructors::{Constructor, Filled, ITEMS, RATE, Random, constructor, jobs};
use super::effort::Effort;
use super::measure::PROMISE;
use super::structures::{Fault, Structure};
use super::subject::Interval;
use pds::formats::milvus::MilvusBloomFilter;
use pds::formats::parquet::ParquetBloomFilter;
use pds::formats::redis::{RedisBloomFilter, RedisCuckooFilter, ValkeyBloomFilter};

/// The filters of other systems.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Filters of other systems",
    variants: &[],
    jobs: |run| jobs(run, NAME, all()),
    faults: &[Fault {
        name: "not-halved",
        effect: "the first layer of a filter of RedisBloom has twice its rate",
        breaks: &[PROMISE],
        effort: Effort::Quick,
        jobs: |run: &Run| vec![redis_layers(2.0 * RATE).job(NAME, run.seed)],
    }],
    sketches: &[],
};

const NAME: &str = "formats";

/// How far the rate that one filter tells of itself may be from the mean of many.
const SCATTER: f64 = 0.1;

/// A type as it is filled and asked by byte strings.
macro_rules! filled {
    ($filter:expr, $random:ident, $items:ident, $insert:ident, $contains:ident, $key:expr, $rate:expr) => {{
        let mut filter = $filter;
        for _ in 0..$items {
            let hash = $random.next().expect("endless");
            let _ = filter.$insert(&$key(hash));
        }
        let rate: f64 = $rate(&filter);
        Filled {
            contains: Box::new(move |hash| filter.$contains(&$key(hash))),
            rate: Interval { low: (1.0 - SCATTER) * rate, high: (1.0 + SCATTER) * rate },
        }
    }};
}

/// A filter of Milvus that takes references, as the others do.
struct Integers(MilvusBloomFilter);

impl Integers {
    fn insert(&mut self, value: &i64) -> bool {
        self.0.insert_integer(*value)
    }

    fn contains(&self, value: &i64) -> bool {
        self.0.contains_integer(*value)
    }
}

/// Three layers, of which the last is full.
fn redis_layers(rate: f64) -> Constructor {
    constructor("RedisBloom, three layers", RATE, 7 * ITEMS / 4, move |random, items| {
        let filter = RedisBloomFilter::reserve(rate, ITEMS / 4, Some(2)).expect("sound");
        redis(filter, random, items)
    })
}

fn redis(filter: RedisBloomFilter, random: Random<'_>, items: u64) -> Filled {
    filled!(
        filter,
        random,
        items,
        insert,
        contains,
        u64::to_le_bytes,
        RedisBloomFilter::false_positive_rate
    )
}

/// One row for each format that answers with a rate. A system that promises less than its formula says has no promise.
fn all() -> Vec<Constructor> {
    vec![
        constructor("Parquet new(3300, 0.01)", RATE, 3_300, |random, items| {
            let filter = ParquetBloomFilter::new(items, RATE).expect("sound");
            let rate = |filter: &ParquetBloomFilter| filter.rate_at(3_300);
            filled!(filter, random, items, insert, contains, u64::cast_signed, rate)
        }),
        constructor("Milvus new(1000, 0.005)", None, ITEMS, |random, items| {
            let filter = MilvusBloomFilter::new(items, 0.005).expect("sound");
            let rate = |filter: &Integers| filter.0.rate_at(ITEMS);
            filled!(Integers(filter), random, items, insert, contains, u64::cast_signed, rate)
        }),
        redis_layers(RATE),
        constructor("RedisBloom, one layer", None, ITEMS, |random, items| {
            redis(RedisBloomFilter::reserve(RATE, items, None).expect("sound"), random, items)
        }),
        constructor("RedisBloom cuckoo, 900 of 1024", None, 900, |random, items| {
            let filter = RedisCuckooFilter::with_options(1_024, 2, 500, 1).expect("sound");
            let rate = RedisCuckooFilter::false_positive_rate;
            filled!(filter, random, items, insert, contains, u64::to_le_bytes, rate)
        }),
        constructor("valkey-bloom, one layer", None, ITEMS, |random, items| {
            let filter = ValkeyBloomFilter::reserve(RATE, items, None, [7; 32]).expect("sound");
            let rate = ValkeyBloomFilter::false_positive_rate;
            filled!(filter, random, items, insert, contains, u64::to_le_bytes, rate)
        }),
    ]
}
