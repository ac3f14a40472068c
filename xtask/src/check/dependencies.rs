//! Comparison of `docs/dependencies.md` with the manifests: every dependency has a line.

use super::workspace::Package;
use crate::process::{Outcome, root};
use alloc::collections::BTreeSet;
use std::fs;

/// Finds dependencies of any package that have no line.
///
/// # Errors
/// If there is one, or the document cannot be read.
pub(crate) fn compare(packages: &[Package]) -> Outcome {
    let document = fs::read_to_string(root().join("docs").join("dependencies.md"))?;
    let used = packages.iter().flat_map(|package| &package.dependencies).map(String::as_str);
    match without_a_line(&document, used).as_slice() {
        [] => Ok(()),
        missing => Err(format!("docs/dependencies.md: no line for {}", missing.join(", ")).into()),
    }
}

/// Returns those that no first cell of a table names, each once.
fn without_a_line<'a>(document: &str, used: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let cells = document.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let named: BTreeSet<&str> =
        cells.flat_map(|(cell, _)| cell.split('`').skip(1).step_by(2)).collect();
    let used: BTreeSet<&str> = used.collect();
    used.into_iter().filter(|name| !named.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::without_a_line;

    #[test]
    fn only_first_cells_count() {
        let document = "`a` in a sentence\n| crate | purpose |\n|---|---|\n| `b`, `c` | as `d` |\n";
        let used = ["d", "c", "b", "a", "d"];
        assert_eq!(without_a_line(document, used.into_iter()), ["a", "d"]);
    }
}
