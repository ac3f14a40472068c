//! Tables against a model: a sorted list of pairs, and where each of them must lie.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ops::Range;

use pds_core::internal::Backend;
use pds_testkit::keys;

use crate::arch::{Bits, Kernel, Portable};
use crate::blocks::{BLOCK, GROUP, SATURATED};
use crate::sequence::{Reader, Writer};
use crate::table::Table;

pub(crate) type Pairs = Vec<(usize, u64)>;

/// A source of uniform numbers.
pub(crate) struct Random(Box<dyn Iterator<Item = u64>>);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Box::new(keys::random(seed)))
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0.next().unwrap()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        let word = u128::from(self.word());
        usize::try_from((word * n as u128) >> 64).unwrap()
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

fn written(table: &Table, width: u32, pairs: &Pairs) -> Table {
    let mut writer = Writer::new(table.quotients() as u64, width).unwrap();
    pairs.iter().for_each(|&(quotient, entry)| writer.push(quotient, entry).unwrap());
    writer.finish()
}

/// Checks every number of a table whose entries must be `pairs`, which are sorted.
pub(crate) fn verify(table: &Table, width: u32, pairs: &Pairs) {
    assert_eq!(table.len(), pairs.len() as u64);
    assert_eq!(&Reader::new(table).collect::<Pairs>(), pairs);
    let mut end = 0;
    let mut ends = Vec::new();
    for (index, &(quotient, entry)) in pairs.iter().enumerate() {
        let slot = end.max(quotient);
        assert_eq!(table.entry(slot), entry, "slot {slot}");
        end = slot + 1;
        let blocks = table.blocks(Portable);
        assert!(blocks.is_occupied(quotient));
        let is_last = pairs.get(index + 1).is_none_or(|next| next.0 > quotient);
        assert_eq!(blocks.ends_run(slot), is_last, "slot {slot}");
        ends.push((quotient, end));
    }
    assert_eq!(table.slots(), table.quotients().max(end).next_multiple_of(GROUP));
    let blocks = table.blocks(Portable);
    for block in 0..blocks.len() {
        let before = ends.partition_point(|&(quotient, _)| quotient < BLOCK * block);
        let spill = before.checked_sub(1).map_or(0, |last| ends[last].1);
        let offset = spill.saturating_sub(BLOCK * block).min(SATURATED);
        assert_eq!(blocks.stored_offset(block), offset, "block {block}");
    }
    // Equal words: all bits that no entry has are 0.
    assert_eq!(table, &written(table, width, pairs));
    let len = table.words().len().min(written(table, width, pairs).words().len());
    assert!(table.words()[len..].iter().all(|&word| word == 0));
}

/// The keys that are inserted and removed.
struct Mix {
    quotients: usize,
    width: u32,
    /// Most entries at once.
    cap: usize,
    /// Percent of operations that go to one quotient.
    hot: usize,
    /// Every table whose number of operations is a multiple of this is checked.
    every: usize,
}

/// A table, and the pairs that must be in it.
struct Tried {
    table: Table,
    width: u32,
    pairs: Pairs,
}

impl Tried {
    fn new(quotients: usize, width: u32, kernel: Kernel) -> Self {
        let table = Table::new(quotients as u64, width).unwrap();
        Self { table: table.with_kernel(kernel), width, pairs: Vec::new() }
    }

    fn insert(&mut self, pair: (usize, u64)) {
        self.table.insert(pair.0, pair.1).unwrap();
        let index = self.pairs.partition_point(|&other| other <= pair);
        self.pairs.insert(index, pair);
    }

    fn remove(&mut self, pair: (usize, u64)) {
        let found = self.pairs.binary_search(&pair);
        assert_eq!(self.table.remove(pair.0, pair.1), found.is_ok(), "{pair:?}");
        if let Ok(index) = found {
            self.pairs.remove(index);
        }
    }

    fn verify(&self) {
        verify(&self.table, self.width, &self.pairs);
    }

    /// Fills and drains the table by turns, then removes everything.
    fn history(&mut self, mix: &Mix, random: &mut Random, operations: usize) {
        let hot = random.below(mix.quotients);
        let values = 1usize << mix.width.min(20);
        for step in 0..operations {
            let quotient =
                if random.below(100) < mix.hot { hot } else { random.below(mix.quotients) };
            let pair = (quotient, random.below(values) as u64);
            let fills = step % (4 * mix.cap) < 2 * mix.cap;
            if random.below(4) < if fills { 3 } else { 1 } && self.pairs.len() < mix.cap {
                self.insert(pair);
            } else if !self.pairs.is_empty() {
                let known = self.pairs[random.below(self.pairs.len())];
                self.remove(if random.below(10) == 0 { pair } else { known });
            }
            let expected = self.pairs.binary_search(&pair).is_ok();
            assert_eq!(self.table.contains(pair.0, pair.1), expected, "{pair:?}");
            if step % mix.every == 0 {
                self.verify();
            }
        }
        self.verify();
        while !self.pairs.is_empty() {
            self.remove(self.pairs[random.below(self.pairs.len())]);
            if self.pairs.len().is_multiple_of(mix.every) {
                self.verify();
            }
        }
        assert_eq!(self.table, Table::new(mix.quotients as u64, mix.width).unwrap());
    }
}

fn kernels() -> impl Iterator<Item = Kernel> {
    Backend::all().map(Kernel::new)
}

/// All sequences of so many inserts and removals of all pairs.
fn every_sequence(quotients: usize, width: u32, length: u32) {
    let pairs: Pairs =
        (0..quotients).flat_map(|q| (0..1 << width).map(move |entry| (q, entry))).collect();
    let choices = 2 * pairs.len();
    for sequence in 0..choices.pow(length) {
        let mut tried = Tried::new(quotients, width, Kernel::best());
        let mut rest = sequence;
        for _ in 0..length {
            let pair = pairs[rest % pairs.len()];
            if (rest / pairs.len()).is_multiple_of(2) {
                tried.insert(pair)
            } else {
                tried.remove(pair)
            }
            rest /= choices;
        }
        tried.verify();
    }
}

#[test]
fn every_short_history_of_a_tiny_table() {
    every_sequence(1, 1, 6);
    every_sequence(2, 1, 5);
    every_sequence(3, 1, 4);
    every_sequence(2, 2, 3);
}

fn random_histories(seed: u64, sizes: Range<usize>, times: usize) {
    let mut random = Random::new(seed);
    for round in 0..times {
        let quotients = match round % 3 {
            0 => random.of(&[1, 2, 7, 8, 9, 63, 64, 65, 72, 128, 130, 200, 300]),
            _ => sizes.start + random.below(sizes.len()),
        };
        let any = 1 + u32::try_from(random.below(56)).unwrap();
        let width = random.of(&[1, 2, 3, 7, 8, 13, 32, 55, 56, any]);
        let full = (quotients * 19 / 20).max(1);
        let cap = random.of(&[full, full, quotients + 5, (quotients / 2).max(1), quotients + 300]);
        let hot = random.of(&[0, 0, 0, 30, 95]);
        let mix = Mix { quotients, width, cap, hot, every: 23 };
        for kernel in kernels() {
            Tried::new(quotients, width, kernel).history(&mix, &mut random, 600);
        }
    }
}

#[test]
fn random_histories_of_small_tables() {
    random_histories(1, 1..301, 40);
}

/// Offsets saturate, and are counted again when the run gets shorter. The run goes beyond the last quotient.
#[test]
fn one_run_of_many_blocks_grows_and_goes() {
    for (quotients, hot, len) in [(1, 0, 700), (65, 64, 700), (200, 3, 900), (2_000, 70, 1_200)] {
        for kernel in kernels() {
            let mut random = Random::new(7);
            let mut tried = Tried::new(quotients, 5, kernel);
            (0..quotients / 2).for_each(|_| tried.insert((random.below(quotients), 9)));
            for index in 0..len {
                tried.insert((hot, random.below(32) as u64));
                if index % 101 == 0 {
                    tried.verify();
                }
            }
            while !tried.pairs.is_empty() {
                let first = tried.pairs.partition_point(|pair| pair.0 < hot);
                let of_run = tried.pairs[first..].iter().take_while(|pair| pair.0 == hot).count();
                let index = match of_run {
                    0 => random.below(tried.pairs.len()),
                    _ => first + random.below(of_run),
                };
                tried.remove(tried.pairs[index]);
                if tried.pairs.len().is_multiple_of(53) {
                    tried.verify();
                }
            }
            tried.verify();
        }
    }
}

#[test]
fn a_table_at_95_percent_has_every_pair() {
    for quotients in [20, 100, 1_000, 5_000] {
        let mut random = Random::new(3);
        let mut tried = Tried::new(quotients, 7, Kernel::best());
        (0..quotients * 19 / 20)
            .for_each(|_| tried.insert((random.below(quotients), random.below(128) as u64)));
        tried.verify();
        for &(quotient, entry) in &tried.pairs {
            assert!(tried.table.contains(quotient, entry));
        }
        for quotient in 0..quotients {
            let run = tried.table.run(quotient);
            let of_run = tried.pairs.iter().filter(|pair| pair.0 == quotient).count();
            assert_eq!(run.len(), of_run);
        }
        tried.table.clear();
        assert_eq!(tried.table, Table::new(quotients as u64, 7).unwrap());
    }
}

/// The portable code, which counts the words that it is given.
#[derive(Clone, Copy)]
struct Counted<'a>(&'a Cell<usize>);

impl Bits for Counted<'_> {
    fn count(self, word: u64) -> usize {
        self.0.set(self.0.get() + 1);
        Portable.count(word)
    }

    fn nth(self, word: u64, rank: usize) -> u64 {
        self.0.set(self.0.get() + 1);
        Portable.nth(word, rank)
    }

    fn len(self, word: u64) -> usize {
        Portable.len(word)
    }

    fn select(self, word: u64, rank: usize) -> usize {
        self.0.set(self.0.get() + 1);
        Portable.select(word, rank)
    }
}

/// Where all offsets are 255 or more, an insert and a removal look at each block a few times, not once per block.
#[test]
fn work_is_linear_in_the_cluster() {
    const LEN: usize = 100_000;
    let copies = vec![(3, 1); LEN];
    let crowded: Pairs = (0..LEN).map(|i| (i / 4, i as u64 % 4)).collect();
    // All offsets are 300 or so.
    let level: Pairs = (0..LEN).map(|i| (i.saturating_sub(300), 1)).collect();
    for mut pairs in [copies, crowded, level] {
        let mut table = written(&Table::new(LEN as u64, 2).unwrap(), 2, &pairs);
        for quotient in [3, LEN / 9, LEN / 5] {
            let steps = Cell::new(0);
            let bits = Counted(&steps);
            let first = pairs.partition_point(|pair| pair.0 < quotient);
            let index = pairs.partition_point(|&pair| pair <= (quotient, 1));
            for _ in 0..2 {
                let run = table.blocks(bits).run(quotient);
                table.insert_at(bits, quotient, &run, run.start + index - first, 1).unwrap();
                pairs.insert(index, (quotient, 1));
            }
            verify(&table, 2, &pairs);
            for _ in 0..2 {
                let run = table.blocks(bits).run(quotient);
                table.remove_at(bits, quotient, &run, run.start + index - first);
                pairs.remove(index);
            }
            verify(&table, 2, &pairs);
            let (steps, blocks) = (steps.get(), LEN.div_ceil(BLOCK));
            assert!(
                steps < 4 * 10 * blocks,
                "{steps} words for {blocks} blocks, quotient {quotient}"
            );
        }
    }
}

/// A long run after the last quotient costs nothing elsewhere.
#[test]
fn work_is_small_away_from_the_cluster() {
    let last = 1_000;
    let mut pairs: Pairs = (0..10_000).map(|_| (last, 1)).collect();
    pairs.insert(0, (5, 1));
    let mut table = written(&Table::new(last as u64 + 1, 2).unwrap(), 2, &pairs);
    let steps = Cell::new(0);
    let bits = Counted(&steps);
    let run = table.blocks(bits).run(5);
    table.remove_at(bits, 5, &run, run.start);
    pairs.remove(0);
    verify(&table, 2, &pairs);
    assert!(steps.get() < 20, "{} words", steps.get());
}

/// A run may begin at the first slot of a block and fill it, so that the block has no end of a run.
#[test]
fn runs_of_every_length_are_found_from_every_slot() {
    for (kernel, quotient) in kernels().flat_map(|kernel| [0, 1, 63, 64].map(|at| (kernel, at))) {
        let mut table = Table::new(200, 6).unwrap().with_kernel(kernel);
        for len in 0..200 {
            assert_eq!(table.contains(quotient, 5), len > 0, "{len} at {quotient}");
            assert!([0, 4, 6].iter().all(|&other| !table.contains(quotient, other)));
            assert_eq!(table.run(quotient), quotient..quotient + len);
            table.insert(quotient, 5).unwrap();
        }
    }
}
