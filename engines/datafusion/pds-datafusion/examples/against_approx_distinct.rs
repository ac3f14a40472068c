//! `pds_hll_agg` and `pds_ull_agg` against DataFusion's `approx_distinct`: time, error, and memory for groups.
//!
//! `cargo run --release --example against_approx_distinct [-- ROWS]`

use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::common::Result;
use datafusion::datasource::MemTable;
use datafusion::execution::memory_pool::{GreedyMemoryPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

const ROUNDS: usize = 7;
const PARTITIONS: usize = 2;

fn mixed(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A table of keys `k` (numbers), `s` (strings), and groups `g` (100,000 of them).
fn table(rows: u64) -> Result<MemTable> {
    let mut partitions = vec![Vec::new(); PARTITIONS];
    for (at, start) in (0..rows).step_by(8_192).enumerate() {
        let range = start..(start + 8_192).min(rows);
        let keys: Vec<i64> = range.clone().map(|row| mixed(row).cast_signed()).collect();
        let strings = keys.iter().map(|key| format!("https://example.org/{key:x}"));
        let groups = range.map(|row| (mixed(row + (1 << 40)) % 100_000).cast_signed());
        let columns: [(&str, ArrayRef); 3] = [
            ("s", Arc::new(StringArray::from_iter_values(strings))),
            ("g", Arc::new(Int64Array::from_iter_values(groups))),
            ("k", Arc::new(Int64Array::from(keys))),
        ];
        partitions[at % PARTITIONS].push(RecordBatch::try_from_iter(columns)?);
    }
    MemTable::try_new(partitions[0][0].schema(), partitions)
}

/// A session that counts the memory reserved.
fn session() -> Result<SessionContext> {
    let consumers = std::num::NonZeroUsize::MIN;
    let pool = TrackConsumersPool::new(GreedyMemoryPool::new(usize::MAX), consumers);
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).build_arc()?;
    let config = SessionConfig::new().with_target_partitions(PARTITIONS);
    let mut session = SessionContext::new_with_config_rt(config, runtime);
    pds_datafusion::register(&mut session)?;
    Ok(session)
}

async fn run(session: &SessionContext, sql: &str) -> Result<(Duration, Vec<RecordBatch>)> {
    let start = Instant::now();
    let batches = session.sql(sql).await?.collect().await?;
    Ok((start.elapsed(), batches))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Root of the mean square of the relative errors of estimates, given the true counts beside them.
fn error(batches: &[RecordBatch]) -> Result<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for batch in batches {
        let [truth, estimate] =
            [batch.column(0), batch.column(1)].map(|c| cast(c, &DataType::Float64));
        let (truth, estimate) = (truth?, estimate?);
        let pairs = truth
            .as_primitive::<Float64Type>()
            .values()
            .iter()
            .zip(estimate.as_primitive::<Float64Type>().values());
        for (truth, estimate) in pairs {
            sum += (estimate / truth - 1.0).powi(2);
            count += 1;
        }
    }
    Ok((sum / f64::from(count)).sqrt())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let rows = std::env::args().nth(1).and_then(|rows| rows.parse().ok()).unwrap_or(4_000_000);
    let session = session()?;
    session.register_table("t", Arc::new(table(rows)?))?;
    println!("{rows} rows, {PARTITIONS} partitions, median of {ROUNDS} runs taken in turn\n");
    println!(
        "| query | approx_distinct, ms | pds_hll_agg | pds_ull_agg | pds_distinct |\n|---|---|---|---|---|"
    );
    let calls = ["approx_distinct(X)", "pds_hll_agg(X)", "pds_ull_agg(X)", "pds_distinct(X)"];
    for (name, key, tail) in [
        ("integers", "k", ""),
        ("strings", "s", ""),
        ("integers, 100,000 groups", "k", " GROUP BY g"),
        ("strings, 100,000 groups", "s", " GROUP BY g"),
        ("integers, 1,000 groups", "k", " GROUP BY g % 1000"),
        ("integers, 1,000,000 groups of few", "k", " GROUP BY k % 1000000"),
    ] {
        let mut times = vec![Vec::new(); calls.len()];
        for _ in 0..ROUNDS {
            for (call, times) in calls.iter().zip(&mut times) {
                let inner = format!("SELECT {} AS v FROM t{tail}", call.replace('X', key));
                times.push(run(&session, &inner).await?.0);
            }
        }
        let times: Vec<f64> =
            times.into_iter().map(|times| median(times).as_secs_f64() * 1e3).collect();
        let ratios: Vec<String> =
            times[1..].iter().map(|time| format!("{:.2}", time / times[0])).collect();
        println!("| {name} | {:.0} | {} |", times[0], ratios.join(" | "));
    }

    println!("\nRelative error over groups, root mean square:");
    for distinct in [100u64, 2_000, 20_000] {
        let groups = rows / distinct / 2;
        for estimate in [
            "approx_distinct(k)",
            "pds_hll_estimate(pds_hll_agg(k))",
            "pds_ull_estimate(pds_ull_agg(k))",
        ] {
            let sql = format!(
                "SELECT count(DISTINCT k), {estimate} FROM t WHERE g >= 0 GROUP BY abs(k) % {}",
                groups.max(1)
            );
            let (_, batches) = run(&session, &sql).await?;
            println!(
                "- about {} keys each, {estimate}: {:.3} %",
                distinct * 2,
                100.0 * error(&batches)?
            );
        }
    }

    println!("\nBytes of a sketch of all rows, and of one of all groups (100,000) together:");
    for call in ["pds_hll_agg(k)", "pds_ull_agg(k)", "pds_ull_agg(k, 13)"] {
        let (_, all) = run(&session, &format!("SELECT octet_length({call}) FROM t")).await?;
        let sql =
            format!("SELECT sum(octet_length(s)) FROM (SELECT {call} AS s FROM t GROUP BY g)");
        let (_, groups) = run(&session, &sql).await?;
        let number = |batches: &[RecordBatch]| {
            let array = cast(batches[0].column(0), &DataType::Int64).expect("a number");
            array.as_primitive::<Int64Type>().value(0)
        };
        println!("- {call}: {} and {}", number(&all), number(&groups));
    }
    Ok(())
}
