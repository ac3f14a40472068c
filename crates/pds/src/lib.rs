#![cfg_attr(all(feature = "std", feature = "bloom"), doc = include_str!("../README.md"))]
#![cfg_attr(
    not(all(feature = "std", feature = "bloom")),
    doc = "Probabilistic data structures with proven error rates; the README's examples need `std` and `bloom`."
)]
#![cfg_attr(
    not(feature = "default"),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "links to what only features have that are off"
    )
)]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
pub mod compare;
#[cfg(feature = "alloc")]
#[cfg_attr(
    not(all(
        feature = "blocked",
        feature = "bloom",
        feature = "cms",
        feature = "counting",
        feature = "cuckoo",
        feature = "fuse",
        feature = "hll",
        feature = "quotient",
        feature = "scalable"
    )),
    allow(unused, reason = "what only structures use whose features are off")
)]
mod dynamic;
// In documentation and its tests only: no part of the interface. It needs all structures, which are default features.
#[cfg(all(any(doc, doctest), feature = "default"))]
pub mod guide;
#[cfg(feature = "alloc")]
#[cfg_attr(
    not(all(
        feature = "blocked",
        feature = "bloom",
        feature = "cms",
        feature = "counting",
        feature = "cuckoo",
        feature = "fuse",
        feature = "hll",
        feature = "quotient",
        feature = "scalable"
    )),
    allow(unused, reason = "what only structures use whose features are off")
)]
pub mod registry;
mod typed;

#[cfg(feature = "blocked")]
pub use bloom_blocked as blocked;
#[cfg(feature = "bloom")]
pub use bloom_core as bloom;
#[cfg(feature = "counting")]
pub use bloom_counting as counting;
#[cfg(feature = "scalable")]
pub use bloom_scalable as scalable;
#[cfg(feature = "window")]
pub use bloom_window as window;
#[cfg(feature = "cms")]
pub use cms;
#[cfg(feature = "cuckoo")]
pub use cuckoo;
#[cfg(feature = "fuse")]
pub use fuse;
#[cfg(feature = "heavy-hitters")]
pub use heavy_hitters;
#[cfg(feature = "hll")]
pub use hll;
#[cfg(feature = "minhash")]
pub use minhash;
#[cfg(feature = "alloc")]
pub use pds_core::bytes;
#[cfg(feature = "std")]
pub use pds_core::durable;
#[cfg(feature = "alloc")]
pub use pds_core::many;
pub use pds_core::{error, hash, traits};
#[cfg(feature = "formats")]
pub use pds_formats as formats;
pub use pds_params as params;
#[cfg(feature = "quotient")]
pub use quotient;
#[cfg(feature = "theta")]
pub use theta;

#[cfg(all(feature = "blocked", feature = "alloc", target_has_atomic = "64"))]
pub use bloom_blocked::AtomicBlockedBloomFilter;
#[cfg(all(feature = "blocked", feature = "alloc"))]
pub use bloom_blocked::{BlockedBloomFilter, SplitBlockBloomFilter};
#[cfg(all(feature = "blocked", feature = "alloc", not(feature = "bloom")))]
pub use bloom_blocked::{Health, HealthStatus};
#[cfg(all(feature = "bloom", feature = "alloc", target_has_atomic = "64"))]
pub use bloom_core::AtomicBloomFilter;
#[cfg(all(feature = "bloom", feature = "alloc"))]
pub use bloom_core::{BloomFilter, FilterBank, Health, HealthStatus};
#[cfg(all(feature = "counting", feature = "alloc"))]
pub use bloom_counting::{BlockedCountingBloomFilter, CountingBloomFilter};
#[cfg(all(feature = "scalable", feature = "alloc"))]
pub use bloom_scalable::{LayeredBloomFilter, ScalableBlockedBloomFilter, ScalableBloomFilter};
#[cfg(all(feature = "window", feature = "alloc"))]
pub use bloom_window::{TimedBloomFilter, WindowBloomFilter};
#[cfg(all(feature = "cms", feature = "alloc", target_has_atomic = "64"))]
pub use cms::AtomicCountMinSketch;
#[cfg(all(feature = "cms", feature = "alloc"))]
pub use cms::{CountMinSketch, CountSketch};
#[cfg(all(feature = "cuckoo", feature = "alloc"))]
pub use cuckoo::CuckooFilter;
#[cfg(feature = "alloc")]
pub use dynamic::{DynFilter, DynFilterView, DynSketch};
#[cfg(all(feature = "fuse", feature = "alloc"))]
pub use fuse::{ExactFilter, FuseFilter, RetrievalMap, RibbonFilter, UpdatableMap};
#[cfg(all(feature = "heavy-hitters", feature = "alloc"))]
pub use heavy_hitters::{HeavyHitters, SketchedHeavyHitters, TopK};
#[cfg(all(feature = "hll", feature = "alloc", target_has_atomic = "8"))]
pub use hll::AtomicHyperLogLog;
#[cfg(all(feature = "hll", feature = "alloc"))]
pub use hll::{HyperLogLog, UltraLogLog};
#[cfg(all(feature = "minhash", feature = "alloc"))]
pub use minhash::{LshIndex, MinHash};
pub use pds_params::Estimate;
#[cfg(all(feature = "quotient", feature = "std"))]
pub use quotient::ShardedQuotientFilter;
#[cfg(all(feature = "quotient", feature = "alloc"))]
pub use quotient::{CountingQuotientFilter, QuotientFilter, QuotientMap};
#[cfg(all(feature = "theta", feature = "alloc"))]
pub use theta::{CompactThetaSketch, ThetaSketch, ThetaUnion};
pub use typed::Typed;
