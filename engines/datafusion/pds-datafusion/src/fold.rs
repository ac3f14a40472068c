//! Aggregate functions that take rows one by one: unions, and the sketches of other systems.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BinaryViewBuilder, BooleanArray, new_empty_array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator,
    Signature, Volatility,
};

use crate::blobs::{Blobs, blob_value, check_length};
use crate::call::{Call, bind, check_count};
use crate::help::{Help, documentation};

/// The work of an aggregate function on its rows, with the parameters of a call.
pub(crate) trait Fold: Debug + Send + Sync + Sized + 'static {
    /// The rows of a batch.
    type Column;
    /// The state of a group's rows. A group without rows has none.
    type State: Debug + Send + Sync + 'static;

    /// The number of arguments.
    const NUM_ARGS: RangeInclusive<usize>;
    /// Whether null rows are taken.
    const TAKES_NULLS: bool = false;

    /// Whether the result depends on how often a row occurs.
    const COUNTS: bool = false;

    /// Refuses types of arguments.
    fn check_types(function: &str, types: &[DataType]) -> Result<()>;

    /// Returns the types that the arguments are converted to.
    fn coerce(types: &[DataType]) -> Vec<DataType> {
        types.to_vec()
    }

    /// Returns the type of the result.
    fn return_type(_types: &[DataType]) -> DataType {
        DataType::BinaryView
    }

    fn of_call(call: &Call) -> Result<Self>;

    fn column(&self, array: &ArrayRef) -> Result<Self::Column>;

    /// Takes a row of a column.
    fn fold(
        &self,
        state: &mut Option<Self::State>,
        column: &Self::Column,
        row: usize,
    ) -> Result<()>;

    /// Takes what another accumulator made of its rows.
    fn merge(&self, state: &mut Option<Self::State>, other: Self::State) -> Result<()>;

    /// Returns the bytes of a state for another accumulator.
    fn write_state(&self, state: &Self::State) -> Vec<u8>;

    fn read_state(&self, bytes: &[u8]) -> Result<Self::State>;

    fn heap_bytes(&self, state: &Self::State) -> usize;

    /// Returns the result of a group.
    fn finish(&self, state: Option<&Self::State>) -> Result<ScalarValue>;
}

/// The aggregate function of a [`Fold`].
pub(crate) struct Folding<F> {
    help: &'static Help,
    signature: Signature,
    documentation: Documentation,
    /// The work of the call, once the optimizer has seen it.
    bound: Option<F>,
}

impl<F: Fold> Folding<F> {
    pub(crate) fn udaf(help: &'static Help) -> AggregateUDF {
        Self::of(help, None)
    }

    fn of(help: &'static Help, bound: Option<F>) -> AggregateUDF {
        AggregateUDF::new_from_impl(Self {
            help,
            signature: Signature::user_defined(Volatility::Immutable),
            documentation: documentation(help),
            bound,
        })
    }

    fn fold(call: &Call) -> Result<F> {
        call.check_distinct(F::COUNTS)?;
        F::of_call(call)
    }

    fn fold_of_execution(&self, args: &AccumulatorArgs<'_>) -> Result<F> {
        Self::fold(&Call::of_execution(self.help.name, args))
    }
}

impl<F> Debug for Folding<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.help.name)
    }
}

impl<F> PartialEq for Folding<F> {
    fn eq(&self, other: &Self) -> bool {
        self.help.name == other.help.name
    }
}

impl<F> Eq for Folding<F> {}

impl<F> Hash for Folding<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.help.name.hash(state);
    }
}

impl<F: Fold> AggregateUDFImpl for Folding<F> {
    fn name(&self) -> &str {
        self.help.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        check_count(self.help.name, self.help.syntax, &F::NUM_ARGS, types.len())?;
        F::check_types(self.help.name, types)?;
        Ok(F::coerce(types))
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(F::return_type(types))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format_state_name(args.name, "sketch");
        Ok(vec![Arc::new(Field::new(name, DataType::BinaryView, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let fold = self.fold_of_execution(&args)?;
        Ok(Box::new(One { function: self.help.name, fold, state: None }))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let return_type = args.return_type().clone();
        Ok(Box::new(Many {
            function: self.help.name,
            fold: self.fold_of_execution(&args)?,
            return_type,
            states: Vec::new(),
            state_bytes: 0,
        }))
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        let help = self.help;
        let bound = move |call: &Call| Ok(Self::of(help, Some(Self::fold(call)?)));
        self.bound.is_none().then(|| bind(help.name, bound))
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        match &self.bound {
            Some(fold) => fold.finish(None),
            None => ScalarValue::try_from(data_type),
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }
}

/// The accumulator without groups.
#[derive(Debug)]
struct One<F: Fold> {
    function: &'static str,
    fold: F,
    state: Option<F::State>,
}

impl<F: Fold> Accumulator for One<F> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = self.fold.column(&values[0])?;
        let nulls = values[0].logical_nulls();
        for row in 0..values[0].len() {
            if F::TAKES_NULLS || nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                self.fold.fold(&mut self.state, &column, row)?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.fold.finish(self.state.as_ref())
    }

    fn size(&self) -> usize {
        let state = self.state.as_ref();
        size_of_val(self) + state.map_or(0, |state| self.fold.heap_bytes(state))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let state = self.state.as_ref().map(|state| self.fold.write_state(state));
        Ok(vec![blob_value(self.function, state)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let blobs = Blobs::new(&states[0])?;
        for row in 0..blobs.len() {
            if let Some(bytes) = blobs.get(row) {
                self.fold.merge(&mut self.state, self.fold.read_state(bytes)?)?;
            }
        }
        Ok(())
    }
}

/// The accumulator of many groups.
struct Many<F: Fold> {
    function: &'static str,
    fold: F,
    return_type: DataType,
    states: Vec<Option<F::State>>,
    /// Memory that the states own in bytes.
    state_bytes: usize,
}

impl<F: Fold> Many<F> {
    fn resize(&mut self, total: usize) {
        if total > self.states.len() {
            self.states.resize_with(total, || None);
        }
    }

    /// Changes the state of a group, and counts its memory.
    fn change(
        &mut self,
        group: usize,
        change: impl FnOnce(&F, &mut Option<F::State>) -> Result<()>,
    ) -> Result<()> {
        let Self { fold, states, state_bytes, .. } = self;
        let state = &mut states[group];
        *state_bytes -= state.as_ref().map_or(0, |state| fold.heap_bytes(state));
        let result = change(fold, state);
        *state_bytes += state.as_ref().map_or(0, |state| fold.heap_bytes(state));
        result
    }

    fn take(&mut self, emit_to: EmitTo) -> Vec<Option<F::State>> {
        let taken = emit_to.take_needed(&mut self.states);
        let bytes: usize = taken.iter().flatten().map(|state| self.fold.heap_bytes(state)).sum();
        self.state_bytes -= bytes;
        taken
    }
}

impl<F: Fold> GroupsAccumulator for Many<F> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.resize(total);
        let column = self.fold.column(&values[0])?;
        let rows = Rows::<F>::new(&values[0], filter);
        for (row, &group) in group_indices.iter().enumerate() {
            if rows.has(row) {
                self.change(group, |fold, state| fold.fold(state, &column, row))?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let states = self.take(emit_to);
        if states.is_empty() {
            return Ok(new_empty_array(&self.return_type));
        }
        let values: Result<Vec<_>> =
            states.iter().map(|state| self.fold.finish(state.as_ref())).collect();
        ScalarValue::iter_to_array(values?)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut states = BinaryViewBuilder::new();
        for state in self.take(emit_to) {
            let state = state.map(|state| self.fold.write_state(&state));
            check_length(self.function, state.as_ref().map_or(0, Vec::len))?;
            states.append_option(state);
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total: usize,
    ) -> Result<()> {
        self.resize(total);
        let blobs = Blobs::new(&values[0])?;
        for (row, &group) in group_indices.iter().enumerate() {
            if let Some(bytes) = blobs.get(row) {
                self.change(group, |fold, state| fold.merge(state, fold.read_state(bytes)?))?;
            }
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let column = self.fold.column(&values[0])?;
        let rows = Rows::<F>::new(&values[0], filter);
        let mut states = BinaryViewBuilder::new();
        for row in 0..values[0].len() {
            let mut state = None;
            if rows.has(row) {
                self.fold.fold(&mut state, &column, row)?;
            }
            states.append_option(state.map(|state| self.fold.write_state(&state)));
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn size(&self) -> usize {
        size_of_val(self)
            + self.states.capacity() * size_of::<Option<F::State>>()
            + self.state_bytes
    }
}

/// Which rows of a batch are taken.
struct Rows<'a, F> {
    nulls: Option<datafusion::arrow::buffer::NullBuffer>,
    filter: Option<&'a BooleanArray>,
    fold: PhantomData<F>,
}

impl<'a, F: Fold> Rows<'a, F> {
    fn new(array: &ArrayRef, filter: Option<&'a BooleanArray>) -> Self {
        let nulls = if F::TAKES_NULLS { None } else { array.logical_nulls() };
        Self { nulls, filter, fold: PhantomData }
    }

    fn has(&self, row: usize) -> bool {
        let is_wanted = self.filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        is_wanted && self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
    }
}
