use crate::tool::{Folder, command, wait};
use pds::BloomFilter;
use std::io::Write;
use std::process::Stdio;

const FILTERS: [&str; 10] = [
    "bloom",
    "blocked-bloom",
    "cuckoo",
    "quotient",
    "counting-quotient",
    "counting-bloom",
    "blocked-counting-bloom",
    "scalable-bloom",
    "ribbon",
    "fuse",
];

fn numbers(range: core::ops::Range<u32>) -> String {
    range.map(|i| format!("key {i}\n")).collect()
}

#[test]
fn every_kind_of_filter_holds_its_lines_and_few_others() {
    let folder = Folder::new();
    // Each line comes twice: a filter that keeps copies must not fill up.
    let keys = numbers(0..20_000) + &numbers(0..20_000);
    folder.write("keys", &keys);
    for kind in FILTERS {
        let sizes =
            if ["ribbon", "fuse"].contains(&kind) { &[""][..] } else { &["", " --items 20000"] };
        for size in sizes {
            folder.pds(&format!("build -o f.pds --kind {kind} --rate 0.1%{size} keys")).ok();
            assert_eq!(folder.pipe("check -c f.pds", &keys).ok(), "40000\n", "{kind}");
            let run = folder.pipe("check -c f.pds", numbers(20_000..120_000));
            let others: u32 = String::from_utf8_lossy(&run.0.stdout).trim().parse().unwrap();
            // 100 expected at most, and 160 by chance once in 10^8 runs.
            assert!(others < 160, "{kind}: {others}");
            assert!(folder.pds("verify f.pds").ok().ends_with("well\n"));
            assert!(folder.pds("info f.pds").ok().contains("false_positive_rate"));
        }
    }
    assert_eq!(folder.names(), ["f.pds", "keys"]);
}

#[test]
fn check_has_the_exit_statuses_and_options_of_grep() {
    let folder = Folder::new();
    folder.pipe("build -o f.pds --rate 1e-9", "a\nb\n").ok();
    let run = folder.pipe("check f.pds", "b\nx\na\nb\n");
    assert_eq!(run.ok(), "b\na\nb\n");
    assert_eq!(folder.pipe("check -v f.pds", "b\nx\n").ok(), "x\n");
    for (arguments, input, code, output) in [
        ("check f.pds", "x\n", 1, ""),
        ("check -v f.pds", "a\n", 1, ""),
        ("check -q f.pds", "a\n", 0, ""),
        ("check -q f.pds", "x\n", 1, ""),
        ("check -c f.pds", "x\n", 1, "0\n"),
        ("check f.pds -k a -k x", "", 0, "a\n"),
        ("check f.pds -k x", "", 1, ""),
        ("check f.pds", "", 1, ""),
        ("check none.pds -k a", "", 2, ""),
        ("check -k", "", 2, ""),
    ] {
        let run = folder.pipe(arguments, input);
        assert_eq!((run.code(), run.0.stdout.as_slice()), (code, output.as_bytes()), "{arguments}");
    }
    assert_eq!(folder.pipe("check -d , -f 2 f.pds", "1,a\n2,c\n").ok(), "1,a\n");
}

/// A filter of this tool and one of the library are one.
#[test]
fn files_are_those_of_the_library() {
    let folder = Folder::new();
    folder.pipe("build -o f.pds --items 1000", "naïve\nb\n").ok();
    let filter = BloomFilter::from_bytes(&folder.read("f.pds")).unwrap();
    assert!(filter.contains("naïve") && filter.contains("b") && !filter.contains("c"));
    let mut own = BloomFilter::builder().expected_items(1_000).seed(7).build().unwrap();
    own.insert("from Rust");
    folder.write("own.pds", own.to_bytes());
    assert_eq!(folder.run(["check", "own.pds", "-k", "from Rust"], b"").ok(), "from Rust\n");
}

#[test]
fn merges_are_those_of_all_lines() {
    let folder = Folder::new();
    let kinds = FILTERS[..8].iter().chain(&[
        "hyper-log-log",
        "ultra-log-log",
        "count-min",
        "count-sketch",
        "heavy-hitters",
    ]);
    for kind in kinds {
        let size = if FILTERS.contains(kind) { " --items 5000" } else { "" };
        for (name, lines) in [("a.pds", numbers(0..1_000)), ("b.pds", numbers(1_000..2_000))] {
            folder.pipe(&format!("build -o {name} --kind {kind}{size}"), lines).ok();
        }
        folder.pds("merge -o both.pds a.pds b.pds").ok();
        if FILTERS.contains(kind) {
            assert_eq!(
                folder.pipe("check -c both.pds", numbers(0..2_000)).ok(),
                "2000\n",
                "{kind}"
            );
        }
        assert!(folder.pds("verify both.pds").ok().contains("well"), "{kind}");
        if kind.contains("-log") || kind.starts_with("count-") {
            folder.pipe(&format!("build -o all.pds --kind {kind}"), numbers(0..2_000)).ok();
            assert!(folder.read("both.pds") == folder.read("all.pds"), "{kind}");
        }
    }
    let count = |name: &str| folder.pds(&format!("info --format csv {name}")).ok();
    assert!(count("both.pds").contains("both.pds,lines,2000"), "{}", count("both.pds"));
    // Without a number of items, filters of other lines have other sizes. `--like` makes them fit.
    folder.pipe("build -o a.pds", numbers(0..500)).ok();
    folder.pipe("build -o b.pds", numbers(0..900)).ok();
    let error = folder.pds("merge -o both.pds a.pds b.pds").failed();
    assert!(
        error.contains("b.pds: cannot be merged into a.pds: the number of bits differs"),
        "{error}"
    );
    folder.pipe("build -o b.pds --like a.pds", numbers(500..900)).ok();
    folder.pds("merge -o both.pds a.pds b.pds").ok();
    assert_eq!(folder.pipe("check -c both.pds", numbers(0..900)).ok(), "900\n");
    folder.pipe("build -o s.pds --static", numbers(0..500)).ok();
    let error = folder.pds("merge -o both.pds s.pds s.pds").failed();
    assert!(error.contains("a ribbon filter is built from all of its keys at once"), "{error}");
    let error = folder.pds("merge -o both.pds a.pds s.pds").failed();
    assert!(
        error.contains("the kind differs: standard Bloom filter here, ribbon filter in the other"),
        "{error}"
    );
    folder.pipe("build -o b.pds --like s.pds", numbers(0..900)).ok();
    assert!(folder.pds("info b.pds").ok().contains("ribbon filter"));
}

#[test]
fn info_shows_what_is_in_a_file() {
    let folder = Folder::new();
    folder.pipe("build -o f.pds --rate 1%", numbers(0..10_000)).ok();
    folder.pipe("build -o h.pds --kind hyper-log-log", numbers(0..1_500)).ok();
    let text = folder.pds("info f.pds h.pds").ok();
    for part in [
        "Bloom filter",
        "BloomFilter",
        "expected_keys        10,000",
        "promised_rate        0.0100",
        "health               ok",
        "▕▅",
        "HyperLogLog sketch",
        "distinct     1,500",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let json = folder.pds("info --format json f.pds h.pds").ok();
    let values: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values[0]["expected_keys"], 10_000);
    assert_eq!(values[1]["at_most_95"], 1_500);
}

#[test]
fn memory_sizes_a_filter() {
    let folder = Folder::new();
    folder.pipe("build -o f.pds --memory 64KiB", numbers(0..10_000)).ok();
    assert!((60_000..66_500).contains(&folder.read("f.pds").len()));
}

/// Each is refused, and none is built.
#[test]
fn options_without_an_effect_are_refused() {
    let folder = Folder::new();
    for (options, part) in [
        ("--static --memory 64KiB", "--memory has no effect on --kind ribbon: it takes --rate"),
        ("--static --items 100", "--items has no effect on --kind ribbon"),
        ("--kind fuse --items 100", "--items has no effect on --kind fuse"),
        (
            "--kind hyper-log-log --memory 16B",
            "--memory has no effect on --kind hyper-log-log: it takes --error",
        ),
        (
            "--kind count-min --rate 1%",
            "--rate has no effect on --kind count-min: it takes --epsilon, --delta",
        ),
        ("--kind heavy-hitters --items 100", "--items has no effect"),
        ("--error 1%", "--error has no effect on --kind bloom"),
        ("--share 1%", "--share has no effect"),
        ("--kind scalable-bloom --memory 1MB", "--memory has no effect"),
        ("--rate 1e-30", "rate is 1e-30, but must be above"),
    ] {
        let error = folder.pipe(&format!("build -o f.pds {options}"), "a\n").failed();
        assert!(error.contains(part), "{options}: {error}");
    }
    assert!(folder.names().is_empty());
}

/// A key that looks present is stored all the same: otherwise its neighbour would take it along when that is removed.
#[test]
fn filters_that_forget_hold_every_key_once() {
    let folder = Folder::new();
    let keys = numbers(0..50_000);
    for kind in ["cuckoo", "quotient"] {
        folder
            .pipe(&format!("build -o f.pds --kind {kind} --rate 10% --items 60k"), keys.repeat(2))
            .ok();
        folder.pipe("build -o g.pds --like f.pds", keys.repeat(2)).ok();
        for name in ["f.pds", "g.pds"] {
            let info = folder.pds(&format!("info --format csv {name}")).ok();
            assert!(info.contains(&format!("{name},keys,50000\n")), "{kind}: {info}");
        }
        let bytes = folder.read("f.pds");
        assert!(bytes == folder.read("g.pds"), "{kind}");
        // All keys can be removed again, and then nothing is left.
        let mut filter: pds::DynFilter = pds::DynFilter::from_bytes(&bytes).unwrap();
        for key in keys.lines() {
            assert!(filter.contains(key), "{kind}: {key}");
            assert_eq!(filter.remove(key), Some(true), "{kind}: {key}");
        }
    }
}

#[test]
fn a_filter_with_too_many_keys_is_told() {
    let folder = Folder::new();
    let run = folder.pipe("build -o f.pds --items 10", numbers(0..10_000));
    run.ok();
    assert!(run.errors().contains("holds more lines than it was sized for"), "{}", run.errors());
    assert_eq!(folder.pipe("build -o f.pds --items 10k", numbers(0..10_000)).errors(), "");
}

/// The reader gets all, at once.
#[test]
#[cfg(unix)]
fn a_pipe_with_a_name_is_opened_once() {
    let folder = Folder::new();
    folder.write("in", numbers(0..1_000));
    folder.pds("build -o f.pds in").ok();
    let script = format!(
        "mkfifo p && (cat p > got & timeout 20 {} build -o p in; s=$?; wait; exit $s)",
        env!("CARGO_BIN_EXE_pds")
    );
    let run = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path(""))
        .status();
    assert!(run.unwrap().success());
    assert!(folder.read("got") == folder.read("f.pds"));
}

#[test]
fn keys_of_the_command_line_are_any_bytes() {
    let folder = Folder::new();
    folder.pipe("build -o f.pds --rate 1e-9", b"\xff\xfe\na\n").ok();
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let key = std::ffi::OsStr::from_bytes(b"\xff\xfe");
        let run =
            folder.run([std::ffi::OsStr::new("check"), "f.pds".as_ref(), "-k".as_ref(), key], b"");
        assert_eq!((run.code(), run.0.stdout.as_slice()), (0, &b"\xff\xfe\n"[..]));
    }
    assert_eq!(folder.pds("check -z f.pds -k a").ok(), "a\0");
    for options in ["--csv", "--json", "-f 1", "-d ,"] {
        let error = folder.pds(&format!("check f.pds -k a {options}")).failed();
        assert!(error.contains("cannot be used with"), "{options}: {error}");
    }
    let error = folder.pipe("check -", folder.read("f.pds")).failed();
    assert!(error.contains("standard input cannot hold both"), "{error}");
    assert_eq!(folder.pipe("check - -k a", folder.read("f.pds")).ok(), "a\n");
}

/// Also where the input goes on.
#[test]
fn a_quiet_check_ends_at_the_first_line() {
    let folder = Folder::new();
    folder.pipe("build -o f.pds", "a\n").ok();
    let mut child = command(&folder.path(""))
        .args(["check", "-q", "-d", ",", "-f", "1", "f.pds"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"x\na\n").unwrap();
    assert_eq!(wait(&mut child), 0);
    // With `-q`, the lines after the first match are not read.
    let bad = "a,1\n".to_owned() + &"x,1\n".repeat(200_000) + "bad\n";
    assert_eq!(folder.pipe("check -q -d , -f 1 f.pds", &bad).code(), 0);
}

#[test]
fn a_damaged_filter_answers_nothing() {
    let folder = Folder::new();
    let text: String = (0..5_000).map(|i| format!("{i}\n")).collect();
    folder.write("lines", &text);
    folder.pds("build -o built lines").ok();
    let mut bytes = folder.read("built");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 500].fill(0);
    folder.write("built", bytes);
    for command in ["check built lines", "check -v -c built lines", "info built"] {
        let run = folder.pds(command);
        assert!(run.failed().contains("built: "), "{command}");
        assert!(run.0.stdout.is_empty(), "{command}");
    }
}

#[test]
fn filters_that_hold_too_much_are_told() {
    let folder = Folder::new();
    let text = |from: u32| (from..from + 1_000).map(|i| format!("{i}\n")).collect::<String>();
    folder.write("one", text(0)).write("two", text(1_000));
    for kind in ["counting-bloom", "blocked-counting-bloom", "bloom"] {
        let run = folder.pds(&format!("build -k {kind} --items 100 -o many one"));
        run.ok();
        assert!(run.errors().contains("holds more lines than it was sized for"), "{kind}");
        let run = folder.pds(&format!("build -k {kind} -o first one"));
        run.ok();
        assert_eq!(run.errors(), "", "{kind}");
        folder.pds("build --like first -o second two").ok();
        let run = folder.pds("merge -o both first second");
        run.ok();
        assert!(run.errors().contains("holds more lines than it was sized for"), "{kind}");
    }
}
