//! The portable bytes: golden files, which never change, and errors of bad input.
//!
//! `BLESS=1 cargo test -p bloom-core --test it format` rewrites the golden files for a new format version.
#![cfg(feature = "std")]

use pds_core::bytes::{ByteOptions, Header};
use pds_core::internal::DecodeFault;
use pds_params::internal::ParamFault;
use std::path::{Path, PathBuf};
use std::{env, fs};

use bloom_core::{AtomicBloomFilter, BloomFilter, BloomFilterView};
use pds_core::error::{BuildError, DecodeError, ParamError};
use pds_core::hash::{PortableHasher, SipHashBuilder};
use pds_testkit::envelope::{forged, with_number, with_numbers, with_payload, with_sections};
use pds_testkit::golden;
use quickcheck::quickcheck;

const KEY: [u8; 16] = *b"0123456789abcdef";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// One golden file: the inserted keys, and the bytes that must result.
struct Golden {
    file: &'static str,
    /// The secret key that the file lacks, as hex digits.
    key: &'static str,
    /// The type of the keys: `u64`, or `text` for `key-0`, `key-1`, ...
    keys: &'static str,
    bytes: Vec<u8>,
    answers: Vec<bool>,
}

/// Number of keys that are queried in each file. The inserted ones come first.
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
            ByteOptions::new().without_key().to_bytes(f)
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
            ByteOptions::new().with_key().to_bytes(f)
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

fn manifest(all: &[Golden]) -> String {
    golden::manifest(all.iter().map(|g| {
        let Golden { file, key, keys, answers, .. } = g;
        golden::Golden { file, key, keys, answers }
    }))
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
            check_reading(
                &g,
                ByteOptions::new().hasher(sip).from_bytes::<BloomFilter<_>>(&bytes).unwrap(),
            );
            check_reading(
                &g,
                ByteOptions::new()
                    .hasher(sip)
                    .from_bytes::<AtomicBloomFilter<_>>(&bytes)
                    .unwrap()
                    .into_plain(),
            );
        } else {
            check_reading(&g, BloomFilter::from_bytes(&bytes).unwrap());
            check_reading(
                &g,
                ByteOptions::new().from_bytes::<AtomicBloomFilter>(&bytes).unwrap().into_plain(),
            );
        }
    }
}

fn check_reading<S: PortableHasher + Clone>(g: &Golden, filter: BloomFilter<S>) {
    let view = ByteOptions::new()
        .hasher(filter.hasher().clone())
        .open::<_, BloomFilterView<_, _>>(&g.bytes)
        .unwrap();
    view.verify().unwrap();
    for (i, &expected) in (0u64..).zip(&g.answers) {
        let answers = match g.keys {
            "u64" => [filter.contains(&i), view.contains(&i)],
            _ => [filter.contains(&format!("key-{i}")), view.contains(&format!("key-{i}"))],
        };
        assert_eq!(answers, [expected; 2], "{}: key {i}", g.file);
    }
    assert_eq!(view.to_filter().unwrap(), filter);
}

fn small() -> Vec<u8> {
    let mut filter = BloomFilter::builder().expected_items(10).seed(7).build().unwrap();
    filter.extend(0..10u32);
    filter.to_bytes()
}

/// Returns the common result of all ways of reading these bytes. The view is verified, too.
fn errors_of(bytes: &[u8]) -> [Option<DecodeError>; 3] {
    let owned = BloomFilter::from_bytes(bytes);
    let shared = ByteOptions::new().from_bytes::<AtomicBloomFilter>(bytes);
    let view = BloomFilterView::open(bytes);
    [owned.err(), shared.err(), view.and_then(|view| view.verify()).err()]
}

/// Reading these bytes fails in every way with this error.
fn assert_fails(bytes: &[u8], what: &str, expected: impl Fn(&DecodeError) -> bool) {
    for error in errors_of(bytes) {
        let error = error.unwrap_or_else(|| panic!("{what} was accepted"));
        assert!(expected(&error), "{what}: {error:?}");
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn case_17_every_truncation_is_an_error() {
    let bytes = small();
    assert_eq!(errors_of(&bytes), [None; 3]);
    for length in 0..bytes.len() {
        assert_fails(&bytes[..length], &format!("{length} bytes"), |error| {
            let DecodeError(DecodeFault::Truncated { offset, expected }) = *error else {
                return false;
            };
            let head = if length < 24 { 72 } else { 128 };
            offset == length as u64
                && expected == if length < 128 { head } else { bytes.len() as u64 }
        });
    }
}

#[test]
fn case_17_every_flipped_bit_is_an_error() {
    let bytes = small();
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_fails(&damaged, &format!("bit {bit} flipped"), |error| match bit / 8 {
            0..8 => matches!(error, DecodeError(DecodeFault::Magic { .. })),
            8..10 => matches!(error, DecodeError(DecodeFault::Version { offset: 8, .. })),
            12..16 => true,
            10..128 => matches!(
                error,
                DecodeError(DecodeFault::Checksum { part: "header", offset: 120, .. })
            ),
            _ => matches!(
                error,
                DecodeError(DecodeFault::Checksum { part: "payload", .. })
                    | DecodeError(DecodeFault::Padding { .. })
            ),
        });
    }
}

/// A forged head with a correct checksum, as an attacker writes it.
#[test]
fn case_17_every_lie_is_an_error() {
    let lie = |at: usize, lie: &[u8]| forged(&small(), at, lie);
    let number = |at, value: u64| lie(at, &value.to_le_bytes());
    assert_fails(&lie(0, b"\x89PNG"), "another magic", |e| {
        matches!(e, DecodeError(DecodeFault::Magic { .. }))
    });
    assert_fails(&lie(8, &[2, 0]), "a later version", |e| {
        matches!(e, DecodeError(DecodeFault::Version { found: 2, .. }))
    });
    assert_fails(
        &lie(10, &[0xff, 0x7f]),
        "an unknown kind",
        |e| matches!(e, DecodeError(DecodeFault::Kind { offset: 10, found, .. }) if found.id() == 0x7fff),
    );
    for id in [0u16, 2, 3, u16::MAX] {
        let bytes = lie(32, &id.to_le_bytes());
        assert_fails(&bytes, "another hasher", |e| {
            matches!(e, DecodeError(DecodeFault::Hasher { offset: 32, .. }))
        });
    }
    assert_fails(&number(40, 1), "another probe", |e| {
        matches!(e, DecodeError(DecodeFault::KeyMismatch { offset: 40, .. }))
    });
    assert_fails(&number(48, 8), "another seed", |e| {
        matches!(e, DecodeError(DecodeFault::KeyMismatch { .. }))
    });
    assert_fails(&number(56, 1), "a seed of more than 64 bits", |e| {
        matches!(e, DecodeError(DecodeFault::Field { offset: 56, .. }))
    });
    assert_fails(&with_sections(&small(), &[]), "no section", |e| {
        matches!(e, DecodeError(DecodeFault::Numbers { offset: 24, expected: 2, found: 0 }))
    });
    for rate in [1.0, -0.5, f64::NAN, f64::INFINITY] {
        let bytes = number(80, rate.to_bits());
        assert_fails(&bytes, "an impossible rate", |e| {
            matches!(e, DecodeError(DecodeFault::Field { offset: 80, .. }))
        });
    }
    for bits in [0, (1 << 63) + 1, u64::MAX] {
        assert_fails(&with_number(&small(), 0, bits), "impossible bits", |e| {
            let DecodeError(DecodeFault::Shape {
                offset: 96,
                error: ParamError(ParamFault::OutOfRange { value, .. }),
            }) = *e
            else {
                return false;
            };
            value == bits
        });
    }
    for hashes in [0, 256, 1 << 32, u64::MAX] {
        assert_fails(&with_number(&small(), 1, hashes), "impossible hashes", |e| {
            let DecodeError(DecodeFault::Shape {
                offset: 104,
                error: ParamError(ParamFault::OutOfRange { value, .. }),
            }) = *e
            else {
                return false;
            };
            value == hashes
        });
    }
    for numbers in [&[96][..], &[96, 7, 0], &[0; 16]] {
        let found = numbers.len() as u64;
        assert_fails(&with_numbers(&small(), numbers), "another count of numbers", |e| {
            *e == DecodeError(DecodeFault::Numbers { offset: 96, expected: 2, found })
        });
    }
    for bits in [1, 64, 200, 1 << 20, 1 << 40, 1 << 63] {
        assert_fails(&with_number(&small(), 0, bits), "bits of another payload", |e| {
            matches!(e, DecodeError(DecodeFault::PayloadLength { offset: 16, .. }))
        });
    }
    // All wrong lengths are refused before anything is allocated, also the greatest.
    for length in [136, 144, 160, 1 << 40, 1 << 63, u64::MAX] {
        assert_fails(&number(16, length), "another length", |e| {
            matches!(
                e,
                DecodeError(DecodeFault::Trailing { .. })
                    | DecodeError(DecodeFault::Truncated { .. })
            )
        });
    }
    assert_fails(&number(16, 135), "a length without payload or checksum", |e| {
        matches!(e, DecodeError(DecodeFault::Field { offset: 16, .. }))
    });
}

#[test]
fn case_17_bytes_behind_the_end_are_an_error() {
    for extra in 1..20 {
        let mut bytes = small();
        let end = bytes.len() as u64;
        bytes.extend(vec![0; extra]);
        assert_fails(&bytes, "trailing bytes", |e| {
            *e == DecodeError(DecodeFault::Trailing { offset: end, found: extra as u64 })
        });
    }
}

#[test]
fn case_17_bits_beyond_the_last_are_an_error() {
    let filter = BloomFilter::builder().bits(100).hashes(3).build().unwrap();
    let mut payload = [0; 16];
    payload[12] = 0x10;
    let bytes = with_payload(&filter.to_bytes(), &payload);
    let found = 0x10 << 32;
    assert_fails(&bytes, "bit 100 of 100", |e| {
        *e == DecodeError(DecodeFault::Padding { offset: 136, found })
    });
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let mut filter = BloomFilter::builder()
        .expected_items(100)
        .hasher(SipHashBuilder::from_key(KEY))
        .build()
        .unwrap();
    filter.insert("stored");
    let without = ByteOptions::new().without_key().to_bytes(&filter);
    assert!(!without.windows(16).any(|window| window == KEY), "the key is in the bytes");
    let read = ByteOptions::new().from_bytes::<BloomFilter<SipHashBuilder>>(&without);
    assert_eq!(read.err(), Some(DecodeError(DecodeFault::KeyMissing { offset: 48 })));
    let read = ByteOptions::new()
        .hasher(SipHashBuilder::from_key(KEY))
        .from_bytes::<BloomFilter<_>>(&without)
        .unwrap();
    assert!(read == filter && read.contains("stored"));
    let with = ByteOptions::new().with_key().to_bytes(&filter);
    let read = ByteOptions::new().from_bytes::<BloomFilter<SipHashBuilder>>(&with).unwrap();
    assert!(read == filter && read.contains("stored"));
    for bytes in [&without, &with] {
        let wrong = SipHashBuilder::from_key([1; 16]);
        let error =
            ByteOptions::new().hasher(wrong).from_bytes::<BloomFilter<_>>(bytes).unwrap_err();
        assert!(
            matches!(error, DecodeError(DecodeFault::KeyMismatch { offset: 40, .. })),
            "{error:?}"
        );
        let error =
            ByteOptions::new().hasher(wrong).open::<_, BloomFilterView<_, _>>(bytes).err().unwrap();
        assert!(matches!(error, DecodeError(DecodeFault::KeyMismatch { .. })), "{error:?}");
    }
}

#[test]
fn peeking_tells_what_bytes_hold() {
    let header = Header::peek(&small()).unwrap();
    assert_eq!(header.kind, pds_core::bytes::Kind::BLOOM);
    assert_eq!(header.hasher.map(|hasher| hasher.id), Some(1));
    assert_eq!(header.shape.expected_items(), Some(10));
    assert_eq!(header.shape.promised_rate(), Some(0.01));
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_address() {
    let bytes = small();
    let filter = BloomFilter::from_bytes(&bytes).unwrap();
    for shift in 0..9 {
        let mut shifted = vec![0xff; shift];
        shifted.extend(&bytes);
        let view = BloomFilterView::open(&shifted[shift..]).unwrap();
        view.verify().unwrap();
        assert!((0..2_000u32).all(|key| view.contains(&key) == filter.contains(&key)));
        assert_eq!((view.approx_len(), view.health()), (filter.approx_len(), filter.health()));
    }
}

/// A payload that was not verified may give wrong answers, but never a panic.
#[test]
fn case_21_an_unverified_view_survives_any_payload() {
    let mut bytes = small();
    let end = bytes.len() - 8;
    bytes[128..end].fill(0xff);
    let view = BloomFilterView::open(&bytes).unwrap();
    assert!((0..1_000u32).all(|key| view.contains(&key)));
    assert!(view.fill_ratio() >= 1.0 && view.false_positive_rate() <= 1.0);
    let _ = (view.approx_len(), view.health(), view.is_saturated(), view.count_ones());
    assert!(view.verify().is_err() && view.to_filter().is_err());
}

/// The bits beyond the last one of bytes that nobody verified reach no filter: what it writes can be read, and it folds.
#[test]
fn case_21_unused_bits_of_an_unverified_view_are_not_taken_over() {
    let empty = || BloomFilter::builder().bits(100).hashes(3).build().unwrap();
    let mut bytes = empty().to_bytes();
    let end = bytes.len() - 8;
    bytes[end - 1] = 0xff;
    bytes[128] = 1;
    let view = BloomFilterView::open(&bytes).unwrap();
    assert_eq!(view.count_ones(), 1);
    assert_eq!(empty().approx_union_len(&view).unwrap(), view.approx_len());

    let mut filter = empty();
    filter.union_with(&view).unwrap();
    let shared = AtomicBloomFilter::from(empty());
    shared.union_with(&view).unwrap();
    for filter in [filter, shared.into_plain()] {
        assert_eq!((filter.bits().words(), filter.count_ones()), (&[1, 0][..], 1));
        assert_eq!(BloomFilter::from_bytes(&filter.to_bytes()).unwrap(), filter);
        assert_eq!(filter.fold(2).unwrap().count_ones(), 1);
    }
}

fn filled(bits: u64, hashes: u32, seed: u64, keys: &[u64]) -> BloomFilter {
    let mut filter = BloomFilter::builder()
        .bits(bits % 3_000 + 1)
        .hashes(hashes % 20 + 1)
        .seed(seed)
        .build()
        .unwrap();
    filter.insert_batch(keys);
    filter
}

quickcheck! {
    fn case_15_merging_after_the_bytes_equals_merging_before(
        bits: u64, hashes: u32, seed: u64, left: Vec<u64>, right: Vec<u64>
    ) -> bool {
        let mut merged = filled(bits, hashes, seed, &left);
        let right = filled(bits, hashes, seed, &right);
        let mut decoded = BloomFilter::from_bytes(&merged.to_bytes()).unwrap();
        decoded.union_with(&BloomFilter::from_bytes(&right.to_bytes()).unwrap()).unwrap();
        merged.union_with(&right).unwrap();
        decoded.to_bytes() == merged.to_bytes()
    }

    fn case_20_any_size_survives_the_bytes(bits: u64, hashes: u32, seed: u64, keys: Vec<u64>) -> bool {
        let filter = filled(bits, hashes, seed, &keys);
        let bytes = filter.to_bytes();
        let shared = ByteOptions::new().from_bytes::<AtomicBloomFilter>(&bytes).unwrap();
        shared.to_bytes() == bytes && BloomFilter::from_bytes(&bytes).is_ok_and(|read| read == filter)
    }
}
