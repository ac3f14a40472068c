//! The false-positive rate of double hashing, compared with the exact rate of independent positions.
//!
//! Prints the table of `docs/hashing.md`, one row at a time. Arguments name the sizes to measure, in bits: `cargo run
//! --release -p bloom-core --example double_hashing 1000 10000`. The exit status is 1 if, at a shape of at least 1,000
//! bits and a rate of at least 1e-4, the excess is beyond 2 % or not known to 0.3 %.
//! The whole table takes about ten minutes on two cores under other load. `--quick` queries a thousandth of the keys,
//! and fails if chance does not explain the excess.

use bloom_core::{BitArray, BloomFilter, BloomParams};
use core::num::ParseIntError;
use pds_core::hash::{DefaultHashBuilder, reduce};
use pds_params::bloom::rate_exact;
use pds_testkit::keys;
use std::process::ExitCode;
use std::thread;

/// Absent keys queried per row. At a rate of 1e-4, the standard error of their count is 0.29 %.
const QUERIES: u64 = 1_200_000_000;
/// The rejected scheme is measured with one in this number of keys.
const SHARE_OF_THE_OTHER: u64 = 6;
/// A quick run queries one in this number of keys.
const SHARE_OF_A_QUICK_RUN: u64 = 1_000;
/// Absent keys queried per stored key, so that queries take more time than filling.
const QUERIES_AN_ITEM: u64 = 20;
/// Threads, each with a seed of its own, so that the figures are the same on every machine.
const SEEDS: [u64; 2] = [20_261_128, 20_261_129];

/// The promise, and the least number of bits and the least rate for which it holds.
const MOST_EXCESS: f64 = 0.02;
const MOST_ERROR: f64 = 0.003;
const LEAST_BITS: u64 = 1_000;
const LEAST_RATE: f64 = 1e-4;

/// Random filters at half fill. Those with 20 probes have the load for a rate of one in ten thousand.
const SHAPES: [Shape; 27] = [
    Shape::new(16, 4, 3),
    Shape::new(16, 7, 2),
    Shape::new(16, 10, 1),
    Shape::new(16, 13, 1),
    Shape::new(32, 4, 6),
    Shape::new(32, 7, 3),
    Shape::new(32, 10, 2),
    Shape::new(32, 13, 2),
    Shape::new(64, 4, 11),
    Shape::new(64, 7, 6),
    Shape::new(64, 10, 4),
    Shape::new(64, 13, 3),
    Shape::new(100, 4, 17),
    Shape::new(100, 7, 10),
    Shape::new(100, 10, 7),
    Shape::new(100, 13, 5),
    Shape::new(256, 4, 44),
    Shape::new(256, 7, 25),
    Shape::new(256, 10, 18),
    Shape::new(256, 13, 14),
    Shape::new(1_000, 4, 173),
    Shape::new(1_000, 7, 99),
    Shape::new(1_000, 10, 69),
    Shape::new(1_000, 13, 53),
    Shape::new(1_000, 20, 50),
    Shape::new(10_000, 7, 990),
    Shape::new(10_000, 13, 533),
];

/// A filter that is filled and queried, with a scheme from hash to positions.
trait Subject {
    fn new(shape: &Shape) -> Self;
    fn clear(&mut self);
    fn insert(&mut self, hash: u64);
    fn contains(&self, hash: u64) -> bool;
}

/// The product.
impl Subject for BloomFilter {
    fn new(shape: &Shape) -> Self {
        let params = BloomParams::from_bits_and_hashes(shape.bits, shape.hashes);
        let params = params.expect("a shape of the list");
        Self::from_params(params, DefaultHashBuilder::default()).expect("memory for a small filter")
    }

    fn clear(&mut self) {
        Self::clear(self);
    }

    fn insert(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn contains(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }
}

/// The same, except that the second difference starts from a constant instead of the key.
struct ConstantStart {
    bits: BitArray,
    hashes: u32,
}

impl ConstantStart {
    fn positions(&self, hash: u64) -> impl Iterator<Item = u64> + use<> {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let num_bits = self.bits.num_bits();
        let mut position = hash;
        let (mut step, mut second) = (position.rotate_left(33) | 1, STEP);
        (0..self.hashes).map(move |_| {
            let found = reduce(position, num_bits);
            position = position.wrapping_add(step);
            step = step.wrapping_add(second);
            second = second.wrapping_add(STEP);
            found
        })
    }
}

impl Subject for ConstantStart {
    fn new(shape: &Shape) -> Self {
        let bits = BitArray::zeroed(shape.bits).expect("memory for a small filter");
        Self { bits, hashes: shape.hashes }
    }

    fn clear(&mut self) {
        self.bits.clear();
    }

    fn insert(&mut self, hash: u64) {
        for position in self.positions(hash) {
            self.bits.set(position);
        }
    }

    fn contains(&self, hash: u64) -> bool {
        self.positions(hash).all(|position| self.bits.get(position))
    }
}

/// False positives of many filters.
#[derive(Clone, Copy, Default)]
struct Tally {
    filters: f64,
    hits: f64,
    /// Sum over the filters of their squared numbers of hits.
    squares: f64,
}

impl Tally {
    fn add(&mut self, hits: f64) {
        self.filters += 1.0;
        self.hits += hits;
        self.squares += hits * hits;
    }

    fn and(self, other: Self) -> Self {
        Self {
            filters: self.filters + other.filters,
            hits: self.hits + other.hits,
            squares: self.squares + other.squares,
        }
    }

    /// Returns the mean number of hits per filter over the expected one, less one, with its standard error from the
    /// scatter of the filters.
    fn excess(&self, expected: f64) -> Excess {
        let mean = self.hits / self.filters;
        let variance = self.squares / self.filters - mean * mean;
        Excess {
            value: mean / expected - 1.0,
            standard_error: (variance / self.filters).sqrt() / expected,
        }
    }
}

struct Excess {
    value: f64,
    standard_error: f64,
}

impl Excess {
    fn is_small_and_known(&self) -> bool {
        self.value.abs() <= MOST_EXCESS && self.standard_error <= MOST_ERROR
    }

    /// Returns whether chance explains the excess over the promise.
    fn may_be_small(&self) -> bool {
        self.value.abs() <= MOST_EXCESS + 5.0 * self.standard_error
    }
}

/// Filters with these bits, probes and items.
struct Shape {
    bits: u64,
    hashes: u32,
    items: u64,
}

impl Shape {
    const fn new(bits: u64, hashes: u32, items: u64) -> Self {
        Self { bits, hashes, items }
    }

    /// Returns the mean rate of filters with independent positions.
    fn rate(&self) -> f64 {
        rate_exact(self.bits, self.items, self.hashes)
    }

    fn is_promised(&self) -> bool {
        self.bits >= LEAST_BITS && self.rate() >= LEAST_RATE
    }

    fn measure<S: Subject>(&self, queries: u64) -> Excess {
        let asked = QUERIES_AN_ITEM * self.items;
        let filters = queries / asked / SEEDS.len() as u64;
        let tally = thread::scope(|scope| {
            SEEDS
                .map(|seed| scope.spawn(move || self.run::<S>(filters, asked, seed)))
                .map(|thread| thread.join().expect("a thread that counts"))
                .into_iter()
                .fold(Tally::default(), Tally::and)
        });
        tally.excess(self.rate() * real(asked))
    }

    /// Fills one filter after another, and queries each for absent keys.
    fn run<S: Subject>(&self, filters: u64, asked: u64, seed: u64) -> Tally {
        let mut hashes = keys::random(seed);
        let mut subject = S::new(self);
        let mut tally = Tally::default();
        for _ in 0..filters {
            subject.clear();
            (0..self.items).zip(hashes.by_ref()).for_each(|(_, hash)| subject.insert(hash));
            let answers = (0..asked).zip(hashes.by_ref()).map(|(_, hash)| subject.contains(hash));
            tally.add(real(answers.map(u64::from).sum()));
        }
        tally
    }
}

fn main() -> Result<ExitCode, ParseIntError> {
    pds_testkit::pipe::end_quietly();
    let (options, sizes): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|argument| argument == "--quick");
    let sizes = sizes.iter().map(|bits| bits.parse::<u64>()).collect::<Result<Vec<_>, _>>()?;
    let is_quick = !options.is_empty();
    let queries = if is_quick { QUERIES / SHARE_OF_A_QUICK_RUN } else { QUERIES };
    println!("| m | k | n | rate | excess, constant start | excess, as above | standard error |");
    println!("|---|---|---|---|---|---|---|");
    let mut kept = true;
    for shape in SHAPES.iter().filter(|shape| sizes.is_empty() || sizes.contains(&shape.bits)) {
        let other = shape.measure::<ConstantStart>(queries / SHARE_OF_THE_OTHER);
        let ours = shape.measure::<BloomFilter>(queries);
        let keeps = if is_quick { ours.may_be_small() } else { ours.is_small_and_known() };
        kept &= keeps || !shape.is_promised();
        print(shape, &other, &ours);
    }
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(shape: &Shape, other: &Excess, ours: &Excess) {
    let Shape { bits, hashes, items } = shape;
    println!(
        "| {bits} | {hashes} | {items} | {rate:.3e} | {other:+.2} % | {ours:+.2} % | {error:.2} % |",
        rate = shape.rate(),
        other = 100.0 * other.value,
        ours = 100.0 * ours.value,
        error = 100.0 * ours.standard_error,
    );
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
const fn real(count: u64) -> f64 {
    count as f64
}
