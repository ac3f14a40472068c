//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.

use std::collections::HashSet;

use minhash::{Comparison, LshIndex, LshIndexView, MinHash, MinHashView, Signature, SignatureView};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable;

/// The answers of a comparison, as bits.
fn told(comparison: Comparison) -> [u64; 7] {
    let jaccard = comparison.jaccard();
    let interval = comparison.jaccard_interval(0.9).unwrap();
    assert!((0.0..=1.0).contains(interval.start()) && (0.0..=1.0).contains(interval.end()));
    assert!(interval.start() <= interval.end() && jaccard.value <= 1.0);
    assert!(jaccard.standard_error >= 0.0 && jaccard.standard_error.is_finite());
    for (left, right) in [(0, 5), (5, 0), (1, u64::MAX), (u64::MAX, 1)] {
        let containment = comparison.containment(left, right);
        assert!((0.0..=1.0).contains(&containment.value));
        assert!((0.0..=1.0).contains(&containment.standard_error));
    }
    let containment = comparison.containment(3, 5);
    assert!((0.0..=1.0).contains(&containment.value));
    let numbers = [jaccard.value, jaccard.standard_error, *interval.start(), *interval.end()];
    let [a, b, c, d] = numbers.map(f64::to_bits);
    let of_left = [containment.value, containment.standard_error].map(f64::to_bits);
    [a, b, c, d, of_left[0], of_left[1], comparison.matches().into()]
}

/// A sketch to compare with, of the same number of values.
fn other(values: u32) -> MinHash {
    let mut sketch = MinHash::new(values).unwrap();
    sketch.insert_batch(&[1, 2, 3]);
    sketch
}

/// Asks a sketch in any storage.
macro_rules! ask_sketch {
    ($sketch:expr) => {{
        let sketch = $sketch;
        let other = other(sketch.num_values());
        let signature = sketch.signature(4).unwrap();
        let with_itself = told(sketch.compare(sketch).unwrap());
        (sketch.is_empty(), sketch.compare(&other).map(told), with_itself, signature.to_bytes())
    }};
}

/// Asks a signature in any storage.
macro_rules! ask_signature {
    ($signature:expr) => {{
        let signature = $signature;
        let other = other(signature.num_values()).signature(signature.bits()).unwrap();
        let with_itself = told(signature.compare(signature).unwrap());
        (signature.is_empty(), signature.compare(&other).map(told), with_itself)
    }};
}

/// Asks an index in any storage.
macro_rules! ask_index {
    ($index:expr) => {{
        let index = $index;
        let other = other(index.params().num_values());
        let there = index.contains(1, &other).unwrap();
        (index.len(), index.query(&other), index.near_duplicates(), there)
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(mut sketch) = portable::decode::<MinHash>(bytes) {
        let _ = ask_sketch!(&sketch);
        sketch.merge(&other(sketch.num_values())).unwrap();
        (0..40_u8).for_each(|key| _ = sketch.insert(&key));
        assert_eq!(portable::decode::<MinHash>(&sketch.to_bytes()), Some(sketch));
    }
    if let Some(signature) = portable::decode::<Signature>(bytes) {
        let _ = ask_signature!(&signature);
    }
    if let Some(mut index) = portable::decode::<LshIndex>(bytes) {
        let _ = ask_index!(&index);
        let (before, other) = (index.len(), other(index.params().num_values()));
        let is_new = index.insert(77, &other).unwrap();
        assert_eq!(index.len(), before + u64::from(is_new));
        assert!(!is_new || index.query(&other).unwrap().contains(&77));
        assert_eq!(portable::decode::<LshIndex>(&index.to_bytes()), Some(index));
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
macro_rules! view_of {
    ($view:ty, $owned:ty, $copy:ident, $bytes:expr, $ask:ident) => {{
        let read = <$owned>::from_bytes($bytes);
        match <$view>::open($bytes) {
            Ok(view) => {
                let answers = $ask!(&view);
                portable::assert_alike(&view.$copy(), &read);
                assert_eq!(view.verify().is_ok(), read.is_ok());
                assert!(read.is_err() || $ask!(read.as_ref().unwrap()) == answers);
            }
            refused => portable::assert_alike(&refused, &read),
        }
    }};
}

/// Opens bytes as each view.
pub(crate) fn view(bytes: &[u8]) {
    view_of!(MinHashView<&[u8]>, MinHash, to_sketch, bytes, ask_sketch);
    view_of!(SignatureView<&[u8]>, Signature, to_signature, bytes, ask_signature);
    view_of!(LshIndexView<&[u8]>, LshIndex, to_index, bytes, ask_index);
}

/// Changes the bytes of a structure, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let values = 16 << choices.below(3);
    let mut sketch = MinHash::new(values).unwrap();
    sketch.extend(0..choices.byte());
    let mut bytes = match choices.below(3) {
        0 => sketch.to_bytes(),
        1 => sketch.signature(1 << choices.below(6)).unwrap().to_bytes(),
        _ => {
            let (bands, rows) = (1 + choices.byte() % 4, 1 + choices.byte() % 4);
            let mut index = built(values, bands, rows);
            for document in 0..u32::from(choices.byte() % 8) {
                sketch.insert(&(document / 3));
                index.insert(document, &sketch).unwrap();
            }
            index.to_bytes()
        }
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Compares sketches and an index with exact sets, with the bytes in between.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut sketches = [MinHash::new(16).unwrap(), MinHash::new(16).unwrap()];
    let mut sets = [HashSet::new(), HashSet::new()];
    let (mut index, mut documents) = (built(16, 4, 3), HashSet::new());
    while !choices.is_empty() {
        let i = choices.below(2);
        match choices.below(12) {
            0 => sketches[i] = portable::sent(&sketches[i], &mut choices),
            1 => index = portable::sent(&index, &mut choices),
            2 => {
                let [left, right] = &mut sketches;
                left.merge(right).unwrap();
                sets[0] = &sets[0] | &sets[1];
            }
            3 => {
                sketches[i].clear();
                sets[i].clear();
            }
            4..7 => {
                let keys: Vec<u8> = (0..choices.below(40)).map(|_| choices.byte()).collect();
                sketches[i].insert_batch(&keys);
                sets[i].extend(keys);
            }
            7 => {
                let (document, sketch) = document(&mut choices);
                assert_eq!(index.insert(document, &sketch).unwrap(), documents.insert(document));
            }
            8 => {
                let (document, sketch) = document(&mut choices);
                assert_eq!(index.remove(document, &sketch).unwrap(), documents.remove(&document));
            }
            9 => index.compact().unwrap(),
            _ => {
                let key = choices.byte();
                let changed = sketches[i].insert(&key);
                assert!(sets[i].insert(key) || !changed, "{key} was there");
            }
        }
        for (sketch, set) in sketches.iter().zip(&sets) {
            let keys: Vec<u8> = set.iter().copied().collect();
            let mut same = MinHash::new(16).unwrap();
            same.insert_batch(&keys);
            assert!(*sketch == same, "the state is a function of the set");
        }
        assert_eq!(index.len(), documents.len() as u64);
        let (asked, sketch) = document(&mut choices);
        let found = index.query(&sketch).unwrap();
        assert_eq!(found.contains(&asked), documents.contains(&asked));
        assert!(found.iter().all(|found| documents.contains(found)));
    }
}

/// One of sixteen documents, some of which are alike.
fn document(choices: &mut Choices<'_>) -> (u32, MinHash) {
    let document = u32::from(choices.byte() % 16);
    let mut sketch = MinHash::new(16).unwrap();
    sketch.extend((0..10).map(|key| document / 4 + key));
    (document, sketch)
}

fn built(values: u32, bands: u8, rows: u8) -> LshIndex {
    let builder = LshIndex::builder().num_values(values);
    builder.bands(bands.into()).rows(rows.into()).build().unwrap()
}
