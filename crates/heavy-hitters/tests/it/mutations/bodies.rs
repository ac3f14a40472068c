//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
use std::collections::HashMap;

use heavy_hitters::{HeavyHitters, PortableKey, SketchedHeavyHitters, TopK};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable;

/// Decodes bytes as each of the structures. What is accepted answers, and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(mut summary) = portable::decode::<HeavyHitters<u64>>(bytes) {
        let _ = (summary.top().len(), summary.threshold(), summary.estimate_interval(&1));
        summary.insert(&1);
    }
    if let Some(summary) = portable::decode::<HeavyHitters<String>>(bytes) {
        assert!(
            summary.iter().count() as u64 <= summary.capacity().div_ceil(2) + summary.capacity()
        );
    }
    if let Some(mut detector) = portable::decode::<SketchedHeavyHitters<u64>>(bytes) {
        let _ = (detector.top().len(), detector.threshold());
        detector.insert(&1);
        let copy = detector.clone();
        detector.merge(&copy).expect("one of the same shape");
    }
    if let Some(mut list) = portable::decode::<TopK<u64>>(bytes) {
        assert!(list.top().len() as u64 <= list.k());
        list.insert(&1);
    }
}

/// Changes the bytes of a structure, with checksums that fit again, and reads them as each of them.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let keys = choices.byte();
    let mut bytes = match choices.below(4) {
        0 => hitters(0..u64::from(keys)).to_bytes(),
        1 => {
            let mut detector = SketchedHeavyHitters::<u64>::new(0.1, 0.2, 0.1).unwrap();
            (0..u64::from(keys)).for_each(|key| _ = detector.insert(&(key % 16)));
            detector.to_bytes()
        }
        2 => hitters((0..keys % 16).map(|key| "x".repeat(key.into()))).to_bytes(),
        _ => {
            let mut list = TopK::<u64>::new(4).unwrap();
            (0..u64::from(keys)).for_each(|key| _ = list.insert(&key));
            list.to_bytes()
        }
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
}

fn hitters<K: PortableKey + Clone>(keys: impl Iterator<Item = K>) -> HeavyHitters<K> {
    let mut summary = HeavyHitters::new(0.1).unwrap();
    keys.for_each(|key| _ = summary.insert(&key));
    summary
}

/// Counts keys in a summary that travels; it keeps what it promises.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let build = || HeavyHitters::<u8>::new(0.2).unwrap();
    let (mut summary, mut counts) = (build(), HashMap::new());
    while !choices.is_empty() {
        let (key, count) = (choices.byte(), u64::from(choices.byte()));
        match choices.below(3) {
            0 => summary = portable::sent(&summary, &mut choices),
            1 => {
                let mut other = build();
                for key in key..=key.saturating_add(choices.byte() % 16) {
                    other.insert_many(&key, count);
                    *counts.entry(key).or_default() += count;
                }
                summary.merge(&portable::sent(&other, &mut choices)).unwrap();
            }
            _ => {
                summary.insert_many(&key, count);
                *counts.entry(key).or_default() += count;
            }
        }
        check(&summary, &counts);
    }
}

fn check(summary: &HeavyHitters<u8>, counts: &HashMap<u8, u64>) {
    let total: u64 = counts.values().sum();
    assert_eq!(summary.total(), total);
    let top = summary.top();
    for (key, &count) in counts {
        assert!(summary.estimate_interval(key).contains(count));
        assert!(summary.estimate(key).value() - count <= total / summary.capacity());
        let listed = top.iter().any(|hitter| hitter.key == key);
        assert!(listed || count <= summary.threshold(), "a heavy key is missed");
    }
}
