//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
use std::collections::HashMap;

use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable::{self, HASHES};
use pds_testkit::view_agrees;
use quotient::{CountingQuotientFilter, CountingQuotientFilterView};

/// Asks a filter everything that it answers, in whatever form it is.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        let answers = portable::answers(filter);
        let counts = HASHES.map(|hash| filter.count_hash(hash));
        assert!(counts.iter().all(|&count| count <= CountingQuotientFilter::MAX_COUNT));
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!(filter.counts().count() as u64 <= 4 * filter.size_in_bytes());
        (answers, counts, filter.len(), filter.used_slots(), filter.is_empty())
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(mut filter) = portable::decode::<CountingQuotientFilter>(bytes) {
        let (answers, counts, ..) = ask!(&filter);
        assert_eq!(counts.map(|count| count > 0), answers);
        assert_eq!(filter.counts().count() as u64, filter.len());
        let _ = (filter.remove_many(&1u8, 3), filter.insert(&1u8), filter.insert_many(&2u8, 9));
        assert!(filter.try_clone().unwrap() == filter);
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    view_agrees!(CountingQuotientFilterView<&[u8]>, CountingQuotientFilter, bytes, ask);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    for _ in 0..choices.below(40) {
        let _ = filter.insert_many(&choices.byte(), times(&mut choices));
    }
    let mut bytes = filter.to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Inserts, removes, grows and merges, with the bytes in between. No count is ever too low, and the sum of all is exact.
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
            4..7 => {
                let (key, times) = (choices.byte(), times(&mut choices));
                // Only stored keys are removed: that is the caller's part of the promise.
                if let Some(count) = stored.get_mut(&key) {
                    let removed = times.min(*count);
                    assert_eq!(filter.remove_many(&key, removed), removed);
                    *count -= removed;
                }
            }
            _ => {
                let (key, times) = (choices.byte(), times(&mut choices));
                let before = filter.count(&key);
                if filter.insert_many(&key, times).is_ok() {
                    assert_eq!(filter.count(&key), before + times);
                    *stored.entry(key).or_default() += times;
                } else {
                    assert_eq!(filter.count(&key), before);
                }
            }
        }
        assert!(
            stored.iter().all(|(key, &count)| filter.count(key) >= count),
            "a count is too low"
        );
        let sum: u128 = stored.values().map(|&count| u128::from(count)).sum();
        assert_eq!(filter.counts().map(|(.., count)| u128::from(count)).sum::<u128>(), sum);
    }
}

/// Merges a filter of a few keys, wholly or not at all.
fn merge(
    filter: &mut CountingQuotientFilter,
    stored: &mut HashMap<u8, u64>,
    choices: &mut Choices<'_>,
) {
    let (mut other, before) = (filter.clone(), filter.clone());
    other.clear();
    if choices.below(2) == 0 {
        other.shrink_to_fit().unwrap();
    }
    let mut added = Vec::new();
    for _ in 0..choices.below(8) {
        let (key, times) = (choices.byte(), times(choices));
        if other.insert_many(&key, times).is_ok() {
            added.push((key, times));
        }
    }
    match filter.merge(&other) {
        Ok(()) => added.iter().for_each(|&(key, times)| *stored.entry(key).or_default() += times),
        Err(_) => assert!(*filter == before),
    }
}

/// Returns a number, most often a small one.
fn times(choices: &mut Choices<'_>) -> u64 {
    match choices.below(3) {
        0 => 1,
        1 => choices.byte().into(),
        _ => 1 << choices.below(64),
    }
}

fn built(choices: &mut Choices<'_>) -> CountingQuotientFilter {
    let builder = CountingQuotientFilter::builder().seed(choices.byte().into());
    let items = 1 + choices.below(50) as u64;
    match choices.below(3) {
        0 => builder.expected_items(items),
        1 => builder.expected_items(items).slots_per_item(1.5).grows_to(4 * items),
        _ => {
            let bits = 1 + u32::from(choices.byte() % 55);
            builder.slots(2 + choices.below(150) as u64).remainder_bits(bits)
        }
    }
    .build()
    .unwrap()
}
