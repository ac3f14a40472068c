//! The cost of a filter to the query that it prunes: as the result of a subquery, and as a joined column.
//!
//! `cargo run --release --example pruning [-- ROWS]`
//!
//! Times are those of the processor, summed over the threads. The first line is a query with a comparison in place of the filter.

#[path = "support/clock.rs"]
mod clock;

use std::sync::Arc;
use std::time::Duration;

use clock::{median, processor_time};
use datafusion::arrow::array::{AsArray, Int64Array, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};

const ROUNDS: usize = 7;
const BATCH: i64 = 8_192;

async fn time(session: &SessionContext, sql: &str) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = processor_time();
        session.sql(sql).await?.collect().await?;
        times.push(processor_time().saturating_sub(start));
    }
    Ok(median(&times))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let rows = std::env::args().nth(1).and_then(|rows| rows.parse().ok()).unwrap_or(2_000_000i64);
    let config = SessionConfig::new().with_target_partitions(2);
    let mut session = SessionContext::new_with_config(config);
    pds_datafusion::register(&mut session)?;
    let batches: Result<Vec<RecordBatch>> = (0..rows)
        .step_by(usize::try_from(BATCH).unwrap_or_default())
        .map(|start| {
            let keys = Int64Array::from_iter_values(start..(start + BATCH).min(rows));
            Ok(RecordBatch::try_from_iter([("k", Arc::new(keys) as _)])?)
        })
        .collect();
    let batches = batches?;
    let num_batches = batches.len();
    let table = MemTable::try_new(batches[0].schema(), vec![batches])?;
    session.register_table("t", Arc::new(table))?;

    println!("{rows} rows in {num_batches} batches, median of {ROUNDS} rounds, µs per batch\n");
    println!("| filter | bytes | subquery | column |\n|---|---|---|---|");
    let per_batch =
        |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e6 / num_batches as f64);
    let compared = time(&session, "SELECT count(*) FROM t WHERE k % 2 = 0").await?;
    println!("| none | 0 | {} | |", per_batch(compared));
    for (agg, ask) in
        [("pds_bloom_agg", "pds_might_contain"), ("bloom_filter_agg", "might_contain")]
    {
        for items in [10_000, 100_000, 1_000_000, 4_000_000] {
            let params = if agg == "pds_bloom_agg" { ", 0.01" } else { "" };
            let sql =
                format!("SELECT {agg}(k, {items}{params}) AS f FROM (SELECT k FROM t LIMIT 1000)");
            session.sql(&format!("CREATE OR REPLACE TABLE f AS {sql}")).await?.collect().await?;
            let mut costs = Vec::new();
            for sql in [
                format!("SELECT count(*) FROM t WHERE {ask}((SELECT f FROM f), k)"),
                format!("SELECT count(*) FROM t CROSS JOIN f WHERE {ask}(f, k)"),
            ] {
                costs.push(per_batch(time(&session, &sql).await?));
            }
            let filter = session.sql("SELECT f FROM f").await?.collect().await?;
            let filter = cast(filter[0].column(0), &DataType::Binary)?;
            let bytes = filter.as_binary::<i32>().value(0).len();
            println!("| `{agg}(k, {items})` | {bytes} | {} |", costs.join(" | "));
        }
    }
    Ok(())
}
