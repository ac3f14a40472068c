//! Values of Redis, of its module `RedisBloom`, and of valkey-bloom.
//!
//! `SET`, `RESTORE` or a `LOADCHUNK` command make a key of what is written here. `GET`, `DUMP` or a `SCANDUMP` command return
//! what is read here.
//!
//! Redis hashes the bytes of an element and nothing else, so every type here takes byte strings.

mod bloom;
mod chunks;
mod count_min;
mod cuckoo;
mod hyper_log_log;
mod hyper_log_log_codec;
mod logarithm;
mod rdb;
mod rows;
mod top_k;
mod valkey;

pub use bloom::RedisBloomFilter;
pub use chunks::Chunk;
pub use count_min::RedisCountMinSketch;
pub use cuckoo::RedisCuckooFilter;
pub use hyper_log_log::RedisHyperLogLog;
pub use rdb::RdbVersion;
pub use top_k::RedisTopK;
pub use valkey::ValkeyBloomFilter;
