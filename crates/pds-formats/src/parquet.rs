//! The Bloom filters of columns in Parquet files.
//!
//! The metadata of a column chunk say where its filter is (`bloom_filter_offset`, `bloom_filter_length`). The bytes there
//! are a header and a bitset, which [`ParquetBloomFilter`] reads and writes.

mod filter;
mod header;
mod value;
mod writer;

pub use filter::{ParquetBloomFilter, ParquetBloomFilterView};
pub use value::{ParquetDecimal, ParquetFloat, ParquetValue};
pub use writer::ParquetWriter;
