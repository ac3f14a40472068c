//! Counting Bloom filters: that with all counters of a key in one cache line against the classical one.
//!
//! No peer of this kind takes a hasher or a rate; what the line is worth is told by our own classical filter.

use core::error::Error;

use pds::params::BlockedCountingParams;
use pds::{BlockedCountingBloomFilter, CountingBloomFilter};

use crate::goals::{Against, Goal};
use crate::membership::{Design, Lineup, Operation, Peer, contender};
use crate::removal::{self, Removing, changes};
use crate::report::size;
use crate::suite::{Bench, Outcome, Suite};

/// What is measured of it.
pub const SUITE: Suite = Suite {
    name: "blocked-counting",
    peers: &[],
    goals: &[goal("insert"), goal("hit"), goal("insert batch"), goal("hit batch")],
    run,
};

/// The name of the classical filter in tables.
const CLASSICAL: &str = "classical";

/// Lookups and insertions at equal keys and rate, with what memory each needs for them.
pub const LINEUP: Lineup = Lineup {
    mode: "",
    sizes: &[64 << 10, 8 << 20],
    rate: 0.01,
    items,
    lines: |_| 1.0,
    operations: &Operation::ALL,
    ours: |design, _| Ok(Box::new(ours(design)?)),
    peers: &[Peer {
        name: CLASSICAL,
        note: "is our own counting filter with counters anywhere; it has fewer of them for the same rate",
        build: |design, _| Ok(Box::new(classical(design)?)),
    }],
};

const fn goal(operation: &'static str) -> Goal {
    Goal { case: "8 MiB", operation, against: Against::Peer(CLASSICAL), at_least: 4.0 }
}

fn run(bench: &mut Bench<'_>) -> Outcome {
    LINEUP.run(bench)?;
    for bytes in bench.effort().sizes(LINEUP.sizes) {
        let design = LINEUP.design(bytes)?;
        let contenders: [&mut dyn Removing; 2] = [&mut ours(&design)?, &mut classical(&design)?];
        changes(bench, &size(bytes), CLASSICAL, (design.items, removal::WHOLE), contenders);
    }
    Ok(())
}

/// The most keys of which so many lines keep the rate.
fn items(bytes: u64, rate: f64) -> Result<u64, Box<dyn Error>> {
    let params = BlockedCountingParams::from_lines(bytes / 64)?;
    let (mut keeps, mut fails) = (0, bytes);
    while fails - keeps > 1 {
        let middle = keeps.midpoint(fails);
        *(if params.rate_at(middle) <= rate { &mut keeps } else { &mut fails }) = middle;
    }
    Ok(keeps)
}

fn ours(design: &Design) -> Result<BlockedCountingBloomFilter, Box<dyn Error>> {
    Ok(BlockedCountingBloomFilter::builder().lines(design.bytes / 64).build()?)
}

fn classical(design: &Design) -> Result<CountingBloomFilter, Box<dyn Error>> {
    Ok(CountingBloomFilter::new(design.items, design.rate)?)
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
