//! The error of a command: a message for people.

use core::fmt::Display;
use std::io;

pub(crate) type Result<T, E = Error> = core::result::Result<T, E>;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Error {
    /// The reader of the output is gone. This is no failure.
    BrokenPipe,
    /// What was wrong, where, and what is allowed.
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
    pds::error::BuildError,
    pds::error::InsertError,
    pds::error::MergeError,
    pds::error::Incompatible,
    pds::error::ParamError,
    pds::fuse::ConstructionError,
);
