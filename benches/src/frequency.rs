//! Sketches that count, and summaries of the most frequent keys.
//!
//! Widths and depths are equal. Both sketches count a skewed stream before the timing starts. No estimate may be below
//! the truth. The error in the table is the mean excess of the estimates, as a share of the stream's length.

use core::error::Error;

use datasketches::countmin::CountMinSketch as PeerSketch;
use datasketches::frequencies::FrequentItemsSketch;
use pds::cms::{Count, Update};
use pds::hash::DefaultHashBuilder;
use pds::params::{CountMinParams, HeavyHittersParams};
use pds::{CountMinSketch, HeavyHitters, TopK};
use probabilistic_collections::count_min_sketch as collections;
use streaming_algorithms::CountMinSketch as StreamingSketch;

use crate::contest::{Contender, Each, Whole};
use crate::floor::Floor;
use crate::keys::{Keys, key};
use crate::report::size;
use crate::suite::{Bench, Outcome, Suite};

/// The suite of frequency sketches.
pub const SUITE: Suite = Suite {
    name: "cms",
    peers: &["datasketches", "probabilistic-collections", "streaming_algorithms"],
    run,
};

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

fn run(bench: &mut Bench<'_>) -> Outcome {
    for bytes in bench.effort().sizes(&SIZES) {
        let width = bytes / 4 / u64::from(DEPTH);
        let params = CountMinParams::from_width_and_depth(width, DEPTH)?;
        let stream = Stream::new(MOST_EVENTS.min(4 * width));
        // Within the caches, the floor is not comparable. A key reads one line of it and four of ours, so fewer lines
        // of the floor are in the near caches.
        let floor = is_large(bytes).then(|| Floor::new(bytes, true)).transpose()?;
        let mut contest = Contest { bench, params, stream: &stream, floor };
        contest.against::<PeerSketch<u32>>()?;
        contest.against::<CollectionsSketch>()?;
        contest.against::<StreamingSketch<u64, u32>>()?;
    }
    summaries(bench)
}

/// A sketch under test.
trait Sketch: Sized {
    const NAME: &'static str;
    /// Differences from ours.
    const NOTE: &'static str;

    fn of(params: CountMinParams) -> Result<Self, Box<dyn Error>>;
    fn add(&mut self, key: u64) -> u64;
    fn estimate(&self, key: u64) -> u64;

    /// Creates a second sketch to merge, if two can be merged.
    fn twin(&self) -> Option<Self> {
        None
    }

    fn merge(&mut self, _other: &Self) -> bool {
        false
    }
}

impl Sketch for CountMinSketch {
    const NAME: &'static str = "ours";
    const NOTE: &'static str = "";

    fn of(params: CountMinParams) -> Result<Self, Box<dyn Error>> {
        Ok(Self::builder().params(params).huge_pages(is_large(params.size_in_bytes(4))).build()?)
    }

    #[inline]
    fn add(&mut self, key: u64) -> u64 {
        self.insert(&key).value()
    }

    #[inline]
    fn estimate(&self, key: u64) -> u64 {
        self.estimate(&key).value()
    }

    fn twin(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn merge(&mut self, other: &Self) -> bool {
        self.merge(other).is_ok()
    }
}

impl Sketch for PeerSketch<u32> {
    const NAME: &'static str = "datasketches";
    const NOTE: &'static str =
        "datasketches hashes by its own MurmurHash3, and accepts no other hasher.";

    fn of(params: CountMinParams) -> Result<Self, Box<dyn Error>> {
        Ok(Self::new(u8::try_from(params.depth())?, u32::try_from(params.width())?)?)
    }

    #[inline]
    fn add(&mut self, key: u64) -> u64 {
        self.update(key);
        0
    }

    #[inline]
    fn estimate(&self, key: u64) -> u64 {
        u64::from(self.estimate(key))
    }

    fn twin(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn merge(&mut self, other: &Self) -> bool {
        self.merge(other).is_ok()
    }
}

/// The same hasher as ours, given twice.
type CollectionsSketch =
    collections::CountMinSketch<collections::CountMinStrategy, u64, DefaultHashBuilder>;

impl Sketch for CollectionsSketch {
    const NAME: &'static str = "probabilistic-collections";
    const NOTE: &'static str = "probabilistic-collections hashes twice by our hasher, has counters of 64 bits \
                                and cannot merge.";

    fn of(params: CountMinParams) -> Result<Self, Box<dyn Error>> {
        let hashers = [DefaultHashBuilder::with_seed(0), DefaultHashBuilder::with_seed(1)];
        Ok(Self::with_hashers(params.depth() as usize, usize::try_from(params.width())?, hashers))
    }

    #[inline]
    fn add(&mut self, key: u64) -> u64 {
        self.insert(&key, 1);
        0
    }

    #[inline]
    fn estimate(&self, key: u64) -> u64 {
        self.count(&key).cast_unsigned()
    }
}

/// This sketch has only conservative update.
impl Sketch for StreamingSketch<u64, u32> {
    const NAME: &'static str = "streaming_algorithms";
    const NOTE: &'static str = "streaming_algorithms updates conservatively, rounds widths up to powers of two, \
                                hashes by its own hasher and cannot merge.";

    fn of(params: CountMinParams) -> Result<Self, Box<dyn Error>> {
        // The number of rows is the number of halvings in the probability of an error, rounded down.
        let probability = 1.0 - 0.5_f64.powf(f64::from(params.depth()) + 0.5);
        Ok(Self::new(probability, 2.0 / params.width() as f64, ()))
    }

    #[inline]
    fn add(&mut self, key: u64) -> u64 {
        u64::from(self.push(&key, &1))
    }

    #[inline]
    fn estimate(&self, key: u64) -> u64 {
        u64::from(self.get(&key))
    }
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
    fn feed<T: Sketch>(&self, sketch: &mut T) -> f64 {
        for &rank in &self.ranks {
            sketch.add(key(rank as u64));
        }
        let excess = |(rank, &count): (usize, &u64)| {
            let estimate = sketch.estimate(key(rank as u64));
            estimate.checked_sub(count).expect("an estimate is never below the truth")
        };
        let sum: u64 = self.counts.iter().enumerate().map(excess).sum();
        sum as f64 / self.counts.len() as f64 / self.ranks.len() as f64
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
    fn against<T: Sketch>(&mut self) -> Outcome {
        let [mut ours, mut fast] =
            [CountMinSketch::of(self.params)?, CountMinSketch::of(self.params)?];
        let mut careful =
            CountMinSketch::builder().params(self.params).update(Update::Conservative).build()?;
        let mut peer = T::of(self.params)?;
        let theirs = self.stream.feed(&mut peer);
        let (plain, conservative) = (self.stream.feed(&mut ours), self.stream.feed(&mut careful));
        fast.merge(&ours)?;
        let mut counts = vec![Count::default(); BLOCK];
        let mut add_batch = |keys: &[u64]| {
            fast.insert_batch(keys);
            fast.total()
        };
        let mut add = Each(|key| peer.add(key));
        self.row::<T>("add", [plain, theirs], &mut Each(|key| ours.add(key)), &mut add);
        self.row::<T>("add batch", [plain, theirs], &mut Whole(&mut add_batch), &mut add);
        let errors = [conservative, theirs];
        self.row::<T>("add, conservative", errors, &mut Each(|key| careful.add(key)), &mut add);
        let mut estimate = Each(|key| peer.estimate(key));
        let mut one = Each(|key| Sketch::estimate(&ours, key));
        self.row::<T>("estimate", [plain, theirs], &mut one, &mut estimate);
        let mut batch = Whole(|keys: &[u64]| {
            ours.estimate_batch(keys, &mut counts);
            counts[0].value()
        });
        self.row::<T>("estimate batch", [plain, theirs], &mut batch, &mut estimate);
        match peer.twin() {
            Some(twin) => self.merges([ours, fast], [peer, twin]),
            None => Ok(()),
        }
    }

    fn row<T: Sketch>(
        &mut self,
        operation: &str,
        errors: [f64; 2],
        ours: &mut dyn Contender,
        peer: &mut dyn Contender,
    ) {
        let labels = [&*self.case(), operation];
        let keys = (BLOCK, Keys::absent());
        let contenders: [&mut dyn Contender; 2] = [ours, peer];
        let row = match &mut self.floor {
            None => self.bench.duel(labels, T::NAME, keys, contenders),
            Some(floor) => {
                floor.set_writes(operation.starts_with("add"));
                let floor = (floor, f64::from(DEPTH));
                self.bench.duel_above(floor, labels, T::NAME, keys, contenders)
            }
        };
        self.bench.add(row.quality("error", errors).note(T::NOTE).bytes(self.bytes()));
    }

    /// Merges one of two equal sketches into the other, over and over. No counter overflows in a block.
    fn merges<T: Sketch>(
        &mut self,
        [mut ours, other]: [CountMinSketch; 2],
        [mut peer, other_peer]: [T; 2],
    ) -> Outcome {
        let mut merge = Whole(|_: &[u64]| u64::from(Sketch::merge(&mut ours, &other)));
        let mut merge_peer = Whole(|_: &[u64]| u64::from(peer.merge(&other_peer)));
        let labels = [&*self.case(), "merge, by counter"];
        let row =
            self.bench.duel(labels, T::NAME, (1, Keys::absent()), [&mut merge, &mut merge_peer]);
        self.bench.add(row.per(self.params.counters() as f64).bytes(self.bytes()));
        Ok(())
    }

    fn case(&self) -> String {
        size(self.bytes())
    }

    const fn bytes(&self) -> u64 {
        self.params.size_in_bytes(4)
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
        summary(bench, case, map_size, &mut Each(|key| ours.insert(&skewed(key)).value()))?;
    }
    let mut top = TopK::<u64>::new(100)?;
    summary(bench, "top 100", 1_024, &mut Each(|key| top.insert(&skewed(key)).value()))
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
    let mut peer_add = Each(|key| {
        peer.update(skewed(key));
        0
    });
    let keys = (BLOCK, Keys::absent());
    let row = bench.duel([case, "add"], "datasketches", keys, [ours, &mut peer_add]);
    bench.add(
        row.note("datasketches uses its frequent items, with capacity 768, or 3072 for the error."),
    );
    Ok(())
}
