use crate::tool::{Folder, command};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;
use std::process::Stdio;

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

#[test]
fn gzip_and_zstd_are_detected_in_files_and_pipes() {
    let folder = Folder::new();
    let long: String = (0..100_000).map(|i| format!("{}\n", i % 70_000)).collect();
    let once = folder.pipe("dedup", &long).ok();
    for compressed in [gzip(&long), zstd(&long)] {
        folder.write("compressed", &compressed);
        assert_eq!(folder.pds("dedup compressed").ok(), once);
        assert_eq!(folder.pipe("dedup", &compressed).ok(), once);
    }
    // Parts that were compressed one by one.
    let both = [gzip("a\nb\n"), gzip("b\nc\n")].concat();
    assert_eq!(folder.pipe("dedup", both).ok(), "a\nb\nc\n");
    let both = [zstd("a\nb\n"), zstd("b\nc\n")].concat();
    assert_eq!(folder.pipe("dedup", both).ok(), "a\nb\nc\n");
    let cut = &gzip(&long)[..1_000];
    assert!(folder.pipe("dedup", cut).failed().contains("standard input"));
    assert_eq!(folder.pipe("dedup", b"\x1f\x8b").0.stdout, b"\x1f\x8b\n", "two bytes are a line");
    // Zeros that fill a block of a tape, and what is no second part.
    let padded = [gzip("a\n"), vec![0; 300_000]].concat();
    assert_eq!(folder.pipe("dedup", &padded).ok(), "a\n");
    assert_eq!(folder.pipe("dedup", [padded.clone(), gzip("b\n")].concat()).ok(), "a\nb\n");
    folder.pipe("dedup", [padded, b"rest".to_vec()].concat()).failed();
}

#[test]
fn zstd_frames_are_skipped_and_checked() {
    let folder = Folder::new();
    let skipped = b"\x53\x2a\x4d\x18\x05\0\0\0a\nb\nc".to_vec();
    let parts = [skipped.clone(), zstd("a\n"), skipped.clone(), zstd("b\n"), skipped.clone()];
    assert_eq!(folder.pipe("dedup", parts.concat()).ok(), "a\nb\n");
    assert_eq!(folder.pipe("dedup", &skipped).ok(), "");
    folder.pipe("dedup", &skipped[..12]).failed();
    // The checksum comes last.
    let mut damaged = zstd("a\nb\n");
    *damaged.last_mut().unwrap() ^= 1;
    assert!(folder.pipe("dedup", damaged).failed().contains("checksum"));
}

#[test]
fn csv_has_the_delimiter_that_is_given_and_one_header() {
    let folder = Folder::new();
    folder.write("tabs", "id\tn\n1\ta\n1\tb\n").write("none", "a,b\n").write("one", "a,b\n1,2\n");
    assert_eq!(folder.pds("dedup --csv -d \\t -f id tabs").ok(), "id\tn\n1\ta\n");
    assert!(folder.pds("dedup --csv -d blank tabs").failed().contains("one character"));
    assert_eq!(folder.pds("dedup --csv none one").ok(), "a,b\n1,2\n");
    folder.pds("build -o seen --csv -f a one").ok();
    assert_eq!(folder.pds("check seen --csv -f a none one").ok(), "a,b\n1,2\n");
}

#[test]
fn files_patterns_and_their_order() {
    let folder = Folder::new();
    folder.write("b.log", "1\n2\n").write("a.log", "2\n3").write("other", "9\n");
    assert_eq!(folder.pds("dedup b.log a.log").ok(), "1\n2\n3\n");
    assert_eq!(folder.pds("dedup *.log").ok(), "2\n3\n1\n", "sorted by name");
    assert!(folder.pds("dedup *.txt").failed().contains("*.txt: no file has such a name"));
}

#[test]
fn fields_of_lines() {
    let folder = Folder::new();
    let text = "a\t1\tx\nb\t1\tx\na\t2\ty\n";
    assert_eq!(folder.pipe("dedup -f 2", text).ok(), "a\t1\tx\na\t2\ty\n");
    assert_eq!(folder.pipe("dedup -f 1 -f 2", text).ok(), text);
    assert_eq!(folder.pipe("dedup -f 3,2", text).ok(), "a\t1\tx\na\t2\ty\n");
    assert_eq!(folder.pipe("dedup -d blank -f 2", "  a   1\nb 1\n").ok(), "  a   1\n");
    let error = folder.pipe("dedup -f 4", text).failed();
    assert!(
        error.contains("standard input:1: there is no field 4: the record has 3 fields"),
        "{error}"
    );
    let run = folder.pipe("dedup -f 2 --skip-bad", "a\nb\tc\nbad\nd\te\nf\tc\nworse\n");
    assert_eq!(run.ok(), "b\tc\nd\te\n");
    assert!(run.errors().contains("which were left out: 3"), "{}", run.errors());
    assert!(folder.pipe("dedup -f 0", text).failed().contains("fields count from 1"));
}

#[test]
fn columns_of_csv_by_name() {
    let folder = Folder::new();
    let text = "name,mail\n\"Lovelace, Ada\",ada@x\n\"Two\nlines\",b@x\nAda,ada@x\n";
    assert_eq!(
        folder.pipe("dedup --csv -f mail", text).ok(),
        "name,mail\n\"Lovelace, Ada\",ada@x\n\"Two\nlines\",b@x\n"
    );
    assert_eq!(
        folder.pipe("dedup --csv -f 2", text).ok(),
        folder.pipe("dedup --csv -f mail", text).ok()
    );
    let error = folder.pipe("distinct --csv -f email", text).failed();
    assert!(error.contains("there is no column `email`: the header has name, mail"), "{error}");
    let error = folder.pipe("distinct --csv -f mail", "name,mail\na,b\nc\n").failed();
    assert!(error.contains("standard input:3: there is no field 2"), "{error}");
    // Empty lines and lines inside of a record count.
    for (text, line) in [
        ("a,b\n1,2\n\n\nc\n", 5),
        ("a,b\r\n1,2\r\n\r\n\r\nc\r\n", 5),
        ("a,b\n\"1\n1\",2\n\nc\n3,4\n", 5),
        ("a,b\n1,2\nc", 3),
        ("a,b\nc\n", 2),
    ] {
        let error = folder.pipe("distinct --csv -f b", text).failed();
        assert!(
            error.contains(&format!("standard input:{line}: there is no field 2")),
            "{text:?}: {error}"
        );
    }
    // The header of each file may have its columns in another order.
    folder.write("one.csv", "a,b\n1,2\n").write("two.csv", "b,a\n2,3\n");
    assert_eq!(
        folder.pds("distinct --csv -f b --exact --format csv one.csv two.csv").ok().lines().nth(1),
        Some("1,1,1,2,1")
    );
    assert_eq!(folder.pipe("dedup --csv -f x -d ;", "x;y\n1;2\n1;3\n").ok(), "x;y\n1;2\n");
}

#[test]
fn values_of_json_by_pointer() {
    let folder = Folder::new();
    let text = "{\"user\":{\"id\":\"a\"},\"n\":1}\n{\"user\":{\"id\":\"a\"},\"n\":2}\n{\"user\":{\"id\":7},\"n\":1}\n";
    let found = folder.pipe("dedup --json -f /user/id", text).ok();
    assert_eq!(
        found.lines().collect::<Vec<_>>(),
        [text.lines().next().unwrap(), text.lines().nth(2).unwrap()]
    );
    assert_eq!(folder.pipe("dedup --json -f /user/id -f /n", text).ok(), text);
    let found = folder.pipe("top --json -f /user/id --format json", text).ok();
    assert!(found.contains("\"line\":\"a\"") && found.contains("\"line\":\"7\""), "{found}");
    let error =
        folder.pipe("dedup --json -f /user/id", "{\"user\":{\"id\":1}}\nno json\n").failed();
    assert!(error.contains("standard input:2: is not JSON"), "{error}");
    let error = folder.pipe("dedup --json -f /user/no", text).failed();
    assert!(error.contains(":1: there is nothing at the pointer /user/no"), "{error}");
    assert!(folder.pipe("dedup --json -f user", text).failed().contains("is not a JSON pointer"));
}

#[test]
fn json_values_that_differ_are_different_keys() {
    let folder = Folder::new();
    let line = |value: &str| format!("{{\"id\": {value}}}\n");
    let values = [
        "7",
        "\"7\"",
        "\"\\\"7\\\"\"",
        "null",
        "\"null\"",
        "123456789012345678901",
        "123456789012345678902",
        "[1, 18446744073709551617]",
        "[1, 18446744073709551618]",
        "{\"a\": 1, \"b\": 2}",
    ];
    let text: String = values.iter().map(|value| line(value)).collect();
    assert_eq!(folder.pipe("dedup --json -f /id", &text).ok(), text);
    assert_eq!(folder.pipe("dedup --json -f /id -f /id", &text).ok(), text);
    // The same values in other words.
    let again =
        line("{ \"b\":2, \"a\":1 }") + &line("\"\\u0037\"") + &line("[1,18446744073709551617]");
    assert_eq!(folder.pipe("dedup --json -f /id", text.clone() + &again).ok(), text);
    // In a filter a key is a text, whatever it was written in.
    folder.pipe("build --json -f /id --rate 1e-9 -o f.pds", line("\"7\"")).ok();
    assert_eq!(folder.pipe("check f.pds", "7\n\"7\"\n").ok(), "7\n");
}

#[test]
fn json_has_a_mark_at_most_and_is_asked_for_without_a_field() {
    let folder = Folder::new();
    let marked = "\u{feff}{\"a\":1}\n{\"a\":1}\n";
    assert_eq!(folder.pipe("dedup --json -f /a", marked).ok(), "\u{feff}{\"a\":1}\n");
    assert!(folder.pipe("dedup --json", "{}\nno json\n").failed().contains(":2: is not JSON"));
    assert_eq!(
        folder.pipe("dedup --json", "{\"a\":1,\"b\":2}\n{\"b\":2,\"a\":1}\n").ok().lines().count(),
        1
    );
    assert!(folder.pipe("dedup --json -d , -f /a", "{}").failed().contains("cannot be used with"));
}

/// Records under another header would stand in the wrong columns.
#[test]
fn records_that_are_written_have_one_header() {
    let folder = Folder::new();
    folder.write("one", "a,b\n1,2\n").write("two", "b,a\n9,8\n").write("same", "a,b\n3,4\n");
    assert_eq!(folder.pds("dedup --csv one same").ok(), "a,b\n1,2\n3,4\n");
    for command in ["dedup --csv one two", "dedup --csv -u -f a one two"] {
        let error = folder.pds(command).failed();
        assert!(
            error.contains("two:1: the header is b, a, but must be that of the first file: a, b"),
            "{error}"
        );
    }
    folder.pipe("build -o f.pds", "1\n9\n").ok();
    assert!(folder.pds("check --csv -f a f.pds one two").failed().contains("two:1: the header"));
    // A key that is only counted may stand in any column.
    assert_eq!(folder.pds("check -c --csv -f b f.pds one two").ok(), "1\n");
    assert!(folder.pds("distinct --csv -f a one two").ok().contains('2'));
}

/// Whatever the blocks of a pipe are.
#[test]
fn records_before_a_bad_one_are_passed_on() {
    let folder = Folder::new();
    for (command, text) in [
        ("dedup -d , -f 2", "1,a\n2,b\nbad\n3,c\n"),
        ("dedup --csv -f y", "x,y\n1,a\n2,b\nbad\n3,c\n"),
    ] {
        let run = folder.pipe(command, text);
        assert!(run.failed().contains("there is no field 2"));
        let found = String::from_utf8(run.0.stdout.clone()).unwrap();
        assert!(found.ends_with("1,a\n2,b\n"), "{command}: {found}");
    }
    let long = format!("a\nb\n{}\nc\n", "x".repeat(2_000_000));
    let run = folder.pipe("dedup --max-record 1MiB", long);
    assert_eq!((run.code(), run.0.stdout.as_slice()), (2, &b"a\nb\n"[..]));
}

/// An open quote makes the rest of a file one field. It is not read to its end.
#[test]
fn a_record_beyond_its_limit_is_not_read_to_its_end() {
    let folder = Folder::new();
    let mut child = command(&folder.path(""))
        .args(["distinct", "--csv", "--max-record", "1MiB"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a,b\n\"").unwrap();
    let block = [b'x'; 1 << 16];
    let blocks = (0..1_024).take_while(|_| input.write_all(&block).is_ok()).count();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("--max-record"), "{error}");
    assert!(blocks < 100, "{blocks} blocks of 64 KiB were read");
    folder.write("zeros.gz", gzip(&"0".repeat(3_000_000)));
    let error = folder.pds("similar --files --max-record 1MiB zeros.gz").failed();
    assert!(
        error.contains(
            "zeros.gz: is longer than the 1,048,576 bytes (1.00 MiB) that --max-record allows"
        ),
        "{error}"
    );
    assert!(folder.pds("similar --files --csv zeros.gz").failed().contains("cannot be used with"));
}

/// Programs of offices write a byte order mark before CSV.
#[test]
fn a_byte_order_mark_is_no_part_of_a_header() {
    let folder = Folder::new();
    let text = "\u{feff}id,t\n1,a\n1,b\n";
    folder.write("mark.csv", text).write("plain.csv", "id,t\n2,a\n");
    assert_eq!(folder.pipe("dedup --csv -f id", text).ok(), "id,t\n1,a\n");
    assert_eq!(folder.pds("dedup --csv -f id mark.csv plain.csv").ok(), "id,t\n1,a\n2,a\n");
    let quoted = "\u{feff}\"id\",t\n1,a\n";
    assert_eq!(folder.pipe("dedup --csv -f t", quoted).ok(), "id,t\n1,a\n");
    for short in ["", "a", "\u{feff}"] {
        folder.pipe("dedup --csv", short).ok();
    }
}

#[test]
fn records_that_are_keys_need_one_order_of_columns() {
    let folder = Folder::new();
    folder.write("one.csv", "id,t\n1,2\n").write("other.csv", "t,id\n2,1\n");
    for command in ["distinct", "top", "build -o built"] {
        let error = folder.pds(&format!("{command} --csv one.csv other.csv")).failed();
        assert!(error.contains("must be that of the first file: id, t"), "{error}");
    }
    assert_eq!(
        folder
            .pds("distinct --csv -f id -f t --exact --format csv one.csv other.csv")
            .ok()
            .lines()
            .count(),
        2
    );
    assert!(!folder.path("built").exists());
}

#[test]
fn other_compressed_files_are_no_lines() {
    let folder = Folder::new();
    for (start, tool) in [
        (&b"\xfd7zXZ\0\0\x04"[..], "xz"),
        (b"BZh91AY&SY\x01", "bzip2"),
        (b"BZh11AY&SY\x01", "bzip2"),
        (b"\x04\x22\x4d\x18\x64", "lz4"),
    ] {
        let error = folder.pipe("distinct", start).failed();
        assert!(error.contains(&format!("`{tool} -dc FILE | pds ...`")), "{error}");
    }
    for line in ["BZh", "BZh91A\n", "BZhello 1AY\n", "\x04\n"] {
        assert_eq!(folder.pipe("dedup", line).ok().trim_end(), line.trim_end());
    }
}

#[test]
fn options_and_names_without_sense_are_refused() {
    let folder = Folder::new();
    folder.write("lines", "a\n").write("it.csv", "a,b\n1,2\n");
    folder.pds("build -k hyper-log-log -o sketch lines").ok();
    for (arguments, part) in [
        ("dedup -d , lines", "--delimiter has no effect without --field"),
        ("dedup - lines -", "standard input can be read only once"),
        ("merge - - -o x", "standard input can be read only once"),
    ] {
        let error = folder.pipe(arguments, folder.read("sketch")).failed();
        assert!(error.contains(part), "{error}");
    }
    for delimiter in ["\n", "\"", "blank"] {
        let run = folder.run(["dedup", "--csv", "-d", delimiter, "it.csv"], b"");
        assert!(run.failed().contains("no quote or end of a line"));
    }
    folder.pds("build -k hyper-log-log --error 5% -o rough lines").ok();
    let run = folder.pds("merge sketch rough -o both");
    run.ok();
    assert!(run.errors().contains("have different precisions"), "{}", run.errors());
    assert_eq!(folder.pds("merge sketch sketch -o both").errors(), "");
}

#[test]
#[cfg(target_os = "linux")]
fn help_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    for arguments in ["--help", "--version", "dedup --help"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = command(&folder.path(""));
        let status = command.args(arguments.split(' ')).stdout(full).stderr(Stdio::null()).status();
        assert_eq!(status.unwrap().code(), Some(2), "{arguments}");
    }
    assert!(folder.pds("--version").ok().starts_with("pds "));
    assert_eq!(folder.pds("dedup --nothing").code(), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_no_text_are_in_hex() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.pipe("build -o built", "a\n").ok();
    let name = std::ffi::OsStr::from_bytes(b"f\xff");
    std::fs::rename(folder.path("built"), folder.path("").join(name)).unwrap();
    let run =
        folder.run([std::ffi::OsStr::new("info"), "--format".as_ref(), "json".as_ref(), name], b"");
    assert!(run.ok().contains("\"file_hex\":\"66ff\""), "{}", run.ok());
}
