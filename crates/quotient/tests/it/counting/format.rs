//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p quotient --test it counting` writes the golden files anew: a new format version.

use std::path::{Path, PathBuf};
use std::{env, fs};

use pds_core::bytes::{Header, Kind};
use pds_core::hash::finalize;
use pds_testkit::envelope::{head_bytes, with_number, with_numbers, with_payload};
use pds_testkit::portable::{fault_of, refuses_damage};
use quickcheck::quickcheck;
use quotient::{CountingQuotientFilter, CountingQuotientFilterView, QuotientFilter};

use super::shaped;

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/counting").join(file)
}

/// Counts below 2^12 and the greatest one, as many as fit.
fn counted(mut filter: CountingQuotientFilter) -> CountingQuotientFilter {
    let _ = filter.insert_many(&0u64, CountingQuotientFilter::MAX_COUNT);
    for key in 1..4_000u64 {
        if filter.insert_many(&key, 1 + finalize(key) % (1 << (key % 13))).is_err() {
            break;
        }
    }
    filter
}

/// Whole and short last blocks, digits of one bit and of as many as possible, runs that overflow the last slot.
fn all_golden() -> Vec<(&'static str, CountingQuotientFilter)> {
    let builder = CountingQuotientFilter::builder().expected_items(100).grows_to(4_000);
    let mut last = shaped(70, 1);
    last.insert_many_hash(u64::MAX, CountingQuotientFilter::MAX_COUNT).unwrap();
    vec![
        ("default.pds", counted(CountingQuotientFilter::new(500, 0.01).unwrap())),
        ("growing.pds", counted(builder.build().unwrap())),
        ("bits_7.pds", counted(shaped(128, 7))),
        ("bits_55.pds", counted(shaped(101, 55))),
        ("bit_1.pds", counted(shaped(301, 1))),
        ("last.pds", last),
        ("none.pds", shaped(1, 1)),
    ]
}

#[test]
fn todays_code_writes_and_reads_the_golden_files() {
    for (file, filter) in all_golden() {
        let bytes = filter.to_bytes();
        if env::var_os("BLESS").is_some() {
            fs::write(golden_path(file), &bytes).unwrap();
        }
        assert_eq!(fs::read(golden_path(file)).unwrap(), bytes, "{file}");
        let read = CountingQuotientFilter::from_bytes(&bytes).unwrap();
        assert_eq!((read.len(), read.params()), (filter.len(), filter.params()), "{file}");
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
            let view = CountingQuotientFilterView::open(&shifted[shift..]).unwrap();
            view.verify().unwrap();
            assert_eq!((view.len(), view.used_slots()), (filter.len(), filter.used_slots()));
            for key in 0..1_000u64 {
                let counts = [read.count(&key), view.count(&key)];
                assert_eq!(counts, [filter.count(&key); 2], "{file}: {key}");
            }
            assert!(view.counts().eq(filter.counts()), "{file}");
            assert_eq!(view.to_filter().as_ref(), Ok(&filter), "{file}");
        }
        assert_eq!(read, filter);
    }
}

#[test]
fn a_header_tells_the_shape_and_the_size() {
    let mut filter = shaped(100, 7);
    (0..10).for_each(|key| filter.insert_many_hash(finalize(key), 1 << 14).unwrap());
    let bytes = filter.to_bytes();
    let header = Header::peek(&bytes).unwrap();
    // Two blocks of an offset each, 13 groups of 8 slots of 2 + 8 bits.
    assert_eq!((header.kind, header.payload_bytes), (Kind::COUNTING_QUOTIENT, 2 + 13 * 10));
    assert_eq!(header.shape.as_slice(), [100, 7, 10, 30, 0, 0]);
    assert!(QuotientFilter::from_bytes(&bytes).is_err());
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let mut filter = shaped(100, 8);
    (0..20).for_each(|key| filter.insert_many_hash(finalize(key), 2).unwrap());
    let bytes = filter.to_bytes();
    let read =
        |index, number| CountingQuotientFilter::from_bytes(&with_number(&bytes, index, number));
    assert_eq!(fault_of(read(0, 0)), ("slots", 72));
    assert_eq!(fault_of(read(0, u64::MAX)), ("slots", 72));
    for bits in [0, 56, 57, 1 << 40] {
        assert_eq!(fault_of(read(1, bits)), ("remainder_bits", 80));
    }
    for fingerprints in [0, 19, 21, 40, 41, u64::MAX] {
        assert_eq!(fault_of(read(2, fingerprints)), ("fingerprints", 88));
    }
    for used in [39, 41, 95, 96, u64::MAX] {
        assert_eq!(fault_of(read(3, used)), ("used_slots", 96));
    }
    assert_eq!(fault_of(read(3, 0)), ("fingerprints", 88));
    assert_eq!(fault_of(read(4, 4)), ("overflow_slots", 104));
    assert_eq!(fault_of(read(4, 8)), ("payload length", 16));
    assert_eq!(fault_of(read(4, u64::MAX - 7)), ("overflow_slots", 104));
    assert_eq!(fault_of(read(5, 8)), ("doublings", 112));
    assert!(read(5, 7).is_ok());
    let fewer = with_numbers(&bytes, &[100, 8, 20, 40, 0]);
    assert_eq!(fault_of(CountingQuotientFilter::from_bytes(&fewer)), ("numbers", 72));
}

/// Changes of one block of 64 slots of 8 bits: an offset, 64 bits of quotients, 64 of ends, and a byte per slot. Digits have
/// the highest bit.
#[test]
fn case_17_counts_that_are_not_the_shortest_are_refused() {
    let bytes_of = |entries: &[u8], fingerprints| {
        let mut payload = [0; 81];
        payload[1] = 0b10;
        payload[9..17].copy_from_slice(&(1u64 << entries.len()).to_le_bytes());
        payload[18..18 + entries.len()].copy_from_slice(entries);
        let bytes = with_number(&shaped(60, 7).to_bytes(), 2, fingerprints);
        with_payload(&with_number(&bytes, 3, entries.len() as u64), &payload)
    };
    let read = |entries: &[u8], fingerprints| {
        let bytes = bytes_of(entries, fingerprints);
        let view = CountingQuotientFilterView::open(&bytes).unwrap();
        let counts: Vec<_> = view.counts().collect();
        assert!(counts.iter().all(|&(.., count)| count <= CountingQuotientFilter::MAX_COUNT));
        let read = CountingQuotientFilter::from_bytes(&bytes);
        assert_eq!(view.verify().err(), read.as_ref().err().copied());
        read
    };
    let counts = |entries: &[u8], fingerprints| -> Vec<_> {
        read(entries, fingerprints).unwrap().counts().map(|(_, r, count)| (r, count)).collect()
    };
    assert_eq!(counts(&[5, 0x81, 6], 2), [(5, 2), (6, 1)]);
    assert_eq!(counts(&[5, 0x80, 0x81], 1), [(5, 129)]);
    assert_eq!(counts(&[0, 0xff, 127, 0xff], 2), [(0, 128), (127, 128)]);
    let greatest = [0xff; 9];
    assert_eq!(counts(&[&[5], &greatest[..]].concat(), 1), [(5, 1 << 63)]);

    let fault = |entries: &[u8], fingerprints| fault_of(read(entries, fingerprints)).0;
    // A digit before all remainders, at the end and not.
    assert_eq!(fault(&[0x81], 1), "a digit of a count");
    assert_eq!(fault(&[0x81, 5], 1), "a digit of a count");
    // A last digit of 0, at the end and not.
    assert_eq!(fault(&[5, 0x80], 1), "the last digit of a count");
    assert_eq!(fault(&[5, 0x80, 6], 2), "the last digit of a count");
    assert_eq!(fault(&[5, 0x81, 0x80], 1), "the last digit of a count");
    // The same remainder twice, and out of order.
    assert_eq!(fault(&[5, 5], 2), "a remainder");
    assert_eq!(fault(&[5, 0x81, 5], 2), "a remainder");
    assert_eq!(fault(&[5, 0x81, 4, 0x81], 2), "a remainder");
    // 2^63 + 1, and digits that no word holds.
    let above = [&[5], &[0x80; 9][..], &[0x81]].concat();
    assert_eq!(fault(&above, 1), "a digit of a count");
    let zeros = [&[5], &[0x80; 40][..]].concat();
    assert_eq!(fault(&zeros, 1), "the last digit of a count");
    let far = [&[5], &[0x80; 40][..], &[0x81]].concat();
    assert_eq!(fault(&far, 1), "a digit of a count");
    // The numbers of the head.
    assert_eq!(fault(&[5, 0x81, 6], 1), "fingerprints");
    assert_eq!(fault(&[5, 0x81, 6], 3), "fingerprints");
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    for filter in [counted(shaped(9, 12)), counted(shaped(70, 3))] {
        let bytes = filter.to_bytes();
        refuses_damage(&bytes, CountingQuotientFilter::from_bytes);
    }
}

/// A payload that nobody asked to verify may answer wrongly; it never panics.
#[test]
fn case_21_an_unverified_view_survives_any_payload() {
    for (file, filter) in all_golden() {
        for fill in [0xff, 0x55, 0x80, 1] {
            let mut bytes = filter.to_bytes();
            let (start, end) = (head_bytes(&bytes).unwrap(), bytes.len() - 8);
            bytes[start..end].fill(fill);
            let view = CountingQuotientFilterView::open(&bytes).unwrap();
            let most = CountingQuotientFilter::MAX_COUNT;
            assert!((0..1_000u64).all(|key| view.count(&key) <= most));
            let _ = (0..1_000u64).filter(|key| view.contains(key)).count();
            assert!(view.counts().count() as u64 <= view.num_slots() + 400, "{file}");
            assert!(view.verify().is_err() && view.to_filter().is_err(), "{file}");
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn case_18_every_format_gives_the_filter_back_or_an_error() {
    for filter in [counted(shaped(3, 4)), counted(shaped(65, 20))] {
        pds_testkit::format::survives(&filter, &filter.to_bytes());
    }
}

quickcheck! {
    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        CountingQuotientFilter::from_bytes(&bytes).is_err()
    }
}
