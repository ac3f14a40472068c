//! Laws for arbitrary keys.

use bloom_scalable::{
    LayeredBloomFilter, ScalableBlockedBloomFilter, ScalableBloomFilter, Schedule,
};
use quickcheck::quickcheck;

fn filled(keys: &[u16], first: u8, growth: u8) -> ScalableBloomFilter {
    let mut filter = ScalableBloomFilter::builder()
        .expected_items(1 + u64::from(first % 20))
        .growth(1 + u32::from(growth % 5))
        .false_positive_rate(0.05)
        .build()
        .unwrap();
    filter.insert_batch(keys).unwrap();
    filter
}

quickcheck! {
    fn no_key_is_missed_and_a_new_one_is_new(keys: Vec<u16>, first: u8, growth: u8) -> bool {
        let mut filter = filled(&[], first, growth);
        keys.iter().all(|key| {
            let was_contained = filter.contains(key);
            filter.insert(key) == Ok(!was_contained) && filter.contains(key)
        }) && keys.iter().all(|key| filter.contains(key) && filter.insert(key) == Ok(false))
    }

    fn layers_are_as_many_as_the_new_keys_need(keys: Vec<u16>, first: u8, growth: u8) -> bool {
        let mut filter = filled(&[], first, growth);
        let new = keys.iter().filter(|key| filter.insert(key).unwrap()).count() as u64;
        let newest = filter.params().layer(u32::try_from(filter.num_layers() - 1).unwrap()).unwrap().items;
        // No layer before its time: without the newest one there would be too few places.
        new == filter.capacity() - filter.room()
            && (filter.num_layers() == 1 || new > filter.capacity() - newest)
    }

    fn a_merge_contains_the_keys_of_both(left: Vec<u16>, right: Vec<u16>, first: u8, growth: u8) -> bool {
        let (mut merged, other) = (filled(&left, first, growth), filled(&right, growth, first));
        let rate = merged.merge(&other).unwrap();
        let again = merged.clone();
        left.iter().chain(&right).all(|key| merged.contains(key))
            && (0.05..0.1).contains(&rate)
            && merged.merge(&other) == Ok(rate) && merged == again
    }

    fn bytes_bring_the_filter_back_and_it_goes_on(keys: Vec<u16>, more: Vec<u16>, first: u8, growth: u8) -> bool {
        let mut filter = filled(&keys, first, growth);
        let mut read = ScalableBloomFilter::from_bytes(&filter.to_bytes()).unwrap();
        let is_same = read == filter;
        filter.insert_batch(&more).unwrap();
        more.iter().for_each(|key| _ = read.insert(key));
        is_same && read == filter && read.to_bytes() == filter.to_bytes()
    }

    fn blocked_layers_behave_alike(keys: Vec<u16>) -> bool {
        let mut filter: ScalableBlockedBloomFilter = ScalableBloomFilter::builder()
            .expected_items(4)
            .schedule(Schedule::Likely(64))
            .build_blocked()
            .unwrap();
        let mut batch = filter.clone();
        let new = keys.iter().filter(|key| filter.insert(key).unwrap()).count();
        batch.insert_batch(&keys) == Ok(new) && batch == filter
            && keys.iter().all(|key| filter.contains(key))
    }

    fn a_count_is_never_too_low_and_an_insert_tells_it(keys: Vec<u8>) -> bool {
        let mut filter = LayeredBloomFilter::new(&[200, 100, 50, 20], 0.05).unwrap();
        let mut counts = [0_u32; 256];
        keys.iter().all(|&key| {
            let before = filter.count(&key);
            counts[usize::from(key)] += 1;
            let after = filter.insert(&key);
            after >= (before + 1).min(4) && filter.count(&key) == after
        }) && (0..=255_u8).all(|key| filter.count(&key) >= counts[usize::from(key)].min(4))
    }
}
