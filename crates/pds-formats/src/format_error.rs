//! The error of every reader of this crate.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::{error, fmt};

use pds_core::error::{AllocError, DecodeError, DecodeErrorKind};

/// Why bytes of another system cannot be read: format, field, offset, value, and what is allowed.
///
/// Offsets count bytes from the start of the input.
///
/// # Examples
/// ```
/// # #[cfg(feature = "redis")] {
/// use pds_formats::error::DecodeErrorKind;
/// use pds_formats::redis::RedisHyperLogLog;
///
/// let error = RedisHyperLogLog::from_bytes(b"HYLL\x07\0\0\0\0\0\0\0\0\0\0\0").unwrap_err();
/// assert_eq!(error.to_string(), "Redis HyperLogLog: encoding at offset 4 is 7, but must be 0 or 1");
/// assert_eq!((error.kind(), error.offset()), (DecodeErrorKind::Invalid, Some(4)));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FormatError {
    format: &'static str,
    kind: DecodeErrorKind,
    fault: Fault,
}

impl FormatError {
    pub(crate) const fn truncated(
        format: &'static str,
        field: &'static str,
        offset: u64,
        needed: u64,
        left: u64,
    ) -> Self {
        let fault = Fault::Truncated { field, offset, needed, left };
        Self { format, kind: DecodeErrorKind::Truncated, fault }
    }

    pub(crate) const fn trailing(format: &'static str, offset: u64, found: u64) -> Self {
        Self { format, kind: DecodeErrorKind::Trailing, fault: Fault::Trailing { offset, found } }
    }

    pub(crate) fn invalid(
        format: &'static str,
        field: &'static str,
        offset: u64,
        found: impl Into<Found>,
        allowed: impl Into<Cow<'static, str>>,
    ) -> Self {
        let fault = Fault::Field { field, offset, found: found.into(), allowed: allowed.into() };
        Self { format, kind: DecodeErrorKind::Invalid, fault }
    }

    pub(crate) const fn alloc(format: &'static str, error: AllocError) -> Self {
        Self { format, kind: DecodeErrorKind::Alloc, fault: Fault::Alloc(error) }
    }

    /// Wraps the error of a structure that is copied out of checked bytes: memory was refused.
    pub(crate) const fn structure(format: &'static str, error: DecodeError) -> Self {
        Self { format, kind: error.kind(), fault: Fault::Structure(error) }
    }

    /// Sets what a program may act on.
    pub(crate) const fn of_kind(mut self, kind: DecodeErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// Returns the name of the format that was asked for.
    #[must_use]
    pub const fn format(&self) -> &'static str {
        self.format
    }

    /// Returns what a program may act on. The message says more.
    #[must_use]
    pub const fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// Returns the name of the field that is wrong. `None` if no single field is.
    #[must_use]
    pub const fn field(&self) -> Option<&'static str> {
        match self.fault {
            Fault::Truncated { field, .. } | Fault::Field { field, .. } => Some(field),
            Fault::Trailing { .. } | Fault::Alloc(_) | Fault::Structure(_) => None,
        }
    }

    /// Returns the offset of what is wrong. `None` if the bytes are not at fault.
    #[must_use]
    pub const fn offset(&self) -> Option<u64> {
        match self.fault {
            Fault::Truncated { offset, .. }
            | Fault::Field { offset, .. }
            | Fault::Trailing { offset, .. } => Some(offset),
            Fault::Alloc(_) | Fault::Structure(_) => None,
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.format)?;
        match &self.fault {
            Fault::Truncated { field, offset, needed, left } => {
                write!(f, "{field} at offset {offset} needs {needed} bytes, but {left} are left")
            }
            Fault::Field { field, offset, found, allowed } => {
                write!(f, "{field} at offset {offset} is {found}, but must be {allowed}")
            }
            Fault::Trailing { offset, found } => {
                write!(f, "the data ends at offset {offset}, but {found} more bytes follow")
            }
            Fault::Alloc(error) => error.fmt(f),
            Fault::Structure(error) => error.fmt(f),
        }
    }
}

impl error::Error for FormatError {}

#[derive(Clone, Debug, PartialEq)]
enum Fault {
    Truncated { field: &'static str, offset: u64, needed: u64, left: u64 },
    Field { field: &'static str, offset: u64, found: Found, allowed: Cow<'static, str> },
    Trailing { offset: u64, found: u64 },
    Alloc(AllocError),
    Structure(DecodeError),
}

/// A value as it was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    /// The first bytes, and how many follow.
    Bytes(Vec<u8>, usize),
}

/// The most bytes that a message shows. Those of strangers do not choose its length.
const MAX_SHOWN: usize = 64;

impl From<&[u8]> for Found {
    fn from(found: &[u8]) -> Self {
        let (shown, more) = found.split_at(found.len().min(MAX_SHOWN));
        Self::Bytes(shown.to_vec(), more.len())
    }
}

impl From<Vec<u8>> for Found {
    fn from(found: Vec<u8>) -> Self {
        found.as_slice().into()
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => number.fmt(f),
            Self::Signed(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Bytes(shown, 0) => write!(f, "\"{}\"", shown.escape_ascii()),
            Self::Bytes(shown, more) => {
                write!(f, "\"{}\" and {more} more bytes", shown.escape_ascii())
            }
        }
    }
}

macro_rules! found {
    ($($variant:ident($wide:ty): $($narrow:ty),*;)*) => {$($(
        impl From<$narrow> for Found {
            fn from(found: $narrow) -> Self {
                Self::$variant(<$wide>::from(found))
            }
        }
    )*)*};
}
found! {
    Unsigned(u64): u8, u16, u32, u64;
    Signed(i64): i8, i16, i32, i64;
    Float(f64): f32, f64;
}
