//! The page without a browser: its answers against the crates, its files, and its server.

mod calculator;
mod demo;
mod files;

use pds_page::Session;
use serde_json::Value;

/// Asks, and reads the answer.
fn ask(session: &mut Session, request: &Value) -> Value {
    ask_with(session, request, b"").0
}

fn ask_with(session: &mut Session, request: &Value, lines: &[u8]) -> (Value, Vec<u8>) {
    let answer = session.ask(request.to_string().as_bytes(), lines);
    (serde_json::from_str(&answer.text).expect("JSON"), answer.bytes)
}
