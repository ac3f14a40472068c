//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
#![expect(clippy::missing_panics_doc, reason = "a panic is how a body reports a fault")]

use bloom_window::hash::DefaultHashBuilder;
use bloom_window::{
    TimedBloomFilter, TimedBloomFilterView, TimedParams, WindowBloomFilter, WindowBloomFilterView,
    WindowParams,
};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable;
use pds_testkit::view_agrees;

/// Asks a filter everything that it answers, in whatever form it is.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!(!filter.health().to_string().is_empty());
        portable::answers(filter)
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub fn decode(bytes: &[u8]) {
    if let Some(mut filter) = portable::decode::<WindowBloomFilter>(bytes) {
        let _ = ask!(&filter);
        assert!(filter.try_clone().unwrap() == filter);
        (0..40_u8).for_each(|key| _ = filter.insert(&key));
        assert_eq!(portable::decode::<WindowBloomFilter>(&filter.to_bytes()), Some(filter));
    }
    if let Some(mut filter) = portable::decode::<TimedBloomFilter>(bytes) {
        let _ = ask!(&filter);
        filter.insert(&1_u8);
        filter.advance(filter.now().saturating_add(1)).unwrap();
        assert!(filter.contains(&1_u8));
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
pub fn view(bytes: &[u8]) {
    view_agrees!(WindowBloomFilterView<&[u8]>, WindowBloomFilter, bytes, ask);
    view_agrees!(TimedBloomFilterView<&[u8]>, TimedBloomFilter, bytes, ask);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them in every way.
pub fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let keys = 0..choices.byte();
    let mut bytes = if choices.below(2) == 0 {
        let mut filter = built(&mut choices);
        filter.extend(keys);
        filter.to_bytes()
    } else {
        let (ticks, generations) =
            (1 + u64::from(choices.byte()), 1 + u32::from(choices.byte() % 63));
        let words = 1 + u64::from(choices.byte());
        let params = TimedParams::from_shape(ticks, generations, words, 5).unwrap();
        let mut filter =
            TimedBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
        filter.extend(keys);
        filter.advance(choices.byte().into()).unwrap();
        filter.to_bytes()
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Inserts, clears and copies, with the bytes in between; a key of the window is always contained.
pub fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let mut recent: Vec<u8> = Vec::new();
    while !choices.is_empty() {
        match choices.below(20) {
            0 => filter = portable::sent(&filter, &mut choices),
            1 => {
                filter.clear();
                recent.clear();
            }
            2..5 => {
                let keys: Vec<u8> = (0..choices.below(40)).map(|_| choices.byte()).collect();
                filter.insert_batch(&keys);
                recent.extend(keys);
            }
            _ => {
                let key = choices.byte();
                assert!(!(filter.insert(&key) && recent.contains(&key)), "{key} was missed");
                recent.push(key);
            }
        }
        let window = usize::try_from(filter.window()).unwrap();
        recent.drain(..recent.len().saturating_sub(window));
        assert!(recent.iter().all(|key| filter.contains(key)), "a key was missed");
    }
}

fn built(choices: &mut Choices<'_>) -> WindowBloomFilter {
    let (window, generations) =
        (1 + u64::from(choices.byte() % 60), 1 + u32::from(choices.byte() % 62));
    let (words, hashes) = (1 + u64::from(choices.byte()), 1 + u32::from(choices.byte() % 12));
    let params = WindowParams::from_shape(window, generations, words, hashes).unwrap();
    WindowBloomFilter::from_params(params, DefaultHashBuilder::with_seed(7)).unwrap()
}
