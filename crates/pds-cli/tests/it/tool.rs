//! Runs of the tool in a folder of their own.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;

/// A folder that is removed at the end of a test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pds-cli-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), contents).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A run of the tool in this folder.
    pub(crate) fn pds(&self, arguments: &str) -> Run {
        self.run(arguments.split_whitespace(), b"")
    }

    /// A run of the tool with these bytes as its standard input.
    pub(crate) fn pipe(&self, arguments: &str, input: impl AsRef<[u8]>) -> Run {
        self.run(arguments.split_whitespace(), input.as_ref())
    }

    pub(crate) fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Run {
        let mut child = command(&self.0)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // The tool may end before it has read all.
        std::thread::scope(|scope| {
            scope.spawn(move || _ = stdin.write_all(input));
            Run(child.wait_with_output().unwrap())
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The tool, to be run in a folder.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pds"));
    command.current_dir(folder);
    command
}

/// Waits for a run to end, or kills it.
#[track_caller]
pub(crate) fn wait(child: &mut Child) -> i32 {
    for _ in 0..4_000 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap();
        }
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("the run did not end");
}

/// The results of a run.
pub(crate) struct Run(pub(crate) Output);

impl Run {
    /// Standard output of a run that ended with 0.
    #[track_caller]
    pub(crate) fn ok(&self) -> String {
        assert_eq!(self.code(), 0, "{}", self.errors());
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub(crate) fn code(&self) -> i32 {
        self.0.status.code().unwrap()
    }

    pub(crate) fn errors(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// The message of a run that ended with 2.
    #[track_caller]
    pub(crate) fn failed(&self) -> String {
        assert_eq!(self.code(), 2, "{}", String::from_utf8_lossy(&self.0.stdout));
        self.errors()
    }
}
