//! Laws that hold for every set of keys, by quickcheck.
//!
//! Key sets straddle the switch from sparse to dense: precision 8 is sparse up to 32 keys, precision 10 up to 128.
#![cfg(feature = "std")]

use core::ops::RangeInclusive;

use hll::{
    AtomicHyperLogLog, Estimate, HyperLogLog, HyperLogLogView, UltraLogLog, UltraLogLogView,
};
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

/// Returns the lowest precision of the sets that are not empty, or of all if all are empty.
fn precision_of(sets: &[(Precision, &Hashes)]) -> Precision {
    let lowest = |is_counted: fn(&Hashes) -> bool| {
        sets.iter().filter(|(_, set)| is_counted(set)).map(|(precision, _)| precision.0).min()
    };
    Precision(lowest(|set| !set.0.is_empty()).or(lowest(|_| true)).unwrap())
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

/// Any number of sketches in any order, with empty sketches and sketches that were made dense among them.
#[test]
fn case_29_the_order_of_merges_makes_no_difference_to_the_bytes() {
    fn property(parts: Vec<(Precision, Hashes, bool)>, seed: usize) -> bool {
        let of = |order: &mut dyn Iterator<Item = &(Precision, Hashes, bool)>| {
            let mut sketches = order.map(|(precision, set, is_told)| {
                let mut sketch = sketch(*precision, &set.0);
                if *is_told {
                    sketch.make_dense();
                }
                sketch
            });
            let first = sketches.next();
            first.map(|first| sketches.fold(first, |union, next| merged(union, &next)))
        };
        let parts = &parts[..parts.len().min(6)];
        let start = seed % parts.len().max(1);
        let turned = of(&mut parts.iter().cycle().skip(start).take(parts.len()));
        let forwards = of(&mut parts.iter());
        let backwards = of(&mut parts.iter().rev());
        let Some(union) = forwards else { return true };
        let sets: Vec<_> = parts.iter().map(|(precision, set, _)| (*precision, set)).collect();
        let all: Vec<u64> = parts.iter().flat_map(|(_, set, _)| set.0.iter().copied()).collect();
        let mut expected = sketch(precision_of(&sets), &all);
        if parts.iter().any(|(.., is_told)| *is_told) || union.is_dense() && !expected.is_dense() {
            expected.make_dense();
        }
        [turned, backwards].into_iter().all(|other| other.unwrap().to_bytes() == union.to_bytes())
            && union.to_bytes() == expected.to_bytes()
    }
    holds(property as fn(_, _) -> _);
}

/// The overlap of two sketches never contradicts what they prove.
#[test]
fn case_30_overlaps_contradict_no_proof() {
    fn property(p: Precision, q: Precision, sets: (Hashes, Hashes, Hashes), told: u8) -> bool {
        let (a, b, c) = sets;
        let mut left = sketch(p, &[&a.0[..], &c.0].concat());
        let mut right = sketch(q, &[&b.0[..], &c.0].concat());
        if told & 1 == 1 {
            left.make_dense();
        }
        if told & 2 == 2 {
            right.make_dense();
        }
        let overlap = left.overlap(&right).unwrap();
        let parts = [overlap.only_left, overlap.only_right, overlap.both];
        let numbers = parts.into_iter().all(|part| {
            let Estimate { value, standard_error } = part;
            value >= 0.0 && value.is_finite() && standard_error >= 0.0 && standard_error.is_finite()
        });
        // The part that one sketch adds to the other, in registers of the same number, is not in that one. For an empty one, the
        // other's own estimate is the answer.
        let adds = |some: &HyperLogLog, to: &HyperLogLog| {
            if to.is_empty() {
                return false;
            }
            let [mut some, mut to] = [some.clone(), to.clone()];
            let lower = some.precision().min(to.precision());
            for sketch in [&mut some, &mut to] {
                sketch.reduce_precision(lower).unwrap();
                sketch.make_dense();
            }
            merged(to.clone(), &some) != to
        };
        let [left_size, right_size] = [left.estimate(), right.estimate()];
        let mirrored = right.overlap(&left).unwrap();
        let is_near =
            |x: Estimate, y: Estimate| (x.value - y.value).abs() <= 0.1 * x.standard_error + 1e-2;
        numbers
            && (0.0..=1.0).contains(&overlap.jaccard())
            && overlap.both.value <= left_size.min(right_size)
            && overlap.only_left.value <= left_size.max(400.0)
            && (!adds(&left, &right) || overlap.only_left.value >= 1.0)
            && (!adds(&right, &left) || overlap.only_right.value >= 1.0)
            && is_near(overlap.only_left, mirrored.only_right)
            && is_near(overlap.both, mirrored.both)
            && left.overlap(&left).unwrap().jaccard() == f64::from(u8::from(!left.is_empty()))
    }
    QuickCheck::new().tests(1_000).quickcheck(property as fn(_, _, _, _) -> _);
}

#[test]
fn case_13_a_lower_precision_is_as_if_built_there() {
    fn property(p: Precision, q: Precision, a: Hashes, b: Hashes) -> bool {
        let lower = Precision(p.0.min(q.0));
        let mut reduced = sketch(p, &a.0);
        reduced.reduce_precision(lower.0).unwrap();
        let both = [&a.0[..], &b.0].concat();
        let merged = merged(sketch(p, &a.0), &sketch(q, &b.0));
        let together = sketch(precision_of(&[(p, &a), (q, &b)]), &both);
        reduced == sketch(lower, &a.0)
            && merged == together
            && merged.estimate() == together.estimate()
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
        let shared = HyperLogLog::builder().precision(p.0).build_atomic().unwrap();
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
            // A set that outgrows the sparse form may change only in its form.
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

/// Rising confidences. Each interval must contain the one before.
const CONFIDENCES: [f64; 6] = [0.5, 0.682_689, 0.95, 0.997_3, 0.999_99, 1.0 - 1e-12];

/// Intervals contain those of lower confidence, begin at least at the proven number, and hold the estimate unless it is
/// less.
fn intervals_are_sound(
    interval: impl Fn(f64) -> RangeInclusive<f64>,
    proven: f64,
    estimate: f64,
) -> bool {
    let intervals = CONFIDENCES.map(interval);
    let is_sound = |range: &RangeInclusive<f64>| {
        proven <= *range.start()
            && range.start() <= range.end()
            && range.contains(&estimate.max(proven))
    };
    let widens = |pair: &[RangeInclusive<f64>]| {
        pair[1].start() <= pair[0].start() && pair[0].end() <= pair[1].end()
    };
    intervals.iter().all(is_sound)
        && intervals.windows(2).all(widens)
        && (proven > 0.0 || intervals[5] == (0.0..=0.0))
}

/// Keys that come and go by merging, with zeros in their hashes or without, in every form and type.
#[test]
fn case_27_no_interval_contradicts_what_its_sketch_proves() {
    fn property(p: Precision, q: Precision, a: Hashes, b: Hashes) -> bool {
        let plain = merged(sketch(p, &a.0), &sketch(q, &b.0));
        let two_bits = ultra_merged(ultra(p, &a.0), &ultra(q, &b.0));
        let occupied = two_bits.registers().iter().filter(|&&register| register > 0).count() as f64;
        let keys = two_bits.registers().iter().map(|&register| match register {
            0 => 0,
            known => 1 + (known & 3).count_ones(),
        });
        let mut dense = plain.clone();
        dense.make_dense();
        let (bytes, ultra_bytes) = (plain.to_bytes(), two_bits.to_bytes());
        // An entry has four bytes, between header and checksum.
        let entries = if plain.is_dense() { occupied } else { (bytes.len() - 136) as f64 / 4.0 };
        let shared = AtomicHyperLogLog::from(plain.clone());
        let view = HyperLogLogView::open(&bytes).unwrap();
        let ultra_view = UltraLogLogView::open(&ultra_bytes).unwrap();
        let of = |confidence| dense.estimate_interval(confidence).unwrap();
        let of_plain = |confidence| plain.estimate_interval(confidence).unwrap();
        let of_ultra = |confidence| two_bits.estimate_interval(confidence).unwrap();
        intervals_are_sound(of, occupied, dense.estimate())
            && intervals_are_sound(of_plain, entries, plain.estimate())
            && intervals_are_sound(of_ultra, keys.sum::<u32>().into(), two_bits.estimate())
            && CONFIDENCES.iter().all(|&confidence| {
                shared.estimate_interval(confidence).unwrap() == of(confidence)
                    && view.estimate_interval(confidence).unwrap() == of_plain(confidence)
                    && ultra_view.estimate_interval(confidence).unwrap() == of_ultra(confidence)
            })
    }
    holds(property as fn(_, _, _, _) -> _);
}

#[test]
fn ultra_sketches_obey_the_same_laws() {
    fn property(p: Precision, q: Precision, a: Hashes, b: Hashes, c: Hashes) -> bool {
        let lower = Precision(p.0.min(q.0));
        let all = [&a.0[..], &b.0, &c.0].concat();
        let mut backwards = all.clone();
        backwards.reverse();
        let together = ultra(precision_of(&[(p, &a), (q, &b), (p, &c)]), &all);
        let with_none =
            ultra(precision_of(&[(p, &Hashes(all.clone())), (q, &Hashes(Vec::new()))]), &all);
        let [a, b, c] = [ultra(p, &a.0), ultra(q, &b.0), ultra(p, &c.0)];
        let mut reduced = ultra(p, &all);
        reduced.reduce_precision(lower.0).unwrap();
        let ab = ultra_merged(a.clone(), &b);
        ab == ultra_merged(b.clone(), &a)
            && ultra_merged(ab.clone(), &ab) == ab
            && ultra_merged(ab.clone(), &c) == ultra_merged(a, &ultra_merged(b, &c))
            && ultra_merged(ab, &c) == together
            && reduced == ultra(lower, &backwards)
            && ultra_merged(ultra(p, &all), &ultra(q, &[])) == with_none
            && ultra_merged(ultra(q, &[]), &ultra(p, &all)) == with_none
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
