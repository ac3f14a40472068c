//! The memory that accumulators report, against the memory that they allocate. Alone in its process, because the allocator counts for all
//! threads.

#[path = "it/accumulators.rs"]
mod accumulators;

use std::alloc::System;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::common::ScalarValue;
use datafusion::common::ScalarValue::{Float64, Int32, Int64};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are allocated since the start of a region.
fn allocated(region: &Region<'_, System>) -> usize {
    let stats = region.change();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

fn batch(start: i64, rows: i64) -> [ArrayRef; 1] {
    [Arc::new(Int64Array::from_iter_values(start..start + rows))]
}

#[test]
fn sizes_are_those_of_the_memory() {
    // Whatever the first call of any kind keeps.
    accumulators::of_call("pds_hll_agg", &[], |function, args| {
        function.accumulator(args).unwrap().update_batch(&batch(0, 10)).unwrap();
    });
    for (function, params) in [
        ("pds_hll_agg", vec![Int64(Some(16))]),
        ("pds_ull_agg", vec![Int64(Some(16))]),
        ("pds_bloom_agg", vec![Int64(Some(1_000_000)), Float64(Some(0.01))]),
        ("pds_cms_agg", vec![Float64(Some(0.001)), Float64(Some(0.01))]),
        ("pds_minhash_agg", vec![Int64(Some(4_096))]),
        ("pds_ribbon_agg", vec![]),
        ("hll_sketch_agg", vec![Int64(Some(18))]),
        ("theta_sketch_agg", vec![Int64(Some(14))]),
        ("bloom_filter_agg", vec![]),
        ("count_min_sketch", vec![Float64(Some(0.001)), Float64(Some(0.99)), Int32(Some(1))]),
        ("approx_top_k", vec![Int64(Some(5)), Int64(Some(50_000))]),
    ] {
        compare(function, &params);
    }
    a_large_sketch_is_counted_before_it_is_there();
}

fn compare(function: &str, params: &[ScalarValue]) {
    let region = Region::new(ALLOCATOR);
    let mut accumulator = accumulators::of_call(function, params, |function, args| {
        function.accumulator(args).unwrap()
    });
    for step in 0..40 {
        accumulator.update_batch(&batch(step * 2_500, 2_500)).unwrap();
        let (size, allocated) = (accumulator.size(), allocated(&region));
        // Memory in front of the allocations, and the names of the function.
        assert!(size + 4_096 >= allocated, "{function}: {size} of {allocated} bytes, step {step}");
        // The first batch counts the sketch that is about to be.
        assert!(
            step == 0 || size <= 3 * allocated + 4_096,
            "{function}: {size} of {allocated} bytes, step {step}"
        );
    }
}

/// A filter of a gibibyte is not allocated before the engine knows of it.
fn a_large_sketch_is_counted_before_it_is_there() {
    let region = Region::new(ALLOCATOR);
    let params = [Int64(Some(900_000_000)), Float64(Some(0.01))];
    let mut accumulator = accumulators::of_call("pds_bloom_agg", &params, |function, args| {
        function.accumulator(args).unwrap()
    });
    accumulator.update_batch(&batch(0, 1_000)).unwrap();
    assert!(accumulator.size() > 1 << 30, "{}", accumulator.size());
    assert!(allocated(&region) < 1 << 20, "{}", allocated(&region));
}
