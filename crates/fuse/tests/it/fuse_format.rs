//! Binary fuse filters: the portable bytes. Golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p fuse --test it fuse_format` writes the golden files anew: a new format version.
#![cfg(feature = "std")]

use pds_core::internal::DecodeFault;
use std::path::{Path, PathBuf};
use std::{env, fs};

use fuse::{FuseFilter, FuseFilterView};
use pds_core::bytes::{ByteOptions, Header, Kind};
use pds_core::error::DecodeError;
use pds_core::hash::SipHashBuilder;
use pds_testkit::envelope::{with_number, with_numbers, with_payload};
use pds_testkit::golden::{self, Golden};
use pds_testkit::portable::{answers, fault_of, refuse, refuses_damage};
use quickcheck::quickcheck;

const KEY: [u8; 16] = *b"0123456789abcdef";

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn filter(keys: u64, bits: u32) -> FuseFilter {
    FuseFilter::builder().fingerprint_bits(bits).build(0..keys).unwrap()
}

/// A filter with some keys in its exact list.
fn listed() -> FuseFilter {
    let builder = FuseFilter::builder().fingerprint_bits(6).limits(0, 1);
    let build = |seed| builder.seed(seed).build(0..40u64).unwrap();
    (0..).map(build).find(|filter| filter.num_exact() > 0).unwrap()
}

/// Filters of thirds and of windows, of widths that divide a word and that do not, and with an exact list.
fn all_golden() -> [(&'static str, FuseFilter); 8] {
    [
        ("fuse_default.pds", FuseFilter::new(0..1_000u64, 0.01).unwrap()),
        ("fuse_bits_8.pds", filter(100, 8)),
        ("fuse_bits_13.pds", filter(101, 13)),
        ("fuse_bits_32.pds", filter(33, 32)),
        ("fuse_coupled.pds", filter(11_500, 1)),
        ("fuse_one_key.pds", filter(1, 4)),
        ("fuse_no_key.pds", filter(0, 4)),
        ("fuse_listed.pds", listed()),
    ]
}

#[test]
fn todays_code_writes_the_golden_files() {
    let all = all_golden();
    let answers = all
        .each_ref()
        .map(|(_, filter)| (0..4_000u64).map(|key| filter.contains(&key)).collect::<Vec<bool>>());
    let golden = all.iter().zip(&answers).map(|((file, _), answers)| Golden {
        file,
        key: "",
        keys: "u64",
        answers,
    });
    let manifest = ("golden.json", golden::manifest(golden).into_bytes());
    for (file, bytes) in
        all.iter().map(|(file, filter)| (*file, filter.to_bytes())).chain([manifest])
    {
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
        let read = FuseFilter::from_bytes(&bytes).unwrap();
        let view = FuseFilterView::open(&bytes).unwrap();
        view.verify().unwrap();
        for key in 0..4_000u64 {
            let expected = filter.contains(&key);
            assert_eq!([read.contains(&key), view.contains(&key)], [expected; 2], "{file}: {key}");
        }
        assert_eq!(answers(&read), answers(&view));
        assert_eq!(read, filter);
    }
}

#[test]
fn a_header_tells_the_shape() {
    let filter = filter(100, 8);
    let header = Header::peek(&filter.to_bytes()).unwrap();
    assert_eq!((header.kind, header.payload_bytes), (Kind::FUSE, filter.size_in_bytes()));
    assert_eq!(header.shape.as_slice(), [100, 8, 0, 0]);
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let hasher = SipHashBuilder::from_key(KEY);
    let filter = FuseFilter::builder().hasher(hasher).build(["key"]).unwrap();
    let bytes = ByteOptions::new().without_key().to_bytes(&filter);
    assert!(!bytes.windows(16).any(|window| window == KEY));
    let read = ByteOptions::new().from_bytes::<FuseFilter<SipHashBuilder>>(&bytes);
    assert!(matches!(read, Err(DecodeError(DecodeFault::KeyMissing { .. }))));
    let given = ByteOptions::new().hasher(hasher).from_bytes::<FuseFilter<_>>(&bytes);
    assert_eq!(given.as_ref(), Ok(&filter));
    let with_key = ByteOptions::new().with_key().to_bytes(&filter);
    assert_eq!(ByteOptions::new().from_bytes::<FuseFilter<_>>(&with_key), Ok(filter));
}

#[test]
fn a_stream_is_read_exactly() {
    let filter = filter(50, 13);
    let mut stream = Vec::new();
    filter.write_to(&mut stream).unwrap();
    filter.write_to(&mut stream).unwrap();
    let mut reader = stream.as_slice();
    assert_eq!(FuseFilter::read_from(&mut reader).unwrap(), filter);
    assert_eq!(FuseFilter::read_from(&mut reader).unwrap(), filter);
    assert!(reader.is_empty());
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let bytes = filter(100, 8).to_bytes();
    let fault = |index, number| {
        let bytes = with_number(&bytes, index, number);
        assert!(FuseFilterView::open(&bytes).is_err());
        fault_of(FuseFilter::from_bytes(&bytes))
    };
    assert_eq!(fault(0, 110).0, "payload length");
    assert_eq!(fault(0, 0).0, "payload length");
    assert_eq!(fault(0, u64::MAX), ("keys", 72));
    assert_eq!(fault(0, 1 << 48).0, "payload length");
    for bits in [0, 33, 1 << 40, u64::MAX] {
        assert_eq!(fault(1, bits), ("fingerprint_bits", 80));
    }
    assert_eq!(fault(2, 33), ("growth", 88));
    assert_eq!(fault(2, 1 << 33), ("growth", 88));
    assert_eq!(fault(2, 8).0, "payload length");
    assert_eq!(fault(3, 101), ("rest", 96));
    assert_eq!(fault(3, 1).0, "payload length");
    let more = FuseFilter::from_bytes(&with_numbers(&bytes, &[100, 8, 0, 0, 0]));
    assert_eq!(more, Err(DecodeError(DecodeFault::Numbers { offset: 72, expected: 4, found: 5 })));
    let none = with_number(&filter(0, 4).to_bytes(), 2, 1);
    assert_eq!(fault_of(FuseFilter::from_bytes(&none)), ("growth", 88));
    refuse::<FuseFilter>(&with_number(&bytes, 0, 1 << 40));
}

/// Changes a word of the payload, counted from its end, under right checksums. Returns the fault.
fn with_word(filter: &FuseFilter, from_end: usize, change: impl Fn(u64) -> u64) -> &'static str {
    let bytes = filter.to_bytes();
    let payload = bytes.len() - 8 - usize::try_from(filter.size_in_bytes()).unwrap();
    let mut payload = bytes[payload..bytes.len() - 8].to_vec();
    let at = payload.len() - 8 * from_end;
    let word = u64::from_le_bytes(payload[at..at + 8].try_into().unwrap());
    payload[at..at + 8].copy_from_slice(&change(word).to_le_bytes());
    let forged = with_payload(&bytes, &payload);
    let view = FuseFilterView::open(&forged).unwrap();
    let read = FuseFilter::from_bytes(&forged);
    assert_eq!(view.verify().err(), read.as_ref().err().copied());
    fault_of(read).0
}

#[test]
fn case_17_a_payload_that_lies_is_refused() {
    let (small, listed) = (filter(7, 5), listed());
    let exact = usize::try_from(listed.num_exact()).unwrap();
    assert!(exact > 1);
    assert_eq!(with_word(&small, 1, |salt| salt ^ 1), "the salt of a shard");
    // 15 slots of 5 bits in two words.
    assert_eq!(with_word(&small, 2, |word| word | 1 << 63), "padding");
    assert_eq!(with_word(&listed, exact + 1, |_| 12_345), "the salt of a shard");
    assert_eq!(with_word(&listed, 1, |_| 0), "a hash of the exact list");
    assert_eq!(with_word(&listed, exact, |_| u64::MAX), "a hash of the exact list");
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    for filter in [filter(7, 12), filter(0, 3), listed()] {
        refuses_damage(&filter.to_bytes(), FuseFilter::from_bytes);
    }
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_address() {
    for (file, filter) in all_golden() {
        let bytes = filter.to_bytes();
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
            let view = FuseFilterView::open(&shifted[shift..]).unwrap();
            view.verify().unwrap();
            assert!(
                (0..2_000u64).all(|key| view.contains(&key) == filter.contains(&key)),
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
        for fill in [0xff, 0x55] {
            let mut bytes = filter.to_bytes();
            let end = bytes.len() - 8;
            let start = end - usize::try_from(filter.size_in_bytes()).unwrap();
            bytes[start..end].fill(fill);
            let view = FuseFilterView::open(&bytes).unwrap();
            let mut answers = vec![false; 1_000];
            view.contains_batch(&(0..1_000u64).collect::<Vec<_>>(), &mut answers);
            assert!(answers.iter().zip(0u64..).all(|(&answer, key)| answer == view.contains(&key)));
            assert_eq!(view.verify().is_err(), !filter.is_empty(), "{file}");
        }
    }
}

quickcheck! {
    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        FuseFilter::from_bytes(&bytes).is_err()
    }
}

#[cfg(feature = "serde")]
#[test]
fn case_18_every_serde_format_gives_the_filter_back_or_an_error() {
    for filter in [filter(1, 4), filter(20, 7), filter(0, 32), listed()] {
        pds_testkit::format::survives(&filter, &filter.to_bytes());
    }
}
