//! Frequent-items sketches of DataSketches: counts of items, the least of which are dropped when there are too many.
//!
//! The bytes are those of `ItemsSketch` with the serializers that Spark uses, and after them the number of nulls, most
//! significant byte first. Bytes without it have none.

use std::collections::BTreeMap;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, new_empty_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};

/// Version of the bytes, and DataSketches' number of this family.
const VERSION: u8 = 1;
const FAMILY: u8 = 10;
/// Words before the counts, without and with items.
const EMPTY_WORDS: u8 = 1;
const WORDS: u8 = 4;
/// The two flags that say that there are no items.
const EMPTY_FLAGS: u8 = 5;
const LEAST_LG_SIZE: u8 = 3;
/// That of a million items, the most that are tracked.
const GREATEST_LG_SIZE: u8 = 21;

/// The form of an item in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    /// A bit.
    Bit,
    /// A byte that names the type, and so many bytes of a number.
    Tagged(u8, usize),
    /// Eight bytes of a number.
    Eight,
    /// The length in four bytes, and UTF-8.
    Text,
}

fn codec(data_type: &DataType) -> Option<Codec> {
    Some(match data_type {
        DataType::Boolean => Codec::Bit,
        DataType::Int8 => Codec::Tagged(2, 1),
        DataType::Int16 => Codec::Tagged(3, 2),
        DataType::Int32 | DataType::Date32 => Codec::Tagged(9, 4),
        DataType::Float32 => Codec::Tagged(6, 4),
        DataType::Int64 | DataType::Float64 => Codec::Eight,
        DataType::Timestamp(TimeUnit::Microsecond, _) => Codec::Eight,
        text if text.is_string() => Codec::Text,
        _ => return None,
    })
}

/// Returns the type of items as Spark's data definition language writes it.
pub(super) fn definition(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "item BOOLEAN NOT NULL",
        DataType::Int8 => "item TINYINT NOT NULL",
        DataType::Int16 => "item SMALLINT NOT NULL",
        DataType::Int32 => "item INT NOT NULL",
        DataType::Date32 => "item DATE NOT NULL",
        DataType::Float32 => "item FLOAT NOT NULL",
        DataType::Int64 => "item BIGINT NOT NULL",
        DataType::Float64 => "item DOUBLE NOT NULL",
        DataType::Timestamp(_, Some(_)) => "item TIMESTAMP NOT NULL",
        DataType::Timestamp(_, None) => "item TIMESTAMP_NTZ NOT NULL",
        _ => "item string not null",
    }
}

/// Refuses a type of items.
pub(super) fn check_type(function: &str, data_type: &DataType) -> Result<()> {
    if codec(data_type).is_some() {
        return Ok(());
    }
    plan_err!(
        "{function}: expr is of type {data_type}; allowed are BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DATE, \
         TIMESTAMP(6) and STRING"
    )
}

/// Returns the bytes of every item of a column. Those of a null mean nothing.
pub(super) fn encode(array: &ArrayRef) -> Result<Vec<Vec<u8>>> {
    fn all<const N: usize>(bytes: impl Iterator<Item = [u8; N]>) -> Vec<Vec<u8>> {
        bytes.map(|bytes| bytes.to_vec()).collect()
    }
    macro_rules! numbers {
        ($type:ty, $bytes:expr) => {
            all(array.as_primitive::<$type>().values().iter().map($bytes))
        };
    }
    Ok(match array.data_type() {
        DataType::Boolean => all(array.as_boolean().values().iter().map(|flag| [u8::from(flag)])),
        DataType::Int8 => numbers!(Int8Type, |n| n.to_le_bytes()),
        DataType::Int16 => numbers!(Int16Type, |n| n.to_le_bytes()),
        DataType::Int32 => numbers!(Int32Type, |n| n.to_le_bytes()),
        DataType::Date32 => numbers!(Date32Type, |n| n.to_le_bytes()),
        DataType::Int64 => numbers!(Int64Type, |n| n.to_le_bytes()),
        DataType::Timestamp(..) => numbers!(TimestampMicrosecondType, |n| n.to_le_bytes()),
        // Java has one NaN.
        DataType::Float32 => {
            numbers!(Float32Type, |n| (if n.is_nan() { f32::NAN } else { *n }).to_le_bytes())
        }
        DataType::Float64 => {
            numbers!(Float64Type, |n| (if n.is_nan() { f64::NAN } else { *n }).to_le_bytes())
        }
        _ => {
            let strings = cast(array, &DataType::Utf8View)?;
            let strings = strings.as_string_view().iter();
            strings.map(|text| text.unwrap_or_default().as_bytes().to_vec()).collect()
        }
    })
}

/// Returns an item as a value of its type. `None` if its bytes are none of the type.
fn decode(data_type: &DataType, bytes: &[u8]) -> Option<ScalarValue> {
    fn number<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.try_into().ok()
    }
    Some(match data_type {
        DataType::Boolean => ScalarValue::Boolean(Some(number::<1>(bytes)? == [1])),
        DataType::Int8 => ScalarValue::Int8(Some(i8::from_le_bytes(number(bytes)?))),
        DataType::Int16 => ScalarValue::Int16(Some(i16::from_le_bytes(number(bytes)?))),
        DataType::Int32 => ScalarValue::Int32(Some(i32::from_le_bytes(number(bytes)?))),
        DataType::Date32 => ScalarValue::Date32(Some(i32::from_le_bytes(number(bytes)?))),
        DataType::Float32 => ScalarValue::Float32(Some(f32::from_le_bytes(number(bytes)?))),
        DataType::Int64 => ScalarValue::Int64(Some(i64::from_le_bytes(number(bytes)?))),
        DataType::Float64 => ScalarValue::Float64(Some(f64::from_le_bytes(number(bytes)?))),
        DataType::Timestamp(_, zone) => {
            let micros = i64::from_le_bytes(number(bytes)?);
            ScalarValue::TimestampMicrosecond(Some(micros), zone.clone())
        }
        _ => {
            let text = ScalarValue::from(std::str::from_utf8(bytes).ok()?);
            text.cast_to(data_type).ok()?
        }
    })
}

/// Counts of items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Items {
    lg_size: u8,
    counts: BTreeMap<Vec<u8>, u64>,
    /// Number of items that were counted.
    weight: u64,
    /// The most by which the count of an item that was dropped since is too low.
    offset: u64,
    nulls: u64,
    /// Bytes of the items.
    item_bytes: usize,
}

impl Items {
    /// Creates the sketch that tracks so many items.
    pub(super) fn new(tracked: i32) -> Self {
        let slots = (f64::from(tracked) / 0.75).ceil().max(1.0);
        let mut lg_size = LEAST_LG_SIZE;
        while f64::from(1u32 << lg_size) < slots {
            lg_size += 1;
        }
        let (counts, weight, offset, nulls) = (BTreeMap::new(), 0, 0, 0);
        Self { lg_size, counts, weight, offset, nulls, item_bytes: 0 }
    }

    /// Number of items that have a count.
    const fn capacity(&self) -> usize {
        (1 << self.lg_size) / 4 * 3
    }

    pub(super) const fn insert_null(&mut self) {
        self.nulls = self.nulls.saturating_add(1);
    }

    pub(super) fn insert(&mut self, item: &[u8]) {
        self.weight = self.weight.saturating_add(1);
        self.add(item, 1);
    }

    fn add(&mut self, item: &[u8], count: u64) {
        if let Some(present) = self.counts.get_mut(item) {
            *present = present.saturating_add(count);
            return;
        }
        self.item_bytes += item.len();
        self.counts.insert(item.to_vec(), count);
        if self.counts.len() > self.capacity() {
            self.purge();
        }
    }

    /// Lowers all counts by their median, and drops the items that have none left: half of them or more.
    fn purge(&mut self) {
        let mut counts: Vec<u64> = self.counts.values().copied().collect();
        let middle = counts.len() / 2;
        let median = *counts.select_nth_unstable(middle).1;
        self.offset = self.offset.saturating_add(median);
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(median);
            *count > 0
        });
        self.item_bytes = self.counts.keys().map(Vec::len).sum();
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (item, &count) in &other.counts {
            self.add(item, count);
        }
        self.weight = self.weight.saturating_add(other.weight);
        self.offset = self.offset.saturating_add(other.offset);
        self.nulls = self.nulls.saturating_add(other.nulls);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // A node of the map is half full at least.
        2 * self.counts.len() * size_of::<(Vec<u8>, u64)>() + self.item_bytes
    }

    /// Returns the items that are certainly among the frequent ones, with their estimated counts, the greatest first.
    fn frequent(&self) -> Vec<(&[u8], u64)> {
        let sure = self.counts.iter().filter(|&(_, &count)| count > self.offset);
        let mut items: Vec<_> =
            sure.map(|(item, &count)| (&item[..], count.saturating_add(self.offset))).collect();
        items.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        items
    }

    /// Returns the first k items, null among them, as columns of items and counts.
    pub(super) fn top(&self, k: usize, data_type: &DataType) -> Result<(ArrayRef, Vec<i64>)> {
        let mut rows: Vec<(Option<&[u8]>, u64)> =
            self.frequent().into_iter().map(|(item, count)| (Some(item), count)).collect();
        if self.nulls > 0 {
            let place = rows.partition_point(|&(_, count)| count >= self.nulls);
            rows.insert(place, (None, self.nulls));
        }
        rows.truncate(k);
        let mut items = Vec::with_capacity(rows.len());
        for (item, _) in &rows {
            items.push(match item {
                None => ScalarValue::try_new_null(data_type)?,
                Some(bytes) => match decode(data_type, bytes) {
                    Some(item) => item,
                    None => return exec_err!("an item of {} bytes is no {data_type}", bytes.len()),
                },
            });
        }
        let items = match items.is_empty() {
            true => new_empty_array(data_type),
            false => ScalarValue::iter_to_array(items)?,
        };
        let counts = rows.iter().map(|&(_, count)| i64::try_from(count).unwrap_or(i64::MAX));
        Ok((items, counts.collect()))
    }

    /// Returns the bytes of a sketch of items of a type.
    pub(super) fn to_bytes(&self, data_type: &DataType) -> Vec<u8> {
        let mut lg_slots = LEAST_LG_SIZE;
        while (1usize << lg_slots) / 4 * 3 < self.counts.len() {
            lg_slots += 1;
        }
        let is_empty = self.counts.is_empty();
        let (words, flags) = if is_empty { (EMPTY_WORDS, EMPTY_FLAGS) } else { (WORDS, 0) };
        let mut bytes = vec![words, VERSION, FAMILY, self.lg_size, lg_slots, flags, 0, 0];
        if !is_empty {
            for number in [self.counts.len() as u64, self.weight, self.offset] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(self.counts.values().flat_map(|count| count.to_le_bytes()));
            self.write_items(codec(data_type), &mut bytes);
        }
        bytes.extend(self.nulls.to_be_bytes());
        bytes
    }

    fn write_items(&self, codec: Option<Codec>, bytes: &mut Vec<u8>) {
        if codec == Some(Codec::Bit) {
            let bits = self.counts.keys().enumerate();
            bytes.push(bits.fold(0, |all, (at, item)| all | item[0] << at));
            return;
        }
        for item in self.counts.keys() {
            match codec {
                Some(Codec::Tagged(tag, _)) => bytes.push(tag),
                #[expect(clippy::cast_possible_truncation, reason = "Arrow's strings are shorter")]
                Some(Codec::Text) => bytes.extend((item.len() as u32).to_le_bytes()),
                _ => {}
            }
            bytes.extend(item);
        }
    }

    /// Reads the bytes of a sketch of items of a type.
    pub(super) fn from_bytes(bytes: &[u8], data_type: &DataType) -> Result<Self, String> {
        let mut reader = Reader(bytes);
        let [words, version, family, lg_size, _, _, _, _] = reader.take::<8>("the head")?;
        if (version, family) != (VERSION, FAMILY) {
            return Err(format!(
                "version {version} of family {family}; allowed is version {VERSION} of family {FAMILY}"
            ));
        }
        if !(LEAST_LG_SIZE..=GREATEST_LG_SIZE).contains(&lg_size) {
            return Err(format!("the size 2^{lg_size}; allowed are 2^3 to 2^21"));
        }
        let mut items = Self { lg_size, ..Self::new(1) };
        match words {
            EMPTY_WORDS => {}
            WORDS => items.read_counts(&mut reader, data_type)?,
            words => return Err(format!("{words} words in the head; allowed are 1 and 4")),
        }
        if !reader.0.is_empty() {
            items.nulls = u64::from_be_bytes(reader.take("the number of nulls")?);
        }
        match reader.0.len() {
            0 => Ok(items),
            more => Err(format!("{more} bytes after the end")),
        }
    }

    fn read_counts(&mut self, reader: &mut Reader<'_>, data_type: &DataType) -> Result<(), String> {
        let number = u64::from_le_bytes(reader.take("the number of items")?) & 0xffff_ffff;
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        self.weight = u64::from_le_bytes(reader.take("the number of rows")?);
        self.offset = u64::from_le_bytes(reader.take("the offset")?);
        if number == 0 || number > self.capacity() {
            return Err(format!("{number} items; allowed are 1 to {}", self.capacity()));
        }
        let counts: Vec<[u8; 8]> =
            (0..number).map(|_| reader.take("a count")).collect::<Result<_, String>>()?;
        let codec = codec(data_type).ok_or_else(|| format!("items of type {data_type}"))?;
        let mut bits = 0;
        for (at, count) in counts.into_iter().enumerate() {
            let item = match codec {
                Codec::Bit => {
                    if at == 0 {
                        bits = reader.take::<1>("the bits")?[0];
                    }
                    vec![bits >> (at % 8) & 1]
                }
                Codec::Tagged(tag, length) => {
                    let [found] = reader.take("the type of an item")?;
                    if found != tag {
                        return Err(format!("an item of type {found}; allowed is {tag}"));
                    }
                    reader.slice(length, "an item")?.to_vec()
                }
                Codec::Eight => reader.slice(8, "an item")?.to_vec(),
                Codec::Text => {
                    let length = u32::from_le_bytes(reader.take("the length of an item")?);
                    reader.slice(length as usize, "an item")?.to_vec()
                }
            };
            if decode(data_type, &item).is_none() {
                return Err(format!("item {at} is no {data_type}"));
            }
            self.item_bytes += item.len();
            let count = u64::from_le_bytes(count);
            if count == 0 || self.counts.insert(item, count).is_some() {
                return Err(format!("item {at} is there twice, or with the count 0"));
            }
        }
        Ok(())
    }
}

/// The bytes that were not read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn slice(&mut self, length: usize, what: &str) -> Result<&'a [u8], String> {
        let left = self.0.len();
        let (slice, rest) = self
            .0
            .split_at_checked(length)
            .ok_or_else(|| format!("the bytes end in {what}: {left} of {length} are there"))?;
        self.0 = rest;
        Ok(slice)
    }

    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let slice = self.slice(N, what)?;
        Ok(std::array::from_fn(|at| slice[at]))
    }
}
