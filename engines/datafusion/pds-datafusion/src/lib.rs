#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod blobs;
mod build;
mod cache;
mod call;
mod fold;
mod help;
mod keys;
mod log;
mod ours;
mod output;
mod ribbon;
mod scalar;
mod sketch;
mod spark;
mod unions;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

/// Registers all functions of this crate.
///
/// `registry` is a `SessionContext` or a `SessionState`. A cluster needs them on its client, its scheduler and its executors:
/// they travel by name. A function of DataFusion that has the same name is replaced.
///
/// # Errors
/// Those of the registry.
///
/// # Examples
/// ```
/// use datafusion::prelude::SessionContext;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> datafusion::common::Result<()> {
/// let mut session = SessionContext::new();
/// pds_datafusion::register(&mut session)?;
/// let sql = "SELECT pds_hll_estimate(pds_hll_agg(v)) AS n FROM (VALUES ('a'), ('b'), ('a')) AS t(v)";
/// session.sql(sql).await?.show().await?;
/// # Ok(())
/// # }
/// ```
pub fn register(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for aggregate in aggregates() {
        registry.register_udaf(Arc::new(aggregate))?;
    }
    for scalar in scalars() {
        registry.register_udf(Arc::new(scalar))?;
    }
    Ok(())
}

/// Returns the aggregate functions.
#[must_use]
pub fn aggregates() -> Vec<AggregateUDF> {
    ours::aggregates().into_iter().chain(spark::aggregates()).collect()
}

/// Returns the scalar functions.
#[must_use]
pub fn scalars() -> Vec<ScalarUDF> {
    ours::scalars().into_iter().chain(spark::scalars()).collect()
}
