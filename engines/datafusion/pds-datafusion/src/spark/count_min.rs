//! Count-min sketches of Spark.

use std::ops::RangeInclusive;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_datafusion_err};
use pds_formats::spark::SparkCountMin;

use super::bloom::key_of;
use super::column::{Column, check_count_min};
use crate::blobs::blob_value;
use crate::call::Call;
use crate::fold::Fold;
use crate::sketch::bad_sketch;

/// Builds a sketch.
#[derive(Debug)]
pub(crate) struct Build {
    function: &'static str,
    error: f64,
    confidence: f64,
    seed: i32,
}

impl Build {
    fn empty(&self) -> Result<SparkCountMin> {
        SparkCountMin::new(self.error, self.confidence, self.seed)
            .map_err(|error| exec_datafusion_err!("{}: {error}", self.function))
    }
}

impl Fold for Build {
    type Column = Column;
    type State = SparkCountMin;

    const COUNTS: bool = true;
    const NUM_ARGS: RangeInclusive<usize> = 4..=4;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_count_min(function, &types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        let seed = call.whole(3, "seed", i32::MIN.into()..=i32::MAX.into())?;
        let this = Self {
            function: call.function,
            error: call.required("eps", call.number(1, "eps")?)?,
            confidence: call.required("confidence", call.number(2, "confidence")?)?,
            seed: call.required("seed", seed.and_then(|seed| i32::try_from(seed).ok()))?,
        };
        // Refuses parameters out of range before any row is read.
        this.empty()?;
        Ok(this)
    }

    fn column(&self, array: &ArrayRef) -> Result<Column> {
        Column::new(array)
    }

    fn fold(&self, state: &mut Option<SparkCountMin>, column: &Column, row: usize) -> Result<()> {
        if state.is_none() {
            *state = Some(self.empty()?);
        }
        if let Some(sketch) = state {
            sketch.insert(key_of(column.value(row)), 1);
        }
        Ok(())
    }

    fn merge(&self, state: &mut Option<SparkCountMin>, other: SparkCountMin) -> Result<()> {
        match state {
            Some(sketch) => {
                sketch.merge(&other).map_err(|e| bad_sketch(self.function, "a state", 0, e))?;
            }
            None => *state = Some(other),
        }
        Ok(())
    }

    fn write_state(&self, state: &SparkCountMin) -> Vec<u8> {
        state.to_bytes()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<SparkCountMin> {
        SparkCountMin::from_bytes(bytes).map_err(|e| bad_sketch(self.function, "a state", 0, e))
    }

    fn heap_bytes(&self, state: &SparkCountMin) -> usize {
        size_of_val(state.counters())
    }

    fn finish(&self, state: Option<&SparkCountMin>) -> Result<ScalarValue> {
        let bytes = match state {
            Some(sketch) => sketch.to_bytes(),
            None => self.empty()?.to_bytes(),
        };
        blob_value(self.function, Some(bytes))
    }
}
