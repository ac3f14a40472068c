//! Tables that were computed independently of this crate.

/// Returns the rows of a table of numbers.
pub(crate) fn table<const COLUMNS: usize>(text: &str, len: usize) -> Vec<[f64; COLUMNS]> {
    let table: serde_json::Value = serde_json::from_str(text).expect("a JSON table");
    let row = |row: &serde_json::Value| {
        let numbers: Vec<_> = row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        numbers.try_into().expect("as many numbers as columns")
    };
    let rows: Vec<_> = table["rows"].as_array().expect("rows").iter().map(row).collect();
    assert_eq!(rows.len(), len);
    rows
}
