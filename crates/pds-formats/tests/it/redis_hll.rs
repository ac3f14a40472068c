//! Values of a real Redis server, read, counted, merged and rebuilt.

use pds_core::traits::Merge;
use pds_formats::error::DecodeErrorKind;
use pds_formats::redis::RedisHyperLogLog;
use serde_json::Value;

use crate::support::{base64, hex, json, keys, list};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "Redis HyperLogLog",
    type_name: "redis::RedisHyperLogLog",
    can: [true, true, true],
    exact: "before `PFCOUNT`: dense, and as `PFMERGE` leaves it",
    tested_against: "redis-server 7.4.1",
    vectors: || {
        let (server, set) = (server(), "bytes_before_count");
        let sets = list(&server, "sets").iter().map(|case| base64(&case[set]));
        let merges = list(&server, "merges").iter().map(|case| base64(&case["merged_bytes"]));
        sets.chain(merges).collect()
    },
};

/// Sets, merges and single steps as redis-server 7.4.1 answered them.
const SERVER: &str = include_str!("../data/redis_hll.json");

fn server() -> Value {
    json(SERVER)
}

fn sketch(specs: &[&Value]) -> RedisHyperLogLog {
    let mut sketch = RedisHyperLogLog::new();
    specs.iter().for_each(|spec| sketch.extend(keys(spec)));
    sketch
}

#[test]
fn sets_agree_with_the_server() {
    let (mut dense, mut sparse) = (0, 0);
    for set in list(&server(), "sets") {
        let name = &set["name"];
        let value = base64(&set["bytes_before_count"]);
        let read = RedisHyperLogLog::from_bytes(&value).expect("a value of the server");
        let built = sketch(&[&set["keys"]]);
        assert_eq!(read.registers(), built.registers(), "{name}");
        assert_eq!(read.count(), set["pfcount"].as_u64().unwrap(), "{name}");
        assert_eq!(built.to_bytes(), value, "{name}");
        assert_eq!(read.to_bytes(), value, "{name}");
        if set["encoding"] == "dense" {
            dense += 1;
        } else {
            sparse += 1;
        }
    }
    assert_eq!((dense, sparse), (7, 12));
}

#[test]
fn a_cached_count_is_not_looked_at() {
    for set in list(&server(), "sets") {
        let mut value = base64(&set["bytes_before_count"]);
        value[..16].copy_from_slice(&hex(&set["header_after_count"]));
        let read = RedisHyperLogLog::from_bytes(&value).expect("a value of the server");
        assert_eq!(read, sketch(&[&set["keys"]]));
        // The server counts anew.
        assert_eq!(read.to_bytes(), base64(&set["bytes_before_count"]));
        assert_ne!(read.to_bytes(), value);
    }
}

#[test]
fn merges_agree_with_the_server() {
    for merge in list(&server(), "merges") {
        let sources: Vec<_> = list(merge, "sources").iter().map(|s| sketch(&[s])).collect();
        let mut merged = RedisHyperLogLog::new();
        sources.iter().for_each(|source| merged.merge(source));
        let value = base64(&merge["merged_bytes"]);
        assert_eq!(merged, RedisHyperLogLog::from_bytes(&value).unwrap(), "{}", merge["name"]);
        assert_eq!(merged.to_bytes(), value, "{}", merge["name"]);
        assert_eq!(merged.count(), merge["pfcount_merged"].as_u64().unwrap());
        assert_eq!(merged.count(), merge["pfcount_of_sources_together"].as_u64().unwrap());
    }
}

#[test]
fn every_single_step_agrees_with_the_server() {
    let mut sketch = RedisHyperLogLog::new();
    for step in list(&server(), "one_by_one") {
        assert_eq!(sketch.insert(&hex(&step["key"])), step["pfadd"] == 1);
        let value = hex(&step["bytes"]);
        assert_eq!(sketch, RedisHyperLogLog::from_bytes(&value).unwrap());
        assert_eq!(sketch.to_bytes(), value);
    }
}

#[test]
fn other_limits_of_the_sparse_encoding_are_read() {
    for case in list(&server(), "sparse_limit") {
        let read = RedisHyperLogLog::from_bytes(&base64(&case["bytes"])).unwrap();
        assert_eq!(read, sketch(&[&case["keys"]]));
        assert_eq!(read.count(), case["pfcount"].as_u64().unwrap());
    }
}

/// A dense value never becomes sparse again on the server.
#[test]
fn case_34_a_dense_value_stays_dense() {
    for case in list(&server(), "sparse_limit") {
        let value = base64(&case["bytes"]);
        let read = RedisHyperLogLog::from_bytes(&value).unwrap();
        let expected = if case["encoding"] == "dense" { &value } else { &dense_value(&read) };
        assert_eq!(&read.to_bytes(), expected, "{}", case["keys"]);
        let mut merged = RedisHyperLogLog::new();
        merged.merge(&read);
        assert_eq!(&merged.to_bytes(), expected, "{}", case["keys"]);
    }
}

/// The dense encoding, without that of the crate.
fn dense_value(sketch: &RedisHyperLogLog) -> Vec<u8> {
    let mut value = b"HYLL\0\0\0\0\0\0\0\0\0\0\0\x80".to_vec();
    for ranks in sketch.registers().chunks(4) {
        let bits = ranks.iter().rev().fold(0u32, |bits, &rank| bits << 6 | u32::from(rank));
        value.extend(&bits.to_le_bytes()[..3]);
    }
    value
}

/// Runs of equal registers as the server keeps them, changed one register at a time by its rules. Empty when it is
/// dense.
struct Runs(Vec<(u8, usize)>);

impl Runs {
    fn bytes(runs: &[(u8, usize)]) -> usize {
        runs.iter().map(|&(rank, length)| if rank == 0 && length > 64 { 2 } else { 1 }).sum()
    }

    fn set(&mut self, register: usize, rank: u8) -> Option<()> {
        let (mut at, mut start) = (0, 0);
        while start + self.0[at].1 <= register {
            start += self.0[at].1;
            at += 1;
        }
        let (old, length) = self.0[at];
        let parts = [(old, register - start), (rank, 1), (old, start + length - register - 1)];
        let parts: Vec<_> = parts.into_iter().filter(|&(_, length)| length > 0).collect();
        let grows = Self::bytes(&parts) > Self::bytes(&self.0[at..=at]);
        self.0.splice(at..=at, parts);
        if rank > 32 || grows && 16 + Self::bytes(&self.0) > 3_000 {
            return None;
        }
        let mut at = at.saturating_sub(1);
        for _ in 0..5 {
            let Some(&[(left, a), (right, b)]) = self.0.get(at..at + 2) else { break };
            if left != 0 && left == right && a + b <= 4 {
                self.0.splice(at..at + 2, [(left, a + b)]);
            } else {
                at += 1;
            }
        }
        Some(())
    }

    fn to_value(&self) -> Vec<u8> {
        let mut value = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80".to_vec();
        for &(rank, length) in &self.0 {
            let rest = length - 1;
            match (rank, rest) {
                (0, 0..64) => value.push(u8::try_from(rest).unwrap()),
                (0, _) => value.extend(u16::try_from(rest | 0x4000).unwrap().to_be_bytes()),
                _ => value.push(0x80 | (rank - 1) << 2 | u8::try_from(rest).unwrap()),
            }
        }
        value
    }
}

/// Values of any registers are those that the rules of the server give, up to the limits of its sparse encoding.
#[test]
fn case_34_values_are_those_of_a_merge_by_the_servers_rules() {
    let mut sparse = 0;
    for run in 0..600usize {
        let mut random = pds_testkit::keys::random(run as u64);
        // Few or many registers, adjacent or not, of two ranks or of many. Some are close to the limit of 3,000 bytes.
        let count = [0, 1, 3, 40, 700, 1_100, 1_250, 3_000][run % 8] + random.next().unwrap() % 60;
        let spread = [5_000, 16_384][run / 8 % 2];
        let ranks = [1, 2, 5, 32, 34][run / 16 % 5];
        let mut sketch = RedisHyperLogLog::new();
        for _ in 0..count {
            let register = random.next().unwrap() % spread;
            // The rank is one more than the number of zeros above the register's 14 bits.
            let zeros = random.next().unwrap() % ranks;
            sketch.insert_hash(register | 1 << (14 + zeros));
        }
        let mut runs = Some(Runs(vec![(0, 16_384)]));
        for (register, &rank) in sketch.registers().iter().enumerate().filter(|&(_, &r)| r > 0) {
            runs = runs.and_then(|mut runs| runs.set(register, rank).map(|()| runs));
        }
        sparse += u32::from(runs.is_some());
        let expected = runs.map_or_else(|| dense_value(&sketch), |runs| runs.to_value());
        let value = sketch.to_bytes();
        assert_eq!(value, expected, "run {run}");
        assert_eq!(RedisHyperLogLog::from_bytes(&value).unwrap(), sketch, "run {run}");
    }
    assert!((200..550).contains(&sparse), "{sparse} of 600 are sparse");
}

#[test]
fn case_17_hostile_values_are_typed_errors() {
    let read = RedisHyperLogLog::from_bytes;
    let dense = [&b"HYLL\0\0\0\0\0\0\0\0\0\0\0\x80"[..], &[0; 12_288]].concat();
    let sparse = |runs: &[u8]| [b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\0", runs].concat();
    let with = |at: usize, byte: u8| {
        let mut value = dense.clone();
        value[at] = byte;
        value
    };
    let refuses = |value: &[u8], text: &str| {
        assert_eq!(read(value).unwrap_err().to_string(), text);
    };
    refuses(b"HYL", "Redis HyperLogLog: magic number at offset 0 is \"HYL\", but must be \"HYLL\"");
    refuses(
        &dense[..11],
        "Redis HyperLogLog: cached count at offset 8 needs 8 bytes, but 3 are left",
    );
    refuses(
        &dense[..12_303],
        "Redis HyperLogLog: registers at offset 16 needs 12288 bytes, but 12287 are left",
    );
    let longer = [&dense[..], &[0, 0]].concat();
    let end = "Redis HyperLogLog: the data ends at offset 12304, but 2 more bytes follow";
    refuses(&longer, end);
    assert_eq!(read(&with(0, b'h')).unwrap_err().kind(), DecodeErrorKind::Magic);
    let at = |text: &str| format!("Redis HyperLogLog: {text}");
    refuses(&with(4, 2), &at("encoding at offset 4 is 2, but must be 0 or 1"));
    refuses(&with(6, 9), &at("reserved byte at offset 6 is 9, but must be 0"));
    refuses(&with(16, 52), &at("register at offset 16 is 52, but must be at most 51"));
    refuses(&with(16 + 3, 63), &at("register at offset 19 is 63, but must be at most 51"));
    assert!(read(&with(16, 51)).is_ok());
    let covered = |offset, registers| {
        at(&format!(
            "number of registers in the runs at offset {offset} is {registers}, but must be 16384"
        ))
    };
    refuses(&sparse(&[]), &covered(16, 0));
    refuses(&sparse(&[0x7f, 0xfe]), &covered(18, 16_383));
    assert!(read(&sparse(&[0x7f, 0xff])).is_ok());
    let beyond = |end| {
        at(&format!("end of a run at offset 18 is {end}, but must be within the 16384 registers"))
    };
    refuses(&sparse(&[0x7f, 0xff, 0]), &beyond(16_385));
    refuses(&sparse(&[0x7f, 0xfe, 0x81]), &beyond(16_385));
    refuses(
        &sparse(&[0x00, 0x7f]),
        &at("second byte of a run at offset 18 needs 1 bytes, but 0 are left"),
    );
}

#[test]
fn an_estimate_comes_with_its_error_and_an_interval() {
    let mut some = RedisHyperLogLog::new();
    assert!(some.is_empty());
    assert_eq!(some.estimate_interval(0.9), Ok(0.0..=0.0));
    some.extend((0..50_000u32).map(u32::to_le_bytes));
    assert!(!some.is_empty());
    let estimate = some.estimate_with_error();
    assert_eq!(estimate.value, some.estimate());
    assert!((estimate.standard_error / estimate.value * 128.0 - 0.88).abs() < 0.03, "{estimate}");
    assert!(some.estimate_interval(0.999_9).unwrap().contains(&5e4));
    assert!(some.estimate_interval(1.0).is_err());
    let mut merged = RedisHyperLogLog::new();
    Merge::merge(&mut merged, &some).unwrap();
    assert_eq!(merged, some);
}

/// A small value was once written in 12,304 bytes.
#[test]
fn case_34_a_small_redis_value_stays_small() {
    let mut sketch = RedisHyperLogLog::new();
    sketch.extend(["1", "2", "3", "4"]);
    let value = sketch.to_bytes();
    assert_eq!(value.len(), 30);
    let read = RedisHyperLogLog::from_bytes(&value).unwrap();
    assert_eq!((read.to_bytes(), read.count()), (value, 4));
    for pair in 0..5_000u32 {
        let mut merged = RedisHyperLogLog::new();
        merged.insert(&pair.to_le_bytes());
        let mut other = RedisHyperLogLog::new();
        other.insert(&(pair + 1).to_le_bytes());
        merged.merge(&RedisHyperLogLog::from_bytes(&other.to_bytes()).unwrap());
        assert!(merged.to_bytes().len() <= 16 + 8, "{pair}");
    }
}
