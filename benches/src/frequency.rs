//! Sketches that count, and summaries of the most frequent keys.
//!
//! Widths and depths are equal. Both sketches count a skewed stream before the timing starts. No estimate may be below
//! the truth. The error in the table is the mean excess of the estimates, as a share of the stream's length.

use datasketches::countmin::CountMinSketch as PeerSketch;
use datasketches::frequencies::FrequentItemsSketch;
use pds::cms::{Count, Update};
use pds::hash::DefaultHashBuilder;
use pds::params::{CountMinParams, HeavyHittersParams};
use pds::{CountMinSketch, HeavyHitters, TopK};
use probabilistic_collections::count_min_sketch as collections;
use streaming_algorithms::CountMinSketch as StreamingSketch;

use crate::contest::{Contender, each};
use crate::floor::Floor;
use crate::keys::{Keys, key};
use crate::report::size;
use crate::suite::{Bench, Fallible, Outcome};

const DEPTH: u32 = 4;
/// Keys per block: a few milliseconds of work.
const BLOCK: usize = 1 << 17;
/// Bytes of the sketches: within the innermost caches, within the outer ones, beyond all.
const SIZES: [u64; 3] = [64 << 10, 5 << 20, 256 << 20];

/// Events of the stream that is counted before the timing starts.
const MOST_EVENTS: u64 = 1 << 22;

/// Returns `true` if ours and the floor request huge pages.
const fn is_large(bytes: u64) -> bool {
    bytes > 64 << 20
}

/// Measures frequency sketches, and summaries of the most frequent keys.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    for bytes in bench.effort().sizes(&SIZES) {
        let width = bytes / 4 / u64::from(DEPTH);
        let params = CountMinParams::from_width_and_depth(width, DEPTH)?;
        let stream = Stream::new(MOST_EVENTS.min(4 * width));
        // Within the caches, the floor is not comparable. A key reads one line of it and four of ours, so fewer lines
        // of the floor are in the near caches.
        let floor = is_large(bytes).then(|| Floor::new(bytes, true)).transpose()?;
        let mut contest = Contest { bench, params, stream: &stream, floor };
        contest.against(&Kind {
            name: "datasketches",
            note: "hashes by its own MurmurHash3, and accepts no other hasher",
            new: |params| {
                Ok(Data::new(u8::try_from(params.depth())?, u32::try_from(params.width())?)?)
            },
            add: |sketch: &mut Data, key: u64| sketch.update(key),
            estimate: |sketch: &Data, key: u64| sketch.estimate(key).into(),
            merge: Some(|sketch, other| sketch.merge(other).is_ok()),
        })?;
        contest.against(&Kind {
            name: "probabilistic-collections",
            note: "hashes twice by our hasher, has counters of 64 bits and cannot merge",
            new: |params| {
                let hashers = [0, 1].map(DefaultHashBuilder::with_seed);
                let [rows, columns] = [params.depth().into(), params.width()].map(usize::try_from);
                Ok(Collected::with_hashers(rows?, columns?, hashers))
            },
            add: |sketch: &mut Collected, key: u64| sketch.insert(&key, 1),
            estimate: |sketch: &Collected, key: u64| sketch.count(&key).cast_unsigned(),
            merge: None,
        })?;
        contest.against(&Kind {
            name: "streaming_algorithms",
            note: "updates conservatively, rounds widths up to powers of two, hashes by its own hasher and cannot merge",
            new: |params| {
                // The number of rows is the number of halvings in the probability of an error, rounded down.
                let probability = 1.0 - 0.5_f64.powf(f64::from(params.depth()) + 0.5);
                Ok(Streaming::new(probability, 2.0 / params.width() as f64, ()))
            },
            add: |sketch: &mut Streaming, key: u64| _ = sketch.push(&key, &1),
            estimate: |sketch: &Streaming, key: u64| sketch.get(&key).into(),
            merge: None,
        })?;
    }
    summaries(bench)
}

type Streaming = StreamingSketch<u64, u32>;
type Data = PeerSketch<u32>;
type Collected =
    collections::CountMinSketch<collections::CountMinStrategy, u64, DefaultHashBuilder>;

/// A peer, by its operations. `A` and `E` are compiled into the loops.
struct Kind<T, A, E> {
    name: &'static str,
    /// Differences from ours.
    note: &'static str,
    new: fn(CountMinParams) -> Fallible<T>,
    add: A,
    estimate: E,
    merge: Option<fn(&mut T, &T) -> bool>,
}

/// Keys with a probability of about 1 / rank each, and the count of each.
struct Stream {
    ranks: Vec<usize>,
    counts: Vec<u64>,
}

impl Stream {
    /// The limit of the ranks.
    const RANKS: f64 = (1 << 20) as f64;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below RANKS")]
    fn new(len: u64) -> Self {
        let uniform = |number| key(number) as f64 / 2.0_f64.powi(64);
        let rank = |number| Self::RANKS.powf(uniform(number)) as usize - 1;
        let ranks: Vec<usize> = (0..len).map(rank).collect();
        let mut counts = vec![0; Self::RANKS as usize + 1];
        ranks.iter().for_each(|&rank| counts[rank] += 1);
        Self { ranks, counts }
    }

    /// Adds the stream to a sketch. Returns the mean error as a share of the stream's length.
    fn feed<T>(
        &self,
        sketch: &mut T,
        add: impl Fn(&mut T, u64),
        estimate: impl Fn(&T, u64) -> u64,
    ) -> f64 {
        self.ranks.iter().for_each(|&rank| add(sketch, key(rank as u64)));
        let excess = |(rank, &count): (usize, &u64)| {
            let estimate = estimate(sketch, key(rank as u64));
            estimate.checked_sub(count).expect("an estimate is never below the truth")
        };
        let sum: u64 = self.counts.iter().enumerate().map(excess).sum();
        sum as f64 / self.counts.len() as f64 / self.ranks.len() as f64
    }

    /// Returns our sketch of the stream, and its error.
    fn ours(&self, params: CountMinParams, update: Update) -> Fallible<(CountMinSketch, f64)> {
        let huge = is_large(params.size_in_bytes(4)) && update == Update::Plain;
        let builder = CountMinSketch::builder().params(params).update(update);
        let mut sketch = builder.huge_pages(huge).build()?;
        let add = |sketch: &mut CountMinSketch, key| _ = sketch.insert(&key);
        let error = self.feed(&mut sketch, add, |sketch, key| sketch.estimate(&key).value());
        Ok((sketch, error))
    }
}

/// A contest of ours with its peers at one size.
struct Contest<'a, 'b> {
    bench: &'a mut Bench<'b>,
    params: CountMinParams,
    stream: &'a Stream,
    /// Random lines of as much memory, if that is beyond the caches.
    floor: Option<Floor>,
}

impl Contest<'_, '_> {
    /// Measures all operations against one peer.
    fn against<T, A, E>(&mut self, kind: &Kind<T, A, E>) -> Outcome
    where
        A: Fn(&mut T, u64),
        E: Fn(&T, u64) -> u64,
    {
        let Self { params, stream, .. } = *self;
        let Kind { add, estimate, .. } = kind;
        let (mut ours, plain) = stream.ours(params, Update::Plain)?;
        let (mut fast, _) = stream.ours(params, Update::Plain)?;
        let (mut careful, conservative) = stream.ours(params, Update::Conservative)?;
        let mut peer = (kind.new)(params)?;
        let theirs = stream.feed(&mut peer, add, estimate);
        let mut counts = vec![Count::default(); BLOCK];
        let mut add_batch = |keys: &[u64]| {
            fast.insert_batch(keys);
            fast.total()
        };
        let errors = [plain, theirs];
        let mut peer_add = each(|key| {
            add(&mut peer, key);
            0
        });
        let mut one = each(|key| ours.insert(&key).value());
        self.row(kind, "add", errors, [&mut one, &mut peer_add]);
        self.row(kind, "add batch", errors, [&mut add_batch, &mut peer_add]);
        let mut one = each(|key| careful.insert(&key).value());
        self.row(kind, "add, conservative", [conservative, theirs], [&mut one, &mut peer_add]);
        let mut peer_estimate = each(|key| estimate(&peer, key));
        let mut one = each(|key| ours.estimate(&key).value());
        self.row(kind, "estimate", errors, [&mut one, &mut peer_estimate]);
        let mut batch = |keys: &[u64]| {
            ours.estimate_batch(keys, &mut counts);
            counts[0].value()
        };
        self.row(kind, "estimate batch", errors, [&mut batch, &mut peer_estimate]);
        let Some(merge) = kind.merge else { return Ok(()) };
        // One of two sketches goes into the other, over and over. No counter overflows in a block.
        let mut twin = (kind.new)(params)?;
        assert!(merge(&mut twin, &peer), "equal parameters");
        let mut merge_ours = |_: &[u64]| u64::from(ours.merge(&fast).is_ok());
        let mut merge_peer = |_: &[u64]| u64::from(merge(&mut peer, &twin));
        let (bytes, block) = (params.size_in_bytes(4), (1, Keys::absent()));
        let (labels, contenders) = (
            [&*size(bytes), "merge, by counter"],
            [&mut merge_ours as &mut dyn Contender, &mut merge_peer],
        );
        let row = self.bench.duel(labels, kind.name, block, contenders);
        self.bench.add(row.per(params.counters() as f64).bytes(bytes));
        Ok(())
    }

    fn row<T, A, E>(
        &mut self,
        kind: &Kind<T, A, E>,
        operation: &str,
        errors: [f64; 2],
        contenders: [&mut dyn Contender; 2],
    ) {
        let bytes = self.params.size_in_bytes(4);
        let floor = self.floor.as_mut().map(|floor| {
            floor.set_writes(operation.starts_with("add"));
            (floor, f64::from(DEPTH))
        });
        let (labels, block) = ([&*size(bytes), operation], (BLOCK, Keys::absent()));
        let row = self.bench.duel_above(floor, labels, kind.name, block, contenders);
        self.bench.add(row.quality("error", errors).difference(kind.name, kind.note).bytes(bytes));
    }
}

/// Heavy hitters: first with the same number of keys, which promise different errors, then with equal promises.
///
/// For equal promises the peer needs more keys. Its error is up to 3.5 N / map size. Ours is N / capacity, for 1.5
/// times as many keys.
const HEAVY_HITTERS: [(&str, u64, usize); 2] =
    [("heavy hitters, 768 keys", 512, 1_024), ("heavy hitters, error N / 1170", 1_170, 4_096)];

/// Measures summaries of the most frequent keys.
fn summaries(bench: &mut Bench<'_>) -> Outcome {
    for (case, capacity, map_size) in HEAVY_HITTERS {
        let params = HeavyHittersParams::with_capacity(0.1, capacity)?;
        let mut ours = HeavyHitters::<u64>::from_params(params, DefaultHashBuilder::default())?;
        summary(bench, case, map_size, &mut each(|key| ours.insert(&skewed(key)).value()))?;
    }
    let mut top = TopK::<u64>::new(100)?;
    summary(bench, "top 100", 1_024, &mut each(|key| top.insert(&skewed(key)).value()))
}

/// Returns one of 512 keys for every second key, so that some are tracked and some are not.
#[inline]
const fn skewed(key: u64) -> u64 {
    if key & 1 == 0 { key >> 1 & 511 } else { key }
}

fn summary(
    bench: &mut Bench<'_>,
    case: &str,
    map_size: usize,
    ours: &mut dyn Contender,
) -> Outcome {
    // It tracks three quarters of its map's size.
    let mut peer = FrequentItemsSketch::<u64>::new(map_size)?;
    let mut add = each(|key| {
        peer.update(skewed(key));
        0
    });
    let block = (BLOCK, Keys::absent());
    let row = bench.duel([case, "add"], "datasketches", block, [ours, &mut add]);
    let note = "uses its frequent items, with capacity 768, or 3072 for the error";
    bench.add(row.difference("datasketches", note));
    Ok(())
}
