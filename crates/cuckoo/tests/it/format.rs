//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p cuckoo --test it format` writes the golden files anew: a new format version.
#![cfg(feature = "std")]

use pds_core::internal::DecodeFault;
use pds_params::internal::ParamFault;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cuckoo::hash::SipHashBuilder;
use cuckoo::{CuckooFilter, CuckooFilterView};
use pds_core::bytes::{ByteOptions, Header, Kind};
use pds_core::error::{DecodeError, ParamError};
use pds_testkit::envelope::{with_number, with_numbers, with_payload};
use quickcheck::quickcheck;

const KEY: [u8; 16] = *b"0123456789abcdef";

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn shaped(buckets: u64, bits: u32) -> CuckooFilter {
    CuckooFilter::builder().buckets(buckets).fingerprint_bits(bits).build().unwrap()
}

/// Holds keys up to `items`, of which every third was removed again: slots have moved and were reused.
fn with_history(mut filter: CuckooFilter, items: u64) -> CuckooFilter {
    (0..items).for_each(|key| filter.insert(&key).unwrap());
    (0..items).step_by(3).for_each(|key| assert!(filter.remove(&key)));
    (0..items).step_by(6).for_each(|key| filter.insert(&key).unwrap());
    filter
}

/// Filters of every kind of width: lanes that divide a word, that straddle words, and halved buckets.
fn all_golden() -> Vec<(&'static str, CuckooFilter)> {
    vec![
        ("default.pds", with_history(CuckooFilter::new(1_000, 0.01).unwrap(), 1_000)),
        ("bits_8.pds", with_history(shaped(100, 8), 380)),
        ("bits_12.pds", with_history(shaped(101, 12), 380)),
        ("bits_23.pds", with_history(shaped(103, 23), 390)),
        ("bits_32.pds", with_history(shaped(33, 32), 120)),
        ("one_bucket.pds", with_history(shaped(1, 4), 3)),
    ]
}

#[test]
fn todays_code_writes_the_golden_files() {
    for (file, filter) in all_golden() {
        let bytes = filter.to_bytes();
        if env::var_os("BLESS").is_some() {
            fs::write(golden_path(file), &bytes).unwrap();
        }
        assert_eq!(fs::read(golden_path(file)).unwrap(), bytes, "{file}");
    }
}

#[test]
fn todays_code_reads_the_golden_files() {
    for (file, filter) in all_golden() {
        let bytes = fs::read(golden_path(file)).unwrap();
        let read = CuckooFilter::from_bytes(&bytes).unwrap();
        let view = CuckooFilterView::open(&bytes).unwrap();
        view.verify().unwrap();
        assert_eq!((read.len(), read.params()), (filter.len(), filter.params()), "{file}");
        for key in 0..4_000u64 {
            let expected = filter.contains(&key);
            assert_eq!([read.contains(&key), view.contains(&key)], [expected; 2], "{file}: {key}");
        }
        assert_eq!(read, filter);
    }
}

#[test]
fn a_header_tells_the_shape() {
    let header = Header::peek(&with_history(shaped(100, 8), 30).to_bytes()).unwrap();
    assert_eq!((header.kind, header.payload_bytes), (Kind::CUCKOO, 400));
    assert_eq!(header.shape.as_slice(), [100, 8, 25]);
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let hasher = SipHashBuilder::from_key(KEY);
    let mut filter = CuckooFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    filter.insert("key").unwrap();
    let bytes = ByteOptions::new().without_key().to_bytes(&filter);
    assert!(!bytes.windows(16).any(|window| window == KEY));
    let read = ByteOptions::new().from_bytes::<CuckooFilter<SipHashBuilder>>(&bytes);
    assert_eq!(read, Err(DecodeError(DecodeFault::KeyMissing { offset: 48 })));
    assert_eq!(
        ByteOptions::new().hasher(hasher).from_bytes::<CuckooFilter<_>>(&bytes),
        Ok(filter.clone())
    );
    assert_eq!(
        ByteOptions::new()
            .from_bytes::<CuckooFilter<_>>(&ByteOptions::new().with_key().to_bytes(&filter)),
        Ok(filter)
    );
}

#[test]
fn a_stream_is_read_exactly_and_within_limits() {
    let filter = with_history(shaped(50, 13), 150);
    let mut stream = Vec::new();
    filter.write_to(&mut stream).unwrap();
    filter.write_to(&mut stream).unwrap();
    let mut reader = stream.as_slice();
    let mut next =
        |limit| ByteOptions::new().max_bytes(limit).read_from::<CuckooFilter>(&mut reader);
    assert_eq!(next(1_000).unwrap(), filter);
    assert!(next(100).unwrap_err().to_string().contains("above the limit of 100"));
}

fn out_of_range(result: Result<CuckooFilter, DecodeError>) -> (&'static str, u64, u64) {
    match result.unwrap_err() {
        DecodeError(DecodeFault::Shape {
            offset,
            error: ParamError(ParamFault::OutOfRange { parameter, value, .. }),
        }) => (parameter, value, offset),
        other => panic!("{other}"),
    }
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let bytes = with_history(shaped(100, 8), 30).to_bytes();
    let read = |index, number| CuckooFilter::from_bytes(&with_number(&bytes, index, number));
    // No design: the shape follows the hasher.
    assert_eq!(out_of_range(read(0, 0)), ("buckets", 0, 72));
    assert_eq!(out_of_range(read(0, u64::MAX)), ("buckets", u64::MAX, 72));
    assert_eq!(out_of_range(read(1, 40)), ("fingerprint_bits", 40, 80));
    assert_eq!(out_of_range(read(1, 1 << 40)), ("fingerprint_bits", 1 << 40, 80));
    assert_eq!(out_of_range(read(2, 24)), ("fingerprints", 24, 88));
    assert_eq!(out_of_range(read(2, 401)), ("fingerprints", 401, 88));
    let more = CuckooFilter::from_bytes(&with_numbers(&bytes, &[100, 8, 25, 0]));
    assert_eq!(more, Err(DecodeError(DecodeFault::Numbers { offset: 72, expected: 3, found: 4 })));
    assert!(matches!(read(0, 1 << 32), Err(DecodeError(DecodeFault::PayloadLength { .. }))));
    assert!(matches!(read(1, 9), Err(DecodeError(DecodeFault::PayloadLength { .. }))));
    let view_bytes = with_number(&bytes, 2, 24);
    let view = CuckooFilterView::open(&view_bytes).unwrap();
    assert_eq!(view.verify().err(), read(2, 24).err());
}

#[test]
fn case_17_bits_beyond_the_last_slot_are_refused() {
    // One bucket of 4 bits has 16 bits of 64; the checksum behind them is made right.
    let bytes = with_payload(&shaped(1, 4).to_bytes(), &[0, 0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(
        CuckooFilter::from_bytes(&bytes),
        Err(DecodeError(DecodeFault::Padding { offset: 128, found: 1 << 16 }))
    );
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    let filter = with_history(shaped(7, 12), 20);
    let bytes = filter.to_bytes();
    for end in 0..bytes.len() {
        assert!(CuckooFilter::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
    }
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(CuckooFilter::from_bytes(&damaged).is_err(), "bit {bit}");
        if let Ok(view) = CuckooFilterView::open(&damaged) {
            assert!(view.verify().is_err());
            let _ = view.contains(&1u64) | view.contains(&u64::MAX);
        }
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(
        CuckooFilter::from_bytes(&longer),
        Err(DecodeError(DecodeFault::Trailing { .. }))
    ));
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_address() {
    for (file, filter) in all_golden() {
        let bytes = filter.to_bytes();
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
            let view = CuckooFilterView::open(&shifted[shift..]).unwrap();
            view.verify().unwrap();
            assert!((0..2_000u64).all(|key| view.count(&key) == filter.count(&key)), "{file}");
            assert_eq!(view.to_filter().as_ref(), Ok(&filter), "{file}");
        }
    }
}

/// A payload that nobody asked to verify may answer wrongly; it never panics.
#[test]
fn case_21_an_unverified_view_survives_any_payload() {
    for (file, filter) in all_golden() {
        let mut bytes = filter.to_bytes();
        let end = bytes.len() - 8;
        bytes[128..end].fill(0xff);
        let view = CuckooFilterView::open(&bytes).unwrap();
        let mut answers = vec![false; 1_000];
        view.contains_batch(&(0..1_000u64).collect::<Vec<_>>(), &mut answers);
        assert!(answers.iter().zip(0u64..).all(|(&answer, key)| answer == view.contains(&key)));
        assert!(view.load_factor() <= 1.0 && view.false_positive_rate() <= 1.0, "{file}");
        assert!(view.fingerprints().count() as u64 <= view.num_slots());
        assert!(view.verify().is_err() && view.to_filter().is_err(), "{file}");
    }
}

quickcheck! {
    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        CuckooFilter::from_bytes(&bytes).is_err()
    }
}
