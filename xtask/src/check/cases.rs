//! Comparison of `docs/cases.md` with the tests: every row has a test, and every test `case_NN_...` has a row.

use super::files;
use crate::process::{Outcome, root};
use alloc::collections::{BTreeMap, BTreeSet};
use core::error::Error;
use std::fs;

/// The tests of each case: file and function.
type Tests = BTreeMap<String, Vec<String>>;

/// Prints the tests of every row, and compares rows with tests.
///
/// # Errors
/// If a row has no test, a test has no row, or a file cannot be read.
pub(crate) fn compare() -> Outcome {
    let rows = rows(&fs::read_to_string(root().join("docs").join("cases.md"))?);
    let mut tests = Tests::new();
    collect(&mut tests)?;
    for (case, tests) in &tests {
        eprintln!("case {case}\n  {}", tests.join("\n  "));
    }
    match differences(&rows, &tests).as_slice() {
        [] => Ok(()),
        wrong => Err(wrong.join("\n").into()),
    }
}

/// Returns the numbers in the first column of the tables.
fn rows(document: &str) -> Vec<String> {
    let cell =
        |line: &str| line.strip_prefix("| ")?.split_once(" |").map(|(cell, _)| cell.to_owned());
    document.lines().filter_map(cell).filter(|cell| is_number(cell)).collect()
}

fn is_number(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Adds the tests of all sources.
fn collect(tests: &mut Tests) -> Result<(), Box<dyn Error>> {
    for path in files::with_extension("rs")? {
        let file = files::shown(&path);
        for (case, function) in tests_in(&fs::read_to_string(&path)?) {
            tests.entry(case).or_default().push(format!("{file}: {function}"));
        }
    }
    Ok(())
}

/// Returns the cases of a source, and their functions.
fn tests_in(source: &str) -> impl Iterator<Item = (String, &str)> {
    source.lines().filter_map(|line| {
        let function = line.trim_start().strip_prefix("fn case_")?;
        let (case, rest) = function.split_once('_')?;
        let end = rest.find('(')? + case.len() + 1;
        is_number(case).then(|| (case.to_owned(), &function[..end]))
    })
}

/// Returns the errors, one per line.
fn differences(rows: &[String], tests: &Tests) -> Vec<String> {
    let known: BTreeSet<&String> = rows.iter().collect();
    let no_test = rows.iter().filter(|row| !tests.contains_key(*row));
    let no_row = tests.iter().filter(|(case, _)| !known.contains(case));
    let twice = rows.len() - known.len();
    no_test
        .map(|row| format!("docs/cases.md: case {row} has no test `case_{row}_...`"))
        .chain(no_row.map(|(case, tests)| {
            format!("docs/cases.md: no row for {}: {}", case, tests.join(", "))
        }))
        .chain((twice > 0).then(|| format!("docs/cases.md: {twice} numbers stand twice")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "| case | fault |\n|---|---|\n| 01 | one |\n| 02 | two |\n";

    fn found(source: &str) -> Tests {
        let mut tests = Tests::new();
        for (case, function) in tests_in(source) {
            tests.entry(case).or_default().push(function.to_owned());
        }
        tests
    }

    #[test]
    fn rows_and_tests_that_agree_are_accepted() {
        let tests = found("#[test]\nfn case_01_a() {}\n    fn case_02_b() {\nfn case_1_no() {}\n");
        assert_eq!(tests["02"], ["02_b"]);
        assert_eq!(rows(DOCUMENT), ["01", "02"]);
        assert!(differences(&rows(DOCUMENT), &tests).is_empty());
    }

    #[test]
    fn a_row_without_a_test_a_test_without_a_row_and_a_row_twice_are_named() {
        let twice = format!("{DOCUMENT}| 02 | again |\n");
        let wrong = differences(&rows(&twice), &found("fn case_02_b() {}\nfn case_03_c() {}"));
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        for (line, part) in
            wrong.iter().zip(["case 01 has no test", "no row for 03: 03_c", "1 numbers"])
        {
            assert!(line.contains(part), "{line}");
        }
    }
}
