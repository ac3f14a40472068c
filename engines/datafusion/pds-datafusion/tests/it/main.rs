//! The functions, as SQL users call them.

mod equality;
mod errors;
mod groups;
mod keys;
mod parquet;
mod pruning;
mod python;
mod session;
mod spark;
mod top_k;
