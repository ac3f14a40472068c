use crate::tool::Folder;
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

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
