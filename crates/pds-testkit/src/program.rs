//! Runs of a command line as its users run it.

use core::time::Duration;
use std::io::pipe;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

/// A second in an optimised build. The test may run unoptimised, beside other work.
const LIMIT: Duration = Duration::from_secs(20);

/// Checks that a run whose reader has left ends with this status and without a panic.
///
/// # Panics
/// If it does not, or cannot be started.
#[track_caller]
pub fn expect_unread(command: &mut Command, status: i32) {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{command:?}: {errors}");
    assert_eq!(output.status.code(), Some(status), "{command:?}: {errors}");
}

/// Returns whether a run succeeds, and what it prints to both outputs.
///
/// # Panics
/// If it takes longer than an acceptable time, or cannot be started.
#[track_caller]
pub fn answer(command: &mut Command) -> (bool, String) {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{command:?}: no answer after {LIMIT:?}");
        }
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}
