//! Threads that read, cut, select and hash, ahead of the one that works on the records.

use super::batch::Batch;
use super::cut::{self, Csv, CsvRules, Cut, Failure, Lines};
use super::progress::Progress;
use super::selector::Selector;
use super::source::Source;
use crate::error::{Error, Result};
use crate::key;
use crate::output::{Output, tell};
use alloc::sync::Arc;
use core::ops::ControlFlow;
use core::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Batches that may wait, in each of the two places where they do.
const AHEAD: usize = 2;

/// Threads that select and hash, at most. More are of no use to the one that works on the records.
const MOST_THREADS: usize = 4;

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
    /// Whether values of JSON that differ are different keys.
    pub(super) exact: bool,
    /// Whether records are written.
    pub(super) passes_on: bool,
    pub(super) shows_progress: bool,
}

impl Work {
    /// Whether each key is its whole record.
    pub(crate) fn keys_are_records(&self) -> bool {
        matches!(self.columns[0], Selector::Record)
    }

    /// Returns the byte that ends a written record.
    pub(crate) const fn terminator(&self) -> u8 {
        self.terminator
    }

    /// Whether records without what is needed of them are left out.
    pub(crate) const fn skips_bad(&self) -> bool {
        self.skip_bad
    }

    pub(crate) fn reads_stdin(&self) -> bool {
        self.sources.iter().any(|source| source.path().is_none())
    }

    /// The names of the sources.
    pub(crate) fn names(&self) -> Vec<String> {
        self.sources.iter().map(Source::to_string).collect()
    }

    /// Takes the contents of a JSON string for the key in any case, so that filters find lines that are equal to it.
    pub(crate) const fn with_text_keys(mut self) -> Self {
        self.exact = false;
        self
    }

    /// Says that records go to an output: `at_once`, or when all are read. All files of CSV then need the same header.
    ///
    /// # Errors
    /// If the output is an input, too: it would grow as it is read.
    pub(crate) fn passing_on_to(mut self, output: &Output, at_once: bool) -> Result<Self> {
        if let Some(source) = self.sources.iter().find(|source| output.is_in(source.path())) {
            return Err(Error::at(source, "is an input and the output: give another output"));
        }
        self.passes_on = true;
        // Lines on a terminal and a bar would overwrite each other.
        self.shows_progress = !(at_once && output.is_terminal());
        Ok(self)
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
        self.read_until(hashed, |batch, progress| each(batch, progress).map(ControlFlow::Continue))
    }

    /// As [`read`](Self::read), until `each` has seen enough.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn read_until(
        self,
        hashed: bool,
        mut each: impl FnMut(&Batch, &Progress) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let progress = Progress::new(&self.sources, self.shows_progress);
        let threads = thread::available_parallelism().map_or(1, |all| all.get().saturating_sub(2));
        let threads = threads.clamp(1, MOST_THREADS);
        let (back, empty) = channel();
        let (mut jobs, mut results) = (Vec::new(), Vec::new());
        let names: Arc<[String]> = self.names().into();
        // No scoped threads: if `each` fails, the process ends while one may wait for standard input.
        for _ in 0..threads {
            let (job_sender, job_receiver) = sync_channel(AHEAD);
            let (sender, receiver) = sync_channel(AHEAD);
            jobs.push(job_sender);
            results.push(receiver);
            let preparer = Preparer {
                columns: self.columns.clone(),
                is_cut: self.csv.is_some(),
                exact: self.exact,
                skip_bad: self.skip_bad,
                hashed,
                names: Arc::clone(&names),
            };
            thread::spawn(move || preparer.run(&job_receiver, &sender));
        }
        let reader = Reader { count: progress.counter(), jobs, next: 0, empty };
        thread::spawn(move || reader.run(&self));
        let result = receive(&results, &back, &progress, &mut each);
        progress.finish();
        result
    }

    /// Reads each source as a whole, with its name.
    ///
    /// # Errors
    /// The first error of a source or of `each`, or a source that is longer than a record may be.
    pub(crate) fn read_whole(
        self,
        mut each: impl FnMut(String, Vec<u8>, &Progress) -> Result<()>,
    ) -> Result<()> {
        let progress = Progress::new(&self.sources, self.shows_progress);
        for source in &self.sources {
            let text = source.read_whole(&progress.counter(), self.max_record);
            each(source.to_string(), text.map_err(|error| Error::at(source, error))?, &progress)?;
            progress.update();
        }
        progress.finish();
        Ok(())
    }
}

/// A message from one thread to the next. Message i goes through thread i modulo their number, which keeps the order.
enum Message {
    Batch(Batch),
    Failed(Error),
    End,
}

fn receive(
    results: &[Receiver<Message>],
    back: &Sender<Batch>,
    progress: &Progress,
    each: &mut impl FnMut(&Batch, &Progress) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut skipped = 0;
    let mut turns = results.iter().cycle().peekable();
    let mut waiting = None;
    let result = loop {
        let receiver = turns.next().expect("a cycle");
        let message = match waiting.take() {
            Some(message) => message,
            // A thread that ends without a last message has panicked, and said so.
            None => match receiver.recv() {
                Ok(message) => message,
                Err(_) => break Err("the input could not be read to its end".into()),
            },
        };
        match message {
            Message::Batch(mut batch) => {
                waiting = turns.peek().and_then(|next| next.try_recv().ok());
                batch.is_last_for_now = waiting.is_none();
                skipped += u64::from(batch.skipped);
                let flow = each(&batch, progress);
                progress.update();
                if !matches!(flow, Ok(ControlFlow::Continue(()))) {
                    break flow.map(drop);
                }
                if let Some(failure) = batch.failure.take() {
                    break Err(failure);
                }
                // The reader may have ended.
                let _ = back.send(batch);
            }
            Message::Failed(error) => break Err(error),
            Message::End => break Ok(()),
        }
    };
    if skipped > 0 {
        progress
            .aside(|| tell(format!("records without the field, which were left out: {skipped}")));
    }
    result
}

/// The thread that reads and cuts.
struct Reader {
    count: Arc<AtomicU64>,
    jobs: Vec<SyncSender<Message>>,
    /// The thread whose turn it is.
    next: usize,
    empty: Receiver<Batch>,
}

impl Reader {
    fn run(mut self, work: &Work) {
        let mut rules = work.csv.map(|delimiter| CsvRules {
            columns: work.columns.clone(),
            delimiter,
            max_record: work.max_record,
            skip_bad: work.skip_bad,
            same_header: work.passes_on || work.keys_are_records(),
            header: None,
        });
        for (place, source) in work.sources.iter().enumerate() {
            match self.source(work, place, rules.as_mut()) {
                Ok(true) => {}
                // Nobody waits for more.
                Ok(false) => return,
                Err(failure) => {
                    self.send(Message::Failed(at(source, failure)));
                    return;
                }
            }
        }
        self.send(Message::End);
    }

    /// Passes on a message. Returns whether somebody waits for more.
    fn send(&mut self, message: Message) -> bool {
        let sent = self.jobs[self.next].send(message).is_ok();
        self.next = (self.next + 1) % self.jobs.len();
        sent
    }

    /// Reads a source. Returns whether somebody waits for more.
    fn source(
        &mut self,
        work: &Work,
        place: usize,
        rules: Option<&mut CsvRules>,
    ) -> core::result::Result<bool, Failure> {
        let reader = work.sources[place].open(&self.count)?;
        let mut cut: Box<dyn Cut + '_> = match rules {
            Some(rules) => Box::new(Csv::new(cut::without_mark(reader)?, rules)),
            None => Box::new(Lines::new(reader, work.terminator, work.max_record)),
        };
        loop {
            let mut batch = self.empty.try_recv().unwrap_or_default();
            batch.clear();
            batch.source = place;
            if batch.columns.is_empty() {
                batch.columns = work.columns.iter().map(Selector::column).collect();
            }
            let filled = cut.fill(&mut batch);
            let has_contents = batch.len() > 0 || batch.header.is_some() || batch.skipped > 0;
            if has_contents && !self.send(Message::Batch(batch)) {
                return Ok(false);
            }
            if !filled? {
                return Ok(true);
            }
        }
    }
}

fn at(source: impl core::fmt::Display, failure: Failure) -> Error {
    match failure.line {
        Some(line) => Error::at(format_args!("{source}:{line}"), failure.what),
        None => Error::at(source, failure.what),
    }
}

/// A thread that selects and hashes.
struct Preparer {
    columns: Vec<Selector>,
    /// Whether the reader has selected the keys.
    is_cut: bool,
    exact: bool,
    skip_bad: bool,
    hashed: bool,
    names: Arc<[String]>,
}

impl Preparer {
    fn run(&self, jobs: &Receiver<Message>, results: &SyncSender<Message>) {
        while let Ok(mut message) = jobs.recv() {
            if let Message::Batch(batch) = &mut message {
                let failure = self.prepare(batch).err();
                batch.failure = failure.map(|failure| at(&self.names[batch.source], failure));
            }
            let goes_on = matches!(&message, Message::Batch(batch) if batch.failure.is_none());
            if results.send(message).is_err() || !goes_on {
                return;
            }
        }
    }

    fn prepare(&self, batch: &mut Batch) -> core::result::Result<(), Failure> {
        let selected = if self.is_cut {
            Ok(())
        } else {
            cut::select(batch, &self.columns, self.exact, self.skip_bad)
        };
        if self.hashed {
            let mut hashes = core::mem::take(&mut batch.hashes);
            hashes.extend((0..batch.len()).map(|index| key::hash(batch.key(index))));
            batch.hashes = hashes;
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A panic of the threads leaves no last message behind.
    #[test]
    fn an_input_without_an_end_is_an_error() {
        let (sender, receiver) = sync_channel(2);
        let (back, _empty) = channel();
        sender.send(Message::Batch(Batch::default())).unwrap();
        drop(sender);
        let progress = Progress::new(&[], false);
        let mut batches = 0;
        let result = receive(&[receiver], &back, &progress, &mut |_, _| {
            batches += 1;
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(batches, 1);
        assert!(matches!(result, Err(Error::Message(what)) if what.contains("to its end")));
    }
}
