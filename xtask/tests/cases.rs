//! The cases of `docs/cases.md` about the command line. The tool is run as users run it.

use pds_testkit::program::{answer, expect_unread};
use std::process::Command;

fn tool(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(line.split_whitespace());
    command
}

/// The exit status does not depend on the reader.
#[test]
fn case_43_a_reader_that_leaves_is_no_error() {
    let lines = [
        ("capacity few --fills 1 --items 2", 0),
        ("capacity --help", 0),
        ("capacity few --fills 0", 2),
    ];
    for (line, status) in lines {
        expect_unread(&mut tool(line), status);
    }
}

#[test]
fn case_44_numbers_out_of_range_are_errors() {
    for line in [
        "capacity few --fills 0",
        "capacity few --items 0",
        "capacity many --fills 0",
        "capacity many --buckets 1",
    ] {
        let (succeeds, text) = answer(&mut tool(line));
        assert!(!succeeds && text.contains("is not in"), "{line}: {text}");
    }
}
