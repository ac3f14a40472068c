//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
use bloom_counting::{
    BlockedCountingBloomFilter, BlockedCountingBloomFilterView, CountingBloomFilter,
    CountingBloomFilterView,
};
use pds_core::bytes::Portable;
use pds_core::traits::{Frequency, Insert, Membership, Merge, Remove};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable::{self, HASHES};
use pds_testkit::view_agrees;

/// Asks a filter everything that it answers, in whatever form it is.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        let answers = portable::answers(filter);
        assert_eq!(HASHES.map(|hash| filter.estimate_hash(hash) > 0), answers);
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!((0.0..=1.0).contains(&filter.fill_ratio()));
        (answers, HASHES.map(|hash| filter.estimate_hash(hash)), filter.saturated_counters())
    }};
}

/// Asks a filter and changes it.
macro_rules! use_all {
    ($filter:expr) => {{
        let filter = $filter;
        let (answers, ..) = ask!(&*filter);
        assert_eq!(
            HASHES.map(|hash| filter.remove_hash(hash)).contains(&true),
            answers.contains(&true)
        );
        filter.insert_hash_batch(&HASHES);
        assert!(HASHES.iter().all(|&hash| filter.contains_hash(hash)));
    }};
}

/// Decodes bytes as either filter. What is accepted answers every question and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(mut filter) = portable::decode::<CountingBloomFilter>(bytes) {
        let plain = filter.to_bloom_filter().unwrap();
        assert_eq!(plain.contains_hash(7), filter.contains_hash(7));
        assert!(!filter.approx_len().value.is_nan());
        use_all!(&mut filter);
    }
    if let Some(mut filter) = portable::decode::<BlockedCountingBloomFilter>(bytes) {
        use_all!(&mut filter);
    }
}

/// Opens bytes without a copy as either filter.
pub(crate) fn view(bytes: &[u8]) {
    view_agrees!(CountingBloomFilterView<_>, CountingBloomFilter, bytes, ask);
    view_agrees!(BlockedCountingBloomFilterView<_>, BlockedCountingBloomFilter, bytes, ask);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them as either, in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let keys: Vec<u8> = (0..choices.byte()).collect();
    let mut bytes = if choices.below(2) == 0 {
        let mut filter = built(&mut choices);
        filter.insert_batch(&keys);
        filter.to_bytes()
    } else {
        let lines = 1 + choices.below(4) as u64;
        let mut filter = BlockedCountingBloomFilter::builder().lines(lines).build().unwrap();
        filter.insert_batch(&keys);
        filter.to_bytes()
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Inserts, removes and merges, with the bytes in between; a key that is still stored is always contained.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    if choices.below(2) == 0 {
        history(&built(&mut choices), &mut choices);
    } else {
        let lines = BlockedCountingBloomFilter::builder().lines(1 + choices.below(4) as u64);
        history(&lines.build().unwrap(), &mut choices);
    }
}

/// Holds a filter against the number of copies of each key.
fn history<F>(empty: &F, choices: &mut Choices<'_>)
where
    F: Portable + Clone + Membership + Insert + Remove + Merge + Frequency,
{
    let (mut filter, mut stored) = (empty.clone(), [0; 32]);
    while !choices.is_empty() {
        let (kind, key) = (choices.below(8), choices.byte() % 32);
        let count = &mut stored[usize::from(key)];
        match kind {
            0 => filter = portable::sent(&filter, choices),
            1 => {
                let (mut other, copies) = (empty.clone(), choices.below(20));
                (0..copies).for_each(|_| _ = other.insert(&key).unwrap());
                filter.merge(&other).unwrap();
                *count += copies as u64;
            }
            // Only stored keys are removed: that is the caller's part of the promise.
            2..5 => {
                if *count > 0 {
                    assert!(filter.remove(&key));
                    *count -= 1;
                }
            }
            _ => {
                filter.insert(&key).unwrap();
                *count += 1;
            }
        }
        for (key, count) in (0..).zip(stored) {
            let estimate = filter.estimate::<u8>(&key);
            assert!(estimate >= count.min(15), "{estimate} of {count} copies of {key}");
            assert_eq!(filter.contains(&key), estimate > 0);
        }
    }
}

fn built(choices: &mut Choices<'_>) -> CountingBloomFilter {
    let builder = CountingBloomFilter::builder().seed(choices.byte().into());
    match choices.below(3) {
        0 => builder.expected_items(1 + choices.below(50) as u64),
        _ => builder
            .counters(1 + choices.below(200) as u64)
            .hashes(1 + u32::from(choices.byte() % 20)),
    }
    .build()
    .unwrap()
}
