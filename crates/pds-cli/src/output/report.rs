//! Results as a table, CSV or JSON.

use super::Output;
use crate::error::Result;
use alloc::sync::Arc;
use clap::ValueEnum;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use pds::compare::{HumanBytes, HumanCount};
use std::io::{self, Write};
use std::path::Path;

/// The form of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns for people
    #[default]
    Table,
    /// Comma-separated values with a header
    Csv,
    /// A JSON object per line
    Json,
}

/// A value of a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Bytes of an input, UTF-8 or not. Many rows may share them.
    Bytes(Arc<[u8]>),
    Text(String),
    Count(u64),
    Number(f64),
    Truth(bool),
    None,
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Cell {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Arc<[u8]>> for Cell {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<&[u8]> for Cell {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl Cell {
    /// An estimate of a count, rounded.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub(crate) fn whole(number: f64) -> Self {
        Self::Count(number.round() as u64)
    }

    /// For people. A byte that would disturb a terminal is escaped.
    fn shown(&self) -> String {
        match self {
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).chars().map(visible).collect(),
            Self::Text(text) => text.chars().map(visible).collect(),
            Self::Count(count) => HumanCount(*count).to_string(),
            Self::Number(number) if *number != 0.0 && number.abs() < 1e-3 => {
                format!("{number:.2e}")
            }
            Self::Number(number) => format!("{number:.4}"),
            Self::Truth(truth) => if *truth { "yes" } else { "no" }.to_owned(),
            Self::None => String::new(),
        }
    }

    /// For programs: bytes as they are.
    fn plain(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Text(text) => text.clone().into_bytes(),
            Self::Count(count) => count.to_string().into_bytes(),
            Self::Number(number) => number.to_string().into_bytes(),
            Self::Truth(truth) => truth.to_string().into_bytes(),
            Self::None => Vec::new(),
        }
    }

    /// Adds the cell to an object. Bytes that are no UTF-8 go in hexadecimal under another name.
    fn put_in(&self, name: &str, object: &mut serde_json::Map<String, serde_json::Value>) {
        let value = match self {
            Self::Bytes(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => {
                    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    object.insert(format!("{name}_hex"), hex.into());
                    return;
                }
            },
            Self::Text(text) => text.as_str().into(),
            Self::Count(count) => (*count).into(),
            Self::Number(number) => (*number).into(),
            Self::Truth(truth) => (*truth).into(),
            Self::None => serde_json::Value::Null,
        };
        object.insert(name.to_owned(), value);
    }

    const fn is_number(&self) -> bool {
        matches!(self, Self::Count(_) | Self::Number(_))
    }
}

/// A character, or another one in place of one that would disturb a terminal.
pub(super) fn visible(character: char) -> char {
    if character.is_control() { '\u{fffd}' } else { character }
}

/// A size to the byte, and rounded where that is shorter.
pub(crate) fn exact_size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..10_000 => format!("{} bytes", HumanCount(bytes)),
        _ => format!("{} bytes ({})", HumanCount(bytes), HumanBytes(bytes)),
    }
}

/// The error of a write, without what the writer of CSV puts around it.
fn of_csv(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Rows with named columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// One line under the header and no others.
pub(crate) const RULE_UNDER_HEADER: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

impl Report {
    pub(crate) fn new(columns: &[&'static str]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// The number of rows.
    pub(crate) const fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a cell per column");
        self.rows.push(row);
    }

    /// Writes the report.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, format: Format, path: Option<&Path>) -> Result<()> {
        let mut output = Output::new(path)?;
        // Row by row where that is possible: texts of rows may be longer than those of the input.
        let written = match format {
            Format::Table => output.write_all(self.table().as_bytes()),
            Format::Csv => self.write_csv(&mut output),
            Format::Json => self.write_json(&mut output),
        };
        written.map_err(|error| output.failed(&error))?;
        output.finish()
    }

    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(RULE_UNDER_HEADER).set_header(self.columns.clone());
        table.add_rows(self.rows.iter().map(|row| row.iter().map(Cell::shown).collect::<Vec<_>>()));
        for (index, column) in table.column_iter_mut().enumerate() {
            if self.rows.iter().any(|row| row[index].is_number()) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let text = table.to_string();
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    fn write_csv(&self, output: impl Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(output);
        let header = self.columns.iter().map(|column| column.as_bytes().to_vec()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::plain).collect());
        for record in core::iter::once::<Vec<_>>(header).chain(rows) {
            writer.write_record(record).map_err(of_csv)?;
        }
        writer.flush()
    }

    fn write_json(&self, mut output: impl Write) -> io::Result<()> {
        for row in &self.rows {
            let mut object = serde_json::Map::new();
            self.columns.iter().zip(row).for_each(|(name, cell)| cell.put_in(name, &mut object));
            writeln!(output, "{}", serde_json::Value::Object(object))?;
        }
        Ok(())
    }
}

/// Named values of one thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts(Vec<(&'static str, Cell)>);

impl Facts {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a value. What is not known is left out.
    pub(crate) fn put(&mut self, name: &'static str, value: impl Into<Cell>) {
        let value = value.into();
        if value != Cell::None {
            self.0.push((name, value));
        }
    }

    /// Adds more facts.
    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// The facts in a form; CSV has a header if these are the `first`.
    pub(crate) fn text(&self, format: Format, first: bool) -> Vec<u8> {
        match format {
            Format::Table => {
                let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
                let line =
                    |(name, value): &(_, Cell)| format!("{name:width$}  {}\n", value.shown());
                self.0.iter().map(line).collect::<String>().into_bytes()
            }
            Format::Csv => {
                let mut report = Report::new(&["file", "property", "value"]);
                let file = self.0.first().map_or(Cell::None, |(_, file)| file.clone());
                for (name, value) in self.0.iter().skip(1) {
                    report.push(vec![file.clone(), (*name).into(), value.clone()]);
                }
                let mut text = Vec::new();
                report.write_csv(&mut text).expect("a write to memory");
                let header = text.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
                text[if first { 0 } else { header }..].to_vec()
            }
            Format::Json => {
                let mut object = serde_json::Map::new();
                self.0.iter().for_each(|(name, value)| value.put_in(name, &mut object));
                format!("{}\n", serde_json::Value::Object(object)).into_bytes()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_differ_are_shown_to_the_byte() {
        assert_eq!(exact_size(1), "1 byte");
        assert_eq!(exact_size(27_136), "27,136 bytes (26.5 KiB)");
        assert_ne!(exact_size(27_136), exact_size(27_137));
    }
}
