#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

pub mod blocked;
pub mod bloom;
mod check;
#[doc(hidden)]
pub mod cms;
pub mod counting;
pub mod cuckoo;
mod design;
mod error;
mod estimate;
pub mod fuse;
mod hash_table;
pub mod hll;
#[doc(hidden)]
pub mod internal;
mod layer;
pub mod layered;
pub mod many;
pub mod minhash;
pub mod quotient;
pub mod ribbon;
pub mod scalable;
mod search;
pub mod theta;
pub mod window;

pub use blocked::params::{BlockedBloomParams, Preference};
pub use bloom::params::BloomParams;
pub use cms::{
    count_min::CountMinParams, count_sketch::CountSketchParams, heavy_hitters::HeavyHittersParams,
};
pub use counting::blocked::BlockedCountingParams;
pub use cuckoo::params::CuckooParams;
pub use error::ParamError;
pub use estimate::Estimate;
pub use fuse::params::FuseParams;
// The sizes of exact sets, for the comparison in `pds`.
#[doc(hidden)]
pub use hash_table::HashTableParams;
pub use hll::params::HllParams;
pub use layer::LayerDesign;
pub use layered::LayeredParams;
pub use minhash::{
    lsh::LshParams,
    params::{MinHashParams, SignatureParams},
};
pub use quotient::params::QuotientParams;
pub use ribbon::params::RibbonParams;
pub use scalable::{ScalableParams, Schedule};
pub use theta::params::ThetaParams;
pub use window::{keys::WindowParams, timed::TimedParams};
