//! The functions with Spark's names, on the examples of Spark's documentation.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, Int32Array, Int64Array, StringArray};
use pds_formats::datasketches::{CompactThetaSketch, DataSketchesHll, ThetaSet, ThetaSketch};
use pds_formats::spark::{SparkBloomFilter, SparkCountMin};

use crate::session::{SPLITS, blob, number, query, session, session_of, table};

#[tokio::test]
async fn examples_of_sparks_documentation() {
    let session = session();
    for (sql, expected) in [
        (
            "SELECT hll_sketch_estimate(hll_sketch_agg(v)) FROM (VALUES (1), (1), (2), (2), (3)) t(v)",
            3.0,
        ),
        (
            "SELECT hll_sketch_estimate(hll_sketch_agg(v, 16)) FROM (VALUES (50), (60), (60), (60), (75), (100)) t(v)",
            4.0,
        ),
        (
            "SELECT hll_sketch_estimate(hll_sketch_agg(v)) FROM (VALUES ('abc'), ('def'), ('abc'), ('ghi'), ('abc')) t(v)",
            3.0,
        ),
        (
            "SELECT hll_sketch_estimate(hll_union_agg(s, true)) FROM (SELECT hll_sketch_agg(v) AS s FROM (VALUES (1)) t(v) \
          UNION ALL SELECT hll_sketch_agg(v, 20) AS s FROM (VALUES (1)) t(v))",
            1.0,
        ),
        (
            "SELECT hll_sketch_estimate(hll_union_agg(s)) FROM (SELECT hll_sketch_agg(v) AS s FROM (VALUES (1), (2)) t(v) \
          UNION ALL SELECT hll_sketch_agg(v) AS s FROM (VALUES (3), (4)) t(v))",
            4.0,
        ),
        (
            "SELECT hll_sketch_estimate(hll_union(hll_sketch_agg(a), hll_sketch_agg(b))) \
          FROM (VALUES (1, 4), (1, 4), (2, 5), (2, 5), (3, 6)) t(a, b)",
            6.0,
        ),
        (
            "SELECT theta_sketch_estimate(theta_sketch_agg(v)) FROM (VALUES (1), (1), (2), (2), (3)) t(v)",
            3.0,
        ),
        (
            "SELECT theta_sketch_estimate(theta_sketch_agg(v, 22)) FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) t(v)",
            7.0,
        ),
        (
            "SELECT theta_sketch_estimate(theta_sketch_agg(v)) FROM (VALUES ([1, 2]), ([3, 4]), ([1, 2])) t(v)",
            2.0,
        ),
        (
            "SELECT theta_sketch_estimate(theta_union_agg(s, 15)) FROM \
          (SELECT theta_sketch_agg(v) AS s FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) t(v) \
          UNION ALL SELECT theta_sketch_agg(v, 20) AS s FROM (VALUES (5), (6), (7), (8), (9), (10), (11)) t(v))",
            11.0,
        ),
        (
            "SELECT theta_sketch_estimate(theta_intersection_agg(s)) FROM \
          (SELECT theta_sketch_agg(v) AS s FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) t(v) \
          UNION ALL SELECT theta_sketch_agg(v) AS s FROM (VALUES (5), (6), (7), (8), (9), (10), (11)) t(v))",
            3.0,
        ),
        (
            "SELECT theta_sketch_estimate(theta_union(theta_sketch_agg(a), theta_sketch_agg(b))) \
          FROM (VALUES (1, 4), (1, 4), (2, 5), (2, 5), (3, 6)) t(a, b)",
            6.0,
        ),
        (
            "SELECT theta_sketch_estimate(theta_intersection(theta_sketch_agg(a), theta_sketch_agg(b))) \
          FROM (VALUES (5, 4), (1, 4), (2, 5), (2, 5), (3, 1)) t(a, b)",
            2.0,
        ),
        (
            "SELECT theta_sketch_estimate(theta_difference(theta_sketch_agg(a), theta_sketch_agg(b))) \
          FROM (VALUES (5, 4), (1, 4), (2, 5), (2, 5), (3, 1)) t(a, b)",
            2.0,
        ),
    ] {
        assert_eq!(number(&session, sql).await, expected, "{sql}");
    }
    let sql = "SELECT count_min_sketch(v, 0.5, 0.5, 1) FROM (VALUES (1), (2), (1)) t(v)";
    let hex: String = blob(&session, sql).await.iter().map(|byte| format!("{byte:02X}")).collect();
    // As documented.
    let expected = "0000000100000000000000030000000100000004000000005D8D6AB90000000000000000000000000000000200000000000000010000000000000000";
    assert_eq!(hex, expected);
}

#[tokio::test]
async fn sketches_equal_those_of_the_library_however_the_rows_are_split() {
    let keys: Vec<i64> = (0..50_000).map(|row: i64| row * row % 20_011).collect();
    let mut theta = ThetaSketch::new(1 << 12).unwrap();
    theta.extend(&keys);
    theta.trim();
    let mut counts = SparkCountMin::new(0.01, 0.95, 7).unwrap();
    keys.iter().for_each(|&key| counts.insert(key, 1));
    let mut hll = DataSketchesHll::new(12, pds_formats::datasketches::HllRegisters::Hll8).unwrap();
    keys.iter().for_each(|&key| _ = hll.insert(key));
    for split in SPLITS {
        let session = session_of(split.config());
        let narrow: Vec<i32> = keys.iter().map(|&key| i32::try_from(key).unwrap()).collect();
        table(
            &session,
            vec![
                ("k", Arc::new(Int64Array::from(keys.clone()))),
                ("i", Arc::new(Int32Array::from(narrow))),
                ("g", Arc::new(Int64Array::from_iter_values((0..50_000).map(|row| row % 40)))),
            ],
        );
        for key in ["k", "i"] {
            let bytes = blob(&session, &format!("SELECT theta_sketch_agg({key}) FROM t")).await;
            assert!(bytes == theta.to_compact().to_compressed_bytes(), "theta, {key}, {split:?}");
            let bytes =
                blob(&session, &format!("SELECT count_min_sketch({key}, 0.01, 0.95, 7) FROM t"))
                    .await;
            assert!(bytes == counts.to_bytes(), "count-min, {key}, {split:?}");
            // Its registers; the estimate by history and the order of coupons depend on the order of the rows.
            let bytes = blob(&session, &format!("SELECT hll_sketch_agg({key}) FROM t")).await;
            let found = DataSketchesHll::from_bytes(&bytes).unwrap();
            assert!(found.registers() == hll.registers(), "hll, {key}, {split:?}");
            let bytes =
                blob(&session, &format!("SELECT bloom_filter_agg({key}, 20000, 200000) FROM t"))
                    .await;
            let filter = SparkBloomFilter::from_bytes(&bytes).unwrap();
            assert!(keys.iter().all(|&key| filter.contains(key)));
            // round(200000 / 20000 ln 2) hashes.
            assert_eq!((filter.num_hashes(), filter.num_bits()), (7, 200_000));
        }
        // 8 bits for each item, and round(8 ln 2) hashes; by default 2^23 bits for a million items.
        for (params, hashes, bits) in [(", 20000", 6, 160_000), ("", 6, 1 << 23)] {
            let bytes = blob(&session, &format!("SELECT bloom_filter_agg(k{params}) FROM t")).await;
            let filter = SparkBloomFilter::from_bytes(&bytes).unwrap();
            assert_eq!((filter.num_hashes(), filter.num_bits()), (hashes, bits), "{params}");
        }
        let parts =
            "(SELECT g, theta_sketch_agg(k) AS s, hll_sketch_agg(k) AS h FROM t GROUP BY g)";
        let bytes = blob(&session, &format!("SELECT theta_union_agg(s) FROM {parts}")).await;
        assert!(bytes == theta.to_compact().to_compressed_bytes(), "union, {split:?}");
        let bytes = blob(&session, &format!("SELECT hll_union_agg(h) FROM {parts}")).await;
        assert!(DataSketchesHll::from_bytes(&bytes).unwrap().registers() == hll.registers());
    }
}

#[tokio::test]
async fn a_union_has_the_lower_size_whichever_sketch_comes_first() {
    let session = session();
    for sizes in [[20, 12], [12, 20], [12, 4], [4, 12]] {
        for rows in [3, 100_000] {
            let [left, right] = sizes.map(|size| {
                format!("SELECT hll_sketch_agg(value, {size}) AS s FROM generate_series(1, {rows})")
            });
            for sql in [
                format!("SELECT hll_union(({left}), ({right}), true)"),
                format!("SELECT hll_union_agg(s, true) FROM ({left} UNION ALL {right})"),
            ] {
                let sketch = DataSketchesHll::from_bytes(&blob(&session, &sql).await).unwrap();
                assert_eq!(i64::from(sketch.lg_k()), sizes[0].min(sizes[1]), "{sql}");
            }
        }
    }
}

#[tokio::test]
async fn groups_equal_the_same_rows_alone() {
    let session = session_of(SPLITS[1].config());
    let rows = 0..20_000i64;
    table(
        &session,
        vec![
            ("k", Arc::new(Int64Array::from_iter_values(rows.clone().map(|row| row % 3_001)))),
            ("g", Arc::new(Int64Array::from_iter_values(rows.map(|row| row % 7)))),
        ],
    );
    for call in [
        "theta_sketch_agg(k, 6)",
        "count_min_sketch(k, 0.1, 0.9, 1)",
        "bloom_filter_agg(k, 100, 1000)",
    ] {
        let batch = query(&session, &format!("SELECT g, {call} FROM t GROUP BY g ORDER BY g"))
            .await
            .unwrap();
        for (group, bytes) in crate::session::blobs(&batch, 1).into_iter().enumerate() {
            let alone = blob(&session, &format!("SELECT {call} FROM t WHERE g = {group}")).await;
            assert!(bytes.unwrap() == alone, "{call}, group {group}");
        }
    }
}

#[tokio::test]
async fn values_that_are_ignored_and_results_of_no_rows() {
    let session = session();
    table(
        &session,
        vec![("s", Arc::new(StringArray::from(vec![Some(""), None, Some("a"), Some("a")])))],
    );
    for call in
        ["hll_sketch_estimate(hll_sketch_agg(s))", "theta_sketch_estimate(theta_sketch_agg(s))"]
    {
        assert_eq!(number(&session, &format!("SELECT {call} FROM t")).await, 1.0, "{call}");
        assert_eq!(
            number(&session, &format!("SELECT {call} FROM t WHERE false")).await,
            0.0,
            "{call}"
        );
    }
    for call in ["bloom_filter_agg(s)", "theta_intersection_agg(CAST(s AS BYTEA))"] {
        let batch = query(&session, &format!("SELECT {call} FROM t WHERE false")).await.unwrap();
        assert!(batch.column(0).is_null(0), "{call}");
    }
    let sql = "SELECT might_contain(bloom_filter_agg(s), 'a') AS a, might_contain(bloom_filter_agg(s), 'b') AS b FROM t";
    let batch = query(&session, sql).await.unwrap();
    assert!(batch.column(0).as_boolean().value(0) && !batch.column(1).as_boolean().value(0));
    let union = blob(&session, "SELECT theta_union_agg(CAST(s AS BYTEA)) FROM t WHERE false").await;
    assert_eq!(CompactThetaSketch::from_bytes(&union).unwrap().estimate(), 0.0);
}
