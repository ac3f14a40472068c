//! The folder of a durable structure: checkpoints and logs by their number, and a lock.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{DurableError, log};
use crate::bytes::file::{Files, folder_of, sync_folder};

/// Extension of a checkpoint.
const CHECKPOINT: &str = "pds";
/// Extension of a log. Not `log`: a folder may hold logs of others.
const LOG: &str = "pdslog";

/// A folder that this value alone has open.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Locked until this value is dropped, at the latest when the process ends.
    lock: File,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Closing the file alone keeps the lock for as long as a child process that is just being started has a copy of it.
        let _ = self.lock.unlock();
    }
}

impl Folder {
    /// Creates the folder if it is missing, and locks it. It may hold no more than an interrupted creation leaves: neither a
    /// durable structure nor the files of others are overwritten.
    pub(super) fn create(path: &Path) -> Result<Self, DurableError> {
        create_folders(path).map_err(|error| DurableError::io(path, error))?;
        let folder = Self::lock(path)?;
        let is_left = |name: &String| {
            let is_log = number(name, LOG) == Some(0) && !folder.has_records(0);
            name == "lock" || is_log || temporary(name) == Some(0)
        };
        match names_in(&folder.path)?.iter().find(|name| !is_left(name)) {
            Some(name) => Err(DurableError::Exists(folder.path.join(name))),
            None => Ok(folder),
        }
    }

    /// Locks the folder. Returns the number of the latest checkpoint too.
    pub(super) fn open(path: &Path) -> Result<(Self, u64), DurableError> {
        let absent = || DurableError::Absent(path.into());
        // A folder of something else stays as it is, without a lock.
        latest(&names_in(path)?).ok_or_else(absent)?;
        let folder = Self::lock(path)?;
        let names = names_in(&folder.path)?;
        let generation = latest(&names).ok_or_else(absent)?;
        let mut logs = names.iter().filter_map(|name| number(name, LOG));
        match logs.find(|&log| log > generation && folder.has_records(log)) {
            Some(log) => Err(DurableError::Absent(folder.checkpoint(log))),
            None => Ok((folder, generation)),
        }
    }

    fn lock(path: &Path) -> Result<Self, DurableError> {
        // The folder stays the same if the process changes its own, or somebody a symbolic link.
        let path = fs::canonicalize(path).map_err(|error| DurableError::io(path, error))?;
        let name = path.join("lock");
        let io = |error| DurableError::io(&name, error);
        let lock = File::options().create(true).truncate(false).write(true).open(&name);
        let lock = lock.map_err(io)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, lock }),
            Err(TryLockError::WouldBlock) => Err(DurableError::Locked(path)),
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn checkpoint(&self, generation: u64) -> PathBuf {
        self.path.join(format!("{generation}.{CHECKPOINT}"))
    }

    pub(super) fn log(&self, generation: u64) -> PathBuf {
        self.path.join(format!("{generation}.{LOG}"))
    }

    /// Returns the number of the checkpoint after one.
    pub(super) fn next(&self, generation: u64) -> Result<u64, DurableError> {
        let next = generation.saturating_add(1);
        if next < u64::MAX {
            return Ok(next);
        }
        let told =
            format!("the next checkpoint would have the number {next}, but must be below it");
        Err(DurableError::io(&self.checkpoint(generation), io::Error::other(told)))
    }

    /// Returns whether a log holds more than a head.
    fn has_records(&self, generation: u64) -> bool {
        let metadata = fs::metadata(self.log(generation));
        metadata.is_ok_and(|log| log.is_file() && log.len() > log::HEAD_BYTES as u64)
    }

    /// Removes what interrupted checkpoints have left: temporary files, and all checkpoints and logs but those of `generation`.
    ///
    /// A file that cannot be removed does no harm.
    pub(super) fn clean(&self, generation: u64) -> Result<(), DurableError> {
        for name in names_in(&self.path)? {
            let found = number(&name, CHECKPOINT).or_else(|| number(&name, LOG));
            if found.is_some_and(|found| found != generation) || temporary(&name).is_some() {
                let _ = fs::remove_file(self.path.join(name));
            }
        }
        Ok(())
    }

    /// Removes the files of one generation.
    pub(super) fn remove(&self, files: &mut impl Files, generation: u64) {
        files.remove(&self.checkpoint(generation));
        files.remove(&self.log(generation));
    }
}

/// Creates a folder and those above it that are missing, and makes their names durable.
fn create_folders(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        create_folders(folder_of(path))?;
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    // Also if it was there: whoever created it may have been killed before this.
    sync_folder(folder_of(path))
}

fn names_in(path: &Path) -> Result<Vec<String>, DurableError> {
    let names = fs::read_dir(path).and_then(|entries| {
        let names = entries.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()));
        names.collect()
    });
    names.map_err(|error| DurableError::io(path, error))
}

/// Returns the number of the latest checkpoint.
fn latest(names: &[String]) -> Option<u64> {
    names.iter().filter_map(|name| number(name, CHECKPOINT)).max()
}

/// Returns the number in the name of a file, as this module writes it.
fn number(name: &str, extension: &str) -> Option<u64> {
    let digits = name.strip_suffix(extension)?.strip_suffix('.')?;
    let number: u64 = digits.parse().ok()?;
    // The greatest number has no next one, so no checkpoint has it: `next` refuses it.
    (number < u64::MAX && format!("{number}") == digits).then_some(number)
}

/// Returns the number in the name of a temporary file of a checkpoint, as `replace` writes it.
fn temporary(name: &str) -> Option<u64> {
    let parts: Vec<_> = name.split('.').collect();
    let ["", generation, CHECKPOINT, process, counter, "tmp"] = *parts else { return None };
    process.parse::<u64>().and(counter.parse::<u64>()).and(generation.parse()).ok()
}
