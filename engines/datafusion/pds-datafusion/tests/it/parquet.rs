//! The filters of columns in Parquet files: those that the crate `parquet` writes, asked by `pds-formats`, and the other way round.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array,
    DictionaryArray, FixedSizeBinaryArray, Float16Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, Time32MillisecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, Float16Type, Int32Type};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Type;
use datafusion::parquet::bloom_filter::Sbbf;
use datafusion::parquet::data_type::{
    AsBytes, ByteArray, ByteArrayType, DataType, Int96, Int96Type,
};
use datafusion::parquet::file::properties::{ReaderProperties, WriterProperties};
use datafusion::parquet::file::reader::{FileReader, SerializedFileReader};
use datafusion::parquet::file::serialized_reader::ReadOptionsBuilder;
use datafusion::parquet::file::writer::SerializedFileWriter;
use datafusion::parquet::schema::parser::parse_message_type;
use pds_formats::parquet::{ParquetBloomFilter, ParquetDecimal, ParquetValue};

type Half = <Float16Type as ArrowPrimitiveType>::Native;

const VALUES: i64 = 2_000;
const STRANGERS: i64 = 20_000;
const RATE: f64 = 0.01;

/// A file with one column that has a filter.
struct Column {
    path: PathBuf,
    physical: Type,
    bytes: Vec<u8>,
}

fn properties() -> Arc<WriterProperties> {
    let properties = WriterProperties::builder()
        .set_bloom_filter_enabled(true)
        .set_bloom_filter_fpp(RATE)
        .set_bloom_filter_max_ndv(VALUES.cast_unsigned());
    Arc::new(properties.build())
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("filter-{name}.parquet"))
}

impl Column {
    /// Writes an array by Arrow's writer.
    fn of_array(name: &str, array: ArrayRef) -> Self {
        let batch = RecordBatch::try_from_iter([("c", array)]).unwrap();
        let file = File::create(path(name)).unwrap();
        let properties = Some((*properties()).clone());
        let mut writer = ArrowWriter::try_new(file, batch.schema(), properties).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        Self::open(path(name))
    }

    /// Writes values of a physical type that no array is written as.
    fn of_values<T: DataType>(name: &str, schema: &str, values: &[T::T]) -> Self {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let file = File::create(path(name)).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, properties()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<T>().write_batch(values, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        Self::open(path(name))
    }

    fn open(path: PathBuf) -> Self {
        let bytes = std::fs::read(&path).unwrap();
        let physical = reader(&path).metadata().row_group(0).column(0).column_type();
        Self { path, physical, bytes }
    }

    /// Returns where the filter is in the file.
    fn range(&self) -> std::ops::Range<usize> {
        let reader = reader(&self.path);
        let column = reader.metadata().row_group(0).column(0);
        let start = usize::try_from(column.bloom_filter_offset().unwrap()).unwrap();
        let length = usize::try_from(column.bloom_filter_length().unwrap()).unwrap();
        start..start + length
    }

    /// Returns the filter as `pds-formats` reads it.
    fn ours(&self) -> ParquetBloomFilter {
        ParquetBloomFilter::from_bytes(&self.bytes[self.range()]).unwrap()
    }

    /// Returns the filter as the crate reads it after its bytes in the file were replaced.
    fn theirs_of(&self, filter: &ParquetBloomFilter) -> Sbbf {
        let mut bytes = self.bytes.clone();
        bytes[self.range()].copy_from_slice(&filter.to_bytes());
        let path = self.path.with_extension("replaced.parquet");
        File::create(&path).unwrap().write_all(&bytes).unwrap();
        let reader = reader(&path);
        let group = reader.get_row_group(0).unwrap();
        group.get_column_bloom_filter(0).expect("the crate reads the filter").clone()
    }
}

fn reader(path: &Path) -> SerializedFileReader<File> {
    let properties = ReaderProperties::builder().set_read_bloom_filter(true).build();
    let options = ReadOptionsBuilder::new().with_reader_properties(properties).build();
    SerializedFileReader::new_with_options(File::open(path).unwrap(), options).unwrap()
}

/// The values of a column, and others.
struct Values<V> {
    stored: Vec<V>,
    strangers: Vec<V>,
}

/// Returns values that are made of whole numbers.
fn values<V>(make: impl Fn(i64) -> V) -> Values<V> {
    Values {
        stored: (0..VALUES).map(&make).collect(),
        strangers: (VALUES..VALUES + STRANGERS).map(&make).collect(),
    }
}

/// Checks the filter of a column in both directions. `plain` makes a value into the bytes that the crate hashes.
fn check<V: ParquetValue>(
    column: &Column,
    physical: Type,
    values: &Values<V>,
    plain: impl Fn(&V) -> Vec<u8>,
) {
    let (name, Values { stored, strangers }) = (column.path.display(), values);
    assert_eq!(column.physical, physical, "{name}");
    let filter = column.ours();
    assert!(stored.iter().all(|value| filter.contains(value)), "{name}");
    let hits = strangers.iter().filter(|value| filter.contains(*value)).count();
    check_rate(&format!("{name}, theirs"), &filter, strangers.len(), hits);

    // A filter of ours has the same bytes.
    let mut made = filter.clone();
    made.clear();
    stored.iter().for_each(|value| _ = made.insert(value));
    assert!(made.to_bytes() == filter.to_bytes(), "{name}: our filter differs from theirs");

    // The crate's reader answers from the bytes of ours: those of other values tell them from its own.
    made.clear();
    let others = &strangers[..stored.len().min(strangers.len())];
    others.iter().for_each(|value| _ = made.insert(value));
    let read = column.theirs_of(&made);
    let contains = |value: &&V| read.check(&plain(value)[..]);
    assert!(others.iter().all(|value| contains(&value)), "{name}");
    let hits = stored.iter().filter(contains).count();
    check_rate(&format!("{name}, ours"), &made, stored.len(), hits);
}

/// Checks the false positives among values that are not in a filter, at five standard deviations.
fn check_rate(name: &str, filter: &ParquetBloomFilter, asked: usize, hits: usize) {
    let rate = filter.false_positive_rate();
    assert!(rate < 2.0 * RATE, "{name}: {rate}");
    let expected = rate * asked as f64;
    let bound = expected + 5.0 * expected.sqrt() + 1.0;
    assert!((hits as f64) < bound, "{name}: {hits} of {asked}, expected {expected}");
}

fn of<A: datafusion::arrow::array::Array + 'static>(name: &str, array: A) -> Column {
    Column::of_array(name, Arc::new(array))
}

fn int32(number: &(impl Copy + Into<i32>)) -> Vec<u8> {
    (*number).into().as_bytes().to_vec()
}

#[test]
fn integers() {
    let of_byte = |range: std::ops::Range<i32>| range.map(|n| n.to_le_bytes()[0]);
    let bytes =
        Values { stored: of_byte(0..200).collect(), strangers: of_byte(200..256).collect() };
    let column = of("u8", UInt8Array::from_iter_values(bytes.stored.iter().copied()));
    check(&column, Type::INT32, &bytes, int32);
    let bytes = Values {
        stored: bytes.stored.into_iter().map(u8::cast_signed).collect(),
        strangers: bytes.strangers.into_iter().map(u8::cast_signed).collect(),
    };
    let column = of("i8", Int8Array::from_iter_values(bytes.stored.iter().copied()));
    check(&column, Type::INT32, &bytes, int32);

    let all = values(|n| i16::try_from(n - 1_000).unwrap());
    let column = of("i16", Int16Array::from_iter_values(all.stored.iter().copied()));
    check(&column, Type::INT32, &all, int32);
    let all = values(|n| u16::try_from(65_535 - n).unwrap());
    let column = of("u16", UInt16Array::from_iter_values(all.stored.iter().copied()));
    check(&column, Type::INT32, &all, int32);
    let all = values(|n| i32::try_from((n - 1_000) * 90_000).unwrap());
    let column = of("i32", Int32Array::from_iter_values(all.stored.iter().copied()));
    check(&column, Type::INT32, &all, int32);
    let all = values(|n| u32::MAX - u32::try_from(n * 100_000).unwrap());
    let column = of("u32", UInt32Array::from_iter_values(all.stored.iter().copied()));
    check(&column, Type::INT32, &all, |n| n.cast_signed().as_bytes().to_vec());
    let all = values(|n| (n - 1_000) * 1_000_000_007);
    let column = of("i64", Int64Array::from_iter_values(all.stored.iter().copied()));
    check(&column, Type::INT64, &all, |n| n.as_bytes().to_vec());
    let all = values(|n| u64::MAX - n.cast_unsigned());
    let column = of("u64", UInt64Array::from_iter_values(all.stored.iter().copied()));
    check(&column, Type::INT64, &all, |n| n.cast_signed().as_bytes().to_vec());
}

#[test]
fn dates_and_times() {
    let all = values(|n| i32::try_from(n).unwrap());
    let days = || all.stored.iter().copied();
    for (name, array) in [
        ("date", Arc::new(Date32Array::from_iter_values(days())) as ArrayRef),
        ("time32", Arc::new(Time32MillisecondArray::from_iter_values(days()))),
    ] {
        check(&Column::of_array(name, array), Type::INT32, &all, int32);
    }
    let all = values(|n| n * 1_000);
    let times = || all.stored.iter().copied();
    for (name, array) in [
        ("seconds", Arc::new(TimestampSecondArray::from_iter_values(times())) as ArrayRef),
        ("millis", Arc::new(TimestampMillisecondArray::from_iter_values(times()))),
        ("micros", Arc::new(TimestampMicrosecondArray::from_iter_values(times()))),
        ("nanos", Arc::new(TimestampNanosecondArray::from_iter_values(times()))),
        ("time64", Arc::new(Time64NanosecondArray::from_iter_values(times()))),
    ] {
        check(&Column::of_array(name, array), Type::INT64, &all, |n| n.as_bytes().to_vec());
    }
    // The time of a day, and the day, as Impala and older versions of Spark write timestamps.
    let all = values(|n| {
        let words = [n.cast_unsigned() * 1_000_003, 2_460_000];
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&words[0].to_le_bytes());
        bytes[8..].copy_from_slice(&words[1].to_le_bytes()[..4]);
        bytes
    });
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let int96 = |bytes: &[u8; 12]| {
        let mut number = Int96::new();
        number.set_data(word(&bytes[..4]), word(&bytes[4..8]), word(&bytes[8..]));
        number
    };
    let stored: Vec<Int96> = all.stored.iter().map(int96).collect();
    let column =
        Column::of_values::<Int96Type>("int96", "message m { REQUIRED INT96 c; }", &stored);
    check(&column, Type::INT96, &all, |bytes| int96(bytes).as_bytes().to_vec());
}

#[test]
fn floats() {
    let all = values(|n| (n - 1_000) as f32 / 7.0);
    let column = of("f32", Float32Array::from_iter_values(all.stored.iter().copied()));
    check(&column, Type::FLOAT, &all, |n| n.as_bytes().to_vec());
    let all = values(|n| (n - 1_000) as f64 / 7.0);
    let column = of("f64", Float64Array::from_iter_values(all.stored.iter().copied()));
    check(&column, Type::DOUBLE, &all, |n| n.as_bytes().to_vec());
    // Floats of 16 bits are two bytes.
    let bits = |n: i64| u16::try_from(n).unwrap().to_le_bytes();
    let all = values(bits);
    let halves = all.stored.iter().map(|&bytes| Half::from_le_bytes(bytes));
    let column = of("f16", Float16Array::from_iter_values(halves));
    check(&column, Type::FIXED_LEN_BYTE_ARRAY, &all, |bytes| bytes.to_vec());
}

/// Zeros of either sign, and NaNs of any payload.
#[test]
fn floats_that_are_equal_and_have_other_bytes() {
    let nans = (f64::from_bits(0x7ff8_0000_0000_0001), f32::from_bits(0x7fc0_0001));
    let pairs = [(0.0, 0.0), (-0.0, -0.0), (f64::NAN, f32::NAN), (-f64::NAN, -f32::NAN), nans];
    for (at, (stored, small)) in pairs.into_iter().enumerate() {
        let filter = of(&format!("f64-{at}"), Float64Array::from(vec![1.5, stored])).ours();
        assert!(filter.contains(&1.5) && filter.contains(&stored), "{stored}");
        assert!(filter.contains_float(1.5) && filter.contains_float(stored), "{stored}");
        assert!(stored != 0.0 || filter.contains_float(-stored), "{stored}");
        assert!(!filter.contains_float(2.5), "{stored}");
        let filter = of(&format!("f32-{at}"), Float32Array::from(vec![1.5, small])).ours();
        assert!(filter.contains(&1.5f32) && filter.contains(&small), "{small}");
        assert!(filter.contains_float(-small) || small != 0.0, "{small}");
    }
}

#[test]
fn strings_and_bytes() {
    let all = values(|n| if n == 0 { String::new() } else { format!("https://example.org/ä/{n}") });
    let texts = || all.stored.iter();
    let of_text = |text: &String| text.as_bytes().to_vec();
    for (name, array) in [
        ("text", Arc::new(StringArray::from_iter_values(texts())) as ArrayRef),
        ("large-text", Arc::new(LargeStringArray::from_iter_values(texts()))),
        ("text-view", Arc::new(StringViewArray::from_iter_values(texts()))),
        (
            "dictionary",
            Arc::new(texts().map(String::as_str).collect::<DictionaryArray<Int32Type>>()),
        ),
        ("binary", Arc::new(BinaryArray::from_iter_values(texts()))),
        ("binary-view", Arc::new(BinaryViewArray::from_iter_values(texts()))),
    ] {
        check(&Column::of_array(name, array), Type::BYTE_ARRAY, &all, of_text);
    }
    let all = values(|n| u128::from(n.cast_unsigned()).to_be_bytes());
    let array = FixedSizeBinaryArray::try_from_iter(all.stored.iter()).unwrap();
    check(&of("fixed", array), Type::FIXED_LEN_BYTE_ARRAY, &all, |bytes| bytes.to_vec());
}

#[test]
fn decimals() {
    let decimals = |numbers: &[i128], precision| {
        let array = Decimal128Array::from_iter_values(numbers.iter().copied());
        array.with_precision_and_scale(precision, 2).unwrap()
    };
    let numbers = values(|n| i128::from(n - 1_000) * 11);
    let all = values(|n| i32::try_from((n - 1_000) * 11).unwrap());
    check(&of("decimal-9", decimals(&numbers.stored, 9)), Type::INT32, &all, int32);
    let all = values(|n| (n - 1_000) * 11);
    let long = |n: &i64| n.as_bytes().to_vec();
    check(&of("decimal-18", decimals(&numbers.stored, 18)), Type::INT64, &all, long);
    for (precision, length) in [(25, 11), (38, 16)] {
        let all = values(|n| ParquetDecimal::fixed(i128::from(n - 1_000) * 11, length).unwrap());
        let column = of(&format!("decimal-{precision}"), decimals(&numbers.stored, precision));
        let bytes = |decimal: &ParquetDecimal| decimal.bytes().to_vec();
        check(&column, Type::FIXED_LEN_BYTE_ARRAY, &all, bytes);
    }
    let all = values(|n| ParquetDecimal::shortest(i128::from(n - 1_000) * 11));
    let stored: Vec<ByteArray> = all.stored.iter().map(|n| n.bytes().to_vec().into()).collect();
    let schema = "message m { REQUIRED BYTE_ARRAY c (DECIMAL(20,2)); }";
    let column = Column::of_values::<ByteArrayType>("decimal-bytes", schema, &stored);
    let bytes =
        |decimal: &ParquetDecimal| ByteArray::from(decimal.bytes().to_vec()).as_bytes().to_vec();
    check(&column, Type::BYTE_ARRAY, &all, bytes);
}

/// The format has no filters of booleans, but the crate writes them, and hashes one byte.
#[test]
fn booleans() {
    for stored in [true, false] {
        let column = of(&format!("boolean-{stored}"), BooleanArray::from(vec![stored; 10]));
        assert_eq!(column.physical, Type::BOOLEAN);
        let filter = column.ours();
        assert!(filter.contains(&[u8::from(stored)]) && !filter.contains(&[u8::from(!stored)]));
    }
}
