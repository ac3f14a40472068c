//! The part of a record that is its key.

use super::batch::{Column, Span};
use super::{Batch, Delimiter, json};
use memchr::memchr;
use serde_json::value::RawValue;

/// The part of a record that is its key.
#[derive(Clone, Debug)]
pub(crate) enum Selector {
    /// All of it.
    Record,
    /// Fields of a line, by their places.
    Fields { delimiter: Delimiter, places: Vec<usize> },
    /// Columns of CSV, by their names or numbers.
    Columns(Vec<String>),
    /// Values in a line of JSON.
    Pointers(Vec<String>),
}

impl Selector {
    /// An empty column for the keys that this selects.
    pub(super) fn column(&self) -> Column {
        let is_record = matches!(self, Self::Record);
        let is_composed = match self {
            Self::Record => false,
            // A single field lies in the text of the batch.
            Self::Fields { places, .. } => places.len() > 1,
            Self::Columns(_) | Self::Pointers(_) => true,
        };
        Column { is_record, is_composed, ..Column::default() }
    }
}

/// Selects fields of a line.
///
/// # Errors
/// If the record has no such field.
pub(super) fn fields(
    batch: &mut Batch,
    column: usize,
    record: Span,
    delimiter: Delimiter,
    places: &[usize],
) -> Result<(), String> {
    let line = &batch.text[record.start as usize..record.end as usize];
    let column = &mut batch.columns[column];
    if let &[place] = places {
        let (start, end) = field(line, delimiter, place)?;
        let offset = record.start as usize;
        column.spans.push(Span::new(offset + start, offset + end));
        return Ok(());
    }
    let begin = column.text.len();
    for (index, &place) in places.iter().enumerate() {
        if index > 0 {
            column.text.push(match delimiter {
                Delimiter::Byte(byte) => byte,
                Delimiter::Blank => b' ',
            });
        }
        let found = field(line, delimiter, place);
        let (start, end) = found.inspect_err(|_| column.text.truncate(begin))?;
        column.text.extend_from_slice(&line[start..end]);
    }
    column.spans.push(Span::new(begin, column.text.len()));
    Ok(())
}

/// Where a field of a line begins and ends.
fn field(line: &[u8], delimiter: Delimiter, place: usize) -> Result<(usize, usize), String> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let mut start = 0;
    for number in 0.. {
        if delimiter == Delimiter::Blank {
            start += line[start..].iter().take_while(|byte| is_blank(byte)).count();
            if start == line.len() {
                return Err(missing(place, number));
            }
        }
        let rest = &line[start..];
        let length = match delimiter {
            Delimiter::Byte(byte) => memchr(byte, rest),
            Delimiter::Blank => rest.iter().position(is_blank),
        };
        let end = start + length.unwrap_or(rest.len());
        if number == place {
            return Ok((start, end));
        }
        if length.is_none() {
            return Err(missing(place, number + 1));
        }
        start = end + usize::from(delimiter != Delimiter::Blank);
    }
    unreachable!("a line ends")
}

fn missing(place: usize, found: usize) -> String {
    let fields = if found == 1 { "1 field".to_owned() } else { format!("{found} fields") };
    format!("there is no field {}: the record has {fields}", place + 1)
}

/// Selects values of a line of JSON.
///
/// A key is the contents of a string, and the JSON of any other value or of several in an array. With `exact` a string that reads as
/// JSON itself keeps its quotes, so that the string "7" and the number 7 are two keys.
///
/// # Errors
/// If a pointer leads to nothing.
pub(super) fn pointers(
    column: &mut Column,
    document: &RawValue,
    pointers: &[String],
    exact: bool,
) -> Result<(), String> {
    let find = |pointer: &String| {
        json::find(document, pointer)
            .ok_or_else(|| format!("there is nothing at the pointer {pointer}"))
    };
    let begin = column.text.len();
    let found = pointers.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    if let [one] = found.as_slice() {
        match json::string(one).filter(|text| !exact || !json::is_json(text)) {
            Some(text) => column.text.extend_from_slice(text.as_bytes()),
            None => json::append(&mut column.text, one)?,
        }
    } else {
        for (index, value) in found.iter().enumerate() {
            column.text.push(if index == 0 { b'[' } else { b',' });
            json::append(&mut column.text, value)?;
        }
        column.text.push(b']');
    }
    column.spans.push(Span::new(begin, column.text.len()));
    Ok(())
}

/// Selects columns of a record of CSV: the contents of one, and a record of several.
///
/// # Errors
/// If the record has no such column.
pub(super) fn columns(
    column: &mut Column,
    record: &csv::ByteRecord,
    places: &[usize],
) -> Result<(), String> {
    let begin = column.text.len();
    let find = |&place: &usize| record.get(place).ok_or_else(|| missing(place, record.len()));
    if let [place] = places {
        column.text.extend_from_slice(find(place)?);
    } else {
        let found = places.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        write_record(&mut column.text, b',', found);
        column.text.pop();
    }
    column.spans.push(Span::new(begin, column.text.len()));
    Ok(())
}

/// Appends a record of CSV and its end.
pub(super) fn write_record<'a>(
    text: &mut Vec<u8>,
    delimiter: u8,
    fields: impl IntoIterator<Item = &'a [u8]>,
) {
    let mut writer =
        csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(text);
    writer.write_record(fields).and_then(|()| Ok(writer.flush()?)).expect("a write to memory");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_from_the_first_to_the_last() {
        let line = b"a,,ccc";
        let at =
            |place| field(line, Delimiter::Byte(b','), place).map(|(start, end)| &line[start..end]);
        assert_eq!([0, 1, 2].map(at), [Ok(&b"a"[..]), Ok(&b""[..]), Ok(&b"ccc"[..])]);
        assert_eq!(at(3), Err("there is no field 4: the record has 3 fields".to_owned()));
    }

    #[test]
    fn blanks_before_between_and_behind_fields_are_no_fields() {
        let line = b"  a \t b ";
        let at = |place| field(line, Delimiter::Blank, place).map(|(start, end)| &line[start..end]);
        assert_eq!([0, 1].map(at), [Ok(&b"a"[..]), Ok(&b"b"[..])]);
        assert_eq!(at(2), Err("there is no field 3: the record has 2 fields".to_owned()));
    }
}
