//! Errors for bad input: each names the function, the argument and the allowed values.

use crate::session::{error, session};

#[tokio::test]
async fn parameters_out_of_range_or_no_literals() {
    let session = session();
    for (call, expected) in [
        (
            "pds_hll_agg(v, 3)",
            "pds_hll_agg: precision is 3; it must be a whole number from 4 to 18",
        ),
        ("pds_hll_agg(v, 12.5)", "pds_hll_agg: precision is 12.5; it must be a whole number"),
        ("pds_hll_agg(v, NULL)", "pds_hll_agg: precision is NULL"),
        ("pds_hll_agg(v, v)", "it must be a literal"),
        ("pds_hll_agg(v, '12')", "pds_hll_agg: precision is 12; it must be a whole number"),
        ("pds_hll_agg()", "pds_hll_agg"),
        (
            "pds_hll_agg(v, 12, 1)",
            "pds_hll_agg: 3 arguments; the call is pds_hll_agg(key [, precision])",
        ),
        (
            "pds_bloom_agg(v)",
            "pds_bloom_agg: 1 arguments; the call is pds_bloom_agg(key, items, rate)",
        ),
        ("pds_bloom_agg(v, 0, 0.1)", "pds_bloom_agg: items is 0"),
        ("pds_bloom_agg(v, -1, 0.1)", "pds_bloom_agg: items is -1"),
        ("pds_bloom_agg(v, 10, 1.5)", "pds_bloom_agg: "),
        ("pds_bloom_agg(v, 10, 'x')", "pds_bloom_agg: rate is x; it must be a number"),
        ("pds_bloom_agg(v, 9000000000000000000, 0.1)", "pds_bloom_agg: "),
        ("pds_bloom_agg(v, 4000000000, 0.01)", "pds_bloom_agg: the parameters give a sketch of 4"),
        ("pds_cms_agg(v, 0.000000001, 0.01)", "pds_cms_agg: the parameters give a sketch of"),
        (
            "bloom_filter_agg(v, 1, 67108864)",
            "bloom_filter_agg: 67108864 bits for 1 items take 46516320 hashes; allowed are 1 to 1000",
        ),
        ("pds_cms_agg(v, 0, 0.1)", "pds_cms_agg: "),
        ("pds_cms_agg(v, 0.1, 2.0)", "pds_cms_agg: "),
        (
            "pds_minhash_agg(v, 0)",
            "pds_minhash_agg: values is 0; it must be a whole number from 16 to 4096",
        ),
        (
            "pds_cms_agg(DISTINCT v, 0.1, 0.1)",
            "pds_cms_agg: DISTINCT is not allowed; use a subquery with SELECT DISTINCT",
        ),
        ("count_min_sketch(DISTINCT v, 0.1, 0.9, 1)", "count_min_sketch: DISTINCT is not allowed"),
        ("approx_top_k(DISTINCT v, 3)", "approx_top_k: DISTINCT is not allowed"),
        ("pds_ribbon_agg(v, 0.0)", "pds_ribbon_agg: "),
        ("pds_distinct(v, 14, 1.0)", "pds_distinct: "),
        (
            "hll_sketch_agg(v, 22)",
            "hll_sketch_agg: lgConfigK is 22; it must be a whole number from 4 to 21",
        ),
        (
            "hll_sketch_agg(1.5)",
            "hll_sketch_agg: expr is of type Float64; allowed are INT, BIGINT, STRING and BINARY",
        ),
        ("theta_sketch_agg(true)", "theta_sketch_agg: expr is of type Boolean"),
        (
            "theta_sketch_agg(v, 27)",
            "theta_sketch_agg: lgNomEntries is 27; it must be a whole number from 4 to 26",
        ),
        ("bloom_filter_agg(v, 5000000)", "bloom_filter_agg: estimatedNumItems is 5000000"),
        ("bloom_filter_agg(v, 10, 0)", "bloom_filter_agg: numBits is 0"),
        ("bloom_filter_agg(1.5)", "bloom_filter_agg: expr is of type Float64"),
        ("count_min_sketch(v, 0.1, 0.9)", "count_min_sketch: 3 arguments"),
        ("count_min_sketch(v, 0.0, 0.9, 1)", "count_min_sketch: "),
        ("count_min_sketch(v, 0.1, 0.9, 5000000000)", "count_min_sketch: seed is 5000000000"),
        ("pds_hll_estimate(v)", "pds_hll_estimate: the sketch is of type Int64; it must be BINARY"),
        ("pds_might_contain(X'00', [1])", "pds_might_contain: rows of type"),
        ("might_contain(X'00', 1.5)", "might_contain: expr is of type Float64"),
    ] {
        for tail in ["", " GROUP BY v"] {
            let sql = format!("SELECT {call} FROM (VALUES (1), (2)) AS t(v){tail}");
            let error = error(&session, &sql).await;
            assert!(error.contains(expected), "{sql}: {error}");
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_such_sketch() {
    let session = session();
    let readers = [
        "pds_hll_estimate(s)",
        "pds_ull_estimate(s)",
        "pds_might_contain(s, 1)",
        "pds_cms_estimate(s, 1)",
        "pds_jaccard(s, s)",
        "pds_hll_union(s, s)",
        "pds_hll_union_agg(s)",
        "pds_bloom_union_agg(s)",
        "pds_cms_union_agg(s)",
        "pds_minhash_union_agg(s)",
        "hll_sketch_estimate(s)",
        "hll_union(s, s)",
        "hll_union_agg(s)",
        "theta_sketch_estimate(s)",
        "theta_union(s, s)",
        "theta_intersection(s, s)",
        "theta_difference(s, s)",
        "theta_union_agg(s)",
        "theta_intersection_agg(s)",
        "might_contain(s, 1)",
    ];
    for call in readers {
        let name = call.split('(').next().unwrap();
        // Empty, wrong, and the sketch of another kind.
        for blob in ["X''", "X'00112233445566778899'", "(SELECT pds_ribbon_agg(1) AS r)"] {
            if call.starts_with("pds_might_contain") && blob.contains("ribbon") {
                continue;
            }
            let sql = format!("SELECT {call} FROM (SELECT {blob} AS s)");
            let error = error(&session, &sql).await;
            assert!(
                error.contains(&format!("{name}: the ")) && error.contains("row 0"),
                "{sql}: {error}"
            );
        }
    }
}

/// Every byte of a filter counts: one that is changed makes an error, and no wrong answer.
#[tokio::test]
async fn a_filter_with_a_changed_byte_is_refused() {
    let session = session();
    let bytes = crate::session::blob(&session, "SELECT pds_bloom_agg(1, 50, 0.1)").await;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        let hex: String = changed.iter().map(|byte| format!("{byte:02x}")).collect();
        let error = error(
            &session,
            &format!("SELECT pds_might_contain(X'{hex}', v) FROM (VALUES (1), (2)) AS t(v)"),
        )
        .await;
        assert!(error.contains("pds_might_contain: the filter, row 0"), "byte {at}: {error}");
    }
}

#[tokio::test]
async fn sketches_that_cannot_be_merged() {
    let session = session();
    for (call, expected) in [
        (
            "pds_bloom_union(pds_bloom_agg(v, 10, 0.1), pds_bloom_agg(v, 10, 0.01))",
            "pds_bloom_union: the second sketch, row 0",
        ),
        (
            "pds_cms_union(pds_cms_agg(v, 0.1, 0.1), pds_cms_agg(v, 0.2, 0.1))",
            "pds_cms_union: the second sketch, row 0",
        ),
        (
            "pds_jaccard(pds_minhash_agg(v, 16), pds_minhash_agg(v, 32))",
            "pds_jaccard: the second sketch, row 0",
        ),
        (
            "hll_union(hll_sketch_agg(v, 12), hll_sketch_agg(v, 14))",
            "hll_union: sketches with lgConfigK 12 and 14",
        ),
        (
            "theta_union(theta_sketch_agg(v), theta_sketch_agg(v), 3)",
            "theta_union: lgNomEntries is 3",
        ),
    ] {
        let error = error(&session, &format!("SELECT {call} FROM (VALUES (1), (2)) AS t(v)")).await;
        assert!(error.contains(expected), "{call}: {error}");
    }
}

#[tokio::test]
async fn filters_whose_keys_are_hashed_otherwise() {
    let session = session();
    let mut filter = bloom_core::BloomFilter::builder().expected_items(10).seed(1).build().unwrap();
    filter.insert(&1i64);
    let hex: String = filter.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let error = error(&session, &format!("SELECT pds_might_contain(X'{hex}', 1)")).await;
    assert!(error.contains("its hasher has the seed 1"), "{error}");
}

/// Every row would take as many steps as there are hashes.
#[tokio::test]
async fn a_filter_of_spark_with_too_many_hashes() {
    let session = session();
    let words = "f".repeat(2 * 8 * 16);
    for (head, hashes) in [
        ("00000002000003e90000000000000010", "1001 hashes; allowed are 1 to 1000"),
        // Hours for every row.
        ("000000027fffffff0000000000000010", "number of hashes"),
        ("000000017fffffff00000010", "number of hashes"),
        ("00000002800000000000000000000010", "number of hashes"),
        ("00000002000000000000000000000010", "number of hashes"),
    ] {
        for rows in ["SELECT 1 AS v", "SELECT * FROM (VALUES (1), (2)) AS t(v)"] {
            let sql = format!("SELECT might_contain(X'{head}{words}', v) FROM ({rows})");
            let error = error(&session, &sql).await;
            let expected = "might_contain: the filter, row 0 of its batch: ";
            assert!(error.contains(expected) && error.contains(hashes), "{error}");
        }
    }
}
