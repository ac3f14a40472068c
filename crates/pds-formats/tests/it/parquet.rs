//! Filters that Arrow, `DuckDB` and Spark wrote, and headers that are none.

use pds_formats::error::{BuildError, DecodeErrorKind, ParamError};
use pds_formats::parquet::{
    ParquetBloomFilter, ParquetBloomFilterView, ParquetDecimal, ParquetFloat, ParquetValue,
    ParquetWriter,
};
use pds_params::internal::ParamFault;
use serde_json::Value;

use crate::support::{answers, base64, hex, integers, json, keys, list, number, text};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "Parquet Bloom filter",
    type_name: "parquet::ParquetBloomFilter",
    can: [true, true, true],
    exact: "all",
    tested_against: "pyarrow 26.0.1, DuckDB 2.0.1, Spark 4.3.0",
    vectors: || {
        let file = vectors();
        let of = |case: &Value| {
            let writers = case["writers"].as_object().unwrap().keys();
            writers.map(|writer| written(case, writer)).collect::<Vec<_>>()
        };
        list(&file, "cases").iter().flat_map(of).collect()
    },
};

fn vectors() -> Value {
    json(include_str!("../data/parquet_sbbf.json"))
}

/// Returns header and bitset as they stand in the file.
fn written(case: &Value, writer: &str) -> Vec<u8> {
    [hex(&case["writers"][writer]["header_bytes"]), bitset(case, writer)].concat()
}

fn bitset(case: &Value, writer: &str) -> Vec<u8> {
    let written = &case["writers"][writer];
    match written["bitset"].as_str() {
        Some(_) => base64(&written["bitset"]),
        None => bitset(case, text(written, "bitset_same_as")),
    }
}

/// The values of a column, in its physical type.
enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Double(Vec<f64>),
    Bytes(Vec<Vec<u8>>),
}

impl Values {
    fn new(spec: &Value, column: &str) -> Self {
        let narrow = || integers(spec).into_iter().map(|value| i32::try_from(value).unwrap());
        match (text(spec, "kind"), column) {
            ("text", _) => Self::Bytes(keys(spec)),
            (_, "int64") => Self::Int64(integers(spec)),
            (_, "int32") => Self::Int32(narrow().collect()),
            (_, "double") => Self::Double(narrow().map(|value| f64::from(value) / 4.0).collect()),
            other => panic!("unknown column type {other:?}"),
        }
    }

    fn insert_into(&self, filter: &mut ParquetBloomFilter) {
        match self {
            Self::Int32(values) => filter.insert_batch(values),
            Self::Int64(values) => filter.insert_batch(values),
            Self::Double(values) => filter.insert_batch(values),
            Self::Bytes(values) => filter.insert_batch(values),
        };
    }

    /// Asks for all values, one by one and in a batch.
    fn ask(&self, filter: &ParquetBloomFilterView<'_>) -> Vec<bool> {
        fn ask<V: ParquetValue>(values: &[V], filter: &ParquetBloomFilterView<'_>) -> Vec<bool> {
            let mut batch = vec![false; values.len()];
            filter.contains_batch(values, &mut batch);
            assert!(values.iter().map(|value| filter.contains(value)).eq(batch.iter().copied()));
            batch
        }
        match self {
            Self::Int32(values) => ask(values, filter),
            Self::Int64(values) => ask(values, filter),
            Self::Double(values) => ask(values, filter),
            Self::Bytes(values) => ask(values, filter),
        }
    }
}

#[test]
fn filters_of_real_writers_are_read_and_built_bit_for_bit() {
    let mut checked = 0;
    for case in list(&vectors(), "cases") {
        let column = text(case, "column_type");
        let [stored, absent] = ["keys", "absent_keys"].map(|name| Values::new(&case[name], column));
        for (writer, about) in case["writers"].as_object().unwrap() {
            let bytes = written(case, writer);
            let view = ParquetBloomFilterView::open(&bytes).unwrap();
            assert!(stored.ask(&view).iter().all(|&answer| answer), "{writer}");
            assert_eq!(absent.ask(&view), answers(about, "absent_answers"), "{writer}");

            let mut read = ParquetBloomFilter::from_bytes(&bytes).unwrap();
            assert_eq!((read.to_bytes(), view.to_bytes()), (bytes.clone(), bytes.clone()));
            read.clear();
            stored.insert_into(&mut read);
            assert_eq!(read.to_bytes(), bytes, "{writer}");
            checked += 1;
        }
    }
    assert_eq!(checked, 21);
}

#[test]
fn arrow_shrinks_as_we_do() {
    for case in list(&vectors(), "cases") {
        let (items, rate) = (number(case, "ndv"), case["fpp"].as_f64().unwrap());
        let mut ours = ParquetBloomFilter::for_writer(ParquetWriter::Arrow, items, rate).unwrap();
        Values::new(&case["keys"], text(case, "column_type")).insert_into(&mut ours);
        let shrunk = ours.shrink_as_arrow(rate).unwrap();
        assert_eq!(shrunk.to_bytes(), written(case, "pyarrow"));
    }
}

#[test]
fn sizes_are_those_of_the_writers() {
    let file = vectors();
    for row in list(&file, "writer_sizes_keys_0_to_ndv_int64") {
        let (items, rate) = (number(row, "ndv"), row["fpp"].as_f64().unwrap());
        let size = |writer: ParquetWriter| writer.size_in_bytes(items, rate).unwrap();
        assert_eq!(size(ParquetWriter::DuckDb), row["duckdb_bytes"], "{row}");
        assert_eq!(size(ParquetWriter::ParquetJava), row["parquet_java_bytes"], "{row}");
        let mut arrow = ParquetBloomFilter::for_writer(ParquetWriter::Arrow, items, rate).unwrap();
        (0..items).for_each(|key| {
            arrow.insert(&key.cast_signed());
        });
        let shrunk = arrow.shrink_as_arrow(rate).unwrap();
        assert_eq!(shrunk.size_in_bytes(), row["pyarrow_bytes"], "{row}");
    }
    for row in list(&file, "parquet_java_optimal_bits_ndv_fpp_bits") {
        let (items, rate) = (row[0].as_u64().unwrap(), row[1].as_f64().unwrap());
        let bytes = (row[2].as_u64().unwrap() / 8).next_power_of_two();
        assert_eq!(ParquetWriter::ParquetJava.size_in_bytes(items, rate).unwrap(), bytes);
    }
}

/// Writers make no larger filter, at the cost of the rate. A request for a rate is then an error.
#[test]
fn case_25_a_rate_beyond_the_largest_filter_is_refused() {
    assert!(ParquetBloomFilter::new(100_000_000, 0.01).is_ok());
    let refused = ParquetBloomFilter::new(1_000_000_000, 0.01).unwrap_err();
    let BuildError::Param(ParamError(ParamFault::TooLarge { parameter: "blocks", .. })) = refused
    else {
        panic!("{refused}")
    };
    assert_eq!(ParquetWriter::Arrow.size_in_bytes(1_000_000_000, 0.01), Ok(128 << 20));
    // The formula of the writers gives as much as it can at the least rates, and not one block.
    for rate in [1e-128, 1e-300, 5e-324] {
        assert_eq!(ParquetWriter::Arrow.size_in_bytes(1_000, rate), Ok(128 << 20));
    }
    // The same values at the published size and at the size that keeps the rate.
    let rates = [
        ParquetBloomFilter::for_writer(ParquetWriter::Arrow, 27_000, 0.01),
        ParquetBloomFilter::new(27_000, 0.01),
    ];
    let [published, ours] = rates.map(|filter| filter.unwrap().rate_at(27_000));
    assert!(published > 0.014 && ours <= 0.01, "{published}, {ours}");
}

#[test]
fn case_26_rates_that_are_none_are_refused() {
    let filter = ParquetBloomFilter::new(4, 0.5).unwrap();
    for rate in [f64::NAN, -1.0, 0.0, 1.0, f64::INFINITY] {
        let refused = [
            filter.shrink_to_rate(rate),
            filter.shrink_as_arrow(rate),
            ParquetBloomFilter::for_writer(ParquetWriter::DuckDb, 4, rate),
            ParquetBloomFilter::new(4, rate),
        ];
        for error in refused.map(Result::unwrap_err) {
            let BuildError::Param(ParamError(ParamFault::NotAProbability { value, .. })) = error
            else {
                panic!("{error} of {rate}");
            };
            assert_eq!(value.to_bits(), rate.to_bits());
        }
    }
}

#[test]
fn a_filter_shrinks_to_the_least_size_of_its_rate() {
    let mut filter = ParquetBloomFilter::new(100_000, 0.01).unwrap();
    filter.insert_batch(&(0..20_000_i64).collect::<Vec<_>>());
    let small = filter.shrink_to_rate(0.01).unwrap();
    let mut direct = ParquetBloomFilter::from_blocks(
        bloom_blocked::SplitBlockBloomFilter::with_blocks(small.size_in_bytes() / 32).unwrap(),
    )
    .unwrap();
    direct.insert_batch(&(0..20_000_i64).collect::<Vec<_>>());
    assert!(small == direct && small.false_positive_rate() <= 0.01);
    assert!(small.blocks().halved().unwrap().unwrap().false_positive_rate() > 0.01);
    let too_many = bloom_blocked::SplitBlockBloomFilter::with_blocks(1 << 26).unwrap();
    assert!(ParquetBloomFilter::from_blocks(too_many).is_err());
}

/// Equal numbers with different bytes, and decimals in each physical type.
#[test]
fn case_38_equal_values_are_found_whatever_their_bytes() {
    fn check<F: ParquetFloat>(zero: F, nan: F, other_nan: F, one: F) {
        for stored in [zero, -zero, nan, one] {
            let mut column = ParquetBloomFilter::new(100, 1e-6).unwrap();
            column.insert(&stored);
            assert!(column.contains_float(stored), "the very bytes");
            assert_eq!(column.contains_float(zero), stored == -stored);
            assert_eq!(column.contains_float(-zero), stored == -stored);
            assert!(column.contains_float(nan) && column.contains_float(other_nan));
            assert!(!column.contains_float(-one), "not contained");
        }
    }
    check(0.0_f64, f64::NAN, f64::from_bits(0x7ff8_0000_0000_0001), 1.0);
    check(0.0_f32, f32::NAN, f32::from_bits(0x7fc0_0001), 1.0);
}

/// XXH64 with seed 0, by the Python package `xxhash` from the bytes of the plain encoding.
#[test]
fn case_38_values_are_hashed_in_their_plain_encoding() {
    let hashes = [
        (500_i32.parquet_hash(), 0x3cdb_ecb6_1222_1001),
        ((-1_i32).parquet_hash(), 0x7f78_e4bd_a3ad_df93),
        (500_i64.parquet_hash(), 0xfbd6_d67f_cddd_837e),
        (1.5_f32.parquet_hash(), 0x4f2d_8259_5c48_3a0d),
        (0.0_f64.parquet_hash(), 0x34c9_6acd_cadb_1bbb),
        ((-0.0_f64).parquet_hash(), 0x3f42_5eac_f015_44e0),
        (500_i32.to_be_bytes().parquet_hash(), 0x7197_5ee7_6234_fe71),
        ([0x01_u8, 0xf4].parquet_hash(), 0x97d1_f490_538c_00f1),
        ("5.00".parquet_hash(), 0x1b8d_2c71_ac18_7b27),
        ((-1_i8).parquet_hash(), 0x7f78_e4bd_a3ad_df93),
        (500_i16.parquet_hash(), 0x3cdb_ecb6_1222_1001),
        (500_u16.parquet_hash(), 0x3cdb_ecb6_1222_1001),
        (u32::MAX.parquet_hash(), 0x7f78_e4bd_a3ad_df93),
        (500_u64.parquet_hash(), 0xfbd6_d67f_cddd_837e),
        (ParquetDecimal::fixed(500, 4).unwrap().parquet_hash(), 0x7197_5ee7_6234_fe71),
        (ParquetDecimal::shortest(500).parquet_hash(), 0x97d1_f490_538c_00f1),
    ];
    for (row, (ours, theirs)) in hashes.into_iter().enumerate() {
        assert_eq!(ours, theirs, "row {row}");
    }
    assert_ne!(200_u8.parquet_hash(), (-56_i8).parquet_hash(), "unsigned ones are not extended");
    assert_eq!(u64::MAX.parquet_hash(), (-1_i64).parquet_hash());
}

/// Numbers are hashed as numbers, and must have the hashes of their bytes.
#[test]
fn case_38_a_number_has_the_hash_of_the_bytes_of_its_column() {
    for number in i16::MIN..=i16::MAX {
        let signed = i32::from(number).to_le_bytes().parquet_hash();
        let unsigned = i32::from(number.cast_unsigned()).to_le_bytes().parquet_hash();
        assert_eq!(number.parquet_hash(), signed, "{number}");
        assert_eq!(number.cast_unsigned().parquet_hash(), unsigned, "{number}");
        if let Ok(number) = i8::try_from(number) {
            let unsigned = i32::from(number.cast_unsigned()).to_le_bytes().parquet_hash();
            assert_eq!(number.parquet_hash(), signed, "{number}");
            assert_eq!(number.cast_unsigned().parquet_hash(), unsigned, "{number}");
        }
    }
    for number in [0, 1, i64::MIN, i64::MAX, i32::MIN.into(), -500] {
        let bytes = number.to_le_bytes().parquet_hash();
        assert_eq!([number.parquet_hash(), number.cast_unsigned().parquet_hash()], [bytes; 2]);
    }
    // Every payload of NaN is a value of its own.
    for payload in 0..1_000_u32 {
        let wide = f64::from_bits((0x7ff << 52) + u64::from(payload));
        let narrow = 0xff80_0000 + payload;
        assert_eq!(wide.parquet_hash(), wide.to_le_bytes().parquet_hash());
        assert_eq!(f32::from_bits(narrow).parquet_hash(), narrow.to_le_bytes().parquet_hash());
    }
    for length in 1..=16 {
        for unscaled in [0, -1, 127, -128] {
            let decimal = ParquetDecimal::fixed(unscaled, length).unwrap();
            assert_eq!(decimal.parquet_hash(), decimal.bytes().parquet_hash());
        }
    }
    // XXH64 of nothing, as its authors publish it.
    let nothing: [u8; 0] = [];
    assert_eq!(["".parquet_hash(), nothing.parquet_hash()], [0xef46_db37_51d8_e999; 2]);
}

#[test]
fn case_38_decimals_have_the_bytes_of_their_columns() {
    let shortest: [(i128, &[u8]); 9] = [
        (0, &[0]),
        (-1, &[0xff]),
        (127, &[0x7f]),
        (128, &[0, 0x80]),
        (-128, &[0x80]),
        (-129, &[0xff, 0x7f]),
        (65_536, &[1, 0, 0]),
        (i128::MAX, &i128::MAX.to_be_bytes()),
        (i128::MIN, &i128::MIN.to_be_bytes()),
    ];
    for (unscaled, bytes) in shortest {
        assert_eq!(ParquetDecimal::shortest(unscaled).bytes(), bytes, "{unscaled}");
        for length in bytes.len()..40 {
            let fixed = ParquetDecimal::fixed(unscaled, length).unwrap();
            let sign = if unscaled < 0 { 0xff } else { 0 };
            let (fill, rest) = fixed.bytes().split_at(length - bytes.len());
            assert!(rest == bytes && fill.iter().all(|&byte| byte == sign), "{unscaled}");
        }
        let error = ParquetDecimal::fixed(unscaled, bytes.len() - 1).unwrap_err();
        assert!(error.to_string().contains("length of a decimal in bytes"), "{error}");
    }
    for length in [1 << 31, usize::MAX] {
        let error = ParquetDecimal::fixed(1, length).unwrap_err().to_string();
        assert!(error.contains("2147483647"), "{error}");
    }
}

#[test]
fn case_17_headers_that_are_none_are_typed_errors() {
    let sound = ParquetBloomFilter::new(1, 0.5).unwrap().to_bytes();
    let read = ParquetBloomFilter::from_bytes;
    let refuses = |bytes: &[u8], kind: DecodeErrorKind, text: &str| {
        let error = read(bytes).unwrap_err();
        assert_eq!(error.to_string(), format!("Parquet Bloom filter: {text}"));
        assert_eq!(error.kind(), kind, "{text}");
        assert_eq!(ParquetBloomFilterView::open(bytes).unwrap_err(), error);
    };
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = sound.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    // The header of 32 bytes of bitset: number, three unions of four bytes, stop.
    assert_eq!(sound.len(), 2 + 12 + 1 + 32);
    refuses(
        &with(1, &[0x41]),
        DecodeErrorKind::Invalid,
        "number of bytes at offset 1 is -33, but must be a multiple of 32 from 32 to 2^31 - 32",
    );
    let long = [&[0x15, 0xff, 0xff, 0xff, 0xff, 0x80][..], &sound[2..]].concat();
    refuses(
        &long,
        DecodeErrorKind::Invalid,
        "number of bytes at offset 5 is 128, but must be the last of at most five bytes, below 128",
    );
    // 64 in two bytes, and 0 in one more.
    let padded = [&[0x15, 0xc0, 0x80, 0x00][..], &sound[2..]].concat();
    refuses(
        &padded,
        DecodeErrorKind::Invalid,
        "number of bytes at offset 3 is 0, but must be above 0, in as few bytes as the number needs",
    );
    refuses(
        &sound[..1],
        DecodeErrorKind::Truncated,
        "number of bytes at offset 1 needs 1 bytes, but 0 are left",
    );
    refuses(
        b"PAR1 and the rest of a file",
        DecodeErrorKind::Invalid,
        "header at offset 0 is \"PAR1\", but must be that of a filter: this is a whole file, and its metadata say where the \
         filter of a column begins (`bloom_filter_offset`)",
    );
    refuses(&[], DecodeErrorKind::Truncated, "header at offset 0 needs 1 bytes, but 0 are left");
    let wide = [&[0x15, 0xff, 0xff, 0xff, 0xff, 0x7f][..], &sound[2..]].concat();
    assert_eq!(read(&wide).unwrap_err().kind(), DecodeErrorKind::Invalid);
    let most = [&[0x15, 0xc0, 0xff, 0xff, 0xff, 0x0f][..], &sound[2..]].concat();
    refuses(
        &most,
        DecodeErrorKind::Truncated,
        "bitset at offset 19 needs 2147483616 bytes, but 32 are left",
    );
    refuses(
        &with(6, &[0x2c]),
        DecodeErrorKind::Hasher,
        "hash function at offset 6 is \",\\x1c\\x00\\x00\", but must be 0x1c1c0000, which is XXHASH",
    );
    // A header of Thrift without compression is that of Murmur3.
    let murmur = [&sound[..10], &sound[14..]].concat();
    assert_eq!(read(&murmur).unwrap_err().kind(), DecodeErrorKind::Hasher);
    assert!(
        read(&murmur)
            .unwrap_err()
            .to_string()
            .ends_with("(without one, the hash is the old Murmur3)")
    );
    // The header before 2020: length, hash 0 and algorithm 0.
    let old = [&32u32.to_le_bytes()[..], &[0; 8], &[0; 32]].concat();
    refuses(
        &old,
        DecodeErrorKind::Hasher,
        "hash function at offset 4 is 0, but must be XXHASH in a header of Thrift (0 is the old Murmur3)",
    );
    let followed = [&sound[..], &[7; 9]].concat();
    refuses(
        &followed,
        DecodeErrorKind::Trailing,
        "the data ends at offset 47, but 9 more bytes follow",
    );
    let (first, rest) = ParquetBloomFilter::from_prefix(&followed).unwrap();
    assert_eq!((first.to_bytes(), rest), (sound.clone(), &[7; 9][..]));
}
