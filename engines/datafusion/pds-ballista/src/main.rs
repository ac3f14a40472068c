//! `pds-ballista`: the processes of a cluster that has the functions of `pds-datafusion`, and a client.

mod executor;
mod scheduler;

use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use datafusion::common::Result;

/// Sketches and filters in SQL, on a cluster of Ballista.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scheduler(scheduler::Options),
    Executor(executor::Options),
    Query(Query),
}

/// Runs SQL statements on a cluster and shows what they return.
#[derive(Debug, clap::Args)]
struct Query {
    /// Address of the scheduler.
    #[arg(long, default_value = "127.0.0.1:50050")]
    scheduler: SocketAddr,
    /// Statements, which run one after another. Paths in quotes are tables: SELECT * FROM 'views.parquet'
    #[arg(required = true)]
    statements: Vec<String>,
}

impl Query {
    async fn run(self) -> Result<()> {
        let url = format!("df://{}", self.scheduler);
        let session = pds_ballista::connect_default(&url).await?.enable_url_table();
        for statement in &self.statements {
            let shown = session.sql(statement).await?.show().await;
            shown.map_err(|error| error.context(format!("on the cluster of {url}")))?;
        }
        Ok(())
    }
}

/// Plans of large queries are deep.
const STACK_BYTES: usize = 32 << 20;

fn run(command: Command) -> Result<(), Box<dyn Error>> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().thread_stack_size(STACK_BYTES).build()?;
    match command {
        Command::Scheduler(options) => runtime.block_on(options.run())?,
        Command::Executor(options) => runtime.block_on(options.run())?,
        Command::Query(query) => runtime.block_on(query.run())?,
    }
    Ok(())
}

fn main() -> ExitCode {
    env_logger::init();
    match run(Options::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pds-ballista: {error}");
            ExitCode::FAILURE
        }
    }
}
