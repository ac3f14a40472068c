//! Files of other systems.

use crate::tool::Folder;
use pds::formats::datasketches::{
    DataSketchesBloomFilter, DataSketchesCountMin, DataSketchesHll, HllRegisters,
};
use pds::formats::dcso::DcsoBloomFilter;
use pds::formats::guava::GuavaBloomFilter;
use pds::formats::milvus::MilvusBloomFilter;
use pds::formats::parquet::ParquetBloomFilter;
use pds::formats::presto::PrestoHll;
use pds::formats::redis::{
    RdbVersion, RedisBloomFilter, RedisCountMinSketch, RedisCuckooFilter, RedisHyperLogLog,
    RedisTopK, ValkeyBloomFilter,
};
use pds::formats::spark::{SparkBloomFilter, SparkBloomVersion, SparkCountMin};
use pds::theta::{ThetaSet, ThetaSketch};

const KEYS: u64 = 200;

const SEED: [u8; 32] = *b"a seed with two different halves";

/// Fills a structure of another system with keys, and returns its bytes.
macro_rules! filled {
    ($new:expr, $to_bytes:ident($($version:expr)?), |$one:ident, $key:ident| $insert:expr) => {{
        let mut $one = $new.unwrap();
        for $key in 0..KEYS {
            let _ = $insert;
        }
        $one.$to_bytes($($version)?)
    }};
}

/// Formats by their names in `docs/formats.md`, each with bytes and a fact.
fn files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let text = |key: u64| format!("key {key}");
    let mut hll = RedisHyperLogLog::new();
    (0..KEYS).for_each(|key| _ = hll.insert(text(key).as_bytes()));
    vec![
        ("Redis HyperLogLog", hll.to_bytes(), "distinct,201"),
        (
            "Milvus Bloom filter",
            filled!(MilvusBloomFilter::new(KEYS, 0.01), to_bytes(), |one, key| one
                .insert_string(&text(key))),
            "expected_keys,200",
        ),
        (
            "RedisBloom Bloom filter",
            filled!(
                RedisBloomFilter::reserve(0.01, 1_000, None),
                to_dump(RdbVersion::default()),
                |one, key| one.insert(text(key).as_bytes())
            ),
            "keys,200",
        ),
        (
            "RedisBloom cuckoo filter",
            filled!(
                RedisCuckooFilter::reserve(1_000),
                to_dump(RdbVersion::default()),
                |one, key| one.insert(text(key).as_bytes())
            ),
            "keys,200",
        ),
        (
            "RedisBloom count-min sketch",
            filled!(
                RedisCountMinSketch::with_size(100, 5),
                to_dump(RdbVersion::default()),
                |one, key| one.insert(text(key).as_bytes(), 1)
            ),
            "total,200",
        ),
        (
            "RedisBloom top-k list",
            filled!(
                RedisTopK::reserve(3, 100, 5, 0.9),
                to_dump(RdbVersion::default()),
                |one, key| one.insert(text(key % 2).as_bytes(), 1)
            ),
            "listed,2",
        ),
        (
            "Presto HyperLogLog",
            filled!(PrestoHll::new(12), to_bytes(), |one, key| one.insert_text(&text(key))),
            "distinct,200",
        ),
        (
            "DataSketches HLL sketch",
            filled!(DataSketchesHll::new(12, HllRegisters::Hll4), to_bytes(), |one, key| one
                .insert(key)),
            "distinct,200",
        ),
        (
            "DataSketches theta sketch",
            {
                let mut sketch = ThetaSketch::new(4_096).unwrap();
                (0..KEYS).for_each(|key| _ = sketch.insert(&key));
                sketch.to_compact().to_bytes()
            },
            "distinct,200",
        ),
        (
            "DataSketches count-min sketch",
            filled!(DataSketchesCountMin::new(9_001, 3, 64), to_bytes(), |one, key| one
                .insert(key, 1.0)),
            "total,200",
        ),
        (
            "DataSketches Bloom filter",
            filled!(DataSketchesBloomFilter::new(7, KEYS, 0.01), to_bytes(), |one, key| one
                .insert(key)),
            "hashes,7",
        ),
        (
            "valkey-bloom filter",
            filled!(ValkeyBloomFilter::reserve(0.01, 1_000, None, SEED), to_bytes(), |one, key| {
                one.insert(text(key).as_bytes())
            }),
            "keys,200",
        ),
        (
            "Spark Bloom filter",
            filled!(
                SparkBloomFilter::new(SparkBloomVersion::V1, KEYS, 0.01),
                to_bytes(),
                |one, key| one.insert(text(key).as_str())
            ),
            "hashes,7",
        ),
        (
            "Spark count-min sketch",
            filled!(SparkCountMin::new(0.01, 0.95, 1), to_bytes(), |one, key| one
                .insert(text(key).as_str(), 1)),
            "total,200",
        ),
        (
            "Guava Bloom filter",
            filled!(GuavaBloomFilter::new(KEYS, 0.01), to_bytes(), |one, key| one
                .insert(text(key).as_str())),
            "hashes,7",
        ),
        (
            "DCSO Bloom filter",
            filled!(DcsoBloomFilter::new(KEYS, 0.01), to_bytes(), |one, key| one
                .insert(text(key).as_bytes())),
            "hashes,7",
        ),
        (
            "Parquet Bloom filter",
            filled!(ParquetBloomFilter::new(KEYS, 0.01), to_bytes(), |one, key| one
                .insert(text(key).as_str())),
            "false_positive_rate,0.0",
        ),
    ]
}

#[test]
fn info_recognises_the_files_of_other_systems() {
    let folder = Folder::new();
    for (format, bytes, fact) in files() {
        folder.write("foreign", &bytes);
        let info = folder.pds("info --format csv foreign").ok();
        assert!(info.contains(&format!("foreign,format,{format}\n")), "{format}: {info}");
        assert!(info.contains(&format!("foreign,{fact}")), "{format}: {info}");
        assert_eq!(
            folder.pipe("info --format csv -", &bytes).ok().lines().count(),
            info.lines().count()
        );
        // Bytes that are cut are recognised as nothing else.
        folder.write("foreign", &bytes[..bytes.len() - 1]);
        assert!(folder.pds("info foreign").failed().contains("foreign: "), "{format}");
    }
    assert!(folder.pipe("info -", "a text\n").failed().contains("no format of another system"));
}

#[test]
fn info_reads_sketches_from_pipes() {
    let folder = Folder::new();
    for (kind, fact) in
        [("hyper-log-log", "distinct,2"), ("heavy-hitters", "lines,2"), ("bloom", "keys,2")]
    {
        folder.pipe(&format!("build -o s.pds --kind {kind}"), "a\nb\n").ok();
        let info = folder.pipe("info --format csv -", folder.read("s.pds")).ok();
        assert!(info.contains(fact), "{info}");
    }
}
