//! The error of a command: a message for people.

use crate::output::exact_size;
use core::fmt::Display;
use pds::error::BuildError;
use pds::fuse::ConstructionError;
use pds::params::ParamError;
use pds::params::internal::ParamFault;
use std::io;

pub(crate) type Result<T, E = Error> = core::result::Result<T, E>;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Error {
    /// The reader of the output is gone. This is no failure.
    BrokenPipe,
    /// The fault, its place, and the allowed values.
    Message(String),
}

impl Error {
    /// An error about a file or a line of it: `access.log:17: no field 9`.
    pub(crate) fn at(place: impl Display, what: impl Display) -> Self {
        Self::Message(format!("{place}: {what}"))
    }

    /// The error of a write to `place`.
    pub(crate) fn writing(place: impl Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::at(place, error),
        }
    }
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for Error {
    fn from(message: &str) -> Self {
        Self::Message(message.into())
    }
}

/// Errors of the library say by themselves what was wrong.
macro_rules! from_library {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::Message(error.to_string())
            }
        })*
    };
}

from_library!(
    pds::error::AllocError,
    pds::error::InsertError,
    pds::error::MergeError,
    pds::error::Incompatible,
);

impl From<ConstructionError> for Error {
    fn from(error: ConstructionError) -> Self {
        match error {
            ConstructionError::Param(error) => error.into(),
            error => Self::Message(error.to_string()),
        }
    }
}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        Self::Message(of_param(&error))
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Param(error) => error.into(),
            error => Self::Message(error.to_string()),
        }
    }
}

/// Parameters of the library by the names that their options have.
const OPTIONS: [(&str, &str); 6] = [
    ("bytes", "memory"),
    ("expected_items", "items"),
    ("false_positive_rate", "rate"),
    ("standard_error", "error"),
    ("num_values", "values"),
    ("phi", "share"),
];

/// A message that names a parameter by its option, and sizes by their unit.
pub(crate) fn of_param(error: &ParamError) -> String {
    if let ParamError(ParamFault::OutOfRange { parameter: "bytes", value, min, .. }) = *error
        && value < min
    {
        let [value, min] = [value, min].map(exact_size);
        return format!("memory is {value}, but must be at least {min}");
    }
    if let ParamError(ParamFault::TooLarge {
        parameter: "columns" | "fingerprint_bits", max, ..
    }) = *error
    {
        return format!(
            "the rate must be at least 2^-{max}: a static filter has at most {max} bits per line"
        );
    }
    match OPTIONS.iter().find(|(name, _)| *name == error.parameter()) {
        Some((name, option)) => error.to_string().replacen(name, option, 1),
        None => error.to_string(),
    }
}
