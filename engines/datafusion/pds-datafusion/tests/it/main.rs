//! The functions, as SQL users call them.

mod accumulators;
mod equality;
mod errors;
mod groups;
mod keys;
mod memory;
mod no_rows;
mod parquet;
mod pruning;
mod python;
mod session;
mod spark;
mod top_k;
