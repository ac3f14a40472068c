//! The bodies of the fuzz targets, which ordinary tests run, too.

use core::sync::atomic::{AtomicU64, Ordering};
use std::fs;
use std::path::PathBuf;

use bloom_core::BloomFilter;
use pds_core::durable::{Durable, DurableError, DurableOptions, SyncPolicy};
use pds_testkit::mutate::Choices;

/// The length of a head, and of a record.
pub(crate) const HEAD: usize = 32;
pub(crate) const RECORD: usize = 16;

/// The files of a folder: an empty filter, and a log of the keys 0 to 11.
pub(crate) const CHECKPOINT: &[u8] = include_bytes!("../../data/durable/0.pds");
pub(crate) const LOG: &[u8] = include_bytes!("../../data/durable/0.pdslog");
pub(crate) const RECORDS: usize = 12;

/// A folder for one test, removed with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().canonicalize().unwrap();
        let path = path.join(format!("pds-log-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    /// Returns a folder with the checkpoint and this log.
    fn with(log: &[u8]) -> Self {
        let folder = Self::another();
        fs::create_dir(&folder.0).unwrap();
        fs::write(folder.file("0.pds"), CHECKPOINT).unwrap();
        fs::write(folder.file("0.pdslog"), log).unwrap();
        folder
    }

    /// Returns a folder that no other thread has.
    fn another() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        Self::new(&format!("body-{}", COUNTER.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Syncing is of no use where only processes end.
pub(crate) fn options() -> DurableOptions {
    DurableOptions::new().sync(SyncPolicy::ByCaller)
}

/// Returns the filter of the checkpoint.
pub(crate) fn checkpoint() -> BloomFilter {
    BloomFilter::builder().bits(500).hashes(3).seed(1).build().unwrap()
}

/// Returns the filter of the checkpoint with the records of the log that `choose` takes, by their indexes.
fn with_records(choose: impl Fn(usize) -> bool) -> BloomFilter {
    let mut filter = checkpoint();
    for (index, record) in LOG[HEAD..].chunks(RECORD).enumerate().filter(|&(i, _)| choose(i)) {
        let (hash, _) = record.split_first_chunk().unwrap();
        assert!(index < RECORDS);
        filter.insert_hash(u64::from_le_bytes(*hash));
    }
    filter
}

fn open(folder: &Folder, salvages: bool) -> Result<Durable<BloomFilter>, DurableError> {
    options().salvage(salvages).open(&folder.0)
}

/// Opens a folder with these bytes as its log. What is refused is left as it was; what is accepted is accepted again.
pub(crate) fn decode(bytes: &[u8]) {
    // All else is foreign, and the system calls take long.
    if bytes.starts_with(&LOG[..8]) {
        opened(bytes);
    }
}

/// Returns the filters of a folder with this log: as it is, and salvaged.
fn opened(log: &[u8]) -> [Option<BloomFilter>; 2] {
    [false, true].map(|salvages| {
        let folder = Folder::with(log);
        let Ok(found) = open(&folder, salvages) else {
            assert_eq!(fs::read(folder.file("0.pds")).unwrap(), CHECKPOINT);
            assert_eq!(fs::read(folder.file("0.pdslog")).unwrap(), log);
            return None;
        };
        let filter = found.into_structure();
        let again = open(&folder, false).unwrap();
        assert_eq!(again.recovery().lost_bytes, 0);
        assert!(*again.structure() == filter);
        Some(filter)
    })
}

/// Changes the log of a folder and opens it: every record that was left as it was counts, and no other one.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut log = LOG.to_vec();
    for _ in 0..=choices.below(3) {
        edit(&mut log, &mut choices);
    }
    let is_right = |index: usize| {
        let bytes = HEAD + index * RECORD..HEAD + (index + 1) * RECORD;
        log.get(bytes.clone()) == Some(&LOG[bytes])
    };
    let [plain, salvaged] = opened(&log);
    let has_head = log.starts_with(&LOG[..HEAD]);
    let right = (0..RECORDS).filter(|&index| is_right(index)).count();
    if let Some(filter) = plain {
        // Without salvaging, what follows the right records can only be the end of an interrupted insert.
        let rest = &log[HEAD + right * RECORD..];
        assert!(has_head && (0..right).all(is_right));
        assert!(rest.len() < RECORD || rest.iter().all(|&byte| byte == 0));
        assert!(filter == with_records(is_right));
    }
    match salvaged {
        Some(filter) => assert!(filter == with_records(is_right)),
        None => assert!(!has_head && right == 0 && !log.is_empty()),
    }
}

fn edit(log: &mut Vec<u8>, choices: &mut Choices<'_>) {
    match choices.below(6) {
        0 | 1 if !log.is_empty() => {
            let bit = choices.below(8 * log.len());
            log[bit / 8] ^= 1 << (bit % 8);
        }
        2 => log.truncate(choices.below(log.len() + 1)),
        3 => log.extend((0..choices.below(40)).map(|_| choices.byte())),
        4 => log.resize(log.len() + choices.below(40), 0),
        // A record in the place of another one.
        5 if log.len() == LOG.len() => {
            let [from, to] = [(); 2].map(|()| HEAD + choices.below(RECORDS) * RECORD);
            log.copy_within(from..from + RECORD, to);
        }
        _ => {}
    }
}

/// Inserts, writes checkpoints, cuts the log and opens the folder again. It always holds what was acknowledged.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let folder = Folder::another();
    let mut durable = options().create(&folder.0, checkpoint()).unwrap();
    // The filter of the last checkpoint, and the keys since.
    let (mut saved, mut keys) = (checkpoint(), Vec::new());
    while !choices.is_empty() {
        match choices.below(6) {
            0 => {
                durable.checkpoint().unwrap();
                saved = durable.structure().clone();
                keys.clear();
            }
            1 => {
                drop(durable);
                durable = open(&folder, false).unwrap();
                assert_eq!(durable.recovery().replayed, keys.len() as u64);
            }
            2 => {
                let path = folder.file(&format!("{}.pdslog", generation(&durable)));
                drop(durable);
                let log = fs::File::options().write(true).open(path).unwrap();
                let length = choices.below(keys.len() * RECORD + 1);
                log.set_len((HEAD + length) as u64).unwrap();
                keys.truncate(length / RECORD);
                durable = open(&folder, false).unwrap();
                assert_eq!(durable.recovery().lost_bytes, (length % RECORD) as u64);
            }
            3 => {
                let batch: Vec<u8> = (0..choices.below(9)).map(|_| choices.byte()).collect();
                durable.insert_all(&batch).unwrap();
                keys.extend(batch);
            }
            _ => {
                keys.push(choices.byte());
                durable.insert(keys.last().unwrap()).unwrap();
            }
        }
        let mut expected = saved.clone();
        expected.extend(&keys);
        assert!(*durable.structure() == expected);
        assert_eq!(durable.log_records(), keys.len() as u64);
    }
}

/// Returns the number of the checkpoint, which is in the name of the only log.
fn generation(durable: &Durable<BloomFilter>) -> u64 {
    let names = fs::read_dir(durable.folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names = names.filter_map(|name| name.into_string().ok());
    names.find_map(|name| name.strip_suffix(".pdslog")?.parse().ok()).unwrap()
}
