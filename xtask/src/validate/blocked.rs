//! The blocked Bloom filter as a subject.

mod constructors;
mod faults;
mod identities;

use super::bloom::{LOWER_HALF, WORST_PART};
use super::coverage::AS_STATED;
use super::judge::{Check, Law, real};
use super::keys::{HasherKind, KeyKind};
use super::measure::{Plan, SET_BITS, Work};
use super::membership::{cheap_jobs, plan_jobs, sets_jobs};
use super::proofs::{self, History, two_filters};
use super::schedule::Job;
use super::structures::Structure;
use super::subject::{
    Design, Family, Interval, Observation, Prediction, Sets, Size, Subject, sets,
};
use super::{Run, counts};
use core::hash::Hash;
use pds::blocked::backends;
use pds::error::ParamError;
use pds::hash::KeyHasher;
use pds::params::{BlockedBloomParams, Preference, blocked::BLOCK_BITS};
use pds::{BlockedBloomFilter, Estimate};

/// The blocked Bloom filters.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Blocked Bloom filter",
    variants: &[],
    jobs,
    faults: &faults::FAULTS,
};

const NAME: &str = "blocked";

const HISTORIES: [History; 1] = [History { name: NAME, run: two_filters!(BlockedBloomFilter, 8) }];

/// The fewest and the most parts that an array is divided into to find the most deviating one.
const PARTS: [u64; 2] = [4, 64];
/// Blocks in a part that are enough for a normal law.
const LEAST_OF_A_PART: u64 = 100;
/// Blocks in a part where there are enough for many: blocks that are half loaded differ most, and a tenth more in the
/// worst of their parts is then seen.
const BLOCKS_OF_A_PART: u64 = 160;

/// The relative error of a predicted number of set bits.
const ROUNDING: f64 = 1e-9;

/// The backend that the processor gets for most; tiny filters of every number of hashes, and unions, by each of them.
fn jobs(run: &Run) -> Vec<Job<'_>> {
    let fastest = Shape::Chosen(Preference::Fastest);
    let best = Blocked { name: NAME, shape: fastest, backend: None };
    let mut jobs = cheap_jobs(best, run);
    jobs.extend(plan_jobs(best, promised(), run));
    jobs.extend(sets_jobs(best, run));
    for backend in backends() {
        jobs.extend(jobs_by_backend(backend, run));
    }
    jobs.extend(counts::jobs(best, run, AS_STATED));
    jobs.extend(super::constructors::jobs(run, NAME, constructors::all()));
    jobs.extend(identities::jobs(run.seed));
    jobs.extend(proofs::jobs(run, NAME, &HISTORIES));
    jobs
}

fn jobs_by_backend<'a>(backend: &'static str, run: &'a Run) -> Vec<Job<'a>> {
    let shaped = |shape| Blocked { name: NAME, shape, backend: Some(backend) };
    let of_hashes = |hashes| plan_jobs(shaped(Shape::Hashes(hashes)), tiny(), run);
    let mut jobs: Vec<Job<'a>> = (2..=16).step_by(2).flat_map(of_hashes).collect();
    jobs.extend(sets_jobs(shaped(Shape::Chosen(Preference::Smallest)), run));
    jobs
}

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
    type Filter<S: KeyHasher + Clone> = BlockedBloomFilter<S>;
    type Params = BlockedBloomParams;

    fn name(&self) -> &'static str {
        self.name
    }

    fn params(&self, design: &Design) -> BlockedBloomParams {
        params(design, self.shape)
    }

    fn build<S: KeyHasher + Clone>(
        &self,
        params: &BlockedBloomParams,
        hasher: S,
    ) -> BlockedBloomFilter<S> {
        let filter =
            BlockedBloomFilter::from_params(*params, hasher).expect("memory for the filter");
        match self.backend {
            Some(name) => filter.with_backend(name).expect("a backend of the list"),
            None => filter,
        }
    }

    fn predict(&self, params: &BlockedBloomParams, design: &Design, stored: u64) -> Prediction {
        let mut prediction = predict(params, design, stored);
        if let Shape::Hashes(_) = self.shape {
            prediction.promise = None;
        }
        if let Some(backend) = self.backend {
            prediction.shape += &format!(", {backend}");
        }
        prediction
    }
}

/// The parameters that a design leads to: sizes of the grid are numbers of blocks.
///
/// # Panics
/// When the design is impossible: the grid holds none of that kind.
fn params(design: &Design, shape: Shape) -> BlockedBloomParams {
    let params = match shape {
        Shape::Chosen(preference) => chosen(design, preference),
        Shape::Hashes(hashes) => {
            let like = chosen(design, Preference::Fastest);
            like.and_then(|p| BlockedBloomParams::from_blocks_and_hashes(p.num_blocks(), hashes))
        }
    };
    params.expect("a design of the grid")
}

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

/// Returns the prediction of the mathematics for filters with these parameters.
fn predict(params: &BlockedBloomParams, design: &Design, stored: u64) -> Prediction {
    let promised = design.size == Size::Promised && stored <= design.items;
    Prediction {
        rate: exactly(params.rate_at(stored)),
        promise: promised.then_some(design.rate),
        shape: format!("{} blocks, k = {}", params.num_blocks(), params.num_hashes()),
    }
}

pub(crate) const fn exactly(rate: f64) -> Interval {
    Interval { low: rate, high: rate }
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

impl<S: KeyHasher + Clone> Subject for BlockedBloomFilter<S> {
    fn insert<K: Hash>(&mut self, key: &K) {
        Self::insert(self, key);
    }

    fn contains<K: Hash>(&self, key: &K) -> bool {
        Self::contains(self, key)
    }

    fn contains_batch<K: Hash>(&self, keys: &[K], answers: &mut [bool]) {
        Self::contains_batch(self, keys, answers);
    }

    fn rate_now(&self, _stored: u64) -> Interval {
        exactly(self.false_positive_rate())
    }

    fn fill(&self, stored: u64) -> Observation {
        fill(self.count_ones(), &self.params(), stored)
    }

    fn spread(&self) -> Vec<Observation> {
        let items = self.approx_len().value;
        if items.is_finite() { spread(self.words(), &self.params(), items) } else { Vec::new() }
    }
}

sets!(BlockedBloomFilter, filter => filter.words());

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

/// Divides the blocks into equal parts and looks at the most deviating one; of two, at the lower.
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
    let looks = if parts == 2 { 1 } else { params.num_blocks() / size };
    let share = real(size) / real(params.num_blocks());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in bounds")]
    let stored = items.round() as u64;
    let slope = params.set_bits_at(stored + 1).value - params.set_bits_at(stored).value;
    let of_total = params.set_bits_at(stored).standard_error.powi(2);
    let deviation = (share * (1.0 - share) * (of_total + items * slope * slope)).sqrt();
    let expected = share * real(count(words));
    let size = usize::try_from(8 * size).expect("words in memory");
    let looked_at = usize::try_from(looks).expect("few parts");
    let ones = words.chunks_exact(size).take(looked_at).map(|part| real(count(part)));
    let distance = |ones: &f64| (ones - expected).abs();
    let worst = ones.max_by(|left, right| distance(left).total_cmp(&distance(right)));
    let observed = worst.expect("an array that is divided has parts");
    let looks = u32::try_from(looks).expect("few parts");
    let law = Law::Normal { low: expected, high: expected, deviation, looks };
    Observation { check, law, observed }
}

pub(crate) fn count(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}
