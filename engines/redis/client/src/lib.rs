#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bitmap;
mod cache;
mod error;
mod filter;
mod hyper_log_log;
mod module;
mod plan;
mod servers;
mod slots;

pub use bitmap::BitmapFilter;
pub use error::Error;
pub use filter::{Alert, Answer, Options, PROBE_PREFIX, ShardedFilter, Status};
pub use plan::{Generation, Plan, Storage};
pub use servers::{Servers, Wait};
pub use slots::{SLOTS, slot_of};

pub use bloom_core::{BloomFilter, BloomParams, Estimate};
pub use pds_formats::redis::RedisHyperLogLog;
