//! The portable bytes: golden files, which never change, and errors of bad input.
//!
//! `BLESS=1 cargo test -p bloom-blocked --test it format` rewrites the golden files for a new format version.
#![cfg(feature = "std")]

use pds_core::bytes::ByteOptions;
use pds_core::internal::DecodeFault;
use std::path::Path;
use std::{env, fs};

use bloom_blocked::error::{BuildError, DecodeError};
use bloom_blocked::hash::SipHashBuilder;
use bloom_blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedBloomFilterView};
use pds_core::bytes::Kind;
use pds_core::hash::PortableHasher;
use pds_testkit::envelope::{with_number, with_numbers};
use quickcheck::quickcheck;

const KEY: [u8; 16] = *b"0123456789abcdef";

/// Number of keys that are queried in each file. The inserted ones come first.
const ASKED: u64 = 2_000;

/// One golden file: the bytes of a filter of the keys below `inserted`.
struct Golden {
    file: &'static str,
    inserted: u64,
    bytes: Vec<u8>,
    answers: Vec<bool>,
}

fn golden<S: PortableHasher>(
    file: &'static str,
    inserted: u64,
    mut filter: BlockedBloomFilter<S>,
) -> Golden {
    filter.extend(0..inserted);
    let answers = (0..ASKED).map(|key| filter.contains(&key)).collect();
    Golden { file, inserted, bytes: ByteOptions::new().with_key().to_bytes(&filter), answers }
}

fn all_golden() -> Result<Vec<Golden>, BuildError> {
    let builder = BlockedBloomFilter::builder;
    let designed = || builder().expected_items(1_000);
    let shaped = |blocks, hashes| builder().blocks(blocks).hashes(hashes).build();
    let sip = SipHashBuilder::from_key(KEY);
    Ok(vec![
        golden("default.pds", 1_000, BlockedBloomFilter::new(1_000, 0.01)?),
        golden("seeded.pds", 900, designed().false_positive_rate(1e-4).seed(42).build()?),
        golden("sip.pds", 1_000, designed().hasher(sip).build()?),
        golden("one_block.pds", 40, shaped(1, 6)?),
        golden("two_hashes.pds", 300, shaped(7, 2)?),
        golden("sixteen_hashes.pds", 100, shaped(5, 16)?),
    ])
}

fn path(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

/// The answers as one line of digits for each file, for readers in other languages.
fn manifest(all: &[Golden]) -> String {
    let digits =
        |g: &Golden| g.answers.iter().map(|&a| if a { '1' } else { '0' }).collect::<String>();
    all.iter().map(|g| format!("{} {} {}\n", g.file, g.inserted, digits(g))).collect()
}

#[test]
fn todays_code_writes_the_golden_files() {
    let all = all_golden().unwrap();
    let files = all.iter().map(|g| (g.file, g.bytes.clone()));
    for (file, bytes) in files.chain([("answers.txt", manifest(&all).into_bytes())]) {
        if env::var_os("BLESS").is_some() {
            fs::write(path(file), &bytes).unwrap();
        }
        assert_eq!(fs::read(path(file)).unwrap(), bytes, "{file}");
    }
}

#[test]
fn todays_code_reads_the_golden_files() {
    for g in all_golden().unwrap() {
        let bytes = fs::read(path(g.file)).unwrap();
        if g.file == "sip.pds" {
            check_reading(
                &g,
                ByteOptions::new()
                    .from_bytes::<BlockedBloomFilter<SipHashBuilder>>(&bytes)
                    .unwrap(),
            );
        } else {
            check_reading(&g, BlockedBloomFilter::from_bytes(&bytes).unwrap());
            check_reading(
                &g,
                ByteOptions::new()
                    .from_bytes::<AtomicBlockedBloomFilter>(&bytes)
                    .unwrap()
                    .into_plain(),
            );
        }
    }
}

fn check_reading<S: PortableHasher + Clone>(g: &Golden, filter: BlockedBloomFilter<S>) {
    let hasher = filter.hasher().clone();
    let view = ByteOptions::new()
        .hasher(hasher)
        .open::<_, BlockedBloomFilterView<_, _>>(&g.bytes)
        .unwrap();
    view.verify().unwrap();
    for (key, &expected) in (0u64..).zip(&g.answers) {
        assert_eq!([filter.contains(&key), view.contains(&key)], [expected; 2], "{}", g.file);
    }
    assert_eq!(view.to_filter().unwrap(), filter);
    assert_eq!(view.params(), filter.params());
}

fn small() -> Vec<u8> {
    let mut filter = BlockedBloomFilter::builder().expected_items(100).seed(7).build().unwrap();
    filter.extend(0..100u32);
    filter.to_bytes()
}

/// Returns the common result of all ways of reading these bytes. The view is verified, too.
fn errors_of(bytes: &[u8]) -> [Option<DecodeError>; 3] {
    let view = BlockedBloomFilterView::open(bytes);
    [
        BlockedBloomFilter::from_bytes(bytes).err(),
        ByteOptions::new().from_bytes::<AtomicBlockedBloomFilter>(bytes).err(),
        view.and_then(|view| view.verify()).err(),
    ]
}

/// Reading these bytes fails in every way with this error.
fn assert_fails(bytes: &[u8], what: &str, expected: impl Fn(&DecodeError) -> bool) {
    for error in errors_of(bytes) {
        let error = error.unwrap_or_else(|| panic!("{what} was accepted"));
        assert!(expected(&error), "{what}: {error:?}");
    }
}

#[test]
fn case_17_every_truncation_is_an_error() {
    let bytes = small();
    assert_eq!(errors_of(&bytes), [None; 3]);
    for length in 0..bytes.len() {
        assert_fails(&bytes[..length], &format!("{length} bytes"), |error| {
            matches!(error, DecodeError(DecodeFault::Truncated { .. }))
        });
    }
}

#[test]
fn case_17_every_flipped_bit_is_an_error() {
    let bytes = small();
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_fails(&damaged, &format!("bit {bit} flipped"), |_| true);
    }
}

/// A forged header with a correct checksum, as an attacker writes it.
#[test]
fn case_17_every_lie_is_an_error() {
    let lie = |index, value: u64| with_number(&small(), index, value);
    for blocks in [0, (1 << 54) + 1, u64::MAX] {
        assert_fails(&lie(0, blocks), "impossible blocks", |e| {
            matches!(e, DecodeError(DecodeFault::Shape { offset: 96, .. }))
        });
    }
    for hashes in [0, 1, 7, 9, 17, 18, 1 << 32, u64::MAX] {
        assert_fails(&lie(1, hashes), "impossible hashes", |e| {
            matches!(e, DecodeError(DecodeFault::Shape { offset: 104, .. }))
        });
    }
    for blocks in [1, 3, 4, 1 << 20, 1 << 54] {
        assert_fails(&lie(0, blocks), "blocks of another payload", |e| {
            matches!(e, DecodeError(DecodeFault::PayloadLength { offset: 16, .. }))
        });
    }
    assert_fails(&with_numbers(&small(), &[2, 8, 0]), "a number too many", |e| {
        matches!(e, DecodeError(DecodeFault::Numbers { offset: 96, expected: 2, found: 3 }))
    });
}

#[test]
fn case_17_a_standard_filter_is_another_kind() {
    let bytes = bloom_core::BloomFilter::builder().bits(512).hashes(8).build().unwrap().to_bytes();
    assert_fails(&bytes, "a standard Bloom filter", |e| {
        *e == DecodeError(DecodeFault::Kind {
            offset: 10,
            expected: Kind::BLOCKED_BLOOM,
            found: Kind::BLOOM,
        })
    });
}

quickcheck! {
    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        errors_of(&bytes).iter().all(Option::is_some)
    }

    fn streams_are_the_bytes(keys: Vec<u64>) -> bool {
        let mut filter = BlockedBloomFilter::new(50, 0.01).unwrap();
        filter.extend(&keys);
        let mut stream = Vec::new();
        filter.write_to(&mut stream).unwrap();
        stream == filter.to_bytes() && BlockedBloomFilter::from_bytes(&stream).unwrap() == filter
    }
}
