//! The set of keys read so far: exact, or a filter.

use super::Options;
use crate::error::Result;
use crate::input::Batch;
use crate::line_set::{Extras, LineSet};
use pds::compare::{HumanBytes, HumanCount};
use pds::hash::finalize;
use pds::{QuotientFilter, WindowBloomFilter};

/// The keys read so far.
pub(super) struct Seen {
    keys: Keys,
    memory: u64,
    rate: f64,
    max_lines: u64,
    /// New keys since the filter decides.
    by_filter: u64,
}

enum Keys {
    Exact(LineSet),
    Growing(QuotientFilter),
    Window(WindowBloomFilter),
}

/// Keys that the rate is measured with.
const PROBES: u64 = 1 << 20;

impl Seen {
    pub(super) fn new(options: &Options) -> Result<Self> {
        let keys = match options.window {
            Some(window) => Keys::Window(WindowBloomFilter::new(window, options.rate)?),
            None => Keys::Exact(LineSet::new(Extras::default())),
        };
        let Options { memory, rate, max_lines, .. } = *options;
        Ok(Self { keys, memory, rate, max_lines, by_filter: 0 })
    }

    /// Sets `answers[i]` to whether the key of record `i` is new, and keeps it.
    pub(super) fn mark(&mut self, batch: &Batch, answers: &mut Vec<bool>) -> Result<()> {
        answers.clear();
        answers.resize(batch.len(), true);
        self.mark_some(batch, answers)
    }

    /// As [`mark`](Self::mark), of those records whose answer is `true` so far.
    pub(super) fn mark_some(&mut self, batch: &Batch, answers: &mut [bool]) -> Result<()> {
        if let Keys::Exact(set) = &self.keys
            && set.size_with(batch.len()) > self.memory
        {
            self.become_filter()?;
        }
        let asked = answers.iter_mut().enumerate().filter(|(_, is_asked)| **is_asked);
        let hashes = batch.hashes();
        match &mut self.keys {
            Keys::Exact(set) => {
                set.reserve(batch.len());
                set.prepare(hashes);
                for (index, answer) in asked {
                    *answer = set.insert(hashes[index], batch.key(index), &[]) == 0;
                }
            }
            Keys::Growing(filter) => {
                // Most lines have come before. Those are found together, many accesses to memory at a time.
                let mut known = vec![false; hashes.len()];
                filter.contains_hash_batch(hashes, &mut known);
                for (index, answer) in asked {
                    *answer = !known[index]
                        && filter.insert_hash_if_absent(hashes[index]).map_err(|error| {
                            format!("--max-lines {} is too low: {error}", self.max_lines)
                        })?;
                    self.by_filter += u64::from(*answer);
                }
            }
            Keys::Window(filter) => {
                for (index, answer) in asked {
                    *answer = filter.insert_hash(hashes[index]);
                    self.by_filter += u64::from(*answer);
                }
            }
        }
        Ok(())
    }

    /// Moves the keys into a filter that grows.
    fn become_filter(&mut self) -> Result<()> {
        let Keys::Exact(set) = &self.keys else { return Ok(()) };
        let mut filter = QuotientFilter::builder()
            .expected_items(set.len().max(1).min(self.max_lines))
            .grows_to(self.max_lines)
            .false_positive_rate(self.rate)
            .build()?;
        for entry in set.iter() {
            filter.insert_hash_if_absent(crate::key::hash(entry.key))?;
        }
        eprintln!(
            "pds: {} different lines take the {} of --memory; from here on a filter decides, which drops a new line at a \
             rate of {}",
            HumanCount(set.len()),
            HumanBytes(self.memory),
            self.rate
        );
        self.keys = Keys::Growing(filter);
        Ok(())
    }

    pub(super) fn describe(&self, written: u64) -> String {
        format!("{} written, {}", HumanCount(written), HumanBytes(self.size_in_bytes()))
    }

    fn size_in_bytes(&self) -> u64 {
        match &self.keys {
            Keys::Exact(set) => set.size_in_bytes(),
            Keys::Growing(filter) => filter.size_in_bytes(),
            Keys::Window(filter) => filter.size_in_bytes(),
        }
    }

    /// Tells what was done. A filter tells in any case how wrong it was.
    pub(super) fn report(&self, lines: u64, written: u64, is_asked: bool) {
        let size = HumanBytes(self.size_in_bytes());
        let counts = format!("{} lines, {} written", HumanCount(lines), HumanCount(written));
        let contains: &dyn Fn(u64) -> bool = match &self.keys {
            Keys::Exact(_) => {
                if is_asked {
                    eprintln!("pds: {counts}; exact, {size}");
                }
                return;
            }
            Keys::Growing(filter) => &|hash| filter.contains_hash(hash),
            Keys::Window(filter) => &|hash| filter.contains_hash(hash),
        };
        // Hashes that no line has, but for chance.
        let wrong = (0..PROBES).filter(|&number| contains(finalize(number ^ PROBE_SEED))).count();
        eprintln!(
            "pds: {counts}; {} of them by a filter of {size}. Measured rate: {wrong} of {} lines that never came (promised: \
             {:.1} at most). New lines dropped: {:.1} expected at most",
            HumanCount(self.by_filter),
            HumanCount(PROBES),
            self.rate * PROBES as f64,
            self.rate * self.by_filter as f64 / (1.0 - self.rate),
        );
    }
}

/// The number from which the probes begin.
const PROBE_SEED: u64 = 0x5eed_0f9b_0be5_0000;
