//! What is in the files of other systems.

use crate::output::{Cell, Facts};
use pds::Estimate;
use pds::formats::datasketches::{
    DataSketchesBloomFilter, DataSketchesCountMin, DataSketchesCpc, DataSketchesHll,
};
use pds::formats::dcso::DcsoBloomFilter;
use pds::formats::guava::GuavaBloomFilter;
use pds::formats::milvus::MilvusBloomFilter;
use pds::formats::parquet::ParquetBloomFilter;
use pds::formats::postgres::PostgresHll;
use pds::formats::redis::{
    RedisBloomFilter, RedisCountMinSketch, RedisCuckooFilter, RedisHyperLogLog, ValkeyBloomFilter,
};
use pds::formats::spark::{SparkBloomFilter, SparkCountMin};
use pds::formats::xorf::{XorFilter, XorKind};
use pds::theta::{CompactThetaSketch, ThetaSet};

/// Reads a format, and tells what is in it. `None` if the bytes are of another format.
type Read = fn(&[u8]) -> Option<Facts>;

/// Reads a Bloom filter. The types have their methods in common, but no trait.
macro_rules! bits {
    ($filter:ty, $bytes:ident) => {{
        let filter = <$filter>::from_bytes($bytes).ok()?;
        let mut facts = Facts::new();
        facts.put("bits", filter.num_bits());
        facts.put("hashes", u64::from(filter.num_hashes()));
        facts.put("keys", Cell::whole(filter.approx_len().value));
        facts.put("keys_error", filter.approx_len().standard_error);
        facts.put("false_positive_rate", filter.false_positive_rate());
        Some(facts)
    }};
}

/// Formats, named as in `docs/formats.md`. Those with the least to recognise them by come last.
const FORMATS: [(&str, Read); 21] = [
    ("Redis HyperLogLog", |bytes| {
        RedisHyperLogLog::from_bytes(bytes).ok().map(|one| distinct(one.estimate_with_error()))
    }),
    ("Milvus Bloom filter", |bytes| {
        MilvusBloomFilter::from_bytes(bytes).ok().map(|one| {
            let mut facts = Facts::new();
            facts.put("expected_keys", one.declared_values());
            facts.put("promised_rate", one.declared_rate());
            facts
        })
    }),
    ("RedisBloom Bloom filter", |bytes| {
        RedisBloomFilter::from_dump(bytes).ok().map(|one| {
            layers(one.len(), one.capacity(), one.num_layers(), one.false_positive_rate())
        })
    }),
    ("RedisBloom cuckoo filter", |bytes| {
        RedisCuckooFilter::from_dump(bytes).ok().map(|one| {
            layers(one.len(), one.num_slots(), one.num_tables(), one.false_positive_rate())
        })
    }),
    ("RedisBloom count-min sketch", |bytes| {
        RedisCountMinSketch::from_dump(bytes)
            .ok()
            .map(|one| counters(one.width().into(), one.depth().into(), Cell::Count(one.total())))
    }),
    ("DataSketches HLL sketch", |bytes| {
        DataSketchesHll::from_bytes(bytes).ok().map(|one| distinct(one.estimate()))
    }),
    ("DataSketches theta sketch", |bytes| {
        CompactThetaSketch::from_bytes(bytes).ok().map(|one| distinct(one.estimate_with_error()))
    }),
    ("DataSketches CPC sketch", |bytes| {
        DataSketchesCpc::from_bytes(bytes).ok().map(|one| distinct(one.estimate()))
    }),
    ("DataSketches count-min sketch", |bytes| {
        DataSketchesCountMin::from_bytes(bytes).ok().map(|one| {
            let total = Cell::Number(one.total_weight());
            counters(one.num_buckets().into(), one.num_rows() as u64, total)
        })
    }),
    ("DataSketches Bloom filter", |bytes| bits!(DataSketchesBloomFilter, bytes)),
    ("valkey-bloom filter", |bytes| {
        ValkeyBloomFilter::from_bytes(bytes).ok().map(|one| {
            layers(one.len(), one.capacity(), one.num_layers(), one.false_positive_rate())
        })
    }),
    ("Spark Bloom filter", |bytes| bits!(SparkBloomFilter, bytes)),
    ("Spark count-min sketch", |bytes| {
        SparkCountMin::from_bytes(bytes)
            .ok()
            .map(|one| counters(one.width().into(), one.depth() as u64, Cell::Count(one.total())))
    }),
    ("Guava Bloom filter", |bytes| bits!(GuavaBloomFilter, bytes)),
    ("DCSO Bloom filter", |bytes| bits!(DcsoBloomFilter, bytes)),
    ("Parquet Bloom filter", |bytes| {
        ParquetBloomFilter::from_bytes(bytes).ok().map(|one| {
            let mut facts = Facts::new();
            facts.put("bits", 8 * one.size_in_bytes());
            facts.put("false_positive_rate", one.false_positive_rate());
            facts
        })
    }),
    ("postgresql-hll value", |bytes| {
        PostgresHll::from_bytes(bytes).ok().map(|one| distinct(one.estimate()))
    }),
    ("xor_singleheader xor8 filter", |bytes| fingerprints(XorKind::Xor8, bytes)),
    ("xor_singleheader xor16 filter", |bytes| fingerprints(XorKind::Xor16, bytes)),
    ("xor_singleheader binary_fuse8 filter", |bytes| fingerprints(XorKind::BinaryFuse8, bytes)),
    ("xor_singleheader binary_fuse16 filter", |bytes| fingerprints(XorKind::BinaryFuse16, bytes)),
];

/// What is in the bytes of another system: the name of the format, and facts. `None` if no format here has such bytes.
pub(super) fn read(bytes: &[u8]) -> Option<(&'static str, Facts)> {
    FORMATS.iter().find_map(|(name, read)| Some((*name, read(bytes)?)))
}

fn distinct(estimate: Estimate) -> Facts {
    let mut facts = Facts::new();
    facts.put("distinct", Cell::whole(estimate.value));
    facts.put("standard_error", estimate.standard_error);
    facts
}

/// A filter of several tables.
fn layers(keys: u64, capacity: u64, layers: usize, rate: f64) -> Facts {
    let mut facts = Facts::new();
    facts.put("keys", keys);
    facts.put("expected_keys", capacity);
    facts.put("layers", layers as u64);
    facts.put("false_positive_rate", rate);
    facts
}

fn counters(width: u64, depth: u64, total: Cell) -> Facts {
    let mut facts = Facts::new();
    facts.put("width", width);
    facts.put("depth", depth);
    facts.put("total", total);
    facts
}

fn fingerprints(kind: XorKind, bytes: &[u8]) -> Option<Facts> {
    let filter = XorFilter::from_bytes(kind, bytes).ok()?;
    let mut facts = Facts::new();
    facts.put("fingerprints", filter.num_fingerprints() as u64);
    let is_wide = matches!(kind, XorKind::Xor16 | XorKind::BinaryFuse16);
    facts.put("false_positive_rate", f64::exp2(if is_wide { -16.0 } else { -8.0 }));
    Some(facts)
}
