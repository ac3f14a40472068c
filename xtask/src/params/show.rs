//! Numbers and tables for people.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// One line under the header and no others.
const RULE_UNDER_HEADER: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table whose first column is text, and whose others are numbers.
pub(super) fn table<R>(header: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut table = plain(header, rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// A table of text.
pub(super) fn left_table<R>(header: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    plain(header, rows).to_string()
}

fn plain<R>(header: &[&str], rows: impl IntoIterator<Item = R>) -> Table
where
    R: IntoIterator<Item = String>,
{
    let mut table = Table::new();
    table.load_style(RULE_UNDER_HEADER).set_header(header.to_vec());
    table.add_rows(rows.into_iter().map(|row| row.into_iter().collect::<Vec<_>>()));
    table
}

/// A share of one with three digits: `0.82 %`, and `1.2e-9` where a percentage would be all zeros.
pub(super) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.0 => "0 %".to_owned(),
        small if small < 0.000_999_5 => format!("{share:.2e}"),
        _ if percent < 9.995 => format!("{percent:.0$} %", decimals(percent)),
        _ if percent < 99.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// As many as show three digits of a number below ten.
fn decimals(value: f64) -> usize {
    [9.995, 0.999_5, 0.099_95, 0.009_995].iter().take_while(|&&bound| value < bound).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_three_digits() {
        let cases = [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.436, "43.6 %"),
            (0.01, "1.00 %"),
            (0.0082, "0.820 %"),
            (0.000_123_4, "0.0123 %"),
            (0.000_01, "0.00100 %"),
            (1.234e-9, "1.23e-9"),
        ];
        for (value, text) in cases {
            assert_eq!(share(value), text);
        }
    }
}
