//! Items for the other crates of the family. Exempt from every promise of stability.

pub use crate::error::ParamFault;
