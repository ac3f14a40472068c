//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p bloom-counting --test it format` writes the golden files anew: a new format version.
#![cfg(feature = "std")]

use pds_core::bytes::{ByteOptions, Header};
use pds_core::internal::DecodeFault;
use pds_params::internal::ParamFault;
use std::path::{Path, PathBuf};
use std::{env, fs};

use bloom_counting::hash::{DefaultHashBuilder, SipHashBuilder};
use bloom_counting::{
    Bits8, BlockedCountingBloomFilter, BlockedCountingBloomFilterView, CountingBloomFilter,
    CountingBloomFilterView,
};
use pds_core::bytes::Kind;
use pds_core::error::{DecodeError, ParamError};
use pds_core::hash::finalize;
use pds_testkit::envelope::{with_number, with_numbers, with_payload};
use quickcheck::quickcheck;

/// The width of the counters is to be named where nothing else fixes it.
type Narrow = CountingBloomFilter;
type Wide = CountingBloomFilter<DefaultHashBuilder, Bits8>;
type NarrowView<B> = CountingBloomFilterView<B>;
type WideView<B> = CountingBloomFilterView<B, DefaultHashBuilder, Bits8>;

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn shaped(counters: u64, hashes: u32) -> CountingBloomFilter {
    CountingBloomFilter::builder().counters(counters).hashes(hashes).build().unwrap()
}

/// Copies of 0 to 20 of each key below 30, and then every third removed once.
macro_rules! with_history {
    ($filter:expr) => {{
        let mut filter = $filter;
        (0..30u64).for_each(|key| {
            (0..key % 21).for_each(|_| {
                filter.insert(&key);
            })
        });
        (0..30u64)
            .step_by(3)
            .filter(|key| key % 21 > 0)
            .for_each(|key| assert!(filter.remove(&key)));
        filter
    }};
}

fn narrow() -> CountingBloomFilter {
    with_history!(CountingBloomFilter::new(100, 0.01).unwrap())
}

fn wide() -> Wide {
    with_history!(
        CountingBloomFilter::builder().counters(301).hashes(5).wide_counters().build().unwrap()
    )
}

fn blocked() -> BlockedCountingBloomFilter {
    with_history!(BlockedCountingBloomFilter::builder().lines(5).build().unwrap())
}

#[test]
fn todays_code_writes_the_golden_files() {
    let files = [
        ("narrow.pds", narrow().to_bytes()),
        ("wide.pds", wide().to_bytes()),
        ("blocked.pds", blocked().to_bytes()),
    ];
    for (file, bytes) in files {
        if env::var_os("BLESS").is_some() {
            fs::write(golden_path(file), &bytes).unwrap();
        }
        assert_eq!(fs::read(golden_path(file)).unwrap(), bytes, "{file}");
    }
}

#[test]
fn todays_code_reads_the_golden_files() {
    let read = |file| fs::read(golden_path(file)).unwrap();
    assert_eq!(Narrow::from_bytes(&read("narrow.pds")), Ok(narrow()));
    assert_eq!(Wide::from_bytes(&read("wide.pds")), Ok(wide()));
    let of_lines = BlockedCountingBloomFilter::from_bytes(&read("blocked.pds")).unwrap();
    assert_eq!(of_lines, blocked());
    for key in 0..30u64 {
        let least = (key % 21).saturating_sub(u64::from(key % 3 == 0)).min(15);
        assert!(of_lines.estimate(&key) >= least, "{key}");
    }
}

#[test]
fn case_21_views_answer_from_bytes_at_any_address() {
    macro_rules! agree {
        ($view:ty, $file:literal, $filter:expr) => {{
            let bytes = fs::read(golden_path($file)).unwrap();
            let filter = $filter;
            for shift in 0..9 {
                let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
                let view = <$view>::open(&shifted[shift..]).unwrap();
                view.verify().unwrap();
                assert_eq!(view.to_filter(), Ok(filter.clone()));
                assert!(
                    (0..100u64).all(|key| view.estimate(&key) == filter.estimate(&key)),
                    "{shift}"
                );
            }
            let view = <$view>::open(&bytes).unwrap();
            let keys: Vec<u64> = (0..2_000).collect();
            let mut answers = vec![false; keys.len()];
            view.contains_batch(&keys, &mut answers);
            for (key, answer) in keys.iter().zip(answers) {
                assert_eq!([view.contains(key), answer], [filter.contains(key); 2], "{key}");
                assert_eq!(view.estimate(key), filter.estimate(key), "{key}");
            }
            assert_eq!(
                (view.fill_ratio(), view.false_positive_rate(), view.saturated_counters()),
                (filter.fill_ratio(), filter.false_positive_rate(), filter.saturated_counters())
            );
            assert_eq!(
                (view.params(), view.size_in_bytes(), view.promised_rate()),
                (filter.params(), filter.size_in_bytes(), filter.promised_rate())
            );
            assert_eq!(format!("{view:?}").replace("View", ""), format!("{filter:?}"));
        }};
    }
    agree!(NarrowView<_>, "narrow.pds", narrow());
    agree!(WideView<_>, "wide.pds", wide());
    agree!(BlockedCountingBloomFilterView<_>, "blocked.pds", blocked());
}

/// Seven positions of hash F(0) in 1,000 counters, computed apart from this crate; 2 or 1 counters a byte.
#[test]
fn case_19_the_counters_of_a_hash_are_the_same_on_every_machine() {
    let builder = CountingBloomFilter::builder().counters(1_000).hashes(7);
    let mut filter = builder.build().unwrap();
    filter.insert_hash(finalize(0));
    let mut wide = builder.wide_counters().build().unwrap();
    wide.insert_hash(finalize(0));
    let (mut of_nibbles, mut of_bytes) = ([0; 500], [0; 1_000]);
    for position in [715, 384, 259, 957, 97, 297, 174] {
        of_nibbles[position / 2] = 1 << (4 * (position % 2));
        of_bytes[position] = 1;
    }
    assert_eq!(filter.to_bytes()[128..][..500], of_nibbles);
    assert_eq!(wide.to_bytes()[128..][..1_000], of_bytes);
}

/// Line and lanes of one key, computed apart from this crate.
#[test]
fn case_19_the_line_of_a_hash_is_the_same_on_every_machine() {
    // Hash F(1) of 1,000 lines: line 566; upper four bits of the fields 33 42 51 60 45 5 47 19.
    let mut filter = BlockedCountingBloomFilter::builder().lines(1_000).build().unwrap();
    filter.insert_hash(finalize(1));
    let bytes = filter.to_bytes();
    let line = &bytes[128 + 64 * 566..][..64];
    for (word, counter) in line.chunks(8).zip([8, 10, 12, 15, 11, 1, 11, 4]) {
        let word = u64::from_le_bytes(word.try_into().unwrap());
        assert_eq!(word, 1 << (4 * counter));
    }
}

#[test]
fn headers_tell_the_shape() {
    let header = Header::peek(&shaped(100, 8).to_bytes()).unwrap();
    assert_eq!((header.kind, header.payload_bytes), (Kind::COUNTING_BLOOM, 56));
    assert_eq!(header.shape.as_slice(), [100, 8, 4]);
    let header = Header::peek(&blocked().to_bytes()).unwrap();
    assert_eq!((header.kind, header.payload_bytes), (Kind::BLOCKED_COUNTING_BLOOM, 320));
    assert_eq!(header.shape.as_slice(), [5]);
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let filter =
        BlockedCountingBloomFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    let bytes = ByteOptions::new().without_key().to_bytes(&filter);
    let read = ByteOptions::new().from_bytes::<BlockedCountingBloomFilter<SipHashBuilder>>(&bytes);
    assert_eq!(read, Err(DecodeError(DecodeFault::KeyMissing { offset: 48 })));
    let given =
        ByteOptions::new().hasher(hasher).from_bytes::<BlockedCountingBloomFilter<_>>(&bytes);
    let view = ByteOptions::new()
        .hasher(hasher)
        .open::<_, BlockedCountingBloomFilterView<_, _>>(&bytes)
        .unwrap();
    assert_eq!((given, view.to_filter()), (Ok(filter.clone()), Ok(filter.clone())));
    let other = SipHashBuilder::from_key([0; 16]);
    let mismatch =
        ByteOptions::new().hasher(other).open::<_, BlockedCountingBloomFilterView<_, _>>(&bytes);
    assert!(matches!(mismatch, Err(DecodeError(DecodeFault::KeyMismatch { .. }))));
    let bytes = ByteOptions::new().with_key().to_bytes(&filter);
    let view =
        ByteOptions::new().open::<_, BlockedCountingBloomFilterView<_, SipHashBuilder>>(&bytes);
    assert_eq!(view.and_then(|view| view.to_filter()), Ok(filter));
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let parameter = |error: DecodeError| match error {
        DecodeError(DecodeFault::Shape {
            offset,
            error: ParamError(ParamFault::OutOfRange { parameter, value, .. }),
        }) => (parameter, value, offset),
        other => panic!("{other}"),
    };
    let read = |index, number| {
        Narrow::from_bytes(&with_number(&narrow().to_bytes(), index, number)).unwrap_err()
    };
    assert_eq!(parameter(read(0, 0)), ("counters", 0, 96));
    assert_eq!(parameter(read(0, u64::MAX)), ("counters", u64::MAX, 96));
    assert_eq!(parameter(read(1, 256)), ("hashes", 256, 104));
    assert_eq!(parameter(read(2, 8)), ("counter_bits", 8, 112));
    assert!(matches!(read(0, 1 << 63), DecodeError(DecodeFault::PayloadLength { .. })));
    let more = Narrow::from_bytes(&with_numbers(&narrow().to_bytes(), &[100, 8, 4, 0]));
    assert_eq!(more, Err(DecodeError(DecodeFault::Numbers { offset: 96, expected: 3, found: 4 })));
    let read = |number| {
        let bytes = with_number(&blocked().to_bytes(), 0, number);
        BlockedCountingBloomFilter::from_bytes(&bytes).unwrap_err()
    };
    // No design: the shape follows the hasher.
    assert_eq!(parameter(read(0)), ("lines", 0, 72));
    assert!(matches!(read(1 << 54), DecodeError(DecodeFault::PayloadLength { .. })));
    let more = with_numbers(&blocked().to_bytes(), &[5, 0]);
    let more = BlockedCountingBloomFilter::from_bytes(&more);
    assert_eq!(more, Err(DecodeError(DecodeFault::Numbers { offset: 72, expected: 1, found: 2 })));
    let other = Narrow::from_bytes(&blocked().to_bytes());
    let (expected, found) = (Kind::COUNTING_BLOOM, Kind::BLOCKED_COUNTING_BLOOM);
    assert_eq!(other, Err(DecodeError(DecodeFault::Kind { offset: 10, expected, found })));
}

#[test]
fn case_17_counters_beyond_the_last_are_refused() {
    let mut payload = [0; 16];
    payload[9] = 1;
    let bytes = with_payload(&shaped(17, 2).to_bytes(), &payload);
    let error = Narrow::from_bytes(&bytes).unwrap_err();
    assert_eq!(error, DecodeError(DecodeFault::Padding { offset: 136, found: 256 }));
    assert_eq!(NarrowView::open(&bytes).unwrap().verify(), Err(error));
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    macro_rules! refuses {
        ($filter:ty, $view:ty, $bytes:expr) => {{
            let bytes = $bytes;
            for end in 0..bytes.len() {
                assert!(<$filter>::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
            }
            for bit in 0..8 * bytes.len() {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(<$filter>::from_bytes(&damaged).is_err(), "bit {bit}");
                if let Ok(view) = <$view>::open(&damaged) {
                    assert!(view.verify().is_err(), "bit {bit}");
                    let _ = view.estimate(&1u64) + view.estimate(&u64::MAX);
                }
            }
        }};
    }
    refuses!(Narrow, NarrowView<_>, shaped(40, 3).to_bytes());
    refuses!(Wide, WideView<_>, wide().to_bytes());
    refuses!(BlockedCountingBloomFilter, BlockedCountingBloomFilterView<_>, blocked().to_bytes());
}

/// A payload that nobody asked to verify may answer wrongly; it never panics.
#[test]
fn case_21_unverified_views_survive_any_payload() {
    macro_rules! survives {
        ($view:ty, $filter:expr, $most:literal) => {{
            let mut bytes = $filter.to_bytes();
            let end = bytes.len() - 8;
            bytes[128..end].fill(0xff);
            let view = <$view>::open(&bytes).unwrap();
            assert!((0..1_000u64).all(|key| view.contains(&key) && view.estimate(&key) == $most));
            assert_eq!((view.fill_ratio(), view.false_positive_rate()), (1.0, 1.0));
            assert!(view.verify().is_err() && view.to_filter().is_err());
        }};
    }
    survives!(NarrowView<_>, narrow(), 15);
    survives!(WideView<_>, wide(), 255);
    survives!(BlockedCountingBloomFilterView<_>, blocked(), 15);
}

/// Unused bits behind the last counter of unverified bytes are not merged into a filter.
#[test]
fn case_21_unused_bits_of_an_unverified_view_are_not_merged() {
    macro_rules! survives {
        ($view:ty, $filter:ty, $empty:expr) => {{
            let (mut filter, mut bytes) = ($empty, $empty.to_bytes());
            let end = bytes.len() - 8;
            bytes[end - 1] = 0xff;
            filter.merge(&<$view>::open(&bytes).unwrap()).unwrap();
            assert!(filter == $empty && <$filter>::from_bytes(&filter.to_bytes()).is_ok());
            assert_eq!(filter.to_bloom_filter().unwrap().count_ones(), 0);
        }};
    }
    survives!(NarrowView<_>, Narrow, shaped(97, 3));
    let empty = || Narrow::builder().counters(97).hashes(3).wide_counters().build().unwrap();
    survives!(WideView<_>, Wide, empty());
}

quickcheck! {
    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        Narrow::from_bytes(&bytes).is_err()
            && BlockedCountingBloomFilter::from_bytes(&bytes).is_err()
    }
}
