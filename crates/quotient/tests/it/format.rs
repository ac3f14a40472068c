//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p quotient --test it format` writes the golden files anew: a new format version.

use std::path::{Path, PathBuf};
use std::{env, fs};

use pds_core::bytes::{ByteOptions, Header, Kind};
use pds_core::hash::finalize;
use pds_testkit::envelope::{head_bytes, with_number, with_numbers, with_payload};
use pds_testkit::portable::{fault_of, refuses_damage};
use quickcheck::quickcheck;
use quotient::error::DecodeErrorKind;
use quotient::hash::SipHashBuilder;
use quotient::{QuotientFilter, QuotientFilterView};

use crate::{full, shaped};

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

/// Holds keys up to `items`, of which every third was removed again, and half of those inserted again.
fn with_history(mut filter: QuotientFilter, items: u64) -> QuotientFilter {
    (0..items).for_each(|key| filter.insert(&key).unwrap());
    (0..items).step_by(3).for_each(|key| assert!(filter.remove(&key)));
    (0..items).step_by(6).for_each(|key| filter.insert(&key).unwrap());
    filter
}

/// Whole and short last blocks, runs that overflow the last slot, widths that straddle bytes, and a plan of growth.
fn all_golden() -> Vec<(&'static str, QuotientFilter)> {
    let growing = QuotientFilter::builder().expected_items(100).grows_to(100_000).build().unwrap();
    let mut copies = shaped(70, 5);
    (0..66).for_each(|_| copies.insert_hash(u64::MAX).unwrap());
    let mut saturated = shaped(700, 3);
    (0..300).for_each(|_| saturated.insert_hash(finalize(7)).unwrap());
    (0..300).for_each(|key| saturated.insert_hash(finalize(key)).unwrap());
    vec![
        ("default.pds", with_history(QuotientFilter::new(1_000, 0.01).unwrap(), 1_000)),
        ("growing.pds", with_history(growing, 700)),
        ("bits_8.pds", with_history(shaped(128, 8), 121)),
        ("bits_13.pds", with_history(shaped(101, 13), 95)),
        ("bits_56.pds", with_history(shaped(33, 56), 31)),
        ("one_slot.pds", shaped(1, 1)),
        ("overflow.pds", copies),
        ("saturated.pds", saturated),
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
        let read = QuotientFilter::from_bytes(&bytes).unwrap();
        let view = QuotientFilterView::open(&bytes).unwrap();
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
fn a_header_tells_the_shape_and_the_size() {
    let mut filter = shaped(100, 8);
    (0..25).for_each(|key| filter.insert_hash(finalize(key)).unwrap());
    let header = Header::peek(&filter.to_bytes()).unwrap();
    // Two blocks of an offset each, 13 groups of 8 slots of 2 + 8 bits.
    assert_eq!((header.kind, header.payload_bytes), (Kind::QUOTIENT, 2 + 13 * 10));
    assert_eq!(header.shape.as_slice(), [100, 8, 25, 0, 0]);
    (0..50).for_each(|_| filter.insert_hash(u64::MAX).unwrap());
    let header = Header::peek(&filter.to_bytes()).unwrap();
    // The last run begins in slot 99 and ends after slot 148.
    assert_eq!(header.shape.as_slice(), [100, 8, 75, 48, 0]);
    assert_eq!((header.payload_bytes, filter.size_in_bytes()), (3 + 19 * 10, 193));
}

#[test]
fn an_empty_filter_has_the_size_of_its_parameters() {
    for (slots, bits) in [(1, 1), (64, 7), (65, 7), (1_000, 9), (1_001, 54)] {
        let filter = shaped(slots, bits);
        let header = Header::peek(&filter.to_bytes()).unwrap();
        assert_eq!(header.payload_bytes, filter.params().size_in_bytes());
        assert_eq!(header.payload_bytes, filter.size_in_bytes());
    }
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let mut filter = QuotientFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    filter.insert("key").unwrap();
    let options = ByteOptions::new();
    let bytes = options.without_key().to_bytes(&filter);
    let read = options.from_bytes::<QuotientFilter<SipHashBuilder>>(&bytes);
    assert_eq!(read.unwrap_err().kind(), DecodeErrorKind::KeyMissing);
    assert_eq!(options.hasher(hasher).from_bytes::<QuotientFilter<_>>(&bytes), Ok(filter.clone()));
    let bytes = options.with_key().to_bytes(&filter);
    assert_eq!(options.from_bytes::<QuotientFilter<SipHashBuilder>>(&bytes), Ok(filter));
}

#[test]
fn a_stream_is_read_exactly_and_within_limits() {
    let filter = with_history(shaped(50, 13), 45);
    let mut stream = Vec::new();
    filter.write_to(&mut stream).unwrap();
    filter.write_to(&mut stream).unwrap();
    let mut reader = stream.as_slice();
    let mut next =
        |limit| ByteOptions::new().max_bytes(limit).read_from::<QuotientFilter>(&mut reader);
    assert_eq!(next(1_000).unwrap(), filter);
    assert!(next(100).unwrap_err().to_string().contains("above the limit of 100"));
    assert_eq!(QuotientFilter::read_from(stream.as_slice()).unwrap(), filter);
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let bytes = with_history(shaped(100, 8), 30).to_bytes();
    let read = |index, number| QuotientFilter::from_bytes(&with_number(&bytes, index, number));
    // No design: the shape follows the hasher.
    assert_eq!(fault_of(read(0, 0)), ("slots", 72));
    assert_eq!(fault_of(read(0, u64::MAX)), ("slots", 72));
    assert_eq!(fault_of(read(1, 0)), ("remainder_bits", 80));
    assert_eq!(fault_of(read(1, 57)), ("remainder_bits", 80));
    assert_eq!(fault_of(read(1, 1 << 40)), ("remainder_bits", 80));
    assert_eq!(fault_of(read(2, 24)), ("fingerprints", 88));
    assert_eq!(fault_of(read(2, 96)), ("fingerprints", 88));
    assert_eq!(fault_of(read(2, u64::MAX)), ("fingerprints", 88));
    assert_eq!(fault_of(read(3, 4)), ("overflow_slots", 96));
    assert_eq!(fault_of(read(3, 32)), ("payload length", 16));
    assert_eq!(fault_of(read(3, u64::MAX - 7)), ("overflow_slots", 96));
    assert_eq!(fault_of(read(4, 8)), ("doublings", 104));
    assert_eq!(fault_of(read(4, 1 << 40)), ("doublings", 104));
    assert!(read(4, 7).is_ok());
    assert_eq!(fault_of(read(0, 1 << 40)), ("payload length", 16));
    let more = QuotientFilter::from_bytes(&with_numbers(&bytes, &[100, 8, 25, 0]));
    assert_eq!(fault_of(more), ("numbers", 72));
    let view_bytes = with_number(&bytes, 2, 24);
    let view = QuotientFilterView::open(&view_bytes).unwrap();
    assert_eq!(view.verify().err(), read(2, 24).err());
}

/// Slots beyond those that the runs need would give one filter several forms.
#[test]
fn case_17_spare_slots_are_refused() {
    let mut filter = shaped(100, 8);
    (0..25).for_each(|key| filter.insert_hash(finalize(key)).unwrap());
    let bytes = filter.to_bytes();
    let payload = &bytes[head_bytes(&bytes).unwrap()..bytes.len() - 8];
    // The short block gets a group more: a byte of quotients, of ends, and 8 of entries.
    let (first, last) = payload.split_at(1 + 8 * 10);
    let (offset, quotients, rest) = (&last[..1], &last[1..6], &last[6..]);
    let longer = [first, offset, quotients, &[0], &rest[..5], &[0], &rest[5..], &[0; 8]].concat();
    let longer = with_payload(&with_number(&bytes, 3, 8), &longer);
    assert_eq!(fault_of(QuotientFilter::from_bytes(&longer)), ("overflow_slots", 96));
}

/// Changes of one block of 64 slots of 8 bits: an offset, 64 bits of quotients, 64 of ends, and a byte per slot.
#[test]
fn case_17_blocks_that_contradict_themselves_are_refused() {
    let bytes_of =
        |payload: &[u8]| with_payload(&with_number(&shaped(60, 8).to_bytes(), 2, 2), payload);
    let mut right = [0; 81];
    (right[1], right[9]) = (0b10, 0b100);
    (right[17 + 1], right[17 + 2]) = (5, 6);
    let filter = QuotientFilter::from_bytes(&bytes_of(&right)).unwrap();
    assert!(filter.fingerprints().eq([(1, 5), (1, 6)]));
    for (at, value, name) in [
        (0, 1, "the offset of a block"),
        (0, 255, "the offset of a block"),
        (1, 0, "an unused slot"),
        (1, 0b110, "a slot"),
        (1, 0b01, "fingerprints"),
        (8, 0x10, "a quotient"),
        (9, 0, "a remainder"),
        (9, 0b110, "an unused slot"),
        (9, 0b1100, "an unused slot"),
        (17, 1, "an unused slot"),
        (18, 7, "a remainder"),
        (19, 4, "a remainder"),
        (20, 1, "an unused slot"),
        (80, 1, "an unused slot"),
        (9, 0b1000, "a remainder"),
    ] {
        let mut wrong = right;
        wrong[at] = value;
        let bytes = bytes_of(&wrong);
        assert_eq!(fault_of(QuotientFilter::from_bytes(&bytes)).0, name, "{at}: {value}");
        assert_eq!(fault_of(QuotientFilterView::open(&bytes).unwrap().verify()).0, name);
    }
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    for filter in [full(7, 12), full(70, 3)] {
        let bytes = filter.to_bytes();
        refuses_damage(&bytes, QuotientFilter::from_bytes);
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(view) = QuotientFilterView::open(&damaged) {
                assert!(view.verify().is_err());
                let _ = view.contains(&1u64) | view.contains(&u64::MAX);
            }
        }
    }
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_address() {
    for (file, filter) in all_golden() {
        let bytes = filter.to_bytes();
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
            let view = QuotientFilterView::open(&shifted[shift..]).unwrap();
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
        for fill in [0xff, 0x55, 1] {
            let mut bytes = filter.to_bytes();
            let (start, end) = (head_bytes(&bytes).unwrap(), bytes.len() - 8);
            bytes[start..end].fill(fill);
            let view = QuotientFilterView::open(&bytes).unwrap();
            let mut answers = vec![false; 1_000];
            view.contains_batch(&(0..1_000u64).collect::<Vec<_>>(), &mut answers);
            assert!(answers.iter().zip(0u64..).all(|(&answer, key)| answer == view.contains(&key)));
            assert!((0..1_000u64).all(|key| view.count(&key) <= 10_000));
            assert!(view.fingerprints().count() as u64 <= view.num_slots() + 400, "{file}");
            assert!(view.verify().is_err() && view.to_filter().is_err(), "{file}");
        }
    }
}

/// Bytes that get shorter after they were opened, in spite of what `Stored` asks for.
struct Shrinking<'a> {
    bytes: &'a [u8],
    len: core::cell::Cell<usize>,
}

impl AsRef<[u8]> for Shrinking<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len.get()]
    }
}

#[test]
fn a_view_of_bytes_that_shrink_panics_instead_of_losing_keys() {
    let mut filter = shaped(20, 9);
    filter.insert("key").unwrap();
    let bytes = filter.to_bytes();
    let len = core::cell::Cell::new(bytes.len());
    let view = QuotientFilterView::open(Shrinking { bytes: &bytes, len }).unwrap();
    assert!(view.contains("key"));
    for len in [0, 64, bytes.len() - 9] {
        view.get_ref().len.set(len);
        let asked =
            std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| view.contains("key")));
        assert!(asked.is_err() && view.verify().is_err());
    }
}

quickcheck! {
    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        QuotientFilter::from_bytes(&bytes).is_err()
    }
}
