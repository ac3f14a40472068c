//! Calls of functions: their parameters, and their errors.

use std::fmt::Display;
use std::ops::RangeInclusive;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_datafusion_err, plan_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::physical_expr::expressions::Literal;

/// A call of an aggregate function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) function: &'static str,
    pub(crate) args: &'a AccumulatorArgs<'a>,
}

impl Call<'_> {
    /// Returns the value of the argument at `index`, which must be a literal. `None` if it is left out.
    fn literal(&self, index: usize, name: &str) -> Result<Option<&ScalarValue>> {
        let Some(expr) = self.args.exprs.get(index) else { return Ok(None) };
        let function = self.function;
        match expr.downcast_ref::<Literal>() {
            Some(literal) if !literal.value().is_null() => Ok(Some(literal.value())),
            Some(_) => plan_err!("{function}: {name} is NULL; it must be a number"),
            None => plan_err!("{function}: {name} is `{expr}`; it must be a literal"),
        }
    }

    /// Refuses DISTINCT, which only a function that `counts` rows would have to obey.
    pub(crate) fn check_distinct(&self, counts: bool) -> Result<()> {
        if counts && self.args.is_distinct {
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
