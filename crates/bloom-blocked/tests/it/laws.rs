//! Laws that hold for every set of keys and every shape.
#![cfg(feature = "std")]

use bloom_blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedBloomFilterView};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// Blocks and hashes of a filter, small enough that keys meet in it.
#[derive(Clone, Copy, Debug)]
struct Shape {
    blocks: u64,
    hashes: u32,
}

impl Arbitrary for Shape {
    fn arbitrary(g: &mut Gen) -> Self {
        let (blocks, hashes) = (u64::from(u8::arbitrary(g) % 8), u32::from(u8::arbitrary(g) % 8));
        Self { blocks: 1 + blocks, hashes: 2 + 2 * hashes }
    }
}

fn empty(shape: Shape) -> BlockedBloomFilter {
    BlockedBloomFilter::builder().blocks(shape.blocks).hashes(shape.hashes).build().unwrap()
}

fn filled(shape: Shape, keys: &[u64]) -> BlockedBloomFilter {
    let mut filter = empty(shape);
    filter.extend(keys);
    filter
}

/// Longer than a chunk of a batch, with repetitions.
fn repeat_beyond_a_batch(keys: &[u64]) -> Vec<u64> {
    (0..4).flat_map(|round| keys.iter().map(move |key| key.wrapping_add(round % 3))).collect()
}

quickcheck! {
    fn no_key_is_lost(shape: Shape, keys: Vec<u64>) -> bool {
        let filter = filled(shape, &keys);
        keys.iter().all(|key| filter.contains(key))
    }

    fn insert_returns_whether_the_key_was_absent(shape: Shape, keys: Vec<u64>) -> bool {
        let mut filter = empty(shape);
        keys.iter().all(|key| {
            let absent = !filter.contains(key);
            filter.insert(key) == absent
        })
    }

    fn order_makes_no_difference(shape: Shape, keys: Vec<u64>) -> bool {
        let reversed: Vec<u64> = keys.iter().rev().copied().collect();
        filled(shape, &keys) == filled(shape, &reversed)
    }

    fn case_24_a_batch_is_one_by_one(shape: Shape, keys: Vec<u64>) -> bool {
        let keys = repeat_beyond_a_batch(&keys);
        let (mut single, mut batched) = (empty(shape), empty(shape));
        let new = keys.iter().filter(|key| single.insert(key)).count();
        let mut answers = vec![false; keys.len()];
        let agree = batched.insert_batch(&keys) == new && batched == single;
        batched.contains_batch(&keys, &mut answers);
        agree && answers.iter().all(|&answer| answer)
    }

    fn a_bitmap_is_the_flags(shape: Shape, stored: Vec<u64>, asked: Vec<u64>) -> bool {
        let (filter, asked) = (filled(shape, &stored), repeat_beyond_a_batch(&asked));
        let (mut flags, mut bitmap) =
            (vec![false; asked.len()], vec![u64::MAX; asked.len().div_ceil(64)]);
        filter.contains_batch(&asked, &mut flags);
        filter.contains_batch_bitmap(&asked, &mut bitmap);
        let ones: u32 = bitmap.iter().map(|word| word.count_ones()).sum();
        let is_flag = |i: usize| (bitmap[i / 64] >> (i % 64) & 1 == 1) == flags[i];
        (0..asked.len()).all(is_flag) && ones as usize == flags.iter().filter(|&&f| f).count()
    }

    fn a_union_is_the_filter_of_both(shape: Shape, left: Vec<u64>, right: Vec<u64>) -> bool {
        let mut union = filled(shape, &left);
        union.union_with(&filled(shape, &right)).unwrap();
        union == filled(shape, &[left, right].concat())
    }

    fn an_intersection_keeps_common_keys(shape: Shape, left: Vec<u64>, both: Vec<u64>) -> bool {
        let mut common = filled(shape, &[left, both.clone()].concat());
        let alone = filled(shape, &both);
        common.intersect_with(&alone).unwrap();
        both.iter().all(|key| common.contains(key)) && common == alone
    }

    fn shared_and_plain_agree(shape: Shape, stored: Vec<u64>, asked: Vec<u64>) -> bool {
        let plain = filled(shape, &stored);
        let shared = AtomicBlockedBloomFilter::from(empty(shape));
        let mut fresh = empty(shape);
        let same_news = stored.iter().all(|key| shared.insert(key) == fresh.insert(key));
        let batched = AtomicBlockedBloomFilter::from(empty(shape));
        batched.insert_batch(&repeat_beyond_a_batch(&stored)[..stored.len()]);
        same_news
            && asked.iter().all(|key| shared.contains(key) == plain.contains(key))
            && shared.false_positive_rate() == plain.false_positive_rate()
            && shared.to_bytes() == plain.to_bytes()
            && batched.into_plain() == plain
            && shared.into_plain() == plain
    }

    fn case_21_a_view_answers_from_bytes_at_any_address(shape: Shape, stored: Vec<u64>, asked: Vec<u64>, skew: u8) -> bool {
        let filter = filled(shape, &stored);
        let skew = usize::from(skew % 64);
        let bytes = [vec![0; skew], filter.to_bytes()].concat();
        let view = BlockedBloomFilterView::open(&bytes[skew..]).unwrap();
        let (mut ours, mut theirs) = (vec![false; asked.len()], vec![false; asked.len()]);
        filter.contains_batch(&asked, &mut ours);
        view.contains_batch(&asked, &mut theirs);
        ours == theirs
            && asked.iter().zip(&ours).all(|(key, &answer)| view.contains(key) == answer)
            && view.count_ones() == filter.count_ones()
            && view.false_positive_rate() == filter.false_positive_rate()
            && view.to_filter().unwrap() == filter
    }

    fn case_15_merging_after_the_bytes_is_merging(shape: Shape, left: Vec<u64>, right: Vec<u64>) -> bool {
        let (mut direct, other) = (filled(shape, &left), filled(shape, &right));
        let mut decoded = BlockedBloomFilter::from_bytes(&direct.to_bytes()).unwrap();
        direct.union_with(&other).unwrap();
        decoded.union_with(&other).unwrap();
        direct.to_bytes() == decoded.to_bytes()
    }
}
