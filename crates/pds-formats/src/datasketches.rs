//! Sketches of Apache DataSketches, in the bytes that its Java, C++, Python and Rust libraries share.
//!
//! [Theta sketches](ThetaSketch) are a structure of this family, which has no other bytes. The others here exist for exchange.

mod bloom;
mod count_min;
mod cpc;
mod frequent_items;
mod hll;
mod hll_codec;
mod hll_coupons;
mod hll_statistics;
mod key;
mod preamble;

pub use bloom::DataSketchesBloomFilter;
pub use count_min::DataSketchesCountMin;
pub use cpc::DataSketchesCpc;
pub use frequent_items::{DataSketchesFrequentItems, FrequentItem};
pub use hll::{DataSketchesHll, HllRegisters};
pub use key::DataSketchesKey;
pub use theta::{
    CompactThetaSketch, Comparison, ThetaHasher, ThetaKey, ThetaSet, ThetaSketch,
    ThetaSketchBuilder, ThetaSketchView, ThetaUnion,
};
