//! Columns of values, as Spark and DataSketches hash them.
//!
//! | column | hashed | `hll_sketch_agg` | `theta_sketch_agg` | `bloom_filter_agg`, `might_contain` | `count_min_sketch` |
//! |---|---|---|---|---|---|
//! | TINYINT, SMALLINT | the number as 8 bytes | no | no | yes | yes |
//! | INT, BIGINT | the number as 8 bytes | yes | yes | yes | yes |
//! | FLOAT, DOUBLE | the DOUBLE as 8 bytes; -0.0 is 0.0, every NaN is one | no | yes | no | no |
//! | STRING | UTF-8; Theta and HLL sketches ignore empty ones | yes | yes | yes | yes |
//! | BINARY | the bytes; Theta and HLL sketches ignore empty ones | yes | yes | no | yes |
//! | ARRAY of INT, of BIGINT | its numbers, 4 or 8 bytes each; empty ones are ignored | no | yes | no | no |
//!
//! All numbers have their least significant byte first. Nulls are ignored. No function takes other types.

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Float64Array, Int64Array, StringViewArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use datafusion::common::{Result, exec_err, plan_err};

/// A value of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Long(i64),
    Double(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// A column of one kind of values.
#[derive(Debug)]
pub(crate) enum Column {
    Long(Int64Array),
    Double(Float64Array),
    Text(StringViewArray),
    Bytes(BinaryViewArray),
}

impl Column {
    pub(crate) fn new(array: &ArrayRef) -> Result<Self> {
        let data_type = plain(array.data_type());
        if data_type.is_integer() {
            return Ok(Self::Long(
                cast(array, &DataType::Int64)?.as_primitive::<Int64Type>().clone(),
            ));
        }
        if data_type.is_floating() {
            let doubles = cast(array, &DataType::Float64)?;
            return Ok(Self::Double(doubles.as_primitive::<Float64Type>().clone()));
        }
        if data_type.is_string() {
            // By way of the plain type, because dictionaries of strings do not all have a direct cast.
            let strings = cast(&cast(array, data_type)?, &DataType::Utf8View)?;
            return Ok(Self::Text(strings.as_string_view().clone()));
        }
        if data_type.is_binary() {
            let bytes = cast(&cast(array, data_type)?, &DataType::BinaryView)?;
            return Ok(Self::Bytes(bytes.as_binary_view().clone()));
        }
        match data_type {
            DataType::List(_) => Ok(Self::Bytes(bytes_of_lists(array)?)),
            // Nothing but nulls.
            DataType::Null => Ok(Self::Long(Int64Array::new_null(array.len()))),
            other => exec_err!("no values of type {other} are hashed"),
        }
    }

    /// Returns the value of a row that is not null.
    pub(crate) fn value(&self, row: usize) -> Value<'_> {
        match self {
            Self::Long(array) => Value::Long(array.value(row)),
            Self::Double(array) => Value::Double(array.value(row)),
            Self::Text(array) => Value::Text(array.value(row)),
            Self::Bytes(array) => Value::Bytes(array.value(row)),
        }
    }
}

/// Returns the bytes of lists of numbers.
fn bytes_of_lists(array: &ArrayRef) -> Result<BinaryViewArray> {
    let lists = array.as_list::<i32>();
    let of_list = |list: ArrayRef| -> Result<Vec<u8>> {
        if list.null_count() > 0 {
            return exec_err!("an ARRAY has a NULL; its elements must be numbers");
        }
        Ok(match list.as_primitive_opt::<Int32Type>() {
            Some(ints) => ints.values().iter().flat_map(|number| number.to_le_bytes()).collect(),
            None => {
                let longs = list.as_primitive::<Int64Type>().values();
                longs.iter().flat_map(|number| number.to_le_bytes()).collect()
            }
        })
    };
    let rows: Result<Vec<_>> = lists.iter().map(|list| list.map(of_list).transpose()).collect();
    Ok(BinaryViewArray::from_iter(rows?))
}

/// Returns the type of the values of a dictionary, and any other type itself.
pub(super) fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

fn is_int_or_long(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Int32 | DataType::Int64)
}

fn is_integer(data_type: &DataType) -> bool {
    data_type.is_signed_integer()
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float32 | DataType::Float64)
}

fn is_list(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(element) if is_int_or_long(element.data_type()))
}

fn check(
    function: &str,
    data_type: &DataType,
    is_allowed: impl Fn(&DataType) -> bool,
    allowed: &str,
) -> Result<()> {
    let data_type = plain(data_type);
    if *data_type == DataType::Null || is_allowed(data_type) {
        return Ok(());
    }
    plan_err!("{function}: expr is of type {data_type}; allowed are {allowed}, as in Spark")
}

/// Checks the type of a column for HLL sketches.
pub(crate) fn check_hll(function: &str, data_type: &DataType) -> Result<()> {
    let is_allowed = |t: &DataType| is_int_or_long(t) || t.is_string() || t.is_binary();
    check(function, data_type, is_allowed, "INT, BIGINT, STRING and BINARY")
}

/// Checks the type of a column for Theta sketches.
pub(crate) fn check_theta(function: &str, data_type: &DataType) -> Result<()> {
    let is_number = |t: &DataType| is_int_or_long(t) || is_float(t);
    let is_allowed = |t: &DataType| is_number(t) || t.is_string() || t.is_binary() || is_list(t);
    let allowed = "INT, BIGINT, FLOAT, DOUBLE, STRING, BINARY, ARRAY<INT> and ARRAY<BIGINT>";
    check(function, data_type, is_allowed, allowed)
}

/// Checks the type of a column for Bloom filters.
pub(crate) fn check_integer_or_text(function: &str, data_type: &DataType) -> Result<()> {
    let is_allowed = |t: &DataType| is_integer(t) || t.is_string();
    check(function, data_type, is_allowed, "TINYINT, SMALLINT, INT, BIGINT and STRING")
}

/// Checks the type of a column for count-min sketches.
pub(crate) fn check_count_min(function: &str, data_type: &DataType) -> Result<()> {
    let is_allowed = |t: &DataType| is_integer(t) || t.is_string() || t.is_binary();
    check(function, data_type, is_allowed, "TINYINT, SMALLINT, INT, BIGINT, STRING and BINARY")
}
