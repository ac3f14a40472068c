//! The cases of `docs/cases.md` about the command line. The tool is run as users run it.

use core::time::Duration;
use std::io::pipe;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

fn tool(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(line.split_whitespace());
    command
}

/// Runs the tool with a standard output whose reader has left.
fn unread(line: &str) -> Output {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    tool(line).stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap()
}

/// The exit status does not depend on the reader.
#[test]
fn case_43_a_reader_that_leaves_is_no_error() {
    let lines =
        [("room few --fills 1 --items 2", 0), ("room --help", 0), ("room few --fills 0", 2)];
    for (line, status) in lines {
        let output = unread(line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("panicked"), "{line}: {errors}");
        assert_eq!(output.status.code(), Some(status), "{line}: {errors}");
    }
}

/// Returns the output of the tool and whether it succeeds. It must end within an acceptable time.
fn ask(line: &str) -> (bool, String) {
    let start = Instant::now();
    let mut child = tool(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{line}: no answer after {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// A second in an optimised build; the test may run unoptimised, beside other work.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn case_44_numbers_out_of_range_are_errors() {
    for line in
        ["room few --fills 0", "room few --items 0", "room many --fills 0", "room many --buckets 1"]
    {
        let (succeeds, text) = ask(line);
        assert!(!succeeds && text.contains("is not in"), "{line}: {text}");
    }
}
