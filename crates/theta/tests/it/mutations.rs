//! The bodies of the fuzz targets, run over many inputs without a fuzzer.

mod bodies;

use pds_testkit::mutate::inputs;

#[test]
fn forged_bytes_are_refused_or_come_back_unchanged() {
    inputs(1, 5_000).for_each(|input| bodies::mutate(&input));
}

#[test]
fn operations_with_bytes_in_between_keep_what_is_promised() {
    inputs(2, 2_000).for_each(|input| bodies::ops(&input));
}
