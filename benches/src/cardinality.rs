//! Sketches that count distinct keys: inserts, merges, estimates, bytes and errors.
//!
//! *Hash-in* cases pass hashes. Ours mixes them once more, most peers do not. In the other cases `hyperloglogplus`
//! hashes by XXH3 as ours does, and the others have their own hash. Bytes are those requested from the allocator, and
//! the value itself.

use core::convert::Infallible;
use core::fmt;
use core::hash::{BuildHasher, BuildHasherDefault, Hasher};
use core::hint::black_box;
use core::ops::Range;

use cardinality_estimator::CardinalityEstimator;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use hyperloglogplus::{HyperLogLog as _, HyperLogLogPlus};
use pds::hash::DefaultHashBuilder;
use pds::{HyperLogLog, UltraLogLog};
use wyhash::WyHash;

use crate::allocation;
use crate::contest::Contender;
use crate::keys::{self, Keys};
use crate::report::{Row, Unit};
use crate::suite::{Bench, Effort, Outcome, Suite};
use pds_testkit::stats::Median;

/// The suite of cardinality sketches.
///
/// Estimates are compared with the peer that also computes them from scratch. The others update theirs on each insert.
pub const SUITE: Suite = Suite {
    name: "hll",
    peers: &["cardinality-estimator", "datasketches", "hyperloglogplus", "streaming_algorithms"],
    run,
};

/// Keys per block in steady state: a fraction of a millisecond of work.
const BLOCK: usize = 1 << 16;
/// Keys before the steady state.
const STEADY: u64 = 1_000_000;
/// Sketches per union.
const SKETCHES: u64 = 30;

/// A sketch under test. The type fixes the precision, and whether keys are hashed or are hashes.
trait Sketch: Sized {
    const NAME: &'static str;

    fn new() -> Self;
    fn insert(&mut self, key: u64);
    fn estimate(&mut self) -> f64;
    fn merge(&mut self, other: &Self);

    fn insert_each(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| self.insert(key));
    }

    /// Inserts keys by the sketch's own batch, if it has one.
    fn insert_batch(&mut self, keys: &[u64]) {
        self.insert_each(keys);
    }

    /// Returns a sketch of the keys with these numbers.
    fn of(numbers: Range<u64>) -> Self {
        let mut sketch = Self::new();
        numbers.for_each(|number| sketch.insert(keys::key(number)));
        sketch
    }

    fn union(sketches: &[Self]) -> f64 {
        let mut union = Self::new();
        sketches.iter().for_each(|sketch| union.merge(sketch));
        union.estimate()
    }
}

struct Ours<const P: u32, const HASHED: bool>(HyperLogLog);

impl<const P: u32, const HASHED: bool> Sketch for Ours<P, HASHED> {
    const NAME: &'static str = "hll";

    fn new() -> Self {
        Self(HyperLogLog::new(P).expect("a precision in range"))
    }

    #[inline]
    fn insert(&mut self, key: u64) {
        let _ = if HASHED { self.0.insert(&key) } else { self.0.insert_hash(key) };
    }

    fn insert_batch(&mut self, keys: &[u64]) {
        let _ = if HASHED { self.0.insert_batch(keys) } else { self.0.insert_hash_batch(keys) };
    }

    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("equal hashers");
    }

    fn union(sketches: &[Self]) -> f64 {
        let sketches: Vec<_> = sketches.iter().map(|sketch| &sketch.0).collect();
        HyperLogLog::union_estimate(&sketches).expect("equal hashers")
    }
}

struct Ultra<const P: u32, const HASHED: bool>(UltraLogLog);

impl<const P: u32, const HASHED: bool> Sketch for Ultra<P, HASHED> {
    const NAME: &'static str = "hll, UltraLogLog";

    fn new() -> Self {
        Self(UltraLogLog::new(P).expect("a precision in range"))
    }

    #[inline]
    fn insert(&mut self, key: u64) {
        let _ = if HASHED { self.0.insert(&key) } else { self.0.insert_hash(key) };
    }

    fn insert_batch(&mut self, keys: &[u64]) {
        let _ = if HASHED { self.0.insert_batch(keys) } else { self.0.insert_hash_batch(keys) };
    }

    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("equal hashers");
    }
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

struct Plus<const P: u32, S: BuildHasher>(HyperLogLogPlus<u64, S>);

impl<const P: u32, S: BuildHasher + Default> Sketch for Plus<P, S> {
    const NAME: &'static str = "hyperloglogplus";

    fn new() -> Self {
        let precision = u8::try_from(P).expect("a precision is at most 18");
        Self(HyperLogLogPlus::new(precision, S::default()).expect("a precision in range"))
    }

    #[inline]
    fn insert(&mut self, key: u64) {
        self.0.insert(&key);
    }

    fn estimate(&mut self) -> f64 {
        self.0.count()
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("equal precisions");
    }
}

struct Estimator<const P: usize, const HASHED: bool>(CardinalityEstimator<u64, WyHash, P>);

impl<const P: usize, const HASHED: bool> Sketch for Estimator<P, HASHED> {
    const NAME: &'static str = "cardinality-estimator";

    fn new() -> Self {
        Self(CardinalityEstimator::new())
    }

    #[inline]
    fn insert(&mut self, key: u64) {
        if HASHED { self.0.insert(&key) } else { self.0.insert_hash(key) }
    }

    fn estimate(&mut self) -> f64 {
        self.0.estimate() as f64
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }
}

/// A sketch that always hashes, by MurmurHash3.
struct Data<const P: u8>(HllSketch);

impl<const P: u8> Sketch for Data<P> {
    const NAME: &'static str = "datasketches";

    fn new() -> Self {
        Self(HllSketch::new(P, HllType::Hll8).expect("a precision in range"))
    }

    #[inline]
    fn insert(&mut self, key: u64) {
        self.0.update(key);
    }

    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }

    fn merge(&mut self, other: &Self) {
        let mut union = HllUnion::new(P).expect("a precision in range");
        union.update(&self.0);
        union.update(&other.0);
        self.0 = union.to_sketch(HllType::Hll8);
    }

    fn union(sketches: &[Self]) -> f64 {
        let mut union = HllUnion::new(P).expect("a precision in range");
        sketches.iter().for_each(|sketch| union.update(&sketch.0));
        union.estimate()
    }
}

struct Streaming<const P: u8, const HASHED: bool>(streaming_algorithms::HyperLogLog<u64>);

impl<const P: u8, const HASHED: bool> Sketch for Streaming<P, HASHED> {
    const NAME: &'static str = "streaming_algorithms";

    fn new() -> Self {
        Self(streaming_algorithms::HyperLogLog::with_p(P))
    }

    #[inline]
    fn insert(&mut self, key: u64) {
        if HASHED { self.0.push(&key) } else { self.0.push_hash64(key) }
    }

    fn estimate(&mut self) -> f64 {
        self.0.len()
    }

    fn merge(&mut self, other: &Self) {
        self.0.union(&other.0);
    }
}

/// The timed work for a sketch of type `T`.
struct Work<T> {
    operation: Operation,
    sketch: T,
    others: Vec<T>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    /// Inserts into fresh sketches, this many keys each.
    Fresh(usize),
    /// Inserts of new keys after a million others.
    Steady,
    /// The same, many in one call.
    Batch,
    Estimate,
    /// Merges two sketches of a million keys.
    Merge,
    /// Estimates the union of 30 sketches.
    Union,
}

impl Operation {
    const ALL: [Self; 7] = [
        Self::Fresh(1_000),
        Self::Fresh(100_000),
        Self::Steady,
        Self::Batch,
        Self::Estimate,
        Self::Merge,
        Self::Union,
    ];

    /// Returns the number of repetitions per block.
    fn block(self) -> usize {
        match self {
            Self::Fresh(keys) => BLOCK.next_multiple_of(keys),
            Self::Steady | Self::Batch => BLOCK,
            Self::Estimate | Self::Merge => 256,
            Self::Union => 8,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh(keys) => write!(f, "insert, first {keys}"),
            Self::Steady => f.write_str("insert, steady"),
            Self::Batch => f.write_str("insert batch, steady"),
            Self::Estimate => f.write_str("estimate"),
            Self::Merge => f.write_str("merge"),
            Self::Union => write!(f, "union of {SKETCHES}"),
        }
    }
}

impl<T: Sketch> Work<T> {
    fn new(operation: Operation) -> Self {
        let sketches = if operation == Operation::Union { SKETCHES } else { 1 };
        let of = |part: u64| T::of(part * STEADY / 2..part * STEADY / 2 + STEADY);
        Self { operation, sketch: of(0), others: (1..=sketches).map(of).collect() }
    }
}

impl<T: Sketch> Contender for Work<T> {
    fn run(&mut self, keys: &[u64]) -> u64 {
        match self.operation {
            Operation::Fresh(size) => {
                for keys in keys.chunks(size) {
                    let mut fresh = T::new();
                    fresh.insert_each(keys);
                    black_box(&mut fresh);
                }
            }
            Operation::Steady => self.sketch.insert_each(keys),
            Operation::Batch => self.sketch.insert_batch(keys),
            Operation::Merge => {
                keys.iter()
                    .for_each(|_| black_box(&mut self.sketch).merge(black_box(&self.others[0])));
            }
            Operation::Estimate => keys.iter().for_each(|_| {
                black_box(black_box(&mut self.sketch).estimate());
            }),
            Operation::Union => keys.iter().for_each(|_| {
                black_box(T::union(black_box(&self.others)));
            }),
        }
        0
    }
}

fn run(bench: &mut Bench<'_>) -> Outcome {
    precision::<12, 12, 12>(bench);
    precision::<14, 14, 14>(bench);
    Ok(())
}

/// Measures all pairs at one precision. The peers express it in types of their own.
fn precision<const P: u32, const BYTE: u8, const SIZE: usize>(bench: &mut Bench<'_>) {
    let mut rows = Rows::of(bench, P, "");
    rows.duel::<Ours<P, true>, Plus<P, DefaultHashBuilder>>();
    rows.duel::<Ours<P, true>, Estimator<SIZE, true>>();
    rows.duel::<Ours<P, true>, Streaming<BYTE, true>>();
    rows.duel::<Ours<P, true>, Data<BYTE>>();
    let mut rows = Rows::of(bench, P, ", hash-in");
    rows.duel::<Ours<P, false>, Plus<P, BuildHasherDefault<Identity>>>();
    rows.duel::<Ours<P, false>, Estimator<SIZE, false>>();
    rows.duel::<Ours<P, false>, Streaming<BYTE, false>>();
    if P == 14 {
        let mut rows = Rows::of(bench, P, "");
        rows.sizes::<Ours<P, true>, Plus<P, DefaultHashBuilder>>();
        rows.sizes::<Ours<P, true>, Estimator<SIZE, true>>();
        rows.sizes::<Ours<P, true>, Streaming<BYTE, true>>();
        rows.sizes::<Ours<P, true>, Data<BYTE>>();
        // Compared with the peer with the least error.
        let mut rows = Rows::of(bench, P, ", UltraLogLog");
        rows.duel::<Ultra<P, true>, Data<BYTE>>();
        rows.sizes::<Ultra<P, true>, Data<BYTE>>();
        rows.errors::<Ultra<P, true>, Data<BYTE>>();
    }
}

/// The rows of one case.
struct Rows<'a, 'b> {
    bench: &'a mut Bench<'b>,
    case: String,
}

impl<'a, 'b> Rows<'a, 'b> {
    fn of(bench: &'a mut Bench<'b>, precision: u32, mode: &str) -> Self {
        Self { bench, case: format!("p = {precision}{mode}") }
    }

    /// Measures `T` of ours against `U` in every operation.
    fn duel<T: Sketch, U: Sketch>(&mut self) {
        for operation in Operation::ALL {
            let (mut ours, mut peer) = (Work::<T>::new(operation), Work::<U>::new(operation));
            let labels = [&*self.case, &operation.to_string()];
            let keys = (operation.block(), Keys::absent());
            self.bench.add(self.bench.duel(labels, U::NAME, keys, [&mut ours, &mut peer]));
        }
    }

    /// Measures errors of many sketches of a million keys.
    fn errors<T: Sketch, U: Sketch>(&mut self) {
        let sketches = if self.bench.effort() == Effort::Full { 4_000 } else { 200 };
        let errors = [error::<T>(STEADY, sketches), error::<U>(STEADY, sketches)];
        let labels = [&*self.case, &format!("error at {STEADY}")];
        let row = Row::exact(labels, U::NAME, Unit::Error, errors);
        // The logarithm of each error has variance 1 / (2 n). The spread is 1.96 standard deviations of their
        // difference.
        let spread = 1.96 / (sketches as f64).sqrt();
        let [low, high] = [-spread, spread].map(|spread| row.ratio.value * spread.exp());
        let ratio = Median { low, high, ..row.ratio };
        self.bench.add(Row { ratio, ..row });
    }

    /// Measures bytes and errors of sketches of few keys and of many.
    fn sizes<T: Sketch, U: Sketch>(&mut self) {
        let most = if self.bench.effort() == Effort::Full { 10_000_000 } else { 100_000 };
        for keys in [10, 100, 1_000, 100_000, 10_000_000].into_iter().filter(|&keys| keys <= most) {
            let ((ours, our_error), (theirs, their_error)) = (size::<T>(keys), size::<U>(keys));
            let labels = [&*self.case, &format!("memory at {keys}")];
            let row =
                Row::exact(labels, U::NAME, Unit::Bytes, [ours, theirs].map(|bytes| bytes as f64));
            self.bench.add(row.quality("error", [our_error, their_error]).bytes(ours));
        }
    }
}

/// Returns the bytes of a sketch of this many keys, and the error of several.
fn size<T: Sketch>(keys: u64) -> (u64, f64) {
    // Ten million keys per sketch take long enough.
    let sketches = (20_000_000 / keys).clamp(4, 100);
    let Ok((_, bytes)) = allocation::measured(|| Ok::<_, Infallible>(T::of(0..keys)));
    (bytes, error::<T>(keys, sketches))
}

/// Returns the root of the mean square of the relative errors of several sketches of this many keys each.
fn error<T: Sketch>(keys: u64, sketches: u64) -> f64 {
    let square = |sketch: u64| {
        let error = T::of(sketch * keys..(sketch + 1) * keys).estimate() / keys as f64 - 1.0;
        error * error
    };
    ((0..sketches).map(square).sum::<f64>() / sketches as f64).sqrt()
}
