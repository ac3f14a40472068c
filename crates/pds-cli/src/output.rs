//! Outputs: standard output, or a file that appears when it is complete.

mod interrupt;
mod report;

pub(crate) use report::{Cell, Facts, Format, RULE_UNDER_HEADER, Report, exact_size};

use crate::error::{Error, Result};
use core::fmt::Display;
use core::hash::BuildHasher;
use report::visible;
use same_file::Handle;
use std::fs::{self, File};
use std::hash::RandomState;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const BLOCK: usize = 1 << 17;

/// Says something on standard error. If nobody can read it, nothing is lost but the message.
///
/// Messages quote names and contents of files. A character that would disturb a terminal is replaced.
pub(crate) fn tell(message: impl Display) {
    let shown = |character| if character == '\n' { character } else { visible(character) };
    let message: String = message.to_string().chars().map(shown).collect();
    let _ = writeln!(io::stderr(), "pds: {message}");
}

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

/// Creates a file with the permissions of an old one, if there is one.
fn create_like(old: Option<fs::Metadata>, path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    let Some(old) = old else { return options.open(path) };
    // Somebody who opens the file before it has its permissions could read it later.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    file.set_permissions(old.permissions())?;
    Ok(file)
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
        if is_open_elsewhere(path) || path.exists() && !path.is_file() {
            let device = File::options().append(true).open(path)?;
            return Ok(Self {
                name,
                place: Place::Device(BufWriter::with_capacity(BLOCK, device)),
            });
        }
        // The file that a link leads to is replaced, not the link.
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let target = || {
            path.canonicalize().or_else(|_| path.read_link().map(|link| path.with_file_name(link)))
        };
        let path = if is_link { target()? } else { path.to_owned() };
        let temporary = path.with_file_name(temporary_name());
        interrupt::remove_on_interrupt(&temporary);
        let file = create_like(fs::metadata(&path).ok(), &temporary)?;
        let writer = BufWriter::with_capacity(BLOCK, file);
        Ok(Self { name, place: Place::File { writer, temporary, path } })
    }

    /// Whether a file, or standard input without a path, is the output itself, and grows with what is written.
    pub(crate) fn is_in(&self, path: Option<&Path>) -> bool {
        let output = match &self.place {
            Place::Stdout(_) => Handle::stdout(),
            Place::Device(writer) => writer.get_ref().try_clone().and_then(Handle::from_file),
            Place::File { .. } => return false,
        };
        // To open a pipe would wait for its other end.
        let is_file =
            |handle: &Handle| handle.as_file().metadata().is_ok_and(|found| found.is_file());
        output.ok().filter(is_file).is_some_and(|output| match path {
            None => Handle::stdin().is_ok_and(|input| input == output),
            Some(path) => {
                path.is_file() && Handle::from_path(path).is_ok_and(|input| input == output)
            }
        })
    }

    /// Whether a terminal shows what is written.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self.place, Place::Stdout(_)) && io::stdout().is_terminal()
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
                let synced = writer.get_ref().sync_all();
                synced.and_then(|()| fs::rename(temporary, path)).inspect(|()| sync_folder(path))
            }
            _ => Ok(()),
        };
        renamed.map_err(|error| self.failed(&error))
    }
}

/// Whether a path names what a process has open, and what no file can replace.
fn is_open_elsewhere(path: &Path) -> bool {
    ["/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"]
        .iter()
        .any(|name| path.starts_with(name))
}

/// Makes a new name last through a failure of power, where the system can.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
}

/// A name that no other process takes, also one with the same number in another container.
fn temporary_name() -> String {
    format!(".pds.{:016x}.tmp", RandomState::new().hash_one(std::process::id()))
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
