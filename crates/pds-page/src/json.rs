//! Fields of requests.

use alloc::format;
use alloc::string::{String, ToString};

use pds::error::{BuildError, InsertError, ParamError};
use serde_json::Value;

/// A sentence for the user: why a request has no answer.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

impl From<ParamError> for Refusal {
    fn from(error: ParamError) -> Self {
        Self(error.to_string())
    }
}

impl From<BuildError> for Refusal {
    fn from(error: BuildError) -> Self {
        Self(error.to_string())
    }
}

impl From<pds::error::AllocError> for Refusal {
    fn from(error: pds::error::AllocError) -> Self {
        Self(error.to_string())
    }
}

impl From<InsertError> for Refusal {
    fn from(error: InsertError) -> Self {
        Self(error.to_string())
    }
}

/// A JSON object.
pub(crate) struct Fields(pub(crate) Value);

impl Fields {
    pub(crate) fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.0[name].as_str().ok_or_else(|| Refusal(format!("{name} is missing")))
    }

    /// Whether the field is there, and not `false`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0[name] == true
    }

    pub(crate) fn is_given(&self, name: &str) -> bool {
        !self.0[name].is_null()
    }

    pub(crate) fn real(&self, name: &str) -> Result<f64, Refusal> {
        self.0[name].as_f64().ok_or_else(|| Refusal(format!("{name} is not a number")))
    }

    /// A whole number. Numbers of a browser are exact up to 2^53.
    pub(crate) fn whole(&self, name: &str) -> Result<u64, Refusal> {
        self.0[name]
            .as_u64()
            .ok_or_else(|| Refusal(format!("{name} is not a whole number from 0 to 2^53")))
    }
}
