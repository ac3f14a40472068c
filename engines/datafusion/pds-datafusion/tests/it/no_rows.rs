//! The result of an aggregate of no rows, also where the engine makes a join of the query.

use std::sync::Arc;

use datafusion::arrow::array::{Array, Int64Array};

use crate::session::{query, session, table};

/// Calls over a column `k` of BIGINT.
const CALLS: [&str; 16] = [
    "pds_hll_agg(k)",
    "pds_hll_agg(k, 8)",
    "pds_ull_agg(k, 10)",
    "pds_bloom_agg(k, 1000, 0.01)",
    "pds_cms_agg(k, 0.01, 0.1)",
    "pds_minhash_agg(k, 32)",
    "pds_distinct(k)",
    "pds_distinct(k, 9, 0.5)",
    "pds_ribbon_agg(k, 0.001)",
    "hll_sketch_agg(k, 9)",
    "theta_sketch_agg(k, 8)",
    "bloom_filter_agg(k, 100, 800)",
    "count_min_sketch(k, 0.1, 0.9, 1)",
    "approx_top_k(k, 2, 100)",
    "approx_top_k_accumulate(k, 50)",
    "approx_top_k(CAST(k AS VARCHAR))",
];

/// Calls over a column `s` of such sketches.
const UNIONS: [(&str, &str); 9] = [
    ("pds_hll_union_agg(s)", "pds_hll_agg(k)"),
    ("pds_ull_union_agg(s)", "pds_ull_agg(k)"),
    ("pds_bloom_union_agg(s)", "pds_bloom_agg(k, 1000, 0.01)"),
    ("pds_cms_union_agg(s)", "pds_cms_agg(k, 0.1, 0.1)"),
    ("pds_minhash_union_agg(s)", "pds_minhash_agg(k)"),
    ("hll_union_agg(s, true)", "hll_sketch_agg(k)"),
    ("theta_union_agg(s, 10)", "theta_sketch_agg(k)"),
    ("theta_intersection_agg(s)", "theta_sketch_agg(k)"),
    ("approx_top_k_combine(s, 30)", "approx_top_k_accumulate(k)"),
];

#[tokio::test]
async fn a_correlated_subquery_returns_what_a_plain_one_does() {
    let session = session();
    let keys = 0..1_000i64;
    table(
        &session,
        vec![
            ("g", Arc::new(Int64Array::from_iter_values(keys.clone().map(|key| key % 3)))),
            ("k", Arc::new(Int64Array::from_iter_values(keys))),
        ],
    );
    let of_keys = CALLS.map(|call| (call.to_owned(), "t".to_owned()));
    let of_sketches = UNIONS.map(|(call, agg)| {
        let sketches = format!("(SELECT k % 7 AS h, g, {agg} AS s FROM t GROUP BY 1, 2)");
        (call.to_owned(), sketches)
    });
    for (call, from) in of_keys.into_iter().chain(of_sketches) {
        // The bytes of these sketches depend on the order of the rows, if there are any.
        let by_order = call.starts_with("hll_") || call.starts_with("approx_top_k");
        let groups = if by_order { &[5][..] } else { &[1, 5] };
        for group in groups {
            let plain = format!("SELECT {call} FROM {from} AS i WHERE g = {group}");
            let correlated = format!(
                "SELECT (SELECT {call} FROM {from} AS i WHERE i.g = o.g) FROM (VALUES ({group})) AS o(g)"
            );
            let plain = query(&session, &plain).await.unwrap();
            let correlated = query(&session, &correlated).await.unwrap();
            assert_eq!((plain.num_rows(), correlated.num_rows()), (1, 1), "{call}");
            assert_eq!(&correlated.column(0), &plain.column(0), "{call}, group {group}");
        }
    }
}

/// A filter of no rows says no, and an estimate of none is 0, in every row that has no group.
#[tokio::test]
async fn groups_without_rows_are_empty_sketches() {
    let session = session();
    table(&session, vec![("k", Arc::new(Int64Array::from_iter_values(0..10)))]);
    for call in [
        "NOT pds_might_contain(pds_bloom_agg(k, 10, 0.1), 1)",
        "pds_hll_estimate(pds_hll_agg(k, 11)) = 0",
        "hll_sketch_estimate(hll_sketch_agg(k, 11)) = 0",
    ] {
        let sql = format!("SELECT (SELECT {call} FROM t WHERE k = o.k) FROM (VALUES (70)) AS o(k)");
        let batch = query(&session, &sql).await.unwrap();
        let answers = datafusion::arrow::array::cast::as_boolean_array(batch.column(0));
        assert!(answers.is_valid(0) && answers.value(0), "{sql}");
    }
}
