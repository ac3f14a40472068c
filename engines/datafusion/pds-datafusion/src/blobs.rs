//! Columns of bytes, in any of Arrow's encodings.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};

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

/// Refuses a type that holds no sketches.
pub(crate) fn check_blob(function: &str, argument: &str, data_type: &DataType) -> Result<()> {
    if data_type.is_binary() || *data_type == DataType::Null {
        return Ok(());
    }
    plan_err!(
        "{function}: {argument} is of type {data_type}; it must be BINARY, the bytes of a sketch"
    )
}
