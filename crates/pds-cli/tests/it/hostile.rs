//! Inputs and options that no careful user gives.

use crate::tool::Folder;

/// The contents of a file neither control the terminal nor fill the screen.
#[test]
fn messages_quote_little_and_no_control_characters() {
    let folder = Folder::new();
    let error = folder.pipe("dedup --csv -f id", "\u{1b}[31mname,other\n1,2\n").failed();
    assert!(error.contains("the header has \u{fffd}[31mname, other"), "{error:?}");
    let wide = vec!["name"; 100_000].join(",") + "\n";
    let error = folder.pipe("dedup --csv -f id", wide).failed();
    assert!(error.ends_with("name, name and 99980 more\n") && error.len() < 400, "{error}");
}

#[test]
fn json_errors_name_the_line_once_and_the_column() {
    let folder = Folder::new();
    let error = folder.pipe("dedup --json", "{}\n[1,2\n").failed();
    assert!(
        error.contains("standard input:2: is not JSON: EOF while parsing a list in column 4"),
        "{error}"
    );
    let run = folder.pipe("dedup --json -f /a", "{\"a\":1,\"a\":2}\n{\"a\":2}\n{\"a\":1}\n");
    assert_eq!(run.ok(), "{\"a\":1,\"a\":2}\n{\"a\":1}\n", "of equal names the last one counts");
}

/// The lines before the damage are passed on, and the message names the damage.
#[test]
fn compressed_files_that_are_cut_off_or_go_on_otherwise() {
    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    let folder = Folder::new();
    let text: String = (0..50_000).map(|i| format!("{i}\n")).collect();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let zstd = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
    for (name, bytes) in [("gzip", gzip.finish().unwrap()), ("zstd", zstd)] {
        for cut in [7, bytes.len() / 2, bytes.len() - 1] {
            let error = folder.pipe("dedup", &bytes[..cut]).failed();
            let part = format!("standard input: the {name} data ends too early");
            assert!(error.contains(&part), "{cut}: {error}");
        }
        for rest in ["garbage\n", "more garbage than a header has bytes\n"] {
            let run = folder.pipe("dedup", [&bytes, rest.as_bytes()].concat());
            let part = format!("what follows the {name} data is no {name} data");
            assert!(run.failed().contains(&part), "{}", run.errors());
            assert_eq!(run.0.stdout, text.as_bytes());
        }
    }
}

#[test]
fn structures_that_do_not_fit_are_told_by_their_kinds() {
    let folder = Folder::new();
    for kind in ["bloom", "hyper-log-log", "count-min", "count-sketch"] {
        folder.pipe(&format!("build --kind {kind} -o {kind}"), "a\nb\n").ok();
    }
    let size = folder.read("count-sketch").len();
    assert!(size < 8 << 20, "a sketch of two lines by default: {size} bytes");
    for (files, there) in [
        ("hyper-log-log count-min", "the kind differs: HyperLogLog here, count-min sketch"),
        ("hyper-log-log bloom", "the kind differs: HyperLogLog sketch here, Bloom filter in"),
    ] {
        let error = folder.pds(&format!("merge -o x {files}")).failed();
        assert!(error.contains(there) && !error.contains("precision"), "{error}");
    }
    for form in ["datasketches-hll4", "datasketches-theta", "parquet"] {
        let error = folder.pds(&format!("convert hyper-log-log --to {form} -o x")).failed();
        assert!(
            error.contains("holds a HyperLogLog sketch of this family, which has no such form"),
            "{error}"
        );
    }
    assert!(!folder.names().contains(&"x".to_owned()));
}

/// Before anything is read: standard input is closed only later.
#[test]
fn numbers_that_are_too_great_or_small_are_refused_by_their_options() {
    let folder = Folder::new();
    for (command, part) in [
        (
            "dedup --window 0",
            "`0` is neither a number of lines nor a time like 90s, 1h or 7d: lines go from 1",
        ),
        ("dedup --window 0s --time 1", "from 1ms up"),
        ("dedup --window 1e18", "no filter of a --window of 1,000,000,000,000,000,000 lines has"),
        ("dedup --rate 1e-300", "--rate is 1e-300, but no filter of 1,000,000,000 lines"),
        ("dedup --rate -1", "`-1` is not above 0 and below 1"),
        ("top -n 1e12", "--number is 1,000,000,000,000, but must be at most 214,748,364"),
        ("build -o x --static --rate 1e-15", "the rate must be at least 2^-32"),
        ("build -o x --kind fuse --rate 1e-15", "the rate must be at least 2^-32"),
        ("build -o x --static --rate 1e-300", "rate is 1e-300, but must be above"),
        ("build -o x --rate 1e-300", "rate is 1e-300, but must be above"),
    ] {
        let error = folder.pds(command).failed();
        assert!(error.contains(part), "{command}: {error}");
    }
    assert!(folder.names().is_empty());
}

/// `nohup` has a run go on when its terminal is closed.
#[test]
#[cfg(target_os = "linux")]
fn a_hangup_that_is_ignored_ends_nothing() {
    use crate::tool::wait;
    use core::time::Duration;
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    let folder = Folder::new();
    let script = format!("trap '' HUP; exec {} dedup -o out", env!("CARGO_BIN_EXE_pds"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path("")).stdin(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a\n").unwrap();
    let start = Instant::now();
    while folder.names().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(10), "a temporary file");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    input.write_all(b"b\na\n").unwrap();
    drop(input);
    assert_eq!(wait(&mut child), 0);
    assert_eq!(folder.read("out"), b"a\nb\n");
}
