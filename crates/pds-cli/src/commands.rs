//! The commands.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod dedup;
pub(crate) mod distinct;
pub(crate) mod info;
pub(crate) mod merge;
pub(crate) mod params;
pub(crate) mod serve_page;
pub(crate) mod shell;
pub(crate) mod similar;
pub(crate) mod stored;
pub(crate) mod top;
pub(crate) mod verify;
