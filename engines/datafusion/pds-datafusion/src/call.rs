//! Calls of functions: their parameters, and their errors.

use std::fmt::Display;
use std::ops::RangeInclusive;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_datafusion_err, plan_err};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{AggregateUDF, Expr, ExprSchemable};
use datafusion::physical_expr::expressions::Literal;

/// A call of an aggregate function.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: &'static str,
    /// The type of the first argument.
    pub(crate) row_type: DataType,
    is_distinct: bool,
    /// The value of every argument that is a literal, and the text of every other.
    args: Vec<std::result::Result<ScalarValue, String>>,
}

impl Call {
    /// Reads a call that is about to be executed.
    pub(crate) fn of_execution(function: &'static str, args: &AccumulatorArgs<'_>) -> Self {
        let row_type =
            args.expr_fields.first().map_or(DataType::Null, |field| field.data_type().clone());
        let values = args.exprs.iter().map(|expr| match expr.downcast_ref::<Literal>() {
            Some(literal) => Ok(literal.value().clone()),
            None => Err(expr.to_string()),
        });
        Self { function, row_type, is_distinct: args.is_distinct, args: values.collect() }
    }

    /// Reads a call in a plan that is being optimized.
    fn of_plan(
        function: &'static str,
        call: &AggregateFunction,
        info: &SimplifyContext,
    ) -> Result<Self> {
        let params = &call.params;
        let row_type = params.args.first().map(|arg| arg.get_type(info.schema())).transpose()?;
        let values = params.args.iter().map(|expr| match expr {
            Expr::Literal(value, _) => Ok(value.clone()),
            expr => Err(expr.to_string()),
        });
        let row_type = row_type.unwrap_or(DataType::Null);
        Ok(Self { function, row_type, is_distinct: params.distinct, args: values.collect() })
    }

    /// Returns the value of the argument at `index`, which must be a literal. `None` if it is left out.
    fn literal(&self, index: usize, name: &str) -> Result<Option<&ScalarValue>> {
        let function = self.function;
        match self.args.get(index) {
            None => Ok(None),
            Some(Ok(value)) if !value.is_null() => Ok(Some(value)),
            Some(Ok(_)) => plan_err!("{function}: {name} is NULL; it must be a number"),
            Some(Err(expr)) => plan_err!("{function}: {name} is `{expr}`; it must be a literal"),
        }
    }

    /// Refuses DISTINCT, which only a function that `counts` rows would have to obey.
    pub(crate) fn check_distinct(&self, counts: bool) -> Result<()> {
        if counts && self.is_distinct {
            let function = self.function;
            return plan_err!(
                "{function}: DISTINCT is not allowed; use a subquery with SELECT DISTINCT"
            );
        }
        Ok(())
    }

    /// Returns a number.
    pub(crate) fn number(&self, index: usize, name: &str) -> Result<Option<f64>> {
        let Some(value) = self.literal(index, name)? else { return Ok(None) };
        match value.cast_to(&DataType::Float64) {
            Ok(ScalarValue::Float64(Some(number))) if !is_text(value) => Ok(Some(number)),
            _ => plan_err!("{}: {name} is {value}; it must be a number", self.function),
        }
    }

    /// Returns a whole number within a range.
    pub(crate) fn whole(
        &self,
        index: usize,
        name: &str,
        allowed: RangeInclusive<i64>,
    ) -> Result<Option<i64>> {
        let Some(value) = self.literal(index, name)? else { return Ok(None) };
        let number = match value.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(number)) if value.data_type().is_integer() => number,
            _ => None,
        };
        let (function, min, max) = (self.function, allowed.start(), allowed.end());
        match number.filter(|number| allowed.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => {
                plan_err!(
                    "{function}: {name} is {value}; it must be a whole number from {min} to {max}"
                )
            }
        }
    }

    /// Returns a truth value.
    pub(crate) fn flag(&self, index: usize, name: &str) -> Result<Option<bool>> {
        match self.literal(index, name)? {
            None => Ok(None),
            Some(ScalarValue::Boolean(flag)) => Ok(*flag),
            Some(value) => {
                plan_err!("{}: {name} is {value}; it must be true or false", self.function)
            }
        }
    }

    /// Returns the parameter, which may not be left out.
    pub(crate) fn required<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| plan_datafusion_err!("{}: {name} is missing", self.function))
    }

    /// Returns the error of a parameter that the structure refuses.
    pub(crate) fn refused(&self, error: impl Display) -> DataFusionError {
        plan_datafusion_err!("{}: {error}", self.function)
    }
}

/// Returns the rule that replaces the function of a call by one that is bound to the parameters of the call.
///
/// The optimizer asks a function for the result of no rows, and does not say with which parameters.
pub(crate) fn bind(
    function: &'static str,
    bound: impl Fn(&Call) -> Result<AggregateUDF> + 'static,
) -> AggregateFunctionSimplification {
    Box::new(move |mut call, info| {
        // A call with wrong parameters ends with an error when it is executed.
        if let Ok(bound) = Call::of_plan(function, &call, info).and_then(|call| bound(&call)) {
            call.func = bound.into();
        }
        Ok(Expr::AggregateFunction(call))
    })
}

fn is_text(value: &ScalarValue) -> bool {
    value.data_type().is_string()
}

/// Refuses another number of arguments.
pub(crate) fn check_count(
    function: &str,
    syntax: &str,
    allowed: &RangeInclusive<usize>,
    count: usize,
) -> Result<()> {
    if allowed.contains(&count) {
        return Ok(());
    }
    plan_err!("{function}: {count} arguments; the call is {syntax}")
}
