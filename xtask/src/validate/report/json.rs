//! All rows with the parameters of the run, for programs.

use super::Report;
use core::error::Error;

/// The report as JSON.
///
/// # Errors
/// When a row cannot be written down.
pub(crate) fn render(report: &Report) -> Result<String, Box<dyn Error>> {
    Ok(serde_json::to_string_pretty(report)?)
}
