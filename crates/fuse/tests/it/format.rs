//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p fuse --test it format` writes the golden files anew: a new format version.
#![cfg(feature = "std")]

use core::ops::Range;
use pds_core::internal::DecodeFault;
use std::path::{Path, PathBuf};
use std::{env, fs};

use fuse::hash::SipHashBuilder;
use fuse::{
    ExactFilter, ExactFilterView, Preset, RetrievalMap, RetrievalMapView, RibbonFilter,
    RibbonFilterView,
};
use pds_core::bytes::{ByteOptions, Header, Kind};
use pds_core::error::DecodeError;
use pds_testkit::envelope::{claiming, with_number, with_numbers, with_payload};
use pds_testkit::portable::fault_of;
use quickcheck::quickcheck;

const KEY: [u8; 16] = *b"0123456789abcdef";

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn shaped(keys: u32, columns: f64) -> RibbonFilter {
    RibbonFilter::builder().columns(columns).build(0..keys).unwrap()
}

/// One layer in less than a group, one with a tail, several layers, and columns between whole numbers.
fn all_golden() -> Vec<(&'static str, RibbonFilter)> {
    let quick = RibbonFilter::builder().preset(Preset::Quick).columns(1.25);
    vec![
        ("ribbon_empty.pds", shaped(0, 8.0)),
        ("ribbon_10.pds", shaped(10, 8.0)),
        ("ribbon_500.pds", shaped(500, 4.5)),
        ("ribbon_3000.pds", shaped(3_000, 2.75)),
        ("ribbon_quick.pds", quick.build(0..5_000u32).unwrap()),
    ]
}

fn remainders(keys: u32, check_bits: u32) -> RetrievalMap {
    RetrievalMap::new((0..keys).map(|key| (key, u64::from(key % 100))), check_bits).unwrap()
}

fn golden_maps() -> Vec<(&'static str, RetrievalMap)> {
    vec![("retrieval_40.pds", remainders(40, 0)), ("retrieval_2500.pds", remainders(2_500, 3))]
}

fn golden_exact() -> Vec<(&'static str, ExactFilter)> {
    vec![
        ("exact_most.pds", ExactFilter::new(0..300u32, 300..400).unwrap()),
        ("exact_few.pds", ExactFilter::new(0..30u32, 30..9_000).unwrap()),
    ]
}

#[test]
fn todays_code_writes_the_golden_files() {
    let filters = all_golden().into_iter().map(|(file, filter)| (file, filter.to_bytes()));
    let maps = golden_maps().into_iter().map(|(file, map)| (file, map.to_bytes()));
    let exact = golden_exact().into_iter().map(|(file, filter)| (file, filter.to_bytes()));
    for (file, bytes) in filters.chain(maps).chain(exact) {
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
        let read = RibbonFilter::from_bytes(&bytes).unwrap();
        let view = RibbonFilterView::open(&bytes).unwrap();
        view.verify().unwrap();
        assert_eq!((read.len(), read.columns()), (filter.len(), filter.columns()), "{file}");
        for key in 0..10_000u32 {
            let expected = filter.contains(&key);
            assert!(expected || u64::from(key) >= filter.len(), "{file}: {key}");
            assert_eq!([read.contains(&key), view.contains(&key)], [expected; 2], "{file}: {key}");
        }
        assert_eq!(read, filter);
    }
}

#[test]
fn todays_code_reads_the_golden_maps_and_exact_filters() {
    for (file, map) in golden_maps() {
        let bytes = fs::read(golden_path(file)).unwrap();
        let read = RetrievalMap::from_bytes(&bytes).unwrap();
        let view = RetrievalMapView::open(&bytes).unwrap();
        view.verify().unwrap();
        for key in 0..5_000u32 {
            let expected = map.get(&key);
            let value = u64::from(key % 100);
            assert!(expected == Some(value) || u64::from(key) >= map.len(), "{file}: {key}");
            assert_eq!([read.get(&key), view.get(&key)], [expected; 2], "{file}: {key}");
        }
        assert_eq!(read, map);
    }
    for (file, filter) in golden_exact() {
        let bytes = fs::read(golden_path(file)).unwrap();
        let read = ExactFilter::from_bytes(&bytes).unwrap();
        let view = ExactFilterView::open(&bytes).unwrap();
        view.verify().unwrap();
        for key in 0..400u32 {
            let expected = u64::from(key) < filter.len();
            assert_eq!([read.contains(&key), view.contains(&key)], [expected; 2], "{file}: {key}");
        }
        assert_eq!(read, filter);
    }
}

/// A last layer of more than 2,048 keys has no slots: all of its keys stand in the exact list.
#[test]
fn case_17_keys_without_a_place_are_refused() {
    let filter = RibbonFilter::new([0; 0], 0.01).unwrap().to_bytes();
    let map = RetrievalMap::new([(0, 0); 0], 8).unwrap().to_bytes();
    let exact = ExactFilter::new([0; 0], []).unwrap().to_bytes();
    for keys in [2_049, 1 << 48] {
        let claim = |bytes: &[u8]| claiming(bytes, keys, 0);
        let (filter, map) = (claim(&filter), claim(&map));
        let told = "must be at most 2048";
        for error in [
            RibbonFilter::from_bytes(&filter).unwrap_err(),
            RibbonFilterView::open(&filter).unwrap_err(),
            RetrievalMap::from_bytes(&map).unwrap_err(),
            RetrievalMapView::open(&map).unwrap_err(),
            ExactFilter::from_bytes(&with_number(&exact, 7, keys)).unwrap_err(),
            ExactFilter::from_bytes(&claim(&with_number(&exact, 7, keys))).unwrap_err(),
        ] {
            assert!(error.to_string().contains(told), "{keys} keys: {error}");
        }
    }
}

#[test]
fn case_17_numbers_of_maps_that_lie_are_refused() {
    let bytes = remainders(2_500, 3).to_bytes();
    let fault = |index, number| {
        let bytes = with_number(&bytes, index, number);
        let read = RetrievalMap::from_bytes(&bytes);
        let view = RetrievalMapView::open(&bytes).and_then(|view| view.verify().map(|()| view));
        assert_eq!(view.err(), read.clone().err());
        fault_of(read)
    };
    assert_eq!(fault(0, 1 << 60), ("keys", 72));
    assert_eq!(fault(5, 0), ("value_bits", 112));
    assert_eq!(fault(5, 62), ("value_bits", 112));
    assert_eq!(fault(5, 1 << 40), ("value_bits", 112));
    assert_eq!(fault(6, 33), ("check_bits", 120));
    assert_eq!(fault(5, 8).0, "payload length");
}

#[test]
fn case_17_numbers_of_exact_filters_that_lie_are_refused() {
    let filter = ExactFilter::new(0..3_000u32, 3_000..60_000).unwrap();
    let bytes = filter.to_bytes();
    let shape = Header::peek(&bytes).unwrap().shape;
    let [.., columns, split, second, _, _, _] = *shape.as_slice() else { panic!() };
    assert_eq!((columns, second), (4, 3_000 + filter.num_passed()));
    let fault = |index, number| {
        let bytes = with_number(&bytes, index, number);
        let read = ExactFilter::from_bytes(&bytes);
        let view = ExactFilterView::open(&bytes).and_then(|view| view.verify().map(|()| view));
        assert_eq!(view.err(), read.clone().err());
        fault_of(read)
    };
    assert_eq!(fault(0, 1 << 60), ("keys", 72));
    assert_eq!(fault(5, 33), ("columns", 112));
    assert_eq!(fault(6, 0), ("words of the first stage", 120));
    assert_eq!(fault(6, split + 1).0, "the number of bumped keys");
    assert_eq!(fault(7, 2_999), ("keys of the second stage", 128));
    assert_eq!(fault(8, 128), ("seed of the second stage", 136));
    assert_eq!(fault(9, 9), ("layers of the second stage", 144));
    assert_eq!(fault(10, 1 << 30), ("keys of the second exact list", 152));
}

/// Every key passes a first stage without columns. It has no slots, however many keys it has.
#[test]
fn exact_filters_without_a_first_stage_survive_their_bytes() {
    for (include, exclude) in
        [(2_048, 10), (2_049, 10), (2_049, 4_000), (3_000, 0), (10_000, 15_000)]
    {
        let filter = ExactFilter::new(0..include, include..include + exclude).unwrap();
        let bytes = filter.to_bytes();
        let [_, _, seed, layers, rest, columns, words, ..] = numbers_of(&bytes)[..] else {
            panic!()
        };
        assert_eq!([seed, layers, rest, columns, words], [0; 5], "{include}, {exclude}");
        assert_eq!(ExactFilter::from_bytes(&bytes).as_ref(), Ok(&filter), "{include}, {exclude}");
        assert_eq!(ExactFilter::read_from(&bytes[..]).unwrap(), filter);
        let view = ExactFilterView::open(&bytes).unwrap();
        view.verify().unwrap();
        let mut keys = 0..include + exclude;
        assert!(keys.all(|key: u32| view.contains(&key) == (key < include)));
    }
}

#[test]
fn case_17_numbers_of_a_first_stage_without_columns_are_0() {
    let bytes = ExactFilter::new(0..3_000u32, 3_000..4_000).unwrap().to_bytes();
    for (index, name, offset) in
        [(2, "seed", 88), (3, "layers", 96), (4, "keys of the exact list", 104)]
    {
        let bytes = with_number(&bytes, index, 1);
        let read = ExactFilter::from_bytes(&bytes);
        assert_eq!(ExactFilterView::open(&bytes).err(), read.clone().err());
        assert_eq!(fault_of(read), (name, offset));
    }
}

/// Reads bytes as a filter and as a view, which refuse them alike. Returns at which offset.
macro_rules! refused_at {
    ($structure:ty, $view:ty, $bytes:expr) => {{
        let bytes = $bytes;
        let read = <$structure>::from_bytes(&bytes).unwrap_err();
        let view = <$view>::open(&bytes).and_then(|view| view.verify());
        assert_eq!(view, Err(read.clone()));
        read.offset().unwrap()
    }};
}

/// Returns the numbers of the shape.
fn numbers_of(bytes: &[u8]) -> Vec<u64> {
    Header::peek(bytes).unwrap().shape.as_slice().to_vec()
}

/// Returns where the payload of an envelope begins and ends.
fn payload_of(bytes: &[u8]) -> Range<usize> {
    let start = usize::try_from(Header::peek(bytes).unwrap().payload_offset()).unwrap();
    // A checksum follows.
    start..bytes.len() - 8
}

#[test]
fn case_17_a_fault_of_the_second_stage_is_found_where_it_is() {
    let bytes = ExactFilter::new(0..3_000u32, 3_000..60_000).unwrap().to_bytes();
    let payload = payload_of(&bytes);
    let layers = usize::try_from(Header::peek(&bytes).unwrap().shape.as_slice()[9]).unwrap();
    assert!(layers > 0);
    // The last words are the numbers of bumped keys. Before them is the end of the thresholds.
    for (from_end, bit) in [(1, 60), (layers + 1, 63)] {
        let word = payload.end - 8 * from_end;
        let mut changed = bytes.clone();
        changed[word + bit / 8] ^= 1 << (bit % 8);
        let changed = with_payload(&bytes, &changed[payload.clone()]);
        let offset = refused_at!(ExactFilter, ExactFilterView<_>, changed);
        assert_eq!(offset, word as u64, "bit {bit}");
    }
}

#[test]
fn case_17_a_part_of_a_word_is_refused() {
    let longer = |bytes: &[u8]| {
        let payload = payload_of(bytes);
        let end = payload.end as u64;
        (with_payload(bytes, &[&bytes[payload], &[0; 4]].concat()), end)
    };
    let (bytes, end) = longer(&shaped(3_000, 8.0).to_bytes());
    assert_eq!(refused_at!(RibbonFilter, RibbonFilterView<_>, bytes), end);
    let (bytes, end) = longer(&remainders(3_000, 5).to_bytes());
    assert_eq!(refused_at!(RetrievalMap, RetrievalMapView<_>, bytes), end);
    let (bytes, end) = longer(&ExactFilter::new(0..3_000u32, 3_000..9_000).unwrap().to_bytes());
    assert_eq!(refused_at!(ExactFilter, ExactFilterView<_>, bytes), end);
}

#[test]
fn a_header_tells_the_shape() {
    let header = Header::peek(&shaped(100, 8.0).to_bytes()).unwrap();
    assert_eq!((header.kind, header.payload_bytes), (Kind::RIBBON, 104));
    // Keys, preset, seed, layers, keys of the exact list, 1/256 columns.
    let [keys, preset, seed, layers, rest, columns] = header.shape.as_slice() else { panic!() };
    assert_eq!([*keys, *columns, *preset, *layers, *rest], [100, 2_048, 0, 0, 0]);
    assert!(*seed < 64);
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let hasher = SipHashBuilder::from_key(KEY);
    let filter = RibbonFilter::builder().hasher(hasher).build(["key"]).unwrap();
    let bytes = ByteOptions::new().without_key().to_bytes(&filter);
    assert!(!bytes.windows(16).any(|window| window == KEY));
    let read = ByteOptions::new().from_bytes::<RibbonFilter<SipHashBuilder>>(&bytes);
    assert_eq!(read, Err(DecodeError(DecodeFault::KeyMissing { offset: 48 })));
    let options = ByteOptions::new().hasher(hasher);
    assert_eq!(options.from_bytes::<RibbonFilter<_>>(&bytes), Ok(filter.clone()));
    let with_key = ByteOptions::new().with_key().to_bytes(&filter);
    assert_eq!(ByteOptions::new().from_bytes::<RibbonFilter<_>>(&with_key), Ok(filter));
}

#[test]
fn a_stream_is_read_exactly_and_within_limits() {
    let filter = shaped(150, 8.0);
    let mut stream = Vec::new();
    filter.write_to(&mut stream).unwrap();
    filter.write_to(&mut stream).unwrap();
    let mut reader = stream.as_slice();
    let mut next =
        |limit| ByteOptions::new().max_bytes(limit).read_from::<RibbonFilter>(&mut reader);
    assert_eq!(next(1_000).unwrap(), filter);
    assert!(next(100).unwrap_err().to_string().contains("above the limit of 100"));
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let bytes = shaped(3_000, 8.0).to_bytes();
    let fault = |index, number| {
        let bytes = with_number(&bytes, index, number);
        let read = RibbonFilter::from_bytes(&bytes);
        let view = RibbonFilterView::open(&bytes).and_then(|view| view.verify().map(|()| view));
        assert_eq!(view.err(), read.clone().err());
        fault_of(read)
    };
    // No design: the shape follows the hasher.
    assert_eq!(fault(0, u64::MAX), ("keys", 72));
    assert_eq!(fault(0, (1 << 48) + 1), ("keys", 72));
    assert_eq!(fault(0, 1 << 48).0, "payload length");
    assert_eq!(fault(1, 2), ("preset", 80));
    assert_eq!(fault(2, 128), ("seed", 88));
    assert_eq!(fault(3, 9), ("layers", 96));
    assert_eq!(fault(3, 0).0, "payload length");
    assert_eq!(fault(4, 3_001), ("keys of the exact list", 104));
    assert_eq!(fault(5, 0), ("columns", 112));
    assert_eq!(fault(5, 32 * 256 + 1), ("columns", 112));
    assert_eq!(fault(5, 1 << 40), ("columns", 112));
    let more = RibbonFilter::from_bytes(&with_numbers(&bytes, &[3_000, 0, 0, 1, 0, 2_048, 0]));
    assert_eq!(more, Err(DecodeError(DecodeFault::Numbers { offset: 72, expected: 6, found: 7 })));
}

#[test]
fn case_17_a_payload_that_contradicts_itself_is_refused() {
    let filter = shaped(3_000, 8.0);
    let bytes = filter.to_bytes();
    let payload = bytes[128..bytes.len() - 8].to_vec();
    let read = |payload: &[u8]| {
        let bytes = with_payload(&bytes, payload);
        let read = RibbonFilter::from_bytes(&bytes);
        let view = RibbonFilterView::open(&bytes).and_then(|view| view.verify().map(|()| view));
        assert_eq!(view.err(), read.clone().err());
        read
    };
    assert_eq!(read(&payload), Ok(filter));
    let last = payload.len() - 8;
    for bumped in [3_001, u64::MAX, 2_900, 0] {
        let mut payload = payload.clone();
        payload[last..].copy_from_slice(&bumped.to_le_bytes());
        let (name, offset) = fault_of(read(&payload));
        assert_eq!((name, offset), ("the number of bumped keys", 128 + last as u64), "{bumped}");
    }
    // The last thresholds do not fill their word.
    let mut unclean = payload.clone();
    unclean[last - 1] |= 0x80;
    assert_eq!(fault_of(read(&unclean)), ("padding", 128 + last as u64 - 8));
    let mut longer = payload;
    longer.insert(0, 0);
    let end = 128 + longer.len() as u64 - 1;
    assert_eq!(fault_of(read(&longer)), ("unread", end));
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    for filter in [shaped(20, 3.0), shaped(2_100, 0.5)] {
        let bytes = filter.to_bytes();
        for end in 0..bytes.len() {
            assert!(RibbonFilter::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(RibbonFilter::from_bytes(&damaged).is_err(), "bit {bit}");
            if let Ok(view) = RibbonFilterView::open(&damaged) {
                assert!(view.verify().is_err());
                let _ = view.contains(&1u64) | view.contains(&u64::MAX);
            }
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(matches!(
            RibbonFilter::from_bytes(&longer),
            Err(DecodeError(DecodeFault::Trailing { .. }))
        ));
    }
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_address() {
    for (file, filter) in all_golden() {
        let bytes = filter.to_bytes();
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
            let view = RibbonFilterView::open(&shifted[shift..]).unwrap();
            view.verify().unwrap();
            assert!(
                (0..6_000u32).all(|key| view.contains(&key) == filter.contains(&key)),
                "{file}"
            );
            assert_eq!(view.to_filter().as_ref(), Ok(&filter), "{file}");
        }
    }
}

/// A payload that nobody asked to verify may answer wrongly; it never panics.
#[test]
fn case_21_an_unverified_view_survives_any_payload() {
    for (file, filter) in all_golden() {
        for byte in [0x00, 0x5a, 0xff] {
            let mut bytes = filter.to_bytes();
            let end = bytes.len() - 8;
            // The number of bumped keys is checked when a view is opened.
            let counts = if filter.len() > 2_048 { 8 } else { 0 };
            bytes[128..end - counts].fill(byte);
            let view = RibbonFilterView::open(&bytes).unwrap();
            let mut answers = vec![false; 1_000];
            view.contains_batch(&(0..1_000u32).collect::<Vec<_>>(), &mut answers);
            assert!(answers.iter().zip(0u32..).all(|(&answer, key)| answer == view.contains(&key)));
            assert!((0.0..=1.0).contains(&view.false_positive_rate()), "{file}");
            assert!(filter.is_empty() || view.verify().is_err(), "{file}");
        }
    }
}

quickcheck! {
    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        RibbonFilter::from_bytes(&bytes).is_err()
    }
}
