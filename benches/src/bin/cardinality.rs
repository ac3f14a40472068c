//! Sketches that count distinct keys against their peers: inserts, merges, estimates, bytes and errors.
//!
//! ```text
//! cargo run -p pds-benches --release --bin cardinality            # 31 pairs
//! cargo run -p pds-benches --release --bin cardinality -- --full  # 51 pairs, and bytes at 10^7 keys
//! ```
//!
//! Each row is one contest of `contest.rs`: the same keys for both contenders, in turn. *Hash-in* rows hand over hashes;
//! ours mixes them once more, most peers do not. In *hashed* rows `hyperloglogplus` hashes as ours does, by
//! XXH3; the others have a hash of their own. Bytes are what the allocator was asked for and the value itself.

#![forbid(unsafe_code)]

use core::error::Error;
use core::fmt;
use core::hash::{BuildHasher, BuildHasherDefault, Hasher};
use core::hint::black_box;
use core::ops::Range;

use cardinality_estimator::CardinalityEstimator;
use clap::Parser;
use comfy_table::{Table, presets};
use datasketches::hll::{HllSketch, HllType, HllUnion};
use hyperloglogplus::{HyperLogLog as _, HyperLogLogPlus};
use pds::{DefaultHashBuilder, HyperLogLog, UltraLogLog};
use pds_benches::contest::{Contender, Effort, contest};
use pds_benches::keys::{self, Keys};
use pds_benches::machine::Machine;
use pds_benches::stats::Median;
use peak_alloc::PeakAlloc;
use wyhash::WyHash;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Keys of a block in steady state: a fraction of a millisecond of work.
const BLOCK: usize = 1 << 16;
/// Keys before the steady state.
const STEADY: u64 = 1_000_000;
/// The crates whose versions are printed.
const PEERS: [&str; 4] =
    ["cardinality-estimator", "datasketches", "hyperloglogplus", "streaming_algorithms"];
/// Sketches of one union.
const SKETCHES: u64 = 30;

/// Times what counts distinct keys against its peers.
#[derive(Debug, Parser)]
struct Arguments {
    /// Fewer pairs: a preliminary figure.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// More pairs, and bytes at 10^7 keys.
    #[arg(long)]
    full: bool,
}

/// A sketch under test. Types fix the precision, and whether keys are hashed or are hashes.
trait Sketch: Sized {
    const NAME: &'static str;

    fn new() -> Self;
    fn insert(&mut self, key: u64);
    fn estimate(&mut self) -> f64;
    fn merge(&mut self, other: &Self);

    fn insert_each(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| self.insert(key));
    }

    /// Inserts keys by the sketch's own batch where it has one.
    fn insert_batch(&mut self, keys: &[u64]) {
        self.insert_each(keys);
    }

    /// A sketch of the keys of these numbers.
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

    fn insert(&mut self, key: u64) {
        let _ = if HASHED { self.0.insert(&key) } else { self.0.insert_hash(key) };
    }

    fn estimate(&mut self) -> f64 {
        self.0.estimate()
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("equal hashers");
    }
}

/// Gives keys, which are hashes already, as they are.
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

/// Always hashes, by MurmurHash3.
struct Data<const P: u8>(HllSketch);

impl<const P: u8> Sketch for Data<P> {
    const NAME: &'static str = "datasketches";

    fn new() -> Self {
        Self(HllSketch::new(P, HllType::Hll8).expect("a precision in range"))
    }

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

/// What is timed, for a sketch of type `T`.
struct Work<T> {
    operation: Operation,
    sketch: T,
    others: Vec<T>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    /// Inserts into fresh sketches, so many each.
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

    /// How often it is done in a block of as many keys.
    fn block(self) -> usize {
        match self {
            Self::Fresh(keys) => BLOCK.next_multiple_of(keys),
            Self::Steady | Self::Batch => BLOCK,
            Self::Estimate | Self::Merge => 256,
            Self::Union => 8,
        }
    }

    /// How many times as fast as the best peer it is to be.
    ///
    /// Merges of the peers with six bits a register have a goal of their own, 100.
    const fn goal(self, peer: &str) -> f64 {
        match self {
            Self::Fresh(_) | Self::Steady | Self::Batch => 1.5,
            Self::Merge
                if matches!(peer.as_bytes(), b"hyperloglogplus" | b"cardinality-estimator") =>
            {
                100.0
            }
            Self::Estimate | Self::Merge | Self::Union => 1.0,
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

struct Rows {
    rounds: usize,
    table: Table,
}

impl Rows {
    /// Sets `T` of ours against `U` in every operation.
    fn duel<T: Sketch, U: Sketch>(&mut self, mode: &str) {
        for operation in Operation::ALL {
            let effort = Effort { rounds: self.rounds, block: operation.block() };
            let (mut ours, mut peer) = (Work::<T>::new(operation), Work::<U>::new(operation));
            let [ours, peer] = contest(effort, Keys::absent(), [&mut ours, &mut peer]);
            self.add(mode, operation, U::NAME, &ours, &peer);
        }
    }

    fn add(&mut self, mode: &str, operation: Operation, name: &str, ours: &[f64], peer: &[f64]) {
        let ratios = ours.iter().zip(peer).map(|(ours, peer)| peer / ours);
        let Median { value, low, high } = Median::of(ratios.collect());
        let ns = |times: &[f64]| format!("{:.2}", Median::of(times.to_vec()).value);
        let goal = operation.goal(name);
        let verdict = match high >= goal {
            true if value < goal => "met, by the interval only",
            true => "met",
            false => "MISSED",
        };
        eprintln!("{mode}: {operation} against {name}");
        self.table.add_row([
            mode.to_owned(),
            operation.to_string(),
            name.to_owned(),
            ns(ours),
            ns(peer),
            format!("{value:.2} [{low:.2}, {high:.2}]"),
            format!("{goal} {verdict}"),
        ]);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let rounds = match (arguments.quick, arguments.full) {
        (true, _) => 7,
        (_, true) => 51,
        _ => 31,
    };
    println!("{}\n", Machine::inspect(PEERS.into_iter()));
    println!("{}\n", sizes(if arguments.full { 10_000_000 } else { 100_000 }));
    let mut rows = Rows { rounds, table: Table::new() };
    rows.table.load_style(presets::ASCII_MARKDOWN);
    rows.table.set_header([
        "mode",
        "operation",
        "peer",
        "ours, ns",
        "peer, ns",
        "times as fast",
        "goal",
    ]);
    duels::<12, 12, 12>(&mut rows);
    duels::<14, 14, 14>(&mut rows);
    println!("{}", rows.table);
    Ok(())
}

/// All pairs at one precision, which the peers spell in types of their own.
fn duels<const P: u32, const BYTE: u8, const SIZE: usize>(rows: &mut Rows) {
    let mode = format!("p = {P}, hash-in");
    rows.duel::<Ours<P, false>, Plus<P, BuildHasherDefault<Identity>>>(&mode);
    rows.duel::<Ours<P, false>, Estimator<SIZE, false>>(&mode);
    rows.duel::<Ours<P, false>, Streaming<BYTE, false>>(&mode);
    let mode = format!("p = {P}, hashed");
    rows.duel::<Ours<P, true>, Plus<P, DefaultHashBuilder>>(&mode);
    rows.duel::<Ours<P, true>, Estimator<SIZE, true>>(&mode);
    rows.duel::<Ours<P, true>, Streaming<BYTE, true>>(&mode);
    rows.duel::<Ours<P, true>, Data<BYTE>>(&mode);
}

/// Bytes and errors at p = 14.
fn sizes(most: u64) -> Table {
    let keys: Vec<u64> =
        [10, 100, 1_000, 100_000, 10_000_000].into_iter().filter(|&keys| keys <= most).collect();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let header = keys.iter().map(|keys| format!("bytes and error at {keys}"));
    table.set_header([String::from("p = 14")].into_iter().chain(header));
    table.add_row(size_row::<Ours<14, true>>(&keys));
    table.add_row(size_row::<Ultra<14, true>>(&keys));
    table.add_row(size_row::<Plus<14, DefaultHashBuilder>>(&keys));
    table.add_row(size_row::<Estimator<14, true>>(&keys));
    table.add_row(size_row::<Streaming<14, true>>(&keys));
    table.add_row(size_row::<Data<14>>(&keys));
    table
}

fn size_row<T: Sketch>(sizes: &[u64]) -> Vec<String> {
    let cell = |&keys: &u64| {
        let (bytes, error) = size::<T>(keys);
        format!("{bytes}, {:.2} %", 100.0 * error)
    };
    [T::NAME.to_owned()].into_iter().chain(sizes.iter().map(cell)).collect()
}

/// Bytes of a sketch of so many keys, and the root of the mean square of the relative errors of some.
fn size<T: Sketch>(keys: u64) -> (usize, f64) {
    // Ten million keys into each of them take long enough.
    let sketches = (20_000_000 / keys).clamp(4, 100);
    let before = ALLOCATOR.current_usage();
    let first = T::of(0..keys);
    let bytes = ALLOCATOR.current_usage() - before + size_of::<T>();
    drop(first);
    let square = |sketch: u64| {
        let error = T::of(sketch * keys..(sketch + 1) * keys).estimate() / keys as f64 - 1.0;
        error * error
    };
    (bytes, ((0..sketches).map(square).sum::<f64>() / sketches as f64).sqrt())
}
