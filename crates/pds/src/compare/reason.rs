//! Reasons against structures.

use core::fmt;

use super::{HumanBytes, LinesRead};
use crate::params::ParamError;
use crate::registry::Structure;

/// The reason why a structure was not chosen. `Display` shows it in words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reason {
    /// The structure that was not chosen.
    pub structure: &'static Structure,
    /// The reason, for the tests of the comparison.
    #[doc(hidden)]
    pub against: Against,
}

/// A reason against a structure, whose words [`Reason`] shows.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Against {
    /// It cannot keep the promise.
    Impossible(ParamError),
    /// It lacks a needed ability, or has it only up to a limit.
    Lacks {
        /// The ability in words, such as "remove keys".
        ability: &'static str,
        /// Whether it has the ability within limits.
        limited: bool,
    },
    /// It takes more memory.
    Larger {
        /// Its size in bytes.
        bytes: u64,
        /// The ratio of its size to that of the choice.
        ratio: f64,
    },
    /// It reads more cache lines per lookup.
    Slower {
        /// The lines that it reads.
        lines: LinesRead,
        /// The lines that the choice reads.
        choice: LinesRead,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Titled(self.structure), self.against)
    }
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Impossible(error) => error.fmt(f),
            Self::Lacks { ability, limited: false } => write!(f, "cannot {ability}"),
            Self::Lacks { ability, limited: true } => write!(f, "can {ability} up to a limit only"),
            Self::Larger { bytes, ratio } => {
                let decimals = if ratio < 99.995 { 2 } else { 0 };
                write!(f, "{}, {ratio:.decimals$} times as much", HumanBytes(bytes))
            }
            Self::Slower { lines, choice } => write!(
                f,
                "reads {:.1} cache lines for a present key and {:.1} for an absent one, \
                 against {:.1} and {:.1}",
                lines.present, lines.absent, choice.present, choice.absent
            ),
        }
    }
}

/// A structure, shown by its name in words and the name of its type.
pub(super) struct Titled(pub(super) &'static Structure);

impl fmt::Display for Titled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Structure { name, type_name, .. } = self.0;
        if name == type_name { f.write_str(name) } else { write!(f, "{name} ({type_name})") }
    }
}
