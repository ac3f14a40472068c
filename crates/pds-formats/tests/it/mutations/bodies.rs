//! The bodies of the fuzz targets, which ordinary tests run, too.

use pds_formats::FormatError;
use pds_formats::datasketches::{
    DataSketchesBloomFilter, DataSketchesCountMin, DataSketchesCpc, DataSketchesFrequentItems,
    DataSketchesHll,
};
use pds_formats::dcso::DcsoBloomFilter;
use pds_formats::guava::GuavaBloomFilter;
use pds_formats::milvus::MilvusBloomFilter;
use pds_formats::parquet::{ParquetBloomFilter, ParquetBloomFilterView};
use pds_formats::postgres::PostgresHll;
use pds_formats::presto::PrestoHll;
use pds_formats::redis::{
    Chunk, RdbVersion, RedisBloomFilter, RedisCountMinSketch, RedisCuckooFilter, RedisHyperLogLog,
    RedisTopK, ValkeyBloomFilter,
};
use pds_formats::spark::{SparkBloomFilter, SparkCountMin};
use pds_formats::xorf::{XorFilter, XorKind};
use pds_testkit::mutate::Choices;

/// Reads a value of some format, asks what was read, and writes it back if the format is written.
type Read = fn(&[u8]) -> Result<Option<Vec<u8>>, FormatError>;

/// All readers, each with the name of its format in `docs/formats.md`.
pub(crate) const READERS: &[(&str, Read)] = &[
    ("Parquet Bloom filter", parquet),
    ("Milvus Bloom filter", milvus),
    ("Redis HyperLogLog", redis_hll),
    ("RedisBloom Bloom filter", redis_bloom),
    ("RedisBloom cuckoo filter", redis_cuckoo),
    ("RedisBloom count-min sketch", redis_cms),
    ("RedisBloom top-k list", redis_top_k),
    ("valkey-bloom filter", valkey),
    ("DataSketches HLL sketch", ds_hll),
    ("DataSketches CPC sketch", ds_cpc),
    ("DataSketches count-min sketch", ds_count_min),
    ("DataSketches Bloom filter", ds_bloom),
    ("DataSketches frequent items sketch", ds_frequent),
    ("Spark Bloom filter", spark_bloom),
    ("Spark count-min sketch", spark_count_min),
    ("Guava Bloom filter", guava_bloom),
    ("postgresql-hll value", postgres),
    ("Presto HyperLogLog", presto),
    ("DCSO Bloom filter", dcso),
    ("xor_singleheader xor8 filter", |bytes| xor(XorKind::Xor8, bytes)),
    ("xor_singleheader xor16 filter", |bytes| xor(XorKind::Xor16, bytes)),
    ("xor_singleheader binary_fuse8 filter", |bytes| xor(XorKind::BinaryFuse8, bytes)),
    ("xor_singleheader binary_fuse16 filter", |bytes| xor(XorKind::BinaryFuse16, bytes)),
];

/// Reads a value by the reader of this name. What it writes is read as the same.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let read = reader(name);
    match read(bytes) {
        Ok(written) => {
            if let Some(written) = &written {
                assert_eq!(read(written).as_ref(), Ok(&Some(written.clone())), "{name}");
            }
            written
        }
        Err(error) => {
            assert!(error.to_string().len() > error.format().len() + 10, "{error}");
            assert!(error.offset().is_none_or(|offset| offset <= bytes.len() as u64), "{error}");
            None
        }
    }
}

/// Reads a value that is none of a fuzzer. Returns what is written.
#[allow(dead_code, reason = "fuzz targets have no vectors")]
pub(crate) fn read_back(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    reader(name)(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn reader(name: &str) -> Read {
    READERS.iter().find(|reader| reader.0 == name).expect("a reader").1
}

/// Hands bytes to all readers.
pub(crate) fn decode(bytes: &[u8]) {
    READERS.iter().for_each(|&(name, _)| {
        read(name, bytes);
    });
}

/// Changes a value in up to four places, mostly in its first bytes, and reads it.
#[allow(dead_code, reason = "fuzz targets change what they are given themselves")]
pub(crate) fn damaged(name: &str, value: &[u8], input: &[u8]) {
    let (mut choices, mut bytes) = (Choices::new(input), value.to_vec());
    for _ in 0..=choices.below(4) {
        if bytes.is_empty() {
            break;
        }
        let most = if choices.below(4) == 0 { bytes.len() } else { bytes.len().min(80) };
        let at = choices.below(most);
        match choices.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, choices.byte()),
            2 => bytes[at] ^= 1 << choices.below(8),
            3 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][choices.below(5)],
            4 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
            _ => bytes[at] = choices.byte(),
        }
    }
    // Nothing behind a checksum is read unless it fits.
    if value[0] == DUMP && bytes.len() > 10 && choices.below(8) > 0 {
        bytes = with_checksum(bytes);
    }
    read(name, &bytes);
}

fn parquet(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    assert_eq!(
        ParquetBloomFilterView::open(bytes).err(),
        ParquetBloomFilter::from_bytes(bytes).err()
    );
    let mut filter = ParquetBloomFilter::from_bytes(bytes)?;
    let written = filter.to_bytes();
    assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
    filter.insert(&7i64);
    assert!(filter.contains(&7i64));
    Ok(Some(written))
}

fn milvus(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut filter = MilvusBloomFilter::from_bytes(bytes)?;
    let written = filter.to_bytes();
    filter.insert_integer(7);
    assert!(filter.contains_integer(7));
    Ok(Some(written))
}

/// Returns a dump in chunks as one byte string: the length of the header in two bytes, the header, the tables.
pub(crate) fn flattened(chunks: &[Chunk]) -> Vec<u8> {
    let header = chunks.first().map_or(0, |chunk| chunk.data.len());
    let length = u16::try_from(header).unwrap().to_le_bytes().to_vec();
    chunks.iter().fold(length, |all, chunk| [all, chunk.data.clone()].concat())
}

/// Returns the chunks of such a byte string, all tables in one.
fn in_chunks(bytes: &[u8]) -> Vec<Chunk<&[u8]>> {
    let (length, rest) = bytes.split_at(bytes.len().min(2));
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let (header, tables) = rest.split_at(length.min(rest.len()));
    let mut chunks = vec![Chunk { iterator: 1, data: header }];
    if !tables.is_empty() {
        chunks.push(Chunk { iterator: 1 + i64::try_from(tables.len()).unwrap(), data: tables });
    }
    chunks
}

/// The first byte of a dump.
const DUMP: u8 = 7;

/// Returns a dump with the checksum that fits: CRC-64 of Jones, bit by bit, from the lowest bit on.
pub(crate) fn with_checksum(mut dump: Vec<u8>) -> Vec<u8> {
    let end = dump.len() - 8;
    let sum = dump[..end].iter().fold(0u64, |sum, &byte| {
        let shift = |sum: u64, _| sum >> 1 ^ if sum & 1 == 1 { 0x95ac_9329_ac4b_c9b5 } else { 0 };
        (0..8).fold(sum ^ u64::from(byte), shift)
    });
    dump[end..].copy_from_slice(&sum.to_le_bytes());
    dump
}

/// Returns the version of a dump. Others than those that are written become the least one.
fn version_of(dump: &[u8]) -> RdbVersion {
    match dump[dump.len() - 10..][..2] {
        [10, 0] => RdbVersion::Redis7_0,
        [11, 0] => RdbVersion::Redis7_2,
        [12, 0] => RdbVersion::Redis7_4,
        _ => RdbVersion::Redis5,
    }
}

/// Reads a dump, or else chunks. It is written as it was read.
fn redis_bloom(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let is_dump = bytes.first() == Some(&DUMP) && bytes.get(1) == Some(&0x81);
    let mut filter = if is_dump {
        RedisBloomFilter::from_dump(bytes)?
    } else {
        RedisBloomFilter::from_chunks(&in_chunks(bytes))?
    };
    let chunks = flattened(&filter.to_chunks());
    let written = if is_dump { filter.to_dump(version_of(bytes)) } else { chunks };
    let dump = filter.to_dump(RdbVersion::default());
    assert_eq!(RedisBloomFilter::from_dump(&dump).as_ref(), Ok(&filter));
    assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
    // A full filter may ask for a layer of any size.
    if filter.len() < filter.capacity() / 2 && filter.insert(b"another").is_ok() {
        assert!(filter.contains(b"another"));
    }
    Ok(Some(written))
}

fn redis_cuckoo(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let is_dump = bytes.first() == Some(&DUMP) && bytes.get(1) == Some(&0x81);
    let mut filter = if is_dump {
        RedisCuckooFilter::from_dump(bytes)?
    } else {
        RedisCuckooFilter::from_chunks(&in_chunks(bytes))?
    };
    let chunks = flattened(&filter.to_chunks());
    let written = if is_dump { filter.to_dump(version_of(bytes)) } else { chunks };
    let dump = filter.to_dump(RdbVersion::default());
    assert_eq!(RedisCuckooFilter::from_dump(&dump).as_ref(), Ok(&filter));
    assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
    filter.remove(b"another");
    // A full filter may ask for a table of any size.
    if filter.len() < filter.num_slots() / 2 && filter.insert(b"another").is_ok() {
        assert!(filter.contains(b"another"));
    }
    // The server writes nothing of an empty filter.
    Ok((!written.is_empty() && written != [0, 0]).then_some(written))
}

fn valkey(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut filter = ValkeyBloomFilter::from_bytes(bytes)?;
    let written = filter.to_bytes();
    assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
    // A full filter may ask for a layer of any size.
    if filter.len() < filter.capacity() / 2 && filter.insert(b"another").is_ok() {
        assert!(filter.contains(b"another"));
    }
    Ok(Some(written))
}

fn redis_cms(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut sketch = RedisCountMinSketch::from_dump(bytes)?;
    let written = sketch.to_dump(version_of(bytes));
    let before = sketch.estimate(b"another");
    assert!(sketch.insert(b"another", 3) >= before.saturating_add(3));
    Ok(Some(written))
}

fn redis_top_k(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut top = RedisTopK::from_dump(bytes)?;
    let written = top.to_dump(version_of(bytes));
    let before = top.list().len();
    top.insert(b"another", 3);
    assert!(top.list().len() >= before && top.list().len() <= top.k());
    Ok(Some(written))
}

fn redis_hll(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut sketch = RedisHyperLogLog::from_bytes(bytes)?;
    let written = sketch.to_bytes();
    let interval = sketch.estimate_interval(0.9).unwrap();
    assert!(sketch.estimate() >= 0.0 && interval.start() <= interval.end());
    sketch.insert(b"another");
    Ok(Some(written))
}

fn spark_bloom(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut filter = SparkBloomFilter::from_bytes(bytes)?;
    let written = filter.to_bytes();
    assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
    filter.insert("another");
    assert!(filter.contains("another"));
    Ok(Some(written))
}

fn guava_bloom(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut filter = GuavaBloomFilter::from_bytes(bytes)?;
    let written = filter.to_bytes();
    assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
    filter.insert("another");
    assert!(filter.contains("another"));
    Ok(Some(written))
}

fn ds_hll(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut sketch = DataSketchesHll::from_bytes(bytes)?;
    let written = sketch.to_bytes();
    // The other form holds the same.
    for other in [sketch.to_compact_bytes(), sketch.to_updatable_bytes()] {
        let other = DataSketchesHll::from_bytes(&other)?;
        assert!(other.registers() == sketch.registers() && other.estimate() == sketch.estimate());
    }
    let merged = sketch.clone();
    sketch.insert("another");
    sketch.merge(&merged);
    assert!(sketch.estimate().value >= 0.0 && !sketch.insert("another"));
    assert!(DataSketchesHll::from_bytes(&sketch.to_bytes()).is_ok());
    Ok(Some(written))
}

fn ds_cpc(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let sketch = DataSketchesCpc::from_bytes(bytes)?;
    assert!(sketch.estimate().value >= 0.0);
    Ok(Some(sketch.to_bytes()))
}

fn ds_count_min(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut sketch = DataSketchesCountMin::from_bytes(bytes)?;
    let written = sketch.to_bytes();
    sketch.insert("another", 1.0);
    assert!(sketch.lower_bound("another") <= sketch.upper_bound("another"));
    Ok(Some(written))
}

fn ds_bloom(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut filter = DataSketchesBloomFilter::from_bytes(bytes)?;
    let written = filter.to_bytes();
    assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
    filter.insert("another");
    assert!(filter.contains("another"));
    Ok(Some(written))
}

/// Reads items as strings, or else as numbers.
fn ds_frequent(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let Ok(strings) = DataSketchesFrequentItems::<String>::from_bytes(bytes) else {
        return DataSketchesFrequentItems::<i64>::from_bytes(bytes)
            .map(|read| Some(read.to_bytes()));
    };
    for (item, low, high) in strings.items() {
        assert_eq!([strings.lower_bound(item), strings.estimate(item)], [low, high]);
    }
    Ok(Some(strings.to_bytes()))
}

fn spark_count_min(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut sketch = SparkCountMin::from_bytes(bytes)?;
    let written = sketch.to_bytes();
    sketch.insert("another", 2);
    assert!(sketch.estimate("another") >= 2);
    Ok(Some(written))
}

fn dcso(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut filter = DcsoBloomFilter::from_bytes(bytes)?;
    let written = filter.to_bytes();
    assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
    filter.insert(b"another");
    assert!(filter.contains(b"another"));
    Ok(Some(written))
}

fn xor(kind: XorKind, bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let filter = XorFilter::from_bytes(kind, bytes)?;
    for key in 0..100u64 {
        let _ = filter.contains(key.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    Ok(Some(filter.to_bytes()))
}

fn presto(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut sketch = PrestoHll::from_bytes(bytes)?;
    let written = sketch.to_bytes();
    let other = sketch.clone();
    sketch.insert_bigint(7);
    sketch.merge(&other).unwrap();
    assert!(sketch.estimate().value >= other.estimate().value.min(1.0));
    assert_eq!(PrestoHll::from_bytes(&sketch.to_bytes()).as_ref(), Ok(&sketch));
    Ok(Some(written))
}

fn postgres(bytes: &[u8]) -> Result<Option<Vec<u8>>, FormatError> {
    let mut sketch = PostgresHll::from_bytes(bytes)?;
    let written = sketch.to_bytes();
    let other = sketch.clone();
    sketch.insert_bigint(7);
    sketch.merge(&other).unwrap();
    assert!(sketch.estimate().value >= 0.0);
    assert_eq!(PostgresHll::from_bytes(&sketch.to_bytes()).as_ref(), Ok(&sketch));
    Ok(Some(written))
}
