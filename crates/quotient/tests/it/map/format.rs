//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p quotient --test it map` writes the golden files anew: a new format version.

use std::path::{Path, PathBuf};
use std::{env, fs};

use pds_core::bytes::{Header, Kind};
use pds_core::hash::finalize;
use pds_testkit::envelope::{head_bytes, with_number, with_numbers, with_payload};
use pds_testkit::portable::{fault_of, refuses_damage};
use quickcheck::quickcheck;
use quotient::{QuotientMap, QuotientMapView};

use super::shaped;

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/map").join(file)
}

/// Holds pairs of the keys below `items`, and a second one for each seventh.
fn filled(mut map: QuotientMap, items: u32) -> QuotientMap {
    let max = map.max_value();
    let value = |key: u32| u32::try_from(finalize(key.into()) >> 32).unwrap() & max;
    (0..items).for_each(|key| map.insert(&key, value(key)).unwrap());
    (0..items).step_by(3).for_each(|key| assert!(map.remove(&key, value(key))));
    (0..items).step_by(7).for_each(|key| map.insert(&key, max).unwrap());
    map
}

fn all_golden() -> Vec<(&'static str, QuotientMap)> {
    let builder = QuotientMap::builder(12).expected_items(100).grows_to(10_000);
    let mut last = shaped(70, 3, 5);
    (0..66).for_each(|index| last.insert_hash(u64::MAX, index % 32).unwrap());
    vec![
        ("default.pds", filled(QuotientMap::new(500, 0.01, 8).unwrap(), 500)),
        ("growing.pds", filled(builder.build().unwrap(), 700)),
        ("widest.pds", filled(shaped(128, 24, 32), 120)),
        ("narrowest.pds", filled(shaped(101, 1, 1), 95)),
        ("last.pds", last),
        ("none.pds", shaped(1, 1, 1)),
    ]
}

#[test]
fn todays_code_writes_and_reads_the_golden_files() {
    for (file, map) in all_golden() {
        let bytes = map.to_bytes();
        if env::var_os("BLESS").is_some() {
            fs::write(golden_path(file), &bytes).unwrap();
        }
        assert_eq!(fs::read(golden_path(file)).unwrap(), bytes, "{file}");
        let read = QuotientMap::from_bytes(&bytes).unwrap();
        assert_eq!((read.len(), read.params()), (map.len(), map.params()), "{file}");
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
            let view = QuotientMapView::open(&shifted[shift..]).unwrap();
            view.verify().unwrap();
            for key in 0..1_000u32 {
                assert!(view.values(&key).eq(map.values(&key)), "{file}: {key}");
                assert!(read.values(&key).eq(map.values(&key)), "{file}: {key}");
            }
            assert!(view.pairs().eq(map.pairs()), "{file}");
            assert_eq!(view.to_map().as_ref(), Ok(&map), "{file}");
        }
        assert_eq!(read, map);
    }
}

#[test]
fn a_header_tells_the_shape_and_the_size() {
    let mut map = shaped(100, 7, 9);
    (0..10).for_each(|key| map.insert_hash(finalize(key), 3).unwrap());
    let header = Header::peek(&map.to_bytes()).unwrap();
    // Two blocks of an offset each, 13 groups of 8 slots of 2 + 16 bits.
    assert_eq!((header.kind, header.payload_bytes), (Kind::QUOTIENT_MAP, 2 + 13 * 18));
    assert_eq!(header.shape.as_slice(), [100, 7, 10, 0, 0, 9]);
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let mut map = shaped(100, 8, 8);
    (0..20).for_each(|key| map.insert_hash(finalize(key), 2).unwrap());
    let bytes = map.to_bytes();
    let read = |index, number| QuotientMap::from_bytes(&with_number(&bytes, index, number));
    assert_eq!(fault_of(read(0, 0)), ("slots", 72));
    assert_eq!(fault_of(read(0, u64::MAX)), ("slots", 72));
    for bits in [0, 49, 57, 1 << 40] {
        assert_eq!(fault_of(read(1, bits)), ("remainder_bits", 80));
    }
    for pairs in [0, 19, 21, 96, u64::MAX] {
        assert_eq!(fault_of(read(2, pairs)), ("pairs", 88));
    }
    assert_eq!(fault_of(read(3, 4)), ("overflow_slots", 96));
    assert_eq!(fault_of(read(3, 8)), ("payload length", 16));
    assert_eq!(fault_of(read(4, 8)), ("doublings", 104));
    for value_bits in [0, 33, 1 << 32, u64::MAX] {
        assert_eq!(fault_of(read(5, value_bits)), ("value_bits", 112));
    }
    assert_eq!(fault_of(read(5, 9)), ("payload length", 16));
    let fewer = with_numbers(&bytes, &[100, 8, 20, 0, 0]);
    assert_eq!(fault_of(QuotientMap::from_bytes(&fewer)), ("numbers", 72));
    // Of the same width, but with other values.
    let other = with_number(&with_number(&bytes, 1, 9), 5, 7);
    assert_ne!(QuotientMap::from_bytes(&other).unwrap(), map);
}

#[test]
fn case_17_values_out_of_order_are_refused() {
    let bytes_of = |entries: [u8; 2]| {
        let mut payload = [0; 81];
        (payload[1], payload[9]) = (0b10, 0b100);
        payload[18..20].copy_from_slice(&entries);
        with_payload(&with_number(&shaped(60, 4, 4).to_bytes(), 2, 2), &payload)
    };
    let map = QuotientMap::from_bytes(&bytes_of([0x52, 0x53])).unwrap();
    assert!(map.pairs().eq([(1, 5, 2), (1, 5, 3)]));
    let equal = QuotientMap::from_bytes(&bytes_of([0x52, 0x52])).unwrap();
    assert!(equal.pairs().eq([(1, 5, 2), (1, 5, 2)]));
    // The hash of quotient 1 and remainder 5.
    let hash = u64::try_from(((1_u128 << 64) + (5 << 60)) / 60 + 1).unwrap();
    assert!(map.values_hash(hash).eq([2, 3]));
    for entries in [[0x53, 0x52], [0x60, 0x5f], [0x52, 0x41]] {
        let bytes = bytes_of(entries);
        let view = QuotientMapView::open(&bytes).unwrap();
        assert!(view.values_hash(hash).count() <= 2);
        assert_eq!(fault_of(QuotientMap::from_bytes(&bytes)).0, "a remainder");
        assert_eq!(fault_of(QuotientMapView::open(&bytes).unwrap().verify()).0, "a remainder");
    }
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    for map in [filled(shaped(20, 12, 3), 9), filled(shaped(70, 3, 20), 50)] {
        refuses_damage(&map.to_bytes(), QuotientMap::from_bytes);
    }
}

/// A payload that nobody asked to verify may answer wrongly; it never panics.
#[test]
fn case_21_an_unverified_view_survives_any_payload() {
    for (file, map) in all_golden() {
        for fill in [0xff, 0x55, 1] {
            let mut bytes = map.to_bytes();
            let (start, end) = (head_bytes(&bytes).unwrap(), bytes.len() - 8);
            bytes[start..end].fill(fill);
            let view = QuotientMapView::open(&bytes).unwrap();
            assert!((0..1_000u64).all(|key| view.values(&key).count() <= 10_000));
            assert!(view.pairs().count() as u64 <= view.num_slots() + 400, "{file}");
            assert!(view.verify().is_err() && view.to_map().is_err(), "{file}");
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn case_18_every_format_gives_the_map_back_or_an_error() {
    for map in [filled(shaped(20, 4, 4), 9), filled(shaped(65, 20, 32), 30)] {
        pds_testkit::format::survives(&map, &map.to_bytes());
    }
}

quickcheck! {
    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        QuotientMap::from_bytes(&bytes).is_err()
    }
}
