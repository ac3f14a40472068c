//! All rows with the parameters of the run, for programs.

use super::Report;
use core::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes the report.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(report: &Report, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut writer = BufWriter::new(File::create(file)?);
    serde_json::to_writer_pretty(&mut writer, report)?;
    writer.flush()?;
    Ok(())
}
