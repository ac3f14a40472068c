//! The blocked Bloom filter as a subject.

mod faults;

use super::bloom::{LOWER_HALF, WORST_PART, worst_part};
use super::constructors::{
    self, Constructor, Filled, ITEMS, RATE, built, calculated, calculated_by, constructor, made,
};
use super::counts;
use super::identity::{Identity, KEYS, and, hashes, with};
use super::keys::{CaseHasher, HasherKind, KeyKind};
use super::measure::{Plan, Work};
use super::membership::{cheap_jobs, plan_jobs, sets_jobs};
use super::prelude::*;
use super::proofs::{self, History};
use super::subject::{Design, Family, Observation, Prediction, Size, Subject, subject};
use core::hash::Hash;
use pds::blocked::{Preference, backends};
use pds::error::{BuildError, ParamError};
use pds::formats::parquet::{ParquetBloomFilter, ParquetWriter};
use pds::hash::DefaultHashBuilder;
use pds::params::BlockedBloomParams;
use pds::params::blocked::{BLOCK_BITS, split_block_rate};
use pds::registry::{BLOCKED_BLOOM, SPLIT_BLOCK_BLOOM};
use pds::{AtomicBlockedBloomFilter, BlockedBloomFilter, Estimate, SplitBlockBloomFilter};

/// The blocked Bloom filters.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Blocked Bloom filter",
    variants: &[],
    jobs,
    faults: &faults::FAULTS,
};

const NAME: &str = "blocked";

const HISTORIES: [History; 1] =
    [History { name: NAME, run: |random, claims| counts::history(BEST, random, claims) }];

/// The fewest and the most parts that an array is divided into to find the most deviating one.
const PARTS: [u64; 2] = [4, 64];
/// Blocks in a part that are enough for a normal law.
const LEAST_OF_A_PART: u64 = 100;
/// Blocks in a part where there are enough for many: blocks that are half loaded differ most, and a tenth more in the
/// worst of their parts is then seen.
const BLOCKS_OF_A_PART: u64 = 160;

/// The relative error of a predicted number of set bits.
const ROUNDING: f64 = 1e-9;

/// Bytes of a block of a split-block filter.
const SPLIT_BLOCK_BYTES: u64 = 32;

/// The backend that the processor gets for most; tiny filters of every number of hashes, and unions, by each of them.
fn jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = cheap_jobs(BEST, run);
    jobs.extend(plan_jobs(BEST, promised(), run));
    jobs.extend(sets_jobs(BEST, run));
    for backend in backends() {
        let shaped = |shape| Blocked { name: NAME, shape, backend: Some(backend) };
        let of_hashes = |hashes| plan_jobs(shaped(Shape::Hashes(hashes)), tiny(), run);
        jobs.extend((2..=16).step_by(2).flat_map(of_hashes));
        jobs.extend(sets_jobs(shaped(Shape::Chosen(Preference::Smallest)), run));
    }
    jobs.extend(counts::jobs(BEST, run, AS_STATED));
    jobs.extend(constructors::jobs(run, NAME, all_constructors()));
    jobs.extend(identities(run.seed));
    jobs.extend(proofs::jobs(run, NAME, &HISTORIES));
    jobs
}

/// Merges with an empty filter.
fn identities<'a>(seed: u64) -> [Job<'a>; 3] {
    let plain = || {
        let params = BlockedBloomParams::new(KEYS, 0.01, Preference::Fastest).expect("sound");
        BlockedBloomFilter::from_params(params, DefaultHashBuilder::default()).expect("memory")
    };
    let atomic = move |seed| AtomicBlockedBloomFilter::from(with(plain(), seed, KEYS));
    let split = || SplitBlockBloomFilter::new(KEYS, 0.01).expect("sound");
    let full_split = move |seed| {
        let mut filter = split();
        hashes(seed).for_each(|hash| _ = filter.insert_hash(hash));
        filter
    };
    [
        Identity::filled("plain", plain, |it| and(it.to_bytes(), &[it.approx_len().value]))
            .job(NAME, seed),
        Identity::new(
            "atomic",
            atomic,
            move || plain().into(),
            |it| and(it.to_bytes(), &[it.approx_len().value]),
        )
        .job(NAME, seed),
        Identity::merged_by(
            |left, right| left.union_with(right).is_err(),
            "split-block",
            full_split,
            split,
            |it| and(it.to_bitset(), &[it.fill_ratio()]),
        )
        .job(NAME, seed),
    ]
}

/// The constructors of blocked filters, and the methods that make one filter from another.
fn all_constructors() -> Vec<Constructor> {
    let in_blocks = || BlockedBloomFilter::builder().blocks(20).false_positive_rate(RATE).build();
    let capacity = in_blocks().expect("sound").expected_items().expect("a design");
    let best = || BlockedBloomFilter::builder().blocks(20).expected_items(ITEMS).build();
    let best_rate = best().expect("sound").promised_rate();
    let new = || BlockedBloomFilter::new(ITEMS, RATE);
    let mut all = vec![
        built("new(1000, 0.01)", RATE, ITEMS, new),
        built("new(50, 0.1)", 0.1, 50, || BlockedBloomFilter::new(50, 0.1)),
        built("builder: items, rate, smallest", RATE, ITEMS, || {
            let builder = BlockedBloomFilter::builder().prefer(Preference::Smallest);
            builder.expected_items(ITEMS).false_positive_rate(RATE).build()
        }),
        built("builder: blocks and rate", RATE, capacity, in_blocks),
        built("builder: blocks and items", best_rate, ITEMS, best),
        built("builder: blocks and hashes", None, ITEMS, || {
            BlockedBloomFilter::builder().blocks(20).hashes(8).build()
        }),
        made("atomic, and back", RATE, ITEMS, new, |filter| {
            AtomicBlockedBloomFilter::from(filter).to_plain().expect("memory")
        }),
    ];
    all.extend(split_constructors());
    all.extend(calculated(&BLOCKED_BLOOM, BlockedBloomFilter::from_params));
    all.extend(calculated_by(&SPLIT_BLOCK_BLOOM, |candidate, random, items| {
        let blocks = candidate.size_in_bytes() / SPLIT_BLOCK_BYTES;
        let filter = SplitBlockBloomFilter::with_blocks(blocks).expect("a block");
        filled_split(filter, random, items, |filter| filter)
    }));
    all
}

fn split_constructors() -> [Constructor; 8] {
    type Build = fn() -> Result<SplitBlockBloomFilter, BuildError>;
    let of = |name: &str, promise: Option<f64>, items, build: Build| {
        constructor(format!("split-block {name}"), promise, items, move |random, items| {
            filled_split(build().expect("a sound design"), random, items, |filter| filter)
        })
    };
    let shrunk = |items, blocks| {
        let name = format!("split-block shrink_to_rate, {blocks} blocks");
        constructor(name, RATE, items, move |random, items| {
            let filter = SplitBlockBloomFilter::with_blocks(blocks).expect("a block");
            filled_split(filter, random, items, |it| it.shrink_to_rate(RATE).expect("memory"))
        })
    };
    fn of_writer(writer: ParquetWriter, rate: f64) -> Result<SplitBlockBloomFilter, BuildError> {
        ParquetBloomFilter::for_writer(writer, ITEMS, rate).map(ParquetBloomFilter::into_blocks)
    }
    [
        of("new(27000, 0.01)", Some(RATE), 27_000, || SplitBlockBloomFilter::new(27_000, RATE)),
        of("new(3300, 0.01)", Some(RATE), 3_300, || SplitBlockBloomFilter::new(3_300, RATE)),
        of("new(1000, 0.05)", Some(0.05), ITEMS, || SplitBlockBloomFilter::new(ITEMS, 0.05)),
        // A writer's filter is as large as the writer's, whatever its rate.
        of("for_writer(Arrow)", None, ITEMS, || of_writer(ParquetWriter::Arrow, RATE)),
        of("for_writer(ParquetJava)", None, ITEMS, || of_writer(ParquetWriter::ParquetJava, 0.05)),
        of("with_blocks(40)", None, ITEMS, || SplitBlockBloomFilter::with_blocks(40)),
        shrunk(27_000, 4_096),
        shrunk(3_300, 512),
    ]
}

/// A filled split-block filter, after `turn` has made another one from it.
fn filled_split(
    mut filter: SplitBlockBloomFilter,
    random: Random<'_>,
    items: u64,
    turn: impl Fn(SplitBlockBloomFilter) -> SplitBlockBloomFilter,
) -> Filled {
    first(items, random).for_each(|hash| _ = filter.insert_hash(hash));
    let filter = turn(filter);
    let rate = Interval::exactly(split_block_rate(filter.num_blocks(), items));
    Filled { contains: Box::new(move |hash| filter.contains_hash(hash)), rate }
}

/// The filter that a user gets.
const BEST: Blocked =
    Blocked { name: NAME, shape: Shape::Chosen(Preference::Fastest), backend: None };

/// Builds [`BlockedBloomFilter`]s by one of the backends, or by the one that the processor gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocked {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) backend: Option<&'static str>,
}

/// The choice that blocks and hashes follow from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Those that the constructor chooses.
    Chosen(Preference),
    /// So many hashes; the design gives the blocks.
    Hashes(u32),
}

impl Family for Blocked {
    type Filter = BlockedBloomFilter<CaseHasher>;
    type Params = BlockedBloomParams;

    fn name(&self) -> &'static str {
        self.name
    }

    fn params(&self, design: &Design) -> BlockedBloomParams {
        let params = match self.shape {
            Shape::Chosen(preference) => chosen(design, preference),
            Shape::Hashes(hashes) => {
                let like = chosen(design, Preference::Fastest);
                like.and_then(|params| {
                    BlockedBloomParams::from_blocks_and_hashes(params.num_blocks(), hashes)
                })
            }
        };
        params.expect("a design of the grid")
    }

    fn build(&self, params: &BlockedBloomParams, hasher: CaseHasher) -> Self::Filter {
        let filter =
            BlockedBloomFilter::from_params(*params, hasher).expect("memory for the filter");
        match self.backend {
            Some(name) => filter.with_backend(name).expect("a backend of the list"),
            None => filter,
        }
    }

    fn predict(&self, params: &BlockedBloomParams, design: &Design, stored: u64) -> Prediction {
        let promised = design.size == Size::Promised
            && stored <= design.items
            && matches!(self.shape, Shape::Chosen(_));
        let backend = self.backend.map_or(String::new(), |name| format!(", {name}"));
        Prediction {
            rate: Interval::exactly(params.rate_at(stored)),
            promise: promised.then_some(design.rate),
            shape: format!("{} blocks, k = {}{backend}", params.num_blocks(), params.num_hashes()),
        }
    }
}

/// The parameters that a design leads to: sizes of the grid are numbers of blocks.
fn chosen(design: &Design, preference: Preference) -> Result<BlockedBloomParams, ParamError> {
    let promised = || BlockedBloomParams::new(design.items, design.rate, preference);
    match design.size {
        Size::Promised => promised(),
        Size::Bits(bits) => {
            BlockedBloomParams::from_blocks_and_items(bits.div_ceil(BLOCK_BITS), design.items)
        }
        Size::PowerOfTwo(_) | Size::Prime => promised().and_then(|params| {
            let blocks = design.bits(params.num_blocks()).max(1);
            BlockedBloomParams::from_blocks_and_items(blocks, design.items)
        }),
    }
}

/// Pools of small filters of the sizes that promise a rate; with fewer items, one block answers too few wrongly to tell.
fn promised() -> Vec<Plan> {
    let design = |items, rate| Design { items, rate, size: Size::Promised };
    let items = [100, 150, 200, 300, 500, 700, 1_000];
    let designs = items.into_iter().flat_map(|items| [0.1, 0.01].map(|rate| design(items, rate)));
    designs.map(|design| pool(design, 3_000, 500)).collect()
}

/// Pools of filters of one, two and three blocks, and one filter of some more, for each backend and number of hashes.
fn tiny() -> Vec<Plan> {
    let design = |blocks: u64| Design {
        items: 100 * blocks,
        rate: 0.01,
        size: Size::Bits(BLOCK_BITS * blocks),
    };
    let larger = design(1_021);
    let work = Work::Instance { stored: larger.items, queries: 300_000 };
    let mut plans = [1, 2, 3].map(|blocks| pool(design(blocks), 1_000, 300)).to_vec();
    plans.push(Plan { work, ..pool(larger, 1, 1) });
    plans
}

fn pool(design: Design, instances: u64, queries: u64) -> Plan {
    let work = Work::Pool { instances, stored: design.items, queries };
    Plan { design, keys: KeyKind::Consecutive, hasher: HasherKind::Default, work }
}

subject!(
    BlockedBloomFilter,
    |filter| filter.words(),
    |filter: &Self, _| Interval::exactly(filter.false_positive_rate()),
    fill,
    |filter: &Self| {
        let items = filter.approx_len().value;
        let spread = items.is_finite().then(|| spread(filter.words(), &filter.params(), items));
        spread.unwrap_or_default()
    }
);

/// The number of set bits against its law.
pub(crate) fn fill(ones: u64, params: &BlockedBloomParams, stored: u64) -> Observation {
    let Estimate { value, standard_error } = params.set_bits_at(stored);
    // One key in one block sets as many bits always: the law has no width but that of rounding.
    let (low, high) = (value * (1.0 - ROUNDING), value * (1.0 + ROUNDING));
    let law = Law::between(low, high, standard_error);
    Observation { check: SET_BITS, law, observed: real(ones) }
}

/// The set bits of the lower half and of the most deviating part, given those of the whole array.
fn spread(words: &[u64], params: &BlockedBloomParams, items: f64) -> Vec<Observation> {
    let [fewest, most] = PARTS;
    let parts = (params.num_blocks() / BLOCKS_OF_A_PART).clamp(fewest, most);
    let checks = [(2, LOWER_HALF), (parts, WORST_PART)];
    let seen =
        checks.into_iter().filter(|(parts, _)| params.num_blocks() / parts >= LEAST_OF_A_PART);
    seen.map(|(parts, check)| worst_of(words, params, items, parts, check)).collect()
}

/// Observes the most deviating one of equal parts; of two, the lower.
///
/// A part holds its share f of the set bits, with a variance of f(1 - f)(v + n s²): v is the variance that the
/// total number has for n items, which is that of blocks with independent loads less what the fixed number of
/// items takes off, n s², where s is the number of bits that one item more sets.
fn worst_of(
    words: &[u64],
    params: &BlockedBloomParams,
    items: f64,
    parts: u64,
    check: Check,
) -> Observation {
    let size = params.num_blocks() / parts;
    let share = real(size) / real(params.num_blocks());
    let stored = whole(items.round());
    let slope = params.set_bits_at(stored + 1).value - params.set_bits_at(stored).value;
    let of_total = params.set_bits_at(stored).standard_error.powi(2);
    let deviation = (share * (1.0 - share) * (of_total + items * slope * slope)).sqrt();
    let expected = share * real(count(words));
    worst_part(words, index(8 * size), parts, (expected, deviation), check)
}

pub(crate) fn count(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}
