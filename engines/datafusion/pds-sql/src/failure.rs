//! Ends of the program other than success.

use std::any::Any;
use std::error::Error;
use std::io;

use datafusion::common::DataFusionError;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Status of a query that failed.
const QUERY: u8 = 1;
/// Status of arguments or files that are wrong. clap has the same.
const USAGE: u8 = 2;

#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody reads the results any more.
    BrokenPipe,
    Message {
        status: u8,
        text: String,
    },
}

impl Failure {
    pub(crate) const fn usage(text: String) -> Self {
        Self::Message { status: USAGE, text }
    }

    /// Returns the failure of a query that made DataFusion panic.
    pub(crate) fn fault(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or("a panic");
        Self::Message {
            status: QUERY,
            text: format!("a fault of DataFusion, or a damaged file: {text}"),
        }
    }

    /// Returns the failure of a query.
    pub(crate) fn query(error: &DataFusionError) -> Self {
        if is_broken_pipe(error) {
            return Self::BrokenPipe;
        }
        Self::Message { status: QUERY, text: message(error) }
    }
}

/// Returns what an error says, without the names of the optimizer's rules and the backtrace.
pub(crate) fn message(error: &DataFusionError) -> String {
    error.find_root().strip_backtrace()
}

// The writer of CSV keeps the text of an error only.
fn is_broken_pipe(error: &DataFusionError) -> bool {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = source {
        let io = error.downcast_ref::<io::Error>();
        if io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return true;
        }
        source = error.source();
    }
    message(error).to_lowercase().contains("broken pipe")
}
