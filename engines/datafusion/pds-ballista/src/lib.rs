#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod local;

use std::sync::Arc;

use ballista::prelude::SessionContextExt;
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::SessionBuilder;
use datafusion::common::Result;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};

pub use local::{LocalCluster, LocalOptions, Usage};

/// Returns the session of a client: its queries run on the cluster of the scheduler at `url`.
///
/// `config` may come from [`SessionConfig::new_with_ballista`](SessionConfigExt::new_with_ballista), which has the defaults
/// of Ballista, or be any other. No connection is made before the first query.
///
/// # Errors
/// If `url` has no host.
pub async fn connect(url: &str, config: SessionConfig) -> Result<SessionContext> {
    let state = SessionStateBuilder::new().with_default_features().with_config(config).build();
    // Ballista puts its own list of functions in place of that of the state, so ours come after it.
    let mut session = SessionContext::remote_with_state(url, state).await?;
    pds_datafusion::register(&mut session)?;
    Ok(session)
}

/// Returns the session of a client with the defaults of Ballista, as [`connect`] does.
///
/// # Errors
/// If `url` has no host.
///
/// # Examples
/// ```no_run
/// # async fn query() -> datafusion::common::Result<()> {
/// let session = pds_ballista::connect_default("df://127.0.0.1:50050").await?;
/// let sql = "SELECT page, pds_distinct(visitor) FROM 'views.parquet' GROUP BY page";
/// session.enable_url_table().sql(sql).await?.show().await?;
/// # Ok(())
/// # }
/// ```
pub async fn connect_default(url: &str) -> Result<SessionContext> {
    connect(url, SessionConfig::new_with_ballista()).await
}

/// Returns the builder of sessions for a scheduler: `SchedulerConfig::override_session_builder`.
#[must_use]
pub fn session_builder() -> SessionBuilder {
    Arc::new(|config: SessionConfig| -> Result<SessionState> {
        let mut state = default_session_builder(config)?;
        pds_datafusion::register(&mut state)?;
        Ok(state)
    })
}

/// Returns the functions for an executor: `ExecutorProcessConfig::override_function_registry`.
///
/// They are those of DataFusion, and ours.
#[must_use]
pub fn function_registry() -> Arc<BallistaFunctionRegistry> {
    let mut registry = BallistaFunctionRegistry::default();
    for aggregate in pds_datafusion::aggregates() {
        registry.aggregate_functions.insert(aggregate.name().to_owned(), Arc::new(aggregate));
    }
    for scalar in pds_datafusion::scalars() {
        registry.scalar_functions.insert(scalar.name().to_owned(), Arc::new(scalar));
    }
    Arc::new(registry)
}
