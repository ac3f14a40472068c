//! The bodies of the fuzz targets, which ordinary tests run, too.
use std::collections::HashSet;

use bloom_blocked::bytes::ByteOptions;
use bloom_blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedBloomFilterView};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::{portable, view_agrees};

/// Calls every query of a filter, in any form.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        let answers = portable::answers(filter);
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!(!filter.approx_len().value.is_nan() && !filter.health().to_string().is_empty());
        (answers, filter.count_ones(), filter.is_saturated())
    }};
}

/// Decodes bytes in every way. All ways agree, and what is accepted is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    let shared = ByteOptions::new().from_bytes::<AtomicBlockedBloomFilter>(bytes);
    portable::assert_alike(&BlockedBloomFilter::from_bytes(bytes), &shared);
    if let Some(filter) = portable::decode::<BlockedBloomFilter>(bytes) {
        let shared = shared.unwrap();
        assert_eq!(shared.to_bytes(), bytes);
        assert_eq!(ask!(&filter), ask!(&shared));
    }
}

/// Opens bytes without a copy. The view answers for any payload, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    view_agrees!(BlockedBloomFilterView<&[u8]>, BlockedBloomFilter, bytes, ask);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    filter.insert_batch(&(0..choices.byte()).collect::<Vec<_>>());
    let mut bytes = filter.to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Inserts and merges keys, and writes and reads the filter. It never loses a key of the exact set.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let mut model = HashSet::new();
    while !choices.is_empty() {
        let keys: Vec<u8> = (0..choices.below(20)).map(|_| choices.byte()).collect();
        match choices.below(4) {
            0 => {
                let mut other =
                    BlockedBloomFilter::from_params(filter.params(), *filter.hasher()).unwrap();
                other.insert_batch(&keys);
                filter.union_with(&portable::sent(&other, &mut choices)).unwrap();
            }
            1 => {
                filter = portable::sent(&filter, &mut choices);
                filter.insert_batch(&keys);
            }
            _ => assert!(filter.insert_batch(&keys) <= keys.len()),
        }
        model.extend(keys);
        assert!(model.iter().all(|key| filter.contains(key)), "a key was lost");
    }
}

fn built(choices: &mut Choices<'_>) -> BlockedBloomFilter {
    let builder = BlockedBloomFilter::builder().seed(choices.byte().into());
    builder.expected_items(1 + choices.below(200) as u64).build().unwrap()
}
