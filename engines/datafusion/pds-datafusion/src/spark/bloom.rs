//! Bloom filters of Spark.

use std::ops::RangeInclusive;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_datafusion_err};
use pds_formats::spark::{SparkBloomFilter, SparkKey};

use super::column::{Column, Value, check_integer_or_text};
use crate::call::Call;
use crate::fold::Fold;
use crate::scalar::{Batch, ask};
use crate::sketch::bad_sketch;

const DEFAULT_ITEMS: i64 = 1_000_000;
const DEFAULT_BITS: i64 = 8_388_608;
const MAX_ITEMS: i64 = 4_000_000;
const MAX_BITS: i64 = 67_108_864;
/// Each row takes so many steps. Filters of a use have less than a hundred.
const MAX_HASHES: u32 = 1_000;

/// The version that `BloomFilter.create` of Spark 4.1 and later writes first.
const VERSION: i32 = 2;
/// The default seed.
const SEED: i32 = 0;

/// Returns a value as Spark hashes it in filters and count-min sketches.
pub(super) fn key_of(value: Value<'_>) -> SparkKey<'_> {
    match value {
        Value::Long(number) => number.into(),
        // No function takes floats.
        Value::Double(number) => SparkKey::Long(number.to_bits().cast_signed()),
        Value::Text(text) => text.into(),
        Value::Bytes(bytes) => bytes.into(),
    }
}

fn read(bytes: &[u8]) -> Result<SparkBloomFilter, String> {
    let filter = SparkBloomFilter::from_bytes(bytes).map_err(|error| error.to_string())?;
    match filter.num_hashes() {
        1..=MAX_HASHES => Ok(filter),
        hashes => Err(format!("{hashes} hashes; allowed are 1 to {MAX_HASHES}")),
    }
}

/// Builds a filter.
#[derive(Debug)]
pub(crate) struct Build {
    function: &'static str,
    hashes: i32,
    words: i32,
}

impl Build {
    /// Returns the filter of `BloomFilter.create(items, bits)`.
    fn empty(&self) -> Result<SparkBloomFilter> {
        let head = [VERSION, self.hashes, SEED, self.words];
        let mut bytes: Vec<u8> = head.into_iter().flat_map(i32::to_be_bytes).collect();
        bytes.resize(bytes.len() + 8 * usize::try_from(self.words).unwrap_or_default(), 0);
        let filter = SparkBloomFilter::from_bytes(&bytes);
        filter.map_err(|error| exec_datafusion_err!("{}: {error}", self.function))
    }
}

impl Fold for Build {
    type Column = Column;
    type State = SparkBloomFilter;

    const NUM_ARGS: RangeInclusive<usize> = 1..=3;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_integer_or_text(function, &types[0])
    }

    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_BITS")]
    fn of_call(call: &Call) -> Result<Self> {
        let items = call.whole(1, "estimatedNumItems", 1..=MAX_ITEMS)?;
        let bits = call.whole(2, "numBits", 1..=MAX_BITS)?;
        let bits = bits.unwrap_or(items.map_or(DEFAULT_BITS, |items| 8 * items));
        let items = items.unwrap_or(DEFAULT_ITEMS);
        let hashes = (bits as f64 / items as f64 * std::f64::consts::LN_2).round().max(1.0);
        if hashes > MAX_HASHES.into() {
            return Err(call.refused(format!(
                "{bits} bits for {items} items take {hashes} hashes; allowed are 1 to {MAX_HASHES}"
            )));
        }
        let words = (bits as u64).div_ceil(64);
        Ok(Self { function: call.function, hashes: hashes as i32, words: words as i32 })
    }

    fn column(&self, array: &ArrayRef) -> Result<Column> {
        Column::new(array)
    }

    fn fold(
        &self,
        state: &mut Option<SparkBloomFilter>,
        column: &Column,
        row: usize,
    ) -> Result<()> {
        if state.is_none() {
            *state = Some(self.empty()?);
        }
        if let Some(filter) = state {
            filter.insert(key_of(column.value(row)));
        }
        Ok(())
    }

    fn merge(&self, state: &mut Option<SparkBloomFilter>, other: SparkBloomFilter) -> Result<()> {
        match state {
            Some(filter) => {
                filter
                    .union_with(&other)
                    .map_err(|e| bad_sketch(self.function, "a state", 0, e))?;
            }
            None => *state = Some(other),
        }
        Ok(())
    }

    fn write_state(&self, state: &SparkBloomFilter) -> Vec<u8> {
        state.to_bytes()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<SparkBloomFilter> {
        read(bytes).map_err(|error| bad_sketch(self.function, "a state", 0, error))
    }

    fn heap_bytes(&self, state: &SparkBloomFilter) -> usize {
        size_of_val(state.words())
    }

    // That of no value is NULL, as in Spark.
    fn finish(&self, state: Option<&SparkBloomFilter>) -> Result<ScalarValue> {
        Ok(ScalarValue::BinaryView(state.map(SparkBloomFilter::to_bytes)))
    }
}

pub(crate) fn might_contain(batch: &Batch) -> Result<ArrayRef> {
    let column = Column::new(batch.args[0].array())?;
    let contains = |filter: &SparkBloomFilter, key| filter.contains(key_of(column.value(key)));
    let answers = ask(batch, "the filter", |bytes| read(&bytes), contains)?;
    Ok(Arc::new(BooleanArray::from(answers)))
}
