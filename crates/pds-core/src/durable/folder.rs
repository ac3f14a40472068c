//! The folder of a durable structure: checkpoints and logs by their number, and a lock.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::DurableError;
use crate::bytes::file::{folder_of, sync_folder};

/// Extension of a checkpoint.
const CHECKPOINT: &str = "pds";
/// Extension of a log. Not `log`: a folder may hold logs of others.
const LOG: &str = "pdslog";

/// A folder that this value alone has open.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Locked until it is closed, at the latest when the process ends.
    _lock: File,
}

impl Folder {
    /// Creates the folder if it is missing, and locks it.
    ///
    /// Whoever writes to a new folder calls [`check_unused`](Self::check_unused) first.
    pub(super) fn create(path: &Path) -> Result<Self, DurableError> {
        if !path.is_dir() {
            fs::create_dir_all(path)
                .and_then(|()| sync_folder(folder_of(path)))
                .map_err(|error| DurableError::io(path, error))?;
        }
        Self::open(path)
    }

    /// Locks the folder.
    pub(super) fn open(path: &Path) -> Result<Self, DurableError> {
        let name = path.join("lock");
        let io = |error| DurableError::io(&name, error);
        let lock = File::options().create(true).truncate(false).write(true).open(&name);
        let lock = lock.map_err(io)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.into(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(DurableError::Locked(path.into())),
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

    /// Returns the number of the latest checkpoint.
    pub(super) fn latest(&self) -> Result<Option<u64>, DurableError> {
        let names = self.names()?;
        Ok(names.iter().filter_map(|name| number(name, CHECKPOINT)).max())
    }

    /// Returns an error if the folder holds more than an interrupted creation leaves: neither a durable structure nor the
    /// files of others are overwritten.
    pub(super) fn check_unused(&self) -> Result<(), DurableError> {
        let is_ours = |name: &String| {
            name == "lock" || number(name, LOG) == Some(0) || temporary(name) == Some(0)
        };
        if self.names()?.iter().all(is_ours) {
            return Ok(());
        }
        Err(DurableError::Exists(self.path.clone()))
    }

    /// Removes what interrupted checkpoints have left: all files of other generations.
    ///
    /// A file that cannot be removed does no harm.
    pub(super) fn clean(&self, generation: u64) -> Result<(), DurableError> {
        for name in self.names()? {
            let found = number(&name, CHECKPOINT).or_else(|| number(&name, LOG));
            if found.is_some_and(|found| found != generation) || temporary(&name).is_some() {
                let _ = fs::remove_file(self.path.join(name));
            }
        }
        Ok(())
    }

    /// Removes the files of one generation.
    pub(super) fn remove(&self, generation: u64) {
        let _ = fs::remove_file(self.checkpoint(generation));
        let _ = fs::remove_file(self.log(generation));
    }

    /// Makes the names of new files durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        sync_folder(&self.path)
    }

    fn names(&self) -> Result<Vec<String>, DurableError> {
        let names = fs::read_dir(&self.path).and_then(|entries| {
            let names =
                entries.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()));
            names.collect()
        });
        names.map_err(|error| DurableError::io(&self.path, error))
    }
}

/// Returns the number in the name of a file, as this module writes it.
fn number(name: &str, extension: &str) -> Option<u64> {
    let digits = name.strip_suffix(extension)?.strip_suffix('.')?;
    let number: u64 = digits.parse().ok()?;
    (format!("{number}") == digits).then_some(number)
}

/// Returns the number in the name of a temporary file of a checkpoint, which is `.N.pds.` and more.
fn temporary(name: &str) -> Option<u64> {
    let (start, _) = name.strip_prefix('.')?.strip_suffix(".tmp")?.split_once(".pds.")?;
    start.parse().ok()
}
