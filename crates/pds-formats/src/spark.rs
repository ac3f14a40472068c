//! Filters and sketches of Apache Spark's library `spark-sketch`.
//!
//! They are what `writeTo` writes and `readFrom` reads, and what the functions `bloom_filter_agg` and `count_min_sketch` of
//! Spark SQL return.

mod bloom;
mod count_min;
mod key;

pub use bloom::{SparkBloomFilter, SparkBloomVersion};
pub use count_min::SparkCountMin;
pub use key::SparkKey;
