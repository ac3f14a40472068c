//! Theta sketches of DataSketches.

use std::ops::RangeInclusive;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, ScalarValue, exec_err};
use theta::{CompactThetaSketch, ThetaHasher, ThetaParams, ThetaSet, ThetaSketch, ThetaUnion};

use super::column::{Column, Value, check_theta};
use crate::blobs::{Blobs, check_blob};
use crate::call::Call;
use crate::fold::Fold;
use crate::scalar::{Batch, blob_array, of_pairs, of_sketches};
use crate::sketch::bad_sketch;

const DEFAULT_LG_SIZE: i64 = 12;

fn params_of(lg_size: i64) -> Option<ThetaParams> {
    let lg_size = u32::try_from(lg_size).ok().filter(|lg_size| (4..=26).contains(lg_size))?;
    ThetaParams::new(1 << lg_size).ok()
}

fn params(call: &Call) -> Result<ThetaParams> {
    let lg_size = call.whole(1, "lgNomEntries", 4..=26)?.unwrap_or(DEFAULT_LG_SIZE);
    call.required("lgNomEntries", params_of(lg_size))
}

fn read(function: &str, argument: &str, row: usize, bytes: &[u8]) -> Result<CompactThetaSketch> {
    CompactThetaSketch::from_bytes(bytes)
        .map_err(|error| bad_sketch(function, argument, row, error))
}

/// Builds a sketch.
#[derive(Debug)]
pub(crate) struct Build {
    function: &'static str,
    params: ThetaParams,
}

impl Fold for Build {
    type Column = Column;
    type State = ThetaSketch;

    const NUM_ARGS: RangeInclusive<usize> = 1..=2;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_theta(function, &types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        Ok(Self { function: call.function, params: params(call)? })
    }

    fn column(&self, array: &ArrayRef) -> Result<Column> {
        Column::new(array)
    }

    fn fold(&self, state: &mut Option<ThetaSketch>, column: &Column, row: usize) -> Result<()> {
        let sketch = state
            .get_or_insert_with(|| ThetaSketch::from_params(self.params, ThetaHasher::default()));
        match column.value(row) {
            Value::Long(number) => sketch.insert(&number),
            Value::Double(number) => sketch.insert(&number),
            Value::Text(text) => sketch.insert(text),
            Value::Bytes(bytes) => sketch.insert(bytes),
        };
        Ok(())
    }

    fn merge(&self, state: &mut Option<ThetaSketch>, other: ThetaSketch) -> Result<()> {
        match state {
            Some(sketch) => {
                sketch.merge(&other).map_err(|e| bad_sketch(self.function, "a state", 0, e))?;
            }
            None => *state = Some(other),
        }
        Ok(())
    }

    fn write_state(&self, state: &ThetaSketch) -> Vec<u8> {
        state.to_compact().to_bytes()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<ThetaSketch> {
        Ok(ThetaSketch::resume(&read(self.function, "a state", 0, bytes)?, self.params))
    }

    fn heap_bytes(&self, state: &ThetaSketch) -> usize {
        usize::try_from(state.size_in_bytes()).unwrap_or(usize::MAX)
    }

    fn finish(&self, state: Option<&ThetaSketch>) -> Result<ScalarValue> {
        let mut sketch = match state {
            Some(sketch) => sketch.clone(),
            None => ThetaSketch::from_params(self.params, ThetaHasher::default()),
        };
        // The remaining hashes do not depend on the order of the rows.
        sketch.trim();
        Ok(ScalarValue::BinaryView(Some(sketch.to_compact().to_compressed_bytes())))
    }
}

/// Merges sketches.
#[derive(Debug)]
pub(crate) struct Union {
    function: &'static str,
    params: ThetaParams,
}

impl Union {
    fn empty(&self) -> ThetaUnion {
        ThetaUnion::new(self.params, ThetaHasher::default())
    }

    fn add(&self, state: &mut Option<ThetaUnion>, row: usize, other: &impl ThetaSet) -> Result<()> {
        let added = state.get_or_insert_with(|| self.empty()).add(other);
        added.map_err(|error| bad_sketch(self.function, "the sketch", row, error))
    }
}

impl Fold for Union {
    type Column = Blobs;
    type State = ThetaUnion;

    const NUM_ARGS: RangeInclusive<usize> = 1..=2;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_blob(function, "the sketch", &types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        Ok(Self { function: call.function, params: params(call)? })
    }

    fn column(&self, array: &ArrayRef) -> Result<Blobs> {
        Blobs::new(array)
    }

    fn fold(&self, state: &mut Option<ThetaUnion>, column: &Blobs, row: usize) -> Result<()> {
        let Some(bytes) = column.get(row) else { return Ok(()) };
        self.add(state, row, &read(self.function, "the sketch", row, bytes)?)
    }

    fn merge(&self, state: &mut Option<ThetaUnion>, other: ThetaUnion) -> Result<()> {
        self.add(state, 0, &other)
    }

    fn write_state(&self, state: &ThetaUnion) -> Vec<u8> {
        state.to_compact().to_bytes()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<ThetaUnion> {
        let mut state = None;
        self.add(&mut state, 0, &read(self.function, "a state", 0, bytes)?)?;
        Ok(state.unwrap_or_else(|| self.empty()))
    }

    // The hashes, and memory for the next operand and the next result.
    fn heap_bytes(&self, state: &ThetaUnion) -> usize {
        3 * state.num_retained() * size_of::<u64>()
    }

    fn finish(&self, state: Option<&ThetaUnion>) -> Result<ScalarValue> {
        let compact = state.map_or_else(|| self.empty().to_compact(), ThetaSet::to_compact);
        Ok(ScalarValue::BinaryView(Some(compact.to_compressed_bytes())))
    }
}

/// Intersects sketches. The intersection of none is NULL.
#[derive(Debug)]
pub(crate) struct Intersection {
    function: &'static str,
}

impl Intersection {
    fn add(
        &self,
        state: &mut Option<CompactThetaSketch>,
        row: usize,
        other: CompactThetaSketch,
    ) -> Result<()> {
        *state = Some(match state.take() {
            Some(sketch) => sketch
                .intersection(&other)
                .map_err(|error| bad_sketch(self.function, "the sketch", row, error))?,
            None => other,
        });
        Ok(())
    }
}

impl Fold for Intersection {
    type Column = Blobs;
    type State = CompactThetaSketch;

    const NUM_ARGS: RangeInclusive<usize> = 1..=1;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_blob(function, "the sketch", &types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        Ok(Self { function: call.function })
    }

    fn column(&self, array: &ArrayRef) -> Result<Blobs> {
        Blobs::new(array)
    }

    fn fold(
        &self,
        state: &mut Option<CompactThetaSketch>,
        column: &Blobs,
        row: usize,
    ) -> Result<()> {
        let Some(bytes) = column.get(row) else { return Ok(()) };
        self.add(state, row, read(self.function, "the sketch", row, bytes)?)
    }

    fn merge(
        &self,
        state: &mut Option<CompactThetaSketch>,
        other: CompactThetaSketch,
    ) -> Result<()> {
        self.add(state, 0, other)
    }

    fn write_state(&self, state: &CompactThetaSketch) -> Vec<u8> {
        state.to_bytes()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<CompactThetaSketch> {
        read(self.function, "a state", 0, bytes)
    }

    fn heap_bytes(&self, state: &CompactThetaSketch) -> usize {
        size_of_val(state.hashes())
    }

    fn finish(&self, state: Option<&CompactThetaSketch>) -> Result<ScalarValue> {
        Ok(ScalarValue::BinaryView(state.map(CompactThetaSketch::to_compressed_bytes)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "far below 2^63")]
pub(crate) fn estimate(batch: &Batch) -> Result<ArrayRef> {
    let estimates = of_sketches(batch, |row, bytes| {
        Ok(read(batch.function, "the sketch", row, bytes)?.estimate().round() as i64)
    })?;
    Ok(Arc::new(Int64Array::from(estimates)))
}

fn operation(
    batch: &Batch,
    operation: impl Fn(usize, CompactThetaSketch, CompactThetaSketch) -> Result<CompactThetaSketch>,
) -> Result<ArrayRef> {
    let results = of_pairs(batch, |row, left, right| {
        let left = read(batch.function, "the first sketch", row, left)?;
        let right = read(batch.function, "the second sketch", row, right)?;
        Ok(operation(row, left, right)?.to_compressed_bytes())
    })?;
    Ok(blob_array(results))
}

pub(crate) fn union(batch: &Batch) -> Result<ArrayRef> {
    let sizes = batch.args.first().map(|rows| (rows, rows.array().as_primitive::<Int64Type>()));
    operation(batch, |row, left, right| {
        let size = match sizes {
            Some((rows, sizes)) => {
                let at = rows.at(row);
                sizes.is_valid(at).then(|| sizes.value(at))
            }
            None => Some(DEFAULT_LG_SIZE),
        };
        let Some(params) = size.and_then(params_of) else {
            let size = size.map_or("NULL".to_owned(), |size| size.to_string());
            return exec_err!(
                "{}: lgNomEntries is {size}; it must be a whole number from 4 to 26",
                batch.function
            );
        };
        let refused = |error| bad_sketch(batch.function, "the second sketch", row, error);
        let mut union = ThetaUnion::new(params, ThetaHasher::default());
        union.add(&left).and_then(|()| union.add(&right)).map_err(refused)?;
        Ok(union.to_compact())
    })
}

pub(crate) fn intersection(batch: &Batch) -> Result<ArrayRef> {
    operation(batch, |row, left, right| {
        left.intersection(&right)
            .map_err(|error| bad_sketch(batch.function, "the second sketch", row, error))
    })
}

pub(crate) fn difference(batch: &Batch) -> Result<ArrayRef> {
    operation(batch, |row, left, right| {
        left.difference(&right)
            .map_err(|error| bad_sketch(batch.function, "the second sketch", row, error))
    })
}
