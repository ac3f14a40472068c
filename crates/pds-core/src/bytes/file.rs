//! Atomic and durable files: a crash leaves the old file or the new one, complete.

use alloc::format;
use core::sync::atomic::{AtomicU64, Ordering};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::hasher::MaybeHasher as _;
use super::stream::write_to;
use super::{ByteOptions, EnvelopeReader, SecretKey, ToEnvelope};
use crate::error::ReadError;

/// Saves a structure to a file, atomically and durably.
pub(super) fn save<P: ToEnvelope>(structure: &P, key: SecretKey, path: &Path) -> io::Result<()> {
    let access = Access::new(path, P::Hasher::is_secret(key));
    replace(&mut System, path, &access, |file| write_to(structure, key, file))
}

/// Who may read and write a new file.
pub(crate) struct Access {
    /// Permissions of the file that it replaces or follows.
    old: Option<fs::Permissions>,
    /// Whether the secret key of a hasher is in it.
    is_secret: bool,
}

impl Access {
    /// Returns the permissions of the file at `old`. If there is none, those for its owner alone if the file is to hold a secret, and
    /// otherwise the usual ones.
    pub(crate) fn new(old: &Path, is_secret: bool) -> Self {
        let old = fs::metadata(old).ok().filter(fs::Metadata::is_file);
        Self { old: old.map(|old| old.permissions()), is_secret }
    }

    /// Lets only the owner open a new file until it has its permissions. Somebody who opens it earlier could read it later.
    #[cfg(unix)]
    fn restrict(&self, options: &mut fs::OpenOptions) {
        use std::os::unix::fs::OpenOptionsExt as _;
        if self.is_secret || self.old.is_some() {
            options.mode(0o600);
        }
    }

    /// Only Unix has permissions per file that a rename does not keep.
    #[cfg(not(unix))]
    fn restrict(&self, _: &mut fs::OpenOptions) {}

    /// Gives a new file its permissions.
    fn grant(&self, file: &File) -> io::Result<()> {
        match &self.old {
            Some(old) if cfg!(unix) => file.set_permissions(old.clone()),
            _ => Ok(()),
        }
    }
}

impl EnvelopeReader<File> {
    /// Reads the head of a file that holds one envelope and nothing else.
    pub(super) fn open_file(path: &Path, max_bytes: Option<u64>) -> Result<Self, ReadError> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let length = metadata.is_file().then_some(metadata.len());
        let most = length.unwrap_or(ByteOptions::DEFAULT_MAX_BYTES);
        Self::open_whole(file, length, max_bytes.unwrap_or(most))
    }
}

/// System calls of saving. A trait, so that a test can watch their order and let each one fail.
pub(crate) trait Files {
    type File: Write;

    /// Creates a file, in the place of the one of this name. What a link of this name leads to stays as it is.
    fn create(&mut self, path: &Path) -> io::Result<Self::File>;
    fn create_new(&mut self, path: &Path, access: &Access) -> io::Result<Self::File>;
    fn sync(&mut self, file: &Self::File) -> io::Result<()>;
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
    fn remove(&mut self, path: &Path);
}

/// Replaces a file by what `write` writes. On an error before the rename, removes the temporary file.
pub(crate) fn replace<F: Files>(
    files: &mut F,
    path: &Path,
    access: &Access,
    write: impl FnOnce(&mut F::File) -> io::Result<()>,
) -> io::Result<()> {
    let (temporary, mut file) = create_temporary(files, path, access)?;
    let renamed = write(&mut file)
        .and_then(|()| files.sync(&file))
        .and_then(|()| files.rename(&temporary, path));
    drop(file);
    if let Err(error) = renamed {
        files.remove(&temporary);
        return Err(error);
    }
    files.sync_folder(folder_of(path))
}

/// Creates a file with a new name in the folder of `path`, so that the rename stays within one file system.
fn create_temporary<F: Files>(
    files: &mut F,
    path: &Path,
    access: &Access,
) -> io::Result<(PathBuf, F::File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    loop {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(
            ".{}.{}.tmp",
            process::id(),
            COUNTER.fetch_add(1, Ordering::Relaxed)
        ));
        let temporary = path.with_file_name(temporary);
        match files.create_new(&temporary, access) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (temporary, file)),
        }
    }
}

/// Returns the folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes the names in a folder durable. Only Unix can sync a folder.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The file system itself.
pub(crate) struct System;

impl Files for System {
    type File = File;

    fn create(&mut self, path: &Path) -> io::Result<File> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => File::options().write(true).create_new(true).open(path),
        }
    }

    fn create_new(&mut self, path: &Path, access: &Access) -> io::Result<File> {
        let mut options = File::options();
        access.restrict(options.write(true).create_new(true));
        let file = options.open(path)?;
        access.grant(&file).inspect_err(|_| self.remove(path))?;
        Ok(file)
    }

    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        sync_folder(folder)
    }

    fn remove(&mut self, path: &Path) {
        // The caller reports the first error. A temporary file that remains does no harm.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
pub(crate) mod recorded {
    use alloc::rc::Rc;
    use alloc::string::String;
    use alloc::vec::Vec;
    use core::cell::RefCell;

    use super::*;

    /// Records the calls with the names of files; the one numbered `fails` fails.
    #[derive(Default)]
    pub(crate) struct Recorded {
        pub(crate) calls: Rc<RefCell<Vec<String>>>,
        pub(crate) fails: Option<usize>,
    }

    /// A file whose calls are recorded among those of all.
    pub(crate) struct RecordedFile {
        path: PathBuf,
        all: Recorded,
    }

    impl Recorded {
        fn call(&self, what: &str, path: &Path) -> io::Result<()> {
            let mut calls = self.calls.borrow_mut();
            calls.push(format!("{what} {}", name_of(path)));
            if self.fails == Some(calls.len() - 1) {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                Ok(())
            }
        }

        fn file(&self, path: &Path) -> RecordedFile {
            let all = Self { calls: self.calls.clone(), fails: self.fails };
            RecordedFile { path: path.into(), all }
        }
    }

    /// Returns the last name of a path. That of a temporary file ends before its numbers.
    fn name_of(path: &Path) -> String {
        let name = path.file_name().unwrap().to_str().unwrap();
        match name.strip_suffix(".tmp") {
            Some(name) => format!("{}.tmp", name.rsplitn(3, '.').last().unwrap()),
            None => name.into(),
        }
    }

    impl Write for RecordedFile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.all.call("write", &self.path).map(|()| bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl RecordedFile {
        pub(crate) fn sync(&self) -> io::Result<()> {
            self.all.call("sync", &self.path)
        }
    }

    impl Files for Recorded {
        type File = RecordedFile;

        fn create(&mut self, path: &Path) -> io::Result<RecordedFile> {
            self.call("create", path).map(|()| self.file(path))
        }

        fn create_new(&mut self, path: &Path, _: &Access) -> io::Result<RecordedFile> {
            self.create(path)
        }

        fn sync(&mut self, file: &RecordedFile) -> io::Result<()> {
            file.sync()
        }

        fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
            assert_eq!(from.parent(), to.parent(), "the temporary file is beside the file");
            self.call("rename to", to)
        }

        fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
            self.call("sync", folder)
        }

        fn remove(&mut self, path: &Path) {
            let _ = self.call("remove", path);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec;
    use alloc::vec::Vec;

    use super::recorded::Recorded;
    use super::*;

    const ORDER: [&str; 5] =
        ["create .name.tmp", "write .name.tmp", "sync .name.tmp", "rename to name", "sync folder"];

    fn calls_of(fails: Option<usize>) -> (bool, Vec<String>) {
        let mut files = Recorded { fails, ..Recorded::default() };
        let (path, access) = (Path::new("folder/name"), Access { old: None, is_secret: false });
        let result = replace(&mut files, path, &access, |file| file.write_all(b"x"));
        (result.is_ok(), files.calls.take())
    }

    #[test]
    fn the_file_is_synced_before_the_rename_and_the_folder_after_it() {
        assert_eq!(calls_of(None), (true, ORDER.map(String::from).to_vec()));
    }

    #[test]
    fn an_error_before_the_rename_removes_the_temporary_file() {
        for fails in 1..4 {
            let expected = [&ORDER[..=fails], &["remove .name.tmp"]].concat();
            assert_eq!(
                calls_of(Some(fails)),
                (false, expected.into_iter().map(String::from).collect())
            );
        }
        assert_eq!(calls_of(Some(0)), (false, vec![ORDER[0].into()]), "nothing to remove");
        let all = ORDER.map(String::from).to_vec();
        assert_eq!(calls_of(Some(4)), (false, all), "the new file is in place");
    }

    #[test]
    fn a_bare_name_lies_in_the_working_folder() {
        assert_eq!(folder_of(Path::new("name")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/name")), Path::new("a"));
    }
}
