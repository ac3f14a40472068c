//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p heavy-hitters --test it format` writes the golden files anew: a new format version.
#![cfg(feature = "std")]

use std::path::Path;
use std::{env, fs};

use heavy_hitters::bytes::ByteOptions;
use heavy_hitters::error::DecodeError;
use heavy_hitters::{HeavyHitters, SketchedHeavyHitters, TopK};
use pds_core::internal::DecodeFault;
use pds_testkit::envelope::{forged, with_number, with_numbers, with_payload};
use pds_testkit::portable::{fault_of, refuses_damage};

/// 3,000 inserts of 500 keys, some often.
fn stream() -> impl Iterator<Item = u64> {
    (0..3_000u64).map(|i| i * i % 997 % 500)
}

fn word(i: u64) -> String {
    format!("key-{i}")
}

fn heavy() -> HeavyHitters<String> {
    let mut summary = HeavyHitters::new(0.01).unwrap();
    stream().for_each(|i| {
        summary.insert(word(i).as_str());
    });
    summary
}

fn top() -> TopK<u64> {
    let mut list = TopK::new(5).unwrap();
    stream().for_each(|i| {
        list.insert(&i);
    });
    list
}

fn sketched() -> SketchedHeavyHitters<Vec<u8>> {
    let mut detector = SketchedHeavyHitters::new(0.02, 0.05, 0.1).unwrap();
    stream().for_each(|i| {
        detector.insert(word(i % 60).as_bytes());
    });
    detector
}

fn golden() -> [(&'static str, Vec<u8>); 3] {
    [
        ("heavy_hitters_string.pds", heavy().to_bytes()),
        ("top_k_u64.pds", top().to_bytes()),
        ("sketched_heavy_hitters_bytes.pds", sketched().to_bytes()),
    ]
}

fn read(file: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)).unwrap()
}

#[test]
fn todays_code_writes_the_golden_files() {
    for (file, bytes) in golden() {
        if env::var_os("BLESS").is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
            fs::write(folder.join(file), &bytes).unwrap();
        }
        assert_eq!(read(file), bytes, "{file}");
    }
}

#[test]
fn todays_code_reads_the_golden_files() {
    let summary = HeavyHitters::<String>::from_bytes(&read("heavy_hitters_string.pds")).unwrap();
    assert_eq!(summary, heavy());
    assert_eq!(summary.top(), heavy().top());
    assert_eq!(TopK::<u64>::from_bytes(&read("top_k_u64.pds")).unwrap(), top());
    let detector = read("sketched_heavy_hitters_bytes.pds");
    let detector = SketchedHeavyHitters::<Vec<u8>>::from_bytes(&detector).unwrap();
    assert!(detector == sketched() && detector.top().len() > 10);
    assert_eq!(detector.top(), sketched().top());
}

#[test]
fn case_17_damaged_bytes_are_refused() {
    refuses_damage(&heavy().to_bytes(), HeavyHitters::<String>::from_bytes);
    refuses_damage(&top().to_bytes(), TopK::<u64>::from_bytes);
    refuses_damage(&sketched().to_bytes(), SketchedHeavyHitters::<Vec<u8>>::from_bytes);
}

#[test]
fn case_17_forged_summaries_are_refused() {
    let mut summary = HeavyHitters::<u64>::new(0.1).unwrap();
    summary.insert_many(&1, 5);
    summary.insert_many(&2, 7);
    let bytes = summary.to_bytes();
    let of = |bytes: &[u8]| fault_of(HeavyHitters::<u64>::from_bytes(bytes));
    let number = |index, number| of(&with_number(&bytes, index, number));
    let refused = |offset, number: u64| of(&forged(&bytes, offset, &number.to_le_bytes()));
    assert_eq!(number(0, 9), ("capacity", 72));
    assert_eq!(number(1, 0), ("phi", 80));
    assert_eq!(number(2, 3), ("the type of the keys", 88));
    // The total, the floor and the number of keys, then entries of count, error and key, 24 bytes each.
    assert_eq!(refused(128, 11), ("the total", 128));
    assert_eq!(refused(136, 1), ("the total", 128));
    assert_eq!(refused(136, 6), ("a count", 152));
    assert_eq!(refused(144, 16), ("the number of tracked keys", 144));
    assert_eq!(refused(144, 3), ("payload end", 200));
    assert_eq!(refused(144, 1), ("unread", 176));
    assert_eq!(refused(152, 6), ("the total", 128));
    assert_eq!(refused(152 + 8, 12), ("the error of a count", 160));
    assert_eq!(refused(176 + 8, 12), ("the error of a count", 184));
    assert_eq!(refused(152 + 24 + 16, 1), ("a tracked key", 192));
    assert_eq!(of(&with_payload(&bytes, &[0; 23])), ("payload length", 16));

    let mut words = TopK::<String>::new(2).unwrap();
    words.insert("word");
    words.insert("other");
    let bytes = words.to_bytes();
    // The sketch of 1,024 x 4 counters of 8 bytes, and what it has behind them, come first.
    let list = 128 + 32_768 + 24;
    let (entry, second) = (list + 16, list + 16 + 24 + 4);
    assert_eq!(bytes.len(), second + 24 + 5 + 8);
    let of = |bytes: &[u8]| fault_of(TopK::<String>::from_bytes(bytes));
    let at = |name, offset: usize| (name, offset as u64);
    let refused = |offset, number: u64| of(&forged(&bytes, offset, &number.to_le_bytes()));
    assert_eq!(refused(second + 16, 6), at("the length of a key", second + 16));
    assert_eq!(refused(second + 16, u64::MAX), at("the length of a key", second + 16));
    // Another key, of which the sketch says nothing.
    assert_eq!(refused(second + 16, 4), at("a count", second));
    assert_eq!(refused(entry + 16, 3), at("a count", entry));
    let text = |offset: usize| of(&forged(&bytes, offset, &[0xff]));
    assert_eq!(text(entry + 24 + 2), at("a byte of a string", entry + 24 + 2));
    assert_eq!(text(second + 24 + 4), at("a byte of a string", second + 24 + 4));
    assert_eq!(refused(entry, 2), at("a count", entry));
    assert_eq!(refused(second, 2), at("a count", second));
    assert_eq!(refused(second + 8, 2), at("the error of a count", second + 8));
    assert_eq!(refused(list + 8, 4), at("the number of tracked keys", list + 8));
    assert_eq!(of(&with_number(&bytes, 0, 0)), ("k", 72));
    assert_eq!(of(&with_number(&bytes, 1, 16)), ("the type of the keys", 80));
    assert_eq!(of(&with_numbers(&bytes, &[2, 17, 0])), ("numbers", 72));
    let mut one = TopK::<u64>::new(2).unwrap();
    one.insert(&9);
    let of_one = forged(&one.to_bytes(), list, &1u64.to_le_bytes());
    assert_eq!(fault_of(TopK::<u64>::from_bytes(&of_one)), at("the floor", list));
}

/// The candidates come behind the sketch.
#[test]
fn case_17_forged_detectors_are_refused() {
    let mut detector = SketchedHeavyHitters::<u64>::new(0.2, 0.1, 0.1).unwrap();
    detector.insert_many(&1, 5);
    let bytes = detector.to_bytes();
    // 28 x 3 counters of 8 bytes, the total and two other numbers.
    let list = 128 + 672 + 24;
    let entry = list + 16;
    assert_eq!(bytes.len(), entry + 24 + 8);
    let of = |bytes: &[u8]| fault_of(SketchedHeavyHitters::<u64>::from_bytes(bytes));
    let number = |index, number| of(&with_number(&bytes, index, number));
    let refused = |offset, number: u64| of(&forged(&bytes, offset, &number.to_le_bytes()));
    let at = |name, offset: usize| (name, offset as u64);
    assert_eq!(number(0, 0), ("width", 72));
    assert_eq!(number(0, 1_000), ("payload length", 16));
    assert_eq!(number(2, 1e-9f64.to_bits()), ("delta", 96));
    assert_eq!(number(3, 1e-9f64.to_bits()), ("delta", 96));
    assert_eq!(number(4, 1.0f64.to_bits()), ("phi", 104));
    assert_eq!(number(4, f64::NAN.to_bits()), ("phi", 104));
    assert_eq!(number(5, 3), ("the type of the keys", 112));
    assert_eq!(refused(list - 24, 4), at("the total", list - 24));
    assert_eq!(refused(list, 5), at("the floor", list));
    assert_eq!(refused(list + 8, 16), at("the number of tracked keys", list + 8));
    assert_eq!(refused(entry, 6), at("a count", entry));
    assert_eq!(refused(entry + 8, 6), at("the error of a count", entry + 8));
    let read = TopK::<u64>::from_bytes(&bytes);
    assert!(matches!(read, Err(DecodeError(DecodeFault::Kind { .. }))));
}

/// A great capacity costs memory when keys come, not when bytes claim it.
#[test]
fn case_17_a_claimed_capacity_costs_nothing() {
    let mut summary = HeavyHitters::<u64>::new(0.1).unwrap();
    (0..5).for_each(|key| {
        summary.insert(&key);
    });
    let claim = with_number(&summary.to_bytes(), 0, 1 << 31);
    let mut decoded = HeavyHitters::<u64>::from_bytes(&claim).unwrap();
    assert!(decoded.size_in_bytes() < 1_000);
    (0..1_000).for_each(|key| {
        decoded.insert(&key);
    });
    let counts = (decoded.estimate(&3).value(), decoded.estimate(&999).value());
    assert_eq!((counts, decoded.total()), ((2, 1), 1_005));
}

#[test]
fn streams_hold_one_structure_after_another() {
    let mut stream = Vec::new();
    heavy().write_to(&mut stream).unwrap();
    top().write_to(&mut stream).unwrap();
    let mut reader = stream.as_slice();
    let summary = ByteOptions::new().read_from::<HeavyHitters<String>>(&mut reader).unwrap();
    let list = ByteOptions::new().read_from::<TopK<u64>>(&mut reader).unwrap();
    assert!(summary == heavy() && list == top() && reader.is_empty());
}

/// Key types have names, which errors say.
#[test]
fn case_45_errors_name_key_types() {
    let numbers = TopK::<u32>::new(3).unwrap().to_bytes();
    assert_eq!(
        TopK::<u64>::from_bytes(&numbers).unwrap_err().to_string(),
        "the type of the keys at offset 80 is u32 (number 3), but must be u64"
    );
}
