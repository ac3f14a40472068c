//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
use std::collections::HashMap;

use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable::{self, HASHES};
use pds_testkit::view_agrees;
use quotient::{QuotientFilter, QuotientFilterView};

/// Asks a filter everything that it answers, in whatever form it is.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        let answers = portable::answers(filter);
        // Damaged runs may be out of order, so both searches end, but may differ.
        let counts = HASHES.map(|hash| filter.count_hash(hash));
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!(filter.fingerprints().count() as u64 <= 3 * filter.size_in_bytes());
        (answers, counts, filter.len(), filter.is_empty())
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(mut filter) = portable::decode::<QuotientFilter>(bytes) {
        let (answers, counts, ..) = ask!(&filter);
        assert_eq!(counts.map(|count| count > 0), answers);
        let _ = (filter.remove(&1u8), filter.insert(&1u8), filter.insert_if_absent(&2u8));
        assert!(filter.try_clone().unwrap() == filter);
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    view_agrees!(QuotientFilterView<&[u8]>, QuotientFilter, bytes, ask);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let _ = filter.insert_batch(&(0..choices.byte()).collect::<Vec<_>>());
    let mut bytes = filter.to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Inserts, removes, grows and merges, with the bytes in between; a key that is still stored is always contained.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let mut stored: HashMap<u8, u64> = HashMap::new();
    while !choices.is_empty() {
        match choices.below(12) {
            0 => filter = portable::sent(&filter, &mut choices),
            1 if filter.num_slots() < 10_000 => drop(filter.grow()),
            2 => filter.shrink_to_fit().unwrap(),
            3 => merge(&mut filter, &mut stored, &mut choices),
            4 => {
                let key = choices.byte();
                let absent = !filter.contains(&key);
                match filter.insert_if_absent(&key) {
                    Ok(inserted) => {
                        assert_eq!(inserted, absent);
                        *stored.entry(key).or_default() += u64::from(inserted);
                    }
                    Err(_) => assert!(absent),
                }
            }
            5..8 => {
                let key = choices.byte();
                // Only stored keys are removed: that is the caller's part of the promise.
                if let Some(count) = stored.get_mut(&key).filter(|count| **count > 0) {
                    assert!(filter.remove(&key));
                    *count -= 1;
                }
            }
            _ => {
                let key = choices.byte();
                if filter.insert(&key).is_ok() {
                    *stored.entry(key).or_default() += 1;
                }
            }
        }
        assert!(stored.iter().all(|(key, &count)| filter.count(key) >= count), "a key was lost");
        assert_eq!(filter.len(), stored.values().sum::<u64>());
    }
}

/// Merges a filter of a few keys, wholly or not at all.
fn merge(filter: &mut QuotientFilter, stored: &mut HashMap<u8, u64>, choices: &mut Choices<'_>) {
    let (mut other, before) = (filter.clone(), filter.clone());
    other.clear();
    if choices.below(2) == 0 {
        other.shrink_to_fit().unwrap();
    }
    let keys: Vec<u8> = (0..choices.below(8)).map(|_| choices.byte()).collect();
    let _ = other.insert_batch(&keys);
    let len = usize::try_from(other.len()).unwrap();
    match filter.merge(&other) {
        Ok(()) => keys[..len].iter().for_each(|&key| *stored.entry(key).or_default() += 1),
        Err(_) => assert!(*filter == before),
    }
}

fn built(choices: &mut Choices<'_>) -> QuotientFilter {
    let builder = QuotientFilter::builder().seed(choices.byte().into());
    let items = 1 + choices.below(50) as u64;
    match choices.below(3) {
        0 => builder.expected_items(items),
        1 => builder.expected_items(items).grows_to(4 * items),
        _ => {
            let bits = 1 + u32::from(choices.byte() % 56);
            builder.slots(2 + choices.below(150) as u64).remainder_bits(bits)
        }
    }
    .build()
    .unwrap()
}
