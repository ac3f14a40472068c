//! De-duplication of URLs: the filter of yesterday's URLs, built by a cluster shard by shard, is asked for today's.
//!
//! ```sh
//! cargo build --release -p pds-ballista && cargo run --release -p pds-ballista --example urls -- --urls 10000000
//! ```

mod generate;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ballista_core::extension::SessionConfigExt;
use clap::Parser;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::prelude::{SessionConfig, SessionContext};
use generate::Day;
use pds_ballista::{LocalCluster, LocalOptions};

/// Shards whose filters one query builds: what tasks send to each other stays below the limit of a message, 16 MB.
const SHARDS_PER_QUERY: usize = 10;

/// Measures de-duplication of URLs on a cluster of this machine.
#[derive(Debug, Parser)]
struct Options {
    /// URLs of each of two days. Half of today's are yesterday's.
    #[arg(long, default_value_t = 1_000_000)]
    urls: u64,
    /// Shards of each day, each with a filter of its own.
    #[arg(long, default_value_t = 10)]
    shards: u64,
    /// Share of new URLs that a filter may call known.
    #[arg(long, default_value_t = 0.01)]
    rate: f64,
    /// Executors, each a process.
    #[arg(long, default_value_t = 2)]
    executors: usize,
    /// Bytes of memory that each executor may reserve.
    #[arg(long, default_value_t = 2_000_000_000)]
    memory: u64,
    /// Rows of a batch. The filter is read and verified once per batch.
    #[arg(long, default_value_t = 65_536)]
    batch_size: usize,
    /// Folder for a temporary one with all files.
    #[arg(long, default_value = ".")]
    folder: PathBuf,
}

/// Counts of today's URLs.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    urls: i64,
    known: i64,
    /// Known URLs that the filter calls new: none.
    missed: i64,
    /// New URLs that the filter calls known: false positives.
    wrong: i64,
}

/// A cluster with a client, and what it has used so far.
struct Trial {
    cluster: LocalCluster,
    session: SessionContext,
    executors: usize,
    jobs: HashSet<PathBuf>,
    cpu: Duration,
}

impl Trial {
    async fn start(options: &Options, folder: &Path) -> Result<Self> {
        let local = LocalOptions {
            executors: options.executors,
            tasks: 1,
            memory: options.memory,
            // None is lost where the machine has other work.
            executor_timeout: 3_600,
        };
        let cluster = LocalCluster::start(&program()?, folder, local)?;
        let config = SessionConfig::new_with_ballista()
            .with_target_partitions(options.executors)
            .with_batch_size(options.batch_size);
        let session = pds_ballista::connect(&cluster.url(), config).await?;
        let executors = options.executors;
        Ok(Self { cluster, session, executors, jobs: HashSet::new(), cpu: Duration::ZERO })
    }

    async fn table(&self, name: &str, columns: &str, folder: &Path) -> Result<()> {
        let location = folder.join(name);
        let sql = format!(
            "CREATE EXTERNAL TABLE {name} ({columns}, shard INT) STORED AS PARQUET PARTITIONED BY (shard) LOCATION '{}/'",
            location.display()
        );
        self.session.sql(&sql).await?.collect().await?;
        Ok(())
    }

    /// Prints what a step has taken since `start`.
    fn report(&mut self, step: &str, start: Instant) -> Result<()> {
        let usage = self.cluster.usage()?;
        let cpu = usage.iter().map(|one| one.cpu).sum::<Duration>();
        let peak = usage.iter().map(|one| one.peak_memory).max().unwrap_or_default();
        let shuffled = self.shuffled()?;
        println!(
            "{step}: {:.1} s, {:.1} s of processors, {:.1} MB shuffled, peak memory of an executor {:.1} MB",
            start.elapsed().as_secs_f64(),
            (cpu - self.cpu).as_secs_f64(),
            shuffled as f64 / 1e6,
            peak as f64 / 1e6,
        );
        self.cpu = cpu;
        Ok(())
    }

    /// Returns the bytes that the executors wrote for others, in queries that were not asked about before.
    fn shuffled(&mut self) -> Result<u64> {
        let mut bytes = 0;
        for executor in 0..self.executors {
            for job in fs::read_dir(self.cluster.executor_folder(executor))? {
                let job = job?.path();
                if !self.jobs.contains(&job) {
                    bytes += size(&job)?;
                    self.jobs.insert(job);
                }
            }
        }
        Ok(bytes)
    }

    /// Asks yesterday's filter of a shard for today's URLs.
    async fn ask(&self, shard: u64) -> Result<Counts> {
        let filter =
            format!("SELECT pds_bloom_union_agg(filter) FROM filters WHERE shard = {shard}");
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE known), count(*) FILTER (WHERE known AND NOT seen), \
             count(*) FILTER (WHERE seen AND NOT known) \
             FROM (SELECT known, pds_might_contain(({filter}), url) AS seen FROM today WHERE shard = {shard})"
        );
        let batches = self.session.sql(&sql).await?.collect().await?;
        let batch = batches.first().ok_or_else(|| exec_datafusion_err!("no counts"))?;
        let [urls, known, missed, wrong] =
            [0, 1, 2, 3].map(|column| batch.column(column).as_primitive::<Int64Type>().value(0));
        Ok(Counts { urls, known, missed, wrong })
    }
}

/// Returns the program `pds-ballista`, which lies above the folder of the examples.
fn program() -> Result<PathBuf> {
    let example = std::env::current_exe()?;
    let folder = example.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    Ok(folder.join("pds-ballista"))
}

/// Returns the bytes of all files in a folder.
fn size(path: &Path) -> Result<u64> {
    if !path.is_dir() {
        return Ok(path.metadata()?.len());
    }
    fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}

fn generate_days(options: &Options, folder: &Path) -> Result<()> {
    let Options { urls, shards, .. } = *options;
    let days = [
        Day { name: "yesterday", first: 0, end: urls, first_new: urls },
        Day { name: "today", first: urls / 2, end: urls / 2 + urls, first_new: urls },
    ];
    let start = Instant::now();
    let length = generate::write(folder, &days, shards)?;
    let written: u64 = days.iter().map(|day| size(&folder.join(day.name))).sum::<Result<u64>>()?;
    println!(
        "generate: {:.1} s, {:.2} bytes per URL, {:.2} in the file",
        start.elapsed().as_secs_f64(),
        length as f64 / (2 * urls) as f64,
        written as f64 / (2 * urls) as f64,
    );
    Ok(())
}

async fn run(options: &Options, folder: &Path) -> Result<()> {
    generate_days(options, folder)?;
    let mut trial = Trial::start(options, folder).await?;
    for day in ["yesterday", "today"] {
        trial.table(day, "url VARCHAR, known BOOLEAN", folder).await?;
    }
    let Options { urls, shards, rate, .. } = *options;
    let filters = folder.join("filters");
    fs::create_dir(&filters)?;
    let start = Instant::now();
    for first in (0..shards).step_by(SHARDS_PER_QUERY) {
        let build = format!(
            "COPY (SELECT shard, pds_bloom_agg(url, {}, {rate}) AS filter FROM yesterday \
             WHERE shard >= {first} AND shard < {} GROUP BY shard) \
             TO '{}/' STORED AS PARQUET PARTITIONED BY (shard) OPTIONS ('format.compression' 'uncompressed')",
            urls.div_ceil(shards),
            first + SHARDS_PER_QUERY as u64,
            filters.display()
        );
        trial.session.sql(&build).await?.collect().await?;
    }
    trial.report("build", start)?;
    println!("filters: {:.2} bits per URL", 8.0 * size(&filters)? as f64 / urls as f64);
    trial.table("filters", "filter BYTEA", folder).await?;
    let (start, mut sum) = (Instant::now(), Counts::default());
    for shard in 0..shards {
        let counts = trial.ask(shard).await?;
        sum.urls += counts.urls;
        sum.known += counts.known;
        sum.missed += counts.missed;
        sum.wrong += counts.wrong;
    }
    trial.report("ask", start)?;
    let new = sum.urls - sum.known;
    println!(
        "{} URLs, of them {} known and {new} new; {} known missed; {} new called known, {:.5} of them (promised {rate})",
        sum.urls,
        sum.known,
        sum.missed,
        sum.wrong,
        sum.wrong as f64 / new as f64,
    );
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    // Removed at the end, after an error too.
    let temporary = tempfile::tempdir_in(&options.folder)?;
    run(&options, &temporary.path().canonicalize()?).await
}
