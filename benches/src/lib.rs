#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod arena;
pub mod blocked;
pub mod bloom;
pub mod contest;
pub mod floor;
pub mod goals;
pub mod keys;
pub mod machine;
pub mod membership;
pub mod report;
pub mod stats;

/// Every structure that is measured, by name.
pub const SUITES: &[&membership::Suite] =
    &[&bloom::SUITE, &blocked::SUITE, &blocked::AVX2, &blocked::PORTABLE];
