//! The interface by examples: numbers, errors, panics, and copies.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use bloom_core::{BloomFilter, FilterBank, FilterBankView, PushError};
use pds_core::hash::{KeyHasher, SipHashBuilder};

fn bank_of(sets: usize) -> FilterBank {
    let mut bank = FilterBank::new(50, 0.001).unwrap();
    for set in 0..sets {
        assert_eq!(bank.add_set().unwrap(), set);
        (0..50).for_each(|i| _ = bank.insert(set, &(set, i)));
    }
    bank
}

#[test]
fn every_set_is_found_at_every_number_of_sets() {
    for sets in [1, 2, 63, 64, 65, 128, 511, 512, 513, 576, 1_024, 1_100] {
        let bank = bank_of(sets);
        assert_eq!(bank.size_in_bytes(), bank.params().num_bits() * 8 * sets.div_ceil(64) as u64);
        let mut wrong = 0;
        for set in 0..sets {
            let found: Vec<usize> = bank.sets_with(&(set, 7)).collect();
            assert!(found.contains(&set), "{set} of {sets}");
            wrong += found.len() - 1;
        }
        // The mean is at most 0.001 sets² and its standard deviation the root of that: 6 are one in 10^9.
        let mean = 0.001 * (sets * sets) as f64;
        assert!((wrong as f64) < mean + 6.0 * mean.sqrt() + 3.0, "{wrong} wrong sets of {sets}");
    }
}

#[test]
fn a_bank_without_sets_answers() {
    let bank = bank_of(0);
    assert_eq!((bank.num_sets(), bank.size_in_bytes(), bank.sets_with("key").next()), (0, 0, None));
    bank.bitmap_of("key", &mut []);
    let read = FilterBank::from_bytes(&bank.to_bytes()).unwrap();
    assert!(read == bank && FilterBankView::open(bank.to_bytes()).unwrap().verify().is_ok());
}

#[test]
fn the_iterator_ends_and_shows_what_is_left() {
    let mut bank = FilterBank::new(50, 0.001).unwrap();
    (0..130).for_each(|_| _ = bank.add_set().unwrap());
    [3, 64, 129].iter().for_each(|&set| _ = bank.insert(set, "key"));
    let mut sets = bank.sets_with("key");
    assert_eq!(sets.next(), Some(3));
    assert_eq!(format!("{sets:?}"), "[64, 129]");
    assert_eq!([sets.next(), sets.next()], [Some(64), Some(129)]);
    assert_eq!([sets.next(), sets.next()], [None; 2]);
    assert!(bank.sets_with_hash(bank.hash_key("key")).eq([3, 64, 129]));
    let bits = bank.params().num_bits();
    let shown = format!("FilterBank {{ num_bits: {bits}, num_hashes: 10, num_sets: 130, .. }}");
    assert_eq!(format!("{bank:?}"), shown);
}

/// Memory that removed sets leave is clear for later ones, whichever groups they lie in.
#[test]
fn sets_that_were_removed_leave_nothing() {
    for (before, after) in [(700, 512), (700, 511), (700, 0), (1_100, 1_024), (130, 64), (64, 1)] {
        let mut bank = bank_of(before);
        (after..before).rev().for_each(|set| bank.swap_remove(set));
        assert!(bank == bank_of(after), "{before} to {after}");
        let empty = BloomFilter::new(50, 0.001).unwrap();
        let mut at_once = bank.clone();
        at_once.extend_from(vec![&empty; 1_200 - after]).unwrap();
        (after..1_200).for_each(|_| _ = bank.add_set().unwrap());
        assert!(bank == at_once, "{before} to {after}");
        for set in after..1_200 {
            assert_eq!(bank.to_filter(set).unwrap(), empty, "{set} after {before} to {after}");
        }
    }
}

/// The error names the difference with both values, and nothing is added.
#[test]
fn filters_of_another_shape_are_refused() {
    let shaped = |bits, hashes, seed| {
        BloomFilter::builder().bits(bits).hashes(hashes).seed(seed).build().unwrap()
    };
    let mut bank = BloomFilter::builder().bits(640).hashes(4).seed(1).build_bank().unwrap();
    bank.push(&shaped(640, 4, 1)).unwrap();
    let before = bank.clone();
    let message = |bank: &mut FilterBank, filters: &[BloomFilter]| {
        let error = bank.extend_from(filters).unwrap_err();
        assert!(matches!(error, PushError::Incompatible(_)));
        error.to_string()
    };
    let good = shaped(640, 4, 1);
    let bits = message(&mut bank, &[good.clone(), shaped(641, 4, 1)]);
    assert_eq!(bits, "the number of bits differs: 640 here, 641 in the other");
    let hashes = message(&mut bank, &[good.clone(), shaped(640, 5, 1)]);
    assert_eq!(hashes, "the number of hashes differs: 4 here, 5 in the other");
    let seed = message(&mut bank, &[good, shaped(640, 4, 2)]);
    assert!(seed.starts_with("the hasher or its seed differs"), "{seed}");
    assert!(bank == before && bank.num_sets() == 1);
}

#[test]
fn banks_that_differ_are_not_equal() {
    let bank = |hashes, seed, sets| {
        let builder = BloomFilter::builder().bits(64).hashes(hashes).seed(seed);
        let mut bank = builder.build_bank().unwrap();
        (0..sets).for_each(|_| _ = bank.add_set().unwrap());
        bank
    };
    assert!(bank(2, 0, 3) == bank(2, 0, 3));
    assert!(bank(2, 0, 3) != bank(3, 0, 3));
    assert!(bank(2, 0, 3) != bank(2, 1, 3));
    assert!(bank(2, 0, 3) != bank(2, 0, 4));
    let mut other = bank(2, 0, 3);
    other.insert(1, "key");
    assert!(bank(2, 0, 3) != other);
    // Memory for more sets is no part of what is compared.
    let mut shrunk = bank(2, 0, 100);
    (0..97).for_each(|_| shrunk.swap_remove(1));
    assert!(bank(2, 0, 3) == shrunk && shrunk.try_clone().unwrap() == shrunk.clone());
}

#[test]
fn numbers_beyond_the_last_set_panic_with_both_numbers() {
    let message = |call: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        *panic.downcast::<String>().unwrap()
    };
    let mut bank = bank_of(2);
    assert_eq!(message(&mut || _ = bank.contains(2, "key")), "set 2 of 2");
    assert_eq!(message(&mut || _ = bank.insert(9, "key")), "set 9 of 2");
    assert_eq!(message(&mut || bank.swap_remove(2)), "set 2 of 2");
    assert_eq!(message(&mut || _ = bank.to_filter(2)), "set 2 of 2");
    let words = message(&mut || bank.bitmap_of("key", &mut [0; 2]));
    assert_eq!(words, "2 words, but 2 sets have 1");
}

#[test]
fn refused_memory_is_an_error_and_changes_nothing() {
    let mut bank = BloomFilter::builder().bits(1 << 63).hashes(1).build_bank().unwrap();
    assert!(bank.add_set().is_err());
    assert_eq!((bank.num_sets(), bank.sets_with("key").next()), (0, None));
}

#[test]
fn any_hasher_and_any_storage() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let builder = BloomFilter::builder().expected_items(10).hasher(hasher);
    let shared = builder.build_atomic().unwrap();
    shared.insert("key");
    let mut bank = builder.build_bank().unwrap();
    bank.push(&shared).unwrap();
    bank.push(&shared.into_plain()).unwrap();
    assert!(bank.sets_with("key").eq([0, 1]));
}
