//! Sessions over tables in memory, and what queries return.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{Float64Type, Int64Type};
use datafusion::common::Result;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};

/// How a query is split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    pub(crate) partitions: usize,
    pub(crate) batch_size: usize,
}

pub(crate) const SPLITS: [Split; 3] = [
    Split { partitions: 1, batch_size: 8_192 },
    Split { partitions: 4, batch_size: 1_000 },
    Split { partitions: 7, batch_size: 37 },
];

impl Split {
    pub(crate) fn config(self) -> SessionConfig {
        SessionConfig::new()
            .with_target_partitions(self.partitions)
            .with_batch_size(self.batch_size)
    }
}

pub(crate) fn session_of(config: SessionConfig) -> SessionContext {
    let mut session = SessionContext::new_with_config(config);
    pds_datafusion::register(&mut session).unwrap();
    session
}

pub(crate) fn session() -> SessionContext {
    session_of(SessionConfig::new())
}

/// Registers the columns as the table `t`, in as many partitions and batches as the session has.
pub(crate) fn table(session: &SessionContext, columns: Vec<(&str, ArrayRef)>) {
    let all = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    let config = session.copied_config();
    let (parts, rows) = (config.target_partitions(), config.batch_size());
    let mut partitions = vec![Vec::new(); parts];
    for (at, start) in (0..all.num_rows()).step_by(rows).enumerate() {
        partitions[at % parts].push(all.slice(start, rows.min(all.num_rows() - start)));
    }
    let table = MemTable::try_new(all.schema(), partitions).unwrap();
    session.register_table("t", Arc::new(table)).unwrap();
}

pub(crate) async fn query(session: &SessionContext, sql: &str) -> Result<RecordBatch> {
    let frame = session.sql(sql).await?;
    let schema = Arc::new(frame.schema().as_arrow().clone());
    Ok(concat_batches(&schema, &frame.collect().await?)?)
}

pub(crate) async fn error(session: &SessionContext, sql: &str) -> String {
    query(session, sql).await.expect_err(sql).strip_backtrace()
}

/// Returns the bytes in a column.
pub(crate) fn blobs(batch: &RecordBatch, column: usize) -> Vec<Option<Vec<u8>>> {
    let blobs = batch.column(column).as_binary_view();
    blobs.iter().map(|blob| blob.map(<[u8]>::to_vec)).collect()
}

/// Returns the only value of a query.
pub(crate) async fn blob(session: &SessionContext, sql: &str) -> Vec<u8> {
    let batch = query(session, sql).await.unwrap();
    assert_eq!(batch.num_rows(), 1, "{sql}");
    blobs(&batch, 0).remove(0).unwrap()
}

pub(crate) async fn number(session: &SessionContext, sql: &str) -> f64 {
    let batch = query(session, sql).await.unwrap();
    assert_eq!((batch.num_rows(), batch.column(0).null_count()), (1, 0), "{sql}");
    match batch.column(0).as_primitive_opt::<Float64Type>() {
        Some(floats) => floats.value(0),
        None => {
            let long = cast(batch.column(0), &datafusion::arrow::datatypes::DataType::Int64);
            long.unwrap().as_primitive::<Int64Type>().value(0) as f64
        }
    }
}
