//! The scheduler of a cluster.

use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::sync::Arc;

use ballista_core::error::Result;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::net::TcpListener;

/// Starts the scheduler of a cluster. It prints its address, and runs until it is stopped.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Address to listen on. Port 0: one that is free.
    #[arg(long, default_value = "127.0.0.1:50050")]
    bind: SocketAddr,
    /// The path /readyz answers 200 as soon as so many executors are there.
    #[arg(long, default_value_t = 1)]
    executors: usize,
    /// Seconds without a heartbeat after which an executor is lost, and its work is done again by others.
    #[arg(long, default_value_t = 180, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    executor_timeout: u64,
}

impl Options {
    pub(crate) async fn run(self) -> Result<()> {
        let listener = TcpListener::bind(self.bind).await?;
        let address = listener.local_addr()?;
        let config = Arc::new(self.config(address));
        let cluster = BallistaCluster::new_from_config(&config).await?;
        let scheduler =
            create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, config).await?;
        writeln!(stdout(), "scheduler at {address}")?;
        start_grpc_service_with_listener(listener, scheduler).await
    }

    fn config(&self, address: SocketAddr) -> SchedulerConfig {
        SchedulerConfig {
            bind_host: address.ip().to_string(),
            external_host: address.ip().to_string(),
            bind_port: address.port(),
            min_ready_executors: self.executors,
            executor_timeout_seconds: self.executor_timeout,
            no_executors_grace_period_seconds: self.executor_timeout,
            expire_dead_executor_interval_seconds: self.executor_timeout.div_ceil(12),
            override_session_builder: Some(pds_ballista::session_builder()),
            ..SchedulerConfig::default()
        }
    }
}
