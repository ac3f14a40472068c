//! The index: the same answers as comparing all bands, whatever the way to its state, and the recall of the curve.

use alloc::collections::{BTreeMap, BTreeSet};

use minhash::hash::{DefaultHashBuilder, finalize};
use minhash::{LshIndex, LshIndexView, LshParams, MinHash};
use pds_testkit::stats::normal_quantile;
use pds_testkit::{ThreadTime, keys};

/// Sixteen values in five bands of three rows; the last value is in none.
const VALUES: u32 = 16;

fn empty() -> LshIndex {
    LshIndex::builder().num_values(VALUES).bands(5).rows(3).build().unwrap()
}

/// Document i shares most of its keys with the others of its group of four.
fn sketch(document: u32) -> MinHash {
    let mut sketch = MinHash::new(VALUES).unwrap();
    sketch.extend((0..20).map(|key| (document / 4, key)));
    sketch.extend((0..document % 4).map(|key| (1_000_000 + document, key)));
    sketch
}

fn filled(documents: impl IntoIterator<Item = u32>) -> LshIndex {
    let mut index = empty();
    for document in documents {
        assert_eq!(index.insert(document, &sketch(document)), Ok(true));
    }
    index
}

/// The values of each band, from the bytes of the sketch.
fn bands(sketch: &MinHash) -> Vec<Vec<u8>> {
    let bytes = sketch.to_bytes();
    let start = bytes.len() - 8 - 8 * VALUES as usize;
    bytes[start..start + 5 * 24].chunks(24).map(<[u8]>::to_vec).collect()
}

fn agree(left: &MinHash, right: &MinHash) -> bool {
    bands(left).iter().zip(bands(right)).any(|(left, right)| *left == right)
}

/// The same answers as the definition for these documents.
fn check(index: &LshIndex, documents: &BTreeSet<u32>) {
    assert_eq!(index.len(), documents.len() as u64);
    assert_eq!(index.is_empty(), documents.is_empty());
    let sketches: BTreeMap<u32, MinHash> =
        documents.iter().map(|&document| (document, sketch(document))).collect();
    let view = LshIndexView::open(index.to_bytes()).unwrap();
    view.verify().unwrap();
    assert!(view.to_index().unwrap() == *index);
    for asked in [0, 1, 2, 7, 30, 31, 77, 399, 5_000] {
        let asked = sketch(asked);
        let expected: Vec<u32> = sketches
            .iter()
            .filter_map(|(&document, sketch)| agree(sketch, &asked).then_some(document))
            .collect();
        assert_eq!(index.query(&asked).unwrap(), expected);
        assert_eq!(view.query(&asked).unwrap(), expected);
    }
    let mut pairs = Vec::new();
    for (&left, left_sketch) in &sketches {
        for (&right, right_sketch) in sketches.range(left + 1..) {
            if agree(left_sketch, right_sketch) {
                pairs.push((left, right));
            }
        }
    }
    assert_eq!(index.near_duplicates(), pairs);
    assert_eq!(view.near_duplicates(), pairs);
    for document in [0, 3, 100, 399, 400] {
        let is_there = documents.contains(&document);
        assert_eq!(index.contains(document, &sketch(document)), Ok(is_there));
        assert_eq!(index.contains(document, &sketch(document + 50)), Ok(false), "other sketch");
    }
}

#[test]
fn answers_are_those_of_the_definition_at_every_size() {
    for count in [0, 1, 2, 3, 50, 400] {
        check(&filled(0..count), &(0..count).collect());
    }
}

#[test]
fn removals_and_inserts_in_any_order_give_the_same_index_and_bytes() {
    // The number of documents goes beyond the 256 whose changes wait, so some are sorted and some are not.
    let mut index = filled((0..400).rev());
    let mut documents: BTreeSet<u32> = (0..400).collect();
    for document in (0..400).filter(|document| document % 3 == 1) {
        assert_eq!(index.remove(document, &sketch(document + 40)), Ok(false), "other sketch");
        assert_eq!(index.remove(document, &sketch(document)), Ok(true));
        assert_eq!(index.remove(document, &sketch(document)), Ok(false), "gone");
        documents.remove(&document);
    }
    check(&index, &documents);
    for document in [1, 4, 7] {
        assert_eq!(index.insert(document, &sketch(document)), Ok(true), "again");
        assert_eq!(index.insert(document, &sketch(document)), Ok(false), "there already");
        documents.insert(document);
    }
    check(&index, &documents);
    let same = filled(documents.iter().copied());
    assert!(index == same && index.to_bytes() == same.to_bytes());
    index.compact().unwrap();
    assert!(index == same && index.to_bytes() == same.to_bytes());
    assert_eq!(index.size_in_bytes(), LshParams::size_in_bytes(&index.params(), index.len()));
    check(&index, &documents);

    index.retain(|document| document % 2 == 0).unwrap();
    documents.retain(|document| document % 2 == 0);
    check(&index, &documents);
    assert!(index == filled(documents.iter().copied()) && index != same);
    index.clear();
    assert!(index == empty());
}

#[test]
fn a_batch_is_many_inserts() {
    let batch = |numbers: &[u32], index: &mut LshIndex| {
        let sketches = numbers.iter().map(|&document| (document, sketch(document)));
        index.insert_batch(sketches).unwrap()
    };
    let numbers: Vec<u32> = (0..500).map(|i| i * 7_919 % 500).collect();
    let mut index = empty();
    assert_eq!(batch(&numbers, &mut index), 500);
    assert!(index == filled(0..500));
    check(&index, &(0..500).collect());
    assert_eq!(batch(&numbers, &mut index), 0, "all there");
    // Some are there, some are new, and some are new twice.
    assert_eq!(batch(&[3, 600, 4, 601, 600], &mut index), 2);
    assert_eq!(batch(&[], &mut index), 0);
    assert_eq!(batch(&[700, 702, 701], &mut index), 3);
    assert!(index == filled((0..500).chain([600, 601, 700, 701, 702])));
    let borrowed = [(9_000, &sketch(1))];
    assert_eq!(index.insert_batch(borrowed), Ok(1));
    assert!(index.query(&sketch(1)).unwrap().contains(&9_000));
}

#[test]
fn many_equal_documents_and_great_numbers() {
    let mut index = empty();
    let documents = (0..300).map(|i| (u32::MAX - i, sketch(0)));
    assert_eq!(index.insert_batch(documents), Ok(300));
    let expected: Vec<u32> = (u32::MAX - 299..=u32::MAX).collect();
    assert_eq!(index.query(&sketch(0)).unwrap(), expected);
    assert_eq!(index.near_duplicates().len(), 300 * 299 / 2);
    assert_eq!(index.remove(u32::MAX, &sketch(0)), Ok(true));
    assert_eq!(index.query(&sketch(0)).unwrap(), expected[..299]);
}

#[test]
fn two_sketches_of_one_number() {
    let mut index = filled([4]);
    // Without a band in common they are two documents.
    assert_eq!(index.insert(4, &sketch(40)), Ok(true));
    assert_eq!((index.len(), index.query(&sketch(40)).unwrap()), (2, vec![4]));
    // With one, the second is refused, so that removing one leaves the other whole.
    assert!(agree(&sketch(4), &sketch(5)));
    assert_eq!(index.insert(4, &sketch(5)), Ok(false));
    assert_eq!(index.insert_batch([(4, sketch(5))]), Ok(0));
    assert_eq!(index.remove(4, &sketch(4)), Ok(true));
    assert!(index.contains(4, &sketch(40)).unwrap() && index.len() == 1);
    // A batch does the same for a number that it has twice.
    let mut batch = empty();
    assert_eq!(batch.insert_batch([(4, sketch(4)), (4, sketch(5)), (4, sketch(40))]), Ok(2));
    assert!(batch.contains(4, &sketch(4)).unwrap() && batch.contains(4, &sketch(40)).unwrap());
}

#[test]
fn a_sketch_is_replaced_by_a_removal_and_an_insert() {
    let mut index = filled(0..300);
    assert_eq!(index.remove(4, &sketch(4)), Ok(true));
    assert_eq!(index.insert(4, &sketch(4_000)), Ok(true));
    assert_eq!(index.contains(4, &sketch(4)), Ok(false));
    let mut both = sketch(4);
    both.merge(&sketch(4_000)).unwrap();
    assert_eq!(index.contains(4, &both), Ok(false));
    assert_eq!((index.len(), index.query(&sketch(4_000))), (300, Ok(vec![4])));
}

/// The array is sorted anew if its size changes.
#[test]
fn a_batch_sorts_the_array_anew_only_if_it_is_large_and_once_then() {
    let mut index = empty();
    let numbers: Vec<u32> = (0..640).chain([5, 639]).collect();
    assert_eq!(index.insert_batch(numbers.iter().map(|&i| (i, sketch(i)))), Ok(640));
    let size = index.params().size_in_bytes(640);
    assert_eq!(index.size_in_bytes(), size, "repeated numbers cost the batch nothing");
    assert_eq!(index.insert_batch([(700, sketch(700))]), Ok(1));
    assert_eq!(index.size_in_bytes(), size, "a batch of one waits");
    assert_eq!(index.insert_batch(<[(u32, MinHash); 0]>::default()), Ok(0));
    assert_eq!(index.size_in_bytes(), size, "an empty batch changes nothing");
    let held: Vec<u32> = (0..700).collect();
    assert_eq!(index.insert_batch(held.iter().map(|&i| (i, sketch(i)))), Ok(60));
    assert_eq!(index.size_in_bytes(), index.params().size_in_bytes(701), "those held neither");
    check(&index, &(0..=700).collect());
}

#[test]
fn changes_in_a_crowded_band_take_no_longer_in_large_indexes() {
    let same = sketch(0);
    let seconds = |documents: u32| {
        let mut index = empty();
        index.insert_batch((0..documents).map(|document| (document, &same))).unwrap();
        let last = documents - 1;
        let run = || {
            let start = ThreadTime::now();
            for _ in 0..50 {
                assert_eq!(index.remove(last, &same), Ok(true));
                assert_eq!(index.insert(last, &same), Ok(true));
            }
            start.elapsed().as_secs_f64()
        };
        core::iter::repeat_with(run).take(5).fold(f64::MAX, f64::min)
    };
    let (few, many) = (seconds(1_000), seconds(64_000));
    // It would be 64 times as long if equal documents were looked through.
    assert!(many < 8.0 * few, "{many} s and {few} s");
}

#[test]
fn groups_are_the_documents_of_one_key_and_need_no_pairs() {
    let mut index = empty();
    let documents = 100_000;
    let same = sketch(0);
    index.insert_batch((0..documents).map(|document| (document, &same))).unwrap();
    index.insert_batch([(documents, &sketch(40)), (documents + 1, &sketch(80))]).unwrap();
    let mut sizes = Vec::new();
    index.visit_groups(|group| {
        assert!(group.is_sorted_by(|left, right| left < right));
        sizes.push(group.len());
    });
    assert_eq!(sizes, [documents as usize; 5], "one per band; documents alone are no group");

    let index = filled(0..400);
    let mut pairs = BTreeSet::new();
    index.visit_groups(|group| {
        for (i, &left) in group.iter().enumerate() {
            pairs.extend(group[i + 1..].iter().map(|&right| (left, right)));
        }
    });
    assert!(pairs.into_iter().eq(index.near_duplicates()));
}

#[test]
fn retain_asks_once_per_number() {
    let mut index = filled(0..300);
    let mut asked = Vec::new();
    // An answer that changes from call to call would tear a document apart.
    index.retain(|document| (asked.push(document), asked.len() % 2 == 0).1).unwrap();
    asked.sort_unstable();
    assert!(asked.into_iter().eq(0..300));
    assert_eq!(index.len(), 150);
    let bytes = index.to_bytes();
    assert!(LshIndex::from_bytes(&bytes).unwrap() == index);
}

#[test]
fn empty_sets_are_not_stored_and_find_nothing() {
    let mut index = filled(0..3);
    let none = MinHash::new(VALUES).unwrap();
    assert_eq!(index.insert(9, &none), Ok(false));
    assert_eq!(index.insert_batch([(9, &none), (10, &none)]), Ok(0));
    assert_eq!(index.len(), 3);
    assert_eq!((index.query(&none), index.contains(9, &none)), (Ok(Vec::new()), Ok(false)));
    assert_eq!(index.remove(9, &none), Ok(false));
}

#[test]
fn other_sketches_are_refused_and_nothing_is_changed() {
    let mut index = filled(0..3);
    let of = |values, seed| {
        let mut sketch = MinHash::builder().num_values(values).seed(seed).build().unwrap();
        sketch.insert("key");
        sketch
    };
    for (other, name) in [(of(32, 0), "number of values"), (of(16, 1), "hasher")] {
        assert_eq!(index.insert(7, &other).unwrap_err().parameter(), name);
        assert_eq!(index.remove(7, &other).unwrap_err().parameter(), name);
        assert_eq!(index.query(&other).unwrap_err().parameter(), name);
        assert_eq!(index.contains(7, &other).unwrap_err().parameter(), name);
        let batch = [(7, &sketch(7)), (8, &other)];
        assert_eq!(index.insert_batch(batch).unwrap_err().parameter(), name);
    }
    assert!(index == filled(0..3));
}

#[test]
fn the_builder_names_what_is_wrong() {
    let parameter = |result: Result<LshIndex, minhash::error::ParamError>| {
        result.unwrap_err().parameter().to_owned()
    };
    let builder = LshIndex::builder;
    assert_eq!(parameter(builder().build()), "threshold");
    assert_eq!(parameter(builder().recall(0.9).build()), "threshold");
    assert_eq!(parameter(builder().bands(3).build()), "rows");
    assert_eq!(parameter(builder().rows(3).build()), "bands");
    assert_eq!(parameter(builder().threshold(0.5).rows(3).build()), "threshold");
    assert_eq!(parameter(builder().recall(0.5).bands(3).rows(3).build()), "recall");
    assert_eq!(parameter(builder().threshold(1.5).build()), "threshold");
    assert_eq!(parameter(builder().num_values(17).threshold(0.5).build()), "num_values");
    assert_eq!(parameter(builder().num_values(16).threshold(0.01).build()), "threshold");
    let params = LshIndex::new(128, 0.5, 0.95).unwrap().params();
    assert!(params.recall(0.5) >= 0.95);
    let seeded = LshIndex::builder().threshold(0.5).seed(3).build().unwrap();
    assert_eq!(*seeded.hasher(), DefaultHashBuilder::with_seed(3));
}

/// Pairs of sets of one size, with a number of keys in both and in one of them or both.
struct Pairs {
    seed: u64,
    common: usize,
    union: usize,
}

impl Pairs {
    const NUMBER: u32 = 20_000;

    /// Returns the share of pairs that an index of this shape finds, the curve, and its standard error.
    fn found(&self, values: u32, bands: u32, rows: u32) -> (f64, f64, f64) {
        let mut hashes = keys::random(self.seed);
        let index = LshIndex::builder().num_values(values).bands(bands).rows(rows);
        let mut index = index.build().unwrap();
        let each = (self.union + self.common) / 2;
        let mut rights = Vec::new();
        let lefts = (0..Self::NUMBER).map(|document| {
            let all: Vec<u64> = hashes.by_ref().take(self.union).collect();
            let [left, right] = [&all[..each], &all[each - self.common..]].map(|keys| {
                let mut sketch = MinHash::new(values).unwrap();
                sketch.insert_hash_batch(keys);
                sketch
            });
            rights.push(right);
            (document, left)
        });
        index.insert_batch(lefts).unwrap();
        let found = (0..).zip(&rights).filter(|(document, right)| {
            index.query(right).unwrap().binary_search(document).is_ok()
        });
        let found = found.count() as f64 / f64::from(Self::NUMBER);
        let curve = index.params().recall(self.common as f64 / self.union as f64);
        (found, curve, (curve * (1.0 - curve) / f64::from(Self::NUMBER)).sqrt())
    }
}

/// Standard errors that each of six measurements stays within. False alarms: 10^-6 for all of them.
fn limit() -> f64 {
    normal_quantile(1e-6 / 6.0 / 2.0)
}

/// Pairs with 400 keys each, at three similarities and two shapes.
#[test]
fn the_recall_is_that_of_the_curve_within_one_per_cent() {
    for (bands, rows) in [(16, 4), (20, 3)] {
        for (seed, common) in [(1, 160), (2, 230), (3, 300)] {
            let (found, curve, error) =
                Pairs { seed, common, union: 800 - common }.found(64, bands, rows);
            assert!(
                (found - curve).abs() < 0.01 * curve + limit() * error,
                "{bands} x {rows}, {common}: {found}, {curve}"
            );
        }
    }
}

/// Sets of fewer keys than values, and bands of many rows: the shares of the curve that the documentation has.
#[test]
fn few_keys_lower_a_low_recall_and_raise_a_high_one() {
    let cases = [
        (1, 128, 99, 0.60),
        (1, 68, 99, 0.92),
        (6, 21, 90, 0.96),
        (10, 12, 90, 1.01),
        (11, 10, 90, 1.005),
    ];
    for (bands, rows, common, share) in cases {
        let (found, curve, error) = Pairs { seed: 4, common, union: 100 }.found(128, bands, rows);
        assert!(
            (found - share * curve).abs() < 0.02 * curve + limit() * error,
            "{bands} x {rows}: {found}, {curve}"
        );
        assert!(
            curve < 0.8 || found > curve - limit() * error,
            "{bands} x {rows}: {found}, {curve}"
        );
    }
}

#[test]
fn keys_of_bands_are_the_hashes_that_the_format_promises() {
    let mut index = LshIndex::builder().num_values(16).bands(2).rows(3).build().unwrap();
    index.insert(5, &sketch(5)).unwrap();
    let minima = bands(&sketch(5));
    let key = |band: usize| {
        let words = minima[band].as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
        words.fold(0, |key, minimum| finalize(key ^ minimum))
    };
    let bytes = index.to_bytes();
    let payload = bytes[bytes.len() - 8 - 32..bytes.len() - 8].as_chunks().0;
    let words: Vec<u64> = payload.iter().map(|&word| u64::from_le_bytes(word)).collect();
    assert_eq!(words, [key(0), 5, key(1), 5]);
}
