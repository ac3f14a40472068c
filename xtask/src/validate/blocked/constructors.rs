//! The constructors of blocked filters, and the methods that make one filter from another.

use super::exactly;
use crate::validate::constructors::{
    Constructor, Filled, ITEMS, RATE, Random, asked, calculated, constructor, filled, insert_all,
};
use pds::blocked::Preference;
use pds::error::BuildError;
use pds::formats::parquet::{ParquetBloomFilter, ParquetWriter};
use pds::hash::DefaultHashBuilder;
use pds::params::BlockedBloomParams;
use pds::params::blocked::split_block_rate;
use pds::registry::{BLOCKED_BLOOM, SPLIT_BLOCK_BLOOM};
use pds::{AtomicBlockedBloomFilter, BlockedBloomFilter, SplitBlockBloomFilter};

/// Bytes of a block of a split-block filter.
const SPLIT_BLOCK_BYTES: u64 = 32;

/// All constructors.
pub(super) fn all() -> Vec<Constructor> {
    let mut all = blocked();
    all.extend(split());
    all.extend(calculated(&BLOCKED_BLOOM, |candidate, random, items| {
        let &params = candidate.params::<BlockedBloomParams>().expect("its own parameters");
        let filter = BlockedBloomFilter::from_params(params, DefaultHashBuilder::default());
        filled(filter.expect("memory"), random, items, |_| exactly(params.rate_at(items)))
    }));
    all.extend(calculated(&SPLIT_BLOCK_BLOOM, |candidate, random, items| {
        let blocks = candidate.size_in_bytes() / SPLIT_BLOCK_BYTES;
        filled_split(SplitBlockBloomFilter::with_blocks(blocks).expect("a block"), random, items)
    }));
    all
}

fn blocked() -> Vec<Constructor> {
    type Build = fn() -> Result<BlockedBloomFilter, BuildError>;
    let of = |name: &str, promise: Option<f64>, items, build: Build| {
        constructor(name, promise, items, move |random, items| {
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
        constructor("atomic, and back", RATE, ITEMS, |random, items| {
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
        constructor(name, promise, items, move |random, items| {
            filled_split(build().expect("a sound design"), random, items)
        })
    };
    let shrunk = |name: &str, items, blocks| {
        constructor(name, RATE, items, move |random, items| {
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
            ParquetBloomFilter::for_writer(ParquetWriter::Arrow, ITEMS, RATE)
                .map(ParquetBloomFilter::into_blocks)
        }),
        of("split-block for_writer(ParquetJava)", None, ITEMS, || {
            ParquetBloomFilter::for_writer(ParquetWriter::ParquetJava, ITEMS, 0.05)
                .map(ParquetBloomFilter::into_blocks)
        }),
        of("split-block with_blocks(40)", None, ITEMS, || SplitBlockBloomFilter::with_blocks(40)),
        shrunk("split-block shrink_to_rate, 4096 blocks", 27_000, 4_096),
        shrunk("split-block shrink_to_rate, 512 blocks", 3_300, 512),
    ]
}

/// A filled split-block filter.
fn filled_split(mut filter: SplitBlockBloomFilter, random: Random<'_>, items: u64) -> Filled {
    (0..items).for_each(|_| {
        filter.insert_hash(random.next().expect("endless"));
    });
    asked_split(filter, items)
}

fn asked_split(filter: SplitBlockBloomFilter, items: u64) -> Filled {
    let rate = exactly(split_block_rate(filter.num_blocks(), items));
    Filled { contains: Box::new(move |hash| filter.contains_hash(hash)), rate }
}
