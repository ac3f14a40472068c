//! What the crates of the family need of this one. Exempt from every promise of stability.

pub use crate::error::ParamFault;
