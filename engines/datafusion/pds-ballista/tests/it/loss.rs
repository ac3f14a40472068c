//! Loss of executors during a query: it ends with the right answer, or with an error.

use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;

use crate::cluster;
use crate::rows::{folder, local, query, register, write_files};

/// A query of some seconds, in many tasks.
const SQL: &str = "SELECT a.g, pds_hll_agg(a.k * 1000 + b.h), pds_cms_agg(a.k, 0.01, 0.01) FROM t AS a \
                   CROSS JOIN (SELECT DISTINCT h FROM t WHERE h < 24) AS b GROUP BY a.g ORDER BY a.g";

/// Seconds after which an executor is lost.
const EXECUTOR_TIMEOUT: u64 = 6;

/// Time for a query that has lost an executor: until the scheduler knows, and for all the work once more.
const LIMIT: Duration = Duration::from_secs(240);

/// Starts the query, kills executors as soon as the first of them has written what it shuffles, and returns the answer.
async fn query_with_loss(name: &str, lost: &[usize]) -> (RecordBatch, Result<RecordBatch>) {
    let folder = folder(name);
    let table = write_files(&folder);
    let mut cluster = cluster::start(&folder, 2, EXECUTOR_TIMEOUT);
    let (local, remote) = (local(), cluster::session(&cluster).await);
    for session in [&local, &remote] {
        register(session, &table).await;
    }
    let expected = query(&local, SQL).await.unwrap();
    let running = tokio::spawn(async move { query(&remote, SQL).await });
    cluster::wait_for_shuffle(&cluster, lost[0], LIMIT).await;
    assert!(!running.is_finished(), "the query ended before the loss");
    lost.iter().for_each(|&executor| cluster.kill_executor(executor));
    let start = Instant::now();
    let answer = tokio::time::timeout(LIMIT, running).await;
    let answer = answer.unwrap_or_else(|_| panic!("no end within {LIMIT:?}")).unwrap();
    eprintln!("{name}: ended {:?} after the loss, {answer:?}", start.elapsed());
    (expected, answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_survives_the_loss_of_one_executor() {
    let (expected, answer) = query_with_loss("one-lost", &[0]).await;
    match answer {
        Ok(found) => assert!(expected.columns() == found.columns(), "a wrong answer"),
        Err(error) => assert!(error.to_string().contains("xecutor"), "{error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loss_of_all_executors_is_an_error() {
    let (_, answer) = query_with_loss("all-lost", &[0, 1]).await;
    let error = answer.expect_err("no executor is left").to_string();
    assert!(error.contains("xecutor"), "{error}");
}
