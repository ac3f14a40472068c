#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

pub mod blocked;
pub mod bloom;
mod check;
pub mod cms;
pub mod compare;
pub mod counting;
pub mod cuckoo;
mod design;
mod error;
mod estimate;
pub mod hll;

pub use blocked::{BlockedBloomParams, Preference};
pub use bloom::BloomParams;
pub use cms::{CountMinParams, CountSketchParams, HeavyHittersParams};
pub use compare::{compare, recommend};
pub use counting::BlockedCountingParams;
pub use cuckoo::CuckooParams;
pub use error::ParamError;
pub use estimate::Estimate;
pub use hll::HllParams;
