//! Batches of keys: every key once, in order, whatever the length.

use core::hash::BuildHasher;

use pds_core::hash::DefaultHashBuilder;
use pds_core::internal::{answer_keys, check_lengths, insert_keys};

#[test]
fn every_key_is_hashed_once_and_in_order() {
    let hasher = DefaultHashBuilder::with_seed(3);
    for len in [0, 1, 7, 8, 9, 16, 21] {
        let keys: Vec<u64> = (0..len).collect();
        let expected: Vec<u64> = keys.iter().map(|key| hasher.hash_one(key)).collect();
        let mut seen = Vec::new();
        let inserted = insert_keys::<8, _>(&hasher, &keys, |hashes| {
            assert!((1..=8).contains(&hashes.len()));
            seen.extend_from_slice(hashes);
            hashes.iter().filter(|&&hash| hash % 2 == 0).count()
        });
        assert_eq!(seen, expected);
        assert_eq!(inserted, expected.iter().filter(|&&hash| hash % 2 == 0).count());
        let mut answers = vec![false; keys.len()];
        answer_keys::<8, _, _>(&hasher, &keys, &mut answers, |hashes, answers| {
            check_lengths(hashes, answers);
            answers.iter_mut().zip(hashes).for_each(|(answer, hash)| *answer = hash % 2 == 0);
        });
        assert!(answers.iter().copied().eq(expected.iter().map(|hash| hash % 2 == 0)));
    }
}

#[test]
#[should_panic(expected = "one answer per key")]
fn a_batch_needs_an_answer_a_key() {
    answer_keys::<8, _, _>(&DefaultHashBuilder::default(), &[1, 2], &mut [false], |_, _| ());
}
