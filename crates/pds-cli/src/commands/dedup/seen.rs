//! The set of keys read so far: exact, or a filter.

use super::keys::{FilterKeys, Lines};
use super::parts::Parts;
use super::recent::{Recent, TooMany};
use super::{Options, Window};
use crate::error::{Error, Result};
use crate::input::{Batch, Progress};
use crate::output::tell;
use pds::WindowBloomFilter;
use pds::compare::{HumanBytes, HumanCount};
use pds::hash::finalize;
use pds::params::minhash::binomial_interval;

/// The keys read so far.
pub(super) struct Seen {
    keys: Keys,
    memory: u64,
    rate: f64,
    max_lines: u64,
    /// Whether repeated lines are wanted, and not the first of each.
    repeated: bool,
    /// Lines that are written because of the filter.
    written_by_filter: u64,
    /// Records without a time.
    timeless: u64,
}

enum Keys {
    Exact(Parts<Lines>),
    Growing(Parts<FilterKeys>),
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
            Some(Window::Lines(window)) => {
                let filter = WindowBloomFilter::new(window, rate);
                Keys::Window(filter.map_err(|error| no_such_window(window, rate, error.into()))?)
            }
            Some(Window::Time(ticks)) => {
                let lines = options.max_lines.ok_or(
                    "--window of a time needs --max-lines, the most different lines in that time",
                )?;
                Keys::Timed(Recent::new(ticks, lines))
            }
            None => Keys::Exact(Parts::new(options.memory, || Lines::new(options.repeated))),
        };
        let Options { memory, repeated, .. } = *options;
        let max_lines = options.max_lines.unwrap_or(super::MAX_LINES);
        let (written_by_filter, timeless) = (0, 0);
        if options.window.is_none() {
            // A rate that no filter has is found before hours of work.
            FilterKeys::check(rate, max_lines)?;
        }
        Ok(Self { keys, memory, rate, max_lines, repeated, written_by_filter, timeless })
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
        if let Keys::Exact(lines) = &mut self.keys {
            lines.mark(batch, 0, answers)?;
            if answers.len() == batch.len() {
                return Ok(());
            }
            progress.aside(|| self.become_filter())?;
        }
        let exact = answers.len();
        let marked = self.mark_by_filter(batch, time, answers);
        self.written_by_filter += answers[exact..].iter().filter(|&&is_new| is_new).count() as u64;
        marked
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
            Keys::Exact(_) => unreachable!("the lines have become a filter"),
            Keys::Growing(filter) => {
                filter.mark(batch, first, answers)?;
                if answers.len() < batch.len() {
                    return Err(too_many(self.max_lines));
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

    /// Moves the keys into filters that grow, if they are exact.
    fn become_filter(&mut self) -> Result<()> {
        let Keys::Exact(lines) = &self.keys else { return Ok(()) };
        let number = lines.iter().map(Lines::len).sum();
        if number > self.max_lines {
            return Err(too_many(self.max_lines));
        }
        let filter = lines
            .try_map(self.max_lines, |lines| FilterKeys::new(lines, self.rate, self.max_lines))?;
        tell(format_args!(
            "{} different lines take the {} of --memory; from here on a filter decides, which takes a new line for a repeated \
             one at a rate of {:?}",
            HumanCount(number),
            HumanBytes(self.memory),
            self.rate
        ));
        self.keys = Keys::Growing(filter);
        Ok(())
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
            Keys::Exact(lines) => lines.iter().map(Lines::size_in_bytes).sum(),
            Keys::Growing(filter) => filter.iter().map(FilterKeys::size_in_bytes).sum(),
            Keys::Window(filter) => filter.size_in_bytes(),
            Keys::Timed(recent) => recent.size_in_bytes(),
        }
    }

    /// Tells what was done. A filter tells in any case how wrong it was.
    pub(super) fn report(&self, lines: u64, written: u64, is_asked: bool) -> Result<()> {
        let size = HumanBytes(self.size_in_bytes());
        let counts = format!("{} lines, {} written", HumanCount(lines), HumanCount(written));
        let mut new_by_filter = 0;
        let contains: &dyn Fn(u64) -> bool = match &self.keys {
            Keys::Exact(_) => {
                if is_asked {
                    tell(format_args!("{counts}; exact, {size}"));
                }
                return Ok(());
            }
            Keys::Growing(filter) => {
                new_by_filter = filter.iter().map(FilterKeys::added).sum();
                &|hash| filter.of(hash).contains(hash)
            }
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
                lost(new_by_filter),
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

/// The error of a window that no filter has.
fn no_such_window(window: u64, rate: f64, error: Error) -> Error {
    match error {
        Error::Message(what) => {
            let window = HumanCount(window);
            format!("no filter of a --window of {window} lines has a --rate of {rate:?}: {what}")
                .into()
        }
        other => other,
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
fn too_many(max_lines: u64) -> Error {
    format!(
        "there are more than the {} different lines that --max-lines allows; more of them need more memory for each",
        HumanCount(max_lines)
    )
    .into()
}

/// The number from which the probes begin.
const PROBE_SEED: u64 = 0x5eed_0f9b_0be5_0000;
