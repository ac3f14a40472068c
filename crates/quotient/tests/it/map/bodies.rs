//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
use std::collections::HashMap;

use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable::{self, HASHES};
use quotient::{QuotientMap, QuotientMapView, QuotientParams};

/// Asks a map everything that it answers, in whatever form it is.
macro_rules! ask {
    ($map:expr) => {{
        let map = $map;
        let answers = portable::answers(map);
        let values = HASHES.map(|hash| map.values_hash(hash).take(100).collect::<Vec<_>>());
        assert!(values.iter().flatten().all(|&value| value <= map.max_value()));
        assert!((0.0..=1.0).contains(&map.false_positive_rate()));
        assert!(map.pairs().count() as u64 <= 4 * map.size_in_bytes());
        (answers, values, map.len(), map.is_empty(), map.value_bits())
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(mut map) = portable::decode::<QuotientMap>(bytes) {
        let (answers, values, ..) = ask!(&map);
        assert_eq!(values.map(|values| !values.is_empty()), answers);
        assert_eq!(map.pairs().count() as u64, map.len());
        let _ = (map.remove(&1u8, 1), map.insert(&1u8, 1), map.insert(&2u8, u32::MAX));
        assert!(map.try_clone().unwrap() == map);
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    let read = QuotientMap::from_bytes(bytes);
    match QuotientMapView::open(bytes) {
        Ok(view) => {
            let answers = ask!(&view);
            portable::assert_alike(&view.to_map(), &read);
            assert_eq!(view.verify().is_ok(), read.is_ok());
            assert!(read.is_err() || ask!(read.as_ref().unwrap()) == answers);
        }
        refused => portable::assert_alike(&refused, &read),
    }
}

/// Changes the bytes of a map, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut map = built(&mut choices);
    for _ in 0..choices.below(40) {
        let _ = map.insert(&choices.byte(), choices.byte().into());
    }
    let mut bytes = map.to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// The values of the keys that are in.
type Pairs = HashMap<u8, Vec<u32>>;

/// Inserts, removes, grows and merges, with the bytes in between. Beside the map stands a multiset of pairs.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut map = built(&mut choices);
    let mut stored = Pairs::new();
    while !choices.is_empty() {
        match choices.below(12) {
            0 => map = portable::sent(&map, &mut choices),
            1 if map.num_slots() < 10_000 => drop(map.grow()),
            2 => map.shrink_to_fit().unwrap(),
            3 => merge(&mut map, &mut stored, &mut choices),
            4..7 => {
                // Only stored pairs are removed: that is the caller's part of the promise.
                let key = choices.byte();
                if let Some(value) = stored.get_mut(&key).and_then(Vec::pop) {
                    assert!(map.remove(&key, value));
                }
            }
            _ => {
                let (key, value) = (choices.byte(), u32::from(choices.byte()));
                match map.insert(&key, value) {
                    Ok(()) => stored.entry(key).or_default().push(value),
                    Err(_) => assert!(map.len() == map.capacity() || value > map.max_value()),
                }
            }
        }
        check(&map, &stored);
    }
}

/// The values of a key are those of all keys with its fingerprint, and the bytes are those of a map built of all pairs.
fn check(map: &QuotientMap, stored: &Pairs) {
    let params =
        QuotientParams::from_slots_and_remainder_bits(map.num_slots(), map.remainder_bits());
    let mut built =
        QuotientMap::from_params(params.unwrap(), map.value_bits(), *map.hasher()).unwrap();
    for (key, values) in stored {
        values.iter().rev().for_each(|&value| built.insert(key, value).unwrap());
    }
    assert!(built == *map);
    for (key, values) in stored {
        let found: Vec<u32> = map.values(key).collect();
        assert!(found.is_sorted() && map.get(key) == found.first().copied());
        assert!(values.iter().all(|value| found.contains(value)), "a value was lost");
        assert!(found.len() >= values.len());
    }
    assert_eq!(map.len(), stored.values().map(|values| values.len() as u64).sum::<u64>());
}

/// Merges a map of a few pairs, wholly or not at all.
fn merge(map: &mut QuotientMap, stored: &mut Pairs, choices: &mut Choices<'_>) {
    let (mut other, before) = (map.clone(), map.clone());
    other.clear();
    if choices.below(2) == 0 {
        other.shrink_to_fit().unwrap();
    }
    let mut added = Vec::new();
    for _ in 0..choices.below(8) {
        let (key, value) = (choices.byte(), u32::from(choices.byte()));
        if other.insert(&key, value).is_ok() {
            added.push((key, value));
        }
    }
    match map.merge(&other) {
        Ok(()) => added.iter().for_each(|&(key, value)| stored.entry(key).or_default().push(value)),
        Err(_) => assert!(*map == before),
    }
}

fn built(choices: &mut Choices<'_>) -> QuotientMap {
    let value_bits = 1 + u32::from(choices.byte() % 32);
    let builder = QuotientMap::builder(value_bits).seed(choices.byte().into());
    let items = 1 + choices.below(50) as u64;
    match choices.below(3) {
        0 => builder.expected_items(items),
        1 => builder.expected_items(items).grows_to(4 * items),
        _ => {
            let bits = 1 + u32::from(choices.byte()) % (56 - value_bits);
            builder.slots(2 + choices.below(150) as u64).remainder_bits(bits)
        }
    }
    .build()
    .unwrap()
}
