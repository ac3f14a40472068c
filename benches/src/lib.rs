#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod allocation;
pub mod arena;
pub mod blocked;
pub mod bloom;
mod cardinality;
pub mod contest;
mod counting;
mod cuckoo;
pub mod filter;
pub mod floor;
mod formats;
mod frequency;
pub mod goals;
mod hashing;
mod headline;
mod huge_pages;
pub mod keys;
mod large;
pub mod machine;
mod quotient;
mod removal;
pub mod report;
mod scalable;
mod similarity;
mod static_filters;
pub mod suite;
mod theta;
mod window;

use suite::Suite;

/// All suites.
pub const SUITES: &[Suite] = &[
    Suite { name: "bloom", run: bloom::run },
    Suite { name: "blocked", run: blocked::run },
    Suite { name: "blocked-avx2", run: |bench| blocked::run_on(bench, "avx2") },
    Suite { name: "blocked-portable", run: |bench| blocked::run_on(bench, "portable") },
    Suite { name: "blocked-smallest", run: blocked::run_smallest },
    Suite { name: "blocked-memory", run: blocked::run_memory },
    Suite { name: "huge-pages", run: huge_pages::run },
    Suite { name: "counting", run: counting::run_classical },
    Suite { name: "blocked-counting", run: counting::run },
    Suite { name: "blocked-counting-avx2", run: |bench| counting::run_on(bench, "avx2") },
    Suite { name: "blocked-counting-portable", run: |bench| counting::run_on(bench, "portable") },
    Suite { name: "cuckoo", run: cuckoo::run },
    // Those that take as long as all smaller ones, or much memory, have suites of their own.
    Suite { name: "cuckoo-large", run: cuckoo::run_large },
    Suite { name: "quotient", run: quotient::run },
    Suite { name: "quotient-large", run: quotient::run_large },
    Suite { name: "fuse", run: static_filters::run_fuse },
    Suite { name: "ribbon", run: static_filters::run_ribbon },
    Suite { name: "static-large", run: static_filters::run_large },
    Suite { name: "scalable", run: scalable::run },
    Suite { name: "window", run: window::run },
    Suite { name: "cms", run: frequency::run },
    Suite { name: "hll", run: cardinality::run },
    Suite { name: "minhash", run: similarity::run },
    Suite { name: "theta", run: theta::run },
    Suite { name: "formats", run: formats::run },
    Suite { name: "hash", run: hashing::run },
    Suite { name: "headline", run: headline::run },
];
