//! The clusters of the tests.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ballista_core::extension::SessionConfigExt;
use datafusion::prelude::{SessionConfig, SessionContext};
use pds_ballista::{LocalCluster, LocalOptions};

/// Starts a scheduler and executors. They end with the value, and so with a failed test.
///
/// An executor without a heartbeat for `executor_timeout` seconds is lost, also where the machine has stopped it for so long.
pub(crate) fn start(folder: &Path, executors: usize, executor_timeout: u64) -> LocalCluster {
    let options = LocalOptions { executors, tasks: 1, memory: 500_000_000, executor_timeout };
    let program = Path::new(env!("CARGO_BIN_EXE_pds-ballista"));
    LocalCluster::start(program, folder, options).unwrap()
}

/// Returns the session of a client.
pub(crate) async fn session(cluster: &LocalCluster) -> SessionContext {
    let config = SessionConfig::new_with_ballista().with_target_partitions(6);
    pds_ballista::connect(&cluster.url(), config).await.unwrap()
}

/// Waits until an executor has written what it shuffles.
pub(crate) async fn wait_for_shuffle(cluster: &LocalCluster, executor: usize, limit: Duration) {
    let end = Instant::now() + limit;
    while !has_file(&cluster.executor_folder(executor)) {
        assert!(Instant::now() < end, "executor {executor} shuffled nothing in {limit:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn has_file(folder: &Path) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| {
        let path = entry.path();
        if path.is_dir() { has_file(&path) } else { entry.metadata().is_ok_and(|m| m.len() > 0) }
    })
}
