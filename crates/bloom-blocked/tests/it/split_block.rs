//! The split-block filter: its bits in every storage, its rate, and its bitsets.
#![cfg(feature = "std")]

use bloom_blocked::error::BuildError;
use bloom_blocked::{
    AtomicSplitBlockBloomFilter, SplitBlockBloomFilter, SplitBlockBloomFilterView,
};
use pds_params::blocked::split_block_rate;
use pds_testkit::keys;
use quickcheck::quickcheck;

#[test]
fn what_is_no_bitset_is_refused() {
    for length in [0, 1, 31, 33, 63, 96 + 1] {
        let refused = SplitBlockBloomFilter::from_bitset(&vec![0; length]).unwrap_err();
        let found =
            format!("bitset at offset 0 is {length}, but must be a multiple of 32 from 32 to 2^37");
        assert!(refused.to_string().ends_with(&found), "{refused}");
    }
    for blocks in [0, (1 << 32) + 1] {
        let refused = SplitBlockBloomFilter::with_blocks(blocks).unwrap_err();
        assert!(matches!(refused, BuildError::Param(_)), "{refused}");
    }
    for (items, rate) in [(0, 0.1), (1, 0.0), (1, 1.0), (1, f64::NAN)] {
        assert!(SplitBlockBloomFilter::new(items, rate).is_err(), "{items}, {rate}");
    }
}

#[test]
fn a_batch_is_one_by_one() {
    let hashes: Vec<u64> = keys::random(3).take(1_000).collect();
    let [mut single, mut batch] = [0, 0].map(|_| SplitBlockBloomFilter::with_blocks(20).unwrap());
    let new = hashes[..300].iter().filter(|&&hash| single.insert_hash(hash)).count();
    assert_eq!(batch.insert_hash_batch(&hashes[..300]), new);
    assert!(batch == single && batch.try_clone().unwrap() == single);
    let answers: Vec<bool> = hashes.iter().map(|&hash| single.contains_hash(hash)).collect();
    let mut out = vec![false; hashes.len()];
    batch.contains_hash_batch(&hashes, &mut out);
    assert_eq!(out, answers);
    assert_eq!(batch.insert_hash_batch(&hashes[..300]), 0);
}

#[test]
fn the_rate_is_the_predicted_one() {
    let mut filter = SplitBlockBloomFilter::with_blocks(10_007).unwrap();
    let mut hashes = keys::random(1);
    hashes.by_ref().take(250_000).for_each(|hash| {
        filter.insert_hash(hash);
    });
    let asked = 4_000_000;
    let hits = hashes.take(asked).filter(|&hash| filter.contains_hash(hash)).count() as f64;
    let (measured, own) = (hits / asked as f64, filter.false_positive_rate());
    // Five standard errors of the count; filters of this size differ by 0.4 % among themselves.
    assert!((measured / own - 1.0).abs() < 5.0 / hits.sqrt(), "{measured}, {own}");
    let predicted = split_block_rate(10_007, 250_000);
    assert!((own / predicted - 1.0).abs() < 0.02, "{own}, {predicted}");
}

quickcheck! {
    fn no_item_is_lost_and_batches_agree(blocks: u8, items: Vec<u64>, asked: Vec<u64>) -> bool {
        let mut filter = SplitBlockBloomFilter::with_blocks(1 + u64::from(blocks)).unwrap();
        let news = items.iter().all(|&hash| {
            let absent = !filter.contains_hash(hash);
            filter.insert_hash(hash) == absent
        });
        let mut answers = vec![false; asked.len()];
        filter.contains_hash_batch(&asked, &mut answers);
        news
            && items.iter().all(|&hash| filter.contains_hash(hash))
            && asked.iter().zip(answers).all(|(&hash, answer)| filter.contains_hash(hash) == answer)
    }

    fn a_union_is_the_filter_of_both(left: Vec<u64>, right: Vec<u64>) -> bool {
        let filled = |hashes: &[u64]| {
            let mut filter = SplitBlockBloomFilter::with_blocks(3).unwrap();
            filter.insert_hash_batch(hashes);
            filter
        };
        let mut union = filled(&left);
        union.union_with(&filled(&right)).unwrap();
        union == filled(&[left, right].concat())
    }
}

/// The shared filter sets the bits of the plain one, and a view of its bitset gives the same answers and figures.
#[test]
fn all_storages_have_the_same_bits_and_answers() {
    let stored: Vec<u64> = keys::random(1).take(5_000).collect();
    let asked: Vec<u64> = stored.iter().copied().chain(keys::random(2)).take(10_000).collect();
    let (mut plain, mut batched) =
        [0, 0].map(|_| SplitBlockBloomFilter::with_blocks(700).unwrap()).into();
    let new: Vec<bool> = stored.iter().map(|&hash| plain.insert_hash(hash)).collect();
    let new = new.into_iter().filter(|&new| new).count();
    assert_eq!(batched.insert_hash_batch(&stored), new);
    assert!(batched == plain);

    let shared =
        AtomicSplitBlockBloomFilter::from(SplitBlockBloomFilter::with_blocks(700).unwrap());
    let (left, right) = stored.split_at(2_000);
    let one_by_one = left.iter().filter(|&&hash| shared.insert_hash(hash)).count();
    assert_eq!(one_by_one + shared.insert_hash_batch(right), new);
    assert_eq!(shared.to_bitset(), plain.to_bitset());

    // At an odd address, too.
    let bytes = [&[0][..], &plain.to_bitset()].concat();
    let view = SplitBlockBloomFilterView::open(&bytes[1..]).unwrap();
    let mut answers =
        [vec![false; asked.len()], vec![false; asked.len()], vec![false; asked.len()]];
    plain.contains_hash_batch(&asked, &mut answers[0]);
    shared.contains_hash_batch(&asked, &mut answers[1]);
    view.contains_hash_batch(&asked, &mut answers[2]);
    for (i, &hash) in asked.iter().enumerate() {
        let answer = plain.contains_hash(hash);
        assert!(answer || i >= stored.len());
        assert_eq!([shared.contains_hash(hash), view.contains_hash(hash)], [answer; 2]);
        assert_eq!(answers.each_ref().map(|answers| answers[i]), [answer; 3]);
    }
    assert_eq!(view.false_positive_rate(), plain.false_positive_rate());
    assert_eq!(view.fill_ratio(), plain.fill_ratio());
    assert!(view.shrink_to_rate(0.9).unwrap() == plain.shrink_to_rate(0.9).unwrap());
    assert!(shared.into_plain() == plain);

    for wrong in [0, 31, 33] {
        let error = SplitBlockBloomFilterView::open(&bytes[..wrong]).unwrap_err();
        let found =
            format!("bitset at offset 0 is {wrong}, but must be a multiple of 32 from 32 to 2^37");
        assert!(error.to_string().ends_with(&found), "{error}");
    }
}
