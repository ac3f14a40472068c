//! Aggregate functions that merge a column of sketches of this family.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};

use crate::blobs::{Blobs, check_blob};
use crate::call::Call;
use crate::fold::Fold;
use crate::sketch::{Sketch, bad_sketch};

/// The union of sketches of one kind. That of none is NULL: no sketch says with which parameters it would be empty.
#[derive(Debug)]
pub(crate) struct Union<S> {
    function: &'static str,
    sketch: PhantomData<fn() -> S>,
}

impl<S: Sketch> Fold for Union<S> {
    type Column = Blobs;
    type State = S;

    const COUNTS: bool = S::COUNTS;
    const NUM_ARGS: RangeInclusive<usize> = 1..=1;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_blob(function, "the sketch", &types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        Ok(Self { function: call.function, sketch: PhantomData })
    }

    fn column(&self, array: &ArrayRef) -> Result<Blobs> {
        Blobs::new(array)
    }

    fn fold(&self, state: &mut Option<S>, column: &Blobs, row: usize) -> Result<()> {
        let Some(bytes) = column.get(row) else { return Ok(()) };
        let refused = |error| bad_sketch(self.function, "the sketch", row, error);
        let other = S::from_bytes(bytes).map_err(|error| refused(error.to_string()))?;
        union(state, other).map_err(|error| refused(error.to_string()))
    }

    fn merge(&self, state: &mut Option<S>, other: S) -> Result<()> {
        union(state, other).map_err(|error| bad_sketch(self.function, "a state", 0, error))
    }

    fn write_state(&self, state: &S) -> Vec<u8> {
        state.to_bytes()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<S> {
        S::from_bytes(bytes).map_err(|error| bad_sketch(self.function, "a state", 0, error))
    }

    fn heap_bytes(&self, state: &S) -> usize {
        state.heap_bytes()
    }

    fn finish(&self, state: Option<&S>) -> Result<ScalarValue> {
        Ok(ScalarValue::BinaryView(state.map(S::to_bytes)))
    }
}

fn union<S: Sketch>(state: &mut Option<S>, other: S) -> Result<(), pds_core::error::Incompatible> {
    match state {
        Some(sketch) => sketch.union(&other),
        None => {
            *state = Some(other);
            Ok(())
        }
    }
}
