//! Rows that SQL calls equal are one key, in columns of any type.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, DictionaryArray, Float32Array, Float64Array, Int64Array, StringArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int32Type, TimeUnit};
use hll::HyperLogLog;

use crate::session::{blob, error, session, table};

async fn sketch(array: ArrayRef) -> Vec<u8> {
    let session = session();
    table(&session, vec![("k", array)]);
    blob(&session, "SELECT pds_hll_agg(k) FROM t").await
}

/// Returns the bytes of the library for keys.
fn library<K: std::hash::Hash>(keys: impl IntoIterator<Item = K>) -> Vec<u8> {
    keys.into_iter().collect::<HyperLogLog>().to_bytes()
}

#[tokio::test]
async fn whole_numbers_are_one_key_in_every_type() {
    let numbers: ArrayRef =
        Arc::new(Int64Array::from_iter((0..100).map(|n| (n != 50).then_some(n))));
    let expected = library((0..100i64).filter(|&n| n != 50));
    for data_type in [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Decimal32(9, 2),
        DataType::Decimal64(18, 0),
        DataType::Decimal128(38, 10),
        DataType::Decimal256(60, 5),
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Int64)),
    ] {
        let array = cast(&numbers, &data_type).unwrap();
        assert!(sketch(array).await == expected, "{data_type}");
    }
}

#[tokio::test]
async fn other_numbers_are_one_key_in_every_type_of_their_kind() {
    let halves = || (0..50).map(|n| f64::from(n) + 0.5);
    let floats: ArrayRef = Arc::new(Float64Array::from_iter_values(halves()));
    assert!(sketch(floats.clone()).await == library(halves().map(f64::to_bits)));
    let narrow = cast(&floats, &DataType::Float32).unwrap();
    assert!(sketch(narrow).await == library(halves().map(f64::to_bits)));
    let expected = library((0..50i128).map(|n| (10 * n + 5, 1i16)));
    for data_type in
        [DataType::Decimal32(5, 1), DataType::Decimal128(30, 4), DataType::Decimal256(50, 9)]
    {
        let array = cast(&floats, &data_type).unwrap();
        assert!(sketch(array).await == expected, "{data_type}");
    }
    // Beyond 64 bits.
    let big: ArrayRef = Arc::new(datafusion::arrow::array::UInt64Array::from(vec![u64::MAX]));
    assert!(sketch(big.clone()).await == library([i128::from(u64::MAX)]));
    let decimal = cast(&big, &DataType::Decimal128(38, 3)).unwrap();
    assert!(sketch(decimal).await == library([i128::from(u64::MAX)]));
}

#[tokio::test]
async fn zeros_are_one_key_and_so_are_nans() {
    let other_nan = f64::from_bits(0x7ff8_0000_0000_1234);
    let floats =
        Float64Array::from(vec![0.0, -0.0, f64::NAN, -f64::NAN, other_nan, 1e300, f64::INFINITY]);
    let expected = library([f64::NAN.to_bits(), 1e300f64.to_bits(), f64::INFINITY.to_bits()]);
    let mut merged = HyperLogLog::from_bytes(&expected).unwrap();
    merged.insert(&0i64);
    assert!(sketch(Arc::new(floats)).await == merged.to_bytes());
    let singles: ArrayRef = Arc::new(Float32Array::from(vec![0.0, -0.0, f32::NAN, -f32::NAN]));
    assert_eq!(HyperLogLog::from_bytes(&sketch(singles).await).unwrap().estimate().round(), 2.0);
}

#[tokio::test]
async fn strings_and_bytes_are_one_key_in_every_encoding() {
    let words = ["a", "", "naïve", "a word that is longer than twelve bytes"];
    let strings: ArrayRef = Arc::new(StringArray::from(vec![
        Some(words[0]),
        Some(words[1]),
        None,
        Some(words[2]),
        Some(words[3]),
    ]));
    for data_type in [
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8)),
    ] {
        assert!(sketch(cast(&strings, &data_type).unwrap()).await == library(words), "{data_type}");
    }
    for data_type in [DataType::Binary, DataType::LargeBinary, DataType::BinaryView] {
        let bytes = cast(&strings, &data_type).unwrap();
        assert!(sketch(bytes).await == library(words.map(str::as_bytes)), "{data_type}");
    }
    let fixed =
        datafusion::arrow::array::FixedSizeBinaryArray::try_from_iter([[1u8, 2], [3, 4]].iter())
            .unwrap();
    assert!(sketch(Arc::new(fixed)).await == library([&[1u8, 2][..], &[3, 4]]));
}

#[tokio::test]
async fn instants_are_one_key_in_every_unit() {
    let seconds: ArrayRef = Arc::new(Int64Array::from_iter_values((0..30).map(|day| day * 86_400)));
    let as_seconds = cast(&seconds, &DataType::Timestamp(TimeUnit::Second, None)).unwrap();
    let expected = library((0..30i64).map(|day| day * 86_400_000_000_000));
    let zone = Some(Arc::from("+01:00"));
    for data_type in [
        DataType::Timestamp(TimeUnit::Second, None),
        DataType::Timestamp(TimeUnit::Millisecond, None),
        DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(TimeUnit::Nanosecond, None),
        DataType::Date32,
        DataType::Date64,
    ] {
        let array = cast(&as_seconds, &data_type).unwrap();
        assert!(sketch(array).await == expected, "{data_type}");
    }
    let zoned = as_seconds
        .as_any()
        .downcast_ref::<datafusion::arrow::array::TimestampSecondArray>()
        .unwrap();
    assert!(sketch(Arc::new(zoned.clone().with_timezone_opt(zone))).await == expected);

    let expected = library((0..30i64).map(|second| second * 1_000_000_000));
    let times: ArrayRef =
        Arc::new(datafusion::arrow::array::Time32SecondArray::from_iter_values(0..30));
    for data_type in [
        DataType::Time32(TimeUnit::Second),
        DataType::Time32(TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond),
        DataType::Time64(TimeUnit::Nanosecond),
    ] {
        assert!(sketch(cast(&times, &data_type).unwrap()).await == expected, "{data_type}");
    }
    for unit in
        [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond]
    {
        let durations: ArrayRef =
            Arc::new(datafusion::arrow::array::DurationSecondArray::from_iter_values(0..30));
        assert!(sketch(cast(&durations, &DataType::Duration(unit)).unwrap()).await == expected);
    }
}

#[tokio::test]
async fn booleans_and_nothing_but_nulls() {
    let flags = datafusion::arrow::array::BooleanArray::from(vec![Some(true), None, Some(false)]);
    assert!(sketch(Arc::new(flags)).await == library([true, false]));
    assert!(
        sketch(Arc::new(datafusion::arrow::array::NullArray::new(3))).await == library::<i64>([])
    );
    let nulls: DictionaryArray<Int32Type> = vec![None, None].into_iter().collect();
    assert!(nulls.values().is_empty());
    assert!(sketch(Arc::new(nulls)).await == library::<&str>([]));
}

#[tokio::test]
async fn rows_that_are_no_keys_are_refused() {
    let session = session();
    for value in ["[1, 2]", "named_struct('a', 1)", "INTERVAL '1 month'"] {
        let error = error(&session, &format!("SELECT pds_hll_agg({value})")).await;
        assert!(
            error.contains("pds_hll_agg: rows of type") && error.contains("are no keys"),
            "{error}"
        );
    }
}
