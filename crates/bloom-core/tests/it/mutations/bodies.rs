//! The bodies of the fuzz targets, which ordinary tests run, too.
use pds_core::bytes::{ByteOptions, Header};
use std::collections::HashSet;

use bloom_core::{AtomicBloomFilter, BloomFilter, BloomFilterView};
use pds_core::hash::SipHashBuilder;
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::{portable, view_agrees};

/// Calls every query of a filter, in any form.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        let answers = portable::answers(filter);
        assert_eq!(filter.size_in_bytes(), filter.num_bits().div_ceil(64) * 8);
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!(!filter.approx_len().value.is_nan() && !filter.health().to_string().is_empty());
        (answers, filter.count_ones(), filter.is_saturated())
    }};
}

/// Decodes bytes in every way. All ways agree, and what is accepted is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    let shared = ByteOptions::new().from_bytes::<AtomicBloomFilter>(bytes);
    portable::assert_alike(&BloomFilter::from_bytes(bytes), &shared);
    if let Some(filter) = portable::decode::<BloomFilter>(bytes) {
        let shared = shared.unwrap();
        assert_eq!(shared.to_bytes(), bytes);
        assert_eq!(ask!(&filter), ask!(&shared));
        let (last, used) = (filter.bits().words().last().unwrap(), filter.num_bits() % 64);
        assert!(used == 0 || last >> used == 0, "bits beyond the last one");
        let header = Header::peek(bytes).unwrap();
        assert_eq!(header.shape.expected_items(), filter.expected_items());
    }
    portable::decode::<BloomFilter<SipHashBuilder>>(bytes);
}

/// Opens bytes without a copy. The view answers for any payload, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    view_agrees!(BloomFilterView<_>, BloomFilter, bytes, ask);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    filter.extend(0..choices.byte());
    let mut bytes = filter.to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Inserts, merges and clears keys, and writes and reads the filter. It never loses a key of the exact set.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let mut model = HashSet::new();
    while !choices.is_empty() {
        step(&mut filter, &mut model, &mut choices);
        assert!(model.iter().all(|key| filter.contains(key)), "a key was lost");
        assert!(!model.is_empty() || filter.count_ones() == 0, "bits of no key");
    }
}

fn step(filter: &mut BloomFilter, model: &mut HashSet<u8>, choices: &mut Choices<'_>) {
    match choices.below(8) {
        0 => {
            filter.clear();
            model.clear();
        }
        1 => {
            let keys = keys(choices);
            let new = filter.insert_batch(&keys);
            let added = keys.iter().filter(|&&key| model.insert(key)).count();
            assert!(new <= added, "{new} of {added} new keys were new");
        }
        2 => {
            let keys = keys(choices);
            let mut other = BloomFilter::from_params(filter.params(), *filter.hasher()).unwrap();
            other.insert_batch(&keys);
            filter.union_with(&sent(&other, choices)).unwrap();
            model.extend(keys);
        }
        3 | 4 => *filter = sent(filter, choices),
        _ => {
            let key = choices.byte();
            let contained = filter.contains(&key);
            assert_eq!(filter.insert(&key), !contained);
            model.insert(key);
        }
    }
}

fn keys(choices: &mut Choices<'_>) -> Vec<u8> {
    (0..choices.below(40)).map(|_| choices.byte()).collect()
}

/// Returns the filter after writing it and reading it in one of the possible ways.
fn sent(filter: &BloomFilter, choices: &mut Choices<'_>) -> BloomFilter {
    let bytes = filter.to_bytes();
    let read = match choices.below(4) {
        0 => BloomFilterView::open(&bytes).unwrap().to_filter().unwrap(),
        1 => ByteOptions::new().from_bytes::<AtomicBloomFilter>(&bytes).unwrap().into_plain(),
        _ => portable::sent(filter, choices),
    };
    assert_eq!((&read, read.to_bytes()), (filter, bytes));
    read
}

/// Returns an empty filter: designed, or with any small number of bits and hashes.
fn built(choices: &mut Choices<'_>) -> BloomFilter {
    let builder = BloomFilter::builder().seed(choices.byte().into());
    let builder = match choices.below(3) {
        0 => builder.expected_items(1 + choices.below(50) as u64),
        _ => {
            builder.bits(1 + choices.below(500) as u64).hashes(1 + u32::from(choices.byte() % 255))
        }
    };
    builder.build().unwrap()
}
