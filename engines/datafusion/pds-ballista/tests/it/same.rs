//! Queries return the same bytes from a cluster as from one process.

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::prelude::SessionContext;
use pds_ballista::LocalCluster;
use pds_formats::datasketches::DataSketchesHll;

use crate::cluster;
use crate::rows::{QUERY, folder, local, query, register, write_files};

/// Aggregates over the rows. Their values depend on the set of rows alone.
const AGGREGATES: [&str; 14] = [
    "pds_hll_agg(k)",
    "pds_hll_agg(s, 6)",
    "pds_ull_agg(d, 10)",
    "pds_bloom_agg(s, 20000, 0.01)",
    "pds_ribbon_agg(k, 0.01)",
    "pds_cms_agg(s, 0.01, 0.01)",
    "pds_minhash_agg(k, 64)",
    "pds_distinct(s, 12, 0.9)",
    "theta_sketch_agg(k, 9)",
    "theta_sketch_agg(s)",
    "bloom_filter_agg(k, 20000, 200000)",
    "bloom_filter_agg(s, 5000)",
    "count_min_sketch(k, 0.01, 0.95, 7)",
    "approx_top_k(g, 3)",
];

/// Scalar functions of aggregates.
const SCALARS: [&str; 4] = [
    "approx_top_k_estimate(approx_top_k_accumulate(g, 32), 4)",
    "hll_sketch_estimate(hll_union(hll_sketch_agg(k, 9), hll_sketch_agg(s, 9)))",
    "pds_hll_union(pds_hll_agg(k), pds_hll_agg(d))",
    "theta_intersection(theta_sketch_agg(k), theta_sketch_agg(d))",
];

/// An aggregate, its merge, and what asks the merged sketch.
const MERGES: [(&str, &str, &str); 9] = [
    ("pds_hll_agg(k)", "pds_hll_union_agg", "pds_hll_estimate(m)"),
    ("pds_ull_agg(s)", "pds_ull_union_agg", "pds_ull_estimate(m)"),
    ("pds_bloom_agg(s, 20000, 0.01)", "pds_bloom_union_agg", "pds_might_contain(m, 'key 4')"),
    ("pds_cms_agg(k, 0.01, 0.01)", "pds_cms_union_agg", "pds_cms_estimate(m, 4)"),
    ("pds_minhash_agg(s)", "pds_minhash_union_agg", "pds_jaccard(m, pds_minhash_union(m, m))"),
    ("theta_sketch_agg(k, 9)", "theta_union_agg", "theta_sketch_estimate(theta_difference(m, m))"),
    ("theta_sketch_agg(s)", "theta_union_agg", "theta_sketch_estimate(theta_union(m, m))"),
    ("theta_sketch_agg(d)", "theta_intersection_agg", "theta_sketch_estimate(m)"),
    ("approx_top_k_accumulate(g, 32)", "approx_top_k_combine", "approx_top_k_estimate(m, 2)"),
];

/// Filters that one query builds and another one asks.
const FILTERS: [(&str, &str); 3] = [
    ("pds_bloom_agg(k, 500, 0.001)", "pds_might_contain"),
    ("pds_ribbon_agg(k, 0.001)", "pds_might_contain"),
    ("bloom_filter_agg(k, 500, 8000)", "might_contain"),
];

fn queries() -> Vec<String> {
    let all = AGGREGATES.into_iter().chain(SCALARS).collect::<Vec<_>>().join(", ");
    let filtered = AGGREGATES.map(|call| format!("{call} FILTER (WHERE k % 3 = 0)")).join(", ");
    let mut queries = vec![
        format!("SELECT {all} FROM t"),
        format!("SELECT {all} FROM t WHERE k < 0"),
        format!("SELECT g, {all} FROM t GROUP BY g ORDER BY g"),
        format!("SELECT g, {filtered} FROM t GROUP BY g ORDER BY g"),
        "SELECT h, pds_hll_agg(k), pds_bloom_agg(s, 100, 0.01), theta_sketch_agg(k) FROM t GROUP BY h ORDER BY h"
            .to_owned(),
    ];
    for (call, merge, ask) in MERGES {
        let parts = format!("SELECT h, {call} AS part FROM t GROUP BY h");
        queries.push(format!("SELECT {ask} FROM (SELECT {merge}(part) AS m FROM ({parts}))"));
        // The state of `approx_top_k` keeps its items in an order that depends on that of the merges.
        let sketch = if merge == "approx_top_k_combine" { "" } else { "m, " };
        queries.push(format!(
            "SELECT q, {sketch}{ask} FROM (SELECT h % 3 AS q, {merge}(part) AS m FROM ({parts}) GROUP BY h % 3) ORDER BY q"
        ));
    }
    for (call, ask) in FILTERS {
        let filter = format!("(SELECT {call} FROM t WHERE k < 1000)");
        queries.push(format!("SELECT count(*), sum(k) FROM t WHERE {ask}({filter}, k)"));
        queries.push(format!("SELECT k FROM t WHERE NOT {ask}({filter}, k) ORDER BY k LIMIT 1000"));
    }
    queries
}

fn assert_equal(local: &RecordBatch, remote: &RecordBatch, sql: &str) {
    assert!(local.num_rows() > 0, "no rows: {sql}");
    assert_eq!(local.num_rows(), remote.num_rows(), "{sql}");
    for (index, field) in local.schema_ref().fields().iter().enumerate() {
        let (left, right) = (local.column(index), remote.column(index));
        assert_eq!(left.data_type(), right.data_type(), "{sql}");
        // Not `assert_eq`, which prints megabytes.
        assert!(left == right, "other values of {} than in one process: {sql}", field.name());
    }
}

/// The registers of DataSketches' HLL. Its other bytes depend on the order of the rows.
async fn registers(session: &SessionContext, sql: &str) -> Vec<Vec<u8>> {
    let batch = query(session, sql).await.unwrap();
    let sketches = batch.column(0).as_binary_view().iter().flatten();
    sketches.map(|bytes| DataSketchesHll::from_bytes(bytes).unwrap().registers().to_vec()).collect()
}

/// Starts a cluster, and returns the sessions of this process and of a client of the cluster, both with the table `t`.
async fn both(name: &str) -> (LocalCluster, [SessionContext; 2]) {
    let folder = folder(name);
    let table = write_files(&folder);
    let cluster = cluster::start(&folder, 2, QUERY.as_secs());
    let sessions = [local(), cluster::session(&cluster).await];
    for session in &sessions {
        register(session, &table).await;
    }
    (cluster, sessions)
}

#[tokio::test]
async fn a_cluster_returns_the_bytes_of_one_process() {
    let (_cluster, [local, remote]) = both("same").await;
    for sql in queries() {
        let expected = query(&local, &sql).await.unwrap();
        let found = query(&remote, &sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_equal(&expected, &found, &sql);
    }
    for sql in [
        "SELECT hll_sketch_agg(k) FROM t",
        "SELECT hll_sketch_agg(s, 8) FROM t GROUP BY g ORDER BY g",
        "SELECT hll_union_agg(part) FROM (SELECT hll_sketch_agg(k) AS part FROM t GROUP BY g)",
    ] {
        assert_eq!(registers(&local, sql).await, registers(&remote, sql).await, "{sql}");
    }
}

/// A message between processes has at most 16 MiB. This value is larger, as a state and as a result.
#[tokio::test]
async fn a_value_larger_than_a_message_arrives() {
    let (_cluster, [local, remote]) = both("large").await;
    let sql = "SELECT pds_bloom_agg(k, 15000000, 0.01) FROM t";
    let expected = query(&local, sql).await.unwrap();
    assert!(expected.get_array_memory_size() > 16 << 20);
    assert_equal(&expected, &query(&remote, sql).await.unwrap(), sql);
}

/// Errors of the functions reach the client.
#[tokio::test]
async fn errors_of_an_executor_name_the_function() {
    let folder = folder("errors");
    let table = write_files(&folder);
    let cluster = cluster::start(&folder, 1, QUERY.as_secs());
    let session = cluster::session(&cluster).await;
    register(&session, &table).await;
    for (sql, parts) in [
        ("SELECT pds_hll_union_agg(CAST(s AS BYTEA)) FROM t", ["pds_hll_union_agg", "row"]),
        ("SELECT pds_bloom_agg(k, 100, 2.0) FROM t", ["pds_bloom_agg", "rate"]),
        ("SELECT pds_hll_agg(k, h) FROM t", ["pds_hll_agg", "literal"]),
    ] {
        let error = query(&session, sql).await.expect_err(sql).to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{sql}: {error}");
    }
}
