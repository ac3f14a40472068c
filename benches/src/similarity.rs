//! Sketches of similar sets, with hashes handed in, beside classic MinHash, a hash function for each value, and `probminhash`.
//!
//! `probminhash` has the error of ours by SuperMinHash. Its fastest sketch, by one permutation and densification, has a greater error for
//! sets smaller than some times the number of values. The error that is printed is that of 400 pairs of sets with J = 3/5.

use core::hint::black_box;

use pds::minhash::{LshIndex, MinHash};
use probminhash::densminhash::OptDensMinHash;
use probminhash::superminhasher::{NoHashHasher, SuperMinHash};

use crate::contest::Contender;
use crate::keys::Keys;
use crate::report::{Row, Unit};
use crate::suite::{Bench, Effort, Outcome};

const VALUES: u32 = 128;

/// The peer of an index: as many random keys as it has, in one array, sorted by std.
const SORT: &str = "sort of the keys";

/// Measures sketches of 128 values, and an index of them.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    for (case, keys, block) in [
        ("sets of 50 keys", 50, 50_000),
        ("sets of 1,000 keys", 1_000, 50_000),
        ("sets of 10^6 keys", 1_000_000, 1_000_000),
    ] {
        let mut one_by_one = of_sets(keys, |hashes| u64::from(one_by_one(hashes).is_empty()));
        let mut batch = of_sets(keys, |hashes| u64::from(batch(hashes).is_empty()));
        let functions = functions();
        let mut classic = of_sets(keys, |hashes| classic(&functions, hashes));
        let ways: [(&str, &mut dyn Contender); 2] =
            [("insert", &mut one_by_one), ("batch", &mut batch)];
        for (operation, ours) in ways {
            let block = (block, Keys::absent());
            let labels = [case, operation];
            bench.add(bench.duel(labels, "classic MinHash", block, [ours, &mut classic]));
        }
        peers(bench, case, (keys, block));
    }
    index(bench)
}

/// Returns the contender that does some work for each set of so many keys.
fn of_sets(keys: usize, work: impl Fn(&[u64]) -> u64) -> impl FnMut(&[u64]) -> u64 {
    move |hashes| hashes.chunks(keys).map(&work).fold(0, u64::wrapping_add)
}

/// Returns the values of a peer's sketch of these hashes.
type PeerSketch = fn(&[u64]) -> Vec<f64>;

/// Times the two sketches of `probminhash`. Their errors are those of smaller sets where the sets are large.
fn peers(bench: &mut Bench<'_>, case: &str, (keys, block): (usize, usize)) {
    let ours_agree = |left: &[u64], right: &[u64]| {
        let comparison = batch(left).compare(&batch(right)).expect("equal sizes and hashers");
        comparison.jaccard().value
    };
    let others: [(&str, PeerSketch); 2] = [
        ("batch, against SuperMinHash", superminhash),
        ("batch, against densified bins", densified),
    ];
    for (operation, sketch_of) in others {
        let agree = |left: &[u64], right: &[u64]| {
            let (left, right) = (sketch_of(left), sketch_of(right));
            let equal = left.iter().zip(&right).filter(|(left, right)| left == right);
            equal.count() as f64 / f64::from(VALUES)
        };
        let errors = [error(keys.min(10_000), ours_agree), error(keys.min(10_000), agree)];
        let ours = &mut of_sets(keys, |hashes| u64::from(batch(hashes).is_empty()));
        let theirs = &mut of_sets(keys, |hashes| sketch_of(hashes)[0].to_bits());
        let block = (block, Keys::absent());
        let row = bench.duel([case, operation], "probminhash", block, [ours, theirs]);
        bench.add(row.quality("error", errors));
    }
}

/// Returns the root mean square of the errors of 400 pairs of sets of this size with J = 3/5: three quarters of each are in both.
fn error(keys: usize, jaccard: impl Fn(&[u64], &[u64]) -> f64) -> f64 {
    let mut stream = Keys::absent();
    let quarter = keys.div_ceil(4);
    let mut hashes = vec![0; 5 * quarter];
    let union = hashes.len() as f64;
    let squares = (0..400).map(|_| {
        stream.fill(&mut hashes);
        let truth = (3 * quarter) as f64 / union;
        let estimate = jaccard(&hashes[..4 * quarter], &hashes[quarter..]);
        (estimate - truth).powi(2)
    });
    (squares.sum::<f64>() / 400.0).sqrt()
}

fn superminhash(hashes: &[u64]) -> Vec<f64> {
    let mut sketch =
        SuperMinHash::<f64, u64, NoHashHasher>::new(VALUES as usize, Default::default());
    sketch.sketch_slice(hashes).expect("keys");
    sketch.get_hsketch().clone()
}

fn densified(hashes: &[u64]) -> Vec<f64> {
    let mut sketch =
        OptDensMinHash::<f64, u64, NoHashHasher>::new(VALUES as usize, Default::default());
    sketch.sketch_slice(hashes).expect("keys");
    sketch.get_hsketch().clone()
}

/// Returns the sketch of these hashes.
fn batch(hashes: &[u64]) -> MinHash {
    let mut sketch = MinHash::new(VALUES).expect("1 KiB");
    sketch.insert_hash_batch(hashes);
    sketch
}

fn one_by_one(hashes: &[u64]) -> MinHash {
    let mut sketch = MinHash::new(VALUES).expect("1 KiB");
    hashes.iter().for_each(|&hash| _ = black_box(&mut sketch).insert_hash(hash));
    sketch
}

/// The two numbers of each hash function.
fn functions() -> Vec<[u64; 2]> {
    let number = pds::hash::finalize;
    (0..u64::from(VALUES)).map(|i| [number(2 * i), number(2 * i + 1)]).collect()
}

/// Sketches by classic MinHash: the least of `fold(hash xor a, b)`, for the two numbers of each function. Returns the sum of
/// all minima, so that none can be left out.
#[expect(clippy::cast_possible_truncation, reason = "the two halves of a product")]
fn classic(functions: &[[u64; 2]], hashes: &[u64]) -> u64 {
    let mut minima = vec![u64::MAX; functions.len()];
    for hash in hashes {
        for (minimum, [a, b]) in minima.iter_mut().zip(functions) {
            let product = u128::from(hash ^ a) * u128::from(*b);
            let [low, high] = [product as u64, (product >> 64) as u64];
            *minimum = (*minimum).min(low ^ high);
        }
    }
    minima.into_iter().fold(0, u64::wrapping_add)
}

/// Times the building of an index, and the sorting of as many keys as it has. A block has one hash per document.
fn index(bench: &mut Bench<'_>) -> Outcome {
    let documents = if bench.effort() == Effort::Full { 1_000_000 } else { 100_000 };
    let (case, count) = ("23 bands x 3 rows", documents as u64);
    let empty = LshIndex::builder().num_values(VALUES).bands(23).rows(3).build()?;
    let bytes = empty.params().size_in_bytes(count) as f64 / documents as f64;
    let of_keys = 8.0 * f64::from(empty.params().bands());
    bench.add(Row::exact([case, "bytes per document"], SORT, Unit::Bytes, [bytes, of_keys]));
    let sketches: Vec<MinHash> = (0..count).map(|document| batch(&[document, !document])).collect();
    let mut ours = |_: &[u64]| {
        let mut index = empty.clone();
        index.insert_batch((0..).zip(&sketches)).expect("equal sizes and hashers") as u64
    };
    let keys = count * u64::from(empty.params().bands());
    let keys: Vec<u64> = (0..keys).map(pds::hash::finalize).collect();
    let mut sort = |_: &[u64]| {
        let mut keys = keys.clone();
        keys.sort_unstable();
        keys[0]
    };
    let block = (documents, Keys::absent());
    bench.add(bench.duel([case, "build"], SORT, block, [&mut ours, &mut sort]));
    Ok(())
}
