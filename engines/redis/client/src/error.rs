//! Errors of the client.

use std::fmt;

use pds_core::error::{AllocError, DecodeError, Incompatible};
use pds_params::ParamError;
use redis::RedisError;

/// Why a call failed.
///
/// A failed insert may have stored some or all of its keys. Insert them again: this is harmless, and the answers of keys that are
/// there already are then [`Answer::Present`](crate::Answer::Present).
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A server refused a command, or could not be reached for as long as the client was patient.
    Redis(RedisError),
    /// A number of the plan that no filter can be built from.
    Param(ParamError),
    /// A number of the plan outside its range.
    OutOfRange {
        /// The name of the number.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// The least value allowed.
        min: u64,
        /// The greatest value allowed.
        max: u64,
    },
    /// A filter of this name exists, and was made by another plan.
    Differs {
        /// The key that says so.
        key: String,
        /// The design that was asked for.
        asked: String,
        /// The design that is stored.
        stored: String,
    },
    /// A key of the filter is not on its server: deleted, evicted, or never created.
    Missing {
        /// The key.
        key: String,
    },
    /// The filter holds all items that it was planned for, and its plan has no growth.
    Full {
        /// The items that it holds.
        items: u64,
        /// The items that it was planned for.
        capacity: u64,
    },
    /// Fewer replicas than asked for acknowledged an insert in time.
    NotReplicated {
        /// The address of the primary.
        address: String,
        /// The replicas asked for.
        asked: u32,
        /// The replicas that acknowledged.
        acknowledged: u32,
    },
    /// A key to be inserted begins with the prefix that is kept for probes of the false-positive rate.
    ReservedKey,
    /// A server sent a reply that the command does not have.
    Unexpected {
        /// The command.
        command: &'static str,
        /// The reply.
        reply: String,
    },
    /// The bytes under a key are no filter.
    Decode {
        /// The key.
        key: String,
        /// The fault of the bytes.
        error: Box<DecodeError>,
    },
    /// The bytes under a key are no HyperLogLog value.
    Format {
        /// The key.
        key: String,
        /// The fault of the bytes.
        error: Box<pds_formats::FormatError>,
    },
    /// Two filters cannot be united.
    Incompatible(Incompatible),
    /// Memory was refused.
    Alloc(AllocError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Redis(error) => write!(f, "the server: {error}"),
            Self::Param(error) => error.fmt(f),
            Self::OutOfRange { parameter, value, min, max } => {
                write!(f, "{parameter} is {value}, but must be from {min} to {max}")
            }
            Self::Differs { key, asked, stored } => {
                write!(f, "{key} was made by another plan: {stored}, and not {asked}")
            }
            Self::Missing { key } => write!(
                f,
                "the key {key} of the filter is missing: it was deleted or evicted, or the filter was not created"
            ),
            Self::Full { items, capacity } => write!(
                f,
                "the filter holds {items} items and was planned for {capacity}; plan growth, or create a larger filter"
            ),
            Self::NotReplicated { address, asked, acknowledged } => write!(
                f,
                "{acknowledged} replicas of {address} acknowledged the insert in time, and {asked} were asked for"
            ),
            Self::ReservedKey => write!(
                f,
                "a key begins with {:?}, which is kept for probes",
                String::from_utf8_lossy(crate::PROBE_PREFIX)
            ),
            Self::Unexpected { command, reply } => {
                write!(f, "the reply to {command} has another form: {reply}")
            }
            Self::Decode { key, error } => write!(f, "the value of {key} is no filter: {error}"),
            Self::Format { key, error } => {
                write!(f, "the value of {key} is no HyperLogLog: {error}")
            }
            Self::Incompatible(error) => error.fmt(f),
            Self::Alloc(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Redis(error) => Some(error),
            Self::Decode { error, .. } => Some(error),
            Self::Format { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<RedisError> for Error {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}

impl From<Incompatible> for Error {
    fn from(error: Incompatible) -> Self {
        Self::Incompatible(error)
    }
}

impl From<AllocError> for Error {
    fn from(error: AllocError) -> Self {
        Self::Alloc(error)
    }
}

impl Error {
    /// Returns the error of a number that is not in its range.
    pub(crate) fn check(
        parameter: &'static str,
        value: u64,
        (min, max): (u64, u64),
    ) -> Result<(), Self> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(Self::OutOfRange { parameter, value, min, max })
    }

    /// Returns the error of a reply in another form.
    pub(crate) fn unexpected(command: &'static str, reply: &redis::Value) -> Self {
        Self::Unexpected { command, reply: format!("{reply:?}") }
    }
}
