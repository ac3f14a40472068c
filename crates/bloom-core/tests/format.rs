//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p bloom-core --test format` writes the golden files anew: a new format version.

use std::path::{Path, PathBuf};
use std::{env, fs};

use bloom_core::{AtomicBloomFilter, BloomFilter, BloomFilterView};
use pds_core::{BuildError, DecodeError, PortableHasher, SipHashBuilder};
use quickcheck::quickcheck;

const KEY: [u8; 16] = *b"0123456789abcdef";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// One golden file: what was inserted, and the bytes that must come of it.
struct Golden {
    file: &'static str,
    /// The secret key that the file lacks, as hex digits.
    key: &'static str,
    /// What the keys are: `u64`, or `text` for `key-0`, `key-1`, ...
    keys: &'static str,
    bytes: Vec<u8>,
    answers: Vec<bool>,
}

/// How many keys each file is asked; those inserted come first.
const ASKED: u64 = 4_000;

fn golden<S: PortableHasher>(
    file: &'static str,
    keys: &'static str,
    mut filter: BloomFilter<S>,
    inserted: u64,
    bytes: impl Fn(&BloomFilter<S>) -> Vec<u8>,
) -> Golden {
    let text = |i: u64| format!("key-{i}");
    for i in 0..inserted {
        if keys == "u64" {
            filter.insert(&i)
        } else {
            filter.insert(&text(i))
        };
    }
    let ask = |i| if keys == "u64" { filter.contains(&i) } else { filter.contains(&text(i)) };
    Golden { file, key: "", keys, bytes: bytes(&filter), answers: (0..ASKED).map(ask).collect() }
}

fn all_golden() -> Result<Vec<Golden>, BuildError> {
    let sip = SipHashBuilder::from_key(KEY);
    let designed = || BloomFilter::builder().expected_items(1_000);
    let keyless =
        golden("sip_without_key.pds", "text", designed().hasher(sip).build()?, 1_000, |f| {
            f.to_bytes()
        });
    Ok(vec![
        golden("default.pds", "u64", BloomFilter::new(1_000, 0.01)?, 1_000, |f| f.to_bytes()),
        golden(
            "seeded.pds",
            "text",
            designed().false_positive_rate(1e-4).seed(42).build()?,
            900,
            |f| f.to_bytes(),
        ),
        golden("sip.pds", "text", designed().hasher(sip).build()?, 1_000, |f| {
            f.with_key().to_bytes()
        }),
        Golden { key: "30313233343536373839616263646566", ..keyless },
        golden("one_bit.pds", "u64", BloomFilter::builder().bits(1).hashes(1).build()?, 0, |f| {
            f.to_bytes()
        }),
        golden(
            "odd_bits.pds",
            "text",
            BloomFilter::builder().bits(8_191).hashes(255).build()?,
            20,
            |f| f.to_bytes(),
        ),
    ])
}

fn hex_of_bits(bits: &[bool]) -> String {
    let byte = |chunk: &[bool]| chunk.iter().rev().fold(0, |byte, &bit| 2 * byte + u8::from(bit));
    bits.chunks(8).map(|chunk| format!("{:02x}", byte(chunk))).collect()
}

fn manifest(all: &[Golden]) -> String {
    let entry = |g: &Golden| {
        let Golden { file, key, keys, .. } = g;
        let answers = hex_of_bits(&g.answers);
        format!(
            r#"{{"file": "{file}", "key": "{key}", "keys": "{keys}", "asked": {ASKED}, "answers": "{answers}"}}"#
        )
    };
    format!("[\n{}\n]\n", all.iter().map(entry).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn todays_code_writes_the_golden_files() {
    let all = all_golden().unwrap();
    let files = all.iter().map(|g| (g.file, g.bytes.clone()));
    for (file, bytes) in files.chain([("golden.json", manifest(&all).into_bytes())]) {
        let path = folder().join(file);
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &bytes).unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "{file}");
    }
}

#[test]
fn todays_code_reads_the_golden_files() {
    for g in all_golden().unwrap() {
        let bytes = fs::read(folder().join(g.file)).unwrap();
        if g.file.starts_with("sip") {
            let sip = SipHashBuilder::from_key(KEY);
            check_reading(&g, BloomFilter::from_bytes_with_hasher(&bytes, sip).unwrap());
            check_reading(
                &g,
                AtomicBloomFilter::from_bytes_with_hasher(&bytes, sip).unwrap().into_plain(),
            );
        } else {
            check_reading(&g, BloomFilter::from_bytes(&bytes).unwrap());
            check_reading(&g, AtomicBloomFilter::from_bytes(&bytes).unwrap().into_plain());
        }
    }
}

fn check_reading<S: PortableHasher + Clone>(g: &Golden, filter: BloomFilter<S>) {
    let view = BloomFilterView::from_bytes_with_hasher(&g.bytes, filter.hasher().clone()).unwrap();
    view.verify().unwrap();
    for (i, &expected) in (0..).zip(&g.answers) {
        let answers = match g.keys {
            "u64" => [filter.contains(&i), view.contains(&i)],
            _ => [filter.contains(&format!("key-{i}")), view.contains(&format!("key-{i}"))],
        };
        assert_eq!(answers, [expected; 2], "{}: key {i}", g.file);
    }
    assert_eq!(view.to_filter().unwrap(), filter);
}
