//! An executor of a cluster.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::error::{BallistaError, Result};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Starts an executor of a cluster. It runs until it is stopped.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Address of the scheduler.
    #[arg(long, default_value = "127.0.0.1:50050")]
    scheduler: SocketAddr,
    /// Address to listen on for other executors and for clients. Port 0: one that is free.
    #[arg(long, default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// Tasks at the same time. 0: the number of cores.
    #[arg(long, default_value_t = 0)]
    tasks: usize,
    /// Bytes of memory that all tasks together may reserve. By default, 70 % of the memory of the machine.
    #[arg(long)]
    memory: Option<u64>,
    /// Folder for what is shuffled. By default, a temporary one.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Seconds between heartbeats.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    heartbeat: u64,
    /// Seconds to wait for a scheduler that does not listen yet.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    connect_timeout: u64,
}

impl Options {
    pub(crate) async fn run(self) -> Result<()> {
        // Removed when the executor ends.
        let temporary = tempfile::tempdir()?;
        let folder = self.folder.as_deref().unwrap_or(temporary.path());
        let folder = folder.to_str().ok_or_else(|| {
            BallistaError::General(format!("the folder {} is not UTF-8", folder.display()))
        })?;
        self.wait_for_scheduler().await?;
        let config = self.config(folder)?;
        start_executor_process(Arc::new(config)).await.map_err(|error| {
            BallistaError::General(format!("executor of {}: {error}", self.scheduler))
        })
    }

    /// Waits until something listens at the address of the scheduler. The wait of Ballista 55.0 has no end.
    async fn wait_for_scheduler(&self) -> Result<()> {
        let limit = Duration::from_secs(self.connect_timeout);
        let listens = async {
            while TcpStream::connect(self.scheduler).await.is_err() {
                sleep(Duration::from_millis(100)).await;
            }
        };
        timeout(limit, listens).await.map_err(|_| {
            let (address, seconds) = (self.scheduler, self.connect_timeout);
            BallistaError::General(format!("no scheduler at {address} within {seconds} s"))
        })
    }

    fn config(&self, folder: &str) -> Result<ExecutorProcessConfig> {
        let host = self.bind.ip();
        Ok(ExecutorProcessConfig {
            bind_host: host.to_string(),
            external_host: Some(host.to_string()),
            port: free_port(self.bind)?,
            grpc_port: free_port(SocketAddr::new(host, 0))?,
            scheduler_host: self.scheduler.ip().to_string(),
            scheduler_port: self.scheduler.port(),
            // One attempt, because the scheduler listens by now.
            scheduler_connect_timeout_seconds: 0,
            vcores: self.tasks,
            memory_pool_size: self.memory,
            work_dir: Some(folder.to_owned()),
            executor_heartbeat_interval_seconds: self.heartbeat,
            override_function_registry: Some(pds_ballista::function_registry()),
            ..ExecutorProcessConfig::default()
        })
    }
}

/// Returns the port of an address that can be listened on: for port 0, one that the system chose.
fn free_port(address: SocketAddr) -> Result<u16> {
    Ok(TcpListener::bind(address)?.local_addr()?.port())
}
