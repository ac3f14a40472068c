//! Values of a real Redis server, read, counted, merged and rebuilt.
#![cfg(feature = "std")]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hll::error::DecodeErrorKind;
use hll::redis::{RedisHyperLogLog, murmur_hash_64a};
use pds_core::traits::Merge;
use serde_json::Value;

/// Sets, merges and single steps as redis-server 7.4.1 answered them.
const SERVER: &str = include_str!("../data/redis_hll.json");

/// Seed, length of the input, and the hash by other implementations. Byte i of the input is 7 i + 3.
const HASHES: [(u64, usize, u64); 24] = [
    (0, 0, 0x0000_0000_0000_0000),
    (0, 1, 0xeff7_3957_6751_99d4),
    (0, 7, 0x1d5d_24eb_3d5f_786d),
    (0, 8, 0xf7b0_7c99_37b4_69c3),
    (0, 9, 0x67b2_fe24_ebcf_6f34),
    (0, 15, 0x93a1_3a1d_a234_c08a),
    (0, 16, 0xb75f_542c_e5e1_6faa),
    (0, 40, 0x8d68_6051_6d69_c2af),
    (0x0000_0000_adc8_3b19, 0, 0xd8df_ea65_85bc_9732),
    (0x0000_0000_adc8_3b19, 1, 0x2fef_704f_df3b_b62b),
    (0x0000_0000_adc8_3b19, 7, 0x5c66_4e2b_c8f3_04bb),
    (0x0000_0000_adc8_3b19, 8, 0x1a5a_5fa5_b4eb_6ca7),
    (0x0000_0000_adc8_3b19, 9, 0xb1e3_660d_9db9_2b9b),
    (0x0000_0000_adc8_3b19, 15, 0x4868_35c8_5fc4_05dd),
    (0x0000_0000_adc8_3b19, 16, 0xec56_cdea_da0c_b38e),
    (0x0000_0000_adc8_3b19, 40, 0x8a14_b6a6_665f_d699),
    (0xffff_ffff_ffff_ffff, 0, 0xb0d9_485c_2cd7_61b2),
    (0xffff_ffff_ffff_ffff, 1, 0x9a5f_c7e8_0adf_75ac),
    (0xffff_ffff_ffff_ffff, 7, 0xc95a_51e3_864e_f011),
    (0xffff_ffff_ffff_ffff, 8, 0xa7e9_aaf5_34c7_49cb),
    (0xffff_ffff_ffff_ffff, 9, 0x0f5d_188a_5373_7714),
    (0xffff_ffff_ffff_ffff, 15, 0x4405_cb22_3cc1_4f0a),
    (0xffff_ffff_ffff_ffff, 16, 0xedce_9184_f151_170d),
    (0xffff_ffff_ffff_ffff, 40, 0x3f5f_4d71_5669_e595),
];

fn server() -> Value {
    serde_json::from_str(SERVER).expect("JSON")
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().expect("a list")
}

fn base64(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().expect("text")).expect("base64")
}

fn hex(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("text");
    let byte = |i| u8::from_str_radix(&text[i..i + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Returns the elements of a specification.
fn elements(spec: &Value) -> Vec<Vec<u8>> {
    let start = spec["start"].as_u64().expect("a start");
    let range = start..start + spec["count"].as_u64().expect("a count");
    let multiplier =
        spec["mul"].as_str().map_or(1, |hex| u64::from_str_radix(&hex[2..], 16).unwrap());
    let words = |i: u64| i.wrapping_mul(multiplier);
    match spec["kind"].as_str().expect("a kind") {
        "text" => {
            let prefix = spec["prefix"].as_str().expect("a prefix");
            range.map(|i| format!("{prefix}{i}").into_bytes()).collect()
        }
        "u64le" => range.map(|i| words(i).to_le_bytes().to_vec()).collect(),
        "var" => range
            .map(|i| {
                let w = words(i);
                let triple =
                    [w, w.wrapping_mul(3).wrapping_add(1), w.wrapping_mul(5).wrapping_add(2)];
                let mut bytes = triple.map(u64::to_le_bytes).as_flattened().to_vec();
                bytes.truncate(usize::try_from(i % 21).unwrap());
                bytes
            })
            .collect(),
        other => panic!("a key set of kind {other}"),
    }
}

fn sketch(specs: &[&Value]) -> RedisHyperLogLog {
    let mut sketch = RedisHyperLogLog::new();
    specs.iter().for_each(|spec| sketch.extend(elements(spec)));
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
fn the_hash_agrees_with_independent_values() {
    let input: Vec<u8> = (0..40).map(|i: u8| i.wrapping_mul(7).wrapping_add(3)).collect();
    for (seed, length, hash) in HASHES {
        assert_eq!(murmur_hash_64a(&input[..length], seed), hash, "{length} bytes, seed {seed}");
    }
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
    refuses(b"HYL", "the input ends too early: 3 of at least 16 bytes are there");
    refuses(&dense[..12_303], "the input ends too early: 12303 of at least 12304 bytes are there");
    let longer = [&dense[..], &[0, 0]].concat();
    refuses(&longer, "2 bytes follow the end at offset 12304");
    refuses(&with(0, b'h'), "the 4 bytes at offset 0 are [68, 59, 4c, 4c], but must be HYLL");
    assert_eq!(read(&with(0, b'h')).unwrap_err().kind(), DecodeErrorKind::Magic);
    refuses(&with(4, 2), "the encoding at offset 4 is 2, but must be 0 or 1");
    refuses(&with(6, 9), "unused bits at offset 6 are not zero: 0x9");
    refuses(&with(16, 52), "a register at offset 16 is 52, but must be at most 51");
    refuses(&with(16 + 3, 63), "a register at offset 19 is 63, but must be at most 51");
    assert!(read(&with(16, 51)).is_ok());
    let covered = |offset, registers| {
        format!(
            "the number of registers in the runs at offset {offset} is {registers}, but must be 16384"
        )
    };
    refuses(&sparse(&[]), &covered(16, 0));
    refuses(&sparse(&[0x7f, 0xfe]), &covered(18, 16_383));
    assert!(read(&sparse(&[0x7f, 0xff])).is_ok());
    let beyond = |end| {
        format!("the end of a run at offset 18 is {end}, but must be within the 16384 registers")
    };
    refuses(&sparse(&[0x7f, 0xff, 0]), &beyond(16_385));
    refuses(&sparse(&[0x7f, 0xfe, 0x81]), &beyond(16_385));
    refuses(&sparse(&[0x00, 0x7f]), "the input ends too early: 18 of at least 19 bytes are there");
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
