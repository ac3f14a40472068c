//! The bodies of the targets, one module a structure. They are also ordinary tests of the structures' crates.

#[path = "../../crates/bloom-blocked/tests/mutations/bodies.rs"]
pub mod blocked;
#[path = "../../crates/bloom-core/tests/mutations/bodies.rs"]
pub mod bloom;
#[path = "../../crates/cms/tests/mutations/bodies.rs"]
pub mod cms;
#[path = "../../crates/bloom-counting/tests/mutations/bodies.rs"]
pub mod counting;
#[path = "../../crates/cuckoo/tests/mutations/bodies.rs"]
pub mod cuckoo;
#[path = "../../crates/heavy-hitters/tests/mutations/bodies.rs"]
pub mod heavy_hitters;
#[path = "../../crates/hll/tests/mutations/bodies.rs"]
pub mod hll;

/// A target that is given envelopes: mutated as libFuzzer does, and then mostly with checksums that fit again.
///
/// Without this, whatever changes a header would be stopped by its checksum and see nothing behind it.
#[macro_export]
macro_rules! bytes_target {
    ($body:path) => {
        ::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $body(bytes));
        ::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            let size = ::libfuzzer_sys::fuzzer_mutate(data, size, max_size);
            if seed % 4 != 0 {
                ::pds_testkit::envelope::seal(&mut data[..size]);
            }
            size
        });
    };
}

/// A target that is given choices.
#[macro_export]
macro_rules! choices_target {
    ($body:path) => {
        ::libfuzzer_sys::fuzz_target!(|choices: &[u8]| $body(choices));
    };
}
