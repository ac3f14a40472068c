//! Many groups: their results, their memory, and the ways that an engine takes with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bloom_core::BloomFilter;
use cms::CountMinSketch;
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::ScalarValue;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::prelude::{SessionConfig, SessionContext};
use hll::{HyperLogLog, UltraLogLog};
use minhash::MinHash;

use crate::accumulators::of_call;
use crate::session::{SPLITS, blobs, query, session_of, table};

const GROUPS: i64 = 400;

/// Groups of one key up to some thousand, with repeats.
fn rows() -> (Vec<i64>, Vec<i64>) {
    (0..120_000i64)
        .map(|row| {
            let group = row * row % GROUPS * (row % GROUPS) / GROUPS;
            (group, row % (1 + group * group / 8))
        })
        .unzip()
}

fn expected(call: &str, keys: &[i64]) -> Vec<u8> {
    fn filled<S: Extend<i64>>(mut sketch: S, keys: &[i64]) -> S {
        sketch.extend(keys.iter().copied());
        sketch
    }
    match call {
        "pds_hll_agg(k)" => filled(HyperLogLog::new(14).unwrap(), keys).to_bytes(),
        "pds_hll_agg(k, 7)" => filled(HyperLogLog::new(7).unwrap(), keys).to_bytes(),
        "pds_ull_agg(k, 10)" => filled(UltraLogLog::new(10).unwrap(), keys).to_bytes(),
        "pds_bloom_agg(k, 1000, 0.01)" => {
            filled(BloomFilter::new(1_000, 0.01).unwrap(), keys).to_bytes()
        }
        "pds_cms_agg(k, 0.01, 0.1)" => {
            filled(CountMinSketch::new(0.01, 0.1).unwrap(), keys).to_bytes()
        }
        "pds_minhash_agg(k, 32)" => filled(MinHash::new(32).unwrap(), keys).to_bytes(),
        _ => unreachable!(),
    }
}

const CALLS: [&str; 6] = [
    "pds_hll_agg(k)",
    "pds_hll_agg(k, 7)",
    "pds_ull_agg(k, 10)",
    "pds_bloom_agg(k, 1000, 0.01)",
    "pds_cms_agg(k, 0.01, 0.1)",
    "pds_minhash_agg(k, 32)",
];

async fn check(session: &SessionContext, calls: &[&str], context: &str) {
    let (groups, keys) = rows();
    let mut by_group = BTreeMap::<i64, Vec<i64>>::new();
    for (&group, &key) in groups.iter().zip(&keys) {
        by_group.entry(group).or_default().push(key);
    }
    table(
        session,
        vec![
            ("g", Arc::new(Int64Array::from(groups)) as ArrayRef),
            ("k", Arc::new(Int64Array::from(keys))),
        ],
    );
    // Sorted here: a sort in the query would need memory of its own.
    let sql = format!("SELECT g, {} FROM t GROUP BY g", calls.join(", "));
    let batch = query(session, &sql).await.unwrap();
    let found = batch.column(0).as_primitive::<Int64Type>().values();
    let rows: BTreeMap<i64, usize> = found.iter().copied().zip(0..).collect();
    assert!(rows.len() == batch.num_rows() && rows.keys().eq(by_group.keys()), "{context}");
    for (at, call) in calls.iter().enumerate() {
        let sketches = blobs(&batch, 1 + at);
        for (keys, (group, &row)) in by_group.values().zip(&rows) {
            let is_equal = sketches[row].as_ref() == Some(&expected(call, keys));
            assert!(is_equal, "{call}, group {group}, {context}");
        }
    }
}

#[tokio::test]
async fn every_group_equals_the_library() {
    for split in SPLITS {
        check(&session_of(split.config()), &CALLS, &format!("{split:?}")).await;
    }
}

/// An engine that finds too many groups passes rows on as states.
#[tokio::test]
async fn rows_that_skip_the_first_phase_equal_the_library() {
    let config = SPLITS[1]
        .config()
        .set_usize("datafusion.execution.skip_partial_aggregation_probe_rows_threshold", 1)
        .set_str("datafusion.execution.skip_partial_aggregation_probe_ratio_threshold", "0.0");
    let session = session_of(config);
    check(&session, &CALLS, "skipping").await;
    let sql = "EXPLAIN ANALYZE SELECT g, pds_hll_agg(k) FROM t GROUP BY g";
    let plan = crate::pruning::plan(&session, sql).await;
    let skipped = plan.split("skipped_aggregation_rows=").nth(1).unwrap_or_default();
    assert!(!skipped.is_empty() && !skipped.starts_with('0'), "{plan}");
}

#[tokio::test]
async fn groups_that_are_spilled_equal_the_library() {
    const NUM_GROUPS: i64 = 30_000;
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(2 << 20, 1.0).build_arc().unwrap();
    let config = SessionConfig::new()
        .with_target_partitions(1)
        .with_batch_size(500)
        .with_sort_spill_reservation_bytes(1 << 10);
    let mut session = SessionContext::new_with_config_rt(config, runtime);
    pds_datafusion::register(&mut session).unwrap();
    let keys = 0..3 * NUM_GROUPS;
    table(
        &session,
        vec![
            ("g", Arc::new(Int64Array::from_iter_values(keys.clone().map(|key| key % NUM_GROUPS)))),
            ("k", Arc::new(Int64Array::from_iter_values(keys))),
        ],
    );
    let batch = query(&session, "SELECT g, pds_hll_agg(k) FROM t GROUP BY g").await.unwrap();
    assert_eq!(batch.num_rows() as i64, NUM_GROUPS);
    let groups = batch.column(0).as_primitive::<Int64Type>().values();
    for (&group, bytes) in groups.iter().zip(blobs(&batch, 1)) {
        let keys = [group, group + NUM_GROUPS, group + 2 * NUM_GROUPS];
        assert!(bytes.unwrap() == expected("pds_hll_agg(k)", &keys), "group {group}");
    }
    let sql = "EXPLAIN ANALYZE SELECT g, pds_hll_agg(k) FROM t GROUP BY g";
    let plan = crate::pruning::plan(&session, sql).await;
    let spilled = plan.split("spill_count=").skip(1).any(|rest| !rest.starts_with('0'));
    assert!(spilled, "{plan}");
}

/// Returns the accumulator of a call for groups.
fn accumulator(function: &str, params: &[ScalarValue]) -> Box<dyn GroupsAccumulator> {
    of_call(function, params, |function, args| function.create_groups_accumulator(args).unwrap())
}

/// Inserts keys into groups in turn.
fn fill(accumulator: &mut dyn GroupsAccumulator, groups: usize, keys_of_each: usize) {
    for key in 0..keys_of_each {
        let keys = (0..groups).map(|group| (key * groups + group) as i64);
        let values: ArrayRef = Arc::new(Int64Array::from_iter_values(keys));
        let groups_of_rows: Vec<usize> = (0..groups).collect();
        accumulator.update_batch(&[values], &groups_of_rows, None, groups).unwrap();
    }
}

#[test]
fn a_small_group_takes_a_tenth_of_a_dense_sketch_at_most() {
    const NUM_GROUPS: usize = 20_000;
    let precision = [ScalarValue::Int64(Some(14))];
    for (function, params, dense) in
        [("pds_hll_agg", &precision[..], 16 << 10), ("pds_ull_agg", &precision[..], 16 << 10)]
    {
        for keys in [1, 3, 30] {
            let mut accumulator = accumulator(function, params);
            fill(&mut *accumulator, NUM_GROUPS, keys);
            let each = accumulator.size() / NUM_GROUPS;
            assert!(each <= dense / 10, "{function}: {each} bytes for each group of {keys} keys");
        }
    }
}

#[test]
fn groups_taken_in_parts_leave_the_others_as_they_are() {
    let precision = [ScalarValue::Int64(Some(8))];
    for function in ["pds_hll_agg", "pds_ull_agg"] {
        let mut accumulator = accumulator(function, &precision);
        let mut other = self::accumulator(function, &precision);
        fill(&mut *accumulator, 100, 300);
        fill(&mut *other, 100, 300);
        let all = other.evaluate(EmitTo::All).unwrap();
        let full = accumulator.size();
        for start in (0..100).step_by(10) {
            let part = accumulator.evaluate(EmitTo::First(10)).unwrap();
            assert_eq!(&part, &all.slice(start, 10), "{function}");
        }
        assert!(
            accumulator.size() < full / 10,
            "{function}: {} of {full} are left",
            accumulator.size()
        );
    }
}

#[test]
fn states_of_an_accumulator_are_merged_by_another() {
    let precision = [ScalarValue::Int64(Some(8))];
    let mut all = accumulator("pds_hll_agg", &precision);
    fill(&mut *all, 50, 400);
    let mut merged = accumulator("pds_hll_agg", &precision);
    let groups: Vec<usize> = (0..50).collect();
    for part in 0..4 {
        let mut accumulator = accumulator("pds_hll_agg", &precision);
        for key in part * 100..(part + 1) * 100 {
            let values = Int64Array::from_iter_values((0..50).map(|group| key * 50 + group));
            accumulator.update_batch(&[Arc::new(values)], &groups, None, 50).unwrap();
        }
        let states = accumulator.state(EmitTo::All).unwrap();
        merged.merge_batch(&states, &groups, 50).unwrap();
    }
    assert_eq!(&merged.evaluate(EmitTo::All).unwrap(), &all.evaluate(EmitTo::All).unwrap());
    // Bytes that are no state are refused.
    let wrong: ArrayRef =
        Arc::new(datafusion::arrow::array::BinaryViewArray::from_iter_values([&[9u8, 9][..]]));
    let error = merged.merge_batch(&[wrong], &[0], 1).unwrap_err().strip_backtrace();
    assert!(error.contains("pds_hll_agg: a state of 2 bytes"), "{error}");
}
