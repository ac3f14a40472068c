//! Filters that prune: built by one query, asked by another; and those in Parquet files.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::metadata::ParquetMetaDataReader;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use pds_formats::parquet::ParquetBloomFilter;

use crate::session::{number, query, session, table};

pub(crate) async fn plan(session: &SessionContext, sql: &str) -> String {
    let batch = query(session, sql).await.unwrap();
    let lines = batch.column_by_name("plan").unwrap();
    let text =
        datafusion::arrow::compute::cast(lines, &datafusion::arrow::datatypes::DataType::Utf8)
            .unwrap();
    text.as_string::<i32>().iter().flatten().collect::<Vec<_>>().join("\n")
}

async fn tables() -> SessionContext {
    let session = session();
    table(&session, vec![("k", Arc::new(Int64Array::from_iter_values(0..100_000)))]);
    session
        .sql("CREATE TABLE wanted AS SELECT k * 1000 AS k FROM t WHERE k < 50")
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();
    session
}

#[tokio::test]
async fn a_filter_built_in_one_query_prunes_another() {
    let session = tables().await;
    for (agg, ask) in [
        ("pds_bloom_agg(k, 100, 0.001)", "pds_might_contain"),
        ("pds_ribbon_agg(k, 0.001)", "pds_might_contain"),
        ("bloom_filter_agg(k, 1000, 20000)", "might_contain"),
    ] {
        let sql = format!("SELECT k FROM t WHERE {ask}((SELECT {agg} FROM wanted), k)");
        let batch = query(&session, &sql).await.unwrap();
        let kept = batch.column(0).as_primitive::<Int64Type>().values();
        for wanted in (0..50).map(|k| k * 1_000) {
            assert!(kept.contains(&wanted), "{wanted}, {agg}");
        }
        // 100,000 false positives at 0.001 are 100; 200 has a chance of 10^-18.
        assert!(kept.len() < 250, "{} rows, {agg}", kept.len());
    }
}

/// The query of the filter is run once, not once for each row or batch.
#[tokio::test]
async fn the_plan_shows_that_the_filter_is_built_once() {
    let session = tables().await;
    let sql = "EXPLAIN ANALYZE SELECT count(*) FROM t WHERE pds_might_contain((SELECT pds_bloom_agg(k, 100, 0.001) FROM wanted), k)";
    let plan = plan(&session, sql).await;
    assert!(plan.contains("ScalarSubqueryExec: subqueries=1"), "{plan}");
    // The rows of `wanted` are read once.
    let aggregate = plan
        .lines()
        .find(|line| line.contains("pds_bloom_agg") && line.contains("Aggregate"))
        .unwrap();
    assert!(aggregate.contains("output_rows=1,"), "{plan}");
}

#[tokio::test]
async fn answers_of_a_filter_for_columns_and_values() {
    let session = tables().await;
    let filter = "(SELECT pds_bloom_agg(k, 100, 0.001) FROM wanted)";
    for (value, expected) in [
        ("1000", 1.0),
        ("CAST(1000 AS INT)", 1.0),
        ("1000.0", 1.0),
        ("CAST(1000 AS DECIMAL(9,2))", 1.0),
        ("1001", 0.0),
    ] {
        let sql = format!("SELECT CAST(pds_might_contain({filter}, {value}) AS INT)");
        assert_eq!(number(&session, &sql).await, expected, "{value}");
    }
    let sql = format!(
        "SELECT count(*) FROM t WHERE pds_might_contain({filter}, CAST(NULL AS BIGINT)) IS NULL AND k < 10"
    );
    assert_eq!(number(&session, &sql).await, 10.0);
    // A filter in every row.
    let sql = "SELECT count(*) FROM (SELECT k % 3 AS g, pds_bloom_agg(k, 40000, 0.01) AS f FROM t GROUP BY 1) AS a \
               JOIN (SELECT k, k % 3 AS g FROM t WHERE k < 3000) AS b ON a.g = b.g WHERE pds_might_contain(f, b.k)";
    assert_eq!(number(&session, sql).await, 3_000.0);
}

/// DataFusion writes split-block filters into Parquet files and skips row groups by them; ours reads the same bits.
#[tokio::test]
async fn the_filters_of_a_parquet_file_skip_its_row_groups_and_are_read_by_ours() {
    const GROUPS: i64 = 8;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("filtered.parquet");
    // Every row group has the whole range, so that statistics cannot skip any.
    let groups: Vec<Vec<i64>> =
        (0..GROUPS).map(|group| (0..1_000).map(|row| row * GROUPS + group).collect()).collect();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1_000))
        .set_bloom_filter_enabled(true)
        .set_dictionary_enabled(false)
        .build();
    let batches: Vec<RecordBatch> = groups
        .iter()
        .map(|keys| {
            RecordBatch::try_from_iter([("k", Arc::new(Int64Array::from(keys.clone())) as _)])
                .unwrap()
        })
        .collect();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batches[0].schema(), Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();

    let bytes = std::fs::read(&path).unwrap();
    let metadata = ParquetMetaDataReader::new()
        .parse_and_finish(&std::fs::File::open(&path).unwrap())
        .unwrap();
    assert_eq!(metadata.num_row_groups() as i64, GROUPS);
    for (group, keys) in metadata.row_groups().iter().zip(&groups) {
        let column = group.column(0);
        let at = usize::try_from(column.bloom_filter_offset().unwrap()).unwrap();
        let (filter, _) = ParquetBloomFilter::from_prefix(&bytes[at..]).unwrap();
        assert!(keys.iter().all(|key| filter.contains(key)));
        let strangers = (100_000..110_000i64).filter(|key| filter.contains(key)).count();
        assert!(strangers < 1_000, "{strangers} of 10000");
    }

    let session = session();
    session
        .register_parquet("p", path.to_str().unwrap(), ParquetReadOptions::default())
        .await
        .unwrap();
    let plan = plan(&session, "EXPLAIN ANALYZE SELECT k FROM p WHERE k = 4003").await;
    let pruned = plan.split("row_groups_pruned_bloom_filter=").nth(1).unwrap_or_default();
    assert!(pruned.starts_with("8 total") && pruned.contains("matched"), "{plan}");
}
