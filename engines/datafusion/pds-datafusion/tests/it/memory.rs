//! The memory pool of the engine: sketches outside of groups are reserved, too.

use std::sync::Arc;

use datafusion::arrow::array::Int64Array;
use datafusion::common::DataFusionError;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::session::{query, table};

fn session_of(pool: usize) -> SessionContext {
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(pool, 1.0).build_arc().unwrap();
    let config = SessionConfig::new().with_target_partitions(1).with_batch_size(1_000);
    let mut session = SessionContext::new_with_config_rt(config, runtime);
    pds_datafusion::register(&mut session).unwrap();
    table(&session, vec![("k", Arc::new(Int64Array::from_iter_values(0..50_000)))]);
    session
}

#[tokio::test]
async fn a_small_pool_ends_the_query() {
    let (small, large) = (session_of(24 << 10), session_of(64 << 20));
    for call in [
        "pds_hll_agg(k, 18)",
        "pds_ull_agg(k, 18)",
        "pds_bloom_agg(k, 1000000, 0.01)",
        "pds_cms_agg(k, 0.0001, 0.01)",
        "pds_minhash_agg(k, 4096)",
        "pds_ribbon_agg(k)",
        "hll_sketch_agg(k, 21)",
        "theta_sketch_agg(k, 16)",
        "bloom_filter_agg(k)",
        "count_min_sketch(k, 0.0001, 0.99, 1)",
        "approx_top_k(k, 3, 100000)",
        "approx_top_k_accumulate(k, 100000)",
    ] {
        let sql = format!("SELECT {call} FROM t");
        assert_eq!(query(&large, &sql).await.unwrap().num_rows(), 1, "{call}");
        let error = query(&small, &sql).await.expect_err(call);
        let root = error.find_root();
        assert!(matches!(root, DataFusionError::ResourcesExhausted(_)), "{call}: {root}");
    }
}
