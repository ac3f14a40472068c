//! Answers requests of the page, one per line of standard input, as the module in the browser does.
//!
//! `module.sh --check` compares these answers with those of the module. An answer is a line: its text, a tab, its bytes in
//! hexadecimal.

use core::error::Error;
use pds_page::Session;
use serde_json::Value;
use std::io;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let mut session = Session::default();
    for line in io::stdin().lines() {
        let line = line?;
        let request: Value = serde_json::from_str(&line)?;
        let lines = request["lines"].as_str().unwrap_or_default();
        let answer = session.ask(line.as_bytes(), lines.as_bytes());
        let bytes: String = answer.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{}\t{bytes}", answer.text);
    }
    Ok(())
}
