//! The list of constructors.

use super::super::blocked::exactly;
use super::{
    Constructor, Filled, Random, asked, asked_split, calculated, double_hashed, filled,
    filled_split, insert_all,
};
use pds::blocked::{ParquetWriter, Preference};
use pds::registry::{
    BLOCKED_BLOOM, BLOCKED_COUNTING_BLOOM, BLOOM, COUNTING_BLOOM, CUCKOO, SPLIT_BLOCK_BLOOM,
};
use pds::{
    AtomicBlockedBloomFilter, AtomicBloomFilter, BlockedBloomFilter, BlockedCountingBloomFilter,
    BloomFilter, BuildError, CountingBloomFilter, CuckooFilter, SplitBlockBloomFilter,
};

/// Keys and rate of most: so few keys that a fault of the formula shows.
const ITEMS: u64 = 1_000;
const RATE: f64 = 0.01;

pub(super) fn all() -> Vec<Constructor> {
    let mut all = blooms();
    all.extend(blocked());
    all.extend(split());
    all.extend(counting());
    all.extend(cuckoo());
    for (structure, of) in [
        ("bloom", &BLOOM),
        ("blocked", &BLOCKED_BLOOM),
        ("blocked", &SPLIT_BLOCK_BLOOM),
        ("counting", &COUNTING_BLOOM),
        ("counting", &BLOCKED_COUNTING_BLOOM),
        ("cuckoo", &CUCKOO),
    ] {
        all.extend(calculated(structure, of));
    }
    all
}

fn constructor(
    structure: &'static str,
    name: &str,
    promise: impl Into<Option<f64>>,
    items: u64,
    fill: impl Fn(Random<'_>, u64) -> Filled + Send + 'static,
) -> Constructor {
    Constructor {
        structure,
        name: name.to_owned(),
        items,
        promise: promise.into(),
        fill: Box::new(fill),
    }
}

fn blooms() -> Vec<Constructor> {
    type Build = fn() -> Result<BloomFilter, BuildError>;
    let of = |name: &str, promise: Option<f64>, items, build: Build| {
        constructor("bloom", name, promise, items, move |random, items| {
            let filter = build().expect("a sound design");
            filled(filter, random, items, |filter| double_hashed(&filter.params(), items))
        })
    };
    // Made from a filled filter by one of its methods.
    let from = |name: &str, promise: Option<f64>, convert: fn(BloomFilter) -> BloomFilter| {
        constructor("bloom", name, promise, ITEMS, move |random, items| {
            let mut filter = BloomFilter::builder().bits(9_600).hashes(7).build().expect("sound");
            insert_all(&mut filter, random, items);
            let filter = convert(filter);
            let rate = double_hashed(&filter.params(), items);
            asked(filter, rate)
        })
    };
    let in_bits = || BloomFilter::builder().bits(9_600).false_positive_rate(RATE).build();
    let capacity = in_bits().expect("sound").expected_items().expect("a design");
    let best = || BloomFilter::builder().bits(9_600).expected_items(ITEMS).build();
    let best_rate = best().expect("sound").promised_rate();
    vec![
        of("new(1000, 0.01)", Some(RATE), ITEMS, || BloomFilter::new(ITEMS, RATE)),
        of("new(50, 0.1)", Some(0.1), 50, || BloomFilter::new(50, 0.1)),
        of("builder: items and rate", Some(0.05), ITEMS, || {
            BloomFilter::builder().expected_items(ITEMS).false_positive_rate(0.05).build()
        }),
        of("builder: items", Some(RATE), ITEMS, || {
            BloomFilter::builder().expected_items(ITEMS).build()
        }),
        of("builder: bits and rate", Some(RATE), capacity, in_bits),
        of("builder: bits and items", best_rate, ITEMS, best),
        of("builder: bits and hashes", None, ITEMS, || {
            BloomFilter::builder().bits(9_600).hashes(4).build()
        }),
        from("fold(2)", None, |filter| filter.fold(2).expect("an even number of bits")),
        from("fold(3)", None, |filter| filter.fold(3).expect("a multiple of three")),
        from("atomic, and back", None, |filter| {
            AtomicBloomFilter::from(filter).to_plain().expect("memory")
        }),
    ]
}

fn blocked() -> Vec<Constructor> {
    type Build = fn() -> Result<BlockedBloomFilter, BuildError>;
    let of = |name: &str, promise: Option<f64>, items, build: Build| {
        constructor("blocked", name, promise, items, move |random, items| {
            let filter = build().expect("a sound design");
            filled(filter, random, items, |filter| exactly(filter.params().rate_at(items)))
        })
    };
    let in_blocks = || BlockedBloomFilter::builder().blocks(20).false_positive_rate(RATE).build();
    let capacity = in_blocks().expect("sound").expected_items().expect("a design");
    let best = || BlockedBloomFilter::builder().blocks(20).expected_items(ITEMS).build();
    let best_rate = best().expect("sound").promised_rate();
    vec![
        of("new(1000, 0.01)", Some(RATE), ITEMS, || BlockedBloomFilter::new(ITEMS, RATE)),
        of("new(50, 0.1)", Some(0.1), 50, || BlockedBloomFilter::new(50, 0.1)),
        of("builder: items, rate, smallest", Some(RATE), ITEMS, || {
            let builder = BlockedBloomFilter::builder().prefer(Preference::Smallest);
            builder.expected_items(ITEMS).false_positive_rate(RATE).build()
        }),
        of("builder: blocks and rate", Some(RATE), capacity, in_blocks),
        of("builder: blocks and items", best_rate, ITEMS, best),
        of("builder: blocks and hashes", None, ITEMS, || {
            BlockedBloomFilter::builder().blocks(20).hashes(8).build()
        }),
        constructor("blocked", "atomic, and back", RATE, ITEMS, |random, items| {
            let mut filter = BlockedBloomFilter::new(items, RATE).expect("sound");
            insert_all(&mut filter, random, items);
            let filter = AtomicBlockedBloomFilter::from(filter).to_plain().expect("memory");
            let rate = exactly(filter.params().rate_at(items));
            asked(filter, rate)
        }),
    ]
}

fn split() -> Vec<Constructor> {
    type Build = fn() -> Result<SplitBlockBloomFilter, BuildError>;
    let of = |name: &str, promise: Option<f64>, items, build: Build| {
        constructor("blocked", name, promise, items, move |random, items| {
            filled_split(build().expect("a sound design"), random, items)
        })
    };
    let shrunk = |name: &str, items, blocks| {
        constructor("blocked", name, RATE, items, move |random, items| {
            let mut filter = SplitBlockBloomFilter::with_blocks(blocks).expect("a block");
            (0..items).for_each(|_| {
                filter.insert_hash(random.next().expect("endless"));
            });
            asked_split(filter.shrink_to_rate(RATE).expect("memory"), items)
        })
    };
    vec![
        of("split-block new(27000, 0.01)", Some(RATE), 27_000, || {
            SplitBlockBloomFilter::new(27_000, RATE)
        }),
        of("split-block new(3300, 0.01)", Some(RATE), 3_300, || {
            SplitBlockBloomFilter::new(3_300, RATE)
        }),
        of("split-block new(1000, 0.05)", Some(0.05), ITEMS, || {
            SplitBlockBloomFilter::new(ITEMS, 0.05)
        }),
        // A writer's filter is as large as the writer's, whatever its rate.
        of("split-block for_writer(Arrow)", None, ITEMS, || {
            SplitBlockBloomFilter::for_writer(ParquetWriter::Arrow, ITEMS, RATE)
        }),
        of("split-block for_writer(ParquetJava)", None, ITEMS, || {
            SplitBlockBloomFilter::for_writer(ParquetWriter::ParquetJava, ITEMS, 0.05)
        }),
        of("split-block with_blocks(40)", None, ITEMS, || SplitBlockBloomFilter::with_blocks(40)),
        shrunk("split-block shrink_to_rate, 4096 blocks", 27_000, 4_096),
        shrunk("split-block shrink_to_rate, 512 blocks", 3_300, 512),
    ]
}

fn counting() -> Vec<Constructor> {
    let of = |name: &str, promise: Option<f64>, build: fn() -> CountingBloomFilter| {
        constructor("counting", name, promise, ITEMS, move |random, items| {
            filled(build(), random, items, |filter| double_hashed(&filter.params(), items))
        })
    };
    let in_lines = |name: &str, promise, build: fn() -> BlockedCountingBloomFilter| {
        constructor("counting", name, promise, ITEMS, move |random, items| {
            filled(build(), random, items, |filter| exactly(filter.params().rate_at(items)))
        })
    };
    vec![
        of("new(1000, 0.01)", Some(RATE), || CountingBloomFilter::new(ITEMS, RATE).expect("sound")),
        of("builder: counters and hashes", None, || {
            CountingBloomFilter::builder().counters(9_600).hashes(5).build().expect("sound")
        }),
        constructor("counting", "builder: wide counters", RATE, ITEMS, |random, items| {
            let builder = CountingBloomFilter::builder().expected_items(items).wide_counters();
            let filter = builder.build().expect("sound");
            filled(filter, random, items, |filter| double_hashed(&filter.params(), items))
        }),
        constructor("counting", "to_bloom_filter", RATE, ITEMS, |random, items| {
            let mut filter = CountingBloomFilter::new(items, RATE).expect("sound");
            insert_all(&mut filter, random, items);
            let rate = double_hashed(&filter.params(), items);
            asked(filter.to_bloom_filter().expect("memory"), rate)
        }),
        in_lines("blocked new(1000, 0.01)", Some(RATE), || {
            BlockedCountingBloomFilter::new(ITEMS, RATE).expect("sound")
        }),
        in_lines("blocked builder: lines", None, || {
            BlockedCountingBloomFilter::builder().lines(100).build().expect("sound")
        }),
    ]
}

fn cuckoo() -> Vec<Constructor> {
    let of = |name: &str, promise: Option<f64>, build: fn() -> CuckooFilter| {
        constructor("cuckoo", name, promise, ITEMS, move |random, items| {
            filled(build(), random, items, |filter| exactly(filter.params().rate_at(items)))
        })
    };
    let of_bits = || {
        let builder = CuckooFilter::builder().expected_items(ITEMS).fingerprint_bits(9);
        builder.build().expect("sound")
    };
    vec![
        of("new(1000, 0.01)", Some(RATE), || CuckooFilter::new(ITEMS, RATE).expect("sound")),
        of("builder: items", Some(RATE), || {
            CuckooFilter::builder().expected_items(ITEMS).build().expect("sound")
        }),
        of("builder: items and bits", of_bits().promised_rate(), of_bits),
        of("builder: buckets and bits", None, || {
            CuckooFilter::builder().buckets(300).fingerprint_bits(8).build().expect("sound")
        }),
    ]
}
