//! The integration tests of `pds-formats` in one binary, which links once.

mod dcso;
mod ds_bloom;
mod ds_count_min;
mod ds_cpc;
mod ds_frequent;
mod ds_hll;
mod guava_bloom;
mod hash;
mod merges;
mod milvus;
mod mutations;
mod parquet;
mod postgres;
mod presto;
mod redis_bloom;
mod redis_cms;
mod redis_cuckoo;
mod redis_dumps;
mod redis_hll;
mod redis_top_k;
mod spark_bloom;
mod spark_count_min;
mod support;
mod table;
mod valkey;
mod xorf;
