//! The bytes: the layout that `docs/format.md` states, a golden file, and faults.

use std::fs;
use std::path::Path;

use bloom_core::{BloomFilter, FilterBank, FilterBankView};
use pds_core::bytes::{Header, Kind};
use pds_testkit::envelope::{head_bytes, seal, with_number};
use pds_testkit::portable::refuses_damage;

/// A bank of this many sets of 61 bits. Set s contains the key s.
fn bank(sets: usize) -> (FilterBank, Vec<BloomFilter>) {
    let builder = BloomFilter::builder().bits(61).hashes(3).seed(5);
    let filter = |set: usize| {
        let mut filter = builder.build().unwrap();
        filter.insert(&(set as u64));
        filter
    };
    let filters: Vec<BloomFilter> = (0..sets).map(filter).collect();
    let mut bank = builder.build_bank().unwrap();
    bank.extend_from(&filters).unwrap();
    (bank, filters)
}

/// Bit s of row p is bit p of set s. Groups of 512 sets follow each other, each row by row.
#[test]
fn the_payload_is_the_one_that_the_format_states() {
    for sets in [0, 1, 64, 70, 512, 513, 700] {
        let (bank, filters) = bank(sets);
        let mut expected = Vec::new();
        for group in filters.chunks(512) {
            for row in 0..61 {
                for word in group.chunks(64) {
                    let bit = |filter: &BloomFilter| u64::from(filter.bits().get(row));
                    let word = word.iter().rev().fold(0, |word, filter| word << 1 | bit(filter));
                    expected.extend(word.to_le_bytes());
                }
            }
        }
        let bytes = bank.to_bytes();
        let header = Header::peek(&bytes).unwrap();
        assert_eq!(header.kind, Kind::FILTER_BANK);
        assert_eq!(header.shape.as_slice(), [61, 3, sets as u64]);
        let start = head_bytes(&bytes).unwrap();
        assert_eq!(header.payload_end(), (start + expected.len()) as u64);
        assert_eq!(bytes[start..start + expected.len()], expected, "{sets} sets");
        assert_eq!(bank.size_in_bytes(), expected.len() as u64);
    }
}

#[test]
fn the_golden_file_is_written_and_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bank/seventy.pds");
    let (bank, _) = bank(70);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, bank.to_bytes()).unwrap();
    }
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes, bank.to_bytes());
    let view = FilterBankView::open(bytes).unwrap();
    assert!((0..70).all(|set| view.contains(set, &(set as u64))));
    // Written down when the file was made.
    assert!(view.sets_with(&3u64).eq(SETS_WITH_3));
}

const SETS_WITH_3: [usize; 1] = [3];

#[test]
fn case_17_damage_is_refused() {
    refuses_damage(&bank(70).0.to_bytes(), FilterBank::from_bytes);
}

/// The numbers of the shape and the unused bits are checked. The error names the place.
#[test]
fn case_17_impossible_banks_are_refused() {
    let (bank, _) = bank(70);
    let bytes = bank.to_bytes();
    let start = head_bytes(&bytes).unwrap();
    let refused = |bytes: &[u8]| {
        let error = FilterBank::from_bytes(bytes).unwrap_err();
        let of_view = FilterBankView::open(bytes).and_then(|view| view.verify()).unwrap_err();
        assert_eq!(error, of_view);
        (error.offset(), error.to_string())
    };
    // Bit 70 of the last row, the seventh bit of its second word.
    let mut dirty = bytes.clone();
    let last = start + 61 * 16 - 8;
    dirty[last] |= 1 << 6;
    seal(&mut dirty);
    assert_eq!(refused(&dirty).0, Some(last as u64));
    // It is no set of a view.
    let view = FilterBankView::open(&dirty).unwrap();
    assert!((0..10_000u64).all(|key| view.sets_with(&key).all(|set| set < 70)));
    for sets in [u64::MAX, 1 << 63, u64::MAX / 61] {
        let (_, message) = refused(&with_number(&bytes, 2, sets));
        assert!(message.contains("sets") || message.contains("bytes"), "{message}");
    }
    for (number, value, name) in [(0, 0, "bits"), (1, 0, "hashes"), (1, 256, "hashes")] {
        let (_, message) = refused(&with_number(&bytes, number, value));
        assert!(message.contains(name), "{message}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn case_18_every_format_gives_the_bank_back() {
    for format in pds_testkit::format::FORMATS {
        let (bank, _) = bank(70);
        let written = format.write(&bank).unwrap();
        let read: FilterBank = format.read(&written).unwrap();
        assert_eq!((&read, read.to_bytes()), (&bank, bank.to_bytes()), "{format:?}");
    }
}
