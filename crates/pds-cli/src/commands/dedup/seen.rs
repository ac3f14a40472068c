//! The set of keys read so far: exact, or a filter.

use super::recent::{Recent, TooMany};
use super::{Options, Window};
use crate::error::{Error, Result};
use crate::input::{Batch, Progress};
use crate::key;
use crate::line_set::{Entry, Extras, LineSet};
use crate::output::tell;
use pds::compare::{HumanBytes, HumanCount};
use pds::error::{BuildError, InsertError};
use pds::hash::finalize;
use pds::params::minhash::binomial_interval;
use pds::{QuotientFilter, WindowBloomFilter};

/// The keys read so far.
pub(super) struct Seen {
    keys: Keys,
    memory: u64,
    rate: f64,
    max_lines: u64,
    /// Whether repeated lines are wanted, and not the first of each.
    repeated: bool,
    /// Lines that the filter took for new ones.
    new_by_filter: u64,
    /// Lines that are written because of the filter.
    written_by_filter: u64,
    /// Records without a time.
    timeless: u64,
}

enum Keys {
    /// With counts if repeated lines are wanted.
    Exact(LineSet),
    /// The keys that came, and if repeated lines are wanted those that came again.
    Growing(QuotientFilter, Option<QuotientFilter>),
    Window(WindowBloomFilter),
    Timed(Recent),
}

/// The rate unless told otherwise.
const RATE: f64 = 1e-6;

/// Keys that the rate is measured with.
const PROBES: u32 = 1 << 20;

impl Seen {
    pub(super) fn new(options: &Options) -> Result<Self> {
        let rate = options.rate.unwrap_or(RATE);
        let keys = match options.window {
            Some(Window::Lines(_)) if options.max_lines.is_some() => {
                return Err("--max-lines has no effect on --window of a number of lines".into());
            }
            Some(Window::Time(_)) if options.rate.is_some() => {
                return Err("--rate has no effect on --window of a time: no line is dropped".into());
            }
            Some(Window::Lines(window)) => Keys::Window(WindowBloomFilter::new(window, rate)?),
            Some(Window::Time(ticks)) => {
                let lines = options.max_lines.ok_or(
                    "--window of a time needs --max-lines, the most different lines in that time",
                )?;
                Keys::Timed(Recent::new(ticks, lines))
            }
            None => Keys::Exact(LineSet::new(Extras { counts: options.repeated, records: false })),
        };
        let Options { memory, repeated, .. } = *options;
        let max_lines = options.max_lines.unwrap_or(super::MAX_LINES);
        let (new_by_filter, written_by_filter, timeless) = (0, 0, 0);
        let seen = Self {
            keys,
            memory,
            rate,
            max_lines,
            repeated,
            new_by_filter,
            written_by_filter,
            timeless,
        };
        if options.window.is_none() {
            // A rate that no filter has is found before hours of work.
            seen.filter(core::iter::empty(), 1)?;
        }
        Ok(seen)
    }

    /// Sets `answers[i]` to whether record `i` is to be written, and keeps its key. `time` tells the time of a record, and `None`
    /// if it has none and is to be left out.
    ///
    /// # Errors
    /// If a record has no time, or if there are too many keys. The answers before it stand.
    pub(super) fn mark(
        &mut self,
        batch: &Batch,
        progress: &Progress,
        time: impl Fn(usize) -> Result<Option<u64>>,
        answers: &mut Vec<bool>,
    ) -> Result<()> {
        answers.clear();
        self.mark_exactly(batch, answers);
        let exact = answers.len();
        if exact == batch.len() {
            return Ok(());
        }
        progress.aside(|| self.become_filter())?;
        let marked = self.mark_by_filter(batch, time, answers);
        self.written_by_filter += answers[exact..].iter().filter(|&&is_new| is_new).count() as u64;
        marked
    }

    /// Answers for as many records as the memory allows.
    fn mark_exactly(&mut self, batch: &Batch, answers: &mut Vec<bool>) {
        let Keys::Exact(set) = &mut self.keys else { return };
        let (hashes, wanted) = (batch.hashes(), u64::from(self.repeated));
        set.prepare(hashes);
        let insert = |i: usize| set.insert(hashes[i], batch.key(i), &[], self.memory);
        answers.extend((0..hashes.len()).map_while(insert).map(|count| count == wanted));
    }

    /// Answers for the other records.
    fn mark_by_filter(
        &mut self,
        batch: &Batch,
        time: impl Fn(usize) -> Result<Option<u64>>,
        answers: &mut Vec<bool>,
    ) -> Result<()> {
        let first = answers.len();
        let hashes = &batch.hashes()[first..];
        match &mut self.keys {
            Keys::Exact(_) => unreachable!("the set has become a filter"),
            Keys::Growing(seen, again) => {
                let full = |error| too_many(self.max_lines, &error);
                // Most lines have come before. Those are found together, many accesses to memory at a time.
                let mut known = vec![false; hashes.len()];
                seen.contains_hash_batch(hashes, &mut known);
                for (&hash, is_known) in hashes.iter().zip(known) {
                    let is_new = !is_known && seen.insert_hash_if_absent(hash).map_err(full)?;
                    self.new_by_filter += u64::from(is_new);
                    answers.push(match again {
                        None => is_new,
                        Some(again) => {
                            !is_new && again.insert_hash_if_absent(hash).map_err(full)?
                        }
                    });
                }
            }
            Keys::Window(filter) => {
                answers.extend(hashes.iter().map(|&hash| filter.insert_hash(hash)));
            }
            Keys::Timed(recent) => {
                for (index, &hash) in (first..).zip(hashes) {
                    let Some(time) = time(index)? else {
                        self.timeless += 1;
                        answers.push(false);
                        continue;
                    };
                    let inserted = recent.insert(hash, time);
                    answers.push(inserted.map_err(|TooMany| too_many_at_once(self.max_lines))?);
                }
            }
        }
        Ok(())
    }

    /// Moves the keys into a filter that grows, if they are in an exact set.
    fn become_filter(&mut self) -> Result<()> {
        let Keys::Exact(set) = &self.keys else { return Ok(()) };
        let seen = self.filter(set.iter(), set.len())?;
        let again = || set.iter().filter(|entry| entry.count > 1);
        let again = self.repeated.then(|| self.filter(again(), again().count() as u64));
        tell(format_args!(
            "{} different lines take the {} of --memory; from here on a filter decides, which takes a new line for a repeated \
             one at a rate of {}",
            HumanCount(set.len()),
            HumanBytes(self.memory),
            self.rate
        ));
        self.keys = Keys::Growing(seen, again.transpose()?);
        Ok(())
    }

    /// A growing filter of these keys.
    fn filter<'a>(
        &self,
        entries: impl Iterator<Item = Entry<'a>>,
        number: u64,
    ) -> Result<QuotientFilter> {
        let mut filter = QuotientFilter::builder()
            .expected_items(number.max(1).min(self.max_lines))
            .grows_to(self.max_lines)
            .false_positive_rate(self.rate)
            .build()
            .map_err(|error| match error {
                // The widths that are wrong then are those of the library.
                BuildError::Param(_) => self.no_such_filter(),
                error => error.into(),
            })?;
        for entry in entries {
            let inserted = filter.insert_hash_if_absent(key::hash(entry.key));
            inserted.map_err(|error| too_many(self.max_lines, &error))?;
        }
        Ok(filter)
    }

    fn no_such_filter(&self) -> Error {
        format!(
            "--rate is {}, but no filter of {} lines (--max-lines) has it: its hashes have 64 bits. Give a greater rate or fewer \
             lines",
            self.rate,
            HumanCount(self.max_lines)
        )
        .into()
    }

    fn report_times(&self, late: u64) {
        if self.timeless > 0 {
            tell(format_args!("records without a time, which were left out: {}", self.timeless));
        }
        if late > 0 {
            tell(format_args!(
                "lines that came later than --window behind a line with a later time: {}; such lines may be written twice",
                HumanCount(late)
            ));
        }
    }

    pub(super) fn describe(&self, written: u64) -> String {
        format!("{} written, {}", HumanCount(written), HumanBytes(self.size_in_bytes()))
    }

    fn size_in_bytes(&self) -> u64 {
        match &self.keys {
            Keys::Exact(set) => set.size_in_bytes(),
            Keys::Growing(seen, again) => {
                seen.size_in_bytes() + again.as_ref().map_or(0, QuotientFilter::size_in_bytes)
            }
            Keys::Window(filter) => filter.size_in_bytes(),
            Keys::Timed(recent) => recent.size_in_bytes(),
        }
    }

    /// Tells what was done. A filter tells in any case how wrong it was.
    pub(super) fn report(&self, lines: u64, written: u64, is_asked: bool) -> Result<()> {
        let size = HumanBytes(self.size_in_bytes());
        let counts = format!("{} lines, {} written", HumanCount(lines), HumanCount(written));
        let contains: &dyn Fn(u64) -> bool = match &self.keys {
            Keys::Exact(_) => {
                if is_asked {
                    tell(format_args!("{counts}; exact, {size}"));
                }
                return Ok(());
            }
            Keys::Growing(filter, _) => &|hash| filter.contains_hash(hash),
            Keys::Window(filter) => &|hash| filter.contains_hash(hash),
            Keys::Timed(recent) => {
                self.report_times(recent.late());
                if is_asked {
                    tell(format_args!("{counts}; by their 64-bit hashes, {size}"));
                }
                return Ok(());
            }
        };
        // Hashes that no line has, but for chance.
        let is_wrong = |&number: &u32| contains(finalize(u64::from(number) ^ PROBE_SEED));
        let wrong = (0..PROBES).filter(is_wrong).count();
        #[expect(clippy::cast_possible_truncation, reason = "at most as many as probes")]
        let interval = binomial_interval(wrong as u32, PROBES, 0.95)?;
        // Of n new lines a share of the rate is lost, and n (1 - rate) are taken for new ones.
        let lost = |new: u64| (self.rate * new as f64 / (1.0 - self.rate)).min(lines as f64);
        let expected = if self.repeated {
            format!(
                "Lines that came once, and were written: {:.1} expected at most; repeated lines not written: {:.1}",
                lost(self.new_by_filter),
                lost(self.written_by_filter)
            )
        } else {
            format!("New lines dropped: {:.1} expected at most", lost(self.written_by_filter))
        };
        tell(format_args!(
            "{counts}; {} of them by a filter of {size}. Measured rate: {wrong} of {} lines that never came, so from {:.1e} to \
             {:.1e} (promised: {:.1e} at most). {expected}",
            HumanCount(self.written_by_filter),
            HumanCount(PROBES.into()),
            interval.start(),
            interval.end(),
            self.rate,
        ));
        Ok(())
    }
}

/// The error of a window with more keys than it may have.
fn too_many_at_once(max_lines: u64) -> Error {
    format!(
        "there are more different lines within --window than the {} that --max-lines allows; more of them need more memory",
        HumanCount(max_lines)
    )
    .into()
}

/// The error of a filter that takes no more keys.
fn too_many(max_lines: u64, error: &InsertError) -> Error {
    match error {
        InsertError::Full { .. } => format!(
            "there are more than the {} different lines that --max-lines allows; more of them need more memory for each",
            HumanCount(max_lines)
        )
        .into(),
        other => other.to_string().into(),
    }
}

/// The number from which the probes begin.
const PROBE_SEED: u64 = 0x5eed_0f9b_0be5_0000;
