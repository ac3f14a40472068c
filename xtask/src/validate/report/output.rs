//! The files of a report, opened before the run: an hour's work is not lost to a path that cannot be written.

use super::Report;
use core::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// Makes the contents of a file out of a report.
pub(crate) type Render = fn(&Report) -> Result<String, Box<dyn Error>>;

/// A file that will hold a report.
pub(crate) struct Output {
    path: PathBuf,
    file: File,
    render: Render,
}

impl Output {
    /// Opens a file, or makes it; what an earlier run left there stays until there is something to replace it.
    ///
    /// # Errors
    /// When it cannot be written to; the message names the path.
    pub(crate) fn open(path: PathBuf, render: Render) -> Result<Self, String> {
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        match opened {
            Ok(file) => Ok(Self { path, file, render }),
            Err(error) => Err(format!("cannot write {}: {error}", path.display())),
        }
    }

    fn write(mut self, report: &Report) -> Result<(), String> {
        let written = (self.render)(report).and_then(|text| Ok(replace(&mut self.file, &text)?));
        written.map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }
}

/// Replaces the contents; pipes and terminals have none.
fn replace(file: &mut File, text: &str) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(text.as_bytes())
}

/// Writes every file, whatever becomes of the others.
///
/// # Errors
/// One message per file that could not be written.
pub(crate) fn write_all(outputs: Vec<Output>, report: &Report) -> Result<(), String> {
    let results = outputs.into_iter().map(|output| output.write(report));
    let failures: Vec<String> = results.filter_map(Result::err).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("pds-{name}-{}", std::process::id()))
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named_before_the_run() {
        let path = PathBuf::from("no/such/folder/report.json");
        let error = Output::open(path, |_| Ok(String::new())).err().unwrap();
        assert!(error.starts_with("cannot write no/such/folder/report.json: "), "{error}");
    }

    #[test]
    fn an_earlier_report_stays_until_it_is_replaced_by_a_shorter_one() {
        let path = file("earlier");
        fs::write(&path, "an earlier report").unwrap();
        let output = Output::open(path.clone(), |report| Ok(report.version.to_owned())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "an earlier report");
        write_all(vec![output], &Report::of(Vec::new())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1.2.3");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn one_failure_keeps_no_other_file_from_being_written() {
        let (first, second) = (file("first"), file("second"));
        let outputs = vec![
            Output::open(first.clone(), |_| Err("no plot".into())).unwrap(),
            Output::open(second.clone(), |_| Ok("written".to_owned())).unwrap(),
        ];
        let error = write_all(outputs, &Report::of(Vec::new())).unwrap_err();
        assert_eq!(error, format!("cannot write {}: no plot", first.display()));
        assert_eq!(fs::read_to_string(&second).unwrap(), "written");
        for path in [first, second] {
            fs::remove_file(path).unwrap();
        }
    }
}
