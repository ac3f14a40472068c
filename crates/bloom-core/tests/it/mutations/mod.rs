//! The bodies of the fuzz targets, run over many inputs without a fuzzer.
#![cfg(feature = "std")]

mod bodies;

use pds_testkit::mutate::inputs;

#[test]
fn case_17_forged_bytes_are_refused_or_come_back_unchanged() {
    inputs(1, 30_000).for_each(|input| bodies::mutate(&input));
}

#[test]
fn case_17_arbitrary_bytes_are_refused() {
    inputs(2, 20_000).for_each(|input| {
        bodies::decode(&input);
        bodies::view(&input);
    });
}

#[test]
fn operations_with_bytes_in_between_lose_no_key() {
    inputs(3, 20_000).for_each(|input| bodies::ops(&input));
}
