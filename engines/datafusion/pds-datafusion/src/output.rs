//! The result of an aggregate function, from the sketch that it built.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{ArrayRef, BinaryViewBuilder, Float64Builder, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err};
use hll::HyperLogLog;

use crate::call::Call;
use crate::sketch::Sketch;

/// A column of results.
pub(crate) trait Output<S: Sketch>: Debug + Send + Sync + Sized + 'static {
    /// The number of parameters after those of the sketch.
    const NUM_PARAMS: usize;
    type Column;

    /// Reads the parameters of a call, the first of which is at `index`.
    fn of_call(call: &Call, index: usize) -> Result<Self>;

    fn data_type() -> DataType;

    fn column(&self) -> Self::Column;

    fn push(&self, function: &str, column: &mut Self::Column, sketch: &S) -> Result<()>;

    fn finish(column: Self::Column) -> Result<ArrayRef>;

    fn scalar(&self, function: &str, sketch: &S) -> Result<ScalarValue> {
        let mut column = self.column();
        self.push(function, &mut column, sketch)?;
        ScalarValue::try_from_array(&Self::finish(column)?, 0)
    }
}

/// The portable bytes.
#[derive(Debug)]
pub(crate) struct Bytes;

impl<S: Sketch> Output<S> for Bytes {
    const NUM_PARAMS: usize = 0;
    type Column = BinaryViewBuilder;

    fn of_call(_: &Call, _: usize) -> Result<Self> {
        Ok(Self)
    }

    fn data_type() -> DataType {
        DataType::BinaryView
    }

    fn column(&self) -> BinaryViewBuilder {
        BinaryViewBuilder::new()
    }

    fn push(&self, function: &str, column: &mut BinaryViewBuilder, sketch: &S) -> Result<()> {
        let bytes = sketch.to_bytes();
        let too_long =
            |e| exec_datafusion_err!("{function}: a sketch of {} bytes: {e}", bytes.len());
        column.try_append_value(&bytes).map_err(too_long)
    }

    fn finish(mut column: BinaryViewBuilder) -> Result<ArrayRef> {
        Ok(Arc::new(column.finish()))
    }
}

const DEFAULT_CONFIDENCE: f64 = 0.95;

/// The estimate of distinct keys, and an interval that holds their number with a given probability.
#[derive(Debug)]
pub(crate) struct Interval {
    confidence: f64,
    /// The intervals of sparse sketches by their estimates. Many groups are of the same few sizes.
    known: Mutex<HashMap<u64, [f64; 3]>>,
}

impl Interval {
    fn of(&self, function: &str, sketch: &HyperLogLog) -> Result<[f64; 3]> {
        if sketch.is_dense() {
            return self.compute(function, sketch);
        }
        let key = sketch.estimate().to_bits();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&interval) = known.get(&key) {
            return Ok(interval);
        }
        let interval = self.compute(function, sketch)?;
        known.insert(key, interval);
        Ok(interval)
    }

    fn compute(&self, function: &str, sketch: &HyperLogLog) -> Result<[f64; 3]> {
        let interval = sketch.estimate_interval(self.confidence);
        let interval = interval.map_err(|e| exec_datafusion_err!("{function}: {e}"))?;
        Ok([sketch.estimate(), *interval.start(), *interval.end()])
    }
}

fn interval_fields() -> Fields {
    ["estimate", "lower", "upper"]
        .map(|name| Field::new(name, DataType::Float64, false))
        .to_vec()
        .into()
}

impl Output<HyperLogLog> for Interval {
    const NUM_PARAMS: usize = 1;
    type Column = [Float64Builder; 3];

    fn of_call(call: &Call, index: usize) -> Result<Self> {
        let confidence = call.number(index, "confidence")?.unwrap_or(DEFAULT_CONFIDENCE);
        let this = Self { confidence, known: Mutex::default() };
        // Refuses a confidence out of range before any row is read.
        HyperLogLog::<pds_core::hash::DefaultHashBuilder>::default()
            .estimate_interval(confidence)
            .map_err(|error| call.refused(error))?;
        Ok(this)
    }

    fn data_type() -> DataType {
        DataType::Struct(interval_fields())
    }

    fn column(&self) -> Self::Column {
        Default::default()
    }

    fn push(&self, function: &str, column: &mut Self::Column, sketch: &HyperLogLog) -> Result<()> {
        for (column, number) in column.iter_mut().zip(self.of(function, sketch)?) {
            column.append_value(number);
        }
        Ok(())
    }

    fn finish(column: Self::Column) -> Result<ArrayRef> {
        let arrays = column.map(|mut column| Arc::new(column.finish()) as ArrayRef);
        Ok(Arc::new(StructArray::try_new(interval_fields(), arrays.to_vec(), None)?))
    }
}
