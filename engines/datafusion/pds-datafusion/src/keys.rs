//! Keys of our own sketches: one hash per row of an Arrow array.
//!
//! Rows that SQL calls equal are one key, also in columns of different types:
//!
//! | column | key, as the library hashes it |
//! |---|---|
//! | integers; whole numbers among decimals and floats; -0.0 | `i64` if it fits, else `i128` |
//! | other floats | `f64::to_bits` as `u64`; every NaN is one key |
//! | other decimals | `(i128, i16)`: digits without trailing zeros, and scale |
//! | dates and timestamps | the instant: nanoseconds since 1970, as a whole number |
//! | times, durations | nanoseconds, as a whole number |
//! | strings, in any encoding | `str` |
//! | binary, in any encoding | `[u8]` |
//! | booleans | `bool` |

use std::hash::Hash;

use datafusion::arrow::array::{Array, ArrayAccessor, ArrayRef, ArrowPrimitiveType, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};
use datafusion::common::{Result, plan_err};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// Refuses a type whose rows are no keys.
pub(crate) fn check_type(function: &str, data_type: &DataType) -> Result<()> {
    if is_key(data_type) {
        return Ok(());
    }
    plan_err!(
        "{function}: rows of type {data_type} are no keys; allowed are numbers, strings, binary, booleans, dates, \
         timestamps, times and durations"
    )
}

fn is_key(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_key(values),
        DataType::RunEndEncoded(_, values) => is_key(values.data_type()),
        DataType::Interval(_) => false,
        other => !other.is_nested(),
    }
}

/// The hasher of every sketch that this crate builds or asks.
pub(crate) fn hasher() -> DefaultHashBuilder {
    DefaultHashBuilder::default()
}

/// Hashes every row into `hashes`. The hashes of null rows mean nothing.
pub(crate) fn hash_rows(array: &ArrayRef, hashes: &mut Vec<u64>) -> Result<()> {
    hashes.clear();
    hashes.reserve(array.len());
    match array.data_type() {
        DataType::Null => hashes.resize(array.len(), 0),
        DataType::Boolean => {
            let booleans = array.as_boolean().values();
            hashes.extend(booleans.iter().map(|key| hasher().hash_key(&key)));
        }
        DataType::Int8 => integers::<Int8Type>(array, hashes),
        DataType::Int16 => integers::<Int16Type>(array, hashes),
        DataType::Int32 => integers::<Int32Type>(array, hashes),
        DataType::Int64 => integers::<Int64Type>(array, hashes),
        DataType::UInt8 => integers::<UInt8Type>(array, hashes),
        DataType::UInt16 => integers::<UInt16Type>(array, hashes),
        DataType::UInt32 => integers::<UInt32Type>(array, hashes),
        DataType::UInt64 => each::<UInt64Type>(array, hashes, |key| hash_whole(key.into())),
        DataType::Float16 => each::<Float16Type>(array, hashes, |key| hash_float(key.into())),
        DataType::Float32 => each::<Float32Type>(array, hashes, |key| hash_float(key.into())),
        DataType::Float64 => each::<Float64Type>(array, hashes, hash_float),
        &DataType::Decimal32(_, scale) => {
            each::<Decimal32Type>(array, hashes, |key| hash_decimal(key.into(), scale.into()));
        }
        &DataType::Decimal64(_, scale) => {
            each::<Decimal64Type>(array, hashes, |key| hash_decimal(key.into(), scale.into()));
        }
        &DataType::Decimal128(_, scale) => {
            each::<Decimal128Type>(array, hashes, |key| hash_decimal(key, scale.into()));
        }
        &DataType::Decimal256(_, scale) => {
            each::<Decimal256Type>(array, hashes, |key| hash_wide_decimal(key, scale.into()));
        }
        DataType::Date32 => units::<Date32Type>(array, hashes, DAY),
        DataType::Date64 => units::<Date64Type>(array, hashes, nanoseconds(TimeUnit::Millisecond)),
        &DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => units::<TimestampSecondType>(array, hashes, nanoseconds(unit)),
            TimeUnit::Millisecond => {
                units::<TimestampMillisecondType>(array, hashes, nanoseconds(unit));
            }
            TimeUnit::Microsecond => {
                units::<TimestampMicrosecondType>(array, hashes, nanoseconds(unit));
            }
            TimeUnit::Nanosecond => integers::<TimestampNanosecondType>(array, hashes),
        },
        &DataType::Time32(unit) => match unit {
            TimeUnit::Second => units::<Time32SecondType>(array, hashes, nanoseconds(unit)),
            _ => units::<Time32MillisecondType>(array, hashes, nanoseconds(unit)),
        },
        &DataType::Time64(unit) => match unit {
            TimeUnit::Microsecond => {
                units::<Time64MicrosecondType>(array, hashes, nanoseconds(unit));
            }
            _ => integers::<Time64NanosecondType>(array, hashes),
        },
        &DataType::Duration(unit) => match unit {
            TimeUnit::Second => units::<DurationSecondType>(array, hashes, nanoseconds(unit)),
            TimeUnit::Millisecond => {
                units::<DurationMillisecondType>(array, hashes, nanoseconds(unit));
            }
            TimeUnit::Microsecond => {
                units::<DurationMicrosecondType>(array, hashes, nanoseconds(unit));
            }
            TimeUnit::Nanosecond => integers::<DurationNanosecondType>(array, hashes),
        },
        DataType::Utf8 => texts(array.as_string::<i32>(), hashes),
        DataType::LargeUtf8 => texts(array.as_string::<i64>(), hashes),
        DataType::Utf8View => texts(array.as_string_view(), hashes),
        DataType::Binary => texts(array.as_binary::<i32>(), hashes),
        DataType::LargeBinary => texts(array.as_binary::<i64>(), hashes),
        DataType::BinaryView => texts(array.as_binary_view(), hashes),
        DataType::FixedSizeBinary(_) => texts(array.as_fixed_size_binary(), hashes),
        DataType::Dictionary(..) => hash_dictionary(array, hashes)?,
        DataType::RunEndEncoded(_, values) => {
            hash_rows(&cast(array, values.data_type())?, hashes)?;
        }
        other => check_type("a sketch", other)?,
    }
    Ok(())
}

/// Hashes every value of a dictionary once.
fn hash_dictionary(array: &ArrayRef, hashes: &mut Vec<u64>) -> Result<()> {
    let dictionary = array.as_any_dictionary();
    let mut of_values = Vec::new();
    hash_rows(dictionary.values(), &mut of_values)?;
    if of_values.is_empty() {
        // Every row is null.
        hashes.resize(array.len(), 0);
        return Ok(());
    }
    hashes.extend(dictionary.normalized_keys().into_iter().map(|key| of_values[key]));
    Ok(())
}

const fn nanoseconds(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => SECOND,
        TimeUnit::Millisecond => SECOND / 1_000,
        TimeUnit::Microsecond => SECOND / 1_000_000,
        TimeUnit::Nanosecond => 1,
    }
}

fn each<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    hashes: &mut Vec<u64>,
    hash: impl Fn(T::Native) -> u64,
) {
    let keys = array.as_primitive::<T>().values();
    hashes.extend(keys.iter().map(|&key| hash(key)));
}

/// Hashes integers that fit into an `i64`.
fn integers<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &ArrayRef, hashes: &mut Vec<u64>) {
    each::<T>(array, hashes, |key| hasher().hash_key::<i64>(&key.into()));
}

/// Hashes counts of a unit of so many nanoseconds.
fn units<T: ArrowPrimitiveType<Native: Into<i128>>>(
    array: &ArrayRef,
    hashes: &mut Vec<u64>,
    unit: i128,
) {
    each::<T>(array, hashes, |key| hash_whole(key.into() * unit));
}

/// Hashes strings or binary. Null rows have some value, too, and asking whether a row is null costs more than it saves.
fn texts<'a, K: Hash + ?Sized + 'a>(keys: impl ArrayAccessor<Item = &'a K>, hashes: &mut Vec<u64>) {
    hashes.extend((0..keys.len()).map(|row| hasher().hash_key(keys.value(row))));
}

fn hash_whole(number: i128) -> u64 {
    match i64::try_from(number) {
        Ok(number) => hasher().hash_key(&number),
        Err(_) => hasher().hash_key(&number),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "whole, and within the type")]
fn hash_float(number: f64) -> u64 {
    /// 2^127, the end of `i128`.
    const END: f64 = -(i128::MIN as f64);
    if number.trunc() == number && (-END..END).contains(&number) {
        return hash_whole(number as i128);
    }
    let number = if number.is_nan() { f64::NAN } else { number };
    hasher().hash_key(&number.to_bits())
}

fn hash_decimal(mut digits: i128, mut scale: i16) -> u64 {
    if digits == 0 {
        return hash_whole(0);
    }
    while digits % 10 == 0 {
        digits /= 10;
        scale -= 1;
    }
    let power = 10i128.checked_pow(u32::from(scale.unsigned_abs()));
    match power.and_then(|power| digits.checked_mul(power)) {
        Some(number) if scale <= 0 => hash_whole(number),
        _ => hasher().hash_key(&(digits, scale)),
    }
}

fn hash_wide_decimal(mut digits: i256, mut scale: i16) -> u64 {
    let ten = i256::from_i128(10);
    loop {
        if let Some(digits) = digits.to_i128() {
            return hash_decimal(digits, scale);
        }
        if digits % ten != i256::ZERO {
            return hasher().hash_key(&(digits.to_le_bytes(), scale));
        }
        digits /= ten;
        scale -= 1;
    }
}
