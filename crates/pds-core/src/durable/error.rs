//! Errors of durable structures.

use core::{error, fmt};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FileError, InsertError, ReadError};

/// Why a durable structure cannot be created, opened or changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum DurableError {
    /// A file cannot be written or read, or the checkpoint holds no such structure.
    File(FileError),
    /// The folder already holds a durable structure, or other files.
    Exists(PathBuf),
    /// The folder holds no durable structure.
    Absent(PathBuf),
    /// Another process, or another value in this one, has the folder open.
    Locked(PathBuf),
    /// The log is damaged: it does not start as the checkpoint needs, or a record is wrong and a later one is not.
    ///
    /// [`DurableOptions::salvage`](crate::durable::DurableOptions::salvage) opens what is left.
    Damaged {
        /// The log.
        path: PathBuf,
        /// Number of right records before the damage.
        records: u64,
    },
    /// The structure refuses a record of the log, so the log belongs to another structure.
    Replay {
        /// Number of records before it.
        records: u64,
        /// Why it refuses it.
        error: InsertError,
    },
    /// The structure takes no such key. It is unchanged, and nothing was logged.
    Insert(InsertError),
    /// A write failed before, so it is unknown what the log holds. Nothing was changed. A successful
    /// [`checkpoint`](crate::durable::Durable::checkpoint) repairs it.
    Broken,
}

impl DurableError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::File(FileError { path: path.into(), error: ReadError::Io(error) })
    }
}

impl fmt::Display for DurableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(e) => e.fmt(f),
            Self::Exists(path) => {
                write!(f, "{}: the folder is not empty", path.display())
            }
            Self::Absent(path) => write!(f, "{}: there is no checkpoint", path.display()),
            Self::Locked(path) => write!(f, "{}: the folder is open elsewhere", path.display()),
            Self::Damaged { path, records } => {
                write!(f, "{}: the log is damaged after {records} records", path.display())
            }
            Self::Replay { records, error } => {
                write!(f, "the structure refuses the record after {records} others: {error}")
            }
            Self::Insert(e) => e.fmt(f),
            Self::Broken => {
                f.write_str("a write to the log failed before; a checkpoint must succeed first")
            }
        }
    }
}

// The message is that of the inner error, so the inner error is not a `source` too.
impl error::Error for DurableError {}
