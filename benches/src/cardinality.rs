//! Sketches that count distinct keys: inserts, merges, estimates, bytes and errors.
//!
//! *Hash-in* cases pass hashes. Ours mixes them once more, most peers do not. In the other cases `hyperloglogplus`
//! hashes by XXH3 as ours does, and the others have their own hash. Bytes are those requested from the allocator, and
//! the value itself.

use core::convert::Infallible;
use core::hash::{BuildHasher, BuildHasherDefault, Hasher};
use core::hint::black_box;
use core::ops::Range;

use cardinality_estimator::CardinalityEstimator;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use hyperloglogplus::{HyperLogLog as _, HyperLogLogPlus};
use pds::hash::DefaultHashBuilder;
use pds::{HyperLogLog, UltraLogLog};
use pds_testkit::stats::Median;
use wyhash::WyHash;

use crate::allocation;
use crate::keys::{self, Keys};
use crate::report::{Row, Unit};
use crate::suite::{Bench, Effort, Outcome};

/// Keys per block in steady state: a fraction of a millisecond of work.
const BLOCK: usize = 1 << 16;
/// Keys before the steady state.
const STEADY: u64 = 1_000_000;
/// Sketches per union.
const SKETCHES: u64 = 30;

const IN_RANGE: &str = "a precision in range";

/// A kind of sketches under test: its name, and its operations. `A` and `E` are compiled into the loops.
struct Kind<T, A, E> {
    name: &'static str,
    precision: u8,
    empty: fn(u8) -> T,
    add: A,
    /// The sketch's own batch, if it has one.
    batch: Option<fn(&mut T, &[u64])>,
    estimate: E,
    merge: fn(&mut T, &T),
    /// The sketch's own estimate of a union, if it has one.
    union: Option<fn(u8, &[T]) -> f64>,
}

/// A contender of any type.
type Run<'a> = Box<dyn FnMut(&[u64]) -> u64 + 'a>;

/// An operation: its name, its number of repetitions per block, and the work.
type Work<'a> = (&'static str, usize, Run<'a>);

/// Sketches of any type.
trait Sketches {
    fn name(&self) -> &'static str;

    /// Returns all operations. Those on a filled sketch have each their own, of a million keys.
    fn works(&self) -> Vec<Work<'_>>;

    /// Returns the bytes of a sketch of this many keys, and the error of several.
    fn size(&self, keys: u64) -> (u64, f64);

    /// Returns the root of the mean square of the relative errors of several sketches of this many keys each.
    fn error(&self, keys: u64, sketches: u64) -> f64;
}

impl<T: Clone, A: Fn(&mut T, u64), E: Fn(&mut T) -> f64 + Copy> Kind<T, A, E> {
    /// Returns the same sketches with hashes as keys.
    fn hash_in<B>(&self, add: B, batch: Option<fn(&mut T, &[u64])>) -> Kind<T, B, E> {
        let Self { name, precision, empty, estimate, merge, union, .. } = *self;
        Kind { name, precision, empty, add, batch, estimate, merge, union }
    }

    fn add_each(&self, sketch: &mut T, keys: &[u64]) {
        keys.iter().for_each(|&key| (self.add)(sketch, key));
    }

    /// Returns a sketch of the keys with these numbers.
    fn of(&self, numbers: Range<u64>) -> T {
        let mut sketch = (self.empty)(self.precision);
        numbers.for_each(|number| (self.add)(&mut sketch, keys::key(number)));
        sketch
    }

    fn estimate_union(&self, sketches: &[T]) -> f64 {
        if let Some(union) = self.union {
            return union(self.precision, sketches);
        }
        let mut union = (self.empty)(self.precision);
        sketches.iter().for_each(|sketch| (self.merge)(&mut union, sketch));
        (self.estimate)(&mut union)
    }
}

impl<T: Clone, A: Fn(&mut T, u64), E: Fn(&mut T) -> f64 + Copy> Sketches for Kind<T, A, E> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn works(&self) -> Vec<Work<'_>> {
        let part = |part: u64| self.of(part * STEADY / 2..part * STEADY / 2 + STEADY);
        let fresh = |keys: &[u64]| {
            let mut fresh = (self.empty)(self.precision);
            self.add_each(&mut fresh, keys);
            black_box(&mut fresh);
        };
        let [mut steady, mut batched, mut estimated, mut merged] = [0; 4].map(part);
        let (other, others) = (part(1), (1..=SKETCHES).map(part).collect::<Vec<_>>());
        let batch = move |keys: &[u64]| match self.batch {
            Some(add) => add(&mut batched, keys),
            None => self.add_each(&mut batched, keys),
        };
        let merge = move || (self.merge)(black_box(&mut merged), black_box(&other));
        vec![
            ("insert, first 1000", 66_000, whole(move |keys| keys.chunks(1_000).for_each(fresh))),
            ("insert, first 100000", 100_000, whole(fresh)),
            ("insert, steady", BLOCK, whole(move |keys| self.add_each(&mut steady, keys))),
            ("insert batch, steady", BLOCK, whole(batch)),
            ("estimate", 256, repeat(move || (self.estimate)(black_box(&mut estimated)))),
            ("merge", 256, repeat(merge)),
            ("union of 30", 8, repeat(move || self.estimate_union(black_box(&others)))),
        ]
    }

    fn size(&self, keys: u64) -> (u64, f64) {
        // Ten million keys per sketch take long enough.
        let sketches = (20_000_000 / keys).clamp(4, 100);
        let Ok((_, bytes)) = allocation::measured(|| Ok::<_, Infallible>(self.of(0..keys)));
        (bytes, self.error(keys, sketches))
    }

    fn error(&self, keys: u64, sketches: u64) -> f64 {
        let square = |sketch: u64| {
            let mut sketch = self.of(sketch * keys..(sketch + 1) * keys);
            ((self.estimate)(&mut sketch) / keys as f64 - 1.0).powi(2)
        };
        ((0..sketches).map(square).sum::<f64>() / sketches as f64).sqrt()
    }
}

fn whole<'a>(mut work: impl FnMut(&[u64]) + 'a) -> Run<'a> {
    Box::new(move |keys| {
        work(keys);
        0
    })
}

/// Does the work as often as there are keys.
fn repeat<'a, R>(mut work: impl FnMut() -> R + 'a) -> Run<'a> {
    whole(move |keys| keys.iter().for_each(|_| _ = black_box(work())))
}

/// A hasher that returns keys unchanged, because they are already hashes.
#[derive(Clone, Copy, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are integers");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Measures all sketches in two precisions.
///
/// Estimates are compared with the peer that also computes them from scratch. The others update theirs on each insert.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    precision::<12>(bench, 12);
    precision::<14>(bench, 14);
    Ok(())
}

/// Measures all pairs at one precision. The type of a peer fixes it.
fn precision<const P: usize>(bench: &mut Bench<'_>, precision: u8) {
    let hll = Kind {
        name: "hll",
        precision,
        empty: |precision| HyperLogLog::new(precision.into()).expect(IN_RANGE),
        add: |sketch: &mut HyperLogLog, key: u64| _ = sketch.insert(&key),
        batch: Some(|sketch, keys| _ = sketch.insert_batch(keys)),
        estimate: |sketch: &mut HyperLogLog| sketch.estimate(),
        merge: |sketch, other| sketch.merge(other).expect("equal hashers"),
        union: Some(|_, all| {
            HyperLogLog::union_estimate(&all.iter().collect::<Vec<_>>()).expect("equal hashers")
        }),
    };
    let ultra = Kind {
        name: "hll, UltraLogLog",
        precision,
        empty: |precision| UltraLogLog::new(precision.into()).expect(IN_RANGE),
        add: |sketch: &mut UltraLogLog, key: u64| _ = sketch.insert(&key),
        batch: Some(|sketch, keys| _ = sketch.insert_batch(keys)),
        estimate: |sketch: &mut UltraLogLog| sketch.estimate(),
        merge: |sketch, other| sketch.merge(other).expect("equal hashers"),
        union: None,
    };
    let estimator = Kind {
        name: "cardinality-estimator",
        precision,
        empty: |_| CardinalityEstimator::<u64, WyHash, P>::new(),
        add: |sketch: &mut CardinalityEstimator<u64, WyHash, P>, key: u64| sketch.insert(&key),
        batch: None,
        estimate: |sketch: &mut CardinalityEstimator<u64, WyHash, P>| sketch.estimate() as f64,
        merge: |sketch, other| sketch.merge(other),
        union: None,
    };
    let streaming = Kind {
        name: "streaming_algorithms",
        precision,
        empty: Streaming::with_p,
        add: |sketch: &mut Streaming, key: u64| sketch.push(&key),
        batch: None,
        estimate: |sketch: &mut Streaming| sketch.len(),
        merge: Streaming::union,
        union: None,
    };
    // It always hashes, by MurmurHash3.
    let data = Kind {
        name: "datasketches",
        precision,
        empty: |precision| HllSketch::new(precision, HllType::Hll8).expect(IN_RANGE),
        add: |sketch: &mut HllSketch, key: u64| sketch.update(key),
        batch: None,
        estimate: |sketch: &mut HllSketch| sketch.estimate(),
        merge: |sketch, other| {
            *sketch = united(sketch.lg_config_k(), [&*sketch, other]).to_sketch(HllType::Hll8);
        },
        union: Some(|precision, all| united(precision, all).estimate()),
    };
    let mut rows = Rows { bench, case: format!("p = {precision}") };
    let peers: [&dyn Sketches; 4] =
        [&plus::<DefaultHashBuilder>(precision), &estimator, &streaming, &data];
    peers.iter().for_each(|peer| rows.duel(&hll, *peer));
    if P == 14 {
        peers.iter().for_each(|peer| rows.sizes(&hll, *peer));
        // Compared with the peer with the least error.
        rows.case += ", UltraLogLog";
        rows.duel(&ultra, &data);
        rows.sizes(&ultra, &data);
        rows.errors(&ultra, &data);
    }
    let hll = hll.hash_in(
        |sketch: &mut HyperLogLog, hash: u64| _ = sketch.insert_hash(hash),
        Some(|sketch, hashes| _ = sketch.insert_hash_batch(hashes)),
    );
    let estimator = estimator.hash_in(
        |sketch: &mut CardinalityEstimator<u64, WyHash, P>, hash: u64| sketch.insert_hash(hash),
        None,
    );
    let streaming =
        streaming.hash_in(|sketch: &mut Streaming, hash: u64| sketch.push_hash64(hash), None);
    rows.case = format!("p = {precision}, hash-in");
    let plus = plus::<BuildHasherDefault<Identity>>(precision);
    let peers: [&dyn Sketches; 3] = [&plus, &estimator, &streaming];
    peers.iter().for_each(|peer| rows.duel(&hll, *peer));
}

type Streaming = streaming_algorithms::HyperLogLog<u64>;

fn plus<S: BuildHasher + Default + Clone>(precision: u8) -> impl Sketches {
    Kind {
        name: "hyperloglogplus",
        precision,
        empty: |precision| HyperLogLogPlus::new(precision, S::default()).expect(IN_RANGE),
        add: |sketch: &mut HyperLogLogPlus<u64, S>, key: u64| sketch.insert(&key),
        batch: None,
        estimate: |sketch: &mut HyperLogLogPlus<u64, S>| sketch.count(),
        merge: |sketch, other| sketch.merge(other).expect("equal precisions"),
        union: None,
    }
}

fn united<'a>(precision: u8, all: impl IntoIterator<Item = &'a HllSketch>) -> HllUnion {
    let mut union = HllUnion::new(precision).expect(IN_RANGE);
    all.into_iter().for_each(|sketch| union.update(sketch));
    union
}

/// The rows of one case.
struct Rows<'a, 'b> {
    bench: &'a mut Bench<'b>,
    case: String,
}

impl Rows<'_, '_> {
    /// Measures ours against a peer in every operation.
    fn duel(&mut self, ours: &dyn Sketches, theirs: &dyn Sketches) {
        for (mine, other) in ours.works().into_iter().zip(theirs.works()) {
            let ((operation, block, mut mine), (_, _, mut other)) = (mine, other);
            let (labels, block) = ([&*self.case, operation], (block, Keys::absent()));
            let row = self.bench.duel(labels, theirs.name(), block, [&mut mine, &mut other]);
            self.bench.add(row);
        }
    }

    /// Measures errors of many sketches of a million keys.
    fn errors(&mut self, ours: &dyn Sketches, theirs: &dyn Sketches) {
        let sketches = if self.bench.effort() == Effort::Full { 4_000 } else { 200 };
        let errors = [ours, theirs].map(|kind| kind.error(STEADY, sketches));
        let labels = [&*self.case, &format!("error at {STEADY}")];
        let row = Row::exact(labels, theirs.name(), Unit::Error, errors);
        // The logarithm of each error has variance 1 / (2 n). The spread is 1.96 standard deviations of their
        // difference.
        let spread = 1.96 / (sketches as f64).sqrt();
        let [low, high] = [-spread, spread].map(|spread| row.ratio.value * spread.exp());
        self.bench.add(Row { ratio: Median { low, high, ..row.ratio }, ..row });
    }

    /// Measures bytes and errors of sketches of few keys and of many.
    fn sizes(&mut self, ours: &dyn Sketches, theirs: &dyn Sketches) {
        let most = if self.bench.effort() == Effort::Full { 10_000_000 } else { 100_000 };
        for keys in [10, 100, 1_000, 100_000, 10_000_000].into_iter().filter(|&keys| keys <= most) {
            let [(ours, our_error), (bytes, error)] = [ours, theirs].map(|kind| kind.size(keys));
            let labels = [&*self.case, &format!("memory at {keys}")];
            let figures = [ours, bytes].map(|bytes| bytes as f64);
            let row = Row::exact(labels, theirs.name(), Unit::Bytes, figures).bytes(ours);
            self.bench.add(row.quality("error", [our_error, error]));
        }
    }
}
