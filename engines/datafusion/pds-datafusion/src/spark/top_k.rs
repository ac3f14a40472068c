//! The most frequent items of a column, by the frequent-items sketches of DataSketches.

use std::ops::RangeInclusive;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, Int64Array, ListArray, StringArray, StringViewArray,
    StructArray, new_null_array,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Int32Type, Int64Type};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};

use super::column::plain;
use super::items::{Items, check_type, definition, encode};
use crate::blobs::{Blobs, blob_value};
use crate::call::Call;
use crate::fold::Fold;
use crate::scalar::Batch;
use crate::sketch::bad_sketch;

const DEFAULT_K: usize = 5;
const DEFAULT_TRACKED: i64 = 10_000;
const MAX_TRACKED: i64 = 1_000_000;

fn item_fields(item: &DataType) -> Fields {
    let item = Field::new("item", item.clone(), true);
    [item, Field::new("count", DataType::Int64, false)].to_vec().into()
}

fn entry(item: &DataType) -> FieldRef {
    Arc::new(Field::new("item", DataType::Struct(item_fields(item)), false))
}

/// The type of a list of items and counts.
fn list_type(item: &DataType) -> DataType {
    DataType::List(entry(item))
}

fn state_fields(item: &DataType) -> Fields {
    [
        Field::new("sketch", DataType::BinaryView, false),
        Field::new("maxItemsTracked", DataType::Int32, false),
        Field::new("itemDataType", item.clone(), true),
        Field::new("itemDataTypeDDL", DataType::Utf8, false),
    ]
    .to_vec()
    .into()
}

/// Returns the type of the items in a state. `None` if the type is that of no state.
fn item_of(state: &DataType) -> Option<&DataType> {
    let DataType::Struct(fields) = state else { return None };
    let [sketch, tracked, item, definition] = &fields[..] else { return None };
    let is_state = sketch.data_type().is_binary()
        && *tracked.data_type() == DataType::Int32
        && definition.data_type().is_string();
    is_state.then(|| item.data_type())
}

fn check_state(function: &str, data_type: &DataType) -> Result<()> {
    match item_of(data_type) {
        Some(item) => check_type(function, item),
        None => plan_err!(
            "{function}: state is of type {data_type}; it must be what approx_top_k_accumulate returns"
        ),
    }
}

fn tracked(call: &Call, index: usize) -> Result<Option<i32>> {
    let tracked = call.whole(index, "maxItemsTracked", 1..=MAX_TRACKED)?;
    Ok(tracked.and_then(|tracked| i32::try_from(tracked).ok()))
}

fn default_tracked() -> i32 {
    i32::try_from(DEFAULT_TRACKED).unwrap_or_default()
}

/// Returns a list of lists of items and counts.
fn lists(rows: &[Option<(ArrayRef, Vec<i64>)>], item: &DataType) -> Result<ArrayRef> {
    let items: Vec<&dyn Array> = rows.iter().flatten().map(|(items, _)| &**items).collect();
    let items = match items.is_empty() {
        true => datafusion::arrow::array::new_empty_array(item),
        false => datafusion::arrow::compute::concat(&items)?,
    };
    let counts = rows.iter().flatten().flat_map(|(_, counts)| counts.iter().copied());
    let counts: ArrayRef = Arc::new(Int64Array::from_iter_values(counts));
    let entries = StructArray::try_new(item_fields(item), vec![items, counts], None)?;
    let lengths = rows.iter().map(|row| row.as_ref().map_or(0, |(_, counts)| counts.len()));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let nulls = rows.iter().map(Option::is_some).collect();
    Ok(Arc::new(ListArray::try_new(entry(item), offsets, Arc::new(entries), Some(nulls))?))
}

/// Returns a state as an SQL value.
fn state_value(
    function: &str,
    items: &Items,
    tracked: i32,
    item: &DataType,
) -> Result<ScalarValue> {
    let bytes = blob_value(function, Some(items.to_bytes(item)))?;
    let columns: Vec<ArrayRef> = vec![
        bytes.to_array()?,
        Arc::new(Int32Array::from(vec![tracked])),
        new_null_array(item, 1),
        Arc::new(StringArray::from(vec![definition(item)])),
    ];
    let state = StructArray::try_new(state_fields(item), columns, None)?;
    Ok(ScalarValue::Struct(Arc::new(state)))
}

/// Counts the items of a column.
#[derive(Debug)]
struct Counting {
    function: &'static str,
    item: DataType,
    tracked: i32,
}

/// The bytes of the items, and which are null.
pub(crate) struct Column {
    items: Vec<Vec<u8>>,
    nulls: Option<datafusion::arrow::buffer::NullBuffer>,
}

impl Counting {
    fn of_call(call: &Call, index: usize) -> Result<Self> {
        let item = call.row_type.clone();
        let tracked = tracked(call, index)?.unwrap_or_else(default_tracked);
        Ok(Self { function: call.function, item, tracked })
    }

    fn column(array: &ArrayRef) -> Result<Column> {
        let items = match array.data_type() {
            DataType::Null => vec![Vec::new(); array.len()],
            _ => encode(array)?,
        };
        Ok(Column { items, nulls: array.logical_nulls() })
    }

    fn fold(&self, state: &mut Option<Items>, column: &Column, row: usize) {
        let items = state.get_or_insert_with(|| Items::new(self.tracked));
        if column.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            items.insert_null();
        } else {
            items.insert(&column.items[row]);
        }
    }

    fn read_state(&self, bytes: &[u8]) -> Result<Items> {
        read(self.function, "a state", 0, bytes, &self.item)
    }
}

fn read(
    function: &str,
    argument: &str,
    row: usize,
    bytes: &[u8],
    item: &DataType,
) -> Result<Items> {
    Items::from_bytes(bytes, item).map_err(|error| bad_sketch(function, argument, row, error))
}

fn merge(state: &mut Option<Items>, other: Items) {
    match state {
        Some(items) => items.merge(&other),
        None => *state = Some(other),
    }
}

macro_rules! counting {
    () => {
        type Column = Column;
        type State = Items;

        const TAKES_NULLS: bool = true;

        fn check_types(function: &str, types: &[DataType]) -> Result<()> {
            check_type(function, plain(&types[0]))
        }

        fn coerce(types: &[DataType]) -> Vec<DataType> {
            let mut types = types.to_vec();
            types[0] = plain(&types[0]).clone();
            types
        }

        fn column(&self, array: &ArrayRef) -> Result<Column> {
            Counting::column(array)
        }

        fn fold(&self, state: &mut Option<Items>, column: &Column, row: usize) -> Result<()> {
            self.counting.fold(state, column, row);
            Ok(())
        }

        fn merge(&self, state: &mut Option<Items>, other: Items) -> Result<()> {
            merge(state, other);
            Ok(())
        }

        fn write_state(&self, state: &Items) -> Vec<u8> {
            state.to_bytes(&self.counting.item)
        }

        fn read_state(&self, bytes: &[u8]) -> Result<Items> {
            self.counting.read_state(bytes)
        }

        fn heap_bytes(&self, state: &Items) -> usize {
            state.heap_bytes()
        }
    };
}

/// Returns the most frequent items.
#[derive(Debug)]
pub(crate) struct TopK {
    counting: Counting,
    k: usize,
}

impl Fold for TopK {
    counting!();

    const COUNTS: bool = true;
    const NUM_ARGS: RangeInclusive<usize> = 1..=3;

    fn return_type(types: &[DataType]) -> DataType {
        list_type(&types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        let counting = Counting::of_call(call, 2)?;
        let k = call.whole(1, "k", 1..=counting.tracked.into())?;
        let k = k.and_then(|k| usize::try_from(k).ok()).unwrap_or(DEFAULT_K);
        Ok(Self { counting, k })
    }

    fn finish(&self, state: Option<&Items>) -> Result<ScalarValue> {
        let item = &self.counting.item;
        let none = Items::new(1);
        let top = state.unwrap_or(&none).top(self.k, item)?;
        ScalarValue::try_from_array(&lists(&[Some(top)], item)?, 0)
    }
}

/// Returns the counts, to be combined and asked later.
#[derive(Debug)]
pub(crate) struct Accumulate {
    counting: Counting,
}

impl Fold for Accumulate {
    counting!();

    const COUNTS: bool = true;
    const NUM_ARGS: RangeInclusive<usize> = 1..=2;

    fn return_type(types: &[DataType]) -> DataType {
        DataType::Struct(state_fields(&types[0]))
    }

    fn of_call(call: &Call) -> Result<Self> {
        Ok(Self { counting: Counting::of_call(call, 1)? })
    }

    fn finish(&self, state: Option<&Items>) -> Result<ScalarValue> {
        let Counting { function, tracked, item } = &self.counting;
        match state {
            Some(items) => state_value(function, items, *tracked, item),
            None => state_value(function, &Items::new(*tracked), *tracked, item),
        }
    }
}

/// Counts that were combined, and how many items they track.
#[derive(Debug)]
pub(crate) struct Combined {
    items: Items,
    tracked: i32,
}

/// Combines counts.
#[derive(Debug)]
pub(crate) struct Combine {
    function: &'static str,
    item: DataType,
    /// If it is given, states that track other numbers are combined, too.
    tracked: Option<i32>,
}

/// A column of states.
pub(crate) struct States {
    sketches: Blobs,
    tracked: Int32Array,
    definitions: StringViewArray,
}

/// Returns how many items a state tracks.
fn tracked_in(function: &str, column: &Int32Array, row: usize) -> Result<i32> {
    let tracked = column.is_valid(row).then(|| column.value(row));
    match tracked.filter(|&tracked| (1..=MAX_TRACKED).contains(&tracked.into())) {
        Some(tracked) => Ok(tracked),
        None => {
            let tracked = tracked.map_or("NULL".to_owned(), |tracked| tracked.to_string());
            let problem =
                format!("maxItemsTracked is {tracked}; it must be from 1 to {MAX_TRACKED}");
            Err(bad_sketch(function, "the state", row, problem))
        }
    }
}

impl Combine {
    fn add(&self, state: &mut Option<Combined>, items: Items, tracked: i32) -> Result<()> {
        let Some(combined) = state else {
            let mut combined = Combined { items, tracked };
            if let Some(tracked) = self.tracked {
                let mut empty = Items::new(tracked);
                empty.merge(&combined.items);
                combined = Combined { items: empty, tracked };
            }
            *state = Some(combined);
            return Ok(());
        };
        if self.tracked.is_none() && combined.tracked != tracked {
            return exec_err!(
                "{}: states with maxItemsTracked {} and {tracked}; pass maxItemsTracked to combine them",
                self.function,
                combined.tracked
            );
        }
        combined.items.merge(&items);
        Ok(())
    }
}

impl Fold for Combine {
    type Column = States;
    type State = Combined;

    const COUNTS: bool = true;
    const NUM_ARGS: RangeInclusive<usize> = 1..=2;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_state(function, &types[0])
    }

    fn return_type(types: &[DataType]) -> DataType {
        DataType::Struct(state_fields(item_of(&types[0]).unwrap_or(&DataType::Null)))
    }

    fn of_call(call: &Call) -> Result<Self> {
        let Some(item) = item_of(&call.row_type) else {
            return plan_err!("{}: state is no struct of a sketch", call.function);
        };
        Ok(Self { function: call.function, item: item.clone(), tracked: tracked(call, 1)? })
    }

    fn column(&self, array: &ArrayRef) -> Result<States> {
        let states = array.as_struct();
        let tracked = states.column(1).as_primitive::<Int32Type>().clone();
        let definitions = cast(states.column(3), &DataType::Utf8View)?.as_string_view().clone();
        Ok(States { sketches: Blobs::new(states.column(0))?, tracked, definitions })
    }

    fn fold(&self, state: &mut Option<Combined>, column: &States, row: usize) -> Result<()> {
        let Some(bytes) = column.sketches.get(row) else { return Ok(()) };
        let items = read(self.function, "the state", row, bytes, &self.item)?;
        let tracked = tracked_in(self.function, &column.tracked, row)?;
        let expected = definition(&self.item);
        let found = column.definitions.is_valid(row).then(|| column.definitions.value(row));
        if !found.is_some_and(|found| found.eq_ignore_ascii_case(expected)) {
            let found = found.unwrap_or("NULL");
            let problem = format!("itemDataTypeDDL is `{found}`; it must be `{expected}`");
            return Err(bad_sketch(self.function, "the state", row, problem));
        }
        self.add(state, items, tracked)
    }

    fn merge(&self, state: &mut Option<Combined>, other: Combined) -> Result<()> {
        self.add(state, other.items, other.tracked)
    }

    fn write_state(&self, state: &Combined) -> Vec<u8> {
        let mut bytes = state.tracked.to_le_bytes().to_vec();
        bytes.append(&mut state.items.to_bytes(&self.item));
        bytes
    }

    fn read_state(&self, bytes: &[u8]) -> Result<Combined> {
        let Some((tracked, bytes)) = bytes.split_first_chunk() else {
            return exec_err!("{}: a state of {} bytes", self.function, bytes.len());
        };
        let items = read(self.function, "a state", 0, bytes, &self.item)?;
        Ok(Combined { items, tracked: i32::from_le_bytes(*tracked) })
    }

    fn heap_bytes(&self, state: &Combined) -> usize {
        state.items.heap_bytes()
    }

    fn finish(&self, state: Option<&Combined>) -> Result<ScalarValue> {
        match state {
            Some(combined) => {
                state_value(self.function, &combined.items, combined.tracked, &self.item)
            }
            None => {
                let tracked = self.tracked.unwrap_or_else(default_tracked);
                state_value(self.function, &Items::new(tracked), tracked, &self.item)
            }
        }
    }
}

/// Checks the type of the argument of [`estimate`].
pub(super) fn check_estimate(function: &str, data_type: &DataType) -> Result<()> {
    check_state(function, data_type)
}

/// Returns the type of the result of [`estimate`].
pub(super) fn estimate_type(types: &[DataType]) -> DataType {
    list_type(item_of(&types[0]).unwrap_or(&DataType::Null))
}

pub(super) fn estimate(batch: &Batch) -> Result<ArrayRef> {
    let states = batch.args[0].array().as_struct();
    let sketches = Blobs::new(states.column(0))?;
    let item = states.column(2).data_type().clone();
    let tracked = states.column(1).as_primitive::<Int32Type>().clone();
    let ks = batch.args.get(1).map(|rows| (rows, rows.array().as_primitive::<Int64Type>()));
    let of_row = |row| {
        let at = batch.args[0].at(row);
        let k = match ks {
            None => DEFAULT_K,
            Some((rows, ks)) => {
                let k = ks.is_valid(rows.at(row)).then(|| ks.value(rows.at(row)));
                match k.and_then(|k| usize::try_from(k).ok()).filter(|&k| k > 0) {
                    Some(k) => k,
                    None => {
                        let k = k.map_or("NULL".to_owned(), |k| k.to_string());
                        return exec_err!("{}: k is {k}; it must be 1 or more", batch.function);
                    }
                }
            }
        };
        let bytes = sketches.get(at).filter(|_| states.is_valid(at));
        let Some(bytes) = bytes else { return Ok(None) };
        let tracked = tracked_in(batch.function, &tracked, at)?;
        if i64::try_from(k).is_ok_and(|k| k > tracked.into()) {
            return exec_err!(
                "{}: k is {k}; it must be at most maxItemsTracked, {tracked}",
                batch.function
            );
        }
        read(batch.function, "the state", row, bytes, &item)?.top(k, &item).map(Some)
    };
    let rows = (0..batch.num_rows).map(of_row).collect::<Result<Vec<_>>>()?;
    lists(&rows, &item)
}
