//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
#![expect(clippy::missing_panics_doc, reason = "a panic is how a body reports a fault")]

use bloom_scalable::bytes::ByteOptions;
use bloom_scalable::{
    LayeredBloomFilter, LayeredBloomFilterView, ScalableBlockedBloomFilter,
    ScalableBlockedBloomFilterView, ScalableBloomFilter, ScalableBloomFilterView, Schedule,
};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable;

/// Asks a growing filter everything that it answers, in whatever form it is.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!((0.0..=1.0).contains(&filter.promised_rate()));
        assert!(!filter.health().to_string().is_empty());
        assert!(filter.next_layer().is_ok() || filter.num_layers() > 1);
        portable::answers(filter)
    }};
}

/// Asks a layered filter everything that it answers.
macro_rules! ask_counts {
    ($filter:expr) => {{
        let filter = $filter;
        assert!((0..20).all(|count| (0.0..=1.0).contains(&filter.rate_above(count))));
        portable::HASHES.map(|hash| filter.count_hash(hash))
    }};
}

/// Opens bytes as a view, which accepts whatever can be decoded, and then answers like it.
///
/// Unlike the views of one filter, it may refuse other bytes for another reason: it reads the heads of all layers before a payload.
macro_rules! agrees {
    ($view:ty, $filter:ty, $bytes:expr, $ask:ident) => {{
        let read = ByteOptions::new().from_bytes::<$filter>($bytes);
        match <$view>::open($bytes) {
            Ok(view) => {
                let answers = $ask!(&view);
                portable::assert_alike(&view.to_filter(), &read);
                assert_eq!(view.verify().is_ok(), read.is_ok());
                assert!(read.is_err() || $ask!(read.as_ref().unwrap()) == answers);
            }
            Err(_) => assert!(read.is_err()),
        }
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub fn decode(bytes: &[u8]) {
    if let Some(mut filter) = portable::decode::<ScalableBloomFilter>(bytes) {
        let _ = ask!(&filter);
        assert!(filter.try_clone().unwrap() == filter);
        // It may be unable to grow.
        let taken: Vec<u8> = (0..5_u8).filter(|key| filter.insert(key).is_ok()).collect();
        assert!(taken.iter().all(|key| filter.contains(key)));
        let copy = filter.clone();
        filter.merge(&copy).unwrap();
        assert!(filter == copy);
    }
    if let Some(filter) = portable::decode::<ScalableBlockedBloomFilter>(bytes) {
        let _ = ask!(&filter);
    }
    if let Some(mut filter) = portable::decode::<LayeredBloomFilter>(bytes) {
        let _ = ask_counts!(&filter);
        let before = filter.count(&1_u8);
        assert!(filter.insert(&1_u8) >= before);
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
pub fn view(bytes: &[u8]) {
    agrees!(ScalableBloomFilterView<&[u8]>, ScalableBloomFilter, bytes, ask);
    agrees!(ScalableBlockedBloomFilterView<&[u8]>, ScalableBlockedBloomFilter, bytes, ask);
    agrees!(LayeredBloomFilterView<&[u8]>, LayeredBloomFilter, bytes, ask_counts);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them in every way.
pub fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let keys = 0..choices.byte();
    let mut bytes = match choices.below(4) {
        0 => {
            let mut filter = LayeredBloomFilter::new(&[60, 20, 3], 0.1).unwrap();
            filter.extend(keys);
            filter.to_bytes()
        }
        1 => {
            let mut filter =
                ScalableBloomFilter::builder().expected_items(30).build_blocked().unwrap();
            keys.for_each(|key| _ = filter.insert(&key));
            filter.to_bytes()
        }
        _ => {
            let (mut filter, mut other) = (built(&mut choices), built(&mut choices));
            keys.for_each(|key| _ = filter.insert(&key));
            if choices.below(2) == 0 {
                (0..50).for_each(|_| _ = other.insert(&choices.byte()));
                filter.merge(&other).unwrap();
            }
            filter.to_bytes()
        }
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Inserts, merges, clears and copies, with the bytes in between; no key that was inserted is ever missed.
pub fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let mut inserted: Vec<u8> = Vec::new();
    while !choices.is_empty() {
        match choices.below(24) {
            0 => filter = portable::sent(&filter, &mut choices),
            1 => {
                filter.clear();
                inserted.clear();
            }
            2 => {
                let mut other = built(&mut choices);
                let keys: Vec<u8> = (0..choices.below(20)).map(|_| choices.byte()).collect();
                other.insert_batch(&keys).unwrap();
                let rate = filter.merge(&other).unwrap();
                assert!(rate < 1.0 && filter.merge(&other) == Ok(rate));
                inserted.extend(keys);
            }
            3..6 => {
                let keys: Vec<u8> = (0..choices.below(40)).map(|_| choices.byte()).collect();
                filter.insert_batch(&keys).unwrap();
                inserted.extend(keys);
            }
            _ => {
                let key = choices.byte();
                assert!(!(filter.insert(&key).unwrap() && inserted.contains(&key)), "{key}");
                inserted.push(key);
            }
        }
        assert!(inserted.iter().all(|key| filter.contains(key)), "a key was missed");
    }
}

fn built(choices: &mut Choices<'_>) -> ScalableBloomFilter {
    let items = 1 + u64::from(choices.byte() % 30);
    let schedule = match choices.below(3) {
        0 => Schedule::Halving,
        1 => Schedule::Likely(items + u64::from(choices.byte())),
        _ => Schedule::DEFAULT,
    };
    ScalableBloomFilter::builder()
        .expected_items(items)
        .false_positive_rate(0.1)
        .growth(2 + u32::from(choices.byte() % 3))
        .schedule(schedule)
        .seed(7)
        .build()
        .unwrap()
}
