#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod allocation;
pub mod arena;
pub mod blocked;
pub mod bloom;
pub mod cardinality;
pub mod contest;
pub mod counting;
pub mod cuckoo;
pub mod floor;
pub mod formats;
pub mod frequency;
pub mod goals;
pub mod hashing;
pub mod headline;
pub mod huge_pages;
pub mod keys;
mod large;
pub mod machine;
pub mod membership;
pub mod quotient;
mod removal;
pub mod report;
pub mod scalable;
pub mod similarity;
pub mod static_filters;
pub mod suite;
pub mod theta;
pub mod window;

use suite::Suite;

/// All suites.
pub const SUITES: &[&Suite] = &[
    &bloom::SUITE,
    &blocked::SUITE,
    &blocked::AVX2,
    &blocked::PORTABLE,
    &blocked::SMALLEST,
    &blocked::MEMORY,
    &huge_pages::SUITE,
    &counting::CLASSICAL_SUITE,
    &counting::SUITE,
    &counting::AVX2,
    &counting::PORTABLE,
    &cuckoo::SUITE,
    &cuckoo::LARGE,
    &quotient::SUITE,
    &quotient::LARGE,
    &static_filters::FUSE,
    &static_filters::RIBBON,
    &static_filters::LARGE,
    &scalable::SUITE,
    &window::SUITE,
    &frequency::SUITE,
    &cardinality::SUITE,
    &similarity::SUITE,
    &theta::SUITE,
    &formats::SUITE,
    &hashing::SUITE,
    &headline::SUITE,
];
