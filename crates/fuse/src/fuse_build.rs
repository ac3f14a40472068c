//! Construction of fuse tables: seeds, growth, shards, and the exact list.

use alloc::vec::Vec;

use pds_core::storage::Words;
use pds_params::fuse::MAX_GROWTH;

use crate::entries::{collect, partition, partition_by, sort_distinct, split_at_ends};
use crate::equation::salt;
use crate::fuse_table::{FuseTable, MAX_SEEDS, TableParams, assign};
use crate::graph::Edge;
use crate::options::Machine;
use crate::peel::Peeling;
use crate::progress::Watch;
use crate::{ConstructionError, index, threads};

/// Number of keys from which on a shard is ordered before it is peeled, and in each part then.
// The slots of a part, and of the windows after them, fit into the second cache.
const PART: usize = 1 << 16;

/// Bounds of a construction. Whatever they are, it succeeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Greatest number of steps by which the graph may grow.
    pub(crate) growth: u32,
    /// Number of seeds that a shard tries before the graph grows. The number for a single shard, and for others.
    pub(crate) seeds: [u64; 2],
}

impl Limits {
    // One of many shards must not make all others start again.
    pub(crate) const DEFAULT: Self = Self { growth: MAX_GROWTH, seeds: [3, MAX_SEEDS] };
}

/// A table to build.
#[derive(Clone, Copy)]
pub(crate) struct Problem {
    pub(crate) width: u32,
    pub(crate) machine: Machine,
    pub(crate) limits: Limits,
}

/// A table, and how it came about.
pub(crate) struct Built {
    pub(crate) table: FuseTable,
    /// Number of seeds that failed.
    pub(crate) retries: u64,
}

/// Why a shard could not be solved.
enum Failure {
    /// A key was given twice.
    Duplicate,
    /// All seeds failed.
    Stuck(u64),
    Error(ConstructionError),
}

impl<E> From<E> for Failure
where
    ConstructionError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// A shard that was solved.
struct Solved {
    salt: u64,
    rest: Vec<u64>,
    failed: u64,
}

/// Builds the table in which the sum of the cells of a key is `bits` of its edge and its own slot.
///
/// Reorders the hashes, and removes duplicates.
///
/// # Errors
/// [`ConstructionError::Alloc`] and [`ConstructionError::Cancelled`].
///
/// # Complexity
/// O(n) on average. Needs 16 bytes per key of a shard and thread.
pub(crate) fn build(
    hashes: &mut Vec<u64>,
    problem: Problem,
    watch: &mut Watch<'_>,
    bits: impl Fn(&Edge, u64) -> u64 + Sync,
) -> Result<Built, ConstructionError> {
    let (mut growth, mut retries) = (0, 0);
    loop {
        match attempt(hashes, growth, problem, watch, &bits) {
            Ok(built) => return Ok(Built { retries: built.retries + retries, ..built }),
            // The size is that of the distinct keys, so all starts again.
            Err(Failure::Duplicate) => {
                sort_distinct(hashes, problem.machine.parallel)?;
                growth = 0;
            }
            Err(Failure::Stuck(failed)) => {
                growth += 1;
                retries += failed;
            }
            Err(Failure::Error(error)) => return Err(error),
        }
        watch.restart(hashes.len());
    }
}

fn attempt(
    hashes: &mut [u64],
    growth: u32,
    problem: Problem,
    watch: &Watch<'_>,
    bits: &(impl Fn(&Edge, u64) -> u64 + Sync),
) -> Result<Built, Failure> {
    let params = TableParams { keys: hashes.len() as u64, width: problem.width, growth, rest: 0 };
    let layout = FuseTable::layout(params)?;
    let shards = layout.shards();
    let mut words = problem.machine.zeroed(layout.len())?;
    let (cells, salts) = words.split_at_mut(index(layout.words_per_shard() * shards));
    let ends = partition(hashes, index(shards));
    let parts = split_at_ends(hashes, &ends);
    let cells = cells.chunks_mut(index(layout.words_per_shard()).max(1));
    let jobs = parts.into_iter().zip(cells).collect();
    let solved = threads::map(problem.machine.parallel, jobs, |(hashes, cells)| {
        let shard = Shard { layout: &layout, problem, watch };
        shard.solve(hashes, cells, bits)
    })?;
    let mut retries = 0;
    let mut rest: Vec<u64> = Vec::new();
    for (salt, shard) in salts.iter_mut().zip(solved) {
        *salt = shard.salt;
        retries += shard.failed;
        rest.extend(shard.rest);
    }
    let words = with_rest(words, &rest, problem.machine)?;
    let params = TableParams { rest: rest.len() as u64, ..params };
    Ok(Built { table: FuseTable::layout(params)?.open(words), retries })
}

/// Returns the words followed by the exact list.
fn with_rest(words: Words, rest: &[u64], machine: Machine) -> Result<Words, Failure> {
    if rest.is_empty() {
        return Ok(words);
    }
    let mut longer = machine.zeroed((words.len() + rest.len()) as u64)?;
    longer[..words.len()].copy_from_slice(&words);
    longer[words.len()..].copy_from_slice(rest);
    Ok(longer)
}

/// A shard to solve.
struct Shard<'a> {
    layout: &'a FuseTable<()>,
    problem: Problem,
    watch: &'a Watch<'a>,
}

impl Shard<'_> {
    fn solve(
        &self,
        hashes: &mut [u64],
        cells: &mut [u64],
        bits: impl Fn(&Edge, u64) -> u64,
    ) -> Result<Solved, Failure> {
        let Limits { growth, seeds: [alone, among_others] } = self.problem.limits;
        let shards = self.layout.shards();
        let seeds = if shards == 1 { alone } else { among_others };
        let slots = index(self.layout.slots_per_shard());
        let position = |hash: u64| FuseTable::<()>::shard(shards, hash).1;
        if hashes.len() > 2 * PART {
            partition_by(hashes, hashes.len() / PART, |&hash| position(hash));
        }
        for seed in 0..seeds {
            self.watch.advance(0)?;
            let salt = salt(seed);
            let graph = self.layout.graph();
            let edge = |hash: u64| graph.edge(position(hash), hash, salt);
            let peeling = Peeling::new(hashes, slots, edge)?;
            let is_peeled = peeling.len() == hashes.len();
            if !is_peeled && seed == 0 {
                // Duplicates make every seed fail.
                hashes.sort_unstable();
                if hashes.windows(2).any(|pair| pair[0] == pair[1]) {
                    return Err(Failure::Duplicate);
                }
            }
            let is_last = seed + 1 == seeds && self.layout.params().growth >= growth;
            if is_peeled || is_last {
                // Ascending, as the hashes are unless all were peeled.
                let rest = if is_peeled { Vec::new() } else { collect(peeling.core(hashes))? };
                assign(cells, self.problem.width, peeling.reversed(), bits);
                self.watch.advance(hashes.len())?;
                return Ok(Solved { salt, rest, failed: seed + u64::from(!is_peeled) });
            }
        }
        Err(Failure::Stuck(seeds))
    }
}
