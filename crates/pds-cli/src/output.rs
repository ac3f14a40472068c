//! Outputs: standard output, or a file that appears when it is complete.

mod interrupt;
mod report;

pub(crate) use report::{Cell, Facts, Format, Report};

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const BLOCK: usize = 1 << 17;

/// Where results go.
///
/// A file gets its name in [`finish`](Self::finish). Before, and after an error or an interrupt, nothing is left of it, and a
/// file of that name is as it was.
pub(crate) struct Output {
    name: String,
    place: Place,
}

enum Place {
    Stdout(BufWriter<StdoutLock<'static>>),
    /// A pipe or a device, which no file can replace.
    Device(BufWriter<File>),
    File {
        writer: BufWriter<File>,
        temporary: PathBuf,
        path: PathBuf,
    },
}

impl Output {
    /// Standard output if there is no path, or for `-`.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub(crate) fn new(path: Option<&Path>) -> Result<Self> {
        match path.filter(|path| *path != Path::new("-")) {
            Some(path) => Self::file(path).map_err(|error| Error::at(path.display(), error)),
            None => {
                let place = Place::Stdout(BufWriter::with_capacity(BLOCK, io::stdout().lock()));
                Ok(Self { name: "standard output".to_owned(), place })
            }
        }
    }

    fn file(path: &Path) -> io::Result<Self> {
        let name = path.display().to_string();
        if path.exists() && !path.is_file() {
            let device = File::options().write(true).open(path)?;
            return Ok(Self {
                name,
                place: Place::Device(BufWriter::with_capacity(BLOCK, device)),
            });
        }
        let file_name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut hidden = OsString::from(".");
        hidden.push(file_name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        interrupt::remove_on_interrupt(&temporary);
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        let writer = BufWriter::with_capacity(BLOCK, file);
        Ok(Self { name, place: Place::File { writer, temporary, path: path.to_owned() } })
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// If the disk is full, or if the reader has left.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|error| self.failed(&error))
    }

    /// Passes on what was written so far, to a reader that waits for it.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub(crate) fn pass_on(&mut self) -> Result<()> {
        match self.place {
            // Nobody sees the file yet.
            Place::File { .. } => Ok(()),
            _ => self.flush().map_err(|error| self.failed(&error)),
        }
    }

    /// The error of a write.
    pub(crate) fn failed(&self, error: &io::Error) -> Error {
        Error::writing(&self.name, error)
    }

    /// Completes the output: a file is synced and gets its name.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush().map_err(|error| self.failed(&error))?;
        let renamed = match &self.place {
            Place::File { writer, temporary, path } => {
                writer.get_ref().sync_all().and_then(|()| fs::rename(temporary, path))
            }
            _ => Ok(()),
        };
        renamed.map_err(|error| self.failed(&error))
    }
}

impl Write for Output {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            Place::Stdout(writer) => writer.write(bytes),
            Place::Device(writer) | Place::File { writer, .. } => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            Place::Stdout(writer) => writer.flush(),
            Place::Device(writer) | Place::File { writer, .. } => writer.flush(),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Place::File { temporary, .. } = &self.place {
            // After `finish` there is none.
            let _ = fs::remove_file(temporary);
        }
    }
}
