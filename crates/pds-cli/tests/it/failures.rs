use crate::tool::Folder;
#[cfg(target_os = "linux")]
use crate::tool::{command, wait};

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
        error.contains("standard input:2: the record has more than the 1,048,576 bytes (1.00 MiB) that --max-record allows"),
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
        // A script in the background passes on that it ignores these signals.
        let mut child = Command::new("env")
            .arg("--default-signal=HUP,INT,TERM")
            .arg(env!("CARGO_BIN_EXE_pds"))
            .args(["dedup", "-o", "out"])
            .current_dir(folder.path(""))
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
        assert_eq!(wait(&mut child), 130);
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

/// A file that is appended to is not read: it would grow for ever.
#[test]
#[cfg(unix)]
fn an_input_that_is_the_output_is_refused() {
    let folder = Folder::new();
    folder.write("in", "a\n".repeat(100_000));
    folder.pds("build -o f.pds in").ok();
    for arguments in ["check f.pds in", "dedup in", "check f.pds -v none in"] {
        let file = std::fs::File::options().append(true).open(folder.path("in")).unwrap();
        folder.write("none", "x\n");
        let run = command(&folder.path(""))
            .args(arguments.split(' '))
            .stdout(file)
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let run = run.wait_with_output().unwrap();
        let error = String::from_utf8(run.stderr).unwrap();
        assert!(error.contains("in: is an input and the output"), "{arguments}: {error}");
        assert_eq!(run.status.code(), Some(2));
        assert_eq!(folder.read("in").len(), 200_000);
    }
    assert_eq!(folder.pds("dedup -o in in").ok(), "");
}

/// Messages that cannot be written are no reason to fail.
#[test]
#[cfg(target_os = "linux")]
fn a_standard_error_that_is_full_changes_nothing() {
    let folder = Folder::new();
    folder.write("in", "a\na\n");
    let script = format!(
        "{0} dedup --stats in 2>/dev/full; {0} check none 2>/dev/full; echo $?",
        env!("CARGO_BIN_EXE_pds")
    );
    let mut shell = std::process::Command::new("sh");
    let run = shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    assert_eq!(String::from_utf8(run.stdout).unwrap(), "a\n2\n");
}

/// Who looks at the first lines only is told of damage all the same, and every file is looked at.
#[test]
fn damage_is_an_error_whoever_reads() {
    let folder = Folder::new();
    folder.pipe("build -o f.pds", "a\n").ok();
    let mut bytes = folder.read("f.pds");
    let middle = bytes.len() - 20;
    bytes[middle] ^= 1;
    folder.write("bad", &bytes);
    let mut verify = pds_command(&folder, &["verify", "f.pds", "bad"]);
    pds_testkit::program::expect_unread(&mut verify, 2);
    let run = folder.pds("info f.pds none f.pds");
    assert!(run.failed().contains("none: "));
    assert_eq!(String::from_utf8_lossy(&run.0.stdout).matches("health").count(), 2);
}

fn pds_command(folder: &Folder, arguments: &[&str]) -> std::process::Command {
    let mut run = crate::tool::command(&folder.path(""));
    run.args(arguments);
    run
}

/// A name cannot write to the terminal what it wants.
#[test]
#[cfg(unix)]
fn names_are_shown_without_their_control_characters() {
    let folder = Folder::new();
    folder.pipe("build -o f\u{1b}[31m.pds", "a\n").ok();
    let shown = folder.pds("info f\u{1b}[31m.pds").ok();
    assert!(!shown.contains('\u{1b}') && shown.contains("f\u{fffd}[31m.pds"), "{shown:?}");
}

/// On a terminal a bar shows what was read, if the output goes elsewhere or comes last.
#[test]
#[cfg(target_os = "linux")]
fn progress_is_shown_on_a_terminal() {
    let folder = Folder::new();
    let pds = env!("CARGO_BIN_EXE_pds");
    let seen = |command: &str| {
        let mut script = std::process::Command::new("script");
        let run = script.args(["-qec", command, "/dev/null"]).current_dir(folder.path("")).output();
        String::from_utf8_lossy(&run.unwrap().stdout).into_owned()
    };
    let slow = "(echo a; sleep 0.6; echo b)";
    for command in ["distinct", "dedup -o out", "build --kind hyper-log-log -o out", "dedup -c"] {
        let text = seen(&format!("{slow} | {pds} {command}"));
        assert!(text.contains("B/s"), "{command}: {text:?}");
    }
    let text = seen(&format!("{slow} | {pds} dedup"));
    assert_eq!(text.replace('\r', ""), "a\nb\n", "lines on the terminal itself");
    assert!(!seen(&format!("{slow} | {pds} distinct 2>/dev/null")).contains("B/s"));
}

#[test]
fn every_command_has_examples() {
    let folder = Folder::new();
    let help = folder.pds("help").ok();
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let names: Vec<_> =
        commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() >= 12, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        assert!(folder.pds(&format!("{name} --help")).ok().contains("Examples:\n"), "{name}");
    }
}

/// `/dev/shm` is a folder of files like any other.
#[test]
#[cfg(target_os = "linux")]
fn a_file_under_dev_is_replaced() {
    let folder = Folder::new();
    let file = std::path::PathBuf::from(format!("/dev/shm/pds-cli-{}", std::process::id()));
    let mut found = Vec::new();
    for text in ["a\n", "b\nb\n"] {
        folder.pipe(&format!("dedup -o {}", file.display()), text).ok();
        found.push(std::fs::read_to_string(&file).unwrap());
    }
    std::fs::remove_file(&file).unwrap();
    assert_eq!(found, ["a\n", "b\n"]);
}

/// Or it would grow until the disk is full.
#[test]
#[cfg(target_os = "linux")]
fn an_input_that_is_the_output_is_refused_whatever_its_name() {
    let folder = Folder::new();
    folder.write("lines", "a\nb\n").write("empty", "");
    let open = |name| std::fs::File::open(folder.path(name)).unwrap();
    let append = |name| std::fs::File::options().append(true).open(folder.path(name)).unwrap();
    for arguments in [
        "dedup",
        "dedup -",
        "dedup -c",
        "dedup -o /dev/stdout",
        "dedup --window 1 lines -o /proc/self/fd/1",
        "dedup /dev/stdin -o /dev/fd/1",
    ] {
        let mut command = crate::tool::command(&folder.path(""));
        command.args(arguments.split(' ')).stdin(open("lines")).stdout(append("lines"));
        let run = crate::tool::Run(command.output().unwrap());
        assert!(run.failed().contains("is an input and the output"), "{arguments}");
        assert_eq!(folder.read("lines"), b"a\nb\n", "{arguments}");
    }
    // Other files, and devices that all may share.
    let mut command = crate::tool::command(&folder.path(""));
    command.arg("dedup").stdin(open("lines")).stdout(append("empty"));
    assert!(command.status().unwrap().success());
    assert_eq!(folder.read("empty"), b"a\nb\n");
    let mut command = crate::tool::command(&folder.path(""));
    let null = || std::fs::File::options().read(true).write(true).open("/dev/null").unwrap();
    assert!(command.arg("dedup").stdin(null()).stdout(null()).status().unwrap().success());
}

#[test]
#[cfg(unix)]
fn a_link_to_a_new_file_creates_it() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("new", folder.path("link")).unwrap();
    folder.pipe("dedup -o link", "a\na\n").ok();
    assert_eq!(folder.read("new"), b"a\n");
    assert!(folder.path("link").is_symlink());
}
