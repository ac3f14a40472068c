//! Durable structures as subjects: after each opening, the structure holds exactly the inserts that were acknowledged.

use super::prelude::*;
use core::sync::atomic::{AtomicU64, Ordering};
use pds::CountingQuotientFilter;
use pds::bytes::ByteOptions;
use pds::durable::{Durable, DurableOptions, SyncPolicy};
use pds::hash::KeyHasher;
use std::fs;
use std::path::{Path, PathBuf};

/// Checkpoints and logs.
pub(crate) const STRUCTURE: Structure = Structure {
    name: DURABLE,
    title: "Durable structures",
    variants: &[],
    jobs: |run| vec![job(run, opened)],
    faults: &[
        fault(
            "record-skipped",
            "opening a durable structure leaves out the first record of its log",
            &[LOST_KEYS, DIFFERENT],
            |run| vec![job(run, |folder| replayed(folder, |index| u64::from(index > 0)))],
        ),
        fault(
            "replayed-twice",
            "opening a durable structure inserts each record of its log twice",
            &[DIFFERENT],
            |run| vec![job(run, |folder| replayed(folder, |_| 2))],
        ),
    ],
};

const DURABLE: &str = "durable";

const DIFFERENT: Check = Check::new(
    "openings that give another structure",
    "The bytes of an opened structure are those of one with the acknowledged inserts, each once. A log that is cut at any byte \
     gives the records before the cut.",
);

/// Openings of a folder.
const OPENINGS: u64 = 8;
/// Most inserts between two openings.
const INSERTS: u64 = 50;
/// Bytes of the head of a log, and of a record, by `docs/format.md`.
const HEAD: usize = 32;
const RECORD: usize = 16;

/// The structure counts copies, so that a record that is inserted twice shows.
type Counter = CountingQuotientFilter;

/// Opens many folders again and again, between random inserts, checkpoints and cuts of the log.
fn job(run: &Run, open: fn(&Path) -> Counter) -> Job<'_> {
    let instances = run.effort.choose([5, 50, 500]);
    let seed = run.seed;
    Job::new(instances * OPENINGS * INSERTS, move || {
        let mut random = keys::random(seed);
        let (mut lost, mut different) = (0, 0);
        for _ in 0..instances {
            let mut history = History::new();
            for _ in 0..OPENINGS {
                history.change(&mut random);
                let (found, expected) = (open(&history.folder.0), history.expected());
                let is_lost = |&&hash: &&u64| found.count_hash(hash) < expected.count_hash(hash);
                lost += history.hashes.iter().filter(is_lost).count() as u64;
                different += u64::from(found.to_bytes() != expected.to_bytes());
            }
        }
        let case = Case::random(DURABLE, OPENINGS * INSERTS, 0.0, "checkpoints and cut logs");
        let case = case.of(instances);
        vec![case.none(LOST_KEYS, lost), case.none(DIFFERENT, different)]
    })
}

/// The product: opens the folder.
fn opened(folder: &Path) -> Counter {
    options().open(folder).expect("a sound folder").into_structure()
}

/// The same, rebuilt: reads the checkpoint and inserts each record as often as `times` says, by its index.
fn replayed(folder: &Path, times: fn(u64) -> u64) -> Counter {
    let mut structure: Counter =
        ByteOptions::new().load(path_in(folder, "pds")).expect("a sound checkpoint");
    let log = fs::read(path_in(folder, "pdslog")).expect("a log");
    for (index, record) in (0..).zip(log[HEAD..].chunks_exact(RECORD)) {
        let (hash, _) = record.split_first_chunk().expect("a record is longer");
        let hash = u64::from_le_bytes(*hash);
        (0..times(index)).for_each(|_| structure.insert_hash(hash).expect("room"));
    }
    structure
}

/// Syncing is of no use where only processes end.
fn options() -> DurableOptions {
    DurableOptions::new().sync(SyncPolicy::ByCaller)
}

/// Returns the only file of this type.
fn path_in(folder: &Path, extension: &str) -> PathBuf {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut found = files.filter(|path| path.extension().is_some_and(|found| found == extension));
    found.next().expect("a file of this type")
}

/// A folder, and the hashes of the acknowledged inserts.
struct History {
    folder: Scratch,
    hashes: Vec<u64>,
    /// Number of hashes that are in the checkpoint.
    checkpointed: usize,
}

impl History {
    fn new() -> Self {
        let folder = Scratch::new();
        drop(options().create(&folder.0, Self::empty()).expect("a new folder"));
        Self { folder, hashes: Vec::new(), checkpointed: 0 }
    }

    /// Fingerprints are so long that no two keys share one.
    fn empty() -> Counter {
        Counter::new(OPENINGS * INSERTS, 1e-9).expect("memory")
    }

    fn expected(&self) -> Counter {
        let mut counter = Self::empty();
        self.hashes.iter().for_each(|&hash| counter.insert_hash(hash).expect("room"));
        counter
    }

    /// Inserts, writes a checkpoint or none, closes the folder, and cuts the log or not.
    fn change(&mut self, random: Random<'_>) {
        let mut next = || next(random);
        let mut durable: Durable<Counter> = options().open(&self.folder.0).expect("sound");
        let inserts = next() % INSERTS;
        let checkpoint = next() % (2 * INSERTS);
        for insert in 0..inserts {
            if insert == checkpoint {
                durable.checkpoint().expect("room on the disk");
                self.checkpointed = self.hashes.len();
            }
            // One key in eight is there already.
            let copied = self.hashes.get(index(next() % (8 * INSERTS)));
            let hash = copied.copied().unwrap_or_else(&mut next);
            durable.insert_hash(hash).expect("room");
            self.hashes.push(hash);
        }
        let batch = [next(), next(), next()];
        durable.insert_all(batch).expect("room");
        self.hashes.extend(batch.map(|key| durable.structure().hash_key(&key)));
        drop(durable);
        if next().is_multiple_of(2) {
            self.cut(next());
        }
    }

    /// Cuts the log at any byte behind its head. Records that are no longer whole are no longer expected.
    fn cut(&mut self, number: u64) {
        let log = path_in(&self.folder.0, "pdslog");
        let log = fs::File::options().write(true).open(log).expect("a log");
        let whole = (self.hashes.len() - self.checkpointed) * RECORD;
        let left = number % (whole as u64 + 1);
        log.set_len(HEAD as u64 + left).expect("a log that can be cut");
        let records = index(left) / RECORD;
        self.hashes.truncate(self.checkpointed + records);
    }
}

/// A path in the folder of temporary files, whose contents are removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("pds-kept-{}-{number}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{broken, quick};
    use super::*;

    #[test]
    fn a_rebuilt_replay_without_a_fault_breaks_nothing() {
        let run = quick();
        assert_eq!(broken(vec![job(&run, |folder| replayed(folder, |_| 1))]), []);
    }
}
