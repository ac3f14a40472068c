//! Results equal those of the library, bit for bit.

use std::sync::Arc;

use bloom_core::BloomFilter;
use cms::CountMinSketch;
use datafusion::arrow::array::{Array, AsArray, Int64Array, StringArray};
use datafusion::arrow::datatypes::Float64Type;
use fuse::RibbonFilter;
use hll::{HyperLogLog, UltraLogLog};
use minhash::MinHash;

use crate::session::{SPLITS, blob, number, query, session, session_of, table};

fn keys() -> Vec<i64> {
    // Every key up to seven times, and some that are null.
    (0..60_000).map(|row: i64| (row * row) % 20_011 - 7_000).collect()
}

/// Aggregate functions, and the bytes of the library for the same keys.
fn expected<K: std::hash::Hash>(keys: &[K]) -> Vec<(&'static str, Vec<u8>)> {
    let mut hll = HyperLogLog::new(14).unwrap();
    let mut small = HyperLogLog::new(5).unwrap();
    let mut ull = UltraLogLog::new(12).unwrap();
    let mut bloom = BloomFilter::new(30_000, 0.01).unwrap();
    let mut counts = CountMinSketch::new(0.001, 0.01).unwrap();
    let mut minhash = MinHash::new(128).unwrap();
    for key in keys {
        hll.insert(key);
        small.insert(key);
        ull.insert(key);
        bloom.insert(key);
        counts.insert(key);
        minhash.insert(key);
    }
    let ribbon = RibbonFilter::builder().false_positive_rate(0.01).build(keys).unwrap();
    vec![
        ("pds_hll_agg(k)", hll.to_bytes()),
        ("pds_hll_agg(k, 5)", small.to_bytes()),
        ("pds_ull_agg(k, 12)", ull.to_bytes()),
        ("pds_bloom_agg(k, 30000, 0.01)", bloom.to_bytes()),
        ("pds_cms_agg(k, 0.001, 0.01)", counts.to_bytes()),
        ("pds_minhash_agg(k)", minhash.to_bytes()),
        ("pds_ribbon_agg(k)", ribbon.to_bytes()),
    ]
}

#[tokio::test]
async fn sketches_equal_those_of_the_library_however_the_rows_are_split() {
    let keys = keys();
    let strings: Vec<String> = keys.iter().map(|key| format!("key {key}")).collect();
    for split in SPLITS {
        let session = session_of(split.config());
        table(&session, vec![("k", Arc::new(Int64Array::from(keys.clone())))]);
        for (call, bytes) in expected(&keys) {
            let sql = format!("SELECT {call} FROM t");
            assert!(blob(&session, &sql).await == bytes, "{call}, {split:?}");
        }
        let session = session_of(split.config());
        table(&session, vec![("k", Arc::new(StringArray::from(strings.clone())))]);
        for (call, bytes) in expected(&strings) {
            let sql = format!("SELECT {call} FROM t");
            assert!(blob(&session, &sql).await == bytes, "{call}, {split:?}");
        }
    }
}

#[tokio::test]
async fn nulls_and_rows_that_a_filter_drops_are_no_keys() {
    let keys: Vec<Option<i64>> = (0..5_000).map(|row| (row % 3 > 0).then_some(row)).collect();
    let kept: Vec<i64> = keys.iter().flatten().copied().filter(|key| key % 2 == 0).collect();
    for split in SPLITS {
        let session = session_of(split.config());
        table(&session, vec![("k", Arc::new(Int64Array::from(keys.clone())))]);
        // The first one is null for some rows, the second one never.
        for filter in ["k % 2 = 0", "coalesce(k, 1) % 2 = 0"] {
            for (call, bytes) in expected(&kept) {
                let sql = format!("SELECT {call} FILTER (WHERE {filter}) FROM t");
                assert!(blob(&session, &sql).await == bytes, "{sql}, {split:?}");
                let sql = format!("{sql} GROUP BY k IS NULL OR true");
                assert!(blob(&session, &sql).await == bytes, "{sql}, {split:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_sketch_of_no_rows_is_empty_and_the_union_of_none_is_null() {
    let session = session();
    table(&session, vec![("k", Arc::new(Int64Array::from(Vec::<i64>::new())))]);
    for (call, bytes) in expected::<i64>(&[]) {
        assert!(blob(&session, &format!("SELECT {call} FROM t")).await == bytes, "{call}");
    }
    for kind in ["hll", "ull", "bloom", "cms", "minhash"] {
        let sql = format!("SELECT pds_{kind}_union_agg(CAST(NULL AS BYTEA)) FROM t");
        assert_eq!(query(&session, &sql).await.unwrap().column(0).null_count(), 1, "{kind}");
    }
}

#[tokio::test]
async fn unions_equal_the_sketch_of_all_rows() {
    let calls = [
        ("hll", "(k)"),
        ("ull", "(k, 12)"),
        ("bloom", "(k, 30000, 0.01)"),
        ("cms", "(k, 0.001, 0.01)"),
        ("minhash", "(k)"),
    ];
    let rows = keys();
    let groups: Vec<i64> = (0..rows.len() as i64).map(|row| row % 100).collect();
    for split in SPLITS {
        let session = session_of(split.config());
        table(
            &session,
            vec![
                ("k", Arc::new(Int64Array::from(rows.clone()))),
                ("g", Arc::new(Int64Array::from(groups.clone()))),
            ],
        );
        for (kind, args) in calls {
            let all = blob(&session, &format!("SELECT pds_{kind}_agg{args} FROM t")).await;
            let parts =
                format!("(SELECT g % 10 AS h, pds_{kind}_agg{args} AS s FROM t GROUP BY g)");
            let sql = format!("SELECT pds_{kind}_union_agg(s) FROM {parts}");
            assert!(blob(&session, &sql).await == all, "{kind}, {split:?}");
            let twice = format!("(SELECT pds_{kind}_union_agg(s) AS s FROM {parts} GROUP BY h)");
            let sql = format!("SELECT pds_{kind}_union_agg(s) FROM {twice}");
            assert!(blob(&session, &sql).await == all, "{kind}, {split:?}");
            let halves = format!(
                "SELECT pds_{kind}_union(pds_{kind}_agg{args} FILTER (WHERE g < 50), pds_{kind}_agg{args} FILTER (WHERE g >= 50)) FROM t"
            );
            assert!(blob(&session, &halves).await == all, "{kind}, {split:?}");
        }
    }
}

#[tokio::test]
async fn estimates_are_those_of_the_library() {
    let session = session();
    let (left, right): (Vec<i64>, Vec<i64>) =
        (0..9_000).map(|row: i64| (row % 4_000, row % 3_000 + 2_000)).unzip();
    table(
        &session,
        vec![
            ("a", Arc::new(Int64Array::from(left.clone()))),
            ("b", Arc::new(Int64Array::from(right.clone()))),
        ],
    );
    let mut hll = HyperLogLog::new(9).unwrap();
    hll.extend(&left);
    let sql = "SELECT pds_hll_estimate(pds_hll_agg(a, 9)) FROM t";
    assert_eq!(number(&session, sql).await, hll.estimate());
    let mut ull = UltraLogLog::new(14).unwrap();
    ull.extend(&left);
    let sql = "SELECT pds_ull_estimate(pds_ull_agg(a)) FROM t";
    assert_eq!(number(&session, sql).await, ull.estimate());

    let interval = hll.estimate_interval(0.9).unwrap();
    let batch = query(&session, "SELECT pds_distinct(a, 9, 0.9) FROM t").await.unwrap();
    let columns = batch.column(0).as_struct().clone();
    assert_eq!(columns.column_names(), ["estimate", "lower", "upper"]);
    let values: Vec<f64> =
        columns.columns().iter().map(|c| c.as_primitive::<Float64Type>().value(0)).collect();
    assert_eq!(values, [hll.estimate(), *interval.start(), *interval.end()]);

    let mut sketches = [MinHash::new(64).unwrap(), MinHash::new(64).unwrap()];
    sketches[0].extend(&left);
    sketches[1].extend(&right);
    let sql = "SELECT pds_jaccard(pds_minhash_agg(a, 64), pds_minhash_agg(b, 64)) FROM t";
    let jaccard = sketches[0].jaccard(&sketches[1]).unwrap().value;
    assert_eq!(number(&session, sql).await, jaccard);

    let mut counts = CountMinSketch::new(0.001, 0.01).unwrap();
    counts.extend(&left);
    for key in [3_999, 5, -1] {
        let sql = format!("SELECT pds_cms_estimate(pds_cms_agg(a, 0.001, 0.01), {key}) FROM t");
        let expected = counts.estimate(&i64::from(key)).value() as f64;
        assert_eq!(number(&session, &sql).await, expected, "{key}");
    }
}

#[tokio::test]
async fn running_windows_return_the_sketch_of_the_rows_so_far() {
    let session = session();
    table(&session, vec![("k", Arc::new(Int64Array::from_iter_values(0..500)))]);
    let sql = "SELECT pds_hll_agg(k) OVER (ORDER BY k) FROM t ORDER BY k";
    let batch = query(&session, sql).await.unwrap();
    let mut so_far = HyperLogLog::new(14).unwrap();
    for (key, bytes) in (0i64..).zip(crate::session::blobs(&batch, 0)) {
        so_far.insert(&key);
        assert!(bytes.unwrap() == so_far.to_bytes(), "up to {key}");
    }
}
