//! The split-block filter against bitsets that Arrow, DuckDB and Spark wrote.
//!
//! `data/parquet_sbbf.json` is an excerpt. If the whole file is beside the workspace, as
//! `../shared/vectors/parquet_sbbf.json`, all cases are checked.
#![cfg(feature = "std")]

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bloom_blocked::error::{BuildError, ParamError};
use bloom_blocked::{
    AtomicSplitBlockBloomFilter, ParquetValue, ParquetWriter, SplitBlockBloomFilter,
    SplitBlockBloomFilterView,
};
use pds_params::blocked::split_block_rate;
use pds_params::internal::ParamFault;
use pds_testkit::keys;
use quickcheck::quickcheck;
use serde_json::Value;

fn vectors() -> Vec<Value> {
    let whole =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/parquet_sbbf.json");
    let excerpt = include_str!("../data/parquet_sbbf.json").to_owned();
    let texts = [Some(excerpt), fs::read_to_string(whole).ok()];
    texts.into_iter().flatten().map(|text| serde_json::from_str(&text).unwrap()).collect()
}

/// Returns the hashes of a set of keys in the type of its column.
fn hashes(keys: &Value, column: &str) -> Vec<u64> {
    let start = keys["start"].as_i64().unwrap();
    let indices = start..start + keys["count"].as_i64().unwrap();
    if keys["kind"] == "text" {
        let prefix = keys["prefix"].as_str().unwrap();
        return indices.map(|i| format!("{prefix}{i}").as_str().parquet_hash()).collect();
    }
    let hex = keys["mul"].as_str().unwrap().trim_start_matches("0x");
    let factor = u64::from_str_radix(hex, 16).unwrap().cast_signed();
    let hash = |key: i64| match column {
        "int64" => key.parquet_hash(),
        "int32" => i32::try_from(key).unwrap().parquet_hash(),
        "double" => (f64::from(i32::try_from(key).unwrap()) / 4.0).parquet_hash(),
        other => panic!("unknown column type {other}"),
    };
    indices.map(|i| hash(i.wrapping_mul(factor))).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

fn bitset(case: &Value, writer: &str) -> Vec<u8> {
    let written = &case["writers"][writer];
    match written["bitset"].as_str() {
        Some(base64) => STANDARD.decode(base64).unwrap(),
        None => bitset(case, text(written, "bitset_same_as")),
    }
}

#[test]
fn filters_of_real_writers_are_read_and_written_bit_for_bit() {
    let mut checked = 0;
    for case in vectors().iter().flat_map(|file| file["cases"].as_array().unwrap()) {
        let column = text(case, "column_type");
        let stored = hashes(&case["keys"], column);
        let absent = hashes(&case["absent_keys"], column);
        for (writer, written) in case["writers"].as_object().unwrap() {
            let bytes = bitset(case, writer);
            let read = SplitBlockBloomFilter::from_parquet_bytes(&bytes).unwrap();
            assert_eq!(read.size_in_bytes(), bytes.len() as u64);
            assert!(stored.iter().all(|&hash| read.contains_hash(hash)), "{writer}");
            let answers: String = absent
                .iter()
                .map(|&hash| if read.contains_hash(hash) { '1' } else { '0' })
                .collect();
            assert_eq!(answers, text(written, "absent_answers"), "{writer}");

            let mut ours = SplitBlockBloomFilter::with_blocks(read.num_blocks()).unwrap();
            stored.iter().for_each(|&hash| {
                ours.insert_hash(hash);
            });
            assert_eq!(ours.to_parquet_bytes(), bytes, "{writer}");
            checked += 1;
        }
    }
    assert!(checked >= 12);
}

#[test]
fn arrow_shrinks_as_we_do() {
    for case in vectors().iter().flat_map(|file| file["cases"].as_array().unwrap()) {
        let (items, rate) = (case["ndv"].as_u64().unwrap(), case["fpp"].as_f64().unwrap());
        let size = ParquetWriter::Arrow;
        let mut ours = SplitBlockBloomFilter::for_writer(size, items, rate).unwrap();
        hashes(&case["keys"], text(case, "column_type")).into_iter().for_each(|hash| {
            ours.insert_hash(hash);
        });
        let shrunk = ours.shrink_as_arrow(rate).unwrap();
        assert_eq!(shrunk.to_parquet_bytes(), bitset(case, "pyarrow"));
    }
}

#[test]
fn sizes_are_those_of_the_writers() {
    for file in vectors() {
        for row in file["writer_sizes_keys_0_to_ndv_int64"].as_array().unwrap() {
            let (items, rate) = (row["ndv"].as_u64().unwrap(), row["fpp"].as_f64().unwrap());
            let size = |writer: ParquetWriter| writer.size_in_bytes(items, rate).unwrap();
            assert_eq!(size(ParquetWriter::DuckDb), row["duckdb_bytes"], "{row}");
            assert_eq!(size(ParquetWriter::ParquetJava), row["parquet_java_bytes"], "{row}");
            let writer = ParquetWriter::Arrow;
            let mut arrow = SplitBlockBloomFilter::for_writer(writer, items, rate).unwrap();
            (0..items).for_each(|key| {
                arrow.insert(&key.cast_signed());
            });
            let shrunk = arrow.shrink_as_arrow(rate).unwrap();
            assert_eq!(shrunk.size_in_bytes(), row["pyarrow_bytes"], "{row}");
        }
        for row in file["parquet_java_optimal_bits_ndv_fpp_bits"].as_array().unwrap() {
            let (items, rate) = (row[0].as_u64().unwrap(), row[1].as_f64().unwrap());
            let bytes = (row[2].as_u64().unwrap() / 8).next_power_of_two();
            assert_eq!(ParquetWriter::ParquetJava.size_in_bytes(items, rate).unwrap(), bytes);
        }
    }
}

#[test]
fn what_is_no_bitset_is_refused() {
    for length in [0, 1, 31, 33, 63, 96 + 1] {
        let refused = SplitBlockBloomFilter::from_parquet_bytes(&vec![0; length]).unwrap_err();
        let found =
            format!("bitset at offset 0 is {length}, but must be a multiple of 32 from 32 to 2^37");
        assert!(refused.to_string().ends_with(&found), "{refused}");
    }
    for blocks in [0, (1 << 32) + 1] {
        let refused = SplitBlockBloomFilter::with_blocks(blocks).unwrap_err();
        assert!(matches!(refused, BuildError::Param(_)), "{refused}");
    }
    for (items, rate) in [(0, 0.1), (1, 0.0), (1, 1.0), (1, f64::NAN)] {
        assert!(SplitBlockBloomFilter::new(items, rate).is_err(), "{items}, {rate}");
    }
}

/// Writers make no larger filter, at the cost of the rate. A request for a rate is then an error.
#[test]
fn a_rate_beyond_the_largest_filter_is_refused() {
    assert!(SplitBlockBloomFilter::new(100_000_000, 0.01).is_ok());
    let refused = SplitBlockBloomFilter::new(1_000_000_000, 0.01).unwrap_err();
    let BuildError::Param(ParamError(ParamFault::TooLarge { parameter: "blocks", .. })) = refused
    else {
        panic!("{refused}")
    };
    assert_eq!(ParquetWriter::Arrow.size_in_bytes(1_000_000_000, 0.01), Ok(128 << 20));
}

#[test]
fn a_batch_is_one_by_one() {
    let values: Vec<String> = keys::urls(3).take(1_000).collect();
    let (mut single, mut batch) = (
        SplitBlockBloomFilter::with_blocks(20).unwrap(),
        SplitBlockBloomFilter::with_blocks(20).unwrap(),
    );
    let new = values[..300].iter().filter(|value| single.insert(*value)).count();
    assert_eq!(batch.insert_batch(&values[..300]), new);
    assert!(batch == single && batch.try_clone().unwrap() == single);
    let bytes: Vec<Vec<u8>> = values.iter().map(|value| value.clone().into_bytes()).collect();
    let hashes: Vec<u64> = values.iter().map(ParquetValue::parquet_hash).collect();
    let answers: Vec<bool> = values.iter().map(|value| single.contains(value)).collect();
    let mut out = vec![false; values.len()];
    batch.contains_batch(&bytes, &mut out);
    assert_eq!(out, answers);
    batch.contains_hash_batch(&hashes, &mut out);
    assert_eq!(out, answers);
    assert_eq!(batch.insert_hash_batch(&hashes[..300]), 0);
}

#[test]
fn the_rate_is_the_predicted_one() {
    let mut filter = SplitBlockBloomFilter::with_blocks(10_007).unwrap();
    let mut hashes = keys::random(1);
    hashes.by_ref().take(250_000).for_each(|hash| {
        filter.insert_hash(hash);
    });
    let asked = 4_000_000;
    let hits = hashes.take(asked).filter(|&hash| filter.contains_hash(hash)).count() as f64;
    let (measured, own) = (hits / asked as f64, filter.false_positive_rate());
    // Five standard errors of the count; filters of this size differ by 0.4 % among themselves.
    assert!((measured / own - 1.0).abs() < 5.0 / hits.sqrt(), "{measured}, {own}");
    let predicted = split_block_rate(10_007, 250_000);
    assert!((own / predicted - 1.0).abs() < 0.02, "{own}, {predicted}");
}

quickcheck! {
    fn no_value_is_lost_and_batches_agree(blocks: u8, values: Vec<i64>, asked: Vec<i64>) -> bool {
        let mut filter = SplitBlockBloomFilter::with_blocks(1 + u64::from(blocks)).unwrap();
        let news = values.iter().all(|value| {
            let absent = !filter.contains(value);
            filter.insert(value) == absent
        });
        let mut answers = vec![false; asked.len()];
        filter.contains_batch(&asked, &mut answers);
        news
            && values.iter().all(|value| filter.contains(value))
            && asked.iter().zip(answers).all(|(value, answer)| filter.contains(value) == answer)
    }

    fn a_union_is_the_filter_of_both(left: Vec<i64>, right: Vec<i64>) -> bool {
        let filled = |values: &[i64]| {
            let mut filter = SplitBlockBloomFilter::with_blocks(3).unwrap();
            values.iter().for_each(|value| {
                filter.insert(value);
            });
            filter
        };
        let mut union = filled(&left);
        union.union_with(&filled(&right)).unwrap();
        union == filled(&[left, right].concat())
    }
}

/// The shared filter sets the bits of the plain one, and a view of its bitset gives the same answers and figures.
#[test]
fn all_storages_have_the_same_bits_and_answers() {
    let stored: Vec<u64> = keys::random(1).take(5_000).collect();
    let asked: Vec<u64> = stored.iter().copied().chain(keys::random(2)).take(10_000).collect();
    let (mut plain, mut batched) =
        [0, 0].map(|_| SplitBlockBloomFilter::with_blocks(700).unwrap()).into();
    let new: Vec<bool> = stored.iter().map(|&hash| plain.insert_hash(hash)).collect();
    let new = new.into_iter().filter(|&new| new).count();
    assert_eq!(batched.insert_hash_batch(&stored), new);
    assert!(batched == plain);

    let shared =
        AtomicSplitBlockBloomFilter::from(SplitBlockBloomFilter::with_blocks(700).unwrap());
    let (left, right) = stored.split_at(2_000);
    let one_by_one = left.iter().filter(|&&hash| shared.insert_hash(hash)).count();
    assert_eq!(one_by_one + shared.insert_hash_batch(right), new);
    assert_eq!(shared.to_parquet_bytes(), plain.to_parquet_bytes());

    // At an odd address, too.
    let bytes = [&[0][..], &plain.to_parquet_bytes()].concat();
    let view = SplitBlockBloomFilterView::open(&bytes[1..]).unwrap();
    let mut answers =
        [vec![false; asked.len()], vec![false; asked.len()], vec![false; asked.len()]];
    plain.contains_hash_batch(&asked, &mut answers[0]);
    shared.contains_hash_batch(&asked, &mut answers[1]);
    view.contains_hash_batch(&asked, &mut answers[2]);
    for (i, &hash) in asked.iter().enumerate() {
        let answer = plain.contains_hash(hash);
        assert!(answer || i >= stored.len());
        assert_eq!([shared.contains_hash(hash), view.contains_hash(hash)], [answer; 2]);
        assert_eq!(answers.each_ref().map(|answers| answers[i]), [answer; 3]);
    }
    assert_eq!(view.false_positive_rate(), plain.false_positive_rate());
    assert_eq!(view.fill_ratio(), plain.fill_ratio());
    assert!(view.shrink_to_rate(0.9).unwrap() == plain.shrink_to_rate(0.9).unwrap());
    assert!(shared.into_plain() == plain);

    for wrong in [0, 31, 33] {
        let error = SplitBlockBloomFilterView::open(&bytes[..wrong]).unwrap_err();
        let found =
            format!("bitset at offset 0 is {wrong}, but must be a multiple of 32 from 32 to 2^37");
        assert!(error.to_string().ends_with(&found), "{error}");
    }
}
