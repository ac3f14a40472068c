//! The integration tests of `pds-formats` in one binary, which links once.

mod hash;
mod milvus;
mod mutations;
mod parquet;
mod redis_bloom;
mod redis_cms;
mod redis_cuckoo;
mod redis_hll;
mod support;
mod table;
