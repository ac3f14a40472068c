//! The functions `pds_*`, over sketches in the portable bytes of this family.

use std::sync::Arc;

use bloom_core::{BloomFilter, BloomFilterView};
use cms::CountMinSketch;
use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array, UInt64Array, new_null_array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use fuse::RibbonFilterView;
use hll::{HyperLogLog, UltraLogLog};
use minhash::MinHash;
use pds_core::bytes::{Header, Kind};
use pds_core::error::DecodeError;
use pds_core::traits::Membership;

use crate::build::Build;
use crate::fold::Folding;
use crate::help::{Help, help};
use crate::keys::{check_type, hash_rows, hasher};
use crate::output::{Bytes, Interval};
use crate::ribbon::Ribbon;
use crate::scalar::{
    Argument, Batch, Sketches, ask, blob, blob_array, of_pairs, of_sketches, open_once, scalar,
};
use crate::sketch::{Sketch, bad_sketch};
use crate::unions::Union;

pub(crate) fn aggregates() -> Vec<AggregateUDF> {
    vec![
        Build::<HyperLogLog, Bytes>::udaf(help!(
            "pds_hll_agg",
            "key [, precision]",
            "Builds a HyperLogLog sketch of the distinct keys. The precision is from 4 to 18, by default 14."
        )),
        Build::<UltraLogLog, Bytes>::udaf(help!(
            "pds_ull_agg",
            "key [, precision]",
            "Builds an UltraLogLog sketch of the distinct keys. The precision is from 4 to 18, by default 14."
        )),
        Build::<BloomFilter, Bytes>::udaf(help!(
            "pds_bloom_agg",
            "key, items, rate",
            "Builds a Bloom filter of the keys, with at most this false-positive rate up to `items` distinct keys."
        )),
        Build::<CountMinSketch, Bytes>::udaf(help!(
            "pds_cms_agg",
            "key, eps, delta",
            "Builds a count-min sketch of the keys: counts exceed the truth by more than eps times the number of rows with \
             probability delta."
        )),
        Build::<MinHash, Bytes>::udaf(help!(
            "pds_minhash_agg",
            "key [, values]",
            "Builds a MinHash sketch of the set of keys, by default of 128 values."
        )),
        Build::<HyperLogLog, Interval>::udaf(help!(
            "pds_distinct",
            "key [, precision [, confidence]]",
            "Estimates the number of distinct keys: a struct of estimate, lower, upper. The interval holds the truth with \
             this probability, by default 0.95."
        )),
        Folding::<Ribbon>::udaf(help!(
            "pds_ribbon_agg",
            "key [, rate]",
            "Builds a ribbon filter of the keys, with this false-positive rate, by default 0.01. It is a third smaller than \
             a Bloom filter, and has no union."
        )),
        Folding::<Union<HyperLogLog>>::udaf(help!(
            "pds_hll_union_agg",
            "sketch",
            "Merges HyperLogLog sketches. The result has the lowest precision."
        )),
        Folding::<Union<UltraLogLog>>::udaf(help!(
            "pds_ull_union_agg",
            "sketch",
            "Merges UltraLogLog sketches. The result has the lowest precision."
        )),
        Folding::<Union<BloomFilter>>::udaf(help!(
            "pds_bloom_union_agg",
            "filter",
            "Merges Bloom filters of equal size."
        )),
        Folding::<Union<CountMinSketch>>::udaf(help!(
            "pds_cms_union_agg",
            "sketch",
            "Adds count-min sketches of equal size."
        )),
        Folding::<Union<MinHash>>::udaf(help!(
            "pds_minhash_union_agg",
            "sketch",
            "Merges MinHash sketches of equal size."
        )),
    ]
}

pub(crate) fn scalars() -> Vec<ScalarUDF> {
    const SKETCH: &[Argument] = &[Argument::Sketch("the sketch")];
    const PAIR: &[Argument] =
        &[Argument::Sketch("the first sketch"), Argument::Sketch("the second sketch")];
    const ASKED: &[Argument] = &[Argument::Sketch("the sketch"), Argument::Key(check_type)];
    vec![
        scalar(
            help!("pds_hll_estimate", "sketch", "Estimates the number of distinct keys."),
            SKETCH,
            1,
            |_| DataType::Float64,
            |batch| estimates::<HyperLogLog>(batch, |sketch| sketch.estimate()),
        ),
        scalar(
            help!("pds_ull_estimate", "sketch", "Estimates the number of distinct keys."),
            SKETCH,
            1,
            |_| DataType::Float64,
            |batch| estimates::<UltraLogLog>(batch, |sketch| sketch.estimate()),
        ),
        scalar(
            help!(
                "pds_might_contain",
                "filter, key",
                "Returns whether a Bloom or ribbon filter may contain the key. `false` is certain."
            ),
            ASKED,
            2,
            |_| DataType::Boolean,
            might_contain,
        ),
        scalar(
            help!(
                "pds_cms_estimate",
                "sketch, key",
                "Estimates in how many rows the key was. Never too few."
            ),
            ASKED,
            2,
            |_| DataType::UInt64,
            cms_estimate,
        ),
        scalar(
            help!(
                "pds_jaccard",
                "sketch, sketch",
                "Estimates the Jaccard index of two sets from their MinHash sketches, from 0 to 1."
            ),
            PAIR,
            2,
            |_| DataType::Float64,
            jaccard,
        ),
        scalar(
            help!("pds_hll_union", "sketch, sketch", "Merges two HyperLogLog sketches."),
            PAIR,
            2,
            blob,
            union::<HyperLogLog>,
        ),
        scalar(
            help!("pds_ull_union", "sketch, sketch", "Merges two UltraLogLog sketches."),
            PAIR,
            2,
            blob,
            union::<UltraLogLog>,
        ),
        scalar(
            help!("pds_bloom_union", "filter, filter", "Merges two Bloom filters of equal size."),
            PAIR,
            2,
            blob,
            union::<BloomFilter>,
        ),
        scalar(
            help!("pds_cms_union", "sketch, sketch", "Adds two count-min sketches of equal size."),
            PAIR,
            2,
            blob,
            union::<CountMinSketch>,
        ),
        scalar(
            help!(
                "pds_minhash_union",
                "sketch, sketch",
                "Merges two MinHash sketches of equal size."
            ),
            PAIR,
            2,
            blob,
            union::<MinHash>,
        ),
    ]
}

fn read<S: Sketch>(batch: &Batch, argument: &str, row: usize, bytes: &[u8]) -> Result<S> {
    S::from_bytes(bytes).map_err(|error| bad_sketch(batch.function, argument, row, error))
}

fn estimates<S: Sketch>(batch: &Batch, estimate: fn(&S) -> f64) -> Result<ArrayRef> {
    let of_row = |row, bytes: &[u8]| Ok(estimate(&read(batch, "the sketch", row, bytes)?));
    Ok(Arc::new(Float64Array::from(of_sketches(batch, of_row)?)))
}

fn union<S: Sketch>(batch: &Batch) -> Result<ArrayRef> {
    let unions = of_pairs(batch, |row, left, right| {
        let mut left: S = read(batch, "the first sketch", row, left)?;
        let right = read(batch, "the second sketch", row, right)?;
        let refused = |error| bad_sketch(batch.function, "the second sketch", row, error);
        left.union(&right).map_err(refused)?;
        Ok(left.to_bytes())
    })?;
    Ok(blob_array(unions))
}

fn jaccard(batch: &Batch) -> Result<ArrayRef> {
    let of_row = |row, left: &[u8], right: &[u8]| {
        let left: MinHash = read(batch, "the first sketch", row, left)?;
        let right: MinHash = read(batch, "the second sketch", row, right)?;
        let refused = |error| bad_sketch(batch.function, "the second sketch", row, error);
        Ok(left.jaccard(&right).map_err(refused)?.value)
    };
    Ok(Arc::new(Float64Array::from(of_pairs(batch, of_row)?)))
}

/// Returns the hash of every key that a sketch is asked for.
fn hashes_of_keys(batch: &Batch) -> Result<Vec<u64>> {
    let mut hashes = Vec::new();
    hash_rows(batch.args[0].array(), &mut hashes)?;
    Ok(hashes)
}

fn might_contain(batch: &Batch) -> Result<ArrayRef> {
    if let Sketches::One(filter) = &batch.sketches[0]
        && !batch.args[0].is_one()
    {
        return might_contain_each(batch, filter.as_deref());
    }
    let hashes = hashes_of_keys(batch)?;
    let contains = |filter: &Filter, key: usize| filter.contains_hash(hashes[key]);
    Ok(Arc::new(BooleanArray::from(ask(batch, "the filter", open_filter, contains)?)))
}

/// Asks one filter for many keys.
fn might_contain_each(batch: &Batch, filter: Option<&[u8]>) -> Result<ArrayRef> {
    let Some(bytes) = filter else {
        return Ok(new_null_array(&DataType::Boolean, batch.num_rows));
    };
    let filter = open_once(batch, "the filter", 0, bytes, open_filter)?;
    let hashes = hashes_of_keys(batch)?;
    let mut answers = vec![false; hashes.len()];
    filter.contains_hash_batch(&hashes, &mut answers);
    Ok(Arc::new(BooleanArray::new(answers.into(), batch.args[0].array().logical_nulls())))
}

/// A filter of any kind.
type Filter = Box<dyn Membership + Send + Sync>;

/// Opens a filter in the bytes of a value, and verifies all of it.
fn open_filter(bytes: Arc<[u8]>) -> Result<Filter, String> {
    let text = |error: DecodeError| error.to_string();
    let kind = Header::peek(&bytes).map_err(text)?.kind;
    if kind == Kind::BLOOM {
        let filter = BloomFilterView::open(bytes).map_err(text)?;
        filter.verify().map_err(text)?;
        check_seed(filter.hasher().seed())?;
        return Ok(Box::new(filter));
    }
    let filter = RibbonFilterView::open(bytes).map_err(text)?;
    filter.verify().map_err(text)?;
    check_seed(filter.hasher().seed())?;
    Ok(Box::new(filter))
}

/// Refuses a sketch that hashes keys otherwise.
fn check_seed(seed: u64) -> Result<(), String> {
    if seed == hasher().seed() {
        return Ok(());
    }
    Err(format!(
        "its hasher has the seed {seed}; keys are hashed with the seed {}",
        hasher().seed()
    ))
}

fn open_counts(bytes: Arc<[u8]>) -> Result<CountMinSketch, String> {
    let sketch: CountMinSketch = Sketch::from_bytes(&bytes).map_err(|error| error.to_string())?;
    check_seed(sketch.hasher().seed())?;
    Ok(sketch)
}

fn cms_estimate(batch: &Batch) -> Result<ArrayRef> {
    let hashes = hashes_of_keys(batch)?;
    let count = |sketch: &CountMinSketch, key: usize| sketch.estimate_hash(hashes[key]).value();
    Ok(Arc::new(UInt64Array::from(ask(batch, "the sketch", open_counts, count)?)))
}
