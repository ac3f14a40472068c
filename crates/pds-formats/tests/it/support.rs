//! Vectors of other systems, and the keys that they were made from.
//!
//! A file in `data` holds what a system wrote, in base64 or hexadecimal, and specifications of its keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pds_formats::redis::Chunk;
use serde_json::Value;

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().expect("a list")
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().expect("text")
}

pub(crate) fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().expect("a number")
}

pub(crate) fn base64(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().expect("text")).expect("base64")
}

pub(crate) fn hex(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("text");
    let byte = |i| u8::from_str_radix(&text[i..i + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Returns the answers of a text with one digit per key.
#[allow(dead_code, reason = "only filters need it")]
pub(crate) fn answers(value: &Value, name: &str) -> Vec<bool> {
    text(value, name).bytes().map(|digit| digit == b'1').collect()
}

/// Returns the chunks of a dump of `RedisBloom`.
pub(crate) fn chunks(dump: &Value) -> Vec<Chunk> {
    let chunk = |chunk: &Value| Chunk {
        iterator: chunk["iter"].as_i64().expect("a number"),
        data: base64(&chunk["data"]),
    };
    dump.as_array().expect("a list").iter().map(chunk).collect()
}

/// Returns the numbers of a specification: its indices, times its multiplier.
fn words(spec: &Value) -> impl Iterator<Item = (u64, u64)> {
    // Negative for some numbers.
    let start = spec["start"].as_i64().expect("a number");
    let multiplier =
        spec["mul"].as_str().map_or(1, |hex| u64::from_str_radix(&hex[2..], 16).unwrap());
    let indices = (start..start + number(spec, "count").cast_signed()).map(i64::cast_unsigned);
    indices.map(move |i| (i, i.wrapping_mul(multiplier)))
}

/// Returns the keys of a specification as byte strings.
pub(crate) fn keys(spec: &Value) -> Vec<Vec<u8>> {
    match text(spec, "kind") {
        "text" => {
            let prefix = text(spec, "prefix");
            words(spec).map(|(i, _)| format!("{prefix}{i}").into_bytes()).collect()
        }
        "u64le" => words(spec).map(|(_, word)| word.to_le_bytes().to_vec()).collect(),
        "var" => words(spec)
            .map(|(i, w)| {
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

/// Returns the keys of a specification of the kind `int`.
#[allow(dead_code, reason = "only formats with keys that are numbers need it")]
pub(crate) fn integers(spec: &Value) -> Vec<i64> {
    assert_eq!(text(spec, "kind"), "int");
    words(spec).map(|(_, word)| word.cast_signed()).collect()
}

/// Returns the keys of a weighted stream with their weights.
#[allow(dead_code, reason = "only sketches of counts need it")]
pub(crate) fn weighted<K>(
    keys: impl IntoIterator<Item = K>,
    weight_mod: u64,
) -> impl Iterator<Item = (K, u64)> {
    (0u64..).zip(keys).map(move |(j, key)| (key, 1 + (j * j) % weight_mod))
}
