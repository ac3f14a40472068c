//! Numbers and tables for people.

use crate::output::RULE_UNDER_HEADER;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use pds::compare::HumanCount;

/// Columns that answers take at most, but for a line of Rust.
const WIDTH: u16 = 80;

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
    // Cells of text that are too long for it go on in the next line.
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
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

/// A number of keys.
pub(super) fn keys(keys: u64) -> String {
    if keys == 1 { "1 key".to_owned() } else { format!("{} keys", HumanCount(keys)) }
}

/// A text whose lines have at most [`WIDTH`] columns, broken at spaces; code, which is indented, stays as it is.
pub(super) fn wrapped(text: &str) -> String {
    text.split('\n').map(wrapped_line).collect::<Vec<_>>().join("\n")
}

fn wrapped_line(line: &str) -> String {
    if line.chars().count() <= WIDTH.into() || line.starts_with(' ') {
        return line.to_owned();
    }
    let (mut lines, mut width) = (String::new(), 0);
    for word in line.split(' ') {
        let length = word.chars().count();
        if width > 0 {
            let breaks = width + 1 + length > WIDTH.into();
            lines.push(if breaks { '\n' } else { ' ' });
            width = if breaks { 0 } else { width + 1 };
        }
        lines.push_str(word);
        width += length;
    }
    lines
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

    #[test]
    fn one_key_is_no_plural() {
        assert_eq!([1, 2].map(keys), ["1 key", "2 keys"]);
    }

    #[test]
    fn long_lines_are_broken_at_spaces_and_code_is_not() {
        let word = "word ".repeat(30);
        let text = wrapped(word.trim_end());
        assert!(text.lines().all(|line| line.len() <= WIDTH.into()), "{text}");
        assert_eq!(text.replace('\n', " "), word.trim_end());
        let code = format!("    {word}");
        assert_eq!(wrapped(&code), code);
        let long = "x".repeat(100);
        assert_eq!(wrapped(&long), long);
    }
}
