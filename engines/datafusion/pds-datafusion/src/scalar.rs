//! Scalar functions: their types, and their rows.

use std::fmt::{Debug, Display};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BinaryViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use crate::blobs::{Blobs, check_blob};
use crate::cache::Cache;
use crate::call::check_count;
use crate::help::{Help, documentation};
use crate::sketch::bad_sketch;

/// The type of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument {
    /// The bytes of a sketch.
    Sketch(&'static str),
    /// A key, which the function refuses if it is of another type.
    Key(fn(&str, &DataType) -> Result<()>),
    /// A whole number.
    Whole(&'static str),
    /// A truth value.
    Flag(&'static str),
}

impl Argument {
    /// Returns the type that an argument is converted to.
    fn coerce(self, function: &str, data_type: &DataType) -> Result<DataType> {
        match self {
            Self::Sketch(name) => {
                check_blob(function, name, data_type)?;
                Ok(data_type.clone())
            }
            Self::Key(check) => {
                check(function, data_type)?;
                Ok(data_type.clone())
            }
            Self::Whole(_) if data_type.is_integer() => Ok(DataType::Int64),
            Self::Flag(_) if *data_type == DataType::Boolean => Ok(DataType::Boolean),
            Self::Whole(name) => {
                plan_err!("{function}: {name} is of type {data_type}; it must be a whole number")
            }
            Self::Flag(name) => {
                plan_err!("{function}: {name} is of type {data_type}; it must be true or false")
            }
        }
    }
}

/// An argument with its rows. One that is the same in all rows is kept once.
#[derive(Debug)]
pub(crate) struct Rows {
    array: ArrayRef,
    is_one: bool,
}

impl Rows {
    fn new(value: ColumnarValue) -> Result<Self> {
        Ok(match value {
            ColumnarValue::Array(array) => Self { array, is_one: false },
            ColumnarValue::Scalar(scalar) => Self { array: scalar.to_array()?, is_one: true },
        })
    }

    /// Returns the array, which has one row if the argument is the same in all rows.
    pub(crate) fn array(&self) -> &ArrayRef {
        &self.array
    }

    /// Returns whether the argument is the same in all rows.
    pub(crate) fn is_one(&self) -> bool {
        self.is_one
    }

    /// Returns where in the array the value of a row is.
    pub(crate) fn at(&self, row: usize) -> usize {
        if self.is_one { 0 } else { row }
    }
}

/// An argument of sketches.
#[derive(Debug)]
pub(crate) enum Sketches {
    /// The same in all rows. `None` is null.
    One(Option<Vec<u8>>),
    Each(Blobs),
}

impl Sketches {
    // An array of one scalar value would be a copy of its bytes.
    fn new(value: ColumnarValue) -> Result<Self> {
        use ScalarValue::{Binary, BinaryView, LargeBinary};
        match value {
            ColumnarValue::Array(array) => Ok(Self::Each(Blobs::new(&array)?)),
            ColumnarValue::Scalar(Binary(bytes) | LargeBinary(bytes) | BinaryView(bytes)) => {
                Ok(Self::One(bytes))
            }
            ColumnarValue::Scalar(scalar) => {
                let blobs = Blobs::new(&scalar.to_array()?)?;
                Ok(Self::One(blobs.get(0).map(<[u8]>::to_vec)))
            }
        }
    }

    /// Returns the bytes of a row. `None` if it is null.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::One(bytes) => bytes.as_deref(),
            Self::Each(blobs) => blobs.get(row),
        }
    }
}

/// The arguments of a call, and its number of rows.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) function: &'static str,
    /// The arguments that are sketches, which come first.
    pub(crate) sketches: Vec<Sketches>,
    /// The others.
    pub(crate) args: Vec<Rows>,
    pub(crate) num_rows: usize,
    cache: Arc<Cache>,
}

/// The type of a result of bytes.
pub(crate) fn blob(_: &[DataType]) -> DataType {
    DataType::BinaryView
}

/// A scalar function.
#[derive(Clone, Copy, Debug)]
struct Scalar {
    help: &'static Help,
    args: &'static [Argument],
    num_required: usize,
    returns: fn(&[DataType]) -> DataType,
    body: fn(&Batch) -> Result<ArrayRef>,
}

/// Returns a scalar function. The arguments after the first `num_required` may be left out.
pub(crate) fn scalar(
    help: &'static Help,
    args: &'static [Argument],
    num_required: usize,
    returns: fn(&[DataType]) -> DataType,
    body: fn(&Batch) -> Result<ArrayRef>,
) -> ScalarUDF {
    let scalar = Scalar { help, args, num_required, returns, body };
    Function::of(scalar, false)
}

#[derive(Debug)]
struct Function {
    scalar: Scalar,
    signature: Signature,
    documentation: Documentation,
    /// The state that the batches of a query share. It goes with the plan of the query.
    cache: Arc<Cache>,
    /// Whether the function is that of one call.
    is_bound: bool,
}

impl Function {
    fn of(scalar: Scalar, is_bound: bool) -> ScalarUDF {
        ScalarUDF::new_from_impl(Self {
            signature: Signature::user_defined(Volatility::Immutable),
            documentation: documentation(scalar.help),
            scalar,
            cache: Arc::default(),
            is_bound,
        })
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.scalar.help.name == other.scalar.help.name
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.scalar.help.name.hash(state);
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.scalar.help.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let Scalar { help, args, num_required, .. } = self.scalar;
        check_count(help.name, help.syntax, &(num_required..=args.len()), types.len())?;
        args.iter().zip(types).map(|(arg, data_type)| arg.coerce(help.name, data_type)).collect()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok((self.scalar.returns)(types))
    }

    // Every call has a cache of its own.
    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        if self.is_bound {
            return Ok(ExprSimplifyResult::Original(args));
        }
        let func = Arc::new(Self::of(self.scalar, true));
        let call = ScalarFunction { func, args };
        Ok(ExprSimplifyResult::Simplified(Expr::ScalarFunction(call)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let num_rows = if is_constant { 1 } else { args.number_rows };
        let mut batch = Batch {
            function: self.scalar.help.name,
            sketches: Vec::new(),
            args: Vec::new(),
            num_rows,
            cache: Arc::clone(&self.cache),
        };
        for (argument, value) in self.scalar.args.iter().zip(args.args) {
            match argument {
                Argument::Sketch(_) => batch.sketches.push(Sketches::new(value)?),
                _ => batch.args.push(Rows::new(value)?),
            }
        }
        let result = (self.scalar.body)(&batch)?;
        debug_assert_eq!(result.len(), num_rows);
        if is_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }
}

/// Makes an array of what a function returns for the bytes of the first argument, row by row.
pub(crate) fn of_sketches<T>(
    batch: &Batch,
    mut value: impl FnMut(usize, &[u8]) -> Result<T>,
) -> Result<Vec<Option<T>>> {
    let of_row = |row| batch.sketches[0].get(row).map(|bytes| value(row, bytes)).transpose();
    (0..batch.num_rows).map(of_row).collect()
}

/// Makes an array of what a function returns for the bytes of the first two arguments, row by row.
pub(crate) fn of_pairs<T>(
    batch: &Batch,
    mut value: impl FnMut(usize, &[u8], &[u8]) -> Result<T>,
) -> Result<Vec<Option<T>>> {
    let of_row = |row| {
        let pair = batch.sketches[0].get(row).zip(batch.sketches[1].get(row));
        pair.map(|(left, right)| value(row, left, right)).transpose()
    };
    (0..batch.num_rows).map(of_row).collect()
}

/// Reads the sketch of a row by `open`, or takes the one that an earlier batch read from the same bytes.
pub(crate) fn open_once<T: Send + Sync + 'static, E: Display>(
    batch: &Batch,
    argument: &str,
    row: usize,
    bytes: &[u8],
    open: impl FnOnce(Arc<[u8]>) -> std::result::Result<T, E>,
) -> Result<Arc<T>> {
    let opened = batch.cache.get(bytes, open);
    opened.map_err(|error| bad_sketch(batch.function, argument, row, error))
}

/// Asks the sketch of every row for the key of the row, the first argument after the sketch.
///
/// `open` reads a sketch. `answer` is given the sketch, and where in the array of keys the key is. A null has no answer.
pub(crate) fn ask<T: Send + Sync + 'static, E: Display, A>(
    batch: &Batch,
    argument: &str,
    open: impl Fn(Arc<[u8]>) -> std::result::Result<T, E>,
    answer: impl Fn(&T, usize) -> A,
) -> Result<Vec<Option<A>>> {
    let keys = &batch.args[0];
    let nulls = keys.array().logical_nulls();
    let mut opened: Option<(&[u8], Arc<T>)> = None;
    let of_row = |row| -> Result<Option<A>> {
        let key = keys.at(row);
        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(key));
        let Some(bytes) = batch.sketches[0].get(row).filter(|_| !is_null) else {
            return Ok(None);
        };
        let sketch = match opened.take() {
            Some((same, sketch)) if std::ptr::eq(same, bytes) => sketch,
            _ => open_once(batch, argument, row, bytes, &open)?,
        };
        let answered = answer(&sketch, key);
        opened = Some((bytes, sketch));
        Ok(Some(answered))
    };
    (0..batch.num_rows).map(of_row).collect()
}

/// Returns an array of bytes.
pub(crate) fn blob_array(values: Vec<Option<Vec<u8>>>) -> ArrayRef {
    Arc::new(BinaryViewArray::from_iter(values))
}
