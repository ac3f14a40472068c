//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p bloom-window --test it format` writes the golden files anew: a new format version.

use std::path::{Path, PathBuf};
use std::{env, fs};

use bloom_window::bytes::{ByteOptions, Header, Kind};
use bloom_window::error::DecodeError;
use bloom_window::hash::{DefaultHashBuilder, SipHashBuilder};
use bloom_window::{
    TimedBloomFilter, TimedBloomFilterView, WindowBloomFilter, WindowBloomFilterView, WindowParams,
};
use pds_testkit::envelope::{
    DESIGN, sections, with_number, with_numbers, with_payload, with_sections,
};
use pds_testkit::portable::{fault_of, refuses_damage};

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn checked(file: &str, bytes: &[u8]) {
    if env::var_os("BLESS").is_some() {
        fs::write(golden_path(file), bytes).unwrap();
    }
    assert_eq!(fs::read(golden_path(file)).unwrap(), bytes, "{file}");
}

fn window(window: u64, slack: f64, keys: u64) -> WindowBloomFilter {
    let mut filter = WindowBloomFilter::builder().window(window).slack(slack).build().unwrap();
    filter.extend(0..keys);
    filter
}

fn timed(ticks: u64, jumps: u64) -> TimedBloomFilter {
    let mut filter = TimedBloomFilter::builder().ticks(ticks).expected_items(100).build().unwrap();
    for key in 0..100 {
        filter.advance(key * jumps).unwrap();
        filter.insert(&key);
    }
    filter
}

/// Rows of 1, 2, 4 and more per word; generations that are full, and half full.
fn all_windows() -> [(&'static str, WindowBloomFilter); 5] {
    [
        ("window.pds", window(1_000, 0.1, 3_456)),
        ("two_rows.pds", window(300, 0.05, 777)),
        ("one_row.pds", window(620, 0.02, 1_240)),
        ("small.pds", window(3, 0.9, 20)),
        ("empty.pds", window(50, 0.1, 0)),
    ]
}

fn all_timed() -> [(&'static str, TimedBloomFilter); 2] {
    [("timed.pds", timed(3_600, 47)), ("milliseconds.pds", timed(86_400_000, 1_000_003))]
}

#[test]
fn todays_code_writes_and_reads_the_golden_files() {
    for (file, filter) in all_windows() {
        checked(file, &filter.to_bytes());
        let bytes = fs::read(golden_path(file)).unwrap();
        let read = WindowBloomFilter::from_bytes(&bytes).unwrap();
        let view = WindowBloomFilterView::open(&bytes).unwrap();
        view.verify().unwrap();
        assert_eq!(
            (read.inserted(), read.params()),
            (filter.inserted(), filter.params()),
            "{file}"
        );
        for key in 0..4_000_u64 {
            let expected = filter.contains(&key);
            assert_eq!([read.contains(&key), view.contains(&key)], [expected; 2], "{file}: {key}");
        }
        assert_eq!(read, filter);
    }
    for (file, filter) in all_timed() {
        checked(file, &filter.to_bytes());
        let bytes = fs::read(golden_path(file)).unwrap();
        let read = TimedBloomFilter::from_bytes(&bytes).unwrap();
        assert_eq!((read.now(), read.params()), (filter.now(), filter.params()), "{file}");
        let view = TimedBloomFilterView::open(&bytes).unwrap();
        view.verify().unwrap();
        assert!((0..200_u64).all(|key| view.contains(&key) == filter.contains(&key)), "{file}");
        assert_eq!(read, filter);
    }
}

#[test]
fn a_filter_goes_on_where_its_bytes_ended() {
    for keys in [0, 1, 70, 71, 72, 500, 2_500] {
        let mut filter = window(1_000, 0.1, keys);
        let mut read = WindowBloomFilter::from_bytes(&filter.to_bytes()).unwrap();
        filter.extend(10_000..12_000_u64);
        read.extend(10_000..12_000_u64);
        assert!(filter == read, "{keys}");
    }
}

#[test]
fn a_header_tells_the_shape() {
    let header = Header::peek(&window(1_000, 0.1, 30).to_bytes()).unwrap();
    assert_eq!((header.kind, header.shape.promised_rate()), (Kind::WINDOW_BLOOM, Some(0.01)));
    let [window, generations, words, hashes, inserted] = header.shape.as_slice() else { panic!() };
    assert_eq!([*window, *generations, *hashes, *inserted], [1_000, 14, 7, 30]);
    assert_eq!(header.payload_bytes, 8 * words);
    let header = Header::peek(&timed(3_600, 1).to_bytes()).unwrap();
    assert_eq!((header.kind, header.shape.expected_items()), (Kind::TIMED_BLOOM, Some(100)));
    assert_eq!((header.shape.as_slice()[0], header.shape.as_slice()[4]), (3_600, 99));
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let filter = WindowBloomFilter::builder().window(9).hasher(hasher).build().unwrap();
    let bytes = ByteOptions::new().without_key().to_bytes(&filter);
    let read = ByteOptions::new().from_bytes::<WindowBloomFilter<SipHashBuilder>>(&bytes);
    assert!(read.is_err());
    let options = ByteOptions::new().hasher(hasher);
    assert_eq!(options.from_bytes::<WindowBloomFilter<_>>(&bytes).unwrap(), filter);
}

/// A filter of 14 generations in 10 words, without a design.
fn plain(keys: u64) -> WindowBloomFilter {
    let params = WindowParams::from_shape(30, 14, 10, 3).unwrap();
    let mut filter = WindowBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
    filter.extend(0..keys);
    filter
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let bytes = plain(5).to_bytes();
    let read = |index, number| WindowBloomFilter::from_bytes(&with_number(&bytes, index, number));
    // No design: the shape follows the hasher.
    let refused = [
        (0, 0, "window", 72),
        (0, (1 << 62) + 1, "window", 72),
        (1, 0, "generations", 80),
        (1, 63, "generations", 80),
        (1, (1 << 32) + 1, "generations", 80),
        (2, 0, "words", 88),
        (2, (1 << 57) + 1, "words", 88),
        (3, 0, "hashes", 96),
        (3, 256, "hashes", 96),
    ];
    for (index, number, name, offset) in refused {
        assert_eq!(fault_of(read(index, number)), (name, offset), "{number}");
    }
    assert_eq!(fault_of(read(2, 11)).0, "payload length");
    let more = WindowBloomFilter::from_bytes(&with_numbers(&bytes, &[30, 14, 10, 3, 5, 0]));
    assert_eq!(fault_of(more), ("numbers", 72));
    let mut sections = sections(&bytes);
    sections.insert(1, (DESIGN, [30_u64.to_le_bytes(), [0; 8]].concat()));
    let items = WindowBloomFilter::from_bytes(&with_sections(&bytes, &sections));
    assert_eq!(fault_of(items).0, "the expected items");
}

#[test]
fn case_17_any_number_of_inserts_goes_on_and_is_read_again() {
    let aged = with_number(&plain(0).to_bytes(), 4, u64::MAX - 21);
    let mut filter = WindowBloomFilter::from_bytes(&aged).unwrap();
    for key in 0..100_u64 {
        filter.insert(&key);
        assert!((key.saturating_sub(29)..=key).all(|key| filter.contains(&key)), "{key}");
        let read = WindowBloomFilter::from_bytes(&filter.to_bytes()).unwrap();
        assert_eq!(read, filter, "{key}");
        filter = read;
    }
    // At the start of a generation, as a new filter is.
    let young = plain(100);
    assert!((0..1_000_u64).all(|key| filter.contains(&key) == young.contains(&key)));
}

/// Sets one bit in a word of the payload, under right checksums.
fn with_bit(bytes: &[u8], word: usize, bit: u32) -> Result<WindowBloomFilter, DecodeError> {
    let header = Header::peek(bytes).unwrap();
    let end = usize::try_from(header.payload_end()).unwrap();
    let length = usize::try_from(header.payload_bytes).unwrap();
    let mut payload = bytes[end - length..end].to_vec();
    let value = u64::from_le_bytes(payload[8 * word..][..8].try_into().unwrap()) | 1 << bit;
    payload[8 * word..][..8].copy_from_slice(&value.to_le_bytes());
    let forged = with_payload(bytes, &payload);
    let view = WindowBloomFilterView::open(&forged).unwrap();
    let read = WindowBloomFilter::from_bytes(&forged);
    assert_eq!(view.verify().err(), read.as_ref().err().cloned());
    read
}

#[test]
fn case_17_bits_that_must_be_clear_are_refused() {
    // 12 + 2 columns of 4 rows use 56 bits of a word.
    let params = WindowParams::from_shape(120, 12, 10, 3).unwrap();
    let mut filter = WindowBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
    assert!(with_bit(&filter.to_bytes(), 3, 55).is_ok());
    assert_eq!(fault_of(with_bit(&filter.to_bytes(), 3, 56)), ("padding", 128 + 24));
    assert_eq!(fault_of(with_bit(&filter.to_bytes(), 9, 63)), ("padding", 128 + 72));
    // The second column is cleared by the first insert, since 10 words are less than a step.
    assert!(with_bit(&filter.to_bytes(), 0, 4).is_ok());
    filter.insert(&1);
    assert_eq!(fault_of(with_bit(&filter.to_bytes(), 0, 4)), ("padding", 128));
    assert_eq!(fault_of(with_bit(&filter.to_bytes(), 9, 7)), ("padding", 128 + 72));
    assert!(with_bit(&filter.to_bytes(), 9, 8).is_ok());
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    refuses_damage(&window(20, 0.3, 55).to_bytes(), WindowBloomFilter::from_bytes);
    refuses_damage(&timed(60, 1).to_bytes(), TimedBloomFilter::from_bytes);
    let other_kind = TimedBloomFilter::from_bytes(&plain(1).to_bytes()).unwrap_err();
    assert!(other_kind.to_string().contains("window Bloom filter"), "{other_kind}");
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_address_and_for_any_payload() {
    for (file, filter) in all_windows() {
        let bytes = filter.to_bytes();
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
            let view = WindowBloomFilterView::open(&shifted[shift..]).unwrap();
            assert!((0..500_u64).all(|key| view.contains(&key) == filter.contains(&key)), "{file}");
            assert_eq!(view.to_filter().as_ref(), Ok(&filter), "{file}");
        }
        let payload = vec![0xff; usize::try_from(filter.size_in_bytes()).unwrap()];
        let mut bytes = with_payload(&bytes, &payload);
        *bytes.last_mut().unwrap() ^= 1;
        let view = WindowBloomFilterView::open(&bytes).unwrap();
        assert!(view.contains(&1) && view.false_positive_rate() == 1.0 && view.verify().is_err());
    }
}
