//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p minhash --test it format` writes the golden files anew: a new format version.

use std::path::{Path, PathBuf};
use std::{env, fs};

use minhash::bytes::{ByteOptions, Header, Kind};
use minhash::error::DecodeError;
use minhash::hash::SipHashBuilder;
use minhash::{LshIndex, LshIndexView, MinHash, MinHashView, Signature, SignatureView};
use pds_testkit::envelope::{
    DESIGN, sections, with_number, with_numbers, with_payload, with_sections,
};
use pds_testkit::portable::{fault_of, refuses_damage};

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

/// Compares with the golden file, and returns its bytes.
fn checked(file: &str, bytes: &[u8]) -> Vec<u8> {
    if env::var_os("BLESS").is_some() {
        fs::write(golden_path(file), bytes).unwrap();
    }
    let golden = fs::read(golden_path(file)).unwrap();
    assert_eq!(golden, bytes, "{file}");
    golden
}

fn sketch(values: u32, keys: u64) -> MinHash {
    let mut sketch = MinHash::new(values).unwrap();
    sketch.extend(0..keys);
    sketch
}

/// Documents 0 and 1 are equal, 2 and 3 are, and all are sets of different sizes besides.
fn index(documents: u32) -> LshIndex {
    let mut index = LshIndex::builder().num_values(16).bands(3).rows(4).build().unwrap();
    for document in 0..documents {
        index.insert(document, &sketch(16, 1 << (2 * (document / 2)))).unwrap();
    }
    index
}

#[test]
fn todays_code_writes_and_reads_the_golden_files() {
    for (file, values, keys) in
        [("empty.pds", 16, 0), ("one.pds", 16, 1), ("few.pds", 64, 10), ("many.pds", 128, 10_000)]
    {
        let sketch = sketch(values, keys);
        let golden = checked(file, &sketch.to_bytes());
        let view = MinHashView::open(&golden).unwrap();
        view.verify().unwrap();
        assert_eq!(MinHash::from_bytes(&golden).unwrap(), sketch);
        assert_eq!(view.compare(&sketch), sketch.compare(&sketch));
    }
    for (file, values, keys, bits) in [
        ("signature_1.pds", 16, 5, 1),
        ("signature_8.pds", 64, 100, 8),
        ("signature_32.pds", 16, 1_000, 32),
        ("signature_empty.pds", 32, 0, 2),
    ] {
        let signature = sketch(values, keys).signature(bits).unwrap();
        let golden = checked(file, &signature.to_bytes());
        let view = SignatureView::open(&golden).unwrap();
        view.verify().unwrap();
        assert_eq!(Signature::from_bytes(&golden).unwrap(), signature);
        assert_eq!(view.compare(&signature), signature.compare(&signature));
    }
    for (file, documents) in [("index.pds", 5), ("index_even.pds", 4), ("index_empty.pds", 0)] {
        let index = index(documents);
        let golden = checked(file, &index.to_bytes());
        let view = LshIndexView::open(&golden).unwrap();
        view.verify().unwrap();
        assert!(LshIndex::from_bytes(&golden).unwrap() == index);
        assert_eq!(view.near_duplicates(), index.near_duplicates());
        assert_eq!(view.len(), u64::from(documents));
    }
}

#[test]
fn a_header_tells_the_shape() {
    let header = Header::peek(&sketch(64, 3).to_bytes()).unwrap();
    assert_eq!((header.kind, header.shape.as_slice()), (Kind::MIN_HASH, &[64][..]));
    let header = Header::peek(&sketch(64, 3).signature(8).unwrap().to_bytes()).unwrap();
    assert_eq!((header.kind, header.shape.as_slice()), (Kind::MIN_HASH_SIGNATURE, &[64, 8, 0][..]));
    let header = Header::peek(&index(5).to_bytes()).unwrap();
    assert_eq!((header.kind, header.shape.as_slice()), (Kind::LSH_INDEX, &[16, 3, 4, 5][..]));
    assert_eq!(header.payload_bytes, 3 * 8 * 8);
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let sketch = MinHash::builder().num_values(16).hasher(hasher).build().unwrap();
    let bytes = ByteOptions::new().without_key().to_bytes(&sketch);
    assert!(ByteOptions::new().from_bytes::<MinHash<SipHashBuilder>>(&bytes).is_err());
    let options = ByteOptions::new().hasher(hasher);
    assert_eq!(options.from_bytes::<MinHash<_>>(&bytes).unwrap(), sketch);
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let bytes = sketch(16, 3).to_bytes();
    let at = 72;
    for number in [0, 8, 17, 24, 8_192, 1 << 32 | 16, u64::MAX] {
        let read = MinHash::from_bytes(&with_number(&bytes, 0, number));
        assert_eq!(fault_of(read), ("num_values", at), "{number}");
    }
    assert_eq!(fault_of(MinHash::from_bytes(&with_number(&bytes, 0, 32))).0, "payload length");
    let more = MinHash::from_bytes(&with_numbers(&bytes, &[16, 0]));
    assert_eq!(fault_of(more), ("numbers", at));
    let mut sections = sections(&bytes);
    sections.insert(1, (DESIGN, [30_u64.to_le_bytes(), [0; 8]].concat()));
    let items = MinHash::from_bytes(&with_sections(&bytes, &sections));
    assert_eq!(fault_of(items).0, "the expected items");

    let bytes = sketch(16, 3).signature(4).unwrap().to_bytes();
    for (index, number, name) in
        [(0, 15, "num_values"), (1, 3, "bits"), (1, 64, "bits"), (2, 2, "is_empty")]
    {
        let read = Signature::from_bytes(&with_number(&bytes, index, number));
        assert_eq!(fault_of(read), (name, at + 8 * index as u64), "{number}");
    }
    assert_eq!(fault_of(Signature::from_bytes(&with_number(&bytes, 1, 8))).0, "payload length");

    let bytes = index(5).to_bytes();
    for (index, number, name) in [
        (0, 15, "num_values"),
        (1, 0, "bands"),
        (1, 5, "bands"),
        (2, 17, "rows"),
        (3, u64::MAX, "documents"),
    ] {
        let read = LshIndex::from_bytes(&with_number(&bytes, index, number));
        assert_eq!(fault_of(read), (name, at + 8 * index as u64), "{number}");
    }
    for (index, number) in [(1, 2), (3, 4), (3, 7), (3, 1 << 40)] {
        let read = LshIndex::from_bytes(&with_number(&bytes, index, number));
        assert_eq!(fault_of(read).0, "payload length", "{number}");
    }
}

fn payload(bytes: &[u8]) -> Vec<u64> {
    let header = Header::peek(bytes).unwrap();
    let end = usize::try_from(header.payload_end()).unwrap();
    let length = usize::try_from(header.payload_bytes).unwrap();
    bytes[end - length..end].as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

/// Changes the words of the payload, under right checksums. Returns the fault, and the number of its word.
macro_rules! fault_with {
    ($structure:ty, $view:ident, $bytes:expr, $change:expr) => {{
        let bytes: &[u8] = $bytes;
        let mut words = payload(bytes);
        let change: &dyn Fn(&mut [u64]) = &$change;
        change(&mut words);
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let forged = with_payload(bytes, &words);
        let read: Result<$structure, DecodeError> = <$structure>::from_bytes(&forged);
        let view = $view::open(&forged).unwrap();
        assert_eq!(view.verify().err(), read.as_ref().err().copied());
        let (name, offset) = fault_of(read);
        let start = Header::peek(bytes).unwrap().payload_end() - words.len() as u64;
        (name, (offset - start) / 8)
    }};
}

#[test]
fn case_17_minima_that_no_key_draws_are_refused() {
    let round = |round: u64| round << 50;
    let full = sketch(16, 100).to_bytes();
    let fault = |change: &dyn Fn(&mut [u64])| fault_with!(MinHash, MinHashView, &full, change);
    // Rounds 16 to 31 belong to bins 0 to 15.
    for (bin, minimum) in
        [(3, round(32)), (3, round(18)), (3, round(20)), (15, round(30)), (0, round(31))]
    {
        assert_eq!(fault(&|words| words[bin] = minimum), ("a minimum", bin as u64), "{minimum:x}");
    }
    assert_eq!(fault(&|words| words[7] = u64::MAX), ("a minimum", 7), "empty among full ones");
    assert_eq!(fault(&|words| words[0] = u64::MAX), ("a minimum", 1), "full among empty ones");
    let late = |words: &mut [u64]| words.iter_mut().for_each(|word| *word |= round(1));
    let words = payload(&full);
    let least = (0..16).min_by_key(|&bin| words[bin] | round(1)).unwrap();
    assert_ne!(least, 0);
    assert_eq!(fault(&late), ("a minimum", least as u64), "none of the first round");
    // Values that keys can draw are read.
    let mut words = payload(&full);
    words[3] = round(19) + 5;
    words[4] = round(15);
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(MinHash::from_bytes(&with_payload(&full, &words)).is_ok());

    let empty = sketch(16, 0).to_bytes();
    let fault = |change: &dyn Fn(&mut [u64])| fault_with!(MinHash, MinHashView, &empty, change);
    assert_eq!(fault(&|words| words[9] = 5), ("a minimum", 9), "full among empty ones");
}

#[test]
fn case_17_bits_that_no_value_has_are_refused() {
    let short = sketch(16, 5).signature(2).unwrap().to_bytes();
    let fault = |change: &dyn Fn(&mut [u64])| fault_with!(Signature, SignatureView, &short, change);
    assert_eq!(fault(&|words| words[0] |= 1 << 32), ("padding", 0));
    assert_eq!(fault(&|words| words[0] |= 1 << 63), ("padding", 0));
    let empty = sketch(64, 0).signature(4).unwrap().to_bytes();
    let fault = |change: &dyn Fn(&mut [u64])| fault_with!(Signature, SignatureView, &empty, change);
    assert_eq!(fault(&|words| words[3] |= 1), ("padding", 3));
}

#[test]
fn case_17_entries_out_of_order_are_refused() {
    // Three bands of five keys and three words of documents.
    let bytes = index(5).to_bytes();
    let fault = |change: &dyn Fn(&mut [u64])| fault_with!(LshIndex, LshIndexView, &bytes, change);
    assert_eq!(fault(&|words| words[0] = u64::MAX), ("a key", 1));
    assert_eq!(fault(&|words| words[12] = 0), ("a key", 12));
    assert_eq!(fault(&|words| words.swap(0, 4)).0, "a key");
    assert!(payload(&bytes)[..5].is_sorted() && payload(&bytes)[0] < payload(&bytes)[4]);
    // Equal keys with equal or descending documents.
    assert_eq!(fault(&|words| (words[1], words[5]) = (words[0], 3 << 32 | 3)), ("a key", 1));
    assert_eq!(fault(&|words| (words[1], words[5]) = (words[0], 2 << 32 | 3)), ("a key", 1));
    assert_eq!(fault(&|words| words[7] |= 1 << 32), ("padding", 7));
    let fault = fault(&|words| words[15] = 77);
    assert_eq!(fault, (OTHER_DOCUMENT, 13), "another document in the second band");
}

const OTHER_DOCUMENT: &str = "a document of a band, in ascending order,";

#[test]
fn case_17_bands_of_different_documents_are_refused_whatever_their_hashes_add_up_to() {
    // Found by a search: the hashes of both sets have the same sum.
    let documents = [[10, 323_770, 542_181, 870_281], [169_355, 422_999, 725_790, 917_857]];
    let sums = documents.map(|numbers| {
        numbers.into_iter().fold(0, |sum: u64, i| sum.wrapping_add(minhash::hash::finalize(i)))
    });
    assert_eq!(sums[0], sums[1]);
    let mut index = LshIndex::builder().num_values(16).bands(2).rows(8).build().unwrap();
    for document in [10, 323_770, 542_181, 870_281] {
        index.insert(document, &sketch(16, 5)).unwrap();
    }
    // Two bands of four keys and two words of documents.
    let other = |words: &mut [u64]| {
        words[10..].copy_from_slice(&[422_999 << 32 | 169_355, 917_857 << 32 | 725_790]);
    };
    let bytes = index.to_bytes();
    assert_eq!(fault_with!(LshIndex, LshIndexView, &bytes, other), (OTHER_DOCUMENT, 10));
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    refuses_damage(&sketch(16, 9).to_bytes(), MinHash::from_bytes);
    refuses_damage(&sketch(16, 9).signature(8).unwrap().to_bytes(), Signature::from_bytes);
    refuses_damage(&index(5).to_bytes(), LshIndex::from_bytes);
    let other_kind = Signature::from_bytes(&sketch(16, 9).to_bytes()).unwrap_err();
    assert!(other_kind.to_string().contains("MinHash sketch"), "{other_kind}");
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_address_and_for_any_payload() {
    let (one, two) = (sketch(64, 100), sketch(64, 150));
    let index = index(5);
    for shift in 0..9 {
        let shifted = |bytes: Vec<u8>| [vec![0xff; shift], bytes].concat();
        let bytes = shifted(one.to_bytes());
        let view = MinHashView::open(&bytes[shift..]).unwrap();
        assert_eq!(view.compare(&two), one.compare(&two));
        assert_eq!(view.to_sketch().as_ref(), Ok(&one));
        let bytes = shifted(index.to_bytes());
        let view = LshIndexView::open(&bytes[shift..]).unwrap();
        let asked = sketch(16, 4);
        assert_eq!(view.query(&asked), index.query(&asked));
    }
    for byte in [0, 0x55, 0xff] {
        let bytes = with_payload(&one.to_bytes(), &[byte; 512]);
        let view = MinHashView::open(&bytes).unwrap();
        assert!(view.compare(&two).unwrap().jaccard().value >= 0.0);
        let bytes = with_payload(&index.to_bytes(), &[byte; 192]);
        let view = LshIndexView::open(&bytes).unwrap();
        assert!(view.verify().is_err());
        let _ = (view.near_duplicates(), view.query(&sketch(16, 4)));
    }
}
