//! Aggregate functions that build a sketch of a column of keys.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BinaryViewBuilder, BooleanArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err};
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator,
    Signature, Volatility,
};

use crate::blobs::Blobs;
use crate::call::{Call, bind, check_count};
use crate::help::{Help, documentation};
use crate::keys::{check_type, hash_rows};
use crate::log::{Arena, List};
use crate::output::Output;
use crate::sketch::{Sketch, bad_sketch, bytes};

/// The first byte of a state: hashes follow, eight bytes each.
const HASHES: u8 = 0;
/// The first byte of a state: the portable bytes of a sketch follow.
const SKETCH: u8 = 1;

/// An aggregate function `name(key, parameters ...)`, which returns an `O` of an `S`.
pub(crate) struct Build<S: Sketch, O> {
    help: &'static Help,
    signature: Signature,
    documentation: Documentation,
    /// The parameters of the call, once the optimizer has seen it.
    bound: Option<(S::Params, O)>,
}

impl<S: Sketch, O: Output<S>> Build<S, O> {
    pub(crate) fn udaf(help: &'static Help) -> AggregateUDF {
        Self::of(help, None)
    }

    fn of(help: &'static Help, bound: Option<(S::Params, O)>) -> AggregateUDF {
        AggregateUDF::new_from_impl(Self {
            help,
            signature: Signature::user_defined(Volatility::Immutable),
            documentation: documentation(help),
            bound,
        })
    }

    fn count() -> RangeInclusive<usize> {
        1 + S::NUM_PARAMS.start()..=1 + S::NUM_PARAMS.end() + O::NUM_PARAMS
    }

    fn params(call: &Call) -> Result<(S::Params, O)> {
        call.check_distinct(S::COUNTS)?;
        Ok((S::params(call)?, O::of_call(call, 1 + S::NUM_PARAMS.end())?))
    }

    fn params_of_execution(&self, args: &AccumulatorArgs<'_>) -> Result<(S::Params, O)> {
        Self::params(&Call::of_execution(self.help.name, args))
    }
}

impl<S: Sketch, O> Debug for Build<S, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.help.name)
    }
}

// A function is its name, so that other processes find it by name alone. Its parameters are those of the call.
impl<S: Sketch, O> PartialEq for Build<S, O> {
    fn eq(&self, other: &Self) -> bool {
        self.help.name == other.help.name
    }
}

impl<S: Sketch, O> Eq for Build<S, O> {}

impl<S: Sketch, O> Hash for Build<S, O> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.help.name.hash(state);
    }
}

impl<S: Sketch, O: Output<S>> AggregateUDFImpl for Build<S, O> {
    fn name(&self) -> &str {
        self.help.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        check_count(self.help.name, self.help.syntax, &Self::count(), types.len())?;
        check_type(self.help.name, &types[0])?;
        Ok(types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(O::data_type())
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format_state_name(args.name, "sketch");
        Ok(vec![Arc::new(Field::new(name, DataType::BinaryView, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let (params, output) = self.params_of_execution(&args)?;
        Ok(Box::new(Single::<S, O> {
            function: self.help.name,
            params,
            output,
            sketch: None,
            hashes: Vec::new(),
        }))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let (params, output) = self.params_of_execution(&args)?;
        Ok(Box::new(Groups::<S, O>::new(self.help.name, params, output)))
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        let help = self.help;
        let bound = move |call: &Call| Ok(Self::of(help, Some(Self::params(call)?)));
        self.bound.is_none().then(|| bind(help.name, bound))
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        match &self.bound {
            Some((params, output)) => output.scalar(self.help.name, &S::empty(*params)?),
            None => ScalarValue::try_from(data_type),
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }
}

/// The keys of a batch: their hashes, and which rows have one.
fn keys_of(
    values: &[ArrayRef],
    filter: Option<&BooleanArray>,
    hashes: &mut Vec<u64>,
) -> Result<Option<NullBuffer>> {
    hash_rows(&values[0], hashes)?;
    // A null in the filter is a no.
    let wanted = filter.map(|filter| match filter.nulls() {
        Some(nulls) => NullBuffer::new(filter.values() & nulls.inner()),
        None => NullBuffer::new(filter.values().clone()),
    });
    Ok(NullBuffer::union(values[0].logical_nulls().as_ref(), wanted.as_ref()))
}

fn is_key(valid: Option<&NullBuffer>, row: usize) -> bool {
    valid.is_none_or(|valid| valid.is_valid(row))
}

/// Reads a state of a sketch, and hands out its hashes or the sketch itself.
fn read_state<S: Sketch>(
    function: &str,
    state: &[u8],
    row: usize,
    on_hashes: impl FnOnce(&mut dyn Iterator<Item = u64>),
    on_sketch: impl FnOnce(S) -> Result<()>,
) -> Result<()> {
    match state.split_first() {
        Some((&HASHES, hashes)) if hashes.len().is_multiple_of(8) => {
            let hashes = hashes.as_chunks().0.iter();
            on_hashes(&mut hashes.map(|&hash| u64::from_le_bytes(hash)));
            Ok(())
        }
        Some((&SKETCH, bytes)) => {
            on_sketch(S::from_bytes(bytes).map_err(|e| bad_sketch(function, "a state", row, e))?)
        }
        _ => Err(exec_datafusion_err!(
            "{function}: a state of {} bytes is none that this function wrote",
            state.len()
        )),
    }
}

fn sketch_state<S: Sketch>(sketch: &S) -> Vec<u8> {
    let mut state = vec![SKETCH];
    state.append(&mut sketch.to_bytes());
    state
}

/// The accumulator without groups.
///
/// The engine reserves what `size` says after a batch. So the keys of the first batch wait until the memory of the sketch is
/// reserved.
#[derive(Debug)]
struct Single<S: Sketch, O> {
    function: &'static str,
    params: S::Params,
    output: O,
    sketch: Option<S>,
    /// The keys that wait while there is no sketch, and those of a batch later on.
    hashes: Vec<u64>,
}

/// Returns the sketch, which is made of the keys that wait if there is none.
fn opened<'a, S: Sketch>(
    sketch: &'a mut Option<S>,
    params: S::Params,
    waiting: &[u64],
) -> Result<&'a mut S> {
    match sketch {
        Some(sketch) => Ok(sketch),
        None => {
            let mut made = S::empty(params)?;
            made.insert_batch(waiting);
            Ok(sketch.insert(made))
        }
    }
}

impl<S: Sketch, O: Output<S>> Accumulator for Single<S, O> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if !self.hashes.is_empty() {
            opened(&mut self.sketch, self.params, &self.hashes)?;
        }
        let valid = keys_of(values, None, &mut self.hashes)?;
        if let Some(valid) = valid.filter(|valid| valid.null_count() > 0) {
            let mut rows = valid.iter();
            self.hashes.retain(|_| rows.next() == Some(true));
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.insert_batch(&self.hashes);
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sketch = opened(&mut self.sketch, self.params, &self.hashes)?;
        self.output.scalar(self.function, sketch)
    }

    fn size(&self) -> usize {
        let sketch = match &self.sketch {
            Some(sketch) => sketch.heap_bytes(),
            None if self.hashes.is_empty() => 0,
            None => bytes(S::full_bytes(self.params)),
        };
        size_of_val(self) + sketch + self.hashes.capacity() * size_of::<u64>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sketch = opened(&mut self.sketch, self.params, &self.hashes)?;
        Ok(vec![ScalarValue::BinaryView(Some(sketch_state(sketch)))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Self { function, params, sketch, hashes, .. } = self;
        let sketch = opened(sketch, *params, hashes)?;
        let blobs = Blobs::new(&states[0])?;
        for row in 0..blobs.len() {
            let Some(state) = blobs.get(row) else { continue };
            hashes.clear();
            read_state(
                function,
                state,
                row,
                |logged| hashes.extend(logged),
                |other: S| {
                    sketch.union(&other).map_err(|e| bad_sketch(function, "a state", row, e))
                },
            )?;
            sketch.insert_batch(hashes);
        }
        Ok(())
    }
}

/// A group: its hashes while they are few, then its sketch.
#[derive(Debug)]
enum Group<S> {
    Few(List),
    Many(Box<S>),
}

/// The accumulator of many groups.
///
/// The sketch of a group is a function of the hashes inserted. So a group of few keys is a list of hashes, and all lists are
/// in one allocation.
struct Groups<S: Sketch, O> {
    function: &'static str,
    params: S::Params,
    output: O,
    /// Number of hashes that a group may have before it becomes a sketch.
    limit: usize,
    groups: Vec<Group<S>>,
    arena: Arena,
    /// Memory of the sketches in bytes.
    sketch_bytes: usize,
    hashes: Vec<u64>,
}

impl<S: Sketch, O: Output<S>> Groups<S, O> {
    /// Lists of hashes grow up to this share of a full sketch.
    const SHARE: u64 = 16;
    const MAX_LIMIT: u64 = 256;

    fn new(function: &'static str, params: S::Params, output: O) -> Self {
        let hashes = S::full_bytes(params) / (Self::SHARE * size_of::<u64>() as u64);
        Self {
            function,
            params,
            output,
            limit: usize::try_from(hashes.clamp(4, Self::MAX_LIMIT)).unwrap_or_default(),
            groups: Vec::new(),
            arena: Arena::default(),
            sketch_bytes: 0,
            hashes: Vec::new(),
        }
    }

    fn resize(&mut self, total: usize) {
        if total > self.groups.len() {
            self.groups.resize_with(total, || Group::Few(List::default()));
        }
    }

    fn insert(&mut self, group: usize, hash: u64) -> Result<()> {
        match &mut self.groups[group] {
            Group::Many(sketch) => {
                let before = sketch.heap_bytes();
                sketch.insert(hash);
                self.sketch_bytes += sketch.heap_bytes();
                self.sketch_bytes -= before;
                return Ok(());
            }
            Group::Few(list) => {
                if !S::COUNTS && self.arena.hashes(*list).contains(&hash) {
                    return Ok(());
                }
                if list.len() < self.limit && self.arena.push(list, hash) {
                    return Ok(());
                }
            }
        }
        self.become_sketch(group)?;
        self.insert(group, hash)
    }

    /// Turns the hashes of a group into a sketch.
    #[cold]
    fn become_sketch(&mut self, group: usize) -> Result<()> {
        if let Group::Few(mut list) = self.groups[group] {
            let sketch = self.sketch_of(list)?;
            self.arena.release(&mut list);
            self.set(group, sketch);
        }
        Ok(())
    }

    fn sketch_of(&self, list: List) -> Result<S> {
        let mut sketch = S::empty(self.params)?;
        sketch.insert_batch(self.arena.hashes(list));
        Ok(sketch)
    }

    fn set(&mut self, group: usize, sketch: S) {
        self.sketch_bytes += size_of::<S>() + sketch.heap_bytes();
        self.groups[group] = Group::Many(Box::new(sketch));
    }

    /// Merges the sketch of another accumulator.
    fn merge(&mut self, group: usize, mut other: S, row: usize) -> Result<()> {
        match &mut self.groups[group] {
            Group::Many(sketch) => {
                let before = sketch.heap_bytes();
                let merged = sketch.union(&other);
                self.sketch_bytes += sketch.heap_bytes();
                self.sketch_bytes -= before;
                merged.map_err(|e| bad_sketch(self.function, "a state", row, e))
            }
            Group::Few(list) => {
                let mut list = *list;
                other.insert_batch(self.arena.hashes(list));
                self.arena.release(&mut list);
                self.set(group, other);
                Ok(())
            }
        }
    }

    /// Takes groups away, and shows each of them.
    fn emit(
        &mut self,
        emit_to: EmitTo,
        mut show: impl FnMut(&Self, &Group<S>) -> Result<()>,
    ) -> Result<()> {
        for mut group in emit_to.take_needed(&mut self.groups) {
            show(self, &group)?;
            match &mut group {
                Group::Few(list) => self.arena.release(list),
                Group::Many(sketch) => {
                    self.sketch_bytes -= size_of::<S>() + sketch.heap_bytes();
                }
            }
        }
        if self.groups.is_empty() {
            self.arena = Arena::default();
        }
        Ok(())
    }
}

impl<S: Sketch, O: Output<S>> GroupsAccumulator for Groups<S, O> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.resize(total);
        let mut hashes = std::mem::take(&mut self.hashes);
        let valid = keys_of(values, filter, &mut hashes)?;
        for (row, (&group, &hash)) in group_indices.iter().zip(&hashes).enumerate() {
            if is_key(valid.as_ref(), row) {
                self.insert(group, hash)?;
            }
        }
        self.hashes = hashes;
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let mut column = self.output.column();
        self.emit(emit_to, |all, group| match group {
            Group::Few(list) => all.output.push(all.function, &mut column, &all.sketch_of(*list)?),
            Group::Many(sketch) => all.output.push(all.function, &mut column, sketch),
        })?;
        O::finish(column)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut states = BinaryViewBuilder::new();
        let mut state = Vec::new();
        self.emit(emit_to, |all, group| {
            match group {
                Group::Few(list) => {
                    write_hashes(all.arena.hashes(*list), &mut state);
                    states.append_value(&state);
                }
                Group::Many(sketch) => states.append_value(sketch_state(&**sketch)),
            }
            Ok(())
        })?;
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
        let mut hashes = std::mem::take(&mut self.hashes);
        for (row, &group) in group_indices.iter().enumerate() {
            let Some(state) = blobs.get(row) else { continue };
            hashes.clear();
            let function = self.function;
            let keep = |logged: &mut dyn Iterator<Item = u64>| hashes.extend(logged);
            read_state(function, state, row, keep, |sketch| self.merge(group, sketch, row))?;
            for &hash in &hashes {
                self.insert(group, hash)?;
            }
        }
        self.hashes = hashes;
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let mut hashes = Vec::new();
        let valid = keys_of(values, filter, &mut hashes)?;
        let mut states = BinaryViewBuilder::with_capacity(hashes.len());
        let mut state = Vec::new();
        for (row, hash) in hashes.iter().enumerate() {
            let hashes = if is_key(valid.as_ref(), row) { std::slice::from_ref(hash) } else { &[] };
            write_hashes(hashes, &mut state);
            states.append_value(&state);
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn size(&self) -> usize {
        size_of_val(self)
            + self.groups.capacity() * size_of::<Group<S>>()
            + self.arena.size_in_bytes()
            + self.sketch_bytes
            + self.hashes.capacity() * size_of::<u64>()
    }
}

fn write_hashes(hashes: &[u64], state: &mut Vec<u8>) {
    state.clear();
    state.push(HASHES);
    state.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
}
