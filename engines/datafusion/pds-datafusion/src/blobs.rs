//! Columns of bytes, in any of Arrow's encodings.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};

/// A column of bytes.
#[derive(Debug)]
pub(crate) struct Blobs(BinaryViewArray);

impl Blobs {
    // A cast from the other encodings copies no bytes of the values.
    pub(crate) fn new(array: &ArrayRef) -> Result<Self> {
        Ok(Self(cast(array, &DataType::BinaryView)?.as_binary_view().clone()))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the bytes of a row. `None` if it is null.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

/// Refuses bytes that are too many for a value of Arrow, which would panic.
pub(crate) fn check_length(function: &str, length: usize) -> Result<()> {
    match u32::try_from(length) {
        Ok(_) => Ok(()),
        Err(_) => exec_err!("{function}: a value of {length} bytes; allowed are {}", u32::MAX),
    }
}

/// Returns bytes as an SQL value.
pub(crate) fn blob_value(function: &str, bytes: Option<Vec<u8>>) -> Result<ScalarValue> {
    check_length(function, bytes.as_ref().map_or(0, Vec::len))?;
    Ok(ScalarValue::BinaryView(bytes))
}

/// Refuses a type that holds no sketches.
pub(crate) fn check_blob(function: &str, argument: &str, data_type: &DataType) -> Result<()> {
    if data_type.is_binary() || *data_type == DataType::Null {
        return Ok(());
    }
    plan_err!(
        "{function}: {argument} is of type {data_type}; it must be BINARY, the bytes of a sketch"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_their_lengths_do() {
        assert!(check_length("f", u32::MAX as usize).is_ok());
        let error = check_length("f", 1 << 32).unwrap_err().strip_backtrace();
        assert!(
            error.contains("f: a value of 4294967296 bytes; allowed are 4294967295"),
            "{error}"
        );
    }
}
