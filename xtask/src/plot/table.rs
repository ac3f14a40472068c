//! Tables of pages, as programs read them.

/// A table: the names of its columns, and its rows.
pub(super) struct Table<'a> {
    header: Vec<&'a str>,
    pub(super) rows: Vec<Vec<&'a str>>,
}

/// Returns all tables of a page.
pub(super) fn all(page: &str) -> Vec<Table<'_>> {
    let lines: Vec<&str> = page.lines().collect();
    let tables = lines.split(|line| !line.starts_with('|'));
    let parsed = tables.filter_map(|lines| {
        let [header, _, rows @ ..] = lines else { return None };
        Some(Table { header: cells(header), rows: rows.iter().map(|row| cells(row)).collect() })
    });
    parsed.collect()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

impl<'a> Table<'a> {
    /// Returns a cell of the first column with this name.
    pub(super) fn cell(&self, row: &[&'a str], name: &str) -> Option<&'a str> {
        row.get(self.header.iter().position(|one| *one == name)?).copied()
    }

    /// Returns the cell to the right of the first column with this name.
    pub(super) fn cell_after(&self, row: &[&'a str], name: &str) -> Option<&'a str> {
        row.get(self.header.iter().position(|one| *one == name)? + 1).copied()
    }
}
