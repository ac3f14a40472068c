use crate::tool::{Folder, command};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

/// Lines of which many repeat: the numbers below `distinct`, in an order without a pattern.
fn lines(number: u64, distinct: u64) -> String {
    let mix = |i: u64| (i ^ (i >> 7)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    (0..number).map(|i| format!("line {}\n", mix(i) % distinct)).collect()
}

/// The first of each, in order.
fn first_of_each(text: &str) -> String {
    let mut seen = HashSet::new();
    text.split_inclusive('\n').filter(|line| seen.insert(*line)).collect()
}

#[test]
fn each_line_once_in_the_order_of_the_first() {
    let folder = Folder::new();
    let text = lines(200_000, 30_000);
    folder.write("lines", &text);
    assert_eq!(folder.pds("dedup lines").ok(), first_of_each(&text));
    assert_eq!(folder.pipe("dedup", &text).ok(), first_of_each(&text));
    assert_eq!(
        folder.pipe("dedup - lines", "a\nb").ok(),
        format!("a\nb\n{}", first_of_each(&text))
    );
    assert_eq!(folder.pipe("dedup", "").ok(), "");
    assert_eq!(folder.pipe("dedup", "\n\na\n\n").ok(), "\na\n");
}

#[test]
fn any_bytes_are_lines() {
    let folder = Folder::new();
    let bytes: Vec<u8> =
        (0..=255_u8).flat_map(|byte| [byte, b'\n']).chain([0xff, b'\n', 0xfe]).collect();
    let run = folder.pipe("dedup", &bytes);
    // The newline among the bytes makes two empty lines.
    assert_eq!(run.0.stdout.len(), 2 * 255 + 1, "{:?}", run.0.stdout);
    assert_eq!(folder.pipe("dedup -z", b"a\nb\0a\nb\0c").ok(), "a\nb\0c\0");
}

/// The point from which a filter decides does not depend on how the lines come: in large pieces, for which several threads
/// decide, or in small ones.
#[test]
fn the_same_lines_are_written_however_they_come() {
    let folder = Folder::new();
    let text = lines(60_000, 20_000);
    folder.write("lines", &text);
    for options in ["--memory 300kB --rate 10%", "-r --memory 300kB --rate 10%", "-r"] {
        let at_once = folder.pds(&format!("dedup lines {options}")).ok();
        let mut child = command(&folder.path(""))
            .arg("dedup")
            .args(options.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut found = String::new();
        std::thread::scope(|scope| {
            // Pieces of many sizes, with ends in the middle of lines.
            let mut rest = text.as_bytes();
            scope.spawn(move || {
                for size in (1..4_000).cycle().step_by(37) {
                    let (piece, more) = rest.split_at(size.min(rest.len()));
                    if input.write_all(piece).is_err() || more.is_empty() {
                        break;
                    }
                    rest = more;
                }
            });
            output.read_to_string(&mut found).unwrap();
        });
        assert!(child.wait().unwrap().success());
        assert!(!found.is_empty() && found == at_once, "{options}");
    }
}

/// The filter lets no line through twice, and loses few.
#[test]
fn beyond_its_memory_a_filter_decides_and_says_so() {
    let folder = Folder::new();
    let text = lines(300_000, 100_000);
    let truth = first_of_each(&text);
    let run = folder.pipe("dedup --memory 300kB --rate 0.1%", &text);
    let found = run.ok();
    let kept: HashSet<_> = found.lines().collect();
    assert_eq!(kept.len(), found.lines().count(), "no line twice");
    let missing = truth.lines().filter(|line| !kept.contains(line)).count();
    // About 95,000 lines at a rate that grows to 0.1 %: a mean below 95. With 170 a false alarm has a probability below 1e-11.
    assert!(missing < 170, "{missing}");
    let mut rest = truth.lines();
    assert!(found.lines().all(|line| rest.any(|other| other == line)), "in the order of the first");
    for part in
        ["take the 293 KiB of --memory", "Measured rate: ", "of 1,048,576 lines that never came"]
    {
        assert!(run.errors().contains(part), "{}", run.errors());
    }
    assert_eq!(folder.pipe("dedup", &text).errors(), "", "exact answers need no comment");
    assert!(folder.pipe("dedup --stats", "a\na\n").errors().contains("2 lines, 1 written; exact"));
}

#[test]
fn a_rate_is_kept_and_measured() {
    let folder = Folder::new();
    let text: String = (0..200_000).map(|i| format!("{i}\n")).collect();
    let run = folder.pipe("dedup --memory 100kB --rate 5% --max-lines 200k", &text);
    let lost = 200_000 - run.ok().lines().count();
    // The promise is 5 % of 198,141 at most; the filter is fullest near 4.9 % and emptier at first.
    assert!((2_000..10_200).contains(&lost), "{lost}");
    let errors = run.errors();
    let measured = errors.split("Measured rate: ").nth(1).unwrap().split(' ').next().unwrap();
    let measured: f64 = measured.parse().unwrap();
    assert!((0.01..0.0502).contains(&(measured / 1_048_576.0)), "{errors}");
}

#[test]
fn counts_unique_and_repeated() {
    let folder = Folder::new();
    let text = "b\na\nb\nc\nb\na\n";
    assert_eq!(folder.pipe("dedup -c", text).ok(), "      3 b\n      2 a\n      1 c\n");
    assert_eq!(folder.pipe("dedup --unique", text).ok(), "c\n");
    assert_eq!(
        folder.pipe("dedup --repeated", text).ok(),
        "b\na\n",
        "each when it comes the second time"
    );
    let long = lines(100_000, 20_000);
    let repeated = folder.pipe("dedup -r", &long).ok();
    let (once, all) = (folder.pipe("dedup -u", &long).ok(), folder.pipe("dedup", &long).ok());
    let mut both: Vec<_> = once.lines().chain(repeated.lines()).collect();
    both.sort_unstable();
    let mut all: Vec<_> = all.lines().collect();
    all.sort_unstable();
    assert!(!once.is_empty() && !repeated.is_empty());
    assert_eq!(both, all);
    // With fields the first record of each key is printed.
    assert_eq!(
        folder.pipe("dedup -c -d , -f 2", "x,1\ny,2\nz,1\n").ok(),
        "      2 x,1\n      1 y,2\n"
    );
    assert_eq!(folder.pipe("dedup -u -d , -f 2", "x,1\ny,2\nz,1\n").ok(), "y,2\n");
    let error = folder.pipe("dedup -c --memory 64KiB", &long).failed();
    assert!(error.contains("more than the 64.0 KiB that --memory allows"), "{error}");
}

#[test]
fn repeated_lines_beyond_the_memory_come_once() {
    let folder = Folder::new();
    let text = lines(200_000, 50_000);
    let found = folder.pipe("dedup -r --memory 200kB", &text).ok();
    let exact = folder.pipe("dedup -r", &text).ok();
    let kept: HashSet<_> = found.lines().collect();
    assert_eq!(kept.len(), found.lines().count());
    // At 1e-6 a wrong one among 50,000 has a probability of 5 % in each of the two filters; two of them of 0.1 %.
    let truth: HashSet<_> = exact.lines().collect();
    assert!(kept.symmetric_difference(&truth).count() < 4);
    // The counts of the message add up: five lines repeat, and the filter wrote them.
    let text: String = (1..=100_000).chain(1..=5).map(|i| format!("{i}\n")).collect();
    let run = folder.pipe("dedup -r --memory 200kB", &text);
    assert_eq!(run.ok(), "1\n2\n3\n4\n5\n");
    let errors = run.errors();
    assert_eq!(errors.matches("from here on a filter decides").count(), 1, "{errors}");
    assert!(errors.contains("100,005 lines, 5 written; 5 of them by a filter"), "{errors}");
    assert!(
        errors.contains("Lines that came once, and were written: 0.1 expected at most"),
        "{errors}"
    );
}

/// Memory is that of the different lines, however many others come with them.
#[test]
fn lines_that_repeat_take_no_memory() {
    let folder = Folder::new();
    let text = "y\n".repeat(400_000);
    assert_eq!(folder.pipe("dedup -c --memory 1kB", &text).ok(), " 400000 y\n");
    let run = folder.pipe("dedup --memory 1kB", &text);
    assert_eq!((run.ok(), run.errors()), ("y\n".to_owned(), String::new()));
    // Long lines count, too.
    let long: String = (0..10).map(|i| format!("{i}{}\n", "x".repeat(100_000))).collect();
    assert!(folder.pipe("dedup -c --memory 1MB", &long).failed().contains("9 different lines"));
}

/// The filter takes over at the same line, however the pipe is cut into blocks.
#[test]
fn the_blocks_of_a_pipe_change_nothing() {
    let folder = Folder::new();
    let text = lines(100_000, 60_000);
    let whole = folder.pipe("dedup --memory 300kB --rate 5%", &text);
    let mut child = command(&folder.path(""))
        .args(["dedup", "--memory", "300kB", "--rate", "5%"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            for part in text.as_bytes().chunks(7_777) {
                input.write_all(part).unwrap();
                input.flush().unwrap();
            }
        });
        child.wait_with_output().unwrap()
    });
    assert!(output.stdout == whole.0.stdout, "the same lines");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), whole.errors());
}

#[test]
fn lines_beyond_their_number_are_an_error_that_says_so() {
    let folder = Folder::new();
    let text: String = (0..50_000).map(|i| format!("{i}\n")).collect();
    let error = folder.pipe("dedup --memory 10kB --max-lines 10k", &text).failed();
    assert!(
        error.contains("more than the 10,000 different lines that --max-lines allows"),
        "{error}"
    );
    // So are fewer than there are already.
    let error = folder.pipe("dedup --memory 100kB --max-lines 100", &text).failed();
    assert!(error.contains("more than the 100 different lines"), "{error}");
    let error = folder.pipe("dedup --window 10 --memory 1kB", &text).failed();
    assert!(error.contains("cannot be used with"), "{error}");
}

#[test]
fn a_window_of_time_forgets_by_the_clock_of_the_records() {
    let folder = Folder::new();
    let command = "dedup --window 1h --time 1 -f 2 -d , --max-lines 1000";
    let text = "1000,a\n1500,a\n1200,b\n2026-01-31T12:00:00Z,a\n2026-01-31T12:59:00Z,a\n31/Jan/2026:14:30:00 +0000,a\n";
    let found = folder.pipe(command, text).ok();
    assert_eq!(found, "1000,a\n1200,b\n2026-01-31T12:00:00Z,a\n31/Jan/2026:14:30:00 +0000,a\n");
    let error = folder.pipe(command, "1000,a\nsoon,a\n").failed();
    assert!(
        error.contains(
            "standard input:2: `soon` is no time: it must be seconds or milliseconds since 1970"
        ),
        "{error}"
    );
    let csv =
        folder.pipe("dedup --csv --window 5s --time at --max-lines 10", "id,at\nx,1\nx,1\n").ok();
    assert_eq!(csv, "id,at\nx,1\n");
    for (options, part) in [
        ("--window 1h", "need each other"),
        ("--window 10 --time 1", "need each other"),
        ("--window 1h --time 1", "needs --max-lines"),
        ("--window soon", "neither a number of lines nor a time"),
    ] {
        let error = folder.pipe(&format!("dedup {options}"), "1\n").failed();
        assert!(error.contains(part), "{options}: {error}");
    }
}

/// The set of `sort -u`.
#[test]
#[cfg(unix)]
fn exact_answers_are_those_of_sort() {
    let folder = Folder::new();
    folder.write("lines", lines(50_000, 20_000));
    let mut found: Vec<_> = folder.pds("dedup lines").ok().lines().map(str::to_owned).collect();
    found.sort_unstable();
    let sorted = std::process::Command::new("sort")
        .args(["-u", "lines"])
        .env("LC_ALL", "C")
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    assert!(String::from_utf8(sorted.stdout).unwrap().lines().eq(found.iter()));
}

#[test]
fn a_window_forgets() {
    let folder = Folder::new();
    let text: String = (0..5_000).map(|i| format!("{i}\n")).collect::<String>() + "0\n4999\n";
    let found = folder.pipe("dedup --window 1000 --rate 1e-9", &text).ok();
    assert!(found.ends_with("4998\n4999\n0\n"), "0 is forgotten and 4999 is not");
}

/// Answers come while the input is open, as `tail -f` needs it.
#[test]
fn a_stream_is_answered_while_it_is_open() {
    let folder = Folder::new();
    let mut child = command(&folder.path(""))
        .args(["dedup", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for (written, read) in [("a\nb\na\nc", "a\nb\n"), ("d\n", "cd\n")] {
        input.write_all(written.as_bytes()).unwrap();
        for line in read.lines() {
            let mut found = String::new();
            output.read_line(&mut found).unwrap();
            assert_eq!(found.trim_end(), line);
        }
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new();
    folder.write("lines", (0..500_000).map(|i| format!("{i}\n")).collect::<String>());
    let mut child = command(&folder.path(""))
        .args(["dedup", "lines"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(0), ""));
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = Folder::new();
    folder.write("in", "a\na\nb\n").write("out", "old");
    assert_eq!(folder.pds("dedup in -o out").ok(), "");
    assert_eq!(folder.read("out"), b"a\nb\n");
    assert_eq!(folder.pds("dedup out in -o in").ok(), "");
    assert_eq!(folder.read("in"), b"a\nb\n", "an input may be the output");
    assert_eq!(folder.names(), ["in", "out"]);
}

/// Logs come in bursts: most lines of an hour within a few minutes.
#[test]
fn a_window_of_time_drops_no_new_line_of_a_burst() {
    let folder = Folder::new();
    let hours =
        (0..40_u64).flat_map(|hour| (0..900).map(move |line| (hour * 7_200 + line / 15, line)));
    let text: String = hours.map(|(time, line)| format!("{time}\t{time}-{line}\n")).collect();
    let run = folder.pipe("dedup --window 1h --time 1 -f 2 --max-lines 1000 --stats", &text);
    assert_eq!(run.ok(), text);
    assert!(run.errors().contains("36,000 lines, 36,000 written; by their 64-bit hashes"));
    // Repeated after half an hour, and then after 90 minutes.
    let text: String = [0, 1_800, 7_200].map(|time| format!("{time}\ta\n{time}\tb\n")).concat();
    let found = folder.pipe("dedup --window 1h --time 1 -f 2 --max-lines 2", &text).ok();
    assert_eq!(found, "0\ta\n0\tb\n7200\ta\n7200\tb\n");
    let many: String = (0..2_000).map(|line| format!("5\t{line}\n")).collect();
    let run = folder.pipe("dedup --window 1h --time 1 -f 2 --max-lines 1500", many);
    assert!(run.failed().contains("than the 1,500 that --max-lines allows"), "{}", run.errors());
    assert_eq!(run.0.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1_500);
}

#[test]
fn one_wrong_clock_does_not_stop_a_window() {
    let folder = Folder::new();
    let command = "dedup --window 1h --time 1 -f 2 -d , --max-lines 10";
    let later: String = (1..=6).map(|hour| format!("{hour}00000,a\n")).collect();
    let run = folder.pipe(command, format!("9000000000,x\n{later}"));
    assert_eq!(run.ok(), format!("9000000000,x\n{later}"));
    assert!(run.errors().contains("behind a line with a later time: 6;"), "{}", run.errors());
    let milliseconds: String =
        (0..6).map(|step| format!("{},a\n", 1_769_860_800_000_u64 + step * 10_000)).collect();
    assert_eq!(folder.pipe(command, milliseconds).ok(), "1769860800000,a\n");
    let run = folder.pipe(&format!("{command} --skip-bad"), "-,a\n1000,a\nlater,b\n1001,c\n");
    assert_eq!(run.ok(), "1000,a\n1001,c\n");
    assert!(run.errors().contains("without a time, which were left out: 2"), "{}", run.errors());
    let error = folder.pipe(command, "2026-01-31T12:00:00,a\n").failed();
    assert!(error.contains("a date with its zone"), "{error}");
}

#[test]
fn a_rate_that_no_filter_has_is_refused_at_once() {
    let folder = Folder::new();
    for rate in ["1e-10", "1e-11", "1e-300"] {
        let error = folder.pipe(&format!("dedup --rate {rate}"), "a\n").failed();
        assert!(error.contains("no filter of 1,000,000,000 lines (--max-lines) has it"), "{error}");
    }
    assert_eq!(folder.pipe("dedup --rate 1e-10 --max-lines 1M", "a\n").ok(), "a\n");
    for (options, part) in [
        ("--window 1h --time 1 --max-lines 3 --rate 1%", "--rate has no effect"),
        ("--window 5 --max-lines 3", "--max-lines has no effect"),
    ] {
        assert!(folder.pipe(&format!("dedup {options}"), "1\n").failed().contains(part));
    }
}

#[test]
fn lines_before_an_error_are_written() {
    let folder = Folder::new();
    let lines = |run: &crate::tool::Run| {
        run.failed();
        run.0.stdout.iter().filter(|&&byte| byte == b'\n').count()
    };
    let run = folder.pipe("dedup --window 1h --time 1 -f 2 --max-lines 10", "1\ta\n2\tb\nx\tc\n");
    assert_eq!(lines(&run), 2);
    let text: String = (0..100_000).map(|i| format!("{i}\n")).collect();
    assert_eq!(lines(&folder.pipe("dedup --memory 50kB --max-lines 5000", text)), 5_000);
}
