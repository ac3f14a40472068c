//! The commands as users run them: files, pipes, exit statuses.

mod build;
mod convert;
mod cookbook;
mod dedup;
mod distinct;
mod failures;
mod foreign;
mod hostile;
mod inputs;
mod params;
mod serve_page;
mod similar;
mod tool;
mod top;
