//! Laws that hold for every set of keys, by quickcheck.
//!
//! Key sets straddle the switch from sparse to dense: precision 8 is sparse up to 32 keys, precision 10 up to 128.
#![cfg(feature = "std")]

use hll::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};
use quickcheck::{Arbitrary, Gen, QuickCheck};

/// Hashes of a set of a size from 0 to 400, half of them with long runs of zeros.
#[derive(Clone, Debug)]
struct Hashes(Vec<u64>);

impl Arbitrary for Hashes {
    fn arbitrary(g: &mut Gen) -> Self {
        let size = [0, 1, 20, 33, 128, 129, 400][usize::arbitrary(g) % 7];
        Self((0..size).map(|_| u64::arbitrary(g)).collect())
    }
}

/// A precision from 4 to 12, few enough registers for collisions.
#[derive(Clone, Copy, Debug)]
struct Precision(u32);

impl Arbitrary for Precision {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(4 + u32::arbitrary(g) % 9)
    }
}

fn sketch(precision: Precision, hashes: &[u64]) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(precision.0).unwrap();
    sketch.insert_hash_batch(hashes);
    sketch
}

fn ultra(precision: Precision, hashes: &[u64]) -> UltraLogLog {
    let mut sketch = UltraLogLog::new(precision.0).unwrap();
    sketch.insert_hash_batch(hashes);
    sketch
}

fn merged(mut left: HyperLogLog, right: &HyperLogLog) -> HyperLogLog {
    left.merge(right).unwrap();
    left
}

fn ultra_merged(mut left: UltraLogLog, right: &UltraLogLog) -> UltraLogLog {
    left.merge(right).unwrap();
    left
}

fn holds<A: quickcheck::Testable>(property: A) {
    QuickCheck::new().tests(300).quickcheck(property);
}

#[test]
fn case_14_order_repetition_and_chunks_make_no_difference() {
    fn property(precision: Precision, hashes: Hashes, cut: usize) -> bool {
        let once = sketch(precision, &hashes.0);
        let mut shuffled = hashes.0.clone();
        shuffled.sort_unstable();
        shuffled.extend_from_slice(&hashes.0);
        let again = sketch(precision, &shuffled);
        let (left, right) = hashes.0.split_at(cut % (hashes.0.len() + 1));
        let chunks = merged(sketch(precision, left), &sketch(precision, right));
        once == again && once == chunks && once.to_bytes() == chunks.to_bytes()
    }
    holds(property as fn(_, _, _) -> _);
}

#[test]
fn merging_is_commutative_associative_and_idempotent() {
    fn property(p: Precision, q: Precision, a: Hashes, b: Hashes, c: Hashes) -> bool {
        let [a, b, c] = [sketch(p, &a.0), sketch(q, &b.0), sketch(p, &c.0)];
        let ab = merged(a.clone(), &b);
        ab == merged(b.clone(), &a)
            && merged(ab.clone(), &c) == merged(a.clone(), &merged(b.clone(), &c))
            && merged(ab.clone(), &ab) == ab
            && merged(ab.clone(), &b) == ab
            && merged(ab.clone(), &b).to_bytes() == ab.to_bytes()
    }
    holds(property as fn(_, _, _, _, _) -> _);
}

#[test]
fn case_13_a_lower_precision_is_as_if_built_there() {
    fn property(p: Precision, q: Precision, a: Hashes, b: Hashes) -> bool {
        let lower = Precision(p.0.min(q.0));
        let mut reduced = sketch(p, &a.0);
        reduced.reduce_precision(lower.0).unwrap();
        let both = [&a.0[..], &b.0].concat();
        let merged = merged(sketch(p, &a.0), &sketch(q, &b.0));
        reduced == sketch(lower, &a.0)
            && merged == sketch(lower, &both)
            && merged.estimate() == sketch(lower, &both).estimate()
    }
    holds(property as fn(_, _, _, _) -> _);
}

#[test]
fn reducing_commutes_with_merging_and_inserting() {
    fn property(p: Precision, down: u32, a: Hashes, b: Hashes) -> bool {
        let lower = 4 + down % (p.0 - 3);
        let reduced = |mut sketch: HyperLogLog| {
            sketch.reduce_precision(lower).unwrap();
            sketch
        };
        let [left, right] = [sketch(p, &a.0), sketch(p, &b.0)];
        let mut later = reduced(left.clone());
        later.insert_hash_batch(&b.0);
        let together = reduced(merged(left.clone(), &right));
        together == merged(reduced(left), &reduced(right)) && together == later
    }
    holds(property as fn(_, _, _, _) -> _);
}

#[test]
fn the_dense_form_of_a_set_is_one_however_it_came_about() {
    fn property(p: Precision, a: Hashes, b: Hashes) -> bool {
        let shared = AtomicHyperLogLog::new(p.0).unwrap();
        shared.insert_hash_batch(&a.0);
        shared.insert_hash_batch(&b.0);
        let mut late = sketch(p, &[&a.0[..], &b.0].concat());
        late.make_dense();
        let mut early = sketch(p, &[]);
        early.make_dense();
        early.insert_hash_batch(&a.0);
        let early = merged(early, &sketch(p, &b.0));
        early == late && shared.into_plain() == late && early.to_bytes() == late.to_bytes()
    }
    holds(property as fn(_, _, _) -> _);
}

#[test]
fn inserts_say_what_changes_the_state() {
    fn property(p: Precision, a: Hashes) -> bool {
        let (mut plain, mut two_bits) = (sketch(p, &[]), ultra(p, &[]));
        a.0.iter().all(|&hash| {
            let (before, ultra_before) = (plain.clone(), two_bits.clone());
            let (changed, ultra_changed) = (plain.insert_hash(hash), two_bits.insert_hash(hash));
            // A set that outgrows the sparse form may change by its form alone.
            changed == (before != plain) && ultra_changed == (ultra_before != two_bits)
        })
    }
    holds(property as fn(_, _) -> _);
}

#[test]
fn case_15_bytes_bring_back_the_same_sketch() {
    fn property(p: Precision, a: Hashes, b: Hashes) -> bool {
        let [left, right] = [sketch(p, &a.0), sketch(p, &b.0)];
        let back = HyperLogLog::from_bytes(&left.to_bytes()).unwrap();
        let [x, y] = [ultra(p, &a.0), ultra(p, &b.0)];
        let ultra_back = UltraLogLog::from_bytes(&x.to_bytes()).unwrap();
        back == left
            && merged(back, &right).to_bytes() == merged(left, &right).to_bytes()
            && ultra_back == x
            && ultra_merged(ultra_back, &y).to_bytes() == ultra_merged(x, &y).to_bytes()
    }
    holds(property as fn(_, _, _) -> _);
}

/// A batch is compiled for the processor's widest vectors, single inserts are not.
#[test]
fn case_24_a_batch_does_what_its_hashes_do_one_by_one() {
    fn property(p: Precision, a: Hashes, b: Hashes) -> bool {
        let mut batch = sketch(p, &a.0);
        let mut single = batch.clone();
        let changes = batch.insert_hash_batch(&b.0);
        let expected = b.0.iter().filter(|&&hash| single.insert_hash(hash)).count();
        let (mut two_bits, mut ultra_single) = (ultra(p, &a.0), ultra(p, &a.0));
        let ultra_changes = two_bits.insert_batch(&b.0);
        let ultra_expected = b.0.iter().filter(|&key| ultra_single.insert(key)).count();
        changes == expected
            && batch == single
            && batch.martingale_estimate() == single.martingale_estimate()
            && (ultra_changes, &two_bits) == (ultra_expected, &ultra_single)
    }
    holds(property as fn(_, _, _) -> _);
}

#[test]
fn ultra_sketches_obey_the_same_laws() {
    fn property(p: Precision, q: Precision, a: Hashes, b: Hashes, c: Hashes) -> bool {
        let lower = Precision(p.0.min(q.0));
        let all = [&a.0[..], &b.0, &c.0].concat();
        let mut backwards = all.clone();
        backwards.reverse();
        let [a, b, c] = [ultra(p, &a.0), ultra(q, &b.0), ultra(p, &c.0)];
        let mut reduced = ultra(p, &all);
        reduced.reduce_precision(lower.0).unwrap();
        let ab = ultra_merged(a.clone(), &b);
        ab == ultra_merged(b.clone(), &a)
            && ultra_merged(ab.clone(), &ab) == ab
            && ultra_merged(ab, &c) == ultra_merged(a, &ultra_merged(b, &c))
            && reduced == ultra(lower, &backwards)
            && ultra_merged(ultra(p, &all), &ultra(q, &[])) == reduced
    }
    holds(property as fn(_, _, _, _, _) -> _);
}

#[test]
fn an_ultra_sketch_knows_what_a_plain_one_knows() {
    fn property(p: Precision, a: Hashes) -> bool {
        let mut plain = sketch(p, &a.0);
        plain.make_dense();
        let bytes = plain.to_bytes();
        let ranks =
            ultra(p, &a.0).registers().iter().map(|register| register / 4).collect::<Vec<_>>();
        // Six bits a rank behind the header, before the checksum.
        let packed = &bytes[128..bytes.len() - 8];
        let bit = |i: usize| packed[i / 8] >> (i % 8) & 1;
        let rank = |register: usize| (0..6).map(|i| bit(6 * register + i) << i).sum::<u8>();
        ranks.iter().enumerate().all(|(register, &expected)| rank(register) == expected)
    }
    holds(property as fn(_, _) -> _);
}
