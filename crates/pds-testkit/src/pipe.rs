//! Output whose reader may leave early, as `head` does.

use core::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::panic;
use std::process;

/// Prints a text to standard output. A reader that has left is no error.
///
/// For tools that go on after they have printed: their files and their exit status do not depend on the reader.
///
/// # Errors
/// Any other error of standard output.
pub fn print(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Ends the process quietly, with success, when `println!` finds that the reader has left.
///
/// For examples, which call it first. By default `println!` panics then.
pub fn end_quietly() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // std's own words: there is no other sign of it.
        let text = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if text.starts_with("failed printing to stdout") && text.contains("Broken pipe") {
            process::exit(0);
        }
        default(panic);
    }));
}
