//! `pds_hll_agg` and `pds_ull_agg` against DataFusion's `approx_distinct`: time, error, and memory for groups.
//!
//! `cargo run --release --example against_approx_distinct [-- ROWS]`
//!
//! All calls of a query take turns. Times are those of the processor, summed over the threads, so that other work on the machine
//! changes them little. A ratio is the median of its rounds; the three passes over all queries show how far it moves.

#[path = "support/clock.rs"]
mod clock;

use std::sync::Arc;
use std::time::Duration;

use clock::{median, processor_time};
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Schema};
use datafusion::common::Result;
use datafusion::datasource::MemTable;
use datafusion::execution::memory_pool::{GreedyMemoryPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::logical_expr::{AggregateUDF, GroupsAccumulator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::prelude::{SessionConfig, SessionContext};

const ROUNDS: usize = 7;
const PASSES: usize = 3;
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
    let start = processor_time();
    let batches = session.sql(sql).await?.collect().await?;
    Ok((processor_time().saturating_sub(start), batches))
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

const CALLS: [&str; 4] =
    ["approx_distinct(X)", "pds_hll_agg(X)", "pds_ull_agg(X)", "pds_distinct(X)"];

const QUERIES: [(&str, &str, &str); 6] = [
    ("integers", "k", ""),
    ("strings", "s", ""),
    ("integers, 100,000 groups", "k", " GROUP BY g"),
    ("strings, 100,000 groups", "s", " GROUP BY g"),
    ("integers, 1,000 groups", "k", " GROUP BY g % 1000"),
    ("integers, 200,000 groups of few", "k", " GROUP BY k % 100000"),
];

/// Returns the median time of every call of a query.
async fn times(session: &SessionContext, key: &str, tail: &str) -> Result<[Duration; 4]> {
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for (call, times) in CALLS.iter().zip(&mut times) {
            let sql = format!("SELECT {} AS v FROM t{tail}", call.replace('X', key));
            times.push(run(session, &sql).await?.0);
        }
    }
    Ok(times.map(|times| median(&times)))
}

/// Prints the time of every query, and the ratios of the other calls to the first.
async fn compare_times(session: &SessionContext) -> Result<()> {
    let mut passes = vec![Vec::new(); QUERIES.len()];
    for _ in 0..PASSES {
        for ((_, key, tail), passes) in QUERIES.iter().zip(&mut passes) {
            passes.push(times(session, key, tail).await?);
        }
    }
    println!("| query | approx_distinct, ms | pds_hll_agg | pds_ull_agg | pds_distinct |");
    println!("|---|---|---|---|---|");
    for ((name, ..), passes) in QUERIES.iter().zip(passes) {
        let base: Vec<f64> = passes.iter().map(|times| times[0].as_secs_f64() * 1e3).collect();
        let ratios: Vec<String> = (1..CALLS.len())
            .map(|call| {
                let ratio =
                    |times: &[Duration; 4]| times[call].as_secs_f64() / times[0].as_secs_f64();
                let mut ratios: Vec<f64> = passes.iter().map(ratio).collect();
                ratios.sort_by(f64::total_cmp);
                format!("{:.2} [{:.2}, {:.2}]", median(&ratios), ratios[0], ratios[PASSES - 1])
            })
            .collect();
        println!("| {name} | {:.0} | {} |", median(&base), ratios.join(" | "));
    }
    Ok(())
}

/// Prints the error of every estimate over many groups of equal size.
async fn compare_errors(session: &SessionContext, rows: u64) -> Result<()> {
    let calls = [
        "approx_distinct(k)",
        "pds_hll_estimate(pds_hll_agg(k))",
        "pds_ull_estimate(pds_ull_agg(k))",
        "pds_ull_estimate(pds_ull_agg(k, 13))",
    ];
    println!(
        "\n| keys per group | groups | {} |",
        calls.map(|call| format!("`{call}`")).join(" | ")
    );
    println!("|---|---|---|---|---|---|");
    for distinct in [100u64, 1_000, 4_000, 20_000] {
        let groups = (rows / distinct).max(1);
        let mut errors = Vec::new();
        for call in calls {
            let sql = format!("SELECT count(DISTINCT k), {call} FROM t GROUP BY abs(k) % {groups}");
            let (_, batches) = run(session, &sql).await?;
            errors.push(format!("{:.3} %", 100.0 * error(&batches)?));
        }
        println!("| {distinct} | {groups} | {} |", errors.join(" | "));
    }
    Ok(())
}

/// Returns the accumulator of a call over a column of numbers, for groups.
fn accumulator(function: &AggregateUDF) -> Result<Box<dyn GroupsAccumulator>> {
    let schema = Schema::new(vec![Field::new("k", DataType::Int64, true)]);
    let exprs: [Arc<dyn PhysicalExpr>; 1] = [Arc::new(Column::new("k", 0))];
    let return_type = function.return_type(&[DataType::Int64])?;
    function.create_groups_accumulator(AccumulatorArgs {
        return_field: Arc::new(Field::new("r", return_type, true)),
        schema: &schema,
        ignore_nulls: false,
        order_bys: &[],
        is_reversed: false,
        name: "a",
        is_distinct: false,
        exprs: &exprs,
        expr_fields: &[Arc::new(schema.field(0).clone())],
    })
}

/// Prints the memory that accumulators of many groups report, for each group.
fn compare_memory(session: &SessionContext) -> Result<()> {
    const GROUPS: usize = 20_000;
    println!(
        "\n| keys per group | approx_distinct, bytes | pds_hll_agg | pds_ull_agg |\n|---|---|---|---|"
    );
    for keys in [1, 3, 10, 30, 100, 1_000, 10_000] {
        // The large ones are dense: fewer of them are enough.
        let groups = if keys > 100 { GROUPS / 100 } else { GROUPS };
        let mut sizes = Vec::new();
        for name in ["approx_distinct", "pds_hll_agg", "pds_ull_agg"] {
            let mut accumulator = accumulator(&*session.udaf(name)?)?;
            let groups_of_rows: Vec<usize> = (0..groups).collect();
            for key in 0..keys {
                let keys =
                    (0..groups).map(|group| mixed((key * groups + group) as u64).cast_signed());
                let values: ArrayRef = Arc::new(Int64Array::from_iter_values(keys));
                accumulator.update_batch(&[values], &groups_of_rows, None, groups)?;
            }
            sizes.push((accumulator.size() / groups).to_string());
        }
        println!("| {keys} | {} |", sizes.join(" | "));
    }
    Ok(())
}

/// Returns how many bytes the values of the first column have.
fn bytes(batches: &[RecordBatch]) -> usize {
    let columns = batches.iter().map(|batch| batch.column(0).as_binary_view());
    columns.flat_map(|column| column.iter().flatten()).map(<[u8]>::len).sum()
}

/// Prints the bytes of sketches.
async fn compare_bytes(session: &SessionContext) -> Result<()> {
    println!(
        "\n| call | bytes of a sketch of all rows | of 100,000 groups together |\n|---|---|---|"
    );
    for call in ["pds_hll_agg(k)", "pds_ull_agg(k)", "pds_ull_agg(k, 13)"] {
        let (_, all) = run(session, &format!("SELECT {call} FROM t")).await?;
        let (_, groups) = run(session, &format!("SELECT {call} FROM t GROUP BY g")).await?;
        println!("| `{call}` | {} | {} |", bytes(&all), bytes(&groups));
    }
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let rows = std::env::args().nth(1).and_then(|rows| rows.parse().ok()).unwrap_or(4_000_000);
    let session = session()?;
    session.register_table("t", Arc::new(table(rows)?))?;
    println!(
        "{rows} rows, {PARTITIONS} partitions, {PASSES} passes, each the median of {ROUNDS} rounds in turn\n"
    );
    compare_times(&session).await?;
    compare_errors(&session, rows).await?;
    compare_memory(&session)?;
    compare_bytes(&session).await
}
