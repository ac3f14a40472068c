//! Measured errors against published bounds and independent simulations, with literal seeds.
//!
//! All tests of this file together raise a false alarm with probability at most [`FALSE_ALARM`].
#![cfg(feature = "std")]
#![expect(clippy::cast_possible_truncation, reason = "small numbers of tests")]

use core::hash::BuildHasher;
use pds_core::hash::{DefaultHashBuilder, KeyHasher, Mixed, finalize};

use crate::streams::{key, real};
use cms::internal::RowHash;
use cms::{CountMinParams, CountMinSketch, CountSketch, CountSketchParams, Update};
use pds_testkit::hashers::{Crc64Builder, Fnv1aBuilder, FxBuilder, IdentityBuilder};
use pds_testkit::stats::{Binomial, normal_quantile, split_budget};
use pds_testkit::zipf::{Zipf, counts};

const FALSE_ALARM: f64 = 1e-6;
/// Number of judgements in the tests below, rounded up.
const JUDGEMENTS: usize = 2_000;

fn update(conservative: bool) -> Update {
    if conservative { Update::Conservative } else { Update::Plain }
}

fn alpha() -> f64 {
    split_budget(FALSE_ALARM, JUDGEMENTS)
}

/// The number of standard deviations that chance may explain.
fn tolerance() -> f64 {
    normal_quantile(alpha() / 2.0)
}

const ITEMS: usize = 100_000;
const EVENTS: usize = 1_000_000;

/// As many pairs of keys meet in 0, 1, 2, ... rows as if the rows were independent.
///
/// If a row were used twice, or if two rows shared a hash, pairs would meet in two rows as often as in one. A million pairs
/// show a deviation of 1 % in the frequent numbers of rows.
#[test]
fn pairs_of_keys_meet_in_rows_as_if_these_were_independent() {
    const PAIRS: u64 = 1_000_000;
    let check = |name: &str, hash: fn(u64) -> u64| {
        for (width, depth) in [(2, 6), (7, 4), (16, 4), (100, 3), (5, 8)] {
            let mut meetings = vec![0; depth + 1];
            for pair in 0..PAIRS {
                let mut rows = [RowHash::new(hash(2 * pair)), RowHash::new(hash(2 * pair + 1))];
                let mut meet = || {
                    let [left, right] = &mut rows;
                    left.next_column(width) == right.next_column(width)
                };
                meetings[(0..depth).filter(|_| meet()).count()] += 1;
            }
            let by_chance = Binomial::new(depth as u64, 1.0 / real(width as usize));
            for (rows, &count) in (0..).zip(&meetings) {
                let law = Binomial::new(PAIRS, by_chance.probability_of(rows));
                let accepted = law.acceptance(alpha());
                assert!(
                    accepted.contains(&count),
                    "{name}, width {width}: {count} pairs meet in {rows} rows of {depth}, not {accepted:?}"
                );
            }
        }
    };
    check("XXH3", |key| DefaultHashBuilder::default().hash_one(key));
    check("identity", |key| Mixed(IdentityBuilder).hash_key(&key));
    check("identity in the high half", |key| Mixed(IdentityBuilder).hash_key(&(key << 32)));
    check("FxHash", |key| Mixed(FxBuilder).hash_key(&key));
    check("FNV-1a", |key| Mixed(Fnv1aBuilder).hash_key(&key));
    check("CRC-64", |key| Mixed(Crc64Builder).hash_key(&key));
}

/// Neighbours meet as rarely as any keys, at every distance.
#[test]
fn keys_at_a_fixed_distance_meet_in_all_rows_as_rarely_as_others() {
    const KEYS: u64 = 4_000_000;
    for distance in [1, 2, 1 << 8, 1 << 32, 1 << 63, 0x9E37_79B9_7F4A_7C15] {
        let meet = |key: u64| {
            let (mut left, mut right) =
                (RowHash::new(finalize(key)), RowHash::new(finalize(key.wrapping_add(distance))));
            (0..3).all(|_| left.next_column(10) == right.next_column(10))
        };
        let met = (0..KEYS).filter(|&key| meet(key)).count() as u64;
        let accepted = Binomial::new(KEYS, 1e-3).acceptance(alpha());
        assert!(accepted.contains(&met), "distance {distance:x}: {met}, not {accepted:?}");
    }
}

/// Half of the signs are minus in each row, and those of two rows agree in half of the keys.
#[test]
fn signs_are_fair_and_independent() {
    const KEYS: u64 = 1_000_000;
    let signs: Vec<u64> = (0..KEYS).map(RowHash::signs).collect();
    let accepted = Binomial::new(KEYS, 0.5).acceptance(alpha());
    let ones =
        |mask: &dyn Fn(u64) -> u64| signs.iter().filter(|&&s| mask(s) & 1 == 1).count() as u64;
    for row in 0..16 {
        assert!(accepted.contains(&ones(&|s| s >> row)), "row {row}");
        assert!(
            accepted.contains(&ones(&|s| s >> row ^ s >> (row + 1))),
            "rows {row} and the next"
        );
    }
}

/// A row of the independent simulation: mean error over all items, and the share of items whose
/// error exceeds e N / width.
struct Simulated {
    exponent: f64,
    width: u64,
    depth: u32,
    conservative: bool,
    mean_error: f64,
}

/// Zipf streams of a million events over 100,000 items; means over five streams.
#[rustfmt::skip]
const SIMULATED: &[Simulated] = &[
    Simulated { exponent: 1.0, width: 272, depth: 3, conservative: false, mean_error: 1882.08 },
    Simulated { exponent: 1.0, width: 272, depth: 5, conservative: false, mean_error: 1690.87 },
    Simulated { exponent: 1.0, width: 272, depth: 7, conservative: true, mean_error: 835.332 },
    Simulated { exponent: 1.0, width: 1024, depth: 5, conservative: false, mean_error: 340.11 },
    Simulated { exponent: 1.0, width: 8192, depth: 3, conservative: false, mean_error: 27.6164 },
    Simulated { exponent: 1.0, width: 8192, depth: 5, conservative: false, mean_error: 21.2102 },
    Simulated { exponent: 1.0, width: 8192, depth: 7, conservative: false, mean_error: 18.2509 },
    Simulated { exponent: 1.1, width: 272, depth: 3, conservative: false, mean_error: 1356.3 },
    Simulated { exponent: 1.1, width: 272, depth: 5, conservative: true, mean_error: 675.789 },
    Simulated { exponent: 1.1, width: 1024, depth: 3, conservative: true, mean_error: 163.828 },
    Simulated { exponent: 1.1, width: 1024, depth: 7, conservative: false, mean_error: 203.933 },
    Simulated { exponent: 1.1, width: 8192, depth: 5, conservative: false, mean_error: 12.2516 },
    Simulated { exponent: 1.5, width: 272, depth: 3, conservative: false, mean_error: 216.242 },
    Simulated { exponent: 1.5, width: 272, depth: 7, conservative: false, mean_error: 127.599 },
    Simulated { exponent: 1.5, width: 1024, depth: 3, conservative: false, mean_error: 28.7609 },
    Simulated { exponent: 1.5, width: 1024, depth: 5, conservative: false, mean_error: 19.0276 },
    Simulated { exponent: 1.5, width: 8192, depth: 5, conservative: false, mean_error: 0.329114 },
    Simulated { exponent: 1.5, width: 8192, depth: 7, conservative: false, mean_error: 0.168852 },
];

/// Mean errors agree with those of fully random row hashes, plain and conservative.
#[test]
fn errors_are_those_of_independent_rows() {
    const TRIALS: usize = 6;
    for (number, row) in (0..).zip(SIMULATED) {
        let zipf = Zipf::new(ITEMS, row.exponent);
        let params = CountMinParams::from_width_and_depth(row.width, row.depth).unwrap();
        let means: Vec<f64> = (0..TRIALS as u64)
            .map(|trial| {
                let trial = number * 100 + trial;
                let stream: Vec<_> = zipf.stream(trial).take(EVENTS).collect();
                let builder = CountMinSketch::builder().params(params);
                let builder = builder.update(update(row.conservative));
                let mut sketch = builder.build().unwrap();
                sketch.extend(stream.iter().map(|&rank| key(trial, rank)));
                mean_error(&sketch, trial, &counts(ITEMS, &stream))
            })
            .collect();
        let mean = means.iter().sum::<f64>() / real(TRIALS);
        let squares: f64 = means.iter().map(|m| (m - mean).powi(2)).sum();
        let spread = (squares / real(TRIALS - 1)).sqrt();
        // Both are means of streams: five in the simulation, and some here. Spreads of few trials are uncertain by a
        // half, so there is a least spread.
        let error = spread.max(0.004 * mean) * (1.0 / 5.0 + 1.0 / real(TRIALS)).sqrt();
        let Simulated { exponent, width, depth, conservative, mean_error } = row;
        assert!(
            (mean - mean_error).abs() <= 6.0 * error,
            "zipf {exponent}, {width} x {depth}, conservative {conservative}: {mean} +- {error}, simulated {mean_error}"
        );
    }
}

/// Returns the mean over all items of estimate less truth. No estimate may be below the truth.
fn mean_error(sketch: &CountMinSketch, trial: u64, counts: &[u64]) -> f64 {
    let error = |(rank, &count): (usize, &u64)| {
        let estimate = sketch.estimate(&key(trial, rank)).value();
        assert!(estimate >= count, "rank {rank}: {estimate} of {count}");
        estimate - count
    };
    real(counts.iter().enumerate().map(error).sum::<u64>() as usize) / real(counts.len())
}

/// At most a share of delta of all estimates exceeds epsilon N, on uniform, skewed and adversarially ordered streams.
#[test]
fn the_bound_holds_on_every_stream() {
    let shapes = [
        CountMinParams::new(0.01, 0.1).unwrap(),
        CountMinParams::new(0.001, 0.02).unwrap(),
        CountMinParams::least_memory(0.002, 0.05).unwrap(),
        CountMinParams::from_width_and_depth(50, 1).unwrap(),
    ];
    for (number, params) in (0..).zip(shapes) {
        for (exponent, seed) in [(0.0, 1), (1.0, 2), (1.1, 3), (1.5, 4)] {
            let seed = number * 10 + seed;
            let stream: Vec<_> = Zipf::new(ITEMS, exponent).stream(seed).take(EVENTS / 2).collect();
            let mut sorted = stream.clone();
            sorted.sort_unstable();
            // For conservative update the worst order has the heavy keys last.
            let rising: Vec<_> = sorted.iter().rev().copied().collect();
            for (order, stream) in [stream, sorted, rising].iter().enumerate() {
                for conservative in [false, true] {
                    let builder = CountMinSketch::builder().params(params);
                    let builder = builder.update(update(conservative));
                    let mut sketch = builder.build().unwrap();
                    sketch.extend(stream.iter().map(|&rank| key(seed, rank)));
                    let counts = counts(ITEMS, stream);
                    let missed = |&(rank, &count): &(usize, &u64)| {
                        let interval = sketch.estimate_interval(&key(seed, rank));
                        assert!(interval.truth_at_most >= Some(count));
                        interval.truth_at_least > count
                    };
                    let missed = counts.iter().enumerate().filter(missed).count();
                    let share = real(missed) / real(ITEMS);
                    assert!(
                        share <= params.delta(),
                        "{params:?}, zipf {exponent}, order {order}, {conservative}: {share}"
                    );
                }
            }
        }
    }
}

/// The median of an odd number of rows has no bias, and each row the variance (F2 - f²) / width.
///
/// One key per trial is queried, because the errors of the keys of one sketch are not independent.
#[test]
fn a_count_sketch_is_unbiased_within_its_variance() {
    const KEYS: usize = 2_000;
    const TRIALS: usize = 1_000;
    for (depth, exponent, ratios) in
        [(1, 0.0, 0.7..=1.3), (1, 1.0, 0.5..=1.7), (3, 1.5, 0.0..=0.9), (5, 1.0, 0.0..=0.7)]
    {
        let zipf = Zipf::new(KEYS, exponent);
        let params = CountSketchParams::from_width_and_depth(200, depth).unwrap();
        let (mut sum, mut squares) = (0.0, 0.0);
        for trial in 0..TRIALS {
            let (seed, asked) = (trial as u64, trial % 100);
            let stream: Vec<_> = zipf.stream(seed).take(10_000).collect();
            let counts = counts(KEYS, &stream);
            let mut sketch =
                CountSketch::from_params(params, DefaultHashBuilder::default()).unwrap();
            sketch.extend(stream.iter().map(|&rank| key(seed, rank)));
            let others: u64 = counts.iter().map(|&count| count * count).sum::<u64>()
                - counts[asked] * counts[asked];
            let error = sketch.estimate(&key(seed, asked)).value() - counts[asked].cast_signed();
            let error = error as f64 / params.standard_error_of_a_row(real(others as usize));
            sum += error;
            squares += error * error;
        }
        let (bias, ratio) = (sum / real(TRIALS), squares / real(TRIALS));
        let error = (ratio / real(TRIALS)).sqrt();
        assert!(bias.abs() <= tolerance() * error, "depth {depth}: bias {bias} +- {error}");
        // The kurtosis of a row on a skewed stream widens the spread of the ratio. A median has a smaller error.
        assert!(ratios.contains(&ratio), "depth {depth}, zipf {exponent}: variance ratio {ratio}");
    }
}

/// The sum of squares that the sketch estimates is that of the stream.
#[test]
fn a_count_sketch_tells_the_sum_of_squares() {
    for exponent in [0.0, 1.0, 1.5] {
        let stream: Vec<_> = Zipf::new(ITEMS, exponent).stream(9).take(200_000).collect();
        let mut sketch = CountSketch::new(0.02, 1e-4).unwrap();
        sketch.extend(stream.iter().map(|&rank| key(1, rank)));
        let truth: u64 = counts(ITEMS, &stream).iter().map(|&count| count * count).sum();
        let ratio = sketch.sum_of_squares().unwrap() / real(truth as usize);
        // The relative standard error of a row is the root of 2 / width, below 1.3 %.
        assert!((ratio - 1.0).abs() < 0.05, "zipf {exponent}: {ratio}");
    }
}

/// On streams of little skew the mean absolute error falls, and keys above the noise are estimated without bias.
#[test]
fn subtracting_the_noise_helps_on_flat_streams() {
    const FREQUENT: usize = 200;
    let params = CountMinParams::from_width_and_depth(1_000, 5).unwrap();
    let mut stream: Vec<_> = Zipf::new(ITEMS, 0.0).stream(5).take(EVENTS).collect();
    stream.extend((0..500 * FREQUENT).map(|i| i % FREQUENT));
    let mut sketch = CountMinSketch::builder().params(params).build().unwrap();
    sketch.extend(stream.iter().map(|&rank| key(3, rank)));
    let (mut plain, mut less, mut bias) = (0.0, 0.0, 0.0);
    for (rank, count) in counts(ITEMS, &stream).into_iter().enumerate() {
        let count = real(count as usize);
        plain += real(sketch.estimate(&key(3, rank)).value() as usize) - count;
        let error = sketch.estimate_mean_min(&key(3, rank)) - count;
        less += error.abs();
        bias += if rank < FREQUENT { error } else { 0.0 };
    }
    let (plain, less) = (plain / real(ITEMS), less / real(ITEMS));
    assert!(less < plain / 10.0, "mean absolute error {less} against {plain}");
    // A row adds the 1,100 others of a counter, give or take 230: frequent keys weigh most of it.
    assert!(bias.abs() / real(FREQUENT) < 60.0, "bias {}", bias / real(FREQUENT));
}

/// Streams of other keys that are difficult for a bound: few and equal, a single one, each a little above epsilon N, or
/// skewed.
fn hard_streams(epsilon: f64) -> Vec<Vec<u64>> {
    let equal = ((1.0 / epsilon) as usize).clamp(1, 40);
    vec![
        vec![1],
        vec![1_000],
        vec![1; 2],
        vec![1; 9],
        vec![7; equal],
        vec![1; equal + 1],
        (1..=20).map(|rank| 1_000 / rank).collect(),
        (0..20).map(|power| 1 << power).collect(),
    ]
}

/// Returns whether no more of `TRIALS` sketches missed a bound than a probability of `delta` explains.
fn assert_rare(missed: u64, delta: f64, what: &dyn core::fmt::Debug) {
    let most = *Binomial::new(TRIALS, delta).acceptance(alpha()).end();
    assert!(missed <= most, "{what:?}: {missed} of {TRIALS}, at most {most}");
}

const TRIALS: u64 = 10_000;

/// The lower bound of an interval is too high with probability at most delta. This is tested at the smallest shapes and
/// totals, for keys that came and one that did not, in one sketch and in a merge of two. Each sketch has its own seed,
/// and one of its keys is judged.
#[test]
fn small_count_min_sketches_keep_their_probability() {
    let shapes = [
        CountMinParams::from_width_and_depth(3, 1),
        CountMinParams::from_width_and_depth(10, 1),
        CountMinParams::from_width_and_depth(6, 3),
        CountMinParams::new(0.9, 0.4),
        CountMinParams::new(0.3, 0.1),
        CountMinParams::least_memory(0.99, 0.001),
        CountMinParams::least_memory(0.45, 0.3),
        CountMinParams::least_memory(0.19, 0.02),
        CountMinParams::for_memory(64, 4, 0.2),
        CountMinParams::least_delta(100, 1, 0.3),
    ];
    for params in shapes.map(Result::unwrap) {
        for stream in hard_streams(params.epsilon()) {
            for conservative in [false, true] {
                let asked_last = stream.len() as u64;
                let mut missed = [0, 0, 0];
                for seed in 0..TRIALS {
                    let builder = CountMinSketch::builder().params(params).seed(seed);
                    let builder = builder.update(update(conservative));
                    let mut parts = [builder.build().unwrap(), builder.build().unwrap()];
                    for (key, &count) in (0u64..).zip(&stream) {
                        // Each part has whole keys. The second part is empty for a single key.
                        parts[(key % 2) as usize].insert_many(&key, count);
                    }
                    let [mut sketch, other] = parts;
                    sketch.merge(&other).unwrap();
                    for (missed, key) in missed.iter_mut().zip([0, asked_last - 1, asked_last]) {
                        let truth = stream.get(key as usize).copied().unwrap_or(0);
                        let interval = sketch.estimate_interval(&key);
                        assert!(interval.truth_at_most >= Some(truth));
                        *missed += u64::from(interval.truth_at_least > truth);
                    }
                }
                let what = (params, &stream, conservative);
                missed.iter().for_each(|&missed| assert_rare(missed, params.delta(), &what));
            }
        }
    }
}

/// Likewise, an estimate is off by more than epsilon times the norm with probability at most delta.
#[test]
fn small_count_sketches_keep_their_probability() {
    let shapes = [
        CountSketchParams::from_width_and_depth(4, 1),
        CountSketchParams::from_width_and_depth(5, 2),
        CountSketchParams::from_width_and_depth(12, 3),
        CountSketchParams::new(0.99, 0.5),
        CountSketchParams::new(0.9, 0.05),
        CountSketchParams::new(0.4, 0.2),
        CountSketchParams::for_memory(512, 0.1),
    ];
    for params in shapes.map(Result::unwrap) {
        for stream in hard_streams(params.epsilon()) {
            let asked_last = stream.len() as u64;
            let norm = stream.iter().map(|&count| (count * count) as f64).sum::<f64>().sqrt();
            let mut missed = [0, 0, 0];
            for seed in 0..TRIALS {
                let hasher = DefaultHashBuilder::with_seed(seed);
                let mut sketch = CountSketch::from_params(params, hasher).unwrap();
                for (key, &count) in (0u64..).zip(&stream) {
                    sketch.insert_many(&key, count);
                }
                for (missed, key) in missed.iter_mut().zip([0, asked_last - 1, asked_last]) {
                    let truth = stream.get(key as usize).copied().unwrap_or(0);
                    let error = sketch.estimate(&key).value().abs_diff(truth.cast_signed());
                    *missed += u64::from(error as f64 > params.epsilon() * norm);
                }
            }
            missed
                .iter()
                .for_each(|&missed| assert_rare(missed, params.delta(), &(params, &stream)));
        }
    }
}
