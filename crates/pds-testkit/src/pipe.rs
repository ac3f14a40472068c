//! Output whose reader may close it early, as `head` does.

use core::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::{panic, process};

/// Prints a text to standard output. A closed pipe is not an error.
///
/// Use this in tools that continue after printing. Their files and their exit status then do not depend on the reader.
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

/// Ends the process without output, with success, if `println!` finds a closed pipe.
///
/// Call this first in an example. By default `println!` panics in this case.
pub fn end_quietly() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // The text is that of std. Nothing else identifies this panic.
        let text = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if text.starts_with("failed printing to stdout") && text.contains("Broken pipe") {
            process::exit(0);
        }
        default(panic);
    }));
}
