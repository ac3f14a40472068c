//! The solution of a system: elimination from left to right, and back substitution.

use alloc::vec::Vec;
use core::mem;

use pds_core::error::AllocError;
use pds_core::hash::reduce;
use pds_core::internal::Words;
use pds_params::ribbon::{
    BUCKET, Columns, LastShape, LayerShape, MAX_LAST_KEYS, MAX_LAYERS, MAX_SEEDS, Preset,
    THRESHOLD_BITS, THRESHOLDS, WINDOW, Width,
};

use crate::entries::{Entry, collect, reserve, sort};
use crate::equation::{coefficients, rehash, salt};
use crate::options::Machine;
use crate::progress::Watch;
use crate::system::{Layout, RestForm, System, SystemParams, last_salt, ones};
use crate::{ConstructionError, index, threads};

/// Bounds of a construction. Whatever they are, it succeeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Greatest number of layers before the last one.
    pub(crate) layers: usize,
    /// Greatest number of seeds that are tried for the last layer.
    pub(crate) seeds: u64,
}

impl Limits {
    pub(crate) const DEFAULT: Self = Self { layers: MAX_LAYERS, seeds: MAX_SEEDS };
}

/// A system to solve.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub(crate) columns: Columns,
    pub(crate) preset: Preset,
    pub(crate) form: RestForm,
    pub(crate) machine: Machine,
    pub(crate) watch: &'a Watch<'a>,
    pub(crate) limits: Limits,
}

/// Solves the equations of entries, which are sorted and distinct. `bits` returns the right-hand sides of an entry, that of
/// column `j` in bit `j`.
///
/// # Errors
/// [`ConstructionError::Alloc`] and [`ConstructionError::Cancelled`].
///
/// # Complexity
/// O(n log n), mostly O(n) steps of elimination. Needs 16 bytes per slot of a segment and thread.
pub(crate) fn solve<E: Entry>(
    entries: Vec<E>,
    problem: Problem<'_>,
    bits: impl Fn(&E) -> u64 + Sync,
) -> Result<(System, Words), ConstructionError> {
    let Problem { columns, preset, form, machine, limits, .. } = problem;
    let keys = entries.len() as u64;
    let (mut entries, mut solutions, mut thresholds) = (entries, Vec::new(), Vec::new());
    let mut bumped = Vec::new();
    while entries.len() as u64 > MAX_LAST_KEYS && bumped.len() < limits.layers {
        let number = bumped.len() as u64;
        let hash = |entry: &E| match number {
            0 => entry.hash(),
            _ => rehash(entry.hash(), salt(number)),
        };
        if number > 0 {
            sort(&mut entries, machine.parallel, hash);
        }
        let shape = LayerShape::new(entries.len() as u64, preset);
        let equation = |entry: &E| Equation { hash: hash(entry), bits: bits(entry) };
        let solved = solve_layer(&mut entries, shape, problem, equation)?;
        solutions.push(solved.0);
        thresholds.push(solved.1);
        // Those that are left are few: their memory is needed, not that of all.
        entries = collect(entries.iter().copied())?;
        bumped.push(entries.len() as u64);
    }
    let last = solve_last(entries, problem, &bits)?;
    let params = SystemParams {
        columns,
        form,
        keys,
        preset,
        seed: last.seed,
        layers: bumped.len(),
        rest: last.rest.len() as u64,
    };
    let layout = Layout::new(&params, bumped.iter().copied());
    let mut words = machine.zeroed(layout.len() + params.rest_words())?;
    let parts = solutions.iter().chain([&last.words]).chain(&thresholds).map(|part| &part[..]);
    let parts = parts.flatten().chain(&bumped).copied();
    let hashes = last.rest.iter().map(Entry::hash);
    let values = last.rest.iter().map(&bits).filter(|_| form == RestForm::Bits);
    words.iter_mut().zip(parts.chain(hashes).chain(values)).for_each(|(word, part)| *word = part);
    Ok((System::new(params, layout), words))
}

/// The equation of a key: where its window is, and its right-hand sides.
struct Equation {
    hash: u64,
    bits: u64,
}

/// Solves a layer for sorted entries. Leaves those that it bumps. Returns the solution and the thresholds.
fn solve_layer<E: Entry>(
    entries: &mut Vec<E>,
    shape: LayerShape,
    problem: Problem<'_>,
    equation: impl Fn(&E) -> Equation + Sync,
) -> Result<(Words, Words), ConstructionError> {
    let width = shape.width(problem.columns);
    let mut solution = Words::zeroed(shape.solution_words(problem.columns))?;
    let mut thresholds = Words::zeroed(shape.threshold_words())?;
    let groups = shape.groups() / shape.segments();
    let mut segments = Vec::new();
    reserve(&mut segments, index(shape.segments()))?;
    let (mut entries_left, mut solution_left) = (&mut entries[..], &mut solution[..]);
    for number in 0..shape.segments() {
        let is_in = |entry: &E| reduce(equation(entry).hash, shape.segments()) <= number;
        let end = entries_left.partition_point(is_in);
        let (entries, rest) = mem::take(&mut entries_left).split_at_mut(end);
        entries_left = rest;
        let words = width.words((number + 1) * groups) - width.words(number * groups);
        let (solution, rest) = mem::take(&mut solution_left).split_at_mut(index(words));
        solution_left = rest;
        segments.push(Segment { number, entries, solution });
    }
    let solved = threads::map(problem.machine.parallel, segments, |segment| {
        let before = segment.entries.len();
        let solved = segment.solve(shape, width, &equation)?;
        problem.watch.advance(before - solved.bumped)?;
        Ok::<_, ConstructionError>((before, solved))
    })?;
    let (mut from, mut to) = (0, 0);
    for (number, (keys, segment)) in solved.iter().enumerate() {
        entries.copy_within(from..from + segment.bumped, to);
        from += keys;
        to += segment.bumped;
        let first = number * segment.levels.len();
        for (bucket, &level) in (first as u64..).zip(&segment.levels) {
            thresholds[index(bucket / 32)] |= u64::from(level) << (bucket % 32 * THRESHOLD_BITS);
        }
    }
    entries.truncate(to);
    Ok((solution, thresholds))
}

/// A part of a layer that is solved on its own.
struct Segment<'a, E> {
    number: u64,
    entries: &'a mut [E],
    solution: &'a mut [u64],
}

struct SolvedSegment {
    /// Number of entries that are bumped. They are the first ones now.
    bumped: usize,
    /// Which of the four thresholds each bucket has.
    levels: Vec<u8>,
}

impl<E: Entry> Segment<'_, E> {
    fn solve(
        self,
        shape: LayerShape,
        width: Width,
        equation: impl Fn(&E) -> Equation,
    ) -> Result<SolvedSegment, AllocError> {
        let Self { number, entries, solution } = self;
        let starts = shape.starts() / shape.segments();
        let first_start = number * starts;
        let mut rows = Rows::zeroed(index(starts + WINDOW))?;
        let mut levels = Vec::new();
        reserve(&mut levels, index(starts / BUCKET))?;
        let start_of = |entry: &E| reduce(equation(entry).hash, shape.starts()) - first_start;
        let (mut from, mut bumped) = (0, 0);
        let mut pivots = Vec::new();
        for bucket in 0..starts / BUCKET {
            let in_bucket = |entry: &&E| start_of(entry) / BUCKET == bucket;
            let end = from + entries[from..].iter().take_while(in_bucket).count();
            pivots.clear();
            let mut level = 0;
            for entry in entries[from..end].iter().rev() {
                let Equation { hash, bits } = equation(entry);
                let start = reduce(hash, shape.starts()) - first_start;
                if let Some(pivot) = rows.insert(index(start), coefficients(hash), bits) {
                    pivots.push((start % BUCKET, pivot));
                    continue;
                }
                level = THRESHOLDS.iter().take_while(|&&t| t <= start % BUCKET).count();
                break;
            }
            // Rows were added to none that came before them, so these are taken back one by one.
            for &(start, pivot) in pivots.iter().rev() {
                if start >= THRESHOLDS[level] {
                    break;
                }
                rows.0[pivot] = Row::default();
            }
            let is_bumped = |entry: &&E| start_of(entry) % BUCKET < THRESHOLDS[level];
            let count = entries[from..end].iter().take_while(is_bumped).count();
            entries.copy_within(from..from + count, bumped);
            bumped += count;
            from = end;
            levels.push(level_byte(level));
        }
        let groups = shape.groups() / shape.segments();
        let first_group = number * groups;
        let first_word = width.words(first_group);
        rows.substitute(width.most(), |group, column, word| {
            let group = first_group + group as u64;
            if column < width.columns || group < width.wider_groups {
                let at = width.words(group) - first_word + u64::from(column);
                solution[index(at)] = word;
            }
        });
        Ok(SolvedSegment { bumped, levels })
    }
}

/// The solution of the last layer.
struct LastSolution<E> {
    words: Words,
    seed: u64,
    rest: Vec<E>,
}

/// Solves the last layer by the first seed that does, or leaves over what its first seed does not take.
fn solve_last<E: Entry>(
    mut entries: Vec<E>,
    problem: Problem<'_>,
    bits: impl Fn(&E) -> u64,
) -> Result<LastSolution<E>, ConstructionError> {
    let keys = entries.len() as u64;
    let shape = LastShape::new(if keys > MAX_LAST_KEYS { 0 } else { keys });
    let mut rows = Rows::zeroed(index(shape.slots() + WINDOW))?;
    let insert = |rows: &mut Rows, seed: u64, entry: &E| {
        let hash = rehash(entry.hash(), last_salt(seed));
        let start = index(reduce(hash, shape.starts()));
        let coefficients = coefficients(hash) & ones(shape.window());
        shape.slots() > 0 && rows.insert(start, coefficients, bits(entry)).is_some()
    };
    let mut solves = |seed: &u64| {
        rows.0.fill(Row::default());
        entries.iter().all(|entry| insert(&mut rows, *seed, entry))
    };
    let found = (0..problem.limits.seeds).find(|seed| solves(seed));
    let seed = found.unwrap_or(0);
    if found.is_none() {
        rows.0.fill(Row::default());
        entries.retain(|entry| !insert(&mut rows, seed, entry));
    } else {
        problem.watch.advance(entries.len())?;
        entries.clear();
    }
    entries.sort_unstable_by_key(Entry::hash);
    let mut words = Words::zeroed(shape.solution_words(problem.columns))?;
    let (width, full) = (shape.width(problem.columns), shape.full_groups());
    let tail_at = index(width.words(full));
    rows.substitute(width.most(), |group, column, word| {
        let group = group as u64;
        if group < full && (column < width.columns || group < width.wider_groups) {
            words[index(width.words(group) + u64::from(column))] = word;
        } else if group == full && column < width.columns {
            put_bits(&mut words[tail_at..], u64::from(column) * shape.tail(), word);
        }
    });
    Ok(LastSolution { words, seed, rest: entries })
}

/// Adds bits from a bit of the words on. Those beyond the last word are 0.
fn put_bits(words: &mut [u64], bit: u64, bits: u64) {
    let (word, shift) = (index(bit / 64), bit % 64);
    for (word, bits) in
        words.iter_mut().skip(word).zip([bits << shift, (bits >> 1) >> (63 - shift)])
    {
        *word |= bits;
    }
}

/// An equation in the form that elimination gives it. No coefficient is 1 if there is none.
#[derive(Clone, Copy, Default)]
struct Row {
    coefficients: u64,
    bits: u64,
}

/// The rows of a system: that at a slot has its first coefficient there.
struct Rows(Vec<Row>);

impl Rows {
    fn zeroed(slots: usize) -> Result<Self, AllocError> {
        let mut rows = Vec::new();
        reserve(&mut rows, slots)?;
        rows.resize(slots, Row::default());
        Ok(Self(rows))
    }

    /// Adds an equation. Returns the slot of its row, or `None` if its coefficients are a sum of those of others.
    #[inline]
    fn insert(&mut self, start: usize, coefficients: u64, bits: u64) -> Option<usize> {
        let (mut slot, mut new) = (start, Row { coefficients, bits });
        loop {
            let row = &mut self.0[slot];
            if row.coefficients == 0 {
                *row = new;
                return Some(slot);
            }
            new.coefficients ^= row.coefficients;
            new.bits ^= row.bits;
            if new.coefficients == 0 {
                return None;
            }
            let skipped = new.coefficients.trailing_zeros();
            new.coefficients >>= skipped;
            slot += skipped as usize;
        }
    }

    /// Solves for all slots, from the last to the first. Slots without a row are 0. `put` takes the solution of a group and
    /// column.
    fn substitute(&self, columns: u32, mut put: impl FnMut(usize, u32, u64)) {
        for first in (0..columns).step_by(8) {
            let count = (columns - first).min(8);
            self.substitute_some::<8>(first, &mut |group, words: &[u64; 8]| {
                for (column, &word) in (first..first + count).zip(words) {
                    put(group, column, word);
                }
            });
        }
    }

    /// Solves `N` columns from `first` on.
    fn substitute_some<const N: usize>(&self, first: u32, put: &mut impl FnMut(usize, &[u64; N])) {
        let mut windows = [0u64; N];
        for (slot, row) in self.0.iter().enumerate().rev() {
            let bits = row.bits >> first;
            for (column, window) in windows.iter_mut().enumerate() {
                let sum = ((*window << 1) & row.coefficients).count_ones() as u64 ^ bits >> column;
                let free = row.coefficients == 0;
                *window = *window << 1 | (sum & u64::from(!free) & 1);
            }
            if slot % 64 == 0 {
                put(slot / 64, &windows);
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "one of four")]
const fn level_byte(level: usize) -> u8 {
    level as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::sort_distinct;
    use crate::equation::fingerprint;
    use pds_testkit::keys;

    fn problem<'a>(columns: Columns, watch: &'a Watch<'a>) -> Problem<'a> {
        let (preset, limits) = (Preset::Compact, Limits::DEFAULT);
        Problem {
            columns,
            preset,
            form: RestForm::Hashes,
            machine: Machine::default(),
            watch,
            limits,
        }
    }

    fn sorted(seed: u64, keys: usize) -> Vec<u64> {
        let mut entries: Vec<u64> = keys::random(seed).take(keys).collect();
        sort_distinct(&mut entries, false).unwrap();
        entries
    }

    fn solved(entries: &[u64], problem: Problem<'_>) -> (System, Words) {
        let (system, words) = solve(entries.to_vec(), problem, |&hash| fingerprint(hash)).unwrap();
        for &hash in entries {
            assert!(system.has(&words, hash), "{hash:x} of {}", entries.len());
        }
        (system, words)
    }

    #[test]
    fn every_key_meets_its_equations() {
        let watch = Watch::new(None, 0);
        let sizes = (0..300).chain((300..2_100).step_by(37)).chain([2_048, 2_049, 10_000, 600_000]);
        for keys in sizes {
            for columns in [1, 8, 13] {
                let entries = sorted(keys as u64, keys);
                let columns = Columns::whole(columns).unwrap();
                let (system, _) = solved(&entries, problem(columns, &watch));
                assert_eq!(system.params().rest, 0);
            }
        }
    }

    /// Whatever fails, every key is there: in a later layer, or in the exact list.
    #[test]
    fn bounds_of_layers_and_seeds_are_no_bounds_of_success() {
        let watch = Watch::new(None, 0);
        for keys in [0, 1, 2, 100, 2_048, 2_049, 60_000] {
            let entries = sorted(7 + keys as u64, keys);
            for layers in 0..3 {
                for seeds in [0, 1] {
                    let limits = Limits { layers, seeds };
                    let columns = Columns::whole(5).unwrap();
                    let (system, _) =
                        solved(&entries, Problem { limits, ..problem(columns, &watch) });
                    let params = system.params();
                    let all = layers == 0 && keys > 2_048;
                    assert!(!all || params.rest == keys as u64);
                    assert!(all || params.rest * 10 <= 20 + keys as u64, "{params:?}");
                }
            }
        }
    }

    /// Hashes that all fall on one bucket: all but some dozens are bumped, and mixed anew.
    #[test]
    fn hashes_that_are_not_uniform_are_stored() {
        let watch = Watch::new(None, 0);
        let columns = Columns::whole(8).unwrap();
        let dense: Vec<u64> = (0..10_000).collect();
        assert_eq!(solved(&dense, problem(columns, &watch)).0.params().rest, 0);
        let sparse: Vec<u64> = (0..10_000).map(|i| i << 40).collect();
        assert_eq!(solved(&sparse, problem(columns, &watch)).0.params().rest, 0);
    }

    /// `cargo test -p fuse --lib -- --ignored --nocapture overhead`
    #[test]
    #[ignore = "prints sizes"]
    fn overhead() {
        let watch = Watch::new(None, 0);
        for keys in [
            1, 10, 30, 100, 300, 1_000, 2_048, 2_049, 3_000, 4_000, 6_000, 10_000, 30_000, 100_000,
            262_143, 262_144, 1_000_000, 4_000_000,
        ] {
            for preset in [Preset::Compact, Preset::Quick] {
                let (mut words, mut retries) = (0, 0);
                for round in 0..3 {
                    let entries = sorted(round * 1_000_000_000 + keys as u64, keys);
                    let problem = Problem { preset, ..problem(Columns::whole(8).unwrap(), &watch) };
                    let (system, solution) = solved(&entries, problem);
                    words += solution.len();
                    retries += system.params().seed;
                }
                let bits = words as f64 * 64.0 / 3.0 / keys as f64;
                std::println!(
                    "{keys} {preset:?}: {bits:.4} bits, {:.3} %, {retries} retries",
                    bits / 0.08 - 100.0
                );
            }
        }
    }
}
