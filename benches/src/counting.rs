//! Counting Bloom filters. The filter with all counters of a key in one cache line is compared with the classical one.
//! The classical one is compared with the Bloom filter of the same shape.
//!
//! No peer of this kind takes a hasher or a rate. Our own filters therefore show the gain of the single line and the
//! cost of removal.

use core::error::Error;

use pds::counting::backends;
use pds::params::BlockedCountingParams;
use pds::{BlockedCountingBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter};

use crate::membership::{Design, Lineup, Operation, Peer, contender, no_backend};
use crate::removal::{self, BuildFor, Promise, Removing, Rival, changes};
use crate::suite::{Bench, LARGE, Outcome, Suite};

/// The filter with all counters of a key in one line.
pub const SUITE: Suite = Suite {
    name: "blocked-counting",
    peers: &[],
    run: |bench| {
        promises(bench, BLOCKED)?;
        run(bench, &LINEUP)
    },
};

/// AVX2, in builds and on processors that have a choice.
pub const AVX2: Suite = Suite {
    name: "blocked-counting-avx2",
    peers: &[],
    run: |bench| run(bench, &Lineup { backend: || Some("avx2"), ..LINEUP }),
};

/// Portable code, in builds that have a choice.
pub const PORTABLE: Suite = Suite {
    name: "blocked-counting-portable",
    peers: &[],
    run: |bench| run(bench, &Lineup { backend: || Some("portable"), ..LINEUP }),
};

/// The classical filter.
pub const CLASSICAL_SUITE: Suite = Suite { name: CLASSICAL, peers: &[], run: run_classical };

/// The names of our own filters in tables.
const CLASSICAL: &str = "counting";
const BLOCKED: &str = "blocked-counting";
const BLOOM: &str = "bloom";
const CUCKOO: &str = "cuckoo";

/// Lookups and insertions for equal keys and rate, with the memory of each filter.
pub const LINEUP: Lineup = Lineup {
    mode: "",
    sizes: &[64 << 10, 8 << 20, 1 << 30],
    rate: 0.01,
    items,
    lines: |_| 1.0,
    operations: &Operation::ALL,
    backend: || backends().next(),
    ours: |design, _| Ok(Box::new(ours(design)?)),
    peers: &[Peer {
        name: CLASSICAL,
        note: "is our own filter with counters anywhere, and needs fewer of them; at 1 GiB also on huge pages",
        build: |design, _| Ok(Box::new(classical(design)?)),
    }],
};

/// The classical filter compared with a Bloom filter. A key has seven counters or bits.
const CLASSICAL_LINEUP: Lineup = Lineup {
    items: |bytes, _| Ok(bytes / 24 * 5),
    lines: |_| 7.0,
    backend: || None,
    ours: |design, _| Ok(Box::new(classical(design)?)),
    peers: &[Peer {
        name: BLOOM,
        note: "is our own, in a quarter of the memory; at 1 GiB also on huge pages",
        build: |design, _| Ok(Box::new(bloom(design)?)),
    }],
    ..LINEUP
};

fn run(bench: &mut Bench<'_>, lineup: &Lineup) -> Outcome {
    lineup.run(bench)?;
    for bytes in lineup.sizes.iter().copied().filter(|&bytes| bytes < LARGE) {
        let design = lineup.design(bytes)?;
        let contenders: [&mut dyn Removing; 2] = [&mut ours(&design)?, &mut classical(&design)?];
        changes(bench, &design, CLASSICAL, (design.items, removal::WHOLE), contenders);
    }
    Ok(())
}

fn run_classical(bench: &mut Bench<'_>) -> Outcome {
    promises(bench, CLASSICAL)?;
    CLASSICAL_LINEUP.run(bench)
}

/// Measures the memory of each filter for the same promise.
fn promises(bench: &mut Bench<'_>, ours: &'static str) -> Outcome {
    let all: [(&str, &BuildFor); 4] = [
        (CLASSICAL, &|items, rate| Ok(Box::new(CountingBloomFilter::new(items, rate)?))),
        (BLOCKED, &|items, rate| Ok(Box::new(BlockedCountingBloomFilter::new(items, rate)?))),
        (BLOOM, &|items, rate| Ok(Box::new(BloomFilter::new(items, rate)?))),
        (CUCKOO, &|items, rate| Ok(Box::new(CuckooFilter::new(items, rate)?))),
    ];
    let rival = |(name, build)| Rival { name, note: "", build };
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|&(name, _)| name == ours);
    let rivals: Vec<_> = others.into_iter().map(rival).collect();
    [0.01, 0.001]
        .into_iter()
        .try_for_each(|rate| Promise { items: 1_000_000, rate }.memory(bench, own[0], &rivals))
}

/// Returns the most keys for which this many lines keep the rate.
fn items(bytes: u64, rate: f64) -> Result<u64, Box<dyn Error>> {
    let params = BlockedCountingParams::from_lines(bytes / 64)?;
    let (mut keeps, mut fails) = (0, bytes);
    while fails - keeps > 1 {
        let middle = keeps.midpoint(fails);
        *(if params.rate_at(middle) <= rate { &mut keeps } else { &mut fails }) = middle;
    }
    Ok(keeps)
}

/// Returns our filter with the backend of the design.
fn ours(design: &Design) -> Result<BlockedCountingBloomFilter, Box<dyn Error>> {
    let builder = BlockedCountingBloomFilter::builder().lines(design.bytes / 64);
    let filter = builder.huge_pages(design.huge_pages()).build()?;
    let Some(backend) = design.backend else { return Ok(filter) };
    Ok(filter.with_backend(backend).ok_or_else(|| no_backend(backend, backends()))?)
}

fn classical(design: &Design) -> Result<CountingBloomFilter, Box<dyn Error>> {
    let builder = CountingBloomFilter::builder().expected_items(design.items);
    Ok(builder.false_positive_rate(design.rate).huge_pages(design.huge_pages()).build()?)
}

fn bloom(design: &Design) -> Result<BloomFilter, Box<dyn Error>> {
    let builder = BloomFilter::builder().expected_items(design.items);
    Ok(builder.false_positive_rate(design.rate).huge_pages(design.huge_pages()).build()?)
}

macro_rules! removing {
    ($filter:ty) => {
        contender!($filter,);

        impl Removing for $filter {
            #[inline]
            fn remove(&mut self, key: u64) -> bool {
                self.remove(&key)
            }
        }
    };
}
removing!(BlockedCountingBloomFilter);
removing!(CountingBloomFilter);
