use crate::tool::Folder;
#[cfg(target_os = "linux")]
use crate::tool::command;

#[test]
fn unreadable_inputs_are_all_named_before_anything_is_read() {
    let folder = Folder::new();
    folder.write("in", "a\n").write("out", "old");
    let run = folder.pds("dedup in none1 none2 -o out");
    let error = run.failed();
    assert!(error.contains("pds: none1: ") && error.contains("pds: none2: "), "{error}");
    assert!(run.0.stdout.is_empty());
    assert_eq!(folder.read("out"), b"old");
    assert!(folder.pds("dedup .").failed().contains("is a folder"));
}

/// An error in the middle leaves the old file, and nothing of the new one.
#[test]
fn an_error_leaves_no_half_file() {
    let folder = Folder::new();
    folder.write("in", "a,1\n".repeat(200_000) + "b\n").write("out", "old");
    for command in
        ["dedup -d , -f 2 in -o out", "build -d , -f 2 in -o out", "distinct -d , -f 2 in -o out"]
    {
        let error = folder.pds(command).failed();
        assert!(
            error.contains("in:200001: there is no field 2: the record has 1 field"),
            "{error}"
        );
        assert_eq!(folder.read("out"), b"old", "{command}");
        assert_eq!(folder.names(), ["in", "out"], "{command}");
    }
    let error = folder.pds("build in -o none/out").failed();
    assert!(error.contains("none/out: "), "{error}");
}

#[test]
fn files_that_are_no_filters_or_damaged() {
    let folder = Folder::new();
    folder.write("text", "this is no filter, but a text\n").write("empty", "");
    folder.pipe("build -o f.pds", "a\n").ok();
    folder.pipe("build -o h.pds --kind hyper-log-log", "a\n").ok();
    for command in ["check text -k a", "info text", "verify text", "merge -o x text text"] {
        let error = folder.pds(command).failed();
        assert!(
            error.contains("text: ") && error.contains("not the magic number of pds"),
            "{command}: {error}"
        );
    }
    assert!(folder.pds("check empty -k a").failed().contains("empty: "));
    let error = folder.pds("check h.pds -k a").failed();
    assert!(error.contains("h.pds: ") && error.contains("a membership filter"), "{error}");
    let mut bytes = folder.read("f.pds");
    let middle = bytes.len() - 20;
    bytes[middle] ^= 1;
    folder.write("damaged.pds", &bytes).write("cut.pds", &bytes[..bytes.len() - 1]);
    let run = folder.pds("verify f.pds damaged.pds cut.pds");
    assert!(run.failed().contains("damaged.pds: ") && run.failed().contains("cut.pds: "));
    assert_eq!(String::from_utf8_lossy(&run.0.stdout).lines().count(), 1, "the good one is named");
}

#[test]
fn records_have_a_limit() {
    let folder = Folder::new();
    let long = "x".repeat(2_000_000);
    let text = format!("a\n{long}\nb\n");
    assert_eq!(folder.pipe("dedup", &text).ok(), text);
    let error = folder.pipe("dedup --max-record 1MiB", &text).failed();
    assert!(
        error.contains("standard input:2: the record has more than the 1048576 bytes"),
        "{error}"
    );
    let error = folder.pipe("dedup --max-record 1MiB", &long).failed();
    assert!(error.contains("standard input:1: "), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named() {
    let folder = Folder::new();
    folder.write("in", "a\n".repeat(3));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = command(&folder.path("")).args(["dedup", "in"]).stdout(full).output().unwrap();
    let error = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(error.contains("standard output: No space left"), "{error}");
    assert!(folder.pds("build in -o /dev/full").failed().contains("/dev/full: No space left"));
}

/// The interrupted process removes what it began.
#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_leaves_no_half_file() {
    use core::time::Duration;
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    for signal in ["-INT", "-TERM", "-HUP"] {
        let folder = Folder::new();
        folder.write("out", "old");
        let mut child = command(&folder.path(""))
            .args(["dedup", "-o", "out"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"a\n").unwrap();
        let start = Instant::now();
        while folder.names().len() < 2 {
            assert!(
                start.elapsed() < Duration::from_secs(10),
                "a temporary file: {:?}",
                folder.names()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(folder.names(), ["out"]);
        assert_eq!(folder.read("out"), b"old");
    }
}

#[test]
fn options_say_what_is_allowed() {
    let folder = Folder::new();
    for (command, part) in [
        ("dedup --rate 2", "is not above 0 and below 1"),
        ("dedup --memory much", "is not a size like 64MiB"),
        ("dedup -c -u", "cannot be used with"),
        ("dedup -d ab", "is not one byte"),
        ("dedup --max-record 2GiB", "at most 1GiB"),
        ("build -o x --kind bloomy", "possible values"),
        ("top -n 0", "must be 1 at the least"),
        ("distinct --error 1e-5", "registers"),
    ] {
        let error = folder.pds(command).failed();
        assert!(error.contains(part), "{command}: {error}");
    }
}

/// A link leads to the same file as before, and who may read that file stays as it was.
#[test]
#[cfg(unix)]
fn outputs_replace_what_a_link_leads_to() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new();
    folder.write("in", "a\na\n").write("old", "before\n");
    let (old, link) = (folder.path("old"), folder.path("link"));
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink("old", &link).unwrap();
    folder.pds("dedup -o link in").ok();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "a\n");
    assert_eq!(old.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(folder.pds("dedup -o /dev/stdout in").ok(), "a\n");
}
