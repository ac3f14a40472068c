//! The structures of this family, as SQL aggregates build them.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use bloom_core::{BloomFilter, BloomParams};
use cms::{CountMinParams, CountMinSketch};
use datafusion::common::{DataFusionError, Result, exec_datafusion_err};
use hll::{HllParams, HyperLogLog, UltraLogLog};
use minhash::{MinHash, MinHashParams};
use pds_core::bytes::{ByteOptions, Portable};
use pds_core::error::{DecodeError, Incompatible};
use pds_core::hash::DefaultHashBuilder;

use crate::call::Call;

const DEFAULT_PRECISION: i64 = 14;
const DEFAULT_VALUES: i64 = 128;

/// A structure that is a function of the hashes inserted: their order and batches make no difference.
pub(crate) trait Sketch:
    Portable<Hasher = DefaultHashBuilder> + Debug + Send + Sync + 'static
{
    /// The parameters of a call.
    type Params: Copy + Debug + Send + Sync + 'static;

    /// The number of parameters after the key.
    const NUM_PARAMS: RangeInclusive<usize>;
    /// Whether a second insert of a key changes the structure.
    const COUNTS: bool = false;

    /// Reads the parameters of a call.
    fn params(call: &Call) -> Result<Self::Params>;

    /// Returns the size in bytes that a structure of these parameters reaches.
    fn full_bytes(params: Self::Params) -> u64;

    fn empty(params: Self::Params) -> Result<Self>;

    fn insert(&mut self, hash: u64);

    fn insert_batch(&mut self, hashes: &[u64]);

    fn union(&mut self, other: &Self) -> Result<(), Incompatible>;

    fn heap_bytes(&self) -> usize;

    fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }
}

/// Returns a size as the engine counts it.
pub(crate) fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// Refuses parameters of sketches that are too large for a value.
fn within_a_value<S: Sketch>(call: &Call, params: S::Params) -> Result<S::Params> {
    /// Values have less than 2^32 bytes, of which the head takes some.
    const MAX_BYTES: u64 = u32::MAX as u64 - 4_096;
    match S::full_bytes(params) {
        ..=MAX_BYTES => Ok(params),
        size => Err(call.refused(format!(
            "the parameters give a sketch of {size} bytes; allowed are {MAX_BYTES}"
        ))),
    }
}

fn precision(call: &Call) -> Result<HllParams> {
    let precision = call.whole(1, "precision", 4..=18)?.unwrap_or(DEFAULT_PRECISION);
    HllParams::new(u32::try_from(precision).unwrap_or_default())
        .map_err(|error| call.refused(error))
}

fn no_memory(error: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::ResourcesExhausted(error.to_string())
}

macro_rules! inserts {
    () => {
        fn insert(&mut self, hash: u64) {
            self.insert_hash(hash);
        }

        fn insert_batch(&mut self, hashes: &[u64]) {
            self.insert_hash_batch(hashes);
        }
    };
}

impl Sketch for HyperLogLog {
    type Params = HllParams;
    const NUM_PARAMS: RangeInclusive<usize> = 0..=1;

    fn params(call: &Call) -> Result<HllParams> {
        precision(call)
    }

    // A sketch of few keys is small by itself.
    fn full_bytes(params: HllParams) -> u64 {
        params.num_registers().min(2_048)
    }

    fn empty(params: HllParams) -> Result<Self> {
        Ok(Self::from_params(params, DefaultHashBuilder::default()))
    }

    inserts!();

    fn union(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }

    fn heap_bytes(&self) -> usize {
        bytes(self.size_in_bytes())
    }
}

impl Sketch for UltraLogLog {
    type Params = HllParams;
    const NUM_PARAMS: RangeInclusive<usize> = 0..=1;

    fn params(call: &Call) -> Result<HllParams> {
        precision(call)
    }

    fn full_bytes(params: HllParams) -> u64 {
        params.num_registers()
    }

    fn empty(params: HllParams) -> Result<Self> {
        Ok(Self::from_params(params, DefaultHashBuilder::default()))
    }

    inserts!();

    fn union(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }

    fn heap_bytes(&self) -> usize {
        self.registers().len()
    }
}

impl Sketch for BloomFilter {
    type Params = BloomParams;
    const NUM_PARAMS: RangeInclusive<usize> = 2..=2;

    fn params(call: &Call) -> Result<BloomParams> {
        let items = call.whole(1, "items", 1..=i64::MAX)?;
        let items = call.required("items", items)?.cast_unsigned();
        let rate = call.required("rate", call.number(2, "rate")?)?;
        let params = BloomParams::for_double_hashing(items, rate);
        within_a_value::<Self>(call, params.map_err(|error| call.refused(error))?)
    }

    fn full_bytes(params: BloomParams) -> u64 {
        params.size_in_bytes()
    }

    fn empty(params: BloomParams) -> Result<Self> {
        Self::from_params(params, DefaultHashBuilder::default()).map_err(no_memory)
    }

    inserts!();

    fn union(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.union_with(other)
    }

    fn heap_bytes(&self) -> usize {
        bytes(self.size_in_bytes())
    }
}

impl Sketch for CountMinSketch {
    type Params = CountMinParams;
    const NUM_PARAMS: RangeInclusive<usize> = 2..=2;
    const COUNTS: bool = true;

    fn params(call: &Call) -> Result<CountMinParams> {
        let epsilon = call.required("eps", call.number(1, "eps")?)?;
        let delta = call.required("delta", call.number(2, "delta")?)?;
        let params = CountMinParams::new(epsilon, delta);
        within_a_value::<Self>(call, params.map_err(|error| call.refused(error))?)
    }

    fn full_bytes(params: CountMinParams) -> u64 {
        params.counters() * 4
    }

    fn empty(params: CountMinParams) -> Result<Self> {
        Self::from_params(params, DefaultHashBuilder::default()).map_err(no_memory)
    }

    inserts!();

    fn union(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }

    fn heap_bytes(&self) -> usize {
        bytes(Self::full_bytes(self.params()))
    }
}

impl Sketch for MinHash {
    type Params = MinHashParams;
    const NUM_PARAMS: RangeInclusive<usize> = 0..=1;

    fn params(call: &Call) -> Result<MinHashParams> {
        let values = call.whole(1, "values", 16..=4_096)?.unwrap_or(DEFAULT_VALUES);
        let values = u32::try_from(values).unwrap_or(u32::MAX);
        MinHashParams::new(values).map_err(|error| call.refused(error))
    }

    fn full_bytes(params: MinHashParams) -> u64 {
        params.size_in_bytes()
    }

    fn empty(params: MinHashParams) -> Result<Self> {
        Self::from_params(params, DefaultHashBuilder::default()).map_err(no_memory)
    }

    inserts!();

    fn union(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }

    fn heap_bytes(&self) -> usize {
        bytes(self.size_in_bytes())
    }
}

/// Returns the error of a value of a column that is no such sketch.
pub(crate) fn bad_sketch(
    function: &str,
    argument: &str,
    row: usize,
    error: impl std::fmt::Display,
) -> DataFusionError {
    exec_datafusion_err!("{function}: {argument}, row {row} of its batch: {error}")
}
