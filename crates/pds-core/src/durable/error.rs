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
    /// The folder is not empty: it holds this file, of a durable structure or of something else.
    Exists(PathBuf),
    /// The folder holds no checkpoint, or this checkpoint is gone although its log has records.
    Absent(PathBuf),
    /// Another process, or another value in this one, has the folder open.
    Locked(PathBuf),
    /// The log is damaged: its head is wrong, or it holds what no interrupted insert leaves.
    ///
    /// [`DurableOptions::salvage`](crate::durable::DurableOptions::salvage) opens what is left.
    Damaged {
        /// The log.
        path: PathBuf,
        /// Number of right records before the damage.
        records: u64,
    },
    /// Neither the head nor any record of the log belongs to the checkpoint. It may be the log of another structure.
    ///
    /// To do without its records, put an empty file in its place, and [salvage](crate::durable::DurableOptions::salvage).
    Foreign(PathBuf),
    /// The structure refuses a record of the log.
    Replay {
        /// The log.
        path: PathBuf,
        /// Number of records before it.
        records: u64,
        /// Why it refuses it.
        error: InsertError,
    },
    /// The structure takes no such key. It is unchanged, and nothing was logged.
    Insert(InsertError),
    /// A write to this log failed before, so it is unknown what it holds. Nothing was changed. A successful
    /// [`checkpoint`](crate::durable::Durable::checkpoint) repairs it.
    Broken(PathBuf),
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
                let path = path.display();
                write!(f, "{path}: a new durable structure needs an empty folder")
            }
            Self::Absent(path) => write!(f, "{}: there is no checkpoint", path.display()),
            Self::Locked(path) => write!(f, "{}: the folder is open elsewhere", path.display()),
            Self::Damaged { path, records } => {
                let path = path.display();
                write!(
                    f,
                    "{path}: the log is damaged after {records} records; `salvage` opens what is left"
                )
            }
            Self::Foreign(path) => {
                write!(f, "{}: no part of the log belongs to the checkpoint", path.display())
            }
            Self::Replay { path, records, error } => {
                let path = path.display();
                write!(
                    f,
                    "{path}: the structure refuses the record after {records} others: {error}"
                )
            }
            Self::Insert(e) => e.fmt(f),
            Self::Broken(path) => {
                let path = path.display();
                write!(
                    f,
                    "{path}: a write to the log failed before; a checkpoint must succeed first"
                )
            }
        }
    }
}

// The message is that of the inner error, so the inner error is not a `source` too.
impl error::Error for DurableError {}
