//! Sketches against the Python package `datasketches`: it reads ours, and we read its.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::session::{blob, number, session};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_sketches.py");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The interpreter is that of the variable `PDS_PYTHON`. Without one the test has nothing to compare with.
#[tokio::test]
async fn the_python_package_reads_ours_and_we_read_its() {
    let Ok(python) = std::env::var("PDS_PYTHON") else {
        println!("skipped: PDS_PYTHON names no Python that has `datasketches`");
        return;
    };
    let session = session();
    let mut input = String::new();
    for rows in [0, 5, 300, 50_000] {
        let source = format!(
            "(SELECT value AS v FROM generate_series(1, {rows}) AS t(value) WHERE {rows} > 0)"
        );
        for (kind, function) in [("hll", "hll_sketch_agg"), ("theta", "theta_sketch_agg")] {
            for (name, value) in [("long", "v"), ("text", "concat('key ', CAST(v AS TEXT))")] {
                let sql = format!("SELECT {function}({value}) FROM {source}");
                input += &format!("{kind} {name} {rows} {}\n", hex(&blob(&session, &sql).await));
            }
        }
    }
    let source = "(SELECT concat('key ', CAST(floor(sqrt(value)) AS BIGINT)) AS v FROM generate_series(1, 10000) AS t(value))";
    let sql = format!("SELECT approx_top_k_accumulate(v, 1000)['sketch'] FROM {source}");
    input += &format!("top text 10000 {}\n", hex(&blob(&session, &sql).await));
    let child =
        Command::new(python).arg(SCRIPT).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the package disagrees: see above");

    // Its sketches: kind, what is expected, bytes.
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 9, "{text}");
    for line in lines {
        if line[0] == "top" {
            let sql = format!(
                "SELECT approx_top_k_estimate(named_struct('sketch', X'{}', 'maxItemsTracked', CAST(1000 AS INT), \
                 'itemDataType', CAST(NULL AS TEXT), 'itemDataTypeDDL', 'item string not null'), 1)[1]['count']",
                line[2]
            );
            assert_eq!(number(&session, &sql).await, line[1].parse::<f64>().unwrap());
            continue;
        }
        let (kind, expected, bytes) = (line[0], line[1].parse::<f64>().unwrap(), line[2]);
        let sql = format!("SELECT {kind}_sketch_estimate(X'{bytes}')");
        let found = number(&session, &sql).await;
        assert!((found - expected).abs() <= 0.5, "{kind}: {found}, and {expected} by the package");
    }
}
