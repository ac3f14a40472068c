//! Banks of filters: compared with the same filters one by one.
#![cfg(feature = "std")]

mod api;
mod bodies;
mod format;
mod laws;

use pds_testkit::mutate::inputs;

#[test]
fn case_17_forged_bytes_are_refused_or_come_back_unchanged() {
    inputs(1, 10_000).for_each(|input| bodies::mutate(&input));
}

#[test]
fn case_17_arbitrary_bytes_are_refused() {
    inputs(2, 5_000).for_each(|input| {
        bodies::decode(&input);
        bodies::view(&input);
    });
}

#[test]
fn operations_with_bytes_in_between_answer_like_filters() {
    inputs(3, 1_500).for_each(|input| bodies::ops(&input));
}
