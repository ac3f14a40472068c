//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
use std::collections::HashMap;

use cuckoo::{CuckooFilter, CuckooFilterView};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable::{self, HASHES};
use pds_testkit::view_agrees;

/// Asks a filter everything that it answers, in whatever form it is.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        let answers = portable::answers(filter);
        assert_eq!(HASHES.map(|hash| filter.count_hash(hash) > 0), answers);
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!(filter.fingerprints().count() as u64 <= filter.num_slots());
        (answers, filter.len(), filter.is_empty())
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(mut filter) = portable::decode::<CuckooFilter>(bytes) {
        let _ = ask!(&filter);
        let _ = (filter.remove(&1u8), filter.insert(&1u8), filter.insert_if_absent(&2u8));
        assert!(filter.try_clone().unwrap() == filter);
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    view_agrees!(CuckooFilterView<&[u8]>, CuckooFilter, bytes, ask);
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

/// Inserts, removes and merges, with the bytes in between; a key that is still stored is always contained.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let mut stored: HashMap<u8, u32> = HashMap::new();
    while !choices.is_empty() {
        match choices.below(10) {
            0 => filter = portable::sent(&filter, &mut choices),
            8 => merge(&mut filter, &mut stored, &mut choices),
            9 => {
                let key = choices.byte();
                let absent = !filter.contains(&key);
                match filter.insert_if_absent(&key) {
                    Ok(inserted) => {
                        assert_eq!(inserted, absent);
                        *stored.entry(key).or_default() += u32::from(inserted);
                    }
                    Err(_) => assert!(absent),
                }
            }
            1..4 => {
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
        assert_eq!(filter.len(), stored.values().map(|&count| u64::from(count)).sum::<u64>());
    }
}

/// Merges a filter of a few keys, wholly or not at all.
fn merge(filter: &mut CuckooFilter, stored: &mut HashMap<u8, u32>, choices: &mut Choices<'_>) {
    let (mut other, before) = (filter.clone(), filter.clone());
    other.clear();
    let keys: Vec<u8> = (0..choices.below(8)).map(|_| choices.byte()).collect();
    let _ = other.insert_batch(&keys);
    let len = usize::try_from(other.len()).unwrap();
    match filter.merge(&other) {
        Ok(()) => keys[..len].iter().for_each(|&key| *stored.entry(key).or_default() += 1),
        Err(_) => assert!(*filter == before),
    }
}

fn built(choices: &mut Choices<'_>) -> CuckooFilter {
    let builder = CuckooFilter::builder().seed(choices.byte().into());
    match choices.below(3) {
        0 => builder.expected_items(1 + choices.below(50) as u64),
        _ => {
            let bits = 4 + u32::from(choices.byte() % 29);
            builder.buckets(1 + choices.below(20) as u64).fingerprint_bits(bits)
        }
    }
    .build()
    .unwrap()
}
