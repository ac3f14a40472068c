//! Why a structure was not chosen.

use core::fmt;

use super::{HumanBytes, LinesRead};
use crate::params::ParamError;
use crate::registry::Structure;

/// Why a structure was not chosen; prints itself in words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reason {
    /// The structure that was not chosen.
    pub structure: &'static Structure,
    /// What stands against it.
    pub against: Against,
}

/// What stands against a structure.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Against {
    /// It cannot keep the promise.
    Impossible(ParamError),
    /// It cannot do what is needed, or only up to a limit.
    Lacks {
        /// What it would have to do, in words: "remove keys".
        ability: &'static str,
        /// Whether it can do so within limits.
        limited: bool,
    },
    /// It takes more memory.
    Larger {
        /// Its bytes.
        bytes: u64,
        /// How many times as many as the choice takes.
        ratio: f64,
    },
    /// It reads more cache lines a lookup.
    Slower {
        /// What it reads.
        lines: LinesRead,
        /// What the choice reads.
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

/// A structure by its name in words and that of its type.
pub(super) struct Titled(pub(super) &'static Structure);

impl fmt::Display for Titled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Structure { name, type_name, .. } = self.0;
        if name == type_name { f.write_str(name) } else { write!(f, "{name} ({type_name})") }
    }
}
