//! A thread that reads, decompresses, cuts and hashes, ahead of the one that works on the records.

use super::batch::Batch;
use super::cut::{Csv, Cut, Failure, Lines, Rules};
use super::selector::Selector;
use super::source::Source;
use crate::error::{Error, Result};
use crate::key;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Batches that may wait.
const AHEAD: usize = 4;

/// Everything that is to be read.
#[derive(Debug)]
pub(crate) struct Work {
    pub(super) sources: Vec<Source>,
    pub(super) columns: Vec<Selector>,
    pub(super) terminator: u8,
    /// The delimiter, if the sources are CSV.
    pub(super) csv: Option<u8>,
    pub(super) max_record: usize,
    pub(super) skip_bad: bool,
}

impl Work {
    /// Whether each key is its whole record.
    pub(crate) fn keys_are_records(&self) -> bool {
        matches!(self.columns[0], Selector::Record)
    }

    /// What ends a record that is written.
    pub(crate) const fn terminator(&self) -> u8 {
        self.terminator
    }

    /// Reads everything, and passes all records on in their order. `hashed` says whether their keys' hashes are needed.
    ///
    /// # Errors
    /// The first error of a source or of `each`. Records before it were passed on.
    pub(crate) fn read(
        self,
        hashed: bool,
        mut each: impl FnMut(&Batch, &Progress) -> Result<()>,
    ) -> Result<()> {
        let progress = Progress::new(&self.sources);
        let (sender, receiver) = sync_channel(AHEAD);
        let (back, empty) = channel();
        let count = Arc::clone(&progress.count);
        // Not a scoped thread: if `each` fails, the process ends while it may wait for standard input.
        thread::spawn(move || Producer { work: self, hashed, count, sender, empty }.run());
        let result = receive(&receiver, &back, &progress, &mut each);
        progress.bar.finish_and_clear();
        result
    }
}

impl Work {
    /// Reads each source as a whole, with its name.
    ///
    /// # Errors
    /// The first error of a source or of `each`.
    pub(crate) fn read_whole(
        self,
        mut each: impl FnMut(String, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let progress = Progress::new(&self.sources);
        for source in &self.sources {
            let mut text = Vec::new();
            let opened = source.open(&progress.count);
            let read = opened.and_then(|mut reader| reader.read_to_end(&mut text));
            read.map_err(|error| Error::at(source, error))?;
            each(source.to_string(), text)?;
            progress.bar.set_position(progress.count.load(Ordering::Relaxed));
        }
        progress.bar.finish_and_clear();
        Ok(())
    }
}

enum Message {
    Batch(Batch),
    Skipped(u64),
    Failed(Error),
}

fn receive(
    receiver: &Receiver<Message>,
    back: &Sender<Batch>,
    progress: &Progress,
    each: &mut impl FnMut(&Batch, &Progress) -> Result<()>,
) -> Result<()> {
    let mut next = receiver.recv().ok();
    while let Some(message) = next {
        // The message behind this one, if it is there.
        let mut following = receiver.try_recv().ok();
        match message {
            Message::Batch(mut batch) => {
                batch.is_last_for_now = following.is_none();
                each(&batch, progress)?;
                progress.bar.set_position(progress.count.load(Ordering::Relaxed));
                // The producer may have ended.
                let _ = back.send(batch);
            }
            Message::Skipped(records) => {
                eprintln!("pds: records without the field, which were left out: {records}");
            }
            Message::Failed(error) => return Err(error),
        }
        if following.is_none() {
            following = receiver.recv().ok();
        }
        next = following;
    }
    Ok(())
}

/// The state of the thread that reads.
struct Producer {
    work: Work,
    hashed: bool,
    count: Arc<AtomicU64>,
    sender: SyncSender<Message>,
    empty: Receiver<Batch>,
}

impl Producer {
    fn run(self) {
        let mut rules = Rules {
            columns: self.work.columns.clone(),
            terminator: self.work.terminator,
            max_record: self.work.max_record,
            skip_bad: self.work.skip_bad,
            skipped: 0,
            has_header: false,
        };
        let mut last = None;
        for source in &self.work.sources {
            if let Err(failure) = self.source(source, &mut rules) {
                let place = match failure.record {
                    Some(record) => format!("{source}:{record}"),
                    None => source.to_string(),
                };
                last = Some(Message::Failed(Error::at(place, failure.what)));
                break;
            }
        }
        if rules.skipped > 0 {
            let _ = self.sender.send(Message::Skipped(rules.skipped));
        }
        if let Some(failed) = last {
            let _ = self.sender.send(failed);
        }
    }

    fn source(&self, source: &Source, rules: &mut Rules) -> core::result::Result<(), Failure> {
        let reader = source.open(&self.count)?;
        let mut cut: Box<dyn Cut> = match self.work.csv {
            Some(delimiter) => Box::new(Csv::new(reader, delimiter)),
            None => Box::new(Lines::new(reader)),
        };
        loop {
            let mut batch = self.empty.try_recv().unwrap_or_default();
            batch.clear();
            if batch.columns.is_empty() {
                batch.columns = rules.columns.iter().map(Selector::column).collect();
            }
            let is_open = cut.fill(&mut batch, rules)?;
            if self.hashed {
                let mut hashes = core::mem::take(&mut batch.hashes);
                hashes.extend((0..batch.len()).map(|index| key::hash(batch.key(index))));
                batch.hashes = hashes;
            }
            let has_contents = batch.len() > 0 || batch.header.is_some();
            if has_contents && self.sender.send(Message::Batch(batch)).is_err() {
                // Nobody waits for more.
                return Ok(());
            }
            if !is_open {
                return Ok(());
            }
        }
    }
}

/// What has been read so far, shown on a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    count: Arc<AtomicU64>,
}

impl Progress {
    fn new(sources: &[Source]) -> Self {
        let total = sources.iter().map(Source::length).sum::<Option<u64>>();
        // Lines on the terminal and a bar would overwrite each other.
        let is_shown = io::stderr().is_terminal() && !io::stdout().is_terminal();
        let bar = if is_shown { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let template = match total {
            Some(total) => {
                bar.set_length(total);
                "{bytes} of {total_bytes} {bar:20} {bytes_per_sec}, {eta} left {msg}"
            }
            None => "{bytes} {bytes_per_sec} {msg}",
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a template of this program"));
        if is_shown {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar, count: Arc::new(AtomicU64::new(0)) }
    }

    /// Shows what was found so far. `what` is called only if somebody sees it.
    pub(crate) fn say(&self, what: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            self.bar.set_message(what());
        }
    }
}
