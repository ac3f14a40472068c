//! Parquet files for the tests, and what queries return.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::compute::concat_batches;
use datafusion::common::Result;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};

/// Time for a query, on a machine that others use.
pub(crate) const QUERY: Duration = Duration::from_secs(300);

const FILES: i64 = 6;
const ROWS_PER_FILE: i64 = 3_000;

/// Makes an empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes the files of the table `t`: `k` has 10,006 values, `s` and `d` one for each of them, `g` four, and `h` 1,000.
pub(crate) fn write_files(folder: &Path) -> PathBuf {
    let table = folder.join("t");
    fs::create_dir(&table).unwrap();
    for file in 0..FILES {
        let rows = file * ROWS_PER_FILE..(file + 1) * ROWS_PER_FILE;
        let batch = batch(rows);
        let path = table.join(format!("{file}.parquet"));
        let mut writer =
            ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
    table
}

fn batch(rows: std::ops::Range<i64>) -> RecordBatch {
    let key = |row: i64| row * row % 20_011;
    let keys = || rows.clone().map(key);
    // Every fourth text is null.
    let texts = rows.clone().map(|row| (row % 4 > 0).then(|| format!("key {}", key(row))));
    let small = |row: i64| i32::try_from(row).unwrap();
    // Four rows of 0, three of 1, two of 2, and one of 3.
    let groups = rows
        .clone()
        .map(|row| small([0, 4, 7, 9].iter().filter(|&&at| row % 10 >= at).count() as i64 - 1));
    let columns: [(&str, ArrayRef); 5] = [
        ("k", Arc::new(Int64Array::from_iter_values(keys()))),
        ("s", Arc::new(StringArray::from_iter(texts))),
        ("d", Arc::new(Float64Array::from_iter_values(keys().map(|key| key as f64 / 8.0)))),
        ("g", Arc::new(Int32Array::from_iter_values(groups))),
        ("h", Arc::new(Int32Array::from_iter_values(rows.clone().map(|row| small(row % 1_000))))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// Returns a session of this process.
pub(crate) fn local() -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(3)
        .set_bool("datafusion.execution.parquet.schema_force_view_types", false);
    let mut session = SessionContext::new_with_config(config);
    pds_datafusion::register(&mut session).unwrap();
    session
}

pub(crate) async fn register(session: &SessionContext, table: &Path) {
    let path = table.to_str().unwrap();
    session.register_parquet("t", path, ParquetReadOptions::default()).await.unwrap();
}

/// Runs a query, and panics if it does not end.
pub(crate) async fn query(session: &SessionContext, sql: &str) -> Result<RecordBatch> {
    let answer = async {
        let frame = session.sql(sql).await?;
        let schema = Arc::new(frame.schema().as_arrow().clone());
        Ok(concat_batches(&schema, &frame.collect().await?)?)
    };
    let answer = tokio::time::timeout(QUERY, answer).await;
    answer.unwrap_or_else(|_| panic!("no end within {QUERY:?}: {sql}"))
}
