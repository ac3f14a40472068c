//! Counting Bloom filters. The filter with all counters of a key in one cache line is compared with the classical one.
//! The classical one is compared with the Bloom filter of the same shape.
//!
//! No peer of this kind takes a hasher or a rate. Our own filters therefore show the gain of the single line and the
//! cost of removal.

use pds::counting::backends;
use pds::params::BlockedCountingParams;
use pds::{BlockedCountingBloomFilter, CountingBloomFilter};

use crate::arena::{Design, Lineup, Peer, no_backend};
use crate::filter::{ALL, filter};
use crate::removal::{self, BLOCKED_COUNTING, BLOOM, COUNTING, CUCKOO, OF_A_MILLION};
use crate::suite::{Bench, Fallible, LARGE, Outcome};

/// Lookups and insertions for equal keys and rate, with the memory of each filter.
const LINEUP: Lineup = Lineup {
    mode: "",
    hash_in: false,
    sizes: &[64 << 10, 8 << 20, 1 << 30],
    rate: 0.01,
    items,
    lines: |_| 1.0,
    operations: &ALL,
    backend: None,
    ours: |design, _| Ok(Box::new(ours(design)?)),
    peers: &[Peer {
        name: "counting",
        note: "is our own filter with counters anywhere, and needs fewer of them; at 1 GiB also on huge pages",
        build: COUNTING,
    }],
};

/// The classical filter compared with a Bloom filter. A key has seven counters or bits.
const CLASSICAL: Lineup = Lineup {
    items: |bytes, _| Ok(bytes / 24 * 5),
    lines: |_| 7.0,
    ours: COUNTING,
    peers: &[Peer {
        name: "bloom",
        note: "is our own, in a quarter of the memory; at 1 GiB also on huge pages",
        build: BLOOM,
    }],
    ..LINEUP
};

/// The filters that keep a promise.
const PROMISES: [Peer; 4] = [
    Peer { name: "counting", note: "", build: COUNTING },
    Peer { name: "blocked-counting", note: "", build: BLOCKED_COUNTING },
    Peer { name: "bloom", note: "", build: BLOOM },
    Peer { name: "cuckoo", note: "", build: CUCKOO },
];

/// Measures the filter with all counters of a key in one line.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let [counting, ours, bloom, cuckoo] = PROMISES;
    let rivals = &[counting, bloom, cuckoo];
    removal::memory(bench, (&[0.01, 0.001], OF_A_MILLION), ours.build, rivals)?;
    on_backend(bench, backends().next())
}

/// Measures a backend of builds and on processors that have a choice.
pub(crate) fn run_on(bench: &mut Bench<'_>, backend: &'static str) -> Outcome {
    on_backend(bench, Some(backend))
}

fn on_backend(bench: &mut Bench<'_>, backend: Option<&'static str>) -> Outcome {
    let lineup = Lineup { backend, ..LINEUP };
    lineup.run(bench)?;
    for bytes in lineup.sizes.iter().copied().filter(|&bytes| bytes < LARGE) {
        let design = lineup.design(bytes)?;
        let (mut ours, mut classical) = (ours(&design)?, COUNTING(&design, None)?);
        let stages = (design.items, removal::WHOLE);
        removal::changes(bench, &design, "counting", stages, [&mut ours, &mut *classical]);
    }
    Ok(())
}

/// Measures the classical filter.
pub(crate) fn run_classical(bench: &mut Bench<'_>) -> Outcome {
    let [ours, rivals @ ..] = PROMISES;
    removal::memory(bench, (&[0.01, 0.001], OF_A_MILLION), ours.build, &rivals)?;
    CLASSICAL.run(bench)
}

/// Returns the most keys for which this many lines keep the rate.
fn items(bytes: u64, rate: f64) -> Fallible<u64> {
    let params = BlockedCountingParams::from_lines(bytes / 64)?;
    let (mut keeps, mut fails) = (0, bytes);
    while fails - keeps > 1 {
        let middle = keeps.midpoint(fails);
        *(if params.rate_at(middle) <= rate { &mut keeps } else { &mut fails }) = middle;
    }
    Ok(keeps)
}

/// Returns our filter with the backend of the design.
fn ours(design: &Design) -> Fallible<BlockedCountingBloomFilter> {
    let builder = BlockedCountingBloomFilter::builder().lines(design.bytes / 64);
    let filter = builder.huge_pages(design.is_huge()).build()?;
    let Some(backend) = design.backend else { return Ok(filter) };
    Ok(filter.with_backend(backend).ok_or_else(|| no_backend(backend, backends()))?)
}

filter!(ours BlockedCountingBloomFilter, CountingBloomFilter => {
    insert(filter, key) => filter.insert(&key),
    insert_batch(filter, keys) => filter.insert_batch(keys) as u64,
    remove(filter, key) => filter.remove(&key),
});
