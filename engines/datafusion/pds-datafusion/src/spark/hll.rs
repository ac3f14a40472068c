//! HLL sketches of DataSketches.

use std::ops::RangeInclusive;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use pds_formats::datasketches::{DataSketchesHll, HllRegisters};

use super::column::{Column, Value, check_hll};
use crate::blobs::{Blobs, check_blob};
use crate::call::Call;
use crate::fold::Fold;
use crate::scalar::{Batch, blob_array, of_pairs, of_sketches};
use crate::sketch::bad_sketch;

const DEFAULT_LG_K: u8 = 12;
/// That of Spark.
const WIDTH: HllRegisters = HllRegisters::Hll8;

fn empty(lg_k: u8) -> Result<DataSketchesHll> {
    match DataSketchesHll::new(lg_k, WIDTH) {
        Ok(sketch) => Ok(sketch),
        Err(error) => exec_err!("{error}"),
    }
}

fn read(function: &str, argument: &str, row: usize, bytes: &[u8]) -> Result<DataSketchesHll> {
    let mut sketch = DataSketchesHll::from_bytes(bytes)
        .map_err(|error| bad_sketch(function, argument, row, error))?;
    sketch.set_width(WIDTH);
    Ok(sketch)
}

/// Refuses to merge sketches of different sizes that the caller did not expect.
fn check_sizes(function: &str, [left, right]: [u8; 2], allow_different: bool) -> Result<()> {
    if allow_different || left == right {
        return Ok(());
    }
    exec_err!(
        "{function}: sketches with lgConfigK {left} and {right}; pass true as allowDifferentLgConfigK to merge them"
    )
}

/// A sketch with an upper bound of its memory, which takes no time to know.
#[derive(Debug)]
pub(crate) struct Sketch {
    sketch: DataSketchesHll,
    heap_bytes: usize,
}

impl Sketch {
    /// The first table of coupons in bytes.
    const LEAST: usize = 128;
    /// Bytes per coupon: they are 4 bytes, and a table is at least 3/8 full.
    const PER_COUPON: usize = 11;
    /// The same for each byte that was read, of compact coupons or of registers of four bits.
    const PER_BYTE: usize = 3;

    fn empty(lg_k: u8) -> Result<Self> {
        Ok(Self { sketch: empty(lg_k)?, heap_bytes: Self::LEAST })
    }

    fn read(function: &str, argument: &str, row: usize, bytes: &[u8]) -> Result<Self> {
        let sketch = read(function, argument, row, bytes)?;
        Ok(Self { sketch, heap_bytes: Self::LEAST }.grown(Self::PER_BYTE * bytes.len()))
    }

    fn grown(mut self, bytes: usize) -> Self {
        self.grow(bytes);
        self
    }

    fn grow(&mut self, bytes: usize) {
        let full = Self::LEAST.max(1 << self.sketch.lg_k());
        self.heap_bytes = full.min(self.heap_bytes + bytes);
    }

    fn insert(&mut self, value: Value<'_>) {
        let changed = match value {
            Value::Long(number) => self.sketch.insert(number),
            Value::Double(number) => self.sketch.insert(number),
            Value::Text(text) => self.sketch.insert(text),
            Value::Bytes(bytes) => self.sketch.insert(bytes),
        };
        if changed {
            self.grow(Self::PER_COUPON);
        }
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.sketch = union_of(&self.sketch, &other.sketch)?;
        self.grow(other.heap_bytes);
        Ok(())
    }
}

/// Returns the union of two sketches, with the lower lgConfigK, whichever comes first.
// A merge keeps the size of a sketch while the other one has only coupons.
fn union_of(left: &DataSketchesHll, right: &DataSketchesHll) -> Result<DataSketchesHll> {
    if left.lg_k() <= right.lg_k() {
        let mut union = left.clone();
        union.merge(right);
        return Ok(union);
    }
    let mut union = empty(right.lg_k())?;
    union.merge(left);
    union.merge(right);
    Ok(union)
}

fn merge(state: &mut Option<Sketch>, other: Sketch) -> Result<()> {
    match state {
        Some(sketch) => sketch.merge(&other),
        None => {
            *state = Some(other);
            Ok(())
        }
    }
}

/// Builds a sketch.
#[derive(Debug)]
pub(crate) struct Build {
    function: &'static str,
    lg_k: u8,
}

impl Fold for Build {
    type Column = Column;
    type State = Sketch;

    const NUM_ARGS: RangeInclusive<usize> = 1..=2;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_hll(function, &types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        let lg_k = call.whole(1, "lgConfigK", 4..=21)?;
        let lg_k = lg_k.and_then(|lg_k| u8::try_from(lg_k).ok()).unwrap_or(DEFAULT_LG_K);
        Ok(Self { function: call.function, lg_k })
    }

    fn column(&self, array: &ArrayRef) -> Result<Column> {
        Column::new(array)
    }

    fn fold(&self, state: &mut Option<Sketch>, column: &Column, row: usize) -> Result<()> {
        if state.is_none() {
            *state = Some(Sketch::empty(self.lg_k)?);
        }
        if let Some(sketch) = state {
            sketch.insert(column.value(row));
        }
        Ok(())
    }

    fn merge(&self, state: &mut Option<Sketch>, other: Sketch) -> Result<()> {
        merge(state, other)
    }

    fn write_state(&self, state: &Sketch) -> Vec<u8> {
        state.sketch.to_compact_bytes()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<Sketch> {
        Sketch::read(self.function, "a state", 0, bytes)
    }

    fn heap_bytes(&self, state: &Sketch) -> usize {
        state.heap_bytes
    }

    fn finish(&self, state: Option<&Sketch>) -> Result<ScalarValue> {
        let bytes = match state {
            Some(state) => state.sketch.to_updatable_bytes(),
            None => empty(self.lg_k)?.to_updatable_bytes(),
        };
        Ok(ScalarValue::BinaryView(Some(bytes)))
    }
}

/// Merges sketches.
#[derive(Debug)]
pub(crate) struct Union {
    function: &'static str,
    allow_different: bool,
}

impl Union {
    fn add(&self, state: &mut Option<Sketch>, other: Sketch) -> Result<()> {
        if let Some(sketch) = state {
            let sizes = [&*sketch, &other].map(|sketch| sketch.sketch.lg_k());
            check_sizes(self.function, sizes, self.allow_different)?;
        }
        merge(state, other)
    }
}

impl Fold for Union {
    type Column = Blobs;
    type State = Sketch;

    const NUM_ARGS: RangeInclusive<usize> = 1..=2;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_blob(function, "the sketch", &types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        let allow_different = call.flag(1, "allowDifferentLgConfigK")?.unwrap_or(false);
        Ok(Self { function: call.function, allow_different })
    }

    fn column(&self, array: &ArrayRef) -> Result<Blobs> {
        Blobs::new(array)
    }

    fn fold(&self, state: &mut Option<Sketch>, column: &Blobs, row: usize) -> Result<()> {
        let Some(bytes) = column.get(row) else { return Ok(()) };
        self.add(state, Sketch::read(self.function, "the sketch", row, bytes)?)
    }

    fn merge(&self, state: &mut Option<Sketch>, other: Sketch) -> Result<()> {
        self.add(state, other)
    }

    fn write_state(&self, state: &Sketch) -> Vec<u8> {
        state.sketch.to_compact_bytes()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<Sketch> {
        Sketch::read(self.function, "a state", 0, bytes)
    }

    fn heap_bytes(&self, state: &Sketch) -> usize {
        state.heap_bytes
    }

    fn finish(&self, state: Option<&Sketch>) -> Result<ScalarValue> {
        let bytes = match state {
            Some(state) => state.sketch.to_updatable_bytes(),
            None => empty(DEFAULT_LG_K)?.to_updatable_bytes(),
        };
        Ok(ScalarValue::BinaryView(Some(bytes)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "far below 2^63")]
pub(crate) fn estimate(batch: &Batch) -> Result<ArrayRef> {
    let estimates = of_sketches(batch, |row, bytes| {
        let sketch = read(batch.function, "the sketch", row, bytes)?;
        Ok(sketch.estimate().value.round() as i64)
    })?;
    Ok(Arc::new(Int64Array::from(estimates)))
}

pub(crate) fn union(batch: &Batch) -> Result<ArrayRef> {
    let flags = batch.args.first().map(|rows| (rows, rows.array().as_boolean()));
    let unions = of_pairs(batch, |row, left, right| {
        let allow_different = match flags {
            Some((rows, flags)) if flags.is_null(rows.at(row)) => {
                return plan_err!("{}: allowDifferentLgConfigK is NULL", batch.function);
            }
            Some((rows, flags)) => flags.value(rows.at(row)),
            None => false,
        };
        let left = read(batch.function, "the first sketch", row, left)?;
        let right = read(batch.function, "the second sketch", row, right)?;
        check_sizes(batch.function, [left.lg_k(), right.lg_k()], allow_different)?;
        Ok(union_of(&left, &right)?.to_updatable_bytes())
    })?;
    Ok(blob_array(unions))
}
