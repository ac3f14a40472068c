//! Accumulators of calls over a column `k` of BIGINT.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::AggregateUDF;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};

/// Calls `make` with a function and the arguments `k` and `params`.
pub(crate) fn of_call<T>(
    function: &str,
    params: &[ScalarValue],
    make: impl FnOnce(&AggregateUDF, AccumulatorArgs<'_>) -> T,
) -> T {
    let schema = Schema::new(vec![Field::new("k", DataType::Int64, true)]);
    let mut exprs: Vec<Arc<dyn PhysicalExpr>> = vec![Arc::new(Column::new("k", 0))];
    let mut fields = vec![Arc::new(schema.field(0).clone())];
    for param in params {
        exprs.push(Arc::new(Literal::new(param.clone())));
        fields.push(Arc::new(Field::new("p", param.data_type(), true)));
    }
    let aggregates = pds_datafusion::aggregates();
    let function = aggregates.iter().find(|aggregate| aggregate.name() == function).unwrap();
    let args = AccumulatorArgs {
        return_field: Arc::new(Field::new("r", DataType::BinaryView, true)),
        schema: &schema,
        ignore_nulls: false,
        order_bys: &[],
        is_reversed: false,
        name: "a",
        is_distinct: false,
        exprs: &exprs,
        expr_fields: &fields,
    };
    make(function, args)
}
