//! The program, as users call it.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for every test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pds-sql-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pds-sql"));
    // A backtrace would be an error here.
    command.current_dir(folder).env("RUST_BACKTRACE", "1").stdin(Stdio::null());
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder).args(args).output().unwrap()
}

/// Returns what a query prints as CSV.
fn csv(folder: &Path, sql: &str, files: &[&str]) -> String {
    let output = run(folder, &[&["--format", "csv", sql], files].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{sql}: {text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Returns the message of a call that fails with this status.
fn error(folder: &Path, args: &[&str], status: i32) -> String {
    let output = run(folder, args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    assert!(output.stdout.is_empty(), "{args:?}");
    for unwanted in ["panicked", "backtrace", "Optimizer rule"] {
        assert!(!text.contains(unwanted), "{args:?}: {text}");
    }
    text
}

/// Writes 30,000 views of 1,000 pages by 5,000 visitors, in Parquet, by the program itself.
fn views(folder: &Path) {
    let sql = "COPY (SELECT value % 1000 AS page, CONCAT('visitor ', value % 5000) AS visitor \
               FROM generate_series(1, 30000)) TO 'views.parquet'";
    csv(folder, sql, &[]);
}

#[test]
fn distinct_counts_of_a_parquet_file() {
    let folder = folder("parquet");
    views(&folder);
    let sql = "SELECT pds_distinct(visitor) AS d, count(*) AS n FROM views";
    let sql = format!("SELECT d['lower'] <= 5000 AND d['upper'] >= 5000 AS holds, n FROM ({sql})");
    assert_eq!(csv(&folder, &sql, &["views.parquet"]), "holds,n\ntrue,30000\n");
    let sql = "SELECT page, hll_sketch_estimate(hll_sketch_agg(visitor)) AS n FROM views GROUP BY page ORDER BY page LIMIT 2";
    assert_eq!(csv(&folder, sql, &["views.parquet"]), "page,n\n0,5\n1,5\n");
}

#[test]
fn functions_are_listed_with_their_arguments() {
    let sql = "SELECT routine_name, syntax_example, description <> '' AS described \
               FROM information_schema.routines WHERE routine_name LIKE 'pds_h%' ORDER BY routine_name";
    assert_eq!(
        csv(&folder("functions"), sql, &[]),
        "routine_name,syntax_example,described\n\
         pds_hll_agg,\"pds_hll_agg(key [, precision])\",true\n\
         pds_hll_estimate,pds_hll_estimate(sketch),true\n\
         pds_hll_union,\"pds_hll_union(sketch, sketch)\",true\n\
         pds_hll_union_agg,pds_hll_union_agg(sketch),true\n"
    );
}

#[test]
fn text_files_with_and_without_compression() {
    let folder = folder("text");
    fs::write(folder.join("a.csv"), "id,name\n1,one\n2,\"two, or more\"\n").unwrap();
    fs::write(folder.join("b.tsv"), "id\tname\n1\tone\n").unwrap();
    fs::write(folder.join("c.jsonl"), "{\"id\": 1, \"name\": \"one\"}\n{\"id\": 3}\n").unwrap();
    let write = |target: &str, options: &str| {
        let sql = format!("COPY (SELECT * FROM a) TO '{target}' STORED AS CSV OPTIONS ({options})");
        csv(&folder, &sql, &["a.csv"]);
    };
    for (kind, end) in [("gzip", "gz"), ("zstd", "zst"), ("bzip2", "bz2"), ("xz", "xz")] {
        let target = format!("packed-{end}.csv.{end}");
        write(&target, &format!("'format.compression' '{kind}', 'format.has_header' 'true'"));
        let bytes = fs::read(folder.join(&target)).unwrap();
        assert!(!bytes.starts_with(b"id"), "{target} is compressed");
        let sql = format!("SELECT name FROM \"packed-{end}\" WHERE id = 2");
        assert_eq!(csv(&folder, &sql, &[&target]), "name\n\"two, or more\"\n");
    }
    let sql = "SELECT a.id, b.name, c.name AS same FROM a JOIN b USING (id) JOIN c USING (id)";
    assert_eq!(csv(&folder, sql, &["a.csv", "b.tsv", "c.jsonl"]), "id,name,same\n1,one,one\n");
}

#[test]
fn a_filter_of_one_file_prunes_another() {
    let folder = folder("filter");
    let copy = |from: i64, to: i64, file: &str| {
        let rows = format!(
            "SELECT CONCAT('https://example.org/', value) AS url FROM generate_series({from}, {to})"
        );
        csv(&folder, &format!("COPY ({rows}) TO '{file}'"), &[]);
    };
    copy(1, 2_000, "yesterday.parquet");
    copy(1_001, 3_000, "today.parquet");
    let sql = "SELECT count(*) BETWEEN 950 AND 1000 AS most FROM today \
               WHERE NOT pds_might_contain((SELECT pds_bloom_agg(url, 2000, 0.01) FROM yesterday), url)";
    let files = ["yesterday.parquet", "today.parquet"];
    assert_eq!(csv(&folder, sql, &files), "most\ntrue\n");
    // A filter is stored and asked later.
    let sql =
        "COPY (SELECT pds_bloom_agg(url, 2000, 0.01) AS f FROM yesterday) TO 'filter.parquet'";
    csv(&folder, sql, &files);
    let sql = "SELECT pds_might_contain(f, 'https://example.org/7') AS yes FROM filter";
    assert_eq!(csv(&folder, sql, &["filter.parquet"]), "yes\ntrue\n");
}

#[test]
fn names_of_tables() {
    let folder = folder("names");
    for name in
        ["2024 views.csv", "Views.CSV", "a.b.csv", "order.csv", "x[1]*?.csv", "ä.csv", "q\"q.csv"]
    {
        fs::write(folder.join(name), "n\n1\n").unwrap();
        let stem = &name[..name.len() - 4];
        let sql = format!("SELECT n FROM \"{}\"", stem.replace('"', "\"\""));
        assert_eq!(csv(&folder, &sql, &[name]), "n\n1\n", "{name}");
    }
    let files = ["2024 views.csv", "Views.CSV", "order.csv"];
    let text = error(&folder, &[&["SELECT n FROM views"], &files[..]].concat(), 1);
    assert!(text.contains("table 'datafusion.public.views' not found"), "{text}");
    assert!(text.contains("tables: \"2024 views\", \"Views\", order"), "{text}");
    // A file that is no argument is a table by its path.
    assert_eq!(csv(&folder, "SELECT n FROM 'order.csv'", &[]), "n\n1\n");
}

#[test]
fn files_that_cannot_be_tables() {
    let folder = folder("files");
    fs::create_dir(folder.join("b")).unwrap();
    for name in ["a.csv", "b/a.csv", "notes.txt", "bare", "zipped.parquet.gz"] {
        fs::write(folder.join(name), "n\n1\n").unwrap();
    }
    fs::write(folder.join("broken.parquet"), "n\n1\n").unwrap();
    fs::write(folder.join("wrong.csv.gz"), "n\n1\n").unwrap();
    for (files, expected) in [
        (&["a.csv", "b/a.csv"][..], "a.csv and b/a.csv would both be the table a"),
        (&["none.csv"], "none.csv: No such file"),
        (&["b"], "b: this is no file"),
        (&["notes.txt"], "notes.txt: the name must end in .parquet, .csv"),
        (&["bare"], "bare: the name must end in"),
        (&["zipped.parquet.gz"], "zipped.parquet.gz: the name must end in"),
        (&["broken.parquet"], "broken.parquet: "),
        (&["wrong.csv.gz"], "wrong.csv.gz: "),
    ] {
        let text = error(&folder, &[&["SELECT 1"], files].concat(), 2);
        assert!(text.contains(&format!("pds-sql: {expected}")), "{files:?}: {text}");
    }
    // The reader of Parquet panics.
    fs::write(folder.join("worse.parquet"), "PAR1 and then nothing of the kind PAR1").unwrap();
    let text = error(&folder, &["SELECT 1", "worse.parquet"], 1);
    assert!(text.contains("pds-sql: a fault of DataFusion, or a damaged file: "), "{text}");
    let text = error(&folder, &["a.csv"], 2);
    assert!(text.contains("`a.csv` is a file, and the SQL comes before the files"), "{text}");
}

#[test]
fn queries_that_are_wrong() {
    let folder = folder("wrong");
    fs::write(folder.join("t.csv"), "n\n1\n2\n").unwrap();
    for (sql, expected) in [
        ("SELEC 1", "pds-sql: SQL error"),
        ("SELECT m FROM t", "No field named m"),
        (
            "SELECT pds_hll_agg(n, 3) FROM t",
            "pds_hll_agg: precision is 3; it must be a whole number from 4 to 18",
        ),
        ("SELECT pds_hll_estimate(X'00') FROM t", "pds_hll_estimate: the sketch, row 0"),
        ("SELECT no_such_function(n) FROM t", "no_such_function"),
        ("COPY t TO 't.csv/t.parquet'", "pds-sql: "),
    ] {
        let text = error(&folder, &[sql, "t.csv"], 1);
        assert!(text.contains(expected), "{sql}: {text}");
    }
    for args in
        [&["--format", "xml", "SELECT 1"][..], &["--maxrows", "-1", "SELECT 1"], &["--nonsense"]]
    {
        error(&folder, args, 2);
    }
}

#[test]
fn formats_of_results() {
    let folder = folder("formats");
    let sql = "SELECT 1 AS n, NULL AS s UNION ALL SELECT 2, 'two' ORDER BY n";
    for (format, expected) in [
        ("csv", "n,s\n1,\n2,two\n"),
        ("tsv", "n\ts\n1\t\n2\ttwo\n"),
        ("json", "[{\"n\":1},{\"n\":2,\"s\":\"two\"}]\n"),
        ("nd-json", "{\"n\":1}\n{\"n\":2,\"s\":\"two\"}\n"),
        (
            "table",
            "+---+------+\n| n | s    |\n+---+------+\n| 1 | NULL |\n| 2 | two  |\n+---+------+\n",
        ),
    ] {
        let output = run(&folder, &["--format", format, sql]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{format}");
    }
    // A table shows its first rows, and other formats all.
    let sql = "SELECT value FROM generate_series(1, 20000)";
    let lines = |args: &[&str]| {
        let output = run(&folder, &[args, &[sql]].concat());
        output.stdout.iter().filter(|&&byte| byte == b'\n').count()
    };
    assert_eq!(lines(&[]), 40 + 3 + 3 + 1);
    assert_eq!(lines(&["--maxrows", "none"]), 20_004);
    assert_eq!(lines(&["--format", "csv"]), 20_001);
    assert_eq!(lines(&["--format", "nd-json"]), 20_000);
}

#[test]
fn statements_from_standard_input() {
    let folder = folder("input");
    let script = "-- two statements\nCREATE TABLE u AS SELECT n + 1 AS n FROM t;\nSELECT sum(n) AS s FROM u;\n";
    fs::write(folder.join("t.csv"), "n\n1\n2\n").unwrap();
    for args in [&["--format", "csv", "-", "t.csv"][..], &["--format", "csv"]] {
        let mut child = command(&folder);
        child.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if args.contains(&"-") {
            assert_eq!(String::from_utf8_lossy(&output.stdout), "s\n5\n", "{text}");
        } else {
            // The first statement that fails ends the script.
            assert_eq!(output.status.code(), Some(1));
            assert!(
                output.stdout.is_empty() && text.contains("'datafusion.public.t' not found"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = folder("pipe");
    for format in ["table", "csv", "json", "nd-json"] {
        let sql =
            "SELECT value, 'some more text in every row' AS t FROM generate_series(1, 300000)";
        let mut child = command(&folder)
            .args(["--format", format, "--maxrows", "none", sql])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut start = [0; 100];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{format}: {:?}", output.status);
        assert!(output.stderr.is_empty(), "{format}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn help_and_version() {
    let folder = folder("help");
    for (flag, expected) in
        [("--help", "Usage: pds-sql [OPTIONS] [SQL] [FILES]..."), ("--version", "pds-sql 0.1.0")]
    {
        let output = run(&folder, &[flag]);
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains(expected), "{flag}");
    }
}

/// On a terminal, which the program `script` makes.
#[cfg(target_os = "linux")]
#[test]
fn a_shell_on_a_terminal() {
    let folder = folder("shell");
    fs::write(folder.join("t.csv"), "n\n1\n2\n").unwrap();
    let program = env!("CARGO_BIN_EXE_pds-sql");
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", &format!("{program} - t.csv"), "/dev/null"])
        .current_dir(&folder)
        .env("TERM", "dumb")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let typed = b"SELECT sum(n) + 4000 AS s FROM t;\nSELECT m FROM t;\n\\q\n";
    child.stdin.take().unwrap().write_all(typed).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    for expected in ["tables: t", "4003", "1 row(s) fetched", "No field named m"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
