//! Dumps of a real server with `RedisBloom`, without and with its compression, and dumps that lie.

use pds_formats::FormatError;
use pds_formats::error::DecodeErrorKind;
use pds_formats::redis::{
    RdbVersion, RedisBloomFilter, RedisCountMinSketch, RedisCuckooFilter, RedisTopK,
};
use serde_json::Value;

pub(crate) use crate::mutations::bodies::with_checksum;
use crate::support::{base64, json, keys, list, text};

const SERVER: &str = include_str!("../data/redis_dumps.json");

/// The reply to `DUMP` of a value.
pub(crate) struct Dump {
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) plain: Vec<u8>,
    pub(crate) compressed: Vec<u8>,
}

/// Returns the dumps of a kind of value.
pub(crate) fn dumps(kind: &str) -> Vec<Dump> {
    let file = json(SERVER);
    let cases = list(&file, "cases").iter().filter(|case| case["kind"] == kind);
    let [plain, compressed] = ["plain", "compressed"];
    let dumps = cases.map(|case| Dump {
        name: text(case, "name").to_string(),
        value: case.clone(),
        plain: base64(&case[plain]),
        compressed: base64(&case[compressed]),
    });
    dumps.collect()
}

/// A type with dumps.
struct Subject<T> {
    kind: &'static str,
    read: fn(&[u8]) -> Result<T, FormatError>,
    write: fn(&T, RdbVersion) -> Vec<u8>,
}

const BLOOM: Subject<RedisBloomFilter> =
    Subject { kind: "bloom", read: RedisBloomFilter::from_dump, write: RedisBloomFilter::to_dump };
const CUCKOO: Subject<RedisCuckooFilter> = Subject {
    kind: "cuckoo",
    read: RedisCuckooFilter::from_dump,
    write: RedisCuckooFilter::to_dump,
};
const COUNT_MIN: Subject<RedisCountMinSketch> = Subject {
    kind: "count-min",
    read: RedisCountMinSketch::from_dump,
    write: RedisCountMinSketch::to_dump,
};
const TOP_K: Subject<RedisTopK> =
    Subject { kind: "top-k", read: RedisTopK::from_dump, write: RedisTopK::to_dump };

impl<T: PartialEq + core::fmt::Debug> Subject<T> {
    /// Every dump is read, compressed or not. Returns the values.
    fn check(&self) -> Vec<(Dump, T)> {
        let mut values = Vec::new();
        for dump in dumps(self.kind) {
            let value = (self.read)(&dump.plain).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((self.read)(&dump.compressed).as_ref(), Ok(&value), "{}", dump.name);
            // In every version, which is all that differs.
            let versions = [
                (RdbVersion::Redis5, 9),
                (RdbVersion::Redis7_0, 10),
                (RdbVersion::Redis7_2, 11),
                (RdbVersion::Redis7_4, 12),
            ];
            let body = |dump: &[u8]| dump[..dump.len() - 10].to_vec();
            let latest = (self.write)(&value, RdbVersion::Redis7_4);
            for (version, number) in versions {
                let written = (self.write)(&value, version);
                assert_eq!(written[written.len() - 10..][..2], [number, 0]);
                assert!(body(&written) == body(&latest), "{}", dump.name);
                assert_eq!((self.read)(&written).as_ref(), Ok(&value), "{}", dump.name);
            }
            values.push((dump, value));
        }
        assert!(
            values.len() >= 2 && values.iter().any(|(d, _)| d.plain.len() > 2 * d.compressed.len())
        );
        values
    }
}

#[test]
fn dumps_agree_with_the_server() {
    for (dump, filter) in BLOOM.check() {
        assert!(filter.to_dump(RdbVersion::Redis7_4) == dump.plain, "{}", dump.name);
        let keys = keys(&dump.value["keys"]);
        assert!(keys.iter().all(|key| filter.contains(key)) && filter.len() <= keys.len() as u64);
    }
    for (dump, filter) in CUCKOO.check() {
        assert!(filter.to_dump(RdbVersion::Redis7_4) == dump.plain, "{}", dump.name);
        let keys = keys(&dump.value["keys"]);
        assert!(keys.iter().all(|key| filter.contains(key)) && filter.len() == keys.len() as u64);
    }
    for (dump, sketch) in COUNT_MIN.check() {
        assert!(sketch.to_dump(RdbVersion::Redis7_4) == dump.plain, "{}", dump.name);
    }
    TOP_K.check();
}

/// The server stores up to eleven bytes that are the digits of a number of 32 bits as that number.
#[test]
fn strings_of_digits_are_numbers() {
    for (counter, length) in [
        (b"1234", 3),
        (b"-129", 3),
        (b"-128", 2),
        (b"0012", 5),
        (b"+123", 5),
        (b"-012", 5),
        (b"12 4", 5),
    ] {
        let mut sketch = RedisCountMinSketch::with_size(1, 1).unwrap();
        sketch.insert(b"a", u32::from_le_bytes(*counter));
        let dump = sketch.to_dump(RdbVersion::default());
        assert_eq!(dump.len(), 32 + length, "{}", counter.escape_ascii());
        assert_eq!(RedisCountMinSketch::from_dump(&dump), Ok(sketch));
    }
    // One byte: a table of one slot, of the fingerprint "7".
    let mut filter = RedisCuckooFilter::with_options(2, 1, 1, 1).unwrap();
    let item = (0..10_000u32).map(|i| i.to_le_bytes()).find(|item| {
        let mut alone = filter.clone();
        alone.insert(item).unwrap();
        alone.to_chunks()[1].data.contains(&b'7')
    });
    filter.insert(&item.unwrap()).unwrap();
    assert_eq!(RedisCuckooFilter::from_dump(&filter.to_dump(RdbVersion::default())), Ok(filter));
}

#[test]
fn case_17_compressed_strings_that_lie_are_typed_errors() {
    // A sketch of one row with `counters` bytes of counters, compressed to `compressed`.
    let dump = |counters: u8, compressed: &[u8]| {
        let sketch = RedisCountMinSketch::with_size(u32::from(counters) / 4, 1).unwrap();
        let mut dump = sketch.to_dump(RdbVersion::default());
        // Behind the opcode of the string, which follows the type and three numbers.
        dump.truncate(17);
        dump.extend([0xc3, u8::try_from(compressed.len()).unwrap()]);
        // In two bytes, which numbers above 63 need.
        dump.extend([0x40, counters]);
        dump.extend(compressed);
        dump.extend([0, 9, 0]);
        dump.extend([0; 8]);
        RedisCountMinSketch::from_dump(&with_checksum(dump))
    };
    // Pieces as they are: 4 bytes. A copy of 7 + 255 + 2 bytes of the one before, and one of 3.
    assert_eq!(dump(4, &[3, 1, 0, 0, 0]).unwrap().estimate(b"a"), 1);
    let zeros = dump(60, &[0, 0, 0xe0, 50, 0]).unwrap();
    assert_eq!((zeros.width(), zeros.estimate(b"a")), (15, 0));
    // A copy that reaches back over other bytes.
    assert_eq!(dump(12, &[3, 1, 0, 0, 0, 0xc0, 3]).unwrap().estimate(b"a"), 1);
    let refuses = |result: Result<_, FormatError>, text: &str| {
        let error = result.map(|_: RedisCountMinSketch| ()).unwrap_err();
        let text = format!("RedisBloom count-min sketch: {text}");
        assert_eq!(error.to_string(), text);
    };
    refuses(
        dump(4, &[0x20, 0]),
        "compressed string at offset 21 is 32, but must be a copy from within the string",
    );
    refuses(
        dump(4, &[0, 1, 0x20, 1]),
        "compressed string at offset 23 is 32, but must be a copy from within the string",
    );
    refuses(
        dump(4, &[0, 1, 0x40, 0]),
        "compressed string at offset 23 is 64, but must be a piece that ends within the string",
    );
    refuses(
        dump(4, &[4, 1, 2, 3, 4, 5]),
        "compressed string at offset 21 is 4, but must be a piece that ends within the string",
    );
    refuses(
        dump(4, &[2, 1, 2, 3]),
        "compressed string at offset 25 is 3, but must be 4 bytes in all",
    );
    refuses(dump(4, &[5, 1, 2, 3]), "compressed string at offset 22 needs 6 bytes, but 3 are left");
    refuses(dump(4, &[0xe0]), "compressed string at offset 22 needs 1 bytes, but 0 are left");
    // More than any compressed bytes can stand for.
    refuses(
        dump(252, &[0]),
        "length of a string at offset 19 is 252, but must be at most 88 per compressed byte",
    );
}

#[test]
fn versions_of_dumps_and_types_are_checked() {
    let sound = RedisCountMinSketch::with_size(1, 1).unwrap().to_dump(RdbVersion::default());
    let refuses = |at: usize, byte: u8, text: &str| {
        let mut dump = sound.clone();
        dump[at] = byte;
        let error = RedisCountMinSketch::from_dump(&with_checksum(dump)).unwrap_err();
        let text = format!("RedisBloom count-min sketch: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, DecodeErrorKind::Version));
    };
    let version = sound.len() - 10;
    refuses(
        version,
        81,
        &format!("version of the dump at offset {version} is 81, but must be from 1 to 80"),
    );
    // The low ten bits of the type.
    refuses(9, sound[9] + 3, "version of the type at offset 1 is 3, but must be 0");
}
