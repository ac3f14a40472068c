//! The Bloom filters of columns in Parquet files.
//!
//! The metadata of a column chunk say where its filter is (`bloom_filter_offset`, `bloom_filter_length`). The bytes there
//! are a header and a bitset, which [`ParquetBloomFilter`] reads and writes. Any reader of Parquet returns both numbers:
//!
//! | library | where |
//! |---|---|
//! | `parquet` for Rust | `ColumnChunkMetaData::bloom_filter_offset`, `bloom_filter_length` |
//! | pyarrow | `ParquetFile(name).metadata.row_group(i).column(j).bloom_filter_offset`, `bloom_filter_length` |
//! | DuckDB | `SELECT bloom_filter_offset, bloom_filter_length FROM parquet_metadata('name')` |
//!
//! ```
//! use pds_formats::parquet::{ParquetBloomFilter, ParquetBloomFilterView};
//! # let mut column = ParquetBloomFilter::new(1_000, 0.01)?;
//! # column.insert("user/17");
//! # let (offset, length) = (4, column.to_bytes().len());
//! # let file = [b"PAR1", &column.to_bytes()[..], b"the rest"].concat();
//!
//! // `file` is the file in memory, and `offset` and `length` come from its metadata.
//! let filter = ParquetBloomFilterView::open(&file[offset..offset + length])?;
//! assert!(filter.contains("user/17") && !filter.contains("user/18"));
//! // A column of another type is asked by values of its own: INT64 by `i64`, INT32 by `i32`.
//! assert!(!filter.contains(&17_i64));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod filter;
mod header;
mod value;
mod writer;

pub use filter::{ParquetBloomFilter, ParquetBloomFilterView};
pub use value::{ParquetDecimal, ParquetFloat, ParquetValue};
pub use writer::ParquetWriter;
