//! Scalar functions: their types, and their rows.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BinaryViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use crate::blobs::{Blobs, check_blob};
use crate::call::check_count;
use crate::help::{Help, documentation};

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

    /// Returns the bytes of all rows.
    pub(crate) fn blobs(&self) -> Result<Blobs> {
        Blobs::new(&self.array)
    }
}

/// The arguments of a call, and its number of rows.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) function: &'static str,
    pub(crate) args: Vec<Rows>,
    pub(crate) num_rows: usize,
}

/// The type of a result of bytes.
pub(crate) fn blob(_: &[DataType]) -> DataType {
    DataType::BinaryView
}

/// A scalar function.
#[derive(Debug)]
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
    ScalarUDF::new_from_impl(Function {
        signature: Signature::user_defined(Volatility::Immutable),
        documentation: documentation(help),
        scalar: Scalar { help, args, num_required, returns, body },
    })
}

#[derive(Debug)]
struct Function {
    scalar: Scalar,
    signature: Signature,
    documentation: Documentation,
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

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = args.args.into_iter().map(Rows::new).collect::<Result<_>>()?;
        let num_rows = if is_constant { 1 } else { args.number_rows };
        let batch = Batch { function: self.scalar.help.name, args: rows, num_rows };
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
    let sketches = batch.args[0].blobs()?;
    let rows = 0..batch.num_rows;
    rows.map(|row| {
        let bytes = sketches.get(batch.args[0].at(row));
        bytes.map(|bytes| value(row, bytes)).transpose()
    })
    .collect()
}

/// Makes an array of what a function returns for the bytes of the first two arguments, row by row.
pub(crate) fn of_pairs<T>(
    batch: &Batch,
    mut value: impl FnMut(usize, &[u8], &[u8]) -> Result<T>,
) -> Result<Vec<Option<T>>> {
    let [left, right] = [batch.args[0].blobs()?, batch.args[1].blobs()?];
    let rows = 0..batch.num_rows;
    rows.map(|row| {
        let pair = left.get(batch.args[0].at(row)).zip(right.get(batch.args[1].at(row)));
        pair.map(|(left, right)| value(row, left, right)).transpose()
    })
    .collect()
}

/// Asks the sketch of every row, the first argument, for the key of the row, the second one.
///
/// `open` reads a sketch; rows with the bytes of the row before do not read them again. `answer` is given the sketch, and
/// where in the array of keys the key is. A null has no answer.
pub(crate) fn ask<'a, T, A>(
    batch: &Batch,
    sketches: &'a Blobs,
    open: impl Fn(&'a [u8], usize) -> Result<T>,
    answer: impl Fn(&T, usize) -> A,
) -> Result<Vec<Option<A>>> {
    let nulls = batch.args[1].array().logical_nulls();
    let mut opened: Option<(&[u8], T)> = None;
    let of_row = |row| -> Result<Option<A>> {
        let key = batch.args[1].at(row);
        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(key));
        let Some(bytes) = sketches.get(batch.args[0].at(row)).filter(|_| !is_null) else {
            return Ok(None);
        };
        let sketch = match opened.take() {
            Some((same, sketch)) if std::ptr::eq(same, bytes) || same == bytes => sketch,
            _ => open(bytes, row)?,
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
