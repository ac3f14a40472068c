//! Structures that survive crashes: a checkpoint in a file, and a log of the inserts since.
//!
//! [`Durable`] holds a structure in memory and its contents in a folder. An insert appends 16 bytes to the log. A
//! checkpoint replaces file and log. [`DurableOptions`] create and open the folder.

mod error;
mod folder;
mod kept;
mod log;
mod options;

pub use error::DurableError;
pub use kept::{Durable, Recovery};
pub use options::{DurableOptions, SyncPolicy};
