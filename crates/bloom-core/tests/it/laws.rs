//! Laws that hold for every set of keys and every shape.
#![cfg(feature = "std")]

use bitvec::prelude::{BitVec, Lsb0};
use bloom_core::{AtomicBloomFilter, BitArray, BloomFilter};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// Bits and hashes of a filter, small enough that keys meet in it.
#[derive(Clone, Copy, Debug)]
struct Shape {
    bits: u64,
    hashes: u32,
}

impl Arbitrary for Shape {
    fn arbitrary(g: &mut Gen) -> Self {
        let most_hashes = if bool::arbitrary(g) { 16 } else { 255 };
        Self {
            bits: 1 + u64::from(u16::arbitrary(g)) % 2_000,
            hashes: 1 + u32::from(u8::arbitrary(g)) % most_hashes,
        }
    }
}

fn empty(shape: Shape) -> BloomFilter {
    BloomFilter::builder().bits(shape.bits).hashes(shape.hashes).build().unwrap()
}

fn filled(shape: Shape, keys: &[u64]) -> BloomFilter {
    let mut filter = empty(shape);
    filter.extend(keys);
    filter
}

/// Long enough for more than two chunks of a batch.
fn repeat_beyond_a_chunk(keys: &[u64]) -> Vec<u64> {
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

    fn inserting_again_changes_nothing(shape: Shape, keys: Vec<u64>) -> bool {
        let once = filled(shape, &keys);
        let mut twice = once.clone();
        keys.iter().all(|key| !twice.insert(key)) && once == twice
    }

    fn a_union_is_the_filter_of_both(shape: Shape, left: Vec<u64>, right: Vec<u64>) -> bool {
        let mut union = filled(shape, &left);
        union.union_with(&filled(shape, &right)).unwrap();
        let both = filled(shape, &[left, right].concat());
        let again = { let mut u = union.clone(); u.union_with(&both).unwrap(); u };
        union == both && again == both
    }

    fn an_intersection_holds_the_common_keys_and_the_common_bits(
        shape: Shape, left: Vec<u64>, right: Vec<u64>, common: Vec<u64>
    ) -> bool {
        let left = filled(shape, &[left, common.clone()].concat());
        let right = filled(shape, &[right, common.clone()].concat());
        let mut both = left.clone();
        both.intersect_with(&right).unwrap();
        let words = left.bits().words().iter().zip(right.bits().words()).map(|(l, r)| l & r);
        common.iter().all(|key| both.contains(key)) && words.eq(both.bits().words().iter().copied())
    }

    fn a_batch_is_one_by_one(shape: Shape, stored: Vec<u64>, asked: Vec<u64>) -> bool {
        let (stored, asked) = (repeat_beyond_a_chunk(&stored), repeat_beyond_a_chunk(&asked));
        let (mut single, mut batch) = (empty(shape), empty(shape));
        let new = stored.iter().filter(|key| single.insert(key)).count();
        let mut answers = vec![true; asked.len()];
        let counted = batch.insert_batch(&stored);
        batch.contains_batch(&asked, &mut answers);
        new == counted && single == batch
            && asked.iter().map(|key| single.contains(key)).eq(answers)
    }

    fn a_batch_of_hashes_is_one_by_one(shape: Shape, stored: Vec<u64>, asked: Vec<u64>) -> bool {
        let (stored, asked) = (repeat_beyond_a_chunk(&stored), repeat_beyond_a_chunk(&asked));
        let (mut single, mut batch) = (empty(shape), empty(shape));
        let new = stored.iter().filter(|&&hash| single.insert_hash(hash)).count();
        let mut answers = vec![true; asked.len()];
        let counted = batch.insert_hash_batch(&stored);
        batch.contains_hash_batch(&asked, &mut answers);
        new == counted && single == batch
            && asked.iter().map(|&hash| single.contains_hash(hash)).eq(answers)
    }

    fn many_filters_answer_as_each_does(shapes: Vec<Shape>, keys: Vec<u64>, hash: u64) -> bool {
        // More than one group of filters, of all shapes, some of which contain the hash.
        let filters: Vec<BloomFilter> = (0..shapes.len().min(1) * 600)
            .map(|i| filled(shapes[i % shapes.len()], &keys[..keys.len() * (i % 7) / 6]))
            .collect();
        let mut answers = vec![true; filters.len()];
        BloomFilter::contains_hash_in(&filters, hash, &mut answers);
        filters.iter().map(|filter| filter.contains_hash(hash)).eq(answers)
    }

    fn the_atomic_filter_is_the_plain_one(shape: Shape, stored: Vec<u64>, asked: Vec<u64>) -> bool {
        let (mut plain, atomic) = (empty(shape), AtomicBloomFilter::from(empty(shape)));
        let told = stored.iter().all(|key| plain.insert(key) == atomic.insert(key));
        let answered = asked.iter().all(|key| plain.contains(key) == atomic.contains(key));
        let counts = (plain.count_ones(), plain.approx_len(), plain.health())
            == (atomic.count_ones(), atomic.approx_len(), atomic.health());
        told && answered && counts && atomic.into_plain() == plain
    }

    fn atomic_batches_are_plain_batches(shape: Shape, stored: Vec<u64>, asked: Vec<u64>) -> bool {
        let (stored, asked) = (repeat_beyond_a_chunk(&stored), repeat_beyond_a_chunk(&asked));
        let (mut plain, atomic) = (empty(shape), AtomicBloomFilter::from(empty(shape)));
        let (mut expected, mut answers) = (vec![false; asked.len()], vec![true; asked.len()]);
        let same_count = plain.insert_batch(&stored) == atomic.insert_batch(&stored);
        plain.contains_batch(&asked, &mut expected);
        atomic.contains_batch(&asked, &mut answers);
        same_count && expected == answers && atomic.into_plain() == plain
    }

    fn atomic_set_operations_are_plain_ones(shape: Shape, left: Vec<u64>, right: Vec<u64>) -> bool {
        let (left, right) = (filled(shape, &left), filled(shape, &right));
        let share = |filter: &BloomFilter| AtomicBloomFilter::from(filter.clone());
        let (mut union, mut common) = (left.clone(), left.clone());
        union.union_with(&right).unwrap();
        common.intersect_with(&right).unwrap();
        let (atomic_union, mut atomic_common) = (share(&left), share(&left));
        atomic_union.union_with(&share(&right)).unwrap();
        atomic_common.intersect_with(&share(&right)).unwrap();
        let estimates = |f: &BloomFilter| (f.approx_union_len(&right), f.approx_intersection_len(&right));
        let shared = share(&left);
        let of_atomic = (shared.approx_union_len(&share(&right)), shared.approx_intersection_len(&share(&right)));
        estimates(&left) == of_atomic
            && atomic_union.into_plain() == union
            && atomic_common.into_plain() == common
    }

    fn folding_is_building_there(shape: Shape, factor: u8, keys: Vec<u64>) -> bool {
        let factor = u64::from(factor % 12) + 1;
        let wide = Shape { bits: shape.bits * factor, ..shape };
        filled(wide, &keys).fold(factor).unwrap() == filled(shape, &keys)
    }

    fn bits_are_those_of_bitvec(num_bits: u16, positions: Vec<u16>, others: Vec<u16>) -> bool {
        let num_bits = usize::from(num_bits % 500) + 1;
        let build = |positions: &[u16]| {
            let (mut ours, mut oracle) = (BitArray::zeroed(num_bits as u64).unwrap(), BitVec::<u64, Lsb0>::repeat(false, num_bits));
            for position in positions.iter().map(|&p| usize::from(p) % num_bits) {
                assert_eq!(ours.set(position as u64), !oracle.replace(position, true));
            }
            (ours, oracle)
        };
        let ((left, left_oracle), (right, right_oracle)) = (build(&positions), build(&others));
        let (mut union, mut common) = (left.clone(), left.clone());
        union.union_with(&right).unwrap();
        common.intersect_with(&right).unwrap();
        same_bits(&left, &left_oracle)
            && same_bits(&union, &(left_oracle.clone() | &right_oracle))
            && same_bits(&common, &(left_oracle & &right_oracle))
            && left.count_union_ones(&right) == Ok(union.count_ones())
    }
}

fn same_bits(ours: &BitArray, oracle: &BitVec<u64, Lsb0>) -> bool {
    ours.num_bits() == oracle.len() as u64
        && ours.count_ones() == oracle.count_ones() as u64
        && (0..).zip(oracle).all(|(position, bit)| ours.get(position) == *bit)
}

#[cfg(feature = "bitvec")]
#[test]
fn the_bit_slice_shows_the_bits() {
    let mut bits = BitArray::zeroed(100).unwrap();
    bits.set(0);
    bits.set(99);
    let slice = bits.as_bitslice();
    assert_eq!((slice.len(), slice.iter_ones().collect::<Vec<_>>()), (100, vec![0, 99]));
}
